"""Direct effects and correlations by drawing parameters one family at a time."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]


def drawn_family(
    data: Numbers, node: int, parents: list[int], mean: Numbers, scale: float, generator: np.random.Generator
) -> tuple[float, Numbers, float]:
    """Intercept, coefficients and deviation of one family; prior of weight 1 and `nodes + 2` degrees of freedom."""
    rows, nodes = data.shape
    centred = data - data.mean(axis=0)
    distance = mean - data.mean(axis=0)
    matrix = scale * np.eye(nodes) + centred.T @ centred + rows / (rows + 1.0) * np.outer(distance, distance)
    centre = (mean + data.sum(axis=0)) / (rows + 1.0)
    among = matrix[np.ix_(parents, parents)]
    fitted = np.linalg.solve(among, matrix[parents, node]) if parents else np.zeros(0)
    left = matrix[node, node] - matrix[parents, node] @ fitted
    variance = left / generator.chisquare(nodes + 2.0 + rows - nodes + len(parents) + 1.0)
    coefficients = generator.multivariate_normal(fitted, variance * np.linalg.inv(among)) if parents else fitted
    own_mean = centre[node] + np.sqrt(variance / (rows + 1.0)) * generator.normal()
    return float(own_mean - coefficients @ centre[parents]), coefficients, float(np.sqrt(variance))


def implied_covariance(coefficients: Numbers, deviations: Numbers, order: list[int]) -> Numbers:
    """The covariance of a network, column after column in an order of its nodes: coefficients are (child, parent)."""
    nodes = len(deviations)
    covariance = np.zeros((nodes, nodes))
    done: list[int] = []
    for node in order:
        with_others = covariance[:, done] @ coefficients[node, done]
        covariance[node, :], covariance[:, node] = with_others, with_others
        own = coefficients[node, done] @ covariance[np.ix_(done, done)] @ coefficients[node, done]
        covariance[node, node] = own + deviations[node] ** 2
        done.append(node)
    return covariance
