"""A result as ParaView's own Python sees it, and the script that shows it. Run by tools/test in tools/pvpython."""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import numpy as np
from paraview import servermanager, simple
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkCommonCore import vtkDataArray
from vtkmodules.vtkIOImage import vtkPNGReader

sys.path.insert(0, str(Path(__file__).parent))
from tools_test import COMPONENTS, DUCTILE, PARTICLES, ROOT, SCENE, UNITS

GROUND = """
[[colliders]]
shape = { type = "plane", normal = [0, 0, 1], point = [0, 0, -0.052] }
"""


def shown(*arguments):
    """tools/paraview/particles.py in a process and on a display of its own."""
    environment = {name: value for name, value in os.environ.items() if name not in ("DISPLAY", "XAUTHORITY")}
    command = [ROOT / "tools/pvpython", ROOT / "tools/paraview/particles.py", *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=environment)


class ParaViewTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = Path(cls.temporary.name)
        (cls.folder / "scene.toml").write_text(SCENE.replace("end_time = 0.04", "end_time = 0.05") + GROUND)
        cls.result = cls.folder / "result"
        subprocess.run([DUCTILE, "run", cls.folder / "scene.toml", "-o", cls.result, "-q"], check=True)
        cls.reader = simple.PVDReader(FileName=str(cls.result / "particles.pvd"))

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def test_time_steps(self):
        np.testing.assert_allclose(self.reader.TimestepValues, [0, 0.01, 0.02, 0.03, 0.04, 0.05], rtol=1e-12)

    def test_names_and_components(self):
        known = self.reader.PointData
        self.assertEqual({name: known[name].GetNumberOfComponents() for name in known.keys()}, COMPONENTS)

    def test_units_and_values_at_each_time(self):
        for time in self.reader.TimestepValues:
            self.reader.UpdatePipeline(time)
            data = servermanager.Fetch(self.reader)
            self.assertEqual(data.GetNumberOfPoints(), PARTICLES)
            self.assertEqual(data.GetNumberOfVerts(), PARTICLES)
            arrays = data.GetPointData()
            for name, unit in UNITS.items():
                self.assertEqual(arrays.GetArray(name).GetInformation().Get(vtkDataArray.UNITS_LABEL()), unit, name)
            if time <= 0.01:  # falls; symplectic Euler is exact for the velocity of free fall, but for rounding
                velocity = vtk_to_numpy(arrays.GetArray("velocity"))
                np.testing.assert_allclose(velocity, np.tile([0, 0, -9.81 * time], (PARTICLES, 1)), atol=1e-9)

    def test_script_draws_spheres_coloured_by_stress(self):
        picture = self.folder / "picture.png"
        done = shown(self.result, "--picture", picture)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("t = 0.05 s", done.stdout)
        reader = vtkPNGReader()
        reader.SetFileName(str(picture))
        reader.Update()
        image = reader.GetOutput()
        self.assertEqual(image.GetDimensions()[:2], (1000, 750))
        red, _, blue = vtk_to_numpy(image.GetPointData().GetScalars())[:, :3].astype(int).T
        # Particles in the blue of low stress and the red of high stress, each a sphere of a few per cent of the picture,
        # before a grey whose blue is 28 above its red.
        self.assertGreater(np.mean(blue - red > 40), 0.02)
        self.assertGreater(np.mean(red - blue > 20), 0.02)

    def test_script_names_what_is_wrong(self):
        short = self.folder / "short"
        shutil.copytree(self.result, short)
        (short / "particles/particles_000002.vtp").unlink()
        torn = self.folder / "torn"
        shutil.copytree(self.result, torn)
        os.truncate(torn / "particles/particles_000000.vtp", 100)
        picture = self.folder / "wrong.png"
        (self.folder / "folder.png").mkdir()
        for code, arguments, words in (
            (2, [self.folder], "particles.pvd"),
            (2, [self.result, "speed"], "von_mises_stress"),
            (2, [short, "--picture", picture], "particles_000002.vtp is missing"),
            (2, [torn, "--picture", picture], "particles_000000.vtp is damaged"),
            (2, [self.result, "--picture", picture, "--time", "nan"], "--time nan"),
            (2, [self.result, "--time", "0.01"], "with --picture"),
            (2, [self.result, "--picture", self.folder / "nowhere/picture.png"], "nowhere is not there"),
            (2, [self.result, "--picture", self.folder / "picture.xyz"], ".png"),
            (1, [self.result, "--picture", self.folder / "folder.png"], "folder.png could not be written"),
        ):
            done = shown(*arguments)
            self.assertEqual(done.returncode, code, done.stdout + done.stderr)
            self.assertIn(words, done.stderr)
            self.assertNotIn("Traceback", done.stderr)
            self.assertFalse(picture.exists())
        self.assertEqual(list(self.folder.glob("*.tmp-*")), [])


if __name__ == "__main__":
    unittest.main()
