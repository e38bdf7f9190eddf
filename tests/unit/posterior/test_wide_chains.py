"""Graphs of chains over more than 64 columns say what the same graphs say without the columns that have no edges."""

from __future__ import annotations

import pickle
import threading
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.naive import features as naive_features
from tests.naive import wide as naive
from tests.naive.summaries import sample_of
from tests.tools.wording import Said

from dagpost import DagSample, ResourceError, custom, edge, long_table, to_arviz
from dagpost._tools import memory
from dagpost.families import graph_lists, masks
from dagpost.families.graph_lists import lists_of
from dagpost.families.masks import edges_of_pairs
from dagpost.features import evaluate, evaluation, weighted_matrix
from dagpost.mcmc.records import ChainRecord
from dagpost.posterior import distinct as distinct_file
from dagpost.posterior.directions import _Found, directions_of_sample
from dagpost.posterior.distinct import distinct_graphs_in
from dagpost.posterior.knowledge import knowledge_of_sample
from dagpost.posterior.summaries import equivalence_classes, top_graphs

NODES, COLUMNS, DRAWS = 6, 130, 400
NAMES = tuple("ABCDEF")
LENGTHS = (200, 200)


def record_of(nodes: int) -> ChainRecord:
    moves = np.full((2, 1), DRAWS)
    return ChainRecord(LENGTHS, np.zeros(DRAWS), ("block",), moves, moves, np.zeros((2, nodes, nodes)), 2, {})


@pytest.fixture(scope="module")
def pair() -> tuple[DagSample, DagSample]:
    """Graphs that stay for a while, as those of a chain do: as they are, and placed among more columns."""
    distinct = naive_features.random_dags(NODES, 30, 0.35, seed=3)
    rng = np.random.default_rng(4)
    stays = rng.random(DRAWS) < 0.6
    stays[[0, 200]] = False
    drawn = np.maximum.accumulate(np.where(stays, 0, np.arange(DRAWS)))
    dags = distinct[rng.integers(30, size=DRAWS)[drawn]]
    about: dict[str, Any] = {"method": "structure-mcmc", "draws": "chains"}
    wide, places = naive.place_among(dags, COLUMNS, seed=5)
    narrow = sample_of(dags.tolist(), names=NAMES, chains=record_of(NODES), **about)
    names = tuple(naive.names_for(places, list(NAMES), COLUMNS))
    return narrow, narrow._with(names=names, parents=wide, chains=record_of(COLUMNS))


def test_estimates_of_chains_are_the_same_with_their_intervals(pair: Any) -> None:
    narrow, wide = pair
    asked = ["A -> B", "A ~> B", "B ~> C & C ~> D", "P(A ~> D | A ~> B)", "compelled(A -> C)", "A _||_ F | B"]
    for one, other in zip(narrow.probability(asked), wide.probability(asked), strict=True):
        assert one.as_dict() == pytest.approx(other.as_dict())
        assert one.rule == "effective draws"
    never = wide.probability("A ~> B", given="A ~> B & B ~> A")
    assert (never.rule, never.lower, never.upper) == ("the condition never occurred", 0.0, 1.0)
    expected = [one.expectation(lambda graph: graph.number_of_edges(), given="A -- B") for one in pair]
    assert expected[0].as_dict() == pytest.approx(expected[1].as_dict())
    assert wide.diagnostics().smallest_effective == pytest.approx(narrow.diagnostics().smallest_effective)


def test_directions_of_chains_are_the_same_and_remembered(pair: Any) -> None:
    narrow, wide = pair
    found, expected = directions_of_sample(wide), directions_of_sample(narrow)
    inside = np.ix_(*[[wide.names.index(name) for name in NAMES]] * 2)
    for matrix in ("joined", "by_data", "reversible", "lower", "upper"):
        np.testing.assert_allclose(getattr(found, matrix)[inside], getattr(expected, matrix), atol=1e-12)
    assert directions_of_sample(wide) is found
    again = pickle.loads(pickle.dumps(wide))
    assert "remembered" not in again.__dict__
    assert again == wide


def test_edges_of_chains_that_exceed_1_both_ways_are_shared_out(pair: Any) -> None:
    _, wide = pair
    edges = np.clip(1.4 * wide.edge_frequencies().to_numpy(), 0.0, 1.0)
    first, second = (wide.names.index(name) for name in "AB")
    edges[first, second], edges[second, first] = 0.9, 0.3
    found = _Found(wide, knowledge_of_sample(wide), edges).directions(0.95)
    parts = found.by_data + found.by_data.T + found.by_rules + found.by_rules.T + found.reversible
    np.testing.assert_allclose(parts, found.joined, atol=1e-12)
    assert found.joined[first, second] == pytest.approx(1.0)


def test_what_is_shown_of_a_chain_sample_says_how_many_columns_there_are(pair: Any) -> None:
    _, wide = pair
    assert "130 variables" in wide._repr_html_()
    assert len(long_table(wide)) == COLUMNS * (COLUMNS - 1)
    tree = to_arviz(wide)
    frequencies = tree["posterior"]["edge"].to_numpy().mean(axis=(0, 1))
    np.testing.assert_allclose(frequencies, wide.edge_frequencies(), atol=1e-12)


