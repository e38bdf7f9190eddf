"""Which latent numbers may a column have, given a graph, all other columns, and the ranks and bounds of its cells?

Parameters first, from the posterior that BGe integrates over (gaussian_completion.py); then column by column each
latent number from its normal distribution given the others of its row, truncated to the cell's bounds and to the
latent numbers of the levels below and above.
"""

from __future__ import annotations

import numpy as np

from dagpost._tools.arrays import Floats, Integers
from dagpost.data.table import Table
from dagpost.families.considered_sets import Members
from dagpost.scores.gaussian_completion import GaussianCompleter
from dagpost.scores.parameter_priors import NormalWishartPrior


class LatentCompleter(GaussianCompleter):
    """Draws latent numbers given a graph, under the posterior of BGe (base.Completer)."""

    def __init__(self, prior: NormalWishartPrior, table: Table) -> None:
        super().__init__(prior, table)
        assert table.gaps is not None
        self._table, self._own_gaps = table, table.gaps
        self._places = np.cumsum([0, *table.gaps.sum(axis=1)])

    def begin(self, generator: np.random.Generator) -> Floats:
        """Random numbers in the order of the ranks and within the bounds."""
        drawn = []
        for column, gaps in enumerate(self._own_gaps):
            numbers = generator.standard_normal(int(gaps.sum()))
            ranks = self._table.ranks[column] if self._table.ranks else None
            if ranks is not None:
                own = ranks[gaps]
                ranked = own >= 0
                order = np.argsort(own[ranked], kind="stable")
                places = np.flatnonzero(ranked)[order]
                numbers[places] = np.sort(numbers[ranked])
            bounds = self._table.bounds[column] if self._table.bounds else None
            if bounds is not None:
                low, high = bounds[gaps].T
                inside = (numbers > low) & (numbers < high)
                numbers = np.where(inside, numbers, _truncated(0.0, 1.0, low, high, generator))
            drawn.append(numbers)
        return np.concatenate(drawn)

    def redraw(self, cells: Floats, families: Members, generator: np.random.Generator, cancel: Integers) -> None:
        """One round: parameters given all cells, then all cells given the parameters, in place."""
        rows, graph, work = self._scratch(families)
        columns = self._cell_columns
        rows[self._cell_rows, columns] = (cells - self._centre[columns]) / self._unit[columns]
        self._draw_parameters(rows, families, graph, work, generator)
        nodes = len(families)
        coefficients = np.eye(nodes)
        for node in range(nodes):
            for place in range(int(graph.sizes[node]) - 1):
                coefficients[node, graph.members[node, place]] -= graph.coefficients[node, place]
        scaled = coefficients / graph.spread[:, np.newaxis]
        precision = scaled.T @ scaled
        shift = scaled.T @ (graph.intercept / graph.spread)
        data = self._table.filled(cells).values()
        for column, gaps in enumerate(self._own_gaps):
            if not gaps.any() or cancel[0]:
                continue
            spread = 1.0 / np.sqrt(precision[column, column])
            rest = data @ precision[column] - precision[column, column] * data[:, column]
            mean = (shift[column] - rest) / precision[column, column]
            self._draw_column(column, data, mean, spread, generator)
        cells[:] = np.concatenate([data[gaps, column] for column, gaps in enumerate(self._own_gaps)])
        self._pool.put((rows, graph, work))

    def _draw_column(
        self, column: int, data: Floats, mean: Floats, spread: float, generator: np.random.Generator
    ) -> None:
        gaps = self._own_gaps[column]
        bounds = self._table.bounds[column] if self._table.bounds else None
        ranks = self._table.ranks[column] if self._table.ranks else None
        low, high = np.full(len(data), -np.inf), np.full(len(data), np.inf)
        if bounds is not None:
            low, high = bounds.T
        drawn = np.unique(ranks) if ranks is not None else np.array([-1])
        for rank in drawn:
            own = gaps if ranks is None else ranks == rank
            least, most = low[own], high[own]
            if ranks is not None and rank >= 0:
                below, above = (ranks >= 0) & (ranks < rank), ranks > rank
                least = np.maximum(least, data[below, column].max(initial=-np.inf))
                most = np.minimum(most, data[above, column].min(initial=np.inf))
            data[own, column] = _truncated(mean[own], spread, least, most, generator)


def _truncated(
    mean: Floats | float, spread: float, low: Floats, high: Floats, generator: np.random.Generator
) -> Floats:
    """Normal numbers between bounds."""
    from scipy.special import ndtr, ndtri

    start, end = ndtr((low - mean) / spread), ndtr((high - mean) / spread)
    found = mean + spread * ndtri(start + generator.random(len(low)) * (end - start))
    result: Floats = np.clip(found, low, high)
    return result
