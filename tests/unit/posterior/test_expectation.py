"""Expected values of functions of a graph: right, with honest standard errors, however the graphs were found."""

from __future__ import annotations

import json
import math
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from tests.naive import posterior as naive
from tests.tools.wording import Said

from dagpost import DagPosterior, DagSample, Expectation, InputError

FRAME = pd.DataFrame(np.random.default_rng(5).integers(0, 2, size=(40, 4)), columns=list("ABCD"))
FRAME["B"] = np.where(np.random.default_rng(6).random(40) < 0.7, FRAME["A"], FRAME["B"])
GIVEN = "A -> B"


def number_of_edges(graph: Any) -> int:
    return int(graph.number_of_edges())


def longest_path(graph: Any) -> float:
    return float(nx.dag_longest_path_length(graph))


@pytest.fixture(scope="module")
def models() -> dict[str, DagPosterior]:
    methods = ("exact-layers", "iw-dds", "linear-extensions", "partition-mcmc", "structure-mcmc")
    return {
        method: DagPosterior(prior="uniform", score="bdeu", method=method, samples=2000, seed=1).fit(FRAME)
        for method in methods
    }


def truth(model: DagPosterior, function: Any, given: bool) -> float:
    """The expected value over every graph of four variables."""
    graphs = naive.all_dags(4)
    weights = np.exp([model.log_joint(np.array(graph, dtype=np.uint64)) for graph in graphs])
    drawn = [nx.DiGraph([(p, c) for c in range(4) for p in range(4) if graph[c] >> p & 1]) for graph in graphs]
    for graph in drawn:
        graph.add_nodes_from(range(4))
    held = np.array([graph.has_edge(0, 1) or not given for graph in drawn])
    values = np.array([function(graph) for graph in drawn])
    return float((weights * held) @ values / (weights @ held))


@pytest.mark.parametrize("given", [False, True])
@pytest.mark.parametrize("function", [number_of_edges, longest_path])
@pytest.mark.parametrize("method", ["exact-layers", "iw-dds", "linear-extensions", "partition-mcmc", "structure-mcmc"])
def test_the_truth_is_within_a_few_standard_errors(
    models: dict[str, DagPosterior], method: str, function: Any, given: bool
) -> None:
    """Over 20 cases, one misses by 4.5 standard errors with a probability of 1.4e-4; the seed is fixed."""
    expected = truth(models["exact-layers"], function, given)
    found = models[method].sample(4000, seed=3).expectation(function, GIVEN if given else None)
    assert isinstance(found, Expectation)
    assert 0.0 < found.standard_error < 0.1
    assert abs(found - expected) < 4.5 * found.standard_error
    assert found.lower < found < found.upper


def test_the_standard_error_of_independent_draws_is_the_usual_one() -> None:
    sample = (
        DagPosterior(prior="uniform", score="bdeu", modularity="order", method="dds").fit(FRAME).sample(500, seed=1)
    )
    values = np.array([number_of_edges(graph) for graph in sample])
    found = sample.expectation(number_of_edges)
    assert found == pytest.approx(values.mean())
    assert found.standard_error == pytest.approx(values.std(ddof=1) / math.sqrt(500))
    assert found.rule == "independent draws"
    assert found.upper - found == pytest.approx(1.9647 * found.standard_error, rel=1e-4)
    part = values[[graph.has_edge("A", "B") for graph in sample]]
    conditional = sample.expectation(number_of_edges, GIVEN)
    assert conditional == pytest.approx(part.mean())
    assert conditional.samples == len(part)
    assert conditional.standard_error == pytest.approx(part.std(ddof=1) / math.sqrt(len(part)))


@pytest.mark.long
@pytest.mark.filterwarnings("ignore:Do not trust it:dagpost.errors.DagpostWarning")
def test_standard_errors_are_as_large_as_the_spread_over_seeds(models: dict[str, DagPosterior]) -> None:
    """Of 60 samples the spread is within 35% of what each claims, but for a probability of 1e-4 (chi-squared)."""
    for method in ("linear-extensions", "partition-mcmc"):
        found = [models[method].sample(400, seed=seed).expectation(longest_path) for seed in range(60)]
        claimed = np.mean([one.standard_error for one in found])
        assert 0.65 < np.std(found) / claimed < 1.35, method


def test_once_every_graph_is_drawn_nothing_is_uncertain(models: dict[str, DagPosterior]) -> None:
    model = models["exact-layers"]
    found = model.sample(200_000, seed=1).expectation(number_of_edges)
    assert found == pytest.approx(model.edge_probabilities_.to_numpy().sum(), abs=1e-3)
    assert found.standard_error < 1e-3
    assert found.rule == "distinct graphs"


def test_graphs_that_were_not_drawn_give_no_interval(models: dict[str, DagPosterior]) -> None:
    sample = models["exact-layers"].sample(50, seed=1)
    for some, rule in ((models["exact-layers"].best(5), "graphs listed"), (sample.unique(), "weights as given")):
        found = some.expectation(number_of_edges)
        assert (found.rule, found.lower, found.upper) == (rule, -math.inf, math.inf)
        assert math.isnan(found.standard_error)
        assert found == pytest.approx(some.weights @ [number_of_edges(graph) for graph in some])
        assert json.loads(json.dumps(found.as_dict(), allow_nan=False))["upper"] is None


def test_one_graph_has_no_standard_error_and_agreement_is_named(models: dict[str, DagPosterior], said: Said) -> None:
    sample = models["exact-layers"].sample(50, seed=1)
    assert sample[:1].expectation(number_of_edges).upper == math.inf
    agreed = sample.expectation(len)
    assert (agreed.rule, agreed, agreed.lower, agreed.upper) == ("every graph agrees", 4.0, 4.0, 4.0)
    never = sample.expectation(number_of_edges, "A -> B & B -> A")
    assert math.isnan(never)
    said(never.rule)


def test_a_model_answers_from_its_own_sample(models: dict[str, DagPosterior]) -> None:
    model = models["iw-dds"]
    found = model.expectation(number_of_edges, GIVEN, confidence=0.5)
    assert found.as_dict() == model.own_sample().expectation(number_of_edges, GIVEN, confidence=0.5).as_dict()
    assert found.confidence == 0.5
    assert str(found).endswith("graphs; each graph counted once)")


@pytest.mark.parametrize(
    "function",
    [
        lambda graph: graph.has_edge("A", "B"),
        lambda _: "many",
        lambda _: math.nan,
        "A -> B",
    ],
)
def test_what_is_not_a_number_is_refused(models: dict[str, DagPosterior], function: Any, said: Said) -> None:
    with said.raises(InputError):
        models["exact-layers"].sample(5, seed=1).expectation(function)


def test_a_statement_that_returns_a_number_is_told_of_expectations(models: dict[str, DagPosterior], said: Said) -> None:
    sample: DagSample = models["exact-layers"].sample(5, seed=1)
    with said.raises(InputError):
        sample.probability(number_of_edges)
