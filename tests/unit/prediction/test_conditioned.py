"""Predictions, values, effects and single graphs of a conditioned model: as asked with a condition, and by definition.

With four columns all graphs are listed, so that effects and values are exact; what is compared with is a sum over all
graphs in which the condition holds, each with its weight.
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.naive import scores as naive_scores
from tests.naive.posterior import all_dags
from tests.naive.prediction import bdeu_parameter, discrete_family, log_predictive, members
from tests.tools.report_page import random_table
from tests.tools.wording import Said

from dagpost import DagPosterior, DagSample
from dagpost.data.conversion import as_table
from dagpost.features import evaluate, resolve
from dagpost.posterior.all_graphs import all_graphs

NAMES = ("a", "b", "c", "d")
#: One restricts weights, one adds up several ways, one leaves graphs.
CONDITIONS = ("a -> b & !(c -> d)", "a -- b | b -> c", "a ~> d")
ROWS = random_table(list(NAMES), 60)


@pytest.fixture(scope="module")
def model() -> DagPosterior:
    return DagPosterior("bdeu", prior="uniform", seed=1, samples=3_000, progress=False).fit(ROWS)


@cache
def by_definition(condition: str) -> tuple[NDArray[np.uint64], NDArray[np.float64]]:
    """All graphs in which a condition holds, with their shares of the posterior."""
    table = as_table(ROWS)
    graphs = np.array(all_dags(4), dtype=np.uint64)
    graphs = graphs[evaluate([resolve(condition, NAMES).feature], graphs, NAMES)[0]]
    logs = np.array(
        [
            math.fsum(naive_scores.bdeu(table, child, members(int(mask)), 1.0) for child, mask in enumerate(graph))
            for graph in graphs
        ]
    )
    shares = np.exp(logs - logs.max())
    return graphs, shares / shares.sum()


@pytest.mark.parametrize("condition", CONDITIONS)
def test_all_graphs_of_a_conditioned_model_have_their_exact_weights(condition: str, model: DagPosterior) -> None:
    found = all_graphs(model.given(condition).fitted_)
    assert found is not None
    graphs, shares = by_definition(condition)
    assert dict(zip(map(tuple, found.parents.tolist()), found.weights.tolist(), strict=True)) == pytest.approx(
        dict(zip(map(tuple, graphs.tolist()), shares.tolist(), strict=True)), abs=1e-10
    )


@pytest.mark.parametrize("condition", CONDITIONS)
def test_effects_and_values_are_those_asked_with_the_condition(condition: str, model: DagPosterior) -> None:
    given = model.given(condition)
    own, asked = given.effect("a", "d", draws=300), model.effect("a", "d", given=condition, draws=300)
    assert own.exact
    assert own.condition is not None
    assert asked.condition is not None
    assert own.mean == pytest.approx(asked.mean, abs=1e-10)
    assert own.zero_probability == pytest.approx(asked.zero_probability, abs=1e-10)
    assert own.condition.probability == pytest.approx(asked.condition.probability, abs=1e-10)
    assert str(own).startswith(f"Given {condition}: ")
    text = "P(d = 1 | a = 1)"
    assert float(given.probability(text)) == pytest.approx(float(model.probability(text, given=condition)), abs=1e-10)
    values, where = given.value("d", {"b": 1}, draws=50), model.value("d", {"b": 1}, where=condition, draws=50)
    np.testing.assert_allclose(values.probabilities, where.probabilities, atol=1e-10)
    further = given.effect("a", "d", given="b -> c", draws=50)
    both = model.effect("a", "d", given=f"({condition}) & b -> c", draws=50)
    assert further.condition is not None
    assert both.condition is not None
    assert further.mean == pytest.approx(both.mean, abs=1e-10)
    assert further.condition.probability == pytest.approx(both.condition.probability, abs=1e-10)


@pytest.mark.parametrize("condition", CONDITIONS)
def test_all_effects_are_those_of_single_questions(condition: str, model: DagPosterior) -> None:
    given = model.given(condition)
    table = given.effects(draws=50).set_index(["cause", "outcome"])
    for cause, outcome in (("a", "d"), ("c", "b")):
        one = given.effect(cause, outcome, draws=50)
        assert table.loc[(cause, outcome), "mean"] == pytest.approx(one.mean, abs=1e-10)
        assert table.loc[(cause, outcome), "no_effect"] == pytest.approx(one.zero_probability, abs=1e-10)


@pytest.mark.parametrize("condition", CONDITIONS)
def test_rows_are_predicted_from_graphs_that_meet_the_condition(condition: str, model: DagPosterior) -> None:
    given = model.given(condition)
    graphs, shares = by_definition(condition)
    family = discrete_family(as_table(ROWS), bdeu_parameter(as_table(ROWS), 1.0))
    rows = ROWS.head(2)
    table = as_table(ROWS)
    codes = [[int(table.columns[column][row]) for column in range(4)] for row in range(2)]
    expected = [log_predictive(family, graphs.tolist(), shares.tolist(), row) for row in codes]
    # From 3,000 draws, distinct graphs weighted exactly; the seed is fixed.
    np.testing.assert_allclose(given.score_samples(rows), expected, atol=0.003)
    sample = given.own_sample()
    assert evaluate([resolve(condition, NAMES).feature], sample.parents, NAMES)[0].all()
    np.testing.assert_allclose(given.predict_proba(rows, target="d").sum(axis=1), 1.0)


@pytest.mark.parametrize("condition", CONDITIONS)
def test_single_graphs_stand_among_those_that_meet_the_condition(condition: str, model: DagPosterior) -> None:
    given = model.given(condition)
    graphs, shares = by_definition(condition)
    best = given.best(1)
    assert math.isclose(float(best.log_joint[0]), given.log_joint(best.parents[0]))
    assert best.parents[0].tolist() in graphs[np.isclose(shares, shares.max())].tolist()
    refused = all_dags(4)[0]
    assert not any(refused), "the graph without edges"
    assert given.log_joint(np.array(refused)) == -math.inf
    network = given.to_bayesian_network()
    masks = [sum(1 << NAMES.index(parent) for parent in parents) for parents in network.parents]
    assert masks in graphs[np.isclose(shares, shares.max())].tolist()


def test_what_shows_a_model_says_what_it_is_given(model: DagPosterior, said: Said) -> None:
    given = model.given("a -> b")
    _ = given.edge_probabilities_
    assert "given a -> b (probability 0." in repr(given)
    page = given._repr_mimebundle_()["text/html"]
    assert "Exact (each graph counted once; given a -&gt; b)" in page
    assert "decided by your rules or assumptions" in page
    from dagpost.plots.sources import probabilities_of

    said(probabilities_of(given).sentence)
    sample = model.sample(100, seed=1).given("a -> b")
    said(probabilities_of(sample).sentence)
    assert isinstance(sample, DagSample)
    assert "given a -&gt; b" in sample._repr_html_()


def test_other_choices_are_tried_under_the_same_condition(model: DagPosterior) -> None:
    found = model.given("a -> b").sensitivity()
    for place, variation in enumerate(found.variations):
        if variation.words == "at most 2 parents":
            other = (
                DagPosterior("bdeu", prior="uniform", max_parents=2, seed=1, progress=False).fit(ROWS).given("a -> b")
            )
            edges = other.edge_probabilities_.to_numpy()
            np.testing.assert_allclose(found.joined[place + 1], edges + edges.T, atol=1e-9)
            break
    else:
        pytest.fail("one parent less was not tried")
    # An edge that is required is not one that survives.
    assert all({pair.first, pair.second} != {0, 1} for pair in found.pairs())
