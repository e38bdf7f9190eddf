"""Scores of completed tables, from what the cells do not change, against scoring each table anew."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.naive import scores as naive
from tests.tools.examples import examples

from dagpost.data.table import Table
from dagpost.engines import ThreadEngine
from dagpost.scores import BIC, K2, BDe, BDeu, BGe, Score, base, local_scores

ENGINE = ThreadEngine(1)
SCORES = [BDeu(1.0), BDeu(30.0), K2(), BDe(0.5), BIC()]


def gaps_in(draw: st.DrawFn, generator: np.random.Generator, columns: int, rows: int) -> np.ndarray:
    """Gaps in all columns, in some, or hardly any."""
    gaps = generator.random((columns, rows)) < draw(st.sampled_from([0.02, 0.3, 0.9]))
    gaps[generator.random(columns) < draw(st.sampled_from([0.0, 0.5]))] = False
    return gaps


@st.composite
def tables(draw: st.DrawFn) -> Table:
    """Levels with gaps: constant columns, counts that are large in complete rows, interventions, indicators, limits."""
    arities = draw(st.lists(st.sampled_from([1, 2, 2, 2, 3, 4, 9]), min_size=1, max_size=6))
    rows = draw(st.integers(1, 150))
    generator = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    gaps = gaps_in(draw, generator, len(arities), rows)
    columns = [generator.integers(0, arity, rows).astype(np.uint8) for arity in arities]
    extra: dict[str, Any] = {}
    if draw(st.booleans()):
        complete = ~gaps.any(axis=0)
        counts = np.where(complete, generator.integers(0, 5_000, rows), 1)
        counts[0] = max(counts[0], 1)
        extra["counts"] = counts.astype(np.int64)
    if draw(st.booleans()):
        extra["interventions"] = generator.integers(0, 1 << len(arities), rows, dtype=np.uint64)
    if draw(st.booleans()) and len(arities) > 2:
        # The last two columns say which regime a row belongs to: at most one of them is 1.
        arities[-2:], gaps[-2:] = [2, 2], False
        regime = generator.integers(0, 3, rows)
        columns[-2:] = [(regime == 1).astype(np.uint8), (regime == 2).astype(np.uint8)]
        extra["regimes"] = (f"v{len(arities) - 2}", f"v{len(arities) - 1}")
        extra["limits"] = draw(st.sampled_from([None, (2, 1), (1, 2)]))
    names = tuple(f"v{node}" for node in range(len(arities)))
    columns = [np.where(gaps[node], 0, column).astype(np.uint8) for node, column in enumerate(columns)]
    return Table(names, tuple(columns), tuple(tuple(range(arity)) for arity in arities), gaps=gaps, **extra)


def random_cells(table: Table, generator: np.random.Generator) -> np.ndarray:
    arities = np.array(table.arities)[np.nonzero(table.gaps)[0]]
    return generator.integers(0, arities).astype(np.float64)


def of_interest(table: Table, max_parents: int) -> np.ndarray:
    """Which families have no more columns of either kind than are of interest: others need no score."""
    nodes, rows = len(table.names), []
    for child in range(nodes):
        others = [node for node in range(nodes) if node != child]
        sizes = range(min(max_parents, nodes - 1) + 1)
        # Parent sets of a size are numbered by their largest members first.
        sets = [sorted(combinations(others, size), key=lambda members: members[::-1]) for size in sizes]
        kinds = [[int(table.exclusive[node]) for node in (*parents, child)] for size in sets for parents in size]
        most = (nodes, nodes) if table.limits is None else (table.limits[0] + 1, table.limits[1])
        rows.append([len(kind) - sum(kind) <= most[0] and sum(kind) <= most[1] for kind in kinds])
    return np.array(rows)


@pytest.mark.parametrize("score", SCORES, ids=repr)
@pytest.mark.parametrize("many", [0, 10_000], ids=["counted together", "as a list"])
@settings(max_examples=20)
@given(table=tables(), max_parents=st.integers(0, 5), seed=st.integers(0, 2**32 - 1))
def test_scores_of_completed_tables_match_scoring_them_anew(
    score: Score, many: int, table: Table, max_parents: int, seed: int
) -> None:
    generator = np.random.default_rng(seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(base, "_MANY", many)
        rescore = score.rescorer(table, max_parents, 1)
    wanted = of_interest(table, max_parents)
    for _ in range(3):
        cells = random_cells(table, generator)
        expected = local_scores(table.filled(cells), score, max_parents, engine=ENGINE).values
        found = rescore(cells)
        np.testing.assert_allclose(found[wanted], expected[wanted], rtol=1e-12, atol=1e-12 * table.observations)


@settings(max_examples=20)
@given(table=tables().filter(lambda table: not table.regimes), seed=st.integers(0, 2**32 - 1))
def test_scores_of_completed_tables_match_their_definition(table: Table, seed: int) -> None:
    cells = random_cells(table, np.random.default_rng(seed))
    values, completed = BDeu(3.0).rescorer(table, 1, 1)(cells), table.filled(cells)
    for child in range(len(table.names)):
        others = [node for node in range(len(table.names)) if node != child]
        for number, parents in enumerate([[], *([other] for other in others)]):
            expected = naive.bdeu(completed, child, parents, 3.0)
            assert values[child, number] == pytest.approx(expected, rel=1e-9, abs=1e-9 * table.observations)


@st.composite
def tables_of_numbers(draw: st.DrawFn) -> Table:
    """Correlated columns far from zero, one of them perhaps of levels that are numbers."""
    nodes, rows = draw(st.integers(1, 6)), draw(st.integers(1, 40))
    generator = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    gaps = gaps_in(draw, generator, nodes, rows)
    data = generator.normal(size=(rows, nodes)) @ generator.normal(size=(nodes, nodes)) + 100.0
    columns: list[np.ndarray] = [np.where(gaps[node], np.nan, data[:, node]) for node in range(nodes)]
    levels: list[Any] = [None] * nodes
    if draw(st.booleans()):
        levels[0], columns[0] = (98.0, 99.5, 101.0), generator.integers(0, 3, rows).astype(np.uint8)
    extra: dict[str, Any] = {}
    if draw(st.booleans()):
        extra["counts"] = generator.integers(1, 4, rows).astype(np.int64)
    if draw(st.booleans()):
        extra["interventions"] = generator.integers(0, 1 << nodes, rows, dtype=np.uint64)
    names = tuple(f"v{node}" for node in range(nodes))
    return Table(names, tuple(columns), tuple(levels), gaps=gaps, **extra)


@settings(max_examples=examples(60))
@given(
    table=tables_of_numbers(),
    max_parents=st.integers(0, 5),
    mean=st.sampled_from([None, 0.0, 100.0]),
    seed=st.integers(0, 2**32 - 1),
)
def test_scores_of_completed_numbers_match_scoring_them_anew(
    table: Table, max_parents: int, mean: float | None, seed: int
) -> None:
    generator, score = np.random.default_rng(seed), BGe(prior_mean=mean, prior_scale=2.0)
    rescore = score.rescorer(table, max_parents, 1)
    coded = np.array([levels is not None for levels in table.levels])[np.nonzero(table.gaps)[0]]
    for _ in range(2):
        numbers = generator.normal(100.0, 2.0, table.gap_count)
        cells = np.where(coded, generator.integers(0, 3, table.gap_count), numbers)
        expected = local_scores(table.filled(cells), score, max_parents, engine=ENGINE).values
        np.testing.assert_allclose(rescore(cells), expected, rtol=1e-9, atol=1e-10 * table.observations)


def test_threads_that_score_at_the_same_time_do_not_disturb_each_other() -> None:
    generator = np.random.default_rng(5)
    codes = generator.integers(0, 3, (8, 400)).astype(np.uint8)
    gaps = generator.random(codes.shape) < 0.2
    table = Table(tuple("abcdefgh"), tuple(np.where(gaps, 0, codes).astype(np.uint8)), ((0, 1, 2),) * 8, gaps=gaps)
    rescore = BDeu(1.0).rescorer(table, 4, 4)
    completions = [random_cells(table, generator) for _ in range(12)]
    one_by_one = [rescore(cells) for cells in completions]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(rescore, completions))
    assert all(np.array_equal(*pair) for pair in zip(one_by_one, together, strict=True))
    assert not np.array_equal(one_by_one[0], one_by_one[1])


def test_a_prior_that_the_cells_change_is_worked_out_anew() -> None:
    generator = np.random.default_rng(1)
    gaps = generator.random((3, 30)) < 0.2
    table = Table(tuple("abc"), tuple(np.where(gaps, np.nan, generator.normal(size=(3, 30)))), (None,) * 3, gaps=gaps)
    cells = generator.normal(size=table.gap_count)
    values = local_scores(replace(table.filled(cells)), BGe(), 2, engine=ENGINE).values
    np.testing.assert_allclose(BGe().rescorer(table, 2, 1)(cells), values, rtol=1e-12)
