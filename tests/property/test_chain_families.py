"""What chains look up about families, against explicit lists of parent sets.

A set that holds less than `LOST` of what its subsets weigh may be left out of the lists, so that sums over lists
lie between those with and without all such sets.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.naive import families as naive_families
from tests.naive import posterior as naive
from tests.naive import pruning as naive_pruning
from tests.tools.examples import examples
from tests.tools.wording import Said

from dagpost._tools import memory
from dagpost.engines import ThreadEngine
from dagpost.errors import InputError, ResourceError
from dagpost.families import family_sums as families
from dagpost.families.family_sums import FamilyTables, FamilyWeights, family_tables
from dagpost.families.graphs import add_edge_probabilities, draw_graph
from dagpost.families.numbering import family_count
from dagpost.mcmc.candidates import choose_candidates, weights_inside, weights_of_all

LOST = 1e-8
#: Of a sum of wide floats, in logs.
SUM = 1e-10
#: Of a difference of two such sums that is more than 1e-5 of them.
DIFFERENCE = 1e-5
ENGINE = ThreadEngine(2)


@dataclass(frozen=True)
class Case:
    log_weights: naive.Logs
    weights: FamilyWeights
    tables: FamilyTables
    sets: tuple[naive_families.Sets, ...]

    @property
    def nodes(self) -> int:
        return len(self.log_weights)

    @property
    def everyone(self) -> bool:
        return self.weights.candidates.shape[1] == self.nodes - 1


def among(
    log_weights: naive.Logs, max_parents: int, candidates: np.ndarray, small_size: int
) -> tuple[FamilyWeights, FamilyTables]:
    """The weights of all sets of at most `small_size` parents, and of all those among `candidates`."""
    nodes, inner = len(candidates), weights_inside(log_weights, candidates, max_parents)
    small = np.ascontiguousarray(log_weights[:, : family_count(nodes - 1, small_size)])
    weights = FamilyWeights(max_parents, small_size, candidates, inner, small)
    return weights, family_tables(weights, engine=ENGINE)


def make_case(log_weights: naive.Logs, max_parents: int, width: int, small_size: int) -> Case:
    if width == len(log_weights) - 1:
        weights = weights_of_all(log_weights, max_parents)
        tables = family_tables(weights, engine=ENGINE)
    else:
        nobody = np.zeros(len(log_weights), dtype=np.uint64)
        candidates = choose_candidates(log_weights, max_parents, width, nobody, nobody)
        weights, tables = among(log_weights, max_parents, candidates, small_size)
    sets = naive_families.considered(log_weights, max_parents, weights.candidates, weights.small_size)
    return Case(log_weights, weights, tables, sets)


@st.composite
def cases(draw: st.DrawFn, largest: int = 6) -> Case:
    nodes = draw(st.integers(2, largest))
    max_parents = draw(st.integers(1, nodes - 1))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    shape = (nodes, family_count(nodes - 1, max_parents))
    log_weights = draw(st.sampled_from([1.0, 8.0, 30.0, 3000.0])) * rng.normal(size=shape)
    # Some parents raise or lower all sets that they are in, as data do.
    for node in range(nodes):
        masks = np.array(naive.parent_masks(node, nodes, max_parents))
        for parent in range(nodes):
            log_weights[node] += draw(st.sampled_from([0.0, 5.0, -20.0])) * (masks >> parent & 1)
    log_weights[rng.random(shape) < draw(st.sampled_from([0.0, 0.0, 0.3]))] = -np.inf
    width = draw(st.integers(1, nodes - 1))
    small_size = draw(st.integers(0, max_parents))
    # Every node has a parent set.
    log_weights[:, 0] = np.where(np.isinf(log_weights[:, 0]), -50.0, log_weights[:, 0])
    return make_case(log_weights, max_parents, width, small_size)


def masks_of(case: Case) -> list[tuple[int, int]]:
    """Every node with every set of other nodes."""
    return [(node, mask) for node in range(case.nodes) for mask in range(1 << case.nodes) if not mask >> node & 1]


def meeting_of(allowed: int, node: int) -> list[int]:
    """Some parts of a set."""
    return sorted({allowed, allowed & 0b010101, allowed & 0b101010, allowed & -allowed, allowed & (0b111 << node)})


# The weight of one set


@settings(max_examples=examples(60))
@given(cases())
def test_the_weight_of_every_set_is_looked_up(case: Case) -> None:
    for node, mask in masks_of(case):
        found = families.log_weight_of(case.tables, node, np.uint64(mask))
        assert found == case.sets[node].get(mask, -math.inf)


# Sums


@settings(max_examples=examples(100))
@given(cases())
def test_sums_inside_a_set_match_explicit_sums(case: Case) -> None:
    lost = 0.0 if case.everyone else LOST
    for node, allowed in masks_of(case):
        expected = naive_families.log_sum(naive_families.fitting(case.sets[node], allowed).values())
        found = families.log_sum_inside(case.tables, node, np.uint64(allowed)) + case.tables.heaviest[node]
        if expected == -math.inf:
            assert found == -math.inf
        else:
            assert expected + math.log1p(-lost) - SUM <= found <= expected + SUM


@settings(max_examples=50)
@given(cases())
def test_sums_that_meet_a_set_match_explicit_sums(case: Case) -> None:
    bounds = [naive_pruning.shares(sets) for sets in case.sets]
    for node, allowed in masks_of(case):
        for to_meet in meeting_of(allowed, node):
            sets = naive_families.fitting(case.sets[node], allowed, to_meet)
            certain = [weight for mask, weight in sets.items() if bounds[node][mask] > LOST]
            found = families.log_sum_meeting(case.tables, node, np.uint64(allowed), np.uint64(to_meet))
            found += case.tables.heaviest[node]
            upper, lower = naive_families.log_sum(sets.values()), naive_families.log_sum(certain)
            assert found >= lower - DIFFERENCE or found == lower
            assert found <= upper + DIFFERENCE or found == upper


@pytest.mark.parametrize("width", [4, 2])
@pytest.mark.parametrize("depth", [3.0, 11.0, 12.0, 17.0, 40.0, 900.0])
def test_sums_keep_their_digits_where_a_difference_would_cancel(depth: float, width: int) -> None:
    """Sets with node 1 weigh e^-depth of the rest, but no set is small beside a subset of its own."""
    nodes, max_parents = 5, 2
    log_weights = np.random.default_rng(3).normal(size=(nodes, family_count(nodes - 1, max_parents)))
    for node in (0, 2, 3, 4):
        masks = np.array(naive.parent_masks(node, nodes, max_parents))
        log_weights[node, masks & 0b10 != 0] -= depth
        log_weights[node, 0] = -np.inf
    # Sets of two with node 1 stand beside those of the other parent alone: they are gone, or small but needed.
    case = make_case(log_weights, max_parents, width, max_parents)
    for node, allowed in [(0, 0b11110), (2, 0b11011), (3, 0b10011), (4, 0b00011)]:
        sets = naive_families.fitting(case.sets[node], allowed, 0b10)
        kept = [sets[0b10]]
        found = families.log_sum_meeting(case.tables, node, np.uint64(allowed), np.uint64(0b10))
        found += case.tables.heaviest[node]
        assert naive_families.log_sum(kept) - 1e-6 <= found <= naive_families.log_sum(sets.values()) + 1e-6


# Draws


@settings(max_examples=30)
@given(cases(), st.data())
def test_every_set_is_drawn_for_its_share_of_the_uniform_numbers(case: Case, data: st.DataObject) -> None:
    """A set belongs to one interval of uniform numbers, as long as its probability: evenly spaced ones count it."""
    node, allowed = data.draw(st.sampled_from(masks_of(case)))
    to_meet = data.draw(st.sampled_from([0, *meeting_of(allowed, node)]))
    sets = naive_families.fitting(case.sets[node], allowed, to_meet)
    log_total = families.log_sum_meeting(case.tables, node, np.uint64(allowed), np.uint64(to_meet))
    if log_total == -math.inf:
        # Only sets that are small beside one of their own subsets can have been lost.
        for mask in sets:
            assert naive_pruning.shares(case.sets[node])[mask] <= LOST
        drawn = families.draw_parents(case.tables, node, np.uint64(allowed), np.uint64(to_meet), 0.0, 0.5)
        assert drawn == -1
        return
    points = 500
    count = dict.fromkeys(sets, 0)
    for point in range(points):
        uniform = (point + 0.5) / points
        place = families.draw_parents(
            case.tables, node, np.uint64(allowed), np.uint64(to_meet), float(log_total), uniform
        )
        assert case.tables.ranked_start[node] <= place < case.tables.ranked_start[node + 1]
        mask = int(case.tables.ranked_masks[place])
        assert case.tables.ranked_logs[place] + case.tables.heaviest[node] == pytest.approx(sets[mask], abs=1e-9)
        count[mask] += 1
    lost = 0.0
    if naive_families.log_sum(sets.values()) > -math.inf:
        whole = naive_families.log_sum(naive_families.fitting(case.sets[node], allowed).values())
        lost = min(1.0, 2.0 * LOST * math.exp(min(whole - naive_families.log_sum(sets.values()), 700.0)))
    for mask, share in naive_families.shares(sets).items():
        assert abs(count[mask] - points * share) <= 1.0 + points * (lost + 1e-4)


def random_conditions(case: Case, seed: int) -> tuple[list[int], list[int]]:
    """For every node a set that its parents are inside of and one that they meet, so that there are such parents."""
    rng = np.random.default_rng(seed)
    allowed, to_meet = [], []
    for node in range(case.nodes):
        inside = int(rng.integers(1 << case.nodes)) & ~(1 << node)
        meeting = inside & int(rng.integers(1 << case.nodes))
        if rng.random() < 0.3 or not naive_families.fitting(case.sets[node], inside, meeting):
            meeting = 0
        allowed.append(inside)
        to_meet.append(meeting)
    return allowed, to_meet


@settings(max_examples=examples(60))
@given(cases(), st.integers(0, 2**32))
def test_edge_probabilities_where_nodes_stand_match_explicit_sums(case: Case, seed: int) -> None:
    allowed, to_meet = random_conditions(case, seed)
    places = np.array(allowed, dtype=np.uint64), np.array(to_meet, dtype=np.uint64)
    log_sums = np.array(
        [families.log_sum_meeting(case.tables, node, places[0][node], places[1][node]) for node in range(case.nodes)]
    )
    edges = np.full((case.nodes, case.nodes), 0.25)
    add_edge_probabilities(case.tables, *places, log_sums, edges)
    expected = naive_families.edge_probabilities(case.sets, allowed, to_meet)
    for child in range(case.nodes):
        sets = naive_families.fitting(case.sets[child], allowed[child], to_meet[child])
        whole = naive_families.log_sum(naive_families.fitting(case.sets[child], allowed[child]).values())
        # Where what meets is rare, what was lost may be all there is to know.
        lost = 4.0 * LOST * math.exp(min(whole - naive_families.log_sum(sets.values()), 700.0))
        if lost < 1e-3:
            np.testing.assert_allclose(edges[:, child] - 0.25, expected[:, child], rtol=0, atol=2e-5 + lost)


@settings(max_examples=examples(60))
@given(cases(), st.integers(0, 2**32))
def test_a_drawn_graph_is_where_its_nodes_stand_and_has_its_log_weight(case: Case, seed: int) -> None:
    allowed, _ = random_conditions(case, seed)
    places, nothing = np.array(allowed, dtype=np.uint64), np.zeros(case.nodes, dtype=np.uint64)
    log_sums = np.array([families.log_sum_inside(case.tables, node, places[node]) for node in range(case.nodes)])
    parents = np.zeros(case.nodes, dtype=np.uint64)
    generator = np.random.Generator(np.random.PCG64(seed))
    log_weight = draw_graph(case.tables, places, nothing, log_sums, generator, parents)
    weights = [case.sets[node][mask] for node, mask in enumerate(parents.tolist())]
    assert all(mask & ~allowed[node] == 0 for node, mask in enumerate(parents.tolist()))
    assert log_weight == pytest.approx(math.fsum(weights), rel=1e-12, abs=1e-9)


# Lists


@settings(max_examples=examples(60))
@given(cases())
def test_lists_hold_all_that_matters_by_falling_weight(case: Case) -> None:
    tables = case.tables
    for node, sets in enumerate(case.sets):
        outside = {mask for mask in sets if mask & ~int(tables.candidate_masks[node])}
        for start, masks, logs, tails, wanted in (
            (tables.ranked_start, tables.ranked_masks, tables.ranked_logs, tables.ranked_tails, set(sets)),
            (tables.beyond_start, tables.beyond_masks, tables.beyond_logs, tables.beyond_tails, outside),
        ):
            here = slice(start[node], start[node + 1])
            listed = masks[here].tolist()
            assert len(set(listed)) == len(listed)
            assert set(listed) <= wanted
            assert (np.diff(logs[here]) <= 0.0).all()
            np.testing.assert_allclose(logs[here] + tables.heaviest[node], [sets[mask] for mask in listed], atol=1e-9)
            for place in range(len(listed)):
                assert tails[here][place] == pytest.approx(naive_families.log_sum(logs[here][place:]), abs=1e-9)
            shares = naive_pruning.shares(sets)
            assert math.fsum(shares[mask] for mask in wanted - set(listed)) <= LOST * (1 + 1e-9)


# Which sets there are


def test_how_many_candidates_and_small_sets_there_are() -> None:
    assert [families.candidate_count(nodes) for nodes in (2, 21, 22, 64)] == [1, 20, 16, 16]
    sizes = [families.largest_small_size(nodes, 5) for nodes in (2, 37, 38, 40, 64)]
    assert sizes == [5, 5, 4, 4, 3]


def test_it_says_which_sets_are_considered(said: Said) -> None:
    log_weights = np.random.default_rng(1).normal(size=(6, family_count(5, 3)))
    candidates = np.array([[other for other in range(6) if other != node][:3] for node in range(6)])
    said(weights_of_all(log_weights, 3).describe())
    said(among(log_weights, 3, candidates, 3)[0].describe())
    restricted, _ = among(log_weights, 3, candidates, 1)
    assert restricted.restricted
    assert restricted.nodes == 6
    said(restricted.describe())


def test_tables_that_do_not_fit_into_memory_are_refused_beforehand(monkeypatch: pytest.MonkeyPatch) -> None:
    weights = weights_of_all(np.zeros((8, family_count(7, 3))), 3)
    needed = 8 * (8 * 2**7 + 48 * family_count(7, 3))
    monkeypatch.setattr(memory, "available_bytes", lambda: needed)
    family_tables(weights, engine=ENGINE)
    monkeypatch.setattr(memory, "available_bytes", lambda: needed - 1)
    with pytest.raises(ResourceError, match="smaller max_parents"):
        family_tables(weights, engine=ENGINE)


def test_weights_out_of_all_range_are_refused() -> None:
    log_weights = np.zeros((2, 2))
    log_weights[0, 0] = -1e7
    with pytest.raises(InputError, match="span"):
        family_tables(weights_of_all(log_weights, 1), engine=ENGINE)


def test_a_node_without_any_parent_set_is_refused() -> None:
    log_weights = np.zeros((3, 3))
    log_weights[1] = -np.inf
    with pytest.raises(InputError):
        family_tables(weights_of_all(log_weights, 1), engine=ENGINE)
