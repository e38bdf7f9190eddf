"""Cells that have their exact distribution still have it after a round: for each score, with counts and interventions.

Tests of agreement are chi-square tests at the level 1e-7: that is their false-alarm rate, and seeds are fixed.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import chi2
from tests.naive import completion as naive

from dagpost import BIC, K2, BDe, BDeu, Score
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
    draws = 12_000
    for start in generator.choice(len(every), draws, p=shares):
        cells = every[start].copy()
        completer.redraw(cells, families, generator, RUNNING)
        found[number_of[tuple(cells.tolist())]] += 1
    # Completions that are expected less than ten times are counted together.
    rare = draws * shares < 10
    observed = np.append(found[~rare], found[rare].sum())
    expected = np.append(shares[~rare], shares[rare].sum()) * draws
    kept = expected > 0
    statistic = ((observed[kept] - expected[kept]) ** 2 / expected[kept]).sum()
    assert statistic < chi2.isf(FALSE_ALARM, kept.sum() - 1)
