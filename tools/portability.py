"""Compares machines and back ends by the files that `ductile bench --json FILE` wrote on them.

For every case, precision and number of particles it prints, for each file,
  M/s          million particle-iterations per second,
  per GB/s     the same over the memory bandwidth that the file's own triad measured,
  of device    the share of the best back end on the same device (application efficiency),
  of best      the share of the best rate per GB/s of all files (efficiency against the hardware),
and for every back end its performance portability: the harmonic mean of these two over all devices that the files
name, or 0 where it has no result on one of them (Pennycook, Sewall, Lee 2019)."""

import argparse
import json
import sys
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

EXAMPLES = """example:
  tools/ductile bench --json host.json
  tools/ductile --backend dpcpp-jit bench --json jit.json
  tools/portability host.json jit.json --plot portability.png
"""


class UserError(Exception):
    """Something the user can put right; main prints it and returns 2."""


@dataclass
class Measurement:
    """One case of one file; rates in particle-iterations per second."""

    backend: str
    device: str
    threads: int
    bandwidth: float  # GB/s
    rate: float

    @property
    def specific_rate(self):
        return self.rate / self.bandwidth

    @property
    def platform(self):
        return f"{self.backend} on {self.device}"


def positive(value, what):
    if not isinstance(value, (int, float)) or isinstance(value, bool) or not 0 < value < float("inf"):
        raise ValueError(f"{what} is {value!r}, not a number above 0")
    return float(value)


def text(value, what):
    if not isinstance(value, str) or not value:
        raise ValueError(f"{what} is {value!r}, not a name")
    return value


def read(files):
    """Measurements by (case, precision, particles), in the order of the files."""
    cases = defaultdict(list)
    for file in files:
        try:
            record = json.loads(file.read_text())
            bandwidth = positive(record["bandwidth_gb_per_s"], "bandwidth_gb_per_s")
            for case in record["cases"]:
                rate = positive(case["particle_iterations_per_second"], "particle_iterations_per_second")
                new = Measurement(text(record["backend"], "backend"), text(record["device"], "device"),
                                  int(positive(record["threads"], "threads")), bandwidth, rate)  # fmt: skip
                particles = int(positive(case["particles"], "particles"))
                known = cases[text(case["name"], "name"), text(case["precision"], "precision"), particles]
                # The same program measured twice on the same device: the better one counts, as within a measurement.
                twin = next((m for m in known if (m.backend, m.device) == (new.backend, new.device)), None)
                if twin is None:
                    known.append(new)
                elif twin.rate < new.rate:
                    known[known.index(twin)] = new
        except OSError as error:
            raise UserError(f"{file} can't be read: {error.strerror}") from error
        except KeyError as error:
            raise UserError(f"{file} is not a file of `ductile bench --json`: {error} is missing") from error
        except (ValueError, TypeError, OverflowError, RecursionError) as error:
            raise UserError(f"{file} is not a file of `ductile bench --json`: {error}") from error
    if not cases:
        raise UserError("these files hold no cases")
    return cases


def efficiencies(measurements):
    """(of device, of best) for each measurement."""
    best_of_device = defaultdict(float)
    for m in measurements:
        best_of_device[m.device] = max(best_of_device[m.device], m.rate)
    best = max(m.specific_rate for m in measurements)
    return [(m.rate / best_of_device[m.device], m.specific_rate / best) for m in measurements]


def harmonic_mean(values):
    return 0.0 if not values or min(values) <= 0 else len(values) / sum(1 / v for v in values)


def portability(measurements, devices):
    """(application, hardware) portability of each back end over `devices`."""
    shares = dict(zip([(m.backend, m.device) for m in measurements], efficiencies(measurements), strict=True))
    backends = list(dict.fromkeys(m.backend for m in measurements))
    return {
        b: tuple(harmonic_mean([shares.get((b, d), (0.0, 0.0))[k] for d in devices]) for k in (0, 1)) for b in backends
    }


