"""Causal effects against direct summation over graphs and configurations, and the parts they are made of."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from dagpost.causal.groups import Groups, groups_of, share_out, speaking_rows
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.naive import causal as naive_causal
from tests.naive import posterior as naive
from tests.naive import scores as naive_scores
from tests.naive.causal import Pseudocounts
from tests.tools.examples import examples

from dagpost.causal import causal_effect, causal_effects, discrete, interventional_probabilities
from dagpost.data.table import Table
from dagpost.engines import ThreadEngine
from dagpost.families.masks import mask_type
from dagpost.methods.targets import STRUCTURE
from dagpost.posterior.sample import DagSample
from dagpost.scores import BIC, K2, BDe, BDeu, BGe

SCORES = [
    (BDeu(1.0), Pseudocounts(size=1.0)),
    (BDeu(7.5), Pseudocounts(size=7.5)),
    (BDe(1e-3), Pseudocounts(fixed=1e-3)),
    (K2(), Pseudocounts(fixed=1.0)),
    (BIC(), Pseudocounts(fixed=0.5)),
]


def sample_of(names: tuple[str, ...], graphs: np.ndarray, weights: np.ndarray) -> DagSample:
    nan = np.full(len(graphs), np.nan)
    parents = np.array(graphs, dtype=mask_type(len(names))).reshape(-1, len(names))
    return DagSample(names, parents, nan, nan, nan, weights, STRUCTURE, "exact-layers", "independent", "given weights")


#: All else follows from the seed: choices made one by one would mostly be the simplest ones.
SEEDS = st.integers(0, 2**64 - 1)


def weighted_graphs(generator: np.random.Generator, names: tuple[str, ...]) -> DagSample:
    """All graphs, or some of them more than once, with weights over many orders of magnitude, some of them 0."""
    graphs = np.array(naive.all_dags(len(names)))
    if generator.random() < 0.5:
        graphs = graphs[generator.integers(0, len(graphs), generator.integers(1, 60))]
    logs = generator.normal(size=len(graphs)) * generator.choice([0.5, 5.0, 1000.0])
    weights = np.exp(logs - logs.max())
    weights[generator.random(len(graphs)) < 0.1] = 0.0
    weights[logs.argmax()] = 1.0
    return sample_of(names, graphs, weights / weights.sum())


def extra_of(generator: np.random.Generator, nodes: int, rows: int) -> dict:
    """Counts and interventions, each there or not; one node or several may have been set at once."""
    extra: dict = {}
    if generator.random() < 0.5:
        extra["counts"] = generator.integers(0, 4, rows)
        extra["counts"][0] = 1
    if generator.random() < 0.5:
        masks = np.uint64(1) << generator.integers(0, nodes, rows).astype(np.uint64)
        masks |= np.uint64(1) << generator.integers(0, nodes, rows).astype(np.uint64)
        extra["interventions"] = np.where(generator.random(rows) < 0.5, np.uint64(0), masks)
        extra["interventions"][0] = 0
    return extra


def discrete_question(generator: np.random.Generator) -> tuple[Table, DagSample, int, int]:
    """A table, graphs over its columns, and the columns of treatment and outcome."""
    # Mostly four, so that there are parents on either side of the treatment.
    nodes = int(generator.choice([2, 3, 4, 4, 4]))
    x, y = (int(node) for node in generator.permutation(nodes)[:2])
    arities = [int(generator.integers(2 if node in (x, y) else 1, 4)) for node in range(nodes)]
    rows = int(generator.choice([1, 10, 30]))
    # In some columns one level does not occur.
    limits = [max(1, arity - int(generator.random() < 0.2)) for arity in arities]
    columns = tuple(generator.integers(0, limit, rows).astype(np.uint8) for limit in limits)
    names = tuple(f"v{node}" for node in range(nodes))
    levels = tuple(tuple(f"level {code}" for code in range(arity)) for arity in arities)
    table = Table(names, columns, levels, **extra_of(generator, nodes, rows))
    return table, weighted_graphs(generator, names), x, y


def continuous_question(generator: np.random.Generator) -> tuple[Table, DagSample, int, int]:
    nodes = int(generator.choice([2, 3, 4, 4]))
    x, y = (int(node) for node in generator.permutation(nodes)[:2])
    rows = int(generator.integers(1, 13))
    data = generator.normal(size=(rows, nodes)) @ generator.normal(size=(nodes, nodes)) + generator.choice([0.0, 3.0])
    names = tuple(f"v{node}" for node in range(nodes))
    table = Table(names, tuple(np.ascontiguousarray(data.T)), (None,) * nodes, **extra_of(generator, nodes, rows))
    return table, weighted_graphs(generator, names), x, y


def prior_of(score: BGe, table: Table) -> tuple[float, float, np.ndarray, np.ndarray]:
    nodes = len(table.names)
    degrees = nodes + score.mean_weight + 1 if score.degrees_of_freedom is None else score.degrees_of_freedom
    weights = np.ones(table.rows) if table.counts is None else table.counts
    centre = np.average(table.values(), axis=0, weights=weights)
    mean = centre if score.prior_mean is None else np.full(nodes, score.prior_mean)
    return score.mean_weight, degrees, mean, naive_scores.deviations(table, score.prior_scale)


@settings(max_examples=examples(150))
@given(SEEDS, st.sampled_from(SCORES))
def test_mean_discrete_effects_match_sums_over_graphs_and_configurations(seed: int, score: Any) -> None:
    generator = np.random.default_rng(seed)
    table, sample, x, y = discrete_question(generator)
    levels = generator.permutation(table.arities[x])[:2].tolist()
    outcome = int(generator.integers(table.arities[y]))
    effect = causal_effect(
        sample,
        table,
        score[0],
        table.names[x],
        table.names[y],
        do=tuple(table.levels[x][level] for level in levels),
        outcome_level=table.levels[y][outcome],
        draws=20,
        seed=1,
    )
    by_adjustment: dict = {}
    expected = nothing = 0.0
    for graph, weight in zip(sample.parents.tolist(), sample.weights, strict=True):
        if weight == 0.0:
            continue
        if not naive_causal.has_path(graph, x, y):
            nothing += weight
            continue
        if graph[x] not in by_adjustment:
            first, second = (
                naive_causal.mean_probability(table, score[1], graph, x, level, y)[outcome] for level in levels
            )
            by_adjustment[graph[x]] = first - second
        expected += weight * by_adjustment[graph[x]]
    assert effect.mean == pytest.approx(expected, abs=1e-12)
    assert effect.zero_probability == pytest.approx(nothing, abs=1e-12)
    shown = dict(zip(effect.adjustment_sets, effect.set_means, strict=True))
    assert shown == pytest.approx(
        {tuple(table.names[node] for node in naive_causal.members(mask)): mean for mask, mean in by_adjustment.items()},
        abs=1e-12,
    )


@settings(max_examples=examples(100))
@given(SEEDS, st.sampled_from(SCORES), st.booleans())
def test_interventional_probabilities_match_sums_over_graphs_and_configurations(
    seed: int, score: Any, small_blocks: Any
) -> None:
    table, sample, x, y = discrete_question(np.random.default_rng(seed))
    found = interventional_probabilities(sample, table, score[0], table.names[x], table.names[y])
    if small_blocks:
        groups, prior = groups_of(sample, x, y), score[0].parameter_prior()
        found.loc[:] = discrete.mean_table(table, prior, x, y, groups, ThreadEngine(1), block_cells=70)
    expected = np.zeros((table.arities[x], table.arities[y]))
    known: dict = {}
    for graph, weight in zip(sample.parents.tolist(), sample.weights, strict=True):
        key = graph[x] if naive_causal.has_path(graph, x, y) else None
        if key not in known:
            known[key] = np.array(
                [
                    naive_causal.mean_probability(table, score[1], graph, x, level, y)
                    for level in range(table.arities[x])
                ]
            )
        expected += weight * known[key]
    assert found.to_numpy() == pytest.approx(expected, abs=1e-12)
    assert found.to_numpy().sum(axis=1) == pytest.approx(1.0, abs=1e-12)
    assert (list(found.index), list(found.columns)) == (list(table.levels[x]), list(table.levels[y]))


@settings(max_examples=examples(100))
@given(SEEDS, st.sampled_from([BGe(), BGe(0.2, 9.5), BGe(2.0, None, 0.5, 0.1)]))
def test_mean_continuous_effects_match_sums_over_graphs(seed: int, score: Any) -> None:
    table, sample, x, y = continuous_question(np.random.default_rng(seed))
    effect = causal_effect(sample, table, score, table.names[x], table.names[y], draws=20, seed=1)
    expected = 0.0
    matrix, _ = naive_causal.posterior_matrix(table, x, *prior_of(score, table))
    for graph, weight in zip(sample.parents.tolist(), sample.weights, strict=True):
        if naive_causal.has_path(graph, x, y):
            expected += weight * naive_causal.mean_slope(matrix, naive_causal.members(graph[x]), x, y)
    assert effect.mean == pytest.approx(expected, rel=1e-9, abs=1e-12)
    with warnings.catch_warnings():
        # In the rows of some other column something else may always have been set.
        warnings.simplefilter("ignore")
        every_pair = causal_effects(sample, table, score)
    assert every_pair.to_numpy()[x, y] == pytest.approx(expected, rel=1e-9, abs=1e-12)
    assert np.isnan(np.diag(every_pair.to_numpy())).all()


@settings(max_examples=examples(100))
@given(SEEDS, st.sampled_from(SCORES), st.integers(1, 5))
def test_pooling_configurations_that_do_not_occur_keeps_mean_and_variance(seed: int, score: Any, parts: Any) -> None:
    table, sample, x, y = discrete_question(np.random.default_rng(seed))
    contrast = discrete.Contrast(x, y, (1, 0), 1)
    moments: list[list[tuple[float, float]]] = []
    for separate in (parts, 10**6):
        moments.append([])
        rows = speaking_rows(table, x)
        masks = groups_of(sample, x, y).masks
        prior = score[0].parameter_prior()
        for _, counted in discrete.counted_blocks(table, rows, prior, x, y, masks, ThreadEngine(1)):
            elements = discrete.elements_of(counted, contrast, table.arities[y], separate)
            moments[-1] += zip(discrete.mean_effects(elements), variances(elements), strict=True)
    assert np.array(moments[0]) == pytest.approx(np.array(moments[1]), rel=1e-9, abs=1e-15)


def variances(elements: discrete.Elements) -> list[float]:
    """The variance of a sum of independent changes with the weights of a Dirichlet distribution, set by set."""
    result = []
    for first, last in zip(elements.starts, [*elements.starts[1:], len(elements.outer)], strict=True):
        part = slice(first, last)
        outer = elements.outer[part]
        total = outer.sum()
        shapes = [[side[part] for side in shape] for shape in (elements.first, elements.second)]
        mean = shapes[0][0] / sum(shapes[0]) - shapes[1][0] / sum(shapes[1])
        square = mean**2 + sum(hit * missed / ((hit + missed) ** 2 * (hit + missed + 1)) for hit, missed in shapes)
        products = np.outer(outer, outer) / (total * (total + 1))
        second = mean @ products @ mean + (outer / (total * (total + 1)) + np.diag(products)) @ square
        second -= np.diag(products) @ mean**2
        result.append(second - (outer / total @ mean) ** 2)
    return result


@given(
    st.lists(st.one_of(st.just(0.0), st.floats(1e-300, 1.0)), min_size=0, max_size=8),
    st.one_of(st.just(0.0), st.floats(1e-12, 1.0)),
    st.integers(1, 300),
    st.integers(0, 2**32 - 1),
)
def test_every_set_gets_its_share_of_the_draws_up_to_one(weights: Any, no_path: Any, draws: Any, seed: int) -> None:
    total = sum(weights) + no_path
    if total < 1e-200:
        no_path = total = 1.0
        weights = []
    shares = np.array([weight / total for weight in weights if weight > 0.0])
    groups = Groups(np.arange(len(shares), dtype=np.uint64), shares, no_path / total)
    set_of = share_out(groups, draws, np.random.default_rng(seed))
    assert (np.diff(set_of) >= 0).all()
    assert len(set_of) == draws
    found = np.bincount(set_of, minlength=len(shares) + 1)
    assert len(found) == len(shares) + 1
    assert (np.abs(found - draws * np.append(shares, groups.no_path)) < 1.0 + 1e-6).all()
    assert no_path > 0.0 or found[-1] == 0
