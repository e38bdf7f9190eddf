"""Models under a condition, against all graphs one by one: random weights, random statements, one or several values.

Tolerance: 1e-9 on probabilities, relative on logs; weights may lie thousands of nats apart.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.naive import posterior as naive
from tests.naive.mixture import Mixture
from tests.tools.examples import examples

from dagpost import BDeu, DagPosterior, LocalScores
from dagpost._tools.mixture import grid_of
from dagpost._tools.progress import NO_PROGRESS
from dagpost.engines import ThreadEngine
from dagpost.errors import DagpostWarning, NoGraphError
from dagpost.posterior.exact_workspace import ExactWorkspace
from dagpost.posterior.mixture import MixedWorkspace

NAMES = ("A", "B", "C", "D")
DAGS = naive.all_dags(4)
TOLERANCE = 1e-9
Holds = Callable[[tuple[int, ...]], bool]


class Said(NamedTuple):
    """A statement as text, and as a function of the parent masks of a graph."""

    text: str
    holds: Holds


def edge(parent: int, child: int) -> Said:
    return Said(f"{NAMES[parent]} -> {NAMES[child]}", lambda dag: bool(dag[child] >> parent & 1))


def joined(one: int, other: int) -> Said:
    holds: Holds = lambda dag: bool(dag[one] >> other & 1 or dag[other] >> one & 1)  # noqa: E731
    return Said(f"{NAMES[one]} -- {NAMES[other]}", holds)


def parents(child: int, mask: int) -> Said:
    members = ", ".join(name for place, name in enumerate(NAMES) if mask >> place & 1)
    return Said(f"pa({NAMES[child]}) = {{{members}}}", lambda dag: dag[child] == mask)


@st.composite
def leaves(draw: st.DrawFn) -> Said:
    one, other = draw(st.permutations(range(4)))[:2]
    kind = draw(st.sampled_from(["edge", "joined", "parents"]))
    if kind == "parents":
        return parents(one, draw(st.integers(0, 15)) & ~(1 << one))
    return edge(one, other) if kind == "edge" else joined(one, other)


def negated(said: Said) -> Said:
    return Said(f"!({said.text})", lambda dag: not said.holds(dag))


def both(pair: tuple[Said, Said]) -> Said:
    one, other = pair
    return Said(f"({one.text}) & ({other.text})", lambda dag: one.holds(dag) and other.holds(dag))


def either(pair: tuple[Said, Said]) -> Said:
    one, other = pair
    return Said(f"({one.text}) | ({other.text})", lambda dag: one.holds(dag) or other.holds(dag))


def statements() -> st.SearchStrategy[Said]:
    return st.recursive(
        leaves(),
        lambda inner: st.one_of(
            inner.map(negated), st.tuples(inner, inner).map(both), st.tuples(inner, inner).map(either)
        ),
        max_leaves=4,
    )


def weights_of(seed: int, scale: float, lost: float) -> NDArray[np.float64]:
    rng = np.random.default_rng(seed)
    weights = rng.normal(size=(4, 8)) * scale
    weights[:, 1:][rng.random((4, 7)) < lost] = -np.inf
    return weights


def model_of(weights: list[NDArray[np.float64]], modularity: str) -> DagPosterior:
    """A model with these weights, under as many values of a setting."""
    model = DagPosterior(prior="uniform", modularity=modularity, samples=40, seed=1, threads=1, progress=False)
    model.fit_scores(LocalScores(NAMES, 3, weights[0]))
    if len(weights) > 1:
        mixture = BDeu(tuple(float(size) for size in range(1, len(weights) + 1))).mixture()
        assert mixture is not None
        parts = [ExactWorkspace(own, 3, ThreadEngine(1), NO_PROGRESS) for own in weights]
        mixed = MixedWorkspace(grid_of([mixture]), parts, ThreadEngine(1), NO_PROGRESS, ordinary=4)
        model.fitted_ = replace(model.fitted_, workspace=mixed, _remembered={})
    return model


def edges_of(graphs: NDArray[np.float64]) -> NDArray[np.float64]:
    masks = np.array(DAGS)
    return np.array([[graphs[masks[:, child] >> parent & 1 == 1].sum() for child in range(4)] for parent in range(4)])


def paths_of(graphs: NDArray[np.float64]) -> NDArray[np.float64]:
    total = np.zeros((4, 4))
    for dag, weight in zip(DAGS, graphs, strict=True):
        reach = np.array([[dag[child] >> parent & 1 for child in range(4)] for parent in range(4)])
        for _ in range(3):
            reach = reach | (reach @ reach > 0)
        total += weight * reach
    return total


@settings(max_examples=examples(24), deadline=None)
@given(
    st.integers(0, 2**32),
    st.sampled_from([0.5, 3.0, 40.0, 1500.0]),
    st.sampled_from([0.0, 0.3]),
    st.sampled_from([1, 1, 3]),
    st.sampled_from(["structure", "structure", "order"]),
    statements(),
)
def test_everything_under_a_condition_is_that_of_the_graphs_in_which_it_holds(
    seed: int, scale: float, lost: float, values: int, modularity: str, said: Said
) -> None:
    first = weights_of(seed, scale, lost)
    # What no value allows is the same under all: a rule.
    weights = [np.where(np.isfinite(first), weights_of(seed + place, scale, 0.0), -np.inf) for place in range(values)]
    model = model_of(weights, modularity)
    all_graphs = Mixture(weights, 3, orders=modularity == "order")
    held = np.array([said.holds(dag) for dag in DAGS])
    logs = np.where(held, all_graphs.logs, -np.inf)
    log_left = naive.log_sum(logs.ravel())
    if log_left == -np.inf:
        with pytest.raises(NoGraphError, match="No graph that the rules of the model allow has"):
            model.given(said.text)
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DagpostWarning)  # more than a few ways: few drawn graphs are left
        try:
            left = model.given(said.text)
        except NoGraphError as error:
            assert "graphs that were drawn" in str(error)  # noqa: PT017
            return
    graphs = np.exp(logs - log_left).sum(axis=0)
    if not left.condition_.exact:
        return
    assert left.log_evidence_ == pytest.approx(log_left, rel=1e-11, abs=TOLERANCE)
    assert left.condition_.log_probability == pytest.approx(
        log_left - all_graphs.log_evidence, rel=1e-9, abs=TOLERANCE + 1e-11 * abs(log_left)
    )
    np.testing.assert_allclose(left.edge_probabilities_, edges_of(graphs), atol=TOLERANCE)
    np.testing.assert_allclose(left.probability_matrix("~>"), paths_of(graphs), atol=TOLERANCE)
    asked = model.probability("A ~> C", given=said.text)
    if asked.rule == "exact":
        assert asked == pytest.approx(paths_of(graphs)[0, 2], abs=1e-7)
    elif modularity == "structure":
        # Left to draws only where rounding might hide it.
        assert log_left - all_graphs.log_evidence < -5.0
    families = left.family_probabilities("B")
    for members, probability in families.items():
        assert isinstance(members, frozenset)
        mask = sum(1 << NAMES.index(name) for name in members)
        assert probability == pytest.approx(graphs[np.array(DAGS)[:, 1] == mask].sum(), abs=TOLERANCE)
    assert families.sum() == pytest.approx(1.0, abs=TOLERANCE)
    joint = np.where(held, np.logaddexp.reduce(all_graphs.log_joint, axis=0), -np.inf)
    best = np.sort(joint[np.isfinite(joint)])[::-1][:3]
    np.testing.assert_allclose(left.best(3).log_joint, best, rtol=1e-10, atol=1e-9)
    if values > 1:
        shares = np.exp([naive.log_sum(row) - log_left for row in logs])
        np.testing.assert_allclose(left.mixture_weights_, shares, atol=TOLERANCE)
    assert all(said.holds(tuple(int(mask) for mask in row)) for row in left.sample(20, seed=1).parents)


@settings(max_examples=examples(10), deadline=None)
@given(st.integers(0, 2**32), st.sampled_from([1.0, 300.0]), statements(), st.sampled_from([1.0, 2.0, 3.0]))
def test_a_value_of_the_setting_is_a_condition_too(seed: int, scale: float, said: Said, value: float) -> None:
    weights = [weights_of(seed + place, scale, 0.0) for place in range(3)]
    model, all_graphs = model_of(weights, "structure"), Mixture(weights, 3, orders=False)
    held = np.array([said.holds(dag) for dag in DAGS])
    if not held.any():
        return
    left = _quietly(lambda: model.given(said.text, setting=value))
    if left is None or not left.condition_.exact:
        return
    logs = np.where(held, all_graphs.logs[int(value) - 1], -np.inf)
    log_left = naive.log_sum(logs)
    assert left.condition_.log_probability == pytest.approx(
        log_left - all_graphs.log_evidence, rel=1e-9, abs=TOLERANCE + 1e-11 * abs(log_left)
    )
    np.testing.assert_allclose(left.edge_probabilities_, edges_of(np.exp(logs - log_left)), atol=TOLERANCE)
    np.testing.assert_allclose(left.mixture_weights_, [own == value for own in (1.0, 2.0, 3.0)], atol=TOLERANCE)


def _quietly(make: Callable[[], Any]) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DagpostWarning)
        try:
            return make()
        except NoGraphError:
            return None
