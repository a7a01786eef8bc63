"""Table 2 and Figure 17: time per frame of the shipped scenes after the paper's, and where it goes. --steps N are timed (default 20).
--paper-size: the scenes after its rows with the paper's numbers of particles (up to 4 million, 9 GB)."""

import argparse
import tomllib

from common import ROOT, run, table

# Rows of the paper: particles, frame and step (s), iterations, neighbours in a frame's step, seconds per frame (RTX 4090).
PAPER = {
    "Noodles": (1.18e6, 1 / 40, 1e-4, 10, 28.7e6, 46.3),
    "Dam Breach": (4.00e6, 1 / 24, 2.5e-4, 7, 156.2e6, 138.8),
    "Hourglass": (1.01e6, 1 / 24, 1e-4, 5, 17.0e6, 30.9),
    "Snow Dive": (2.48e6, 1 / 100, 4e-5, 5, 64.1e6, 78.2),
    "Wrist": (20e3, 1 / 100, 2e-4, 5, 433.2e3, 0.015),
}
# Ours, the row with its material. The snow of `snowball` (that of the paper's Figure 19), `plasticine` and
# `sand_column` are in no row; the rows Cloth, Camponotus and Hitman have no scene here.
SCENES = [
    ("noodles", "Noodles"),
    ("cream", "Wrist"),
    ("dam_breach", "Dam Breach"),
    ("hourglass", "Hourglass"),
    ("snow_plough", "Snow Dive"),
    ("snowball", None),
    ("plasticine", None),
    ("sand_column", None),
]
# The paper's counts, as the scenes say in their first lines, with the steps that their spacings ask for.
PAPER_SIZE = {
    "noodles": {"bodies.strand.spacing": 0.0008, "solver.time_step": 4e-5},
    "cream": {"bodies.cream.spacing": 0.00565},
    "dam_breach": {"bodies.dam.spacing": 0.00266},
    "hourglass": {"bodies.sand.spacing": 0.00128, "solver.time_step": 1e-4},
    "snow_plough": {"bodies.snow.spacing": 0.00244, "solver.time_step": 4e-5},
}
# Phases of Figure 17 by the names of ours.
GROUPS = {
    "neighbours": ("neighbors", "cells", "xpbi.pairs", "xpbi.volumes", "xpbi.neighborhoods", "xpbi.stale", "xpbi.choose"),
    "colours": ("xpbi.blocks",),
    "inelasticity": ("xpbi.sweep", "xpbi.apply"),
    "contact": ("contact", "colliders"),
    "XSPH": ("xpbi.xsph",),
    "state": ("xpbi.commit", "predict", "step", "particles", "xpbi.evaluate"),
}


def group_of(phase):
    return next((group for group, names in GROUPS.items() if phase.startswith(names)), "rest")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--paper-size", action="store_true")
    options = parser.parse_args()
    steps = options.steps
    times, parts = [], []
    for name, demo in SCENES:
        if options.paper_size and name not in PAPER_SIZE:
            continue
        scene = ROOT / f"scenes/{name}.toml"
        changes = PAPER_SIZE[name] if options.paper_size else {}
        step = changes.get("solver.time_step") or tomllib.loads(scene.read_text())["solver"]["time_step"]
        code, record = run(scene, f"table2_{name}", f"solver.end_time={steps * step!r}", "output.interval=100",
                           *(f"{key}={value!r}" for key, value in changes.items()))
        spent = {}
        for phase, numbers in record["phases"].items():
            if not phase.startswith(("output", "measure")):
                spent[group_of(phase)] = spent.get(group_of(phase), 0) + numbers["seconds"]
        total = sum(spent.values())
        rate = record["particles"] * record["iterations"] * record["steps"] / total
        theirs = ["-", "", "", "", ""]
        if demo:
            particles, frame, paper_step, iterations, neighbours, seconds = PAPER[demo]
            theirs = [demo, f"{particles / 1e6:.2f} M", f"{neighbours / particles:.0f}", f"{1e3 * seconds * paper_step / frame:.3g}",
                      f"{particles * iterations * frame / paper_step / seconds / 1e6:.0f}"]
        times.append([name, record["particles"], f"{record['mean_neighbours']:.0f}", record["iterations"], f"{1e3 * total / record['steps']:.0f}",
                      f"{rate / 1e6:.2f}", *theirs] + ([] if code == 0 else ["stopped"]))
        parts.append([name] + [f"{100 * spent.get(group, 0) / total:.0f} %" for group in (*GROUPS, "rest")])
    table(["scene", "particles", "neighbours", "iterations", "ms/step", "M/s", "paper", "particles", "neighbours", "ms/step", "M/s"], times)
    print()
    table(["scene", *GROUPS, "rest"], parts)
    print(f"\nM/s: million particle-iterations per second, everything in a step included. Paper: RTX 4090; its ms/step are seconds per frame times"
          f"\nstep over frame. Here: {record['device']}, {record['threads']} threads, single precision, first {steps} steps"
          f"{'' if options.paper_size else ' of smaller scenes'}. -: no row of the paper has this material."
          "\nFigure 17 (no numbers, Hourglass): most of the time is in the inelasticity constraints; what is done once per step is about 1/3.")


if __name__ == "__main__":
    main()
