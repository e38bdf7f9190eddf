"""Models under a condition: which kind, what is said, and what is refused. Against all graphs: tests/property."""

from __future__ import annotations

import copy
import math
import pickle
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chisquare, norm
from tests.naive import posterior as naive
from tests.tools.gapped import fitted_to, with_gaps
from tests.tools.wording import Said

from dagpost import BDeu, Checkpoint, DagPosterior, LocalScores, StructureMCMC, Trees
from dagpost.errors import DagpostWarning, InputError, NoGraphError
from dagpost.features import parse
from dagpost.methods.base import Wanted
from dagpost.methods.given_order import GivenOrder
from dagpost.methods.kbest import KBest
from dagpost.posterior.given import cells_of, restricted_workspace, seconds_left
from dagpost.posterior.mixture import MixedWorkspace, list_best

NAMES = ("A", "B", "C", "D")


def table(rows: int = 60, seed: int = 3) -> pd.DataFrame:
    """Four columns of which each resembles the one before."""
    generator = np.random.default_rng(seed)
    codes = generator.integers(0, 2, (rows, 4))
    for column in (1, 2, 3):
        codes[:, column] = np.where(generator.random(rows) < 0.6, codes[:, column - 1], codes[:, column])
    return pd.DataFrame(codes, columns=list(NAMES))


def fitted(**settings: Any) -> DagPosterior:
    own = {"score": BDeu((1.0, 10.0)), "seed": 1, "samples": 2000, "threads": 1, "progress": False, **settings}
    return DagPosterior(**{"prior": "uniform", **own}).fit(table())


@pytest.fixture(scope="module")
def model() -> DagPosterior:
    return fitted()


@pytest.fixture(scope="module")
def gapped() -> DagPosterior:
    return fitted_to(with_gaps(table().astype(str), 0.1), samples=400)


# Exact ones


@pytest.mark.parametrize("said", ["A -> B", "A -- B", "!(A -- C)", "A -> B | C -> D", "A -> B & pa(C) = {B}"])
def test_answers_are_the_conditional_ones_of_the_model_itself(model: DagPosterior, said: str) -> None:
    left = model.given(said)
    assert left.condition_.exact
    assert left.exact_
    assert left.condition_.probability == pytest.approx(float(model.probability(said)), abs=1e-12)
    for asked in ("B -> C", "C -> B & A -> D", "B -- D"):
        assert left.probability(asked) == pytest.approx(float(model.probability(asked, given=said)), abs=1e-9)
    assert left.edge_probabilities_.loc["B", "C"] == pytest.approx(float(left.probability("B -> C")), abs=1e-12)
    assert left.log_evidence_ == pytest.approx(model.log_evidence_ + left.condition_.log_probability)


def test_nothing_is_summed_before_somebody_asks_and_then_once(
    model: DagPosterior, monkeypatch: pytest.MonkeyPatch
) -> None:
    part = type(model.fitted_.workspace.parts[0])
    summed: list[str] = []
    own = part.summed

    def noted(self: Any, modularity: str) -> Any:
        summed.append(modularity)
        return own(self, modularity)

    monkeypatch.setattr(part, "summed", noted)
    left = model.given("A -> B")
    assert not summed
    _ = left.condition_.probability, left.edge_probabilities_, left.probability("A ~> C"), left.mixture_weights_
    assert len(summed) == 2  # one for each value


def test_values_that_cannot_matter_are_not_summed_but_are_in_the_best_graphs() -> None:
    model = DagPosterior(prior="uniform", score=BDeu((1e-30, 10.0)), seed=1, threads=1, progress=False).fit(table())
    assert model.mixture_weights_.min() < 1e-13
    left = model.given("A -> B")
    assert left.edge_probabilities_.loc["A", "B"] == pytest.approx(1.0, abs=1e-12)
    workspace = left.fitted_.workspace
    assert isinstance(workspace, MixedWorkspace)
    assert workspace.negligible == {0}
    best = left.best(2)
    np.testing.assert_allclose(best.log_joint, model.fitted_.workspace.log_joint(best.parents.astype(np.uint64)))


