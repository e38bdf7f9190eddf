"""Whether chains can be trusted: the figures, the verdict in words, and intervals from what chains are worth."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom
from tests.naive.chain_figures import effective_sizes, r_hat
from tests.tools.wording import ESTIMATES, Said

from dagpost.mcmc.checks import BETTER, OTHER, SAME, WORSE, ChainChecks, ExactCompared, ProbeFound
from dagpost.mcmc.diagnostics import (
    ChainDiagnostics,
    by_chain,
    diagnose,
)
from dagpost.posterior.estimate import chain_estimate

NAMES = ("a", "b", "c")


def persistent(chains: int, draws: int, share: float, stay: float, seed: int) -> np.ndarray:
    """0s and 1s (chains, draws): each draw stays as it was with probability `stay`, else it is drawn anew."""
    rng = np.random.default_rng(seed)
    series = (rng.random((chains, draws)) < share).astype(np.float64)
    stays = rng.random((chains, draws)) < stay
    for draw in range(1, draws):
        series[:, draw] = np.where(stays[:, draw], series[:, draw - 1], series[:, draw])
    return series


def graphs_with(series: np.ndarray, nodes: int = 3) -> np.ndarray:
    """Graphs, chain after chain, in which a -> c is there as `series` (chains, draws) says, and nothing else."""
    parents = np.zeros((series.size, nodes), dtype=np.uint64)
    parents[:, 2] = series.reshape(-1).astype(np.uint64)
    return parents


def probed(outcome: str = SAME, **about: float) -> ChainChecks:
    found = {"gain": 0.0, "difference": 0.01, **about}
    return ChainChecks(True, ProbeFound(outcome, 2, 100, edge=(0, 2), **found), unchecked="they would take too long")


def diagnosis(series: np.ndarray, checks: ChainChecks | None = None) -> ChainDiagnostics:
    checks = probed() if checks is None else checks
    return diagnose(graphs_with(series), NAMES, [series.shape[1]] * len(series), {"move": 0.25}, checks)


# The figures


def test_chains_of_unequal_length_are_cut_to_the_shortest() -> None:
    assert by_chain(np.arange(8), (3, 2, 3)).tolist() == [[0, 1], [3, 4], [5, 6]]
    assert by_chain(np.arange(12).reshape(6, 2), (3, 3)).shape == (2, 3, 2)


# The verdict


def test_good_chains_are_trusted_as_far_as_they_go() -> None:
    found = diagnosis(persistent(4, 1000, 0.5, 0.5, 3))
    assert found.trusted
    assert repr(found) == found.verdict
    smallest = found.smallest_effective
    assert 500 < smallest < 4000
    # Two standard errors of a share of one half.
    assert found.verdict.startswith(
        f"Nothing speaks against it, to about ±{2 * math.sqrt(0.25 / smallest):.2f}: 4 chains of 1,000 graphs, in "
        "pairs from opposite orders, agree"
    )
    assert found.verdict.endswith("That is not proof. Not compared with exact probabilities: they would take too long.")
    assert "rust" not in found.verdict
    assert f"worth at least {smallest:.0f} independent graphs" in found.verdict
    assert (found.chains, found.draws, found.uncertain) == (4, 1000, 1)
    assert found.acceptance == {"move": 0.25}
    assert found.largest_r_hat < 1.05


def test_chains_that_disagree_are_not_trusted_and_the_worst_edge_is_named() -> None:
    series = persistent(4, 500, 0.2, 0.3, 4)
    series[3] = persistent(1, 500, 0.8, 0.3, 5)
    found = diagnosis(series)
    assert not found.trusted
    assert found.largest_r_hat > 1.05
    assert found.verdict.startswith("Do not trust it yet: 4 chains of 500 graphs disagree, most about a -> c (R-hat 1.")


def test_chains_stuck_apart_are_not_trusted(said: Said) -> None:
    series = np.zeros((2, 300))
    series[1] = 1.0
    found = diagnosis(series)
    assert not found.trusted
    assert found.largest_r_hat == math.inf
    said(found.verdict, ESTIMATES)


def test_chains_that_agree_but_hardly_move_are_not_trusted() -> None:
    """The same slow series in both chains: they cannot disagree, but are worth little."""
    slow = persistent(1, 1500, 0.5, 0.97, 6)
    found = diagnosis(np.concatenate([slow, slow]))
    assert found.largest_r_hat < 1.05
    assert found.smallest_effective < 100
    assert not found.trusted
    assert (
        f"agree (R-hat {found.largest_r_hat:.2f}), but are worth only {found.smallest_effective:.0f}" in found.verdict
    )


def test_one_chain_alone_is_not_trusted(said: Said) -> None:
    found = diagnosis(persistent(1, 1000, 0.5, 0.0, 7))
    assert not found.trusted
    said(found.verdict, ESTIMATES)


def test_chains_without_uncertain_edges_are_trusted() -> None:
    series = np.ones((2, 300))
    series[0, 7] = 0.0
    found = diagnosis(series)
    assert found.trusted
    assert found.uncertain == 0
    assert found.verdict.startswith(
        "Nothing speaks against it, to about ±0.01: 2 chains of 300 graphs, in pairs from opposite orders, agree that "
        "no edge is uncertain; 2 more, from annealed starts, found the same."
    )
    assert found.largest_r_hat == 1.0


def test_chains_of_graphs_without_edges_are_trusted() -> None:
    found = diagnosis(np.zeros((2, 300)))
    assert found.trusted
    assert len(found.edges) == 0


def test_agreement_alone_earns_no_trust() -> None:
    """As of chains of which nobody says what was checked."""
    series = persistent(4, 1000, 0.5, 0.5, 3)
    found = diagnose(graphs_with(series), NAMES, (1000,) * 4, {})
    assert found.agreed
    assert not found.trusted
    assert found.verdict.startswith("Not enough was checked to trust it: 4 chains of 1,000 graphs agree")
    assert found.summary()["checks"] is None
    stopped = ChainChecks(True, unchecked="the run was interrupted")
    broken_off = diagnose(graphs_with(series), NAMES, (1000,) * 4, {}, stopped)
    assert not broken_off.trusted
    assert broken_off.verdict.endswith("Not compared with exact probabilities: the run was interrupted.")


def test_one_chain_of_forty_that_went_astray_is_seen() -> None:
    """It changes no share by more than 0.025, but it says that chains can miss something."""
    series = np.zeros((40, 100))
    series[7] = 1.0
    found = diagnosis(series)
    assert found.uncertain == 1
    assert not found.agreed
    assert "disagree, most about" in found.verdict


def test_too_few_independent_graphs_are_not_trusted_without_exact_edges(said: Said) -> None:
    series = persistent(4, 60, 0.5, 0.0, 11)
    found = diagnosis(series)
    assert found.agreed
    assert 100 < found.smallest_effective < 400
    assert not found.trusted
    said(found.verdict, ESTIMATES)
    compared = replace(probed(), exact=ExactCompared(0.03, (0, 2)))
    assert diagnosis(series, compared).trusted


@pytest.mark.parametrize(
    ("outcome", "words"),
    [
        (BETTER, "found more probable graphs (log weight higher by 18.0; the share of a -> c differs by 0.90)"),
        (OTHER, "found other graphs that weigh as much (the share of a -> c differs by 0.90)"),
    ],
)
def test_what_a_probe_found_outweighs_agreement(outcome: str, words: str) -> None:
    found = diagnosis(persistent(4, 1000, 0.5, 0.5, 3), probed(outcome, gain=18.0, difference=0.9))
    assert (found.agreed, found.trusted) == (True, False)
    assert found.verdict.startswith("Do not trust it: 4 chains of 1,000 graphs agree")
    assert words in found.verdict


def test_a_probe_that_ended_among_less_probable_graphs_is_said_to(said: Said) -> None:
    found = diagnosis(persistent(4, 1000, 0.5, 0.5, 3), probed(WORSE, gain=-9.0))
    assert found.trusted
    said(found.verdict, ESTIMATES)


@pytest.mark.parametrize(
    ("difference", "agree", "trusted"),
    [(0.013, True, True), (0.013, False, True), (0.04, True, True), (0.04, False, False), (0.7, True, False)],
)
def test_what_is_exact_decides(difference: float, agree: bool, trusted: bool, said: Said) -> None:
    series = persistent(4, 1000, 0.5, 0.5, 3)
    if not agree:
        series[3] = 1.0
    found = diagnosis(series, ChainChecks(True, exact=ExactCompared(difference, (2, 0))))
    assert (found.agreed, found.trusted) == (agree, trusted)
    if trusted:
        assert f"the largest difference is {difference:.3f} (c -> a)" in found.verdict
    else:
        assert f"Do not trust it: compared with the exact edge probabilities, c -> a is off by {difference:.2f}" in (
            found.verdict
        )
        said(found.verdict, ESTIMATES)
    assert ChainChecks.from_json(json.loads(json.dumps(found.summary()["checks"]))) == found.checks


@pytest.mark.parametrize("draws", [1, 2, 3])
def test_chains_too_short_to_be_split_are_not_trusted(draws: int) -> None:
    series = np.zeros((2, draws))
    series[1] = 1.0
    series[0, -1] = 1.0 if draws > 1 else 0.0
    found = diagnosis(series)
    assert not found.trusted
    assert found.verdict.startswith("Do not trust it yet")


@pytest.mark.parametrize("draws", [1, 3, 10])
def test_a_handful_of_equal_graphs_is_no_reason_for_trust(draws: int) -> None:
    """Ten graphs a chain that have an edge, all of them, leave it a good chance to be uncertain."""
    assert not diagnosis(np.ones((2, draws))).trusted


def test_every_edge_ever_seen_is_listed_with_its_figures() -> None:
    first, second = persistent(2, 400, 0.5, 0.6, 8), persistent(2, 400, 0.02, 0.0, 9)
    parents = graphs_with(first)
    parents[:, 2] |= second.reshape(-1).astype(np.uint64) << np.uint64(1)
    parents[:, 1] = 1
    edges = diagnose(parents, NAMES, (400, 400), {}).edges.set_index(["parent", "child"])
    assert edges.index.tolist() == [("a", "b"), ("a", "c"), ("b", "c")]
    assert edges["frequency"].tolist() == pytest.approx([1.0, first.mean(), second.mean()])
    assert edges.loc[("a", "c"), "r_hat"] == pytest.approx(float(r_hat(first[:, :, None])[0]))
    assert edges.loc[("a", "c"), "effective_samples"] == pytest.approx(float(effective_sizes(first[:, :, None])[0]))
    assert edges.loc[("b", "c"), "r_hat"] == pytest.approx(float(r_hat(second[:, :, None])[0]))


def test_an_edge_that_is_always_there_is_not_said_to_be_infinitely_uncertain() -> None:
    parents = graphs_with(persistent(2, 400, 0.5, 0.0, 10))
    parents[:, 1] = 1
    edges = diagnose(parents, NAMES, (400, 400), {}).edges.set_index(["parent", "child"])
    assert not edges.loc[("a", "b"), "r_hat"] > 1.05


def test_the_notebook_shows_the_verdict_and_the_worst_edges_first() -> None:
    series = np.zeros((2, 300))
    series[1] = 1.0
    parents = graphs_with(series)
    parents[:, 1] = persistent(2, 300, 0.5, 0.0, 11).reshape(-1).astype(np.uint64)
    shown = diagnose(parents, ("<a>", "b", "c"), (300, 300), {})._repr_html_()
    assert "Do not trust it yet" in shown
    assert "<a>" not in shown
    assert shown.index("<td>c</td>") < shown.index("<td>b</td>")


@pytest.mark.parametrize("draws", [1, 3, 400])
@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
def test_the_figures_can_be_written_as_json(share: float, draws: int) -> None:
    series = persistent(2, draws, share, 0.0, 15)
    series[1, 0] = 1.0
    found = diagnose(graphs_with(series), NAMES, (draws, draws), {"tried": 0.5, "never tried": math.nan})
    summary = json.loads(json.dumps(found.summary(), allow_nan=False))
    assert (summary["verdict"], summary["trusted"]) == (found.verdict, found.trusted)
    assert summary["acceptance"] == {"tried": 0.5, "never tried": None}
    assert summary["uncertain_edges"] == found.uncertain


# Intervals


@pytest.mark.parametrize("stay", [0.0, 0.6, 0.9])
@pytest.mark.parametrize("share", [0.5, 0.1])
def test_intervals_cover_the_truth_as_often_as_they_say(share: float, stay: float) -> None:
    """Of 200 intervals of 90%: what chains are worth is estimated; if 85% cover, the false alarm rate is below 1e-6."""
    runs = 200
    covered = 0
    for run in range(runs):
        hit = persistent(4, 400, share, stay, 1000 + run).reshape(-1) == 1.0
        estimate = chain_estimate(hit, None, (400,) * 4, 0.9, "structure", usual_share=0.1)
        assert estimate.value == hit.mean()
        covered += estimate.lower <= share <= estimate.upper
    assert covered >= binom.ppf(1e-6, runs, 0.85)


def test_intervals_are_as_wide_as_the_chains_are_slow() -> None:
    """A chain that stays with probability s is worth (1 - s) / (1 + s) of its draws."""
    for stay, worth in ((0.0, 1.0), (0.6, 0.25), (0.9, 0.1 / 1.9)):
        hit = persistent(4, 20_000, 0.3, stay, 12).reshape(-1) == 1.0
        estimate = chain_estimate(hit, None, (20_000,) * 4, 0.95, "order", usual_share=0.1)
        assert estimate.effective_samples == pytest.approx(80_000 * worth, rel=0.1)
        assert (estimate.rule, estimate.samples, estimate.modularity) == ("effective draws", 80_000, "order")
        assert estimate.lower < estimate.value < estimate.upper


def test_no_chains_are_worth_more_than_their_draws() -> None:
    """To and fro is better than chance, but is not taken for more."""
    hit = np.tile([True, False], 400)
    estimate = chain_estimate(hit, None, (400, 400), 0.95, "structure", usual_share=0.1)
    assert estimate.effective_samples == 800.0


def test_chains_stuck_apart_are_worth_as_many_graphs_as_there_are_chains() -> None:
    hit = np.repeat([True, False, False, True], 100)
    estimate = chain_estimate(hit, None, (100,) * 4, 0.95, "structure", usual_share=0.9)
    assert estimate.value == 0.5
    assert estimate.effective_samples == pytest.approx(4.0)
    assert estimate.lower < 0.07
    assert estimate.upper > 0.93


@pytest.mark.parametrize("always", [True, False])
def test_what_always_or_never_holds_is_judged_by_the_usual_worth(always: bool) -> None:
    hit = np.full(2000, always)
    estimate = chain_estimate(hit, None, (1000, 1000), 0.95, "structure", usual_share=0.05)
    assert estimate.value == float(always)
    assert estimate.effective_samples == pytest.approx(100.0)
    # Clopper-Pearson of 0 (or 100) out of 100.
    far = 1.0 - 0.025 ** (1 / 100)
    assert (estimate.lower, estimate.upper) == pytest.approx((1.0 - far, 1.0) if always else (0.0, far))


def test_a_condition_leaves_the_graphs_in_which_it_holds() -> None:
    given = persistent(2, 5000, 0.4, 0.5, 13).reshape(-1) == 1.0
    hit = persistent(2, 5000, 0.7, 0.5, 14).reshape(-1) == 1.0
    estimate = chain_estimate(hit, given, (5000, 5000), 0.95, "structure", usual_share=0.1)
    assert estimate.value == (hit & given).sum() / given.sum()
    assert estimate.samples == 10_000
    assert 0.05 * given.sum() < estimate.effective_samples <= given.sum()
    always = chain_estimate(given, given, (5000, 5000), 0.95, "structure", usual_share=0.1)
    assert (always.value, always.upper) == (1.0, 1.0)
    assert always.effective_samples == pytest.approx(0.1 * given.sum())


def test_intervals_given_a_condition_cover_the_truth_too() -> None:
    """The statement goes with the condition: 0.8 where it holds, 0.3 elsewhere; the bound as above."""
    runs = 200
    covered = 0
    for run in range(runs):
        given = persistent(4, 400, 0.4, 0.7, 3000 + run).reshape(-1) == 1.0
        inside, outside = (persistent(4, 400, p, 0.5, seed + run).reshape(-1) for p, seed in ((0.8, 5000), (0.3, 7000)))
        hit = np.where(given, inside, outside) == 1.0
        estimate = chain_estimate(hit, given, (400,) * 4, 0.9, "structure", usual_share=0.1)
        covered += estimate.lower <= 0.8 <= estimate.upper
    assert covered >= binom.ppf(1e-6, runs, 0.85)


def test_a_condition_that_never_occurs_says_nothing(said: Said) -> None:
    nothing = np.zeros(200, dtype=bool)
    estimate = chain_estimate(~nothing, nothing, (100, 100), 0.95, "structure", usual_share=0.1)
    assert math.isnan(estimate.value)
    assert (estimate.lower, estimate.upper) == (0.0, 1.0)
    said(estimate.rule)
    assert estimate.samples == 0


def test_a_statement_that_holds_only_where_chains_were_cut_gives_an_interval() -> None:
    hit = np.zeros(201, dtype=bool)
    hit[100] = True
    estimate = chain_estimate(hit, None, (101, 100), 0.95, "structure", usual_share=0.1)
    assert estimate.value == 1 / 201
    assert 0.0 <= estimate.lower < estimate.value < estimate.upper < 0.3
