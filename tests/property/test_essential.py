"""What is compelled, by the data and with rules, against enumeration of all graphs that say the same."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.naive import essential as naive
from tests.naive import features as naive_features
from tests.naive.posterior import all_dags
from tests.naive.summaries import NAMES, edges_of, sample_of
from tests.tools.examples import examples
from tests.tools.wording import Said

from dagpost import InputError, essential_graph
from dagpost.families.essential import compelled_by_data, compelled_with_rules, essential_graphs, patterns_of
from dagpost.posterior.directions import directions_of_sample
from dagpost.posterior.knowledge import knowledge_from
from dagpost.posterior.summaries import equivalence_classes
from dagpost.priors.constraints import Constraints


@st.composite
def target_sets(draw: Any, nodes: int) -> naive.Targets:
    """Sets of nodes that were set together, from none to several, the empty one perhaps among them."""
    masks = draw(st.lists(st.integers(0, 2**nodes - 1), max_size=3, unique=True))
    return tuple(frozenset(node for node in range(nodes) if mask >> node & 1) for mask in masks)


def mask_of(target: frozenset[int]) -> int:
    return sum(1 << node for node in target)


def random_rules(dag: tuple[int, ...], generator: np.random.Generator) -> Constraints:
    """Rules that a graph obeys: some of its edges required, some that it lacks forbidden, tiers along its order."""
    nodes = len(dag)
    edges = edges_of(dag)
    required = [edge for edge in sorted(edges) if generator.random() < 0.2]
    absent = [(a, b) for a in range(nodes) for b in range(nodes) if a != b and (a, b) not in edges]
    forbidden = [edge for edge in absent if generator.random() < 0.2]
    order: list[int] = []
    while len(order) < nodes:
        ready = [node for node in range(nodes) if node not in order and not dag[node] & ~sum(1 << n for n in order)]
        order.append(ready[generator.integers(len(ready))])
    cut = int(generator.integers(1, nodes))
    tiers = [[NAMES[node] for node in part if generator.random() < 0.7] for part in (order[:cut], order[cut:])]

    def named(pairs: Any) -> Any:
        return [(NAMES[a], NAMES[b]) for a, b in pairs]

    return Constraints(named(required), named(forbidden), tiers if generator.random() < 0.5 else None)


def edges_ruled(constraints: Constraints, nodes: int) -> dict[str, set[tuple[int, int]]]:
    ruled = zip(("required", "forbidden"), constraints.matrices(NAMES[:nodes], nodes), strict=True)
    return {rule: {(parent, child) for child, parent in np.argwhere(edges).tolist()} for rule, edges in ruled}


@pytest.mark.parametrize("nodes", [1, 2, 3, 4])
def test_everything_compelled_by_observed_rows_matches_enumeration(nodes: int) -> None:
    dags = all_dags(nodes)
    found = compelled_by_data(np.array(dags, dtype=np.uint8))
    expected = [naive.as_masks(naive.compelled(dag), nodes) for dag in dags]
    assert [tuple(row) for row in found.tolist()] == expected


@settings(max_examples=25)
@given(st.data())
def test_everything_compelled_under_interventions_matches_enumeration(data: Any) -> None:
    nodes = data.draw(st.integers(2, 4))
    targets = data.draw(target_sets(nodes))
    dags = all_dags(nodes)
    found = compelled_by_data(np.array(dags, dtype=np.uint16), [mask_of(target) for target in targets])
    expected = [naive.as_masks(naive.compelled(dag, targets), nodes) for dag in dags]
    assert [tuple(row) for row in found.tolist()] == expected


@settings(max_examples=examples(120))
@given(st.data(), st.integers(0, 2**32))
def test_what_follows_with_rules_matches_enumeration(data: Any, seed: int) -> None:
    nodes = data.draw(st.integers(2, 4))
    targets = data.draw(st.just(()) | target_sets(nodes))
    generator = np.random.default_rng(seed)
    dag = all_dags(nodes)[generator.integers(len(all_dags(nodes)))]
    constraints = random_rules(dag, generator)
    known = knowledge_from(NAMES[:nodes], constraints, [[NAMES[node] for node in target] for target in targets])
    (found,) = known.compelled(np.array([dag], dtype=np.uint8)).with_rules.tolist()
    assert set(edges_of(tuple(found))) == naive.compelled(dag, targets, **edges_ruled(constraints, nodes))


@settings(max_examples=examples(60))
@given(st.data(), st.integers(5, 7), st.sampled_from([0.3, 0.5, 0.7]), st.integers(0, 2**32))
def test_larger_graphs_match_all_ways_to_turn_their_edges(data: Any, nodes: int, density: float, seed: int) -> None:
    targets = data.draw(st.just(()) | target_sets(nodes))
    generator = np.random.default_rng(seed)
    dags = naive_features.random_dags(nodes, 4, density, seed)
    # Trying 2^edges ways takes long beyond this.
    for dag in map(tuple, dags[np.bitwise_count(dags).sum(axis=1) <= 9].tolist()):
        constraints = random_rules(dag, generator)
        known = knowledge_from(NAMES[:nodes], constraints, [[NAMES[node] for node in target] for target in targets])
        found = known.compelled(np.array([dag], dtype=np.uint64))
        assert edges_of(tuple(found.by_data[0].tolist())) == naive.compelled(dag, targets, turn=True)
        ruled = edges_ruled(constraints, nodes)
        assert edges_of(tuple(found.with_rules[0].tolist())) == naive.compelled(dag, targets, turn=True, **ruled)


def test_all_four_rules_of_meek_are_needed_for_five_nodes() -> None:
    """Every graph of 5 nodes under one rule about one of its edges: what follows is what enumeration says."""
    generator = np.random.default_rng(4)
    dags = all_dags(5)
    for place in generator.integers(0, len(dags), 150):
        dag = dags[place]
        edges = sorted(edges_of(dag))
        settled = np.zeros(5, dtype=np.uint64)
        if not edges or len(edges) > 9:
            continue
        parent, child = edges[generator.integers(len(edges))]
        settled[child] = 1 << parent
        row = np.array([dag], dtype=np.uint8)
        found = compelled_with_rules(row, compelled_by_data(row), settled)
        expected = naive.compelled(dag, required=[(parent, child)], turn=True)
        assert edges_of(tuple(found[0].tolist())) == expected


def test_the_fourth_rule_is_used() -> None:
    """Meek's fourth rule: c - a - b, c -> d -> b and a - d, where c and b are not joined, turn a - b into a -> b."""
    a, b, c, d = range(4)
    dag = naive.as_masks([(a, b), (a, c), (a, d), (c, d), (d, b)], 4)
    settled = np.array(naive.as_masks([(c, d), (d, b)], 4), dtype=np.uint64)
    row = np.array([dag], dtype=np.uint8)
    found = edges_of(tuple(compelled_with_rules(row, compelled_by_data(row), settled)[0].tolist()))
    assert found == {(c, d), (d, b), (a, b)}


