"""Settled shapes of flowing matter for several time steps."""

import numpy as np

from suite.plots import COLORS, MARKERS, finish, panels
from suite.result import number
from suite.scene import box, elastic
from suite.shapes import shape_distance

TITLE = "Plastic flow does not depend on the time step"
SHOWS = ("Sand, snow and metal that fall and come to rest, computed with several time steps. Yielding is part of the solve, so that the "
         "settled shapes agree; measured by the distance that particles must move to turn one deposit into the other.")
ANSWERS = "P1, implicit plasticity against its semi-implicit form, and choice of the time step"

SPACING = 0.02


def base(material, shape, position, velocity, step, end, iterations=10, friction=0.5, **solver):
    return {
        "solver": {"method": "xpbi", "time_step": step, "end_time": end, "iterations": iterations, **solver},
        "materials": {"m": material},
        "bodies": [{"name": "b", "material": "m", "spacing": SPACING, "shape": shape, "position": position, "velocity": velocity}],
        "colliders": [{"shape": {"type": "plane", "normal": [0.0, 0.0, 1.0], "point": [0.0, 0.0, 0.0]}, "friction": friction}],
        "output": {"interval": end, "fields": ["volume_ratio"]},
    }


def sand(step, **solver):
    material = {"density": 1600.0, "elastic": elastic("hencky", 5e5, 0.3), "plastic": {"model": "drucker-prager", "friction_angle": 35.0}}
    return base(material, {"type": "cylinder", "radius": 0.1, "height": 0.2}, [0.0, 0.0, 0.1], [0.0, 0.0, 0.0], step, 0.8, friction=0.7, **solver)


def snow(step, **solver):
    material = {"density": 400.0, "elastic": elastic("fixed-corotated", 5e5, 0.2),
                "plastic": {"model": "snow", "critical_compression": 0.025, "critical_stretch": 0.0075, "hardening": 10.0}}
    return base(material, {"type": "sphere", "radius": 0.1}, [0.0, 0.0, 0.1], [0.0, 0.0, -4.0], step, 0.5, **solver)


def metal(step, **solver):
    material = {"density": 1000.0, "elastic": elastic("hencky", 1e6, 0.3), "plastic": {"model": "von-mises", "yield_stress": 1e4, "hardening": 0.1}}
    return base(material, box([0.16, 0.16, 0.2]), [0.0, 0.0, 0.1], [0.0, 0.0, -4.0], step, 0.5, **solver)


MATTER = {"sand": sand, "snow": snow, "metal": metal}


def run(context, result):
    if not context.has("xpbi"):
        result.remark("This program has no method for flowing matter.")
        return
    steps = [2e-3, 1e-3, 5e-4] if context.quick else [2e-3, 1e-3, 5e-4, 2.5e-4, 1.25e-4]
    ways = {"implicit": {}}
    if not context.quick and context.has("xpbi", plasticity="semi-implicit"):
        ways["semi-implicit"] = {"plasticity": "semi-implicit"}
    scenes = {f"{name}_{way}_{step:g}": make(step, **options) for step in reversed(steps) for name, make in MATTER.items()
              for way, options in ways.items()}
    runs = context.simulate_all(scenes)
    figure, axis = panels(1)
    rows = []
    for n, name in enumerate(MATTER):
        finest = runs[f"{name}_implicit_{steps[-1]:g}"]
        for way in ways:
            distances, row = [], [name, way]
            for step in steps:
                one = runs[f"{name}_{way}_{step:g}"]
                distance = shape_distance(one.frame()["points"], finest.frame()["points"]) / SPACING if one.ok and finest.ok else np.nan
                distances.append(distance)
                row.append(number(distance, 3) if np.isfinite(distance) else "stopped")
            rows.append(row)
            shown = [d if d > 0 else np.nan for d in distances]
            axis.loglog(np.array(steps) * 1e3, shown, marker=MARKERS[n], color=COLORS[n], linestyle="-" if way == "implicit" else "--",
                        label=f"{name}, {way}")
            if way == "implicit":
                counted = [d for s, d in zip(steps, distances) if s <= 1e-3]
                result.check(f"{name}: distance between settled shapes for steps up to 1 ms", np.max(counted) if np.all(np.isfinite(counted)) else np.inf, 1.0,
                             "particles cannot show a shape finer than their spacing", unit="spacings")
    axis.axhline(1, color="#888888", linestyle="--", linewidth=1)
    axis.set(xlabel="time step [ms]", ylabel=f"distance from the shape at {steps[-1] * 1e3:g} ms [spacings]")
    axis.legend()
    finish(result, figure, "plasticity_time_step", "Distance of the settled shape from that of the smallest step.")
    result.table("Distance from the settled shape of the smallest step, in spacings", ["matter", "yielding"] + [f"{s * 1e3:g} ms" for s in steps], rows)
