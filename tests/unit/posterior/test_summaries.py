"""Summaries of a posterior over graphs against their definitions, and what they refuse."""

from __future__ import annotations

import math
from itertools import permutations
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import rankdata
from sklearn.exceptions import NotFittedError
from tests.naive import features as naive_features
from tests.naive import posterior as naive
from tests.naive import summaries as naive_summaries
from tests.naive.summaries import NAMES, ODD_NAMES, sample_of
from tests.tools.wording import Said

from dagpost import DagPosterior, datasets
from dagpost.errors import InputError
from dagpost.posterior.summaries import (
    adjacency_table,
    blankets,
    equivalence_classes,
    graph_of_masks,
    graph_standing,
    markov_blanket_table,
    masks_of_graph,
    orientation_table,
    probability_graph,
    threshold_graph,
    top_graphs,
)


def table_of(matrix: Any, names: Any = None) -> Any:
    names = NAMES[: len(matrix)] if names is None else names
    return pd.DataFrame(np.array(matrix, dtype=float), index=names, columns=names)


@st.composite
def edge_tables(draw: st.DrawFn) -> Any:
    """Edge probabilities of a mixture of random graphs: both directions of a pair never add up to more than 1."""
    nodes = draw(st.integers(1, 7))
    generator = np.random.default_rng(draw(st.integers(0, 2**32)))
    dags = naive_features.random_dags(nodes, 5, draw(st.sampled_from([0.0, 0.3, 0.8])), int(generator.integers(1000)))
    weights = generator.dirichlet(np.ones(5))
    edges = np.zeros((nodes, nodes))
    for dag, weight in zip(dags.tolist(), weights, strict=True):
        for edge in naive_summaries.edges_of(tuple(dag)):
            edges[edge] += weight
    return dags, weights, table_of(edges)


@pytest.fixture(scope="module")
def model() -> Any:
    return DagPosterior(prior="uniform", score="bdeu").fit(datasets.load("coronary"))


@pytest.fixture(scope="module")
def all_of_three() -> Any:
    """Every graph of three variables with its exact probability, log joints around -4,000."""
    dags = naive.all_dags(3)
    log_joint = np.random.default_rng(0).normal(-4000.0, 3.0, len(dags))
    evidence = float(np.logaddexp.reduce(log_joint))
    mass = np.exp(log_joint - evidence)
    return dags, mass, sample_of(dags, mass, log_joint, log_evidence=evidence, estimator="iw")


# The best graphs


def test_the_best_graphs_have_their_exact_probabilities_whatever_was_drawn(all_of_three: Any) -> None:
    dags, mass, whole = all_of_three
    # The best graph once, a poor one often.
    order = np.argsort(-mass)
    rows = [order[0], order[3], order[3], order[3], order[1]]
    sample = sample_of([dags[i] for i in rows], None, whole.log_joint[rows], log_evidence=whole.log_evidence)
    top = top_graphs(sample, 2)
    assert top.exact
    assert [tuple(row) for row in top.parents.tolist()] == [dags[order[0]], dags[order[1]]]
    np.testing.assert_allclose(top.probabilities, mass[order[:2]], rtol=1e-12)
    assert top.covered == pytest.approx(mass[order[:2]].sum())
    table = top_graphs(sample, 99).table()
    assert table["rank"].to_list() == [1, 2, 3]
    np.testing.assert_allclose(table["cumulative"], np.cumsum(mass[[order[0], order[1], order[3]]]), rtol=1e-12)


@pytest.mark.parametrize("unknown", [{"log_evidence": math.nan}, {"target": "order", "log_evidence": -1.0}])
def test_without_the_probability_of_a_graph_its_share_of_the_weight_stands_for_it(unknown: Any) -> None:
    rows = [[0, 1, 0], [0, 0, 0], [0, 1, 0], [0, 0, 1]]
    top = top_graphs(sample_of(rows, [0.1, 0.4, 0.4, 0.1], np.zeros(4), **unknown))
    assert not top.exact
    np.testing.assert_allclose(top.probabilities, [0.5, 0.4, 0.1])
    assert top.covered == pytest.approx(1.0)
    assert top.table()["edges"].to_list() == ["A -> B", "no edges", "A -> C"]
    assert repr(top) == "The 3 most probable graphs, with 1.0000 of the weight of the sample together"
    assert set(top.graph(0).edges) == {("A", "B")}


