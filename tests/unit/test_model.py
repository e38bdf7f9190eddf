"""DagPosterior, the front door: settings, fitting, answers, and the file that a model is kept in."""

from __future__ import annotations

import inspect
import math
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from tests.naive import features as naive_features
from tests.naive import posterior as naive
from tests.naive import structure as naive_structure
from tests.tools.answers import facts
from tests.tools.engines import SlowEngine
from tests.tools.wording import Said

from dagpost import (
    BIC,
    K2,
    BDe,
    BDeu,
    BGe,
    Bootstrap,
    CustomPrior,
    DagPosterior,
    DagpostError,
    DagpostWarning,
    DagSample,
    EdgePrior,
    InputError,
    ResourceError,
    ThreadEngine,
    custom,
    datasets,
    edge,
    path,
)
from dagpost._tools import memory
from dagpost.families.numbering import parent_sets
from dagpost.features import resolve
from dagpost.posterior.exact_workspace import ExactWorkspace

MODULARITIES = ("structure", "order")
DEFAULTS = {
    "score": "bdeu",
    "prior": "auto",
    "modularity": "structure",
    "max_parents": 5,
    "method": "auto",
    "samples": 30_000,
    "required": (),
    "forbidden": (),
    "tiers": None,
    "engine": "auto",
    "threads": None,
    "seed": None,
    "progress": None,
    "recipe": None,
    "missing": None,
    "exogenous": (),
    "regimes": None,
}


def small_frame(rows: int = 120) -> pd.DataFrame:
    """A drives B, and B drives C; D is noise."""
    rng = np.random.default_rng(5)
    a = rng.integers(0, 2, rows)
    b = np.where(rng.random(rows) < 0.8, a, 1 - a)
    c = np.where(rng.random(rows) < 0.75, b, 1 - b)
    return pd.DataFrame({"A": a, "B": b, "C": c, "D": rng.integers(0, 3, rows)})


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    return small_frame()


@pytest.fixture(scope="module", params=MODULARITIES)
def model(request: pytest.FixtureRequest, frame: pd.DataFrame) -> DagPosterior:
    return DagPosterior(score="bdeu", prior="uniform", modularity=request.param, seed=1).fit(frame)


def log_weights_of(model: DagPosterior) -> np.ndarray:
    workspace = model.fitted_.workspace
    assert isinstance(workspace, ExactWorkspace)
    return workspace.log_weights


def by_enumeration(model: DagPosterior) -> naive.Posterior:
    twin = (
        naive.structure_modular_by_enumeration
        if model.modularity == "structure"
        else naive.order_modular_by_enumeration
    )
    return twin(log_weights_of(model), model.max_parents_)


# Settings


def test_defaults_are_those_of_the_documentation() -> None:
    assert DagPosterior(score="bdeu").get_params() == DEFAULTS
    assert [*inspect.signature(DagPosterior).parameters] == [*DEFAULTS]


def test_clone_copies_settings_and_not_the_fit(frame: pd.DataFrame, said: Said) -> None:
    model = DagPosterior(BDeu(3.0), EdgePrior(0.2), "order", 2, required=[("A", "B")], seed=4).fit(frame)
    copy = clone(model)
    assert repr(copy) == repr(DagPosterior(BDeu(3.0), EdgePrior(0.2), "order", 2, required=[("A", "B")], seed=4))
    with said.raises(InputError):
        copy.sample(3)
    assert copy.fit(frame).log_evidence_ == model.log_evidence_


def test_making_an_estimator_checks_and_changes_nothing() -> None:
    model = DagPosterior(score="nonsense", max_parents=-3, seed="x")
    given = model.get_params()
    assert (given["score"], given["max_parents"], given["seed"]) == ("nonsense", -3, "x")


