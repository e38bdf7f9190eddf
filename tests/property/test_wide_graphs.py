"""Graphs of more than 64 columns: against networkx, against the same graphs without the columns that have no edges."""

from __future__ import annotations

from functools import partial
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.naive import features as naive_features
from tests.naive import wide as naive
from tests.tools.smaller_blocks import in_blocks_of
from tests.tools.wording import Said

from dagpost import (
    InputError,
    adjacent,
    ancestor_set,
    custom,
    d_separated,
    descendant_set,
    edge,
    in_markov_blanket,
    parent_set,
    path,
    topological_position,
    v_structure,
)
from dagpost.families import masks as masks_file
from dagpost.families.essential import compelled_by_data, compelled_with_rules, essential_graphs, patterns_of
from dagpost.families.masks import (
    check_masks,
    distinct_rows,
    edges_in,
    graph_of_masks,
    integers_of,
    masks_of_integers,
    masks_of_matrix,
    matrices_of_masks,
    matrix_of_masks,
    rows_equal_to,
)
from dagpost.features import ancestors, evaluate, projected_conditions, projected_reach, weighted_matrix
from dagpost.features.statements.custom import Custom

COLUMNS = 131
NAMES = [f"v{column}" for column in range(COLUMNS)]


@st.composite
def wide_graphs(draw: Any) -> Any:
    """Ten random graphs of 65 to 200 columns, and their names."""
    columns = draw(st.one_of(st.sampled_from([65, 127, 128, 129, 192, 193]), st.integers(65, 200)))
    modelled = draw(st.one_of(st.just(20), st.integers(1, columns - 1)))
    seed = draw(st.integers(0, 2**32))
    return naive.random_wide(columns, 10, modelled, 3, seed), [f"v{column}" for column in range(columns)]


def has_two_parents(child: str, dag: Any) -> bool:
    return bool(dag.in_degree(child) == 2)


def statements_about(graph: nx.DiGraph, rng: np.random.Generator) -> list[Any]:
    """Statements that often hold in the graph, of every kind but d-separation."""
    names = list(graph.nodes)
    edges = list(graph.edges) or [(names[0], names[1])]

    def name_near(name: str) -> str:
        near = sorted((nx.descendants(graph, name) | nx.ancestors(graph, name)) - {name})
        other = near[rng.integers(len(near))] if near and rng.random() < 0.8 else names[rng.integers(len(names))]
        return other if other != name else next(one for one in names if one != name)

    found = []
    for _ in range(3):
        parent, child = edges[rng.integers(len(edges))]
        other = name_near(child)
        below, above = sorted(nx.descendants(graph, parent)), sorted(nx.ancestors(graph, child))
        found += [
            edge(parent, child),
            edge(other, child),
            path(parent, other) if parent != other else path(parent, child),
            path(other, child),
            path(other, child, longest=int(rng.integers(1, 4))),
            adjacent(child, other),
            in_markov_blanket(parent, child),
            in_markov_blanket(other, child),
            parent_set(child, sorted(graph.predecessors(child))),
            parent_set(child, [parent]),
            ancestor_set(child, above),
            ancestor_set(child, above[1:]),
            descendant_set(parent, below),
            descendant_set(parent, below[1:]),
            topological_position(child, "<=", int(rng.integers(1, 5))),
            topological_position(child, "=", naive_features.longest_path_to(graph, child)),
            custom(partial(has_two_parents, child)),
        ]
        if len({parent, child, other}) == 3:
            found.append(v_structure(parent, child, other))
    return found


@settings(max_examples=8, deadline=None)
@given(wide_graphs(), st.integers(0, 2**32))
def test_statements_agree_with_networkx(case: Any, seed: int) -> None:
    dags, names = case
    rng = np.random.default_rng(seed)
    graphs = [naive.graph_of_wide(row, names) for row in dags]
    features = statements_about(graphs[0], rng)
    held = evaluate(features, dags, names)
    for row, feature in zip(held, features, strict=True):
        assert row.tolist() == [naive_features.holds(feature, graph) for graph in graphs], feature
    for block_size in (1, 3):
        with in_blocks_of(block_size):
            assert (evaluate(features, dags, names) == held).all()


