"""What all pictures are drawn of, and that they leave the settings of matplotlib alone."""

from __future__ import annotations

from typing import Any

import matplotlib as mpl
import pytest

from dagpost import DagPosterior, DagSample, datasets

mpl.use("Agg")
import matplotlib.pyplot as plt


@pytest.fixture(autouse=True)
def _close_figures() -> Any:
    settings = dict(mpl.rcParams)
    yield
    plt.close("all")
    assert dict(mpl.rcParams) == settings


@pytest.fixture(scope="module")
def model() -> DagPosterior:
    return DagPosterior(score="bdeu", seed=1).fit(datasets.load("coronary"))


@pytest.fixture(scope="module")
def chains() -> DagSample:
    return (
        DagPosterior(score="bdeu", method="structure-mcmc", seed=1).fit(datasets.load("coronary")).sample(4_000, seed=1)
    )
