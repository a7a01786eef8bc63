"""Figure 19: shapes of settled snow and sand for several time steps, with yielding in the iterations and after the step."""

import argparse

import numpy as np

from common import context, table
from studies.plasticity_time_step import MATTER, SPACING
from suite.shapes import shape_distance

PAPER = {"implicit": "same at 0.1 and 1 ms", "semi-implicit": "depends on the step (Gissler et al.)"}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--reference", default="memory", choices=["memory", "current"])
    parser.add_argument("--smallest", type=float, default=1e-4, help="time step (s) to compare with")
    options = parser.parse_args()
    reference, steps = options.reference, [2e-3, 1e-3, 5e-4, options.smallest]
    keys = [(matter, way, step) for step in reversed(steps) for matter in ("snow", "sand") for way in PAPER]
    runs = context("figure19").simulate_all({"_".join(map(str, (matter, way, step))): MATTER[matter](step, plasticity=way, reference=reference)
                                             for matter, way, step in keys})
    rows = []
    for matter in ("snow", "sand"):
        for way, paper in PAPER.items():
            finest = runs[f"{matter}_{way}_{steps[-1]}"].frame()["points"]
            cells = []
            for step in steps:
                one = runs[f"{matter}_{way}_{step}"]
                points = one.frame()["points"] if one.ok else None
                cells.append("stopped" if points is None else
                             f"{1e3 * np.quantile(points[:, 2], 0.99):.0f} mm, {shape_distance(points, finest) / SPACING:.2f}")
            rows.append([matter, way, *cells, paper if matter == "snow" else ""])
    table(["matter", "yielding", *(f"{1e3 * step:g} ms" for step in steps), "paper (snow)"], rows)
    print(f"\nHeight of the settled heap, and distance of its shape from that at {1e3 * steps[-1]:g} ms with the same treatment, in spacings of "
          f"{1e3 * SPACING:g} mm; reference {reference}."
          "\nSnow: 400 kg/m^3, E = 5e5 Pa, hardening 10, 0.025, 0.0075 as in the paper; a ball that hits the ground at 4 m/s.")


main()
