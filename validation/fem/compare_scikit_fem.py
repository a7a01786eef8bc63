"""Solves the Neo-Hookean cantilever with scikit-fem and compares the end's displacement with ductile_fem.

    .venv/bin/python validation/fem/compare_scikit_fem.py build/host/ductile_fem

Both use 27-node hexahedra and 3 x 3 x 3 Gauss points, so that they solve the same discrete equations; nothing else is shared.
Prints both as JSON with their relative difference; exit code 1 if it exceeds 1e-6, the tolerance of the two Newton solves.
"""

import json
import subprocess
import sys

import numpy as np
from skfem import Basis, BilinearForm, ElementHex2, ElementVector, FacetBasis, Functional, LinearForm, MeshHex, condense, solve

E, NU, DENSITY, GRAVITY = 1e5, 0.3, 100.0, 9.81
MU, LAM = E / (2 * (1 + NU)), E * NU / ((1 + NU) * (1 - 2 * NU))
ELEMENTS = (3, 1, 1)


def kinematics(field):
    """F^-T and ln J at the Gauss points, once for a whole assembly."""
    F = np.moveaxis(np.asarray(field.grad) + np.eye(3)[:, :, None, None], (0, 1), (2, 3))
    return {"F": np.moveaxis(F, (2, 3), (0, 1)), "G": np.moveaxis(np.swapaxes(np.linalg.inv(F), 2, 3), (2, 3), (0, 1)),
            "log_volume": np.log(np.linalg.det(F))}


@BilinearForm
def tangent(u, v, w):
    dF, G = u.grad, w["G"]
    turned = np.einsum("ijab,kjab,klab->ilab", G, dF, G)  # F^-T dF^T F^-T
    dP = MU * dF + (MU - LAM * w["log_volume"]) * turned + LAM * np.einsum("ijab,ijab->ab", G, dF) * G
    return np.einsum("ijab,ijab->ab", dP, v.grad)


@LinearForm
def internal(v, w):
    P = MU * (w["F"] - w["G"]) + LAM * w["log_volume"] * w["G"]
    return np.einsum("ijab,ijab->ab", P, v.grad)


@LinearForm
def weight(v, w):
    return -DENSITY * GRAVITY * v[2]


def by_scikit_fem():
    mesh = MeshHex.init_tensor(*(np.linspace(0, length, n + 1) for length, n in zip((1.0, 0.2, 0.2), ELEMENTS)))
    basis = Basis(mesh, ElementVector(ElementHex2()), intorder=5)
    clamped = basis.get_dofs(lambda x: x[0] < 1e-9)
    load, u = weight.assemble(basis), np.zeros(basis.N)
    for part in (0.5, 1.0):
        for _ in range(30):
            state = kinematics(basis.interpolate(u))
            residual = part * load - internal.assemble(basis, **state)
            residual[clamped.all()] = 0
            if np.linalg.norm(residual) < 1e-10 * np.linalg.norm(load):
                break
            u = u + solve(*condense(tangent.assemble(basis, **state), residual, D=clamped))
    end = FacetBasis(mesh, basis.elem, facets=mesh.facets_satisfying(lambda x: x[0] > 1 - 1e-9), intorder=5)
    area = Functional(lambda w: 1.0 + 0 * w.x[0]).assemble(end)
    return [float(Functional(lambda w, k=k: w["u"][k]).assemble(end, u=end.interpolate(u)) / area) for k in range(3)]


def by_ductile(program):
    command = [program, "beam", "--whole", "--law", "neo-hookean", "--elements", ",".join(map(str, ELEMENTS))]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)["tip"]


def main():
    ours, theirs = np.array(by_ductile(sys.argv[1])), np.array(by_scikit_fem())
    difference = float(np.linalg.norm(ours - theirs) / np.linalg.norm(theirs))
    print(json.dumps({"ductile_fem": list(ours), "scikit_fem": list(theirs), "relative_difference": difference}))
    return 0 if difference < 1e-6 else 1


if __name__ == "__main__":
    sys.exit(main())
