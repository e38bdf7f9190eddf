"""The text of a class is that of its members, and its weight is theirs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.naive import every_graph as naive
from tests.naive.posterior import log_sum
from tools.classes import class_weight, pattern_text

from dagpost.families.essential import essential_graphs

NAMES = ("C", "A", "E", "B", "D")


def alike(_node: int, _parents: int) -> float:
    return 0.0


def at_most_five(_node: int, parents: int) -> float:
    return -np.inf if parents.bit_count() > 5 else 0.0


def masks_of(edges: naive.Flags) -> np.ndarray:
    nodes = edges.shape[1]
    return (edges << np.arange(nodes)[None, :, None]).sum(axis=1).astype(np.uint64)


@pytest.mark.parametrize("nodes", [1, 2, 3, 4, pytest.param(5, marks=pytest.mark.long)])
def test_texts_are_those_of_the_members(nodes: int) -> None:
    names = NAMES[:nodes]
    of_classes = naive.class_texts(names)
    found = [pattern_text(row, names) for row in essential_graphs(masks_of(naive.every_graph(nodes))).tolist()]
    assert found == [of_classes[number] for number in naive.class_numbers(nodes)]
    assert len(set(of_classes)) == len(of_classes)


@pytest.mark.parametrize("nodes", [1, 2, 3, 4, pytest.param(5, marks=pytest.mark.long)])
def test_weights_are_sums_over_the_members(nodes: int) -> None:
    generator = np.random.default_rng(nodes)
    weights = generator.normal(scale=3.0, size=(nodes, 1 << nodes))
    weights[generator.random(weights.shape) < 0.2] = -np.inf
    edges = naive.every_graph(nodes)
    masks, numbers = masks_of(edges), naive.class_numbers(nodes)
    log_joint = sum(weights[node, masks[:, node]] for node in range(nodes))
    patterns = essential_graphs(masks)
    for number in range(numbers.max() + 1):
        members = numbers == number
        found = class_weight(patterns[members][0].tolist(), lambda node, parents: float(weights[node, parents]))
        assert found.graphs == int(np.isfinite(log_joint[members]).sum())
        expected = log_sum(log_joint[members])
        assert found.log_weight == expected or found.log_weight == pytest.approx(expected, abs=1e-9)


@given(st.integers(0, 2**32 - 1), st.integers(6, 8))
@settings(max_examples=20, deadline=None)
def test_larger_classes_have_as_many_graphs_as_edges_can_be_turned(seed: int, nodes: int) -> None:
    """All that a class has can be reached by turning edges whose ends have the same other parents (Chickering 1995)."""
    generator = np.random.default_rng(seed)
    order = generator.permutation(nodes)
    dag = [0] * nodes
    for place, node in enumerate(order):
        for other in order[max(0, place - 2) : place]:
            dag[node] |= int(generator.random() < 0.7) << int(other)
    found, border = {tuple(dag)}, [tuple(dag)]
    while border:
        graph = border.pop()
        for child, parents in enumerate(graph):
            for parent in range(nodes):
                if parents >> parent & 1 and parents ^ (1 << parent) == graph[parent]:
                    turned = list(graph)
                    turned[child], turned[parent] = graph[parent], parents ^ (1 << parent) | (1 << child)
                    if tuple(turned) not in found:
                        found.add(tuple(turned))
                        border.append(tuple(turned))
    pattern = essential_graphs(np.array([dag], dtype=np.uint64))[0].tolist()
    assert class_weight(pattern, alike).graphs == len(found)


def test_a_clique_of_many_nodes_is_summed_without_listing_its_graphs() -> None:
    nodes = 9
    pattern = [((1 << nodes) - 1) ^ (1 << node) for node in range(nodes)]
    assert class_weight(pattern, alike).graphs == 362_880
    assert class_weight(pattern, at_most_five).graphs == 0
