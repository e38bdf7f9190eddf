"""The list of the best DAGs: against its slow twins, and the laws it must obey.

Log weights agree to 1e-9, absolute; DAGs and their order agree exactly, since ties have a rule.
"""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.naive import kbest as naive_kbest
from tests.naive import posterior as naive
from tests.tools import reference
from tests.tools.examples import examples
from tests.tools.wording import Said

from dagpost._tools import memory
from dagpost._tools.progress import reporter_for
from dagpost.engines import ThreadEngine
from dagpost.errors import InputError, NoGraphError, ResourceError
from dagpost.exact import kbest
from dagpost.exact.kbest import WAITING, BestDags, Waiting, best_dags, tie_tolerance
from dagpost.exact.walk import SPLIT, Split
from dagpost.families.numbering import family_count
from dagpost.scores import BDeu, local_scores

if TYPE_CHECKING:
    pass

TOLERANCE = 1e-9
Weights = NDArray[np.float64]
#: Weights, the largest number of parents, and how many nodes a block and a chunk hold.
Case = tuple[Weights, int, Split]
#: As delivered, and so few that even a handful of nodes makes several blocks and chunks.
SPLITS = [SPLIT, Split(1, 1), Split(2, 3), Split(3, 3)]
#: How many DAGs there are on so many nodes.
DAGS = [(1, 1), (2, 3), (3, 25), (4, 543), (5, 29281)]
ENGINE = ThreadEngine(2)


@st.composite
def cases(draw: st.DrawFn, largest: int = 5) -> Case:
    nodes = draw(st.integers(1, largest))
    max_parents = draw(st.integers(0, nodes - 1))
    shape = (nodes, family_count(nodes - 1, max_parents))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    scale = draw(st.sampled_from([1.0, 30.0, 2000.0]))
    # Few different values make many ties; a tenth has no exact double, so their sums differ by rounding.
    values = draw(st.sampled_from([None, 1, 2, 3, 10]))
    weights = rng.normal(size=shape) if values is None else 0.1 * rng.integers(0, values, size=shape)
    weights = scale * (weights - 3.0 * rng.normal(size=(nodes, 1)).round(1))
    weights[rng.random(shape) < draw(st.sampled_from([0.0, 0.0, 0.2, 0.6]))] = -np.inf
    return weights, max_parents, draw(st.sampled_from(SPLITS))


def computed(
    weights: Weights, max_parents: int, count: int, split: Split = SPLIT, waiting: Waiting = WAITING
) -> BestDags:
    return best_dags(weights, max_parents, count, engine=ENGINE, split=split, waiting=waiting)


def rows(best: BestDags) -> list[naive.Dag]:
    return [tuple(row) for row in best.parents.tolist()]


def random_weights(nodes: int, max_parents: int, seed: int, scale: float) -> Weights:
    return np.random.default_rng(seed).normal(size=(nodes, family_count(nodes - 1, max_parents))) * scale


# Against the slow twins


@settings(max_examples=examples(250))
@given(cases(), st.one_of(st.integers(1, 30), st.integers(1, 700)))
@example((np.array([[-np.inf, 0.0], [0.0, -np.inf]]), 1, SPLIT), 3)
@example((np.array([[-np.inf, 0.0], [-np.inf, 0.0]]), 1, SPLIT), 3)
def test_the_list_is_that_of_enumeration(case: Case, count: int) -> None:
    weights, max_parents, split = case
    expected, tied = naive_kbest.best_by_enumeration(weights, max_parents, count)
    if not expected:
        with pytest.raises(NoGraphError, match=r"no allowed parent set|No graph satisfies"):
            computed(weights, max_parents, count, split)
        return
    found = computed(weights, max_parents, count, split)
    assert rows(found) == [dag for _, dag in expected]
    np.testing.assert_allclose(found.log_joint, [log for log, _ in expected], rtol=0, atol=TOLERANCE)
    assert found.tied is tied


