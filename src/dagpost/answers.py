"""Which statements about the graph can be answered exactly, and the answer.

Conditions on the parents of one node are sums of family probabilities. Conditions on the parents of several nodes need
the evidence once more, with weight zero for the families that break a condition: the ratio of the evidences is the
probability. Statements about the descendants, or the ancestors, of one node come from the distribution of that set.
Everything else is left to samples. features/reductions.py says which statement is of which kind.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dagpost import memory
from dagpost.arrays import Floats, Masks
from dagpost.errors import NoGraphError
from dagpost.exact import order, paths, structure
from dagpost.families import parent_sets, unsqueeze_all
from dagpost.features import Feature, OneNodeReach, Term, one_node_reach, parent_conditions
from dagpost.features.predicates import Path
from dagpost.names import position_of
from dagpost.tables import ExactTables

#: An exact answer that would take longer than this is left to samples.
_PATIENCE_SECONDS = 30.0


@dataclass(frozen=True, eq=False)
class ExactResults:
    """What fitting computed exactly: the evidence, the probability of every family and, perhaps, of every path."""

    modularity: str
    log_evidence: float
    families: Floats
    paths: Floats | None


def exact_probability(
    feature: Feature, names: Sequence[str], tables: ExactTables, results: ExactResults
) -> float | None:
    """The probability of a statement, or None where it cannot be computed exactly in reasonable time."""
    if isinstance(feature, Path) and feature.longest is None and results.paths is not None:
        return float(results.paths[position_of(feature.source, names), position_of(feature.target, names)])
    modularity = results.modularity
    conditions = parent_conditions(feature, names)
    if conditions is not None and _affordable(conditions.terms, tables, modularity):
        return conditions.constant + sum(term.sign * _conjunction(term, tables, results) for term in conditions.terms)
    reach = one_node_reach(feature, names)
    if reach is not None:
        return _reach(reach, tables, modularity)
    return None


def _affordable(terms: Sequence[Term], tables: ExactTables, modularity: str) -> bool:
    passes = sum(len(term.conditions) > 1 for term in terms)
    if modularity == "structure" and passes and not tables.structure_is_affordable():
        return False
    whole = structure.expected_seconds if modularity == "structure" else order.expected_seconds
    return passes * whole(tables.nodes, tables.engine.workers) / 2.0 <= _PATIENCE_SECONDS


def _conjunction(term: Term, tables: ExactTables, results: ExactResults) -> float:
    """Probability that the parents of each node meet its condition."""
    masks = parent_sets(tables.nodes - 1, tables.max_parents).copy()
    kept = {node: condition(unsqueeze_all(masks, node)) for node, condition in term.conditions.items()}
    if len(kept) == 1:
        ((node, allowed),) = kept.items()
        return float(results.families[node, allowed].sum())
    restricted = tables.log_weights.copy()
    for node, allowed in kept.items():
        restricted[node, ~allowed] = -np.inf
    try:
        return math.exp(tables.log_evidence_of(restricted, results.modularity) - results.log_evidence)
    except NoGraphError:
        # The conditions contradict each other or lead to a cycle.
        return 0.0


def _reach(reach: OneNodeReach, tables: ExactTables, modularity: str) -> float | None:
    """Probability that the descendants or the ancestors of one node meet a condition."""
    if modularity == "structure":
        seconds = structure.expected_seconds(tables.nodes, tables.engine.workers)
        if not tables.structure_is_affordable() or seconds > _PATIENCE_SECONDS:
            return None
        find = structure.descendant_sets if reach.direction == "descendants" else structure.ancestor_sets
        sets = find(tables.structure().tables, reach.node, engine=tables.engine, reporter=tables.reporter)
    else:
        if reach.direction == "ancestors" or not _order_paths_affordable(tables, sources=1):
            return None
        sets = paths.order_descendant_sets(tables.forward(), reach.node, engine=tables.engine, reporter=tables.reporter)
    masks: Masks = np.arange(len(sets), dtype=np.uint64)
    return float(sets[reach.condition(masks)].sum())


def exact_paths(tables: ExactTables, results: ExactResults) -> Floats | None:
    """The probability of a directed path for every pair, or None where that is left to samples."""
    if results.paths is not None:
        return results.paths
    if results.modularity == "order" and _order_paths_affordable(tables, sources=tables.nodes):
        return paths.order_path_probabilities(tables.forward(), engine=tables.engine, reporter=tables.reporter)
    return None


def _order_paths_affordable(tables: ExactTables, sources: int) -> bool:
    return (
        paths.expected_seconds(tables.nodes, sources, tables.engine.workers) <= _PATIENCE_SECONDS
        and paths.memory_needed(tables.nodes, 1) <= memory.available_bytes()
    )