@pytest.mark.parametrize(
    "settings",
    [
        {"modularity": "both"},
        {"max_parents": "five"},
        {"max_parents": -1},
        {"max_parents": 13},
        {"max_parents": True},
        {"max_parents": 2.0},
        {"samples": 0},
        {"samples": 1.5},
        {"samples": True},
        {"threads": 0},
        {"threads": -2},
        {"threads": "all"},
        {"threads": True},
        {"engine": "steam"},
        {"engine": 3},
        {"method": "magic"},
        {"method": None},
        {"score": "magic"},
        {"prior": "magic"},
        {"seed": -1},
        {"seed": 1.5},
        {"seed": "x"},
        {"required": [("A", "Z")]},
        {"required": 3},
        {"required": "AB"},
        {"required": [("A", "B")], "forbidden": [("A", "B")]},
        {"required": [("A", "B"), ("B", "A")]},
    ],
)
def test_a_setting_that_cannot_be_is_named_with_what_is_allowed(
    settings: dict[str, Any], frame: pd.DataFrame, said: Said
) -> None:
    with said.raises(InputError):
        DagPosterior(**{"score": "bdeu", **settings}).fit(frame)


@pytest.mark.parametrize("method", ["exact-layers", "iw-dds", "linear-extensions"])
def test_a_method_for_the_other_prior_is_refused_with_the_way_out(method: str, frame: pd.DataFrame, said: Said) -> None:
    with said.raises(InputError):
        DagPosterior(score="bdeu", method=method, modularity="order").fit(frame)
    with said.raises(InputError):
        DagPosterior(score="bdeu", method="dds").fit(frame)


def test_every_question_to_an_unfitted_model_says_to_fit_first(tmp_path: Path, said: Said) -> None:
    model = DagPosterior(score="bdeu")
    for ask in (
        lambda: model.sample(3),
        lambda: model.probability("A -> B"),
        model.probability_matrix,
        lambda: model.family_probabilities("A"),
        lambda: model.top_families("A"),
        lambda: model.save(tmp_path / "x"),
    ):
        with said.raises(InputError):
            ask()
    assert list(tmp_path.iterdir()) == []


def test_a_fit_that_fails_leaves_the_model_as_it_was(frame: pd.DataFrame) -> None:
    model = DagPosterior(score="bdeu").fit(frame)
    before = model.probability("A -> B")
    with pytest.raises(InputError):
        model.fit("there-is-no-such-file.csv")
    assert facts(model.probability("A -> B")) == facts(before)


def test_a_fitted_model_shows_what_it_found(frame: pd.DataFrame) -> None:
    model = DagPosterior(max_parents=2)
    assert repr(model) == "DagPosterior(max_parents=2)"
    edges = model.fit(frame).edge_probabilities_.to_numpy()
    joined = int(((edges + edges.T)[np.triu_indices(4, 1)] >= 0.5).sum())
    assert repr(model) == (
        f"DagPosterior(max_parents=2): 4 variables, {len(frame)} observations; exact (each graph counted once); "
        f"{joined} of 6 pairs joined with probability ≥ 0.5"
    )
    assert "DagPosterior(max_parents=2)" in model._repr_mimebundle_()["text/html"]


def test_showing_a_model_computes_nothing(frame: pd.DataFrame) -> None:
    model = DagPosterior(score="bdeu", method="iw-dds", samples=50, seed=1).fit(frame)
    assert repr(model).endswith("; iw-dds (each graph counted once); edges are not computed yet")
    assert model.fitted_.recall("results") is None
    _ = model.edge_probabilities_
    assert " pairs joined with probability ≥ 0.5" in repr(model)


def test_shares_of_replicates_are_not_shown_as_probabilities(frame: pd.DataFrame) -> None:
    model = DagPosterior(score="bdeu", method=Bootstrap(replicates=20), seed=1).fit(frame)
    assert model.edge_probabilities_.shape == (4, 4)
    assert repr(model).endswith(" of 6 pairs joined in at least half of the replicates")


def test_settings_changed_after_the_fit_do_not_change_what_was_fitted(frame: pd.DataFrame) -> None:
    model = DagPosterior(score="bdeu", seed=1).fit(frame)
    before = model.probability("A -> B")
    model.set_params(modularity="order")
    assert facts(model.probability("A -> B")) == facts(before)


# Fitting


def test_every_kind_of_table_gives_the_same(frame: pd.DataFrame, tmp_path: Path) -> None:
    expected = DagPosterior(score="bdeu").fit(frame)
    frame.to_csv(tmp_path / "table.csv", index=False)
    for table in (
        frame,
        pl.from_pandas(frame),
        pl.from_pandas(frame).to_arrow(),
        tmp_path / "table.csv",
        str(tmp_path / "table.csv"),
    ):
        model = DagPosterior(score="bdeu").fit(table)
        assert model.log_evidence_ == expected.log_evidence_
        pd.testing.assert_frame_equal(model.edge_probabilities_, expected.edge_probabilities_)
    numbers = DagPosterior(score="bdeu").fit(frame.to_numpy())
    assert numbers.names_ == ("V0", "V1", "V2", "V3")
    assert numbers.log_evidence_ == expected.log_evidence_


