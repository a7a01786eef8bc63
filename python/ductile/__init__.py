"""Ductile from Python: load or build a scene, step it, read the particles as NumPy arrays, move fixtures on the fly.

    import ductile

    simulation = ductile.load("scenes/first_light.toml")
    while simulation.time < 0.5:
        simulation.advance(10)
    print(simulation.field("position").mean(axis=0))

SI units throughout. What is wrong with a scene is raised as InputError, a simulation that is no longer sound as
DivergenceError, a missing device as DeviceError.
"""

import json
import numbers

from ._ductile import (
    DeviceError,
    DivergenceError,
    InputError,
    Simulation,
    SimulationError,
    State,
    __version__,
    devices,
)

__all__ = [
    "DeviceError",
    "DivergenceError",
    "InputError",
    "Simulation",
    "SimulationError",
    "State",
    "__version__",
    "build",
    "devices",
    "load",
    "scene_text",
]


def load(file, overrides=(), device="", threads=0):
    """A simulation of a scene file; overrides as `--set` of the program takes them: ["solver.iterations=40"]."""
    return Simulation.load(file, list(overrides), device, threads)


def build(scene, overrides=(), device="", threads=0, folder="."):
    """A simulation of a scene given as TOML text or as nested dicts and lists with the keys of docs/scene.md."""
    text = scene if isinstance(scene, str) else scene_text(scene)
    return Simulation.parse(text, list(overrides), device, threads, folder)


def scene_text(scene):
    """The TOML text of a scene given as nested dicts and lists."""
    return "".join(f"{_key(key)} = {_value(value, key)}\n" for key, value in scene.items())


def _key(key):
    if not isinstance(key, str):
        raise InputError(f"{key!r} is not a key: keys of a scene are text")
    return json.dumps(key)


def _value(value, where):
    if hasattr(value, "tolist"):  # NumPy's arrays and numbers
        value = value.tolist()
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{_key(k)} = {_value(v, f'{where}.{k}')}" for k, v in value.items()) + " }"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_value(v, where) for v in value) + "]"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=True)
    if isinstance(value, numbers.Integral):
        return str(int(value))
    if isinstance(value, numbers.Real):
        return repr(float(value))
    raise InputError(f"{where}: {value!r} can't be part of a scene")
