"""Residuals over iterations and over seconds."""

import numpy as np

from studies.cantilever import beam_scene
from suite.plots import COLORS, MARKERS, finish, panels
from suite.result import number

TITLE = "Residuals over iterations and time"
SHOWS = ("How fast the constraints of one large time step (5 ms) are met, by scheme and multiplier, for soft to stiff beams and for one that "
         "yields: root mean square of C + alpha lambda / dt^2 over sqrt(E), over the iterations and over the seconds they take.")
ANSWERS = "P1, relative residuals of Gauss-Seidel and Jacobi for E = 1e4, 1e5, 1e6 Pa at 5 ms"

SPACING, STEPS = 0.05, 10
ROUNDING = 1e-14  # of a strain


def variants(context, plastic):
    found = {}
    for scheme, options in (("Gauss-Seidel", {}), ("Jacobi 0.5", {"scheme": "jacobi", "relaxation": 0.5})):
        if not plastic:
            found[f"total-lagrangian, {scheme}"] = ("total-lagrangian", options)
        if context.has("xpbi"):
            found[f"xpbi scalar, {scheme}"] = ("xpbi", options)
    for multiplier in ("pair", "tensor"):
        if context.has("xpbi", multiplier=multiplier):
            found[f"xpbi {multiplier}, Gauss-Seidel"] = ("xpbi", {"multiplier": multiplier})
    return found


def scene_of(E, method, options, count, plastic):
    step = 5e-3
    scene = beam_scene(E, SPACING, method, step, end=STEPS * step, damping=0.0, iterations=count, precision="double", **options)
    scene["output"]["interval"] = STEPS * step
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
    if context.has("xpbi"):
        cases.append(("E = 1e5 Pa, yielding", 1e5, True))
    for title, E, plastic in cases:
        chosen = variants(context, plastic)
        runs = context.simulate_all({f"{label}_{count}": scene_of(E, method, options, count, plastic)
                                     for label, (method, options) in chosen.items() for count in reversed(counts)})
        figure, axes = panels(2, sharey=True)
        rows = []
        for k, label in enumerate(chosen):
            residuals, seconds = [], []
            for count in counts:
                one = runs[f"{label}_{count}"]
                residuals.append(one.history["residual"][-1] if one.ok else np.nan)
                seconds.append(seconds_per_step(one) if one.ok else np.nan)
            rows.append([label] + [number(r, 2) if np.isfinite(r) else "fails" for r in residuals])
            axes[0].loglog(counts, residuals, marker=MARKERS[k % 8], color=COLORS[k % 8], label=label)
            axes[1].loglog(seconds, residuals, marker=MARKERS[k % 8], color=COLORS[k % 8])
            if "Gauss-Seidel" in label and "tensor" not in label and "pair" not in label and E < 5e5:
                fall = residuals[-1] / max(residuals[counts.index(20)], ROUNDING)
                result.check(f"{label}, {title}: residual after {counts[-1]} iterations over that after 20", fall, 0.3,
                             "Gauss-Seidel converges linearly, down to rounding (taken as 1e-14); a beam of 24 spacings is crossed within "
                             "20 iterations")
        axes[0].set(xlabel="iterations", ylabel="residual [strain]", title=title)
        axes[1].set(xlabel="seconds per step, one thread")
        axes[0].legend(fontsize=8)
        name = title.replace(" ", "").replace("=", "").replace(",", "_")
        finish(result, figure, f"residual_{name}", f"Residual of the tenth step of 5 ms of a released beam, {title}.")
        result.table(f"Residual after the tenth step, {title}", ["", *[f"{c} iterations" for c in counts]], rows)