@given(st.sampled_from([20, 33, 64]), st.sampled_from([0.03, 0.1, 0.3]), st.integers(0, 2**32))
def test_the_rules_of_meek_alone_find_what_the_fast_way_finds(nodes: int, density: float, seed: int) -> None:
    """All v-structures settled, and nothing else: Chickering's algorithm and Meek's rules must agree."""
    generator = np.random.default_rng(seed)
    order = generator.permutation(nodes)
    masks = [0] * nodes
    for place, child in enumerate(order):
        for parent in order[:place]:
            masks[child] |= int(generator.random() < density) << int(parent)
    edges = edges_of(tuple(masks))
    joined = edges | {(b, a) for a, b in edges}
    settled = [0] * nodes
    for child in range(nodes):
        own = [parent for parent in range(nodes) if masks[child] >> parent & 1]
        for one, other in combinations(own, 2):
            if (one, other) not in joined:
                settled[child] |= 1 << one | 1 << other
    row = np.array([masks], dtype=np.uint64)
    by_meek = compelled_with_rules(row, np.zeros_like(row), np.array(settled, dtype=np.uint64))
    np.testing.assert_array_equal(by_meek, compelled_by_data(row))


def test_an_order_of_all_nodes_settles_every_edge_and_blocks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    dags = naive_features.random_dags(7, 100, 0.3, seed=3)
    dags = dags[(dags & ~np.array([2**i - 1 for i in range(7)], dtype=dags.dtype) == 0).all(axis=1)]
    settled = np.array([2**i - 1 for i in range(7)], dtype=np.uint64)
    assert len(dags)
    whole = compelled_with_rules(dags, compelled_by_data(dags), settled)
    np.testing.assert_array_equal(whole, dags)
    dags = naive_features.random_dags(7, 100, 0.3, seed=3)
    np.testing.assert_array_equal(patterns_of(dags, compelled_by_data(dags)), essential_graphs(dags))
    whole = compelled_by_data(dags, [0, 4])
    monkeypatch.setattr("dagpost.families.graph_lists.WORDS_IN_BLOCK", 7 * 7)
    np.testing.assert_array_equal(compelled_by_data(dags, [0, 4]), whole)


