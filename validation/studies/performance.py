"""Throughput: against size, threads, back ends and the memory's bandwidth."""

import re

import numpy as np

from suite.plots import COLORS, MARKERS, finish, panels
from suite.result import number

TITLE = "Performance"
SHOWS = ("Particle-iterations per second against the number of particles, total-Lagrangian next to what the memory's bandwidth (measured "
         "in the same run) allows, and XPBI with both references; the parts of an iteration; both back ends; strong and weak scaling over "
         "threads; memory per particle.")
ANSWERS = "P1, cost per particle over the number of particles, and breakdown of the cost"
CHECKS = {"quick": 5, "full": 5}  # bounds that each form judges

MAIN = "total-lagrangian-compact"
WIDE, CURRENT, REMEMBERED = "total-lagrangian", "xpbi-von-mises-current", "xpbi-von-mises-memory"
CURVES = {MAIN: "total-Lagrangian", CURRENT: "XPBI, current", REMEMBERED: "XPBI, memory"}
OTHERS = ["xpbi-drucker-prager", "xpbi-cam-clay", "xpbi-herschel-bulkley", "xpbi-snow"]
# The project's marks: two threads, 216 000 particles, single precision.
PER_BANDWIDTH = 0.4  # million particle-iterations per second for each GB/s of the triad, 31 neighbours
RATES = {MAIN: 16.0, CURRENT: 6.0}  # million particle-iterations per second
BOOKKEEPING, SPEED_UP, OTHER_COST = 25.0, 1.8, 1.5  # % of a step; two threads over one; von Mises over another flow rule
GOAL = 1.3  # cost of a particle, dearest over cheapest size from 1e4 to 3e6
MEMORY = {WIDE: 500, CURRENT: 700, REMEMBERED: 1300}  # bytes per particle, single precision
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


def over_size(context, result, axis):
    sizes = [10000, 30000] if context.quick else [10000, 30000, 100000, 300000, 1000000, 3000000]
    programs = [(list(CURVES), None)]
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
    missing = {"host", "dpcpp-jit"} - {row[0] for row in rows}
    if missing:
        result.remark(f"Measured without the back end {' and '.join(missing)}: " + (
            "the quick form runs only the one that started it." if context.quick else
            f"it has not been built. `tools/build {' '.join(missing)}` builds it, and the study measures both side by side."))
    axis.set(xlabel="particles", ylabel="million particle-iterations/s", ylim=(0, None), title="single precision")
    axis.legend(fontsize=8)
    result.table("Throughput over size", ["back end", "case", "particles", "neighbours", "M/s", "limit [M/s]", "part of the limit [%]", "triad [GB/s]"],
                 rows, "Total-Lagrangian: Jacobi, 18 neighbours; XPBI: Gauss-Seidel, 31. Limit: bandwidth of a triad over the bytes that must be "
                 "streamed. Small bodies fit into caches and may exceed it.")
    cost_over_size(context, result, rates)
    return rates


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


def over_threads(context, result, axis):
    counts = [c for c in (1, 2, 4, 8, 16, 32, 64, 128) if c <= context.cores]
    size = 100000 if context.quick else 400000
    names = [MAIN] if context.quick else list(CURVES)
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
    return answer


def rate_of(case):
    return case["particle_iterations_per_second"] * 1e-6


def bookkeeping(case):
    """% of a step that is no iteration, which `ductile bench` notes; nan where it does not."""
    found = re.search(r"(\d+) % of a step", case.get("note", ""))
    return float(found.group(1)) if found else np.nan


def marks(context, result, answer, rates):
    """What was measured beside the project's marks. Times are told, not judged: a shared machine decides them."""
    single = {case["name"]: case for case in answer["cases"]}
    names = [name for name in (WIDE, MAIN, CURRENT) if name in single]
    particles, bandwidth = str(single[WIDE]["particles"]), answer["bandwidth_gb_per_s"]
    of_rate = {WIDE: PER_BANDWIDTH * bandwidth, **RATES}

    def measured(*arguments):
        return {name: case for name, (case, _) in best(context, names, "--particles", particles, *arguments).items()}

    double = measured("--precision", "double")
    alone = measured("--threads", 1) if context.cores > 1 else {}
    both = single if answer["threads"] == 2 or not alone else measured("--threads", 2)
    rows = []

    def row(what, value, mark, unit="", least=True):
        met = value >= mark if least else value <= mark
        rows.append([what, number(value, 3), f"{'>=' if least else '<='} {number(mark, 3)}", unit, "met" if met else "not met"])

    for name in names:
        row(f"{name}, single precision" + (f" ({PER_BANDWIDTH:g} M/s for each of {bandwidth:.3g} GB/s)" if name == WIDE else ""), rate_of(single[name]),
            of_rate[name], "M/s")
    for name in names:
        row(f"{name}, double precision (half of that)", rate_of(double[name]), of_rate[name] / 2, "M/s")
    for name in alone:
        row(f"{name}, two threads over one", rate_of(both[name]) / rate_of(alone[name]), SPEED_UP)
    for name in (CURRENT, REMEMBERED):
        if name in single:
            row(f"{name}, search and bookkeeping", bookkeeping(single[name]), BOOKKEEPING, "% of a step", least=False)
    for name in OTHERS:
        if name in single:
            row(f"{CURRENT} over {name}", rate_of(single[CURRENT]) / rate_of(single[name]), OTHER_COST, least=False)
    for label, (_, found) in rates.items():
        row(f"{label}: cheapest size over dearest", max(found) / min(found), GOAL, least=False)
    for name, limit in MEMORY.items():
        if name in single:
            row(f"{name}, memory", single[name]["bytes_per_particle"], limit, "bytes per particle", least=False)
    small = f" The marks are for 216 000 particles and sizes from ten thousand to three million; this form has {particles}." if context.quick else ""
    result.table(f"Marks, {particles} particles, {answer['threads']} thread(s)", ["", "measured", "mark", "", ""], rows,
                 "Times are those of one machine at one time, and a shared one decides whether a mark is met: they are told here, not judged." + small)


def run(context, result):
    figure, axes = panels(2)
    rates = over_size(context, result, axes[0])
    over_threads(context, result, axes[1])
    finish(result, figure, "performance", "Throughput over the number of particles, and over threads.")
    marks(context, result, cases(context, result), rates)
