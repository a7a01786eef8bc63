"""Throughput: against size, threads, back ends and the memory's bandwidth."""

import numpy as np

from suite.plots import COLORS, MARKERS, finish, panels
from suite.result import number

TITLE = "Performance"
SHOWS = ("Particle-iterations per second against the number of particles, next to what the memory's bandwidth (measured in the same run) "
         "allows; the parts of an iteration; both back ends; strong and weak scaling over threads.")
ANSWERS = "P1, cost per particle over the number of particles, and breakdown of the cost"

MAIN = "total-lagrangian-compact"


def streamed_bytes(neighbours):
    """Bytes that a Jacobi iteration must stream for one particle in single precision: two passes over the pairs (20 bytes each: index,
    pair vector and weight), moments 64, position 16 twice, matrix of corrections 48 twice, multiplier 8, increments 32."""
    return 2 * 20 * neighbours + 64 + 2 * 16 + 2 * 48 + 8 + 32


def best(context, *arguments, repeat=2, **options):
    """The quicker of two runs, because other programs may disturb one; the quick form makes one."""
    answers = [context.bench(*arguments, **options) for _ in range(1 if context.quick else repeat)]
    return max(answers, key=lambda a: a["cases"][0]["particle_iterations_per_second"])


def over_size(context, result, axis):
    sizes = [10000, 100000] if context.quick else [10000, 30000, 100000, 300000, 1000000, 3000000]
    programs = {"": None}
    if context.other_backend and not context.quick:
        programs["other"] = context.other_backend
    rows, rates = [], {}
    for n, (name, program) in enumerate(programs.items()):
        found, limits, particles = [], [], []
        for size in sizes:
            answer = best(context, MAIN, "--particles", size, executable=program, repeat=1 if size > 500000 else 2)
            case = answer["cases"][0]
            limit = answer["bandwidth_gb_per_s"] * 1e9 / streamed_bytes(case["mean_neighbours"])
            rate = case["particle_iterations_per_second"]
            found.append(rate)
            limits.append(limit)
            particles.append(case["particles"])
            rows.append([answer["backend"], case["particles"], number(case["mean_neighbours"], 3), number(rate * 1e-6, 3),
                         number(limit * 1e-6, 3), number(100 * rate / limit, 2), number(answer["bandwidth_gb_per_s"], 3)])
        axis.semilogx(particles, np.array(found) * 1e-6, marker=MARKERS[n], color=COLORS[n], label=answer["backend"])
        axis.semilogx(particles, np.array(limits) * 1e-6, linestyle="--", color=COLORS[n], linewidth=1,
                      label=f"bandwidth limit, {answer['backend']}")
        rates[answer["backend"]] = found
    axis.set(xlabel="particles", ylabel="million particle-iterations/s", ylim=(0, None), title="Jacobi, 18 neighbours, single precision")
    axis.legend(fontsize=8)
    result.table("Throughput over size", ["back end", "particles", "neighbours", "M/s", "limit [M/s]", "part of the limit [%]", "triad [GB/s]"], rows,
                 "Limit: bandwidth of a triad over the bytes that must be streamed. Small bodies fit into caches and may exceed it.")
    if context.quick:
        return  # part of the tests, which may run beside anything: no verdict on times
    own = next(iter(rates.values()))
    result.check("throughput of the largest body over the best, host", own[-1] / max(own), 0.4,
                 "the cost of an iteration is linear in the particles; caches may help small bodies by their bandwidth, about twice", least=True)


def over_threads(context, result, axis):
    counts = [c for c in (1, 2, 4, 8, 16, 32, 64, 128) if c <= context.cores]
    size = 100000 if context.quick else 400000
    rows, strong, weak = [], [], []
    for threads in counts:
        fixed = best(context, MAIN, "--particles", size, "--threads", threads)["cases"][0]
        grown = fixed if threads == counts[-1] else best(context, MAIN, "--particles", size // counts[-1] * threads, "--threads", threads)["cases"][0]
        strong.append(fixed["particle_iterations_per_second"])
        weak.append(grown["particle_iterations_per_second"] / threads)
        rows.append([threads, number(strong[-1] * 1e-6, 3), number(strong[-1] / strong[0], 3), number(weak[-1] * 1e-6, 3), number(weak[-1] / weak[0], 3)])
    axis.plot(counts, np.array(strong) / strong[0], marker="o", label="strong: same body")
    axis.plot(counts, np.array(weak) / weak[0] * counts, marker="s", label="weak: body grows with the threads")
    axis.plot(counts, counts, color="#888888", linestyle="--", linewidth=1, label="ideal")
    axis.set(xlabel="threads", ylabel="speed-up", xticks=counts)
    axis.legend()
    result.table(f"Threads ({size} particles; weak: {size // counts[-1]} per thread)",
                 ["threads", "M/s", "speed-up", "M/s per thread, weak", "efficiency, weak"], rows)


def cases(context, result):
    answer = context.bench("--particles", 10000 if context.quick else 216000)
    rows, phases = [], []
    for case in answer["cases"]:
        rows.append([case["name"], case["particles"], number(case["mean_neighbours"], 3), number(case["particle_iterations_per_second"] * 1e-6, 3),
                     case.get("note", "")])
        total = sum(phase["seconds"] for phase in case["phases"].values()) or 1
        phases += [[case["name"], name, number(1e6 * phase["seconds"] / phase["launches"], 3), number(100 * phase["seconds"] / total, 3)]
                   for name, phase in sorted(case["phases"].items(), key=lambda item: -item[1]["seconds"])[:8]]
    result.table("All bench cases", ["case", "particles", "neighbours", "M/s", ""], rows)
    result.table("Their parts", ["case", "kernel", "one launch [us]", "part [%]"], phases)
    result.check("bench cases measured", len(answer["cases"]), 1, "every case gives a rate", least=True)


def run(context, result):
    figure, axes = panels(2)
    over_size(context, result, axes[0])
    over_threads(context, result, axes[1])
    finish(result, figure, "performance", "Throughput over the number of particles, and over threads.")
    cases(context, result)
    result.remark("Timings are those of one machine at one time and depend on what else it does; the bound here is only on the shape of the curve, and the quick form has none.")
