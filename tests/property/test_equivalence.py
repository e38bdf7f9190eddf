"""Completed graphs of equivalence classes against enumeration, and against what is known of equivalent graphs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.naive import features as naive_features
from tests.naive import summaries as naive_summaries
from tests.naive.posterior import all_dags
from tests.naive.summaries import NAMES, sample_of
from tests.tools.examples import examples
from tests.tools.wording import Said

from dagpost.errors import InputError
from dagpost.posterior.summaries import equivalence_classes, essential_graphs, pattern_graph

TYPES = [np.uint8, np.uint16, np.uint32, np.uint64]
#: Number of equivalence classes of graphs of 1, 2, 3, 4 nodes (Gillispie & Perlman 2002).
CLASSES = {1: 1, 2: 2, 3: 11, 4: 185}


@pytest.mark.parametrize("nodes", [1, 2, 3, 4])
def test_completed_graphs_of_all_graphs_match_enumeration(nodes: Any) -> None:
    expected = naive_summaries.essential_graph_of_every_dag(nodes)
    dags = np.array(list(expected), dtype=np.uint8)
    assert [tuple(row) for row in essential_graphs(dags).tolist()] == list(expected.values())
    assert len(np.unique(essential_graphs(dags), axis=0)) == CLASSES[nodes]


@settings(max_examples=examples(60))
@given(
    st.integers(5, 7),
    st.sampled_from([0.1, 0.25, 0.4]),
    st.integers(0, 2**32),
    st.sampled_from(TYPES),
)
def test_completed_graphs_match_all_ways_to_turn_the_edges(nodes: Any, density: Any, seed: int, kind: Any) -> None:
    dags = naive_features.random_dags(nodes, 8, density, seed)
    # Trying 2^edges ways takes long beyond this.
    dags = dags[np.bitwise_count(dags).sum(axis=1) <= 9]
    found = essential_graphs(dags.astype(kind))
    assert found.dtype == kind
    assert [tuple(row) for row in found.tolist()] == [
        naive_summaries.essential_graph(tuple(row)) for row in dags.tolist()
    ]


def wide_dag(nodes: Any, density: Any, generator: Any) -> Any:
    order = generator.permutation(nodes)
    masks = [0] * nodes
    for place, child in enumerate(order):
        for parent in order[:place]:
            masks[child] |= int(generator.random() < density) << int(parent)
    return masks


def turned(masks: Any, parent: Any, child: Any) -> Any:
    result = list(masks)
    result[child] &= ~(1 << parent)
    result[parent] |= 1 << child
    return result


def pattern(masks: Any) -> Any:
    return essential_graphs(np.array([masks], dtype=np.uint64))[0].tolist()


@settings(max_examples=40)
@given(st.sampled_from([8, 20, 33, 64]), st.sampled_from([0.03, 0.1, 0.5]), st.integers(0, 2**32))
def test_turning_an_edge_keeps_the_class_exactly_where_it_is_covered(nodes: Any, density: Any, seed: int) -> None:
    """An edge x -> y is covered when y has the parents of x, and x, and no others (Chickering 1995)."""
    generator = np.random.default_rng(seed)
    masks = wide_dag(nodes, density, generator)
    for _ in range(10):
        edges = sorted(naive_summaries.edges_of(tuple(masks)))
        if not edges:
            return
        parent, child = edges[generator.integers(len(edges))]
        after = turned(masks, parent, child)
        if not naive_summaries.is_acyclic(naive_summaries.edges_of(tuple(after))):
            continue
        covered = masks[child] == masks[parent] | 1 << parent
        assert (pattern(after) == pattern(masks)) == covered
        masks = after


@given(st.sampled_from([8, 64]), st.sampled_from([0.05, 0.3]), st.integers(0, 2**32))
def test_directed_edges_of_a_completed_graph_are_those_of_the_graph(nodes: Any, density: Any, seed: int) -> None:
    masks = wide_dag(nodes, density, np.random.default_rng(seed))
    found = pattern(masks)
    edges, completed = naive_summaries.edges_of(tuple(masks)), naive_summaries.edges_of(tuple(found))
    assert naive_summaries.skeleton(edges) == naive_summaries.skeleton(completed)
    assert edges <= completed


def test_a_cycle_is_refused_with_the_number_of_its_graph(said: Said, monkeypatch: pytest.MonkeyPatch) -> None:
    graphs = np.array([[0, 1, 2], [0, 1, 2], [4, 1, 2]], dtype=np.uint8)
    with said.raises(InputError):
        essential_graphs(graphs)
    monkeypatch.setattr("dagpost.families.graph_lists.WORDS_IN_BLOCK", 2 * 3)
    with said.raises(InputError):
        essential_graphs(graphs)


def test_blocks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    dags = naive_features.random_dags(7, 100, 0.3, seed=3)
    dags.flags.writeable = False
    whole = essential_graphs(dags)
    monkeypatch.setattr("dagpost.families.graph_lists.WORDS_IN_BLOCK", 7 * 7)
    np.testing.assert_array_equal(essential_graphs(dags), whole)


# Classes of a sample


@given(st.integers(0, 2**32))
def test_classes_add_up_the_weights_of_their_graphs(seed: int) -> None:
    generator = np.random.default_rng(seed)
    dags = all_dags(4)
    rows = [dags[place] for place in generator.integers(0, len(dags), 40)]
    sample = sample_of(rows, generator.dirichlet(np.ones(40)))
    weights: dict[Any, float] = {}
    members: dict[Any, Any] = {}
    for row, weight in zip(rows, sample.weights.tolist(), strict=True):
        key = naive_summaries.essential_graph_of_every_dag(4)[row]
        weights[key] = weights.get(key, 0.0) + weight
        members.setdefault(key, set()).add(row)
    found = equivalence_classes(sample)
    assert len(found) == len(weights)
    keys = [tuple(row) for row in found.patterns.tolist()]
    assert set(keys) == set(weights)
    np.testing.assert_allclose(found.probabilities, [weights[key] for key in keys], rtol=1e-12)
    assert found.graphs.tolist() == [len(members[key]) for key in keys]
    assert (np.diff(found.probabilities) <= 0.0).all()
    assert np.isnan(found.lower).all()
    assert np.isnan(found.upper).all()


def test_exact_masses_bound_the_probability_of_a_class() -> None:
    dags = all_dags(3)
    mass = np.random.default_rng(5).dirichlet(np.ones(len(dags)))
    seen = [0, 0, 3, 7, 12, 20, 24]
    sample = sample_of([dags[i] for i in seen], np.full(7, 1 / 7), np.log(mass[seen]) - 4000.0, log_evidence=-4000.0)
    found = equivalence_classes(sample)
    truth: dict[Any, Any] = {}
    for dag, probability in zip(dags, mass, strict=True):
        key = naive_summaries.essential_graph_of_every_dag(3)[dag]
        truth[key] = truth.get(key, 0.0) + probability
    certain = np.array([truth[tuple(row)] for row in found.patterns.tolist()])
    assert (found.lower <= certain + 1e-12).all()
    assert (certain <= found.upper + 1e-12).all()
    left = 1.0 - mass[sorted(set(seen))].sum()
    np.testing.assert_allclose(found.upper - found.lower, left, atol=1e-12)
    assert found.lower.sum() == pytest.approx(1.0 - left)


def test_a_class_is_shown_with_directed_and_undirected_edges() -> None:
    found = equivalence_classes(sample_of([[0, 1, 0, 5], [2, 0, 0, 5], [2, 0, 0, 5]]))
    (row,) = found.table(5).to_dict("records")
    assert (row["directed"], row["undirected"]) == ("A -> D, C -> D", "A -- B")
    assert (row["rank"], row["probability"], row["graphs"]) == (1, pytest.approx(1.0), 2)
    assert set(found.graph(0).edges) == {("A", "B"), ("B", "A"), ("A", "D"), ("C", "D")}
    assert repr(found) == (
        "1 equivalence class of 2 distinct graphs; the most probable has 1.0000: A -- B, A -> D, C -> D"
    )


def test_names_are_no_markup_in_the_table_of_classes() -> None:
    shown = equivalence_classes(sample_of([[0, 1]], names=("<script>", "&\n")))._repr_html_()
    assert "<script>" not in shown
    assert "&lt;script&gt;" in shown


def test_undirected_edges_go_both_ways_in_networkx() -> None:
    # A -- B, and C -> D <- A.
    graph = pattern_graph(np.array([2, 1, 0, 5], dtype=np.uint8), NAMES[:4])
    assert dict(graph.edges) == {
        ("A", "B"): {"directed": False},
        ("B", "A"): {"directed": False},
        ("A", "D"): {"directed": True},
        ("C", "D"): {"directed": True},
    }