@pytest.mark.parametrize(
    ("nodes", "number", "values"),
    [*((nodes, number, values) for nodes, number in DAGS[:-1] for values in (None, 3)), (*DAGS[-1], None)],
)
def test_the_whole_list_has_every_dag_once(nodes: int, number: int, values: int | None) -> None:
    weights = random_weights(nodes, nodes - 1, seed=nodes, scale=100.0)
    if values is not None:
        weights[:] = np.random.default_rng(nodes).integers(0, values, size=weights.shape) * 50.0
    expected, _ = naive_kbest.best_by_enumeration(weights, nodes - 1, number)
    found = computed(weights, nodes - 1, number + 1)
    assert rows(found) == [dag for _, dag in expected]
    assert len(set(rows(found))) == number
    assert not found.tied


@pytest.mark.long
@pytest.mark.parametrize("values", [None, 3])
def test_every_shorter_list_is_the_beginning_of_the_whole_one(values: int | None) -> None:
    weights = random_weights(4, 3, seed=8, scale=10.0)
    if values is not None:
        weights[:] = np.random.default_rng(4).integers(0, values, size=weights.shape) * 0.1
    whole = computed(weights, 3, 543)
    for count in range(1, 543):
        part = computed(weights, 3, count)
        assert rows(part) == rows(whole)[:count]
        assert (part.log_joint == whole.log_joint[:count]).all()
        assert part.tied is bool(whole.log_joint[count:].max() >= whole.log_joint[count - 1] - 2e-9)


@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize(("nodes", "max_parents", "count"), [(6, 5, 40), (6, 2, 100), (7, 3, 15), (8, 2, 4)])
def test_the_list_is_that_of_the_textbook_where_enumeration_ends(
    nodes: int, max_parents: int, count: int, split: Split
) -> None:
    weights = random_weights(nodes, max_parents, seed=nodes, scale=5.0)
    weights[np.random.default_rng(nodes).random(weights.shape) < 0.1] = -np.inf
    expected = naive_kbest.best_by_lists(weights, max_parents, count)
    found = computed(weights, max_parents, count, split)
    assert rows(found) == [dag for _, dag in expected]
    np.testing.assert_allclose(found.log_joint, [log for log, _ in expected], rtol=0, atol=TOLERANCE)


# Ties


def test_equal_weights_list_the_smallest_parent_masks_first() -> None:
    found = computed(np.zeros((12, family_count(11, 4))), 4, 200)
    assert rows(found) == sorted(rows(found))
    assert rows(found)[:3] == [(0,) * 12, (0,) * 11 + (1,), (0,) * 11 + (2,)]
    assert found.tied


@settings(max_examples=examples(60))
@given(cases(largest=7), st.integers(1, 60), st.integers(0, 2**32))
def test_rounding_of_the_weights_does_not_change_the_list(case: Case, count: int, seed: int) -> None:
    weights, max_parents, split = case
    # Whole numbers: different sums are then further apart than any rounding.
    weights = weights.round()
    try:
        found = computed(weights, max_parents, count, split)
    except InputError:
        return
    disturbed = weights + 1e-11 * np.random.default_rng(seed).normal(size=weights.shape)
    again = computed(disturbed, max_parents, count, split)
    assert rows(again) == rows(found)
    assert again.tied is found.tied


@pytest.mark.parametrize(("difference", "tied"), [(0.0, True), (5e-10, True), (-5e-10, True), (1e-8, False)])
def test_what_is_within_the_tolerance_ties(difference: float, tied: bool) -> None:
    """Three graphs; the one with edge 1 -> 0 and the one with edge 0 -> 1 weigh nearly the same."""
    weights = np.array([[-5.0, difference], [-5.0, 0.0]])
    found = computed(weights, 1, 1)
    assert found.tied is tied
    assert rows(found) == [(0, 1) if tied else (2, 0)]


