"""Plots that look alike."""

import io

import matplotlib
import matplotlib.ticker

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
import numpy as np  # noqa: E402

from suite.result import Figure  # noqa: E402

COLORS = ["#0b5fa5", "#d1495b", "#2e8b57", "#e08e0b", "#6a4c93", "#4a4a4a", "#1b998b", "#a0522d", "#8a8a00"]
MARKERS = "osD^vPX*h"

plt.rcParams.update({
    "figure.figsize": (6.4, 4.2),
    "figure.constrained_layout.use": True,
    "font.size": 10.5,
    "axes.grid": True,
    "grid.color": "#dddddd",
    "axes.axisbelow": True,
    "axes.prop_cycle": matplotlib.cycler(color=COLORS),
    "axes.spines.top": False,
    "axes.spines.right": False,
    "lines.linewidth": 1.6,
    "lines.markersize": 5,
    "legend.frameon": False,
    "legend.fontsize": 9,
    "svg.fonttype": "path",
    "svg.hashsalt": "ductile",
})


def panels(count=1, width=6.4, height=4.2, **options):
    """A figure with axes side by side; narrow screens scale it down."""
    figure, axes = plt.subplots(1, count, figsize=(width if count == 1 else 5.2 * count, height), **options)
    return figure, axes


def finish(result, figure, name, caption):
    """Keeps the figure as SVG in the result."""
    for axis in figure.axes:  # labels between powers of ten only where an axis spans less than one
        for one in (axis.xaxis, axis.yaxis):
            low, high = sorted(one.get_view_interval())
            if one.get_scale() == "log" and high > 10 * low:
                one.set_minor_formatter(matplotlib.ticker.NullFormatter())
    text = io.StringIO()
    figure.savefig(text, format="svg", metadata={"Date": None})
    plt.close(figure)
    svg = text.getvalue()
    result.figures.append(Figure(name, caption, svg[svg.index("<svg"):]))


def fitted_order(sizes, errors):
    """Slope of the least-squares line through (log size, log error)."""
    return float(np.polyfit(np.log(sizes), np.log(np.abs(errors)), 1)[0])


def slope_line(axis, sizes, errors, order, label=None):
    """The fitted power law, drawn thinly."""
    sizes = np.asarray(sizes, dtype=float)
    constant = np.exp(np.mean(np.log(np.abs(errors)) - order * np.log(sizes)))
    ends = np.array([sizes.min(), sizes.max()])
    axis.loglog(ends, constant * ends**order, color="#888888", linewidth=1, linestyle="--", label=label)
