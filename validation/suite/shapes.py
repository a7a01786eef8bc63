"""Measures of a deposit."""

import numpy as np


def quantiles(values, count=50):
    return np.quantile(values, (np.arange(count) + 0.5) / count)


def transport_distance(a, b):
    """Mean distance by which the particles of one set of numbers must move to become the other (Wasserstein distance)."""
    return float(np.abs(quantiles(a) - quantiles(b)).mean())


def shape_distance(a, b):
    """Of two deposits on the ground: the larger of the transport distances of their radii and of their heights [m]."""
    def radius(p):
        return np.hypot(p[:, 0] - p[:, 0].mean(), p[:, 1] - p[:, 1].mean())

    return max(transport_distance(radius(a), radius(b)), transport_distance(a[:, 2], b[:, 2]))


def front(distance, volume, spacing, ring_area):
    """Edge of a deposit. Its thickness is averaged over rings of one spacing; the line through the outer half of the rings that hold
    half a layer of particles or more is followed down to the ground, because a toe thinner than a particle cannot show, but not
    farther than three spacings. (A line through four rings scatters by 15 % of the run-out with rounding and the step.) Stray grains
    beyond are no deposit. `ring_area(a, b)` is the ground between two distances."""
    edges = np.arange(0, distance.max() + 2 * spacing, spacing)
    counts, _ = np.histogram(distance, edges)
    thickness = np.array([n * volume / ring_area(a, b) for n, a, b in zip(counts, edges[:-1], edges[1:])])
    bare = np.nonzero(thickness < spacing / 2)[0]
    last = int(bare[0]) if len(bare) else len(thickness)
    if last < 4:
        return float(edges[last])
    first = last - max(4, last // 2)
    middles = (edges[first:last] + edges[first + 1:last + 1]) / 2
    slope, level = np.polyfit(middles, thickness[first:last], 1)
    reached = -level / slope if slope < 0 else edges[last]
    return float(np.clip(reached, edges[last], edges[last] + 3 * spacing))
