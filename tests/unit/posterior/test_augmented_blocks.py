"""Models of tables with gaps whose graphs are moved by blocks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dagpost import BDeu, DagPosterior
from dagpost.data import as_table

pytestmark = pytest.mark.filterwarnings("ignore::dagpost.DagpostWarning")


def table_with_gaps(rows: int = 60) -> np.ndarray:
    rng = np.random.default_rng(5)
    codes = rng.integers(0, 2, (rows, 5)).astype(object)
    for column in (1, 3, 4):
        codes[:, column] = np.where(rng.random(rows) < 0.75, codes[:, column - 1], codes[:, column])
    codes[rng.random((rows, 5)) < 0.1] = None
    return codes


def fitted(score: Any = "bdeu", samples: int = 4000, **settings: Any) -> DagPosterior:
    """A model of the table, from one seed."""
    return DagPosterior(score=score, seed=1, samples=samples, **{"prior": "uniform", **settings}).fit(
        as_table(table_with_gaps())
    )


def edges_of(**settings: Any) -> np.ndarray:
    """The edges (parent, child)."""
    return np.asarray(fitted(**settings).edge_probabilities_)


def test_blocks_and_exact_sums_agree_about_every_edge() -> None:
    """Two runs of up to 400 sweeps with fixed seeds."""
    assert edges_of(method="block-gibbs") == pytest.approx(edges_of(method="exact-layers"), abs=0.08)


def test_rules_and_a_prior_hold_for_blocks() -> None:
    edges = edges_of(method="block-gibbs", required="V0 -> V4", forbidden="V0 -> V1", prior="indegree")
    assert edges[0, 4] == pytest.approx(1.0)
    assert edges[0, 1] == 0.0


def test_a_setting_that_is_averaged_over_has_its_turn() -> None:
    model = fitted(BDeu((2.0, 8.0)), 1000, method="block-gibbs")
    record = model.sample(1000).chains
    assert record is not None
    assert set(record.series["values"].tolist()) == {0, 1}


def test_the_setting_is_weighed_given_a_graph_that_the_lists_do_not_have() -> None:
    """As where someone asks for the network of a graph that chains never came to."""
    graph = np.array([0, 1, 0, 0, 0b1111], dtype=np.uint64)
    found = []
    for way, rules in (("block-gibbs", {"forbidden": "V0 -> V1"}), ("exact-layers", {})):
        workspace = fitted(BDeu((2.0, 8.0)), 400, method=way, **rules).fitted_.workspace
        assert workspace.passes is not None
        cells = np.zeros(workspace.passes.cell_rules.count)
        found.append(np.diff(workspace.passes.log_joints(cells, graph)))
    np.testing.assert_allclose(found[0], found[1])


def test_what_is_considered_is_said() -> None:
    model = fitted(samples=400, method="block-gibbs")
    assert model.method_reason_.startswith("32 gaps are completed; graphs are moved by blocks; parents considered: ")
    assert "completed tables" in model.method_reason_
