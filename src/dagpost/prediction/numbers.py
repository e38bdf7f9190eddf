"""The distribution of one column of numbers given the rest of a row, averaged over graphs, parameters integrated out.

All columns are numbers. Every graph has its own density of the missing one (number_mixtures.py); completed tables add
theirs, each by how probable it makes the row. The sum of all is tabulated at points `m + s sinh(u)`, evenly spaced in
`u`, about the mean and the deviation of normal distributions that fit its components. Sums over these points have its
integral, mean and variance to about ten digits. Its distribution function is the running sum with the correction of
Euler and Maclaurin, and between points a cubic with the right slopes, in which quantiles are found by bisection.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

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
from dagpost.prediction.number_mixtures import fill_densities, fill_factors, fill_fits, log_sums_by_group
from dagpost.prediction.rows import NewRows
from dagpost.prediction.statistics import Statistics, prior_for
from dagpost.prediction.strips import LANES, Wanted, strip_of
from dagpost.scores import NormalWishartPrior, Score

#: Points lie at the hyperbolic sine of even steps, from minus to plus this; and so many at most on either side.
_REACH, _STEP, _MOST_HALF = 10.0, 0.08, 2_000
#: Components this many nats below the largest are not seen in a result; lighter ones need no points of their own.
_NEGLIGIBLE, _LEAST_WEIGHT = -30.0, 1e-6
_BISECTIONS = 40


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


class Piece(NamedTuple):
    """Graphs with what was counted for them: of one table, or of one of several completed ones."""

    sample: DagSample
    statistics: Statistics
    score: str | Score


def number_distributions(
    pieces: Sequence[Piece], rows: NewRows, target: str, probabilities: Floats, engine: Engine, reporter: Reporter
) -> NumberDistribution:
    """The distribution of a column of numbers in each row that can be predicted."""
    sample, statistics, _ = pieces[0]
    node = position_of(target, statistics.names)
    given = sum(1 << position_of(name, sample.names) for name in sample.exogenous)
    rows = rows._replace(interventions=rows.interventions | np.uint64(given))
    masks = gap_masks(rows) & ~(np.uint64(1) << np.uint64(node))
    without = without_prediction(rows, masks, statistics.names)
    _refuse_missing_numbers(statistics, masks, without)
    prepared = [_preparer(*piece, node) for piece in pieces]
    count = rows.cells.shape[1]
    result = NumberDistribution(
        np.full(count, np.nan), np.full(count, np.nan), np.full((count, len(probabilities)), np.nan)
    )
    patterns = patterns_in(np.zeros(count, dtype=np.uint64), rows.interventions, np.flatnonzero(~without))

    def predict(pattern: PatternRows, cancel: Integers) -> None:
        ready = [prepare(pattern.given) for prepare in prepared]
        for start in range(0, len(pattern.rows), LANES):
            some = pattern.rows[start : start + LANES]
            numbers, density, step = _tabulated(ready, node, rows.chosen(some), cancel)
            shares = density * step
            result.means[some] = (shares * numbers).sum(axis=1)
            away = numbers - result.means[some][:, np.newaxis]
            result.deviations[some] = np.sqrt((shares * away**2).sum(axis=1))
            result.quantiles[some] = _quantiles(numbers, density, step, probabilities)

    with reporter.stage("prediction", len(patterns)) as stage:
        for _ in engine.run(predict, patterns):
            stage.advance(1)
    return result


def _refuse_missing_numbers(statistics: Statistics, masks: Masks, without: NDArray[np.bool_]) -> None:
    lacking = (masks != 0) & ~without
    if lacking.any():
        row = int(lacking.argmax())
        missing = [repr(name) for node, name in enumerate(statistics.names) if int(masks[row]) >> node & 1]
        raise InputError(
            f"Row {row + 1} (the first row is row 1) has no value in {shortened(missing)}. One column of numbers is "
            "predicted from complete others: fill them in, leave such rows out, or fit without these columns."
        )


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
    factors: Floats

    def log_sums(self, rows: NewRows) -> Floats:
        """Log of what the rest of up to 64 rows says for each component: (components, rows)."""
        logs, result = np.empty((self.columns, LANES)), np.empty((len(self.parts), LANES))
        self.fill(*strip_of(rows, 0), logs)
        log_sums_by_group(logs, self.graphs, self.log_weights, self.groups, result)
        return np.ascontiguousarray(result[:, : rows.cells.shape[1]])


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
        products = gaussian_families(posterior, children, parents, statistics.group_of[children])
        widest = products.lists.shape[1] + 1
        factors = np.zeros((len(children), widest, widest))
        fill_factors(products, factors)
        return _Ready(
            gaussian_filler(statistics, prior, wanted, -1),
            ones + 1,
            paths_of(first_part[order]),
            np.log(weights)[order],
            groups[order].astype(np.int64),
            second_part[found],
            products,
            factors,
        )

    return prepare


def _tabulated(ready: Sequence[_Ready], node: int, rows: NewRows, cancel: Integers) -> tuple[Floats, Floats, float]:
    """Points of some rows (rows, points), the density in `u` there, and how far apart they are in `u`."""
    cells = np.ascontiguousarray(rows.cells, dtype=np.float64)
    log_sums = [own.log_sums(rows) for own in ready]
    fits = [np.empty((3, *sums.shape)) for sums in log_sums]
    for own, fit in zip(ready, fits, strict=True):
        fill_fits(own.families, own.factors, own.parts, node, cells, fit)
    middles, scales, logs = np.concatenate(fits, axis=1)
    logs = logs + np.concatenate(log_sums)
    seen = logs - logs.max(axis=0) > _NEGLIGIBLE
    weights = np.where(seen, np.exp(logs - logs.max(axis=0)), 0.0)
    weights /= weights.sum(axis=0)
    middle = (weights * middles).sum(axis=0)
    scale = np.sqrt((weights * (scales**2 + (middles - middle) ** 2)).sum(axis=0))
    # Narrow components are between points that lie as close to each other as they are narrow.
    narrowest = float((np.where(weights > _LEAST_WEIGHT, scales, np.inf) / scale).min())
    half = min(math.ceil(_REACH / min(_STEP, narrowest / 6.0)), _MOST_HALF)
    step = _REACH / half
    places = np.arange(-half, half + 1) * step
    numbers = middle[:, np.newaxis] + scale[:, np.newaxis] * np.sinh(places)
    pieces = np.empty((len(ready), *numbers.shape))
    start = 0
    for own, sums, result in zip(ready, log_sums, pieces, strict=True):
        some = np.where(seen[start : start + len(sums)], sums, -np.inf)
        fill_densities(own.families, own.factors, own.parts, node, cells, some, numbers, result, cancel)
        start += len(sums)
    log_density = np.logaddexp.reduce(pieces) + np.log(np.cosh(places))
    density = np.exp(log_density - log_density.max(axis=1, keepdims=True))
    return numbers, density / (step * density.sum(axis=1, keepdims=True)), step


def _quantiles(numbers: Floats, density: Floats, step: float, probabilities: Floats) -> Floats:
    """Where the distribution functions have some values: (rows, probabilities)."""
    slopes = np.zeros_like(density)
    slopes[:, 2:-2] = 8.0 * (density[:, 3:-1] - density[:, 1:-3]) - (density[:, 4:] - density[:, :-4])
    # The trapezoidal sum up to here, less what the slope of its last point adds; slopes are of twelve steps.
    below = step * (np.cumsum(density, axis=1) - density / 2.0 - slopes / 144.0)
    result = np.empty((len(numbers), len(probabilities)))
    for row, (values, heights, sums) in enumerate(zip(numbers, density * step, below, strict=True)):
        places = np.clip(np.searchsorted(sums, probabilities) - 1, 0, len(sums) - 2)
        rise, left, right = sums[places + 1] - sums[places], heights[places], heights[places + 1]
        cubic, square = left + right - 2.0 * rise, 3.0 * rise - 2.0 * left - right
        low, high = np.zeros(len(places)), np.ones(len(places))
        for _ in range(_BISECTIONS):
            between = (low + high) / 2.0
            found = sums[places] + between * (left + between * (square + between * cubic))
            low, high = np.where(found < probabilities, between, low), np.where(found < probabilities, high, between)
        # As far along in `u` as the cubic says.
        scale = (values[-1] - values[0]) / (2.0 * math.sinh(_REACH))
        u = (places + low) * step - _REACH
        result[row] = (values[0] + values[-1]) / 2.0 + scale * np.sinh(u)
    return result
