"""Momentum, angular momentum and energy over long runs."""

import numpy as np

from suite.plots import COLORS, finish, fitted_order, panels
from suite.result import number
from suite.scene import box, elastic

TITLE = "Momentum, angular momentum and energy"
SHOWS = ("Internal forces and contact conserve linear momentum to rounding. The time integration loses angular momentum and energy, "
         "in proportion to the step, and never gains any: a tumbling block, and two blocks that collide with friction.")
ANSWERS = "P0, claim that the corrected kernels preserve linear and angular momentum"

ITERATIONS = 10


def tumbling(method, step, end, precision="double", contact=False):
    """A block that spins about no axis of symmetry, without gravity; with contact, a second one hits it off its centre."""
    solver = {"method": method, "time_step": step, "end_time": end, "iterations": ITERATIONS, "precision": precision}
    if method == "xpbi":
        solver["xsph"] = 0.0
    block = {"material": "m", "spacing": 0.05, "shape": box([0.4, 0.2, 0.2])}
    scene = {
        "solver": solver,
        "world": {"gravity": [0.0, 0.0, 0.0]},
        "materials": {"m": {"density": 1000.0, "elastic": elastic("neo-hookean", 2e5, 0.3)}},
        "bodies": [{"name": "first", **block, "velocity": [1.0, 0.5, -0.3], "angular_velocity": [2.0, 3.0, 4.0]}],
        "output": {"interval": end / 4, "fields": ["velocity"]},
    }
    if contact:
        scene["bodies"].append({"name": "second", **block, "position": [0.7, 0.1, 0.05], "velocity": [-1.0, 0.2, 0.1]})
        scene["contact"] = {"friction": 0.3, "self": False}
    return scene


def momentum(history):
    return np.stack([history[f"momentum_{a}"] for a in "xyz"], 1)


def angular(history):
    return np.stack([history[f"angular_momentum_{a}"] for a in "xyz"], 1)


def drift(values, scale):
    return np.linalg.norm(values - values[0], axis=1).max() / scale


def study(context, result, method):
    end = 1.0 if context.quick else 5.0
    steps = [2e-3, 1e-3] if context.quick else [2e-3, 1e-3, 5e-4, 2.5e-4]
    cases = {(step, contact): tumbling(method, step, end, contact=contact) for step in steps for contact in (False, True)}
    cases[steps[1], "single"] = tumbling(method, steps[1], end, precision="single", contact=True)
    runs = context.simulate_all({f"{method}_{s:g}_{c}": scene for (s, c), scene in cases.items()})
    figure, axes = panels(2)
    rows, losses, rounding, gains, single = [], {False: [], True: []}, 0.0, 0.0, 0.0
    for (step, contact) in cases:
        history = runs[f"{method}_{step:g}_{contact}"].history
        energy = history["kinetic_energy"] + history["elastic_energy"]
        scale = np.linalg.norm(momentum(history)[0]) if not contact else 16.0 * 1.5  # mass times speed of one block
        lost = 1 - np.linalg.norm(angular(history)[-1]) / np.linalg.norm(angular(history)[0])
        gain = max(0.0, np.diff(energy).max() / energy[0])
        off = drift(momentum(history), scale)
        label = {False: "alone", True: "collision", "single": "collision, single precision"}[contact]
        rows.append([label, number(step * 1e3, 3), number(off, 2), number(100 * drift(angular(history), np.linalg.norm(angular(history)[0])), 3),
                     number(100 * (1 - energy[-1] / energy[0]), 3), number(gain, 2)])
        if contact == "single":
            single = off
            continue
        rounding, gains = max(rounding, off), max(gains, gain)
        losses[contact].append(100 * drift(angular(history), np.linalg.norm(angular(history)[0])))
        axes[int(contact)].plot(history["time"], energy / energy[0], label=f"{step * 1e3:g} ms")
    for axis, title in zip(axes, ["tumbling alone", "collision with friction"]):
        axis.set(title=f"{title}, {method}", xlabel="time [s]", ylabel="kinetic + elastic energy / initial", ylim=(0, 1.05))
        axis.legend()
    finish(result, figure, f"conservation_{method}", "Energy of a tumbling block and of two colliding ones, by time step.")
    order = fitted_order(steps, losses[False])
    result.table(f"Drift over {end:g} s, {method}",
                 ["", "step [ms]", "linear momentum", "angular momentum [%]", "energy lost [%]", "largest gain of energy in a step"], rows,
                 f"Order of the loss of angular momentum in the step, block alone: {order:.2f}.")
    result.check(f"{method}: linear momentum, double precision", rounding, 1e-11,
                 "pair impulses are equal and opposite: rounding, 1e-16 times the number of steps and iterations")
    corrections = end / steps[1] * ITERATIONS
    result.check(f"{method}: linear momentum, single precision", single, 1e-8 * corrections,
                 f"rounding of 6e-8 per correction, {corrections:g} corrections that partly cancel")
    result.check(f"{method}: order of the loss of angular momentum in the step", order, 0.8,
                 "the change per step is dt sum m v' x v, first order in the step over a fixed time; the loss itself slows the spin", least=True)
    result.check(f"{method}: gain of energy in a step", gains, 1e-6,
                 "backward Euler dissipates, and contact takes energy away; what is left is the residual of the solve")


def run(context, result):
    for method in context.methods("total-lagrangian", "xpbi"):
        study(context, result, method)
