"""Results as VTK's own Python reader sees them, and the Python tools. Run by tools/test."""

import contextlib
import importlib
import io
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkCommonCore import vtkDataArray
from vtkmodules.vtkIOXML import vtkXMLPolyDataReader

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
DUCTILE = os.environ.get("DUCTILE", str(ROOT / "build/host/ductile"))
SPACING, DENSITY, STEP = 0.05, 1000.0, 1e-3
SCENE = f"""
title = "block in free fall"
[solver]
method = "total-lagrangian"
time_step = {STEP}
end_time = 0.04
iterations = 2
precision = "double"
[materials.rubber]
density = {DENSITY}
elastic = {{ model = "neo-hookean", youngs_modulus = 1e5, poisson_ratio = 0.3 }}
[[bodies]]
name = "block"
material = "rubber"
spacing = {SPACING}
shape = {{ type = "box", size = [0.2, 0.15, 0.1] }}
[[colliders]]
name = "ground"
shape = {{ type = "plane", point = [0, 0, -1] }}
[[colliders]]
name = "room"
shape = {{ type = "box", size = [4, 4, 4] }}
inside = true
[[colliders]]
name = "ball"
shape = {{ type = "sphere", radius = 0.1 }}
position = [0.5, 0, 0]
motion = {{ velocity = [0, 0, 1], angular_velocity = [0, 0, 3.141592653589793], about = [0, 0, 0] }}
[output]
interval = 0.01
"""
PARTICLES = 4 * 3 * 2
COMPONENTS = {
    "id": 1,
    "body": 1,
    "velocity": 3,
    "deformation_gradient": 9,
    "cauchy_stress": 9,
    "von_mises_stress": 1,
    "volume_ratio": 1,
}
UNITS = {
    "velocity": "m/s",
    "deformation_gradient": "1",
    "cauchy_stress": "Pa",
    "von_mises_stress": "Pa",
    "volume_ratio": "1",
}


@dataclass
class Done:
    returncode: int
    stdout: str
    stderr: str


