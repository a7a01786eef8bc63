"""Computes the references that take long and stores them in validation/data, each with the command that made it.

    .venv/bin/python validation/make_references.py build/host/ductile_fem [settled|released]
"""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
from scipy.optimize import brentq

DATA = Path(__file__).resolve().parent / "data"
CRITICAL = "0.57735026918962576"  # elastic.inversion_below of a scene


def fem(program, *arguments):
    done = subprocess.run([program, *arguments], capture_output=True, text=True, check=True)
    answer = json.loads(done.stdout)
    answer["command"] = "ductile_fem " + " ".join(arguments)
    return answer


def limit(values, sizes=(1 / 2, 1 / 4, 1 / 6)):
    """Limit and order of a quantity on three meshes, error = c h^order; the clamp's edges keep the order below that of the
    elements."""
    a, b, c = values
    h1, h2, h3 = sizes
    order = brentq(lambda p: (b - a) * (h2**p - h3**p) - (c - b) * (h1**p - h2**p), 0.3, 6)
    return c + (c - b) * h3**order / (h2**order - h3**order), order


def settled(program):
    """Three meshes for each modulus, and their limit, which is uncertain by as much as it lies beyond the finest of them. That of the softest
    beam, whose law softens at the clamp, is that of uniform meshes alone (study `reference`)."""
    tip, uncertain, orders, meshes = {}, {}, {}, []
    for modulus, load_steps in (("1e6", "1"), ("1e5", "3"), ("1e4", "10")):
        found = []
        for elements in ("10,2,2", "20,4,4", "30,6,6"):
            answer = fem(program, "beam", "--youngs-modulus", modulus, "--elements", elements, "--load-steps", load_steps,
                         "--inversion-below", CRITICAL)
            meshes.append(answer)
            found.append(answer["tip"])
            print(modulus, elements, answer["tip"], f"{answer['seconds']:.0f} s", flush=True)
        (x, _), (z, orders[modulus]) = limit([f[0] for f in found]), limit([f[2] for f in found])
        tip[modulus] = [x, 0.0, z]
        uncertain[modulus] = float(np.hypot(x - found[-1][0], z - found[-1][2]) / np.hypot(x, z))
        print(modulus, "limit", tip[modulus], "uncertain by", uncertain[modulus], "order", orders[modulus], flush=True)
        store("cantilever_settled", {"tip": tip, "uncertain": uncertain, "order": orders, "meshes": meshes})


def released(program):
    """The trapezoidal rule has no damping: two steps, from which the limit of small ones follows, and a finer mesh at a larger step, whose
    distance from the coarser one is what the mesh makes."""
    runs = []
    for elements, step in (("10,2,2", "0.0025"), ("10,2,2", "0.005"), ("10,2,2", "0.01"), ("20,4,4", "0.01")):
        runs.append(fem(program, "release", "--youngs-modulus", "1e5", "--elements", elements, "--time-step", step, "--end-time",
                        "1.6", "--inversion-below", CRITICAL))
        print(elements, step, f"{runs[-1]['seconds']:.0f} s", flush=True)
    store("cantilever_released", {"runs": runs})


def store(name, content):
    DATA.mkdir(exist_ok=True)
    (DATA / f"{name}.json").write_text(json.dumps(content) + "\n", encoding="utf-8")


if __name__ == "__main__":
    for name in sys.argv[2:] or ["settled", "released"]:
        {"settled": settled, "released": released}[name](sys.argv[1])
