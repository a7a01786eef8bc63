"""Scenes as Python dictionaries, written as TOML."""

import json
import math

METHODS = ["total-lagrangian", "xpbi"]  # of the program; studies run both


def value_text(value):
    """A TOML value; tables inside values are inline."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"{value} cannot stand in a scene")
        text = repr(float(value))
        return text if any(c in text for c in ".e") else text + ".0"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, str):
        return json.dumps(value)
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {value_text(entry)}" for key, entry in value.items()) + " }"
    return "[" + ", ".join(value_text(entry) for entry in value) + "]"


def scene_text(scene):
    """The scene file of a dictionary: plain values, then tables, then lists of tables."""
    lines = []
    for key, value in scene.items():
        if not isinstance(value, (dict, list)):
            lines.append(f"{key} = {value_text(value)}")
    for key, value in scene.items():
        if key == "materials":
            for name, material in value.items():
                lines += [f"\n[materials.{name}]"] + [f"{k} = {value_text(v)}" for k, v in material.items()]
        elif isinstance(value, dict):
            lines += [f"\n[{key}]"] + [f"{k} = {value_text(v)}" for k, v in value.items()]
        elif isinstance(value, list):
            for entry in value:
                lines += [f"\n[[{key}]]"] + [f"{k} = {value_text(v)}" for k, v in entry.items()]
    return "\n".join(lines) + "\n"


def setting_text(value):
    return f"{value:g}" if isinstance(value, float) else value if isinstance(value, str) else value_text(value)


def numbers_first(text):
    try:
        return 0, float(text), text
    except ValueError:
        return 1, 0.0, text


def settings_text(solvers):
    """The settings of runs by method, as scene files name them; how long they last is their studies' matter."""
    texts = []
    for method in METHODS:
        own = [solver for solver in solvers if solver["method"] == method]
        keys = dict.fromkeys(key for solver in own for key in solver if key not in ("method", "end_time"))
        found = {key: sorted({setting_text(solver.get(key, "default")) for solver in own}, key=numbers_first) for key in keys}
        texts += [f"{method}: " + ", ".join(f"{key} = {' or '.join(values)}" for key, values in found.items())] * bool(own)
    return "; ".join(texts)


def box(size, position=None):
    shape = {"type": "box", "size": [float(s) for s in size]}
    if position is not None:
        shape["position"] = [float(p) for p in position]
    return shape


def elastic(model, youngs_modulus, poisson_ratio, **more):
    return {"model": model, "youngs_modulus": float(youngs_modulus), "poisson_ratio": float(poisson_ratio), **more}
