"""From when on does a sampler stay close to the truth? The running estimate of the edges, graph by graph.

The estimate at a time is the weighted share of every edge among the graphs found until then; graphs found at the same
time come in together. Time: n^2 steps a graph, 0.5 s for 100,000 graphs of 20 columns; memory for some thousand graphs.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.arrays import Floats
from dagpost.families.masks import UnsignedMasks, matrices_of_masks
from dagpost.reference.distances import TimeToAccuracy

#: Errors below which people want to be: of the worst edge, and summed over all.
MAXIMA, SUMS = (0.1, 0.05, 0.02, 0.01), (2.0, 1.0, 0.5, 0.2)
_POINTS = 50
#: So many numbers are worked on together: 16 MB.
_TOGETHER = 1 << 21


def time_to_accuracy(exact: Floats, parents: UnsignedMasks, weights: Floats, seconds: Floats) -> TimeToAccuracy:
    """The times from which on the running estimate of the edges stays within some distances of the truth."""
    import pandas as pd

    order = np.argsort(seconds, kind="stable")
    times = seconds[order]
    sad, maximum = running_errors(exact, parents[order], weights[order])
    # Of graphs found at the same time the last one has them all; before any weight there is no estimate.
    last = np.append(times[1:] > times[:-1], True) & np.isfinite(sad)
    times, sad, maximum = times[last], sad[last], maximum[last]
    shown = _points(times)
    curve = pd.DataFrame({"seconds": times[shown], "sad": sad[shown], "maximum": maximum[shown]})
    return TimeToAccuracy(
        {threshold: stays_below(times, maximum, threshold) for threshold in MAXIMA},
        {threshold: stays_below(times, sad, threshold) for threshold in SUMS},
        curve,
    )


def running_errors(exact: Floats, parents: UnsignedMasks, weights: Floats) -> tuple[Floats, Floats]:
    """The SAD and the largest error of the edge estimate after each graph; infinite before the first weight above 0."""
    nodes = parents.shape[1]
    sad, maximum = np.full(len(parents), np.inf), np.full(len(parents), np.inf)
    total, weight = np.zeros((nodes, nodes)), 0.0
    step = max(1, _TOGETHER // nodes**2)
    for start in range(0, len(parents), step):
        part = slice(start, min(start + step, len(parents)))
        sums = matrices_of_masks(parents[part]) * weights[part, np.newaxis, np.newaxis]
        np.cumsum(sums, axis=0, out=sums)
        sums += total
        so_far = weight + np.cumsum(weights[part])
        total, weight = sums[-1].copy(), float(so_far[-1])
        some = so_far > 0.0
        off = sums[some]
        off /= so_far[some, np.newaxis, np.newaxis]
        off -= exact
        np.abs(off, out=off)
        sad[part][some] = off.sum(axis=(1, 2))
        maximum[part][some] = off.max(axis=(1, 2))
    return sad, maximum


def stays_below(times: Floats, errors: Floats, threshold: float) -> float | None:
    """The first time from which on all errors are below a threshold.

    >>> stays_below(np.array([1.0, 2.0, 3.0]), np.array([0.5, 0.7, 0.1]), 0.6)
    3.0
    """
    above = np.flatnonzero(~(errors < threshold))
    first = int(above[-1]) + 1 if len(above) else 0
    return float(times[first]) if first < len(times) else None


def _points(times: Floats) -> NDArray[np.int64]:
    """Which of the times are shown: some that are spread evenly on a logarithmic scale, and the first and last."""
    positive = times[times > 0.0]
    if not len(positive):
        return np.arange(len(times))[-1:]
    wanted = np.geomspace(positive[0], positive[-1], _POINTS)
    # The state at a time is that of the last graph found until then.
    found = np.searchsorted(times, wanted * (1.0 + 1e-12), side="right") - 1
    return np.unique(np.concatenate([[0], found, [len(times) - 1]]))
