"""Statements about the graph of a table with gaps: averages of what is exact given each completed table.

Edges, paths and pairs are answered from the series that chains have kept. Conditions on the parents of one node are
sums of average family probabilities. Any other statement that has an exact answer for a complete table is answered for
some hundred of the completed tables, evenly from all chains, and averaged; a conditional probability is the ratio of
two such averages over the same tables. What has no exact answer, or would take too long, is left to samples.

Time: an exact pass for each table that is asked. How many are asked is settled by the time of the first ones: 400, or
by halves as few as 50, within `PATIENCE_SECONDS` for all statements together.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from dagpost._tools.arrays import Floats, Integers
from dagpost._tools.text import position_of
from dagpost.errors import PrecisionError, ResourceError
from dagpost.exact.structure import LARGEST_ERROR
from dagpost.features import And, Edge, Feature, Path, Query, projected_conditions
from dagpost.features.feature import Not
from dagpost.features.statements.adjacent import Adjacent
from dagpost.features.statements.path_in_time import PathInTime
from dagpost.posterior.answers import Answer, answer_of
from dagpost.posterior.augmented import EDGES, PATHS, Augmented
from dagpost.posterior.averaged_estimate import averaged_estimate, ratio_estimate, summed_estimate
from dagpost.posterior.estimate import Estimate
from dagpost.posterior.results import exact_results

if TYPE_CHECKING:
    from dagpost.posterior.fitted import Fitted

#: All statements of one call together take no longer than this, or are left to samples.
PATIENCE_SECONDS = 10.0
#: How many completed tables are asked: the most that there is time for.
_TABLES = (400, 200, 100, 50)
#: Passes that are timed, after a first one that may have to compile.
_TIMED = 3


def averaged_answers(
    queries: Sequence[Query], fitted: Fitted, confidence: float, *, patience: float = PATIENCE_SECONDS
) -> list[Estimate | None]:
    """The probability of each statement for a table with gaps; None where only a sample of graphs can tell."""
    augmented = fitted.augmented
    if augmented is None:
        return [None] * len(queries)
    asked = [_Asked.of(query, fitted) for query in queries]
    answers = [_from_series(one, augmented, fitted, confidence) for one in asked]
    left = [one for one, answer in zip(asked, answers, strict=True) if answer is None]
    if left and augmented.families is not None:
        _ask_tables(left, augmented, fitted, patience)
    return [
        one.estimate(augmented, fitted, confidence) if answer is None else answer
        for one, answer in zip(asked, answers, strict=True)
    ]


def _from_series(asked: _Asked, augmented: Augmented, fitted: Fitted, confidence: float) -> Estimate | None:
    series = None if asked.condition is not None else _series(asked.feature, augmented, fitted.names)
    if series is None:
        return None
    return averaged_estimate(series, confidence, fitted.target, augmented.tables)


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
        series = _entry(augmented, PATHS, feature.source, feature.target, names)
        return None if np.isnan(series).any() else series
    return None


def _entry(augmented: Augmented, kind: str, start: str, end: str, names: Sequence[str]) -> Floats:
    pair = position_of(start, names), position_of(end, names)
    return augmented.series(kind)[:, :, *pair].astype(np.float64)


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
        feature = query.feature
        if isinstance(feature, PathInTime) and fitted.settings.get("apart"):
            feature = feature.by_lagged_edges(fitted.names)
        return cls(feature, query.given)

    def begin(self, shape: tuple[int, int]) -> None:
        self.both, self.weight = np.full(shape, math.nan), np.ones(shape)

    def ask(self, place: tuple[int, int], names: Sequence[str], part: Any, results: Any, patience: float) -> None:
        """Answer it for one completed table."""
        try:
            weight = None if self.condition is None else answer_of(self.condition, names, part, results, patience)
            impossible = weight == Answer(0.0, 0.0)
            whole = self.feature if self.condition is None else And((self.feature, self.condition))
            both = weight if impossible else answer_of(whole, names, part, results, patience)
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
        target, tables = fitted.target, self.both.size
        if self.condition is None:
            total = _family_sum(self.feature, augmented, fitted)
            if total is None:
                return averaged_estimate(self.both, confidence, target, tables)
            value, worth = total
            return summed_estimate(value, self.both, worth, confidence, target, augmented.tables)
        weight = float(self.weight.mean())
        if weight == 0.0:
            return Estimate(math.nan, 0.0, 1.0, 1.0, "the condition is impossible", 0, 0.0, target)
        if weight <= self.error or 2.0 * self.error / weight > LARGEST_ERROR:
            return None
        return ratio_estimate(self.both, self.weight, confidence, target, tables)


def _family_sum(feature: Feature, augmented: Augmented, fitted: Fitted) -> tuple[float, float] | None:
    """The probability of a statement about the parents of single nodes, over all tables, and what these are worth."""
    found = projected_conditions(feature, fitted.names)
    families = augmented.families
    if families is None or found is None or any(len(term.conditions) != 1 for term in found.conditions.terms):
        return None
    part, value, nodes = _some_part(augmented, fitted), float(found.conditions.constant), []
    for term in found.conditions.terms:
        ((node, condition),) = term.conditions.items()
        value += term.sign * float(families[node][condition(part.masks_of_sets(node, found.bits))].sum())
        nodes.append(node)
    return value, augmented.worth(nodes)


def _some_part(augmented: Augmented, fitted: Fitted) -> Any:
    """The workspace of one completed table: which families there are is the same for all."""
    return fitted.once(
        "a completed table",
        lambda: fitted.workspace.weighed(  # type: ignore[attr-defined]
            np.asarray(augmented.completions[0], dtype=np.float64), int(augmented.value_of[0])
        ),
    )


def _ask_tables(asked: Sequence[_Asked], augmented: Augmented, fitted: Fitted, patience: float) -> None:
    """Answer statements for some of the completed tables; none, where not even the fewest are asked in time."""
    chosen = augmented.spread(_TABLES[0])
    seconds = []
    trial = chosen.ravel()[: 1 + _TIMED]
    for number in trial:
        begun = time.perf_counter()
        _ask_some(asked, np.array([[number]]), augmented, fitted, patience / _TABLES[-1])
        seconds.append(time.perf_counter() - begun)
    each = float(np.median(seconds[1:])) if len(seconds) > 1 else seconds[0]
    count = next((count for count in _TABLES if count * each <= patience), None)
    if count is None:
        for one in asked:
            one.answerable = False
        return
    _ask_some(asked, augmented.spread(count), augmented, fitted, patience)


def _ask_some(
    asked: Sequence[_Asked], numbers: Integers, augmented: Augmented, fitted: Fitted, patience: float
) -> None:
    """Answer the statements that can be answered for the tables of these numbers, as (chains, tables)."""
    shape = (numbers.shape[0], numbers.shape[1])
    for one in asked:
        one.begin(shape)
    values = augmented.value_of
    for place in np.ndindex(shape):
        number = int(numbers[place])
        if not any(one.answerable for one in asked):
            return
        cells = np.asarray(augmented.completions[number], dtype=np.float64)
        part = fitted.workspace.weighed(cells, int(values[number]))  # type: ignore[attr-defined]
        results = exact_results(fitted.modularity, part.summed(fitted.modularity))
        for one in asked:
            if one.answerable:
                one.ask((place[0], place[1]), fitted.names, part, results, patience)
