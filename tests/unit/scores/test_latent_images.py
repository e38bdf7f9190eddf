"""The way back from latent numbers to numbers and levels."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm
from tests.naive.latent_images import level_between, number_at, self_consistent

from dagpost import LatentGaussian
from dagpost.data import as_table
from dagpost.scores.latent_columns import latent_table, margin_of
from dagpost.scores.latent_images import cuts_between, image_of


@settings(max_examples=40)
@given(st.integers(0, 2**32 - 1))
def test_levels_lie_where_their_latent_numbers_do(seed: int) -> None:
    generator = np.random.default_rng(seed)
    ranks = np.sort(generator.choice([0, 1, 3], 12))
    # Latent numbers in the order of the ranks, and some of unknown rank anywhere.
    known = np.sort(generator.normal(size=(3, 12)), axis=1)
    asked = generator.normal(size=(3, 5))
    order = generator.permutation(17)
    cells, all_ranks = np.hstack([known, asked])[:, order], np.append(ranks, [-1] * 5)[order]
    found = cuts_between(cells, all_ranks, generator).rank_of(asked)
    for table in range(3):
        for cell in range(5):
            assert found[table, cell] in level_between(asked[table, cell], cells[table], all_ranks)


def test_between_two_levels_a_cut_point_is_anywhere_alike() -> None:
    cells = np.tile([-1.0, 0.0, 2.0, 0.5], (4_000, 1))
    cuts = cuts_between(cells, np.array([0, 0, 1, -1]), np.random.default_rng(1))
    # A quarter of the gap lies below 0.5. False alarms: 1 in 10^6.
    assert abs(cuts.rank_of(np.full((4_000, 1), 0.5)).mean() - 0.25) < 4.9 * np.sqrt(0.25 * 0.75 / 4_000)


@settings(max_examples=40)
@given(st.integers(0, 2**32 - 1))
def test_numbers_are_those_between_neighbours(seed: int) -> None:
    generator = np.random.default_rng(seed)
    table = as_table(np.column_stack([generator.normal(size=15).round(1), generator.normal(size=15)]))
    margin = margin_of(table.with_number_columns(), 0, "normal-scores")
    image, asked = image_of(margin, None), generator.normal(size=20) * 2
    naive = [number_at(own, margin.values, margin.latents, -np.inf, np.inf) for own in asked]
    np.testing.assert_allclose(image.of(asked), naive)
    np.testing.assert_allclose(image.of(margin.latent(margin.values)), margin.values)


def test_raw_numbers_are_on_a_line_also_beyond_those_seen() -> None:
    numbers = np.random.default_rng(1).normal(50, 7, 30)
    table = as_table(np.column_stack([numbers, numbers[::-1]]))
    latent = latent_table(table, "raw").columns[0]
    assert latent.std(ddof=1) == pytest.approx(1.0)
    assert np.corrcoef(latent, numbers)[0, 1] == pytest.approx(1.0)
    margin = margin_of(table, 0, "raw")
    np.testing.assert_allclose(image_of(margin, None).of(margin.latent(np.array([-20.0, 200.0]))), [-20.0, 200.0])


def censored(values: list[float], bounds: list[tuple[float, float]]) -> tuple[object, np.ndarray]:
    """A column of numbers with censored cells at its end, as a table of two columns and the bounds."""
    count = len(values) + len(bounds)
    other = np.random.default_rng(2).normal(size=count)
    table = as_table(np.column_stack([np.append(values, [np.nan] * len(bounds)), other])).with_number_columns()
    rows = np.vstack([np.tile([-np.inf, np.inf], (len(values), 1)), bounds])
    return replace(table, bounds=(rows, None)), rows


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_censored_cells_stay_on_their_side_of_the_limit(sign: float) -> None:
    values = [0.5, 0.7, 0.9, 1.4, 2.0, 4.0]
    bounds = (-np.inf, 0.4) if sign > 0 else (-0.4, np.inf)
    table, _ = censored([sign * own for own in values], [bounds] * 4)
    latent = latent_table(table, "normal-scores")
    low, high = latent.bounds[0][-1]
    drawn = np.linspace(max(low, -4.0), min(high, 4.0), 20)
    images = LatentGaussian().images(table, latent)
    found = images.observed(np.tile(drawn[:, np.newaxis], (1, 4)))
    assert (np.diff(found[:, 0]) > 0).all()
    assert (sign * found <= 0.4).all()
    if sign > 0:
        # All numbers are positive, and so are those below the limit.
        assert (found > 0).all()


def test_bounds_without_a_value_between_them_have_a_place_of_their_own() -> None:
    table, _ = censored([1.0, 2.0, 3.0, 8.0, 9.0], [(5.0, 6.0)] * 3)
    latent = latent_table(table, "normal-scores")
    low, high = latent.bounds[0][-1]
    assert low < high
    found = LatentGaussian().images(table, latent).observed(np.linspace(low, high, 9)[:, np.newaxis] * np.ones(3))
    assert found[0, 0] == pytest.approx(5.0)
    assert found[-1, 0] == pytest.approx(6.0)


@settings(max_examples=30)
@given(st.integers(0, 2**32 - 1))
def test_censored_cells_spread_like_all_others_between_their_bounds(seed: int) -> None:
    generator = np.random.default_rng(seed)
    values = generator.normal(size=8).round(1)
    bounds = np.sort(generator.normal(size=(5, 2)).round(2), axis=1)
    bounds[:, 1] += 0.01
    bounds[0, 0], bounds[1, 1] = -np.inf, np.inf
    table, _ = censored(values.tolist(), [tuple(own) for own in bounds.tolist()])
    margin = margin_of(table, 0, "normal-scores")
    before, shares = self_consistent(margin.values, values, bounds)
    edges = norm.ppf((np.cumsum([before, *shares]) + 0.5) / (13 + 1))
    np.testing.assert_allclose(margin.edges, edges, atol=1e-9)