def test_values_that_matter_are_summed_without_their_evidence_first(
    model: DagPosterior, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert model.mixture_weights_.min() > 1e-6
    part = type(model.fitted_.workspace.parts[0])
    monkeypatch.setattr(part, "structure_evidence", lambda _: pytest.fail("asked for the evidence alone"))
    left = model.given("A -> C")
    assert left.edge_probabilities_.loc["A", "C"] == pytest.approx(1.0, abs=1e-12)
    assert isinstance(left.fitted_.workspace, MixedWorkspace)
    assert left.fitted_.workspace.negligible == frozenset()


def test_a_value_of_the_setting_can_be_given(model: DagPosterior) -> None:
    left, alone = model.given(setting=10.0), fitted(score=BDeu(10.0))
    np.testing.assert_allclose(left.edge_probabilities_, alone.edge_probabilities_, atol=1e-10)
    assert left.mixture_weights_.to_dict() == pytest.approx({1.0: 0.0, 10.0: 1.0})
    assert left.condition_.probability == pytest.approx(model.mixture_weights_[10.0])
    assert model.given("A -> B", setting=10.0).probability("B -> C") == pytest.approx(
        float(alone.probability("B -> C", given="A -> B")), abs=1e-9
    )


def test_conditions_are_added_to_those_there_are(model: DagPosterior, said: Said) -> None:
    step, at_once = model.given("A -> B").given("B -> C", setting=1.0), model.given("A -> B & B -> C", setting=1.0)
    np.testing.assert_allclose(step.edge_probabilities_, at_once.edge_probabilities_, atol=1e-12)
    assert step.condition_.base is model.fitted_
    assert step.condition_.statements == ("A -> B", "B -> C")
    assert model.given().fitted_ is model.fitted_
    assert step.given().condition_.statements == step.condition_.statements
    with said.raises(InputError):
        step.given(setting=10.0)


def test_components_stay_apart(model: DagPosterior) -> None:
    del model
    tiers = fitted(tiers=[["A"], ["B", "C"], ["D"]])
    assert tiers.fitted_.workspace.by_components
    left = tiers.given("A -> B | C -- D")
    for asked in ("B -> C", "A ~> D", "A -> D"):
        whole = float(tiers.probability(parse(f"({asked}) & (A -> B | C -- D)", NAMES).feature))
        if tiers.probability(parse(f"({asked}) & (A -> B | C -- D)", NAMES).feature).rule == "exact":
            assert left.probability(asked) == pytest.approx(whole / float(left.condition_.probability), abs=1e-9)


@pytest.mark.parametrize("method", [Trees(), Trees(spanning=False), GivenOrder()])
def test_methods_with_a_target_of_their_own_are_restricted_too(method: Any, said: Said) -> None:
    model = fitted(method=method)
    left = model.given("A -> B" if isinstance(method, GivenOrder) else "A -- B")
    assert left.exact_
    heard = left.condition_.statements[0]
    drawn = model.own_sample()
    share, among = drawn.probability(heard), drawn.probability("B -> C", given=heard, confidence=1.0 - 1e-6)
    assert share.lower - 0.05 < left.condition_.probability < share.upper + 0.05
    assert among.lower <= left.edge_probabilities_.loc["B", "C"] <= among.upper
    with said.raises(NoGraphError):
        model.given("A -> B & B -> A & C -> D")


def test_draws_are_from_what_is_left(model: DagPosterior) -> None:
    """False-alarm rate 1e-6."""
    left = model.given("A -- B & !(C -> A)")
    expected: dict[tuple[int, ...], float] = {}
    for row in naive.all_dags(4):
        masks = np.array([row], dtype=np.uint64)
        held = (row[1] & 1 or row[0] >> 1 & 1) and not row[0] >> 2 & 1
        expected[row] = math.exp(model.fitted_.workspace.log_joint(masks)[0] - left.log_evidence_) if held else 0.0
    sample = left.sample(4000, seed=7)
    found = Counter(tuple(map(int, row)) for row in sample.parents)
    assert all(expected[row] > 0.0 for row in found)
    common = [row for row, share in expected.items() if share > 20.0 / len(sample)]
    seen = [found[row] for row in common]
    shares = [expected[row] for row in common]
    seen.append(len(sample) - sum(seen))
    shares.append(1.0 - sum(shares))
    assert chisquare(seen, np.array(shares) * len(sample)).pvalue > 1e-6


@pytest.mark.parametrize("scale", [30.0, 700.0, 5000.0])
def test_what_is_all_but_impossible_has_its_own_posterior(scale: float) -> None:
    weights = np.zeros((4, 8))
    masks = np.array(naive.parent_masks(1, 4, 3))
    weights[1, masks & 1 == 1] = -scale  # A -> B
    model = DagPosterior(prior="uniform", seed=1, threads=1, progress=False).fit_scores(LocalScores(NAMES, 3, weights))
    left = model.given("A -> B")
    log_joint = naive.log_joint_of_every_dag(weights, 3)
    held = naive.parents_in_every_dag(4)[:, 1] & 1 == 1
    log_left = naive.log_sum(log_joint[held])
    assert left.condition_.log_probability == pytest.approx(log_left - naive.log_sum(log_joint), rel=1e-12)
    assert left.condition_.probability == pytest.approx(math.exp(left.condition_.log_probability), rel=1e-9)
    graphs = np.exp(log_joint[held] - log_left)
    with_edge = naive.parents_in_every_dag(4)[held][:, 2] >> 1 & 1 == 1
    assert left.edge_probabilities_.loc["B", "C"] == pytest.approx(graphs[with_edge].sum(), abs=1e-10)


def test_models_are_copied_and_say_what_they_take_for_true(model: DagPosterior, said: Said) -> None:
    left = model.given("A -> B")
    assert "given A -> B: 4 variables" in repr(left)
    _ = left.edge_probabilities_
    assert f"given A -> B (probability {float(left.condition_.probability):.4g}): 4 variables" in repr(left)
    assert repr(left.condition_).startswith("given A -> B, with probability 0.")
    for again in (pickle.loads(pickle.dumps(left)), copy.deepcopy(left)):
        assert again.condition_.left.results is again.fitted_.results
        np.testing.assert_array_equal(again.edge_probabilities_, left.edge_probabilities_)
    sample = left.sample(10, seed=1)
    assert sample.provenance["given"] == ["A -> B"]
    assert left.sample(10, seed=1) == sample
    assert len(sample + model.given("A->B").sample(10, seed=2)) == 20
    with said.raises(InputError):
        sample + model.sample(10, seed=2)


def test_time_is_reckoned(model: DagPosterior) -> None:
    fitted_model = model.fitted_

    def seconds(feature: Any, setting: dict[str, float]) -> float:
        left = restricted_workspace(fitted_model, feature, cells_of(fitted_model, setting))
        assert left is not None
        return seconds_left(left, fitted_model.modularity)

    single = seconds(parse("A -> B", NAMES).feature, {})
    assert 0.0 < single < seconds(parse("A -- B", NAMES).feature, {}) < 1.0
    assert seconds(None, {"equivalent sample size": 10.0}) < single


# By draws


def test_other_statements_leave_drawn_graphs(model: DagPosterior) -> None:
    left = model.given("A ~> C")
    condition = left.condition_
    assert (condition.exact, condition.graphs_of, left.exact_) == (False, 2000, False)
    own = left.own_sample()
    assert condition.graphs_left == len(own) < 2000
    assert own.probability("A ~> C") == 1.0
    assert condition.probability == model.probability("A ~> C")
    for asked in ("A -> B", "B ~> D", lambda dag: dag.number_of_edges() > 2):
        assert left.probability(asked).as_dict() == model.probability(asked, given="A ~> C").as_dict()
    both = left.probability("A -> B", given="B -> C")
    assert both.as_dict() == model.probability("A -> B", given="A ~> C & B -> C").as_dict()
    whole = model.own_sample()
    among = whole.probability("B -> C", given="A ~> C")
    assert left.edge_probabilities_.loc["B", "C"] == pytest.approx(float(among), abs=1e-12)
    assert left.mixture_weights_.sum() == pytest.approx(1.0)


def test_drawn_graphs_that_are_left_keep_weights_and_intervals(model: DagPosterior, said: Said) -> None:
    own, whole = model.given("A ~> C").own_sample(), model.own_sample()
    interval, among = own.probability("B -> D"), whole.probability("B -> D", given="A ~> C")
    assert interval == pytest.approx(float(among), abs=1e-12)
    said(interval.rule)
    # How much is left is known exactly here, which a ratio of two estimates does not use.
    assert 0.0 < interval.upper - interval.lower <= among.upper - among.lower
    np.testing.assert_allclose(own.reweighed().weights, own.weights)


def test_weights_are_restricted_first_as_far_as_they_can_be(model: DagPosterior) -> None:
    both = model.given("C -> B & A ~> D")
    assert both.condition_.within.condition.statements == ("C -> B",)
    assert str(both.condition_.rest) == "A ~> D"
    by_draws = float(model.own_sample().probability("C -> B & A ~> D"))
    assert both.condition_.graphs_left > by_draws * 2000
    exact = model.probability("C -> B & A ~> D")
    assert exact.rule == "exact"
    assert both.condition_.probability == pytest.approx(float(exact), abs=1e-9)
    again = model.given("A ~> D", "C -> B")
    assert str(again.condition_.rest) == "A ~> D"


def test_graphs_under_a_statement_are_drawn_until_there_are_enough(model: DagPosterior) -> None:
    """False-alarm rate 1e-6."""
    left = model.given("A ~> C & !(A -> C)")
    sample = left.sample(3000, seed=5)
    assert len(sample) == 3000
    assert sample.probability("A ~> C & !(A -> C)") == 1.0
    exact = left.probability("B -> C")
    reach = norm.isf(0.5e-6) * math.sqrt(float(exact) * (1.0 - float(exact)) / 3000)
    frequency = sample.adjacency()[:, 1, 2].mean()
    assert exact.lower - reach < frequency < exact.upper + reach
    assert left.sample(100, seed=5) == left.sample(100, seed=5)
    assert left.sample(precision=0.1, seed=1).guarantee == (0.1, 0.95)
    assert sample.provenance["kept"]["left"] == 3000


def test_the_best_graphs_under_a_statement_are_searched_for(model: DagPosterior) -> None:
    best = model.given("A ~> D & !(A -> D)").best(3)
    every = model.best(400)
    rows = [row for row, graph in enumerate(every) if _holds(graph)][:3]
    np.testing.assert_allclose(best.log_joint, every.log_joint[rows])


def _holds(graph: Any) -> bool:
    import networkx as nx

    return nx.has_path(graph, "A", "D") and not graph.has_edge("A", "D")


def test_the_best_graphs_of_several_ways_are_settled_soon_where_many_tie() -> None:
    """No graph is in two ways, so that none can weigh what both have together."""
    weights = np.zeros((4, 8))
    model = DagPosterior(prior="uniform", seed=1, threads=1, progress=False).fit_scores(LocalScores(NAMES, 3, weights))
    left = model.given("A -- B | C -> D")
    assert len(left.fitted_.workspace.parts) > 1
    lengths: list[int] = []

    class Noted(KBest):
        def draw(self, workspace: Any, wanted: Any) -> Any:
            lengths.append(wanted.number)
            return super().draw(workspace, wanted)

    wanted = Wanted(NAMES, 2, np.random.SeedSequence(1))
    list_best(Noted(), left.fitted_.workspace, wanted, longest=1000)
    assert set(lengths) == {3}


def test_checkpoints_are_refused_where_graphs_are_picked(model: DagPosterior, tmp_path: Path, said: Said) -> None:
    with said.raises(InputError):
        model.given("A ~> C").sample(10, checkpoint=Checkpoint(tmp_path / "kept"))
    assert len(model.given("A -> C").sample(10, seed=1, checkpoint=Checkpoint(tmp_path / "kept"))) == 10


def test_few_graphs_are_said_to_be_few_and_none_is_an_error(model: DagPosterior, said: Said) -> None:
    with said.raises(NoGraphError):
        model.given(lambda dag: dag.number_of_edges() < 0)
    small = fitted(samples=100)
    with said.warns(DagpostWarning):
        small.given("A ~> D")


def test_chains_keep_their_graphs_and_intervals(said: Said) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DagpostWarning)
        model = fitted(score="bdeu", method=StructureMCMC(chains=2, burn_in=100), samples=800)
        left = model.given("A -> B")
        own = left.own_sample()
        assert (own.from_chains, own.chains) == (True, None)
        assert len(own) == left.condition_.graphs_left < 800
        estimate = left.probability("B -> C")
        assert estimate.rule == "effective draws"
        assert estimate.as_dict() == model.probability("B -> C", given="A -> B").as_dict()
        assert left.edge_probabilities_.loc["B", "C"] == pytest.approx(float(estimate))
        assert left.condition_.effective_left < len(own)
        with said.raises(InputError):
            left.sample(1600, resume=model.own_sample())


