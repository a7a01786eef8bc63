"""Figure 14: residual against iterations, Gauss-Seidel and Jacobi, for beams of three stiffnesses at a step of 5 ms."""

import numpy as np

from common import context, table
from studies.residual import scene_of

MODULI = [1e4, 1e5, 1e6]
COUNTS = [5, 10, 20, 50, 100]
SCHEMES = {"Gauss-Seidel": {}, "Jacobi 0.5": {"scheme": "jacobi", "relaxation": 0.5}}
PAPER = {"Gauss-Seidel": ["converges"] * 3, "Jacobi 0.5": ["converges", "not said", "struggles"]}


def verdict(residuals):
    if not np.isfinite(residuals[-1]):
        return "diverges"
    return f"{residuals[-1] / residuals[0]:.0e}" if np.isfinite(residuals[0]) else "recovers"


def main():
    scenes = {(reference, scheme, E, count): scene_of(E, "xpbi", {"reference": reference, **options}, count, False)
              for reference in ("current", "memory") for scheme, options in SCHEMES.items() for E in MODULI
              for count in reversed(COUNTS)}
    runs = context("figure14").simulate_all({"_".join(map(str, key)).replace(" ", ""): scene for key, scene in scenes.items()})
    rows = []
    for reference in ("current", "memory"):
        for scheme in SCHEMES:
            for k, E in enumerate(MODULI):
                own = [runs["_".join(map(str, (reference, scheme, E, count))).replace(" ", "")] for count in COUNTS]
                residuals = [one.history["residual"][-1] if one.ok else np.nan for one in own]
                rows.append([reference, scheme, f"{E:.0e}", *(f"{r:.1e}" if np.isfinite(r) else "fails" for r in residuals),
                             verdict(residuals), PAPER[scheme][k]])
    table(["reference", "scheme", "E (Pa)", *(f"{c} iterations" for c in COUNTS), f"{COUNTS[-1]} over {COUNTS[0]}", "paper"], rows)
    print("\nRoot mean square of C + lambda/(V dt^2) over sqrt(E), a strain, after the tenth step of 5 ms of a released beam of 1 x 0.2 x 0.2 m,"
          "\n100 kg/m^3, Hencky, spacing 0.05 m, double precision. Paper: curves without numbers; its residual is relative to the first one."
          "\nMore on this, with curves and the other multipliers: `tools/ductile validate residual`.")


main()
