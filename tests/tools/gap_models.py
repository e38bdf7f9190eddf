"""A small table with gaps, and models of it that chains have fitted: made once for all tests of a process."""

from __future__ import annotations

from functools import cache

import numpy as np
import pandas as pd

from dagpost import BDeu, DagPosterior
from dagpost.methods.augmentation import Augmentation

NAMES = ("A", "B", "C", "D")
SIZES = (0.5, 4.0)


@cache
def table_with_gaps() -> pd.DataFrame:
    """Four columns of two or three levels that hang together, with six empty cells."""
    generator = np.random.default_rng(3)
    first = generator.integers(0, 2, 50)
    columns = {"A": first}
    for name, levels in (("B", 3), ("C", 2), ("D", 2)):
        noise = generator.integers(0, levels, 50)
        columns[name] = np.where(generator.random(50) < 0.45, np.minimum(first, levels - 1), noise)
    frame = pd.DataFrame(columns).map(lambda code: "uvw"[code]).astype(object)
    for row, column in ((0, "A"), (0, "B"), (5, "A"), (9, "C"), (9, "D"), (20, "B")):
        frame.loc[row, column] = None
    return frame


@cache
def fitted(modularity: str = "structure", mixed: bool = False) -> DagPosterior:
    """A model of it, perhaps one that averages over equivalent sample sizes."""
    score = BDeu(SIZES) if mixed else "bdeu"
    return DagPosterior(
        score,
        prior="uniform",
        modularity=modularity,
        method=Augmentation(burn_in=20, error=1e-4),
        samples=2_400,
        seed=5,
        missing="augment",
    ).fit(table_with_gaps())
