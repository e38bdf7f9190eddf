"""Effects of setting a latent number, by drawing whole covariance matrices."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.stats import invwishart

Numbers = NDArray[np.float64]


def outcomes_under_do(
    data: Numbers,
    adjusted: list[int],
    treatment: int,
    outcome: int,
    value: float,
    draws: int,
    generator: np.random.Generator,
) -> tuple[Numbers, Numbers]:
    """Mean and deviation of the outcome under do(treatment = value), for draws of all parameters.

    Mean 0, deviation 1 and weight 1 before the data, as the latent Gaussian score has them.
    """
    rows, nodes = data.shape
    degrees, scale = nodes + 2.0, 0.5
    centred = data - data.mean(axis=0)
    matrix = scale * np.eye(nodes) + centred.T @ centred
    matrix += rows / (rows + 1.0) * np.outer(data.mean(axis=0), data.mean(axis=0))
    centre = data.sum(axis=0) / (rows + 1.0)
    members = [*adjusted, treatment, outcome]
    part = np.ix_(members, members)
    freedom = degrees + rows - nodes + len(members)
    means, deviations = [], []
    for covariance in (
        invwishart(freedom, matrix[part]).rvs(draws, random_state=generator).reshape(draws, *matrix[part].shape)
    ):
        mean = generator.multivariate_normal(centre[members], covariance / (rows + 1.0))
        coefficients = np.linalg.solve(covariance[:-1, :-1], covariance[:-1, -1])
        left = covariance[-1, -1] - coefficients @ covariance[:-1, -1]
        spread = coefficients[:-1] @ covariance[:-2, :-2] @ coefficients[:-1]
        means.append(mean[-1] + coefficients[-1] * (value - mean[-2]))
        deviations.append(np.sqrt(left + spread))
    return np.array(means), np.array(deviations)
