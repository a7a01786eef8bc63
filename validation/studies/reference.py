"""The finite-element reference itself: before anything is compared with it, it must be right."""

import json
import sys

import numpy as np

from suite.plots import COLORS, MARKERS, finish, fitted_order, panels, slope_line
from suite.result import number

TITLE = "The finite-element reference"
SHOWS = ("27-node hexahedra with the same material laws: patch tests on a distorted mesh, the order of convergence for a smooth solution, "
         "the clamped beam on finer and finer meshes and its limit, and the same discrete equations solved by scikit-fem.")
ANSWERS = "the trustworthiness of the reference curves in the other studies"
CHECKS = {"quick": 6, "full": 7}  # bounds that each form judges

# Extrapolated deflections of the beam by a separate program (damped dynamic relaxation instead of Newton's method).
PUBLISHED = {"1e6": -0.0376, "1e5": -0.3479}


def proofs(context, result):
    answer = context.fem("proofs")
    errors = answer["patch_error"]
    result.table("Patch test: largest displacement error of a distorted mesh under an affine deformation",
                 list(errors), [[number(e, 2) for e in errors.values()]])
    result.check("patch test, all laws", max(errors.values()), 1e-11, "rounding; Newton stops at 1e-12")
    sizes = [1 / entry["elements"] for entry in answer["smooth_error"]]
    smooth = [entry["error"] for entry in answer["smooth_error"]]
    order = fitted_order(sizes[1:], smooth[1:])
    result.check("order of convergence for a smooth solution", order, 2.9, "quadratic elements: 3", least=True)
    return sizes, smooth, order


def meshes(context, result, axis):
    stored = context.stored("cantilever_settled")
    rows = []
    for k, (modulus, tip) in enumerate(stored["tip"].items()):
        own = [m for m in stored["meshes"] if float(m["youngs_modulus"]) == float(modulus)]
        sizes = [0.2 / m["elements"][1] for m in own]
        errors = [abs(m["tip"][2] / tip[2] - 1) * 100 or np.nan for m in own]
        axis.loglog(sizes, errors, marker=MARKERS[k], color=COLORS[k], label=f"E = {modulus} Pa, order {stored['order'][modulus]:.2f}")
        rows += [[modulus, "x".join(map(str, m["elements"])), number(m["tip"][0], 6), number(m["tip"][2], 6), number(m["residual"], 1),
                  number(m["seconds"], 3)] for m in own]
        rows.append([modulus, f"limit, uncertain by {100 * stored['uncertain'][modulus]:.2g} %", number(tip[0], 6), number(tip[2], 6), "", ""])
        if modulus in PUBLISHED:
            result.check(f"limit for E = {modulus} Pa against an independent program",
                         100 * abs(tip[2] / PUBLISHED[modulus] - 1), 0.3, "both extrapolate a corner singularity, to about 0.1 % each", unit="%")
    result.table("Settled end face of the beam", ["E [Pa]", "elements", "x [m]", "z [m]", "imbalance", "seconds"], rows,
                 "Limit: of the three meshes, error = c h^order; uncertain by what lies between it and the finest of them. The softest beam, whose law "
                 "softens at the clamp, converges slowest, if at all. Made by validation/make_references.py; each entry of validation/data/cantilever_settled.json has its command.")
    return stored


def graded(context, result, stored):
    """The softest beam on meshes whose elements shrink towards the clamp."""
    command = next(m for m in stored["meshes"] if m["elements"] == [10, 2, 2] and m["youngs_modulus"] == 1e4)["command"].split()[1:]
    rows = []
    for grading in (1.0, 1.5, 2.0):
        tip = context.fem(*command, "--grading", grading)["tip"]
        rows.append([grading, number(1e3 * 0.1**grading, 3), number(tip[0], 5), number(tip[2], 5)])
    result.table("Settled end face of the softest beam, 10x2x2 elements, x = (i/10)^grading", ["grading", "first element [mm]", "x [m]", "z [m]"], rows)
    result.remark("The softest beam (E = 1e4 Pa) is not known better than uniform meshes know it. Hencky's law softens beyond a stretch of e, which the upper "
                  "edge of the clamp reaches: elements that are small there tear open, and the end sinks with each refinement. Particles do not "
                  "resolve that edge, and neither do uniform meshes of their spacing; the limit of those is what the cantilever is compared with.")


def again(context, result, stored):
    """One of the settled beams and the first tenth of a second of a released one are computed anew: the program still agrees with what is
    stored."""
    old = next(m for m in stored["meshes"] if m["elements"] == [10, 2, 2] and m["youngs_modulus"] == 1e6)
    new = context.fem(*old["command"].split()[1:])
    difference = np.linalg.norm(np.subtract(new["tip"], old["tip"])) / np.linalg.norm(old["tip"])
    result.check("a stored settled beam computed again", difference, 1e-7, "Newton stops at 1e-9 of the load")
    old = next(r for r in context.stored("cantilever_released")["runs"] if r["time_step"] == 0.01 and r["elements"] == [10, 2, 2])
    new = np.array(context.fem(*old["command"].replace("--end-time 1.6", "--end-time 0.1").split()[1:])["history"])
    difference = np.linalg.norm(new - old["history"][:len(new)], axis=1).max() / np.linalg.norm(new[-1, 1:])
    result.check("a stored released beam computed again", difference, 1e-7, "Newton stops at 1e-9 of the load")


def other_program(context, result):
    script = context.data.parent / "fem" / "compare_scikit_fem.py"
    answer = json.loads(context.output([script, context.fem_program], sys.executable))
    context.runs += 1
    result.table("The same Neo-Hookean beam, 3 x 1 x 1 elements, by two programs", ["", "x [m]", "z [m]"],
                 [["ductile_fem", repr(answer["ductile_fem"][0]), repr(answer["ductile_fem"][2])],
                  ["scikit-fem", repr(answer["scikit_fem"][0]), repr(answer["scikit_fem"][2])]])
    result.check("difference from scikit-fem", answer["relative_difference"], 1e-8, "the same discrete equations; Newton stops at 1e-9")


def run(context, result):
    sizes, smooth, order = proofs(context, result)
    figure, axes = panels(2)
    axes[0].loglog(sizes, smooth, marker="o", linestyle="", label=f"fitted order {order:.2f}")
    slope_line(axes[0], sizes[1:], smooth[1:], order)
    axes[0].set(title="smooth solution", xlabel="element size [m]", ylabel="root-mean-square error of u [m]")
    axes[0].legend()
    stored = meshes(context, result, axes[1])
    axes[1].set(title="clamped beam", xlabel="element size [m]", ylabel="deviation from the limit [%]")
    axes[1].legend()
    finish(result, figure, "reference", "Convergence of the finite elements: third order where the solution is smooth, less with the "
           "singular edges of a clamp.")
    again(context, result, stored)
    if not context.quick:
        graded(context, result, stored)
        other_program(context, result)
