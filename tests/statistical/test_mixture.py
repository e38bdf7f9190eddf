"""Graphs drawn from an average over equivalent sample sizes, against enumeration.

Each test has a fixed seed. Its false-alarm rate is at most a few times 1e-7, below one in a million.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.naive import mixture as naive_mixture
from tests.naive import posterior as naive
from tests.statistical.test_samplers import RATE, assert_counts_fit, counts_of_graphs
from tests.unit.posterior.test_mixture import random_table

from dagpost import BDeu, DagPosterior

SIZES = (0.2, 4.0, 60.0)
DRAWS = 40_000


def twin(modularity: str) -> naive_mixture.Mixture:
    table = random_table(4, 12, 6)
    weights = [naive_mixture.bdeu_weights(table, size, 3) for size in SIZES]
    return naive_mixture.Mixture(weights, 3, orders=modularity == "order")


@pytest.mark.parametrize("modularity", ["structure", "order"])
def test_independent_graphs_have_the_frequencies_of_the_mixture(modularity: Any) -> None:
    model = DagPosterior(BDeu(SIZES), prior="uniform", modularity=modularity).fit(random_table(4, 12, 6))
    expected = twin(modularity)
    # More than one size matters, or nothing is tested.
    assert sorted(expected.shares)[1] > 0.05
    sample = model.sample(DRAWS, seed=1)
    assert_counts_fit(counts_of_graphs(sample.parents, 4), expected.graphs)
    # The first part of a sample is a sample: no size comes first.
    assert_counts_fit(counts_of_graphs(sample.parents[: DRAWS // 10], 4), expected.graphs)


@pytest.mark.parametrize("method", ["iw-dds", "linear-extensions"])
def test_weighted_graphs_have_the_chance_that_they_say(method: str) -> None:
    model = DagPosterior(BDeu(SIZES), prior="uniform", method=method).fit(random_table(4, 12, 6))
    order, structure = twin("order"), twin("structure")
    sample = model.sample(DRAWS, seed=2)
    assert_counts_fit(counts_of_graphs(sample.parents, 4), order.graphs)
    place = {dag: number for number, dag in enumerate(naive.all_dags(4))}
    rows = np.array([place[tuple(row)] for row in sample.parents.tolist()])
    assert sample.log_proposal == pytest.approx(np.log(order.graphs)[rows], abs=1e-8)
    assert sample.log_joint - sample.log_evidence == pytest.approx(np.log(structure.graphs)[rows], abs=1e-8)
    assert sample.covered == pytest.approx(structure.graphs[np.unique(rows)].sum(), abs=1e-9)


@pytest.mark.parametrize("method", ["exact-layers", "iw-dds", "linear-extensions"])
def test_intervals_hold_the_truth(method: str) -> None:
    model = DagPosterior(BDeu(SIZES), prior="uniform", method=method).fit(random_table(4, 12, 6))
    structure = twin("structure")
    parents = naive.parents_in_every_dag(4)
    # Few graphs, so that intervals are wide: each misses the truth with a probability of RATE at most.
    sample = model.sample(300, seed=3)
    for parent, child in ((0, 1), (1, 2), (3, 0)):
        holds = parents[:, child] >> parent & 1 == 1
        names = "ABCD"
        estimate = sample.probability(f"{names[parent]} -> {names[child]}", confidence=1 - RATE)
        assert estimate.lower <= structure.probability(holds) <= estimate.upper
        assert estimate.upper - estimate.lower < 0.9