def test_counts_stand_for_repeated_rows(frame: pd.DataFrame) -> None:
    counted = frame.value_counts().rename("n").reset_index()
    model = DagPosterior(score="bdeu").fit(counted, counts="n")
    assert model.log_evidence_ == pytest.approx(DagPosterior(score="bdeu").fit(frame).log_evidence_, abs=1e-9)


def test_rows_of_an_intervention_are_left_out_of_the_score_of_what_was_set(frame: pd.DataFrame) -> None:
    seen = DagPosterior(score="bdeu").fit(frame)
    set_from_outside = DagPosterior(score="bdeu").fit(frame.assign(target="B"), interventions="target")
    assert set_from_outside.names_ == ("A", "B", "C", "D")
    assert set_from_outside.edge_probabilities_.loc["A", "B"] < seen.edge_probabilities_.loc["A", "B"]


@pytest.mark.parametrize("score", ["bdeu", "bde", "k2", "bic", BDeu(10.0), BDe(0.5), K2(), BIC()])
def test_every_score_for_levels_fits(score: Any, frame: pd.DataFrame) -> None:
    model = DagPosterior(score).fit(frame)
    assert model.probability("A -- B").value > 0.99


@pytest.mark.parametrize("score", ["bge", BGe()])
def test_the_score_for_numbers_fits(score: Any, said: Said) -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=200)
    table = pd.DataFrame({"x": x, "y": x + rng.normal(size=200), "z": rng.normal(size=200)})
    model = DagPosterior(score).fit(table)
    assert model.probability("x -- y").value > 0.99
    with said.warns(DagpostWarning):
        cut = DagPosterior(score="bdeu").fit(table)
    assert cut.probability("x -- y").value > 0.99
    assert cut.recipe_.step("x").rule == "3 quantiles"
    assert model.recipe_.step("x").cuts is None


def test_evidence_families_and_edges_are_those_of_enumeration(model: DagPosterior) -> None:
    expected = by_enumeration(model)
    assert model.exact_
    assert model.names_ == ("A", "B", "C", "D")
    assert model.log_evidence_ == pytest.approx(expected.log_evidence, abs=1e-9)
    np.testing.assert_allclose(model.edge_probabilities_, expected.edges, rtol=0, atol=1e-9)
    for place, child in enumerate(model.names_):
        found = model.family_probabilities(child)
        others = [name for name in model.names_ if name != child]
        for mask, value in zip(parent_sets(3, 3).tolist(), expected.families[place], strict=True):
            parents = frozenset(name for bit, name in enumerate(others) if mask >> bit & 1)
            assert found.to_dict()[parents] == pytest.approx(value, abs=1e-9)
        assert found.sum() == pytest.approx(1.0, abs=1e-9)
        assert found.is_monotonic_decreasing
        assert found.name == f"P(parents of {child})"


def test_edge_probabilities_are_labelled_and_lie_between_0_and_1(frame: pd.DataFrame) -> None:
    for modularity in MODULARITIES:
        model = DagPosterior(score="bdeu", modularity=modularity, required=[("A", "C"), ("B", "C")]).fit(frame)
        edges = model.edge_probabilities_
        assert (edges.index.name, edges.columns.name) == ("parent", "child")
        assert tuple(edges.index) == tuple(edges.columns) == ("A", "B", "C", "D")
        assert (edges.to_numpy() >= 0.0).all()
        assert (edges.to_numpy() <= 1.0).all()
        assert not edges.to_numpy().diagonal().any()


def test_top_families_are_readable(model: DagPosterior) -> None:
    top = model.top_families("B", 3)
    assert len(top) == 3
    families = model.family_probabilities("B")
    assert top.to_list() == families.iloc[:3].to_list()
    assert set(model.top_families("B", 100).index) == {"{}", "A", "C", "D", "A, C", "A, D", "C, D", "A, C, D"}
    assert len(model.top_families("B")) == 8


