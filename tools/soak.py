"""Runs a scene and samples its memory and progress; called by tools/soak."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

PAGE = os.sysconf("SC_PAGE_SIZE")


def resident(process):
    """Bytes in memory, or None when the process has ended."""
    try:
        return int(Path(f"/proc/{process.pid}/statm").read_text().split()[1]) * PAGE
    except (OSError, IndexError, ValueError):
        return None


def frames(folder):
    try:
        return len(list((folder / "particles").glob("particles_*.vtp")))
    except OSError:
        return 0


def watch(program, folder):
    """(seconds, frames written, bytes in memory), sampled until the run ends."""
    out = folder / "out"
    process = subprocess.Popen([program, "run", folder / "soak.toml", "-o", out, "-q"])
    samples, begin = [], time.monotonic()
    while process.poll() is None:
        time.sleep(0.05)
        memory = resident(process)
        if memory:
            samples.append((time.monotonic() - begin, frames(out), memory))
    if process.returncode:
        sys.exit(f"the run ended with {process.returncode}")
    return samples, json.loads((out / "run.json").read_text())


def quarter(samples, first, last):
    """Largest memory and frames per second between two numbers of frames."""
    part = [s for s in samples if first <= s[1] <= last]
    starts = [next(s[0] for s in part if s[1] == n) for n in sorted({s[1] for s in part})]
    rate = (len(starts) - 1) / (starts[-1] - starts[0])
    return max(s[2] for s in part), rate


def main(program, folder):
    samples, record = watch(program, Path(folder))
    last = max(s[1] for s in samples)
    (memory_first, rate_first), (memory_last, rate_last) = (
        quarter(samples, 2, max(4, last // 4)),
        quarter(samples, last - max(2, last // 4), last),
    )
    growth, speed = memory_last / memory_first - 1, rate_last / rate_first
    print(f"{record['particles']} particles, {record['steps']} steps in {record['wall_seconds']:.0f} s,"
          f" {record['particle_iterations_per_second'] / 1e6:.2f} M particle-iterations/s")  # fmt: skip
    print(f"memory: {memory_first / 1e6:.1f} MB at most in the first quarter, {memory_last / 1e6:.1f} MB in the last"
          f" ({100 * growth:+.2f} %)")  # fmt: skip
    print(f"speed: the last quarter ran at {100 * speed:.0f} % of the first one's")
    # Tables of every step are kept in memory, a few hundred bytes each: the bound lets them grow, and nothing else.
    return 1 if growth > 0.02 or speed < 0.8 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2]))
