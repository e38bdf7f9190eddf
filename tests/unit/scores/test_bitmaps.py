"""Counting by bits gives what counting row by row gives, to the last bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from tests.tools.examples import examples

from dagpost._tools.bits import ones_in
from dagpost.data.table import Table
from dagpost.engines import ThreadEngine
from dagpost.scores import BIC, BDe, BDeu, counting, local_scores
from dagpost.scores.bitmaps import Bitmaps, bitmaps_of
from dagpost.scores.rows import Rows, distinct_rows


def without_bits(rows: Rows) -> Bitmaps:
    nobody = np.zeros(0, dtype=np.uint64)
    return Bitmaps(nobody.reshape(0, 0), np.full(len(rows.order), -1), nobody, 0, 0)


@given(
    st.sampled_from([BDeu(2.0), BDe(0.5), BIC()]),
    st.lists(st.integers(1, 4), min_size=2, max_size=9),
    st.integers(1, 400),
    st.integers(0, 4),
    st.integers(0, 2**16),
    st.sampled_from([1, 2, 30]),
)
# Enough columns that no rows merge, and sets of more than 64 configurations.
@example(BDeu(2.0), [2] * 18, 256, 7, 1, 1)
@hypothesis_settings(max_examples=examples(60))
def test_scores_are_the_same_with_and_without_bits(
    score: Any, arities: list[int], count: int, max_parents: int, seed: int, repeats: int
) -> None:
    generator = np.random.default_rng(seed)
    columns = tuple(generator.integers(0, arity, count).astype(np.uint8) for arity in arities)
    levels = tuple(tuple(range(arity)) for arity in arities)
    counts = generator.integers(1, repeats + 1, count)
    table = Table(tuple(f"v{node}" for node in range(len(arities))), columns, levels, counts)
    by_bits = local_scores(table, score, max_parents, engine=ThreadEngine(1)).values
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(counting, "bitmaps_of", without_bits)
        by_rows = local_scores(table, score, max_parents, engine=ThreadEngine(1)).values
    np.testing.assert_array_equal(by_bits, by_rows)


def test_each_level_but_the_last_has_a_row_of_bits() -> None:
    codes = np.array([[0, 1, 2, 2], [1, 0, 1, 1]], dtype=np.uint8)
    rows = distinct_rows(codes, np.array([1, 1, 2, 1]), (3, 2), (0, 1))
    bits = bitmaps_of(rows)
    counts = [
        [int(rows.weights[rows.codes[place] == code].sum()) for code in range(arity - 1)]
        for place, arity in enumerate(rows.arities.tolist())
    ]
    found = [
        [sum(int(word).bit_count() for word in bits.planes[bits.first[place] + code]) for code in range(arity - 1)]
        for place, arity in enumerate(rows.arities.tolist())
    ]
    assert found == counts
    assert bits.most == 2
    assert sum(int(word).bit_count() for word in bits.everyone) == bits.observations == 5


def test_a_table_that_repeats_a_few_rows_has_no_bits() -> None:
    rows = distinct_rows(np.array([[0, 1]], dtype=np.uint8), np.array([100, 100]), (2,), (0,))
    assert bitmaps_of(rows).everyone.size == 0


def test_the_ones_of_a_word_are_counted() -> None:
    uncompiled: Any = ones_in
    for word in (0, 1, 2**63, 2**64 - 1, 0x123456789ABCDEF0):
        with np.errstate(over="ignore"):
            assert int(uncompiled.py_func(np.uint64(word))) == word.bit_count()
