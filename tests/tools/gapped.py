"""Small models of tables with gaps, and what must be the same of two of them."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd

from dagpost import DagPosterior, DagSample
from dagpost.errors import DagpostWarning
from dagpost.methods.augmentation import Augmentation

#: Short chains that never stop early.
SHORT = Augmentation(chains=2, burn_in=20, error=1e-9)


def with_gaps(frame: pd.DataFrame, share: float = 0.1, seed: int = 1) -> pd.DataFrame:
    """The table without some of its cells."""
    erased = np.random.default_rng(seed).random(frame.shape) < share
    return frame.astype(object).mask(erased)


def answers_to(rows: int = 40, seed: int = 1) -> pd.DataFrame:
    """Text, whole numbers and truth values, each a noisy copy of the one before, with gaps and names of rows."""
    generator = np.random.default_rng(seed)
    codes = generator.integers(0, 2, (rows, 3))
    for column in (1, 2):
        codes[:, column] = np.where(generator.random(rows) < 0.8, codes[:, column - 1], codes[:, column])
    words = np.array(["no", "yes"], dtype=object)[codes[:, 0]]
    frame = pd.DataFrame({"rain": words, "wet": codes[:, 1] + 1, "open": codes[:, 2].astype(bool)})
    return with_gaps(frame, seed=seed).set_index(pd.Index([f"day {number}" for number in range(rows)]))


def numbers_with_gaps(rows: int = 40, seed: int = 1) -> pd.DataFrame:
    """Three columns of numbers."""
    values = np.random.default_rng(seed).normal(size=(rows, 3)).cumsum(axis=1)
    return with_gaps(pd.DataFrame(values, columns=["x", "y", "z"]), seed=seed).astype(float)


def fitted_to(table: Any, samples: int = 250, **settings: Any) -> DagPosterior:
    """A model of it, from chains that are too short to be trusted, as they would say."""
    given = {"counts": settings.pop("counts", None), "interventions": settings.pop("interventions", None)}
    own = {"score": "bdeu", "method": SHORT, "seed": 1, "threads": 1, "progress": False, **settings}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DagpostWarning)
        return DagPosterior(samples=samples, **{"prior": "uniform", **own}).fit(table, **given)


def same_chains(one: DagSample, other: DagSample) -> bool:
    """Whether two samples have the same graphs, completed cells, exact probabilities and sums, to the last bit."""
    mine, its = one.chains, other.chains
    assert mine is not None
    assert its is not None
    pairs = [(mine.series[name], its.series[name]) for name in mine.series]
    pairs += [(mine.sums[name], its.sums[name]) for name in mine.sums]
    lengths = mine.series_lengths == its.series_lengths and mine.lengths == its.lengths
    return one == other and lengths and all(a.dtype == b.dtype and np.array_equal(a, b) for a, b in pairs)
