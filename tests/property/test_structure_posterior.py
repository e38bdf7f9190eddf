"""The exact posterior in which every graph counts once: against its slow twins, and the laws it must obey.

Tolerance: 1e-9, absolute, on probabilities and on log evidence. Where the alternating sums cancel, the result states a
bound on its error, and the bound is held against exact fractions.
"""

from __future__ import annotations

import json
import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.naive import posterior as naive
from tests.naive import structure as naive_structure
from tests.tools import reference
from tests.tools.examples import examples
from tests.tools.wording import Said

from dagpost._tools import memory
from dagpost._tools.wide_floats import ZERO, to_logs
from dagpost.data import as_table
from dagpost.engines import ThreadEngine
from dagpost.errors import InputError, PrecisionError, ResourceError
from dagpost.exact import structure
from dagpost.exact.completions import scaled
from dagpost.exact.order import edge_probabilities, family_probabilities, forward_table
from dagpost.exact.structure import StructurePosterior, structure_evidence, structure_posterior
from dagpost.exact.walk import Split
from dagpost.families.numbering import family_count, parent_sets
from dagpost.scores import BDeu, local_scores

if TYPE_CHECKING:
    pass

TOLERANCE = 1e-9
Weights = NDArray[np.float64]
#: Weights, the largest number of parents, and how many nodes a block holds.
Case = tuple[Weights, int, int]
#: As delivered, and so few that even a handful of nodes makes several blocks.
LOW_NODES = [11, 1, 2, 3]
ENGINE = ThreadEngine(2)


def random_weights(nodes: int, max_parents: int, seed: int, scale: float, forbidden: float = 0.0) -> Weights:
    rng = np.random.default_rng(seed)
    shape = (nodes, family_count(nodes - 1, max_parents))
    weights = rng.normal(size=shape) * scale + rng.normal(size=(nodes, 1)) * scale
    weights[rng.random(shape) < forbidden] = -np.inf
    return weights


@st.composite
def cases(draw: st.DrawFn, largest: int = 5) -> Case:
    nodes = draw(st.integers(2, largest))
    max_parents = draw(st.integers(0, nodes - 1))
    scale = draw(st.sampled_from([0.0, 1.0, 10.0, 100.0, 500.0]))
    forbidden = draw(st.sampled_from([0.0, 0.0, 0.2, 0.5]))
    weights = random_weights(nodes, max_parents, draw(st.integers(0, 2**32)), scale, forbidden)
    return weights, max_parents, draw(st.sampled_from(LOW_NODES))


def computed(weights: Weights, max_parents: int, low: int = 11, threads: int = 2) -> StructurePosterior:
    return structure_posterior(weights, max_parents, engine=ThreadEngine(threads), split=Split(low))


def sparse_weights(nodes: int, max_parents: int, log_ratio: float) -> Weights:
    """Every parent costs the same factor, whoever it is."""
    sizes = [int(mask).bit_count() for mask in parent_sets(nodes - 1, max_parents)]
    return np.tile(np.array(sizes) * log_ratio, (nodes, 1))


def log_of(fraction: Fraction) -> float:
    return math.log(fraction.numerator) - math.log(fraction.denominator)


# Against the slow twins


@settings(max_examples=examples(150))
@given(cases())
@example((np.array([[-np.inf, 0.0], [0.0, -np.inf]]), 1, 1))
@example((np.array([[-np.inf, 0.0], [-np.inf, 0.0]]), 1, 11))
def test_evidence_families_edges_and_paths_match_enumeration(case: Case) -> None:
    weights, max_parents, low = case
    expected = naive.structure_modular_by_enumeration(weights, max_parents)
    if expected.log_evidence == -np.inf:
        with pytest.raises(InputError, match=r"no allowed parent set|No graph satisfies"):
            computed(weights, max_parents, low)
        return
    found = computed(weights, max_parents, low)
    assert found.tables.log_evidence == pytest.approx(expected.log_evidence, abs=TOLERANCE, rel=0)
    np.testing.assert_allclose(found.families, expected.families, rtol=0, atol=TOLERANCE)
    np.testing.assert_allclose(edge_probabilities(found.families, max_parents), expected.edges, rtol=0, atol=TOLERANCE)
    masks = np.arange(1 << len(weights))
    for source in range(len(weights)):
        sets = naive_structure.descendant_sets(weights, max_parents, source)
        paths = [sets[masks >> target & 1 == 1].sum() for target in range(len(weights))]
        np.testing.assert_allclose(found.paths[source], paths, rtol=0, atol=TOLERANCE)