def table(rows):
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    lines = ["  " + "  ".join(c.ljust(w) if k < 2 else c.rjust(w) for k, (c, w) in enumerate(zip(row, widths)))
             for row in rows]  # fmt: skip
    return "\n".join([lines[0].rstrip(), "  " + "-" * (len(lines[0]) - 2)] + [line.rstrip() for line in lines[1:]])


def percent(share):
    return f"{100 * share:.0f} %"


def report(cases, devices):
    for (case, precision, particles), measurements in cases.items():
        print(f"{case}, {precision} precision, {particles} particles")
        rows = [("back end", "device", "threads", "GB/s", "M/s", "per GB/s", "of device", "of best")]
        for m, (own, best) in zip(measurements, efficiencies(measurements), strict=True):
            rows.append((m.backend, m.device, str(m.threads), f"{m.bandwidth:.1f}", f"{m.rate * 1e-6:.2f}",
                         f"{m.specific_rate * 1e-6:.3f}", percent(own), percent(best)))  # fmt: skip
        print(table(rows))
        for backend, (application, hardware) in portability(measurements, devices).items():
            print(f"  {backend}: portability {percent(application)} by application, {percent(hardware)} by bandwidth, "
                  f"over {len(devices)} device{'s' if len(devices) != 1 else ''}")  # fmt: skip
        print()


def warn_of_sizes(cases):
    """Rates of different sizes say nothing about machines: what fits into a cache is faster."""
    sizes = defaultdict(list)
    for case, precision, particles in cases:
        sizes[case, precision].append(particles)
    for (case, precision), found in sizes.items():
        if len(found) > 1:
            print(f"tools/portability: {case} in {precision} precision has {', '.join(map(str, found))} particles, in a table each; "
                  "measure with the same --particles to compare them", file=sys.stderr)  # fmt: skip


def plot(cases, file):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    platforms = list(dict.fromkeys(m.platform for measurements in cases.values() for m in measurements))
    height = 0.8 / len(platforms)
    figure, axes = plt.subplots(figsize=(9, 1.4 + 0.5 * len(cases) * max(1, 0.6 * len(platforms))))
    for p, platform in enumerate(platforms):
        found = [(row, m) for row, measurements in enumerate(cases.values()) for m in measurements
                 if m.platform == platform]  # fmt: skip
        places = [row + (p - (len(platforms) - 1) / 2) * height for row, _ in found]
        rates = [m.specific_rate * 1e-6 for _, m in found]
        bars = axes.barh(places, rates, 0.9 * height, label=platform)
        axes.bar_label(bars, [f"{m.rate * 1e-6:.2f} M/s" for _, m in found], padding=3, fontsize=8)
    axes.set_yticks(range(len(cases)), [f"{case}\n{precision}, {particles}" for case, precision, particles in cases])
    axes.invert_yaxis()
    axes.margins(x=0.18)
    axes.set_xlabel("million particle-iterations per second for each GB/s of memory bandwidth")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), frameon=False, ncols=2)
    try:
        figure.savefig(file, dpi=120, bbox_inches="tight")
    except OSError as error:
        raise UserError(f"--plot {file} can't be written: {error.strerror}") from error
    print(file)


def main(arguments):
    parser = argparse.ArgumentParser(
        prog="tools/portability",
        description=__doc__,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="written by `ductile bench --json FILE`")
    parser.add_argument("--plot", type=Path, metavar="PNG", help="also draw the rates per GB/s")
    options = parser.parse_args(arguments)
    try:
        if options.plot and options.plot.suffix not in (".png", ".svg", ".pdf"):
            raise UserError(f"--plot {options.plot}: expected a name that ends in .png, .svg or .pdf")
        cases = read(options.files)
        devices = list(dict.fromkeys(m.device for measurements in cases.values() for m in measurements))
        warn_of_sizes(cases)
        report(cases, devices)
        if options.plot:
            plot(cases, options.plot)
    except UserError as error:
        print(f"tools/portability: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
