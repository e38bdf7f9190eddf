"""Log p(observed cells of a row | training data) of rows with gaps, graph by graph, averaged over graphs.

Rows in which the same columns are missing are taken together: what is left of every graph is found once for all of
them (gap_patterns.py), and then the sum over graphs is that of whole rows, with the columns of parts beside those of
families. Patterns are spread over the threads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.arrays import Floats, Integers, Masks
from dagpost._tools.progress import Reporter
from dagpost.engines import Engine
from dagpost.errors import warn
from dagpost.families.masks import distinct_rows
from dagpost.posterior.sample import DagSample
from dagpost.prediction.discrete import fill_discrete, tabulated_families
from dagpost.prediction.elimination import fill_sums, sums_of
from dagpost.prediction.gap_patterns import Pattern, pattern_of, sorted_graphs
from dagpost.prediction.gap_rows import PatternRows
from dagpost.prediction.gaussian import fill_gaussian, gaussian_families, gaussian_posterior
from dagpost.prediction.graph_products import log_sum_graphs, sum_graphs, to_ratios
from dagpost.prediction.integration import fill_integrals, integrals_of, turn_covered_edges
from dagpost.prediction.rows import NewRows
from dagpost.prediction.statistics import DiscreteStatistics, GaussianStatistics
from dagpost.prediction.strips import LANES, strip_of
from dagpost.scores import DirichletPrior, NormalWishartPrior

#: A sum at or above this has lost nothing to underflow that matters.
_SAFE = 1e-280
#: An integral is worth a remark if half as many points change the log of a row by more than this.
_WORTH_A_REMARK = 0.01


class _Ready(NamedTuple):
    """The columns of one pattern of gaps; `fill` gives those of some rows, and those with half the points, if any."""

    pattern: Pattern
    fill: Callable[[NDArray[Any], Masks, int, Integers], list[Floats]]


#: Makes ready what is left of all graphs where some nodes are missing and others given.
_Prepare = Callable[[int, int], _Ready]


def pattern_log_totals(
    sample: DagSample,
    statistics: DiscreteStatistics | GaussianStatistics,
    prior: DirichletPrior | NormalWishartPrior,
    rows: NewRows,
    patterns: list[PatternRows],
    target: int,
    levels: int,
    engine: Engine,
    reporter: Reporter,
) -> Iterator[tuple[Integers, Floats]]:
    """For each pattern, its rows and the logs of their sums, as (levels of the target, rows)."""
    weighty = sample.weights > 0
    parents, weights = sample.parents[weighty], sample.weights[weighty]
    prepare: _Prepare
    if isinstance(statistics, DiscreteStatistics):
        assert isinstance(prior, DirichletPrior)
        prepare = _discrete(statistics, prior, parents, weights)
    else:
        assert isinstance(prior, NormalWishartPrior)
        prepare = _gaussian(statistics, prior, parents, weights)

    def predict(pattern: PatternRows, cancel: Integers) -> tuple[Floats, float]:
        asked, place = _asked(rows, pattern, target, levels)
        ready = prepare(pattern.gaps, pattern.given)
        count = asked.cells.shape[1]
        totals, worst = np.empty(count), 0.0
        for start in range(0, count, LANES):
            width = min(LANES, count - start)
            every, *coarse = ready.fill(*strip_of(asked, start), width, cancel)
            own = _sum_over_graphs(ready.pattern, every, cancel)[:width]
            totals[start : start + width] = own
            for logs in coarse:
                worst = max(worst, float(np.abs(_sum_over_graphs(ready.pattern, logs, cancel)[:width] - own).max()))
        return totals[place], worst

    worst = 0.0
    with reporter.stage("rows with gaps", len(patterns)) as stage:
        for pattern, (totals, error) in zip(patterns, engine.run(predict, patterns), strict=True):
            worst = max(worst, error)
            stage.advance(1)
            yield pattern.rows, totals
    if worst > _WORTH_A_REMARK:
        warn(
            f"The integral over missing values is uncertain: with half as many points, the log density of a row "
            f"changes by up to {worst:.2g}. Rows with fewer gaps, or without values far from all others, are surer."
        )


def _asked(rows: NewRows, pattern: PatternRows, target: int, levels: int) -> tuple[NewRows, Integers]:
    """The distinct rows of a pattern, with each level of the target; the place of each level and row among them."""
    cells = np.tile(rows.cells[:, pattern.rows], levels)
    if target >= 0:
        cells[target] = np.repeat(np.arange(levels), len(pattern.rows))
    found, member = distinct_rows(np.ascontiguousarray(cells.T))
    masks = np.full(len(found), pattern.given, dtype=np.uint64)
    asked = NewRows(np.ascontiguousarray(cells[:, found]), masks, np.zeros((len(cells), len(found)), dtype=np.bool_))
    return asked, member.reshape(levels, -1)


def _discrete(statistics: DiscreteStatistics, prior: DirichletPrior, parents: Any, weights: Floats) -> _Prepare:
    graphs, weights = sorted_graphs(parents, weights)
    tables = tabulated_families(statistics, prior, statistics.locate(graphs.children, graphs.parents))

    def prepare(gaps: int, given: int) -> _Ready:
        pattern = pattern_of(graphs, weights, gaps, given)
        plain, sums = tables.chosen(pattern.plain), sums_of(tables, graphs.parents, pattern.parts, gaps)

        def fill(cells: NDArray[Any], masks: Masks, width: int, cancel: Integers) -> list[Floats]:
            del cancel
            logs = np.zeros((len(pattern.nodes), LANES))
            fill_discrete(plain, -1, cells, masks, logs[: len(pattern.plain)])
            parts = np.empty((len(pattern.parts), width))
            fill_sums(sums, np.ascontiguousarray(cells[:, :width]), parts)
            logs[len(pattern.plain) + len(pattern.zeros) :, :width] = parts
            return [logs]

        return _Ready(pattern, fill)

    return prepare


def _gaussian(statistics: GaussianStatistics, prior: NormalWishartPrior, parents: Any, weights: Floats) -> _Prepare:
    posterior = gaussian_posterior(statistics, prior)
    found, member = distinct_rows(parents)
    weights = np.bincount(member, weights=weights).astype(np.float64)
    original = parents[found].astype(np.uint64)

    def prepare(gaps: int, given: int) -> _Ready:
        turned = np.empty_like(original)
        turn_covered_edges(original, np.uint64(gaps), np.uint64(given), statistics.group_of, turned)
        graphs, own_weights = sorted_graphs(turned, weights)
        pattern = pattern_of(graphs, own_weights, gaps, given)
        every = gaussian_families(statistics, posterior, graphs.children, graphs.parents)
        plain = gaussian_families(statistics, posterior, graphs.children[pattern.plain], graphs.parents[pattern.plain])
        integrals = integrals_of(every, pattern.parts, gaps)

        def fill(cells: NDArray[Any], masks: Masks, width: int, cancel: Integers) -> list[Floats]:
            logs = np.zeros((len(pattern.nodes), LANES))
            fill_gaussian(plain, cells, masks, logs[: len(pattern.plain)])
            if not len(pattern.parts):
                return [logs]
            fine, coarse = (np.empty((len(pattern.parts), width)) for _ in range(2))
            fill_integrals(integrals, np.ascontiguousarray(cells[:, :width]), fine, coarse, cancel)
            first = len(pattern.plain) + len(pattern.zeros)
            halved = logs.copy()
            logs[first:, :width], halved[first:, :width] = fine, coarse
            return [logs, halved]

        return _Ready(pattern, fill)

    return prepare


def _sum_over_graphs(pattern: Pattern, logs: Floats, cancel: Integers) -> Floats:
    """Log of the sum over all graphs, for 64 rows."""
    ratios, log_scale = np.empty_like(logs), np.empty(LANES)
    to_ratios(logs, pattern.nodes, pattern.graphs.columns.shape[1], ratios, log_scale)
    sums = np.zeros((1, LANES))
    sum_graphs(ratios, pattern.graphs, pattern.weights, np.zeros(len(pattern.weights), dtype=np.int64), sums, cancel)
    with np.errstate(divide="ignore"):
        log_totals: Floats = np.log(sums[0]) + log_scale
    lost = ~(sums[0] >= _SAFE)
    if lost.any():
        exact = np.empty(LANES)
        log_sum_graphs(logs, pattern.graphs, np.log(pattern.weights), len(logs), 0, exact, cancel)
        log_totals[lost] = exact[lost]
    return log_totals
