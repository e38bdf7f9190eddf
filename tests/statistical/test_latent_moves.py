"""Latent tables that have their exact distribution still have it after a round, and after each move alone.

Exact tables are drawn from the prior until they agree with the ranks. Tests of agreement are Kolmogorov-Smirnov tests
of two samples at the level 1e-8 for each of the 23 numbers looked at: a test has a false-alarm rate below 1e-6, and
seeds are fixed.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import ks_2samp
from tests.naive import latent as naive

from dagpost import LatentGaussian
from dagpost.data.table import Table
from dagpost.scores.latent_completion import LatentCompleter
from dagpost.scores.latent_moves import MOVES

FALSE_ALARM = 1e-8
RUNNING = np.zeros(1, dtype=np.int64)
DRAWS = 2_500
SCORE = LatentGaussian(0.7, 6.0, prior_mean=(0.3, -0.2, 0.1), prior_scale=(1.0, 0.8, 1.3))
#: 0 -> 1 <- 2 <- 0: the column of three levels has a parent, a child, and a parent of this beside it.
FAMILIES = np.array([[3, 3], [0, 2], [0, 3]], dtype=np.int16)


def small_table() -> Table:
    """Three levels, two, and three; one cell is missing."""
    ranks = ([0, 1, 1, 2, 0], [0, 1, 0, 1, 1], [2, 0, -1, 1, 2])
    gaps = np.ones((3, 5), dtype=bool)
    return Table(
        ("a", "b", "c"),
        tuple(np.full(5, np.nan) for _ in ranks),
        (None,) * 3,
        gaps=gaps,
        ranks=tuple(np.array(own, dtype=np.int32) for own in ranks),
    )


@pytest.fixture(scope="module")
def exact() -> np.ndarray:
    return naive.exact_tables(2 * DRAWS, small_table(), FAMILIES, SCORE, np.random.default_rng(3))


def looked_at(tables: np.ndarray) -> np.ndarray:
    """Of each table (rows, columns): all numbers, gaps between levels, deviations, and correlations."""
    centred = tables - tables.mean(axis=1, keepdims=True)
    products = np.einsum("trc,trd->tcd", centred, centred)
    deviations = np.sqrt(np.einsum("tcc->tc", products))
    first, second = np.triu_indices(3, 1)
    correlations = (products / deviations[:, :, np.newaxis] / deviations[:, np.newaxis])[:, first, second]
    column = tables[:, :, 0]
    gap = column[:, [1, 2]].min(axis=1) - column[:, [0, 4]].max(axis=1)
    relative = gap / (column[:, 3] - column[:, [0, 4]].min(axis=1))
    return np.column_stack([tables.reshape(len(tables), -1), deviations, correlations, gap, relative])


@pytest.mark.parametrize(
    "moves",
    [
        pytest.param((), id="cells alone", marks=pytest.mark.long),
        *(pytest.param((move,), id=move, marks=pytest.mark.long) for move in MOVES),
        pytest.param(MOVES, id="all"),
    ],
)
def test_a_round_leaves_the_exact_distribution_of_latent_tables(moves: tuple[str, ...], exact: np.ndarray) -> None:
    table = small_table()
    completer = LatentCompleter(SCORE.coefficient_prior(), table)
    completer.moves = np.array([move in moves for move in MOVES])
    generator = np.random.default_rng(11)
    after = np.empty((DRAWS, 5, 3))
    for place, start in enumerate(exact[:DRAWS]):
        cells = start.T.ravel().copy()
        completer.redraw(cells, FAMILIES, generator, RUNNING)
        after[place] = cells.reshape(3, 5).T
        assert place >= 100 or naive.agrees(table, after[place])
    for found, expected in zip(looked_at(after).T, looked_at(exact[DRAWS:]).T, strict=True):
        assert ks_2samp(found, expected).pvalue > FALSE_ALARM
