"""Runs a scene and samples its memory and progress; called by tools/soak."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

PAGE, TICK = os.sysconf("SC_PAGE_SIZE"), os.sysconf("SC_CLK_TCK")


def resources(process):
    """Bytes in memory and seconds of processor time, or None when the process has ended."""
    try:
        resident = int(Path(f"/proc/{process.pid}/statm").read_text().split()[1]) * PAGE
        fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
        return (resident, (int(fields[11]) + int(fields[12])) / TICK) if resident else None
    except (OSError, IndexError, ValueError):
        return None


def frames(folder):
    try:
        return len(list((folder / "particles").glob("particles_*.vtp")))
    except OSError:
        return 0


def watch(program, folder, threads):
    """(seconds of processor time, frames written, bytes in memory), sampled until the run ends."""
    out = folder / "out"
    process = subprocess.Popen([program, "run", folder / "soak.toml", "-o", out, "-q", "--threads", threads])
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # for the run alone, which ends with a whole frame
    samples = []
    while process.poll() is None:
        time.sleep(0.25)
        used = resources(process)
        if used:
            samples.append((used[1], frames(out), used[0]))
    if process.returncode not in (0, 130):
        sys.exit(f"the run ended with {process.returncode}")
    return samples, json.loads((out / "run.json").read_text())


def quarter(samples, first, last):
    """Largest memory and frames per second of processor time between two numbers of frames."""
    part = [s for s in samples if first <= s[1] <= last]
    starts = [next(s[0] for s in part if s[1] == n) for n in sorted({s[1] for s in part})]
    rate = (len(starts) - 1) / (starts[-1] - starts[0])
    return max(s[2] for s in part), rate


def main(program, folder, threads):
    samples, record = watch(program, Path(folder), threads)
    last = max(s[1] for s in samples)
    if last < 8:
        sys.exit(f"ended after {last} frames: too few to compare quarters of the run")
    (memory_first, rate_first), (memory_last, rate_last) = (
        quarter(samples, 2, max(4, last // 4)),
        quarter(samples, last - max(2, last // 4), last),
    )
    growth, speed = memory_last / memory_first - 1, rate_last / rate_first
    print(f"{record['particles']} particles, {record['steps']} steps in {samples[-1][0]:.0f} s of processor"
          f" time ({record['wall_seconds']:.0f} s by the clock), {threads} thread(s)")  # fmt: skip
    print(f"memory: {memory_first / 1e6:.1f} MB at most in the first quarter, {memory_last / 1e6:.1f} MB in the last"
          f" ({100 * growth:+.2f} %)")  # fmt: skip
    print(f"speed: {1 / rate_first:.1f} s of processor time per frame in the first quarter, {1 / rate_last:.1f} s in the"
          f" last ({100 * speed:.0f} % of the speed)")  # fmt: skip
    # Nothing that a run keeps grows with its steps: what is left is the allocator's.
    return 1 if growth > 0.02 or speed < 0.8 else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
