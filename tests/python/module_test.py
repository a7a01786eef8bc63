"""The Python module, as a user's program sees it. Run by tools/test with PYTHONPATH on the built package."""

import contextlib
import copy
import gc
import math
import os
import runpy
import subprocess
import sys
import tempfile
import threading
import unittest
from pathlib import Path

import numpy as np

import ductile

ROOT = Path(__file__).resolve().parents[2]
G = 9.81


def block(**solver):
    settings = {"method": "total-lagrangian", "time_step": 1e-3, "end_time": 0.1, "iterations": 5, "precision": "double"}
    return {
        "title": 'a "quoted" block',
        "solver": settings | solver,
        "materials": {
            "soft rubber": {
                "density": 1000.0,
                "elastic": {"model": "neo-hookean", "youngs_modulus": 1e5, "poisson_ratio": 0.3},
            }
        },
        "bodies": [
            {
                "name": "block",
                "material": "soft rubber",
                "spacing": 0.1,
                "shape": {"type": "box", "size": np.array([0.4, 0.3, 0.5])},
            }
        ],
    }


def held(part):
    """The block with a fixture on the particles of the upper (or all) layers."""
    scene = block()
    region = {"type": "box", "size": [9, 9, 9 if part == "all" else 0.2], "position": [0, 0, 0 if part == "all" else 0.25]}
    scene["fixtures"] = [{"name": "grip", "body": "block", "region": region}]
    scene["probes"] = [{"name": "middle", "body": "block"}]
    return scene


