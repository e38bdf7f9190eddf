"""Questions about values against the whole joint distribution, over all graphs or those of a small sample."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.naive import prediction as naive_prediction
from tests.naive import values as naive

from dagpost import BDeu, DagPosterior
from dagpost.causal.sources import graphs_given
from dagpost.data import as_table
from dagpost.features import evaluate, parse
from dagpost.posterior.all_graphs import all_graphs
from dagpost.prediction import sufficient_statistics
from dagpost.prediction.parameter_draws import drawn_networks
from dagpost.scores import parameter_prior_of
from dagpost.values.engines import Asked, drawn_answers, exact_shares
from dagpost.values.normals import Limits, gaussian_moments, walked
from dagpost.values.question import columns_of, question_of_arguments

_LETTERS = "abc"


def _model(seed: int, columns: int, **options: object) -> tuple[DagPosterior, pd.DataFrame]:
    generator = np.random.default_rng(seed)
    arities = generator.integers(2, 4, columns)
    codes = [generator.integers(0, arity, 25) for arity in arities]
    for child in range(1, columns):
        codes[child] = np.where(generator.random(25) < 0.5, codes[child - 1] % arities[child], codes[child])
    frame = pd.DataFrame({f"v{node}": np.array(list(_LETTERS))[own] for node, own in enumerate(codes)})
    return DagPosterior(BDeu(2.0), max_parents=3, seed=seed, samples=20, **{"prior": "uniform", **options}).fit(
        frame
    ), frame


def cache_family(family: naive_prediction.Family) -> naive_prediction.Family:
    """The same, each cell worked out once."""
    known: dict[tuple[object, ...], float] = {}

    def cached(child: int, parents: list[int], row: Sequence[float]) -> float:
        key = child, *parents, *(row[node] for node in [child, *parents])
        if key not in known:
            known[key] = family(child, parents, row)
        return known[key]

    return cached


def _twin(model: DagPosterior, frame: pd.DataFrame, where: str | None = None) -> tuple[object, list, list]:
    table = as_table(frame)
    family = naive_prediction.discrete_family(table, naive_prediction.bdeu_parameter(table, 2.0))
    family = cache_family(family)
    graphs = all_graphs(model.fitted_)
    sample = model.own_sample() if graphs is None else graphs
    weights = sample.weights
    if where is not None:
        weights = weights * evaluate([parse(where, sample.names).feature], sample.parents, sample.names)[0]
    chosen = weights > 0
    return family, sample.parents[chosen].tolist(), weights[chosen].tolist()


@given(seed=st.integers(0, 10**6), columns=st.sampled_from([3, 3, 6]), data=st.data())
@settings(max_examples=10)
def test_probabilities_match_enumeration_of_the_joint_distribution(
    seed: int, columns: int, data: st.DataObject
) -> None:
    model, frame = _model(seed, columns)
    levels = model.fitted_.data.levels
    roles = data.draw(st.permutations(["target", "evidence", "do", "target", "evidence", "open"][:columns]))
    codes = {
        node: data.draw(st.lists(st.sampled_from(range(len(own))), min_size=1, unique=True))
        for node, own in enumerate(levels)
    }
    target = {node: codes[node] for node, role in enumerate(roles) if role == "target"}
    evidence = {node: codes[node] for node, role in enumerate(roles) if role == "evidence"}
    do = {node: codes[node][0] for node, role in enumerate(roles) if role == "do"}

    def term(node: int) -> str:
        return f"v{node} in {{{', '.join(str(levels[node][code]) for code in codes[node])}}}"

    given_text = [*map(term, evidence), *(f"do(v{node} = {levels[node][code]})" for node, code in do.items())]
    where = data.draw(st.sampled_from([None, "!(v0 -> v1)"]))
    conditions = [*given_text, *([] if where is None else [where])]
    text = f"P({' & '.join(map(term, target))}{' | ' if conditions else ''}{', '.join(conditions)})"
    found = model.probability(text)
    family, dags, weights = _twin(model, frame, where)
    expected = naive.probability(family, dags, weights, [len(own) for own in levels], target, evidence, do)
    assert float(found) == pytest.approx(expected, abs=1e-9)
    assert found.lower <= found.upper
    assert found.rule == ("exact" if columns < 6 else "exact in each graph")


@given(seed=st.integers(0, 10**6))
@settings(max_examples=5)
def test_exogenous_columns_are_averaged_over_as_the_table_has_them(seed: int) -> None:
    model, frame = _model(seed, 4, exogenous=["v0", "v1"])
    family, dags, weights = _twin(model, frame)
    levels = model.fitted_.data.levels
    shares = (frame.groupby(["v0", "v1"]).size() / len(frame)).reset_index().to_numpy().tolist()
    code = [{level: place for place, level in enumerate(own)} for own in levels]
    background = [({0: code[0][a], 1: code[1][b]}, share) for a, b, share in shares]
    arities = [len(own) for own in levels]
    asked = naive.probability(family, dags, weights, arities, {3: [0]}, {2: [1]}, {}, background)
    assert float(model.probability(f"P(v3 = {levels[3][0]} | v2 = {levels[2][1]})")) == pytest.approx(asked, abs=1e-9)
    first = levels[0][0]
    known = [({0: 0, 1: own[1]}, share) for own, share in background if own[0] == 0]
    given_first = naive.probability(family, dags, weights, arities, {3: [0]}, {2: [1]}, {}, known)
    found = model.value("v3", {"v2": levels[2][1], "v0": first})
    assert float(found.probabilities[0]) == pytest.approx(given_first, abs=1e-9)


@given(seed=st.integers(0, 10**6), points=st.integers(0, 3))
@settings(max_examples=20)
def test_numbers_given_others_match_dense_conditioning(seed: int, points: int) -> None:
    generator = np.random.default_rng(seed)
    root = generator.normal(size=(points + 1, points + 2))
    mean, covariance = generator.normal(size=points + 1), root @ root.T
    values = generator.normal(size=points)
    limits = [Limits(value, value, is_point=True) for value in values]
    found = walked(mean[np.newaxis], covariance[np.newaxis], limits, np.zeros((1, points + 1)))
    if points:
        centre, deviation = naive.conditioned(mean, covariance, dict(enumerate(values)), points)
        assert found.mean[0, 0] == pytest.approx(centre, abs=1e-9)
        assert found.spread[0] == pytest.approx(deviation, abs=1e-9)
        sign, log = np.linalg.slogdet(covariance[:points, :points])
        distance = values - mean[:points]
        inside = distance @ np.linalg.solve(covariance[:points, :points], distance)
        assert found.logs[0, 0] == pytest.approx(-0.5 * (inside + log + points * math.log(2 * math.pi)), abs=1e-8)
        assert sign == 1


def test_probabilities_of_several_limits_match_the_bivariate_normal_distribution() -> None:
    from scipy.stats import multivariate_normal

    mean, covariance = np.array([0.2, -0.3]), np.array([[1.0, 0.7], [0.7, 2.0]])
    limits = [Limits(-np.inf, 0.5), Limits(-np.inf, 0.1)]
    found = walked(mean[np.newaxis], covariance[np.newaxis], limits, np.full((1, 2), 0.5)).log_total()[0]
    exact = multivariate_normal(mean, covariance).cdf([0.5, 0.1])
    assert math.exp(found) == pytest.approx(exact, abs=2e-4)


@pytest.mark.parametrize("intervals", [3, 4, 6])
def test_errors_of_more_limits_average_out_over_networks(intervals: int) -> None:
    from scipy.stats import multivariate_normal

    networks, generator = 2_000, np.random.default_rng(intervals)
    covariance = np.full((intervals, intervals), 0.8) + 0.2 * np.eye(intervals)
    upper = np.linspace(1.5, -1.5, intervals)
    exact = multivariate_normal(np.zeros(intervals), covariance).cdf(upper)
    limits = [Limits(-np.inf, limit) for limit in upper]
    mean, square = np.zeros((networks, intervals)), np.broadcast_to(covariance, (networks, intervals, intervals))
    found = walked(mean, square, limits, generator.random(mean.shape)).log_total()
    assert np.exp(found).mean() == pytest.approx(exact, rel=0.02)


def test_drawn_parameters_of_many_rows_say_what_their_means_say() -> None:
    frame = _model(3, 6)[1].assign(counts=10**4)
    model = DagPosterior(BDeu(2.0), prior="uniform", max_parents=1, seed=1, samples=10).fit(frame, counts="counts")
    fitted = model.fitted_
    columns = columns_of(fitted)
    for given_values in ({"v1": "a"}, {"v0": "b", "v4": "a"}, {}):
        question = question_of_arguments(columns, "v3", given_values, {"v2": "a"}, None)
        found = graphs_given(fitted, None)
        one = found.parts[0]._replace(graphs=found.parts[0].graphs[:1], weights=np.ones(1))
        asked = Asked(columns, question, replace(found, parts=(one,)))
        drawn = drawn_answers(asked, 3, np.random.default_rng(1))
        assert drawn.shares is not None
        # Every configuration has 10,000 rows or more, so that drawn probabilities are off by 0.005 at most.
        np.testing.assert_allclose(drawn.shares, np.tile(exact_shares(asked), (len(drawn.shares), 1)), atol=0.03)


@given(seed=st.integers(0, 10**6))
@settings(max_examples=8)
def test_moments_of_drawn_networks_match_their_recursion(seed: int) -> None:
    generator = np.random.default_rng(seed)
    table = as_table(pd.DataFrame(generator.normal(size=(12, 4)), columns=list("abcd")))
    order = generator.permutation(4)
    masks = np.zeros((1, 4), dtype=np.uint64)
    for place, node in enumerate(order):
        masks[0, node] = sum(1 << int(other) for other in order[:place] if generator.random() < 0.6)
    statistics, prior = sufficient_statistics(table, masks, "bge"), parameter_prior_of("bge", "The test needs")
    fixed = {int(generator.integers(4)): 1.5}
    network = drawn_networks(statistics, prior, masks, np.random.default_rng(seed))
    means, covariances = gaussian_moments(network, fixed, range(4))
    mean, ways = np.zeros(4), np.zeros((4, 4))
    for node in order:
        if node in fixed:
            mean[node] = fixed[node]
            continue
        mean[node], ways[node, node] = network.intercepts[0, node], network.spreads[0, node]
        for parent, slope in zip(network.parents[0, node], network.coefficients[0, node], strict=True):
            if parent >= 0:
                mean[node] += slope * mean[parent]
                ways[node] += slope * ways[parent]
    np.testing.assert_allclose(means[0], mean, atol=1e-9)
    np.testing.assert_allclose(covariances[0], ways @ ways.T, atol=1e-9)
