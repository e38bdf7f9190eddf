"""How probable is a new row, a level in it, or a number in it, where nodes are local models?

    p(x | D) = sum over graphs G of weight(G) * product over nodes of p(x_i | parents of i in G, D)

Each distinct family is evaluated once for all rows. The levels of a column are compared by what the whole row has with
each; a number by the density of the whole row at points: first evenly among what the graphs find likely, then where
these were dense. A few missing levels are filled in every way. In rows with other gaps, what is missing is drawn given
its parents and what is there weighs these draws (local/walks.py); the numbers behind the draws are fixed, so that a row
has the same prediction whatever stands beside it.

Columns that are not modelled, or were set, count as given: their factor is 1.

Time: families times rows; some 200 points a number.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import reduce
from itertools import product
from typing import NamedTuple

import numpy as np

from dagpost._tools.arrays import Floats, Integers, Masks
from dagpost._tools.text import position_of
from dagpost.families.masks import distinct_rows
from dagpost.local.base import LevelModel, NumberModel, members_of
from dagpost.local.models import LocalModels
from dagpost.local.networks import networks_of
from dagpost.local.walks import Fixed, Known, Observed, Walk, needed_for, uniforms_for, walked
from dagpost.posterior.fitted import Fitted
from dagpost.prediction.completed_parts import Part
from dagpost.prediction.gap_rows import gap_masks, patterns_in, without_prediction
from dagpost.prediction.local_parts import local_parts
from dagpost.prediction.rows import NewRows

#: Numbers (graphs times rows) that are held at a time; draws of what is missing in a row, for each graph.
_TOGETHER, _DRAWS = 2**22, 32
#: Ways to fill the missing levels of a row that are all looked at.
_FEW = 64
#: Points of a number: from each of the target's regressions, of these in either tail; and again where the density is.
_FIRST, _TAIL, _AGAIN = 112, 24, 160
_LEAST = -1e300


def _log_sum(logs: Floats, axis: int | tuple[int, ...]) -> Floats:
    """The log of a sum along some axes."""
    largest = logs.max(axis=axis, keepdims=True)
    largest = np.where(np.isfinite(largest), largest, 0.0)
    with np.errstate(divide="ignore"):
        found: Floats = np.log(np.exp(logs - largest).sum(axis=axis)) + np.squeeze(largest, axis=axis)
    return found


class Averaged(NamedTuple):
    """Graphs, each once, with the log of the weight of all that are alike."""

    models: LocalModels
    graphs: Masks
    log_weights: Floats
    #: Columns that are not modelled.
    given: int


def averaged(fitted: Fitted) -> list[Averaged] | None:
    """What predictions of a model are averaged over, one for each table; None where they come from elsewhere."""
    local = local_parts(fitted)
    if local is None:
        return None
    given = sum(1 << position_of(name, fitted.names) for name in fitted.exogenous)
    tables: dict[int, list[tuple[Part, LocalModels]]] = {}
    for part, models in local[0]:
        # The values of a setting share their table.
        tables.setdefault(id(models), []).append((part, models))
    return [_averaged([part for part, _ in parts], parts[0][1], given) for parts in tables.values()]


def _averaged(parts: list[Part], models: LocalModels, given: int) -> Averaged:
    graphs = np.concatenate([part.sample.parents for part in parts]).astype(np.uint64)
    weights = np.concatenate([part.sample.weights for part in parts])
    graphs, weights = graphs[weights > 0.0], weights[weights > 0.0]
    first, member = distinct_rows(graphs)
    return Averaged(models, graphs[first], np.log(np.bincount(member, weights=weights)), given)


def log_probabilities(tables: Sequence[Averaged], rows: NewRows, target: int = -1) -> Floats:
    """Log p(row), or with a target of levels log p(each level and the rest of the row): (1 or levels, rows)."""
    with np.errstate(invalid="ignore"):
        result: Floats = reduce(np.logaddexp, (_of_table(about, rows, target) for about in tables))
    return result


def _of_table(about: Averaged, rows: NewRows, target: int) -> Floats:
    """What one table adds."""
    levels = 1 if target < 0 else len(about.models.levels[target] or ())
    result = np.full((levels, rows.cells.shape[1]), np.nan)
    for pattern, some in _patterns(about, rows, target):
        left, filled = _filled(about, rows.chosen(some).cells.astype(np.float64), pattern)
        log_of = _with_gaps if left.gaps else _complete
        result[:, some] = reduce(np.logaddexp, (log_of(about, cells, left, target, levels) for cells in filled))
    return result


class _Pattern(NamedTuple):
    """Which columns are missing in some rows, and which were given."""

    gaps: int
    given: int


def _patterns(about: Averaged, rows: NewRows, target: int) -> Iterator[tuple[_Pattern, Integers]]:
    """Rows that lack the same columns, some at a time; those without a prediction are left out."""
    gaps = rows.gaps.copy()
    for node, levels in enumerate(about.models.levels):
        if levels is not None:
            # Nothing is known of levels that no row of training had.
            gaps[node] |= rows.cells[node] >= len(levels)
    if target >= 0:
        gaps[target] = False
    rows = rows._replace(gaps=gaps, interventions=rows.interventions | np.uint64(about.given))
    masks = gap_masks(rows)
    without = without_prediction(rows, masks, about.models.names)
    for pattern in patterns_in(masks, rows.interventions, np.flatnonzero(~without)):
        each = len(about.graphs) * (_DRAWS if pattern.gaps else 1)
        step = max(_TOGETHER // max(each, 1), 1)
        for start in range(0, len(pattern.rows), step):
            yield _Pattern(pattern.gaps, pattern.given), pattern.rows[start : start + step]


def _filled(about: Averaged, cells: Floats, pattern: _Pattern) -> tuple[_Pattern, list[Floats]]:
    """Rows with their missing levels filled in every way, where there are few and no number is missing; or as is."""
    missing = list(members_of(pattern.gaps))
    arities = [about.models.seen.arities[node] for node in missing]
    if not 0 < math.prod(arities) <= _FEW:
        return pattern, [cells]
    filled = []
    for codes in product(*map(range, arities)):
        own = cells.copy()
        own[missing] = np.array(codes, dtype=np.float64)[:, np.newaxis]
        filled.append(own)
    return pattern._replace(gaps=0), filled


class _Families(NamedTuple):
    """The distinct families of the nodes that are modelled, and which each graph has."""

    children: Integers
    parents: Masks
    #: (graphs, nodes that are modelled)
    numbers: Integers


def _families(about: Averaged, given: int) -> _Families:
    modelled = [node for node in range(about.graphs.shape[1]) if not given >> node & 1]
    children = np.repeat(np.array(modelled, dtype=np.uint64)[np.newaxis], len(about.graphs), axis=0)
    pairs = np.stack([children, about.graphs[:, modelled]], axis=-1).reshape(-1, 2)
    distinct, numbers = np.unique(pairs, axis=0, return_inverse=True)
    return _Families(distinct[:, 0].astype(np.int64), distinct[:, 1], numbers.reshape(len(about.graphs), -1))


def _family_logs(about: Averaged, families: _Families, chosen: Integers, cells: Floats) -> Floats:
    """Log p(child | parents) of some families in all rows: (families, rows)."""
    result = np.empty((len(chosen), cells.shape[1]))
    fitted = about.models.families(families.children[chosen], families.parents[chosen])
    for place, (family, model) in enumerate(zip(chosen.tolist(), fitted, strict=True)):
        values, column = cells[list(members_of(int(families.parents[family])))], cells[families.children[family]]
        if isinstance(model, LevelModel):
            chances = model.predictive(values)[np.arange(len(column)), column.astype(np.int64)]
            with np.errstate(divide="ignore"):
                result[place] = np.maximum(np.log(chances), _LEAST)
        else:
            assert isinstance(model, NumberModel)
            result[place] = model.log_predictive(values, column)
    return result


def _depending(families: _Families, target: int) -> Integers:
    """The families in which a column is child or parent."""
    bit = families.parents >> np.uint64(target) & np.uint64(1) == 1
    found: Integers = np.flatnonzero(bit | (families.children == target))
    return found


def _complete(about: Averaged, cells: Floats, pattern: _Pattern, target: int, levels: int) -> Floats:
    families = _families(about, pattern.given)
    logs = np.empty((len(families.children), cells.shape[1]))
    every = np.arange(len(logs))
    again = every if target < 0 else _depending(families, target)
    rest = np.setdiff1d(every, again)
    logs[rest] = _family_logs(about, families, rest, cells)
    result = np.empty((levels, cells.shape[1]))
    for level in range(levels):
        if target >= 0:
            cells[target] = level
        logs[again] = _family_logs(about, families, again, cells)
        result[level] = _log_sum(_summed(logs, families, about), axis=0)
    return result


def _summed(logs: Floats, families: _Families, about: Averaged) -> Floats:
    """The log weight of each graph and what it says of each row: (graphs, rows)."""
    total = np.repeat(about.log_weights[:, np.newaxis], logs.shape[1], axis=1)
    for numbers in families.numbers.T:
        total += logs[numbers]
    return total


def _walk(about: Averaged, cells: Floats, pattern: _Pattern, known_too: Known, wanted: int) -> Walk:
    """A walk over rows with gaps, some draws for each."""
    spread = np.repeat(cells, _DRAWS, axis=1)
    known: dict[int, object] = {}
    for node in range(len(cells)):
        if pattern.given >> node & 1:
            known[node] = Fixed(spread[node])
        elif not pattern.gaps >> node & 1 and node != wanted:
            known[node] = Observed(spread[node])
    known |= known_too
    needed = needed_for(about.graphs, known, 0 if wanted < 0 else 1 << wanted)  # type: ignore[arg-type]
    networks = networks_of(about.models, about.graphs, needed)
    uniforms = uniforms_for(len(cells), len(about.graphs), _DRAWS, np.random.default_rng(0))
    return walked(networks, known, np.tile(uniforms, (1, 1, cells.shape[1])))  # type: ignore[arg-type]


def _with_gaps(about: Averaged, cells: Floats, pattern: _Pattern, target: int, levels: int) -> Floats:
    count = cells.shape[1]
    result = np.empty((levels, count))
    for level in range(levels):
        known_too = {} if target < 0 else {target: Observed(np.array(float(level)))}
        walk = _walk(about, cells, pattern, known_too, target)
        logs = walk.logs.reshape(len(about.graphs), count, _DRAWS) + about.log_weights[:, np.newaxis, np.newaxis]
        result[level] = _log_sum(logs, axis=(0, 2)) - np.log(_DRAWS)
    return result


class Numbers(NamedTuple):
    """Of each row: mean and deviation of a number, and its quantiles (rows, quantiles)."""

    means: Floats
    deviations: Floats
    quantiles: Floats


class _Points(NamedTuple):
    """Numbers, ascending, with their shares (points, rows), and by row the log of what the shares were divided by."""

    numbers: Floats
    shares: Floats
    log_totals: Floats


def number_distributions(tables: Sequence[Averaged], rows: NewRows, target: int, probabilities: Floats) -> Numbers:
    """What a column of numbers may be in each row, given the others."""
    count = rows.cells.shape[1]
    result = Numbers(np.full(count, np.nan), np.full(count, np.nan), np.full((count, len(probabilities)), np.nan))
    most = max(len(about.graphs) for about in tables)
    for pattern, several in _patterns(tables[0], rows, target):
        step = max(_TOGETHER // (16 * most), 1)
        for start in range(0, len(several), step):
            some = several[start : start + step]
            cells = rows.chosen(some).cells.astype(np.float64)
            left, filled = _filled(tables[0], cells, pattern)
            points_of = _points_by_walk if left.gaps else _points_by_density
            found = _joined([points_of(about, own, left, target) for about in tables for own in filled])
            numbers, shares = found.numbers, found.shares
            result.means[some] = (shares * numbers).sum(axis=0)
            result.deviations[some] = np.sqrt((shares * (numbers - result.means[some]) ** 2).sum(axis=0))
            running = np.cumsum(shares, axis=0)
            for place, row in enumerate(some.tolist()):
                middles = running[:, place] - shares[:, place] / 2.0
                result.quantiles[row] = np.interp(probabilities, middles, numbers[:, place])
    return result


def _joined(found: list[_Points]) -> _Points:
    """The points of all tables, each of which counts by how probable it makes the row."""
    if len(found) == 1:
        return found[0]
    log_totals = np.stack([own.log_totals for own in found])
    together = _log_sum(log_totals, axis=0)
    numbers = np.concatenate([own.numbers for own in found])
    shares = np.concatenate([own.shares * np.exp(own.log_totals - together) for own in found])
    order = np.argsort(numbers, axis=0, kind="stable")
    return _Points(np.take_along_axis(numbers, order, axis=0), np.take_along_axis(shares, order, axis=0), together)


def _points_by_walk(about: Averaged, cells: Floats, pattern: _Pattern, target: int) -> _Points:
    """Those that were drawn in walks."""
    walk, count = _walk(about, cells, pattern, {}, target), cells.shape[1]
    logs = walk.logs.reshape(len(about.graphs), count, _DRAWS) + about.log_weights[:, np.newaxis, np.newaxis]
    numbers = walk.values[target].reshape(logs.shape).transpose(0, 2, 1).reshape(-1, count)
    logs = logs.transpose(0, 2, 1).reshape(-1, count)
    order = np.argsort(numbers, axis=0, kind="stable")
    log_totals = _log_sum(logs, axis=0)
    shares = np.exp(logs - log_totals)
    return _Points(np.take_along_axis(numbers, order, axis=0), np.take_along_axis(shares, order, axis=0), log_totals)


def _points_by_density(about: Averaged, cells: Floats, pattern: _Pattern, target: int) -> _Points:
    """Points of the target with the density of whole rows there."""
    families = _families(about, pattern.given)
    depending = _depending(families, target)
    rest = np.setdiff1d(np.arange(len(families.children)), depending)
    logs = np.zeros((len(families.children), cells.shape[1]))
    logs[rest] = _family_logs(about, families, rest, cells)
    # Graphs that agree on what has the target in it differ by a weight alone.
    held = np.isin(families.numbers, depending)
    first, member = distinct_rows(np.where(held, families.numbers, -1))
    weights = np.full((len(first), cells.shape[1]), -np.inf)
    others = _summed(logs, families, about)
    for group in range(len(first)):
        weights[group] = _log_sum(others[member == group], axis=0)
    kept = [families.numbers[row][held[row]] for row in first]

    def log_density(points: Floats) -> Floats:
        spread = np.repeat(cells, len(points), axis=1)
        spread[target] = points.T.reshape(-1)
        each = np.zeros((len(families.children), spread.shape[1]))
        each[depending] = _family_logs(about, families, depending, spread)
        by_group = np.stack([each[numbers].sum(axis=0) for numbers in kept])
        total = by_group.reshape(len(kept), cells.shape[1], len(points)) + weights[:, :, np.newaxis]
        found: Floats = _log_sum(total, axis=0).T
        return found

    points = _first_points(about, families, cells, target)
    logs_there = log_density(points)
    more = _denser(points, logs_there)
    points, logs_there = np.concatenate([points, more]), np.concatenate([logs_there, log_density(more)])
    order = np.argsort(points, axis=0, kind="stable")
    points, logs_there = (np.take_along_axis(array, order, axis=0) for array in (points, logs_there))
    return _Points(points, *_areas(points, logs_there))


def _first_points(about: Averaged, families: _Families, cells: Floats, target: int) -> Floats:
    """Evenly among what the regressions of the target find likely, with ends that are improbable: (points, rows)."""
    own = np.flatnonzero(families.children == target)
    models = about.models.families(families.children[own], families.parents[own])
    ends, middle = np.logspace(-9.0, -2.5, _TAIL), (np.arange(_FIRST - 2 * _TAIL) + 0.5) / (_FIRST - 2 * _TAIL)
    shares = np.sort(np.concatenate([ends, middle, 1.0 - ends]))
    each = []
    for family, model in zip(own.tolist(), models, strict=True):
        assert isinstance(model, NumberModel)
        values = cells[list(members_of(int(families.parents[family])))][:, np.newaxis]
        several = np.ascontiguousarray(np.repeat(values, len(shares), axis=2))
        found = model.with_share(several, model.likeliest[np.newaxis], np.tile(shares, cells.shape[1])[np.newaxis])
        each.append(found.reshape(cells.shape[1], len(shares)))
    # Of all regressions together as many points as of one: each by its order among theirs.
    together = np.sort(np.concatenate(each, axis=1), axis=1)
    places = np.linspace(0, together.shape[1] - 1, min(together.shape[1], 2 * _FIRST)).round().astype(np.int64)
    return np.ascontiguousarray(together[:, places].T)


def _areas(points: Floats, logs: Floats) -> tuple[Floats, Floats]:
    """The share of each point, from the density there and how far apart its neighbours are, and the log of the area."""
    widths = np.zeros_like(points)
    gaps = np.diff(points, axis=0)
    widths[:-1] += gaps / 2.0
    widths[1:] += gaps / 2.0
    largest = logs.max(axis=0)
    heights = np.exp(logs - largest) * widths
    total = heights.sum(axis=0)
    # A column that does not vary has one point.
    shares = np.where(total > 0.0, heights / np.where(total > 0.0, total, 1.0), 1.0 / len(points))
    return shares, largest + np.log(np.where(total > 0.0, total, 1.0))


def _denser(points: Floats, logs: Floats) -> Floats:
    """More points where the density is: quantiles of what the first ones say."""
    shares, _ = _areas(points, logs)
    running = np.cumsum(shares, axis=0) - shares / 2.0
    wanted = (np.arange(_AGAIN) + 0.5) / _AGAIN
    return np.stack([np.interp(wanted, own, column) for own, column in zip(running.T, points.T, strict=True)], axis=1)
