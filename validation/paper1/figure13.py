"""Figures 13 and 15: a sand column that collapses. Run-out against experiments, and distances between neighbours."""

import argparse

import numpy as np
from scipy.spatial import cKDTree

from common import context, table
from studies.column import ANGLE, RADIUS, column_scene, height_laws, measured, runout_law

WAYS = {
    "current, distance (the paper's)": {"reference": "current"},
    "current, density": {"reference": "current", "separation": "density"},
    "current, none": {"reference": "current", "least_distance": 0.0},
    "memory, distance": {"reference": "memory"},
    "memory, density": {"reference": "memory", "separation": "density"},
}
ASPECT = 1.0


def nearest(points, spacing):
    """Mean and standard deviation of the distance to the nearest neighbour, in spacings, and the smallest."""
    distance = cKDTree(points).query(points, k=2)[0][:, 1] / spacing
    return distance.mean(), distance.std(), distance.min()


def packing(points, spacing):
    """Number of particles within three spacings of one inside the heap: nine in ten have fewer."""
    return np.quantile([len(near) for near in cKDTree(points).query_ball_point(points, 3 * spacing)], 0.9)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cells", type=int, default=14, help="spacings to the column's radius")
    cells = parser.parse_args().cells
    spacing = RADIUS / cells
    place, scenes = context("figure13"), {}
    for name, options in WAYS.items():
        scene = column_scene(place, "axisymmetric", ASPECT, cells)
        scene["solver"].update(options)
        scenes[name.replace(", ", "_").replace(" ", "").replace("'", "")] = scene
    runs = place.simulate_all(scenes)
    law, height_law = float(runout_law("axisymmetric", ASPECT)), float(height_laws("axisymmetric", ASPECT)[0])
    rows = []
    for name, one in zip(WAYS, (runs[key] for key in scenes)):
        if not one.ok:
            rows.append([name, "stopped"])
            continue
        runout, height = measured(one, "axisymmetric", spacing, ASPECT)
        mean, deviation, least = nearest(one.frame()["points"], spacing)
        density = packing(one.frame()["points"], spacing) / packing(one.frame(0)["points"], spacing)
        rows.append([name, f"{runout:.2f}", f"{100 * (runout / law - 1):+.0f} %", f"{height:.2f}", f"{density:.2f}", f"{mean:.3f}", f"{deviation:.3f}", f"{least:.2f}"])
    table(["reference, separation", "run-out", "against experiments", "height", "density", "nearest neighbour, mean", "deviation", "least"], rows)
    print(f"\nColumn of aspect ratio {ASPECT:g}, sand of {ANGLE:g} degrees, {cells} spacings to the radius, 0.5 ms, 10 iterations. Run-out (r - r0)/r0: experiments"
          f"\n{law:.2f} (Lube et al., Lajeunesse et al.), height {height_law:.2f}. Density inside the heap and distances to the"
          "\nnearest neighbour at rest: 1 at the start."
          "\nPaper (curves): XPBI keeps mean and variance of the distance, MPM does not; of the two corrections the distance keeps them better."
          "\nIt gives no run-out. All aspect ratios: `tools/ductile validate column`.")


main()
