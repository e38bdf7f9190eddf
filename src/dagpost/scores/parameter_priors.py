"""Which prior of the parameters does a score stand for? Prediction, networks and causal effects go by nothing else.

Discrete columns have Dirichlet distributions (Heckerman, Geiger & Chickering 1995), continuous ones a normal
distribution of the mean and a Wishart distribution of the precision matrix (Geiger & Heckerman 2002).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from dagpost._tools.arrays import Floats
from dagpost._tools.checks import kind, number
from dagpost._tools.spelling import either, parameter
from dagpost._tools.text import shown
from dagpost.errors import InputError, PrecisionError

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
        return nodes + 1 + self.spare(nodes)

    def spare(self, nodes: int) -> float:
        """Degrees of freedom above `nodes + 1`: they may be so few that beside it they could not be seen."""
        if self.degrees_of_freedom is None:
            return self.mean_weight
        if self.degrees_of_freedom <= nodes + 1:
            raise InputError(
                f"{parameter('degrees_of_freedom')} of the score must be above {nodes + 1} for {nodes} columns. "
                f"Got {shown(self.degrees_of_freedom)} instead; None stands for {nodes + self.mean_weight + 1:g}."
            )
        return self.degrees_of_freedom - nodes - 1

    def scale(self, nodes: int) -> float:
        """The prior matrix of `nodes` standardised columns is the identity times this."""
        return self.spare(nodes) / (1 + 1 / self.mean_weight)

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

    def units(self, names: tuple[str, ...], found: Floats) -> Floats:
        """What each column is divided by so that the prior matrix is the identity."""
        return self.deviations(names, found) * math.sqrt(self.scale(len(names)))

    def added(self, data: Floats, weights: Floats, prior_mean: Floats) -> Floats:
        """What rows add to the prior matrix: scatter around the column means, and these means' distance from the prior.

        Values whose squares overflow are an error.
        """
        total = float(weights.sum())
        matrix = np.zeros((data.shape[1], data.shape[1]))
        if total > 0:
            # Overflow is looked for at the end, in the result.
            with np.errstate(over="ignore", invalid="ignore"):
                centred, first, rest = centre(data, weights)
                distance = prior_mean - first - rest
                matrix += (centred * weights[:, np.newaxis]).T @ centred
                matrix += total / (1 + total / self.mean_weight) * np.outer(distance, distance)
        refuse_overflow(matrix, data)
        return matrix


def centre(data: Floats, weights: Floats) -> tuple[Floats, Floats, Floats]:
    """The distances of rows that count `weights` times from the means of their columns, and these as sums of two.

    Far from zero a mean is no better than its last digit, and distances that are small beside it would all be wrong by
    that; so the mean of what is left comes off again. The first step loses nothing there: the difference of two
    floats that nearly agree is exact.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        first: Floats = np.average(data, axis=0, weights=weights)
        distances = data - first
        rest: Floats = np.average(distances, axis=0, weights=weights)
        distances -= rest
    return distances, first, rest


#: Standard deviations that the mean of a column may lie from zero: further away, its last digit is a millionth of one.
_FARTHEST = 1e10


def refuse_far(names: Sequence[str], means: Floats, found: Floats) -> None:
    """Refuse densities of columns whose means, being floats, are not known to the millionth part of a deviation."""
    deviations = np.abs(means) / found
    if not (deviations < _FARTHEST).all():
        farthest = int(np.argmax(deviations))
        raise PrecisionError(
            f"The mean of the column {names[farthest]!r} is {deviations[farthest]:.1g} standard deviations "
            f"from 0, and floats that large are too coarse to compute with its values ({_FARTHEST:g} at most). "
            "Subtract a constant from the column, such as its smallest value, and fit again."
        )


#: How far rounding may move a score before it is refused.
LARGEST_ERROR = 1e-5


def refuse_lost_digits(
    added: Floats, half_degrees: float, most: int, names: Sequence[str], *, few_rows: bool = False
) -> None:
    """Refuse a posterior matrix, the identity and what was `added`, whose determinants lose their digits.

    A pivot is what columns leave of an entry of the diagonal, and wrong by some roundings of that entry. It is least,
    `1 / (R^-1)_kk`, with all other columns before it, and never below one, where `few_rows` leave it. `most` columns at
    a time add up what they lose, times half the degrees of freedom.
    """
    diagonal, rounding = np.diag(added), 4 * float(np.finfo(np.float64).eps) * half_degrees
    each = diagonal
    if np.sort(each)[-most:].sum() * rounding > LARGEST_ERROR and not few_rows:
        root = np.sqrt(1 + diagonal)
        values, vectors = np.linalg.eigh((added + np.eye(len(added))) / np.outer(root, root))
        inflated = vectors**2 @ (1 / np.maximum(values, np.finfo(np.float64).eps))
        each = diagonal / (1 + diagonal) * np.minimum(inflated, 1 + diagonal)
    lost = np.sort(each)[-most:].sum() * rounding
    if not lost <= LARGEST_ERROR:
        raise PrecisionError(
            f"The score cannot be computed: rounding may move it by as much as {lost:.1g}, and {LARGEST_ERROR:g} is "
            f"the most that is let through. Either the column {names[int(np.argmax(each))]!r} all but follows from "
            "others: leave one of them out. Or the prior is very far from the table: give the score a mean_weight and "
            "degrees_of_freedom nearer to the number of columns, or no prior_mean, which stands for the means of the "
            "columns."
        )


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
        centred, _, _ = centre(data[:, varying], weights)
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
class LocalPrior:
    """The parameters of a node given its parents are those of a local model (local/base.py).

    Parameters
    ----------
    module
        Where these are made: it has `fitter(table, prior)` and `ASSUMPTION`. Priors with settings are subclasses.
    """

    module: str

    def __post_init__(self) -> None:
        name = kind(self.module, "module", str, "the name of a module")
        if not all(part.isidentifier() for part in name.split(".")):
            raise InputError(f"'module' of a LocalPrior must be the name of a module. Got {shown(name)} instead.")


@dataclass(frozen=True)
class ConditionalGaussianPrior(LocalPrior):
    """Columns of levels have the one prior, columns of numbers, in every combination of levels, the other."""

    dirichlet: DirichletPrior = field(kw_only=True)
    gaussian: NormalWishartPrior = field(kw_only=True)


ParameterPrior = DirichletPrior | NormalWishartPrior | LocalPrior
