"""Graphs of more than 64 nodes as lists of edges, against Python's own numbers and networkx."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.tools.wording import Said

from dagpost._tools.schema import Sizes, check_graphs, graphs, is_acyclic, masks
from dagpost._tools.wide_graphs import edges_in_words, graphs_with_cycles, words_of_edges

_NODES = st.sampled_from([65, 70, 128, 129])


@st.composite
def edge_lists(draw: st.DrawFn) -> tuple[int, int, list[tuple[int, int, int]]]:
    """Some graphs over some nodes, most of whose edges are among few nodes, so that there are cycles."""
    nodes, number = draw(_NODES), draw(st.integers(1, 3))
    node = st.sampled_from([0, 1, 63, 64, nodes - 1])
    edges = st.tuples(st.integers(0, number - 1), node, node)
    return nodes, number, sorted(draw(st.sets(edges, max_size=12)))


def words_by_python(nodes: int, number: int, edges: list[tuple[int, int, int]]) -> NDArray[np.uint64]:
    """The slow twin: whole numbers of any size, cut into words."""
    sets = [[0] * nodes for _ in range(number)]
    for graph, child, parent in edges:
        sets[graph][child] |= 1 << parent
    words = range(-(-nodes // 64))
    cut = [[[own >> 64 * word & (1 << 64) - 1 for word in words] for own in row] for row in sets]
    return np.array(cut, dtype=np.uint64)


@given(edge_lists())
def test_edges_and_words_are_the_same_graphs(case: tuple[int, int, list[tuple[int, int, int]]]) -> None:
    nodes, number, edges = case
    parents = words_by_python(nodes, number, edges)
    graph, child, parent = edges_in_words(parents)
    assert list(zip(graph.tolist(), child.tolist(), parent.tolist(), strict=True)) == edges
    np.testing.assert_array_equal(words_of_edges(graph, child, parent, number, nodes), parents)


@given(edge_lists())
def test_cycles_are_those_that_networkx_finds(case: tuple[int, int, list[tuple[int, int, int]]]) -> None:
    nodes, number, edges = case
    parents = words_by_python(nodes, number, edges)
    drawn = [nx.DiGraph([(a, b) for graph, b, a in edges if graph == own]) for own in range(number)]
    expected = [nx.is_directed_acyclic_graph(own) for own in drawn]
    assert is_acyclic(parents).tolist() == expected
    found = graphs_with_cycles(*edges_in_words(parents), nodes)
    assert found.tolist() == [own for own, fits in enumerate(expected) if not fits]


def test_what_is_not_a_wide_graph_is_refused(said: Said) -> None:
    good = words_by_python(70, 2, [(0, 3, 64), (1, 64, 3)])
    graphs("graphs", "nodes").check("parents", good, Sizes(nodes=70))
    masks("sets").check("sets", good[0], Sizes(nodes=70))
    beyond = good.copy()
    beyond[1, 2, 1] = 1 << 6
    for array, words in (
        (good[..., :1], "of shape"),
        (good[..., 0], "of shape"),
        (good.astype(np.uint32), "words of 64 bits"),
        (beyond, "beyond the 70 nodes"),
        (words_by_python(70, 2, [(1, 3, 64), (1, 64, 3)]), "cycle in graph 1"),
    ):
        with pytest.raises(ValueError, match=words):
            graphs("graphs", "nodes").check("parents", array, Sizes(nodes=70))
    check_graphs(good, most=1)
    with said.raises(ValueError):
        check_graphs(words_by_python(70, 1, [(0, 3, 1), (0, 3, 64)]), most=1)