@settings(max_examples=examples(100))
@given(cases())
def test_the_evidence_alone_is_that_of_the_whole_posterior(case: Case) -> None:
    weights, max_parents, low = case
    expected = naive.structure_modular_by_enumeration(weights, max_parents).log_evidence
    if expected == -np.inf:
        with pytest.raises(InputError, match=r"no allowed parent set|No graph satisfies"):
            structure_evidence(weights, max_parents, engine=ENGINE, split=Split(low))
    else:
        found = structure_evidence(weights, max_parents, engine=ENGINE, split=Split(low))
        assert found == pytest.approx(expected, abs=TOLERANCE, rel=0)


@settings(max_examples=examples(100))
@given(cases())
def test_descendant_and_ancestor_sets_match_enumeration(case: Case) -> None:
    weights, max_parents, low = case
    if naive.structure_modular_by_enumeration(weights, max_parents).log_evidence == -np.inf:
        return
    tables = computed(weights, max_parents, low).tables
    for node in range(len(weights)):
        for find, twin in (
            (structure.descendant_sets, naive_structure.descendant_sets),
            (structure.ancestor_sets, naive_structure.ancestor_sets),
        ):
            found = find(tables, node, engine=ENGINE)
            np.testing.assert_allclose(found, twin(weights, max_parents, node), rtol=0, atol=TOLERANCE)


@pytest.mark.parametrize("low", [11, 3])
@pytest.mark.parametrize(("nodes", "max_parents"), [(6, 2), (7, 3)])
def test_evidence_and_edges_match_exact_fractions_where_enumeration_ends(
    nodes: int, max_parents: int, low: int
) -> None:
    rng = np.random.default_rng(nodes)
    numbers = rng.integers(1, 1000, size=(nodes, family_count(nodes - 1, max_parents)))
    numbers[rng.random(numbers.shape) < 0.1] = 0
    exact = [
        {
            mask: Fraction(int(number))
            for mask, number in zip(naive.parent_masks(node, nodes, max_parents), row, strict=True)
        }
        for node, row in enumerate(numbers)
    ]
    with np.errstate(divide="ignore"):
        found = computed(np.log(numbers), max_parents, low)
    assert found.tables.log_evidence == pytest.approx(
        log_of(naive_structure.exact_evidence(exact)), abs=TOLERANCE, rel=0
    )
    edges = edge_probabilities(found.families, max_parents)
    for parent, child in [(0, 1), (nodes - 1, 0), (2, nodes - 1)]:
        expected = float(naive_structure.exact_edge(exact, parent, child))
        assert edges[parent, child] == pytest.approx(expected, abs=TOLERANCE, rel=0)


# Where the sums cancel


@pytest.mark.parametrize("digits", [1, 3, 9, 40])
@pytest.mark.parametrize(("nodes", "max_parents", "low"), [(5, 4, 2), (9, 8, 3), (12, 5, 11), (14, 3, 11), (14, 5, 9)])
def test_the_bound_on_the_error_is_kept_when_parents_are_rare(
    nodes: int, max_parents: int, low: int, digits: int
) -> None:
    """Every parent costs a factor of `10 ** -digits`: nearly all that the sums add they take away again."""
    exact = naive_structure.equal_nodes(nodes, max_parents, Fraction(1, 10**digits))
    found = computed(sparse_weights(nodes, max_parents, -digits * math.log(10.0)), max_parents, low)
    bound = found.tables.error_bound
    assert bound < 1e-8
    assert found.tables.log_evidence == pytest.approx(log_of(exact.evidence), abs=bound + TOLERANCE, rel=0)
    sizes = [int(mask).bit_count() for mask in parent_sets(nodes - 1, max_parents)]
    families = np.array([float(exact.families[size]) for size in sizes])
    np.testing.assert_allclose(found.families, np.tile(families, (nodes, 1)), rtol=0, atol=bound)
    others = ~np.eye(nodes, dtype=bool)
    np.testing.assert_allclose(found.paths[others], float(exact.path), rtol=0, atol=bound)
    assert not found.paths.diagonal().any()


def test_the_bound_is_kept_by_whole_distributions_of_descendants() -> None:
    exact = naive_structure.equal_nodes(12, 5, Fraction(1, 1000))
    tables = computed(sparse_weights(12, 5, -math.log(1000.0)), 5).tables
    found = structure.descendant_sets(tables, 4, engine=ENGINE)
    masks = np.arange(1 << 12)
    masks = masks[masks >> 4 & 1 == 0]
    expected = np.array([float(exact.descendants[12 - 1 - int(mask).bit_count()]) for mask in masks])
    np.testing.assert_allclose(found[masks], expected, rtol=0, atol=tables.error_bound)
    assert found.sum() == pytest.approx(1.0, abs=tables.error_bound)
    ancestors = structure.ancestor_sets(tables, 4, engine=ENGINE)
    assert ancestors.sum() == pytest.approx(1.0, abs=tables.error_bound)


