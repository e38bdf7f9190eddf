"""Effects under latent Gaussian models, in the units of the user's table and in latent standard deviations."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.naive.latent_effects import drawn_rows, with_mediator_redrawn
from tests.tools.latent_models import latent_data, latent_frame, latent_model
from tests.tools.wording import Said

from dagpost import BGe, DagPosterior, InputError, LatentGaussian
from dagpost.causal import Effect
from dagpost.causal import effect as effect_of
from dagpost.causal.latent import LatentMechanisms
from dagpost.data import as_table
from dagpost.posterior.augmented_workspace import images_of
from dagpost.prediction.completed_parts import parts_of
from dagpost.prediction.parameter_draws import DrawnNetworks

pytestmark = pytest.mark.filterwarnings("ignore::dagpost.DagpostWarning")

#: Standard errors that two averages may be apart: false alarms are rarer than 1 in 10^5.
APART = 4.5


def numbers(rows: int = 40) -> np.ndarray:
    generator = np.random.default_rng(3)
    first = generator.normal(size=(rows, 2))
    third = first @ [0.8, -0.5] + generator.normal(size=rows) * 0.6
    return np.column_stack([first, third, 0.5 * third + first[:, 0] + generator.normal(size=rows) * 0.5])


#: dose (1) leads to smoking (0) and pain (3), smoking to pressure (2), all of these to pain; pressure to pain.
NETWORK = {
    1: (0.1, {}, 1.0),
    0: (0.0, {1: 0.6}, 0.8),
    2: (-0.1, {0: 0.7, 1: 0.3}, 0.7),
    3: (0.2, {0: 0.4, 1: -0.3, 2: 0.5}, 0.6),
}


def mechanisms_of(network: Any, generator: np.random.Generator) -> LatentMechanisms:
    """One graph with known parameters, of the latent numbers of a completed table."""
    fitted = latent_model().fitted_
    images = images_of(fitted)
    part = parts_of(fitted)[0]
    assert images is not None
    assert part.table is not None
    graph = np.zeros((1, 4), dtype=np.uint64)
    parents, coefficients = np.full((1, 4, 3), -1, dtype=np.int64), np.zeros((1, 4, 3))
    for node, (_, own, _) in network.items():
        graph[0, node] = sum(1 << parent for parent in own)
        parents[0, node, : len(own)], coefficients[0, node, : len(own)] = list(own), list(own.values())
    rest = np.array([[network[node][place] for node in range(4)] for place in (0, 2)])[:, np.newaxis]
    networks = DrawnNetworks(parents, coefficients, *rest)
    return LatentMechanisms(graph, networks, images, part.table(), np.empty(0, dtype=np.int64), generator)


def seen(mechanisms: LatentMechanisms, outcome: int, latent: np.ndarray) -> np.ndarray:
    """The images of latent numbers: one row for each, numbers or whether it is each of the levels."""
    if latent_data().levels[outcome] is None:
        return mechanisms._images.number_image(outcome).of(latent)[:, np.newaxis]
    borders = mechanisms._level_borders(outcome)
    return (latent[:, np.newaxis] > borders[:, 0]) & (latent[:, np.newaxis] <= borders[:, 1])


@pytest.mark.parametrize("outcome", [2, 3])
def test_outcomes_and_parts_are_those_of_rows_drawn_column_by_column(outcome: int) -> None:
    """Each comparison raises a false alarm once in 10^5 times at most; the seed is fixed."""
    generator, rows, values = np.random.default_rng(1), 100_000, (2.5, 0.6)
    mechanisms = mechanisms_of(NETWORK, generator)
    first, second = (mechanisms._value(1, value) for value in values)

    def close(found: np.ndarray, drawn: np.ndarray) -> None:
        # An image is averaged over 64 points of a normal distribution.
        bias = 0.0 if outcome == 3 else 0.005 * np.ptp(mechanisms._images.number_image(outcome).numbers)
        error = APART * drawn.std(axis=0) / np.sqrt(len(drawn)) + bias + 1e-12
        assert (np.abs(found[0] - drawn.mean(axis=0)) < error).all()

    under = [
        seen(mechanisms, outcome, drawn_rows(NETWORK, {1: at}, rows, generator)[outcome]) for at in (first, second)
    ]
    close(mechanisms.outcome(outcome, {1: values[0]}), under[0])
    close(mechanisms.outcome(outcome, {1: values[1]}), under[1])
    # Along the edge alone: the others stay as they are under the second value.
    others = drawn_rows(NETWORK, {1: second}, rows, generator)[outcome]
    moved = others + NETWORK[outcome][1][1] * (first - second)
    close(
        mechanisms.direct(1, outcome, values),
        1.0 * seen(mechanisms, outcome, moved) - seen(mechanisms, outcome, others),
    )
    for mediator in (0, 2) if outcome == 3 else (0,):
        apart = [
            seen(mechanisms, outcome, with_mediator_redrawn(NETWORK, 1, mediator, first, at, rows, generator)[outcome])
            for at in (first, second)
        ]
        close(mechanisms.through(1, outcome, mediator, values), 1.0 * apart[0] - apart[1])


def test_raw_margins_give_the_effects_of_the_score_of_numbers() -> None:
    table = as_table(numbers() * [1.0, 5.0, 2.0, 10.0] + 100.0)
    settings = {"tiers": [["V0", "V1"], ["V2"], ["V3"]], "seed": 1, "samples": 2_000}
    latent = DagPosterior(LatentGaussian(margins="raw"), **{"prior": "uniform", **settings}).fit(table)
    plain = DagPosterior(BGe(), **{"prior": "uniform", **settings}).fit(table)
    np.testing.assert_allclose(latent.edge_probabilities_, plain.edge_probabilities_, atol=1e-9)
    mine, its = (
        model.effect("V2", "V3", seed=1, **asked) for model, asked in ((latent, {"do": (101.0, 100.0)}), (plain, {}))
    )
    assert mine.mean == pytest.approx(its.mean, rel=0.05)
    assert mine.zero_probability == pytest.approx(its.zero_probability, abs=0.02)
    np.testing.assert_allclose(mine.interval(), its.interval(), rtol=0.1)


@pytest.fixture(scope="module")
def smoking() -> Effect:
    return latent_model().effect("smoking", "pressure", seed=1)


def test_an_effect_on_numbers_is_in_their_unit_and_in_latent_deviations(smoking: Effect, said: Said) -> None:
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
    said(smoking.quantity)
    assert json.loads(json.dumps(smoking.summary()))["standardised"]["interval"] == list(
        smoking.standardised_interval()
    )


def test_effects_on_levels_are_changes_of_their_probabilities(said: Said) -> None:
    effects = [
        latent_model().effect("smoking", "pain", outcome_level=level, draws=4_000, seed=1) for level in (1, 2, 3)
    ]
    assert sum(effect.mean for effect in effects) == pytest.approx(0.0, abs=1e-9)
    assert all(np.abs(effect.samples).max() <= 1.0 for effect in effects)
    said(effects[2].quantity)
    without = latent_model().effect("smoking", "pain", draws=100, seed=1)
    assert (without.outcome_level, without.note) == (3, "Of pain: the last level.")


def test_without_values_numbers_move_by_one_latent_deviation(said: Said) -> None:
    found = latent_model().effect("pressure", "pain", draws=400, seed=1)
    high, low = found.do
    pressure = latent_frame()["pressure"]
    assert low == pytest.approx(pressure.median(), abs=1.5)
    assert high - low == pytest.approx(pressure.std(), rel=0.4)
    said(found.note)
    assert found.standardised is not None
    assert np.array_equal(found.samples > 0, found.standardised > 0)
    assert sum(own.mean for own in found.outcomes if own.do == (high,)) == pytest.approx(1.0)


@pytest.mark.parametrize(
    "asked",
    [
        {"cause": "smoking", "outcome": "pressure", "do": ("yes", "perhaps")},
        {"cause": "smoking", "outcome": "pressure", "do": "yes"},
        {"cause": "smoking", "outcome": "pressure", "do": ("yes", "yes")},
        {"cause": "pressure", "outcome": "pain", "do": (500, 120)},
        {"cause": "smoking", "outcome": "pressure", "outcome_level": 3},
    ],
)
def test_what_makes_no_sense_is_refused_in_words(asked: dict[str, object], said: Said) -> None:
    with said.raises(InputError):
        latent_model().effect(**asked)


def test_effects_of_latent_numbers_need_a_fitted_model(said: Said) -> None:
    sample = latent_model().own_sample()
    with said.raises(InputError):
        effect_of(sample, as_table(latent_frame()), "latent-gaussian", "smoking", "pressure")


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
