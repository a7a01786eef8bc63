"""Settled shapes of flowing matter for several time steps."""

import numpy as np

from suite.plots import COLORS, MARKERS, finish, fitted_order, panels
from suite.result import number
from suite.scene import box, elastic
from suite.shapes import shape_distance

TITLE = "Plastic flow does not depend on the time step"
SHOWS = ("Sand, snow and metal that fall and come to rest, computed with several time steps, with yielding as part of the solve and, for "
         "contrast, after it. Settled shapes are compared by the distance that particles must move to turn one deposit into the other, and "
         "that distance with what a coarser spacing and a stronger material make.")
ANSWERS = "P1, implicit plasticity against its semi-implicit form, and choice of the time step"

SPACING, COARSER = 0.02, 0.025
YARDSTICK_STEP = 5e-4  # of the runs with another spacing or strength
JUDGED = 1e-3
SMOOTHING = 0.01  # XSPH by default
STRENGTH = {"sand": ["friction_angle"], "snow": ["critical_compression", "critical_stretch"], "metal": ["yield_stress"]}


def base(material, shape, position, velocity, step, end, spacing, iterations=10, friction=0.5, **solver):
    """Without XSPH, which smooths velocities once a step: a viscosity that grows as the step shrinks."""
    return {
        "solver": {"method": "xpbi", "time_step": step, "end_time": end, "iterations": iterations, "xsph": 0.0, **solver},
        "materials": {"m": material},
        "bodies": [{"name": "b", "material": "m", "spacing": spacing, "shape": shape, "position": position, "velocity": velocity}],
        "colliders": [{"shape": {"type": "plane", "normal": [0.0, 0.0, 1.0], "point": [0.0, 0.0, 0.0]}, "friction": friction}],
        "output": {"interval": end, "fields": ["volume_ratio"]},
    }


def sand(step, spacing=SPACING, **solver):
    material = {"density": 1600.0, "elastic": elastic("hencky", 5e5, 0.3), "plastic": {"model": "drucker-prager", "friction_angle": 35.0}}
    return base(material, {"type": "cylinder", "radius": 0.1, "height": 0.2}, [0.0, 0.0, 0.1], [0.0, 0.0, 0.0], step, 0.8, spacing, friction=0.7,
                **solver)


def snow(step, spacing=SPACING, **solver):
    material = {"density": 400.0, "elastic": elastic("fixed-corotated", 5e5, 0.2),
                "plastic": {"model": "snow", "critical_compression": 0.025, "critical_stretch": 0.0075, "hardening": 10.0}}
    return base(material, {"type": "sphere", "radius": 0.1}, [0.0, 0.0, 0.1], [0.0, 0.0, -4.0], step, 0.5, spacing, **solver)


def metal(step, spacing=SPACING, **solver):
    material = {"density": 1000.0, "elastic": elastic("hencky", 1e6, 0.3), "plastic": {"model": "von-mises", "yield_stress": 1e4, "hardening": 0.1}}
    return base(material, box([0.2, 0.2, 0.2]), [0.0, 0.0, 0.1], [0.0, 0.0, -4.0], step, 0.5, spacing, **solver)


MATTER = {"sand": sand, "snow": snow, "metal": metal}


def stronger(name, factor):
    scene = MATTER[name](YARDSTICK_STEP)
    for key in STRENGTH[name]:
        scene["materials"]["m"]["plastic"][key] *= factor
    return scene


def aside(name):
    """The same a third of a spacing aside, which changes the order of sums and no more."""
    scene = MATTER[name](YARDSTICK_STEP)
    scene["bodies"][0]["position"][0] += SPACING / 3
    return scene


def yardstick_scenes(context, name):
    """What else changes a shape: the spacing, the order of sums, and in the full form the strength."""
    scenes = {f"{name}_coarser": MATTER[name](YARDSTICK_STEP, COARSER), f"{name}_aside": aside(name)}
    if not context.quick:
        scenes.update({f"{name}_strength_{factor:g}": stronger(name, factor) for factor in (0.9, 1.1)})
    return scenes


def distance(a, b):
    """Of two runs' settled shapes, in spacings."""
    return shape_distance(a.frame()["points"], b.frame()["points"]) / SPACING if a.ok and b.ok else np.nan


