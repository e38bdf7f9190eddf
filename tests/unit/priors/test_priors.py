"""Priors and constraints: the weights they give, and the contradictions they refuse."""

from __future__ import annotations

from itertools import combinations, permutations
from math import comb, inf, log
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.tools.wording import Said

from dagpost import edge
from dagpost.errors import InputError
from dagpost.families.numbering import family_count
from dagpost.families.parent_lists import ParentLists, all_others
from dagpost.priors import (
    CustomPrior,
    EdgePrior,
    InDegreePrior,
    UniformPrior,
    log_prior,
    log_prior_of_lists,
    resolve_prior,
)
from dagpost.priors.constraints import Constraints
from dagpost.scores import LocalScores

NAMES = ("age", "smoking", "work", "cancer", "cough")


def weight_of(weights: np.ndarray, child: str, parents: set[str], names: tuple[str, ...] = NAMES) -> float:
    limit = next(k for k in range(len(names)) if family_count(len(names) - 1, k) == weights.shape[1])
    return LocalScores(names, limit, weights).score(child, parents)


@pytest.mark.parametrize(
    ("prior", "expected"),
    [
        ("uniform", lambda _: 0.0),
        ("indegree", lambda size: -log(comb(4, size))),
        (EdgePrior(0.2), lambda size: size * log(0.2) + (4 - size) * log(0.8)),
        (CustomPrior(lambda _, parents: -3 * len(parents)), lambda size: -3.0 * size),
    ],
)
def test_priors_give_the_weights_they_say(prior: Any, expected: Any) -> None:
    weights = log_prior(NAMES, 3, prior)
    assert weights.shape == (5, family_count(4, 3))
    assert weights.dtype == np.float64
    for child in NAMES:
        others = [name for name in NAMES if name != child]
        for size in range(4):
            for parents in combinations(others, size):
                assert weight_of(weights, child, set(parents)) == pytest.approx(expected(size))


def test_edge_prior_weights_of_all_parent_sets_sum_to_one() -> None:
    assert np.exp(log_prior(NAMES, 4, EdgePrior(0.37))).sum(axis=1) == pytest.approx(np.ones(5))


def test_a_custom_prior_sees_names() -> None:
    def prior(child: str, parents: frozenset[str]) -> float:
        return -inf if child == "age" and parents else float("cough" in parents)

    weights = log_prior(NAMES, 2, CustomPrior(prior))
    assert weight_of(weights, "age", {"cough"}) == -inf
    assert weight_of(weights, "work", {"cough", "age"}) == 1.0
    assert weight_of(weights, "work", {"age"}) == 0.0


@st.composite
def constraint_cases(draw: st.DrawFn) -> Any:
    """Constraints without contradictions: required edges keep to the tiers, forbidden ones are others."""
    nodes = draw(st.integers(1, 6))
    names = tuple(f"v{node}" for node in range(nodes))
    order = draw(st.permutations(names))
    tier = {name: draw(st.integers(0, 2)) for name in order}
    edges = [(parent, child) for place, child in enumerate(order) for parent in order[:place]]
    edges = [(parent, child) for parent, child in edges if tier[parent] <= tier[child]]
    required = draw(st.lists(st.sampled_from(edges), max_size=3)) if edges else []
    others = [(parent, child) for parent in names for child in names if parent != child]
    others = [edge for edge in others if edge not in required]
    forbidden = draw(st.lists(st.sampled_from(others), max_size=5)) if others else []
    tiered = {name: tier[name] for name in names if draw(st.booleans())}
    return names, required, forbidden, draw(st.sampled_from([None, tiered])), draw(st.integers(3, 5))


@given(constraint_cases())
def test_constraints_allow_just_the_families_that_keep_them(case: Any) -> None:
    names, required, forbidden, tiers, max_parents = case
    weights = log_prior(names, max_parents, "uniform", Constraints(required, forbidden, tiers))
    scores = LocalScores(names, min(max_parents, len(names) - 1), weights)
    for child in names:
        others = [name for name in names if name != child]
        for size in range(min(max_parents, len(others)) + 1):
            for parents in combinations(others, size):
                allowed = all(parent in parents for parent, end in required if end == child)
                allowed &= not any(parent in parents for parent, end in forbidden if end == child)
                if tiers and child in tiers:
                    allowed &= not any(tiers.get(parent, -1) > tiers[child] for parent in parents)
                assert scores.score(child, parents) == (0.0 if allowed else -inf)


def test_tiers_come_as_lists_or_as_a_mapping() -> None:
    lists = Constraints(tiers=[["age"], ["smoking", "work"], ["cancer"]])
    mapping = Constraints(tiers={"cancer": 30, "smoking": 20, "age": 10, "work": 20})
    assert lists == mapping
    assert hash(lists) == hash(mapping)
    weights = log_prior(NAMES, 2, "uniform", lists)
    assert weight_of(weights, "age", {"work"}) == -inf
    assert weight_of(weights, "smoking", {"work"}) == 0.0
    assert weight_of(weights, "cancer", {"age"}) == 0.0
    assert weight_of(weights, "age", {"cough"}) == 0.0
    assert weight_of(weights, "cough", {"cancer"}) == 0.0


