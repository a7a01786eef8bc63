"""Settled shapes of flowing matter for several time steps."""

import numpy as np

from suite.plots import COLORS, MARKERS, finish, fitted_order, panels
from suite.result import number
from suite.scene import box, elastic
from suite.shapes import shape_distance

TITLE = "Plastic flow does not depend on the time step"
SHOWS = ("Sand, snow and metal that fall and come to rest, computed with several time steps, with yielding as part of the solve and, for "
         "contrast, after it, without XSPH and with its default. Settled shapes are compared by the distance that particles must move to turn one "
         "deposit into the other; beside it, what a coarser spacing and a stronger material make.")
ANSWERS = "P1, implicit plasticity against its semi-implicit form, and choice of the time step"
CHECKS = {"quick": 21, "full": 24}  # bounds that each form judges

SPACING, COARSER = 0.02, 0.025
YARDSTICK_STEP = 5e-4  # of the runs with another spacing or strength
JUDGED = 1e-3
# A particle stands for the matter of its cell, which is a quarter of a spacing away from it along an axis, on average over the cell: the
# transport distance between the particles and the body they stand for. Shapes nearer than that are the same at this spacing.
RESOLVED = 0.25
WAYS = {"implicit": {}, "implicit, default xsph": {"xsph": None}, "semi-implicit": {"plasticity": "semi-implicit"}}
STRENGTH = {"sand": ["friction_angle"], "snow": ["critical_compression", "critical_stretch"], "metal": ["yield_stress"]}


