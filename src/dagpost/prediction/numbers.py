"""The distribution of one column of numbers given the rest of a row, averaged over graphs, parameters integrated out.

All columns are numbers. Every graph has its own density of the missing one (number_mixtures.py); completed tables and
values of a setting of the score are mixed by how probable each makes the row. Such mixtures of mixtures are kept on a
grid of 49 points each, and their quantiles are those of cubics between these; of a single one they are its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagpost._tools import memory
from dagpost._tools.arrays import Floats, Integers, Masks
from dagpost._tools.progress import Reporter
from dagpost._tools.spelling import either
from dagpost._tools.text import position_of, shortened
from dagpost.data.table import Table
from dagpost.engines import Engine
from dagpost.errors import InputError
from dagpost.families.masks import distinct_rows
from dagpost.local.models import LocalModels
from dagpost.posterior.sample import DagSample
from dagpost.prediction.family_lists import families_in
from dagpost.prediction.gap_rows import PatternRows, gap_masks, patterns_in, without_prediction
from dagpost.prediction.gaussian import GaussianFamilies, gaussian_families, gaussian_filler, gaussian_posterior
from dagpost.prediction.gaussian_statistics import GaussianStatistics
from dagpost.prediction.graph_products import paths_of
from dagpost.prediction.integration import turn_covered_edges
from dagpost.prediction.number_mixtures import GRID_HALF, fill_mixtures, log_sums_by_group, mixed_quantiles
from dagpost.prediction.rows import NewRows
from dagpost.prediction.statistics import Statistics, prior_for
from dagpost.prediction.strips import LANES, Wanted, strip_of
from dagpost.scores import NormalWishartPrior, Score


class Components(NamedTuple):
    """Distributions, each of one row: log of its weight, mean, variance, quantiles, and a grid of it."""

    owners: Integers
    log_weights: Floats
    means: Floats
    variances: Floats
    quantiles: Floats
    grids: Floats


class NumberDistribution(NamedTuple):
    """By row: mean and standard deviation, and quantiles as (rows, probabilities); nan where there is no prediction."""

    means: Floats
    deviations: Floats
    quantiles: Floats


def refuse_levels_as_target(statistics: Statistics | Table | LocalModels, node: int) -> None:
    """Refuse a column of levels, whose probabilities are asked for in another way."""
    if statistics.levels[node] is not None:
        raise InputError(
            f"The column {statistics.names[node]!r} has levels, not numbers: "
            + either("predict_proba(rows, target=...) gives the probability of each.", "leave out --interval.")
        )


def mixture_of(pieces: Sequence[Components], rows: int, probabilities: Floats) -> NumberDistribution:
    """The distribution of each row, from all that it is mixed of."""
    owners, *parts = (np.concatenate(arrays) for arrays in zip(*pieces, strict=True))
    order = np.argsort(owners, kind="stable")
    owners, (logs, means, variances, own_quantiles, grids) = owners[order], [part[order] for part in parts]
    starts = np.searchsorted(owners, np.arange(rows + 1)).astype(np.int64)
    sizes = np.diff(starts)
    there = np.flatnonzero(sizes)
    result = NumberDistribution(
        np.full(rows, np.nan), np.full(rows, np.nan), np.full((rows, len(probabilities)), np.nan)
    )
    if not len(there):
        return result
    begins = starts[there]
    weights = np.exp(logs - np.repeat(np.maximum.reduceat(logs, begins), sizes[there]))
    weights /= np.repeat(np.add.reduceat(weights, begins), sizes[there])
    result.means[there] = np.add.reduceat(weights * means, begins)
    away = means - result.means[owners]
    result.deviations[there] = np.sqrt(np.add.reduceat(weights * (variances + away**2), begins))
    mixed_quantiles(starts, weights, means, np.sqrt(variances), grids, probabilities, result.quantiles)
    single = np.flatnonzero(sizes == 1)
    result.quantiles[single] = own_quantiles[starts[single]]
    result.quantiles[sizes == 0] = np.nan
    return result


def number_components(
    sample: DagSample,
    statistics: Statistics,
    score: str | Score,
    rows: NewRows,
    target: str,
    probabilities: Floats,
    engine: Engine,
    reporter: Reporter,
) -> Components:
    """The distribution of a column of numbers in each row that can be predicted."""
    node = position_of(target, statistics.names)
    given = sum(1 << position_of(name, sample.names) for name in sample.exogenous)
    rows = rows._replace(interventions=rows.interventions | np.uint64(given))
    masks = gap_masks(rows) & ~(np.uint64(1) << np.uint64(node))
    without = without_prediction(rows, masks, statistics.names)
    _refuse_missing_numbers(statistics, masks, without)
    chosen = np.flatnonzero(~without)
    found = _of_complete_rows(
        _preparer(sample, statistics, score, node), node, rows.chosen(chosen), probabilities, engine, reporter
    )
    return found._replace(owners=chosen)


def _refuse_missing_numbers(statistics: Statistics, masks: Masks, without: NDArray[np.bool_]) -> None:
    lacking = (masks != 0) & ~without
    if lacking.any():
        row = int(lacking.argmax())
        missing = [repr(name) for node, name in enumerate(statistics.names) if int(masks[row]) >> node & 1]
        raise InputError(
            f"Row {row + 1} (the first row is row 1) has no value in {shortened(missing)}. One column of numbers is "
            "predicted from complete others: fill them in, leave such rows out, or fit without these columns."
        )


def _room(rows: int, probabilities: int) -> Components:
    points = 2 * GRID_HALF + 1
    memory.require(rows * points * 16, f"The distributions of {rows:,} rows", "Predict fewer rows at a time.")
    logs, means, variances = np.empty((3, rows))
    grids = np.empty((rows, 2, points))
    return Components(np.arange(rows), logs, means, variances, np.empty((rows, probabilities)), grids)


class _Ready(NamedTuple):
    """What all rows share in which the same columns are given."""

    #: Writes the columns of families without the target.
    fill: Callable[[NDArray[Any], Masks, Floats], None]
    columns: int
    graphs: Any
    log_weights: Floats
    groups: Integers
    #: The components of the mixture: families by column.
    parts: NDArray[np.int32]
    families: GaussianFamilies


def _preparer(sample: DagSample, statistics: Statistics, score: str | Score, node: int) -> Callable[[int], _Ready]:
    """Makes ready what is left of all graphs where some columns are given."""
    prior = prior_for(statistics, score)
    assert isinstance(statistics, GaussianStatistics)
    assert isinstance(prior, NormalWishartPrior)
    posterior = gaussian_posterior(statistics, prior)
    weighty = sample.weights > 0
    found, member = distinct_rows(sample.parents[weighty])
    weights = np.bincount(member, weights=sample.weights[weighty]).astype(np.float64)
    original = sample.parents[weighty][found].astype(np.uint64)
    bit = np.uint64(1) << np.uint64(node)

    def prepare(given: int) -> _Ready:
        turned = np.empty_like(original)
        # With fewer children of the target, there are fewer components.
        turn_covered_edges(original, bit, np.uint64(given), statistics.group_of, turned)
        families = families_in(turned)
        modelled = np.uint64(given) >> families.children.astype(np.uint64) & np.uint64(1) == 0
        depends = ((families.children == node) | (families.parents & bit != 0)) & modelled
        place = np.where(depends, np.cumsum(depends), np.cumsum(~depends)) - 1
        ones = int((~depends).sum())
        first_part = np.where(depends[families.numbers], ones, place[families.numbers]).astype(np.int32)
        second_part = np.where(depends[families.numbers], place[families.numbers], -1).astype(np.int32)
        found, groups = distinct_rows(second_part)
        order = np.lexsort(first_part.T[::-1])
        wanted = Wanted(
            np.append(families.children[~depends], -1),
            np.append(families.parents[~depends], np.uint64(0)),
            np.full(ones + 1, -1),
        )
        children, parents = families.children[depends], families.parents[depends]
        return _Ready(
            gaussian_filler(statistics, prior, wanted, -1),
            ones + 1,
            paths_of(first_part[order]),
            np.log(weights)[order],
            groups[order].astype(np.int64),
            second_part[found],
            gaussian_families(posterior, children, parents, statistics.group_of[children]),
        )

    return prepare


def _of_complete_rows(
    prepare: Callable[[int], _Ready],
    node: int,
    rows: NewRows,
    probabilities: Floats,
    engine: Engine,
    reporter: Reporter,
) -> Components:
    """The distribution of each row in which all but the target is there."""
    count = rows.cells.shape[1]
    result = _room(count, len(probabilities))
    patterns = patterns_in(np.zeros(count, dtype=np.uint64), rows.interventions, np.arange(count))

    def predict(pattern: PatternRows, cancel: Integers) -> None:
        ready, own = prepare(pattern.given), rows.chosen(pattern.rows)
        for start in range(0, len(pattern.rows), LANES):
            cells, masks = strip_of(own, start)
            logs = np.empty((ready.columns, LANES))
            ready.fill(cells, masks, logs)
            width = min(LANES, len(pattern.rows) - start)
            log_sums = np.empty((len(ready.parts), LANES))
            log_sums_by_group(logs, ready.graphs, ready.log_weights, ready.groups, log_sums)
            places = pattern.rows[start : start + width]
            moments, quantiles = np.empty((width, 3)), np.empty((width, len(probabilities)))
            grids = np.empty((width, 2, 2 * GRID_HALF + 1))
            values = np.ascontiguousarray(cells[:, :width], dtype=np.float64)
            fill_mixtures(
                ready.families, ready.parts, node, values, np.ascontiguousarray(log_sums[:, :width]),
                probabilities, moments, quantiles, grids, cancel,
            )  # fmt: skip
            result.log_weights[places], result.means[places], result.variances[places] = moments.T
            result.quantiles[places], result.grids[places] = quantiles, grids

    with reporter.stage("prediction", len(patterns)) as stage:
        for _ in engine.run(predict, patterns):
            stage.advance(1)
    return result