@pytest.mark.parametrize(
    "settings",
    [
        {"required": [("age", "work")], "forbidden": [("age", "work")]},
        {"required": [("cough", "age")], "tiers": [["age"], ["cough"]]},
        {"required": [("age", "work"), ("work", "cough"), ("smoking", "age"), ("cough", "age")]},
        {"required": [("age", "work"), ("work", "age")]},
        {"required": [("age", "work"), ("cough", "work"), ("cancer", "work")]},
        {"required": [("smokin", "work")]},
        {"forbidden": [("age", "kough")]},
        {"tiers": [["age"], ["worc"]]},
        {"required": [("age", "age")]},
        {"forbidden": [("age", "age")]},
        {"tiers": [["age", "work"], ["cough", "age"]]},
        {"tiers": ["age", "work"]},
        {"tiers": [[1]]},
        {"tiers": {"age": 1, "work": "early"}},
        {"tiers": 3},
        {"required": 3},
        {"required": "age"},
        {"required": ["age -> "]},
        {"forbidden": [{"age", "work"}]},
        {"forbidden": "age -> work -> cough"},
        {"forbidden": [("age", "work", "cough")]},
        {"forbidden": [("age", 1)]},
    ],
)
def test_contradictions_and_slips_are_refused_by_name(settings: Any, said: Said) -> None:
    with said.raises(InputError):
        log_prior(NAMES, 2, "uniform", Constraints(**settings))


def test_a_required_edge_given_twice_is_required_once() -> None:
    weights = log_prior(NAMES, 1, "uniform", Constraints(required=cast("Any", [("age", "work"), ["age", "work"]])))
    assert weight_of(weights, "work", {"age"}) == 0.0
    assert weight_of(weights, "work", set()) == -inf


def test_many_required_edges_without_a_cycle_are_taken() -> None:
    names = tuple(f"v{node}" for node in range(40))
    chain = [(names[node], names[node + 1]) for node in range(39)] + [(names[0], names[2])]
    required, forbidden = Constraints(required=chain).matrices(names, 2)
    assert np.flatnonzero(required[2]).tolist() == [0, 1]
    assert not forbidden.any()


def test_a_prior_that_leaves_no_parent_set_is_refused(said: Said) -> None:
    prior = CustomPrior(lambda child, parents: -inf if child == "work" and "age" in parents else 0.0)
    with said.raises(InputError):
        log_prior(NAMES, 2, prior, Constraints(required=[("age", "work")]))


@pytest.mark.parametrize("value", [float("nan"), inf, "high", None])
def test_a_custom_prior_must_give_log_weights(value: Any, said: Said) -> None:
    with said.raises(InputError):
        log_prior(NAMES, 2, CustomPrior(lambda *_: value))


@pytest.mark.parametrize(
    "make",
    [
        lambda: EdgePrior(0),
        lambda: EdgePrior(1.0),
        lambda: EdgePrior("0.1"),
        lambda: EdgePrior(float("nan")),
        lambda: CustomPrior(3),
        lambda: resolve_prior("flat"),
        lambda: resolve_prior("edge"),
        lambda: resolve_prior("edge:2"),
        lambda: resolve_prior("edge:often"),
        lambda: resolve_prior("uniform:3"),
        lambda: resolve_prior(EdgePrior),
        lambda: resolve_prior(lambda *_: 0.0),
        lambda: resolve_prior(0.1),
    ],
)
def test_bad_settings_of_priors_are_refused(make: Any, said: Said) -> None:
    with said.raises(InputError):
        make()


def test_a_prior_of_the_wrong_shape_is_refused() -> None:
    class Wrong:
        def log_weights(self, *_: Any) -> np.ndarray:
            return np.zeros((2, 2))

    with pytest.raises(InputError, match=r"shape \(5, 11\). Got \(2, 2\)"):
        log_prior(NAMES, 2, Wrong())


def test_names_and_objects_resolve() -> None:
    assert resolve_prior("uniform") == UniformPrior()
    assert resolve_prior("indegree") == InDegreePrior()
    assert resolve_prior(EdgePrior(0.1)) == EdgePrior(0.1)
    assert resolve_prior("edge:0.1") == EdgePrior(0.1)


@pytest.mark.parametrize(
    "edges",
    ["age -> work", ["age->work"], [("age", "work")], ["'age' -> \"work\""], (["age", "work"],), iter(["age -> work"])],
)
def test_an_edge_is_a_pair_or_a_text(edges: Any) -> None:
    assert Constraints(forbidden=edges).forbidden == (("age", "work"),)


NAMES_OF_ANY_KIND = st.text(min_size=1, max_size=6) | st.sampled_from(["a -> b", "->", "M. Work", '"', "'x'", "a\\"])


