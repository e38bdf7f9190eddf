"""Where the nodes of a graph stand if distances in the picture are to be like those along its lines.

Stress majorisation (Gansner, Koren & North 2004) with weights 1 / distance², from classical scaling: a few rounds of
products of small matrices. The picture is then turned so that heads point down. It is where `rows` begins, which has an
eye for boxes, crossings and directions; parts without a line between them come out side by side. Cost: cubic in the
number of nodes, some milliseconds for 64 of them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dagpost._tools.arrays import Floats

Edge = tuple[int, int]

_ROUNDS = 60
#: How far apart two nodes stand that no way of lines joins, beyond the longest way that there is.
_APART = 1.5


def stress_layout(count: int, edges: Sequence[Edge], weights: Sequence[float], headed: Sequence[bool]) -> Floats:
    """Points (x, y), y growing downwards, in steps of a line; lines of larger weight are shorter.

    >>> points = stress_layout(3, [(0, 1), (1, 2)], [1.0, 1.0], [True, True])
    >>> bool(points[0, 1] < points[1, 1] < points[2, 1])
    True
    """
    if count == 1:
        return np.zeros((1, 2))
    distances = _distances(count, edges, weights)
    points = _scaled(distances)
    with np.errstate(divide="ignore"):
        pull = np.where(np.eye(count, dtype=bool), 0.0, distances**-2.0)
    laplacian = np.diag(pull.sum(axis=1)) - pull
    # The pseudo-inverse: the Laplacian of a graph that hangs together lacks the constant vector only.
    inverse = np.linalg.inv(laplacian + 1.0 / count) - 1.0 / count
    for _ in range(_ROUNDS):
        apart = np.hypot(*(points[:, None, :] - points[None, :, :]).transpose(2, 0, 1))
        ratio = np.where(apart > 1e-9, pull * distances / np.maximum(apart, 1e-9), 0.0)
        points = inverse @ (np.diag(ratio.sum(axis=1)) - ratio) @ points
    return _heads_down(points - points.mean(axis=0), edges, weights, headed)


def _distances(count: int, edges: Sequence[Edge], weights: Sequence[float]) -> Floats:
    from scipy.sparse.csgraph import shortest_path

    found = np.full((count, count), np.inf)
    for (one, two), weight in zip(edges, weights, strict=True):
        # A line that is hardly there does not pull its ends together.
        length = min(1.0 / max(weight, 0.2), found[one, two])
        found[one, two] = found[two, one] = length
    found = shortest_path(found, directed=False)
    known = np.isfinite(found)
    return np.where(known, found, found[known].max() + _APART)


def _scaled(distances: Floats) -> Floats:
    """Classical scaling: the plane in which squared distances are least changed."""
    count = len(distances)
    centring = np.eye(count) - 1.0 / count
    values, vectors = np.linalg.eigh(-0.5 * centring @ distances**2 @ centring)
    points: Floats = vectors[:, -2:] * np.sqrt(np.maximum(values[-2:], 1e-6))
    if points.shape[1] < 2:
        points = np.column_stack([points, np.zeros(count)])
    # The sign of an eigenvector is anybody's choice: the largest entry is positive here.
    largest = points[np.abs(points).argmax(axis=0), [0, 1]]
    # Points that fall together would never part.
    spiral = np.arange(count)
    shifted: Floats = points * np.where(largest < 0.0, -1.0, 1.0)
    return shifted + 1e-3 * np.column_stack([np.cos(2.4 * spiral), np.sin(2.4 * spiral)])


def _heads_down(points: Floats, edges: Sequence[Edge], weights: Sequence[float], headed: Sequence[bool]) -> Floats:
    """The points turned so that lines with a head lead downwards, all in all."""
    way = np.zeros(2)
    for (source, target), weight, own in zip(edges, weights, headed, strict=True):
        if own:
            step = points[target] - points[source]
            way += weight * step / max(float(np.hypot(*step)), 1e-9)
    size = float(np.hypot(*way))
    if size < 0.5:
        return points
    # Downwards is (0, 1): `way` is turned into it.
    cosine, sine = way[1] / size, way[0] / size
    turned: Floats = points @ np.array([[cosine, sine], [-sine, cosine]])
    return turned
