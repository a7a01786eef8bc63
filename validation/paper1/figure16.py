"""Figure 16: time per particle from 8 thousand to 3 million particles of a viscoplastic ball that hits the ground."""

import argparse

import numpy as np

from common import run, table, write_scene
from suite.scene import elastic, scene_text

PAPER = {8000: 0.30, 56000: 0.098, 400000: 0.058, 3000000: 0.037}  # ms per particle and frame
RADIUS = 0.2


def scene(particles, steps, reference):
    """The cream of Table 2 at 0.1 ms with 10 iterations; the ball touches the ground at once."""
    spacing = float((4 / 3 * np.pi * RADIUS**3 / particles)**(1 / 3))
    return {
        "solver": {"method": "xpbi", "time_step": 1e-4, "end_time": steps * 1e-4, "iterations": 10, "reference": reference},
        "materials": {"cream": {"density": 100.0, "elastic": elastic("hencky", 14754.0, 0.475),
                                "plastic": {"model": "herschel-bulkley", "yield_stress": 50.0, "viscosity": 10.0, "power": 1.0}}},
        "bodies": [{"name": "ball", "material": "cream", "spacing": spacing, "shape": {"type": "sphere", "radius": RADIUS},
                    "position": [0.0, 0.0, RADIUS], "velocity": [0.0, 0.0, -3.0]}],
        "colliders": [{"shape": {"type": "plane", "normal": [0.0, 0.0, 1.0], "point": [0.0, 0.0, 0.0]}, "friction": 0.5}],
        "output": {"interval": 1.0, "fields": ["volume_ratio"]},
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--most", type=float, default=3e6, help="particles of the largest ball")
    options = parser.parse_args()
    rows = []
    for reference in ("current", "memory"):
        first = None
        for particles, paper in PAPER.items():
            if particles > options.most:
                continue
            # Steps enough for small balls to be measured.
            steps = max(options.steps, int(options.steps * 4e5 / particles / 4))
            file = write_scene("figure16", scene_text(scene(particles, steps, reference)))
            _, record = run(file, "figure16")
            phases = {name: p["seconds"] for name, p in record["phases"].items() if not name.startswith(("output", "measure"))}
            total = sum(phases.values())
            per_particle = 1e6 * total / record["steps"] / record["particles"]
            first = first or per_particle
            search = sum(s for name, s in phases.items() if name.startswith(("neighbors", "cells", "xpbi.pairs", "xpbi.neighborhoods")))
            rows.append([reference, record["particles"], record["steps"], f"{1e3 * total / record['steps']:.1f}", f"{per_particle:.2f}",
                         f"{per_particle / first:.2f}", f"{100 * phases['xpbi.sweep'] / total:.0f} %", f"{100 * search / total:.0f} %",
                         f"{paper:g}", f"{paper / PAPER[8000]:.2f}"])
    table(["reference", "particles", "steps", "ms/step", "us/step and particle", "of the smallest", "sweeps", "neighbours",
           "paper: ms/frame and particle", "of its smallest"], rows)
    print(f"\nHere: {record['device']}, {record['threads']} threads. Paper: RTX 4090, frames of a length that is not printed. A GPU is idle with few"
          "\nparticles and cheaper per particle with many. Two cores are busy with the smallest ball, and their time per particle stays."
          "\nThe largest balls make few steps, of which the first finds everything anew.")


main()
