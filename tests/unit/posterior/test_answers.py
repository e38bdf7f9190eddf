"""Which statements are answered exactly, and that the answers are right: against all graphs of four and five nodes.

Tolerance: 1e-9, absolute, also for conditional probabilities.
"""

from __future__ import annotations

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.naive import paths as naive_paths
from tests.naive import posterior as naive
from tests.naive import structure as naive_structure
from tests.tools.answers import facts
from tests.tools.engines import SlowEngine
from tests.tools.examples import examples

from dagpost import DagPosterior, EdgePrior, LocalScores, custom, d_separated, edge, path
from dagpost._tools.progress import NO_PROGRESS
from dagpost.families.numbering import family_count
from dagpost.features import And, Edge, Feature, Not, Or, Path, Query, parse
from dagpost.features.statements.adjacent import Adjacent
from dagpost.features.statements.markov_blanket import InMarkovBlanket
from dagpost.features.statements.node_sets import AncestorSet, DescendantSet, ParentSet
from dagpost.features.statements.topological_position import TopologicalPosition
from dagpost.features.statements.v_structure import VStructure
from dagpost.posterior.answers import exact_answer
from dagpost.posterior.exact_workspace import ExactWorkspace

TOLERANCE = 1e-9
NAMES = ("A", "B", "C", "D", "E")
MODULARITIES = ("structure", "order")
Truth = NDArray[np.bool_]


# Where a statement holds, for each graph of a few nodes


def truth(feature: Feature, nodes: int) -> Truth:
    """Whether the statement holds in each graph, in the order of `naive.all_dags`."""
    parents = naive.parents_in_every_dag(nodes)
    place = NAMES.index

    def down(node: str) -> NDArray[np.int64]:
        return naive_paths.descendants_in_every_dag(nodes, place(node))

    def up(node: str) -> NDArray[np.int64]:
        return naive_structure.ancestors_in_every_dag(nodes, place(node))

    def has_edge(parent: str, child: str) -> Truth:
        return parents[:, place(child)] >> place(parent) & 1 == 1

    def mask(members: frozenset[str]) -> int:
        return naive.mask_of([place(member) for member in members])

    match feature:
        case And(parts):
            return np.logical_and.reduce([truth(part, nodes) for part in parts])
        case Or(parts):
            return np.logical_or.reduce([truth(part, nodes) for part in parts])
        case Not(part):
            return ~truth(part, nodes)
        case Edge(parent, child):
            return has_edge(parent, child)
        case Adjacent(first, second):
            return has_edge(first, second) | has_edge(second, first)
        case VStructure(first, collider, second):
            apart = ~has_edge(first, second) & ~has_edge(second, first)
            return has_edge(first, collider) & has_edge(second, collider) & apart
        case ParentSet(child, members):
            return parents[:, place(child)] == mask(members)
        case Path(source, target, None):
            return down(source) >> place(target) & 1 == 1
        case AncestorSet(node, members):
            return up(node) == mask(members)
        case DescendantSet(node, members):
            return down(node) == mask(members)
        case InMarkovBlanket(member, of):
            joined = has_edge(member, of) | has_edge(of, member)
            for child in NAMES[:nodes]:
                if child not in (member, of):
                    joined |= has_edge(member, child) & has_edge(of, child)
            return joined
    raise TypeError(feature)


class Posterior:
    """A model of some weights, with the probability of each graph beside it."""

    def __init__(self, nodes: int, max_parents: int, scale: float, seed: int, modularity: str) -> None:
        rng = np.random.default_rng(seed)
        weights = rng.normal(size=(nodes, family_count(nodes - 1, max_parents))) * scale
        self.nodes, self.modularity = nodes, modularity
        self.names = NAMES[:nodes]
        self.of_each_graph = naive_structure.probability_of_every_dag(weights, max_parents, modularity)
        scores = LocalScores(self.names, max_parents, weights)
        self.fitted = (
            DagPosterior(prior="uniform", score="bdeu", modularity=modularity, threads=1).fit_scores(scores).fitted_
        )

    def exact(self, feature: Feature) -> float | None:
        found = exact_answer(Query(feature), self.fitted)
        assert found is None or found.rule == "exact"
        return None if found is None else found.value

    def expected(self, feature: Feature) -> float:
        return float(self.of_each_graph[truth(feature, self.nodes)].sum())


