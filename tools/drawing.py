"""Tables drawn from stated networks with stated seeds: everybody who follows this page draws the same ones.

All chance comes from numbers between 0 and 1, `numpy.random.Generator(numpy.random.PCG64(seed)).random()`, whose stream
NumPy keeps the same on every platform and in every version; everything computed from them is rounded, so that the last
bit of a logarithm does not matter.

A *network* lists its columns, causes before effects. A *table* of it takes one such number for each column of the
first row, in that order, then for each column of the second row, and so on:

- A column of levels "a", "b", "c", ... has for every combination of the levels of its parents (the last parent runs
  fastest) a probability of each level, in thousandths. With `u` the number between 0 and 1, the level is the first one
  for which the sum of the probabilities up to and with it is above `u`.
- A column of numbers has for every combination of the levels of its parents of levels a mean, a deviation and a
  coefficient for each of its parents of numbers. With `z` the quantile of the standard normal distribution at `u`, the
  number is `mean + deviation * z + coefficient * parent + ...`, rounded to four decimals.

`random_network` draws a network in the same way; others are written out in written_networks.py.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagpost.data.table import Table
from dagpost.reference.truth_files import DECIMALS

#: The names of levels; no column has more.
LEVELS = "abcdefgh"
_THOUSANDTHS = 1000


class Levels(NamedTuple):
    """A column of levels: of every combination of its parents' levels, the probabilities in thousandths."""

    name: str
    parents: tuple[str, ...]
    probabilities: tuple[tuple[int, ...], ...]

    @property
    def arity(self) -> int:
        """How many levels it has."""
        return len(self.probabilities[0])


class Regression(NamedTuple):
    """How a number depends on numbers: mean, deviation, and a coefficient for each parent of numbers."""

    mean: float
    deviation: float
    coefficients: tuple[float, ...] = ()


class Numbers(NamedTuple):
    """A column of numbers: of every combination of the levels of its parents of levels, a regression."""

    name: str
    parents: tuple[str, ...]
    regressions: tuple[Regression, ...]


@dataclass(frozen=True)
class Network:
    """Columns, causes before effects, and the order in which a table has them."""

    columns: tuple[Levels | Numbers, ...]
    names: tuple[str, ...]

    @property
    def edges(self) -> tuple[tuple[str, str], ...]:
        """The graph that it draws from: (cause, effect)."""
        return tuple((parent, column.name) for column in self.columns for parent in column.parents)


def network(*columns: Levels | Numbers) -> Network:
    """A network that is written out: the table has its columns in the order given."""
    return Network(columns, tuple(column.name for column in columns))


def draw(source: Network, rows: int, seed: int) -> Table:
    """So many rows of a network; the first are the same however many are drawn.

    >>> coin = Levels("coin", (), ((500, 500),))
    >>> copy = Levels("copy", ("coin",), ((900, 100), (100, 900)))
    >>> [column.tolist() for column in draw(network(coin, copy), 8, seed=1).columns]
    [[1, 0, 0, 1, 1, 1, 0, 0], [1, 1, 0, 1, 0, 1, 0, 0]]
    """
    uniforms = np.random.Generator(np.random.PCG64(seed)).random((rows, len(source.columns)))
    values: dict[str, NDArray[Any]] = {}
    arities: dict[str, int] = {}
    for column, own in zip(source.columns, uniforms.T, strict=True):
        discrete = [parent for parent in column.parents if parent in arities]
        case = np.zeros(rows, dtype=np.intp)
        for parent in discrete:
            case = case * arities[parent] + values[parent]
        if isinstance(column, Levels):
            values[column.name] = _levels(column, case, own)
            arities[column.name] = column.arity
        else:
            others = [values[parent] for parent in column.parents if parent not in arities]
            values[column.name] = _numbers(column, case, others, own)
    return Table(
        source.names,
        tuple(np.ascontiguousarray(values[name]) for name in source.names),
        tuple(tuple(LEVELS[: arities[name]]) if name in arities else None for name in source.names),
    )


def _levels(column: Levels, case: NDArray[np.intp], uniforms: NDArray[np.float64]) -> NDArray[np.uint8]:
    sums = np.cumsum(np.array(column.probabilities), axis=1)[:, :-1] / _THOUSANDTHS
    found: NDArray[np.uint8] = (sums[case] <= uniforms[:, np.newaxis]).sum(axis=1).astype(np.uint8)
    return found


