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
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dagpost._tools import memory
from dagpost._tools.arrays import Floats, Masks
from dagpost._tools.text import position_of
from dagpost.errors import NoGraphError, PrecisionError, ResourceError
from dagpost.exact import paths
from dagpost.families.numbering import parent_sets, unsqueeze_all
from dagpost.features import And, Edge, Feature, OneNodeReach, Path, Query, Term, one_node_reach, parent_conditions
from dagpost.posterior.estimate import Estimate, exact_estimate
from dagpost.posterior.mixture import restricted
from dagpost.posterior.results import ExactResults
from dagpost.posterior.workspace import ExactWorkspace, Workspace

if TYPE_CHECKING:
    from dagpost.posterior.fitted import Fitted

#: An exact answer that would take longer than this is left to samples.
PATIENCE_SECONDS = 30.0
#: A conditional probability that rounding may have moved by more than this is not called exact.
_LARGEST_ERROR = 1e-7
#: Relative error that a ratio of two evidences is taken to have; 1e-10 is the most that was seen.
_RATIO_ERROR = 1e-8


@dataclass(frozen=True)
class Answer:
    """A probability, and how far rounding may have moved it."""

    value: float
    error: float


def exact_sums(fitted: Fitted) -> tuple[Workspace, ExactResults] | None:
    """The one judge of what is exact beyond edges: where all families were summed, their tables and results."""
    workspace, sums = fitted.workspace, fitted.results.sums
    return (workspace, sums) if workspace.parts and sums is not None else None


def exact_answer(query: Query, fitted: Fitted) -> Estimate | None:
    """The exact probability of a statement, or None where only a sample can tell in reasonable time and memory."""
    found = exact_sums(fitted)
    if found is None:
        if not fitted.results.exact or query.given is not None or not isinstance(query.feature, Edge):
            return None
        parent, child = (position_of(name, fitted.names) for name in (query.feature.parent, query.feature.child))
        return exact_estimate(float(np.clip(fitted.results.edges[parent, child], 0.0, 1.0)), fitted.target)
    try:
        value = _exact_probability(query, fitted.names, *found)
    except (PrecisionError, ResourceError):
        return None
    if value is None:
        return None
    if math.isnan(value):
        return Estimate(math.nan, 0.0, 1.0, 1.0, "the condition is impossible", 0, 0.0, fitted.target)
    return exact_estimate(value, fitted.target)


def exact_matrix(relation: str, fitted: Fitted, patience: float = PATIENCE_SECONDS) -> Floats | None:
    """The exact probability of a relation for every pair, or None where that is left to samples."""
    if relation in ("->", "--"):
        edges = np.clip(fitted.results.edges, 0.0, 1.0)
        return None if not fitted.results.exact else edges if relation == "->" else edges + edges.T
    found = exact_sums(fitted)
    return exact_paths(*found, patience) if found is not None and relation == "~>" else None


def exact_families(fitted: Fitted, child: str, count: int | None = None) -> list[tuple[tuple[int, ...], float]] | None:
    """The allowed parent sets of a variable, as column numbers, with their probabilities, most probable first.

    None where the probabilities of whole parent sets are not computed.
    """
    found = exact_sums(fitted)
    if found is None:
        return None
    workspace, sums = found
    node = position_of(child, fitted.names)
    probabilities = sums.families[node]
    best_first = np.argsort(-probabilities, kind="stable")
    best_first = best_first[np.isfinite(workspace.parts[0].log_weights[node, best_first])][:count]
    masks = unsqueeze_all(parent_sets(workspace.nodes - 1, workspace.max_parents)[best_first].copy(), node).tolist()
    sets = [tuple(bit for bit in range(workspace.nodes) if mask >> bit & 1) for mask in masks]
    return list(zip(sets, probabilities[best_first].tolist(), strict=True))


def _exact_probability(query: Query, names: Sequence[str], tables: Workspace, results: ExactResults) -> float | None:
    """The probability; nan if no graph satisfies the condition."""
    if query.given is None:
        answer = _answer(query.feature, names, tables, results)
        return None if answer is None else answer.value
    condition = _answer(query.given, names, tables, results)
    if condition is None or condition.value <= condition.error:
        return math.nan if condition == Answer(0.0, 0.0) else None
    both = _answer(query.feature & query.given, names, tables, results)
    if both is None:
        return None
    # A condition that is all but impossible may be nothing but rounding error: then samples are more honest.
    share = min(both.value / condition.value, 1.0)
    error = (both.error + share * condition.error) / condition.value
    return share if error < _LARGEST_ERROR else None


def _answer(feature: Feature, names: Sequence[str], tables: Workspace, results: ExactResults) -> Answer | None:
    if isinstance(feature, Path) and feature.longest is None:
        matrix = exact_paths(tables, results)
        if matrix is not None:
            value = float(matrix[position_of(feature.source, names), position_of(feature.target, names)])
            return Answer(value, results.error_bound)
    conditions = parent_conditions(feature, names)
    if conditions is not None and _affordable(conditions.terms, tables, results.modularity):
        answers = [(term.sign, _conjunction(term, tables, results)) for term in conditions.terms]
        value = conditions.constant + sum(sign * answer.value for sign, answer in answers)
        return Answer(value, sum(abs(sign) * answer.error for sign, answer in answers))
    reach = one_node_reach(feature, names)
    if reach is not None:
        found = _mixed_reach(reach, tables, results)
        # Whichever prior: this comes from differences.
        return None if found is None else Answer(found, results.error_bound)
    if isinstance(feature, And):
        found = _reach_under_conditions(feature, names, tables, results)
        return None if found is None else Answer(found, results.error_bound)
    return None


