"""Log p(observed cells of a row | training data) of rows with gaps, graph by graph, averaged over graphs.

Rows in which the same columns are missing are taken together: what is left of every graph is found once for all of
them (gap_patterns.py), and then the sum over graphs is that of whole rows, with the columns of parts beside those of
families. Patterns are spread over the threads.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from dagpost._tools.arrays import Floats, Integers
from dagpost._tools.progress import Reporter
from dagpost.engines import Engine
from dagpost.errors import warn
from dagpost.families.masks import distinct_rows
from dagpost.posterior.sample import DagSample
from dagpost.prediction.gap_patterns import Pattern
from dagpost.prediction.gap_rows import PatternRows
from dagpost.prediction.graph_products import log_sum_graphs, sum_graphs, to_ratios
from dagpost.prediction.kinds import KINDS
from dagpost.prediction.rows import NewRows
from dagpost.prediction.statistics import Statistics
from dagpost.prediction.strips import LANES, strip_of
from dagpost.scores import ParameterPrior

#: A sum at or above this has lost nothing to underflow that matters.
_SAFE = 1e-280
#: An integral is worth a remark if half as many points change the log of a row by more than this.
_WORTH_A_REMARK = 0.01


def pattern_log_totals(
    sample: DagSample,
    statistics: Statistics,
    prior: ParameterPrior,
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
    prepare = KINDS[type(prior)].prepare(statistics, prior, parents, weights)

    def predict(pattern: PatternRows, cancel: Integers) -> tuple[Floats, float]:
        asked, place = _asked(rows, pattern, target, levels)
        ready = prepare(pattern.gaps, pattern.given)
        count = asked.cells.shape[1]
        totals, worst = np.empty(count), 0.0
        for start in range(0, count, LANES):
            width = min(LANES, count - start)
            every, *coarse = ready.fill(*strip_of(asked, start), width, cancel)
            own = sum_over_graphs(ready.pattern, every, cancel)[:width]
            totals[start : start + width] = own
            for logs in coarse:
                worst = max(worst, float(np.abs(sum_over_graphs(ready.pattern, logs, cancel)[:width] - own).max()))
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


def sum_over_graphs(pattern: Pattern, logs: Floats, cancel: Integers) -> Floats:
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
