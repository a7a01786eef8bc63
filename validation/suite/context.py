"""How a study runs Ductile: scenes, material points, benches and the finite-element reference."""

import csv
import hashlib
import io
import json
import os
import shutil
import subprocess
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from suite.scene import scene_text


class Failure(Exception):
    """A command that the study cannot do without has failed."""


def volume(shape):
    """Of a box, cylinder or ball [m^3]; other shapes count as endless, so that they come first, in the order given."""
    radius = shape.get("radius", 0.0)
    known = {"box": np.prod(shape.get("size", 1.0)), "cylinder": np.pi * radius**2 * shape.get("height", 0.0), "sphere": 4 / 3 * np.pi * radius**3}
    return known.get(shape["type"], np.inf)


def work(scene):
    """What a run costs, roughly: particles times iterations; those of XPBI cost three times as much."""
    solver = scene["solver"]
    particles = sum(volume(body["shape"]) / body["spacing"]**3 for body in scene["bodies"])
    return particles * solver["end_time"] / solver["time_step"] * solver.get("iterations", 10) * (3 if solver["method"] == "xpbi" else 1)


class Run:
    """The result folder of one simulation."""

    def __init__(self, folder, code, message, seconds):
        self.folder, self.code, self.message, self.seconds = folder, code, message, seconds
        self.ok = code == 0

    def columns(self, name):
        """history.csv or probes.csv as arrays by column."""
        with open(self.folder / name, encoding="utf-8") as file:
            header = file.readline().strip().split(",")
            data = np.loadtxt(file, delimiter=",", ndmin=2)
        return {key: data[:, k] for k, key in enumerate(header)}

    @property
    def history(self):
        return self.columns("history.csv")

    @property
    def probes(self):
        return self.columns("probes.csv")

    @property
    def info(self):
        return json.loads((self.folder / "run.json").read_text(encoding="utf-8"))

    def frames(self):
        return sorted((self.folder / "particles").glob("particles_*.vtp"))

    def frame(self, index=-1):
        """Point data of a frame by name, with `points`."""
        import pyvista

        mesh = pyvista.read(self.frames()[index])
        data = {name: np.asarray(mesh.point_data[name]) for name in mesh.point_data.keys()}
        data["points"] = np.asarray(mesh.points, dtype=float)
        return data