def run(context, result):
    if not context.has("xpbi"):
        result.remark("This program has no method for flowing matter.")
        return
    steps = [2e-3, 1e-3, 5e-4] if context.quick else [2e-3, 1e-3, 5e-4, 2.5e-4, 1.25e-4]
    ways = {"implicit": {}, "semi-implicit": {"plasticity": "semi-implicit"}}
    used = {"implicit": steps, "semi-implicit": [JUDGED] if context.quick else steps}
    scenes = {f"{name}_{way}_{step:g}": make(step, **ways[way]) for step in reversed(steps) for name, make in MATTER.items()
              for way in ways if step in used[way]}
    if not context.quick:
        scenes.update({f"smoothed_{step:g}": sand(step, xsph=SMOOTHING) for step in reversed(steps)})
    for name in MATTER:
        scenes.update(yardstick_scenes(context, name))
    runs = context.simulate_all(scenes)
    figure, axis = panels(1)
    rows, measures = [], []
    for n, name in enumerate(MATTER):
        finest, same_step = runs[f"{name}_implicit_{steps[-1]:g}"], runs[f"{name}_implicit_{YARDSTICK_STEP:g}"]
        found = {way: {s: distance(runs[f"{name}_{way}_{s:g}"], finest) for s in used[way]} for way in ways}
        coarser, chance = distance(runs[f"{name}_coarser"], same_step), distance(runs[f"{name}_aside"], same_step)
        for way in ways:
            shown = [number(found[way][s], 3) if s in found[way] and np.isfinite(found[way][s]) else "stopped" if s in found[way] else "" for s in steps]
            smaller = [s for s in steps[:-1] if s in found[way]]
            regular = len(smaller) > 2 and way == "implicit" and all(found[way][s] > 0 for s in smaller)
            rows.append([name, way, *shown, number(fitted_order(smaller, [found[way][s] for s in smaller]), 2) if regular else ""])
            axis.loglog(np.array(used[way]) * 1e3, [d if d > 0 else np.nan for d in found[way].values()], marker=MARKERS[n], color=COLORS[n],
                        linestyle="-" if way == "implicit" else "--", label=f"{name}, {way}")
        axis.axhline(coarser, color=COLORS[n], linestyle=":", linewidth=1)
        implicit, semi = (found[way][JUDGED] for way in ways)
        strength = [distance(runs[f"{name}_strength_{f:g}"], same_step) for f in (0.9, 1.1)] if not context.quick else []
        measures.append([name, number(implicit, 3), number(semi, 3), number(coarser, 3), number(chance, 2), " and ".join(number(d, 2) for d in strength) or "full form"])
        result.check(f"{name}: distance between the shapes at {JUDGED * 1e3:g} ms and at {steps[-1] * 1e3:g} ms", implicit, coarser + chance,
                     f"the error of the step is to be below that of the spacing: what {COARSER * 1e3:g} mm in place of {SPACING * 1e3:g} mm makes, and "
                     "what chance makes: the same run a third of a spacing aside", unit="spacings")
        result.check(f"{name}: that distance over the one of semi-implicit yielding", implicit / semi, 1.0,
                     "P1: shapes depend less on the step if yielding is part of the solve")
    if not context.quick:
        smoothed(result, steps, rows, runs)
    axis.set(xlabel="time step [ms]", ylabel=f"distance from the shape at {steps[-1] * 1e3:g} ms [spacings]")
    axis.legend()
    finish(result, figure, "plasticity_time_step", f"Distance of the settled shape from that of the smallest step; dotted: what a spacing of "
           f"{COARSER * 1e3:g} mm makes.")
    result.table("Distance from the settled shape of the smallest implicit step, in spacings",
                 ["matter", "yielding"] + [f"{s * 1e3:g} ms" for s in steps] + ["order"], rows,
                 "" if context.quick else "Order: slope of the fit over the step. A first-order integrator would give 1 if the flow were smooth; grains "
                 "that stick or slip are not.")
    result.table(f"The step of {JUDGED * 1e3:g} ms against other changes, in spacings",
                 ["matter", "implicit", "semi-implicit", f"spacing {COARSER * 1e3:g} mm", "moved aside", "strength -10 % and +10 %"], measures)
    contrast(result, measures)


def smoothed(result, steps, rows, runs):
    """What XSPH makes of the sand's dependence on the step."""
    found = [distance(runs[f"smoothed_{s:g}"], runs[f"smoothed_{steps[-1]:g}"]) for s in steps]
    rows.append(["sand", f"implicit, xsph {SMOOTHING:g}", *(number(d, 3) for d in found), ""])
    result.remark(f"XSPH is off, except in the last row of the first table, which is taken from its own smallest step. With the default of {SMOOTHING:g} the "
                  f"shapes of sand at {JUDGED * 1e3:g} ms and {steps[-1] * 1e3:g} ms are {found[steps.index(JUDGED)]:.2f} spacings apart: it smooths once a step, "
                  "which is a viscosity that grows as the step shrinks.")


def contrast(result, measures):
    """Says where the semi-implicit treatment would do, and where the step still counts."""
    value = {row[0]: [float(x) for x in row[1:4]] for row in measures}
    fails = [name for name, (_, semi, coarser) in value.items() if not semi <= coarser]
    passes = [name for name in value if name not in fails]
    result.remark(f"Semi-implicit yielding at {JUDGED * 1e3:g} ms would miss the bound of the spacing for {', '.join(fails) or 'none'}"
                  + (f" and hold it for {', '.join(passes)}, where particles of this size do not need the implicit treatment." if passes else "."))
    if measures[0][5] != "full form":
        worse = [row[0] for row in measures if float(row[1]) > max(float(d) for d in row[5].split(" and "))]
        if worse:
            result.remark(f"For {', '.join(worse)} a step of {JUDGED * 1e3:g} ms still changes the shape more than a tenth of the strength does: who "
                          "fits a strength to a shape needs smaller steps.")
