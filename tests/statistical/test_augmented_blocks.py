"""Graphs moved by blocks while cells change: what one sweep makes of the joint posterior of graphs and cells.

Every test has a fixed seed. Chi-square tests have a false-alarm rate of 1e-7 each.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest
from tests.naive.completions import every_dag
from tests.statistical.test_block_gibbs import NOT_CANCELLED, assert_follows

from dagpost.data import as_table
from dagpost.data.table import Table
from dagpost.engines import ThreadEngine
from dagpost.families.considered_sets import ConsideredSets
from dagpost.families.numbering import parent_sets, unsqueeze_all
from dagpost.mcmc.augmentation import members_of_masks
from dagpost.mcmc.augmented_blocks import BlockPasses, Incomplete
from dagpost.priors import InDegreePrior, StructurePrior, UniformPrior
from dagpost.priors.constraints import Constraints
from dagpost.scores import K2, BDeu, Score, local_scores

NODES = 3


def table_with_gaps(counts: int, rng: np.random.Generator) -> Table:
    """Three columns that depend on each other, rows that count `counts` times, and three cells without a value."""
    codes = rng.integers(0, 2, (12, NODES))
    codes[:, 1] = np.where(rng.random(12) < 0.7, codes[:, 0], codes[:, 1])
    codes[:, 2] += codes[:, 1]
    codes[:2, 2] = 0, 2
    table = as_table(codes, counts=[1] * 3 + [counts] * 9)
    gaps = np.zeros((NODES, 12), dtype=bool)
    gaps[[0, 1, 2], [0, 1, 2]] = True
    return replace(table, gaps=gaps)


def lists_of(rng: np.random.Generator, leading: int) -> ConsideredSets:
    """Every set of each node with a random weight, the empty one among those that lead."""
    members, logs = [], []
    for node in range(NODES):
        masks = unsqueeze_all(parent_sets(NODES - 1, NODES - 1), node)
        order = np.append(0, 1 + rng.permutation(len(masks) - 1))
        members.append(members_of_masks(masks[order].reshape(-1, 1), NODES - 1))
        logs.append(-np.sort(rng.random(len(masks))))
        # `members_of_masks` pads with the number of rows.
        members[-1][members[-1] == len(masks)] = NODES
    start = np.cumsum([0, *map(len, logs)])
    zeros = np.zeros(NODES)
    leads = np.full(NODES, leading)
    return ConsideredSets(start, np.concatenate(members), np.concatenate(logs), leads, zeros, zeros, "all")


def joint_posterior(
    table: Table, score: Score, prior: StructurePrior, possible: Any
) -> dict[tuple[tuple[int, ...], tuple[int, ...]], float]:
    """The probability of every graph (masks) with every choice of cells."""
    levels = [table.arities[column] for column in np.nonzero(table.gaps)[0]]
    graphs = [tuple(graph) for graph in every_dag(NODES)[0].tolist() if possible(graph)]
    logs = {}
    for cells in product(*map(range, levels)):
        known = local_scores(table.filled(np.array(cells, dtype=float)), score, NODES - 1, engine=ThreadEngine(1))
        own = {}
        for node, mask in product(range(NODES), range(1 << NODES)):
            if not mask >> node & 1:
                parents = [parent for parent in range(NODES) if mask >> parent & 1]
                members = np.array([parents + [NODES] * (NODES - len(parents))], dtype=np.int16)
                log_prior = prior.log_weights_of_members(table.names, node, members)[0]
                own[node, mask] = known.score(node, parents) + log_prior
        for graph in graphs:
            logs[graph, cells] = sum(own[node, mask] for node, mask in enumerate(graph))
    most = max(logs.values())
    weights = {state: np.exp(log - most) for state, log in logs.items()}
    total = sum(weights.values())
    return {state: float(weight / total) for state, weight in weights.items()}


@pytest.mark.parametrize(
    ("score", "prior", "counts", "required"),
    [
        (BDeu(2.0), UniformPrior(), 1, ""),
        (K2(), InDegreePrior(), 1, ""),
        (BDeu(1.0), UniformPrior(), 600, ""),
        (BDeu(1.0), UniformPrior(), 1, "V0 -> V2"),
    ],
    ids=["bdeu", "k2", "thousands of nats", "required"],
)
def test_a_sweep_leaves_graphs_and_cells_as_they_are(
    score: Score, prior: StructurePrior, counts: int, required: str
) -> None:
    """Independent graphs and cells from their joint posterior, each moved on by one sweep; most sets are in groups."""
    rng = np.random.default_rng(4)
    table, considered = table_with_gaps(counts, rng), lists_of(rng, 1)
    if required:
        has = (considered.members[considered.start[2] :] == 0).any(axis=1)
        kept = np.append(np.ones(considered.start[2], dtype=bool), has)
        start = np.append(considered.start[:3], kept.sum())
        considered = replace(
            considered, start=start, members=considered.members[kept], log_weights=considered.log_weights[kept]
        )
    completer = score.completer(table, NODES - 1)
    assert completer is not None
    scorers = [score.list_scorer(table, NODES - 1, 1)]
    rules = Constraints(required=required) if required else Constraints()
    incomplete = Incomplete(table, (score,), np.zeros(1), prior, rules, NODES - 1, [completer], scorers)
    passes = BlockPasses(incomplete, [considered], in_group=1)
    assert passes.lists.groups.max() > 1
    posterior = joint_posterior(table, score, prior, lambda graph: not required or graph[2] & 1)
    states, chances = list(posterior), np.array(list(posterior.values()))
    generator = np.random.Generator(np.random.PCG64(2))
    seen: Counter[Any] = Counter()
    edges, expected, count = np.zeros((NODES, NODES)), np.zeros((NODES, NODES)), 4000
    for number in rng.choice(len(states), count, p=chances):
        graph, values = states[number]
        cells = np.array(values, dtype=float)
        drawn = passes.over(cells, 0, np.array(graph, dtype=np.uint64), 1, generator, NOT_CANCELLED)
        completer.redraw(cells, members_of_masks(drawn.parents[0].reshape(-1, 1), 2), generator, NOT_CANCELLED)
        seen[tuple(drawn.parents[0].tolist()), tuple(cells.astype(int).tolist())] += 1
        assert drawn.edges is not None
        edges += drawn.edges / count
    assert_follows(seen, posterior)
    for (graph, _), chance in posterior.items():
        for child, mask in enumerate(graph):
            for parent in range(NODES):
                expected[parent, child] += chance * (mask >> parent & 1)
    # Means of 4,000 independent numbers between 0 and 1: further off with a probability below 1e-9 each (Hoeffding).
    assert np.abs(edges - expected).max() < np.sqrt(np.log(2e9) / (2 * count))