def tool(name, *arguments):
    """Runs a Python tool, in this process: importing VTK and Matplotlib takes longer than the tests."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = importlib.import_module(name).main([str(argument) for argument in arguments])
    return Done(code, out.getvalue(), err.getvalue())


class ResultTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = Path(cls.temporary.name)
        (cls.folder / "scene.toml").write_text(SCENE)
        cls.result = cls.folder / "result"
        subprocess.run([DUCTILE, "run", cls.folder / "scene.toml", "-o", cls.result, "-q"], check=True)

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def frames(self):
        for entry in ElementTree.parse(self.result / "particles.pvd").iter("DataSet"):
            reader = vtkXMLPolyDataReader()
            reader.SetFileName(str(self.result / entry.get("file")))
            reader.Update()
            yield float(entry.get("timestep")), reader.GetOutput()

    def test_time_steps(self):
        times = []
        for time, data in self.frames():
            self.assertEqual(data.GetFieldData().GetArray("TimeValue").GetValue(0), time)
            times.append(time)
        np.testing.assert_allclose(times, [0, 0.01, 0.02, 0.03, 0.04], rtol=1e-12)

    def test_names_components_and_units(self):
        for _, data in self.frames():
            self.assertEqual(data.GetNumberOfPoints(), PARTICLES)
            self.assertEqual(data.GetNumberOfVerts(), PARTICLES)
            arrays = data.GetPointData()
            found = {arrays.GetArrayName(k): arrays.GetArray(k) for k in range(arrays.GetNumberOfArrays())}
            self.assertEqual({name: array.GetNumberOfComponents() for name, array in found.items()}, COMPONENTS)
            for name, unit in UNITS.items():
                self.assertEqual(found[name].GetInformation().Get(vtkDataArray.UNITS_LABEL()), unit, name)

    def test_values_are_those_of_free_fall(self):
        for time, data in self.frames():
            arrays = data.GetPointData()
            np.testing.assert_array_equal(vtk_to_numpy(arrays.GetArray("id")), np.arange(PARTICLES))
            velocity = vtk_to_numpy(arrays.GetArray("velocity"))
            # Symplectic Euler is exact for the velocity; the rest is the rounding of double precision.
            np.testing.assert_allclose(velocity, np.tile([0, 0, -9.81 * time], (PARTICLES, 1)), atol=1e-9)
            gradient = vtk_to_numpy(arrays.GetArray("deformation_gradient"))
            np.testing.assert_allclose(gradient, np.tile(np.eye(3).ravel(), (PARTICLES, 1)), atol=1e-9)

    def test_units_are_documented(self):
        rows = (ROOT / "docs/results.md").read_text().splitlines()
        for name, unit in UNITS.items():
            row = next((r for r in rows if r.startswith(f"| `{name}` |")), "")
            self.assertEqual(row.split("|")[3:4], [f" {unit} "], name)

    def test_render_makes_a_video_of_all_frames(self):
        import imageio_ffmpeg

        video = self.folder / "video.mp4"
        done = tool("render", self.result, "--video", video, "--size", "161x121", "--field", "velocity.z", "--fps", "5")
        self.assertEqual(done.returncode, 0, done.stderr)
        frames, seconds = imageio_ffmpeg.count_frames_and_secs(str(video))
        self.assertEqual(frames, 5)
        self.assertAlmostEqual(seconds, 1.0, delta=0.21)

    def test_render_draws_colliders_where_they_are(self):
        render = importlib.import_module("render")
        self.assertEqual(render.find_scene(self.result, None), self.folder / "scene.toml")
        ground, room, ball = render.read_obstacles(self.result, None)
        self.assertTrue(ground.is_floor() and room.inside)
        np.testing.assert_allclose(room.surface.bounds, [-2, 2] * 3)
        # A quarter of a turn about the origin, which has gone up by half a metre.
        center = ball.at(0.5) @ [*ball.surface.center, 1]
        np.testing.assert_allclose(center[:3], [0, 0.5, 0.5], atol=1e-6)
        pictures = []
        for arguments in ([], ["--no-colliders"]):
            picture = self.folder / "frame.png"
            done = tool("render", self.result, "--out", picture, "--size", "160x120", "--camera=3,-3,1", *arguments)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            pictures.append(picture.read_bytes())
        self.assertNotEqual(*pictures)

    def test_render_sees_what_set_has_changed(self):
        render = importlib.import_module("render")
        result = self.folder / "changed"
        changes = ["colliders.room.shape.size=[2, 2, 2]", "colliders[2].position = [0, 0, 3]", "colliders.0.shape.point=[0, 0, -2]"]
        sets = [word for change in [*changes, "solver.iterations=3"] for word in ("--set", change)]
        subprocess.run([DUCTILE, "run", self.folder / "scene.toml", "-o", result, "-q", *sets], check=True)
        self.assertEqual(json.loads((result / "run.json").read_text())["overrides"][:3], changes)
        ground, room, ball = render.read_obstacles(result, None)
        np.testing.assert_allclose(ground.point, [0, 0, -2])
        np.testing.assert_allclose(room.surface.bounds, [-1, 1] * 3)
        np.testing.assert_allclose(ball.surface.center, [0, 0, 3], atol=1e-6)

    def test_render_says_that_the_scene_is_missing(self):
        import shutil

        with tempfile.TemporaryDirectory() as name:
            result = Path(name) / "result"
            shutil.copytree(self.result, result)
            done = tool("render", result, "--out", Path(name) / "frame.png", "--size", "160x120")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("--scene", done.stderr)
            scene = self.folder / "scene.toml"
            done = tool("render", result, "--out", Path(name) / "frame.png", "--size", "160x120", "--scene", scene)
            self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_render_names_what_is_wrong(self):
        for arguments, words in (
            (["--field", "speed"], "velocity"),
            (["--field", "velocity.xx"], "x, y, z"),
            (["--video", "film.avi"], ".mp4"),
            (["--frame", "17"], "0 to 4"),
            (["--scene", "nowhere.toml"], "nowhere.toml"),
            (["--range", "5,1"], "LOW,HIGH"),
            (["--range", "1,1"], "LOW,HIGH"),
            (["--range", "nan,1"], "--range nan,1"),
            (["--range", "0,inf"], "--range 0,inf"),
            (["--camera", "nan,1,1"], "--camera nan,1,1"),
            (["--camera", "1,1,1,0,0,inf"], "--camera 1,1,1,0,0,inf"),
            (["--sheet", "2", "--video"], "one of them"),
            (["--video", "--out", "film.mp4"], "--video FILE"),
        ):
            done = tool("render", self.result, *arguments)
            self.assertEqual(done.returncode, 2, arguments)
            self.assertIn(words, done.stderr)


    def test_render_names_damaged_frames_and_places(self):
        with tempfile.TemporaryDirectory() as name:
            result = Path(name) / "result"
            shutil.copytree(self.result, result)
            (Path(name) / "file").write_text("")
            for out in ["--out", Path(name) / "file/picture.png"], ["--video", Path(name) / "file/film.gif"]:
                done = tool("render", result, *out, "--size", "160x120", "--no-colliders")
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertIn(f"{out[1]} can't be written", done.stderr)
            for number, size in (4, 3000), (2, 100), (0, 100):
                frame = result / f"particles/particles_00000{number}.vtp"
                os.truncate(frame, size)
                done = tool("render", result, "--out", Path(name) / "picture.png", "--size", "160x120", "--no-colliders")
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertIn(f"frame {number} is damaged: put back {frame}", done.stderr)


class PortabilityTest(unittest.TestCase):
    def write(self, folder, name, backend, device, bandwidth, rate, particles=1000):
        case = {"name": "svd", "precision": "single", "particles": particles, "particle_iterations_per_second": rate}
        record = {"backend": backend, "device": device, "threads": 2, "bandwidth_gb_per_s": bandwidth, "cases": [case]}
        (folder / name).write_text(json.dumps(record))
        return folder / name

    def test_harmonic_mean_over_devices(self):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            files = [
                self.write(folder, "a", "host", "cpu", 20, 10e6),  # the best on its device; 0.5 M/s per GB/s
                self.write(folder, "b", "jit", "cpu", 20, 5e6),  # half of it; 0.25
                self.write(folder, "c", "jit", "gpu", 400, 400e6),  # alone on its device; 1.0
            ]
            done = tool("portability", *files, "--plot", folder / "plot.png")
            self.assertEqual(done.returncode, 0, done.stderr)
            # jit: 2 / (1/0.5 + 1/1) and 2 / (1/0.25 + 1/1); host lacks the gpu.
            self.assertIn(f"jit: portability {100 * 2 / 3:.0f} % by application, 40 % by bandwidth", done.stdout)
            self.assertIn("host: portability 0 % by application", done.stdout)
            self.assertGreater((folder / "plot.png").stat().st_size, 5000)

    def test_sizes_stay_apart(self):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            files = [self.write(folder, str(n), "host", "cpu", 20, rate, n) for n, rate in ((1000, 9e6), (8000, 3e6))]
            done = tool("portability", *files)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("1000, 8000 particles", done.stderr)
            for title, rate in ("svd, single precision, 1000 particles", "9.00"), ("svd, single precision, 8000 particles", "3.00"):
                self.assertIn(rate, done.stdout.split(title)[1].split("portability")[0])

    def test_places_that_can_not_be_written_are_named(self):
        with tempfile.TemporaryDirectory() as name:
            file = self.write(Path(name), "a", "host", "cpu", 20, 10e6)
            done = tool("portability", file, "--plot", Path(name) / "nowhere" / "plot.png")
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn("nowhere/plot.png", done.stderr)

    def test_other_files_are_refused(self):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "text").write_text("hello")
            (folder / "list").write_text("[1]")
            (folder / "deep").write_text("[" * 100000)
            (folder / "bytes").write_bytes(b"\xff\xfe")
            files = [folder / "text", folder / "list", folder / "missing", folder / "deep", folder / "bytes", folder]
            files.append(self.write(folder, "nan", "host", "cpu", math.nan, 1e6))
            files.append(self.write(folder, "large", "host", "cpu", 10**400, 1e6))
            files.append(self.write(folder, "device", "host", 5, 20, 1e6))
            files.append(self.write(folder, "backend", ["host"], "cpu", 20, 1e6))
            files.append(self.write(folder, "particles", "host", "cpu", 20, 1e6, "many"))
            for file in files:
                done = tool("portability", file)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertIn(file.name, done.stderr)
                self.assertEqual(done.stderr.count("\n"), 1, done.stderr)


class PaperScriptsTest(unittest.TestCase):
    def test_figure2_probes_every_law(self):
        folder = ROOT / "validation/paper0"
        # Six of its 26 stretches. The folder of the script decides where its results go: not where those of a user are.
        results = f"python_tools_{os.getpid()}"
        self.addCleanup(shutil.rmtree, ROOT / "results" / results, ignore_errors=True)
        code = (f"import sys; sys.argv[0] = '{results}/figure2.py'; import figure2; "
                "figure2.STRETCHES = figure2.SHOWN; figure2.main()")
        done = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True,
                              env={**os.environ, "DUCTILE": DUCTILE})
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = {tuple(line.split()[1:4:2]) for line in done.stdout.splitlines() if line.startswith("| ")}
        whole = {(law, "the") for law in ("linear", "corotated", "fixed-corotated")}
        continued = {(law, word) for law in ("stvk", "neo-hookean", "hencky") for word in ("extended", "hard-switch")}
        self.assertEqual(rows - {("law", "below")}, whole | continued)


if __name__ == "__main__":
    unittest.main()
