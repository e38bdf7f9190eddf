"""Nodes given their parents on the columns' own scale: regressions with curves, fitted when they are asked for.

A number has two regressions: of its mean, on its own scale, which says what an outcome is on average; and one on the
scale that the evidence prefers for this column, which says how values move that lead on to others. How they lie around
their prediction is in spread.py. A column of levels has a logistic regression for each level but the last, among the
rows that have none before it. Curves, and products of two parents, are in margins.py and layout.py, what is learned of
them in regression.py. Rows in which a node was set by intervention are left out for that node.

Effects start from rows of the table in which nothing was set (`particles`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from dagpost._tools.arrays import Flags, Floats, Integers, Masks
from dagpost._tools.progress import NO_PROGRESS, Reporter
from dagpost.data.table import Table
from dagpost.engines import Engine, ThreadEngine
from dagpost.engines.base import CancelFlag
from dagpost.local.density import Densities, Density, density_of, no_density
from dagpost.local.layout import Part, Parts, feature_matrix, numbers_matrix, packed, parts_of
from dagpost.local.margins import Features, Margins, margins_of
from dagpost.local.regression import Pieces, Posterior, Shrunken, logistic, shrunken, sums_of, with_covariance
from dagpost.local.scales import OWN, Scale, on_scale, scales_of
from dagpost.local.spread import Spread, Spreads, no_spread, spread_of

#: Rows that are regressed at a time, and in all; rows by which levels learn how far to shrink.
_AT_A_TIME, _MOST_ROWS, _FIRST_ROWS = 20_000, 200_000, 5_000
#: Rows that effects start from: at least, by repeating them, and at most.
FEWEST_PARTICLES, _MOST_PARTICLES = 128, 2_048
#: Rows in which nothing was set are enough from this many on.
_ENOUGH = 20
#: The scale of a number is chosen beside these columns: those that go most with it.
_MOST_BESIDE = 5


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
    """What kernels need of families: where the regressions of each begin, and how many numbers each of these has."""

    margins: Margins
    parts: Parts
    begins: Integers
    heights: Integers
    numbers: Numbers
    spreads: Spreads
    densities: Densities


class Family(NamedTuple):
    """The regressions of one node on some parents."""

    parts: list[Part]
    posteriors: list[Posterior]
    numbers: tuple[float, ...]
    spread: Spread
    density: Density


class AdditiveModels:
    """What a complete table says of its families; each is fitted once, on the workers of an engine."""

    def __init__(self, table: Table, engine: Engine | None = None, reporter: Reporter = NO_PROGRESS) -> None:
        self.table, self._engine, self._reporter = table, engine or ThreadEngine(), reporter
        self.margins, self._features = margins_of(table)
        counted = np.flatnonzero(table.weights > 0)
        self.weights = table.weights[counted].astype(np.float64)
        self.columns = np.stack([column[counted].astype(np.float64) for column in table.columns])
        no_one = np.zeros(len(table.weights), dtype=np.uint64)
        self._were_set = (no_one if table.interventions is None else table.interventions)[counted]
        self._known: dict[tuple[int, int], Family] = {}

    @property
    def names(self) -> tuple[str, ...]:
        """The columns."""
        return self.table.names

    @property
    def levels(self) -> tuple[tuple[object, ...] | None, ...]:
        """Their levels; None for numbers."""
        return self.table.levels

    @cached_property
    def means(self) -> Floats:
        """The mean of every column, of levels that of their codes."""
        found: Floats = np.average(self.columns, axis=1, weights=self.weights)
        return found

    @cached_property
    def quartiles(self) -> Floats:
        """Of every column the smallest value, the quartiles, and the largest value: (columns, 4)."""
        orders = np.argsort(self.columns, axis=1, kind="stable")
        running = np.cumsum(self.weights[orders], axis=1)
        shares = np.array([0.0, 0.25, 0.75, 1.0]) * running[0, -1]
        places = [np.searchsorted(own, shares) for own in running]
        return np.stack([own[order[at]] for own, order, at in zip(self.columns, orders, places, strict=True)])

    def families(self, children: Integers, parents: Masks) -> list[Family]:
        """Some families, fitted now where they are not known yet."""
        pairs = list(zip(children.tolist(), parents.tolist(), strict=True))
        lacking = [pair for pair in dict.fromkeys(pairs) if pair not in self._known]
        # Each scale is chosen once, before threads ask for it.
        _ = self._scales

        def fit(pair: tuple[int, int], cancel: CancelFlag) -> Family | None:
            return None if cancel[0] else self._fit(*pair)

        with self._reporter.stage("regressions", len(lacking)) as stage:
            for pair, own in zip(lacking, self._engine.run(fit, lacking), strict=True):
                assert own is not None
                self._known[pair] = own
                stage.advance(1)
        return [self._known[pair] for pair in pairs]

    def shapes_of(self, families: Sequence[Family]) -> Shapes:
        """What kernels need of some families."""
        counts = [len(own.posteriors) for own in families]
        return Shapes(
            self.margins,
            packed([own.parts for own in families]),
            np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
            np.array([1 + sum(part.numbers for part in own.parts) for own in families], dtype=np.int64),
            _joined_numbers([own.numbers for own in families]),
            Spreads(*(np.array(values) for values in zip(*(own.spread for own in families), strict=True))),
            Densities(*(np.array(values) for values in zip(*(own.density for own in families), strict=True))),
        )

    @cached_property
    def particles(self) -> Floats:
        """Rows that effects start from, in any order: each as often as it counts, or drawn by that."""
        weights = self.weights
        rows = np.flatnonzero(self._were_set == 0)
        if float(weights[rows].sum()) < _ENOUGH:
            rows = np.arange(len(weights))
        generator, total = np.random.default_rng(0), weights[rows].sum()
        if total > _MOST_PARTICLES:
            points = (np.arange(_MOST_PARTICLES) + generator.random()) / _MOST_PARTICLES * total
            chosen = rows[np.searchsorted(np.cumsum(weights[rows]), points)]
        else:
            chosen = np.repeat(rows, weights[rows].astype(np.int64))
            chosen = np.tile(chosen, -(-FEWEST_PARTICLES // len(chosen)))
        return np.ascontiguousarray(self.columns[:, generator.permutation(chosen)].T)

    def _rows_of(self, child: int, parents: Sequence[int]) -> _Rows:
        rows = np.flatnonzero(self._were_set >> np.uint64(child) & np.uint64(1) == 0)
        if len(rows) > _MOST_ROWS:
            rows = np.sort(np.random.default_rng(0).permutation(rows)[:_MOST_ROWS])
        parts = parts_of(parents, self.margins, self._features)
        return _Rows(parts, self._features, rows, self.weights)

    def _fit(self, child: int, mask: int) -> Family:
        about = self._rows_of(child, [node for node in range(len(self.columns)) if mask >> node & 1])
        levels = self.table.levels[child]
        if levels is None:
            return _number(about, self.columns[child], self._scales[child])
        return _levels(about, self.columns[child], len(levels))

    @cached_property
    def _scales(self) -> list[Scale]:
        """The scale on which the values of each number move; that of levels says nothing."""
        lines = np.stack(
            [own.matrix[own.codes, 0] if own.matrix.shape[1] else np.zeros(len(self.weights)) for own in self._features]
        )
        with np.errstate(invalid="ignore", divide="ignore"):
            together = np.abs(np.atleast_2d(np.corrcoef(lines)))
        np.fill_diagonal(together, 0.0)
        return [
            self._scale(child, np.argsort(-np.nan_to_num(together[child]), kind="stable")[:_MOST_BESIDE].tolist())
            if levels is None else Scale()
            for child, levels in enumerate(self.table.levels)
        ]  # fmt: skip

    def _scale(self, child: int, beside: list[int]) -> Scale:
        """The scale of the largest evidence for a regression on the columns that go most with it, without products."""
        about = self._rows_of(child, sorted(node for node in beside if node != child))
        about = about._replace(parts=[part for part in about.parts if part.second < 0])
        rows = about.rows
        if not len(rows) or self.columns[child][rows].min() == self.columns[child][rows].max():
            return Scale()
        scales = scales_of(self.columns[child][rows])
        targets = [_target(self.columns[child], rows, self.weights, scale) for scale in scales]
        sums = sums_of(about.pieces, np.stack([own.values for own in targets], axis=1), about.width)
        found = [shrunken(sums, number, about.parts).log_evidence for number in range(len(scales))]
        return scales[int(np.argmax([one + own.log_slope for one, own in zip(found, targets, strict=True)]))]


class _Target(NamedTuple):
    """A column on a scale, with mean 0 and variance 1, and the log of how steep that is, over all rows."""

    values: Floats
    centre: float
    size: float
    log_slope: float


def _target(column: Floats, rows: Integers, weights: Floats, scale: Scale) -> _Target:
    shown, log_slope = on_scale(column[rows], scale)
    centre = float(np.average(shown, weights=weights[rows]))
    size = math.sqrt(float(np.average((shown - centre) ** 2, weights=weights[rows])))
    values = np.zeros(len(column))
    values[rows] = (shown - centre) / size
    return _Target(values, centre, size, float(weights[rows] @ (log_slope - math.log(size))))


def _joined_numbers(found: Sequence[tuple[float, ...]]) -> Numbers:
    columns = np.array(found, dtype=np.float64).reshape(len(found), -1).T
    own_sizes, scales, *others = (np.ascontiguousarray(column) for column in columns)
    return Numbers(own_sizes, scales.astype(np.int64), *others)


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


def _number(about: _Rows, column: Floats, scale: Scale) -> Family:
    """The regressions of a column of numbers."""
    rows, weights = about.rows, about.weights
    turn = numbers_matrix(about.parts, about.features)
    if not len(rows) or column[rows].min() == column[rows].max():
        value = float(column[rows[0]]) if len(rows) else 0.0
        nothing = Posterior(np.zeros(len(turn)), np.zeros((len(turn), 1)), 3.0)
        return Family(about.parts, [nothing], (1.0, *Scale(), value, 1.0, value, value), no_spread(), no_density())
    scales = [Scale()] if scale.kind == OWN else [Scale(), scale]
    targets = [_target(column, rows, weights, own) for own in scales]
    sums = sums_of(about.pieces, np.stack([own.values for own in targets], axis=1), about.width)
    posteriors = []
    for number, own in enumerate(targets):
        found: Shrunken = shrunken(sums, number, about.parts)
        posterior, predicted, unseen = with_covariance(found, about.pieces, own.values)
        posteriors.append(_of_numbers(posterior, turn))
    spread = spread_of(own.values[rows] - predicted[rows], predicted[rows], weights[rows])
    density = density_of(unseen[rows], predicted[rows], weights[rows])
    low, high = float(column[rows].min()), float(column[rows].max())
    # Values may leave those of the table by as much as these extend; but where none is below zero, none will be.
    least = low - (high - low) if low < 0.0 else low
    numbers = (targets[0].size, *scale, own.centre, own.size, least, high + (high - low))
    return Family(about.parts, posteriors, numbers, spread, density)


def _levels(about: _Rows, column: Floats, levels: int) -> Family:
    """The logistic regressions of a column of levels."""
    turn = numbers_matrix(about.parts, about.features)
    posteriors = []
    for level in range(levels - 1):
        left = about.only(column >= level)
        target = (column == level).astype(np.float64)
        own = logistic(left.pieces, left.some(_FIRST_ROWS).pieces, target, about.parts)
        posteriors.append(_of_numbers(own, turn))
    return Family(about.parts, posteriors, (1.0, *Scale(), 0.0, 1.0, 0.0, 0.0), no_spread(), no_density())


def _of_numbers(own: Posterior, turn: Floats) -> Posterior:
    """The posterior of the numbers from which a regression is evaluated, instead of its features' coefficients."""
    return own._replace(coefficients=turn @ own.coefficients, factor=turn @ own.factor)