def test_the_best_graphs_of_a_model_cover_what_it_says(model: DagPosterior) -> None:
    best = model.best(20)
    top = top_graphs(best, 20)
    assert top.covered == pytest.approx(best.covered, abs=1e-12)
    np.testing.assert_array_equal(top.parents, best.parents)


@pytest.mark.parametrize(
    ("coverage", "graphs"), [(0.3, 1), (0.5, 1), (0.51, 2), (0.9, 2), (0.95, 3), (1.0, 3), (None, 3)]
)
def test_no_more_graphs_are_given_than_it_takes_to_hold_the_share_asked_for(coverage: Any, graphs: int) -> None:
    rows = [[0, 1, 0], [0, 0, 0], [0, 1, 0], [0, 0, 1]]
    sample = sample_of(rows, [0.1, 0.4, 0.4, 0.1])
    top = top_graphs(sample, None, coverage=coverage)
    assert len(top) == graphs
    assert top.covered == pytest.approx([0.5, 0.9, 1.0][graphs - 1])
    assert len(top_graphs(sample, 2, coverage=coverage)) == min(graphs, 2)


def test_weighted_graphs_are_the_same_as_networkx_as_arrays_and_as_a_table() -> None:
    dags = naive_features.random_dags(4, 40, 0.4, 11).tolist()
    sample = sample_of([*dags, [0, 0, 0, 0]], np.random.default_rng(2).dirichlet(np.ones(41)))
    top = top_graphs(sample, None, coverage=0.9)
    assert top.covered < 1.0
    np.testing.assert_allclose(top.weights, top.probabilities / top.covered, rtol=1e-12)
    arrays = top.adjacency()
    assert arrays.shape == (len(top), 4, 4)
    table = top.edge_table()
    assert table.columns.to_list() == ["graph", "weight", "from", "to"]
    for place, (graph, weight, array) in enumerate(zip(top, top.weights, arrays, strict=True)):
        assert tuple(graph) == top.names
        np.testing.assert_array_equal(nx.to_numpy_array(graph) != 0, array)
        own = table[table["graph"] == place + 1]
        assert set(own["weight"]) == {weight}
        pairs = own[["from", "to"]].dropna().itertuples(index=False, name=None)
        assert sorted(pairs) == sorted(graph.edges)
        assert len(own) == max(1, graph.number_of_edges())


@pytest.mark.parametrize("coverage", [0.0, 1.5, True, "half", math.nan])
def test_a_share_of_the_posterior_is_above_0_and_at_most_1(coverage: Any, said: Said) -> None:
    with said.raises(InputError):
        top_graphs(sample_of([[0, 1]]), coverage=coverage)


@pytest.mark.parametrize("count", [0, -1, True, 2.5, "two"])
def test_a_number_of_graphs_is_a_positive_int(count: Any, said: Said) -> None:
    with said.raises(InputError):
        top_graphs(sample_of([[0, 1]]), count)


# This very graph


@given(st.integers(1, 8), st.sampled_from([0.2, 0.6]), st.integers(0, 2**32), st.randoms())
def test_every_way_to_give_a_graph_gives_the_same_masks(nodes: Any, density: Any, seed: Any, random: Any) -> None:
    (row,) = naive_features.random_dags(nodes, 1, density, seed)
    names = ODD_NAMES[:nodes]
    graph = graph_of_masks(row, names)
    assert tuple(graph) == names
    assert set(graph.edges) == set(naive_features.graph_of(row, list(names)).edges)
    pairs = list(graph.edges)
    random.shuffle(pairs)
    mapping = {child: set(graph.predecessors(child)) for child in names if graph.in_degree(child)}
    for given_graph in (graph, nx.MultiDiGraph(graph), pairs, iter(pairs), mapping, row, row.astype(np.int64)):
        masks = masks_of_graph(given_graph, names)
        assert masks.dtype == np.uint64
        assert masks.tolist() == row.tolist()


