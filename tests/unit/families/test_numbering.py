"""The numbering of parent sets: what the slices of the exact tables rest on."""

from __future__ import annotations

from math import comb

import numpy as np
import pytest
from tests.naive import posterior as naive

from dagpost.families.numbering import (
    binomials,
    family_count,
    number_of_set,
    parent_sets,
    size_offsets,
    squeeze,
    unsqueeze,
)

EVERY_CASE = [(universe, limit) for universe in range(13) for limit in (0, 1, 2, 3, 5, 12, 15)]


@pytest.mark.parametrize(("universe", "max_parents"), EVERY_CASE)
def test_parent_sets_come_by_size_and_then_colexicographically(universe: int, max_parents: int) -> None:
    expected = [naive.mask_of(members) for members in naive.subsets_in_order(universe, max_parents)]
    assert parent_sets(universe, max_parents).tolist() == expected
    assert family_count(universe, max_parents) == len(expected)


def test_the_masks_go_up_to_sixty_three_elements() -> None:
    sets = parent_sets(63, 3)
    assert sets.tolist() == [naive.mask_of(members) for members in naive.subsets_in_order(63, 3)]
    assert int(sets[-1]) == 0b111 << 60


def test_a_universe_of_sixty_three_elements_is_numbered_without_overflow() -> None:
    binomial, offset = binomials(4), size_offsets(4)
    sets = parent_sets(63, 4)
    assert len(sets) == family_count(63, 4) == offset[63, 5]
    for number in [*range(0, len(sets), 9973), len(sets) - 1]:
        assert number_of_set(sets[number], 63, binomial, offset) == number


@pytest.mark.parametrize(("universe", "max_parents"), EVERY_CASE)
def test_the_number_of_a_set_finds_it_among_the_parent_sets(universe: int, max_parents: int) -> None:
    binomial, offset = binomials(max_parents), size_offsets(max_parents)
    sets = parent_sets(universe, max_parents)
    numbers = [number_of_set(mask, universe, binomial, offset) for mask in sets]
    assert numbers == list(range(len(sets)))


@pytest.mark.parametrize(("universe", "max_parents"), [case for case in EVERY_CASE if case[0] > 0])
def test_sets_of_one_size_split_into_slices_without_and_with_the_top_element(universe: int, max_parents: int) -> None:
    sets, smaller = parent_sets(universe, max_parents), parent_sets(universe - 1, max_parents)
    offset = size_offsets(max_parents)
    top = np.uint64(1) << np.uint64(universe - 1)
    for size in range(min(universe, max_parents) + 1):
        same_size = sets[offset[universe, size] : offset[universe, size + 1]]
        without = smaller[offset[universe - 1, size] : offset[universe - 1, size + 1]]
        assert len(without) == comb(universe - 1, size)
        assert (same_size[: len(without)] == without).all()
        if size > 0:
            left_behind = smaller[offset[universe - 1, size - 1] : offset[universe - 1, size]]
            assert (same_size[len(without) :] == left_behind | top).all()


def test_binomials_are_exact_up_to_sixty_four_elements() -> None:
    table = binomials(6)
    assert table.shape == (65, 9)
    for elements in range(65):
        assert table[elements].tolist() == [comb(elements, size) for size in range(9)]


def test_squeezing_leaves_a_node_out_and_unsqueezing_puts_it_back() -> None:
    nodes = 6
    for node in range(nodes):
        others = [other for other in range(nodes) if other != node]
        for members in naive.all_subsets(tuple(range(nodes - 1))):
            over_others = np.uint64(naive.mask_of(members))
            over_all = np.uint64(naive.mask_of([others[element] for element in members]))
            assert unsqueeze(over_others, node) == over_all
            assert squeeze(over_all, node) == over_others


def test_squeezing_works_at_both_ends_of_sixty_four_nodes() -> None:
    all_others = np.uint64(2**63 - 1)
    for node in (0, 1, 31, 62, 63):
        over_all = unsqueeze(all_others, node)
        assert int(over_all) == (2**64 - 1) ^ (1 << node)
        assert squeeze(over_all, node) == all_others


def test_the_shared_tables_cannot_be_written_to() -> None:
    for table in (binomials(3), size_offsets(3), parent_sets(5, 3)):
        with pytest.raises(ValueError, match="read-only"):
            table[0] = 0
