"""The posterior of graphs given levels alone, against chains of another kind (tests/naive/latent_chain.py).

Differences of edge probabilities are divided by the standard errors of both sides; none of the at most 12 is above 5.5:
a false-alarm rate below 1e-6, and seeds are fixed.
"""

from __future__ import annotations

import numpy as np
import pytest
from tests.naive.latent_chain import ReferenceChains

from dagpost import DagPosterior, LatentGaussian
from dagpost.data import as_table
from dagpost.methods.augmentation import Augmentation

MOST_DEVIATIONS = 5.5


def levels_of(rows: int, levels: tuple[int, ...], seed: int) -> np.ndarray:
    """A chain of columns, cut into levels."""
    generator = np.random.default_rng(seed)
    values = generator.standard_normal((rows, len(levels)))
    for column in range(1, len(levels)):
        values[:, column] += 1.2 * values[:, column - 1]
    ranks = np.argsort(np.argsort(values, axis=0), axis=0)
    return np.asarray(ranks * np.array(levels) // rows)


@pytest.mark.filterwarnings("ignore::dagpost.DagpostWarning")
@pytest.mark.parametrize(
    ("rows", "levels", "chains", "sweeps", "tables"),
    [
        pytest.param(9, (3, 2, 3), 300, 40, 600, id="3 columns"),
        pytest.param(30, (3, 2, 4), 400, 1_000, 10_000, id="3 columns, long", marks=pytest.mark.long),
        pytest.param(24, (2, 5, 2, 3), 300, 1_000, 10_000, id="4 columns, long", marks=pytest.mark.long),
    ],
)
def test_edges_agree_with_chains_that_move_one_number_or_one_edge(
    rows: int, levels: tuple[int, ...], chains: int, sweeps: int, tables: int
) -> None:
    data = levels_of(rows, levels, seed=3)
    expected, errors = ReferenceChains(data, chains, seed=5).run(sweeps, sweeps)
    model = DagPosterior(
        prior="uniform",
        score=LatentGaussian(),
        modularity="structure",
        max_parents=len(levels) - 1,
        method=Augmentation(error=1e-9),
        samples=10 * tables,
        seed=1,
        threads=1,
        progress=False,
    ).fit(as_table(data))
    found, own = model.edge_probabilities_.to_numpy(), model.edge_errors_.to_numpy()
    off = ~np.eye(len(levels), dtype=bool)
    deviations = np.abs(found - expected)[off] / np.hypot(errors, own)[off]
    assert deviations.max() < MOST_DEVIATIONS
    # What was compared is not what everyone knows: edges differ from each other by far more than they are off.
    assert expected[off].max() - expected[off].min() > 5 * np.hypot(errors, own)[off].max()
