"""How probable are statements about the graph of a fitted model? Exact where that can be, else known as well as can be.

For a table with gaps nothing is exact: averages over completed tables come first, then the drawn graphs or, where these
are known better, completed tables that are asked anew.

Statements about the graph of a table with gaps: averages of what is exact given each completed table.

Edges, paths and pairs are answered from the series that chains have kept. Conditions on the parents of one node are
sums of average family probabilities. Any other statement is answered by the graphs that were drawn, and, where it has
an exact answer for a complete table, by the average of these for some of the completed tables, evenly from all chains;
a conditional probability is the ratio of two such averages over the same tables. The narrower interval wins: averages
where tables differ little, or graphs in question are rare, and the many more tables behind the graphs elsewhere.

Time: an exact pass for each table that is asked. The first `_FEWEST` show whether more of them would be known better
than the graphs; then there are at most `_MOST`, within what is reckoned to take `PATIENCE_SECONDS` for all statements.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from dagpost._tools.arrays import Floats, Integers
from dagpost._tools.progress import NO_PROGRESS
from dagpost._tools.text import position_of
from dagpost.engines.inline import InlineEngine
from dagpost.errors import PrecisionError, ResourceError
from dagpost.exact import order, structure
from dagpost.exact.structure import LARGEST_ERROR
from dagpost.features import And, Edge, Feature, Path, Query, projected_conditions
from dagpost.features.feature import Not
from dagpost.features.statements.adjacent import Adjacent
from dagpost.posterior.answers import IMPOSSIBLE, Known, exact_answer, exact_sums, in_graphs_of, listed_families
from dagpost.posterior.answers import PATIENCE_SECONDS as EXACT_PATIENCE_SECONDS
from dagpost.posterior.augmented import EDGES, PATHS, Augmented
from dagpost.posterior.augmented_workspace import AugmentedWorkspace
from dagpost.posterior.estimate import Estimate, averaged_estimate, ratio_estimate, summed_estimate
from dagpost.posterior.shares import with_left_out
from dagpost.scores import class_of

if TYPE_CHECKING:
    from dagpost.posterior.completed_condition import UnderTables
    from dagpost.posterior.fitted import Fitted
    from dagpost.posterior.workspace import SummingWorkspace


#: All statements of one call together take no longer than this, or are left to samples.
PATIENCE_SECONDS = 10.0
#: How many completed tables are asked, at least and at most.
_FEWEST, _MOST = 50, 400
#: What a table takes beside its sums, in seconds, and how many sums a statement may take. Reckoned, not measured: an
#: answer must not depend on the machine.
_A_TABLE, _SUMS = 6e-3, 3.0
#: With so few columns, threads cost more than they bring.
_SMALL = 12


def known_answers(
    queries: Sequence[Query], fitted: Fitted, confidence: float, patience: float = EXACT_PATIENCE_SECONDS
) -> list[Estimate | None]:
    """The probability of each statement that is exact, or that chains have kept themselves; None for others."""
    if not fitted.completes:
        return [exact_answer(query, fitted, patience) for query in queries]
    augmented = fitted.augmented
    if augmented is None:
        return [None] * len(queries)
    return [_from_series(_Asked.of(query, fitted), augmented, fitted, confidence) for query in queries]


def better_answers(
    queries: Sequence[Query],
    drawn: Sequence[Estimate],
    fitted: Fitted,
    confidence: float,
    *,
    patience: float = PATIENCE_SECONDS,
) -> list[Estimate]:
    """The probability of each statement by completed tables, where that is known better than from the drawn graphs."""
    augmented = fitted.augmented
    if augmented is None or not augmented.exact_given_table or not (count := reckoned_tables(fitted, patience)):
        return list(drawn)
    asked = [_Asked.of(query, fitted) for query in queries]
    _ask_some(asked, augmented.spread(_FEWEST), fitted, patience)
    found = [one.estimate(augmented, fitted, confidence) for one in asked]
    # Errors fall with the root of the number of tables; sums over families are over all of them already.
    narrower = math.sqrt(_FEWEST / count)
    for one, own, other in zip(asked, drawn, found, strict=True):
        worth_it = other is not None and other.samples < augmented.tables and _width(other) * narrower < _width(own)
        one.answerable = one.answerable and count > _FEWEST and worth_it
    again = [one for one in asked if one.answerable]
    _ask_some(again, augmented.spread(count), fitted, patience)
    best = []
    for one, own, few in zip(asked, drawn, found, strict=True):
        other = few if one not in again else one.estimate(augmented, fitted, confidence)
        best.append(own if other is None or _width(own) <= _width(other) else other)
    return best


def _width(estimate: Estimate) -> float:
    """How wide the interval is; infinite where nothing is known."""
    return math.inf if math.isnan(estimate) and estimate.confidence < 1.0 else estimate.upper - estimate.lower


def _from_series(asked: _Asked, augmented: Augmented, fitted: Fitted, confidence: float) -> Estimate | None:
    series = None if asked.condition is not None else _series(asked.feature, augmented, fitted.names)
    if series is None:
        return None
    return averaged_estimate(series, confidence, fitted.target, augmented.tables, class_of(fitted.score).tables)


def _series(feature: Feature, augmented: Augmented, names: Sequence[str]) -> Floats | None:
    """The probability of an edge, a path or a pair given each completed table; None for any other statement."""
    if isinstance(feature, Not):
        inner = _series(feature.part, augmented, names)
        return None if inner is None else 1.0 - inner
    if isinstance(feature, Adjacent):
        onward, back = (_series(edge, augmented, names) for edge in feature.directions)
        return None if onward is None or back is None else onward + back
    if isinstance(feature, Edge):
        return _entry(augmented, EDGES, feature.parent, feature.child, names)
    if isinstance(feature, Path) and feature.longest is None and augmented.paths is not None:
        return _entry(augmented, PATHS, feature.source, feature.target, names)
    return None


def _entry(augmented: Augmented, kind: str, start: str, end: str, names: Sequence[str]) -> Floats:
    pair = position_of(start, names), position_of(end, names)
    return augmented.by_chain(kind)[:, :, *pair].astype(np.float64)


@dataclass(eq=False)
class _Asked:
    """A statement, and what was found for it given each completed table, as (chains, tables): nan where not asked.

    With a condition, `both` is the probability that it and the statement hold.
    """

    feature: Feature
    condition: Feature | None
    #: Whether completed tables can answer it.
    answerable: bool = True
    both: Floats = field(default_factory=lambda: np.empty((0, 0)))
    weight: Floats = field(default_factory=lambda: np.empty((0, 0)))
    #: How far rounding may have moved any of the two.
    error: float = 0.0

    @classmethod
    def of(cls, query: Query, fitted: Fitted) -> _Asked:
        return cls(in_graphs_of(fitted, query.feature), query.given)

    def begin(self, shape: tuple[int, int]) -> None:
        self.both, self.weight = np.full(shape, math.nan), np.ones(shape)

    def ask(self, place: tuple[int, int], known: Known) -> None:
        """Answer it for one completed table."""
        try:
            weight = None if self.condition is None else known.answer(self.condition)
            impossible = weight == IMPOSSIBLE
            whole = self.feature if self.condition is None else And((self.feature, self.condition))
            both = weight if impossible else known.answer(whole)
        except (PrecisionError, ResourceError):
            self.answerable = False
            return
        if both is None or (weight is None and self.condition is not None):
            self.answerable = False
            return
        self.both[place] = both.value
        self.error = max(self.error, both.error)
        if weight is not None:
            self.weight[place] = weight.value
            self.error = max(self.error, weight.error)

    def estimate(self, augmented: Augmented, fitted: Fitted, confidence: float) -> Estimate | None:
        """The average, or the ratio of averages; None where too little is known for one."""
        if not self.answerable or not self.both.size:
            return None
        target, tables, called = fitted.target, self.both.size, class_of(fitted.score).tables
        if self.condition is None:
            total = _family_sum(self.feature, augmented, fitted)
            if total is None:
                return averaged_estimate(self.both, confidence, target, tables, called)
            value, worth = total
            return summed_estimate(value, self.both, worth, confidence, target, augmented.tables, called)
        weight = float(self.weight.mean())
        if weight == 0.0:
            return Estimate(math.nan, 0.0, 1.0, 1.0, "the condition is impossible", 0, 0.0, target)
        if weight <= self.error or 2.0 * self.error / weight > LARGEST_ERROR:
            return None
        return ratio_estimate(self.both, self.weight, confidence, target, tables, called)


def _family_sum(feature: Feature, augmented: Augmented, fitted: Fitted) -> tuple[float, float] | None:
    """The probability of a statement about the parents of single nodes, over all tables, and what these are worth."""
    found = next(iter(projected_conditions(feature, fitted.names)), None)
    if found is None or found.sums:
        return None
    part, families = some_completed(fitted), average_families(fitted)
    single = [pair for way in found.ways for pair in way.items()]
    value = sum(float(families[node][met(part.masks_of_sets(node, found.bits))].sum()) for node, met in single)
    return 1.0 - value if found.untrue else value, augmented.worth([node for node, _ in single])


def average_families(fitted: Fitted) -> list[Floats]:
    """The average probability of every parent set, an array a node, where all graphs were summed over."""
    assert fitted.augmented is not None
    assert fitted.augmented.families is not None
    return split_by_node(fitted, fitted.augmented.families)


def split_by_node(fitted: Fitted, families: Floats) -> list[Floats]:
    """What parent sets have, those of the first node first, as an array a node."""
    part = some_completed(fitted)
    sizes = [len(part.own_weights(node)) for node in range(len(fitted.names))]
    return np.split(families, np.cumsum(sizes)[:-1])


def known_paths(fitted: Fitted, patience: float = EXACT_PATIENCE_SECONDS) -> Floats | None:
    """The probability of a directed path for every pair: exact, and nan where that is left to samples, or averaged.

    None where all are left to samples.
    """
    if fitted.augmented is not None:
        return fitted.augmented.paths
    if fitted.completes:
        under = _under_tables(fitted)
        return None if under is None or not fitted.results.tables else under.paths
    found = exact_sums(fitted)
    return None if found is None else Known(fitted.names, *found, patience).paths()


def _under_tables(fitted: Fitted) -> UnderTables | None:
    """What completed tables say under a condition, where the model has one."""
    return None if fitted.condition is None or not fitted.completes else fitted.condition.under_tables


def families_listed(fitted: Fitted, child: str, count: int | None = None) -> list[tuple[tuple[int, ...], float]] | None:
    """The allowed parent sets of a variable with their probabilities, exact or averaged over completed tables.

    None where the probabilities of whole parent sets are not computed.
    """
    under = _under_tables(fitted)
    if under is not None and fitted.condition is not None:
        base, node = fitted.condition.base, position_of(child, fitted.names)
        found = listed_families([some_completed(base)], node, split_by_node(base, under.families)[node], count)
        return [own for own in found if own[1] > 0.0]
    node, sums = position_of(child, fitted.names), exact_sums(fitted)
    if sums is not None:
        return listed_families(sums[0].parts, node, sums[1].families[node], count)
    if fitted.augmented is None or not fitted.augmented.exact_given_table:
        return None
    return listed_families([some_completed(fitted)], node, average_families(fitted)[node], count)


def pair_intervals(
    fitted: Fitted, pairs: Sequence[tuple[int, int]], confidence: float
) -> dict[tuple[int, int], tuple[float, float]]:
    """Between what the probability is that two columns are joined, for some pairs; none where no series are kept."""
    found = fitted.augmented
    if found is None or not found.has_series:
        return {}
    series = found.series(EDGES)
    joined = {(i, j): series[:, :, i, j].astype(np.float64) + series[:, :, j, i] for i, j in pairs}
    estimates = {pair: averaged_estimate(own, confidence, fitted.target, found.tables) for pair, own in joined.items()}
    return {pair: (estimate.lower, estimate.upper) for pair, estimate in estimates.items()}


def some_completed(fitted: Fitted) -> SummingWorkspace:
    """The workspace of one completed table: which families there are is the same for all."""
    return fitted.once("a completed table", lambda: weighed_table(fitted, 0))


def weighed_table(fitted: Fitted, number: int) -> SummingWorkspace:
    """The workspace of one of the completed tables that are kept."""
    found, workspace = fitted.augmented, fitted.workspace
    assert found is not None
    assert isinstance(workspace, AugmentedWorkspace)
    part = workspace.weighed(found.completions[number], int(found.value_of[number]))
    if len(fitted.names) <= _SMALL:
        part.run_on(InlineEngine(), NO_PROGRESS)
    return part


def reckoned_tables(fitted: Fitted, patience: float) -> int:
    """How many completed tables are asked within what is reckoned to take so long; 0: too few."""
    seconds = _seconds_a_table(fitted)
    count = _FEWEST
    while 2 * count <= _MOST and 2 * count * seconds <= patience:
        count *= 2
    return count if count * seconds <= patience else 0


def _seconds_a_table(fitted: Fitted) -> float:
    """Roughly how long statements take for one completed table, on one core."""
    columns = some_completed(fitted).largest
    expected = order.expected_seconds if fitted.modularity == "order" else structure.expected_seconds
    return _A_TABLE + _SUMS * expected(columns, 1)


def _ask_some(asked: Sequence[_Asked], numbers: Integers, fitted: Fitted, patience: float) -> None:
    """Answer statements for the tables of these numbers, as (chains, tables)."""
    shape = (numbers.shape[0], numbers.shape[1])
    for one in asked:
        one.begin(shape)
    for place in np.ndindex(shape):
        open_ones = [one for one in asked if one.answerable]
        if not open_ones:
            break
        part = weighed_table(fitted, int(numbers[place]))
        sums = part.summed(fitted.modularity)
        for one in open_ones:
            one.ask((place[0], place[1]), Known(fitted.names, part, sums, patience / _FEWEST))


def probabilities(queries: Sequence[Query], fitted: Fitted, confidence: float) -> list[Estimate]:
    """The probability of each statement, in the order in which they are asked."""
    if fitted.condition is not None and fitted.condition.drawn:
        # The model whose drawn graphs were restricted knows more than those that are left: it may have exact answers.
        within, asked = fitted.condition.drawn.asked(queries)
        return probabilities(asked, within, confidence)

    def others(asked: Sequence[Query]) -> list[Estimate]:
        return _probabilities(asked, fitted, confidence)

    found = with_left_out(queries, fitted.settings.get("sinks", ()), fitted.modularity, others)
    return [estimate.given(fitted.exogenous) for estimate in found]


def _probabilities(queries: Sequence[Query], fitted: Fitted, confidence: float) -> list[Estimate]:
    """Those of statements that the model leaves open."""
    answers = known_answers(queries, fitted, confidence)
    left = [query for query, answer in zip(queries, answers, strict=True) if answer is None]
    drawn = fitted.own_sample().probability(left, confidence=confidence) if left else []
    known = iter(better_answers(left, drawn, fitted, confidence) if left and fitted.completes else drawn)
    return [next(known) if answer is None else answer for answer in answers]
