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

from dagpost._tools.progress import NO_PROGRESS
from dagpost.engines import ThreadEngine
from dagpost.families.numbering import family_count
from dagpost.mcmc.chains import ChainRun, Round, run_chains
from dagpost.mcmc.diagnostics import chain_estimate
from dagpost.posterior.workspace import ExactWorkspace

FALSE_ALARM = 1e-6


def random_tables(nodes: int, max_parents: int, seed: int, spread: float) -> ExactWorkspace:
    """Normal log weights with this standard deviation, and a taste for few parents."""
    generator = np.random.default_rng(seed)
    log_weights = generator.normal(0.0, spread, (nodes, family_count(nodes - 1, max_parents)))
    return ExactWorkspace(log_weights, max_parents, ThreadEngine(2), NO_PROGRESS)


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
    generator = np.random.Generator(np.random.PCG64(seed))
    cancel = np.zeros(1, dtype=np.int64)
    kinds = len(method.moves)
    for number, state in enumerate(states):
        for _ in range(repeats):
            moved = type(state)(*(np.array(part) for part in state))
            output = Round(
                1,
                np.zeros((1, nodes), dtype=np.uint64),
                np.zeros(1),
                np.zeros(1),
                np.zeros((nodes, nodes)),
                np.zeros(kinds, dtype=np.int64),
                np.zeros(kinds, dtype=np.int64),
            )
            method.advance(context, moved, generator, output, cancel)
            counts[number, place[key(moved)]] += 1
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