class Context:
    """One for each study: its folder, its form, and the programs."""

    def __init__(self, ductile, fem, folder, quick, other_backend=None):
        self.ductile, self.fem_program, self.folder, self.quick = ductile, fem, Path(folder), quick
        self.other_backend = other_backend
        self.runs, self.solvers = 0, []
        self.running, self.stopped = set(), False
        self.cores = len(os.sched_getaffinity(0))
        self.data = Path(__file__).resolve().parent.parent / "data"

    # ---- commands

    def execute(self, command):
        """Its exit code, output and errors; ended together with the study."""
        if self.stopped:
            raise Failure(f"{command[0]}: not started, because the study was stopped")
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            self.running.add(process)
            if self.stopped:  # in the meantime
                process.kill()
            try:
                output, errors = process.communicate()
            except BaseException:
                process.kill()
                raise
            finally:
                self.running.discard(process)
        return process.returncode, output, errors.strip()

    def stop(self):
        """Ends what runs in other threads and lets nothing start."""
        self.stopped = True
        for process in list(self.running):
            process.kill()

    # ---- simulations

    def simulate(self, name, scene, threads=None, keep=False, executable=None):
        """Runs a scene; the result stays until the study ends. A run that diverges (exit code 1) is a result too, any other end a failure."""
        folder = Path(tempfile.mkdtemp(prefix=f"{name}_", dir=self.folder))
        file = folder / "scene.toml"
        file.write_text(scene_text(scene), encoding="utf-8")
        command = [str(executable or self.ductile), "run", str(file), "-o", str(folder / "result"), "--quiet"]
        if threads:
            command += ["--threads", str(threads)]
        start = time.monotonic()
        code, _, errors = self.execute(command)
        seconds = time.monotonic() - start
        self.runs += 1
        self.solvers.append(scene["solver"])
        if code not in (0, 1):
            raise Failure(f"{name}: exit code {code}. {errors}")
        return Run(folder / "result", code, errors, seconds)

    def simulate_all(self, scenes):
        """{name: scene} to {name: Run}: as many at once as there are cores, one thread each, the longest first."""
        def start(item):
            return item[0], self.simulate(item[0], item[1], threads=1)

        with ThreadPoolExecutor(self.cores) as pool:
            try:
                return dict(pool.map(start, sorted(scenes.items(), key=lambda item: -work(item[1]))))
            except BaseException:  # the first failure or an interrupt: the others would only be waited for
                self.stop()
                raise

    def together(self, *parts):
        """Parts of a study as generators: each yields its scenes once and is given their runs. The scenes of all run as one batch, so that no
        core waits for the last run of a part; then the parts are finished in turn."""
        scenes = [next(part) for part in parts]
        runs = self.simulate_all({f"{k}_{name}": scene for k, batch in enumerate(scenes) for name, scene in batch.items()})
        for k, (part, batch) in enumerate(zip(parts, scenes)):
            try:
                part.send({name: runs[f"{k}_{name}"] for name in batch})
            except StopIteration:
                continue
            raise Failure(f"part {k} of the study asks for runs twice")

    # ---- material points

    def probe_curve(self, material, path, first, last, steps, dt=None):
        """Columns of `ductile probe --path`."""
        with self.material_scene(material) as file:
            command = ["probe", file, "--material", "m", "--path", path, "--from", repr(first), "--to", repr(last)]
            command += ["--steps", str(steps)] + (["--dt", repr(dt)] if dt else [])
            text = self.output(command)
        rows = list(csv.reader(io.StringIO(text)))
        data = np.array([[float(x) for x in row] for row in rows[1:]])
        return {key: data[:, k] for k, key in enumerate(rows[0])}

    def probe_point(self, file, F, dt=None, state=None):
        """`ductile probe --F` on a file made by material_scene."""
        command = ["probe", file, "--material", "m", "--F", ",".join(repr(float(x)) for x in np.ravel(F))]
        command += ["--dt", repr(dt)] if dt else []
        for key, value in (state or {}).items():
            command += ["--state", f"{key}=" + ",".join(repr(float(x)) for x in np.ravel(value))]
        return json.loads(self.output(command))

    def material_scene(self, material):
        return MaterialScene(self.folder, material)

    # ---- other programs

    def bench(self, *arguments, executable=None):
        file = self.folder / f"bench_{self.runs}.json"
        self.runs += 1
        self.output(["bench", *arguments, "--json", str(file)], executable)
        return json.loads(file.read_text(encoding="utf-8"))

    def output(self, arguments, executable=None):
        code, output, errors = self.execute([str(executable or self.ductile), *map(str, arguments)])
        if code != 0:
            raise Failure(f"{' '.join(map(str, arguments))}: {errors}")
        return output

    def fem(self, *arguments):
        """JSON of the finite-element program."""
        self.runs += 1
        return json.loads(self.output(arguments, self.fem_program))

    def stored(self, name):
        """A reference that takes long to compute, from validation/data; the file names the command that made it."""
        return json.loads((self.data / f"{name}.json").read_text(encoding="utf-8"))

    def clean(self):
        shutil.rmtree(self.folder, ignore_errors=True)


class MaterialScene:
    """A scene file around one material, which `ductile probe` asks for."""

    def __init__(self, folder, material):
        plastic = material.get("plastic", {}).get("model", "creep")
        scene = {
            "solver": {"method": "total-lagrangian", "time_step": 1e-3, "end_time": 1.0},
            "materials": {"m": material},
            "bodies": [{"name": "b", "material": "m", "spacing": 0.5, "shape": {"type": "box", "size": [1.0, 1.0, 1.0]}}],
        }
        if plastic != "creep":
            scene["solver"]["method"] = "xpbi"
        digest = hashlib.sha256(repr(material).encode()).hexdigest()[:12]
        self.file = Path(folder) / f"material_{digest}.toml"
        self.file.write_text(scene_text(scene), encoding="utf-8")

    def __enter__(self):
        return str(self.file)

    def __exit__(self, *_):
        return False
