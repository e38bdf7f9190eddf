"""Scores of listed families of a table with gaps, against the scores of all families of the completed table."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from tests.property.test_regime_scores import random_table as regime_table
from tests.unit.scores.test_allowed_scores import SCORES, random_table, spread
from tests.unit.scores.test_one_more_parent import GO_ON, Doubled

from dagpost.data.table import Table
from dagpost.engines import ThreadEngine
from dagpost.scores import BIC, BDeu, BGe, ConditionalGaussian, CustomScore, Score, local_scores


def erased(table: Table, share: float, generator: np.random.Generator) -> Table:
    """The table with gaps in rows that count once and cells that nobody set; indicators have none."""
    gaps = generator.random((len(table.names), table.rows)) < share
    gaps[:, table.weights != 1] = False
    gaps[table.exclusive] = False
    if table.interventions is not None:
        bits = table.interventions[np.newaxis] >> np.arange(len(table.names), dtype=np.uint64)[:, np.newaxis]
        gaps &= bits & np.uint64(1) == 0
    both = zip(table.columns, gaps, strict=True)
    return replace(
        table, columns=tuple(np.where(own, 0, column).astype(column.dtype) for column, own in both), gaps=gaps
    )


def random_cells(table: Table, generator: np.random.Generator) -> np.ndarray:
    """Any codes or numbers for the gaps."""
    column = np.nonzero(table.gaps)[0]
    arities = np.array(table.arities)[column]
    return np.where(arities == 0, generator.normal(size=len(column)), np.floor(generator.random(len(column)) * arities))


def assert_those_of_all(score: Score, table: Table, seed: int, most: int = 3) -> None:
    """Some sets of every node, and the same ones again once the cells are others."""
    generator = np.random.default_rng(seed)
    with_gaps = erased(table, generator.choice([0.0, 0.1, 0.5]), generator)
    columns, modelled = len(table.names), len(table.names) - len(table.regimes)
    sets = []
    for node in range(modelled):
        others = np.delete(np.arange(columns), node)
        own = [sorted(generator.permutation(others)[:size].tolist()) for size in generator.integers(0, most + 1, 12)]
        sets.append(own)
    sets += [[[]]] * len(table.regimes)
    start = np.cumsum([0, *map(len, sets)])
    padded = [[*own, *[columns] * (most - len(own))] for lists in sets for own in lists]
    members = np.array(padded, dtype=np.int16).reshape(-1, most)
    score_families = score.list_scorer(with_gaps, most, 1).on(start, members)
    for _ in range(3):
        cells = random_cells(with_gaps, generator)
        known = local_scores(with_gaps.filled(cells), score, most, engine=ThreadEngine(1))
        families = [(node, own) for node in range(modelled) for own in sets[node]]
        places = generator.permutation(len(families))[: generator.integers(1, len(families) + 1)]
        expected = np.array([known.score(*families[place]) for place in places])
        assert score_families(cells, places, GO_ON) == pytest.approx(expected, rel=1e-9, abs=1e-8)


@given(st.sampled_from(SCORES), st.integers(0, 2**16), st.booleans())
@hypothesis_settings(max_examples=40)
def test_scores_are_those_of_the_completed_table(score: Score, seed: int, extra: bool) -> None:
    assert_those_of_all(score, random_table(score, 6, 40, seed, extra), seed)


@pytest.mark.parametrize("levels", [2, 3, 20])
def test_rows_and_bits_count_the_same(levels: int) -> None:
    codes = np.random.default_rng(levels).integers(0, levels, (6, 700)).astype(np.uint8)
    assert_those_of_all(BDeu(), Table(tuple("abcdef"), tuple(codes), (tuple(range(levels)),) * 6), levels)


def test_indicators_add_a_configuration_each() -> None:
    for score in (BDeu(), BIC()):
        assert_those_of_all(score, regime_table(5, 3, 3, 60, counts=True, known=True), 1)


def test_scores_that_fill_tables_only() -> None:
    table = random_table(BDeu(), 4, 20, 1, True)
    assert_those_of_all(Doubled(), table, 2, 2)
    assert_those_of_all(CustomScore(spread), table, 3, 2)


def test_work_stops_when_it_is_told_to() -> None:
    stop, members = np.ones(1, dtype=np.int64), np.array([[1], [0], [0]], dtype=np.int16)
    for score in (BDeu(), BGe(), ConditionalGaussian(), Doubled()):
        table = random_table(score, 3, 30, 1, False)
        known = local_scores(table, score, 1, engine=ThreadEngine(1))
        found = score.list_scorer(table, 1, 1)(np.empty(0), np.arange(4), members, stop)
        assert found != pytest.approx(np.array([known.score(*own) for own in ((0, [1]), (1, [0]), (2, [0]))]))
