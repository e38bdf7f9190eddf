"""The number of orders that a graph fits, against brute force, the textbook sum, and what is known of famous orders."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.naive import posterior as naive
from tests.naive import sampling as naive_sampling
from tests.tools.examples import examples
from tests.tools.wording import Said

from dagpost.engines import ThreadEngine
from dagpost.errors import InputError, ResourceError
from dagpost.sampling.linear_extensions import LARGEST_TABLE, log_linear_extensions

ENGINE = ThreadEngine(2)
#: Relative error of a count in doubles; logs of counts up to 64! are below 210.
TOLERANCE = 1e-12


@st.composite
def dags(draw: st.DrawFn, least: int, most: int) -> naive.Dag:
    nodes = draw(st.integers(least, most))
    density = draw(st.sampled_from([0.05, 0.15, 0.3, 0.5, 0.9]))
    return naive_sampling.random_dag(nodes, density, np.random.default_rng(draw(st.integers(0, 2**32))))


def masks(*graphs: naive.Dag) -> np.ndarray:
    return np.array(graphs, dtype=np.uint64)


def log_of(parents: naive.Dag, largest_table: int = LARGEST_TABLE) -> float:
    return float(log_linear_extensions(masks(parents), engine=ENGINE, largest_table=largest_table)[0])


@settings(max_examples=examples(80))
@given(dags(1, 6))
def test_counts_agree_with_all_permutations(parents: naive.Dag) -> None:
    expected = naive_sampling.extensions_by_permutations(parents)
    assert log_of(parents) == pytest.approx(math.log(expected), abs=TOLERANCE)


@pytest.mark.parametrize("nodes", [1, 2, 3, 4, 5])
def test_every_graph_on_a_few_nodes_is_counted_right_in_one_call(nodes: int) -> None:
    orders = naive.orders_of_every_dag(nodes)
    logs = log_linear_extensions(np.array(list(orders), dtype=np.uint8), engine=ENGINE)
    np.testing.assert_allclose(np.exp(logs), list(orders.values()), rtol=TOLERANCE)


@settings(max_examples=examples(60))
@given(dags(7, 13))
def test_counts_agree_with_the_sum_over_down_sets(parents: naive.Dag) -> None:
    expected = naive_sampling.extensions_by_down_sets(parents)
    assert log_of(parents) == pytest.approx(math.log(expected), abs=TOLERANCE)


@settings(max_examples=30)
@given(dags(2, 12), st.randoms(use_true_random=False))
def test_names_of_nodes_and_the_direction_of_time_do_not_matter(parents: naive.Dag, random: Any) -> None:
    nodes = len(parents)
    label = random.sample(range(nodes), nodes)
    renamed, reversed_ = [0] * nodes, [0] * nodes
    for child, mask in enumerate(parents):
        for parent in range(nodes):
            if mask >> parent & 1:
                renamed[label[child]] |= 1 << label[parent]
                reversed_[parent] |= 1 << child
    for other in (renamed, reversed_):
        assert log_of(tuple(other)) == pytest.approx(log_of(parents), abs=TOLERANCE)


def chain_with_leaves(length: int) -> naive.Dag:
    """0 -> 1 -> 2 ..., where each of them also has a source of its own above it and a sink below it."""
    spine = [(1 << node - 1 if node else 0) | 1 << (length + node) for node in range(length)]
    return (*spine, *[0] * length, *[1 << node for node in range(length)])


def binary_tree(levels: int) -> naive.Dag:
    return (0, *[1 << (node - 1) // 2 for node in range(1, 2**levels - 1)])


def hooks_of_binary_tree(levels: int) -> int:
    """N! over the product of the sizes of all subtrees."""
    sizes = math.prod((2 ** (levels - level) - 1) ** (2**level) for level in range(levels))
    return math.factorial(2**levels - 1) // sizes


TWENTY = (1 << 20) - 1
KNOWN = {
    "no edge": ((0,) * 64, math.factorial(64)),
    "one node": ((0,), 1),
    "chain": ((0, *[1 << node for node in range(63)]), 1),
    "star": ((0, *[1] * 63), math.factorial(63)),
    "star into one": ((*[0] * 63, (1 << 63) - 1), math.factorial(63)),
    "two stars": ((0, 0, *[1] * 20, *[2] * 20), math.comb(42, 21) * math.factorial(20) ** 2),
    "complete bipartite": ((*[0] * 20, *[TWENTY] * 30), math.factorial(20) * math.factorial(30)),
    "three complete layers": ((*[0] * 20, *[TWENTY] * 20, *[TWENTY << 20] * 20), math.factorial(20) ** 3),
    "binary tree": (binary_tree(5), hooks_of_binary_tree(5)),
    "pairs": ((*[0] * 25, *[1 << node for node in range(25)]), math.factorial(50) // 2**25),
    "zigzag": (tuple(0 if i % 2 else (1 << i + 1 if i < 59 else 0) | (1 << i - 1 if i else 0) for i in range(60)),
               naive_sampling.alternating_orders(60)),
    "rectangle": (naive_sampling.rectangle(6, 10), naive_sampling.tableaux(6, 10)),
    "subsets of four": (tuple(naive.mask_of([s ^ 1 << b for b in range(4) if s >> b & 1]) for s in range(16)), 1680384),
    "subsets of five": (
        tuple(naive.mask_of([s ^ 1 << b for b in range(5) if s >> b & 1]) for s in range(32)), 14807804035657359360,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", KNOWN)
def test_famous_orders_have_their_known_numbers(name: str) -> None:
    parents, expected = KNOWN[name]
    assert log_of(parents) == pytest.approx(math.log(expected), abs=1e-11)


def test_two_stars_that_share_leaves_and_a_chain_with_leaves_do_not_blow_up() -> None:
    # A table this small would overflow at once if the sets were counted one by one.
    table = 1 << 10
    shared = (0, 0, *[1] * 20, *[2] * 20, *[3] * 20)
    small = (0, 0, *[1] * 2, *[2] * 2, *[3] * 2)
    short = chain_with_leaves(4)
    for parents in (small, short):
        expected = math.log(naive_sampling.extensions_by_down_sets(parents))
        assert log_of(parents, table) == pytest.approx(expected, abs=TOLERANCE)
    assert math.isfinite(log_of(shared, table))
    assert math.isfinite(log_of(chain_with_leaves(21), table))


def test_the_table_of_sets_grows_when_it_must_and_the_result_stays_the_same() -> None:
    # 8 by 8 has 12,870 down-sets, a dozen times as many as the table starts with; smaller orders follow it.
    graphs = masks(naive_sampling.rectangle(8, 8), (0,) * 64, naive_sampling.rectangle(8, 8))
    expected = [math.log(naive_sampling.tableaux(8, 8)), math.lgamma(65), math.log(naive_sampling.tableaux(8, 8))]
    np.testing.assert_allclose(log_linear_extensions(graphs, engine=ENGINE), expected, rtol=1e-13)


def test_an_order_with_too_many_sets_is_an_error_that_names_the_graph(said: Said) -> None:
    graphs = masks((0,) * 64, naive_sampling.rectangle(8, 8))
    with said.raises(ResourceError):
        log_linear_extensions(graphs, engine=ENGINE, largest_table=1 << 12)


@pytest.mark.parametrize("kind", [np.uint8, np.uint16, np.uint32, np.uint64])
def test_repeats_and_equal_ancestors_give_equal_numbers_for_every_type_of_mask(kind: type) -> None:
    # 0 -> 1 -> 2, with and without the edge 0 -> 2 that adds no relation.
    graphs: np.ndarray = np.array([[0, 1, 2], [0, 0, 0], [0, 1, 3], [0, 0, 0]], dtype=kind)
    logs = log_linear_extensions(graphs, engine=ENGINE)
    np.testing.assert_allclose(np.exp(logs), [1, 6, 1, 6], rtol=TOLERANCE)
    np.testing.assert_array_equal(log_linear_extensions(graphs[::2], engine=ENGINE), logs[::2])
    assert len(log_linear_extensions(graphs[:0], engine=ENGINE)) == 0


def test_the_number_of_threads_makes_no_difference() -> None:
    rng = np.random.default_rng(3)
    graphs = masks(*[naive_sampling.random_dag(12, 0.2, rng) for _ in range(600)])
    one = log_linear_extensions(graphs, engine=ThreadEngine(1))
    np.testing.assert_array_equal(one, log_linear_extensions(graphs, engine=ThreadEngine(3)))


@pytest.mark.parametrize(
    "parents",
    [
        np.array([[0, 0], [2, 1]], dtype=np.uint8),
        np.array([[0, 0], [0, 4]], dtype=np.uint8),
        np.array([[0, 0]]),
        np.zeros(3, dtype=np.uint8),
        [[0, 1]],
        np.zeros((1, 65, 2), dtype=np.uint64),
    ],
)
def test_what_is_no_graph_is_an_error_that_says_so(parents: object, said: Said) -> None:
    with said.raises(InputError):
        log_linear_extensions(parents, engine=ENGINE)
