"""Tables of one kind of columns have exact answers of their own: the same as local models of these columns give.

The conditional Gaussian score of a table of levels is BDeu, that of a table of numbers BGe, with the same parameters.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from dagpost import BDeu, BGe, ConditionalGaussian, DagPosterior

#: Draws of effects, and how many standard errors of their means a difference may have: 1e-6 of all.
DRAWS, FARTHEST = 4_000, 5.0


def numbers(rows: int = 60, seed: int = 1) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    x = 20.0 + rng.normal(size=rows)
    y = 0.8 * x + rng.normal(size=rows)
    return pd.DataFrame({"x": x, "y": y, "z": y - 0.5 * x + 2.0 * rng.normal(size=rows)})


def levels(rows: int = 60, seed: int = 1) -> pd.DataFrame:
    frame = numbers(rows, seed)
    return pd.DataFrame({name: pd.qcut(frame[name], 3, labels=["low", "mid", "high"]).astype(str) for name in frame})


PAIRS = {"levels": (levels, BDeu(5.0), ConditionalGaussian(5.0)), "numbers": (numbers, BGe(), ConditionalGaussian())}


@pytest.fixture(scope="module", params=PAIRS)
def pair(request: pytest.FixtureRequest) -> tuple[str, DagPosterior, DagPosterior]:
    """A model with exact answers, and one with the same posterior whose nodes are local models."""
    made, exact, generic = PAIRS[request.param]
    tiers: Any = [["x"], ["y"], ["z"]]
    models = [DagPosterior(score, prior="uniform", tiers=tiers, seed=1).fit(made()) for score in (exact, generic)]
    return request.param, models[0], models[1]


def test_whole_rows_and_missing_levels_are_as_probable(pair: tuple[str, DagPosterior, DagPosterior]) -> None:
    kind, exact, generic = pair
    assert exact.log_evidence_ == pytest.approx(generic.log_evidence_, abs=1e-9)
    rows = PAIRS[kind][0](8, seed=2)
    # The exact ones look at the graphs of a sample, which may lack one of 1 in 30,000; local models at all eight.
    np.testing.assert_allclose(generic.score_samples(rows), exact.score_samples(rows), atol=1e-4)
    if kind == "levels":
        rows.loc[3:, "y"] = None
        np.testing.assert_allclose(generic.score_samples(rows), exact.score_samples(rows), atol=1e-4)
        found, expected = (model.predict_proba(rows, target="z") for model in (generic, exact))
        pd.testing.assert_frame_equal(found, expected, atol=1e-4)
        return
    found, expected = (model.predict_number(rows, target="y") for model in (generic, exact))
    # The one knows the density at some hundred points.
    assert (np.abs(found - expected).max(axis=0) < 0.02 * expected["sd"].mean()).all()
    rows.loc[3:, "y"] = np.nan
    # Numbers that are missing are drawn: 32 in each of eight graphs.
    np.testing.assert_allclose(generic.score_samples(rows), exact.score_samples(rows), atol=0.2)


def test_effects_and_their_parts_have_the_same_posterior(pair: tuple[str, DagPosterior, DagPosterior]) -> None:
    kind, exact, generic = pair
    do = ("high", "low") if kind == "levels" else (21.0, 20.0)
    asked: dict[str, Any] = {"do": do, "draws": DRAWS, "seed": 3}
    if kind == "levels":
        asked["outcome_level"] = "high"
    first, second = (model.effect("x", "z", **asked) for model in (exact, generic))
    assert first.zero_probability == pytest.approx(second.zero_probability, abs=1e-12)
    parts = [(first, second), (first.direct, second.direct), (first.through[0], second.through[0])]
    for own, other in parts:
        assert own is not None
        assert other is not None
        error = np.hypot(own.samples.std(), other.samples.std()) / np.sqrt(DRAWS)
        # Levels above the cause are as in the rows there, and as the prior shrinks them here: one imagined row in 60.
        slack = 0.01 if kind == "levels" else 0.0
        assert abs(own.samples.mean() - other.samples.mean()) < FARTHEST * error + slack
        assert own.samples.std() == pytest.approx(other.samples.std(), rel=0.15)


def test_values_have_the_same_posterior(pair: tuple[str, DagPosterior, DagPosterior]) -> None:
    kind, exact, generic = pair
    if kind == "levels":
        for asked in ("P(z = high | x = low)", "P(z = high | do(x = low))", "P(y = mid & z = low)"):
            first, second = (model.probability(asked) for model in (exact, generic))
            assert float(second) == pytest.approx(float(first), abs=0.005)
            assert [second.lower, second.upper] == pytest.approx([first.lower, first.upper], abs=0.02)
        return
    for asked in ("E(z | x = 21)", "E(z | do(x = 21))", "E(x | z = 8)"):
        first, second = (model.probability(asked) for model in (exact, generic))
        assert float(second) == pytest.approx(float(first), abs=0.05)
        assert [second.lower, second.upper] == pytest.approx([first.lower, first.upper], abs=0.1)


def test_means_under_what_is_set_are_those_of_the_effect(pair: tuple[str, DagPosterior, DagPosterior]) -> None:
    """Answers by any door: to the last digits where they are exact."""
    kind, exact, _ = pair
    if kind == "levels":
        effect = exact.effect("x", "z", do=("high", "low"), outcome_level="high", draws=100, seed=1)
        high, low = (float(exact.probability(f"P(z = high | do(x = {level}))")) for level in ("high", "low"))
    else:
        effect = exact.effect("x", "z", do=(21.0, 20.0), draws=100, seed=1)
        high, low = (float(exact.probability(f"E(z | do(x = {value}))")) for value in (21, 20))
        assert exact.value("z", do={"x": 21.0}).mean == high
    assert effect.mean == pytest.approx(high - low, abs=1e-12 * max(abs(high), 1.0))
