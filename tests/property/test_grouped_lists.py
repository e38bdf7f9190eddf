"""Lists for chains whose weights change: unions, groups and distinct sets against sets made one by one."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2
from tests.naive import grouped_lists as naive

from dagpost.families.considered_sets import ConsideredSets
from dagpost.families.distinct_sets import distinct_sets
from dagpost.families.grouped_lists import choose_active, grouped_lists, lost_of
from dagpost.families.pruning import node_without_core


def random_lists(nodes: int, width: int, rng: np.random.Generator) -> ConsideredSets:
    """Some sets of every node, by falling weight, the empty one among those that lead."""
    members, logs, leading = [], [], []
    for node in range(nodes):
        others = np.delete(np.arange(nodes), node)
        own = {frozenset(rng.permutation(others)[: rng.integers(0, width + 1)].tolist()) for _ in range(12)}
        sets = [frozenset[int](), *(own - {frozenset()})]
        members += [[*sorted(each), *[nodes] * (width - len(each))] for each in sets]
        logs.append(-np.sort(rng.exponential(5.0, len(sets))))
        leading.append(int(rng.integers(1, len(sets) + 1)))
    start = np.cumsum([0, *map(len, logs)])
    zeros = np.zeros(nodes)
    return ConsideredSets(
        start, np.array(members, dtype=np.int16), np.concatenate(logs), np.array(leading), zeros, zeros, ""
    )


@settings(max_examples=30, deadline=None)
@given(nodes=st.integers(2, 70), tables=st.integers(1, 4), in_group=st.integers(1, 8), seed=st.integers(0, 2**32 - 1))
def test_the_union_has_every_set_once_in_even_groups(nodes: int, tables: int, in_group: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    found = [random_lists(nodes, min(3, nodes - 1), rng) for _ in range(tables)]
    lists = grouped_lists(found, in_group)
    assert node_without_core(lists) is None
    fresh = random_lists(nodes, min(3, nodes - 1), rng)
    lost = lost_of(lists, fresh)
    for node in range(nodes):
        own = naive.sets_of(lists.members[lists.start[node] : lists.start[node + 1]], nodes)
        each = [naive.sets_of(one.members[one.start[node] : one.start[node + 1]], nodes) for one in found]
        assert Counter(own) == Counter(set().union(*each))
        often = [
            np.mean([some in sets[: one.leading[node]] for one, sets in zip(found, each, strict=True)]) for some in own
        ]
        assert lists.often[lists.start[node] : lists.start[node + 1]] == pytest.approx(np.array(often))
        assert min(often[: lists.leading[node]]) >= max(often[lists.leading[node] :], default=0.0)
        places = slice(fresh.start[node], fresh.start[node + 1])
        expected = naive.lost(own, naive.sets_of(fresh.members[places], nodes), fresh.log_weights[places].tolist())
        assert lost[node] == pytest.approx(min(expected, 1.0), abs=1e-9)


def test_sets_in_play_are_those_that_lead_and_a_group_with_the_present_set() -> None:
    """How often each group is chosen while a leading set is present: chi-square with a false-alarm rate of 1e-7."""
    rng = np.random.default_rng(3)
    lists = grouped_lists([random_lists(8, 3, rng) for _ in range(3)], in_group=2)
    node = int(np.argmax(lists.groups))
    assert lists.groups[node] > 3
    rest: Counter[tuple[int, ...]] = Counter()
    for _ in range(2000):
        numbers = (rng.random(8) * lists.counts).astype(np.int64)
        numbers[node] = 0
        active = choose_active(lists, numbers, rng)
        for own in range(8):
            places = active.places[active.start[own] : active.start[own + 1]] - lists.start[own]
            factors = active.log_factors[active.start[own] : active.start[own + 1]]
            leading = int(lists.leading[own])
            assert places[:leading].tolist() == list(range(leading))
            assert numbers[own] in places
            assert factors.tolist() == [0.0] * leading + [math.log(lists.groups[own])] * (len(places) - leading)
            if own == node:
                rest[tuple(places[leading:].tolist())] += 1
    assert len(rest) == lists.groups[node]
    assert sorted(place for group in rest for place in group) == list(range(lists.leading[node], lists.counts[node]))
    mean = 2000 / len(rest)
    assert chi2.sf(sum((count - mean) ** 2 / mean for count in rest.values()), len(rest) - 1) > 1e-7


@settings(max_examples=40, deadline=None)
@given(
    nodes=st.integers(1, 80),
    width=st.integers(0, 8),
    runs=st.integers(1, 3),
    kinds=st.integers(1, 3),
    seed=st.integers(0, 2**32 - 1),
)
def test_families_take_their_sets_which_are_listed_once(
    nodes: int, width: int, runs: int, kinds: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    lists = random_lists(nodes, min(width, nodes - 1), rng)
    run_of, kind_of = rng.integers(0, runs, nodes), rng.integers(0, kinds, nodes)
    found = distinct_sets(lists.start, lists.members, run_of, kind_of)
    sets = naive.sets_of(found.members, nodes)
    whole = list(zip(found.run.tolist(), sets, found.kind.tolist(), strict=True))
    assert len(set(whole)) == len(whole)
    assert found.size.tolist() == [len(own) for own in sets]
    node_of = np.repeat(np.arange(nodes), lists.counts)
    for family, parents in enumerate(naive.sets_of(lists.members, nodes)):
        node, run = int(node_of[family]), int(run_of[node_of[family]])
        assert whole[found.plus[family]] == (run, parents | {node}, 0)
        assert whole[found.minus[family]] == (run, parents, int(kind_of[node]))
    # A set comes before those that begin with it, and nothing else comes between them.
    rows = [(run, *row[:size]) for run, row, size in zip(found.run, found.members.tolist(), found.size, strict=True)]
    begun: set[tuple[int, ...]] = set()
    before: tuple[int, ...] = ()
    for row in rows:
        for length in range(1, len(row) + 1):
            if row[:length] != before[:length]:
                assert row[:length] not in begun
                begun.add(row[:length])
        before = row
