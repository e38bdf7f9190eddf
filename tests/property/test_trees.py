"""Averages over trees: against their slow twins, and the laws they must obey.

Evidence and families agree to 1e-9, relative: no sum has a subtraction in it, so that small probabilities keep their
digits too.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.naive import trees as naive_trees
from tests.tools.examples import examples

from dagpost.engines import ThreadEngine
from dagpost.errors import NoGraphError
from dagpost.exact.structure import structure_posterior
from dagpost.exact.trees import TreePosterior, draw_trees, tree_posterior

TOLERANCE = 1e-9
#: Below this, doubles lose digits.
SMALLEST = 1e-290
Weights = NDArray[np.float64]
ENGINE = ThreadEngine(2)


@st.composite
def weights(draw: st.DrawFn, largest: int = 5, scales: tuple[float, ...] = (1.0, 30.0, 2000.0)) -> Weights:
    nodes = draw(st.integers(1, largest))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    result = rng.normal(size=(nodes, nodes)) + 3.0 * rng.normal(size=(nodes, 1))
    # Roots far above and far below everything else.
    result[np.diag_indices(nodes)] += draw(st.sampled_from([0.0, 5.0, -5.0]))
    result *= draw(st.sampled_from(scales))
    result[rng.random((nodes, nodes)) < draw(st.sampled_from([0.0, 0.0, 0.2, 0.5]))] = -np.inf
    return result


def posterior_or_none(log_weights: Weights, spanning: bool) -> TreePosterior | None:
    try:
        return tree_posterior(log_weights, spanning=spanning)
    except NoGraphError:
        return None


# Against the slow twins


@settings(max_examples=examples(1000))
@given(weights(), st.booleans())
# Two nodes that hold on to each other, and to nothing else.
@example(np.array([[-2000.0, 0.0], [0.0, -1990.0]]), True)
@example(np.array([[-2000.0, 0.0], [0.0, -1990.0]]), False)
# No way but two roots.
@example(np.array([[0.0, -np.inf], [-np.inf, 0.0]]), True)
# A node that must be the root, eliminated first, in the middle and last.
@example(np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [-np.inf, -np.inf, 7.0]]), True)
@example(np.array([[1.0, 2.0, 3.0], [-np.inf, 5.0, -np.inf], [8.0, 9.0, 7.0]]), True)
@example(np.array([[1.0, -np.inf, -np.inf], [4.0, 5.0, 6.0], [8.0, 9.0, 7.0]]), True)
def test_evidence_and_families_match_enumeration(log_weights: Weights, spanning: bool) -> None:
    expected = naive_trees.by_enumeration(log_weights, spanning)
    found = posterior_or_none(log_weights, spanning)
    assert (found is None) == (expected is None)
    if found is not None and expected is not None:
        assert found.log_evidence == pytest.approx(expected.log_evidence, rel=0, abs=TOLERANCE)
        np.testing.assert_allclose(found.families, expected.families, rtol=TOLERANCE, atol=SMALLEST)


@settings(max_examples=40)
@given(st.integers(2, 7), st.integers(0, 2**32), st.sampled_from([3, 1000, 3000]), st.booleans())
def test_evidence_and_families_match_whole_numbers(nodes: int, seed: int, bits: int, spanning: bool) -> None:
    rng = np.random.default_rng(seed)
    exponents = rng.integers(0, 2 * bits, size=(nodes, nodes))
    exact = [[1 << exponent for exponent in row] for row in exponents.tolist()]
    found = tree_posterior(exponents * math.log(2.0), spanning=spanning)
    log_evidence = math.log(naive_trees.exact_evidence(exact, spanning))
    assert found.log_evidence == pytest.approx(log_evidence, rel=0, abs=TOLERANCE)
    node = int(rng.integers(nodes))
    expected = [naive_trees.exact_family(exact, node, target, spanning) for target in range(nodes)]
    np.testing.assert_allclose(found.families[node], expected, rtol=TOLERANCE, atol=SMALLEST)


@settings(max_examples=30)
@given(weights(largest=8, scales=(1.0, 3.0)))
def test_forests_are_the_graphs_of_at_most_one_parent(log_weights: Weights) -> None:
    found = posterior_or_none(log_weights, spanning=False)
    if found is None:
        with pytest.raises(NoGraphError):
            structure_posterior(naive_trees.in_families_numbering(log_weights), 1, engine=ENGINE)
        return
    expected = structure_posterior(naive_trees.in_families_numbering(log_weights), 1, engine=ENGINE)
    assert found.log_evidence == pytest.approx(expected.tables.log_evidence, rel=0, abs=TOLERANCE)
    families = naive_trees.in_families_numbering(found.families)
    np.testing.assert_allclose(families, expected.families, rtol=0, atol=TOLERANCE)


# Laws


@settings(max_examples=examples(60))
@given(weights(largest=30), st.booleans(), st.integers(0, 2**32))
def test_the_numbering_of_the_nodes_does_not_matter(log_weights: Weights, spanning: bool, seed: int) -> None:
    places = np.random.default_rng(seed).permutation(len(log_weights))
    shuffled = np.ix_(places, places)
    first = posterior_or_none(log_weights, spanning)
    second = posterior_or_none(log_weights[shuffled], spanning)
    assert (first is None) == (second is None)
    if first is not None and second is not None:
        assert first.log_evidence == pytest.approx(second.log_evidence, rel=0, abs=TOLERANCE)
        np.testing.assert_allclose(first.families[shuffled], second.families, rtol=TOLERANCE, atol=SMALLEST)


@settings(max_examples=examples(60))
@given(weights(largest=40), st.booleans())
def test_every_node_takes_one_target_and_a_spanning_tree_has_one_root(log_weights: Weights, spanning: bool) -> None:
    found = posterior_or_none(log_weights, spanning)
    if found is not None:
        np.testing.assert_allclose(found.families.sum(axis=1), 1.0, rtol=0, atol=1e-12)
        assert (found.families >= 0.0).all()
        assert not found.families[log_weights == -np.inf].any()
        if spanning:
            assert np.trace(found.families) == pytest.approx(1.0, rel=0, abs=TOLERANCE)


@settings(max_examples=examples(60))
@given(st.integers(2, 20), st.integers(0, 2**32), st.sampled_from([1.0, 100.0, 1000.0]))
def test_scores_equal_for_equivalent_trees_say_nothing_about_the_root(nodes: int, seed: int, scale: float) -> None:
    rng = np.random.default_rng(seed)
    gains = np.triu(rng.normal(size=(nodes, nodes)), 1) * scale
    log_weights = rng.normal(size=nodes)[:, None] * scale + gains + gains.T
    found = tree_posterior(log_weights)
    np.testing.assert_allclose(np.diag(found.families), 1.0 / nodes, rtol=TOLERANCE)
    # With the root given, the edges are the same but for their directions.
    np.fill_diagonal(log_weights[1:, 1:], -np.inf)
    rooted = tree_posterior(log_weights)
    assert rooted.log_evidence == pytest.approx(found.log_evidence - math.log(nodes), rel=0, abs=TOLERANCE)
    beside = ~np.eye(nodes, dtype=bool)
    undirected = (found.families + found.families.T)[beside]
    np.testing.assert_allclose((rooted.families + rooted.families.T)[beside], undirected, rtol=TOLERANCE, atol=SMALLEST)


# Draws


@settings(max_examples=examples(100))
@given(weights(largest=12), st.booleans(), st.integers(0, 2**32))
def test_draws_are_allowed_graphs_with_their_log_weights(log_weights: Weights, spanning: bool, seed: int) -> None:
    posterior = posterior_or_none(log_weights, spanning)
    if posterior is None:
        return
    parents, log_joint = draw_trees(posterior, 50, seed=np.random.SeedSequence(seed), engine=ENGINE)
    for masks, log in zip(parents.tolist(), log_joint.tolist(), strict=True):
        targets = naive_trees.targets_of(masks)
        assert all(naive_trees.leads_outside(targets, node) for node in range(len(targets)))
        assert naive_trees.roots(targets) == 1 or not spanning
        assert -math.inf < log <= posterior.log_evidence + TOLERANCE
        weight = math.fsum(log_weights[node, target] for node, target in enumerate(targets))
        assert log == pytest.approx(weight, rel=1e-12, abs=1e-12)
