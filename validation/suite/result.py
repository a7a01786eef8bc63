"""What a study returns."""

import math
import re
from dataclasses import dataclass, field


@dataclass
class Check:
    """One bound: `value` must be at most (or at least) `limit`. `origin` says where the limit comes from."""

    what: str
    value: float
    limit: float
    origin: str
    least: bool = False  # the limit is a lower one
    unit: str = ""

    @property
    def met(self):
        return self.value >= self.limit if self.least else self.value <= self.limit  # False for nan

    @property
    def missed_by(self):
        return abs(self.value - self.limit)


@dataclass
class Table:
    title: str
    columns: list
    rows: list
    note: str = ""


@dataclass
class Figure:
    """A matplotlib figure that has been saved."""

    name: str
    caption: str
    svg: str


@dataclass
class Result:
    checks: list = field(default_factory=list)
    tables: list = field(default_factory=list)
    figures: list = field(default_factory=list)
    remarks: list = field(default_factory=list)  # paragraphs: what was seen, without varnish
    runs: int = 0
    settings: str = ""  # of the solvers, all that its runs had

    @property
    def met(self):
        return bool(self.checks) and all(check.met for check in self.checks)

    def check(self, what, value, limit, origin, least=False, unit=""):
        self.checks.append(Check(what, float(value), float(limit), origin, least, unit))

    def table(self, title, columns, rows, note=""):
        self.tables.append(Table(title, list(columns), [[value_of(cell) for cell in row] for row in rows], note))

    def remark(self, text):
        self.remarks.append(text)


def value_of(cell):
    """A cell that says a finite number is one, for those who read results.json; the others are text."""
    if cell is None:
        return ""
    text = str(cell)
    if re.fullmatch(r"-?\d{1,3}( \d{3})+|-?\d+", text):
        return int(text.replace(" ", ""))
    try:
        return float(text) if math.isfinite(float(text)) else text
    except ValueError:
        return text


def number(value, digits=4):
    """A number as a table shows it."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}".replace(",", " ") if abs(value) >= 10000 else str(value)
    return f"{value:.{digits}g}"
