"""Writes rabbit.obj and cow.obj: closed procedural stand-ins, smooth unions of capsules. Run: .venv/bin/python scenes/meshes/make.py"""

from pathlib import Path

import numpy as np
import pyvista

# Capsules: ends and radii, metres; mirrored ones have y > 0.
RABBIT = [
    ((0.00, 0, 0.30), (-0.10, 0, 0.32), 0.26, 0.28),  # trunk
    ((0.26, 0, 0.62), (0.30, 0, 0.64), 0.16, 0.13),  # head
    ((0.10, 0, 0.42), (0.22, 0, 0.56), 0.18, 0.14),  # neck
    ((0.24, 0.08, 0.74), (0.06, 0.14, 1.12), 0.06, 0.055),  # ear
    ((-0.12, 0.20, 0.18), (0.10, 0.22, 0.08), 0.15, 0.08),  # hind leg
    ((0.18, 0.10, 0.25), (0.22, 0.11, 0.07), 0.08, 0.07),  # fore leg
    ((-0.40, 0, 0.30), (-0.42, 0, 0.32), 0.09, 0.09),  # tail
]
COW = [
    ((-0.55, 0, 0.95), (0.45, 0, 1.00), 0.32, 0.30),  # trunk
    ((0.60, 0, 1.10), (0.85, 0, 1.30), 0.19, 0.15),  # neck
    ((0.92, 0, 1.34), (1.18, 0, 1.20), 0.16, 0.11),  # head
    ((0.90, 0.14, 1.46), (0.86, 0.28, 1.50), 0.05, 0.05),  # ear
    ((0.96, 0.08, 1.48), (1.00, 0.16, 1.66), 0.045, 0.04),  # horn
    ((-0.62, 0.17, 0.80), (-0.66, 0.18, 0.09), 0.14, 0.085),  # hind leg
    ((0.45, 0.16, 0.80), (0.47, 0.17, 0.09), 0.12, 0.08),  # fore leg
    ((-0.84, 0, 1.15), (-0.98, 0, 0.65), 0.055, 0.055),  # tail
]


def distance(points, parts, blend):
    """Signed distance of a smooth union: exponential blend of the capsules' distances."""
    total = np.zeros(len(points))
    for start, end, first, last in parts:
        for mirror in (1, -1) if start[1] > 0 else (1,):
            a = np.array(start) * (1, mirror, 1)
            b = np.array(end) * (1, mirror, 1)
            t = np.clip((points - a) @ (b - a) / ((b - a) @ (b - a)), 0, 1)
            total += np.exp(-(np.linalg.norm(points - a - t[:, None] * (b - a), axis=1) - (first + t * (last - first))) / blend)
    return -blend * np.log(total + 1e-300)


def write(name, parts, low, high, width=0.025, triangles=3000):
    counts = np.ceil((np.array(high) - low) / width).astype(int) + 1
    grid = pyvista.ImageData(dimensions=counts, spacing=(width,) * 3, origin=low)
    grid["distance"] = distance(np.asarray(grid.points), parts, 0.02)
    surface = grid.contour([0.0], scalars="distance").triangulate().clean()
    surface = surface.decimate(1 - triangles / surface.n_cells, volume_preservation=True).clean()
    faces = surface.faces.reshape(-1, 4)[:, 1:] + 1
    lines = [f"v {x:.4f} {y:.4f} {z:.4f}" for x, y, z in surface.points] + ["f %d %d %d" % tuple(f) for f in faces]
    (Path(__file__).parent / f"{name}.obj").write_text("\n".join(lines) + "\n")


write("rabbit", RABBIT, (-0.6, -0.5, -0.1), (0.6, 0.5, 1.3))
write("cow", COW, (-1.2, -0.5, -0.1), (1.4, 0.5, 1.8))