def test_sixty_four_variables_fit_into_a_mask() -> None:
    names = [f"V{i}" for i in range(64)]
    masks = masks_of_graph([("V63", "V0"), ("V62", "V0")], names)
    assert int(masks[0]) == 3 << 62
    assert set(graph_of_masks(masks, names).edges) == {("V63", "V0"), ("V62", "V0")}
    more = masks_of_graph([("V63", "V0"), ("V64", "V0")], [*names, "V64"])
    assert more[0].tolist() == [1 << 63, 1]


@pytest.mark.parametrize(
    "graph",
    [
        [("A", "B"), ("B", "C"), ("C", "A")],
        [("A", "A")],
        np.array([2, 1, 0], dtype=np.uint8),
        [("Aa", "B")],
        {"X": []},
        {"B": ["A", 3]},
        {"B": "A"},
        [("A", "B", "C")],
        ["AB"],
        [4],
        [{"A", "B"}],
        "A -> B",
        None,
        nx.Graph([("A", "B")]),
        nx.DiGraph({"Z": []}),
        np.array([1, 2], dtype=np.uint8),
        np.array([0, 8, 0], dtype=np.uint8),
        np.array([0, -1, 0]),
    ],
)
def test_what_is_no_graph_of_these_variables_is_refused(graph: Any, said: Said) -> None:
    with said.raises(InputError):
        masks_of_graph(graph, ("A", "B", "C"))


def test_too_many_parents_are_refused_by_name(said: Said) -> None:
    graph = {"C": ["A", "B"]}
    assert masks_of_graph(graph, NAMES, max_parents=2).sum() == 3
    with said.raises(InputError):
        masks_of_graph(graph, NAMES, max_parents=1)


def test_a_graph_has_a_rank_a_frequency_and_a_probability(all_of_three: Any) -> None:
    dags, mass, whole = all_of_three
    ranks = rankdata(-mass, method="min")
    for dag, probability, rank in zip(dags, mass, ranks, strict=True):
        standing = graph_standing(whole, np.array(dag, dtype=np.uint8))
        assert standing.rank == rank
        assert standing.probability == pytest.approx(probability)
        assert standing.weight == pytest.approx(probability)
        assert standing.frequency == 1 / 25
    assert repr(graph_standing(whole, np.array(dags[int(np.argmax(mass))], dtype=np.uint8))).startswith(
        "rank 1 among 25 distinct graphs, drawn 1 times in 25, posterior probability "
    )


def test_a_graph_that_was_not_drawn_is_ranked_by_what_it_weighs(all_of_three: Any) -> None:
    dags, mass, whole = all_of_three
    order = np.argsort(-mass)
    sample = whole[order[[0, 1, 2, 4, 5]]]
    absent = np.array(dags[order[3]], dtype=np.uint8)
    unknown = graph_standing(sample, absent)
    assert (unknown.rank, unknown.frequency, unknown.weight) == (None, 0.0, 0.0)
    assert math.isnan(unknown.probability)
    known = graph_standing(sample, absent, log_joint=float(whole.log_joint[order[3]]))
    assert known.rank == 4
    assert known.probability == pytest.approx(mass[order[3]])
    impossible = graph_standing(sample, absent, log_joint=-math.inf)
    assert (impossible.rank, impossible.probability) == (6, 0.0)


def test_equally_good_graphs_share_the_better_rank() -> None:
    joint = -4000.0 + np.array([0.0, 1e-9, -1e-9, -1.0])
    sample = sample_of([[0, 1, 0], [2, 0, 0], [0, 0, 1], [0, 0, 0]], None, joint)
    assert [graph_standing(sample, sample[place]).rank for place in range(4)] == [1, 1, 1, 4]