class ModuleTest(unittest.TestCase):
    def test_free_fall_of_a_scene_built_here(self):
        simulation = ductile.build(block())
        self.assertEqual(simulation.title, 'a "quoted" block')
        self.assertEqual(simulation.particles, 4 * 3 * 5)
        self.assertEqual(simulation.body_names, ["block"])
        rest = simulation.field("position")
        state = simulation.advance(50)
        self.assertEqual(state.step, 50)
        self.assertAlmostEqual(simulation.time, 0.05)
        fallen = simulation.field("position") - rest
        # Symplectic Euler falls g dt^2 n (n + 1) / 2; double precision rounds the rest.
        np.testing.assert_allclose(fallen, np.tile([0, 0, -G * 1e-6 * 50 * 51 / 2], (60, 1)), atol=1e-9)
        self.assertAlmostEqual(state.momentum[2], -0.06 * 1000 * G * 0.05, places=6)

    def test_arrays_have_shapes_and_own_their_memory(self):
        simulation = ductile.build(block(precision="single"))
        shapes = {name: simulation.field(name).shape for name in ("position", "deformation_gradient", "volume_ratio")}
        self.assertEqual(shapes, {"position": (60, 3), "deformation_gradient": (60, 3, 3), "volume_ratio": (60,)})
        before = simulation.field("position")
        self.assertEqual(before.dtype, np.float32)
        self.assertIsNotNone(before.base, "a copy would have no owner behind it")
        kept = before.copy()
        simulation.advance(5)
        bodies = simulation.bodies
        del simulation
        gc.collect()
        np.testing.assert_array_equal(before, kept)
        np.testing.assert_array_equal(bodies, np.zeros(60))
        with self.assertRaises(ValueError):
            bodies[0] = 1

    def test_fixtures_move_on_the_fly(self):
        for method in ("total-lagrangian", "xpbi"):
            with self.subTest(method):
                self.move_on_the_fly(method)

    def move_on_the_fly(self, method):
        scene = held("all")
        scene["solver"]["method"] = method
        simulation = ductile.build(scene)
        rest = simulation.field("position")
        simulation.advance(3)
        np.testing.assert_allclose(simulation.field("position"), rest, atol=1e-12)
        simulation.move_fixture("grip", velocity=[1, 0, 0])
        simulation.advance(10)
        np.testing.assert_allclose(simulation.field("position"), rest + [0.01, 0, 0], atol=1e-9)
        # A quarter turn about a point in the world, then on along z: each starts where the one before has led to.
        simulation.move_fixture("grip", angular_velocity=[0, 0, math.pi / 2 / 0.01], about=[0.01, 0, 0])
        simulation.advance(10)
        turned = rest @ np.array([[0, 1, 0], [-1, 0, 0], [0, 0, 1]]) + [0.01, 0, 0]
        np.testing.assert_allclose(simulation.field("position"), turned, atol=1e-9)
        simulation.move_fixture("grip", velocity=[0, 0, 2])
        simulation.advance(5)
        np.testing.assert_allclose(simulation.field("position"), turned + [0, 0, 0.01], atol=1e-9)
        np.testing.assert_allclose(simulation.probes()["middle"], [0.01, 0, 0.01], atol=1e-9)

    def test_a_released_fixture_falls(self):
        simulation = ductile.build(held("all"))
        simulation.advance(5)
        simulation.release_fixture("grip")
        state = simulation.advance(10)
        self.assertAlmostEqual(state.momentum[2], -0.06 * 1000 * G * 0.01, places=6)

    def test_a_released_fixture_is_not_moved(self):
        simulation = ductile.build(held("all"))
        simulation.advance(5)
        simulation.release_fixture("grip")
        with self.assertRaisesRegex(ductile.InputError, "released at 0.005 s"):
            simulation.move_fixture("grip", velocity=[1, 0, 0])

    def test_threads_on_one_simulation_wait_for_one_another(self):
        fine = ["bodies[0].spacing=0.025"]  # steps long enough to meet in
        alone, shared = ductile.build(held("top"), fine), ductile.build(held("top"), fine)
        alone.advance(60)
        wrong = []

        def use(steps):
            try:
                for _ in range(steps):
                    shared.advance(2)
                    if shared.field("position").shape != (3840, 3) or shared.state().step > 60 or shared.time > 0.061:
                        wrong.append(shared.state())
                    shared.probes()
            except Exception as error:
                wrong.append(error)

        threads = [threading.Thread(target=use, args=(10,)) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])
        self.assertEqual(shared.step, 60)
        np.testing.assert_array_equal(shared.field("position"), alone.field("position"))
        np.testing.assert_array_equal(shared.field("velocity"), alone.field("velocity"))

    def test_the_program_ends_while_a_thread_steps(self):
        program = """
import atexit, threading, time, ductile
def late():
    print(simulation.state().step > 0)  # still good in what runs at the end
atexit.register(late)
class Slow:
    def __del__(self, sleep=time.sleep):
        sleep(0.3)  # while the interpreter is taken down, the step ends
slow = Slow()
simulation = ductile.load("first_light")
threading.Thread(target=simulation.advance, args=(10**9,), daemon=True).start()
while simulation.step < 3:
    time.sleep(0.01)
"""
        # What was registered before the module runs after its own.
        for first in "", "import atexit; atexit.register(lambda: late())\n":
            done = subprocess.run([sys.executable, "-c", first + program], capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertEqual(done.stdout.split(), ["True"] * (2 if first else 1))

    def test_a_process_that_forks_off_ends(self):
        program = """
import os, sys, threading, ductile
simulation = ductile.load("first_light")
threading.Thread(target=simulation.advance, args=(10**9,), daemon=True).start()
while simulation.step == 0:
    pass
child = os.fork()
if child != 0:
    print(os.waitpid(child, 0)[1])
"""
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=100)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "0\n", ""))

    def test_objects_come_from_load_and_build_only(self):
        simulation = ductile.build(block())
        for kind in ductile.Simulation, ductile.State, type("Mine", (ductile.Simulation,), {}):
            for make in (lambda: kind(), lambda: kind.__new__(kind), lambda: object.__new__(kind)):
                with self.assertRaises(TypeError):
                    make()
        with self.assertRaises(TypeError):
            copy.copy(simulation)

    def test_errors_are_python_errors(self):
        with self.assertRaisesRegex(ductile.InputError, "iterations"):
            ductile.build(block(iteration=3))
        with self.assertRaisesRegex(ValueError, "grip"):
            ductile.build(held("top")).move_fixture("grup")
        with self.assertRaisesRegex(ductile.InputError, "velocity"):
            ductile.build(block()).field("speed")
        with self.assertRaisesRegex(ductile.InputError, "finite"):
            ductile.build(held("top")).move_fixture("grip", velocity=[math.nan, 0, 0])
        with self.assertRaisesRegex(ductile.InputError, "missing.toml"):
            ductile.load("missing.toml")
        with self.assertRaisesRegex(ductile.DeviceError, "no such device"):
            ductile.build(block(), device="no such device")
        with self.assertRaises(ductile.InputError):
            ductile.build({"title": object()})
        for nothing in None, 3, [block()]:
            with self.assertRaisesRegex(ductile.InputError, "is not a scene"):
                ductile.build(nothing)
        itself = block()
        itself["bodies"].append(itself)
        with self.assertRaisesRegex(ductile.InputError, "contains itself"):
            ductile.build(itself)
        for halved in block() | {"title": "a\ud800b"}, 'title = "a\ud800b"':
            with self.assertRaisesRegex(ductile.InputError, r"half a character.*a\\ud800b"):
                ductile.build(halved)
        for threads in -1, 4097:
            with self.assertRaisesRegex(ductile.InputError, f"threads = {threads}: expected 1 to 4096, or 0 for all"):
                ductile.build(block(), threads=threads)

    def test_numbers_of_things_are_integers(self):
        for precision in "single", "double":
            simulation = ductile.build(block(precision=precision))
            types = {name: simulation.field(name).dtype for name in ("id", "body", "piece")}
            self.assertEqual(types, {"id": np.int64, "body": np.int32, "piece": np.int32})
        np.testing.assert_array_equal(simulation.field("id"), np.arange(60))
        np.testing.assert_array_equal(simulation.field("body"), simulation.bodies)
        np.testing.assert_array_equal(simulation.field("piece"), np.zeros(60))

    def test_any_text_can_be_a_name(self):
        scene = block() | {"title": "\U0001f9c0 \u00e4 \\"}
        scene["bodies"][0]["name"] = "\U0001f9ca"
        self.assertEqual(len(ductile.build(scene).field("position")), 4 * 3 * 5)
        with self.assertRaisesRegex(ductile.InputError, "control characters"):
            ductile.build(block() | {"title": "\x7f"})

    def test_a_scene_file_with_overrides(self):
        simulation = ductile.load(ROOT / "scenes/first_light.toml", ["bodies[0].spacing=0.06"])
        self.assertLess(simulation.advance(2).residual, 1)
        self.assertGreater(len(ductile.devices()), 0)

    def test_one_override_needs_no_list(self):
        self.assertEqual(ductile.build(block(), "solver.time_step=2e-3").time_step, 2e-3)
        coarse = "bodies[0].spacing=0.1"
        self.assertEqual(ductile.load("first_light", coarse).particles, ductile.load("first_light", [coarse]).particles)

    def test_shipped_scenes_by_name(self):
        self.assertIn("first_light", ductile.scenes())
        for name in "first_light", "small/cow":  # the second names a mesh beside it
            file = ROOT / f"scenes/{name}.toml"
            coarse = ["bodies[0].spacing=0.1"]
            self.assertEqual(ductile.load(name, coarse).particles, ductile.load(file, coarse).particles)

    def test_shipped_scenes_where_a_folder_has_their_name(self):
        with tempfile.TemporaryDirectory() as name, contextlib.chdir(name):
            os.mkdir("first_light")
            self.assertEqual(ductile.load("first_light", "bodies[0].spacing=0.1").title, "First light: a rubber ring falls onto a peg, bounces and comes to rest")

    def test_the_example_twists_and_springs_back(self):
        twist = runpy.run_path(str(ROOT / "examples/python/twist.py"))["main"]()
        self.assertAlmostEqual(twist[9], 90, delta=0.5)  # the fixture has turned by 180 degrees/s for 0.5 s
        self.assertLess(min(twist[10:]), 30)


if __name__ == "__main__":
    unittest.main()
