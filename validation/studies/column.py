"""Collapse of granular columns against the published laws of run-out."""

import numpy as np

from suite.plots import COLORS, MARKERS, finish, panels
from suite.result import number
from suite.scene import box, elastic
from suite.shapes import front

TITLE = "Collapse of granular columns"
SHOWS = ("Columns of sand that are suddenly let go spread over the ground. Run-out and final height depend on the aspect ratio alone, by laws "
         "that experiments with many materials agree on.")
ANSWERS = ("experiments of Lube, Huppert, Sparks and Freundt (2004, 2005) and of Lajeunesse, Monnier and Homsy (2005); P1, sand column collapse")

RADIUS = 0.1
ANGLE = 31.0  # degrees, dry quartz sand of the experiments; `friction_angle` is measured in triaxial compression as well
DENSITY, MODULUS = 1600.0, 1e6
# Particles per radius or width by aspect ratio. A low column needs fine ones: its deposit ends in a long thin toe.
CELLS = {"axisymmetric": {0.5: 28, 1.0: 24, 2.0: 20, 4.0: 10, 8.0: 8}, "plane": {0.5: 40, 1.0: 28, 2.0: 20, 4.0: 14, 8.0: 10}}
QUICK_CELLS = {"axisymmetric": {4.0: 6}, "plane": {1.0: 14, 2.0: 14}}


def axisymmetric_law(a):
    """(run-out - r0)/r0 and height/r0."""
    return np.where(a < 1.7, 1.24 * a, 1.6 * np.sqrt(a)), np.where(a < 1.0, a, 0.88 * a**(1 / 6))


def plane_law(a):
    return np.where(a < 2.3, 1.2 * a, 1.9 * a**(2 / 3)), np.where(a < 1.15, a, 0.65 * a**0.4)


def column_scene(kind, aspect, cells):
    """A cylinder on a rough floor, or a slab of two particles' width and more between smooth walls, open to one side."""
    spacing, height = RADIUS / cells, aspect * RADIUS
    friction = float(np.tan(np.radians(ANGLE)))
    floor = {"shape": {"type": "plane", "normal": [0.0, 0.0, 1.0], "point": [0.0, 0.0, 0.0]}, "friction": friction}
    duration = 3.5 * np.sqrt(height / 9.81) + 0.15
    if kind == "axisymmetric":
        shape, position, colliders = {"type": "cylinder", "radius": RADIUS, "height": height}, [0.0, 0.0, height / 2], [floor]
    else:
        width = 5 * spacing
        shape, position = box([RADIUS, width, height]), [RADIUS / 2, 0.0, height / 2]
        walls = [([1.0, 0.0, 0.0], [0.0, 0.0, 0.0]), ([0.0, 1.0, 0.0], [0.0, -width / 2, 0.0]), ([0.0, -1.0, 0.0], [0.0, width / 2, 0.0])]
        colliders = [floor] + [{"shape": {"type": "plane", "normal": n, "point": p}} for n, p in walls]
    return {
        "solver": {"method": "xpbi", "time_step": 5e-4, "end_time": float(duration), "iterations": 10, "xsph": 0.0},
        "materials": {"sand": {"density": DENSITY, "elastic": elastic("hencky", MODULUS, 0.3),
                               "plastic": {"model": "drucker-prager", "friction_angle": ANGLE}}},
        "bodies": [{"name": "column", "material": "sand", "spacing": spacing, "shape": shape, "position": position}],
        "colliders": colliders,
        "output": {"interval": float(duration), "fields": ["volume_ratio"]},
    }


def measured(run, kind, spacing, aspect):
    initial_height = aspect * RADIUS
    points = run.frame()["points"]
    if kind == "axisymmetric":
        distance = np.hypot(points[:, 0], points[:, 1])
        edge = front(distance, np.pi * RADIUS**2 * initial_height / len(points), spacing, lambda a, b: np.pi * (b**2 - a**2))
    else:
        distance = points[:, 0]
        edge = front(distance, 5 * spacing * RADIUS * initial_height / len(points), spacing, lambda a, b: 5 * spacing * (b - a))
    near = distance < RADIUS / 3
    height = np.quantile(points[near, 2], 0.98) + spacing / 2 if near.any() else 0.0
    return (edge - RADIUS) / RADIUS, height / RADIUS


def run(context, result):
    if not context.has("xpbi"):
        result.remark("This program has no method for flowing matter.")
        return
    cells = QUICK_CELLS if context.quick else CELLS
    kinds = ["axisymmetric", "plane"]
    # The longest first.
    scenes = {f"{kind}_{a:g}": column_scene(kind, a, cells[kind][a]) for kind in kinds for a in cells[kind]}
    runs = context.simulate_all(scenes)
    figure, axes = panels(2)
    for n, kind in enumerate(kinds):
        law = axisymmetric_law if kind == "axisymmetric" else plane_law
        rows, ratios, spread, heights = [], [], [], []
        aspects = list(cells[kind])
        for a in aspects:
            one = runs[f"{kind}_{a:g}"]
            expected, expected_height = (float(v) for v in law(np.array(a)))
            if not one.ok:
                rows.append([a, "", number(expected, 3), "stopped", "", ""])
                ratios.append(np.inf)
                spread.append(np.nan)
                heights.append(np.nan)
                continue
            runout, height = measured(one, kind, RADIUS / cells[kind][a], a)
            ratios.append(abs(runout / expected - 1))
            spread.append(runout)
            heights.append(height)
            rows.append([a, number(runout, 3), number(expected, 3), number(100 * (runout / expected - 1), 3), number(height, 3), number(expected_height, 3)])
        fine = np.geomspace(0.4, 9, 80)
        axes[0].loglog(fine, law(fine)[0], color=COLORS[n], label=f"{kind}, experiments")
        axes[0].loglog(aspects, spread, marker=MARKERS[n], linestyle="", color=COLORS[n], label=f"{kind}, xpbi")
        axes[1].loglog(fine, law(fine)[1], color=COLORS[n])
        axes[1].loglog(aspects, heights, marker=MARKERS[n], linestyle="", color=COLORS[n])
        result.table(f"Columns, {kind}, sand of {ANGLE:g} degrees", ["aspect ratio", "run-out", "experiments", "deviation [%]", "height", "experiments"],
                     rows, "Run-out (r - r0)/r0 and height h/r0.")
        result.check(f"run-out, {kind}: largest deviation from the experiments", 100 * max(ratios), 20.0,
                     "scatter of the experiments over materials", unit="%")
    axes[0].set(xlabel="aspect ratio", ylabel="run-out / initial radius or width")
    axes[1].set(xlabel="aspect ratio", ylabel="final height / initial radius or width")
    axes[0].legend(fontsize=8)
    result.remark("Heights carry no bound. The cone that matches the friction angle in triaxial compression is stronger in plane flow, so that plane "
                  "heaps stay higher than the experiments'; axisymmetric ones end lower, because sand at rest is stronger than sand that flows and the "
                  "model knows one angle only. Coarser particles run out less: they cannot show the thin toe of a deposit.")
    finish(result, figure, "column", "Run-out and final height of collapsed columns; lines: laws fitted to experiments.")
