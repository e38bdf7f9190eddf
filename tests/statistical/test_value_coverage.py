"""Do intervals of values hold the truth as often as they say, on tables drawn from known networks?

Each test draws 150 tables, with a fixed seed. If intervals hold with 95%, fewer than 130 hold with probability 2e-5.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

from dagpost import DagPosterior

pytestmark = pytest.mark.long
_TABLES, _FEWEST = 150, 130


def _levels(generator: np.random.Generator) -> tuple[pd.DataFrame, str, float]:
    """Along a -> b -> c: P(c | a) sums over b, by parameters that are drawn anew for every table."""
    a, (b, c) = generator.beta(2, 2), generator.beta(2, 2, (2, 2))
    first = generator.random(150) < a
    second = generator.random(150) < b[first.astype(int)]
    third = generator.random(150) < c[second.astype(int)]
    frame = pd.DataFrame({"a": first, "b": second, "c": third}).astype(int)
    return frame, "P(c = 1 | a = 1)", float((1 - b[1]) * c[0] + b[1] * c[1])


def _numbers(generator: np.random.Generator) -> tuple[pd.DataFrame, str, float]:
    """E(z | x) along x -> y -> z."""
    slopes = generator.normal(size=2)
    x = generator.normal(size=100)
    y = slopes[0] * x + generator.normal(size=100)
    z = slopes[1] * y + generator.normal(size=100)
    return pd.DataFrame({"x": x, "y": y, "z": z}), "E(z | x = 1)", float(slopes[0] * slopes[1])


def _both(generator: np.random.Generator) -> tuple[pd.DataFrame, str, float]:
    """The mean of a number given a level, through another number."""
    shift, slope = generator.normal(size=2)
    level = generator.random(120) < 0.5
    middle = shift * level + generator.normal(size=120)
    last = slope * middle + generator.normal(size=120)
    frame = pd.DataFrame({"level": np.where(level, "yes", "no"), "middle": middle, "last": last})
    return frame, "E(last | level = yes)", float(shift * slope)


@pytest.mark.parametrize(("score", "drawn"), [("bdeu", _levels), ("bge", _numbers), ("conditional-gaussian", _both)])
def test_intervals_of_values_hold_the_truth(score: str, drawn: Callable[..., tuple[pd.DataFrame, str, float]]) -> None:
    generator = np.random.default_rng(11)
    held = 0
    for _ in range(_TABLES):
        frame, question, truth = drawn(generator)
        found = (
            DagPosterior(score, prior="uniform", seed=1, samples=200, progress=False).fit(frame).probability(question)
        )
        held += found.lower <= truth <= found.upper
    assert held >= _FEWEST