def test_classes_and_the_best_graphs_do_not_depend_on_how_many_are_copied_together(
    pair: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    narrow, wide = pair
    whole = equivalence_classes(wide)
    monkeypatch.setattr(distinct_file, "_WORDS_AT_A_TIME", 7 * wide.parents[0].size)
    fresh = wide._with()
    parts, expected = equivalence_classes(fresh), equivalence_classes(narrow)
    assert len(parts) == len(whole) == len(expected)
    np.testing.assert_array_equal(parts.patterns, whole.patterns)
    np.testing.assert_allclose(parts.probabilities, expected.probabilities)
    assert [set(parts.graph(place).edges) for place in range(3)] == [
        set(expected.graph(place).edges) for place in range(3)
    ]
    assert [set(top_graphs(fresh, 3).graph(place).edges) for place in range(3)] == [
        set(top_graphs(narrow, 3).graph(place).edges) for place in range(3)
    ]
    np.testing.assert_allclose(directions_of_sample(fresh).by_data, directions_of_sample(wide).by_data)


def test_of_graphs_that_were_all_drawn_once_the_best_comes_first() -> None:
    graphs = naive.random_wide(70, 20, 30, 2, seed=6)
    fit = np.random.default_rng(7).normal(size=20)
    once, names = np.full(20, 0.05), tuple(f"v{column}" for column in range(70))
    kinds = {"target": "structure", "method": "block-gibbs", "draws": "chains", "estimator": "counting"}
    sample = DagSample(names, graphs, fit, np.full(20, np.nan), np.full(20, np.nan), once, **kinds)
    assert top_graphs(sample, 3).log_joint.tolist() == sorted(fit, reverse=True)[:3]


def test_copies_of_all_graphs_are_refused_where_there_is_no_room(
    pair: Any, monkeypatch: pytest.MonkeyPatch, said: Said
) -> None:
    _, wide = pair
    classes = equivalence_classes(wide._with())
    monkeypatch.setattr(memory, "available_bytes", lambda: 10_000)
    with said.raises(ResourceError):
        wide.unique()
    with said.raises(ResourceError):
        classes.patterns  # noqa: B018
    assert len(classes.table(2)) == 2


def test_a_function_of_the_user_is_called_by_the_thread_that_asks(pair: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    _, wide = pair
    monkeypatch.setattr(graph_lists, "WORDS_IN_BLOCK", 20 * wide.parents[0].size)
    threads = set()

    def noted(graph: Any) -> bool:
        threads.add(threading.get_ident())
        return bool(graph.number_of_edges() > 3)

    many = [graph.number_of_edges() > 3 for graph in wide]
    held = evaluate([custom(noted), ~custom(noted) | edge("A", "B")], wide.parents, wide.names)
    assert threads == {threading.get_ident()}
    assert held[0].tolist() == many
    assert (held[1] >= ~held[0]).all()


@settings(max_examples=10, deadline=None)
@given(st.integers(65, 140), st.integers(0, 2**32))
def test_distinct_graphs_pairs_and_sums_are_those_of_sets_of_edges(columns: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    graphs = naive.random_wide(columns, 12, 8, 2, seed)[rng.integers(12, size=40)]
    weights = rng.random(40)
    edges = [
        frozenset((p, c) for c in range(columns) for p in range(columns) if naive.has_edge(graph, p, c))
        for graph in graphs
    ]
    found = distinct_graphs_in(graphs, weights)
    totals: dict[frozenset[tuple[int, int]], float] = {}
    for own, weight in zip(edges, weights, strict=True):
        totals[own] = totals.get(own, 0.0) + weight
    falling = sorted(totals, key=lambda own: -totals[own])
    assert [edges[row] for row in found.rows] == falling
    np.testing.assert_allclose(found.weights, [totals[own] for own in falling])
    assert [falling[place] for place in found.member] == edges
    assert [edges.index(edges[row]) for row in found.rows] == found.rows.tolist()
    pairs = [*sorted(edges[0])[:5], (0, 1), (columns - 1, 0)]
    assert edges_of_pairs(graphs, pairs).tolist() == [[pair in own for own in edges] for pair in pairs]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(evaluation, "_FOR_A_MATRIX", 7)
        patch.setattr(masks, "_WORDS_AT_A_TIME", 3 * graphs[0].size)
        total = weighted_matrix("->", graphs, weights)
        assert edges_of_pairs(graphs, pairs).tolist() == [[pair in own for own in edges] for pair in pairs]
    for pair in pairs:
        share = sum(weight for own, weight in zip(edges, weights, strict=True) if pair in own)
        assert total[pair] == pytest.approx(share)


def test_lists_go_on_behind_a_graph_with_a_cycle() -> None:
    graphs = naive.random_wide(70, 3, 20, 2, seed=1)
    cyclic = graphs.copy()
    cyclic[1] = 0
    for parent, child in ((3, 66), (66, 5), (5, 3)):
        naive.add_edge(cyclic[1], parent, child)
    lists, first = lists_of(cyclic)
    assert first == 1
    expected, acyclic = lists_of(graphs)
    assert acyclic == -1
    last, other = (own.members[own.starts[2, 0] :].tolist() for own in (lists, expected))
    assert last == other
