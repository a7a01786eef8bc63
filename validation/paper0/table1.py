"""Table 1: particles and time per frame of the paper's scenes. --steps N limits the steps that are timed (default 12).

A frame takes as many of our steps as fit into the paper's frame time: scenes with other steps than the paper's pay for
theirs.
"""

import argparse

from common import ROOT, run, table

# Scene; the paper's particles, ms per frame (GTX 1080), of it contact, frame (s), steps per frame, iterations per step.
SCENES = [
    ("tori_box", 50544, 20.200, 4.266, 1 / 60, 3, 8),
    ("rabbit", 41555, 13.620, 2.994, 1 / 60, 2, 8),
    ("cow", 188257, 27.750, None, 1 / 90, 2, 8),
    ("towel", 8404, 11.952, None, 1 / 60, 4, 10),
    ("metal", 4875, 15.978, 7.200, 1 / 60, 4, 8),
    ("sausages", 38448, 21.676, 5.683, 1 / 60, 3, 8),
]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=12)
    steps = parser.parse_args().steps
    rows, differences = [], []
    for name, particles, paper, paper_contact, frame, paper_steps, paper_iterations in SCENES:
        scene = ROOT / f"scenes/{name}.toml"
        step = float(next(line.split("=")[1].split("#")[0] for line in scene.read_text().splitlines()
                          if line.startswith("time_step")))
        _, record = run(scene, f"table1_{name}", f"solver.end_time={steps * step!r}", "output.interval=100")
        per_frame = frame / step
        work = record["particles"] * record["iterations"]
        seconds = work / record["particle_iterations_per_second"]  # per step
        contact = sum(p["seconds"] for n, p in record["phases"].items() if n.startswith("contact")) / record["steps"]
        rows.append([name, particles, record["particles"], f"{paper_steps} x {paper_iterations}",
                     f"{per_frame:.3g} x {record['iterations']}", paper, f"{1000 * per_frame * seconds:.0f}",
                     paper_contact or "-", f"{1000 * per_frame * contact:.0f}",
                     f"{record['particle_iterations_per_second'] / 1e6:.1f}"])
        if abs(per_frame / paper_steps - 1) > 1e-6 or record["iterations"] != paper_iterations:
            differences.append(f"{name}: steps of {1000 * step:.3g} ms with {record['iterations']} iterations, the paper's have "
                               f"{1000 * frame / paper_steps:.3g} ms and {paper_iterations}")
    table(["scene", "paper's particles", "particles", "paper's steps x iterations", "steps x iterations", "paper ms/frame",
           "ms/frame", "paper's contact", "contact", "M particle-iterations/s"], rows)
    print(f"\nPaper: GTX 1080. Here: {record['device']}, {record['threads']} threads, single precision, first {steps} steps."
          "\nSteps are those of a frame." + "".join(f"\n{difference}." for difference in differences))


if __name__ == "__main__":
    main()
