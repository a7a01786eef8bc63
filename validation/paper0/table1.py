"""Table 1: particles and time per frame of the paper's scenes. --steps N limits the steps that are timed (default 12)."""

import argparse

from common import ROOT, run, table

# Scene, paper's particles, ms per frame (GTX 1080), steps per frame.
SCENES = [
    ("tori_box", 50544, 20.200, 3),
    ("rabbit", 41555, 13.620, 2),
    ("cow", 188257, 27.750, 2),
    ("towel", 8404, 11.952, 4),
    ("metal", 4875, 15.978, 4),
    ("sausages", 38448, 21.676, 3),
]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=12)
    steps = parser.parse_args().steps
    rows = []
    for name, particles, paper, per_frame in SCENES:
        scene = ROOT / f"scenes/{name}.toml"
        step = float(next(line.split("=")[1].split("#")[0] for line in scene.read_text().splitlines()
                          if line.startswith("time_step")))
        _, record = run(scene, f"table1_{name}", f"solver.end_time={steps * step!r}", "output.interval=100")
        work = record["particles"] * record["iterations"]
        seconds = work / record["particle_iterations_per_second"]
        contact = sum(p["seconds"] for n, p in record["phases"].items() if n.startswith("contact"))
        rows.append([name, particles, record["particles"], paper, f"{1000 * per_frame * seconds:.0f}",
                     f"{1000 * per_frame * contact / record['steps']:.0f}", record["iterations"],
                     f"{record['particle_iterations_per_second'] / 1e6:.1f}"])
    table(["scene", "paper's particles", "particles", "paper ms/frame", "ms/frame", "of it contact", "iterations",
           "M particle-iterations/s"], rows)
    print(f"\nPaper: GTX 1080. Here: {record['device']}, {record['threads']} threads, single precision, first {steps} steps.")


main()
