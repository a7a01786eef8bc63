"""Throughput: against size, threads, back ends and the memory's bandwidth."""

import numpy as np

from suite.plots import COLORS, MARKERS, finish, panels
from suite.result import number

TITLE = "Performance"
SHOWS = ("Particle-iterations per second against the number of particles, total-Lagrangian next to what the memory's bandwidth (measured "
         "in the same run) allows, and XPBI with both references; the parts of an iteration; both back ends; strong and weak scaling over "
         "threads; memory per particle.")
ANSWERS = "P1, cost per particle over the number of particles, and breakdown of the cost"

MAIN = "total-lagrangian-compact"
CURVES = {MAIN: "total-Lagrangian", "xpbi-von-mises-current": "XPBI, current", "xpbi-von-mises-memory": "XPBI, memory"}
GOAL = 1.3  # cost of a particle, dearest over cheapest size from 1e4 to 3e6
MEMORY = {"total-lagrangian": 500, "xpbi-von-mises-current": 700, "xpbi-von-mises-memory": 1300}  # bytes per particle, single precision
LAUNCHES = {"xpbd.multipliers": 1, "xpbd.corrections": 1, "xpbd.sweep": 8, "xpbi.sweep": 8}  # per iteration; sweeps: one for each colour


def streamed_bytes(neighbours):
    """Bytes that a Jacobi iteration of the compact case must stream for one particle in single precision. Both passes: index and weight of
    the pairs, 8 each, and where they start, 4. First: rest position, position and increment 16 each, F^n 36, moments 64, multiplier read
    and written 8, line of corrections written 64. Second: that line 64, lever 12, volume, position and increment 16 each, increment
    written 16."""
    first = 3 * 16 + 36 + 64 + 8 + 64
    second = 64 + 12 + 4 * 16
    return 2 * (8 * neighbours + 4) + first + second


def best(context, names, *arguments, repeat=2, **options):
    """By name, the quickest of two runs of each case, because other programs may disturb one; the quick form makes one. With each the
    answer that it was part of."""
    found = {}
    for _ in range(1 if context.quick else repeat):
        answer = context.bench(*names, *arguments, **options)
        for case in answer["cases"]:
            rate = case["particle_iterations_per_second"]
            if case["name"] not in found or rate > found[case["name"]][0]["particle_iterations_per_second"]:
                found[case["name"]] = case, answer
    return found


def curves(context):
    return list(CURVES) if context.has("xpbi") else [MAIN]


def over_size(context, result, axis):
    sizes = [10000, 30000] if context.quick else [10000, 30000, 100000, 300000, 1000000, 3000000]
    programs = [(curves(context), None)]
    if context.other_backend and not context.quick:
        programs.append(([MAIN], context.other_backend))
    rows, rates, color = [], {}, 0
    for names, program in programs:
        measured = [best(context, names, "--particles", size, executable=program, repeat=1 if size > 500000 else 2) for size in sizes]
        for name in names:
            particles, found, limits = [], [], []
            for case, answer in (at_size[name] for at_size in measured):
                rate = case["particle_iterations_per_second"]
                particles.append(case["particles"])
                found.append(rate)
                limits.append(answer["bandwidth_gb_per_s"] * 1e9 / streamed_bytes(case["mean_neighbours"]))
                rows.append([answer["backend"], CURVES[name], case["particles"], number(case["mean_neighbours"], 3), number(rate * 1e-6, 3)] +
                            ([number(limits[-1] * 1e-6, 3), number(100 * rate / limits[-1], 2)] if name == MAIN else ["", ""]) +
                            [number(answer["bandwidth_gb_per_s"], 3)])
            label = f"{CURVES[name]}, {answer['backend']}"
            axis.semilogx(particles, np.array(found) * 1e-6, marker=MARKERS[color], color=COLORS[color], label=label)
            if name == MAIN:
                axis.semilogx(particles, np.array(limits) * 1e-6, linestyle="--", color=COLORS[color], linewidth=1,
                              label=f"bandwidth limit, {answer['backend']}")
            rates[label] = particles, found
            color += 1
    axis.set(xlabel="particles", ylabel="million particle-iterations/s", ylim=(0, None), title="single precision")
    axis.legend(fontsize=8)
    result.table("Throughput over size", ["back end", "case", "particles", "neighbours", "M/s", "limit [M/s]", "part of the limit [%]", "triad [GB/s]"],
                 rows, "Total-Lagrangian: Jacobi, 18 neighbours; XPBI: Gauss-Seidel, 31. Limit: bandwidth of a triad over the bytes that must be "
                 "streamed. Small bodies fit into caches and may exceed it.")
    cost_over_size(context, result, rates)