def _numbers(
    column: Numbers, case: NDArray[np.intp], others: Sequence[NDArray[np.float64]], uniforms: NDArray[np.float64]
) -> NDArray[np.float64]:
    from scipy.special import ndtri

    table = np.array([(one.mean, one.deviation, *one.coefficients) for one in column.regressions])[case].T
    found: NDArray[np.float64] = table[0] + table[1] * ndtri(uniforms)
    for coefficient, other in zip(table[2:], others, strict=True):
        found = found + coefficient * other
    # Adding zero makes -0.0 a plain 0.0, which is written without a sign.
    rounded: NDArray[np.float64] = np.round(found, DECIMALS) + 0.0
    return rounded


def random_network(
    columns: int,
    seed: int,
    *,
    levels: int | None = None,
    arities: tuple[int, int] = (2, 4),
    degree: float = 2.0,
    max_parents: int = 3,
    sharpness: float = 2.0,
    coefficients: tuple[float, float] = (0.4, 1.0),
) -> Network:
    """A network of columns X1, X2, ..., of which the first `levels` (None: all) are of levels, the others of numbers.

    The stream of numbers between 0 and 1 of `seed` is used up like this:

    1. One for each column X1, X2, ...: causes come before effects in the order of these, smallest first, but all
       columns of levels before all columns of numbers.
    2. One for each column of levels in that order: it has `least + floor(u * (most - least + 1))` levels, `arities`
       being (least, most).
    3. For each column in that order, one for each of the columns before it: those with `u < degree / (columns - 1)` are
       its parents, or the `max_parents` with the smallest `u` if there are more, in the order of the columns.
    4. Right after the parents of a column, its parameters, for one combination of its parents' levels after the other.
       Of levels: one for each level; the probabilities are in proportion to `(-log u) ** sharpness`, in `thousandths`
       of which each level has at least 10.
       Of numbers: one for the mean, `2 u - 1`; one for the deviation, `0.5 + 0.5 u`; then two for each coefficient, the
       size, `low + (high - low) * u` with `coefficients` being (low, high), and the sign, minus where `u < 0.5`; all
       rounded to two decimals.

    >>> random_network(5, seed=1, arities=(2, 3)).edges
    (('X3', 'X5'), ('X3', 'X1'), ('X1', 'X4'), ('X1', 'X2'))
    """
    stream = np.random.Generator(np.random.PCG64(seed))
    names = [f"X{place + 1}" for place in range(columns)]
    of_levels = columns if levels is None else levels
    keys = [stream.random() for _ in names]
    order = sorted(range(columns), key=lambda place: (place >= of_levels, keys[place]))
    least, most = arities
    arity = {place: least + math.floor(stream.random() * (most - least + 1)) for place in order if place < of_levels}
    found: list[Levels | Numbers] = []
    for position, place in enumerate(order):
        tried = {other: stream.random() for other in order[:position]}
        near = sorted((u, other) for other, u in tried.items() if u < degree / (columns - 1))[:max_parents]
        chosen = sorted(other for _, other in near)
        cases = math.prod(arity[other] for other in chosen if other in arity)
        parents = tuple(names[other] for other in chosen)
        if place in arity:
            tables = tuple(_random_levels(stream, arity[place], sharpness) for _ in range(cases))
            found.append(Levels(names[place], parents, tables))
        else:
            count = sum(other not in arity for other in chosen)
            own = tuple(_random_regression(stream, count, coefficients) for _ in range(cases))
            found.append(Numbers(names[place], parents, own))
    return Network(tuple(found), tuple(names))


def thousandths(weights: Sequence[float], least: int) -> tuple[int, ...]:
    """Probabilities in this proportion, rounded down but at least `least` each; the first largest takes what is left.

    >>> thousandths([1, 2, 4], least=1)
    (142, 285, 573)
    """
    parts = [max(least, math.floor(_THOUSANDTHS * weight / sum(weights))) for weight in weights]
    parts[weights.index(max(weights))] += _THOUSANDTHS - sum(parts)
    return tuple(parts)


def _random_levels(stream: np.random.Generator, arity: int, sharpness: float) -> tuple[int, ...]:
    return thousandths([(-math.log(stream.random())) ** sharpness for _ in range(arity)], least=10)


def _random_regression(stream: np.random.Generator, parents: int, sizes: tuple[float, float]) -> Regression:
    mean = round(2.0 * stream.random() - 1.0, 2)
    deviation = round(0.5 + 0.5 * stream.random(), 2)
    found = []
    for _ in range(parents):
        size = round(sizes[0] + (sizes[1] - sizes[0]) * stream.random(), 2)
        found.append(-size if stream.random() < 0.5 else size)
    return Regression(mean, deviation, tuple(found))
