"""What the scripts of papers' figures and tables share: running ductile, reading its results, printing tables."""

import json
import os
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

from suite.context import Context

ROOT = Path(__file__).resolve().parents[2]
DUCTILE = os.environ.get("DUCTILE", str(ROOT / "build/host/ductile"))
RESULTS = ROOT / "results" / Path(sys.argv[0]).resolve().parent.name  # one folder for each paper


def context(name):
    """Runs scenes many at once, as the studies do, into an emptied results/PAPER/NAME."""
    folder = RESULTS / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return Context(DUCTILE, Path(DUCTILE).parent / "ductile_fem", folder, quick=False)


def ductile(*arguments):
    """Runs a command; returns exit code, output and errors."""
    done = subprocess.run([DUCTILE, *map(str, arguments)], capture_output=True, text=True)
    if done.returncode not in (0, 1):
        sys.exit(f"ductile {' '.join(map(str, arguments))}\n{done.stderr}")
    return done.returncode, done.stdout, done.stderr


def run(scene, name, *overrides):
    """Simulates a scene file into results/PAPER/NAME; returns the exit code and run.json."""
    folder = RESULTS / name
    folder.parent.mkdir(parents=True, exist_ok=True)
    sets = [word for override in overrides for word in ("--set", override)]
    code, _, _ = ductile("run", scene, "-o", folder, "--force", "--quiet", *sets)
    return code, json.loads((folder / "run.json").read_text())


def write_scene(name, text):
    """A scene of a script's own."""
    RESULTS.mkdir(parents=True, exist_ok=True)
    file = RESULTS / f"{name}.toml"
    file.write_text(text)
    return file


def frames(folder):
    """Time and file of every frame."""
    listing = ElementTree.parse(Path(folder) / "particles.pvd").iter("DataSet")
    return [(float(d.get("timestep")), Path(folder) / d.get("file")) for d in listing]


def table(head, rows):
    """Markdown, columns aligned."""
    cells = [[str(cell) for cell in row] for row in [head, *rows]]
    widths = [max(len(row[k]) for row in cells) for k in range(len(head))]
    lines = ["| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths)) + " |" for row in cells]
    lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    print("\n".join(lines), flush=True)
