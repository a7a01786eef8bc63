"""Residuals over iterations and over seconds."""

import numpy as np

from studies.cantilever import DENSITY, beam_scene
from suite.plots import COLORS, MARKERS, finish, panels
from suite.result import number

TITLE = "Residuals over iterations and time"
SHOWS = ("How fast the constraints of one large time step (5 ms) are met, by scheme and multiplier, for soft to stiff beams and for one that "
         "yields: root mean square of C + alpha lambda / dt^2 over sqrt(E), over the iterations and over the seconds they take. Beside it, for XPBI, "
         "how well forces balance inertia (primal residual), which is what the implicit step asks for: one multiplier for the six components of a "
         "stress meets its own constraint and not that balance.")
ANSWERS = "P1, relative residuals of Gauss-Seidel and Jacobi for E = 1e4, 1e5, 1e6 Pa at 5 ms"
CHECKS = {"quick": 18, "full": 38}  # bounds that each form judges

SPACING, STEPS, STEP = 0.05, 10, 5e-3
ROUNDING = 1e-14  # of a strain
UNSTABLE = "xpbi tensor, Jacobi 0.5"
OTHERS = "an iteration that converges, at whatever rate, lowers its residual, down to rounding (taken as 1e-14)"


def compliance_share(E):
    """Of the diagonal of an implicit step's system in the multipliers, a + sum w |dC|^2 with a = alpha/dt^2: the second part is at most
    2 (c dt/spacing)^2 times a, where a particle at a surface takes differences over one spacing, which move it and its neighbour. The whole
    matrix is a plus one without negative eigenvalues: over its diagonal, none is smaller than this."""
    return 1 / (1 + 2 * 1.35 * E / DENSITY * (STEP / SPACING)**2)


def variants(plastic):
    found = {}
    for scheme, options in (("Gauss-Seidel", {}), ("Jacobi 0.5", {"scheme": "jacobi", "relaxation": 0.5})):
        if not plastic:
            found[f"total-lagrangian, {scheme}"] = ("total-lagrangian", options)
        found[f"xpbi scalar, {scheme}"] = ("xpbi", options)
    for multiplier, relaxations in (("pair", [0.5]), ("tensor", [0.5, 0.3])):
        found[f"xpbi {multiplier}, Gauss-Seidel"] = ("xpbi", {"multiplier": multiplier})
        for relaxation in relaxations:
            found[f"xpbi {multiplier}, Jacobi {relaxation:g}"] = ("xpbi", {"multiplier": multiplier, "scheme": "jacobi", "relaxation": relaxation})
    return found


def outcome(run, residual):
    if np.isfinite(residual):
        return number(residual, 2)
    return "diverged" if "diverged" in run.message else "fails"


def scene_of(E, method, options, count, plastic):
    scene = beam_scene(E, SPACING, method, STEP, end=STEPS * STEP, damping=0.0, iterations=count, precision="double", **options)
    scene["output"]["interval"] = STEPS * STEP
    if method == "xpbi":
        scene["solver"]["primal_residual"] = True
    if plastic:
        # An elastic beam reaches a deviator of 0.0115 E in these steps: four times as much.
        scene["materials"]["m"]["plastic"] = {"model": "von-mises", "yield_stress": 0.003 * E, "hardening": 0.1}
    return scene


def seconds_per_step(run):
    phases = run.info["phases"]
    entries = phases.values() if isinstance(phases, dict) else phases
    return sum(entry["seconds"] for entry in entries) / STEPS


