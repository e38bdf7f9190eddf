"""Sessions on small models of every kind, made once for all tests of a process."""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from tests.tools import gap_models

from dagpost import DagPosterior, datasets
from dagpost.explorer.session import Session
from dagpost.methods.block_gibbs import BlockGibbs

#: Names that a page, a shell, Python and the language of statements would each read as something else.
HOSTILE = ('say "x"', "it's -> <- ~>", "</script><b>", "🫀 é", "in")


@cache
def model(kind: str) -> DagPosterior:
    """A fitted model of one of the kinds."""
    if kind == "coronary":
        return DagPosterior(seed=1, samples=3_000, progress=False).fit(datasets.load("coronary"))
    if kind == "gaps":
        return gap_models.fitted()
    every: dict[str, dict[str, Any]] = {
        "hostile": {},
        "averaged": {"score": "auto"},
        "order": {"modularity": "order"},
        "tiers": {"tiers": [["A", "B"], ["C", "D", "E"]]},
        "exogenous": {"exogenous": ["A", "B"]},
        "chains": {"method": BlockGibbs(chains=2, burn_in=50), "samples": 600},
    }
    names = HOSTILE if kind == "hostile" else tuple("ABCDE")
    with warnings.catch_warnings():
        # Short chains warn that they are.
        warnings.simplefilter("ignore")
        fitted = DagPosterior(**{"score": "bdeu", "seed": 1, "samples": 2_000, "progress": False, **every[kind]})
        fitted.fit(_table(names))
        _ = fitted.exact_
    return fitted


@cache
def session(kind: str) -> Session:
    """A session on it, ready for questions."""
    found = Session(model(kind).fitted_, f"A study of {kind}")
    found.prepare()
    return found


def _table(names: tuple[str, ...]) -> pd.DataFrame:
    """Columns of two levels, each of which hangs on two earlier ones a little."""
    generator = np.random.default_rng(5)
    codes = np.zeros((90, len(names)), dtype=int)
    for column in range(len(names)):
        pull = codes[:, max(column - 2, 0) : column].sum(axis=1)
        codes[:, column] = generator.random(90) < 0.25 + 0.25 * pull
    return pd.DataFrame(codes, columns=list(names)).map(lambda code: ("no", "yes")[code])