# Tables with gaps


@pytest.mark.parametrize("said", ["A -> B", "A -- C"])
def test_gaps_average_numerator_and_denominator(gapped: DagPosterior, said: str) -> None:
    left = gapped.given(said)
    found = left.condition_.under_tables
    assert found is not None
    for asked, matrix in (("B -> C", found.edges), ("B ~> D", found.paths)):
        one, other = NAMES.index(asked[0]), NAMES.index(asked[-1])
        alone = gapped.probability(asked, given=said)
        if alone.rule == f"averaged over {found.tables} completed tables":
            assert matrix[one, other] == pytest.approx(float(alone), abs=1e-9)
        assert left.probability(asked).as_dict() == alone.as_dict()
    assert left.edge_probabilities_.loc["B", "C"] == pytest.approx(
        float(gapped.probability("B -> C", given=said)), abs=0.1
    )
    assert left.family_probabilities("B").sum() == pytest.approx(1.0)
    assert left.own_sample().probability(said) == 1.0
    assert (found.edge_errors >= 0.0).all()


def test_gaps_answer_where_no_drawn_graph_is_left(gapped: DagPosterior, said: Said) -> None:
    rare = "D -> A & D -> B & D -> C & pa(D) = {}"
    left = gapped.given(rare)
    assert left.edge_probabilities_.loc["D", "A"] == pytest.approx(1.0)
    assert left.fitted_.results.tables == left.condition_.under_tables.tables
    if not left.condition_.graphs_left:
        with pytest.raises(NoGraphError):
            left.own_sample()
    with said.raises(NoGraphError):
        gapped.given("A -> B & B -> A")


# What is refused


@pytest.mark.parametrize(
    "given",
    [
        {"said": ["A -> b"]},
        {"said": ["A -> B", "B -> A"]},
        {"said": ["C -> D", "A -> B & B -> A"]},
        {"said": ["A -> B & B -> C & C -> A"]},
        {"said": ["P(A -> B | C -> D)"]},
        {"said": [], "setting": 3.0},
        {"said": [], "setting": True},
    ],
)
def test_wrong_conditions_are_named(model: DagPosterior, given: dict[str, Any], said: Said) -> None:
    with said.raises(InputError):
        model.given(*given.pop("said"), **given)


def test_a_score_without_a_setting_takes_none(said: Said) -> None:
    with said.raises(InputError):
        fitted(score="bdeu").given(setting=10.0)


def test_rules_of_the_model_count(said: Said) -> None:
    with said.raises(NoGraphError):
        fitted(forbidden="A -> B").given("A -> B", "C -> D")
