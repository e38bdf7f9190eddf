"""Do the intervals of causal effects cover the truth as often as they say, and are the draws from the right posterior?

A posterior is calibrated where truth, graph and parameters together, is drawn from the prior: then the rank of the true
effect among the draws, ties broken at random, has a uniform distribution, however few the rows. That is so exactly
where graphs are complete or have two variables. In other graphs the posterior of an effect looks only at treatment,
outcome and the variables adjusted for, which costs width and not coverage: tested with rows enough for the prior to
matter little.

False alarms: every test has a fixed seed, and asks at most four questions with a false-alarm rate of `RATE` each.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats
from tests.naive import causal as naive_causal
from tests.naive import posterior as naive
from tests.naive.causal import Pseudocounts

from dagpost import DagPosterior
from dagpost.causal import CausalEffect, causal_effect
from dagpost.data.table import Table
from dagpost.families.masks import mask_type
from dagpost.methods.targets import STRUCTURE
from dagpost.posterior.sample import DagSample
from dagpost.scores import BIC, K2, BDeu, BGe

RATE = 1e-7
CONFIDENCE = 0.9
DRAWS = 1_000


def sample_of(names: tuple[str, ...], graphs: list, weights: np.ndarray | None = None) -> DagSample:
    nan = np.full(len(graphs), np.nan)
    parents = np.array(graphs, dtype=mask_type(len(names)))
    shares = np.full(len(graphs), 1.0 / len(graphs)) if weights is None else weights
    return DagSample(names, parents, nan, nan, nan, shares, STRUCTURE, "exact-layers", "independent", "given weights")


def complete_graphs(nodes: int) -> list:
    return [graph for graph in naive.all_dags(nodes) if sum(map(int.bit_count, graph)) == nodes * (nodes - 1) // 2]


def rank_of(effect: CausalEffect, truth: float, generator: np.random.Generator) -> float:
    """Where the truth stands among the draws, between 0 and 1; anywhere among those that are equal to it."""
    below, equal = int((effect.samples < truth).sum()), int((effect.samples == truth).sum())
    return (below + generator.random() * (equal + 1)) / (len(effect.samples) + 1)


def assert_calibrated(ranks: list[float]) -> None:
    """Ranks are uniform, and those in the middle are as many as a central interval promises to hold."""
    assert stats.kstest(ranks, "uniform").pvalue > RATE
    for confidence in (0.5, CONFIDENCE):
        hits = int((np.abs(np.array(ranks) - 0.5) <= confidence / 2).sum())
        assert stats.binomtest(hits, len(ranks), confidence).pvalue > RATE


def assert_not_less_often(hits: int, trials: int) -> None:
    """Intervals that end at zero hold the weight of zero whole, so they cover more often than they say, never less."""
    assert stats.binomtest(hits, trials, CONFIDENCE, alternative="less").pvalue > RATE


def covers(effect: CausalEffect, truth: float) -> bool:
    lower, upper = effect.interval()
    return lower <= truth <= upper


@pytest.mark.long
def test_discrete_effects_in_complete_graphs_are_calibrated_with_eight_rows() -> None:
    generator = np.random.default_rng(1)
    arities, size, graphs = (2, 3, 2), 3.0, complete_graphs(3)
    # The score cannot tell these apart, so they keep their weights whatever the rows say.
    sample = sample_of(("A", "B", "C"), graphs)
    ranks, hits = [], 0
    for seed in range(1_500):
        graph = graphs[generator.integers(len(graphs))]
        tables = naive_causal.draw_tables(graph, arities, lambda cells: size / cells, generator)
        truth = naive_causal.true_change(graph, tables, arities, 0, 1, (1, 0), 2)
        table = naive_causal.draw_rows(naive_causal.joint(graph, tables, arities), 8, generator)
        effect = causal_effect(
            sample, table, BDeu(size), "A", "B", do=(1, 0), outcome_level=2, draws=DRAWS, confidence=0.9, seed=seed
        )
        ranks.append(rank_of(effect, truth, generator))
        hits += covers(effect, truth)
    assert_calibrated(ranks)
    assert_not_less_often(hits, len(ranks))


def test_continuous_effects_in_complete_graphs_are_calibrated_with_four_rows() -> None:
    generator = np.random.default_rng(2)
    graphs = complete_graphs(3)
    sample = sample_of(("A", "B", "C"), graphs)
    score = BGe(mean_weight=0.7, degrees_of_freedom=5.5, prior_mean=0.5, prior_scale=1.0)
    scale = 0.7 * (5.5 - 3 - 1) / (0.7 + 1)
    precisions = stats.wishart(df=5.5, scale=np.eye(3) / scale).rvs(size=1_500, random_state=generator)
    ranks, hits = [], 0
    for seed, precision in enumerate(precisions):
        covariance = np.linalg.inv(precision)
        mean = generator.multivariate_normal(np.full(3, 0.5), covariance / 0.7)
        graph = graphs[generator.integers(len(graphs))]
        truth = 0.0
        if naive_causal.has_path(graph, 0, 1):
            truth = naive_causal.mean_slope(covariance, naive_causal.members(graph[0]), 0, 1)
        rows = generator.multivariate_normal(mean, covariance, size=4)
        table = Table(sample.names, tuple(np.ascontiguousarray(rows.T)), (None,) * 3)
        effect = causal_effect(sample, table, score, "A", "B", draws=DRAWS, confidence=CONFIDENCE, seed=seed)
        ranks.append(rank_of(effect, truth, generator))
        hits += covers(effect, truth)
    assert_calibrated(ranks)
    assert_not_less_often(hits, len(ranks))


@pytest.mark.long
@pytest.mark.parametrize(("nodes", "rows", "size"), [(2, 20, 1.0), (3, 200, 8.0)])
def test_discrete_effects_are_calibrated_when_the_graph_is_drawn_from_its_prior_and_found_from_data(
    nodes: int, rows: int, size: float
) -> None:
    generator = np.random.default_rng(nodes)
    arities, graphs = (2,) * nodes, naive.all_dags(nodes)
    ranks, hits = [], 0
    for seed in range(1_000):
        graph = graphs[generator.integers(len(graphs))]
        tables = naive_causal.draw_tables(graph, arities, lambda cells: size / cells, generator)
        truth = naive_causal.true_change(graph, tables, arities, 0, 1, (1, 0), 1)
        table = naive_causal.draw_rows(naive_causal.joint(graph, tables, arities), rows, generator)
        # All graphs with their exact probabilities.
        posterior = DagPosterior(BDeu(size), max_parents=nodes - 1).fit(table).best(len(graphs))
        effect = causal_effect(posterior, table, BDeu(size), "A", "B", draws=DRAWS, confidence=CONFIDENCE, seed=seed)
        ranks.append(rank_of(effect, truth, generator))
        hits += covers(effect, truth)
    assert_calibrated(ranks)
    assert_not_less_often(hits, len(ranks))


@pytest.mark.long
def test_intervals_of_a_linear_system_with_known_tiers_cover_as_often_as_they_say() -> None:
    """A confounds B and D; C is on a path of A to D. The tiers give the direction of every edge but that of B and C."""
    generator = np.random.default_rng(4)
    truths = {("A", "D"): 0.8 * 0.6 + -0.7 * 0.5 + 0.4, ("B", "D"): 0.6, ("A", "C"): -0.7}
    model = DagPosterior("bge", tiers=[["A"], ["B", "C"], ["D"]], max_parents=3)
    hits = dict.fromkeys(truths, 0)
    trials = 700
    for seed in range(trials):
        noise = generator.normal(size=(4, 400)) * np.array([[1.0], [0.8], [1.2], [0.9]])
        first = 3.0 + noise[0]
        second = 0.8 * first + noise[1]
        third = -0.7 * first + noise[2] + 1.0
        fourth = 0.4 * first + 0.6 * second + 0.5 * third + noise[3]
        table = Table(("A", "B", "C", "D"), (first, second, third, fourth), (None,) * 4)
        graphs = model.fit(table).best(60)
        for pair, truth in truths.items():
            effect = causal_effect(graphs, table, "bge", *pair, draws=DRAWS, confidence=CONFIDENCE, seed=seed)
            hits[pair] += covers(effect, truth)
    for pair, number in hits.items():
        assert stats.binomtest(number, trials, CONFIDENCE).pvalue > RATE, (pair, number / trials)


@pytest.mark.parametrize(
    ("score", "pseudo"),
    [
        (BDeu(0.5), Pseudocounts(size=0.5)),
        (BDeu(20.0), Pseudocounts(size=20.0)),
        (K2(), Pseudocounts(fixed=1.0)),
        (BIC(), Pseudocounts(fixed=0.5)),
    ],
)
@pytest.mark.parametrize("adjust", [(), (2,), (1, 3)])
def test_discrete_draws_given_an_adjustment_set_are_those_of_whole_dirichlet_vectors(
    score: Any, pseudo: Any, adjust: Any
) -> None:
    generator = np.random.default_rng(5)
    rows, arities = 15, (3, 2, 2, 3)
    columns = tuple(generator.integers(0, arity, rows).astype(np.uint8) for arity in arities)
    levels = tuple(tuple(range(arity)) for arity in arities)
    table = Table(("A", "B", "C", "D"), columns, levels, generator.integers(1, 6, rows))
    x, y = 0, 3 if 3 not in adjust else 2
    graph = [0, 0, 0, 0]
    graph[x], graph[y] = sum(1 << node for node in adjust), 1 << x
    sample = sample_of(table.names, [graph])
    effect = causal_effect(sample, table, score, "A", table.names[y], do=(2, 0), outcome_level=1, draws=30_000, seed=6)
    twin = naive_causal.draw_change(table, pseudo, adjust, x, y, (2, 0), 1, 30_000, generator)
    assert stats.ks_2samp(effect.samples, twin).pvalue > RATE


@pytest.mark.parametrize("adjust", [(), (2,), (2, 3)])
def test_continuous_draws_given_an_adjustment_set_are_those_of_whole_wishart_matrices(adjust: Any) -> None:
    generator = np.random.default_rng(7)
    # One row and few degrees of freedom: one more or less of them would show.
    data = generator.normal(size=(1, 4))
    table = Table(("A", "B", "C", "D"), tuple(np.ascontiguousarray(data.T)), (None,) * 4)
    score = BGe(mean_weight=2.0, degrees_of_freedom=5.1, prior_mean=0.3, prior_scale=0.8)
    matrix, degrees = naive_causal.posterior_matrix(table, 0, 2.0, 5.1, np.full(4, 0.3), np.full(4, 0.8))
    twin = naive_causal.draw_slope(matrix, degrees, adjust, 0, 1, 60_000, generator)
    sample = sample_of(table.names, [[sum(1 << node for node in adjust), 1, 0, 0]])
    effect = causal_effect(sample, table, score, "A", "B", draws=60_000, seed=8)
    assert stats.ks_2samp(effect.samples, twin).pvalue > RATE


def test_draws_of_a_mixture_come_from_each_set_with_its_weight() -> None:
    """Continuous draws against the distribution function of the mixture."""
    generator = np.random.default_rng(9)
    data = generator.normal(size=(20, 3)) @ generator.normal(size=(3, 3))
    table = Table(("A", "B", "C"), tuple(np.ascontiguousarray(data.T)), (None,) * 3)
    graphs = [[0, 1, 0], [4, 1, 0], [2, 0, 0], [0, 5, 0]]
    sample = sample_of(table.names, graphs, np.array([0.2, 0.3, 0.4, 0.1]))
    effect = causal_effect(sample, table, "bge", "A", "B", draws=20_000, seed=10)
    matrix, degrees = naive_causal.posterior_matrix(table, 0, 1.0, 5.0, data.mean(axis=0), data.std(axis=0, ddof=1))
    moving = effect.samples[effect.samples != 0.0]
    assert len(moving) == pytest.approx(0.6 * 20_000, abs=1)

    def cumulative(values: np.ndarray) -> np.ndarray:
        total = np.zeros(len(values))
        for adjust, weight in (((), 0.3), ((2,), 0.3)):
            explaining = [0, *adjust]
            inverse = np.linalg.inv(matrix[np.ix_(explaining, explaining)])
            slopes = inverse @ matrix[explaining, 1]
            left = matrix[1, 1] - slopes @ matrix[explaining, 1]
            freedom = degrees - 3 + len(explaining) + 1
            law = stats.t(freedom, slopes[0], np.sqrt(left / freedom * inverse[0, 0]))
            total += weight / 0.6 * law.cdf(values)
        return total

    assert stats.kstest(moving, cumulative).pvalue > RATE
