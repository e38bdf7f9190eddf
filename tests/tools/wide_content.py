"""The content of a report of many columns, made by hand: a few probable edges among very many improbable ones."""

from __future__ import annotations

import numpy as np

from dagpost.methods.targets import STRUCTURE
from dagpost.posterior.directions import Directions
from dagpost.report.content import Column, Content


def wide_content(columns: int = 150, exogenous: int = 100, seed: int = 1) -> Content:
    """Every column that is modelled has one parent that is probable; all others before it are improbable ones."""
    rng = np.random.default_rng(seed)
    edges = np.triu(rng.uniform(0.0, 0.02, (columns, columns)), 1)
    edges[:, :exogenous] = 0.0
    for child in range(exogenous, columns):
        edges[rng.integers(child), child] = rng.uniform(0.55, 0.999)
    names = tuple(f"age_{place}" if place < exogenous else f"gene <{place}>" for place in range(columns))
    joined = edges + edges.T
    directions = Directions(
        names,
        joined,
        by_data=0.95 * edges,
        by_rules=np.zeros_like(edges),
        by_model=np.zeros_like(edges),
        reversible=0.05 * joined,
        settled=np.zeros(edges.shape, dtype=np.bool_),
        fixed=np.zeros(edges.shape, dtype=np.bool_),
        lower=0.9 * edges,
        upper=edges,
        confidence=0.95,
        exogenous=tuple(range(exogenous)),
    )
    omitted = ("families", "blankets", "graphs", "classes", "sensitivity")
    return Content(
        names=names,
        target=STRUCTURE,
        method="exact-layers",
        reason="",
        edges=edges,
        exact=True,
        directions=directions,
        columns=tuple(Column(name, "discrete", "2 levels: 0, 1") for name in names),
        observations=500,
        rows="Table of rows",
        settings={
            "exogenous": names[:exogenous],
            "tiers": [list(names[:exogenous]), list(names[exogenous:])],
            "score": "bdeu",
            "prior": "uniform",
            "max_parents": 3,
        },
        fingerprint="0" * 64,
        log_evidence=-1.0,
        paths=np.clip(edges + edges @ edges, 0.0, 1.0),
        paths_exact=True,
        omitted=dict.fromkeys(omitted, "Not made here"),
    )
