"""Regressions of local models beside plain formulas, and what their features are."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.interpolate import BSpline
from scipy.optimize import minimize
from tests.unit.local.test_moved_rows import table_of_all_kinds

from dagpost import Recipe
from dagpost._tools.kernels import kernel
from dagpost.data import as_table
from dagpost.local.additive import fitter
from dagpost.local.layout import Part, feature_matrix, form_of, numbers_matrix, parts_of, predict
from dagpost.local.margins import margins_of, spline_matrix
from dagpost.local.models import models_of
from dagpost.local.regression import logistic, shrunken, sums_of, with_covariance
from dagpost.local.scales import BOTH_WAYS, LOG, OWN, Scale, from_scale, on_scale, to_scale
from dagpost.local.spread import moved, spread_of
from dagpost.scores import Additive


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_a_regression_is_evaluated_as_its_features_say(seed: int) -> None:
    rng = np.random.default_rng(seed)
    table = as_table(table_of_all_kinds(int(rng.integers(5)), 50))
    margins, features = margins_of(table)
    parents = sorted(rng.permutation(6)[: rng.integers(1, 6)].tolist())
    parts = parts_of(parents, margins, features)
    matrix = feature_matrix(parts, features, np.arange(50))
    coefficients = rng.normal(size=matrix.shape[1])
    values, found = np.stack([table.columns[parent].astype(np.float64) for parent in parents]), np.empty((1, 50))
    theta = numbers_matrix(parts, features) @ coefficients
    predict(form_of(parts, parents), margins, values[:, np.newaxis], theta[np.newaxis], 0, found)
    np.testing.assert_allclose(found[0], matrix @ coefficients, rtol=1e-9, atol=1e-9)


def test_features_vary_as_much_as_a_line_and_curves_are_free_of_it() -> None:
    table = as_table(table_of_all_kinds(3, 500))
    for own in margins_of(table)[1]:
        matrix = own.matrix[own.codes]
        if own.lines == 1:
            straight = np.column_stack([np.ones(500), matrix[:, 0]])
            np.testing.assert_allclose(straight.T @ matrix[:, 1:], 0.0, atol=1e-6)
            if matrix.shape[1] > 1:
                assert (matrix[:, 1:] ** 2).mean(axis=0).sum() == pytest.approx(1.0)
        assert (matrix[:, 0] ** 2).mean() == pytest.approx(1.0, abs=0.6)


def test_splines_are_those_of_scipy() -> None:
    places = np.linspace(-1.0, 3.0, 41)
    knots = np.arange(-3, 9) * 0.8 - 1.0
    expected = BSpline.design_matrix(places, knots, 3).toarray()
    np.testing.assert_allclose(spline_matrix(places, -1.0, 0.8, 5), expected, atol=1e-12)
    # Beyond the ends they are straight.
    outside = spline_matrix(np.array([-1.5, -1.0, -0.999999, 2.999999, 3.0, 3.7]), -1.0, 0.8, 5)
    slopes = (outside[2] - outside[1]) / 1e-6, (outside[4] - outside[3]) / 1e-6
    np.testing.assert_allclose(outside[0], outside[1] - 0.5 * slopes[0], atol=1e-5)
    np.testing.assert_allclose(outside[5], outside[4] + 0.7 * slopes[1], atol=1e-5)


def rows_of(matrix: np.ndarray, weights: np.ndarray):  # type: ignore[no-untyped-def]
    """The rows in two pieces."""

    def pieces() -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        for part in np.array_split(np.arange(len(matrix)), 2):
            yield matrix[part], part, weights[part]

    return pieces


def test_lines_are_the_closed_posterior() -> None:
    rng = np.random.default_rng(1)
    matrix = np.column_stack([np.ones(80), rng.normal(size=(80, 2))])
    target, weights = matrix @ [0.1, 0.5, -0.3] + rng.normal(size=80), rng.integers(1, 4, 80).astype(float)
    parts = [Part(0, (0,), 2, 2, 2)]
    found = shrunken(sums_of(rows_of(matrix, weights), target[:, np.newaxis], 3), 0, parts)
    precision = np.diag([1e-4, 0.25, 0.25]) + (matrix * weights[:, np.newaxis]).T @ matrix
    np.testing.assert_allclose(found.coefficients, np.linalg.solve(precision, matrix.T @ (weights * target)))


def test_the_evidence_is_that_of_the_marginal_distribution() -> None:
    from scipy.stats import multivariate_t

    rng = np.random.default_rng(2)
    matrix = np.column_stack([np.ones(12), rng.normal(size=(12, 2))])
    parts, targets = [Part(0, (0,), 2, 2, 2)], rng.normal(size=(12, 3))
    sums = sums_of(rows_of(matrix, np.ones(12)), targets, 3)
    # The variance of the noise is inverse gamma with shape and rate one half.
    shape = np.eye(12) + (matrix * [1e4, 4.0, 4.0]) @ matrix.T
    exact = [multivariate_t(shape=shape, df=1).logpdf(target) for target in targets.T]
    found = [shrunken(sums, number, parts).log_evidence for number in range(3)]
    np.testing.assert_allclose(np.diff(found), np.diff(exact), rtol=1e-9)


def test_the_covariance_holds_under_unequal_noise() -> None:
    rng = np.random.default_rng(3)
    rows, parts = 2_000, [Part(0, (0,), 1, 1, 1)]
    x = rng.normal(size=rows)
    matrix = np.column_stack([np.ones(rows), x])
    ends = []
    for _ in range(200):
        target = 0.3 * x + np.abs(x) * rng.normal(size=rows)
        pieces = rows_of(matrix, np.ones(rows))
        own, _, _ = with_covariance(shrunken(sums_of(pieces, target[:, np.newaxis], 2), 0, parts), pieces, target)
        ends.append((own.coefficients[1], np.sqrt((own.factor @ own.factor.T)[1, 1])))
    slopes, deviations = np.array(ends).T
    # 200 slopes: their deviation is known within 5%, six of which are hardly ever exceeded by chance.
    assert deviations.mean() == pytest.approx(slopes.std(), rel=0.3)


@pytest.mark.parametrize("few", [40, 400])
def test_a_logistic_regression_is_the_mode_of_its_posterior(few: int) -> None:
    rng = np.random.default_rng(few)
    matrix = np.column_stack([np.ones(400), rng.normal(size=(400, 2))])
    target = (rng.random(400) < 1.0 / (1.0 + np.exp(-matrix @ [0.5, 2.0, -1.0]))).astype(float)
    weights = rng.integers(1, 3, 400).astype(float)
    first = rows_of(matrix[:few], weights[:few] * weights.sum() / weights[:few].sum())
    parts = [Part(0, (0,), 2, 2, 2)]

    def one_piece() -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        pieces = list(first())
        yield tuple(np.concatenate(own) for own in zip(*pieces, strict=True))  # type: ignore[misc]

    found = logistic(rows_of(matrix, weights), one_piece, target, parts)

    def loss(own: np.ndarray) -> float:
        odds = matrix @ own
        fit = weights @ (np.logaddexp(0.0, odds) - target * odds)
        return float(fit + 0.5 * (own**2 / [1e4, 4.0, 4.0]).sum())

    np.testing.assert_allclose(found.coefficients, minimize(loss, np.zeros(3)).x, atol=1e-4)


@kernel
def _moved(spread, values, befores, afters, result):  # type: ignore[no-untyped-def]
    for row in range(len(values)):
        result[row] = moved(spread, values[row], befores[row], afters[row])


def test_values_keep_their_place_and_come_back() -> None:
    rng = np.random.default_rng(4)
    predicted = rng.normal(size=3_000)
    residuals = np.exp(0.5 * predicted) * rng.normal(size=3_000)
    own = spread_of(residuals, predicted, np.ones(3_000))
    assert own.bins > 10
    values, befores, afters = predicted + residuals, predicted, predicted + 1.0
    there, back, same = (np.empty(3_000) for _ in range(3))
    _moved(own, values, befores, afters, there)
    _moved(own, there, afters, befores, back)
    _moved(own, values, befores, befores, same)
    np.testing.assert_allclose(same, values, atol=1e-9)
    np.testing.assert_allclose(back, values, atol=1e-6)
    inner = np.abs(predicted) < 0.5
    # Noise is wider by exp(0.5) there.
    grown = (there - afters)[inner].std() / residuals[inner].std()
    assert grown == pytest.approx(np.exp(0.5), rel=0.15)


@kernel
def _there_and_back(kind, place, unit, value):  # type: ignore[no-untyped-def]
    return from_scale(kind, place, unit, to_scale(kind, place, unit, value))


@pytest.mark.parametrize("scale", [Scale(), Scale(LOG, 1.0), Scale(BOTH_WAYS, 3.0, 2.0)])
def test_scales_lead_there_and_back(scale: Scale) -> None:
    values = np.array([0.0, 0.5, 3.0, 40.0])
    shown, log_slope = on_scale(values, scale)
    for value in values.tolist():
        assert _there_and_back(scale.kind, scale.place, scale.unit, value) == pytest.approx(value, abs=1e-12)
    step = on_scale(values + 1e-6, scale)[0] - shown
    np.testing.assert_allclose(np.log(step / 1e-6), log_slope, atol=1e-5)


def test_the_scale_is_that_on_which_effects_add_up() -> None:
    rng = np.random.default_rng(5)
    x = rng.normal(size=500)
    frame = pd.DataFrame({"x": x, "log": np.exp(x + 0.3 * rng.normal(size=500)), "own": 5.0 + x + rng.normal(size=500)})
    scales = fitter(as_table(frame), Additive().parameter_prior()).scales  # type: ignore[attr-defined]
    assert [own.kind for own in scales[1:]] == [LOG, OWN]


def test_constant_columns_and_levels_that_no_row_has_are_taken() -> None:
    level = pd.Categorical(["u", "v", "u"] * 4, list("uvw"))
    frame = pd.DataFrame({"x": [1.0, 2.0, 4.0] * 4, "same": 3.0, "level": level})
    models = models_of(as_table(frame, recipe=Recipe(keep=["same"])), Additive().parameter_prior())
    every = [(child, mask) for child in range(3) for mask in range(8) if not mask >> child & 1]
    children, masks = (np.array(own) for own in zip(*every, strict=True))
    found = models.families(children, masks.astype(np.uint64))
    for model in found:
        assert np.isfinite(model.likeliest).all()
        assert np.isfinite(model.drawn(np.random.default_rng(1), 5)).all()
