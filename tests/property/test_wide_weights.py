"""Weights that span millions of nats, against all graphs listed in logs: only what cannot matter may vanish."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare
from tests.naive import posterior as naive
from tests.naive import structure as naive_structure
from tests.tools.wording import Said

from dagpost import DagPosterior, InputError, local_scores
from dagpost._tools.wide_floats import RANGE_NATS, to_logs
from dagpost.engines import ThreadEngine
from dagpost.errors import NoGraphError
from dagpost.exact.order import edge_probabilities, family_probabilities, forward_table
from dagpost.exact.paths import order_path_probabilities
from dagpost.exact.structure import ancestor_sets, descendant_sets, structure_posterior
from dagpost.families.family_sums import family_tables
from dagpost.mcmc.buckets import bucket_families
from dagpost.mcmc.candidates import weights_of_all

ENGINE = ThreadEngine(1)
#: Log weights of a million nats are doubles of ten digits after the point; probabilities have two fewer.
CLOSE: Any = {"rtol": 0.0, "atol": 1e-8}


def of_sets(nodes: int, scale: float, generator: np.random.Generator) -> np.ndarray:
    """Scores that are differences of a function of sets, as of very many rows: all complete graphs are the best."""
    values = [-round(scale * (1 - 0.5 ** mask.bit_count())) + int(generator.integers(3)) for mask in range(1 << nodes)]
    masks = [naive.parent_masks(node, nodes, nodes - 1) for node in range(nodes)]
    return np.array(
        [[values[mask | 1 << node] - values[mask] for mask in own] for node, own in enumerate(masks)], float
    )


def around_a_graph(nodes: int, scale: float, generator: np.random.Generator) -> np.ndarray:
    """One order has graphs that are about as probable as each other; everything else is further down by far."""
    masks = [naive.parent_masks(node, nodes, nodes - 1) for node in range(nodes)]
    place = generator.permutation(nodes)
    fitting = np.array(
        [
            [all(place[other] < place[node] for other in range(nodes) if mask >> other & 1) for mask in own]
            for node, own in enumerate(masks)
        ]
    )
    near = generator.normal(size=fitting.shape) * 2.0
    return np.where(fitting, near, -generator.uniform(0.0, 1.0, fitting.shape) * scale)


@st.composite
def wide_weights(draw: st.DrawFn, most: int) -> np.ndarray:
    """Weights some of whose products are far out of range, some of them zero; the most probable graphs are in it."""
    nodes, generator = draw(st.integers(2, most)), np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    if draw(st.booleans()):
        # The most probable graphs weigh this much less than the best of all nodes.
        weights = of_sets(nodes, draw(st.sampled_from([1e5, 1.5e6, 2e6])), generator)
    else:
        weights = around_a_graph(nodes, draw(st.sampled_from([1e6, 5e6, 5e7, 1e15])), generator)
    if draw(st.booleans()):
        forbidden = generator.random(weights.shape) < 0.2
        forbidden[:, 0] = False
        weights[forbidden] = -np.inf
    return weights + generator.normal(size=(nodes, 1))


@settings(max_examples=60)
@given(wide_weights(5))
def test_every_graph_counted_once_is_as_enumeration_says(weights: np.ndarray) -> None:
    nodes, most = len(weights), len(weights) - 1
    expected = naive.structure_modular_by_enumeration(weights, most)
    found = structure_posterior(weights, most, engine=ENGINE)
    assert found.tables.log_evidence == pytest.approx(expected.log_evidence, rel=1e-13, abs=1e-8)
    np.testing.assert_allclose(found.families, expected.families, **CLOSE)
    np.testing.assert_allclose(edge_probabilities(found.families, most), expected.edges, **CLOSE)
    for node in range(nodes):
        descendants = naive_structure.descendant_sets(weights, most, node)
        np.testing.assert_allclose(descendant_sets(found.tables, node, engine=ENGINE), descendants, **CLOSE)
        ancestors = naive_structure.ancestor_sets(weights, most, node)
        np.testing.assert_allclose(ancestor_sets(found.tables, node, engine=ENGINE), ancestors, **CLOSE)


@settings(max_examples=60)
@given(wide_weights(4))
def test_every_order_counted_once_is_as_enumeration_says(weights: np.ndarray) -> None:
    most = len(weights) - 1
    expected = naive.order_modular_by_enumeration(weights, most)
    forward = forward_table(weights, most, engine=ENGINE)
    assert forward.log_evidence == pytest.approx(expected.log_evidence, rel=1e-13, abs=1e-8)
    np.testing.assert_allclose(family_probabilities(forward, engine=ENGINE), expected.families, **CLOSE)
    probabilities = naive_structure.probability_of_every_dag(weights, most, "order")
    reached = np.zeros((len(weights), len(weights)))
    for probability, dag in zip(probabilities, naive.all_dags(len(weights)), strict=True):
        for node in range(len(weights)):
            ancestors = naive_structure.ancestors_in(dag, node)
            reached[[other for other in range(len(weights)) if ancestors >> other & 1], node] += probability
    np.testing.assert_allclose(order_path_probabilities(forward, engine=ENGINE), reached, **CLOSE)


def test_most_probable_graphs_out_of_range_are_refused_with_how_many_rows_fit(said: Said) -> None:
    """The remedy applies: that part of the rows has that part of the log weights."""
    weights = of_sets(4, 3 * RANGE_NATS, np.random.default_rng(1))
    with said.raises(InputError) as refusal:
        forward_table(weights, 3, engine=ENGINE)
    part = int(re.findall(r"1 in (\d+)", str(refusal.value))[0])
    assert part < 5
    assert np.isfinite(forward_table(weights / part, 3, engine=ENGINE).log_evidence)


def test_no_graph_at_all_is_said_whatever_the_weights_span() -> None:
    cycle = np.array([[-np.inf, 0.0], [-np.inf, -1e15]])
    with pytest.raises(NoGraphError):
        forward_table(cycle, 1, engine=ENGINE)


# A table of very many rows


def clear_columns(rows: int, seed: int) -> pd.DataFrame:
    """Columns of three levels that agree in 95 of 100 rows."""
    generator = np.random.default_rng(seed)
    hidden = generator.integers(0, 3, rows)
    agree = generator.random((4, rows)) < 0.95
    columns = np.where(agree, hidden, generator.integers(0, 3, (4, rows)))
    return pd.DataFrame({name: np.array(["p", "q", "r"])[column] for name, column in zip("abcd", columns, strict=True)})


@pytest.fixture(scope="module")
def rows() -> pd.DataFrame:
    return clear_columns(1_000_000, 1)


@pytest.fixture(scope="module")
def cells(rows: pd.DataFrame) -> pd.DataFrame:
    return rows.value_counts(sort=False).rename("count").reset_index()


@pytest.fixture(scope="module", params=["structure", "order"])
def model(request: pytest.FixtureRequest, cells: pd.DataFrame) -> DagPosterior:
    return DagPosterior(prior="uniform", modularity=request.param, seed=1).fit(cells, counts="count")


def masses(cells: pd.DataFrame, modularity: str, forbidden: int = 0) -> dict[naive.Dag, float]:
    """The probability of each graph, from the scores of its families; a and b have none of the `forbidden` parents."""
    weights = local_scores(cells, "bdeu", 3, counts="count").values.copy()
    for node in (0, 1):
        weights[node, np.array(naive.parent_masks(node, 4, 3)) & forbidden > 0] = -np.inf
    probabilities = naive_structure.probability_of_every_dag(weights, 3, modularity)
    return dict(zip(naive.all_dags(4), probabilities.tolist(), strict=True))


def edges_of(graphs: dict[naive.Dag, float]) -> np.ndarray:
    total = sum(graphs.values())
    matrix = np.zeros((4, 4))
    for dag, mass in graphs.items():
        for child, parents in enumerate(dag):
            matrix[[other for other in range(4) if parents >> other & 1], child] += mass / total
    return matrix


def test_a_million_clear_rows_are_answered_as_the_cells_they_fall_into(rows: pd.DataFrame, model: DagPosterior) -> None:
    by_row = DagPosterior(prior="uniform", modularity=model.modularity, seed=1).fit(rows)
    np.testing.assert_array_equal(by_row.edge_probabilities_.to_numpy(), model.edge_probabilities_.to_numpy())
    assert by_row.log_evidence_ == model.log_evidence_


def test_a_million_clear_rows_have_the_posterior_of_all_graphs(model: DagPosterior, cells: pd.DataFrame) -> None:
    graphs = masses(cells, model.modularity)
    np.testing.assert_allclose(model.edge_probabilities_.to_numpy(), edges_of(graphs), rtol=0, atol=1e-7)
    to_d = sum(mass for dag, mass in graphs.items() if naive_structure.ancestors_in(dag, 3) & 1)
    assert float(model.probability("a ~> d")) == pytest.approx(to_d, abs=1e-7)
    with_edge = {dag: mass for dag, mass in graphs.items() if dag[1] & 1}
    under = model.given("a -> b")
    np.testing.assert_allclose(under.edge_probabilities_.to_numpy(), edges_of(with_edge), rtol=0, atol=1e-7)
    best = model.best(3)
    assert best.log_joint[0] - model.log_evidence_ == pytest.approx(np.log(max(graphs.values())), abs=1e-6)


def test_draws_from_a_million_clear_rows_have_the_frequencies_of_all_graphs(
    model: DagPosterior, cells: pd.DataFrame
) -> None:
    """A chi-square test; false alarms: one in a million, with a fixed seed."""
    graphs = {dag: mass for dag, mass in masses(cells, model.modularity).items() if mass > 1e-3}
    count = 4_000
    drawn = Counter(map(tuple, model.sample(count, seed=2).parents.tolist()))
    found = [drawn[dag] for dag in graphs]
    assert sum(found) >= 0.99 * count
    expected = np.array(list(graphs.values()))
    assert chisquare(found, expected / expected.sum() * sum(found)).pvalue > 1e-6


def test_components_of_a_million_clear_rows_have_the_posterior_of_all_graphs(cells: pd.DataFrame) -> None:
    model = DagPosterior(prior="uniform", tiers=[["a", "b"], ["c", "d"]], seed=1).fit(cells, counts="count")
    graphs = masses(cells, "structure", 0b1100)
    np.testing.assert_allclose(model.edge_probabilities_.to_numpy(), edges_of(graphs), rtol=0, atol=1e-7)


# Sums of single nodes, which chains read


def test_sums_of_each_node_are_right_where_products_of_all_would_leave_the_range(said: Said) -> None:
    weights = of_sets(4, 1.5e6, np.random.default_rng(3))
    tables = family_tables(weights_of_all(weights, 3), engine=ENGINE)
    expected = naive.log_alpha(weights, 3)
    for node in range(4):
        others = [other for other in range(4) if other != node]
        masks = [sum(1 << others[place] for place in range(3) if inside >> place & 1) for inside in range(8)]
        found = to_logs(tables.sums[node]) + tables.heaviest[node]
        np.testing.assert_allclose(found, expected[node, masks], rtol=0, atol=1e-8)
    with said.raises(InputError):
        bucket_families(tables)
    with said.raises(InputError):
        family_tables(weights_of_all(np.where(np.arange(4)[:, None] == 2, 10 * weights, weights), 3), engine=ENGINE)
