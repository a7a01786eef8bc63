"""Brings the suite's modules into reach of the scripts of this folder."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from suite.scripts import *  # noqa: E402, F401, F403
