"""The layered layout: directions are kept, boxes do not overlap, long edges are straight, and chance has no part."""

from __future__ import annotations

from itertools import combinations, pairwise

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dagpost.errors import InputError
from dagpost.plots import layering, placing
from dagpost.plots.coordinates import across
from dagpost.plots.layering import acyclic_orientation, assign_layers, count_crossings, in_layers, topological_order

Edges = list[tuple[int, int]]


@st.composite
def posteriors(draw: st.DrawFn, most: int = 9) -> tuple[np.ndarray, Edges]:
    """Edge probabilities, and the pairs that are joined at all."""
    count = draw(st.integers(1, most))
    pairs = list(combinations(range(count), 2))
    matrix = np.zeros((count, count))
    chosen = []
    for one, two in pairs:
        joined = draw(st.sampled_from([0.0, 0.0, 0.3, 0.8, 1.0]))
        share = draw(st.sampled_from([0.0, 0.1, 0.5, 0.75, 1.0]))
        matrix[one, two], matrix[two, one] = joined * share, joined * (1.0 - share)
        if joined:
            chosen.append((one, two))
    return matrix, chosen


@st.composite
def acyclic(draw: st.DrawFn, most: int = 10) -> tuple[int, Edges]:
    """A graph without cycles, its nodes in any order."""
    count = draw(st.integers(1, most))
    order = draw(st.permutations(range(count)))
    chance = draw(st.integers(1, 4))
    return count, [pair for pair in combinations(order, 2) if draw(st.integers(0, 4)) < chance]


@given(posteriors())
def test_every_pair_is_turned_one_way_and_no_cycle_is_left(drawn: tuple[np.ndarray, Edges]) -> None:
    matrix, pairs = drawn
    turned = acyclic_orientation(matrix, pairs)
    assert [tuple(sorted(edge)) for edge in turned] == pairs
    assert nx.is_directed_acyclic_graph(nx.DiGraph(turned))


@given(posteriors())
def test_directions_are_the_more_probable_ones_unless_these_form_a_cycle(drawn: tuple[np.ndarray, Edges]) -> None:
    matrix, pairs = drawn
    wished = [pair if matrix[pair] >= matrix[pair[::-1]] else pair[::-1] for pair in pairs]
    turned = acyclic_orientation(matrix, pairs)
    if nx.is_directed_acyclic_graph(nx.DiGraph(wished)):
        assert turned == wished
    else:
        assert turned != wished


def test_of_a_cycle_the_least_decided_edge_gives_way() -> None:
    matrix = np.array([[0.0, 0.9, 0.2], [0.0, 0.0, 0.8], [0.4, 0.1, 0.0]])
    assert acyclic_orientation(matrix, [(0, 1), (0, 2), (1, 2)]) == [(0, 1), (0, 2), (1, 2)]


@given(acyclic(), st.integers(1, 5))
def test_layers_respect_directions_and_their_width(graph: tuple[int, Edges], widest: int) -> None:
    count, edges = graph
    layer = assign_layers(count, edges, widest)
    assert all(layer[parent] < layer[child] for parent, child in edges)
    assert max(layer.count(number) for number in layer) <= widest
    assert set(layer) == set(range(max(layer) + 1))


@given(acyclic())
def test_parents_come_before_children_in_the_order(graph: tuple[int, Edges]) -> None:
    count, edges = graph
    place = {node: number for number, node in enumerate(topological_order(count, edges))}
    assert sorted(place) == list(range(count))
    assert all(place[parent] < place[child] for parent, child in edges)


@given(acyclic())
def test_pieces_of_edges_join_neighbouring_layers(graph: tuple[int, Edges]) -> None:
    count, edges = graph
    found = in_layers(count, edges, widest=4)
    assert sorted(node for row in found.order for node in row) == list(range(len(found.layer)))
    assert all(found.layer[lower] == found.layer[upper] + 1 for upper, lower in found.segments)
    for (parent, child), bends in found.bends.items():
        assert len(bends) == found.layer[child] - found.layer[parent] - 1
        assert all(pair in found.segments for pair in pairwise([parent, *bends, child]))


@given(acyclic(), st.randoms(use_true_random=False))
def test_crossings_are_counted_like_pairs_of_lines(graph: tuple[int, Edges], random: object) -> None:
    found = in_layers(*graph, widest=4)
    order = [list(row) for row in found.order]
    for row in order:
        random.shuffle(row)  # type: ignore[attr-defined]
    place = {node: number for row in order for number, node in enumerate(row)}
    crossing = sum(
        (place[a] - place[c]) * (place[b] - place[d]) < 0
        for (a, b), (c, d) in combinations(found.segments, 2)
        if found.layer[a] == found.layer[c]
    )
    assert count_crossings(order, found.segments, found.layer) == crossing


@given(acyclic())
def test_sweeps_never_add_crossings(graph: tuple[int, Edges]) -> None:
    found = in_layers(*graph, widest=4)
    first = layering.first_order(found.layer, found.segments)
    assert found.crossings <= count_crossings(first, found.segments, found.layer)


