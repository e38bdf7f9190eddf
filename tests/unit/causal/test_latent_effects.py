"""Effects under latent Gaussian models, which are read off the columns, in their own units."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from tests.tools.latent_models import latent_frame, latent_model
from tests.tools.wording import Said

from dagpost import DagPosterior, InputError
from dagpost.causal import Effect
from dagpost.causal import effect as effect_of
from dagpost.data import as_table

pytestmark = pytest.mark.filterwarnings("ignore::dagpost.DagpostWarning")


@pytest.fixture(scope="module")
def smoking() -> Effect:
    return latent_model().effect("smoking", "pressure", seed=1)


def test_an_effect_on_numbers_is_in_their_unit(smoking: Effect, said: Said) -> None:
    assert smoking.do == ("yes", "no")
    assert smoking.mean == pytest.approx(smoking.samples.mean(), abs=5 * smoking.samples.std() / 50)
    said(smoking.quantity)
    said(smoking.assumptions[3])


def test_without_gaps_effects_are_those_of_the_columns_in_the_graphs_of_the_sample() -> None:
    frame = latent_frame().dropna()
    model = DagPosterior("latent-gaussian", prior="uniform", seed=1, samples=200).fit(frame)
    # Given a path, so that how probable one is does not differ.
    asked = {"given": "smoking ~> pressure", "draws": 200, "seed": 1}
    found = model.effect("smoking", "pressure", **asked)
    expected = effect_of(model.own_sample(), as_table(frame), "latent-gaussian", "smoking", "pressure", **asked)
    np.testing.assert_allclose(found.samples, expected.samples, rtol=1e-12)


def test_effects_on_levels_are_changes_of_their_probabilities(said: Said) -> None:
    effects = [
        latent_model().effect("smoking", "pain", outcome_level=level, draws=4_000, seed=1) for level in (1, 2, 3)
    ]
    assert sum(effect.mean for effect in effects) == pytest.approx(0.0, abs=1e-9)
    assert all(np.abs(effect.samples).max() <= 1.0 for effect in effects)
    said(effects[2].quantity)
    without = latent_model().effect("smoking", "pain", draws=100, seed=1)
    assert (without.outcome_level, without.note) == (3, "Of pain: the last level.")


def test_without_values_numbers_move_between_their_quartiles(said: Said) -> None:
    found = latent_model().effect("pressure", "pain", draws=400, seed=1)
    high, low = found.do
    pressure = latent_frame()["pressure"]
    assert low == pytest.approx(pressure.quantile(0.25), abs=1.5)
    assert high == pytest.approx(pressure.quantile(0.75), abs=1.5)
    said(found.note)
    assert sum(own.mean for own in found.outcomes if own.do == (high,)) == pytest.approx(1.0)


@pytest.mark.parametrize(
    "asked",
    [
        {"cause": "smoking", "outcome": "pressure", "do": ("yes", "perhaps")},
        {"cause": "smoking", "outcome": "pressure", "do": "yes"},
        {"cause": "smoking", "outcome": "pressure", "do": ("yes", "yes")},
        {"cause": "smoking", "outcome": "pressure", "outcome_level": 3},
    ],
)
def test_what_makes_no_sense_is_refused_in_words(asked: dict[str, object], said: Said) -> None:
    with said.raises(InputError):
        latent_model().effect(**asked)


# What was simulated


def clinical(seed: int, rows: int = 300) -> pd.DataFrame:
    """Smoking raises pressure by 5: 3 by itself, and 2 through the body mass index."""
    generator = np.random.default_rng(seed)
    smoking = generator.random(rows) < 0.35
    index = 25 + 2 * smoking + 3 * generator.normal(size=rows)
    pressure = 120 + 3 * smoking + (index - 25) + 8 * generator.normal(size=rows)
    return pd.DataFrame({"smoking": np.where(smoking, "yes", "no"), "index": index, "pressure": pressure})


@pytest.mark.long
def test_effects_that_were_simulated_are_found_with_sign_and_size() -> None:
    model = DagPosterior(
        "latent-gaussian", prior="uniform", seed=1, samples=1_000, tiers=[["smoking"], ["index"], ["pressure"]]
    ).fit(clinical(5, 500))
    effect = model.effect("smoking", "pressure", seed=1)
    lower, upper = effect.interval()
    assert 0.0 < lower < 5.0 < upper < 9.0
    assert effect.positive_probability > 0.99
    index = model.effect("index", "pressure", do=(28, 25), seed=1)
    assert index.interval()[0] < 3.0 < index.interval()[1]