def test_the_tolerance_grows_with_the_weights() -> None:
    assert tie_tolerance(np.array([[-1e6, -2e6], [-np.inf, 0.0]])) == pytest.approx(1.1e-8, rel=1e-12)
    for seed in range(5):
        weights = random_weights(5, 2, seed=seed, scale=10.0**seed)
        assert tie_tolerance(weights) == pytest.approx(naive_kbest.tolerance(weights), rel=1e-12)


# Laws


@settings(max_examples=examples(100))
@given(cases(largest=7), st.integers(1, 40))
def test_the_list_is_the_beginning_of_one_twice_as_long(case: Case, count: int) -> None:
    weights, max_parents, split = case
    try:
        found = computed(weights, max_parents, count, split)
    except InputError:
        return
    longer = computed(weights, max_parents, 2 * count, split)
    assert rows(longer)[:count] == rows(found)
    assert (longer.log_joint[: len(found.log_joint)] == found.log_joint).all()


@settings(max_examples=examples(100))
@given(cases(largest=7), st.integers(1, 40))
def test_dropping_what_cannot_matter_changes_nothing(case: Case, count: int) -> None:
    weights, max_parents, split = case
    try:
        found = computed(weights, max_parents, count, split)
    except InputError:
        return
    # Prefixes that cannot matter are dropped at every opportunity.
    again = computed(weights, max_parents, count, split, Waiting(per_dag=0, least=1))
    assert rows(again) == rows(found)
    assert again.tied is found.tied


@settings(max_examples=examples(100))
@given(cases(largest=7), st.integers(1, 40), st.randoms(use_true_random=False))
def test_relabelling_the_nodes_relabels_the_list(case: Case, count: int, random: Any) -> None:
    weights, max_parents, split = case
    nodes = len(weights)
    try:
        found = computed(weights, max_parents, count, split)
    except InputError:
        return
    labels = list(range(nodes))
    random.shuffle(labels)
    renamed = computed(naive.relabel_weights(weights, max_parents, labels), max_parents, count, split)
    np.testing.assert_allclose(
        np.sort(renamed.log_joint), np.sort(found.log_joint), rtol=0, atol=2 * tie_tolerance(weights)
    )
    assert renamed.tied is found.tied
    if not found.tied:
        relabelled = {
            tuple(naive.mask_of([labels[other] for other in range(nodes) if dag[node] >> other & 1]) for node in order)
            for dag in rows(found)
            for order in [sorted(range(nodes), key=lambda node: labels[node])]
        }
        assert set(rows(renamed)) == relabelled


@pytest.mark.parametrize(
    ("nodes", "split"), [(6, Split(1, 1)), (9, Split(3, 4)), (13, SPLIT), (13, Split(5, 8)), (18, SPLIT)]
)
def test_the_list_is_the_same_on_any_number_of_threads(nodes: int, split: Split) -> None:
    weights = random_weights(nodes, 4, seed=nodes, scale=3.0).round(1)
    alone = best_dags(weights, 4, 30, engine=ThreadEngine(1), split=split)
    for threads in (2, 5):
        together = best_dags(weights, 4, 30, engine=ThreadEngine(threads), split=split)
        assert (together.parents == alone.parents).all()
        assert (together.log_joint == alone.log_joint).all()
        assert together.tied is alone.tied


def test_log_weights_are_those_of_the_dags_listed() -> None:
    weights = random_weights(11, 3, seed=2, scale=1000.0)
    found = computed(weights, 3, 50)
    by_mask = naive.weights_by_mask(weights, 3)
    for dag, log in zip(rows(found), found.log_joint, strict=True):
        assert log == math.fsum(by_mask[node, dag[node]] for node in range(11))
        assert is_acyclic(dag)


def is_acyclic(dag: naive.Dag) -> bool:
    placed = 0
    for _ in dag:
        placed |= sum(1 << node for node, parents in enumerate(dag) if parents & ~placed == 0)
    return placed == (1 << len(dag)) - 1


# What is not there, and what does not fit


