"""All graphs of a few columns: as many as there are, with the probabilities that exact sums give."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dagpost import BDeu, DagPosterior
from dagpost.data import as_table
from dagpost.data.table import Table
from dagpost.posterior.all_graphs import all_graphs


def table(nodes: int) -> Table:
    behind = np.cumsum(np.random.default_rng(nodes).normal(size=(40, nodes)), axis=1)
    return as_table((behind > 0).astype(int))


@pytest.mark.parametrize(("nodes", "count"), [(2, 3), (3, 25), (4, 543), (5, 29_281)])
def test_there_are_as_many_graphs_as_are_known_to_be(nodes: int, count: int) -> None:
    model = DagPosterior("bdeu", prior="uniform").fit(table(nodes))
    found = all_graphs(model.fitted_)
    assert found is not None
    assert len(found) == len(np.unique(found.parents, axis=0)) == count
    assert np.logaddexp.reduce(found.log_joint) == pytest.approx(model.log_evidence_, abs=1e-8)


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"score": BDeu((0.5, 20.0))},
        {"modularity": "order"},
        {"max_parents": 1, "required": ["V0 -> V1"]},
        {"tiers": [["V2"], ["V0", "V1"], ["V3"]]},
        {"exogenous": ["V1"], "forbidden": ["V0 -> V3"]},
    ],
)
def test_weights_of_all_graphs_give_the_exact_probabilities(settings: dict[str, Any]) -> None:
    model = DagPosterior(**{"prior": "uniform", "score": "bdeu", **settings}).fit(table(4))
    found = all_graphs(model.fitted_)
    assert found is not None
    assert found.weights.sum() == pytest.approx(1.0)
    np.testing.assert_allclose(found.edge_frequencies(), model.edge_probabilities_, atol=1e-9)
    np.testing.assert_allclose(found.probability_matrix("~>"), model.probability_matrix("~>"), atol=1e-9)


def test_many_columns_gaps_and_other_targets_have_samples_instead() -> None:
    assert all_graphs(DagPosterior("bdeu", prior="uniform").fit(table(6)).fitted_) is None
    assert all_graphs(DagPosterior("bdeu", prior="uniform", method="trees").fit(table(3)).fitted_) is None
