"""Slow, obvious twins of regimes with unknown targets: one column that pools what a set of regimes leaves together.

A variable with ordinary parents P that some regimes T changed is scored with the parents P and one column more, which
says which of the regimes of T a row is of, or none of them: `len(T) + 1` levels, and no other configuration exists.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
from tests.naive import scores
from tests.naive.posterior import all_dags, all_subsets, log_sum

if TYPE_CHECKING:
    from collections.abc import Callable

    from dagpost.data.table import Table


def pooled(table: Table, regimes: tuple[str, ...]) -> Table:
    """The ordinary columns of a table, and one that says which of some regimes a row is of."""
    ordinary = [place for place, name in enumerate(table.names) if name not in table.regimes]
    which = np.zeros(table.rows, dtype=np.uint16)
    for code, name in enumerate(regimes, 1):
        which[table.columns[table.names.index(name)] == 1] = code
    return replace(
        table,
        names=(*(table.names[place] for place in ordinary), "regime"),
        columns=(*(table.columns[place] for place in ordinary), which),
        levels=(*(table.levels[place] for place in ordinary), ("other", *regimes)),
        regimes=(),
    )


def family_score(
    table: Table, child: int, parents: list[int], score: Callable[[Table, int, list[int]], float]
) -> float:
    """The score of an ordinary column with ordinary parents and indicators, which are the last columns."""
    ordinary = len(table.names) - len(table.regimes)
    targets = tuple(table.names[parent] for parent in parents if parent >= ordinary)
    own = [parent for parent in parents if parent < ordinary]
    return score(pooled(table, targets), child, [*own, ordinary] if targets else own)


def bdeu(table: Table, child: int, parents: list[int], size: float) -> float:
    return family_score(table, child, parents, lambda own, node, others: scores.bdeu(own, node, others, size))


def bic(table: Table, child: int, parents: list[int]) -> float:
    return family_score(table, child, parents, scores.bic)


def dirichlet(table: Table, child: int, parents: list[int], pseudocount: float) -> float:
    return family_score(
        table, child, parents, lambda own, node, others: scores.dirichlet(own, node, others, pseudocount)
    )


@dataclass(frozen=True)
class Posterior:
    """Log evidence given the regimes; the probability of each edge [parent, child] and each target [regime, child]."""

    log_evidence: float
    edges: np.ndarray
    targets: np.ndarray


def by_enumeration(
    table: Table,
    score: Callable[[Table, int, list[int]], float],
    probability: float,
    max_parents: int,
    max_regimes: int,
) -> Posterior:
    """Every graph of the ordinary columns with every set of targets, one by one."""
    regimes = len(table.regimes)
    ordinary = len(table.names) - regimes
    known: dict[tuple[int, int, tuple[int, ...]], float] = {}

    def log_weight(child: int, mask: int, targets: tuple[int, ...]) -> float:
        parents = [node for node in range(ordinary) if mask >> node & 1]
        if len(parents) > max_parents or len(targets) > max_regimes:
            return -math.inf
        key = child, mask, targets
        if key not in known:
            own = score(table, child, [*parents, *(ordinary + regime for regime in targets)])
            prior = len(targets) * math.log(probability) + (regimes - len(targets)) * math.log(1 - probability)
            known[key] = own + prior
        return known[key]

    graphs, logs = [], []
    choices = all_subsets(tuple(range(regimes)))
    for dag in all_dags(ordinary):
        for targets in product(choices, repeat=ordinary):
            graphs.append((dag, targets))
            logs.append(sum(log_weight(child, dag[child], targets[child]) for child in range(ordinary)))
    log_evidence = log_sum(np.array(logs))
    edges, changed = np.zeros((ordinary, ordinary)), np.zeros((regimes, ordinary))
    for (dag, targets), log in zip(graphs, logs, strict=True):
        share = math.exp(log - log_evidence)
        for child in range(ordinary):
            for parent in range(ordinary):
                edges[parent, child] += share * (dag[child] >> parent & 1)
            for regime in targets[child]:
                changed[regime, child] += share
    return Posterior(log_evidence, edges, changed)