@pytest.mark.parametrize("count", [-1, 2.5, "x"])
def test_a_number_of_families_that_is_none_is_refused(count: Any, model: DagPosterior) -> None:
    with pytest.raises(InputError, match="count"):
        model.top_families("B", count)


def test_an_unknown_variable_gets_a_suggestion(model: DagPosterior, said: Said) -> None:
    with said.raises(InputError):
        model.family_probabilities("Z")
    named = DagPosterior(score="bdeu").fit(datasets.load("coronary"))
    with said.raises(InputError):
        named.top_families("smoking")


@pytest.mark.parametrize("modularity", MODULARITIES)
def test_required_and_forbidden_edges_and_tiers_are_honoured(modularity: Any, frame: pd.DataFrame) -> None:
    model = DagPosterior(
        score="bdeu",
        modularity=modularity,
        required=[("D", "A")],
        forbidden=[("A", "B")],
        tiers=[["D"], ["A", "B"], ["C"]],
    ).fit(frame)
    edges = model.edge_probabilities_
    assert edges.loc["D", "A"] == pytest.approx(1.0, abs=1e-9)
    assert edges.loc["A", "B"] == 0.0
    for later, earlier in (("A", "D"), ("B", "D"), ("C", "D"), ("C", "A"), ("C", "B")):
        assert edges.loc[later, earlier] == 0.0
    assert set(model.family_probabilities("A").index) == {frozenset("D"), frozenset("BD")}
    drawn = model.sample(200, seed=1)
    present = drawn.adjacency()
    assert present[:, 3, 0].all()
    assert not present[:, 0, 1].any()
    assert model.probability("D -> A").value == pytest.approx(1.0, abs=1e-9)
    assert model.probability("C ~> D").value == pytest.approx(0.0, abs=1e-9)


def test_no_parents_at_all_is_a_posterior_too(frame: pd.DataFrame) -> None:
    for modularity in MODULARITIES:
        model = DagPosterior(score="bdeu", max_parents=0, modularity=modularity, seed=1).fit(frame)
        assert not model.edge_probabilities_.to_numpy().any()
        assert not model.sample(5).parents.any()
        assert model.probability("A ~> B").value == 0.0
        assert model.family_probabilities("A").to_dict() == {frozenset(): pytest.approx(1.0)}


def test_two_variables_are_enough() -> None:
    table = pd.DataFrame({"x": [0, 1] * 20, "y": [0, 1] * 20})
    for modularity in MODULARITIES:
        model = DagPosterior(score="bdeu", modularity=modularity).fit(table)
        assert model.probability("x -- y").value == pytest.approx(1.0, abs=1e-6)
        assert model.probability("x ~> y").value == pytest.approx(0.5, abs=1e-9)


def test_names_of_any_kind_can_be_asked_about(frame: pd.DataFrame) -> None:
    names = ["ä b", "日本", "q\"uo'te", "in"]
    model = DagPosterior(score="bdeu").fit(frame.set_axis(names, axis=1))
    expected = DagPosterior(score="bdeu").fit(frame)
    assert model.probability('"ä b" ~> 日本').value == expected.probability("A ~> B").value
    assert model.probability('"q\\"uo\'te" -> "in"').value == expected.probability("C -> D").value
    assert model.probability(edge("in", "q\"uo'te")).value == expected.probability("D -> C").value
    assert model.probability(str(path("q\"uo'te", "in"))).value == expected.probability("C ~> D").value


def test_results_do_not_depend_on_threads_or_engine(frame: pd.DataFrame) -> None:
    models = [DagPosterior(score="bdeu", threads=threads, seed=3).fit(frame) for threads in (1, 2, 3)]
    models.append(DagPosterior(score="bdeu", engine=ThreadEngine(2), seed=3).fit(frame))
    for model in models[1:]:
        assert model.log_evidence_ == models[0].log_evidence_
        pd.testing.assert_frame_equal(model.edge_probabilities_, models[0].edge_probabilities_)
        assert model.sample(1000, seed=2) == models[0].sample(1000, seed=2)


def test_progress_is_reported_to_a_function(frame: pd.DataFrame) -> None:
    calls: list[tuple[str, int, int]] = []
    DagPosterior(score="bdeu", progress=lambda *report: calls.append(report)).fit(frame)
    assert {title for title, _, _ in calls} >= {"local scores"}
    assert all(0 < done <= total for _, done, total in calls)


# Answers


