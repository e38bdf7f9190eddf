"""Whether the parameters that effects are drawn from have their posterior. Every test fixes its seed.

A test of Kolmogorov and Smirnov fails below 1e-8, a mean beyond 5.5 standard errors: a false alarm in fewer than one of
10^7 numbers that are looked at, one of 10^6 runs of this file.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

from dagpost._tools.kernels import kernel
from dagpost.causal import discrete
from dagpost.causal.keyed_draws import log_gamma, normal, restart, uniform
from dagpost.data.table import Table
from dagpost.local.base import NumberModel, fitter_of
from dagpost.prediction.background import no_background
from dagpost.prediction.statistics import sufficient_statistics
from dagpost.scores import BDeu, ConditionalGaussian

_LEAST = 1e-8
_FARTHEST = 5.5


@kernel
def _streams(shape: float, numbers: Any, gammas: Any) -> None:
    """The first numbers of streams that differ in one part of their key."""
    state = np.empty(1, dtype=np.uint64)
    for place in range(len(gammas)):
        restart(state, np.uint64(5), place // 100, place % 10, place % 100 // 10)
        numbers[place, 0] = uniform(state)
        numbers[place, 1] = normal(state)
        gammas[place] = log_gamma(shape, state)


@pytest.mark.parametrize("shape", [0.003, 0.5, 1.0, 3.7, 2e4])
def test_streams_have_their_distributions_and_do_not_depend_on_their_neighbours(shape: float) -> None:
    numbers, gammas = np.empty((20_000, 2)), np.empty(20_000)
    _streams(shape, numbers, gammas)
    assert stats.kstest(numbers[:, 0], "uniform").pvalue > _LEAST
    assert stats.kstest(numbers[:, 1], "norm").pvalue > _LEAST
    # Of a tiny shape most numbers underflow: near 0 the distribution function is x^a / Gamma(a + 1).
    near = gammas < -20.0
    chances = stats.gamma.cdf(np.exp(gammas), shape)
    chances[near] = np.exp(shape * gammas[near] - math.lgamma(shape + 1.0))
    assert stats.kstest(chances, "uniform").pvalue > _LEAST
    for lag in (1, 10, 100):
        for own in (numbers[:, 0], numbers[:, 1], chances):
            assert abs(np.corrcoef(own[lag:], own[:-lag])[0, 1]) < _FARTHEST / np.sqrt(20_000 - lag)


def test_levels_have_their_dirichlet_posterior_in_combinations_that_occur_and_others() -> None:
    generator = np.random.default_rng(1)
    parent, child = generator.integers(0, 2, 30), generator.integers(0, 3, 30)
    levels = (("a", "b", "c"), ("x", "y", "z"))
    table = Table(("P", "C"), (parent.astype(np.uint8), child.astype(np.uint8)), levels)
    graphs = np.tile(np.array([[0, 1]], dtype=np.uint64), (20_000, 1))
    statistics = sufficient_statistics(table, graphs, BDeu(3.0))
    prior = BDeu(3.0).parameter_prior()
    draws = discrete.drawn(statistics, prior, graphs, no_background(2), generator)
    for code in range(3):
        counts = np.bincount(child[parent == code], minlength=3) + 3.0 / 9
        found = draws.outcome(1, {0: float(code)})
        for level in range(3):
            own = stats.beta(counts[level], counts.sum() - counts[level])
            assert stats.kstest(own.cdf(np.maximum(found[:, level], 1e-300)), "uniform").pvalue > _LEAST
        # Of two levels together, so that they are not drawn independently of each other.
        expected = -counts[0] * counts[1] / (counts.sum() ** 2 * (counts.sum() + 1))
        products = (found[:, 0] - found[:, 0].mean()) * (found[:, 1] - found[:, 1].mean())
        assert abs(products.mean() - expected) < _FARTHEST * products.std() / np.sqrt(20_000)
    apart = np.corrcoef(draws.outcome(1, {0: 0.0})[:, 0], draws.outcome(1, {0: 1.0})[:, 0])[0, 1]
    assert abs(apart) < _FARTHEST / np.sqrt(20_000)


def _numbers() -> Table:
    generator = np.random.default_rng(2)
    group = generator.integers(0, 2, 40)
    first = generator.normal(3, 2, 40)
    second = 1 + (0.5 + group) * first + generator.normal(0, 1.5, 40)
    columns = (group.astype(np.uint8), first, second)
    return Table(("G", "X", "Y"), columns, (("a", "b", "c"), None, None))


def test_slopes_have_students_distribution_in_combinations_that_occur_and_others() -> None:
    table, score = _numbers(), ConditionalGaussian()
    model = fitter_of(table, score.parameter_prior())(2, (0, 1))
    assert isinstance(model, NumberModel)
    theta = model.drawn(np.random.default_rng(3), 20_000)
    data = np.column_stack(table.columns[1:])
    scale = 0.5 * np.diag(data.std(axis=0, ddof=1) ** 2)
    for code in range(3):
        rows = data[table.columns[0] == code]
        distance = (rows.mean(axis=0) if len(rows) else data.mean(axis=0)) - data.mean(axis=0)
        centred = rows - rows.mean(axis=0) if len(rows) else rows
        matrix = scale + centred.T @ centred + len(rows) / (len(rows) + 1) * np.outer(distance, distance)
        freedom = 4.0 + len(rows) - 2 + 2
        left = matrix[1, 1] - matrix[0, 1] ** 2 / matrix[0, 0]
        slope = stats.t(freedom, matrix[0, 1] / matrix[0, 0], np.sqrt(left / freedom / matrix[0, 0]))
        mean = (data.mean(axis=0) + rows.sum(axis=0)) / (len(rows) + 1)
        centre = stats.t(freedom, mean[1], np.sqrt(left / freedom / (len(rows) + 1)))
        at, more = model.expected(np.array([[[code] * 2], [[mean[0], mean[0] + 1.0]]]), theta).T
        assert stats.kstest(slope.cdf(more - at), "uniform").pvalue > _LEAST
        assert stats.kstest(centre.cdf(at), "uniform").pvalue > _LEAST


def test_outcomes_and_direct_parts_under_mean_parameters_are_the_means_of_draws() -> None:
    generator = np.random.default_rng(4)
    codes = [generator.integers(0, 2 + column % 2, 25).astype(np.uint8) for column in range(4)]
    levels = tuple(tuple(range(2 + column % 2)) for column in range(4))
    of_levels = Table(("A", "B", "C", "D"), tuple(codes), levels)
    graph = np.array([[0, 1, 3, 7]], dtype=np.uint64)
    statistics, prior = sufficient_statistics(of_levels, graph, BDeu(1.0)), BDeu(1.0).parameter_prior()
    background = no_background(4)
    means = discrete.expected(statistics, prior, graph, background)
    draws = discrete.drawn(statistics, prior, np.repeat(graph, 20_000, axis=0), background, generator)
    for ask in (
        lambda made: made.outcome(3, {}),
        lambda made: made.outcome(3, {0: 1.0}),
        lambda made: made.direct(0, 3, (1.0, 0.0)),
    ):
        found, expected = ask(draws), ask(means)[0]
        error = found.std(axis=0) / np.sqrt(len(found))
        assert (np.abs(found.mean(axis=0) - expected) < _FARTHEST * error + 1e-12).all()
