"""A small table of numbers, levels, censored and missing cells, and a latent Gaussian model of it: made once."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd

from dagpost import DagPosterior
from dagpost.data import as_table
from dagpost.data.table import Table
from dagpost.methods.augmentation import Augmentation

#: Below it, cells of "dose" are censored.
LIMIT = 0.4


@cache
def latent_frame() -> pd.DataFrame:
    """Smoking raises dose and pressure, pressure raises pain; two cells each of all but the dose are empty."""
    generator = np.random.default_rng(11)
    smoking = generator.random(90) < 0.4
    dose = np.exp(0.8 * smoking + generator.normal(size=90) * 0.9)
    pressure = 120 + 8 * smoking + 3 * np.log(dose) + 6 * generator.normal(size=90)
    pain = np.digitize(pressure + 4 * generator.normal(size=90), [118, 128])
    frame = pd.DataFrame(
        {
            "smoking": pd.Series(np.where(smoking, "yes", "no"), dtype=object),
            "dose": np.where(dose < LIMIT, np.nan, dose),
            "pressure": pressure,
            "pain": pd.Series(pain + 1, dtype="Int64"),
        }
    )
    for column, rows in (("smoking", (4, 9)), ("pressure", (9, 30)), ("pain", (2, 50))):
        frame.loc[list(rows), column] = None
    return frame


@cache
def latent_data(counted: bool = False) -> Table:
    """The same as a table: the empty cells of "dose" lie below the limit; `counted`: every third row counts twice."""
    counts = np.where(np.arange(90) % 3, 1, 2) if counted else None
    table = as_table(latent_frame(), counts=counts)
    place = table.names.index("dose")
    assert table.gaps is not None
    bounds = np.tile([-np.inf, np.inf], (table.rows, 1))
    bounds[table.gaps[place], 1] = LIMIT
    return replace(table, bounds=tuple(bounds if own == place else None for own in range(len(table.names))))


@cache
def latent_model(counted: bool = False) -> DagPosterior:
    """A short fit."""
    method = Augmentation(burn_in=20, error=1e-4)
    return DagPosterior(
        "latent-gaussian",
        prior="uniform",
        method=method,
        samples=400 if counted else 1_200,
        seed=5,
        missing="augment",
        progress=False,
    ).fit(latent_data(counted))