@pytest.mark.parametrize("modularity", MODULARITIES)
def test_exact_answers_come_without_a_sample(modularity: Any, frame: pd.DataFrame) -> None:
    model = DagPosterior(score="bdeu", modularity=modularity).fit(frame)
    asked: list[Any] = [
        "A -> B",
        "A -- B",
        "A ~> B",
        "A -> B & C -> D",
        "pa(C) = {B}",
        "P(A -> B | C -> D)",
        "A ~> B & A ~> C",
    ]
    for estimate in model.probability(asked):
        assert (estimate.rule, estimate.samples, estimate.modularity) == ("exact", 0, model.modularity)
        assert estimate.lower == estimate.value == estimate.upper
    assert model.fitted_.drawn is None


def test_what_is_not_exact_comes_from_one_sample_within_its_interval(model: DagPosterior) -> None:
    """Intervals of confidence 1 - 1e-9: fails by chance less than once in a hundred million."""
    names = list(model.names_)
    asked: list[Any] = [
        "A ~>{2} C",
        "A ~> B & B ~> C",
        "A _||_ C | B",
        custom(lambda graph: graph.number_of_edges() == 3),
    ]
    found = model.probability(asked, confidence=1.0 - 1e-9)
    each = naive_structure.probability_of_every_dag(log_weights_of(model), model.max_parents_, model.modularity)
    graphs = [naive_features.graph_of(row, names) for row in naive.parents_in_every_dag(4)]
    for statement, estimate in zip(asked, found, strict=True):
        feature = resolve(statement, names).feature
        truth = each[[naive_features.holds(feature, graph) for graph in graphs]].sum()
        assert estimate.rule != "exact"
        assert estimate.samples == 30_000
        assert estimate.lower - 1e-9 <= truth <= estimate.upper + 1e-9
        assert estimate.upper - estimate.lower < 0.05


def test_exact_and_sampled_answers_keep_the_order_of_the_questions(model: DagPosterior) -> None:
    asked: list[Any] = ["A -> B", "A ~>{2} C", "C -> B", "A ~> B & B ~> C", "D -> A"]
    together = model.probability(asked)
    assert [estimate.rule == "exact" for estimate in together] == [True, False, True, False, True]
    assert facts(together) == facts([model.probability(one) for one in asked])


def test_the_own_sample_is_drawn_once_with_the_seed_of_the_model(frame: pd.DataFrame) -> None:
    asked = "A ~> B & B ~> C"
    first, second = (DagPosterior(score="bdeu", samples=50, seed=9).fit(frame) for _ in range(2))
    assert facts(first.probability(asked)) == facts(second.probability(asked))
    assert facts(first.probability(asked)) == facts(first.probability(asked))
    assert first.probability(asked).samples == 50


def test_matrices_are_exact_where_they_can_be(model: DagPosterior, said: Said) -> None:
    edges = model.edge_probabilities_.to_numpy()
    np.testing.assert_array_equal(model.probability_matrix("->"), edges)
    np.testing.assert_allclose(model.probability_matrix("--"), edges + edges.T, rtol=0, atol=1e-12)
    paths = model.probability_matrix()
    assert (paths.index.name, paths.columns.name) == ("from", "to")
    tolerance = 1e-12 if model.modularity == "structure" else 0.03
    for source, target in (("A", "C"), ("D", "B")):
        assert paths.loc[source, target] == pytest.approx(
            model.probability(f"{source} ~> {target}").value, abs=tolerance
        )
        bounded = model.probability_matrix("~>{2}").loc[source, target]
        assert bounded == pytest.approx(model.probability(f"{source} ~>{{2}} {target}").value, abs=0.01)
    with said.raises(InputError):
        model.probability_matrix("=>")


def test_a_matrix_can_be_changed_without_changing_the_model(model: DagPosterior) -> None:
    before = model.probability("A ~> B").value
    for relation in ("->", "~>"):
        matrix = model.probability_matrix(relation)
        matrix.loc["A", "B"] = 7.0
    assert model.probability("A ~> B").value == before
    assert model.edge_probabilities_.loc["A", "B"] <= 1.0


@pytest.mark.parametrize(
    "statement", ["", "A ->", "A -> Z", "A => B", None, 3, ["A -> B", 3], "P(A -> B | C -> D) & A -> C"]
)
def test_what_is_no_statement_is_refused(statement: Any, model: DagPosterior) -> None:
    with pytest.raises(InputError):
        model.probability(statement)


