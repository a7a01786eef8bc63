"""Ductile from Python: load or build a scene, step it, read the particles as NumPy arrays, move fixtures on the fly.

    import ductile

    simulation = ductile.load("first_light")
    while simulation.time < 0.5:
        simulation.advance(10)
    print(simulation.field("position").mean(axis=0))

SI units throughout. What is wrong with a scene is raised as InputError, a simulation that is no longer sound as
DivergenceError, a missing device as DeviceError.
"""

import json
import numbers
import os
from pathlib import Path

# As in the program: beside other programs, OpenMP's spinning at barriers costs more than the work. Read when it is loaded.
if "OMP_WAIT_POLICY" not in os.environ:
    os.environ.setdefault("GOMP_SPINCOUNT", "3000")

from ._ductile import (  # noqa: E402
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
    "scenes",
]

_SCENES = Path(__file__).parent / "scenes"


def scenes():
    """The names of the scenes that come with Ductile; `load` takes them in place of a file."""
    return sorted(file.relative_to(_SCENES).with_suffix("").as_posix() for file in _SCENES.rglob("*.toml"))


def load(file, overrides=(), device="", threads=0):
    """A simulation of a scene file, or of the scene of that name that comes with Ductile.

    Overrides are as `--set` of the program takes them: ["solver.iterations=40"].
    """
    if not Path(file).is_file() and str(file) in scenes():
        file = _SCENES / f"{file}.toml"
    return Simulation.load(file, _listed(overrides), device, threads)


def build(scene, overrides=(), device="", threads=0, folder="."):
    """A simulation of a scene given as TOML text or as nested dicts and lists with the keys of docs/scene.md."""
    text = scene if isinstance(scene, str) else scene_text(scene)
    try:
        text.encode()
    except UnicodeEncodeError as error:
        near = text[max(0, error.start - 20) : error.end + 20]
        raise InputError(f"The scene has half a character (a lone surrogate) in {near!r}") from None
    return Simulation.parse(text, _listed(overrides), device, threads, folder)


def scene_text(scene):
    """The TOML text of a scene given as nested dicts and lists."""
    if not isinstance(scene, dict):
        raise InputError(f"{scene!r} is not a scene: give TOML text, or a dict with the keys of docs/scene.md")
    try:
        return "".join(f"{_key(key)} = {_value(value, key)}\n" for key, value in scene.items())
    except RecursionError:
        raise InputError("The scene contains itself, or is nested too deeply") from None


def _listed(overrides):
    """One override may come without a list around it."""
    return [overrides] if isinstance(overrides, str) else list(overrides)


def _key(key):
    if not isinstance(key, str):
        raise InputError(f"{key!r} is not a key: keys of a scene are text")
    return _text(key)


def _text(text):
    """In quotes, as TOML has it: JSON's escapes but not its pairs of surrogates, and the one control character that JSON leaves as it is."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


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
        return _text(value)
    if isinstance(value, numbers.Integral):
        return str(int(value))
    if isinstance(value, numbers.Real):
        return repr(float(value))
    raise InputError(f"{where}: {value!r} can't be part of a scene")
