"""The probability of points and intervals of a normal distribution, by its distribution function."""

from __future__ import annotations

from itertools import product

import numpy as np
from numpy.typing import NDArray
from scipy.stats import multivariate_normal

Numbers = NDArray[np.float64]


def log_probability(mean: Numbers, covariance: Numbers, points: dict[int, float], boxes: dict[int, Numbers]) -> float:
    """Log of the density of some columns at points times the probability that others lie between two ends each."""
    at, inside = list(points), list(boxes)
    values = np.array([points[node] for node in at])
    log, centre, spread = 0.0, mean[inside], covariance[np.ix_(inside, inside)]
    if at:
        own = covariance[np.ix_(at, at)]
        log = float(multivariate_normal(mean[at], own).logpdf(values))
        slopes = np.linalg.solve(own, covariance[np.ix_(at, inside)]).T
        centre = centre + slopes @ (values - mean[at])
        spread = spread - slopes @ covariance[np.ix_(at, inside)]
    total = 0.0
    # Corners of the box, those below counted with the other sign.
    for corner in product((0, 1), repeat=len(inside)):
        upper = np.clip([boxes[node][side] for node, side in zip(inside, corner, strict=True)], -30.0, 30.0)
        total += (-1.0) ** (len(inside) - sum(corner)) * float(multivariate_normal(centre, spread).cdf(upper))
    return log + float(np.log(total))