@pytest.mark.parametrize("statement", ["A -> B", "A ~>{2} C"])
@pytest.mark.parametrize("confidence", [0.0, 95, math.nan])
def test_what_is_no_confidence_is_refused_whatever_is_asked(
    statement: str, confidence: float, model: DagPosterior, said: Said
) -> None:
    with said.raises(InputError):
        model.probability(statement, confidence=confidence)


# Sampling


def test_seeds_make_samples_repeatable(model: DagPosterior) -> None:
    assert model.sample(100, seed=1) == model.sample(100, seed=1)
    assert model.sample(100, seed=1) != model.sample(100, seed=2)
    assert model.sample(100) != model.sample(100)
    assert len(DagPosterior(score="bdeu", samples=70).fit(small_frame()).sample()) == 70


def test_a_sample_can_be_asked_for_by_precision(model: DagPosterior) -> None:
    drawn = model.sample(precision=0.02, confidence=0.95, seed=1)
    assert len(drawn) == 4612
    assert drawn.guarantee == (0.02, 0.95)
    assert drawn.probability("A ~> B").rule == "Hoeffding"


def test_a_number_and_a_precision_are_one_too_many(model: DagPosterior, said: Said) -> None:
    with said.raises(InputError):
        model.sample(100, precision=0.02)


@pytest.mark.parametrize("method", ["iw-dds", "linear-extensions"])
def test_weighted_methods_refuse_a_precision_and_name_the_way_out(method: str, frame: pd.DataFrame, said: Said) -> None:
    model = DagPosterior(score="bdeu", method=method).fit(frame)
    assert len(model.sample(10, seed=1)) == 10
    with said.raises(InputError):
        model.sample(precision=0.02)


@pytest.mark.parametrize("count", [0, -1, 1.5, True, "x"])
def test_a_number_of_graphs_that_is_none_is_refused(count: Any, model: DagPosterior, said: Said) -> None:
    with said.raises(InputError):
        model.sample(count)


@pytest.mark.parametrize("seed", [-1, 1.5, "x"])
def test_a_seed_that_is_none_is_refused(seed: Any, model: DagPosterior) -> None:
    with pytest.raises(InputError, match="'seed'"):
        model.sample(3, seed=seed)


@pytest.mark.parametrize("precision", [0.0, 1.0, 2, "x", math.nan])
def test_a_precision_that_is_none_is_refused(precision: Any, model: DagPosterior, said: Said) -> None:
    with said.raises(InputError):
        model.sample(precision=precision)


@pytest.mark.parametrize("how", [{"precision": 1e-9}, {"precision": 1e-6}, {"count": 10**13}])
def test_more_graphs_than_memory_holds_are_refused_with_both_figures(how: dict[str, Any], model: DagPosterior) -> None:
    with pytest.raises(ResourceError, match=r"memory.*free"):
        model.sample(**how)


# Where the sums over all graphs are out of reach


def test_edges_are_estimated_where_the_sums_are_out_of_reach(frame: pd.DataFrame, said: Said) -> None:
    with said.warns(DagpostWarning):
        model = DagPosterior(score="bdeu", prior="uniform", engine=SlowEngine(), seed=1).fit(frame)
    expected = by_enumeration(model)
    assert not model.exact_
    assert model.method_ == "linear-extensions"
    np.testing.assert_allclose(model.edge_probabilities_, expected.edges, rtol=0, atol=0.03)
    estimate = model.probability("A -> B")
    assert estimate.rule != "exact"
    assert estimate.value == pytest.approx(expected.edges[0, 1], abs=0.03)
    assert model.probability_matrix("~>").loc["A", "B"] >= estimate.value - 1e-9
    assert model.log_evidence_ == pytest.approx(expected.log_evidence, abs=0.1)
    with said.raises(InputError):
        model.family_probabilities("A")
    with said.raises(InputError):
        model.sample(precision=0.1)