def test_a_cycle_is_refused_under_interventions_too(said: Said) -> None:
    graphs = np.array([[0, 1, 2], [4, 1, 2]], dtype=np.uint8)
    with said.raises(InputError):
        compelled_by_data(graphs, [1])


# Samples


@settings(max_examples=40)
@given(st.data(), st.integers(0, 2**32))
def test_the_directions_of_a_sample_add_up_what_enumeration_says_of_its_graphs(data: Any, seed: int) -> None:
    nodes = data.draw(st.integers(2, 4))
    targets = data.draw(st.just(()) | target_sets(nodes))
    generator = np.random.default_rng(seed)
    dags = all_dags(nodes)
    constraints = random_rules(dags[generator.integers(len(dags))], generator)
    ruled = edges_ruled(constraints, nodes)
    obeying = [dag for dag in dags if ruled["required"] <= edges_of(dag) and not ruled["forbidden"] & edges_of(dag)]
    rows = [obeying[place] for place in generator.integers(0, len(obeying), 30)]
    provenance = {
        "required": constraints.required,
        "forbidden": constraints.forbidden,
        "tiers": constraints.tiers,
        "interventions": bool(targets),
        "targets": [[NAMES[node] for node in target] for target in targets],
    }
    sample = sample_of(rows, generator.dirichlet(np.ones(30)), provenance=provenance)
    found = directions_of_sample(sample)
    by_data, by_rules, reversible = naive.shares(rows, sample.weights.tolist(), targets, **ruled)
    for a in range(nodes):
        for b in range(nodes):
            if a != b:
                assert found.by_data[a, b] == pytest.approx(by_data[a, b], abs=1e-12)
                assert found.by_rules[a, b] == pytest.approx(by_rules[a, b], abs=1e-12)
                assert found.reversible[a, b] == pytest.approx(reversible[frozenset((a, b))], abs=1e-12)
    parts = found.by_data + found.by_rules
    np.testing.assert_allclose(parts + parts.T + found.reversible, found.joined, atol=1e-12)
    assert (found.lower <= found.by_data).all()
    assert (found.by_data <= found.upper).all()
    patterns = {
        (frozenset(naive.compelled(row, targets, **ruled)), frozenset(map(frozenset, edges_of(row)))) for row in rows
    }
    assert len(equivalence_classes(sample)) == len(patterns)
    told = {(frozenset(naive.compelled(row, targets)), frozenset(map(frozenset, edges_of(row)))) for row in rows}
    assert len(equivalence_classes(sample, rules=False)) == len(told)


# One graph


@settings(max_examples=examples(60))
@given(st.integers(0, 2**32))
def test_the_essential_graph_of_one_graph_obeys_rules_and_targets(seed: int) -> None:
    generator = np.random.default_rng(seed)
    dag = all_dags(4)[generator.integers(len(all_dags(4)))]
    constraints = random_rules(dag, generator)
    mentioned = {name for edge in (*constraints.required, *constraints.forbidden) for name in edge}
    edges = [(NAMES[a], NAMES[b]) for a, b in edges_of(dag)]
    if not edges or not mentioned <= {name for edge in edges for name in edge} or constraints.tiers is not None:
        return
    cause = edges[0][0]
    found = essential_graph(
        edges, required=constraints.required, forbidden=constraints.forbidden, targets=[[], [cause]]
    )
    targets: naive.Targets = (frozenset(), frozenset([NAMES.index(cause)]))
    expected = naive.compelled(dag, targets, **edges_ruled(constraints, 4))
    directed = {edge for edge, told in found.edges.items() if told["directed"]}
    assert directed == {(NAMES[a], NAMES[b]) for a, b in expected}
    undirected = set(edges) - directed
    assert set(found.edges) == directed | undirected | {edge[::-1] for edge in undirected}


def test_a_graph_that_breaks_the_rules_has_no_essential_graph_under_them(said: Said) -> None:
    with said.raises(InputError):
        essential_graph([("A", "B")], tiers=[["B"], ["A"]])
    with said.raises(InputError):
        essential_graph([("A", "B")], forbidden=[("A", "B")])
    with said.raises(InputError):
        essential_graph([("A", "B"), ("A", "C")], required=[("C", "A")])
