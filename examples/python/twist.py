"""A bar that is built here, twisted by one end, let go, and watched through NumPy arrays.

Run with `tools/wheel --install`ed into your environment, or from the source tree:
    PYTHONPATH=build/host/python .venv/bin/python examples/python/twist.py
"""

import numpy as np

import ductile

LENGTH, WIDTH, SPACING = 1.0, 0.2, 0.05


def end(name, x):
    """A fixture that holds two layers of particles at one end of the bar."""
    region = {"type": "box", "size": [2.2 * SPACING, 1.0, 1.0], "position": [x, 0.0, 0.0]}
    return {"name": name, "body": "bar", "region": region}


def bar():
    return {
        "title": "Twisted bar",
        "solver": {"method": "total-lagrangian", "time_step": 1e-3, "end_time": 1.0, "damping": 1.0},
        "world": {"gravity": np.zeros(3)},
        "materials": {
            "rubber": {
                "density": 1000.0,
                "elastic": {"model": "neo-hookean", "youngs_modulus": 1e5, "poisson_ratio": 0.3},
            }
        },
        "bodies": [
            {
                "name": "bar",
                "material": "rubber",
                "spacing": SPACING,
                "shape": {"type": "box", "size": [LENGTH, WIDTH, WIDTH]},
            }
        ],
        "fixtures": [end("left", -LENGTH / 2), end("right", LENGTH / 2)],
    }


def twist(position, rest):
    """Angle in degrees by which the last layer has turned about the x axis, against the first one."""
    layers = [rest[:, 0] < rest[:, 0].min() + SPACING / 2, rest[:, 0] > rest[:, 0].max() - SPACING / 2]
    angles = []
    for layer in layers:
        before, now = (p[layer][:, 1:].astype(float) @ (1, 1j) for p in (rest, position))
        angles.append(np.degrees(np.angle(np.vdot(before, now))))
    return angles[1] - angles[0]


def main():
    simulation = ductile.build(bar())
    rest = simulation.field("position")
    print(f"{simulation.title}: {simulation.particles} particles")
    print("  time  twist, degrees  elastic energy, J  largest von Mises stress, kPa")

    def watch(until):
        while simulation.time < until - 1e-9:
            state = simulation.advance(50)
            stress = simulation.field("von_mises_stress").max()
            angle = twist(simulation.field("position"), rest)
            print(f"{state.time:6.2f}  {angle:14.1f}  {state.elastic_energy:17.3f}  {stress / 1e3:29.2f}")
            turned.append(angle)

    turned = []
    simulation.move_fixture("right", angular_velocity=[np.radians(180), 0, 0])
    watch(0.5)
    simulation.release_fixture("right")
    watch(1.0)
    return turned


if __name__ == "__main__":
    main()
