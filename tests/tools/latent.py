"""A small clinical table with levels in an order, numbers, censored and missing cells, and models of it."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from tests.tools.gapped import fitted_to

from dagpost import DagPosterior, Recipe
from dagpost.data import as_table
from dagpost.data.table import Table

#: Which columns have latent numbers in `clinic`: the levels, and the number with a censored and a missing cell.
LATENT = ("smoking", "sex", "marker")


@cache
def frame_of(rows: int = 40, seed: int = 1) -> pd.DataFrame:
    """Smoking in three levels, sex in two, age, pressure, and a marker that is not always measured."""
    generator = np.random.default_rng(seed)
    age = generator.normal(size=rows)
    smoking = np.digitize(generator.normal(size=rows) + 0.5 * age, (-0.5, 0.5))
    pressure = 0.8 * age + 0.6 * smoking + generator.normal(size=rows)
    frame = pd.DataFrame(
        {
            "smoking": smoking,
            "sex": np.array(["f", "m"])[generator.integers(0, 2, rows)],
            "age": 50.0 + 10.0 * age,
            "pressure": 120.0 + 10.0 * pressure,
            "marker": np.exp(0.5 * pressure + generator.normal(size=rows)),
        }
    )
    frame.loc[[3, 7], "marker"] = np.nan
    frame.loc[5, "sex"] = None
    return frame


@cache
def clinic(rows: int = 40, seed: int = 1) -> Table:
    """The table with its gaps; one of those of the marker lies below 0.5."""
    table = as_table(frame_of(rows, seed), recipe=Recipe(missing="augment"))
    place = table.names.index("marker")
    bounds = np.tile([-np.inf, np.inf], (table.rows, 1))
    bounds[7] = -np.inf, 0.5
    return replace(table, bounds=tuple(bounds if own == place else None for own in range(len(table.names))))


@cache
def latent_model(**settings: Any) -> DagPosterior:
    """A model of it, from chains that are too short to be trusted."""
    return fitted_to(clinic(), **{"score": "latent-gaussian", "max_parents": 2, **settings})


@cache
def without_gaps() -> DagPosterior:
    """A model of rows in which nothing is missing: its chains draw latent numbers of levels only."""
    table = as_table(frame_of()[["smoking", "sex", "age", "pressure"]].dropna())
    return fitted_to(table, score="latent-gaussian", max_parents=2, samples=120)
