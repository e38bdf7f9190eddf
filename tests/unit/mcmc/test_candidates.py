"""Which parents are considered where there are too many families, and with which weights.

Limits are lowered so that tables of a few columns have too many families; what is then weighed must agree with the
scores and priors of all families.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from tests.naive import posterior as naive

from dagpost._tools.progress import reporter_for
from dagpost.data import Table, as_table, datasets
from dagpost.engines import ThreadEngine
from dagpost.errors import InputError
from dagpost.families import family_sums as families
from dagpost.families.family_sums import FamilyWeights, family_tables, log_weight_of
from dagpost.families.numbering import family_count
from dagpost.families.pruning import considered_from_candidates
from dagpost.mcmc.candidates import choose_candidates, weights_of_all
from dagpost.mcmc.considered import weights_among_candidates
from dagpost.priors import (
    CustomPrior,
    EdgePrior,
    InDegreePrior,
    StructurePrior,
    UniformPrior,
    log_prior,
    resolve_prior,
)
from dagpost.priors.constraints import Constraints
from dagpost.priors.study import Study
from dagpost.scores import BIC, K2, BDeu, BGe, Score, local_scores

ENGINE = ThreadEngine(2)
NO_CONSTRAINTS = Constraints()


def small_limits(monkeypatch: pytest.MonkeyPatch, nodes: int, width: int, small_size: int) -> None:
    """Let only `width` candidates and the sets of `small_size` parents be considered."""
    monkeypatch.setattr(families, "ALL_CANDIDATES", 2)
    monkeypatch.setattr(families, "CANDIDATES", width)
    monkeypatch.setattr(families, "MOST_FAMILIES", nodes * family_count(nodes - 1, small_size))


def binary_table(nodes: int, rows: int, seed: int) -> Table:
    """Each column a noisy copy of, or exclusive or of, some before it."""
    rng = np.random.default_rng(seed)
    columns: list[np.ndarray] = []
    for node in range(nodes):
        chosen: Any = rng.choice(node, size=min(node, int(rng.integers(0, 3))), replace=False) if node else []
        value = sum((columns[int(place)] for place in chosen), start=np.zeros(rows, dtype=np.int64)) % 2
        columns.append(np.where(rng.random(rows) < 0.15, rng.integers(0, 2, rows), value))
    return as_table(np.column_stack(columns))


def gaussian_table(nodes: int, rows: int, seed: int) -> Table:
    rng = np.random.default_rng(seed)
    mixing = np.triu(rng.normal(size=(nodes, nodes)), 1) + np.eye(nodes)
    return as_table(rng.normal(size=(rows, nodes)) @ mixing + 3.0)


def counted_table() -> Table:
    return datasets.load("coronary")


def intervened_table() -> Table:
    table = binary_table(6, 80, 4)
    targets = [[None, "V1", ("V0", "V5"), "V3"][row % 4] for row in range(80)]
    return as_table(np.column_stack(table.columns).astype(np.int64), interventions=targets)


def intervened_gaussian_table() -> Table:
    values = gaussian_table(6, 60, 5).values()
    return as_table(values, interventions=[[None, "V2", "V4"][row % 3] for row in range(60)])


def by_names(child: str, parents: frozenset[str]) -> float:
    """A prior that tells columns apart, and rules one pair of parents out."""
    if len(parents) == 2 and child < min(parents):
        return -math.inf
    return math.sin(sum(ord(letter) for name in (child, *sorted(parents)) for letter in name)) - len(parents)


def look_up_all(weights: FamilyWeights, nodes: int) -> np.ndarray:
    """Row i, column P: the log weight that a kernel finds; a node is not its own parent."""
    tables = family_tables(weights, engine=ENGINE)
    found = np.full((nodes, 1 << nodes), -np.inf)
    for node, mask in itertools.product(range(nodes), range(1 << nodes)):
        if not mask >> node & 1:
            found[node, mask] = log_weight_of(tables, node, np.uint64(mask))
    return found


CASES: dict[str, tuple[Table, Score, StructurePrior, Constraints]] = {
    "BDeu": (binary_table(7, 100, 1), BDeu(2.0), UniformPrior(), NO_CONSTRAINTS),
    "K2, sizes": (binary_table(6, 100, 2), K2(), InDegreePrior(), NO_CONSTRAINTS),
    "BIC, counts": (counted_table(), BIC(), EdgePrior(0.2), NO_CONSTRAINTS),
    "BGe": (gaussian_table(7, 50, 3), BGe(), UniformPrior(), NO_CONSTRAINTS),
    "BGe, degrees and means": (
        gaussian_table(6, 50, 3),
        BGe(2.0, degrees_of_freedom=11.5, prior_mean=(3.0, 2.0, 1.0, 0.0, -1.0, 2.5), prior_scale=(1, 2, 3, 4, 5, 6)),
        UniformPrior(),
        NO_CONSTRAINTS,
    ),
    "interventions": (intervened_table(), BDeu(), UniformPrior(), NO_CONSTRAINTS),
    "interventions, BIC": (intervened_table(), BIC(), UniformPrior(), NO_CONSTRAINTS),
    "interventions, BGe": (
        intervened_gaussian_table(),
        BGe(degrees_of_freedom=9.0, prior_mean=1.0),
        InDegreePrior(),
        NO_CONSTRAINTS,
    ),
    "edges required and forbidden": (
        binary_table(6, 100, 6),
        BDeu(),
        InDegreePrior(),
        Constraints(required=[("V5", "V0"), ("V4", "V0"), ("V2", "V1")], forbidden=[("V3", "V2")]),
    ),
    "tiers": (
        binary_table(6, 100, 7),
        BDeu(),
        UniformPrior(),
        Constraints(tiers=[["V5", "V1"], ["V0", "V2"], ["V4"]]),
    ),
    "a prior of one's own": (binary_table(6, 100, 8), K2(), CustomPrior(by_names), NO_CONSTRAINTS),
}


@pytest.mark.parametrize("small_size", [1, 2, 3])
@pytest.mark.parametrize("name", CASES)
def test_considered_sets_have_the_weights_that_they_have_among_all(
    name: str, small_size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    table, score, prior, constraints = CASES[name]
    nodes, width, max_parents = len(table.names), 3, 4
    small_limits(monkeypatch, nodes, width, small_size)
    weights = weights_among_candidates(Study(table, score, prior, constraints, max_parents), engine=ENGINE)
    assert weights.small_size == small_size
    assert weights.candidates.shape == (nodes, width)
    assert weights.restricted
    scores = local_scores(table, score, max_parents, engine=ENGINE)
    every = naive.weights_by_mask(scores.values + log_prior(table.names, max_parents, prior, constraints), max_parents)
    found = look_up_all(weights, nodes)
    for node in range(nodes):
        candidates = naive.mask_of(weights.candidates[node].tolist())
        for mask in range(1 << nodes):
            considered = mask.bit_count() <= small_size or (mask & ~candidates == 0 and mask.bit_count() <= max_parents)
            expected = every[node, mask] if considered else -np.inf
            assert found[node, mask] == pytest.approx(expected, rel=1e-10, abs=1e-8)


@pytest.mark.parametrize("name", CASES)
def test_all_sets_are_considered_where_all_have_been_scored(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    table, score, prior, constraints = CASES[name]
    nodes, max_parents = len(table.names), 3
    scores = local_scores(table, score, max_parents, engine=ENGINE)
    log_weights = scores.values + log_prior(table.names, max_parents, prior, constraints)
    every = naive.weights_by_mask(log_weights, max_parents)
    np.testing.assert_array_equal(look_up_all(weights_of_all(log_weights, max_parents), nodes), every)
    small_limits(monkeypatch, nodes, 3, max_parents)
    weights = weights_of_all(log_weights, max_parents)
    assert weights.candidates.shape == (nodes, 3)
    assert not weights.restricted
    np.testing.assert_array_equal(look_up_all(weights, nodes), every)


def test_both_ways_agree_where_all_sets_can_be_scored(monkeypatch: pytest.MonkeyPatch) -> None:
    table = binary_table(7, 100, 9)
    small_limits(monkeypatch, 7, 3, 3)
    scores = local_scores(table, "bdeu", 3, engine=ENGINE)
    first = weights_of_all(scores.values.copy(), 3)
    second = weights_among_candidates(Study(table, BDeu(), UniformPrior(), NO_CONSTRAINTS, 3), engine=ENGINE)
    np.testing.assert_array_equal(first.candidates, second.candidates)
    np.testing.assert_allclose(first.inner, second.inner, rtol=1e-12)
    np.testing.assert_array_equal(first.small, second.small)


def test_weights_do_not_depend_on_the_number_of_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    table = binary_table(7, 100, 10)
    small_limits(monkeypatch, 7, 3, 2)
    one, two = (
        weights_among_candidates(Study(table, BDeu(), UniformPrior(), NO_CONSTRAINTS, 4), engine=ThreadEngine(threads))
        for threads in (1, 2)
    )
    np.testing.assert_array_equal(one.candidates, two.candidates)
    np.testing.assert_array_equal(one.inner, two.inner)
    np.testing.assert_array_equal(one.small, two.small)


def test_progress_reaches_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[str, int, int]] = []
    table = binary_table(6, 50, 11)
    small_limits(monkeypatch, 6, 3, 2)
    reporter = reporter_for(lambda title, done, total: seen.append((title, done, total)))
    weights_among_candidates(Study(table, BDeu(), UniformPrior(), NO_CONSTRAINTS, 4), engine=ENGINE, reporter=reporter)
    for stage in ("small sets", "candidates"):
        done, total = [(done, total) for title, done, total in seen if title == f"{stage}: local scores"][-1]
        assert done == total


# The choice


def nobody(nodes: int) -> np.ndarray:
    return np.zeros(nodes, dtype=np.uint64)


def table_with_last(last: np.ndarray, codes: np.ndarray, rng: np.random.Generator) -> Table:
    """Columns 0 and 1 become noisy copies of the last one."""
    codes[:, -1] = last
    for copy in (0, 1):
        codes[:, copy] = np.where(rng.random(len(codes)) < 0.5, rng.integers(0, 2, len(codes)), last)
    return as_table(codes)


def test_a_parent_that_only_shows_beside_another_is_chosen() -> None:
    """Column 6 says whether the last column follows column 4 or, less often, contradicts it."""
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 2, size=(600, 9))
    follows = rng.random(600) < np.where(codes[:, 6] == 0, 0.95, 0.3)
    table = table_with_last(np.where(follows, codes[:, 4], 1 - codes[:, 4]), codes, rng)
    scores = local_scores(table, "bdeu", 3, engine=ENGINE)
    assert 6 not in np.argsort(-scores.values[-1, 1:9])[:4]
    chosen = choose_candidates(scores.values, 3, 4, nobody(9), nobody(9))[-1]
    assert {0, 1, 4, 6} == set(chosen.tolist())


def test_two_parents_that_only_show_together_are_chosen() -> None:
    """The last column is the exclusive or of columns 4 and 6, which say nothing about it one by one."""
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 2, size=(600, 9))
    scores = local_scores(table_with_last(codes[:, 4] ^ codes[:, 6], codes, rng), "bdeu", 3, engine=ENGINE)
    chosen = choose_candidates(scores.values, 3, 4, nobody(9), nobody(9))[-1]
    assert {4, 6} <= set(chosen.tolist())


def test_candidates_are_chosen_one_by_one_by_the_best_pair_or_set_with_those_before() -> None:
    """The definition, in so many words, on random scores."""
    nodes, width = 7, 4
    rng = np.random.default_rng(5)
    for size in (1, 2, 3, 4):
        scores = rng.normal(size=(nodes, family_count(nodes - 1, size)))
        by_mask = naive.weights_by_mask(scores, size)
        found = choose_candidates(scores, size, width, nobody(nodes), nobody(nodes))
        for node in range(nodes):
            chosen: list[int] = []
            while len(chosen) < width:
                best = {
                    other: max(
                        by_mask[node, naive.mask_of([other, *beside])]
                        for beside in (
                            *naive.all_subsets(tuple(chosen)),
                            *((second,) for second in range(nodes) if second not in (node, other)),
                        )
                        if len(beside) < min(size, 3)
                    )
                    for other in range(nodes)
                    if other not in (node, *chosen)
                }
                chosen.append(max(best, key=lambda other: best[other]))
            assert found[node].tolist() == sorted(chosen)


def test_required_parents_are_always_candidates_and_forbidden_ones_come_last() -> None:
    nodes = 8
    scores = np.random.default_rng(6).normal(size=(nodes, family_count(nodes - 1, 2)))
    required, forbidden = nobody(nodes), nobody(nodes)
    required[0] = 0b11100000
    forbidden[1] = 0b11110001
    forbidden[2] = 0b11111000
    found = choose_candidates(scores, 2, 3, required, forbidden)
    assert found[0].tolist() == [5, 6, 7]
    assert {2, 3} <= set(found[1].tolist())
    assert {0, 1} <= set(found[2].tolist())


def test_the_doctest_example_of_a_pair_wants_both() -> None:
    scores = np.log([[1.0, 2.0, 1.0, 9.0], [1.0, 1.0, 1.0, 1.0], [1.0, 1.0, 1.0, 1.0]])
    assert choose_candidates(scores, 2, 2, nobody(3), nobody(3))[0].tolist() == [1, 2]


def test_required_parents_are_candidates_where_all_sets_have_been_scored(monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise no set among the candidates has any weight, and every look-up becomes a scan."""
    nodes, max_parents = 8, 3
    monkeypatch.setattr(families, "ALL_CANDIDATES", 2)
    monkeypatch.setattr(families, "CANDIDATES", 3)
    log_weights = np.random.default_rng(7).normal(size=(nodes, family_count(nodes - 1, max_parents)))
    masks = np.array(naive.parent_masks(0, nodes, max_parents))
    log_weights[0, masks & 0b11000000 != 0b11000000] = -np.inf
    weights = weights_of_all(log_weights, max_parents)
    assert {6, 7} <= set(weights.candidates[0].tolist())


