"""Closed forms of the material laws, written from their formulae alone (docs/materials.md): nothing here is shared with the
program."""

import numpy as np
from scipy.optimize import brentq


def lame(E, nu):
    return E / (2 * (1 + nu)), E * nu / ((1 + nu) * (1 - 2 * nu))


def principal_stress(model, s, E, nu):
    """dPsi/ds_i of principal stretches s (nominal principal stresses)."""
    s = np.asarray(s, dtype=float)
    mu, lam = lame(E, nu)
    J = np.prod(s)
    if model in ("linear", "corotated"):
        return 2 * mu * (s - 1) + lam * np.sum(s - 1)
    if model == "fixed-corotated":
        return 2 * mu * (s - 1) + lam * (J - 1) * J / s
    if model == "stvk":
        e = (s**2 - 1) / 2
        return s * (2 * mu * e + lam * np.sum(e))
    if model == "neo-hookean":
        return mu * (s - 1 / s) + lam * np.log(J) / s
    if model == "hencky":
        return (2 * mu * np.log(s) + lam * np.log(J)) / s
    raise ValueError(model)


def lateral_stretch(model, s, E, nu, fiber=0.0):
    """Of a bar stretched by s with free sides (a fibre along the bar does not change it)."""
    return brentq(lambda t: principal_stress(model, [s, t, t], E, nu)[1], 0.3, 2.5, xtol=1e-15, rtol=1e-15)


def uniaxial(model, s, E, nu, fiber=0.0):
    """Nominal stress P11 of a bar with free sides; `fiber` is the stiffness of fibres along it."""
    t = lateral_stretch(model, s, E, nu)
    return principal_stress(model, [s, t, t], E, nu)[0] + fiber * (s - 1 / s)


def stress(model, F, E, nu):
    """First Piola stress of any F of positive determinant."""
    mu, lam = lame(E, nu)
    if model == "linear":
        e = (F + F.T) / 2 - np.eye(3)
        return 2 * mu * e + lam * np.trace(e) * np.eye(3)
    U, s, Vt = np.linalg.svd(F)
    return U @ np.diag(principal_stress(model, s, E, nu)) @ Vt
