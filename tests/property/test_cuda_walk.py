"""The CUDA engine's order of work and numbering, run through the plain twins of its kernels."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.naive.cuda_sampling import visited_parent_sets
from tests.naive.cuda_walk import NaiveSteps, sums_of_orders

from dagpost.engines import ThreadEngine
from dagpost.engines.cuda.layout import DeviceLayout, make_layout
from dagpost.engines.cuda.walk import backward_walk, forward_walk
from dagpost.exact import order
from dagpost.families.numbering import family_count, parent_sets

THREADS = ThreadEngine(1)


@st.composite
def problems(draw: st.DrawFn) -> tuple[DeviceLayout, np.ndarray]:
    """Random weights, some of them zero, over up to thousands of nats, and any way to cut the nodes into groups."""
    nodes = draw(st.integers(1, 7))
    max_parents = draw(st.integers(0, min(3, nodes - 1)))
    low = draw(st.integers(1, nodes))
    mid = draw(st.integers(0, nodes - low))
    slot_bits = draw(st.integers(0, nodes - low - mid))
    generator = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    spread = draw(st.sampled_from([1.0, 30.0, 3000.0]))
    weights = generator.normal(0.0, spread, (nodes, family_count(nodes - 1, max_parents)))
    weights[generator.random(weights.shape) < 0.2] = -np.inf
    weights[:, 0] = generator.normal(0.0, spread, nodes)
    return DeviceLayout(nodes, max_parents, low, mid, slot_bits), weights


@settings(max_examples=40, deadline=None)
@given(problems())
def test_the_walk_forward_gives_the_sums_over_all_orders(problem: tuple[DeviceLayout, np.ndarray]) -> None:
    layout, weights = problem
    steps = NaiveSteps(layout, weights)
    assert len(list(forward_walk(layout, steps))) == layout.steps
    forward, _ = sums_of_orders(weights, layout.max_parents)
    np.testing.assert_allclose(steps.sums, forward, rtol=1e-12, atol=1e-9)


@settings(max_examples=30, deadline=None)
@given(problems())
def test_the_walk_back_gives_the_probability_of_every_family(problem: tuple[DeviceLayout, np.ndarray]) -> None:
    layout, weights = problem
    steps = NaiveSteps(layout, weights)
    list(forward_walk(layout, steps))
    log_total = steps.sums[-1]
    list(backward_walk(layout, steps))
    _, backward = sums_of_orders(weights, layout.max_parents)
    np.testing.assert_allclose(steps.sums, backward, rtol=1e-12, atol=1e-9)
    table = order.forward_table(weights, layout.max_parents, engine=THREADS)
    expected = order.family_probabilities(table, engine=THREADS)
    np.testing.assert_allclose(np.exp(steps.gathered + weights - log_total), expected, atol=1e-9)


@given(st.integers(0, 12), st.integers(0, 5), st.data())
def test_the_enumeration_of_parent_sets_can_start_anywhere(members: int, max_parents: int, data: st.DataObject) -> None:
    limit = min(members, max_parents)
    expected = [int(mask) for mask in parent_sets(members, limit)]
    place = data.draw(st.integers(0, len(expected) - 1))
    assert visited_parent_sets(members, limit, place, len(expected) - place) == expected[place:]


@pytest.mark.parametrize(("nodes", "steps"), [(1, 1), (11, 1), (21, 1), (25, 1), (26, 2), (34, 512)])
def test_a_plan_covers_all_nodes_in_steps_of_sixteen_top_subsets(nodes: int, steps: int) -> None:
    layout = make_layout(nodes, 5)
    assert layout.low + layout.mid + layout.top == nodes
    assert layout.steps == steps
    assert layout.steps << layout.inner_bits << layout.low == 1 << nodes


def test_thirty_four_variables_fit_on_the_largest_device_and_thirty_five_do_not() -> None:
    free = 149_500_000_000
    assert make_layout(34, 5).bytes_needed(backward=False) < free < make_layout(35, 5).bytes_needed(backward=False)
    assert make_layout(33, 5).bytes_needed(backward=True) < free