def base(material, shape, position, velocity, step, end, spacing, iterations=10, friction=0.5, **solver):
    """Without XSPH if nothing else is said; None stands for the program's default."""
    settings = {"method": "xpbi", "time_step": step, "end_time": end, "iterations": iterations, "xsph": 0.0, **solver}
    return {
        "solver": {key: value for key, value in settings.items() if value is not None},
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


def yardstick_scenes(name):
    """What else changes a shape: the spacing, the order of sums, the strength."""
    return {f"{name}_coarser": MATTER[name](YARDSTICK_STEP, COARSER), f"{name}_aside": aside(name),
            **{f"{name}_strength_{factor:g}": stronger(name, factor) for factor in (0.5, 0.9, 1.1)}}


def distance(a, b):
    """Of two runs' settled shapes, in spacings."""
    return shape_distance(a.frame()["points"], b.frame()["points"]) / SPACING if a.ok and b.ok else np.nan


def halvings(runs, name, way, steps):
    """Distances between the shapes of a step and of its half."""
    return [distance(runs[f"{name}_{way}_{a:g}"], runs[f"{name}_{way}_{b:g}"]) for a, b in zip(steps, steps[1:])]


def judge(result, label, steps, found, halved):
    """The error of a step of first order is its distance from a finer one over the part of the step that is left out there."""
    finest = steps[-1]
    result.check(f"{label}: error of the shape at {JUDGED * 1e3:g} ms", found[JUDGED] / (1 - finest / JUDGED), RESOLVED,
                 f"the step is of first order: the distance from the shape at {finest * 1e3:g} ms over 1 - {finest * 1e3:g}/{JUDGED * 1e3:g}. "
                 "Particles stand for matter that is a quarter of a spacing away from them on average: nearer shapes are the same", unit="spacings")
    result.check(f"{label}: largest distance between the shapes of a step and its half", max(halved), 1.0,
                 "no step that is tried may change a shape by more than its resolution, one spacing", unit="spacings")
    grows = [b for a, b in zip(halved, halved[1:]) if not b <= max(a, RESOLVED)]
    if len(halved) > 1:
        result.check(f"{label}: halvings of the step that change the shape more than the one before", len(grows), 0,
                     "a method that converges changes less with every halving, as far as shapes can be told apart (a quarter of a spacing)")


def run(context, result):
    steps = [2e-3, 1e-3, 5e-4] if context.quick else [2e-3, 1e-3, 5e-4, 2.5e-4, 1.25e-4]
    used = {way: steps for way in WAYS}
    if context.quick:
        used |= {"implicit, default xsph": steps[1:], "semi-implicit": [JUDGED]}
    else:
        used["semi-implicit"] = steps[:3]
    scenes = {f"{name}_{way}_{step:g}": make(step, **WAYS[way]) for step in steps for name, make in MATTER.items()
              for way in WAYS if step in used[way]}
    for name in MATTER:
        scenes.update({f"{name}_strength_0.5": stronger(name, 0.5)} if context.quick else yardstick_scenes(name))
    runs = context.simulate_all(scenes)
    figure, axes = panels(2, sharex=True, sharey=True)
    rows, measures = [], []
    for n, name in enumerate(MATTER):
        found = {}
        for way in WAYS:
            finest = runs[f"{name}_{'implicit' if way == 'semi-implicit' else way}_{steps[-1]:g}"]
            found[way] = {s: distance(runs[f"{name}_{way}_{s:g}"], finest) for s in used[way]}
            shown = [number(found[way][s], 3) if s in found[way] and np.isfinite(found[way][s]) else "stopped" if s in found[way] else "" for s in steps]
            smaller = [s for s in steps[:-1] if s in found[way]]
            regular = len(smaller) > 2 and way != "semi-implicit" and all(found[way][s] > 0 for s in smaller)
            rows.append([name, way, *shown, number(fitted_order(smaller, [found[way][s] for s in smaller]), 2) if regular else ""])
            axis = axes[int(way == "implicit, default xsph")]
            axis.loglog(np.array(used[way]) * 1e3, [d if d > 0 else np.nan for d in found[way].values()], marker=MARKERS[n], color=COLORS[n],
                        linestyle="--" if way == "semi-implicit" else "-", markerfacecolor="white" if way == "semi-implicit" else COLORS[n],
                        label=f"{name}, {way}")
        for way in ("implicit", "implicit, default xsph"):
            judge(result, name + way.removeprefix("implicit"), used[way], found[way], halvings(runs, name, way, used[way]))
        implicit, semi = found["implicit"][JUDGED], found["semi-implicit"][JUDGED]
        result.check(f"{name}: distance of {JUDGED * 1e3:g} ms from {steps[-1] * 1e3:g} ms over the one of semi-implicit yielding", implicit / semi, 1.0,
                     "P1: shapes depend less on the step if yielding is part of the solve")
        result.check(f"{name}: error of the shape at {JUDGED * 1e3:g} ms over what half of the strength makes", implicit / (1 - steps[-1] / JUDGED) / half_strength(runs, name),
                     1.0, "a shape must tell a strength from half of it, whatever the step")
        if not context.quick:
            measures.append([name, implicit, semi, *others(runs, name)])
    for axis in axes:
        axis.axhline(RESOLVED, color="#888888", linestyle=":", linewidth=1)
        axis.set(xlabel="time step [ms]")
        axis.legend(fontsize=8)
    axes[0].set(ylabel=f"distance from the shape at {steps[-1] * 1e3:g} ms [spacings]", title="without XSPH")
    axes[1].set(title="with the default of XSPH")
    finish(result, figure, "plasticity_time_step", "Distance of the settled shape from that of the smallest implicit step; dotted: what particles "
           "resolve, a quarter of a spacing.")
    result.table("Distance from the settled shape of the smallest implicit step, in spacings",
                 ["matter", "yielding"] + [f"{s * 1e3:g} ms" for s in steps] + ["order"], rows,
                 "" if context.quick else "Order: slope of the fit over the step. A first-order integrator would give 1 if the flow were smooth; grains "
                 "that stick or slip are not.")
    if measures:
        result.table(f"The step of {JUDGED * 1e3:g} ms against other changes, in spacings",
                     ["matter", "implicit", "semi-implicit", f"spacing {COARSER * 1e3:g} mm", "moved aside", "half the strength", "strength -10 %", "strength +10 %"],
                     [[row[0], *(number(value, 3) for value in row[1:])] for row in measures],
                     f"At {YARDSTICK_STEP * 1e3:g} ms. Moved aside: the same body a third of a spacing away, which changes the order of sums and no more.")
        contrast(result, measures)


def half_strength(runs, name):
    """What half of the strength makes of the shape, in spacings."""
    return distance(runs[f"{name}_strength_0.5"], runs[f"{name}_implicit_{YARDSTICK_STEP:g}"])


def others(runs, name):
    """What a coarser spacing, another place and another strength make."""
    same_step = runs[f"{name}_implicit_{YARDSTICK_STEP:g}"]
    return [distance(runs[f"{name}_{other}"], same_step) for other in ("coarser", "aside", "strength_0.5", "strength_0.9", "strength_1.1")]


def contrast(result, measures):
    """Says where the semi-implicit treatment would do, and where the step still counts."""
    fails = [row[0] for row in measures if not row[2] <= RESOLVED]
    passes = [row[0] for row in measures if row[0] not in fails]
    result.remark(f"Semi-implicit yielding at {JUDGED * 1e3:g} ms is off by more than particles resolve for {', '.join(fails) or 'none'}"
                  + (f" and not for {', '.join(passes)}, where particles of this size do not need the implicit treatment." if passes else "."))
    worse = [row[0] for row in measures if row[1] > max(row[6:])]
    if worse:
        result.remark(f"For {', '.join(worse)} a step of {JUDGED * 1e3:g} ms still changes the shape more than a tenth of the strength does: who "
                      "fits a strength to a shape needs smaller steps.")
