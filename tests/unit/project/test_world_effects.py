"""The yardstick for effects, and the prototype of local models, against what is plainly so."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from benchmarks.local_columns import level_source, number_source
from benchmarks.local_effects import prototype
from benchmarks.local_families import Family
from benchmarks.local_noise import Noise
from benchmarks.world_effects import asked_of, figures
from benchmarks.world_tables import draw_case

ROWS = 400


def columns(rng: np.random.Generator) -> list[np.ndarray]:
    return [rng.normal(size=ROWS), rng.exponential(size=ROWS), rng.integers(3, size=ROWS).astype(float)]


def test_predictions_for_draws_are_features_times_coefficients() -> None:
    rng = np.random.default_rng(1)
    table = columns(rng)
    sources = [number_source(table[0], 5), number_source(table[1], 5), level_source(3)]
    family = Family((0, 1, 2), sources, 2)
    features = family.rows(table)
    draws = rng.normal(size=(7, family.width))
    assert features.shape == (ROWS, family.width)
    found = family.predicted([own[:, np.newaxis] for own in table], draws)
    np.testing.assert_allclose(found, features @ draws.T, atol=1e-9)


def test_values_stay_if_nothing_changes_and_their_mean_moves_with_the_prediction() -> None:
    rng = np.random.default_rng(2)
    predicted = rng.normal(size=ROWS)
    values = np.maximum(predicted + rng.normal(size=ROWS), -0.5)
    noise = Noise(values, predicted, 0, 30)
    state = noise.of_rows(np.arange(ROWS))
    np.testing.assert_allclose(noise.moved(state, np.zeros((ROWS, 1)))[:, 0], values, atol=1e-12)
    moved = noise.moved(state, np.full((ROWS, 1), 0.4))[:, 0]
    assert (moved - values).mean() == pytest.approx(0.4, abs=0.06)


@pytest.mark.parametrize("rowless", [0, 2_000])
def test_the_effect_along_straight_lines_is_the_product_of_their_slopes(rowless: int) -> None:
    rng = np.random.default_rng(3)
    first = rng.normal(size=4_000)
    second = 0.8 * first + rng.normal(size=4_000)
    third = 0.5 * second - 0.3 * first + rng.normal(size=4_000)
    frame = pd.DataFrame({"A": first, "B": second, "C": third})
    graph = np.array([[0b000, 0b001, 0b011]], dtype=np.uint64)
    ask = prototype(frame, ["A", "B", "C"], graph, np.ones(1), f"rowless={rowless}")
    drawn = ask("A", "C", (1.0, -1.0), None, rng)
    # Along either of the two paths alone it would be 0.8 or -0.6; the false-alarm rate is one in a million.
    assert abs(drawn.mean() - 2 * (0.8 * 0.5 - 0.3)) < 5 * drawn.std() < 0.35
    assert not ask("C", "A", (1.0, -1.0), None, rng).any()


def test_effects_without_a_path_are_zero_and_levels_are_compared_with_levels() -> None:
    case = draw_case("choosing", "mixed-dense", 150, 0)
    asked = asked_of(case, 6, 3)
    assert sum(not own.path for own in asked) > 0
    for own in asked:
        assert own.path or own.truth == 0.0
        assert (own.level is None) == (own.kinds[1] == "number")
        assert own.values[0] != own.values[1]


def test_an_interval_holds_its_truth_or_not() -> None:
    effect = {"path": True, "truth": 1.0, "lower": 0.5, "upper": 1.5, "middle": 1.1, "deviation": 2.0, "cpu_seconds": 0}
    zero = {**effect, "path": False, "truth": 0.0}
    assert figures([effect, {**effect, "upper": 0.9}, zero])[:3] == ["2", "50.0%", "0.100"]
    assert figures([effect, zero])[-2] == "100.0% of 1"