@pytest.mark.parametrize("digits", [0, 2, 3, 6])
def test_both_ways_to_sum_over_all_graphs_agree_within_the_bound(digits: int) -> None:
    """The sum over sources, from the empty set up, and the sum over sinks, from all nodes down, share no term."""
    nodes, max_parents = 14, 5
    rng = np.random.default_rng(digits)
    weights = sparse_weights(nodes, max_parents, -digits * math.log(10.0))
    weights += rng.normal(size=weights.shape)
    tables = computed(weights, max_parents).tables
    from_sources = math.log(tables.completions[0]) + int(tables.completion_exponents[0]) * math.log(2.0)
    from_sources += float(tables.forward.log_scales.sum())
    assert from_sources == pytest.approx(tables.log_evidence, abs=tables.error_bound, rel=0)


def test_too_large_a_bound_on_the_error_is_refused(said: Said) -> None:
    weights = sparse_weights(10, 5, -math.log(1000.0))
    with said.raises(PrecisionError):
        structure_posterior(weights, 5, engine=ENGINE, largest_error=1e-13)


# Laws


@settings(max_examples=examples(60))
@given(cases(largest=7), st.randoms(use_true_random=False))
def test_relabelling_the_nodes_permutes_the_result(case: Case, random: Any) -> None:
    weights, max_parents, low = case
    nodes = len(weights)
    try:
        found = computed(weights, max_parents, low)
    except InputError:
        return
    labels = list(range(nodes))
    random.shuffle(labels)
    renamed = computed(naive.relabel_weights(weights, max_parents, labels), max_parents, low)
    assert renamed.tables.log_evidence == pytest.approx(found.tables.log_evidence, abs=TOLERANCE, rel=0)
    back = np.ix_(labels, labels)
    np.testing.assert_allclose(renamed.paths[back], found.paths, rtol=0, atol=TOLERANCE)
    edges = [edge_probabilities(posterior.families, max_parents) for posterior in (renamed, found)]
    np.testing.assert_allclose(edges[0][back], edges[1], rtol=0, atol=TOLERANCE)


@settings(max_examples=examples(60))
@given(cases(largest=7), st.lists(st.floats(-1000, 1000), min_size=7, max_size=7))
def test_a_constant_added_to_the_scores_of_a_node_moves_the_evidence_only(case: Case, constants: list[float]) -> None:
    weights, max_parents, low = case
    shift = np.array(constants[: len(weights)])
    try:
        found = computed(weights, max_parents, low)
    except InputError:
        return
    moved = computed(weights + shift[:, None], max_parents, low)
    assert moved.tables.log_evidence - shift.sum() == pytest.approx(found.tables.log_evidence, abs=TOLERANCE, rel=0)
    np.testing.assert_allclose(moved.families, found.families, rtol=0, atol=TOLERANCE)
    np.testing.assert_allclose(moved.paths, found.paths, rtol=0, atol=TOLERANCE)


@pytest.mark.parametrize(("nodes", "low"), [(5, 1), (9, 3), (13, 11), (17, 11)])
def test_results_are_the_same_to_the_last_bit_on_any_number_of_threads(nodes: int, low: int) -> None:
    weights = random_weights(nodes, 4, seed=nodes, scale=5.0)
    alone = computed(weights, 4, low, threads=1)
    for threads in (2, 5):
        together = computed(weights, 4, low, threads=threads)
        assert together.tables.log_evidence == alone.tables.log_evidence
        assert together.tables.error_bound == alone.tables.error_bound
        assert (together.families == alone.families).all()
        assert (together.paths == alone.paths).all()
        for find in (structure.descendant_sets, structure.ancestor_sets):
            first = find(alone.tables, 1, engine=ThreadEngine(1))
            assert (find(together.tables, 1, engine=ThreadEngine(threads)) == first).all()


@settings(max_examples=40)
@given(cases(largest=8))
def test_probabilities_of_what_excludes_each_other_sum_to_one(case: Case) -> None:
    weights, max_parents, low = case
    try:
        found = computed(weights, max_parents, low)
    except InputError:
        return
    assert (found.families >= 0.0).all()
    assert (found.paths >= 0.0).all()
    assert found.families.sum(axis=1) == pytest.approx(np.ones(len(weights)), abs=TOLERANCE)
    edges = edge_probabilities(found.families, max_parents)
    assert (found.paths >= edges - TOLERANCE).all()
    assert (found.paths + found.paths.T <= 1.0 + TOLERANCE).all()
    for node in range(len(weights)):
        sets = structure.descendant_sets(found.tables, node, engine=ENGINE)
        assert sets.sum() == pytest.approx(1.0, abs=TOLERANCE)