def test_crossings_that_can_be_avoided_are_avoided() -> None:
    # Two stars whose children come mixed.
    edges = [(0, 3), (0, 5), (0, 7), (1, 2), (1, 4), (1, 6)]
    assert in_layers(8, edges, widest=8).crossings == 0
    # A ladder of trees over four layers, numbered at random.
    numbers = np.random.default_rng(1).permutation(15).tolist()
    tree = [(numbers[(node - 1) // 2], numbers[node]) for node in range(1, 15)]
    assert in_layers(15, tree, widest=8).crossings == 0


@given(acyclic(), st.data())
def test_boxes_of_a_layer_keep_their_distance(graph: tuple[int, Edges], data: st.DataObject) -> None:
    found = in_layers(*graph, widest=4)
    widths = data.draw(
        st.lists(st.floats(1.0, 100.0), min_size=len(found.layer), max_size=len(found.layer)), label="widths"
    )
    x = across(found, widths, 10.0)
    for row in found.order:
        for one, two in pairwise(row):
            assert x[two] - x[one] >= (widths[one] + widths[two]) / 2 + 10.0 - 1e-6
    assert min(value - width / 2 for value, width in zip(x, widths, strict=True)) == pytest.approx(0.0, abs=1e-6)


def test_a_chain_is_a_straight_line_and_the_edge_beside_it_too() -> None:
    chain = [(number, number + 1) for number in range(5)]
    found = in_layers(6, [*chain, (0, 5)], widest=4)
    x = across(found, [20.0] * 6 + [5.0] * 4, 10.0)
    assert len({round(x[node], 6) for node in range(1, 5)}) == 1
    assert len({round(x[node], 6) for node in found.bends[0, 5]}) == 1


@given(acyclic(most=12), st.data())
def test_boxes_never_overlap_and_children_stand_below(graph: tuple[int, Edges], data: st.DataObject) -> None:
    count, edges = graph
    sizes = data.draw(
        st.lists(st.tuples(st.floats(5.0, 120.0), st.floats(5.0, 60.0)), min_size=count, max_size=count), label="sizes"
    )
    place = placing.layered(edges, sizes)
    assert place.layer is not None
    assert all(place.layer[parent] < place.layer[child] for parent, child in edges)
    boxes = [(x - w / 2, y - h / 2, x + w / 2, y + h / 2) for (x, y), (w, h) in zip(place.centres, sizes, strict=True)]
    for parent, child in edges:
        assert boxes[parent][1] > boxes[child][3]
    for one, two in combinations(boxes, 2):
        assert one[2] < two[0] or two[2] < one[0] or one[3] < two[1] or two[3] < one[1]
    for left, low, right, high in boxes:
        assert left >= -1e-6
        assert low >= -1e-6
        assert right <= place.width + 1e-6
        assert high <= place.height + 1e-6
    for edge, stretches in place.routes.items():
        tops = [boxes[edge[0]][1], *(y for _, top, bottom in stretches for y in (top, bottom)), boxes[edge[1]][3]]
        assert all(upper >= lower - 1e-6 for upper, lower in pairwise(tops))
        for x, top, bottom in stretches:
            assert not any(
                left - 1 < x < right + 1 and low < (top + bottom) / 2 < high for left, low, right, high in boxes
            )


@given(acyclic())
def test_the_same_graph_always_has_the_same_layout(graph: tuple[int, Edges]) -> None:
    count, edges = graph
    sizes = [(30.0, 12.0)] * count
    assert placing.layered(edges, sizes) == placing.layered(edges, sizes)


def test_parts_without_an_edge_between_them_stand_apart() -> None:
    place = placing.layered([(0, 1), (2, 3), (3, 4)], [(30.0, 12.0)] * 6)
    left = [place.centres[node][0] for node in (2, 3, 4)]
    right = [place.centres[node][0] for node in (0, 1)]
    assert max(left) < min(right)


@pytest.mark.parametrize("count", [1, 2, 3, 10, 25, 40, 64])
def test_boxes_on_a_circle_do_not_overlap(count: int) -> None:
    sizes = [(60.0, 20.0)] * count
    place = placing.on_circle(sizes)
    for (x1, y1), (x2, y2) in combinations(place.centres, 2):
        assert abs(x1 - x2) >= 60.0 or abs(y1 - y2) >= 20.0


def test_graphviz_puts_parents_above_children() -> None:
    import shutil

    if shutil.which("dot") is None:
        pytest.skip("the program 'dot' of graphviz is not installed")
    place = placing.by_graphviz([(0, 1), (1, 2)], [(40.0, 20.0)] * 4)
    heights = [y for _, y in place.centres]
    assert heights[0] > heights[1] > heights[2]
    assert len(place.centres) == 4


def test_without_graphviz_the_way_out_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda _: None)
    with pytest.raises(InputError, match=r"needs the program 'dot'.*use layout='layered'"):
        placing.by_graphviz([], [(1.0, 1.0)])


def test_positions_that_are_given_keep_their_order() -> None:
    place = placing.as_given([(0.0, 0.0), (5.0, 1.0), (2.0, 9.0)], [(40.0, 20.0)] * 3)
    xs, ys = zip(*place.centres, strict=True)
    assert np.argsort(xs).tolist() == [0, 2, 1]
    assert np.argsort(ys).tolist() == [0, 1, 2]


def test_a_graph_with_every_edge_is_too_dense_for_layers() -> None:
    every = list(combinations(range(25), 2))
    assert placing.too_dense(every, 25)
    assert not placing.too_dense(every[:40], 25)