@pytest.mark.filterwarnings("ignore:Edge probabilities are estimated")
@pytest.mark.parametrize("method", ["auto", "linear-extensions", "iw-dds", "exact-layers"])
def test_a_model_that_is_not_exact_can_be_kept(method: str, frame: pd.DataFrame, tmp_path: Path) -> None:
    model = DagPosterior(score="bdeu", method=method, samples=2000, engine=SlowEngine(), seed=1).fit(frame)
    model.save(tmp_path / "x")
    found = DagPosterior.load(tmp_path / "x", engine=SlowEngine())
    assert found.exact_ == model.exact_
    assert found.method_ == model.method_
    assert found.log_evidence_ == pytest.approx(model.log_evidence_, nan_ok=True)
    pd.testing.assert_frame_equal(found.edge_probabilities_, model.edge_probabilities_)
    assert found.probability("A ~> B").rule == model.probability("A ~> B").rule


def test_who_asks_for_exact_layers_by_name_gets_what_they_cost(frame: pd.DataFrame) -> None:
    """The layers need the sums over all graphs: once these are there, evidence and edges are exact."""
    settings = {"method": "exact-layers", "samples": 100, "engine": SlowEngine(), "seed": 1}
    model = DagPosterior("bdeu", "uniform", **settings).fit(frame)
    expected = by_enumeration(model)
    assert model.log_evidence_ == pytest.approx(expected.log_evidence, abs=1e-9)
    np.testing.assert_allclose(model.edge_probabilities_, expected.edges, rtol=0, atol=1e-9)


@pytest.mark.parametrize("modularity", MODULARITIES)
def test_tables_that_cannot_fit_are_refused_before_anything_is_computed(
    modularity: Any, monkeypatch: pytest.MonkeyPatch, said: Said
) -> None:
    """Scoring all parent sets of many variables takes minutes, and would be in vain."""
    table = np.random.default_rng(0).integers(0, 2, (40, 40))
    monkeypatch.setattr(memory, "available_bytes", lambda: 10**9)
    worked: list[tuple[str, int, int]] = []
    method = "exact-layers" if modularity == "structure" else "dds"
    with said.raises(ResourceError):
        DagPosterior(
            score="bdeu",
            modularity=modularity,
            max_parents=2,
            method=method,
            progress=lambda *report: worked.append(report),
        ).fit(table)
    assert worked == []


# Kept in a file


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"modularity": "order", "score": K2(), "prior": "indegree"},
        {"score": BDeu(7.5), "prior": EdgePrior(0.2), "max_parents": 2, "samples": 400, "seed": 5},
        {"method": "linear-extensions", "required": [("A", "B")], "forbidden": [("B", "C")]},
        {"tiers": [["A"], ["B", "C", "D"]], "method": "iw-dds"},
        {"tiers": {"A": 0, "B": 1, "C": 1, "D": 2}},
        {"score": "bic", "max_parents": np.int64(3), "samples": np.int64(300), "seed": np.int64(3)},
    ],
    ids=", ".join,
)
def test_a_model_comes_back_from_its_file_as_it_was(
    settings: dict[str, Any], frame: pd.DataFrame, tmp_path: Path
) -> None:
    model = DagPosterior(**{"score": "bdeu", **settings}).fit(frame)
    model.save(tmp_path / "model.dagpost")
    found = DagPosterior.load(tmp_path / "model.dagpost")
    assert found.names_ == model.names_
    assert found.log_evidence_ == model.log_evidence_
    assert (found.exact_, found.method_, found.max_parents_) == (model.exact_, model.method_, model.max_parents_)
    pd.testing.assert_frame_equal(found.edge_probabilities_, model.edge_probabilities_)
    pd.testing.assert_series_equal(found.family_probabilities("C"), model.family_probabilities("C"))
    asked: list[Any] = ["A -> B", "A ~> C", "A -> B & C -> D", "A ~> B & A ~> C", "P(A -> B | C -> D)", "pa(D) = {}"]
    assert facts(found.probability(asked)) == facts(model.probability(asked))
    assert found.sample(200, seed=1) == model.sample(200, seed=1)
    assert found.sample(200, seed=1).provenance == model.sample(200, seed=1).provenance
    found.save(tmp_path / "again.dagpost")
    assert DagPosterior.load(tmp_path / "again.dagpost").log_evidence_ == model.log_evidence_
    assert found.fit(frame).log_evidence_ == pytest.approx(model.log_evidence_, abs=1e-12)


