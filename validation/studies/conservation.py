"""Momentum, angular momentum and energy over long runs."""

import numpy as np
from scipy.spatial.transform import Rotation

from suite.plots import finish, panels
from suite.result import number
from suite.scene import METHODS, box, elastic

TITLE = "Momentum, angular momentum and energy"
SHOWS = ("Internal forces and contact conserve linear momentum to rounding. The time integration loses angular momentum and energy of a tumbling "
         "block in proportion to the step, and never gains energy. Two blocks that collide with friction exchange impulses between particles that "
         "do not lie on one line: their angular momentum changes by that lever times the impulse, whatever the step, and less with finer particles.")
ANSWERS = "P0, claim that the corrected kernels preserve linear and angular momentum"
CHECKS = {"quick": 10, "full": 10}  # bounds that each form judges

ITERATIONS = 10
SPACING, FRICTION = 0.05, 0.3
SIZE = [0.4, 0.2, 0.2]
PARTICLES = round(np.prod(SIZE) / SPACING**3)  # of a block
MASS, SPEED = 1000.0 * np.prod(SIZE), 1.5  # of a block; how fast they meet
NEIGHBOURS = {"total-lagrangian": 18, "xpbi": 32}  # inside a lattice, of the default supports of 1.6 and 2
UNIT = {"double": 2.0**-53, "single": 2.0**-24}  # largest rounding
# Spacings between the lines of action and reaction: 0.75 across faces, 1 for friction (docs/total_lagrangian.md, Contact), which is at most
# FRICTION times the other; over the size of both together.
LEVER = (0.75 + FRICTION) / np.hypot(1, FRICTION)


SPIN = [2.0, 3.0, 4.0]  # rad/s
YOUNGS = 2e5
# Part by which the spinning block's moment of inertia grows, at most: 4/5 rho omega^2 a^2 / E with the distance a of a corner (study `rotation`).
STRETCH = 0.8 * 1000.0 * np.dot(SPIN, SPIN) * np.dot(SIZE, SIZE) / 4 / YOUNGS


def rigid_loss(step, end):
    """Largest change of the angular momentum of a rigid block under backward Euler, as a part of it. Forces between particles have no torque
    about the new positions, so that a step changes it by dt sum m v' x v, at the rate dt sum m a x v."""
    moments = MASS / 12 * (np.square(SIZE) - SPACING**2)  # of points at the middles of cells
    inertia = moments.sum() - moments
    turn, momentum, pause, farthest = np.eye(3), inertia * SPIN, 1e-3, 0.0
    first = momentum.copy()
    for _ in range(round(end / pause)):
        spin = turn.T @ momentum / inertia  # in the body's axes
        change = -np.cross(spin, inertia * spin) / inertia
        velocity = np.cross(spin, np.eye(3)).T
        acceleration = np.cross(change, np.eye(3)).T + velocity @ velocity
        product = acceleration @ np.diag(moments) @ velocity.T
        lost = step * np.array([product[1, 2] - product[2, 1], product[2, 0] - product[0, 2], product[0, 1] - product[1, 0]])
        momentum = momentum + pause * turn @ lost
        turn = turn @ Rotation.from_rotvec(pause * (spin + pause / 2 * change)).as_matrix()
        farthest = max(farthest, np.linalg.norm(momentum - first))
    return farthest / np.linalg.norm(first)


def tumbling(method, step, end, precision="double", contact=False):
    """A block that spins about no axis of symmetry, without gravity; with contact, a second one hits it off its centre."""
    solver = {"method": method, "time_step": step, "end_time": end, "iterations": ITERATIONS, "precision": precision}
    if method == "xpbi":
        solver["xsph"] = 0.0
    block = {"material": "m", "spacing": SPACING, "shape": box(SIZE)}
    scene = {
        "solver": solver,
        "world": {"gravity": [0.0, 0.0, 0.0]},
        "materials": {"m": {"density": 1000.0, "elastic": elastic("neo-hookean", YOUNGS, 0.3)}},
        "bodies": [{"name": "first", **block, "velocity": [1.0, 0.5, -0.3], "angular_velocity": SPIN}],
        "output": {"interval": end / 4, "fields": ["velocity"]},
    }
    if contact:
        scene["bodies"].append({"name": "second", **block, "position": [0.7, 0.1, 0.05], "velocity": [-1.0, 0.2, 0.1]})
        scene["contact"] = {"friction": FRICTION, "self": False}
        scene["probes"] = [{"name": "first", "body": "first"}]
    return scene


def momentum(history):
    return np.stack([history[f"momentum_{a}"] for a in "xyz"], 1)


def angular(history):
    return np.stack([history[f"angular_momentum_{a}"] for a in "xyz"], 1)


def drift(values, scale):
    return np.linalg.norm(values - values[0], axis=1).max() / scale


def contact_lever(run, step):
    """Impulse that the blocks exchanged [kg m/s], and the change of angular momentum in the steps with contact over it, in spacings. A block's
    momentum changes by contact alone: that of the first follows from its mean position."""
    history, probes = run.history, run.probes
    velocity = np.diff(np.stack([probes[f"first.{axis}"] for axis in "xyz"], 1), axis=0) / step
    impulse = MASS * np.linalg.norm(np.diff(velocity, axis=0), axis=1)
    touching = impulse > 1e-9 * MASS * SPEED
    change = np.diff(angular(history), axis=0)[1:][touching].sum(0)
    total = impulse[touching].sum()
    return total, np.linalg.norm(change) / (total * SPACING)


