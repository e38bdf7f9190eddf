"""Effects under latent Gaussian models, in the units of the user's table and in latent standard deviations."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from tests.naive.latent_effects import outcomes_under_do
from tests.tools.latent_models import latent_frame, latent_model

from dagpost import BGe, DagPosterior, InputError, LatentGaussian
from dagpost.causal import CausalEffect, causal_effect
from dagpost.causal.gaussian import slopes_of
from dagpost.causal.latent import drawn_outcomes
from dagpost.data import as_table
from dagpost.scores import NormalWishartPrior

pytestmark = pytest.mark.filterwarnings("ignore::dagpost.DagpostWarning")

#: Standard errors that two averages may be apart: false alarms are rarer than 1 in 10^5.
APART = 4.5


def numbers(rows: int = 40) -> np.ndarray:
    generator = np.random.default_rng(3)
    first = generator.normal(size=(rows, 2))
    third = first @ [0.8, -0.5] + generator.normal(size=rows) * 0.6
    return np.column_stack([first, third, 0.5 * third + first[:, 0] + generator.normal(size=rows) * 0.5])


def close(found: np.ndarray, naive: np.ndarray) -> bool:
    error = np.sqrt(found.var() / len(found) + naive.var() / len(naive))
    return bool(abs(found.mean() - naive.mean()) < APART * error)


@pytest.mark.parametrize("adjusted", [[], [0], [0, 1]])
def test_the_outcome_of_setting_a_number_is_that_of_whole_covariance_matrices(adjusted: list[int]) -> None:
    data, generator = numbers(), np.random.default_rng(1)
    table, prior = as_table(data), NormalWishartPrior(prior_mean=0.0, prior_scale=1.0)
    masks = np.array([0, sum(1 << node for node in adjusted)], dtype=np.uint64)
    found = drawn_outcomes(table, prior, 2, 3, masks, np.ones(20_000, dtype=np.int64), generator)
    means, deviations = outcomes_under_do(data, adjusted, 2, 3, 0.7, 1_000, generator)
    at = found.starts + 0.7 * found.slopes
    assert close(at, means)
    assert close((at - at.mean()) ** 2, (means - means.mean()) ** 2)
    assert close(found.spreads, deviations)
    assert close(found.spreads**2, deviations**2)
    # The slope has Student's distribution, as under the score of continuous columns.
    slopes = slopes_of(table, prior, 2, masks)
    standard = (found.slopes - slopes.locations[1, 3]) / slopes.scales[1, 3]
    assert abs(standard.mean()) < APART * standard.std() / np.sqrt(len(standard))
    variance = slopes.freedom[1] / (slopes.freedom[1] - 2.0)
    assert abs(standard.var() - variance) < APART * (standard**2).std() / np.sqrt(len(standard))


def test_raw_margins_give_the_effects_of_the_score_of_numbers() -> None:
    table = as_table(numbers() * [1.0, 5.0, 2.0, 10.0] + 100.0)
    settings = {"tiers": [["V0", "V1"], ["V2"], ["V3"]], "seed": 1, "samples": 2_000}
    latent = DagPosterior(LatentGaussian(margins="raw"), **settings).fit(table)
    plain = DagPosterior(BGe(), **settings).fit(table)
    np.testing.assert_allclose(latent.edge_probabilities_, plain.edge_probabilities_, atol=1e-9)
    mine, its = (
        model.causal_effect("V2", "V3", seed=1, **asked)
        for model, asked in ((latent, {"do": (101.0, 100.0)}), (plain, {}))
    )
    assert mine.mean == pytest.approx(its.mean, rel=0.05)
    assert mine.zero_probability == pytest.approx(its.zero_probability, abs=0.02)
    np.testing.assert_allclose(mine.interval(), its.interval(), rtol=0.1)


@pytest.fixture(scope="module")
def smoking() -> CausalEffect:
    return latent_model().causal_effect("smoking", "pressure", seed=1)


def test_an_effect_on_numbers_is_in_their_unit_and_in_latent_deviations(smoking: CausalEffect) -> None:
    assert smoking.do == ("yes", "no")
    assert smoking.standardised is not None
    assert np.array_equal(smoking.samples == 0.0, smoking.standardised == 0.0)
    assert (np.sign(smoking.samples) == np.sign(smoking.standardised)).all()
    moved = smoking.samples != 0.0
    unit = smoking.samples[moved] / smoking.standardised[moved]
    # A latent deviation is about one of the column.
    assert np.median(unit) == pytest.approx(latent_frame()["pressure"].std(), rel=0.15)
    assert smoking.mean == pytest.approx(smoking.samples.mean(), abs=5 * smoking.samples.std() / 50)
    assert "in latent standard deviations" in repr(smoking)
    assert smoking.quantity == "change of the mean of pressure with smoking set to yes rather than no"
    assert json.loads(json.dumps(smoking.summary()))["standardised"]["interval"] == list(
        smoking.standardised_interval()
    )


def test_effects_on_levels_are_changes_of_their_probabilities() -> None:
    effects = [
        latent_model().causal_effect("smoking", "pain", outcome_level=level, draws=4_000, seed=1) for level in (1, 2, 3)
    ]
    assert sum(effect.mean for effect in effects) == pytest.approx(0.0, abs=1e-9)
    assert all(np.abs(effect.samples).max() <= 1.0 for effect in effects)
    assert effects[2].quantity == "change of P(pain = 3) with smoking set to yes rather than no"
    without = latent_model().causal_effect("smoking", "pain", seed=1)
    assert without.in_deviations
    assert "pain, in latent standard deviations," in without.quantity


def test_without_values_an_effect_is_of_one_latent_deviation() -> None:
    found = latent_model().causal_effect("dose", "pressure", draws=2_000, seed=1)
    assert found.do is None
    assert found.in_deviations
    assert np.array_equal(found.samples, found.standardised)
    assert "One latent standard deviation more of dose" in repr(found)
    twice = latent_model().causal_effect("dose", "pressure", do=(3.0, 1.0), draws=2_000, seed=1)
    assert np.array_equal(found.samples > 0, twice.samples > 0)


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ({"treatment": "smoking", "outcome": "pressure", "do": ("yes", "perhaps")}, r"no level 'perhaps'"),
        ({"treatment": "smoking", "outcome": "pressure", "do": "yes"}, r"two values of 'smoking'"),
        ({"treatment": "smoking", "outcome": "pressure", "do": ("yes", "yes")}, r"two different values"),
        ({"treatment": "pressure", "outcome": "pain", "do": (500, 120)}, r"within the range of 'pressure', 1.*500"),
        ({"treatment": "smoking", "outcome": "pressure", "outcome_level": 3}, r"'pressure' is one of numbers"),
        ({"treatment": "pressure", "outcome": "pain", "outcome_level": 3}, r"say which, do="),
    ],
)
def test_what_makes_no_sense_is_refused_in_words(asked: dict[str, object], says: str) -> None:
    with pytest.raises(InputError, match=says):
        latent_model().causal_effect(**asked)


def test_effects_of_latent_numbers_need_a_fitted_model() -> None:
    sample = latent_model().own_sample()
    with pytest.raises(InputError, match=r"come from a fitted model"):
        causal_effect(sample, as_table(latent_frame()), "latent-gaussian", "smoking", "pressure")


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
    model = DagPosterior("latent-gaussian", seed=1, samples=1_000, tiers=[["smoking"], ["index"], ["pressure"]]).fit(
        clinical(5, 500)
    )
    effect = model.causal_effect("smoking", "pressure", seed=1)
    lower, upper = effect.interval()
    assert 0.0 < lower < 5.0 < upper < 9.0
    assert effect.positive_probability > 0.99
    index = model.causal_effect("index", "pressure", do=(28, 25), seed=1)
    assert index.interval()[0] < 3.0 < index.interval()[1]
