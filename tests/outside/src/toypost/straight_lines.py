"""A number given its parents: a line with normal noise, and coefficients around those of least squares."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.special import ndtr, ndtri

from dagpost.local.base import Fitter, NumberModel

ASSUMPTION = "Every column is a linear function of its causes with normal noise."


def fitter(table: Any, prior: Any) -> Fitter:
    """Lines of a complete table of numbers."""
    data = table.values()
    return lambda child, parents: Line(data[:, child], data[:, list(parents)])


class Line(NumberModel):
    """Intercept, slopes and the deviation around them."""

    def __init__(self, child: Any, parents: Any) -> None:
        design = np.column_stack([np.ones(len(child)), parents])
        self._middle = np.linalg.lstsq(design, child, rcond=None)[0]
        left = child - design @ self._middle
        self._deviation = math.sqrt(float(left @ left) / (len(child) - design.shape[1]))
        self._root = self._deviation * np.linalg.cholesky(np.linalg.inv(design.T @ design))

    @property
    def likeliest(self) -> Any:
        return np.append(self._middle, self._deviation)

    def drawn(self, generator: np.random.Generator, count: int) -> Any:
        coefficients = self._middle + generator.standard_normal((count, len(self._middle))) @ self._root.T
        return np.column_stack([coefficients, np.full(count, self._deviation)])

    def expected(self, values: Any, theta: Any) -> Any:
        return theta[:, :1] + np.einsum("dp,pdr->dr", *self._alike(theta[:, 1:-1], values))

    def _alike(self, slopes: Any, values: Any) -> tuple[Any, Any]:
        draws = max(len(slopes), values.shape[1])
        shape = (len(values), draws, values.shape[2])
        return np.broadcast_to(slopes, (draws, slopes.shape[1])), np.broadcast_to(values, shape)

    def log_density(self, values: Any, theta: Any, numbers: Any) -> Any:
        away = (numbers - self.expected(values, theta)) / theta[:, -1:]
        return -0.5 * away**2 - np.log(theta[:, -1:] * math.sqrt(2.0 * math.pi))

    def below(self, values: Any, theta: Any, numbers: Any) -> Any:
        return ndtr((numbers - self.expected(values, theta)) / theta[:, -1:])

    def with_share(self, values: Any, theta: Any, shares: Any) -> Any:
        return self.expected(values, theta) + theta[:, -1:] * ndtri(shares)

    def log_predictive(self, values: Any, numbers: Any) -> Any:
        return self.log_density(values[:, np.newaxis], self.likeliest[np.newaxis], numbers[np.newaxis])[0]
