"""Sums by strongly connected components: against all graphs one by one, and against the sums over the whole table.

Tolerance: 1e-9 on probabilities and log evidence, with weights that lie thousands of nats apart.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.naive import kbest as naive_best
from tests.naive import posterior as naive
from tests.naive import structure as naive_structure
from tests.tools.examples import examples

from dagpost._tools.progress import NO_PROGRESS
from dagpost.engines import ThreadEngine
from dagpost.errors import NoGraphError
from dagpost.exact.components import Components, edges_of_families
from dagpost.exact.order import edge_probabilities
from dagpost.exact.structure import structure_posterior
from dagpost.families.numbering import parent_sets, unsqueeze_all
from dagpost.families.parent_lists import ParentLists, all_others
from dagpost.posterior.component_workspace import ComponentWorkspace, divided
from dagpost.posterior.exact_workspace import ExactWorkspace

TOLERANCE = 1e-9
#: Weights of this scale are whole numbers, so that many graphs tie.
TIED = 3.0
ENGINE = ThreadEngine(2)
Weights = NDArray[np.float64]
Case = tuple[ParentLists, tuple[Weights, ...]]


def random_case(nodes: int, max_parents: int, seed: int, scale: float, allowed: float, lost: float) -> Case:
    rng = np.random.default_rng(seed)
    edges = rng.random((nodes, nodes)) < allowed
    np.fill_diagonal(edges, False)
    lists = ParentLists.of_matrix(edges, max_parents)
    weights = []
    for count in lists.counts.tolist():
        own = rng.normal(size=count) * scale + rng.normal() * scale
        if scale == TIED:
            own = np.round(own)
        own[rng.random(count) < lost] = -np.inf
        own[0] = 0.0 if np.isneginf(own).all() else own[0]
        weights.append(own)
    return lists, tuple(weights)


@st.composite
def cases(draw: st.DrawFn, largest: int = 5) -> Case:
    nodes = draw(st.integers(1, largest))
    max_parents = draw(st.integers(0, max(nodes - 1, 1)))
    scale = draw(st.sampled_from([0.0, 1.0, TIED, 30.0, 1000.0]))
    allowed, lost = draw(st.sampled_from([0.2, 0.4, 0.6])), draw(st.sampled_from([0.0, 0.3]))
    return random_case(nodes, max_parents, draw(st.integers(0, 2**32)), scale, allowed, lost)


def dense(case: Case) -> Weights:
    """The same weights over all parent sets, those that are not allowed minus infinity."""
    lists, weights = case
    nodes = lists.nodes
    sets = parent_sets(nodes - 1, lists.max_parents)
    result = np.full((nodes, len(sets)), -np.inf)
    for node in range(nodes):
        number = {mask: place for place, mask in enumerate(unsqueeze_all(sets, node).tolist())}
        for place, mask in enumerate(lists.masks(node, np.uint64(1) << np.arange(nodes, dtype=np.uint64)).tolist()):
            result[node, number[mask]] = weights[node][place]
    return result


def workspace_of(case: Case) -> ComponentWorkspace:
    return ComponentWorkspace(*case, ENGINE, NO_PROGRESS)


def spread(case: Case, families: tuple[Weights, ...]) -> Weights:
    """Probabilities of the allowed families as those of all."""
    return np.nan_to_num(dense((case[0], families)), neginf=0.0)


@settings(max_examples=examples(100))
@given(cases())
def test_evidence_families_edges_and_paths_match_enumeration(case: Case) -> None:
    lists, _ = case
    weights, limit = dense(case), lists.max_parents
    expected = naive.structure_modular_by_enumeration(weights, limit)
    workspace = workspace_of(case)
    if expected.log_evidence == -np.inf:
        with pytest.raises(NoGraphError):
            workspace.summed("structure")
        return
    found = workspace.summed("structure")
    assert isinstance(found.families, tuple)
    assert found.log_evidence == pytest.approx(expected.log_evidence, abs=TOLERANCE, rel=1e-15)
    assert workspace_of(case).structure_evidence() == pytest.approx(found.log_evidence, abs=TOLERANCE, rel=1e-15)
    np.testing.assert_allclose(spread(case, found.families), expected.families, rtol=0, atol=TOLERANCE)
    np.testing.assert_allclose(found.edges, expected.edges, rtol=0, atol=TOLERANCE)
    masks = np.arange(1 << lists.nodes)
    assert found.paths is not None
    for source in range(lists.nodes):
        sets = naive_structure.descendant_sets(weights, limit, source)
        for target in range(lists.nodes):
            path = sets[masks >> target & 1 == 1].sum()
            known = found.paths[source, target]
            assert np.isnan(known) or known == pytest.approx(path, abs=TOLERANCE)
            # Whatever lies between two components can be summed as one.
            if source != target:
                assert workspace.path_probability(source, target, 60.0) == pytest.approx(path, abs=TOLERANCE)


@settings(max_examples=examples(100))
@given(cases(), st.data())
def test_conditions_on_parents_match_enumeration(case: Case, data: st.DataObject) -> None:
    """The weights that conditions leave, whether they split a component or not."""
    lists, weights = case
    kept = {}
    for node in data.draw(st.lists(st.integers(0, lists.nodes - 1), min_size=1, max_size=2, unique=True)):
        flags = data.draw(st.lists(st.booleans(), min_size=len(weights[node]), max_size=len(weights[node])))
        kept[node] = np.array(flags)
    left = tuple(np.where(kept[node], own, -np.inf) if node in kept else own for node, own in enumerate(weights))
    expected = naive.structure_modular_by_enumeration(dense((lists, left)), lists.max_parents).log_evidence
    workspace = workspace_of(case)
    whole = ExactWorkspace(dense(case), lists.max_parents, ENGINE, NO_PROGRESS)
    by_dense = {node: np.isfinite(dense((lists, left))[node]) for node in kept}
    if expected == -np.inf:
        with pytest.raises(NoGraphError):
            workspace.restricted(kept).structure_evidence()
        return
    assert workspace.restricted(kept).structure_evidence() == pytest.approx(expected, abs=TOLERANCE, rel=1e-15)
    assert divided(whole.restricted(by_dense)).log_evidence("structure") == pytest.approx(
        expected, abs=TOLERANCE, rel=1e-15
    )


@settings(max_examples=examples(150))
@given(cases(largest=4), st.integers(1, 30))
@example(random_case(4, 2, 5, 0.0, 0.4, 0.0), 7)
def test_the_best_graphs_match_enumeration(case: Case, count: int) -> None:
    weights, limit = dense(case), case[0].max_parents
    dags = naive_best.every_dag(weights, limit)
    if not dags:
        with pytest.raises(NoGraphError):
            workspace_of(case).best_graphs(count)
        return
    expected, tied = naive_best.listed(dags, naive_best.tolerance(weights), count)
    found = workspace_of(case).best_graphs(count)
    assert [tuple(row) for row in found.parents.tolist()] == [dag for _, dag in expected]
    np.testing.assert_allclose(found.log_joint, [log for log, _ in expected], rtol=1e-14, atol=TOLERANCE)
    assert found.tied == tied


@settings(max_examples=examples(60))
@given(cases())
def test_log_weights_of_graphs_are_those_of_their_families(case: Case) -> None:
    lists, _ = case
    dags = naive_best.every_dag(dense(case), lists.max_parents)
    if dags:
        graphs = np.array([dag for _, dag in dags], dtype=np.uint64)
        found = workspace_of(case).log_joint(graphs)
        np.testing.assert_allclose(found, [log for log, _ in dags], rtol=1e-14, atol=TOLERANCE)


def test_no_graphs_have_no_weights() -> None:
    workspace = workspace_of(random_case(3, 2, 1, 1.0, 0.6, 0.0))
    assert workspace.log_joint(np.zeros((0, 3), dtype=np.uint64)).shape == (0,)


@pytest.mark.parametrize(("nodes", "parts", "limit"), [(12, 3, 3), (15, 5, 4), (16, 2, 2)])
def test_tiers_of_a_larger_table_match_the_sums_over_the_whole(nodes: int, parts: int, limit: int) -> None:
    rng = np.random.default_rng(nodes)
    tier = rng.permutation(np.arange(nodes) % parts)
    allowed = tier[None, :] <= tier[:, None]
    np.fill_diagonal(allowed, False)
    lists = ParentLists.of_matrix(allowed, limit)
    weights = tuple(rng.normal(size=count) * 50.0 for count in lists.counts.tolist())
    workspace = ComponentWorkspace(lists, weights, ENGINE, NO_PROGRESS)
    found = workspace.summed("structure")
    assert sorted(workspace.components.sizes) == sorted(np.bincount(tier).tolist())
    whole = structure_posterior(dense((lists, weights)), limit, engine=ENGINE)
    assert found.log_evidence == pytest.approx(whole.tables.log_evidence, abs=TOLERANCE, rel=1e-14)
    np.testing.assert_allclose(found.edges, edge_probabilities(whole.families, limit), rtol=0, atol=TOLERANCE)
    assert found.paths is not None
    known = ~np.isnan(found.paths)
    assert known.sum() > nodes
    np.testing.assert_allclose(found.paths[known], whole.paths[known], rtol=0, atol=TOLERANCE)


def test_a_condition_splits_a_component() -> None:
    """A chain of edges back and forth: without the one arrow back, two halves are summed apart."""
    allowed = np.eye(6, k=1, dtype=bool) | np.eye(6, k=-1, dtype=bool)
    lists = ParentLists.of_matrix(allowed, 2)
    weights = tuple(np.random.default_rng(1).normal(size=count) for count in lists.counts.tolist())
    workspace = ComponentWorkspace(lists, weights, ENGINE, NO_PROGRESS)
    assert workspace.components.sizes == [6]
    without = {2: lists.masks(2, np.uint64(1) << np.arange(6, dtype=np.uint64)) & np.uint64(1 << 3) == 0}
    assert sorted(workspace.restricted(without).components.sizes) == [3, 3]


def test_one_component_stays_as_it_is() -> None:
    weights = np.random.default_rng(2).normal(size=(5, 11))
    whole = ExactWorkspace(weights, 2, ENGINE, NO_PROGRESS)
    assert divided(whole) is whole


def test_edges_count_every_family_with_the_parent() -> None:
    lists = all_others(3, 2)
    families = tuple(np.array([0.1, 0.2, 0.3, 0.4]) for _ in range(3))
    np.testing.assert_allclose(edges_of_families(lists, families)[:, 0], [0.0, 0.6, 0.7])


def test_components_stand_in_the_order_of_their_arrows() -> None:
    rng = np.random.default_rng(3)
    for _ in range(50):
        edges = rng.random((12, 12)) < 0.12
        np.fill_diagonal(edges, False)
        components = Components.of_edges(edges)
        child, parent = np.nonzero(edges)
        assert (components.part_of[parent] <= components.part_of[child]).all()
        reach = edges.T.copy()
        for _ in range(12):
            reach = reach | (reach @ reach)
        np.fill_diagonal(reach, False)
        np.testing.assert_array_equal(components.reached, reach)