@settings(max_examples=8, deadline=None)
@given(wide_graphs(), st.integers(0, 2**32))
def test_d_separation_agrees_with_networkx(case: Any, seed: int) -> None:
    dags, names = case
    rng = np.random.default_rng(seed)
    graphs = [naive.graph_of_wide(row, names) for row in dags]
    busy = sorted({name for pair in graphs[0].edges for name in pair}) or names
    busy = [*busy, *(name for name in names if name not in busy)][: max(8, len(busy))]
    features = []
    for _ in range(12):
        order = [str(name) for name in rng.permutation(busy)[:8]]
        ends = int(rng.integers(2, 5))
        features.append(d_separated(order[0], order[1:ends], order[ends : int(rng.integers(ends, 9))]))
    held = evaluate(features, dags, names)
    for row, feature in zip(held, features, strict=True):
        sides = (set(feature.first), set(feature.second), set(feature.given))
        assert row.tolist() == [nx.is_d_separator(graph, *sides) for graph in graphs]


@settings(max_examples=5, deadline=None)
@given(wide_graphs(), st.integers(1, 4))
def test_matrices_of_all_pairs_agree_with_networkx(case: Any, longest: int) -> None:
    dags, names = case
    weights = np.random.default_rng(len(names)).random(len(dags))
    graphs = [naive.graph_of_wide(row, names) for row in dags]
    for relation in ("->", "--", "~>", f"~>{{{longest}}}"):
        expected = np.zeros((len(names), len(names)))
        for weight, graph in zip(weights, graphs, strict=True):
            for source in range(len(names)):
                limit = {"->": 1, "--": 1, "~>": None}.get(relation, longest)
                lengths = nx.single_source_shortest_path_length(graph, names[source], cutoff=limit)
                for target in lengths.keys() - {names[source]}:
                    expected[source, names.index(target)] += weight
        if relation == "--":
            expected += expected.T
        np.testing.assert_allclose(weighted_matrix(relation, dags, weights), expected, atol=1e-12)
        with in_blocks_of(3):
            np.testing.assert_allclose(weighted_matrix(relation, dags, weights), expected, atol=1e-12)


def test_a_thousand_and_twenty_four_columns() -> None:
    dags = naive.random_wide(1024, 6, 1000, 4, seed=4)
    names = [f"v{column}" for column in range(1024)]
    closed = ancestors(dags)
    assert closed.shape == (6, 1024, 16)
    for row, dag in zip(closed, dags, strict=True):
        graph = naive.graph_of_wide(dag, names)
        for node in (0, 63, 64, 511, 1000, 1023):
            above = {names.index(name) for name in nx.ancestors(graph, names[node])}
            assert {other for other in range(1024) if naive.has_edge(row, other, node)} == above
        last = list(nx.topological_sort(graph))[-1]
        pairs = [path(name, last) for name in names[::50] if name != last]
        held = evaluate(pairs, dag[None], names)[:, 0]
        assert held.tolist() == [naive_features.holds(pair, graph) for pair in pairs]


def test_a_cycle_is_found_wherever_it_is(said: Said) -> None:
    dags = naive.random_wide(COLUMNS, 5, 100, 3, seed=1)
    graph = naive.graph_of_wide(dags[3], NAMES)
    source, target = next(pair for pair in graph.edges if nx.ancestors(graph, pair[0]))
    root = sorted(nx.ancestors(graph, source))[0]
    naive.add_edge(dags[3], NAMES.index(target), NAMES.index(root))
    with said.raises(InputError):
        ancestors(dags)
    with said.raises(InputError):
        evaluate([edge("v0", "v1")], dags, NAMES)


@settings(max_examples=10, deadline=None)
@given(wide_graphs())
def test_masks_and_matrices_go_both_ways(case: Any) -> None:
    dags, names = case
    matrices = matrices_of_masks(dags)
    for matrix, row in zip(matrices, dags, strict=True):
        assert (matrix_of_masks(row) == matrix).all()
        assert (masks_of_matrix(matrix) == row).all()
        assert (masks_of_integers(integers_of(row), len(names)) == row).all()
        graph = graph_of_masks(row, names)
        assert set(graph.edges) == set(naive.graph_of_wide(row, names).edges)
        assert list(graph.nodes) == names
    parent, child = np.argwhere(matrices.any(axis=0))[0] if matrices.any() else (0, 1)
    assert (edges_in(dags, int(parent), int(child)) == matrices[:, parent, child]).all()


