"""Numbers and levels given their parents: densities, shares and chances that agree with each other."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.special import expit
from tests.unit.local.test_moved_rows import table_of_all_kinds

from dagpost.data import as_table
from dagpost.local.base import LevelModel, NumberModel, drawn_levels
from dagpost.local.curved import _average_chances
from dagpost.local.models import LocalModels, models_of
from dagpost.scores import Additive


@pytest.fixture(scope="module")
def models() -> LocalModels:
    """Of 300 rows of all kinds."""
    return models_of(as_table(table_of_all_kinds(1, 300)), Additive().parameter_prior())


def values_of(models: LocalModels, parents: list[int], rows: int) -> np.ndarray:
    """The parents' values of the first people, in one draw."""
    return np.ascontiguousarray(models.seen.people[parents][:, np.newaxis, :rows])


@pytest.mark.parametrize(("child", "mask"), [(0, 0b0110), (1, 0b1001), (2, 0b110011), (2, 0)])
def test_a_density_is_one_in_all_and_shares_are_its_integral(models: LocalModels, child: int, mask: int) -> None:
    (model,) = models.families(np.array([child]), np.array([mask], dtype=np.uint64))
    assert isinstance(model, NumberModel)
    values = values_of(models, [node for node in range(6) if mask >> node & 1], 5)
    theta = model.drawn(np.random.default_rng(1), 3)
    shares = np.linspace(1e-6, 1.0 - 1e-6, 20_001)
    for row in range(values.shape[2]):
        at = values[:, :, [row]]
        grid = model.with_share(at, theta, shares[np.newaxis])
        assert (np.diff(grid, axis=1) >= 0.0).all()
        inside = np.diff(grid, axis=1) > 0.0
        middles = (grid[:, 1:] + grid[:, :-1]) / 2.0
        # Linear between points: the rule of the middle is right there but for one piece in a hundred.
        pieces = np.exp(model.log_density(at, theta, middles)) * np.diff(grid, axis=1)
        np.testing.assert_allclose(np.where(inside, pieces, np.diff(shares)).sum(axis=1), 1.0, atol=2e-3)
        kept = model.below(at, theta, grid)
        free = inside[:, 1:] & inside[:, :-1]
        np.testing.assert_allclose(kept[:, 1:-1][free], np.broadcast_to(shares, kept.shape)[:, 1:-1][free], atol=1e-9)
    assert (model.below(values, theta, np.array([[np.inf]])) == 1.0).all()
    assert (model.below(values, theta, np.array([[-np.inf]])) == 0.0).all()


def test_numbers_stay_where_parents_do_and_means_follow_the_rows(models: LocalModels) -> None:
    (model,) = models.families(np.array([1]), np.array([0b1001], dtype=np.uint64))
    assert isinstance(model, NumberModel)
    values, theta = values_of(models, [0, 3], 300), model.likeliest[np.newaxis]
    numbers = models.seen.people[[1], :300]
    standing = model.standing(values, theta, numbers)
    np.testing.assert_allclose(model.moved(standing, values, theta, numbers), numbers, rtol=1e-9)
    # A regression with an intercept that is hardly shrunk.
    assert model.expected(values, theta).mean() == pytest.approx(numbers.mean(), rel=0.01)
    seen = model.log_predictive(values[:, 0], numbers[0])
    alone = models.families(np.array([1]), np.array([0], dtype=np.uint64))[0]
    assert isinstance(alone, NumberModel)
    assert seen.mean() > alone.log_predictive(values[:0, 0], numbers[0]).mean() + 0.1


@pytest.mark.parametrize(("child", "mask"), [(3, 0b1), (3, 0), (4, 0b1101), (5, 0b11)])
def test_chances_sum_to_one_and_are_the_shares_of_the_rows(models: LocalModels, child: int, mask: int) -> None:
    (model,) = models.families(np.array([child]), np.array([mask], dtype=np.uint64))
    assert isinstance(model, LevelModel)
    values = values_of(models, [node for node in range(6) if mask >> node & 1], 300)
    chances = model.chances(values, model.drawn(np.random.default_rng(1), 4))
    assert chances.shape == (4, 300, len(models.levels[child] or ()))
    np.testing.assert_allclose(chances.sum(axis=2), 1.0, atol=1e-12)
    predicted = model.predictive(values[:, 0])
    np.testing.assert_allclose(predicted.sum(axis=1), 1.0, atol=1e-12)
    counts = np.bincount(models.seen.people[child, :300].astype(int), minlength=predicted.shape[1])
    np.testing.assert_allclose(predicted.mean(axis=0), counts / 300, atol=0.03)


@pytest.mark.parametrize(("child", "mask"), [(3, 0b1), (4, 0b1101), (5, 0b11)])
def test_chances_of_a_new_row_are_the_mean_over_draws(models: LocalModels, child: int, mask: int) -> None:
    (model,) = models.families(np.array([child]), np.array([mask], dtype=np.uint64))
    assert isinstance(model, LevelModel)
    values = values_of(models, [node for node in range(6) if mask >> node & 1], 10)
    chances = model.chances(values, model.drawn(np.random.default_rng(1), 100_000))
    deviations = chances.std(axis=0) / math.sqrt(len(chances))
    # At most 50 cells: one is farther off than this once in 400,000 times.
    assert (np.abs(chances.mean(axis=0) - model.predictive(values[:, 0])) <= 5.7 * deviations + 1e-5).all()


@given(middle=st.floats(-200.0, 200.0), deviation=st.floats(0.0, 10.0))
def test_chances_are_averaged_like_an_integral(middle: float, deviation: float) -> None:
    def height(away: float) -> float:
        return float(expit(middle + away * deviation) * math.exp(-0.5 * away**2) / math.sqrt(2.0 * math.pi))

    # Where the log odds are 0 the chance changes fastest.
    turn = float(np.clip(-middle / max(deviation, 0.1), -8.0, 8.0))
    wanted = quad(height, -9.0, turn, epsabs=1e-10)[0] + quad(height, turn, 9.0, epsabs=1e-10)[0]
    found = _average_chances(np.array([middle]), np.array([deviation]))[0]
    assert found == pytest.approx(wanted, abs=1e-4)


def test_levels_are_drawn_by_their_chances() -> None:
    chances = np.array([0.2, 0.5, 0.3])
    codes = drawn_levels(np.broadcast_to(chances, (100_000, 3)), (np.arange(100_000) + 0.5) / 100_000)
    np.testing.assert_allclose(np.bincount(codes) / 100_000, chances, atol=1e-4)
