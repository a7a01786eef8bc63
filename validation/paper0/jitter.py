"""Deflection of a cantilever of irregular particles, against finite elements: what relaxing the sample is worth."""

import csv
import json

from common import RESULTS, ROOT, run, table, write_scene

FEM = json.loads((ROOT / "validation/data/cantilever_settled.json").read_text())["tip"]["1e5"][2]  # m, quadratic hexahedra extrapolated
SPACING = 0.025
# Damping a little below that of the first mode (6.4 rad/s) that swings no more: 2 s leave 1e-5 of the deflection.
SCENE = write_scene("jitter", f"""
[solver]
method     = "total-lagrangian"
time_step  = 1e-3
end_time   = 2.0
iterations = 10
damping    = 12.0
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


def tips(name):
    """Deflection of the end face over time, extrapolated from the last two layers."""
    with open(RESULTS / name / "probes.csv", encoding="utf-8") as file:
        rows = [{key: float(value) for key, value in row.items()} for row in csv.DictReader(file)]
    first = rows[0]
    x = [first[f"{layer}.x"] for layer in ("last", "before")]
    found = []
    for row in rows:
        down = [row[f"{layer}.z"] - first[f"{layer}.z"] for layer in ("last", "before")]
        found.append(down[0] + (down[0] - down[1]) / (x[0] - x[1]) * (1 - x[0]))
    return found


def main():
    rows = []
    for jitter, relax in ((0.2, 0), (0.2, 1), (0.2, 2), (0.2, 4), (0.0, 0)):
        run(SCENE, "jitter", f"bodies[0].jitter={jitter}", f"bodies[0].relax={relax}")
        tip = tips("jitter")
        late = tip[9 * len(tip) // 10:]
        rows.append([jitter, relax, f"{100 * (tip[-1] / FEM - 1):+.2f} %", f"{100 * (max(late) - min(late)) / abs(FEM):.3f} %"])
    table(["jitter (spacings)", "relax", "tip deflection against finite elements", "drift in the last tenth of the time"], rows)


main()
