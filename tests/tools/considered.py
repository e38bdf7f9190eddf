"""Parent sets to consider, made up: a few for each column, with random weights, the heaviest first."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dagpost import BlockGibbs, DagPosterior, UniformPrior
from dagpost._tools.progress import NO_PROGRESS
from dagpost.engines import ThreadEngine
from dagpost.families.considered_sets import ConsideredSets
from dagpost.posterior.fitted import DataFacts, Fitted
from dagpost.posterior.study import described_settings
from dagpost.posterior.wide_workspace import WideWorkspace
from dagpost.priors.constraints import Constraints
from dagpost.scores import resolve_score


def random_sets(columns: int, each: int, max_parents: int, seed: int, *, near: int = 6) -> ConsideredSets:
    """Up to `each` sets for every column, the empty one among them, of columns that are not far away."""
    rng = np.random.default_rng(seed)
    start, rows, weights = [0], [], []
    for node in range(columns):
        others = [(node + step) % columns for step in range(-near, near + 1) if step % columns]
        sets = {()} | {
            tuple(sorted(set(rng.choice(others, size=int(rng.integers(1, max_parents + 1))).tolist())))
            for _ in range(each - 1)
        }
        own = sorted(zip(rng.normal(0.0, 2.0, len(sets)).tolist(), sorted(sets), strict=True), reverse=True)
        for weight, members in own:
            rows.append([*members, *[columns] * (max_parents - len(members))])
            weights.append(weight)
        start.append(len(rows))
    nothing = np.zeros(columns)
    listed = np.array(rows, dtype=np.int16)
    return ConsideredSets(
        np.array(start), listed, np.array(weights), np.diff(start), nothing, nothing, "some made-up sets"
    )


def wide_workspace(columns: int = 70, each: int = 8, max_parents: int = 2, seed: int = 1) -> WideWorkspace:
    """A workspace of such sets."""
    return WideWorkspace(random_sets(columns, each, max_parents, seed), max_parents, ThreadEngine(2), NO_PROGRESS)


def weight_of(considered: ConsideredSets, graph: Any) -> float:
    """The log weight of a graph, one row of masks, set by set."""
    nodes, total = considered.nodes, 0.0
    for node in range(nodes):
        words = [int(word) for word in np.atleast_1d(graph[node])]
        parents = {column for column in range(nodes) if words[column // 64] >> column % 64 & 1}
        own = range(int(considered.start[node]), int(considered.start[node + 1]))
        found = [place for place in own if {m for m in considered.members[place].tolist() if m < nodes} == parents]
        total += float(considered.log_weights[found[0]]) if found else -math.inf
    return total


def random_graph(considered: ConsideredSets, seed: int) -> Any:
    """A random choice of considered sets, cycles or not, as a row of masks."""
    rng, nodes = np.random.default_rng(seed), considered.nodes
    words = -(-nodes // 64)
    graph = np.zeros((nodes, words), dtype=np.uint64)
    for node in range(nodes):
        place = int(rng.integers(considered.start[node], considered.start[node + 1]))
        for member in considered.members[place].tolist():
            if member < nodes:
                graph[node, member // 64] |= np.uint64(1 << member % 64)
    return graph if nodes > 64 else graph[:, 0]


def wide_model(columns: int = 70, *, method: Any = None, samples: int = 400) -> DagPosterior:
    """A model of made-up sets that is fitted, without edges as yet."""
    model = DagPosterior(prior="uniform", score="bdeu", max_parents=2, samples=samples, seed=1)
    score, names = resolve_score(model.score), tuple(f"V{column}" for column in range(columns))
    model.fitted_ = Fitted(
        DataFacts(names, ((0, 1),) * columns, 100, "0" * 64),
        described_settings(model, Constraints(), score, UniformPrior()),
        score,
        BlockGibbs(chains=2, burn_in=20) if method is None else method,
        "a trial",
        wide_workspace(columns),
    )
    return model