def test_where_orders_count_the_weight_ranks() -> None:
    sample = sample_of([[0, 1], [0, 1], [0, 0]], None, np.array([-9.0, -9.0, -1.0]), target="order")
    assert graph_standing(sample, [("A", "B")]).rank == 1
    assert graph_standing(sample, []).rank == 2
    assert graph_standing(sample, [("B", "A")]).rank is None


# Edges


@given(edge_tables(), st.floats(0.0, 0.99))
def test_expected_mistakes_are_averages_over_the_graphs(case: Any, threshold: Any) -> None:
    dags, weights, edges = case
    found = threshold_graph(edges, threshold)
    drawn = {(NAMES.index(a), NAMES.index(b)) for a, b in found.graph.edges}
    expected = {"true": 0.0, "false": 0.0, "missed": 0.0}
    for dag, weight in zip(dags.tolist(), weights, strict=True):
        there = naive_summaries.edges_of(tuple(dag))
        expected["true"] += weight * len(drawn & there)
        expected["false"] += weight * len(drawn - there)
        expected["missed"] += weight * len(there - drawn)
    assert found.expected_true == pytest.approx(expected["true"], abs=1e-9)
    assert found.expected_false == pytest.approx(expected["false"], abs=1e-9)
    assert found.expected_missed == pytest.approx(expected["missed"], abs=1e-9)
    assert drawn == {pair for pair, p in np.ndenumerate(edges.to_numpy()) if p > threshold}
    assert found.cyclic == (not naive_summaries.is_acyclic(drawn))
    assert len(found.table()) == len(drawn)


def test_probable_edges_may_form_a_cycle_and_that_is_said() -> None:
    third = 2.0 / 3.0
    found = threshold_graph(table_of([[0, third, 0], [0, 0, third], [third, 0, 0]]))
    assert found.cyclic
    assert repr(found) == (
        "3 edges above 0.5, of which 1.00 are expected to be false and 0.00 more to be missed; "
        "they form a cycle, so this is no DAG"
    )
    assert found.graph.edges["A", "B"]["probability"] == third


def test_the_threshold_itself_is_not_above_it() -> None:
    edges = table_of([[0.0, 0.5], [0.5, 0.0]])
    assert probability_graph(edges, 0.5).number_of_edges() == 0
    assert set(probability_graph(edges, 0.49).edges) == {("A", "B"), ("B", "A")}
    assert probability_graph(table_of([[0.9]])).number_of_edges() == 0


@pytest.mark.parametrize("threshold", [-0.1, 1.0, math.nan, True, "half", None])
def test_a_threshold_is_a_probability_below_one(threshold: Any, said: Said) -> None:
    with said.raises(InputError):
        threshold_graph(table_of([[0.0]]), threshold)


@pytest.mark.parametrize(
    "edges",
    [
        np.zeros((2, 2)),
        pd.DataFrame([[0.0, 0.1]], index=["A"], columns=["A", "B"]),
        table_of([[0, 0], [0, 0]], ["A", "A"]),
        table_of([[0, 1.2], [0, 0]]),
        table_of([[0, 0], [math.nan, 0]]),
        table_of([[0, -0.2], [0, 0]]),
    ],
)
def test_what_is_no_table_of_probabilities_is_refused(edges: Any, said: Said) -> None:
    for summary in (threshold_graph, adjacency_table, orientation_table):
        with said.raises(InputError):
            summary(edges)


@given(edge_tables())
def test_adjacency_and_orientation_are_shares_of_the_graphs(case: Any) -> None:
    dags, weights, edges = case
    joined, pointing = adjacency_table(edges), orientation_table(edges)
    for a, b in permutations(range(len(edges)), 2):
        there = [naive_summaries.edges_of(tuple(dag)) for dag in dags.tolist()]
        onward = sum(w for w, found in zip(weights, there, strict=True) if (a, b) in found)
        either = sum(w for w, found in zip(weights, there, strict=True) if {(a, b), (b, a)} & found)
        assert joined.iloc[a, b] == pytest.approx(either, abs=1e-12)
        if either > 0.0:
            assert pointing.iloc[a, b] == pytest.approx(onward / either, abs=1e-12)
        else:
            assert math.isnan(pointing.iloc[a, b])