def cost_over_size(context, result, rates):
    rows = []
    for label, (particles, found) in rates.items():
        ratio = max(found) / min(found)
        verdict = "" if context.quick else "met" if ratio <= GOAL else "not met"
        rows.append([label, particles[0], particles[-1], number(1e9 / max(found), 3), number(1e9 / min(found), 3), number(ratio, 3), number(GOAL),
                     verdict])
    reach = " The quick form does not reach them." if context.quick else ""
    result.table("Cost of a particle and iteration over size", ["case", "from", "to", "least [ns]", "most [ns]", "ratio", "goal", ""], rows,
                 f"The goal is a ratio of {GOAL:g} from ten thousand to three million particles.{reach}")
    if context.quick:
        return  # part of the tests, which may run beside anything: no verdict on times
    label, (_, own) = next(iter(rates.items()))
    result.check(f"throughput of the largest body over the best, {label}", own[-1] / max(own), 0.4,
                 "the cost of an iteration is linear in the particles; caches may help small bodies by their bandwidth, about twice; weaker than "
                 f"the goal (1/{GOAL:g}), which the table judges, because the machine is shared", least=True)


def over_threads(context, result, axis):
    counts = [c for c in (1, 2, 4, 8, 16, 32, 64, 128) if c <= context.cores]
    size = 100000 if context.quick else 400000
    names = [MAIN] if context.quick else curves(context)
    measured = []
    for threads in counts:
        fixed = best(context, names, "--particles", size, "--threads", threads)
        grown = fixed if threads == counts[-1] else best(context, names, "--particles", size // counts[-1] * threads, "--threads", threads)
        measured.append((threads, fixed, grown))
    rows = []
    for k, name in enumerate(names):
        strong = [fixed[name][0]["particle_iterations_per_second"] for _, fixed, _ in measured]
        weak = [grown[name][0]["particle_iterations_per_second"] / threads for threads, _, grown in measured]
        rows += [[CURVES[name], threads, number(a * 1e-6, 3), number(a / strong[0], 3), number(b * 1e-6, 3), number(b / weak[0], 3)]
                 for threads, a, b in zip(counts, strong, weak)]
        axis.plot(counts, np.array(strong) / strong[0], marker="o", color=COLORS[k], label=f"{CURVES[name]}, same body")
        axis.plot(counts, np.array(weak) / weak[0] * counts, marker="s", linestyle=":", color=COLORS[k], label=f"{CURVES[name]}, growing body")
    axis.plot(counts, counts, color="#888888", linestyle="--", linewidth=1, label="ideal")
    axis.set(xlabel="threads", ylabel="speed-up", xticks=counts)
    axis.legend(fontsize=8)
    result.table(f"Threads ({size} particles; weak: {size // counts[-1]} per thread)",
                 ["case", "threads", "M/s", "speed-up", "M/s per thread, weak", "efficiency, weak"], rows)


def cases(context, result):
    listed = context.output(["bench", "--help"]).split("Cases:\n")[1].split("Example:")[0].splitlines()
    names = {line.split()[0] for line in listed if line.strip()}
    answer = context.bench("--particles", 10000 if context.quick else 216000)
    rows, phases, odd = [], [], 0
    for case in answer["cases"]:
        each = case["bytes_per_particle"]
        rows.append([case["name"], case["particles"], number(case["mean_neighbours"], 3), number(case["particle_iterations_per_second"] * 1e-6, 3),
                     number(each, 4) if each else "", number(MEMORY.get(case["name"])), case.get("note", "")])
        total = sum(phase["seconds"] for phase in case["phases"].values()) or 1
        phases += [[case["name"], name, number(1e6 * phase["seconds"] / phase["launches"], 3), number(100 * phase["seconds"] / total, 3)]
                   for name, phase in sorted(case["phases"].items(), key=lambda item: -item[1]["seconds"])[:8]]
        odd += sum(case["phases"][name]["launches"] != per * case["iterations"] for name, per in LAUNCHES.items() if name in case["phases"])
        if case["name"] in MEMORY:
            result.check(f"memory per particle, {case['name']}, {case['mean_neighbours']:.1f} neighbours", each, MEMORY[case["name"]],
                         "the project's mark for about 31 neighbours in single precision; a body's surface has fewer", unit="bytes")
    result.table("All bench cases", ["case", "particles", "neighbours", "M/s", "bytes per particle", "mark", ""], rows)
    result.table("Their parts", ["case", "kernel", "one launch [us]", "part [%]"], phases)
    result.check("cases of the program that are not in the table, or the other way round", len(names ^ {case["name"] for case in answer["cases"]}), 0,
                 "`ductile bench` measures every case that its help names")
    result.check("kernels that were launched more or less often than the counted iterations say", odd, 0,
                 "rates count particles times iterations: one launch of each Jacobi pass, eight colours of a sweep")


def run(context, result):
    figure, axes = panels(2)
    over_size(context, result, axes[0])
    over_threads(context, result, axes[1])
    finish(result, figure, "performance", "Throughput over the number of particles, and over threads.")
    cases(context, result)
    result.remark("Timings are those of one machine at one time and depend on what else it does: the quick form has no bound on them, the full "
                  "form one on the shape of the curve.")
