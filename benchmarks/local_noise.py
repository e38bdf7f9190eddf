"""How values are spread around their prediction, kept without rows: quantiles in bins of the prediction.

A value keeps its place among the quantiles when its prediction changes, so that floors, ceilings, rounding and skewness
are as in the table. Places of equal values are drawn by chance.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from benchmarks.world_columns import Floats
from numpy.typing import NDArray

#: Quantiles in each bin, and rows of a bin of equal predictions, at least.
QUANTILES, FEWEST_IN_BIN = 64, 30


class State(NamedTuple):
    """Of some rows: the prediction, the place among the quantiles around it, and what these leave out."""

    predicted: Floats
    places: Floats
    offsets: Floats


class Noise:
    """How values are spread around their prediction, which differs with the prediction.

    Quantiles of the values in bins of the prediction, interpolated between bins. The mean is that of the prediction.
    """

    def __init__(self, values: Floats, predicted: Floats, seed: int, most: int) -> None:
        rows = len(values)
        bins = max(1, min(most, round(rows ** (1 / 3))))
        # Rows of equal predictions are in one bin.
        _, group = np.unique(np.round(predicted / max(float(np.ptp(predicted)), 1e-300), 9), return_inverse=True)
        each = np.bincount(group)
        bin_of_group = ((np.cumsum(each) - each / 2) * bins / rows).astype(np.int64)
        if 1 < len(each) <= most:
            bin_of_group = np.cumsum(np.minimum(each, FEWEST_IN_BIN)) // FEWEST_IN_BIN
        bin_of_row = bin_of_group[group]
        parts = [np.flatnonzero(bin_of_row == own) for own in np.unique(bin_of_group)]
        levels = (np.arange(QUANTILES) + 0.5) / QUANTILES
        raw = np.array([np.quantile(values[part], levels, method="hazen") for part in parts])
        self.centres = np.array([predicted[part].mean() for part in parts])
        self.levels = raw - raw.mean(axis=1, keepdims=True) + self.centres[:, np.newaxis]
        self.predicted, self.values = predicted, values
        # Places within ties are independent of those of other columns.
        rng = np.random.default_rng([seed, rows])
        self.places, self.offsets = np.zeros(rows), np.zeros(rows)
        tolerance = 1e-9 * max(float(np.ptp(values)), 1e-300)
        for start in range(0, rows, 4_000):
            some = slice(start, start + 4_000)
            near = self._at(raw, self.predicted[some])
            below = (near < values[some, np.newaxis] - tolerance).sum(axis=1)
            upto = (near <= values[some, np.newaxis] + tolerance).sum(axis=1)
            share = rng.random(len(below))
            self.places[some] = np.clip(below + share * np.maximum(upto - below, 0) - 0.5, 0, QUANTILES - 1)
        self.offsets = values - self._value(self.places, self.predicted)

    def _bin(self, predicted: Floats) -> tuple[NDArray[np.int64], Floats]:
        if len(self.centres) == 1:
            return np.zeros(predicted.shape, dtype=np.int64), np.zeros(predicted.shape)
        left = np.clip(np.searchsorted(self.centres, predicted) - 1, 0, len(self.centres) - 2)
        return left, (predicted - self.centres[left]) / np.maximum(self.centres[left + 1] - self.centres[left], 1e-300)

    def _at(self, levels: Floats, predicted: Floats) -> Floats:
        if len(levels) == 1:
            return np.broadcast_to(levels, (len(predicted), QUANTILES))
        left, share = self._bin(predicted)
        share = np.clip(share, 0, 1)[:, np.newaxis]
        return levels[left] * (1 - share) + levels[left + 1] * share

    def _value(self, places: Floats, predicted: Floats) -> Floats:
        cell = np.minimum(places.astype(np.int64), QUANTILES - 2)
        part = places - cell
        if len(self.centres) == 1:
            near: Floats = self.levels[0, cell] * (1 - part) + self.levels[0, cell + 1] * part
            near += predicted - self.centres[0]
            return near
        left, share = self._bin(predicted)
        inside = np.clip(share, 0.0, 1.0)
        low = self.levels[left, cell] * (1 - part) + self.levels[left, cell + 1] * part
        high = self.levels[left + 1, cell] * (1 - part) + self.levels[left + 1, cell + 1] * part
        beyond = (share - inside) * (self.centres[left + 1] - self.centres[left])
        found: Floats = low * (1 - inside) + high * inside + beyond
        return found

    def moved(self, state: State, change: Floats) -> Floats:
        """Values whose prediction changes by this, `[row, draw]`."""
        predicted = state.predicted[:, np.newaxis] + change
        places = np.broadcast_to(state.places[:, np.newaxis], predicted.shape)
        return self._value(places, predicted) + state.offsets[:, np.newaxis]

    def of_rows(self, rows: NDArray[np.int64]) -> State:
        """Where rows of the table are."""
        return State(self.predicted[rows], self.places[rows], self.offsets[rows])

    def drawn(self, predicted: Floats, rng: np.random.Generator) -> State:
        """Anywhere around predictions, evenly."""
        count = len(predicted)
        places = (rng.permutation(count) + 0.5) / count * QUANTILES - 0.5
        return State(predicted, np.clip(places, 0, QUANTILES - 1), np.zeros(count))
