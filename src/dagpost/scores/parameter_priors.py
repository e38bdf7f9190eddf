"""Which prior of the parameters does a score stand for? Prediction, networks and causal effects go by nothing else.

Discrete columns have Dirichlet distributions (Heckerman, Geiger & Chickering 1995), continuous ones a normal
distribution of the mean and a Wishart distribution of the precision matrix (Geiger & Heckerman 2002).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dagpost._tools.arrays import Floats
from dagpost._tools.checks import number
from dagpost._tools.spelling import either, parameter
from dagpost._tools.text import shown
from dagpost.errors import InputError

#: Far outside what makes sense, and well inside what arithmetic can carry through every table.
_SMALLEST, _LARGEST = 1e-100, 1e100


def strength(value: object, name: str, owner: str) -> float:
    """How many imagined rows a prior is worth, as a float, or an error that names the parameter."""
    allowed = either(f"a float in [{_SMALLEST:g}, {_LARGEST:g}]", f"a number above 0 and below {_LARGEST:g}")
    return number(value, name, owner, least=_SMALLEST, most=_LARGEST, allowed=allowed)


@dataclass(frozen=True)
class DirichletPrior:
    """Every cell of a family has the same Dirichlet parameter.

    Parameters
    ----------
    pseudocount
        How often each cell is imagined to have been seen; if `shared`, how often all cells of a family together.

    >>> DirichletPrior(1.0, shared=True).of_cells(np.array([2.0, 8.0]))
    array([0.5  , 0.125])
    """

    pseudocount: float
    shared: bool = False

    def of_cells(self, cells: Floats) -> Floats:
        """The parameter of one cell, for families of these numbers of cells."""
        return self.pseudocount / cells if self.shared else np.full(len(cells), self.pseudocount)


@dataclass(frozen=True)
class NormalWishartPrior:
    """The mean of the rows is normal, their precision matrix has a Wishart distribution; `BGe` explains the parameters.

    >>> NormalWishartPrior().degrees(4)
    6.0
    """

    mean_weight: float = 1.0
    degrees_of_freedom: float | None = None
    prior_mean: float | tuple[float, ...] | None = None
    prior_scale: float | tuple[float, ...] | None = None

    def degrees(self, nodes: int) -> float:
        """Degrees of freedom for `nodes` columns."""
        if self.degrees_of_freedom is None:
            return nodes + self.mean_weight + 1
        if self.degrees_of_freedom <= nodes + 1:
            raise InputError(
                f"{parameter('degrees_of_freedom')} of the score must be above {nodes + 1} for {nodes} columns. "
                f"Got {shown(self.degrees_of_freedom)} instead; None stands for {nodes + self.mean_weight + 1:g}."
            )
        return self.degrees_of_freedom

    def scale(self, nodes: int) -> float:
        """The prior matrix of `nodes` standardised columns is the identity times this."""
        return self.mean_weight * (self.degrees(nodes) - nodes - 1) / (self.mean_weight + 1)

    def mean(self, names: tuple[str, ...], data: Floats, weights: Floats) -> Floats:
        """The prior mean of each column, for rows of data that count `weights` times."""
        if self.prior_mean is None:
            mean: Floats = np.average(data, axis=0, weights=weights)
            return mean
        return _for_each_column(self.prior_mean, "prior_mean", names)

    def deviations(self, names: tuple[str, ...], found: Floats) -> Floats:
        """The unit of each column, `s`; `found` are the standard deviations of the columns."""
        chosen = found if self.prior_scale is None else _for_each_column(self.prior_scale, "prior_scale", names)
        outside = np.flatnonzero(~((chosen >= _SMALLEST) & (chosen <= _LARGEST)))
        if len(outside):
            raise InputError(
                f"The standard deviation of the column {names[outside[0]]!r} is {chosen[outside[0]]:g}, and its square "
                "is out of the range of floats. Multiply the column by a constant."
            )
        return chosen

    def matrix(self, data: Floats, weights: Floats, prior_mean: Floats, deviations: Floats) -> Floats:
        """The matrix `R` of the posterior: prior, scatter around the column means, and their distance from the prior's.

        Values whose squares overflow are an error.
        """
        total = float(weights.sum())
        matrix = self.scale(data.shape[1]) * np.diag(deviations**2)
        if total > 0:
            # Overflow is looked for at the end, in the result.
            with np.errstate(over="ignore", invalid="ignore"):
                mean = np.average(data, axis=0, weights=weights)
                centred = data - mean
                distance = prior_mean - mean
                matrix += (centred * weights[:, np.newaxis]).T @ centred
                matrix += total * self.mean_weight / (total + self.mean_weight) * np.outer(distance, distance)
        refuse_overflow(matrix, data)
        return matrix


def refuse_overflow(matrix: Floats, data: Floats) -> None:
    """Refuse values whose squares overflow in the matrix that was made of them."""
    if not np.isfinite(matrix).all():
        largest = float(np.abs(data).max())
        raise InputError(
            f"The squares of the values overflow: the largest is {largest:g}. Standardise the columns "
            "first, for example with (data - data.mean()) / data.std()."
        )


def standard_deviations(data: Floats, weights: Floats) -> Floats:
    """The standard deviation of each column, for rows that count `weights` times; 1 for a column that does not vary.

    The unit of a column without any variation changes no probability, so it may be anything.

    >>> standard_deviations(np.array([[1.0, 4.0], [3.0, 4.0]]), np.array([2.0, 1.0]))
    array([1.15470054, 1.        ])
    """
    result = np.ones(data.shape[1])
    counted = data[weights > 0]
    if not len(counted):
        return result
    varying = counted.min(axis=0) < counted.max(axis=0)
    # Values whose squares overflow still have a standard deviation.
    with np.errstate(over="ignore", invalid="ignore"):
        centred = data[:, varying] - np.average(data[:, varying], axis=0, weights=weights)
        largest = np.abs(centred).max(axis=0)
        squares = weights @ (centred / largest) ** 2 / max(float(weights.sum()) - 1, 1.0)
        result[varying] = largest * np.sqrt(squares)
    return result


def _for_each_column(chosen: float | tuple[float, ...], name: str, names: tuple[str, ...]) -> Floats:
    if isinstance(chosen, float):
        return np.full(len(names), chosen)
    if len(chosen) != len(names):
        raise InputError(
            f"{parameter(name)} of the score must have one number per column, {len(names)} in all. "
            f"Got {len(chosen)} instead."
        )
    return np.array(chosen)


@dataclass(frozen=True)
class ConditionalGaussianPrior:
    """Columns of levels have the one prior, columns of numbers, in every combination of levels, the other."""

    dirichlet: DirichletPrior
    gaussian: NormalWishartPrior


ParameterPrior = DirichletPrior | NormalWishartPrior | ConditionalGaussianPrior