def momentum_bound(method, precision, corrections, particles):
    """Of the sum, as a part of it. Each iteration rounds a particle's increment once for every constraint that the particle is part of: a
    random walk of that many roundings for each particle, of which the sum over all particles averages. Three times its size."""
    return 3 * UNIT[precision] * np.sqrt(corrections * (NEIGHBOURS[method] + 1) / particles)


def study(context, result, method):
    end = 1.0 if context.quick else 5.0
    steps = [2e-3, 1e-3] if context.quick else [2e-3, 1e-3, 5e-4, 2.5e-4]
    cases = {(step, contact): tumbling(method, step, end, contact=contact) for step in steps for contact in (False, True)}
    cases[steps[1], "single"] = tumbling(method, steps[1], end, precision="single", contact=True)
    runs = context.simulate_all({f"{method}_{s:g}_{c}": scene for (s, c), scene in cases.items()})
    rigid = {step: 100 * rigid_loss(step, end) for step in steps}
    figure, axes = panels(2)
    rows, losses, rounding, gains, single, levers = [], [], 0.0, 0.0, 0.0, []
    for (step, contact) in cases:
        history = runs[f"{method}_{step:g}_{contact}"].history
        energy = history["kinetic_energy"] + history["elastic_energy"]
        scale = np.linalg.norm(momentum(history)[0]) if not contact else MASS * SPEED
        gain = max(0.0, np.diff(energy).max() / energy[0])
        off = drift(momentum(history), scale)
        turned = 100 * drift(angular(history), np.linalg.norm(angular(history)[0]))
        label = {False: "alone", True: "collision", "single": "collision, single precision"}[contact]
        impulse, lever = contact_lever(runs[f"{method}_{step:g}_{contact}"], step) if contact is True else (None, None)
        rows.append([label, number(step * 1e3, 3), number(off, 2), number(turned, 3), None if contact else number(rigid[step], 3), number(impulse, 3), number(lever, 3),
                     number(100 * (1 - energy[-1] / energy[0]), 3), number(gain, 2)])
        if contact == "single":
            single = off
            continue
        rounding, gains = max(rounding, off), max(gains, gain)
        if contact:
            levers.append(lever)
        else:
            losses.append(turned)
        axes[int(contact)].plot(history["time"], energy / energy[0], label=f"{step * 1e3:g} ms")
    for axis, title in zip(axes, ["tumbling alone", "collision with friction"]):
        axis.set(title=f"{title}, {method}", xlabel="time [s]", ylabel="kinetic + elastic energy / initial", ylim=(0, 1.05))
        axis.legend()
    finish(result, figure, f"conservation_{method}", "Energy of a tumbling block and of two colliding ones, by time step.")
    result.table(f"Drift over {end:g} s, {method}",
                 ["", "step [ms]", "linear momentum", "angular momentum [%]", "rigid body [%]", "impulse of contact [kg m/s]", "its lever [spacings]", "energy lost [%]",
                  "largest gain of energy in a step"], rows,
                 f"{ITERATIONS} iterations. Rigid body: what backward Euler takes from one that spins like the block alone. Lever: change of the angular momentum in the steps with "
                 "contact over the impulse that the blocks exchanged. What a collision changes in all is that and what the integration loses.")
    walk = "rounding of {:.0e} per correction and neighbour, a random walk of {:g} corrections summed over {} particles, three times its size"
    corrections = end / steps[-1] * ITERATIONS
    result.check(f"{method}: linear momentum, double precision", rounding, momentum_bound(method, "double", corrections, PARTICLES),
                 "pair impulses are equal and opposite: " + walk.format(UNIT["double"], corrections, PARTICLES))
    corrections = end / steps[1] * ITERATIONS
    result.check(f"{method}: linear momentum, single precision", single, momentum_bound(method, "single", corrections, PARTICLES),
                 walk.format(UNIT["single"], corrections, PARTICLES))
    off = max(abs(loss / rigid[step] - 1) for loss, step in zip(losses, steps))
    result.check(f"{method}: loss of angular momentum over that of a rigid body under backward Euler, off from 1", off, 2 * STRETCH,
                 "spinning stretches the block, which raises its moment of inertia by 4/5 rho omega^2 a^2 / E at most, a the distance of a corner; its spin "
                 "falls by as much, and the rate of loss goes with the square of that")
    result.check(f"{method}: lever of the contact impulses", max(levers), LEVER,
                 "particles that touch across faces lie up to 0.75 spacings beside each other, and friction acts between centres a spacing apart: "
                 f"(0.75 + {FRICTION:g})/sqrt(1 + {FRICTION:g}^2)", unit="spacings")
    result.check(f"{method}: gain of energy in a step", gains, 1e-6,
                 "backward Euler dissipates, and contact takes energy away; what is left is the residual of the solve")


def run(context, result):
    for method in METHODS:
        study(context, result, method)
