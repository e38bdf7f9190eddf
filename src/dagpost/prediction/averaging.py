"""How probable are new rows, when neither the graph nor its parameters are known?

    p(x | D) = sum over sampled graphs G of weight(G) * product over nodes of p(x_i | parents of i in G, D)

Graphs share families, so each distinct family's column over 64 rows is worked out once (discrete.py, gaussian.py). And
graphs share several families at a time: sorted by their families, the node with the fewest first, one graph differs
from the next in the last few only, and the product over the others is kept. On a sample of 30,000 graphs of 20 nodes
that leaves some 6 multiplications a graph and row.

Products are taken of plain doubles, each family relative to the best one of its node in that row, so that none
exceeds 1. A row whose sum is so small that products may have been lost is summed again in logs.

Columns that are not modelled count as given, as those that were set from outside do: their factor is 1.

For the levels of one column given the others, only the families of that column and of its children depend on the level:
graphs that agree in those are summed first, once for all levels.

Time: graphs x rows x (families that differ from one graph to the next). Memory: 1 kB a family and thread.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagpost._tools import memory
from dagpost._tools.arrays import Floats, Integers, Masks
from dagpost._tools.checks import has_method, kind
from dagpost._tools.progress import NO_PROGRESS, Reporter
from dagpost._tools.spelling import bare
from dagpost._tools.text import position_of
from dagpost.data.recipe import Recipe
from dagpost.engines import Engine, engine_or_threads
from dagpost.errors import InputError
from dagpost.families.masks import distinct_rows
from dagpost.posterior.sample import DagSample
from dagpost.prediction.family_lists import families_in
from dagpost.prediction.gap_rows import few_completions, gap_masks, patterns_in, without_prediction
from dagpost.prediction.graph_products import Paths, log_sum_graphs, paths_of, sum_graphs, sum_groups, to_ratios
from dagpost.prediction.kinds import KINDS
from dagpost.prediction.pattern_sums import pattern_log_totals
from dagpost.prediction.rows import NewRows, Unseen, encode_rows
from dagpost.prediction.statistics import Statistics, check_statistics, prior_for
from dagpost.prediction.strips import LANES, Fill, Wanted, strip_of
from dagpost.scores import Score

#: Completions of one pattern of gaps, over all of its rows, up to which they are predicted as rows of their own.
_FEW_COMPLETIONS = 256
#: A sum at or above this has lost nothing to underflow that matters: what is lost of a graph is below 1e-307.
_SAFE = 1e-280


def log_predictive(
    sample: DagSample,
    statistics: Statistics,
    score: str | Score,
    data: Any,
    *,
    unseen: Unseen | None = None,
    recipe: Recipe | None = None,
    interventions: Any = None,
    engine: Engine | None = None,
    reporter: Reporter = NO_PROGRESS,
) -> Floats:
    """Log p(row | training data) of each row, averaged over the graphs of a sample by their weights.

    Of a sample with exogenous columns: log p(the other columns | these, training data).

    Parameters
    ----------
    statistics
        What `sufficient_statistics` counted in the training table for these graphs (or for more).
    score
        The score that the graphs were found with: the parameters have the prior that it stands for (BIC: Jeffreys').
    data
        New rows, in whatever `as_table` takes, with all columns of the training table by name (`encode_rows`). Where a
        `Table` says that a column was set by intervention, that column counts as given in that row.
    unseen
        What to do about a level that training does not know: "error"; "prior": it has the probability of a level
        that did not occur, and a configuration of parents with such a level that of one which did not; "missing": it is
        a gap. As the recipe says unless given.
    recipe, interventions
        What was done with the columns of the training table, and which columns were set in new rows (`encode_rows`).

    Of a row with gaps it is log p(the observed cells | training data): missing values are summed over, or integrated
    (gap_patterns.py), in each distinct graph. Gaps that are a level of their own, or refused, are what the recipe says.
    A row with a gap in a column that is exogenous, or was set in this row, gets nan: nothing says what it might be.
    Values of continuous columns have densities, not probabilities.

    >>> from dagpost import DagPosterior, datasets
    >>> from dagpost.prediction import sufficient_statistics
    >>> table = datasets.load("coronary")
    >>> sample = DagPosterior("bdeu").fit(table).sample(1000, seed=1)
    >>> statistics = sufficient_statistics(table, sample.parents, "bdeu")
    >>> round(float(np.exp(log_predictive(sample, statistics, "bdeu", table)).sum()), 9)  # every cell is in this table
    1.0
    """
    rows = encode_rows(data, statistics, unseen=unseen, recipe=recipe, interventions=interventions)
    result: Floats = _log_totals_of(sample, statistics, score, rows, -1, engine, reporter)[0]
    return result


def predictive_of_target(
    sample: DagSample,
    statistics: Statistics,
    score: str | Score,
    data: Any,
    target: str,
    *,
    unseen: Unseen | None = None,
    recipe: Recipe | None = None,
    interventions: Any = None,
    engine: Engine | None = None,
    reporter: Reporter = NO_PROGRESS,
) -> Floats:
    """P(target = level | what is observed of the other columns, training data), as (rows, levels of the target).

    The target must be discrete. It may be missing from the rows; if it is there, it is not looked at. The other
    parameters are those of `log_predictive`.

    >>> from dagpost import DagPosterior, datasets
    >>> from dagpost.prediction import sufficient_statistics
    >>> table = datasets.load("coronary")
    >>> sample = DagPosterior("bdeu").fit(table).sample(1000, seed=1)
    >>> statistics = sufficient_statistics(table, sample.parents, "bdeu")
    >>> without = table.to_pandas().head(2).drop(columns=["Smoking", "counts"])
    >>> predictive_of_target(sample, statistics, "bdeu", without, "Smoking").round(2)
    array([[0.61, 0.39],
           [0.61, 0.39]])
    """
    how = {"unseen": unseen, "recipe": recipe, "interventions": interventions, "engine": engine, "reporter": reporter}
    return as_shares(log_predictive_of_target(sample, statistics, score, data, target, **how))


def as_shares(log_totals: Floats) -> Floats:
    """The share of each level, as (rows, levels), from the logs of what the levels have, as (levels, rows)."""
    shares = np.exp(log_totals - log_totals.max(axis=0))
    return np.ascontiguousarray((shares / shares.sum(axis=0)).T)


def log_predictive_of_target(
    sample: DagSample,
    statistics: Statistics,
    score: str | Score,
    data: Any,
    target: str,
    *,
    unseen: Unseen | None = None,
    recipe: Recipe | None = None,
    interventions: Any = None,
    engine: Engine | None = None,
    reporter: Reporter = NO_PROGRESS,
) -> Floats:
    """Log p(target = level and the other columns of the row | training data), as (levels of the target, rows)."""
    node = position_of(target, check_statistics(statistics).names)
    if statistics.levels[node] is None:
        raise InputError(
            f"The column {target!r} is continuous; only the levels of a discrete column can be predicted from the "
            "others. For continuous columns, log_predictive gives the density of whole rows."
        )
    refuse_exogenous(target, kind(sample, "sample", DagSample, "a DagSample").exogenous)
    rows = encode_rows(data, statistics, unseen=unseen, target=target, recipe=recipe, interventions=interventions)
    refuse_set_target(rows, target, statistics.names)
    return _log_totals_of(sample, statistics, score, rows, node, engine, reporter)


def refuse_set_target(rows: NewRows, target: str, names: tuple[str, ...]) -> None:
    """Refuse to predict a column in rows in which it was set."""
    set_from_outside = rows.interventions >> np.uint64(names.index(target)) & np.uint64(1) == 1
    if set_from_outside.any():
        raise InputError(
            f"The column {target!r} was set by intervention in row {int(set_from_outside.argmax()) + 1} (the first row "
            "is row 1), so that there is nothing to predict. Leave such rows out."
        )


def refuse_exogenous(target: str, exogenous: tuple[str, ...]) -> None:
    """Refuse to predict a column that is not modelled."""
    if target in exogenous:
        raise InputError(
            f"The column {target!r} is exogenous: the model is conditional on it and does not predict it. Predict "
            f"another column, or take it out of {bare('exogenous')} and fit again."
        )


def _given_exogenous(rows: NewRows, sample: DagSample) -> NewRows:
    """The rows with exogenous columns as if they had been set in all of them."""
    kind(sample, "sample", DagSample, "a DagSample")
    given = sum(1 << position_of(name, sample.names) for name in sample.exogenous)
    return rows._replace(interventions=rows.interventions | np.uint64(given)) if given else rows


def column_filler(statistics: Statistics, score: str | Score, wanted: Wanted, target: int) -> Fill:
    """Make ready what all rows share; in the result, `target` has the level that a column asks for."""
    prior = prior_for(statistics, score)
    return KINDS[type(prior)].filler(statistics, prior, wanted, target)


class _Plan(NamedTuple):
    """What all rows share.

    The columns come in `1 + levels` parts: those that do not depend on the target, then for each of its levels those
    that do. Each part ends in a column of ones, which stands for the nodes whose family is in the other part.
    """

    fill: Fill
    #: The node of each column, -1 for ones.
    nodes: Integers
    independent: int
    dependent: int
    levels: int
    #: The graphs by the first part, with their weights and the number of their second part; all of each graph by both.
    graphs: Paths
    weights: Floats
    groups: Integers
    whole: Paths
    #: The distinct second parts.
    seconds: Paths


def _plan_of(sample: DagSample, statistics: Statistics, score: str | Score, target: int, levels: int) -> _Plan:
    kind(sample, "sample", DagSample, "a DagSample")
    if sample.names != statistics.names:
        raise InputError("The sample and the counted table have different columns: count the table it was drawn from.")
    weighty = sample.weights > 0
    families = families_in(sample.parents[weighty])
    depends = np.zeros(len(families.children), dtype=np.bool_)
    if target >= 0:
        depends = (families.children == target) | (families.parents >> np.uint64(target) & np.uint64(1) == 1)
    independent, dependent = int((~depends).sum()), int(depends.sum())
    place = np.where(depends, np.cumsum(depends), np.cumsum(~depends)) - 1
    # Rows of graphs share more of their beginning when the nodes with few families come first.
    falling = np.argsort(np.bincount(families.children), kind="stable")
    numbers = families.numbers[:, falling]
    in_second = depends[numbers]
    first_part = np.where(in_second, independent, place[numbers]).astype(np.int32)
    second_part = np.where(in_second, place[numbers], dependent).astype(np.int32)
    found, groups = distinct_rows(second_part)
    seconds = paths_of(second_part[found])
    found, member = distinct_rows(np.column_stack([first_part, groups.astype(np.int32)]))
    whole = np.where(in_second, independent + 1 + second_part, first_part).astype(np.int32)
    ones, zero = np.array([-1]), np.zeros(1, dtype=np.uint64)
    children = np.concatenate([families.children[~depends], ones, *[families.children[depends], ones] * levels])
    parents = np.concatenate([families.parents[~depends], zero, *[families.parents[depends], zero] * levels])
    of_target = np.repeat(np.arange(-1, levels), [independent + 1, *[dependent + 1] * levels])
    return _Plan(
        column_filler(statistics, score, Wanted(children, parents, of_target), target),
        children,
        independent,
        dependent,
        levels,
        paths_of(first_part[found]),
        np.bincount(member, weights=sample.weights[weighty]).astype(np.float64),
        groups[found],
        paths_of(whole[found]),
        seconds,
    )


def _log_totals_of(
    sample: DagSample,
    statistics: Statistics,
    score: str | Score,
    rows: NewRows,
    target: int,
    engine: Engine | None,
    reporter: Reporter,
) -> Floats:
    """Log of the sum over all graphs and over the missing values of each row, as (levels of the target, rows)."""
    engine = engine_or_threads(engine)
    has_method(reporter, "reporter", "stage", "a Reporter")
    arities = statistics.arities
    levels = arities[target] if target >= 0 else 1
    layout = _plan_of(sample, statistics, score, target, levels)
    rows = _given_exogenous(rows, sample)
    masks = gap_masks(rows)
    if target >= 0:
        masks &= ~(np.uint64(1) << np.uint64(target))
    if not masks.any():
        return _log_totals(layout, rows, engine, reporter)
    without = without_prediction(rows, masks, statistics.names)
    result = np.full((levels, len(masks)), np.nan)
    chosen = np.flatnonzero(~without)
    prior = prior_for(statistics, score)

    own, own_masks = rows.chosen(chosen), masks[chosen]
    found = np.empty((levels, len(chosen)))
    complete = np.flatnonzero(own_masks == 0)
    if len(complete):
        found[:, complete] = _log_totals(layout, own.chosen(complete), engine, reporter)
    patterns = patterns_in(own_masks, own.interventions, np.flatnonzero(own_masks != 0))
    batches, patterns = few_completions(own, patterns, arities, _FEW_COMPLETIONS)
    for batch in batches:
        found[:, batch.owners] = batch.added_up(_log_totals(layout, batch.rows, engine, reporter))
    about = sample, statistics, prior, own, patterns, target, levels, engine, reporter
    for places, totals in pattern_log_totals(*about):
        found[:, places] = totals
    result[:, chosen] = found
    return result


def _log_totals(layout: _Plan, rows: NewRows, engine: Engine, reporter: Reporter) -> Floats:
    """Log of the sum over all graphs of complete rows, as (levels of the target, rows)."""
    needed = 8 * LANES * (2 * len(layout.nodes) + len(layout.seconds.columns)) * engine.workers
    memory.require(
        needed, f"Prediction from {len(layout.nodes):,} columns", "Predict from fewer graphs, or on fewer threads."
    )
    count = rows.cells.shape[1]
    result = np.empty((layout.levels, count))
    starts = range(0, count, LANES)

    def predict(start: int, cancel: Integers) -> Floats:
        return _strip_totals(layout, *strip_of(rows, start), cancel)

    with reporter.stage("prediction", len(starts)) as stage:
        for start, totals in zip(starts, engine.run(predict, starts), strict=True):
            result[:, start : start + LANES] = totals[:, : count - start]
            stage.advance(1)
    return result


def _strip_totals(layout: _Plan, cells: NDArray[Any], interventions: Masks, cancel: Integers) -> Floats:
    logs = np.empty((len(layout.nodes), LANES))
    layout.fill(cells, interventions, logs)
    ratios, log_scale = np.empty_like(logs), np.empty(LANES)
    to_ratios(logs, layout.nodes, len(cells), ratios, log_scale)
    sums = np.zeros((len(layout.seconds.columns), LANES))
    sum_graphs(ratios, layout.graphs, layout.weights, layout.groups, sums, cancel)
    totals = np.zeros((layout.levels, LANES))
    for level in range(layout.levels):
        begin = layout.independent + 1 + level * (layout.dependent + 1)
        sum_groups(ratios[begin : begin + layout.dependent + 1], layout.seconds, sums, totals[level])
    lost = ~(totals.max(axis=0) >= _SAFE)
    with np.errstate(divide="ignore"):
        log_totals = np.log(totals) + log_scale
    if lost.any():
        exact = np.empty((layout.levels, LANES))
        for level in range(layout.levels):
            shift = level * (layout.dependent + 1)
            log_sum_graphs(
                logs, layout.whole, np.log(layout.weights), layout.independent + 1, shift, exact[level], cancel
            )
        log_totals[:, lost] = exact[:, lost]
    return log_totals
