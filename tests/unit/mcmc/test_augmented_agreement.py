"""Averages over chains of completed tables: figures as ArviZ has them, errors that hold, and agreement."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.naive.chain_figures import effective_sizes
from tests.tools.wording import ESTIMATES, Said

from dagpost.mcmc.augmented_agreement import agreement_of, diagnose_sweeps
from dagpost.mcmc.diagnostics import ChainDiagnostics
from dagpost.mcmc.number_series import averages_of


def wandering(chains: int, draws: int, quantities: int, stay: float, seed: int) -> np.ndarray:
    """Autoregressive series (chains, draws, quantities) of mean 0 and variance 1."""
    noise = np.random.default_rng(seed).normal(size=(chains, draws, quantities))
    for draw in range(1, draws):
        noise[:, draw] = stay * noise[:, draw - 1] + math.sqrt(1.0 - stay**2) * noise[:, draw]
    return noise


@given(
    chains=st.integers(1, 5),
    draws=st.integers(4, 150),
    stay=st.sampled_from([-0.9, 0.0, 0.5, 0.95, 1.0]),
    apart=st.sampled_from([0.0, 3.0]),
    seed=st.integers(0, 2**32),
)
def test_figures_are_those_of_arviz(chains: int, draws: int, stay: float, apart: float, seed: int) -> None:
    from arviz_stats.base import array_stats  # type: ignore[attr-defined]

    series = wandering(chains, draws, 2, stay, seed) + apart * np.arange(chains)[:, None, None]
    found = averages_of(series)
    sizes = effective_sizes(series)
    moving = np.ptp(series, axis=1).max(axis=0) > 0.0
    np.testing.assert_allclose(found.effective[moving], sizes[moving], rtol=1e-8)
    np.testing.assert_allclose(found.means, series.mean(axis=(0, 1)), atol=1e-12)
    if chains > 1 and stay < 1.0:
        r_hats = array_stats.rhat(series, chain_axis=0, draw_axis=1, method="split")
        np.testing.assert_allclose(found.r_hats, r_hats, rtol=1e-8)


def test_a_series_that_stands_still_has_no_error_and_chains_apart_are_worth_one_draw_each() -> None:
    series = np.zeros((3, 20, 2))
    series[:, :, 1] = [[0.1], [0.2], [0.6]]
    found = averages_of(series)
    assert found.errors[0] == 0.0
    assert math.isnan(found.effective[0])
    assert found.effective[1] == 3.0
    assert found.r_hats[1] == math.inf
    assert agreement_of(series).largest_r_hat == math.inf


def test_a_few_sweeps_are_worth_no_more_than_their_chains() -> None:
    series = np.random.default_rng(1).random((4, 3, 5))
    found = averages_of(series)
    assert (found.effective == 4.0).all()
    assert (found.r_hats == math.inf).all()
    np.testing.assert_allclose(found.errors, series.std(axis=(0, 1), ddof=1) / 2.0)


def test_standard_errors_are_as_large_as_the_errors_are() -> None:
    # 400 means of 4 chains of 200 draws, known to be 0. Their squared errors over the estimated variances have mean 1
    # if these are right: with 400 of them, 0.7 to 1.4 is missed by chance once in 10,000 seeds at most.
    found = averages_of(wandering(4, 200, 400, 0.8, 5))
    assert 0.7 < float(((found.means / found.errors) ** 2).mean()) < 1.4


@given(seed=st.integers(0, 2**32), stay=st.sampled_from([0.0, 0.9]))
def test_agreement_is_that_of_the_worst_probability_that_varies(seed: int, stay: float) -> None:
    series = 0.5 + wandering(3, 60, 6, stay, seed) * np.array([0.0, 1e-6, 1e-3, 0.05, 0.1, 0.2])
    found, own = agreement_of([*series[:, :, :4]], series[:, :, 4:]), averages_of(series)
    tells = own.spreads > 0.02
    assert found.telling == tells.sum()
    assert found.largest_r_hat == max(1.0, float(own.r_hats[tells].max()))
    assert found.smallest_effective == min(180.0, float(own.effective[tells].min()))
    assert found.largest_error == float(own.errors.max())


def test_chains_of_different_lengths_are_cut_and_unknown_probabilities_left_out() -> None:
    generator = np.random.default_rng(3)
    chains = [generator.random((draws, 2)) for draws in (50, 60)]
    for own in chains:
        own[:, 1] = math.nan
    assert agreement_of(chains) == agreement_of(np.stack([own[:50, :1] for own in chains]))


def edges_of(spread: float, stay: float, *, apart: float = 0.0, chains: int = 4, sweeps: int = 400) -> np.ndarray:
    """Probabilities of the edges of two columns, of which one depends on the completed cells."""
    series = np.zeros((chains, sweeps, 2, 2), dtype=np.float32)
    series[:, :, 0, 1] = np.clip(0.5 + spread * wandering(chains, sweeps, 1, stay, 7)[:, :, 0], 0.0, 1.0)
    series[0, :, 0, 1] += apart
    return series


def judged(edges: np.ndarray, *, exact: bool = True) -> ChainDiagnostics:
    return diagnose_sweeps(edges, None, ("a", "b"), edges.shape[1], {}, exact=exact)


def test_chains_that_agree_are_trusted_to_two_standard_errors() -> None:
    found = judged(edges_of(0.1, 0.5))
    assert found.trusted
    assert found.verdict.startswith("Trust it to about ±0.01: 4 chains of 400 completed tables, from cells drawn ")
    assert found.edges["parent"].tolist() == ["a"]
    assert found.edges.loc[0, "error"] == pytest.approx(0.1 * math.sqrt(3.0 / 1600.0), rel=0.3)


@pytest.mark.parametrize(
    ("edges", "words"),
    [
        (edges_of(0.1, 0.0, apart=0.2), "disagree, most about a -> b (R-hat"),
        (edges_of(0.1, 0.8, sweeps=200), "are worth only"),
        (edges_of(0.1, 0.0, chains=1), "Run at least two."),
        (edges_of(0.1, 0.0, sweeps=20), "4 chains of 20 completed tables are too few"),
        (edges_of(0.5, 0.7, sweeps=200), "but the standard errors of the averages are at most 0.0"),
    ],
)
def test_chains_that_are_worth_too_little_are_not_trusted(edges: np.ndarray, words: str) -> None:
    found = judged(edges)
    assert not found.trusted
    assert found.verdict.startswith("Do not trust it yet: ")
    assert words in found.verdict


def test_cells_that_change_nothing_leave_nothing_to_doubt() -> None:
    found = judged(edges_of(0.001, 0.99))
    assert found.trusted
    assert found.uncertain == 0


def test_graphs_that_a_chain_moved_are_no_proof(said: Said) -> None:
    said(judged(edges_of(0.1, 0.5), exact=False).verdict, ESTIMATES)
