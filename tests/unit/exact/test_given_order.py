"""Averages under one given order, against the list of all its graphs; draws against their probabilities."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2
from tests.naive import posterior as naive
from tests.naive import search as naive_search
from tests.tools.examples import examples
from tests.tools.wording import Said

from dagpost import DagPosterior, datasets
from dagpost._tools.progress import reporter_for
from dagpost.engines import ThreadEngine
from dagpost.errors import InputError, NoGraphError
from dagpost.exact.given_order import GivenOrderPosterior, given_order_posterior
from dagpost.families.family_sums import FamilyTables, FamilyWeights, family_tables
from dagpost.families.numbering import family_count
from dagpost.mcmc.candidates import weights_inside, weights_of_all
from dagpost.methods.given_order import GivenOrder
from dagpost.sampling.given_order import draw_given_order

FALSE_ALARM = 1e-6
TOLERANCE = 1e-10
ENGINE = ThreadEngine(2)


def tables_of(log_weights: naive.Logs, max_parents: int, width: int | None = None) -> FamilyTables:
    """Tables of all families; with fewer candidates than others, sets beyond them are listed."""
    nodes = len(log_weights)
    if width is None or width == nodes - 1:
        return family_tables(weights_of_all(log_weights, max_parents), engine=ENGINE)
    candidates = np.array([[other for other in range(nodes) if other != node][-width:] for node in range(nodes)])
    inner = weights_inside(log_weights, candidates, max_parents)
    weights = FamilyWeights(max_parents, max_parents, candidates, inner, log_weights)
    return family_tables(weights, engine=ENGINE)


@st.composite
def cases(draw: st.DrawFn) -> tuple[naive.Logs, int, list[int], int]:
    nodes = draw(st.integers(2, 5))
    max_parents = draw(st.integers(1, nodes - 1))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    shape = (nodes, family_count(nodes - 1, max_parents))
    log_weights = draw(st.sampled_from([1.0, 30.0, 3000.0])) * rng.normal(size=shape)
    log_weights[rng.random(shape) < draw(st.sampled_from([0.0, 0.1, 0.4]))] = -np.inf
    # Every node has some parent set, though not in every order.
    log_weights[:, -1] = np.where(np.isinf(log_weights[:, -1]), 0.0, log_weights[:, -1])
    return log_weights, max_parents, rng.permutation(nodes).tolist(), draw(st.integers(1, nodes - 1))


def posterior_or_none(tables: FamilyTables, order: list[int]) -> GivenOrderPosterior | None:
    try:
        return given_order_posterior(tables, order)
    except NoGraphError:
        return None


@settings(max_examples=examples(300))
@given(cases())
def test_evidence_and_edges_match_enumeration(case: tuple[naive.Logs, int, list[int], int]) -> None:
    log_weights, max_parents, order, width = case
    expected = naive_search.given_order_by_enumeration(log_weights, max_parents, order)
    # Sets beyond the candidates that hold 1e-8 of the weight may be lost.
    for tables, tolerance in ((tables_of(log_weights, max_parents), TOLERANCE), (None, 1e-7)):
        found = posterior_or_none(tables or tables_of(log_weights, max_parents, width), order)
        assert (found is None) == (expected is None)
        if found is not None and expected is not None:
            assert found.log_evidence == pytest.approx(expected[0], rel=1e-13, abs=tolerance)
            np.testing.assert_allclose(found.edges, expected[1], rtol=0, atol=tolerance)


@settings(max_examples=examples(60))
@given(cases(), st.integers(0, 2**32))
def test_draws_fit_the_order_and_have_their_log_weights(
    case: tuple[naive.Logs, int, list[int], int], seed: int
) -> None:
    log_weights, max_parents, order, width = case
    tables = tables_of(log_weights, max_parents, width)
    posterior = posterior_or_none(tables, order)
    if posterior is None:
        return
    parents, log_joint = draw_given_order(tables, posterior, 20, seed=np.random.SeedSequence(seed), engine=ENGINE)
    by_mask = naive.weights_by_mask(log_weights, max_parents)
    place = {node: number for number, node in enumerate(order)}
    for graph, found in zip(parents.tolist(), log_joint.tolist(), strict=True):
        for child, mask in enumerate(graph):
            assert all(place[parent] < place[child] for parent in range(len(order)) if mask >> parent & 1)
        expected = sum(by_mask[node, mask] for node, mask in enumerate(graph))
        assert found == pytest.approx(expected, rel=1e-12, abs=1e-9)


def spread_weights(nodes: int, max_parents: int, seed: int, spread: float) -> naive.Logs:
    shape = (nodes, family_count(nodes - 1, max_parents))
    return spread * np.random.default_rng(seed).normal(size=shape)


@pytest.mark.parametrize("width", [None, 2])
@pytest.mark.parametrize("spread", [0.5, 2.0, 2000.0])
@pytest.mark.parametrize("forbidden", [False, True])
def test_draws_have_their_probabilities(spread: float, forbidden: bool, width: int | None) -> None:
    """Chi-square over all graphs of an order; rare ones are judged together. False alarm: 1e-6."""
    log_weights, max_parents, order, draws = spread_weights(5, 3, 11, spread), 3, [3, 0, 4, 2, 1], 40_000
    if forbidden:
        log_weights[:, [1, 4, 7]] = -np.inf
        log_weights[1, 0] = -np.inf
    tables = tables_of(log_weights, max_parents, width)
    posterior = given_order_posterior(tables, order)
    parents, _ = draw_given_order(tables, posterior, draws, seed=np.random.SeedSequence(5), engine=ENGINE)
    log_joint = naive_search.log_joint_of_order(log_weights, max_parents, order)
    expected = draws * np.exp(log_joint - naive.log_sum(log_joint))
    place = {graph: number for number, graph in enumerate(naive_search.graphs_of_order(order))}
    counts = np.zeros(len(place))
    for graph in parents.tolist():
        counts[place[tuple(graph)]] += 1
    assert not counts[expected == 0.0].any()
    rare = expected < 10.0
    seen = np.append(counts[~rare], counts[rare].sum())
    wanted = np.append(expected[~rare], expected[rare].sum())
    kept = wanted > 0.5
    assert seen[~kept].sum() <= 12
    statistic = float((((seen - wanted) ** 2)[kept] / wanted[kept]).sum())
    assert chi2.sf(statistic, max(int(kept.sum()) - 1, 1)) > FALSE_ALARM


def test_draws_are_independent_of_each_other() -> None:
    """Pairs of draws that follow each other, over the parents of one node: chi-square, false alarm 1e-6."""
    log_weights = spread_weights(4, 3, 12, 0.7)
    tables = tables_of(log_weights, 3)
    posterior = given_order_posterior(tables, [0, 1, 2, 3])
    parents, _ = draw_given_order(tables, posterior, 40_000, seed=np.random.SeedSequence(6), engine=ENGINE)
    _, codes = np.unique(parents[:, 3], return_inverse=True)
    kinds = int(codes.max()) + 1
    table = np.zeros((kinds, kinds))
    np.add.at(table, (codes[:-1:2], codes[1::2]), 1)
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
    assert expected.min() > 5
    statistic = float(((table - expected) ** 2 / expected).sum())
    assert chi2.sf(statistic, (kinds - 1) ** 2) > FALSE_ALARM


def draw(tables: FamilyTables, posterior: GivenOrderPosterior, count: int, **options: Any) -> np.ndarray:
    settings = {"seed": np.random.SeedSequence(9, spawn_key=(3,)), "engine": ENGINE, **options}
    return draw_given_order(tables, posterior, count, **settings)[0]


def test_a_longer_sample_begins_with_the_shorter_one_whatever_the_threads() -> None:
    tables = tables_of(spread_weights(6, 2, 13, 1.0), 2)
    posterior = given_order_posterior(tables, [5, 3, 1, 0, 2, 4])
    whole = draw(tables, posterior, 5000)
    np.testing.assert_array_equal(draw(tables, posterior, 2500), whole[:2500])
    np.testing.assert_array_equal(draw(tables, posterior, 5000, engine=ThreadEngine(1)), whole)
    np.testing.assert_array_equal(draw(tables, posterior, 5000, drawn_together=1024), whole)


def test_other_seeds_give_other_graphs() -> None:
    tables = tables_of(spread_weights(6, 2, 13, 1.0), 2)
    posterior = given_order_posterior(tables, range(6))
    assert (draw(tables, posterior, 100) != draw(tables, posterior, 100, seed=np.random.SeedSequence(4))).any()


def test_no_draws_are_no_draws() -> None:
    tables = tables_of(spread_weights(3, 2, 14, 1.0), 2)
    assert draw(tables, given_order_posterior(tables, [0, 1, 2]), 0).shape == (0, 3)


def test_progress_counts_the_graphs() -> None:
    seen: list[tuple[str, int, int]] = []
    reporter = reporter_for(lambda title, done, total: seen.append((title, done, total)))
    tables = tables_of(spread_weights(3, 2, 14, 1.0), 2)
    draw(tables, given_order_posterior(tables, [0, 1, 2]), 3000, reporter=reporter, drawn_together=1024)
    assert seen == [("graphs", 1024, 3000), ("graphs", 2048, 3000), ("graphs", 3000, 3000)]


def test_64_nodes_are_no_more_than_their_nodes_one_by_one() -> None:
    """Each node takes at most one of its predecessors, so that sums are quickly written down."""
    nodes = 64
    log_weights = spread_weights(nodes, 1, 15, 3.0)
    tables = tables_of(log_weights, 1)
    order = np.random.default_rng(16).permutation(nodes)
    found = given_order_posterior(tables, order)
    log_evidence, edges = 0.0, np.zeros((nodes, nodes))
    for place, child in enumerate(order.tolist()):
        before = order[:place].tolist()
        logs = log_weights[child, [0, *(1 + parent - (parent > child) for parent in before)]]
        log_evidence += naive.log_sum(logs)
        edges[before, child] = np.exp(logs[1:] - naive.log_sum(logs))
    assert found.log_evidence == pytest.approx(log_evidence, abs=1e-6)
    np.testing.assert_allclose(found.edges, edges, rtol=0, atol=1e-7)
    parents = draw(tables, found, 20_000)
    frequencies = np.array([((parents >> np.uint64(parent)) & np.uint64(1)).mean(axis=0) for parent in range(nodes)])
    # Bernstein's inequality for each edge, false alarm 1e-6 over all.
    rate = np.log(2 * nodes**2 / FALSE_ALARM)
    limit = np.sqrt(2 * edges * (1 - edges) * rate / 20_000) + 2 * rate / (3 * 20_000)
    assert (np.abs(frequencies - edges) <= limit).all()


# Refusals


def test_an_order_that_leaves_a_node_nothing_is_refused_by_the_node(said: Said) -> None:
    log_weights = np.zeros((3, 4))
    # Node 2 must have node 1 as a parent.
    log_weights[2] = [-np.inf, -np.inf, 0.0, 0.0]
    tables = tables_of(log_weights, 2)
    with said.raises(NoGraphError):
        given_order_posterior(tables, [0, 2, 1])
    with said.raises(NoGraphError):
        given_order_posterior(tables, [0, 2, 1], names=("a", "b", "c"))
    assert given_order_posterior(tables, [0, 1, 2]).edges[1, 2] == pytest.approx(1.0)


def test_a_variable_without_a_place_in_the_order_is_named(said: Said) -> None:
    table = datasets.load("coronary")
    model = DagPosterior(
        prior="uniform", score="bdeu", method=GivenOrder(table.names), required=[("Pressure", "M. Work")]
    )
    with said.raises(NoGraphError):
        model.fit(table)


@pytest.mark.parametrize(
    "order", [[0, 1], [0, 1, 2, 3], [0, 1, 1], [1, 2, 3], [0.0, 1.0, 2.0], [[0, 1, 2]], ["a", "b", "c"], [-1, 0, 1]]
)
def test_what_is_no_order_is_refused(order: Any, said: Said) -> None:
    tables = tables_of(np.zeros((3, 4)), 2)
    with said.raises(InputError):
        given_order_posterior(tables, order)
