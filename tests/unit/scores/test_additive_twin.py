"""The slow twin of the additive score against densities and splines of others: what it is held to must be right."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.interpolate import BSpline
from scipy.stats import multivariate_t, norm, rankdata
from tests.naive import additive as naive
from tests.tools.mixed_tables import mixed_table

from dagpost.data.table import Table

#: Repeated values among them, and only a few.
VALUES = {
    "no ties": np.random.default_rng(1).normal(size=50),
    "ties": np.random.default_rng(2).integers(0, 9, 50).astype(float),
    "six values": np.random.default_rng(3).integers(0, 6, 50).astype(float),
    "five values": np.random.default_rng(3).integers(0, 5, 50).astype(float),
    "three values": np.random.default_rng(4).integers(0, 3, 50).astype(float),
    "a first third of one value": np.maximum(np.random.default_rng(5).normal(size=50), 0.0),
}


@pytest.mark.parametrize("width", [1, 3])
@pytest.mark.parametrize("counted", [False, True])
def test_the_density_of_all_rows_is_the_product_of_predictions(counted: bool, width: int) -> None:
    """Each row has a Student t density, given the coefficients and the noise that the rows before it have taught."""
    generator = np.random.default_rng(5)
    ys, inputs, variances = generator.normal(size=(12, width)), generator.normal(size=(12, 3)), [100.0, 1.0, 0.5]
    times = generator.integers(0, 4, 12) if counted else np.ones(12, dtype=int)
    precision, coefficients = np.diag(1.0 / np.array(variances)), np.zeros((3, width))
    spread, degrees, expected = np.eye(width), width + 1.0, 0.0
    for row in np.repeat(np.arange(12), times):
        x, y = inputs[row], ys[row]
        wider = 1.0 + x @ np.linalg.solve(precision, x)
        free = degrees - width + 1.0
        expected += float(multivariate_t.logpdf(y, x @ coefficients, spread * wider / free, df=free))
        away = y - x @ coefficients
        spread = spread + np.outer(away, away) / wider
        coefficients = coefficients + np.outer(np.linalg.solve(precision, x), away) / wider
        precision, degrees = precision + np.outer(x, x), degrees + 1.0
    assert naive.log_density(ys, inputs, variances, times.tolist()) == pytest.approx(expected, rel=1e-11)


@pytest.mark.parametrize("name", VALUES)
def test_normal_scores_are_quantiles_of_mid_ranks(name: str) -> None:
    values = VALUES[name]
    found = naive.normal_scores(values.tolist(), [1] * len(values))
    quantiles = norm.ppf((rankdata(values) - 0.5) / len(values))
    expected = (quantiles - quantiles.mean()) / quantiles.std()
    np.testing.assert_allclose(found, expected, atol=1e-12)


@pytest.mark.parametrize("counted", [False, True])
@pytest.mark.parametrize("name", VALUES)
def test_lines_and_curves_are_an_orthonormal_basis_of_cubic_splines(name: str, counted: bool) -> None:
    values = VALUES[name]
    times = np.random.default_rng(1).integers(0, 4, len(values)) if counted else np.ones(len(values), dtype=int)
    x = naive.normal_scores(values.tolist(), times.tolist())
    basis = np.column_stack([np.ones(len(x)), x, naive.curve_of(x, times.tolist())])[times > 0]
    weights = times[times > 0] / times.sum()
    np.testing.assert_allclose(basis.T @ (weights[:, None] * basis), np.eye(basis.shape[1]), atol=1e-9)
    kept, knots = x[times > 0], [naive.quantile(x, times.tolist(), third, 3) for third in (1, 2)]
    inner = [knot for knot in knots if kept.min() < knot < kept.max()]
    splines = BSpline.design_matrix(kept, [kept.min()] * 4 + inner + [kept.max()] * 4, 3).toarray()
    assert basis.shape[1] == np.linalg.matrix_rank(splines, tol=1e-8)
    roots = np.sqrt(weights)[:, None]
    within, *_ = np.linalg.lstsq(roots * basis, roots * splines)
    np.testing.assert_allclose(basis @ within, splines, atol=1e-8)


def test_contrasts_tell_levels_apart_evenly() -> None:
    """Whatever the basis, two levels lie twice as far from each other, squared, as the variance of two coefficients."""
    codes = np.array([0, 1, 3, 3, 0, 4], dtype=np.uint8)
    found = naive.contrasts_of(codes, [1, 1, 1, 1, 0, 1])
    assert found.shape == (6, 3)
    distances = ((found[:, None] - found[None]) ** 2).sum(axis=2)
    np.testing.assert_allclose(distances, 4.0 * (codes[:, None] != codes[None]), atol=1e-12)


def test_two_numbers_are_averaged_over_both_orders() -> None:
    table = mixed_table((0, 0), 30, 2)
    evidence = naive.Evidence(table)
    times = evidence.times(0)
    one, other = (
        evidence.regression(first, frozenset(), times) + evidence.regression(second, frozenset([first]), times)
        for first, second in ((0, 1), (1, 0))
    )
    assert evidence.score(0, []) + evidence.score(1, [0]) == pytest.approx(np.logaddexp(one, other) - np.log(2.0))


def test_a_regression_without_rows_says_nothing() -> None:
    table = Table(("a", "b"), (np.arange(3.0), np.arange(3, dtype=np.uint8)), (None, (0, 1, 2)),
                  interventions=np.array([1, 1, 1], dtype=np.uint64))  # fmt: skip
    assert naive.Evidence(table).score(0, [1]) == pytest.approx(0.0, abs=1e-12)