def test_the_sources_of_a_path_and_its_targets_tell_the_same_story() -> None:
    """X ~> y from the descendants of x, from the ancestors of y, and from the pass over all families."""
    weights = random_weights(12, 4, seed=3, scale=3.0)
    posterior = computed(weights, 4)
    masks = np.arange(1 << 12)
    down = structure.descendant_sets(posterior.tables, 2, engine=ENGINE)
    up = structure.ancestor_sets(posterior.tables, 9, engine=ENGINE)
    assert down[masks >> 9 & 1 == 1].sum() == pytest.approx(posterior.paths[2, 9], abs=1e-11)
    assert up[masks >> 2 & 1 == 1].sum() == pytest.approx(posterior.paths[2, 9], abs=1e-11)


def test_too_many_nodes_are_refused_with_both_figures(monkeypatch: pytest.MonkeyPatch, said: Said) -> None:
    weights = random_weights(12, 2, seed=1, scale=1.0)
    monkeypatch.setattr(memory, "available_bytes", lambda: 100_000)
    with said.raises(ResourceError):
        structure_posterior(weights, 2, engine=ENGINE)


# Against values that were computed independently

#: Table 3 of He, Tian & Wu (2016), column "DP": distance between the exact edges under the two priors.
PAPER_DISTANCES = {
    "tictactoe": 0.1651,
    "glass": 1.5444,
    "wine": 1.4786,
    "housing": 5.6478,
    "syn15_m100": 4.9321,
    "syn15_m200": 3.2557,
    "syn15_m500": 6.9798,
    "syn15_m1000": 1.3000,
    "syn15_m2000": 1.7192,
    "syn15_m5000": 1.9473,
}


@pytest.mark.parametrize("case", reference.CASES)
def test_evidence_and_edges_match_the_reference_and_the_paper(case: str) -> None:
    expected = reference.values_of(case)["bdeu_ess1_uniform"]
    scores = local_scores(reference.table_of(case), BDeu(1.0), 5)
    posterior = structure_posterior(scores.values, scores.max_parents, engine=ENGINE)
    assert posterior.tables.log_evidence == pytest.approx(expected["log_evidence_structure"], abs=1e-7, rel=0)
    edges = edge_probabilities(posterior.families, scores.max_parents)
    np.testing.assert_allclose(edges, expected["edges_structure"], rtol=0, atol=1e-8)
    forward = forward_table(scores.values, scores.max_parents, engine=ENGINE)
    by_order = edge_probabilities(family_probabilities(forward, engine=ENGINE), scores.max_parents)
    distance = float(np.abs(edges - by_order).sum())
    assert distance == pytest.approx(expected["sad_order_vs_structure"], abs=1e-7, rel=0)
    if case in PAPER_DISTANCES:
        assert f"{distance:.4f}" == f"{PAPER_DISTANCES[case]:.4f}"


def test_what_leaves_the_range_of_doubles_counts_as_nothing() -> None:
    """A product that underflows to 0 has no exponent of its own: it once became a power of two out of thin air."""
    for nothing in (0.0, 5e-324, 1e-310):
        assert scaled(nothing, np.int64(-2000)) == ZERO
    for double, exponent in ((1.0, 0), (0.75, -3000), (1e-300, 900)):
        log = float(to_logs(np.array([scaled(double, np.int64(exponent))]))[0])
        assert log == pytest.approx(math.log(double) + exponent * math.log(2.0), abs=1e-9)


def test_strongly_tied_columns_keep_probabilities_of_parent_sets_that_sum_to_one() -> None:
    """Parent sets differ by e^2000 here, and shares of nodes leave the range of doubles."""
    generator = np.random.default_rng(1)
    columns = [generator.integers(0, 4, 3000)]
    for _ in range(11):
        columns.append(np.where(generator.random(3000) < 0.02, generator.integers(0, 4, 3000), columns[-1]))
    scores = local_scores(as_table(np.stack(columns, axis=1)), BDeu(1.0), 5)
    assert np.ptp(scores.values, axis=1).min() > 2000.0
    families = structure_posterior(scores.values, scores.max_parents, engine=ENGINE).families
    np.testing.assert_allclose(families.sum(axis=1), 1.0, rtol=0, atol=1e-9)


def test_the_strongly_tied_columns_of_vehicle_match_the_paper() -> None:
    table = reference.table_of("vehicle")
    scores = local_scores(table, BDeu(1.0), 5)
    families = structure_posterior(scores.values, scores.max_parents, engine=ENGINE).families
    np.testing.assert_allclose(families.sum(axis=1), 1.0, rtol=0, atol=1e-9)
    forward = forward_table(scores.values, scores.max_parents, engine=ENGINE)
    by_orders = family_probabilities(forward, engine=ENGINE)
    distance = np.abs(edge_probabilities(families, 5) - edge_probabilities(by_orders, 5)).sum()
    tables = json.loads((reference.shared_folder() / "paper_tables.json").read_text())
    assert f"{distance:.4f}" == f"{tables['table3_sad_structure_modular']['vehicle']['dp_sad']:.4f}"