@pytest.fixture(scope="module", params=MODULARITIES)
def posterior(request: pytest.FixtureRequest) -> Posterior:
    return Posterior(4, 3, 1.5, 7, request.param)


@pytest.fixture(scope="module", params=MODULARITIES)
def wider(request: pytest.FixtureRequest) -> Posterior:
    return Posterior(5, 2, 3.0, 8, request.param)


ALWAYS_EXACT = [
    "A -> B",
    "!(A -> B)",
    "A <- B",
    "A -- B",
    "!(A -- B)",
    "pa(C) = {}",
    "pa(C) = {A, B}",
    "!(pa(C) = {A})",
    "A -> C <- B",
    "!(A -> C <- B)",
    "A -> B -> C",
    "A -> B & C -> B",
    "A -> B & C -> D",
    "A -> B & B -> A",
    "A -> B & !(B -> C) & D -> C",
    "A -> B | C -> D",
    "A -> B | A -> C | A -> D",
    "(A -> B | C -> D) & !(A -- C)",
    "pa(A) = {} & pa(B) = {A} & pa(C) = {B} & pa(D) = {C}",
    "pa(A) = {B} & pa(B) = {A}",
    "A in mb(B)",
    "!(A in mb(B))",
    "A ~>{1} B",
    "an(B) = {}",
    "de(B) = {}",
    "A ~> B",
    "!(A ~> B)",
    "A ~> B & A ~> C",
    "A ~> B & !(A ~> C)",
    "A ~> B | A ~> C",
    "de(A) = {B, C}",
    "A ~>{3} B",
    "C in de(A)",
    "C in an(A)",
    "pos(A) = 0",
    "pos(A) > 0",
]
EXACT_IF_EACH_GRAPH_COUNTS_ONCE = ["A ~> C & B ~> C", "A ~> C | !(B ~> C)", "an(C) = {A, B}", "!(an(C) = {A})"]


def known_truth(feature: Feature, nodes: int) -> Truth:
    """`truth` for statements that it does not know by themselves."""
    match feature:
        case Path(source, target, longest) if longest is not None:
            return truth(edge(source, target) if longest == 1 else path(source, target), nodes)
        case TopologicalPosition(node, comparison, _):
            free = truth(ParentSet(node, frozenset()), nodes)
            return free if comparison == "=" else ~free
    return truth(feature, nodes)


@pytest.mark.parametrize("text", ALWAYS_EXACT)
def test_statements_are_exact_and_right_under_both_priors(text: str, posterior: Posterior) -> None:
    feature = parse(text, posterior.names).feature
    found = posterior.exact(feature)
    assert found is not None
    expected = posterior.of_each_graph[known_truth(feature, 4)].sum()
    assert found == pytest.approx(expected, abs=TOLERANCE, rel=0)


@pytest.mark.parametrize("text", EXACT_IF_EACH_GRAPH_COUNTS_ONCE)
def test_statements_about_ancestors_are_exact_when_every_graph_counts_once(text: str, posterior: Posterior) -> None:
    feature = parse(text, posterior.names).feature
    found = posterior.exact(feature)
    if posterior.modularity == "order":
        assert found is None
    else:
        assert found == pytest.approx(posterior.expected(feature), abs=TOLERANCE, rel=0)


@pytest.mark.parametrize("text", ["A ~> B & B ~> C", "A ~>{2} C", "pos(A) <= 1", "A _||_ B", "A _||_ B | C"])
def test_what_cannot_be_exact_is_left_to_samples(text: str, posterior: Posterior) -> None:
    assert posterior.exact(parse(text, posterior.names).feature) is None


def test_a_python_function_is_left_to_samples(posterior: Posterior) -> None:
    assert posterior.exact(custom(lambda graph: graph.number_of_edges() < 3)) is None
    assert posterior.exact(custom(nx.is_weakly_connected) & edge("A", "B")) is None


