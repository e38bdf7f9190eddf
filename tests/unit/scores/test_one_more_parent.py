"""Scores of given families with one parent added, against the scores of all families."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from tests.property.test_regime_scores import random_table as regime_table
from tests.unit.scores.test_allowed_scores import SCORES, random_table, spread

from dagpost.data.table import Table
from dagpost.engines import ThreadEngine
from dagpost.scores import BIC, BDe, BDeu, CustomScore, Score, local_scores

GO_ON = np.zeros(1, dtype=np.int64)


def assert_those_of_all(score: Score, table: Table, most: int = 3) -> None:
    """For every node: sets of up to `most` parents, whatever is not in any of them added to each."""
    columns, modelled = len(table.names), len(table.names) - len(table.regimes)
    known = local_scores(table, score, most + 1, engine=ThreadEngine(1))
    extend = score.extender(table, most + 1, 1)
    for node in range(modelled):
        others = [column for column in range(columns) if column != node]
        sets = [[], others[:1], others[1:2], others[:2], others[:most]]
        padded = np.array([[*own, *[columns] * (most - len(own))] for own in sets], dtype=np.int16)
        added = np.array(others[most:], dtype=np.int64)
        found = extend(node, padded, added, GO_ON)
        expected = [[known.score(node, [*own, other]) for other in added.tolist()] for own in sets]
        assert found == pytest.approx(np.array(expected), rel=1e-9, abs=1e-8)


@given(st.sampled_from(SCORES), st.integers(0, 2**16), st.booleans())
@hypothesis_settings(max_examples=40)
def test_scores_are_those_of_all_families(score: Score, seed: int, extra: bool) -> None:
    assert_those_of_all(score, random_table(score, 6, 40, seed, extra))


@pytest.mark.parametrize("levels", [2, 3, 40])
def test_rows_and_bits_count_the_same(levels: int) -> None:
    generator = np.random.default_rng(levels)
    codes = generator.integers(0, levels, (6, 700)).astype(np.uint8)
    codes[3] = (codes[0] + codes[1]) % levels
    names = tuple("abcdef")
    assert_those_of_all(BDeu(), Table(names, tuple(codes), (tuple(range(levels)),) * 6))


@pytest.mark.parametrize("extra", [False, True])
def test_a_function_is_asked_for_each_family(extra: bool) -> None:
    assert_those_of_all(CustomScore(spread), random_table(BDeu(), 4, 12, 3, extra), 2)


@pytest.mark.parametrize("score", [BDeu(), BDe(0.5), BIC()], ids=repr)
def test_indicators_add_a_configuration_each(score: Score) -> None:
    assert_those_of_all(score, regime_table(5, 3, 3, 60, counts=True, known=True), 2)


@dataclass(frozen=True)
class Doubled(BDeu):
    """A score of others, which says how all families are scored and nothing else."""

    def fill(self, table: Table, max_parents: int, values: np.ndarray, *more: Any) -> None:
        super().fill(table, max_parents, values, *more)
        values *= 2.0


def test_a_score_that_fills_tables_only_is_asked_for_small_ones() -> None:
    assert_those_of_all(Doubled(), random_table(BDeu(), 5, 30, 1, True), 2)


def test_work_stops_when_it_is_told_to() -> None:
    table = random_table(BDeu(), 5, 30, 1, False)
    stop = np.ones(1, dtype=np.int64)
    for score in (BDeu(), Doubled(), CustomScore(spread)):
        found = score.extender(table, 3, 1)(0, np.array([[1]], dtype=np.int16), np.array([2, 3]), stop)
        assert (found == 0.0).all()
