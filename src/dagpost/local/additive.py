"""Nodes given their parents on the columns' own scale: regressions with curves, fitted when they are asked for.

A number has two regressions: of its mean, on its own scale, which says what an outcome is on average; and one on the
scale that the evidence prefers for this column, which says how values move that lead on to others. How they lie around
their prediction is in spread.py. A column of levels has a logistic regression for each level but the last, among the
rows that have none before it. Curves, and products of parents, are in margins.py and layout.py, what is learned of
them in regression.py. Rows in which a node was set by intervention are left out for that node.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.arrays import Flags, Floats, Integers
from dagpost.data.table import Table
from dagpost.local.additive_arrays import margin_arrays, restorer
from dagpost.local.base import Fitter, LocalModel
from dagpost.local.curved import CurvedLevel, CurvedNumber, Moving
from dagpost.local.density import density_of, no_density
from dagpost.local.layout import PRODUCT, Form, Part, feature_matrix, form_of, numbers_matrix, parts_of
from dagpost.local.margins import Features, Margins, margins_of
from dagpost.local.regression import Pieces, Posterior, Shrunken, logistic, shrunken, sums_of, with_covariance
from dagpost.local.scales import OWN, Scale, on_scale, scales_of
from dagpost.local.spread import no_spread, spread_of
from dagpost.scores.parameter_priors import LocalPrior

__all__ = ["ASSUMPTION", "fitter", "kept", "restorer"]

#: Rows that are regressed at a time, and in all; rows by which levels learn how far to shrink.
_AT_A_TIME, _MOST_ROWS, _FIRST_ROWS = 20_000, 200_000, 5_000
#: The scale of a number is chosen beside these columns: those that go most with it.
_MOST_BESIDE = 5

ASSUMPTION = (
    "What causes do adds up along curves, with products of two or three; what a column has beside that stays as it is."
)


def fitter(table: Table, prior: LocalPrior) -> Fitter:
    """What makes local models of a complete table; the data decide what a prior could say."""
    del prior
    return _Regressions(table)


def kept(fit: Fitter) -> dict[str, NDArray[Any]]:
    """What a file keeps that all families share."""
    assert isinstance(fit, _Regressions)
    return fit.kept()


class _Regressions:
    """Makes the local models of a table; scales are chosen at once, before several threads ask for them."""

    def __init__(self, table: Table) -> None:
        self._margins, self._features = margins_of(table)
        counted = np.flatnonzero(table.weights > 0)
        self._weights = table.weights[counted].astype(np.float64)
        self._columns = np.stack([column[counted].astype(np.float64) for column in table.columns])
        no_one = np.zeros(len(table.weights), dtype=np.uint64)
        self._were_set = (no_one if table.interventions is None else table.interventions)[counted]
        self._levels = table.levels
        self.scales = self._chosen_scales()

    def __call__(self, child: int, parents: tuple[int, ...]) -> LocalModel:
        """The model of a column given others."""
        about, levels = self._rows_of(child, parents), self._levels[child]
        form = form_of(about.parts, parents)
        if levels is None:
            return _number(about, form, self._margins, self._columns[child], self.scales[child])
        turn = numbers_matrix(about.parts, about.features)
        return CurvedLevel(form, self._margins, _levels(about, self._columns[child], len(levels)), turn)

    def kept(self) -> dict[str, NDArray[Any]]:
        """What all families share."""
        return margin_arrays(self._margins, self._features)

    def _rows_of(self, child: int, parents: Sequence[int]) -> _Rows:
        rows = np.flatnonzero(self._were_set >> np.uint64(child) & np.uint64(1) == 0)
        if len(rows) > _MOST_ROWS:
            rows = np.sort(np.random.default_rng(0).permutation(rows)[:_MOST_ROWS])
        parts = parts_of(parents, self._margins, self._features)
        return _Rows(parts, self._features, rows, self._weights)

    def _chosen_scales(self) -> list[Scale]:
        """The scale on which the values of each number move; that of levels says nothing."""
        lines = np.stack(
            [
                own.matrix[own.codes, 0] if own.matrix.shape[1] else np.zeros(len(self._weights))
                for own in self._features
            ]
        )
        with np.errstate(invalid="ignore", divide="ignore"):
            together = np.abs(np.atleast_2d(np.corrcoef(lines)))
        np.fill_diagonal(together, 0.0)
        return [
            self._scale(child, np.argsort(-np.nan_to_num(together[child]), kind="stable")[:_MOST_BESIDE].tolist())
            if levels is None else Scale()
            for child, levels in enumerate(self._levels)
        ]  # fmt: skip

    def _scale(self, child: int, beside: list[int]) -> Scale:
        """The scale of the largest evidence for a regression on the columns that go most with it, without products."""
        about = self._rows_of(child, sorted(node for node in beside if node != child))
        about = about._replace(parts=[part for part in about.parts if part.kind != PRODUCT])
        rows = about.rows
        if not len(rows) or self._columns[child][rows].min() == self._columns[child][rows].max():
            return Scale()
        scales = scales_of(self._columns[child][rows])
        targets = [_target(self._columns[child], rows, self._weights, scale) for scale in scales]
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


def _number(about: _Rows, form: Form, margins: Margins, column: Floats, scale: Scale) -> CurvedNumber:
    """The regressions of a column of numbers."""
    rows, weights = about.rows, about.weights
    turn = numbers_matrix(about.parts, about.features)
    if not len(rows) or column[rows].min() == column[rows].max():
        value = float(column[rows[0]]) if len(rows) else 0.0
        nothing = Posterior(np.zeros(turn.shape[1]), np.zeros((turn.shape[1], 1)), 3.0)
        still = Moving(*Scale(), value, 1.0, value, value)
        return CurvedNumber(form, margins, [nothing], turn, (value, 1.0), still, no_spread(), no_density())
    scales = [Scale()] if scale.kind == OWN else [Scale(), scale]
    targets = [_target(column, rows, weights, one) for one in scales]
    sums = sums_of(about.pieces, np.stack([target.values for target in targets], axis=1), about.width)
    posteriors = []
    for number, target in enumerate(targets):
        found: Shrunken = shrunken(sums, number, about.parts)
        posterior, predicted, unseen = with_covariance(found, about.pieces, target.values)
        posteriors.append(posterior)
    spread = spread_of(target.values[rows] - predicted[rows], predicted[rows], weights[rows])
    density = density_of(unseen[rows], predicted[rows], weights[rows])
    low, high = float(column[rows].min()), float(column[rows].max())
    # Values may leave those of the table by as much as these extend; but where none is below zero, none will be.
    least = low - (high - low) if low < 0.0 else low
    moving = Moving(*scale, target.centre, target.size, least, high + (high - low))
    own = targets[0].centre, targets[0].size
    return CurvedNumber(form, margins, posteriors, turn, own, moving, spread, density)


def _levels(about: _Rows, column: Floats, levels: int) -> list[Posterior]:
    """The logistic regressions of a column of levels."""
    posteriors = []
    for level in range(levels - 1):
        left = about.only(column >= level)
        target = (column == level).astype(np.float64)
        posteriors.append(logistic(left.pieces, left.some(_FIRST_ROWS).pieces, target, about.parts))
    return posteriors
