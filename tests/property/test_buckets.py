"""The sums over all orders of one bucket, against the orders themselves.

Lists of parent sets that are not made of candidates alone may lack sets worth 1e-8 of a node in all (families.py).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.naive import families as naive_families
from tests.naive import posterior as naive
from tests.naive.orders import weights_given_predecessors
from tests.naive.partial_order import Bucket
from tests.tools.examples import examples

from dagpost._tools.wide_floats import to_logs
from dagpost.engines import ThreadEngine
from dagpost.families.family_sums import FamilyWeights, family_tables
from dagpost.families.numbering import family_count
from dagpost.mcmc import buckets
from dagpost.mcmc.buckets import BucketFamilies, BucketSums
from dagpost.mcmc.candidates import weights_of_all

SUM = 1e-10
LOST = 1e-8
ENGINE = ThreadEngine(2)


@dataclass(frozen=True)
class Case:
    families: BucketFamilies
    twin: Bucket
    sums: BucketSums
    tolerance: float

    @property
    def members(self) -> np.ndarray:
        return np.array(self.twin.members, dtype=np.int64)

    @property
    def before(self) -> np.uint64:
        return np.uint64(self.twin.before)

    @property
    def size(self) -> int:
        return len(self.twin.members)

    def heaviest(self, nodes: tuple[int, ...]) -> float:
        return float(self.families.tables.heaviest[list(nodes)].sum())

    def subset(self, members: int) -> tuple[int, ...]:
        return tuple(member for place, member in enumerate(self.twin.members) if members >> place & 1)

    def sum(self) -> float:
        """Fill the second of two slots."""
        return buckets.sum_bucket(self.families, self.members, self.before, self.sums, 1)


def with_candidates(log_weights: naive.Logs, max_parents: int, candidates: np.ndarray) -> FamilyWeights:
    """All sets are there, those among the candidates in tables, the others in lists."""
    nodes, width = candidates.shape
    by_mask = naive.weights_by_mask(log_weights, max_parents)
    subsets = naive.subsets_in_order(width, max_parents)
    inner = [
        [by_mask[node, naive.mask_of([int(candidates[node, place]) for place in subset])] for subset in subsets]
        for node in range(nodes)
    ]
    return FamilyWeights(max_parents, max_parents, candidates, np.array(inner), log_weights)


@st.composite
def cases(draw: st.DrawFn, largest_bucket: int = 5, possible: bool = False) -> Case:
    size = draw(st.integers(1, largest_bucket))
    nodes = draw(st.integers(size, 7))
    max_parents = draw(st.integers(0, min(nodes - 1, 4)))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    shape = (nodes, family_count(nodes - 1, max_parents))
    log_weights = draw(st.sampled_from([1.0, 8.0, 30.0, 3000.0])) * rng.normal(size=shape)
    # Some parents raise or lower all sets that they are in, as data do.
    for node in range(nodes):
        masks = np.array(naive.parent_masks(node, nodes, max_parents))
        for parent in range(nodes):
            log_weights[node] += draw(st.sampled_from([0.0, 5.0, -20.0])) * (masks >> parent & 1)
    impossible = rng.random(shape) < draw(st.sampled_from([0.0, 0.0, 0.3, 0.8]))
    # Every node has a parent set; with `possible`, one that no order takes away.
    impossible[range(nodes), 0 if possible else rng.integers(0, shape[1], nodes)] = False
    log_weights[impossible] = -np.inf
    few = draw(st.booleans()) and nodes > 2
    if few:
        width = draw(st.integers(1, nodes - 2))
        others = [[other for other in range(nodes) if other != node] for node in range(nodes)]
        candidates = np.array([np.sort(rng.choice(row, width, replace=False)) for row in others])
        weights = with_candidates(log_weights, max_parents, candidates)
    else:
        weights = weights_of_all(log_weights, max_parents)
    families = buckets.bucket_families(family_tables(weights, engine=ENGINE))
    sets = naive_families.considered(log_weights, max_parents, weights.candidates, max_parents)
    order = rng.permutation(nodes).tolist()
    start = draw(st.integers(0, nodes - size))
    twin = Bucket(sets, tuple(order[start : start + size]), naive.mask_of(order[:start]))
    room = size + draw(st.integers(0, 2))
    return Case(families, twin, buckets.room_for_buckets(2, room), nodes * (LOST if few else SUM))


def same_logs(found: float, expected: float, tolerance: float) -> bool:
    return found == expected or abs(found - expected) <= tolerance + 1e-12 * abs(expected)


@settings(max_examples=examples(75))
@given(cases())
def test_sums_are_over_all_orders(case: Case) -> None:
    log_weight = case.sum()
    assert same_logs(log_weight + case.heaviest(case.twin.members), case.twin.log_weight, case.tolerance)
    forward = to_logs(case.sums.forward[1])
    for members in range(1 << case.size):
        front = case.subset(members)
        found = forward[members] + case.heaviest(front)
        assert same_logs(found, case.twin.log_front(front), case.tolerance)


@settings(max_examples=examples(60))
@given(cases(possible=True), st.integers(0, 1000))
def test_a_drawn_order_comes_with_the_weights_of_its_nodes(case: Case, seed: int) -> None:
    case.sum()
    generator = np.random.Generator(np.random.PCG64(seed))
    order = np.zeros(case.size, dtype=np.int64)
    log_alpha = np.full(len(case.twin.sets), np.nan)
    buckets.draw_bucket(case.sums, 1, case.members, generator, order, log_alpha)
    assert sorted(order.tolist()) == sorted(case.twin.members)
    expected = weights_given_predecessors(case.twin.sets, tuple(order.tolist()), case.twin.before)
    assert np.isfinite(expected).all()
    found = log_alpha[order] + case.families.tables.heaviest[order]
    assert found == pytest.approx(expected, abs=case.tolerance, rel=1e-12)


@pytest.mark.parametrize("size", [1, 2, 5, 10])
def test_the_memory_that_is_asked_for_is_what_is_taken(size: int) -> None:
    room = buckets.room_for_buckets(3, size)
    assert sum(part.nbytes for part in room) == buckets.bucket_bytes(3, size)
