"""Cells that have their exact distribution still have it after a round: for each score, with counts and interventions.

Tests of agreement are chi-square tests at the level 1e-7: that is their false-alarm rate, and seeds are fixed.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import chi2
from scipy.stats import t as student
from tests.naive import completion as naive

from dagpost import BIC, K2, BDe, BDeu, BGe, Score
from dagpost.data import as_table
from dagpost.data.table import Table

FALSE_ALARM = 1e-7
RUNNING = np.zeros(1, dtype=np.int64)


def small_table() -> Table:
    """Two levels, three and two; six gaps in four rows, counts, and a column that was set in some rows."""
    generator = np.random.default_rng(5)
    first = generator.integers(0, 2, 12)
    codes = np.column_stack([first, (first + generator.integers(0, 2, 12)) % 3, first ^ (generator.random(12) < 0.2)])
    codes[:3] = [[0, 0, 0], [1, 1, 1], [0, 2, 1]]
    gaps = np.zeros((3, 12), dtype=bool)
    gaps[[0, 1, 2, 0, 1, 2], [4, 4, 5, 6, 7, 7]] = True
    counts = np.where(gaps.any(axis=0), 1, generator.integers(1, 4, 12))
    masks = np.zeros(12, dtype=np.uint64)
    masks[[6, 9, 10]] = 4
    return naive.with_gaps(replace(as_table(codes), counts=counts, interventions=masks), gaps)


@pytest.mark.parametrize("score", [BDeu(2.0), BDe(0.5), K2(), BIC()], ids=lambda score: score.name)
def test_a_round_leaves_the_exact_distribution_of_the_cells(score: Score) -> None:
    table = small_table()
    families = np.array([[3, 3], [0, 3], [0, 1]], dtype=np.int16)
    every, shares = naive.exact(table, families, naive.twin_of(score))
    completer = score.completer(table, 2)
    assert completer is not None
    generator = np.random.default_rng(11)
    number_of = {tuple(cells): number for number, cells in enumerate(every.tolist())}
    found = np.zeros(len(every))
    draws = 6_000
    for start in generator.choice(len(every), draws, p=shares):
        cells = every[start].copy()
        completer.redraw(cells, families, generator, RUNNING)
        found[number_of[tuple(cells.tolist())]] += 1
    assert_agrees(found, shares * draws)


def assert_agrees(found: np.ndarray, expected: np.ndarray) -> None:
    """A chi-square test; cases that are expected less than ten times are counted together."""
    rare = expected < 10
    observed = np.append(found[~rare], found[rare].sum())
    expected = np.append(expected[~rare], expected[rare].sum())
    kept = expected > 0
    statistic = ((observed[kept] - expected[kept]) ** 2 / expected[kept]).sum()
    assert statistic < chi2.isf(FALSE_ALARM, kept.sum() - 1)


@pytest.mark.parametrize("gaps", [((2, 4), (0, 4)), ((1, 3), (2, 5))], ids=["in one row", "in two rows"])
def test_a_round_leaves_the_exact_distribution_of_two_numbers(gaps: tuple[tuple[int, int], ...]) -> None:
    generator = np.random.default_rng(2)
    data = generator.standard_normal((7, 3))
    data[:, 2] += data[:, 0] + 0.5 * data[:, 1]
    where = np.zeros((3, 7), dtype=bool)
    for column, row in gaps:
        where[column, row] = True
    score = BGe(0.5, 5.5, prior_mean=(0.1, -0.2, 0.3), prior_scale=(0.8, 1.0, 1.5))
    table = naive.with_gaps(as_table(data), where)
    families = np.array([[3, 3], [0, 3], [0, 1]], dtype=np.int16)
    # A grid by the quantiles of Student's distribution, whose tails are heavier than those of the cells.
    quantiles = student.ppf((np.arange(150) + 0.5) / 150, 3)
    grid = np.array([[first, second] for first in 2 * quantiles for second in 2 * quantiles])
    tables = np.repeat(data[np.newaxis], len(grid), axis=0)
    columns, rows = np.nonzero(where)
    tables[:, rows, columns] = grid
    logs = naive.gaussian_log_scores(tables, families, score) - student.logpdf(grid / 2, 3).sum(axis=1)
    shares = naive.shares(logs.tolist())
    completer = score.completer(table, 2)
    draws = 6_000
    found = np.empty((draws, 2))
    for place, start in enumerate(generator.choice(len(grid), draws, p=shares)):
        found[place] = grid[start]
        completer.redraw(found[place], families, generator, RUNNING)
    bins = [_borders(grid[:, axis], shares, 7) for axis in range(2)]
    cases, expected_cases = (
        7 * np.searchsorted(bins[0], points[:, 0]) + np.searchsorted(bins[1], points[:, 1]) for points in (found, grid)
    )
    assert_agrees(np.bincount(cases, minlength=49), np.bincount(expected_cases, shares, 49) * draws)


def _borders(values: np.ndarray, shares: np.ndarray, count: int) -> np.ndarray:
    """Halfway between points of a grid, such that each of `count` bins has about the same share."""
    points, which = np.unique(values, return_inverse=True)
    sums = np.cumsum(np.bincount(which, shares))
    at = np.searchsorted(sums, np.arange(1, count) / count)
    return np.asarray((points[at] + points[at + 1]) / 2)
