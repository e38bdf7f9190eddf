"""Posteriors of the additive score against every graph of up to four columns, with the scores of its slow twin."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.naive import additive, density
from tests.naive import exogenous as naive_exogenous
from tests.naive import paths as naive_paths
from tests.naive import posterior as naive
from tests.naive import regimes as naive_regimes
from tests.tools.examples import examples
from tests.tools.kinds_of_columns import table_of_kinds

from dagpost import DagPosterior, Regimes
from dagpost.data.table import Table
from dagpost.priors.edge import densities
from dagpost.scores import table_for

MODULARITIES = ("structure", "order")
KINDS = st.lists(
    st.sampled_from(["number", "rounded", "nominal", "ordered", "binary", "declared"]), min_size=2, max_size=4
)
NAMES = tuple(f"v{place}" for place in range(4))
TOLERANCE = 1e-8


def table_with(kinds: list[str], seed: int, extra: bool) -> Table:
    """Not so many rows that one graph has all the weight."""
    return table_of_kinds(tuple(kinds), 14, seed, extra=extra)


def scores_of(table: Table, max_parents: int) -> NDArray[np.float64]:
    """The scores of all families, as the twins of posteriors take them."""
    evidence, nodes = additive.Evidence(table), len(table.names)
    limit = min(max_parents, nodes - 1)
    return np.array(
        [
            [
                evidence.score(node, [parent for parent in range(nodes) if mask >> parent & 1])
                for mask in naive.parent_masks(node, nodes, limit)
            ]
            for node in range(nodes)
        ]
    )


def has_edge(nodes: int, parent: int, child: int) -> NDArray[np.bool_]:
    return naive.parents_in_every_dag(nodes)[:, child] >> parent & 1 == 1


def has_path(nodes: int, source: int, target: int) -> NDArray[np.bool_]:
    return naive_paths.descendants_in_every_dag(nodes, source) >> target & 1 == 1


@pytest.mark.parametrize("modularity", MODULARITIES)
@settings(max_examples=examples(40))
@given(KINDS, st.integers(0, 2**16), st.booleans(), st.integers(1, 3))
def test_evidence_edges_paths_conditions_and_best_graphs_are_those_of_all_graphs(
    modularity: Any, kinds: list[str], seed: int, extra: bool, max_parents: int
) -> None:
    table, nodes, by_order = table_with(kinds, seed, extra), len(kinds), modularity == "order"
    scores = scores_of(table, max_parents)
    times = np.log(list(naive.orders_of_every_dag(nodes).values())) * by_order
    log_joint = naive.log_joint_of_every_dag(scores, max_parents)
    log_evidence = naive.log_sum(log_joint + times)
    graphs = np.exp(log_joint + times - log_evidence)
    model = DagPosterior("additive", "uniform", modularity, max_parents, samples=200, seed=1).fit(table)
    assert model.log_evidence_ == pytest.approx(log_evidence, abs=TOLERANCE, rel=1e-10)
    for parent in range(nodes):
        for child in range(nodes):
            if parent != child:
                edge = graphs[has_edge(nodes, parent, child)].sum()
                assert model.edge_probabilities_.iloc[parent, child] == pytest.approx(edge, abs=TOLERANCE)
    path = model.probability("v0 ~> v1")
    if path.rule == "exact":
        assert float(path) == pytest.approx(graphs[has_path(nodes, 0, 1)].sum(), abs=TOLERANCE)
    best = model.best(3)
    assert best.log_joint == pytest.approx(np.sort(log_joint)[::-1][: len(best)], abs=TOLERANCE)
    under = model.given("!(v0 -> v1)")
    among = ~has_edge(nodes, 0, 1)
    assert float(under.condition_.probability) == pytest.approx(graphs[among].sum(), abs=TOLERANCE)
    expected = graphs[among & has_edge(nodes, 1, 0)].sum() / graphs[among].sum()
    assert under.edge_probabilities_.iloc[1, 0] == pytest.approx(expected, abs=TOLERANCE)


@settings(max_examples=examples(40))
@given(KINDS, st.integers(0, 2**16), st.booleans(), st.data())
def test_rules_say_which_graphs_there_are_and_change_no_score(
    kinds: list[str], seed: int, extra: bool, data: Any
) -> None:
    table, nodes = table_with(kinds, seed, extra), len(kinds)
    if table.interventions is not None:
        # What is not modelled is not set either.
        table.interventions[:] = 0
    # 0: exogenous, 1 and 2: the tiers of the others, of which there is one at least.
    where = data.draw(st.lists(st.integers(0, 2), min_size=nodes, max_size=nodes).filter(any))
    parts = [[place for place in range(nodes) if where[place] == at] for at in range(3)]
    exogenous, *tiers = ([NAMES[place] for place in own] for own in parts)
    tiers = [own for own in tiers if own]
    scores = scores_of(table, 3)
    later = [naive.mask_of([other for other in range(nodes) if where[other] > where[node]]) for node in range(nodes)]
    allowed = [
        (dag, log)
        for dag, log in naive_exogenous.weighed(scores, 3, parts[0])
        if not any(mask & own for mask, own in zip(dag, later, strict=True))
    ]
    log_evidence = naive.log_sum(np.array([log for _, log in allowed]))
    model = DagPosterior("additive", "uniform", max_parents=3, exogenous=exogenous, tiers=tiers).fit(table)
    assert model.log_evidence_ == pytest.approx(log_evidence, abs=TOLERANCE, rel=1e-10)
    edges = np.zeros((nodes, nodes))
    for dag, log in allowed:
        for child, mask in enumerate(dag):
            for parent in range(nodes):
                edges[parent, child] += np.exp(log - log_evidence) * (mask >> parent & 1)
    np.testing.assert_allclose(model.edge_probabilities_.to_numpy(), edges, atol=TOLERANCE)


@pytest.mark.parametrize("modularity", MODULARITIES)
@settings(max_examples=examples(20))
@given(KINDS, st.integers(0, 2**16))
def test_the_averaged_density_is_that_of_all_graphs(modularity: Any, kinds: list[str], seed: int) -> None:
    table, nodes = table_with(kinds, seed, False), len(kinds)
    logs = naive.log_joint_of_every_dag(scores_of(table, 3), 3)
    allowed = density.allowed_dags(nodes, 3)
    expected = density.AveragedDensity([logs], densities(nodes), allowed, orders=modularity == "order")
    model = DagPosterior("additive", modularity=modularity, max_parents=3).fit(table)
    assert model.log_evidence_ == pytest.approx(expected.log_evidence, abs=TOLERANCE, rel=1e-10)
    assert model.mixture_weights_.to_numpy() == pytest.approx(expected.shares, abs=TOLERANCE)
    for parent, child in ((0, 1), (1, 0)):
        edge = expected.probability(has_edge(nodes, parent, child))
        assert model.edge_probabilities_.iloc[parent, child] == pytest.approx(edge, abs=TOLERANCE)


@settings(max_examples=examples(12))
@given(
    st.lists(st.sampled_from(["number", "nominal", "ordered"]), min_size=2, max_size=3),
    st.integers(0, 2**16),
    st.sampled_from([None, 1]),
)
def test_targets_of_regimes_are_those_of_all_graphs(kinds: list[str], seed: int, most: int | None) -> None:
    """Indicators act on numbers and on levels."""
    nodes, generator = len(kinds), np.random.default_rng(seed)
    plain = table_of_kinds(tuple(kinds), 24, seed)
    frame = pd.DataFrame(
        {
            name: column if levels is None else np.array(levels, dtype=object)[column]
            for name, column, levels in zip(plain.names, plain.columns, plain.levels, strict=True)
        }
    )
    frame["regime"] = [*("r0", "r1", "r2"), *generator.choice(["r0", "r1", "r2"], 21)]
    regimes = Regimes("regime", "r0", 1.0, most)
    model = DagPosterior("additive", "uniform", max_parents=2, regimes=regimes).fit(frame)
    table = table_for("additive", frame, regimes=regimes)
    evidence = additive.Evidence(table)
    truth = naive_regimes.by_enumeration(
        table, lambda _, child, parents: evidence.score(child, parents), 1.0 / nodes, min(2, nodes - 1), most or 2
    )
    assert model.log_evidence_ == pytest.approx(truth.log_evidence, abs=TOLERANCE, rel=1e-10)
    np.testing.assert_allclose(model.regime_effects().probabilities, truth.targets, atol=TOLERANCE)
    np.testing.assert_allclose(model.edge_probabilities_.to_numpy()[:nodes, :nodes], truth.edges, atol=TOLERANCE)