# Refusals


def test_a_prior_that_gives_no_single_families_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    class Whole:
        def log_weights(self, names: tuple[str, ...], max_parents: int) -> np.ndarray:
            return np.zeros((len(names), family_count(len(names) - 1, max_parents)))

    small_limits(monkeypatch, 6, 3, 2)
    with pytest.raises(InputError, match="CustomPrior"):
        weights_among_candidates(
            Study(binary_table(6, 50, 1), BDeu(), resolve_prior(Whole()), NO_CONSTRAINTS, 4), engine=ENGINE
        )


def test_a_prior_that_leaves_a_node_nothing_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    small_limits(monkeypatch, 6, 3, 2)
    prior = CustomPrior(lambda child, parents: -math.inf if child == "V3" else -0.1 * len(parents))
    table = binary_table(6, 50, 1)
    with pytest.raises(InputError, match="V3"):
        log_prior(table.names, 4, prior, NO_CONSTRAINTS)
    with pytest.raises(InputError, match="V3"):
        weights_among_candidates(Study(table, BDeu(), prior, NO_CONSTRAINTS, 4), engine=ENGINE)


def test_more_required_parents_than_small_sets_hold_are_weighed_among_candidates(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    small_limits(monkeypatch, 6, 3, 2)
    constraints = Constraints(required=[("V1", "V0"), ("V3", "V0"), ("V5", "V0")])
    weights = weights_among_candidates(
        Study(binary_table(6, 50, 2), BDeu(), UniformPrior(), constraints, 4), engine=ENGINE
    )
    assert weights.candidates[0].tolist() == [1, 3, 5]
    assert np.isneginf(weights.small[0]).all()
    assert np.isfinite(weights.inner[0]).sum() == 1


def test_a_column_that_shows_only_beside_others_takes_the_place_of_another(monkeypatch: pytest.MonkeyPatch) -> None:
    """The last column is a copy of column 4 or 5, and column 6 says of which; alone, that says nothing."""
    rng = np.random.default_rng(3)
    codes = rng.integers(0, 2, (400, 8))
    codes[:, 7] = np.where(codes[:, 6] == 1, codes[:, 4], codes[:, 5])
    table = as_table(codes)
    small_limits(monkeypatch, 8, 3, 1)
    scores = local_scores(table, BDeu(), 1, engine=ENGINE)
    assert 6 not in choose_candidates(scores.values, 1, 3, nobody(8), nobody(8))[7]
    weights = weights_among_candidates(Study(table, BDeu(), UniformPrior(), NO_CONSTRAINTS, 3), engine=ENGINE)
    assert set(weights.candidates[7]) == {4, 5, 6}
    assert weights.missed is not None
    assert ((weights.missed >= 0.0) & (weights.missed <= 1.0)).all()
    considered = considered_from_candidates(weights)
    assert considered.members[considered.start[7]].tolist() == [4, 5, 6]
    assert (considered.missed == weights.missed).all()