def _with_error(value: float, results: ExactResults) -> Answer:
    alternating = results.modularity == "structure"
    return Answer(value, results.error_bound if alternating else value * results.error_bound)


def _affordable(terms: Sequence[Term], tables: Workspace, modularity: str) -> bool:
    passes = sum(len(term.conditions) > 1 for term in terms)
    if modularity == "structure" and passes and not tables.structure_is_affordable():
        return False
    return passes * tables.seconds(modularity) / 2.0 <= PATIENCE_SECONDS


def _conjunction(term: Term, tables: Workspace, results: ExactResults) -> Answer:
    """Probability that the parents of each node meet its condition."""
    kept = _allowed_sets(term, tables)
    if len(kept) == 1:
        ((node, allowed),) = kept.items()
        return _with_error(float(results.families[node, allowed].sum()), results)
    try:
        log_evidences = [part.log_evidence(results.modularity) for part in restricted(tables, kept)]
    except NoGraphError:
        # The conditions contradict each other or lead to a cycle.
        return Answer(0.0, 0.0)
    value = sum(_shares_left(log_evidences, tables, results))
    # A ratio of evidences loses digits in proportion to itself, however small it is.
    return Answer(value, value * _RATIO_ERROR)


def _shares_left(log_evidences: Sequence[float], tables: Workspace, results: ExactResults) -> list[float]:
    """The probability of each part together with what its weights were restricted to."""
    pairs = zip(tables.log_priors, log_evidences, strict=True)
    return [math.exp(log_prior + log_evidence - results.log_evidence) for log_prior, log_evidence in pairs]


def _allowed_sets(term: Term, tables: Workspace) -> dict[int, NDArray[np.bool_]]:
    """For every node with a condition, which of its parent sets meet it."""
    masks = parent_sets(tables.nodes - 1, tables.max_parents).copy()
    return {node: condition(unsqueeze_all(masks, node)) for node, condition in term.conditions.items()}


def _reach_under_conditions(
    feature: And, names: Sequence[str], tables: Workspace, results: ExactResults
) -> float | None:
    """Conditions on parents together with a statement about one node's reach: that holds under what they leave."""
    on_parents = [part for part in feature.parts if _is_conjunction(part, names)]
    others = [part for part in feature.parts if part not in on_parents]
    reach = one_node_reach(_all_of(others), names) if on_parents and others else None
    conditions = parent_conditions(_all_of(on_parents), names) if reach is not None else None
    if reach is None or conditions is None:
        return None
    allowed = _allowed_sets(conditions.terms[0], tables)
    patience = PATIENCE_SECONDS / len(tables.parts)
    probabilities, log_evidences = [], []
    try:
        for left in restricted(tables, allowed):
            probability = _reach(reach, left, results.modularity, patience)
            if probability is None:
                return None
            structural = results.modularity == "structure"
            probabilities.append(probability)
            log_evidences.append(left.structure().tables.log_evidence if structural else left.order_log_evidence)
    except NoGraphError:
        return 0.0
    shares = _shares_left(log_evidences, tables, results)
    return sum(share * probability for share, probability in zip(shares, probabilities, strict=True))


def _is_conjunction(feature: Feature, names: Sequence[str]) -> bool:
    conditions = parent_conditions(feature, names)
    return conditions is not None and conditions.constant == 0 and [term.sign for term in conditions.terms] == [1]


def _all_of(parts: Sequence[Feature]) -> Feature:
    return parts[0] if len(parts) == 1 else And(tuple(parts))


def _mixed_reach(reach: OneNodeReach, tables: Workspace, results: ExactResults) -> float | None:
    """The same under a mixture."""
    total = 0.0
    for share, part in zip(results.shares, tables.parts, strict=True):
        found = _reach(reach, part, results.modularity, PATIENCE_SECONDS / len(tables.parts))
        if found is None:
            return None
        total += share * found
    return total


def _reach(reach: OneNodeReach, tables: ExactWorkspace, modularity: str, patience: float) -> float | None:
    """Probability that the descendants or the ancestors of one node meet a condition."""
    if modularity == "structure":
        if not tables.structure_is_affordable() or tables.seconds(modularity) > patience:
            return None
        find = tables.backend.descendant_sets if reach.direction == "descendants" else tables.backend.ancestor_sets
        sets = find(tables.structure().tables, reach.node, reporter=tables.reporter)
    else:
        if reach.direction == "ancestors" or not _order_paths_affordable(tables, 1, patience):
            return None
        forward = tables.host_forward()
        sets = paths.order_descendant_sets(forward, reach.node, engine=tables.engine, reporter=tables.reporter)
    masks: Masks = np.arange(len(sets), dtype=np.uint64)
    return float(sets[reach.condition(masks)].sum())


def exact_paths(tables: Workspace, results: ExactResults, patience: float = PATIENCE_SECONDS) -> Floats | None:
    """The probability of a directed path for every pair, or None where that is left to samples."""
    if results.paths is not None:
        return results.paths
    if results.modularity != "order":
        return None
    parts, patience = tables.parts, patience / len(tables.parts)
    if all("order_paths" in part.__dict__ or _order_paths_affordable(part, part.nodes, patience) for part in parts):
        matrices = [share * part.order_paths for share, part in zip(results.shares, parts, strict=True)]
        return matrices[0] if len(matrices) == 1 else np.sum(matrices, axis=0)
    return None


def _order_paths_affordable(tables: ExactWorkspace, sources: int, patience: float) -> bool:
    return (
        paths.expected_seconds(tables.nodes, sources, tables.engine.workers) <= patience
        and paths.memory_needed(tables.nodes, 1) <= memory.available_bytes()
    )
