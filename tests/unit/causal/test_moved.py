"""Effects by rows that move: beside regression by hand, in networks of which the parts are known."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from tests.unit.local.test_moved_rows import table_of_all_kinds

from dagpost.causal.moved import MovedMechanisms, drawn
from dagpost.data import as_table
from dagpost.local.models import models_of
from dagpost.prediction.background import no_background
from dagpost.scores import Additive


def mechanisms_of(frame: pd.DataFrame, graph: list[int], draws: int, seed: int = 1) -> MovedMechanisms:
    """Draws of the parameters of one graph."""
    graphs = np.repeat(np.array([graph], dtype=np.uint64), draws, axis=0)
    rng = np.random.default_rng(seed)
    return drawn(models_of(as_table(frame), Additive().parameter_prior()), None, graphs, no_background(len(graph)), rng)


def chain(rows: int, seed: int) -> pd.DataFrame:
    """X acts on m, and both on y, along lines."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=rows)
    m = 0.8 * x + rng.normal(size=rows)
    return pd.DataFrame({"x": x, "m": m, "y": 0.5 * m - 0.7 * x + rng.normal(size=rows)})


def test_along_lines_effects_and_their_spread_are_those_of_regression() -> None:
    frame = chain(1_000, 1)
    mechanisms = mechanisms_of(frame, [0, 1, 3], 2_000)
    effect = (mechanisms.outcome(2, {0: 1.0}) - mechanisms.outcome(2, {0: 0.0}))[:, 0]
    direct = mechanisms.direct(0, 2, (1.0, 0.0))[:, 0]
    through = mechanisms.through(0, 2, 1, (1.0, 0.0))[:, 0]
    design = np.column_stack([np.ones(1_000), frame[["x", "m"]]])
    slopes, left = np.linalg.lstsq(design, frame["y"], rcond=None)[:2]
    error = np.sqrt(np.linalg.inv(design.T @ design)[1, 1] * left[0] / 997)
    # Curves may bend a little: by less than half of the standard error on average.
    assert direct.mean() == pytest.approx(slopes[1], abs=0.5 * error)
    # What may bend is less well known than what may not.
    assert 0.9 * error < direct.std() < 3.0 * error
    assert (direct + through).mean() == pytest.approx(effect.mean(), abs=0.02)
    assert effect.mean() == pytest.approx(0.5 * 0.8 - 0.7, abs=0.15)


def test_what_is_not_between_passes_nothing_and_parts_of_no_path_are_zero() -> None:
    mechanisms = mechanisms_of(chain(300, 2), [0, 1, 2], 50)
    assert not mechanisms.direct(0, 2, (1.0, 0.0)).any()
    assert not mechanisms.through(1, 2, 0, (1.0, 0.0)).any()
    assert not (mechanisms.outcome(0, {2: 1.0}) - mechanisms.outcome(0, {2: 0.0})).any()


def test_probabilities_are_some_and_some_graphs_have_the_same_parameters() -> None:
    # c follows a, d follows a and c, e follows a and d.
    mechanisms = mechanisms_of(table_of_all_kinds(1, 200), [0, 0, 1, 5, 9, 0], 30)
    found = mechanisms.outcome(3, {0: 1.5})
    np.testing.assert_allclose(found.sum(axis=1), 1.0, atol=1e-9)
    assert (found >= 0.0).all()
    rows = np.array([3, 4, 17])
    np.testing.assert_allclose(mechanisms.some(rows).outcome(4, {0: 1.0}), mechanisms.outcome(4, {0: 1.0})[rows])


def test_intervals_hold_the_truth_as_often_as_they_say() -> None:
    held = 0
    for seed in range(60):
        mechanisms = mechanisms_of(chain(120, 100 + seed), [0, 1, 3], 300)
        effect = mechanisms.outcome(2, {0: 1.0}) - mechanisms.outcome(2, {0: 0.0})
        low, high = np.quantile(effect, [0.025, 0.975])
        held += low <= 0.5 * 0.8 - 0.7 <= high
    # Of 60 that hold with 0.95, 45 or fewer do with a probability of 1e-7.
    assert held > 45
