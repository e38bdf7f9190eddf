"""Which statements about the graph can be answered exactly, and the answer.

Conditions on the parents of one node are sums of family probabilities. Conditions on the parents of several nodes need
the evidence once more, with weight zero for the families that break a condition: the ratio of the evidences is the
probability. Statements about the descendants, or the ancestors, of one node come from the distribution of that set;
together with conditions on parents, from its distribution under the weights that these leave. A model that averages
over a setting of its score mixes each of these probabilities before any is divided by another. Everything else is left
to samples. features/reductions.py says which statement is of which kind.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dagpost._tools import memory
from dagpost._tools.arrays import Floats, Integers, Masks
from dagpost._tools.text import position_of
from dagpost.errors import PrecisionError, ResourceError
from dagpost.exact import paths, structure
from dagpost.families.masks import unions_of
from dagpost.features import (
    And,
    Edge,
    Feature,
    Path,
    ProjectedReach,
    ProjectedWays,
    Query,
    projected_conditions,
    projected_reach,
    projected_ways,
)
from dagpost.features.reductions import Conditions
from dagpost.features.statements.path_in_time import PathInTime
from dagpost.posterior.estimate import Estimate, exact_estimate
from dagpost.posterior.exact_workspace import ExactWorkspace
from dagpost.posterior.mixture import NEGLIGIBLE, weightiest
from dagpost.posterior.ways_left import all_of, possible_ways, restricted_part
from dagpost.posterior.workspace import Sums, Workspace

if TYPE_CHECKING:
    from dagpost.posterior.fitted import Fitted
    from dagpost.posterior.workspace import SummingWorkspace

#: An exact answer that would take longer than this is left to samples.
PATIENCE_SECONDS = 30.0
#: The most columns outside a component of which all sets are tried.
_MOST_BEYOND = 8
#: The most ways in which conditions on parents may be met beside a statement about reach: each takes its own sums.
_MOST_WAYS = 8
#: A conditional probability that rounding may have moved by more than this is not called exact.
_LARGEST_ERROR = structure.LARGEST_ERROR
#: Relative error that a ratio of two evidences is taken to have; 1e-10 is the most that was seen.
_RATIO_ERROR = 1e-8
#: Where differences of sums may move a conditional probability by more than this, it is computed in logs if possible.
_ENOUGH_DIGITS = 1e-9


@dataclass(frozen=True)
class Answer:
    """A probability, and how far rounding may have moved it."""

    value: float
    error: float


#: What no graph has, whatever the data.
IMPOSSIBLE = Answer(0.0, 0.0)


def exact_sums(fitted: Fitted) -> tuple[Workspace, Sums] | None:
    """The one judge of what is exact beyond edges: where all families were summed, their tables and results."""
    workspace, sums = fitted.workspace, fitted.results.sums
    return (workspace, sums) if workspace.parts and sums is not None else None


def in_graphs_of(fitted: Fitted, feature: Feature) -> Feature:
    """A statement as the graphs of a model say it: without edges among present values, a path in time by its edges."""
    by_edges = isinstance(feature, PathInTime) and fitted.settings.get("apart")
    return feature.by_lagged_edges(fitted.names) if by_edges else feature  # type: ignore[attr-defined]


def exact_answer(query: Query, fitted: Fitted, patience: float = PATIENCE_SECONDS) -> Estimate | None:
    """The exact probability of a statement, or None where only a sample can tell in reasonable time and memory."""
    query = replace(query, feature=in_graphs_of(fitted, query.feature))
    found = exact_sums(fitted)
    if found is None:
        if not fitted.results.exact or query.given is not None or not isinstance(query.feature, Edge):
            return None
        parent, child = (position_of(name, fitted.names) for name in (query.feature.parent, query.feature.child))
        return exact_estimate(float(np.clip(fitted.results.edges[parent, child], 0.0, 1.0)), fitted.target)
    try:
        value = Known(fitted.names, *found, patience).probability(query)
    except (PrecisionError, ResourceError):
        return None
    if value is None:
        return None
    if math.isnan(value):
        return Estimate(math.nan, 0.0, 1.0, 1.0, "the condition is impossible", 0, 0.0, fitted.target)
    return exact_estimate(value, fitted.target)


def listed_families(
    parts: Sequence[SummingWorkspace], node: int, probabilities: Floats, count: int | None
) -> list[tuple[tuple[int, ...], float]]:
    """The parent sets of a node that some part allows, with these probabilities, by their numbers, best first."""
    best_first = np.argsort(-probabilities, kind="stable")
    allowed = np.logical_or.reduce([np.isfinite(part.own_weights(node)) for part in parts])
    best_first = best_first[allowed[best_first]][:count]
    return list(zip(parts[0].parents_of_sets(node, best_first), probabilities[best_first].tolist(), strict=True))


class Known(NamedTuple):
    """What was summed over all graphs, or orders, of some columns; and how long an answer may take."""

    names: Sequence[str]
    tables: Workspace
    results: Sums
    patience: float = PATIENCE_SECONDS

    def probability(self, query: Query) -> float | None:
        """The probability of a statement, perhaps under a condition; nan if no graph satisfies the condition."""
        if query.given is None:
            answer = self.answer(query.feature)
            return None if answer is None else answer.value
        condition = self.answer(query.given)
        if condition is None or condition == IMPOSSIBLE:
            return None if condition is None else math.nan
        share, error = None, math.inf
        if condition.value > condition.error:
            both = self.answer(query.feature & query.given)
            if both is None:
                return None
            share = min(both.value / condition.value, 1.0)
            error = (both.error + share * condition.error) / condition.value
        if self.results.error_bound > _ENOUGH_DIGITS * condition.value:
            # A condition that is all but impossible may be nothing but rounding error; evidences are not, in logs.
            log_given = self._log_share_of(query.given)
            log_both = None if log_given in (None, -math.inf) else self._log_share_of(query.feature & query.given)
            if log_given is not None and log_both is not None:
                share, error = min(math.exp(log_both - log_given), 1.0), 0.0
        # Otherwise samples are more honest.
        return share if error < _LARGEST_ERROR else None

    def answer(self, feature: Feature) -> Answer | None:
        """The probability of a statement without a condition, or None where only a sample can tell."""
        if isinstance(feature, Path) and feature.longest is None:
            value = self._path(*(position_of(name, self.names) for name in (feature.source, feature.target)))
            if value is not None:
                return Answer(value, self.results.error_bound)
        answer = None
        for found in projected_conditions(feature, self.names):
            # Where a difference from 1 has lost its digits, a sum may have them.
            enough = answer is not None and (found.untrue or answer.error <= _RATIO_ERROR * answer.value)
            if not enough and self._affordable(found.sums):
                answers = [self._conjunction(way, found.bits) for way in found.ways]
                value = sum(way.value for way in answers)
                answer = Answer(1.0 - value if found.untrue else value, sum(way.error for way in answers))
        if answer is not None:
            return answer
        reach = projected_reach(feature, self.names)
        if reach is not None:
            times = len(self.tables.parts)
            probability = _mean((share, self._reach(reach, part, times)) for share, part in self._weighty())
        elif isinstance(feature, And):
            log_share = self._log_share_of(feature)
            probability = None if log_share is None else math.exp(log_share)
        else:
            return None
        # Whichever prior: this comes from differences.
        return None if probability is None else Answer(probability, self.results.error_bound)

    def _affordable(self, sums: int) -> bool:
        """Whether so many sums over what conditions leave fit into memory and take no longer than one waits."""
        modularity = self.results.modularity
        if modularity == "structure" and sums and not self.tables.structure_is_affordable():
            return False
        return sums * self.tables.seconds(modularity) / 2.0 <= self.patience

    def _conjunction(self, way: Conditions, bits: Masks) -> Answer:
        """Probability that the parents of each node meet its condition."""
        part, results = self.tables.parts[0], self.results
        if len(way) == 1:
            ((node, condition),) = way.items()
            value = float(results.families[node][condition(part.masks_of_sets(node, bits))].sum())
            return Answer(value, results.error_bound * (1.0 if results.modularity == "structure" else value))
        log_share = self._log_share(ProjectedWays([dict(way)], bits, untrue=False))
        if log_share is None or log_share == -math.inf:
            return IMPOSSIBLE
        # A ratio of evidences loses digits in proportion to itself, however small it is; below what a number holds,
        # all.
        return Answer(math.exp(log_share), max(math.exp(log_share) * _RATIO_ERROR, sys.float_info.min))

    def _log_share_of(self, feature: Feature) -> float | None:
        """Log of the probability of conditions on parents, perhaps together with a statement about one node's reach."""
        parts = feature.parts if isinstance(feature, And) else (feature,)
        on_parents = [part for part in parts if projected_ways(part, self.names) is not None]
        others = [part for part in parts if part not in on_parents]
        reach = projected_reach(all_of(others), self.names) if others else None
        found = projected_ways(all_of(on_parents), self.names) if on_parents else None
        if found is None or (others and reach is None) or (not others and not self._affordable(len(found.ways))):
            return None
        return self._log_share(found, reach)

    def _log_share(self, found: ProjectedWays, reach: ProjectedReach | None = None) -> float | None:
        """The same by the weights that each way leaves, of which no two hold together; None where they are too many.

        What is left of a part is at most the part: the heaviest come first, and those that cannot matter are not
        summed.
        """
        results, tables = self.results, self.tables
        log_share, order = -math.inf, np.argsort(-np.array(results.shares), kind="stable")
        # Added up from the lightest: a condition may be less probable than what is lost in a difference.
        waiting = np.cumsum(np.array(results.shares)[order][::-1])[::-1]
        for place, most_left in zip(order.tolist(), waiting.tolist(), strict=True):
            if most_left < NEGLIGIBLE * math.exp(log_share):
                break
            # The parts of a model under a condition do not all leave a way the same graphs, or any.
            ways = list(possible_ways(found, tables.parts[place]))
            if len(ways) > _MOST_WAYS:
                return None
            for allowed in ways:
                left = restricted_part(tables.parts[place], allowed, results.modularity)
                times = len(ways) * len(tables.parts)
                probability = 1.0 if reach is None else self._reach(reach, left, times)
                if probability is None:
                    return None
                if probability > 0.0:
                    log_left = tables.log_priors[place] + left.log_evidence(results.modularity) - results.log_evidence
                    log_share = float(np.logaddexp(log_share, log_left + math.log(probability)))
        return log_share

    def _reach(self, reach: ProjectedReach, tables: SummingWorkspace, times: int) -> float | None:
        """Probability that the descendants or the ancestors of one node meet a condition, in one of so many parts."""
        node, bits, patience = reach.node, reach.bits, self.patience / times
        if self.results.modularity == "structure":
            if not tables.structure_is_affordable() or tables.seconds("structure") > patience:
                return None
            columns, sets = tables.reach_sets(node, reach.direction, patience)
        else:
            exact = tables.all_families("paths")
            if reach.direction == "ancestors" or not _order_paths_affordable(exact, 1, patience):
                return None
            forward = exact.host_forward()
            columns = np.arange(exact.nodes)
            sets = paths.order_descendant_sets(forward, node, engine=tables.engine, reporter=tables.reporter)
        masks = unions_of(bits[columns])
        elsewhere = np.setdiff1d(tables.may_reach(node, reach.direction), columns)
        beyond = _bits_beyond(bits, elsewhere, reach.told_apart)
        if len(beyond) > _MOST_BEYOND:
            return None
        met = reach.condition(masks)
        # What is reached in other components is not in the tables, so the condition must not depend on it.
        if any((met != reach.condition(masks | some)).any() for some in unions_of(beyond)[1:]):
            return None
        return float(sets[met].sum())

    def _path(self, source: int, target: int) -> float | None:
        """The probability of a directed path: known already, or worth a sum of its own."""
        known = self.results.paths
        if known is None:
            matrix = self.paths()
            return None if matrix is None else float(matrix[source, target])
        if not math.isnan(known[source, target]):
            return float(known[source, target])
        patience = self.patience / len(self.tables.parts)
        found: float | None = _mean(
            (share, part.path_probability(source, target, patience)) for share, part in self._weighty()
        )
        return found

    def _weighty(self) -> list[tuple[float, SummingWorkspace]]:
        """The parts that weigh anything, with their shares."""
        shares = self.results.shares
        return [(shares[place], self.tables.parts[place]) for place in weightiest(np.array(shares))]

    def paths(self) -> Floats | None:
        """The probability of a directed path for every pair, or None where that is left to samples.

        nan where one leads from one component to another and not all columns can be summed as one.
        """
        known, patience = self.results.paths, self.patience / len(self.tables.parts)
        if known is not None:
            if not np.isnan(known).any():
                return known
            whole = _mean((share, part.paths(patience)) for share, part in self._weighty())
            return known if whole is None else np.where(np.isnan(known), whole, known)
        if self.results.modularity != "order":
            return None
        parts = [(share, part.all_families("paths")) for share, part in self._weighty()]
        if all("order_paths" in own.__dict__ or _order_paths_affordable(own, own.nodes, patience) for _, own in parts):
            matrix: Floats = _mean((share, own.order_paths) for share, own in parts)
            return matrix
        return None


def _mean(found: Iterable[tuple[float, Any]]) -> Any:
    """What parts have, by their shares; None where one of them does not know."""
    total: Any = None
    for share, value in found:
        if value is None:
            return None
        total = share * value if total is None else total + share * value
    return total


def _bits_beyond(bits: Masks, columns: Integers, told_apart: Sequence[int]) -> Masks:
    """The bits of some columns: one by one where a condition may look at each, the others together."""
    named = np.isin(columns, list(told_apart))
    together = np.bitwise_or.reduce(bits[columns[~named]], initial=np.uint64(0))
    own = bits[columns[named]]
    return np.append(own, together) if together else own


def _order_paths_affordable(tables: ExactWorkspace, sources: int, patience: float) -> bool:
    return (
        paths.expected_seconds(tables.nodes, sources, tables.engine.workers) <= patience
        and paths.memory_needed(tables.nodes) <= memory.available_bytes()
    )