def test_every_statement_about_five_nodes_is_right(wider: Posterior) -> None:
    for text in (
        "A -> E <- C",
        "A -> B & C -> D & !(E -> A)",
        "A -- E & B -- D",
        "B ~> E & !(B ~> A)",
        "de(D) = {A, E}",
    ):
        feature = parse(text, wider.names).feature
        assert wider.exact(feature) == pytest.approx(wider.expected(feature), abs=TOLERANCE, rel=0), text


def test_d_separation_given_everything_else_is_exact(posterior: Posterior) -> None:
    feature = d_separated("A", "B", given=["C", "D"])
    expected = 1.0 - posterior.expected(InMarkovBlanket("A", "B"))
    assert posterior.exact(feature) == pytest.approx(expected, abs=TOLERANCE, rel=0)


@st.composite
def statements(draw: st.DrawFn, depth: int = 2) -> Feature:
    kinds = ["edge", "parents", "adjacent", "collider", "path", "ancestors", "descendants", "blanket"]
    kind = draw(st.sampled_from([*kinds, "not", "and", "or"] if depth else kinds))
    if kind == "not":
        return ~draw(statements(depth=depth - 1))
    if kind in ("and", "or"):
        parts = tuple(draw(st.lists(statements(depth=depth - 1), min_size=2, max_size=3)))
        return And(parts) if kind == "and" else Or(parts)
    first, second, third = draw(st.permutations(NAMES[:4]))[:3]
    members = frozenset(draw(st.sets(st.sampled_from([name for name in NAMES[:4] if name != first]))))
    return {
        "edge": lambda: Edge(first, second),
        "parents": lambda: ParentSet(first, members),
        "adjacent": lambda: Adjacent(first, second),
        "collider": lambda: VStructure(first, second, third),
        "path": lambda: Path(first, second),
        "ancestors": lambda: AncestorSet(first, members),
        "descendants": lambda: DescendantSet(first, members),
        "blanket": lambda: InMarkovBlanket(first, second),
    }[kind]()


@settings(max_examples=examples(250))
@given(feature=statements())
def test_whatever_is_exact_is_right(posterior: Posterior, feature: Feature) -> None:
    found = posterior.exact(feature)
    if found is not None:
        assert found == pytest.approx(posterior.expected(feature), abs=TOLERANCE, rel=0)