@pytest.mark.parametrize("colliding", [False, True])
def test_distinct_wide_graphs_are_told_apart(colliding: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    dags = naive.random_wide(COLUMNS, 40, 3, 1, seed=2)[np.random.default_rng(3).integers(40, size=300)]
    if colliding:
        # As if all digests were equal: the long way must be taken, and give the same.
        monkeypatch.setattr(masks_file, "_digest", lambda _, digests: digests.fill(0))
    monkeypatch.setattr(masks_file, "_WORDS_AT_A_TIME", 1000)
    first, member = distinct_rows(dags)
    keys = [row.tobytes() for row in dags]
    assert len(first) == len(set(keys)) > 20
    assert [keys[first[number]] for number in member] == keys
    assert all(keys.index(keys[place]) == place for place in first)
    assert rows_equal_to(dags[7], dags).tolist() == [key == keys[7] for key in keys]


def test_what_are_not_masks_of_wide_graphs_is_refused(said: Said) -> None:
    good = np.zeros((2, 70, 2), dtype=np.uint64)
    check_masks(good)
    for wrong in (good[:, :, :1], good[:, :, 0], good.astype(np.uint32), good[:, :64]):
        with said.raises(InputError):
            check_masks(wrong)
    with said.raises(InputError):
        check_masks(np.zeros((1, 1025, 17), dtype=np.uint64))
    beyond = good.copy()
    beyond[1, 4, 1] = 1 << 6
    with said.raises(InputError):
        check_masks(beyond)
    with said.raises(InputError):
        graph_of_masks(good[0, :, 0], NAMES[:70])


def holds_by_conditions(feature: Any, dags: Any, names: Any) -> Any:
    """How many of a statement's ways hold in each graph, or one less those of its opposite; None where it has none."""
    found = next(iter(projected_conditions(feature, names)), None)
    if found is None:
        return None
    total = np.zeros(len(dags), dtype=int)
    for way in found.ways:
        for place, dag in enumerate(dags):
            kept = True
            for node, condition in way.items():
                mask = 0
                for parent in range(len(names)):
                    if naive.has_edge(dag, parent, node):
                        mask |= int(found.bits[parent])
                kept = kept and bool(condition(np.array([mask], dtype=np.uint64))[0])
            total[place] += kept
    return 1 - total if found.untrue else total


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**32))
def test_conditions_on_projected_parents_say_in_which_graphs_a_statement_holds(seed: int) -> None:
    rng = np.random.default_rng(seed)
    dags = naive.random_wide(70, 12, 6, 3, seed)
    names = [f"v{column}" for column in range(70)]
    graph = naive.graph_of_wide(dags[0], names)
    leaves = [leaf for leaf in statements_about(graph, rng) if not isinstance(leaf, Custom)]
    parts = [leaves[place] for place in rng.permutation(len(leaves))[:2]]
    answered = 0
    for feature in (*leaves, parts[0] & ~parts[1], parts[0] | parts[1]):
        found = holds_by_conditions(feature, dags, names)
        if found is not None:
            answered += 1
            assert found.tolist() == evaluate([feature], dags, names)[0].tolist(), feature
    assert answered > len(leaves) / 3


def test_conditions_that_a_projection_would_get_wrong_are_not_projected() -> None:
    many = [f"v{column}" for column in range(1, 70)]
    assert not projected_conditions(custom(nx.is_directed_acyclic_graph) & edge("v0", "v1"), ["v0", *many])
    assert not projected_conditions(parent_set("v0", many), ["v0", *many])
    # Two edges are the longest path among what it names and another column, but not among seven columns.
    assert not projected_conditions(path("v0", "v1", longest=2), ["v0", *many[:6]])
    assert not projected_conditions(d_separated("v0", "v1", ["v2"]), ["v0", "v1", "v2", "v3"])


def sets_at(masks: Any, places: list[int], columns: int) -> Any:
    """Sets of the placed nodes as sets of columns: one row of masks, or a Python integer."""
    if isinstance(masks, int):
        return sum(1 << place for node, place in enumerate(places) if masks >> node & 1)
    return naive.place_among_given(masks[None], places, columns)[0]


