"""Edges of tables of levels and numbers with gaps are near those of the same tables before cells were erased.

Cells are drawn by regressions of each column on others, which have no joint distribution that chains could be compared
with. Seeds are fixed: there are no false alarms, and the tolerance is 1.7 times what was found.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from dagpost import DagPosterior

#: The mean difference of the probability of an edge, over all edges and tables.
TOLERANCE = 0.08


def patients(seed: int, rows: int = 200) -> pd.DataFrame:
    """Two columns of levels and three of numbers, drawn from a conditional Gaussian network."""
    generator = np.random.default_rng(100 + seed)
    sex = generator.integers(0, 2, rows)
    smokes = (generator.random((rows, 1)) > np.array([[0.6, 0.9], [0.4, 0.7]])[sex]).sum(axis=1)
    weight = 70.0 + 8.0 * sex + 9.0 * generator.standard_normal(rows)
    pressure = 100.0 + 0.3 * weight + 3.5 * smokes + 8.0 * generator.standard_normal(rows)
    pulse = 60.0 + 0.12 * pressure + 6.0 * generator.standard_normal(rows)
    return pd.DataFrame(
        {
            "sex": np.array(["f", "m"])[sex],
            "smokes": np.array(["never", "former", "now"])[smokes],
            "weight": weight,
            "pressure": pressure,
            "pulse": pulse,
        }
    )


def edges_of(table: pd.DataFrame) -> np.ndarray:
    model = DagPosterior("conditional-gaussian", seed=1, missing="augment", threads=1, progress=False)
    return model.fit(table).edge_probabilities_.to_numpy()


def test_edges_are_near_those_of_complete_tables_and_nearer_than_those_of_complete_rows() -> None:
    completed: list[float] = []
    dropped: list[float] = []
    for seed in range(2):
        complete = patients(seed)
        erased = complete.mask(np.random.default_rng(seed).random(complete.shape) < 0.15)
        truth = edges_of(complete)
        for found, table in ((completed, erased), (dropped, erased.dropna())):
            off = np.abs(edges_of(table) - truth)
            found.append(off.sum() / (off.size - len(off)))
    assert np.mean(completed) < TOLERANCE
    assert np.mean(completed) < np.mean(dropped)