@pytest.mark.parametrize("count", [0, -3, 2.0, True, "ten"])
def test_the_number_of_dags_must_be_a_positive_integer(count: Any, said: Said) -> None:
    with said.raises(InputError):
        best_dags(np.zeros((3, 4)), 2, count, engine=ENGINE)


def test_constraints_that_exclude_each_other_leave_no_dag(said: Said) -> None:
    weights = np.array([[-np.inf, 0.0], [-np.inf, 0.0]])
    with said.raises(NoGraphError):
        best_dags(weights, 1, 5, engine=ENGINE)


def test_too_long_a_list_is_refused_with_the_longest_that_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "available_bytes", lambda: 20_000_000)
    pattern = r"10,000,000 best DAGs of 6 variables needs .* GB of memory and 20\.0 MB are free\. .* fits now is (\S+):"
    with pytest.raises(ResourceError, match=pattern) as refusal:
        best_dags(np.zeros((6, 32)), 5, 10_000_000, engine=ENGINE)
    most = int(str(refusal.value).rpartition("is ")[2].partition(":")[0].replace(",", ""))
    assert kbest.memory_needed(6, 5, most, 2) <= 20_000_000 < kbest.memory_needed(6, 5, most + 1, 2)


def test_too_many_nodes_are_refused_with_the_most_that_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "available_bytes", lambda: 20_000_000)
    pattern = (
        r"10 best DAGs of 22 variables needs .* of memory and 20\.0 MB are free\. .* variables that fits now is (\d+)"
    )
    with pytest.raises(ResourceError, match=pattern):
        best_dags(np.zeros((22, family_count(21, 2))), 2, 10, engine=ENGINE)


def test_progress_counts_the_sets_and_the_dags() -> None:
    seen: dict[str, list[tuple[int, int]]] = {}
    reporter = reporter_for(lambda title, done, total: seen.setdefault(title, []).append((done, total)))
    weights = random_weights(7, 3, seed=1, scale=1.0)
    best_dags(weights, 3, 12, engine=ENGINE, reporter=reporter, split=Split(2, 3))
    assert seen["best weights of all sets"][-1] == (16, 16)
    assert seen["best DAGs"] == [(done, 12) for done in range(1, 13)]


def test_an_interrupt_ends_the_search() -> None:
    def interrupt(title: str, done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        best_dags(np.zeros((9, 256)), 8, 12, engine=ENGINE, reporter=reporter_for(interrupt), split=Split(2, 3))


# Against values that were computed independently


def bdeu(case: str) -> Weights:
    return local_scores(reference.table_of(case), BDeu(equivalent_sample_size=1.0), 5, engine=ENGINE).values


def test_every_reference_value_is_looked_at() -> None:
    there = [
        path.stem
        for path in (reference.shared_folder() / "expected").glob("*.json")
        if "kbest" in json.loads(path.read_text())["bdeu_ess1_uniform"]
    ]
    assert sorted(there) == sorted(reference.CASES)


@pytest.mark.parametrize("case", reference.CASES)
def test_the_mass_of_the_best_dags_matches_the_reference(case: str) -> None:
    expected = reference.values_of(case)["bdeu_ess1_uniform"]
    weights = bdeu(case)
    max_parents = min(5, len(weights) - 1)
    found = computed(weights, max_parents, expected["kbest"]["k"])
    mass = np.exp(found.log_joint - expected["log_evidence_structure"]).sum()
    assert mass == pytest.approx(expected["kbest"]["delta"], abs=TOLERANCE, rel=0)
    assert len(set(rows(found))) == expected["kbest"]["k"]


def test_tic_tac_toe_has_104_best_dags() -> None:
    weights = bdeu("tictactoe")
    found = computed(weights, 5, 104)
    assert np.ptp(found.log_joint) < TOLERANCE
    assert not found.tied
    assert rows(found) == sorted(rows(found))
    for count in (1, 100, 103):
        assert computed(weights, 5, count).tied
    assert computed(weights, 5, 105).log_joint[-1] < found.log_joint.min() - 0.01
