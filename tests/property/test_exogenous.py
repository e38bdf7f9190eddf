"""Columns that are not modelled, against enumeration: evidence, edges, statements, and what is compelled."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.naive import essential
from tests.naive import exogenous as naive
from tests.naive import features as naive_features
from tests.tools.examples import examples

from dagpost import DagPosterior, InDegreePrior, InputError, LocalScores
from dagpost.families.numbering import family_count
from dagpost.features import evaluate, resolve
from dagpost.posterior.knowledge import knowledge_from
from dagpost.priors.constraints import Constraints

NAMES = ("A", "B", "C", "D")


def random_scores(generator: np.random.Generator, nodes: int, limit: int, spread: float) -> LocalScores:
    values = generator.normal(0.0, spread, (nodes, family_count(nodes - 1, limit)))
    return LocalScores(NAMES[:nodes], limit, values)


@settings(max_examples=25)
@given(st.integers(0, 2**32), st.integers(2, 4), st.sampled_from([1.0, 30.0, 1000.0]), st.data())
def test_evidence_and_edges_are_those_of_the_modelled_columns(seed: int, nodes: int, spread: float, data: Any) -> None:
    exogenous = data.draw(st.lists(st.integers(0, nodes - 1), max_size=nodes - 1, unique=True))
    limit = data.draw(st.integers(1, nodes - 1))
    scores = random_scores(np.random.default_rng(seed), nodes, limit, spread)
    log_evidence, edges = naive.posterior(scores.values, limit, exogenous)
    model = DagPosterior(prior="uniform", max_parents=limit, exogenous=[NAMES[node] for node in exogenous]).fit_scores(
        scores
    )
    assert model.log_evidence_ == pytest.approx(log_evidence, abs=1e-9, rel=1e-12)
    assert model.edge_probabilities_.to_numpy() == pytest.approx(edges, abs=1e-9)
    best = model.best(1)
    assert best.log_joint[0] == pytest.approx(max(log for _, log in naive.weighed(scores.values, limit, exogenous)))


def test_a_prior_keeps_its_numbers_for_the_modelled_columns_and_has_none_for_the_others() -> None:
    scores = random_scores(np.random.default_rng(1), 4, 3, 2.0)
    model = DagPosterior(prior="indegree", max_parents=3, exogenous="B").fit_scores(scores)
    prior = InDegreePrior().log_weights(NAMES, 3)
    expected, edges = naive.posterior(scores.values + prior, 3, [1])
    assert model.log_evidence_ == pytest.approx(expected)
    assert model.edge_probabilities_.to_numpy() == pytest.approx(edges)


@settings(max_examples=examples(60))
@given(st.integers(2, 4), st.data())
def test_what_is_compelled_matches_enumeration(nodes: int, data: Any) -> None:
    exogenous = data.draw(st.lists(st.integers(0, nodes - 1), min_size=1, max_size=nodes - 1, unique=True))
    dag = data.draw(st.sampled_from(naive.dags_given(nodes, frozenset(exogenous))))
    known = knowledge_from(NAMES[:nodes], Constraints(exogenous=[NAMES[node] for node in exogenous]))
    by_data, with_rules, _ = known.compelled(np.array([dag], dtype=np.uint8))
    assert tuple(by_data[0].tolist()) == essential.as_masks(naive.compelled(dag, exogenous, rules=False), nodes)
    asked = [(parent, child) for parent in range(nodes) for child in range(nodes) if child not in {*exogenous, parent}]
    own = frozenset(NAMES[node] for node in exogenous)
    read = [resolve(f"compelled({NAMES[a]} -> {NAMES[b]})", NAMES[:nodes], None, own).feature for a, b in asked]
    held = evaluate(read, np.array([dag], dtype=np.uint8), NAMES[:nodes])
    expected = naive.compelled(dag, exogenous, rules=False)
    assert {edge for edge, (holds,) in zip(asked, held, strict=True) if holds} == expected
    assert tuple(with_rules[0].tolist()) == essential.as_masks(naive.compelled(dag, exogenous, rules=True), nodes)


@settings(max_examples=examples(60))
@given(st.data())
def test_a_d_separation_holds_whatever_exogenous_columns_are_to_each_other(data: Any) -> None:
    """In every graph with any edges among the exogenous columns, the answer is the same."""
    exogenous = frozenset(data.draw(st.sets(st.sampled_from(NAMES), min_size=2, max_size=3)))
    places = frozenset(NAMES.index(name) for name in exogenous)
    dag = data.draw(st.sampled_from(naive.dags_given(4, places)))
    first, second = data.draw(st.permutations(NAMES))[:2]
    others = [name for name in NAMES if name not in (first, second)]
    condition = data.draw(st.sets(st.sampled_from(others)))
    text = f"{first} _||_ {second}" + (f" | {', '.join(sorted(condition))}" if condition else "")
    if {first, second} <= exogenous:
        with pytest.raises(InputError, match="how they depend on each other"):
            resolve(text, NAMES, None, exogenous)
        return
    read = resolve(text, NAMES, None, exogenous).feature
    plain = naive_features.graph_of(np.array(dag, dtype=np.uint8), list(NAMES))
    full = naive_features.graph_of(np.array(naive.joined(dag, places), dtype=np.uint8), list(NAMES))
    asked = condition | (exogenous - {first, second})
    assert naive_features.holds(read, plain) == nx.is_d_separator(full, {first}, {second}, asked)
