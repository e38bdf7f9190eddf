"""A sample of graphs of more than 64 columns says what the same graphs say without the columns that have no edges."""

from __future__ import annotations

import math
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from tests.naive import features as naive_features
from tests.naive import wide as naive
from tests.naive.summaries import sample_of
from tests.tools.wording import Said

from dagpost import DagSample, InputError, ResourceError, adjacent, edge, essential_graph, path
from dagpost._tools import memory
from dagpost.engines import ThreadEngine
from dagpost.families.masks import matrices_of_masks
from dagpost.posterior.directions import directions_of_sample
from dagpost.posterior.knowledge import knowledge_from
from dagpost.posterior.summaries import (
    equivalence_classes,
    graph_standing,
    markov_blanket_table,
    masks_of_graph,
    threshold_graph,
    top_graphs,
)
from dagpost.posterior.weights import weigh
from dagpost.priors.constraints import Constraints
from dagpost.sampling.linear_extensions import log_linear_extensions

NODES, COLUMNS = 7, 150
NAMES = tuple("ABCDEFG")


def same_sample(columns: int = COLUMNS, **about: Any) -> tuple[DagSample, DagSample]:
    """Graphs with repeats, as they are and placed among more columns."""
    distinct = naive_features.random_dags(NODES, 40, 0.35, seed=8)
    rng = np.random.default_rng(9)
    dags = distinct[rng.integers(40, size=300)]
    log_joint = dict(zip(map(bytes, distinct), rng.normal(size=40), strict=True))
    logs = np.array([log_joint[bytes(row)] for row in dags])
    wide, places = naive.place_among(dags, columns, seed=10)
    names = tuple(naive.names_for(places, list(NAMES), columns))
    narrow = sample_of(dags.tolist(), log_joint=logs, names=NAMES, log_evidence=5.0, **about)
    return narrow, DagSample(**{**narrow.__dict__, "names": names, "parents": wide})


@pytest.fixture(scope="module")
def pair() -> tuple[DagSample, DagSample]:
    return same_sample()


def placed(table: pd.DataFrame, frame: pd.DataFrame) -> bool:
    """Whether a table over all columns has the numbers of one over the nodes, and nothing elsewhere."""
    np.testing.assert_allclose(table.loc[list(NAMES), list(NAMES)], frame, atol=1e-12)
    return math.isclose(float(table.to_numpy().sum()), float(frame.to_numpy().sum()), abs_tol=1e-9)


def test_rows_are_taken_joined_and_told_apart(pair: Any) -> None:
    narrow, wide = pair
    assert len(wide) == len(narrow)
    assert set(wide[4].edges) == set(narrow[4].edges)
    assert len(wide[4]) == COLUMNS
    assert [set(graph.edges) for graph in wide[:5]] == [set(graph.edges) for graph in narrow[:5]]
    unique, expected = wide.unique(), narrow.unique()
    assert [set(graph.edges) for graph in unique] == [set(graph.edges) for graph in expected]
    np.testing.assert_allclose(unique.weights, expected.weights)
    joined = wide + wide[:10]
    assert joined.parents.shape == (310, COLUMNS, 3)
    assert wide == wide._with()
    assert "150 variables" in repr(wide)
    assert "150 variables" in wide._repr_html_()
    assert wide.covered == pytest.approx(narrow.covered)


def test_adjacency_says_which_edges_are_there_and_how_much_memory_it_needs(
    pair: Any, monkeypatch: pytest.MonkeyPatch, said: Said
) -> None:
    _, wide = pair
    matrices = wide.adjacency()
    assert matrices.shape == (300, COLUMNS, COLUMNS)
    for matrix, graph in zip(matrices[:20], wide, strict=False):
        assert (nx.to_numpy_array(graph, nodelist=wide.names) == matrix).all()
    monkeypatch.setattr(memory, "available_bytes", lambda: 1_000_000)
    with said.raises(ResourceError):
        wide.adjacency()


@pytest.mark.parametrize("relation", ["->", "~>", "--", "~>{2}"])
def test_matrices_are_those_of_the_graphs_without_the_other_columns(pair: Any, relation: str) -> None:
    narrow, wide = pair
    assert placed(wide.probability_matrix(relation), narrow.probability_matrix(relation))
    assert placed(wide.edge_frequencies(), narrow.edge_frequencies())


def test_probabilities_and_expectations_are_the_same(pair: Any) -> None:
    narrow, wide = pair
    asked: list[Any] = ["A ~> B", "compelled(A -> C)", "A in mb(D) & !(A -> D)", "P(A -> C | C -- D)", "E _||_ F | G"]
    asked = [*asked, "pos(C) <= 1", "A -> C <- B", "pa(D) = {A}", path("A", "B", 2) | adjacent("C", "D")]
    assert wide.probability(asked) == narrow.probability(asked)
    assert wide.probability("A -> B", given="C ~> D") == narrow.probability("A -> B", given="C ~> D")
    edges = [one.expectation(lambda graph: graph.number_of_edges(), given="A -- B") for one in pair]
    assert (edges[0], edges[0].standard_error) == (edges[1], edges[1].standard_error)


@pytest.mark.parametrize("estimator", ["counting", "iw", "distinct"])
def test_every_estimator_weighs_wide_graphs(pair: Any, estimator: str) -> None:
    weights = [
        weigh(estimator, one.parents, log_joint=one.log_joint, log_proposal=one.log_joint - 5.0, log_evidence=5.0)
        for one in pair
    ]
    np.testing.assert_allclose(weights[0].weights, weights[1].weights)
    assert weights[0].effective_samples == pytest.approx(weights[1].effective_samples)


