"""Nodes given their parents on the columns' own scale, for every family of some graphs: regressions with curves.

A number has two regressions: of its mean, on its own scale, which says what an outcome is on average; and, where the
evidence prefers another scale, one there, which says how values move that lead on to others. How they lie around their
prediction is in spread.py. A column of levels has a logistic regression for each level but the last, among the rows that
have none before it. Curves, and products of two parents, are in margins.py and layout.py, what is learned of them in
regression.py. Rows in which a node was set by intervention are left out for that node.

Particles, the rows that effects start from, are rows of the table in which nothing was set.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.arrays import Flags, Floats, Integers, Masks
from dagpost._tools.progress import Reporter
from dagpost.data.table import Table
from dagpost.engines.base import CancelFlag, Engine
from dagpost.local.layout import Part, Parts, feature_matrix, numbers_matrix, packed, parts_of
from dagpost.local.margins import Features, Margins, margins_of
from dagpost.local.regression import Pieces, Posterior, logistic, shrunken, sums_of, with_covariance
from dagpost.local.scales import OWN, Scale, on_scale, scales_of
from dagpost.local.spread import Spread, Spreads, no_spread, spread_of

#: Rows that are regressed at a time, and in all; rows by which levels learn how far to shrink.
_AT_A_TIME, _MOST_ROWS, _FIRST_ROWS = 20_000, 200_000, 5_000
#: Rows that effects start from: at least, by repeating them, and at most.
FEWEST_PARTICLES, _MOST_PARTICLES = 128, 2_048
#: Rows in which nothing was set are enough from this many on.
_ENOUGH = 20


class Numbers(NamedTuple):
    """Of families of columns of numbers: the size of a unit on the own scale; the scale on which values move.

    On that they have `centres` and `sizes`, and stay between `least` and `most`.
    """

    own_sizes: Floats
    scales: Integers
    places: Floats
    units: Floats
    centres: Floats
    sizes: Floats
    least: Floats
    most: Floats


class Shapes(NamedTuple):
    """What kernels need of the families: `begins` says where the regressions of each begin, `heights` how many numbers
    each of them has."""

    margins: Margins
    parts: Parts
    begins: Integers
    heights: Integers
    numbers: Numbers
    spreads: Spreads


@dataclass(frozen=True, eq=False, repr=False)
class AdditiveFamilies:
    """Some families, sorted by node and then by parents, with the posteriors of their regressions one after another."""

    names: tuple[str, ...]
    levels: tuple[tuple[object, ...] | None, ...]
    regimes: tuple[str, ...]
    children: Integers
    parents: Masks
    shapes: Shapes
    posteriors: tuple[Posterior, ...]
    #: Rows that effects start from, and how many observations they stand for.
    particles: Floats
    observations: int
    #: Of columns of numbers their means and quartiles (columns, 2).
    means: Floats
    quartiles: Floats

    def locate(self, children: Integers, parents: Masks) -> Integers:
        """The numbers of some families, -1 for those that are not there."""
        found = np.full(len(children), -1, dtype=np.int64)
        for child in np.unique(children):
            first, last = np.searchsorted(self.children, [child, child + 1])
            wanted = np.flatnonzero(children == child)
            if first < last:
                place = np.minimum(first + np.searchsorted(self.parents[first:last], parents[wanted]), last - 1)
                found[wanted] = np.where(self.parents[place] == parents[wanted], place, -1)
        return found

    def __repr__(self) -> str:
        return f"AdditiveFamilies: {len(self.children):,} families over {len(self.names)} variables"


class _Family(NamedTuple):
    parts: list[Part]
    posteriors: list[Posterior]
    numbers: tuple[float, ...]
    spread: Spread


def fit_families(
    table: Table, children: Integers, parents: Masks, engine: Engine, reporter: Reporter
) -> AdditiveFamilies:
    """Fit some families of a complete table, sorted by node and then by parents."""
    margins, features = margins_of(table)
    counted = np.flatnonzero(table.weights > 0)
    weights = table.weights[counted].astype(np.float64)
    columns = np.stack([column[counted].astype(np.float64) for column in table.columns])
    no_one = np.zeros(len(table.weights), dtype=np.uint64)
    were_set = (no_one if table.interventions is None else table.interventions)[counted]

    def fit(number: int, cancel: CancelFlag) -> _Family | None:
        if cancel[0]:
            return None
        child, mask = int(children[number]), int(parents[number])
        parts = parts_of([node for node in range(len(columns)) if mask >> node & 1], margins, features)
        rows = np.flatnonzero(were_set >> np.uint64(child) & np.uint64(1) == 0)
        if len(rows) > _MOST_ROWS:
            rows = np.sort(np.random.default_rng(0).permutation(rows)[:_MOST_ROWS])
        about = _Rows(parts, features, rows, weights)
        levels = table.levels[child]
        return _number(about, columns[child]) if levels is None else _levels(about, columns[child], len(levels))

    families: list[_Family] = []
    with reporter.stage("regressions", len(children)) as stage:
        for own in engine.run(fit, range(len(children))):
            assert own is not None
            families.append(own)
            stage.advance(1)
    counts = [len(own.posteriors) for own in families]
    shapes = Shapes(
        margins,
        packed([own.parts for own in families]),
        np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        np.array([1 + sum(part.numbers for part in own.parts) for own in families], dtype=np.int64),
        _joined_numbers([own.numbers for own in families]),
        Spreads(*(np.array(values) for values in zip(*(own.spread for own in families), strict=True))),
    )
    means = np.average(columns, axis=1, weights=weights)
    quartiles = np.array([_quantiles_of(column, weights, (0.25, 0.75)) for column in columns])
    return AdditiveFamilies(
        table.names,
        table.levels,
        table.regimes,
        children,
        parents,
        shapes,
        tuple(posterior for own in families for posterior in own.posteriors),
        _particles(columns, weights, were_set),
        int(weights.sum()),
        means,
        quartiles,
    )


def _joined_numbers(found: Sequence[tuple[float, ...]]) -> Numbers:
    columns = np.array(found, dtype=np.float64).reshape(len(found), -1).T
    own_sizes, scales, *others = (np.ascontiguousarray(column) for column in columns)
    return Numbers(own_sizes, scales.astype(np.int64), *others)


def _quantiles_of(column: Floats, weights: Floats, shares: Sequence[float]) -> Floats:
    order = np.argsort(column, kind="stable")
    running = np.cumsum(weights[order])
    found: Floats = column[order[np.searchsorted(running, np.array(shares) * running[-1])]]
    return found


def _particles(columns: Floats, weights: Floats, were_set: Masks) -> Floats:
    """Rows that effects start from, in any order: each as often as it counts, or drawn by that."""
    rows = np.flatnonzero(were_set == 0)
    if float(weights[rows].sum()) < _ENOUGH:
        rows = np.arange(len(weights))
    generator, total = np.random.default_rng(0), weights[rows].sum()
    if total > _MOST_PARTICLES:
        points = (np.arange(_MOST_PARTICLES) + generator.random()) / _MOST_PARTICLES * total
        chosen = rows[np.searchsorted(np.cumsum(weights[rows]), points)]
    else:
        chosen = np.repeat(rows, weights[rows].astype(np.int64))
        chosen = np.tile(chosen, -(-FEWEST_PARTICLES // len(chosen)))
    return np.ascontiguousarray(columns[:, generator.permutation(chosen)].T)


class _Rows(NamedTuple):
    """The rows that count for a family, with the features of its parents."""

    parts: list[Part]
    features: Sequence[Features]
    rows: Integers
    weights: Floats

    @property
    def pieces(self) -> Pieces:
        """Some rows at a time."""

        def pieces() -> Iterator[tuple[Floats, Integers, Floats]]:
            for start in range(0, max(len(self.rows), 1), _AT_A_TIME):
                some = self.rows[start : start + _AT_A_TIME]
                yield feature_matrix(self.parts, self.features, some), some, self.weights[some]

        return pieces

    @property
    def width(self) -> int:
        """How many features there are."""
        return 1 + sum(part.features for part in self.parts)

    def only(self, flags: Flags) -> _Rows:
        """Those of the rows that are flagged."""
        return self._replace(rows=self.rows[flags[self.rows]])

    def some(self, most: int) -> _Rows:
        """Some of the rows, which count for all of them."""
        if len(self.rows) <= most:
            return self
        chosen = np.random.default_rng(0).permutation(self.rows)[:most]
        factor = float(self.weights[self.rows].sum() / self.weights[chosen].sum())
        return self._replace(rows=chosen, weights=self.weights * factor)


def _number(about: _Rows, column: Floats) -> _Family:
    """The regressions of a column of numbers."""
    rows, weights = about.rows, about.weights[about.rows]
    turn = numbers_matrix(about.parts, about.features)
    if not len(rows) or column[rows].min() == column[rows].max():
        value = float(column[rows[0]]) if len(rows) else 0.0
        nothing = Posterior(np.zeros(len(turn)), np.zeros((len(turn), 1)), 3.0)
        return _Family(about.parts, [nothing], (1.0, *Scale(), value, 1.0, value, value), no_spread())
    scales = scales_of(column[rows])
    targets, centres, sizes, slopes = np.zeros((len(column), len(scales))), [], [], []
    for number, scale in enumerate(scales):
        shown, log_slope = on_scale(column[rows], scale)
        centre = float(np.average(shown, weights=weights))
        size = math.sqrt(float(np.average((shown - centre) ** 2, weights=weights)))
        targets[rows, number] = (shown - centre) / size
        centres.append(centre)
        sizes.append(size)
        slopes.append(float(weights @ (log_slope - math.log(size))))
    sums = sums_of(about.pieces, targets, about.width)
    found = [shrunken(sums, number, about.parts) for number in range(len(scales))]
    best = int(np.argmax([own.log_evidence + slope for own, slope in zip(found, slopes, strict=True)]))
    kept = [0] if scales[best].kind == OWN else [0, best]
    posteriors = []
    for number in kept:
        posterior, predicted = with_covariance(found[number], about.pieces, targets[:, number])
        posteriors.append(_of_numbers(posterior, turn))
    target = targets[rows, best]
    spread = spread_of(target - predicted[rows], predicted[rows], weights)
    low, high = float(column[rows].min()), float(column[rows].max())
    # Beyond the table values may go as far as it is wide, but not below zero where nothing is.
    least, most = (low - (high - low) if low < 0.0 else min(low, 0.0)), high + (high - low)
    least = max(least, low) if scales[best].kind != OWN and low >= 0.0 else least
    numbers = (sizes[0], *scales[best], centres[best], sizes[best], least, most)
    return _Family(about.parts, posteriors, numbers, spread)


def _levels(about: _Rows, column: Floats, levels: int) -> _Family:
    """The logistic regressions of a column of levels."""
    turn = numbers_matrix(about.parts, about.features)
    posteriors = []
    for level in range(levels - 1):
        left = about.only(column >= level)
        target = (column == level).astype(np.float64)
        own = logistic(left.pieces, left.some(_FIRST_ROWS).pieces, target, about.parts)
        posteriors.append(_of_numbers(own, turn))
    return _Family(about.parts, posteriors, (1.0, *Scale(), 0.0, 1.0, 0.0, 0.0), no_spread())


def _of_numbers(own: Posterior, turn: NDArray[np.float64]) -> Posterior:
    """The posterior of the numbers from which a regression is evaluated, instead of its features' coefficients."""
    return own._replace(coefficients=turn @ own.coefficients, factor=turn @ own.factor)