def run(context, result):
    counts = [5, 20, 80] if context.quick else [1, 2, 5, 10, 20, 50, 100, 200]
    cases = [("E = 1e5 Pa", 1e5, False)] if context.quick else [
        ("E = 1e4 Pa", 1e4, False), ("E = 1e5 Pa", 1e5, False), ("E = 1e6 Pa", 1e6, False)]
    cases.append(("E = 1e5 Pa, yielding", 1e5, True))
    stalls = {}
    for title, E, plastic in cases:
        chosen = variants(plastic)
        runs = context.simulate_all({f"{label}_{count}": scene_of(E, method, options, count, plastic)
                                     for label, (method, options) in chosen.items() for count in counts})
        figure, axes = panels(3)
        rows, primal_rows = [], []
        for k, (label, (method, _)) in enumerate(chosen.items()):
            residuals, primal, seconds = [], [], []
            for count in counts:
                one = runs[f"{label}_{count}"]
                residuals.append(one.history["residual"][-1] if one.ok else np.nan)
                primal.append(one.history["primal_residual"][-1] if one.ok and method == "xpbi" else np.nan)
                seconds.append(seconds_per_step(one) if one.ok else np.nan)
            rows.append([label] + [outcome(runs[f"{label}_{count}"], r) for count, r in zip(counts, residuals)])
            if method == "xpbi":
                primal_rows.append([label] + [outcome(runs[f"{label}_{count}"], r) for count, r in zip(counts, primal)])
            look = {"marker": MARKERS[k % len(MARKERS)], "color": COLORS[k % len(COLORS)], "linestyle": "--" if "Jacobi" in label else "-"}
            axes[0].loglog(counts, residuals, label=label, **look)
            axes[1].loglog(seconds, residuals, **look)
            if method == "xpbi":
                axes[2].loglog(counts, primal, **look)
            if "tensor" in label and label != UNSTABLE:
                result.check(f"{label}, {title}: primal residual after {counts[-1]} iterations over that after 20", primal[-1] / primal[counts.index(20)],
                             1.0, "the fixed point of the tensor form is the implicit step, where forces balance inertia; on the way there the balance "
                             "improves")
            if "xpbi scalar" in label and "Gauss-Seidel" in label:
                stalls[title] = primal[-1]
            if label != UNSTABLE:
                fall = residuals[-1] / max(residuals[counts.index(20)], ROUNDING)
                limit, origin = 1.0, OTHERS
                if "tensor" not in label:
                    relaxation, share = chosen[label][1].get("relaxation", 1.0), compliance_share(E)
                    limit = max(np.exp(-relaxation * share * (counts[-1] - 20)), ROUNDING / max(residuals[counts.index(20)], ROUNDING))
                    origin = (f"an iteration takes {relaxation * share:.2g} of the slowest part away, the relaxation times the share 1/(1 + 2 (c dt/spacing)^2) of "
                              "the compliance in the system's diagonal, below which no eigenvalue lies; down to rounding (taken as 1e-14)")
                result.check(f"{label}, {title}: residual after {counts[-1]} iterations over that after 20", fall, limit, origin)
        axes[0].set(xlabel="iterations", ylabel="residual [strain]", title=title)
        axes[1].set(xlabel="seconds per step, one thread")
        axes[2].set(xlabel="iterations", ylabel="primal residual [part of the inertia]")
        axes[0].legend(fontsize=7)
        name = title.replace(" ", "").replace("=", "").replace(",", "_")
        finish(result, figure, f"residual_{name}", f"Residual of the tenth step of 5 ms of a released beam, {title}: of the multipliers "
               "over iterations and seconds, and of the balance of forces and inertia (XPBI).")
        result.table(f"Residual after the tenth step, {title}", ["", *[f"{c} iterations" for c in counts]], rows)
        if primal_rows:
            result.table(f"Primal residual after the tenth step, {title}", ["", *[f"{c} iterations" for c in counts]], primal_rows,
                         "sqrt(sum |m (y - y_free) + dt^2 f|^2 / sum |m (y - y_free)|^2): what is missing between forces and inertia as a share of "
                         "the inertia.")
    if stalls:
        result.remark("The multipliers' own residual says little about the balance of forces at this step of several wave times. With one multiplier a "
                      f"particle (scalar, Gauss-Seidel, {counts[-1]} iterations) it is met to rounding for E = 1e5 Pa, while the imbalance stays at "
                      + "; ".join(f"{value:.2g} of the inertia ({title})" for title, value in stalls.items()) +
                      ". It carries no bound: it is the bias of that form, which falls with the step (study `cantilever`).")
    if UNSTABLE in chosen:
        result.remark("Jacobi corrects every particle from the same state, and the corrections of neighbours add up: it converges while they "
                      "overshoot less than 2/relaxation times. The tensor multiplier corrects all stresses of a particle, where the scalar one "
                      "follows a single direction; in stiff steps (E = 1e5 Pa and more) its corrections overshoot more than 2/0.5 = 4 times, so "
                      "that it diverges with the relaxation that the others bear, or, while yielding bounds the stresses, does not settle; 0.3 "
                      "converges. Rows that diverge with few iterations only leave every step unfinished, and ten of them add up.")