def test_directions_are_those_of_the_graphs_without_the_other_columns() -> None:
    rules = {"required": [], "forbidden": [("B", "A")], "tiers": [["C"], ["D"]], "targets": [[], ["E"]]}
    narrow, wide = same_sample(provenance=rules)
    found, expected = directions_of_sample(wide), directions_of_sample(narrow)
    pairs = [(own.word, found.names[own.source], found.names[own.target], own.share) for own in found.pairs(1e-6)]
    places = [found.names.index(name) for name in NAMES]
    for matrix, other in (
        (found.by_data, expected.by_data),
        (found.by_rules, expected.by_rules),
        (found.settled, expected.settled),
        (found.reversible, expected.reversible),
        (found.lower, expected.lower),
        (found.upper, expected.upper),
    ):
        np.testing.assert_allclose(matrix[np.ix_(places, places)].astype(float), other.astype(float), atol=1e-12)
    assert len(pairs) == len(expected.pairs(1e-6))
    assert len(wide.directions()) == COLUMNS * (COLUMNS - 1) // 2


def test_edges_from_exogenous_columns_are_settled_by_the_rules() -> None:
    names = tuple(f"v{column}" for column in range(100))
    known = knowledge_from(names, Constraints(exogenous=names[:80], tiers=[names[80:90], names[90:]]))
    assert known.settled[:80, 80:].all()
    assert known.settled[80:90, 90:].all()
    assert known.settled.sum() == 80 * 20 + 10 * 10
    # v0 -> v95 <- v96 with v0 -> v96 tells nothing by itself.
    graph = np.zeros((1, 100, 2), dtype=np.uint64)
    for parent, child in ((0, 95), (0, 96), (96, 95)):
        naive.add_edge(graph[0], parent, child)
    compelled = known.compelled(graph)
    assert not compelled.by_data.any()
    assert naive.has_edge(compelled.with_rules[0], 0, 95)
    assert not naive.has_edge(compelled.with_rules[0], 96, 95)
    sample = sample_of([[0] * 3], names=("a", "b", "c"), provenance={"exogenous": ["a"]})
    assert directions_of_sample(sample).settled.tolist() == [[False, True, True], [False] * 3, [False] * 3]


def test_summaries_are_those_of_the_graphs_without_the_other_columns(pair: Any) -> None:
    narrow, wide = pair
    assert graph_standing(wide, wide[3]) == graph_standing(narrow, narrow[3])
    best, expected = top_graphs(wide, 5), top_graphs(narrow, 5)
    np.testing.assert_allclose(best.probabilities, expected.probabilities)
    assert set(best.graph(0).edges) == set(expected.graph(0).edges)
    assert set(best.table()["edges"][1].split(", ")) == set(expected.table()["edges"][1].split(", "))
    classes, of_narrow = equivalence_classes(wide), equivalence_classes(narrow)
    np.testing.assert_allclose(classes.probabilities, of_narrow.probabilities)
    assert set(classes.graph(0).edges) == set(of_narrow.graph(0).edges)
    assert len(classes.table()) == 10
    assert repr(classes).startswith(f"{len(of_narrow)} equivalence classes of 40 distinct graphs")
    assert placed(markov_blanket_table(wide), markov_blanket_table(narrow))
    assert set(threshold_graph(wide).graph.edges) == set(threshold_graph(narrow).graph.edges)


def test_a_given_graph_is_the_same_as_names_pairs_and_masks(said: Said) -> None:
    names = tuple(f"v{column}" for column in range(130))
    pairs = [("v0", "v129"), ("v64", "v129"), ("v129", "v63")]
    masks = masks_of_graph(pairs, names)
    assert masks.shape == (130, 3)
    assert (masks_of_graph(masks, names) == masks).all()
    assert (masks_of_graph(nx.DiGraph(pairs), names) == masks).all()
    assert {(names[p], names[c]) for p, c in np.argwhere(matrices_of_masks(masks[None])[0])} == set(pairs)
    with said.raises(InputError):
        masks_of_graph(pairs, names, max_parents=1)
    with said.raises(InputError):
        masks_of_graph([], tuple(f"v{column}" for column in range(1025)))


def test_the_essential_graph_of_many_columns_obeys_rules(said: Said) -> None:
    chain = [(f"v{column}", f"v{column + 1}") for column in range(99)]
    assert not any(about["directed"] for _, _, about in essential_graph(chain).edges(data=True))
    ruled = essential_graph(chain, required=[("v0", "v1")])
    assert set(ruled.edges) == set(chain)
    with said.raises(InputError):
        essential_graph(chain, forbidden=[("v70", "v71")])
    with said.raises(InputError):
        essential_graph(chain, required=[("v0", "v99")])


def test_what_needs_sets_in_one_word_says_so(pair: Any, said: Said) -> None:
    _, wide = pair
    with said.raises(InputError):
        log_linear_extensions(wide.parents, engine=ThreadEngine(1))


def test_a_sample_has_the_shape_that_its_names_ask_for(said: Said) -> None:
    narrow, wide = same_sample(columns=65)
    about = dict(wide.__dict__)
    assert wide.probability(edge("A", "B")).value == narrow.probability(edge("A", "B")).value
    for parents in (wide.parents[:, :, 0], wide.parents[:, :64], wide.parents[:, :, :1], wide.parents.astype(np.int64)):
        with said.raises(InputError):
            DagSample(**{**about, "parents": parents})
