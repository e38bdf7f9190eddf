"""What every chain is held to: its frequencies, and its steps one by one.

`assert_long_run` compares edge frequencies with exact probabilities, within intervals for what the chains say that they
are worth. `assert_steps` compares the steps that the kernel takes from every state with the transition matrix of a slow
twin, and that matrix with the posterior: the flow from one state to another must equal the flow back.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np
from scipy.stats import chi2
from tests.naive import posterior as naive
from tests.naive.families import Sets, considered

from dagpost._tools.progress import NO_PROGRESS
from dagpost.data import as_table
from dagpost.engines import ThreadEngine
from dagpost.exact.order import edge_probabilities
from dagpost.families.numbering import family_count
from dagpost.mcmc.chains import run_chains
from dagpost.mcmc.diagnostics import ChainDiagnostics, diagnose
from dagpost.mcmc.records import ChainRun, Round
from dagpost.mcmc.structure import GraphState
from dagpost.posterior.estimate import chain_estimate
from dagpost.posterior.exact_workspace import ExactWorkspace
from dagpost.priors import log_prior
from dagpost.scores import local_scores

FALSE_ALARM = 1e-6
NOT_CANCELLED = np.zeros(1, dtype=np.int64)
Edge = tuple[int, int]


def random_tables(nodes: int, max_parents: int, seed: int, spread: float) -> ExactWorkspace:
    """Normal log weights with this standard deviation, and a taste for few parents."""
    generator = np.random.default_rng(seed)
    log_weights = generator.normal(0.0, spread, (nodes, family_count(nodes - 1, max_parents)))
    return ExactWorkspace(log_weights, max_parents, ThreadEngine(2), NO_PROGRESS)


def tables_of(table: Any, score: str = "bdeu", prior: str = "uniform") -> ExactWorkspace:
    """The weights that a fit to a table works with."""
    known = as_table(table)
    scores = local_scores(known, score, 5)
    log_weights = scores.values + log_prior(known.names, scores.max_parents, prior)
    return ExactWorkspace(log_weights, scores.max_parents, ThreadEngine(2), NO_PROGRESS)


def constrained(
    tables: ExactWorkspace, required: Sequence[Edge] = ((0, 1),), forbidden: Sequence[Edge] = ((2, 0), (0, 3))
) -> ExactWorkspace:
    """The same tables, with weight only where these edges are there and those are not; edges are (parent, child)."""
    for edges, there in ((required, 0), (forbidden, 1)):
        for parent, child in edges:
            if child < tables.nodes:
                masks = np.array(naive.parent_masks(child, tables.nodes, tables.max_parents))
                tables.log_weights[child, masks >> parent & 1 == there] = -np.inf
    return tables


def sets_of(tables: ExactWorkspace) -> tuple[Sets, ...]:
    """All parent sets of every node with their weights, for the twins."""
    return considered(tables.log_weights, tables.max_parents, tables.weights.candidates, tables.max_parents)


def exact_edges(tables: ExactWorkspace, modularity: str) -> np.ndarray:
    """The exact probability of every edge."""
    by_order = modularity == "order"
    families = tables.order_families(tables.forward()) if by_order else tables.structure().families
    # A required edge may come out as 1 + 1e-16.
    return np.minimum(edge_probabilities(families, tables.max_parents), 1.0)


def generator(seed: int) -> np.random.Generator:
    """Random numbers as the chains take them."""
    return np.random.Generator(np.random.PCG64(seed))


def empty_round(method: Any, nodes: int, length: int, thinning: int) -> Round:
    """Room for what a chain writes."""
    kinds = len(method.moves)
    return Round(
        thinning,
        np.zeros((length, nodes), dtype=np.uint64),
        np.zeros(length),
        np.zeros(length),
        np.zeros((nodes, nodes)),
        np.zeros(kinds, dtype=np.int64),
        np.zeros(kinds, dtype=np.int64),
    )


def diagnosed(chains: ChainRun) -> ChainDiagnostics:
    """What the chains are worth."""
    names = [f"V{node}" for node in range(chains.parents.shape[1])]
    return diagnose(chains.parents, names, chains.record.lengths, chains.record.acceptance)


def assert_agreed(chains: ChainRun) -> None:
    """The intervals that the chains are held to are those of a run that has converged, not wide for want of draws."""
    found = diagnosed(chains)
    assert found.agreed, found.verdict


def run(method: Any, tables: Any, count: int, seed: int) -> ChainRun:
    """The chains of a method on some weights."""
    context = method.prepare(tables)
    sequence = np.random.SeedSequence(seed)
    return run_chains(method, context, tables.nodes, count, seed=sequence, engine=tables.engine)


def assert_long_run(chains: ChainRun, exact: np.ndarray) -> None:
    """Every edge frequency lies in the interval of its own effective draws; false alarms: 1e-6 over all edges."""
    nodes = len(exact)
    confidence = 1.0 - FALSE_ALARM / (nodes * (nodes - 1))
    lengths = chains.record.lengths
    for parent in range(nodes):
        for child in range(nodes):
            if parent != child:
                hit = (chains.parents[:, child] >> np.uint64(parent)) & np.uint64(1) == 1
                estimate = chain_estimate(hit, None, lengths, confidence, "structure", usual_share=0.01)
                assert estimate.lower <= exact[parent, child] <= estimate.upper, (
                    f"{parent} -> {child}: exact {exact[parent, child]:.4f}, chain {estimate}"
                )


def assert_edges_given_states(chains: ChainRun, exact: np.ndarray, tolerance: float) -> None:
    """The mean of the edge probabilities given the states is near the exact ones too."""
    assert chains.record.edges is not None
    weights = np.array(chains.record.lengths) / sum(chains.record.lengths)
    mean = np.tensordot(weights, chains.record.edges, axes=1)
    assert np.abs(mean - exact).max() < tolerance


def one_step_counts(
    method: Any,
    context: Any,
    nodes: int,
    states: Sequence[Any],
    key: Callable[[Any], Hashable],
    repeats: int,
    seed: int,
) -> np.ndarray:
    """How often one step leads from each state (row) to each other (column); `key` tells states apart."""
    place = {key(state): number for number, state in enumerate(states)}
    assert len(place) == len(states)
    counts = np.zeros((len(states), len(states)), dtype=np.int64)
    steps = generator(seed)
    for number, state in enumerate(states):
        for _ in range(repeats):
            moved = type(state)(*(np.array(part) for part in state))
            method.advance(context, moved, steps, empty_round(method, nodes, 1, 1), NOT_CANCELLED)
            counts[number, place[key(moved)]] += 1
    return counts


def graph_step_counts(method: Any, context: Any, states: Sequence[naive.Dag]) -> np.ndarray:
    """How often one step of a chain over graphs leads from each graph to each other: 8000 steps from every graph."""
    place = {dag: number for number, dag in enumerate(states)}
    counts = np.zeros((len(states), len(states)), dtype=np.int64)
    for number, dag in enumerate(states):
        output = empty_round(method, len(dag), 8000, 1)
        state = GraphState(np.array(dag, dtype=np.uint64))
        method.advance(context, state, generator(number), output, NOT_CANCELLED)
        path = np.array([number, *(place[tuple(row)] for row in output.parents.tolist())])
        np.add.at(counts, (path[:-1], path[1:]), 1)
    return counts


def assert_steps(counts: np.ndarray, transition: np.ndarray, log_weights: np.ndarray) -> None:
    """The kernel steps as the twin's matrix says (false alarm 1e-6 over all states), and that balances in detail."""
    assert np.allclose(transition.sum(axis=1), 1.0, atol=1e-12)
    posterior = np.exp(log_weights - np.logaddexp.reduce(log_weights))
    flow = posterior[:, None] * transition
    assert np.allclose(flow, flow.T, atol=1e-13)
    for row, chances in zip(counts, transition, strict=True):
        assert not row[chances == 0.0].any()
        expected = chances[chances > 0.0] * row.sum()
        seen = row[chances > 0.0]
        # Cells that are too rare for chi-square are judged together.
        rare = expected < 10.0
        if rare.any():
            expected, seen = np.append(expected[~rare], expected[rare].sum()), np.append(seen[~rare], seen[rare].sum())
        statistic = float(((seen - expected) ** 2 / expected).sum())
        assert chi2.sf(statistic, max(len(seen) - 1, 1)) > FALSE_ALARM / len(counts), (row, expected)
