"""Greedy search, against a slow twin that weighs every neighbour of a graph from scratch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.naive import posterior as naive
from tests.naive import search as naive_search
from tests.tools.examples import examples
from tests.tools.wording import Said

from dagpost.data import datasets
from dagpost.engines import ThreadEngine
from dagpost.errors import InputError, NoGraphError
from dagpost.exact.kbest import best_dags
from dagpost.families.family_sums import FamilyTables, FamilyWeights, family_tables, tables_without_sums
from dagpost.families.numbering import family_count
from dagpost.mcmc.candidates import choose_candidates, weights_inside, weights_of_all
from dagpost.scores import local_scores
from dagpost.search.hill_climbing import climb, log_weights_of_graphs, starting_graph

ENGINE = ThreadEngine(2)


def weights_with(log_weights: naive.Logs, max_parents: int, width: int) -> FamilyWeights:
    """Weights of all families, whose tables have `width` candidates."""
    nodes = len(log_weights)
    if width == nodes - 1:
        return weights_of_all(log_weights, max_parents)
    nobody = np.zeros(nodes, dtype=np.uint64)
    candidates = choose_candidates(log_weights, max_parents, width, nobody, nobody)
    inner = weights_inside(log_weights, candidates, max_parents)
    return FamilyWeights(max_parents, max_parents, candidates, inner, log_weights)


def tables_of(log_weights: naive.Logs, max_parents: int) -> FamilyTables:
    return family_tables(weights_of_all(log_weights, max_parents), engine=ENGINE)


def random_graph(nodes: int, max_parents: int, rng: np.random.Generator) -> naive.Dag:
    """A graph that fits a random order."""
    order = rng.permutation(nodes).tolist()
    graph = [0] * nodes
    for place, node in enumerate(order):
        count = int(rng.integers(0, min(place, max_parents) + 1))
        graph[node] = naive.mask_of(rng.choice(order[:place], size=count, replace=False).tolist()) if count else 0
    return tuple(graph)


@st.composite
def cases(draw: st.DrawFn) -> tuple[naive.Logs, int, naive.Dag, int]:
    """Weights, the most parents, a graph of positive weight to start from, and a number of candidates."""
    nodes = draw(st.integers(2, 6))
    max_parents = draw(st.integers(1, nodes - 1))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    shape = (nodes, family_count(nodes - 1, max_parents))
    kind = draw(st.sampled_from(["small", "large", "ties"]))
    if kind == "ties":
        log_weights = rng.integers(-2, 3, size=shape).astype(np.float64)
    else:
        log_weights = (1.0 if kind == "small" else 3000.0) * rng.normal(size=shape)
    log_weights[rng.random(shape) < draw(st.sampled_from([0.0, 0.2, 0.6]))] = -np.inf
    start = (0,) * nodes if draw(st.booleans()) else random_graph(nodes, max_parents, rng)
    for node, mask in enumerate(start):
        number = naive.parent_masks(node, nodes, max_parents).index(mask)
        log_weights[node, number] = np.maximum(log_weights[node, number], -5000.0)
    return log_weights, max_parents, start, draw(st.integers(1, nodes - 1))


@settings(max_examples=examples(300))
@given(cases())
def test_climbs_end_where_the_slow_twin_ends(case: tuple[naive.Logs, int, naive.Dag, int]) -> None:
    log_weights, max_parents, start, width = case
    expected, expected_weight = naive_search.climb(log_weights, max_parents, start)
    weights = weights_with(log_weights, max_parents, width)
    given = np.array(start, dtype=np.uint64)
    for tables in (family_tables(weights, engine=ENGINE), tables_without_sums(weights)):
        parents, log_weight = climb(tables, given)
        assert tuple(parents.tolist()) == expected
        assert log_weight == pytest.approx(expected_weight, rel=1e-12, abs=1e-9)
    assert tuple(given.tolist()) == start


@settings(max_examples=examples(100))
@given(cases())
def test_no_single_change_is_better_where_a_climb_ends(case: tuple[naive.Logs, int, naive.Dag, int]) -> None:
    log_weights, max_parents, start, width = case
    weights = weights_with(log_weights, max_parents, width)
    parents, log_weight = climb(family_tables(weights, engine=ENGINE), np.array(start, dtype=np.uint64))
    by_mask = naive.weights_by_mask(log_weights, max_parents)
    graph = tuple(parents.tolist())
    assert not naive_search.has_cycle(graph)
    assert log_weight >= naive_search.log_weight(by_mask, start) - 1e-9
    best = max(naive_search.log_weight(by_mask, neighbour) for neighbour in naive_search.neighbours(graph))
    assert best <= log_weight + 1e-8


def test_ties_go_to_the_first_child_and_then_the_first_parent() -> None:
    """Any first parent gains 1, a second nothing: 1 -> 0, then 2 -> 1 (0 -> 1 would close a cycle), then 3 -> 2."""
    log_weights = np.full((4, family_count(3, 2)), 1.0)
    log_weights[:, 0] = 0.0
    parents, log_weight = climb(tables_of(log_weights, 2))
    assert parents.tolist() == [0b0010, 0b0100, 0b1000, 0]
    assert log_weight == 3.0


def test_rounding_does_not_break_ties() -> None:
    log_weights = np.full((4, family_count(3, 2)), 1.0)
    log_weights[:, 0] = 0.0
    noise = 1e-11 * np.random.default_rng(1).normal(size=log_weights.shape)
    assert climb(tables_of(log_weights + noise, 2))[0].tolist() == [0b0010, 0b0100, 0b1000, 0]


def test_an_edge_is_turned_round_where_that_is_better_than_anything_else() -> None:
    log_weights = np.log([[1.0, 5.0], [1.0, 6.0]])
    parents, _ = climb(tables_of(log_weights, 1), np.array([0b10, 0], dtype=np.uint64))
    assert parents.tolist() == [0, 0b01]


def test_an_edge_is_not_turned_round_into_a_cycle() -> None:
    """0 -> 2 beside 0 -> 1 -> 2: turning it round would gain, and close a cycle."""
    by_mask = np.full((3, 8), -10.0)
    by_mask[0, [0, 0b100]] = 0.0, 50.0
    by_mask[1, 0b001] = 20.0
    by_mask[2, [0b011, 0b010]] = 30.0, 29.0
    log_weights = naive.families_from_masks(by_mask, 2)
    start = np.array([0, 0b001, 0b011], dtype=np.uint64)
    parents, _ = climb(tables_of(log_weights, 2), start)
    assert tuple(parents.tolist()) == naive_search.climb(log_weights, 2, tuple(start.tolist()))[0]
    assert not naive_search.has_cycle(tuple(parents.tolist()))


def test_the_climb_ends_below_the_best_graph_but_not_far_below() -> None:
    scores = local_scores(datasets.load("coronary"), "bdeu", 3, engine=ENGINE)
    _, log_weight = climb(tables_of(scores.values, 3))
    best = best_dags(scores.values, 3, 1, engine=ENGINE)
    assert best.log_joint[0] - 10.0 < log_weight <= best.log_joint[0] + 1e-9


def test_64_nodes_can_be_climbed() -> None:
    """Every node but the first wants the one before it, by e^5, and nothing else."""
    nodes = 64
    log_weights = np.zeros((nodes, nodes))
    log_weights[:, 1:] = -1.0
    for node in range(1, nodes):
        log_weights[node, node] = 5.0
    parents, log_weight = climb(tables_of(log_weights, 1))
    assert parents.tolist() == [0, *(1 << node for node in range(nodes - 1))]
    assert log_weight == pytest.approx(5.0 * (nodes - 1))


# Where it starts


def test_it_starts_without_edges_where_that_is_allowed() -> None:
    assert starting_graph(tables_of(np.zeros((4, family_count(3, 2))), 2)).tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize("seed", range(5))
def test_it_starts_from_an_allowed_graph_where_edges_are_required(seed: int) -> None:
    nodes, max_parents = 6, 3
    rng = np.random.default_rng(seed)
    required = random_graph(nodes, 2, rng)
    log_weights = 1000.0 * rng.normal(size=(nodes, family_count(nodes - 1, max_parents)))
    for node in range(nodes):
        masks = np.array(naive.parent_masks(node, nodes, max_parents))
        log_weights[node, masks & required[node] != required[node]] = -np.inf
    log_weights[0, 0] = -np.inf
    by_mask = naive.weights_by_mask(log_weights, max_parents)
    tables = tables_of(log_weights, max_parents)
    start = starting_graph(tables)
    assert start.tolist() == starting_graph(tables).tolist()
    assert naive_search.log_weight(by_mask, tuple(start.tolist())) > -np.inf
    parents, log_weight = climb(tables)
    expected, expected_log = naive_search.climb(log_weights, max_parents, tuple(start.tolist()))
    assert tuple(parents.tolist()) == expected
    assert log_weight == pytest.approx(expected_log)


def test_where_no_graph_is_allowed_there_is_nothing_to_climb(said: Said) -> None:
    log_weights = np.array([[-np.inf, 0.0], [-np.inf, 0.0]])
    with said.raises(NoGraphError):
        climb(tables_of(log_weights, 1))


@pytest.mark.parametrize(
    ("start", "message"),
    [
        ([0, 0], "one mask of parents for each of 3 nodes"),
        ([[0, 0, 0]], "one mask of parents for each of 3 nodes"),
        ([0b010, 0b001, 0], "cycle"),
        ([0b001, 0, 0], "cycle"),
        ([0b010, 0b100, 0b001], "cycle"),
        ([0b1000, 0, 0], "parents that are not there"),
        ([0b110, 0, 0], "weight 0"),
        ([0, 0b001, 0], "weight 0"),
    ],
)
def test_a_start_that_is_no_allowed_graph_is_refused(start: Any, message: str) -> None:
    log_weights = np.zeros((3, 3))
    log_weights[1, 1] = -np.inf
    with pytest.raises(InputError, match=message):
        climb(tables_of(log_weights, 1), np.array(start, dtype=np.uint64))


# Weights of graphs


@settings(max_examples=examples(60))
@given(cases(), st.integers(0, 2**32))
def test_graphs_are_weighed_as_their_families_are(case: tuple[naive.Logs, int, naive.Dag, int], seed: int) -> None:
    log_weights, max_parents, start, width = case
    rng = np.random.default_rng(seed)
    nodes = len(log_weights)
    graphs = [start, *(random_graph(nodes, nodes, rng) for _ in range(10))]
    by_mask = naive.weights_by_mask(log_weights, max_parents)
    expected = [sum(by_mask[node, mask] for node, mask in enumerate(graph)) for graph in graphs]
    tables = tables_without_sums(weights_with(log_weights, max_parents, width))
    found = log_weights_of_graphs(tables, np.array(graphs, dtype=np.uint64))
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-9)
