"""Deflection of a cantilever of irregular particles, against finite elements: what relaxing the sample is worth."""

import csv

from common import RESULTS, run, table, write_scene

FEM = -0.3479  # m, quadratic hexahedra extrapolated
SPACING = 0.025
SCENE = write_scene("jitter", f"""
[solver]
method     = "total-lagrangian"
time_step  = 1e-3
end_time   = 1.6
iterations = 10
damping    = 6.0
[materials.rubber]
density = 100.0
elastic = {{ model = "hencky", youngs_modulus = 1e5, poisson_ratio = 0.3 }}
[[bodies]]
name     = "beam"
material = "rubber"
spacing  = {SPACING}
shape    = {{ type = "box", size = [{1 + 2 * SPACING}, 0.2, 0.2] }}
position = [{0.5 - SPACING}, 0, 0]
[[fixtures]]
name   = "wall"
body   = "beam"
region = {{ type = "box", size = [2, 1, 1], position = [{SPACING - 1}, 0, 0] }}
[[probes]]
name   = "last"
body   = "beam"
region = {{ type = "box", size = [{SPACING}, 1, 1], position = [{1 - SPACING / 2}, 0, 0] }}
[[probes]]
name   = "before"
body   = "beam"
region = {{ type = "box", size = [{SPACING}, 1, 1], position = [{1 - 1.5 * SPACING}, 0, 0] }}
[output]
interval = 100
""")


def tip(name):
    """Deflection of the end face, extrapolated from the last two layers."""
    with open(RESULTS / name / "probes.csv", encoding="utf-8") as file:
        rows = [{key: float(value) for key, value in row.items()} for row in csv.DictReader(file)]
    first, last = rows[0], rows[-1]
    down = [last[f"{layer}.z"] - first[f"{layer}.z"] for layer in ("last", "before")]
    x = [first[f"{layer}.x"] for layer in ("last", "before")]
    return down[0] + (down[0] - down[1]) / (x[0] - x[1]) * (1 - x[0])


def main():
    rows = []
    for jitter, relax in ((0.2, 0), (0.2, 1), (0.2, 2), (0.2, 4), (0.0, 0)):
        run(SCENE, "jitter", f"bodies[0].jitter={jitter}", f"bodies[0].relax={relax}")
        rows.append([jitter, relax, f"{100 * (tip('jitter') / FEM - 1):+.1f} %"])
    table(["jitter (spacings)", "relax", "tip deflection against finite elements"], rows)


main()