@given(NAMES_OF_ANY_KIND, NAMES_OF_ANY_KIND)
def test_a_quoted_name_is_read_as_statements_read_it(parent: str, child: str) -> None:
    """Whatever the names, an edge that the language of statements writes is the edge that constraints read."""
    text = str(edge(parent, child)) if parent != child else ""
    if text:
        assert Constraints(required=text).required == ((parent, child),)


@given(st.text(min_size=1, max_size=8), st.text(min_size=1, max_size=8))
def test_names_without_arrows_and_quotes_need_no_quotes(parent: str, child: str) -> None:
    parent, child = (name.strip().replace("-", "").strip("'\"") for name in (parent, child))
    parent, child = parent.strip(), child.strip()
    if parent and child:
        assert Constraints(required=[f"{parent} -> {child}"]).required == ((parent, child),)


@pytest.mark.parametrize("nothing", [-inf, np.float32(-np.inf)])
def test_minus_infinity_of_any_kind_of_float_is_an_impossible_family(nothing: Any) -> None:
    prior = CustomPrior(lambda _, parents: nothing if parents else 0.0)
    assert np.isneginf(prior.log_weights(("a", "b"), 1)[:, 1]).all()


def of_lists_by_name(weights: Any, lists: ParentLists) -> dict[tuple[int, tuple[int, ...]], float]:
    return {
        (node, lists.parents(node, number)): float(weight)
        for node, own in enumerate(weights)
        for number, weight in enumerate(own)
    }


class OnNumbers:
    """A prior of the user's that gives weights for all families and nothing else."""

    def log_weights(self, names: tuple[str, ...], max_parents: int) -> Any:
        shape = len(names), family_count(len(names) - 1, max_parents)
        return -np.arange(shape[0] * shape[1], dtype=float).reshape(shape)


@pytest.mark.parametrize(
    "prior",
    [UniformPrior(), InDegreePrior(), EdgePrior(0.3), CustomPrior(lambda child, parents: len(child) - len(parents))],
    ids=lambda prior: type(prior).__name__,
)
@given(st.integers(0, 3), st.integers(0, 2**16))
@settings(max_examples=15)
def test_weights_of_allowed_sets_are_those_of_all_sets(prior: Any, max_parents: int, seed: int) -> None:
    generator = np.random.default_rng(seed)
    pairs = [(one, other) for one, other in permutations(NAMES, 2) if generator.random() < 0.3]
    order = {name: place for place, name in enumerate(generator.permutation(NAMES).tolist())}
    required = [pair for pair in pairs[:2] if order[pair[0]] < order[pair[1]]][:max_parents]
    forbidden = [pair for pair in pairs if pair not in required]
    rules = Constraints(required, forbidden)
    lists = rules.parent_lists(NAMES, max_parents)
    for chosen in (prior, OnNumbers()):
        expected = log_prior(NAMES, max_parents, cast("Any", chosen), rules)
        found = of_lists_by_name(log_prior_of_lists(NAMES, lists, cast("Any", chosen), rules), lists)
        everything = of_lists_by_name(expected, all_others(len(NAMES), max_parents))
        # The same numbers exactly, and what is not in the lists is impossible.
        assert {key: everything[key] for key in found} == found
        assert all(weight == -inf for key, weight in everything.items() if key not in found)


def test_lists_may_hold_what_the_rules_forbid() -> None:
    rules = Constraints(forbidden=[("age", "work")], required=[("smoking", "work")])
    everything = all_others(len(NAMES), 2)
    found = of_lists_by_name(log_prior_of_lists(NAMES, everything, "indegree", rules), everything)
    assert found == of_lists_by_name(log_prior(NAMES, 2, "indegree", rules), everything)


def test_exogenous_columns_weigh_nothing_and_there_may_be_more_than_64(said: Said) -> None:
    names = tuple(f"v{column}" for column in range(300))
    rules = Constraints(exogenous=names[3:], required="v200 -> v1")
    lists = rules.parent_lists(names, 2)
    weights = log_prior_of_lists(names, lists, EdgePrior(0.1), rules)
    assert all(own.tolist() == [0.0] for own in weights[3:])
    prior = EdgePrior(0.1)
    assert weights[0][lists.number(0, [1, 250])] == prior.log_weight_of_size(300, 2)
    assert weights[1][lists.number(1, [200])] == prior.log_weight_of_size(300, 1)
    assert weights[1][lists.number(1, [199, 201])] == -inf
    assert np.isfinite(weights[1]).sum() == 299
    counted = CustomPrior(lambda child, parents: -float(len(parents)) if child == "v0" else 0.0)
    own = log_prior_of_lists(names, lists, counted, rules)
    assert own[0][lists.number(0, [1, 250])] == -2.0
    with said.raises(InputError):
        log_prior_of_lists(names, lists, cast("Any", OnNumbers()), rules)


def test_a_node_that_is_left_without_a_set_is_named_for_lists_too(said: Said) -> None:
    prior = CustomPrior(lambda child, _: -inf if child == "work" else 0.0)
    with said.raises(InputError):
        log_prior_of_lists(NAMES, all_others(len(NAMES), 1), prior)