def test_a_model_file_holds_no_rows_and_no_code(frame: pd.DataFrame, tmp_path: Path) -> None:
    DagPosterior(score="bdeu", samples=20).fit(frame).save(tmp_path / "x")
    with zipfile.ZipFile(tmp_path / "x") as archive:
        names = set(archive.namelist())
    others = {name for name in names if not name.startswith(("sample_", "statistics_"))}
    assert others <= {"about.json", "part0_log_weights.npy", "families.npy", "edges.npy", "paths.npy"}
    assert all(name.endswith((".npy", ".json")) for name in names)
    assert (tmp_path / "x").stat().st_size < 12_000


def prefers_few(child: str, parents: frozenset[str]) -> float:
    """A prior of the user's own."""
    return -float(len(parents))


def test_a_model_with_a_prior_of_the_users_own_can_be_used_after_loading(frame: pd.DataFrame, tmp_path: Path) -> None:
    """Only the name of such a prior is kept, but the weights hold what it said."""
    model = DagPosterior(score="bdeu", prior=CustomPrior(prefers_few), seed=1, samples=500).fit(frame)
    model.save(tmp_path / "x")
    found = DagPosterior.load(tmp_path / "x")
    assert facts(found.probability("A -> B & C -> D")) == facts(model.probability("A -> B & C -> D"))
    assert found.sample(50, seed=1) == model.sample(50, seed=1)
    assert facts(found.probability("A ~> B & B ~> C")) == facts(model.probability("A ~> B & B ~> C"))
    found.save(tmp_path / "y")
    with pytest.raises(DagpostError, match="prior"):
        found.fit(frame)


def test_constraints_given_as_an_iterator_are_kept(frame: pd.DataFrame, tmp_path: Path) -> None:
    model = DagPosterior(score="bdeu", required=iter([("A", "B")])).fit(frame)
    assert model.edge_probabilities_.loc["A", "B"] == pytest.approx(1.0)
    assert model.sample(3, seed=1).provenance["required"] == [["A", "B"]]
    model.save(tmp_path / "x")
    assert DagPosterior.load(tmp_path / "x").sample(3, seed=1).provenance["required"] == [["A", "B"]]


OTHER_PROCESS = """
import sys
from dagpost import DagPosterior
model = DagPosterior.load(sys.argv[1])
print(repr(model.log_evidence_), model.sample(50, seed=1).parents.sum(), model.probability("A ~> C").value)
"""


def test_another_process_reads_the_same(frame: pd.DataFrame, tmp_path: Path) -> None:
    model = DagPosterior(score="bdeu").fit(frame)
    model.save(tmp_path / "x")
    result = subprocess.run(
        [sys.executable, "-c", OTHER_PROCESS, str(tmp_path / "x")], capture_output=True, text=True, check=True
    )
    expected = (repr(model.log_evidence_), model.sample(50, seed=1).parents.sum(), model.probability("A ~> C").value)
    assert result.stdout.split() == [str(value) for value in expected]


def test_samples_of_a_model_are_dag_samples(model: DagPosterior) -> None:
    drawn = model.sample(3, seed=1)
    assert isinstance(drawn, DagSample)
    assert drawn.target == model.modularity
    assert drawn.method == model.method_ == ("dds" if model.modularity == "order" else "exact-layers")


def test_best_graphs_come_in_falling_order_with_the_mass_they_cover() -> None:
    model = DagPosterior(score="bdeu").fit(datasets.load("coronary"))
    best = model.best(30)
    assert (np.diff(best.log_joint) <= 1e-8).all()
    assert len(best.unique()) == 30
    assert best.covered == pytest.approx(np.exp(best.log_joint - model.log_evidence_).sum())
    assert sum(p for p in best.posterior_probabilities() if p is not None) == pytest.approx(best.covered)
    np.testing.assert_array_equal(model.best(10).parents, best.parents[:10])
    exact = model.probability("Smoking ~> Pressure").value
    estimate = best.probability("Smoking ~> Pressure")
    assert estimate.rule == "covered mass"
    assert estimate.lower <= exact <= estimate.upper
    assert DagPosterior(score="bdeu", method="kbest", samples=30).fit(datasets.load("coronary")).sample() == best


@pytest.mark.parametrize("count", [0, -1, 1.5, True, "ten"])
def test_a_number_of_best_graphs_that_is_none_is_refused(count: object, said: Said) -> None:
    model = DagPosterior(score="bdeu").fit(datasets.load("coronary"))
    with said.raises(InputError):
        model.best(count)
