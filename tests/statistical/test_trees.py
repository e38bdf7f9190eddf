"""Drawn trees against enumeration and against their exact families.

Each test has a fixed seed. No test asks more than three questions, each with a false-alarm rate of `RATE`; the law of
the chi-square statistic is approximate so far out, which the distance from one in a million leaves room for.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom, chi2
from tests.naive import posterior as naive
from tests.naive import trees as naive_trees

from dagpost.engines import ThreadEngine
from dagpost.exact.trees import draw_trees, tree_posterior

RATE = 1e-8
ENGINE = ThreadEngine(2)


def mild(nodes: int, rng: np.random.Generator) -> np.ndarray:
    return rng.normal(size=(nodes, nodes))


def with_forbidden_edges(nodes: int, rng: np.random.Generator) -> np.ndarray:
    result = rng.normal(size=(nodes, nodes))
    result[0, 1:3] = result[1, 1] = result[2, 0] = result[nodes - 1, nodes - 2] = -np.inf
    return result


def tied_pairs(nodes: int, rng: np.random.Generator) -> np.ndarray:
    """Pairs of nodes that hold on to each other by e^3000; a walk would never get away from them."""
    result = rng.normal(size=(nodes, nodes)) - 3000.0
    for node in range(0, nodes - 1, 2):
        result[node, node + 1] += 3000.0
        result[node + 1, node] += 3000.0
    return result


def tied_ring(nodes: int, rng: np.random.Generator) -> np.ndarray:
    """All hold on to the next in a ring by e^2000; one of them must be left out."""
    result = rng.normal(size=(nodes, nodes)) - 2000.0
    for node in range(nodes):
        result[node, (node + 1) % nodes] += 2000.0
    return result


def no_roots_but_two(nodes: int, rng: np.random.Generator) -> np.ndarray:
    result = rng.normal(size=(nodes, nodes))
    result[np.arange(2, nodes), np.arange(2, nodes)] = -np.inf
    return result


def one_way_to_the_root(nodes: int, rng: np.random.Generator) -> np.ndarray:
    """The last node takes no parent, and only the first may take it: in a spanning tree these two are settled."""
    result = rng.normal(size=(nodes, nodes))
    result[nodes - 1, : nodes - 1] = result[1 : nodes - 1, nodes - 1] = -np.inf
    return result


CASES = [mild, with_forbidden_edges, tied_pairs, tied_ring, no_roots_but_two, one_way_to_the_root]


def assert_counts_fit(observed: np.ndarray, probabilities: np.ndarray) -> None:
    """Chi-square test of the common graphs among themselves; binomial test of all rare ones together."""
    assert not observed[probabilities == 0].any(), "something impossible was drawn"
    draws = int(observed.sum())
    common = draws * probabilities >= 25
    rare, chance = int(observed[~common].sum()), min(float(probabilities[~common].sum()), 1.0)
    assert binom.sf(rare - 1, draws, chance) > RATE
    assert binom.cdf(rare, draws, chance) > RATE
    expected = observed[common].sum() * probabilities[common] / probabilities[common].sum()
    statistic = ((observed[common] - expected) ** 2 / expected).sum()
    assert statistic < chi2.isf(RATE, max(common.sum() - 1, 1))


@pytest.mark.parametrize("spanning", [True, False], ids=["spanning", "forests"])
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("nodes", [4, 5])
def test_draws_match_enumeration(nodes: int, case: object, spanning: bool) -> None:
    log_weights = case(nodes, np.random.default_rng(nodes))
    posterior = tree_posterior(log_weights, spanning=spanning)
    parents, _ = draw_trees(posterior, 200_000, seed=np.random.SeedSequence(8), engine=ENGINE)
    logs = naive_trees.log_joint_of_all(log_weights, spanning)
    place = {targets: number for number, targets in enumerate(naive_trees.all_graphs(nodes, spanning))}
    rows, counts = np.unique(parents, axis=0, return_counts=True)
    observed = np.zeros(len(place))
    for row, count in zip(rows.tolist(), counts.tolist(), strict=True):
        observed[place[naive_trees.targets_of(row)]] = count
    assert_counts_fit(observed, np.exp(logs - naive.log_sum(logs)))


@pytest.mark.parametrize("spanning", [True, False], ids=["spanning", "forests"])
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("nodes", [13, 40])
def test_frequencies_of_edges_match_their_probabilities(nodes: int, case: object, spanning: bool) -> None:
    """Bernstein's inequality for each family, Bonferroni over all of them."""
    draws = 50_000
    posterior = tree_posterior(case(nodes, np.random.default_rng(nodes)), spanning=spanning)
    parents, _ = draw_trees(posterior, draws, seed=np.random.SeedSequence(9), engine=ENGINE)
    frequencies = np.empty((nodes, nodes))
    for target in range(nodes):
        frequencies[:, target] = (parents == np.uint64(1) << np.uint64(target)).mean(axis=0)
    frequencies[np.diag_indices(nodes)] = (parents == 0).mean(axis=0)
    log_rate = np.log(2 * nodes**2 / RATE)
    variance = posterior.families * (1 - posterior.families) / draws
    limit = np.sqrt(2 * variance * log_rate) + 2 * log_rate / (3 * draws) + 1e-9
    assert (np.abs(frequencies - posterior.families) < limit).all()