def test_the_structure_that_is_asked_about_whole_has_its_own_posterior(posterior: Posterior) -> None:
    """A whole graph is a conjunction of parent sets, one a node; all graphs together have probability 1."""
    graphs = naive.parents_in_every_dag(4)[:: 543 // 20]
    for row in graphs:
        sets = [frozenset(NAMES[bit] for bit in range(4) if mask >> bit & 1) for mask in row]
        feature = And(tuple(ParentSet(NAMES[node], sets[node]) for node in range(4)))
        assert posterior.exact(feature) == pytest.approx(posterior.expected(feature), abs=TOLERANCE, rel=0)


# How much work an exact answer may be


@pytest.mark.parametrize("modularity", MODULARITIES)
def test_conjunctions_that_would_take_too_long_are_left_to_samples(modularity: str) -> None:
    posterior = Posterior(4, 3, 1.5, 7, modularity)
    assert posterior.exact(edge("A", "B") & edge("C", "D")) is not None
    posterior.fitted.workspace.run_on(SlowEngine(100.0), NO_PROGRESS)
    assert posterior.exact(edge("A", "B") & edge("C", "D")) is None
    assert posterior.exact(edge("A", "B")) is not None


def test_nothing_of_3_to_the_n_is_started_where_it_is_not_affordable() -> None:
    posterior = Posterior(4, 3, 1.0, 1, "structure")
    posterior.fitted.workspace.run_on(SlowEngine(), NO_PROGRESS)
    assert posterior.exact(edge("A", "B") & edge("C", "D")) is None
    assert posterior.exact(path("A", "B") & path("A", "C")) is None
    assert posterior.exact(edge("A", "B")) is not None


# Conditions


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    """A and B go together as good as always; C and D have nothing to do with them."""
    rng = np.random.default_rng(0)
    a = rng.integers(0, 2, 300)
    b = a ^ (rng.random(300) < 0.01)
    return pd.DataFrame({"A": a, "B": b, "C": rng.integers(0, 2, 300), "D": rng.integers(0, 2, 300)})


def conditional_truth(model: DagPosterior, feature: Feature, given_: Feature) -> float:
    workspace = model.fitted_.workspace
    assert isinstance(workspace, ExactWorkspace)
    each = naive_structure.probability_of_every_dag(workspace.log_weights, model.max_parents_, model.modularity)
    condition = truth(given_, 4)
    return float(each[condition & truth(feature, 4)].sum() / each[condition].sum())


@pytest.mark.parametrize("modularity", MODULARITIES)
@pytest.mark.parametrize(
    ("text", "condition"),
    [
        ("C -> D", "A -> B"),
        ("C -> D", "A -> B | B -> A"),
        ("A ~> D", "A ~> C"),
        ("A -> B & C -> D", "A -> B"),
        ("!(C -> D)", "A -- B"),
        ("C -> D", "A -> C <- D | B -> D"),
        ("pa(D) = {C}", "pa(A) = {} & pa(C) = {}"),
    ],
)
def test_conditional_probabilities_are_exact_and_right(
    text: str, condition: str, modularity: str, frame: pd.DataFrame
) -> None:
    model = DagPosterior(prior="uniform", score="bdeu", modularity=modularity).fit(frame)
    found = model.probability(text, given=condition)
    features = [parse(part, NAMES[:4]).feature for part in (text, condition)]
    assert found.rule == "exact"
    assert float(found) == pytest.approx(conditional_truth(model, *features), abs=TOLERANCE, rel=0)
    assert facts(model.probability(f"P({text} | ({condition}))")) == facts(found)


@pytest.mark.parametrize("modularity", MODULARITIES)
@pytest.mark.parametrize(
    ("text", "condition"),
    [
        ("C -> D", "!(A -- B)"),
        ("C -> D", "!(A -> B | B -> A)"),
        ("C -> D", "!(A in mb(B))"),
        ("C -> D", "!(A -- B) & !(C -- D & A -- B)"),
        ("C -> D", "(A -> C | B -> D) & !(A -- B)"),
    ],
)
def test_an_answer_given_next_to_nothing_is_right_or_not_called_exact(
    text: str, condition: str, modularity: str, frame: pd.DataFrame
) -> None:
    """The condition has a probability of some 1e-80: what is left of 1 after subtraction is rounding error."""
    model = DagPosterior(prior="uniform", score="bdeu", modularity=modularity, samples=100, seed=1).fit(frame)
    found = model.probability(text, given=condition)
    features = [parse(part, NAMES[:4]).feature for part in (text, condition)]
    expected = conditional_truth(model, *features)
    assert found.lower - TOLERANCE <= expected <= found.upper + TOLERANCE


@pytest.mark.parametrize("modularity", MODULARITIES)
@pytest.mark.parametrize("chance", [1e-8, 1e-10, 1e-12])
def test_an_answer_given_a_path_that_is_next_to_impossible_is_right_or_not_called_exact(
    chance: float, modularity: str, frame: pd.DataFrame
) -> None:
    """A directed path is nearly as improbable as the rounding errors of the differences it comes from."""
    model = DagPosterior(score="bdeu", prior=EdgePrior(chance), modularity=modularity, samples=100, seed=1).fit(frame)
    found = model.probability("C ~> D", given="C ~> D | C ~> A")
    expected = conditional_truth(model, path("C", "D"), path("C", "D") | path("C", "A"))
    assert found.lower - 1e-6 <= expected <= found.upper + 1e-6


@pytest.mark.parametrize("modularity", MODULARITIES)
@pytest.mark.parametrize("condition", ["A -> B & B -> A", "pa(A) = {B} & pa(B) = {A}", "A ~> B & B ~> A"])
def test_a_condition_that_no_graph_meets_is_said_to_be_one(
    condition: str, modularity: str, frame: pd.DataFrame
) -> None:
    model = DagPosterior(prior="uniform", score="bdeu", modularity=modularity, samples=100, seed=1).fit(frame)
    found = model.probability("C -> D", given=condition)
    assert np.isnan(found.value)
    assert (found.lower, found.upper) == (0.0, 1.0)
    assert found.rule in ("the condition never occurred", "the condition is impossible")
    assert "unknown" in str(found)