@settings(max_examples=12, deadline=None)
@given(st.integers(2, 8), st.integers(0, 2**32), st.lists(st.integers(0, 255), max_size=3))
def test_compelled_edges_are_those_of_the_graph_without_the_other_columns(
    nodes: int, seed: int, targets: list[int]
) -> None:
    rng = np.random.default_rng(seed)
    dags = np.concatenate([naive_features.random_dags(nodes, 10, density, seed) for density in (0.2, 0.4, 0.7)])
    targets = [target & (1 << nodes) - 1 for target in targets]
    columns = int(rng.integers(65, 140))
    wide, places = naive.place_among(dags, columns, seed)
    wide_targets = [sets_at(target, places, columns) for target in targets]
    # Rules that all graphs obey: each settles a pair that no graph has the other way round.
    either = np.bitwise_or.reduce(dags, axis=0)
    backwards = np.array([sum((int(either[p]) >> c & 1) << p for p in range(nodes)) for c in range(nodes)])
    settled = rng.integers(0, 256, size=nodes) & ~backwards & ~(1 << np.arange(nodes)) & (1 << nodes) - 1
    settled = settled.astype(np.uint64)

    by_data, by_data_wide = compelled_by_data(dags, targets), compelled_by_data(wide, wide_targets)
    assert (by_data_wide == naive.place_among_given(by_data, places, columns)).all()
    # Some nodes without parents count as joined with each other.
    roots = [node for node in range(nodes) if rng.random() < 0.5]
    dags_of_roots = dags.copy()
    dags_of_roots[:, roots] = 0
    wide_of_roots = naive.place_among_given(dags_of_roots, places, columns)
    given = compelled_by_data(dags_of_roots, targets, roots)
    given_wide = compelled_by_data(wide_of_roots, wide_targets, [places[node] for node in roots])
    assert (given_wide == naive.place_among_given(given, places, columns)).all()
    ruled = compelled_with_rules(dags, by_data, settled, targets)
    ruled_wide = compelled_with_rules(wide, by_data_wide, sets_at(settled, places, columns), wide_targets)
    assert (ruled_wide == naive.place_among_given(ruled, places, columns)).all()
    patterns = patterns_of(dags, ruled)
    assert (patterns_of(wide, ruled_wide) == naive.place_among_given(patterns, places, columns)).all()
    whole = essential_graphs(wide)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("dagpost.families.graph_lists.WORDS_IN_BLOCK", 4 * wide[0].size)
        assert (essential_graphs(wide) == whole).all()


@settings(max_examples=5, deadline=None)
@given(st.integers(0, 2**32))
def test_compelled_edges_of_sixty_nodes_are_the_same_among_more_columns(seed: int) -> None:
    """Larger graphs than can be enumerated, by the code for up to 64 nodes."""
    wide = naive.random_wide(65, 20, 50, 3, seed)
    # The last column is cut off, so that both ways to write a graph are possible.
    wide[:, 64], wide[:, :, 1] = 0, 0
    narrow = wide[:, :64, 0]
    # Edges of the first graph that no other has the other way round.
    matrices = matrices_of_masks(wide)
    settled = matrices[0] & ~matrices.any(axis=0).T
    assert settled.sum() > 10
    by_data, by_data_wide = compelled_by_data(narrow), compelled_by_data(wide)
    assert (by_data_wide[:, :64, 0] == by_data).all()
    assert not by_data_wide[:, :, 1].any()
    ruled = compelled_with_rules(wide, by_data_wide, masks_of_matrix(settled))
    assert (ruled[:, :64, 0] == compelled_with_rules(narrow, by_data, masks_of_matrix(settled[:64, :64]))).all()
    assert (ruled != by_data_wide).any()


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 2**32))
def test_conditions_on_projected_reach_say_in_which_graphs_a_statement_holds(seed: int) -> None:
    rng = np.random.default_rng(seed)
    dags = naive.random_wide(70, 12, 12, 3, seed)
    names = [f"v{column}" for column in range(70)]
    graphs = [naive.graph_of_wide(dag, names) for dag in dags]
    leaves = [leaf for leaf in statements_about(graphs[0], rng) if not isinstance(leaf, Custom)]
    parts = [leaf for leaf in leaves if projected_reach(leaf, names) is not None]
    assert len(parts) > 5
    for feature in (*leaves, parts[0] & ~parts[1], parts[2] | parts[3]):
        found = projected_reach(feature, names)
        if found is not None:
            reach = nx.descendants if found.direction == "descendants" else nx.ancestors
            sets = [[names.index(name) for name in reach(graph, names[found.node])] for graph in graphs]
            masks = np.array([np.bitwise_or.reduce(found.bits[one], initial=np.uint64(0)) for one in sets])
            assert found.condition(masks).tolist() == evaluate([feature], dags, names)[0].tolist(), feature


def test_a_path_of_limited_length_is_not_one_of_any_length() -> None:
    names = [f"v{column}" for column in range(70)]
    # Two edges are all that is possible among the columns that it names and one other, but there are 68 others.
    assert projected_reach(path("v0", "v1", longest=2), names) is None
    assert projected_reach(path("v0", "v1", longest=2) | path("v0", "v2"), names) is None
    assert projected_reach(path("v0", "v1") | path("v0", "v2"), names) is not None