@given(st.integers(1, 8), st.sampled_from([0.1, 0.4, 0.8]), st.integers(0, 2**32))
def test_markov_blankets_match_their_definition(nodes: Any, density: Any, seed: Any) -> None:
    dags = naive_features.random_dags(nodes, 6, density, seed)
    weights = np.random.default_rng(seed).dirichlet(np.ones(6))
    expected = np.zeros((nodes, nodes))
    names = list(NAMES[:nodes])
    for dag, weight in zip(dags, weights, strict=True):
        graph = naive_features.graph_of(dag, names)
        for node, name in enumerate(names):
            for member in naive_features.markov_blanket(graph, name):
                expected[node, names.index(member)] += weight
    found = markov_blanket_table(sample_of(dags.tolist(), weights))
    np.testing.assert_allclose(found.to_numpy(), expected, atol=1e-12)
    assert tuple(found.index) == tuple(found.columns) == tuple(names)


def test_blankets_are_added_up_over_blocks(model: DagPosterior, monkeypatch: pytest.MonkeyPatch) -> None:
    sample = model.sample(100, seed=2)
    whole = markov_blanket_table(sample)
    monkeypatch.setattr(blankets, "graphs_together", lambda *_: 7)
    np.testing.assert_allclose(markov_blanket_table(sample).to_numpy(), whole.to_numpy(), atol=1e-12)


def _shown(result: Any) -> str:
    return str(result.table() if hasattr(result, "table") else result)


TRUTH = [("Smoking", "Pressure")]
BY_GRAPHS = [
    equivalence_classes,
    top_graphs,
    markov_blanket_table,
    lambda source: graph_standing(source, TRUTH),
]
BY_EDGES = [
    adjacency_table,
    orientation_table,
    threshold_graph,
    lambda source: sorted(probability_graph(source).edges(data="probability")),
]


@pytest.mark.parametrize("summary", BY_GRAPHS)
def test_a_model_stands_for_its_own_sample(summary: Any, model: DagPosterior, said: Said) -> None:
    assert _shown(summary(model)) == _shown(summary(model.own_sample()))
    for stranger in (3, DagPosterior):
        with said.raises(InputError):
            summary(stranger)


@pytest.mark.parametrize("summary", BY_EDGES)
def test_a_model_and_a_sample_stand_for_the_probabilities_of_their_edges(summary: Any, model: DagPosterior) -> None:
    sample = model.sample(500, seed=2)
    assert _shown(summary(model)) == _shown(summary(model.edge_probabilities_))
    assert _shown(summary(sample)) == _shown(summary(sample.edge_frequencies()))
    assert _shown(summary(sample)) != _shown(summary(model))


@pytest.mark.parametrize("summary", BY_GRAPHS + BY_EDGES)
def test_a_model_without_data_has_no_summary(summary: Any, said: Said) -> None:
    with said.raises(NotFittedError):
        summary(DagPosterior(prior="uniform", score="bdeu"))


# How they show themselves


def test_names_are_never_markup() -> None:
    names = ODD_NAMES[:4]
    edges = table_of(np.triu(np.full((4, 4), 0.5), 1), names)
    sample = sample_of([[0, 1, 3, 7], [0, 1, 1, 1]], names=names)
    shown: list[Any] = [
        top_graphs(sample),
        threshold_graph(edges, 0.1),
    ]
    for summary in shown:
        markup = summary._repr_html_()
        assert markup.startswith("<p>")
        assert "<script>" not in markup
        assert "<i>" not in markup
        assert "\n" not in repr(summary)
    assert "&lt;script&gt;" in shown[0]._repr_html_()
