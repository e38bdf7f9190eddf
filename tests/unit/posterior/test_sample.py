"""DagSample: graphs that were drawn, taken apart, joined, kept and asked."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from tests.naive import features as naive_features
from tests.tools.answers import facts
from tests.tools.wording import Said

from dagpost import DagPosterior, DagSample, InputError, datasets, edge, path
from dagpost.families.masks import mask_type
from dagpost.methods.targets import STRUCTURE

NAMES = ("A", "B", "C")
#: Methods, and the estimators that each can be asked for.
METHODS = {
    "exact-layers": ("counting", "distinct", "iw"),
    "dds": ("counting",),
    "iw-dds": ("iw", "distinct", "linear-extensions"),
    "linear-extensions": ("linear-extensions", "iw", "distinct"),
}
ESTIMATORS = ("counting", "distinct", "iw", "linear-extensions")


def fitted(method: str, **settings: Any) -> DagPosterior:
    modularity = "order" if method == "dds" else "structure"
    return DagPosterior(method=method, modularity=modularity, **{"prior": "uniform", "score": "bdeu", **settings}).fit(
        datasets.load("coronary")
    )


@pytest.fixture(scope="module")
def models() -> dict[str, DagPosterior]:
    return {method: fitted(method) for method in METHODS}


@pytest.fixture(scope="module", params=METHODS)
def sample(request: pytest.FixtureRequest, models: dict[str, DagPosterior]) -> DagSample:
    return models[request.param].sample(500, seed=1)


@pytest.fixture(scope="module")
def layers(models: dict[str, DagPosterior]) -> DagSample:
    return models["exact-layers"].sample(500, seed=1)


def by_hand(parents: list[list[int]], weights: list[float] | None = None, names: tuple[str, ...] = NAMES) -> DagSample:
    rows = np.array(parents, dtype=np.uint8)
    count = len(rows)
    nothing = np.full(count, np.nan)
    return DagSample(
        names=names,
        parents=rows,
        log_joint=nothing,
        log_proposal=nothing,
        log_extensions=nothing,
        weights=np.full(count, 1.0 / count) if weights is None else np.array(weights),
        target=STRUCTURE,
        method="exact-layers",
        draws="independent",
        estimator="counting" if weights is None else "given weights",
    )


# What a sample is made of


def test_masks_of_variables_that_are_not_there_are_refused(said: Said) -> None:
    with said.raises(InputError):
        by_hand([[0, 0, 8]])


def test_a_sample_has_one_row_a_graph(sample: DagSample) -> None:
    assert len(sample) == 500
    assert sample.parents.shape == (500, 6)
    assert sample.parents.dtype == np.uint8
    for name in ("log_joint", "log_proposal", "log_extensions", "weights"):
        assert getattr(sample, name).shape == (500,)
        assert getattr(sample, name).dtype == np.float64
    assert sample.weights.sum() == pytest.approx(1.0)
    assert (sample.weights > 0.0).all()
    assert np.isfinite(sample.log_joint).all()
    assert sample.names == tuple(datasets.load("coronary").names)


@pytest.mark.parametrize(
    ("nodes", "kind"), [(2, "u1"), (8, "u1"), (9, "u2"), (16, "u2"), (17, "u4"), (33, "u8"), (64, "u8")]
)
def test_masks_take_the_smallest_type_that_fits(nodes: int, kind: str) -> None:
    assert np.dtype(mask_type(nodes)) == np.dtype(kind)


def test_nine_variables_take_two_bytes_a_mask() -> None:
    table = np.random.default_rng(0).integers(0, 2, (50, 9))
    assert (
        DagPosterior(prior="uniform", score="bdeu", max_parents=2).fit(table).sample(10, seed=1).parents.dtype
        == np.uint16
    )


def test_repeats_have_the_same_joint_probability_and_share_one_weight(sample: DagSample) -> None:
    rows, first, member = np.unique(sample.parents, axis=0, return_index=True, return_inverse=True)
    assert len(rows) < len(sample)
    for values in (sample.log_joint, sample.weights):
        assert values == pytest.approx(values[first][member.reshape(-1)], rel=1e-9)


def test_what_a_sampler_knows_of_its_draws_is_there(models: dict[str, DagPosterior]) -> None:
    layers = models["exact-layers"].sample(100, seed=1)
    np.testing.assert_allclose(layers.log_proposal, layers.log_joint - models["exact-layers"].log_evidence_, atol=1e-9)
    extensions = models["linear-extensions"].sample(100, seed=1)
    order_evidence = models["dds"].log_evidence_
    expected = extensions.log_joint + extensions.log_extensions - order_evidence
    np.testing.assert_allclose(extensions.log_proposal, expected, atol=1e-9)


@pytest.mark.parametrize(
    "changes",
    [
        {"parents": np.zeros((3, 2), dtype=np.uint8)},
        {"parents": np.zeros((3, 3))},
        {"weights": np.ones(4)},
        {"log_joint": np.ones((3, 1))},
    ],
)
def test_parts_that_do_not_fit_are_refused(changes: dict[str, Any], said: Said) -> None:
    with said.raises(InputError):
        replace(by_hand([[0, 1, 2]] * 3), **changes)


# Rows


def test_graphs_come_out_as_networkx_graphs() -> None:
    sample = by_hand([[0, 1, 3], [0, 0, 0], [6, 4, 0]])
    graphs = list(sample)
    assert [type(graph) for graph in graphs] == [nx.DiGraph] * 3
    assert [tuple(graph) for graph in graphs] == [NAMES] * 3
    assert set(graphs[0].edges) == {("A", "B"), ("A", "C"), ("B", "C")}
    assert set(graphs[1].edges) == set()
    assert set(graphs[2].edges) == {("B", "A"), ("C", "A"), ("C", "B")}
    assert set(sample[-1].edges) == set(graphs[2].edges)
    first: Any = np.int64(0)
    assert set(sample[first].edges) == set(graphs[0].edges)


def test_every_drawn_graph_is_acyclic(sample: DagSample) -> None:
    assert all(nx.is_directed_acyclic_graph(graph) for graph in sample.unique())


def test_adjacency_has_parents_in_the_rows() -> None:
    found = by_hand([[0, 1, 3], [6, 4, 0]]).adjacency()
    assert found.shape == (2, 3, 3)
    assert found.dtype == np.bool_
    assert np.argwhere(found[0]).tolist() == [[0, 1], [0, 2], [1, 2]]
    assert np.argwhere(found[1]).tolist() == [[1, 0], [2, 0], [2, 1]]


def test_a_slice_is_a_smaller_sample_of_the_same_kind(sample: DagSample) -> None:
    part = sample[100:200]
    assert len(part) == 100
    assert (part.parents == sample.parents[100:200]).all()
    assert (part.method, part.estimator, part.independent) == (sample.method, sample.estimator, sample.independent)
    assert part.weights.sum() == pytest.approx(1.0)


def test_the_first_of_many_draws_are_those_of_a_shorter_sample(models: dict[str, DagPosterior]) -> None:
    for model in models.values():
        assert model.sample(300, seed=5)[:100] == model.sample(100, seed=5)


def test_rows_picked_by_hand_keep_their_weights_and_lose_their_interval(sample: DagSample) -> None:
    for rows in ([3, 1, 4], np.array([3, 1, 4]), np.isin(np.arange(500), [3, 1, 4])):
        part = sample[rows]
        assert not part.independent
        assert part.weights.sum() == pytest.approx(1.0)
        estimate = part.probability("Smoking -> Pressure")
        assert (estimate.rule, estimate.lower, estimate.upper) == ("weights as given", 0.0, 1.0)
    picked = sample[[3, 1, 4]]
    assert picked.weights == pytest.approx(sample.weights[[3, 1, 4]] / sample.weights[[3, 1, 4]].sum())


def test_no_graphs_are_no_sample(layers: DagSample, said: Said) -> None:
    nothing: tuple[Any, ...] = (slice(0, 0), [], np.zeros(500, dtype=bool))
    for rows in nothing:
        with said.raises(InputError):
            layers[rows]


def test_a_row_that_is_not_there_is_an_index_error(layers: DagSample) -> None:
    with pytest.raises(IndexError):
        layers[500]


def test_distinct_graphs_have_the_weight_of_all_their_repeats(sample: DagSample) -> None:
    distinct = sample.unique()
    assert len(np.unique(distinct.parents, axis=0)) == len(distinct)
    assert distinct.weights.sum() == pytest.approx(1.0)
    assert (np.diff(distinct.weights) <= 0.0).all()
    assert not distinct.independent
    feature = "Smoking ~> Pressure"
    expected = sample.weights[sample_holds(sample, feature)].sum()
    assert distinct.probability(feature).value == pytest.approx(expected, abs=1e-12)
    np.testing.assert_allclose(distinct.edge_frequencies(), sample.edge_frequencies(), rtol=0, atol=1e-12)
    assert distinct.unique() == distinct


def sample_holds(sample: DagSample, text: str) -> np.ndarray:
    source, target = text.split(" ~> ")
    return np.array([nx.has_path(graph, source, target) for graph in sample])


@pytest.mark.parametrize("estimator", ["counting", "distinct", "linear-extensions"])
def test_rows_that_are_no_random_draws_are_not_weighed_as_such(estimator: str, models: dict[str, DagPosterior]) -> None:
    """Distinct graphs, or rows picked for what is in them: counting them would say 0.54 where the truth is 0.73."""
    method = "linear-extensions" if estimator == "linear-extensions" else "exact-layers"
    drawn = models[method].sample(738, seed=3)
    for chosen in (drawn.unique(), drawn[[0, 1, 2]]):
        with pytest.raises(InputError):
            chosen.probability("Smoking -> Pressure", estimator=estimator)
        with pytest.raises(InputError):
            chosen.edge_frequencies(estimator)


# Joining and comparing


def test_samples_of_one_posterior_can_be_joined(sample: DagSample, models: dict[str, DagPosterior]) -> None:
    other = models[sample.method].sample(300, seed=2)
    both = sample + other
    assert len(both) == 800
    assert (both.parents == np.concatenate([sample.parents, other.parents])).all()
    assert both.weights.sum() == pytest.approx(1.0)
    assert both.independent == sample.independent
    assert both.provenance["seeds"] == [1, 2]
    assert both.guarantee is None
    assert (both + models[sample.method].sample(5, seed=3)).provenance["seeds"] == [1, 2, 3]


def test_the_same_draws_are_not_counted_twice(models: dict[str, DagPosterior], said: Said) -> None:
    one, other = models["dds"].sample(30, seed=1), models["dds"].sample(40, seed=2)
    with said.raises(InputError):
        one + models["dds"].sample(50, seed=1)
    for twice in (lambda: (one + other) + one, lambda: one + (other + one), lambda: (one + other) + (other + one)):
        with pytest.raises(InputError, match="seed"):
            twice()


def test_samples_without_a_given_seed_can_be_joined(models: dict[str, DagPosterior]) -> None:
    assert len(models["dds"].sample(3) + models["dds"].sample(4)) == 7


def test_samples_of_different_posteriors_cannot_be_joined(models: dict[str, DagPosterior], said: Said) -> None:
    one = models["exact-layers"].sample(5, seed=1)
    with said.raises(InputError):
        one + models["dds"].sample(5, seed=2)
    with said.raises(InputError):
        one + models["linear-extensions"].sample(5, seed=2)
    with said.raises(InputError):
        one.unique() + models["exact-layers"].sample(5, seed=2).unique()
    other = pd.DataFrame(np.random.default_rng(0).integers(0, 2, (30, 6)), columns=list(one.names))
    with pytest.raises(InputError, match="different data"):
        one + DagPosterior(prior="uniform", score="bdeu").fit(other).sample(5, seed=2)
    with pytest.raises(TypeError):
        one + 3


@pytest.mark.parametrize(
    "settings",
    [{"score": "bic"}, {"prior": "indegree"}, {"max_parents": 2}, {"forbidden": [("Smoking", "Pressure")]}],
    ids=lambda settings: next(iter(settings)),
)
def test_samples_under_other_assumptions_cannot_be_joined(settings: dict[str, Any], layers: DagSample) -> None:
    other = fitted("exact-layers", **settings).sample(5, seed=2)
    with pytest.raises(InputError):
        layers + other


def test_equality_is_of_content(models: dict[str, DagPosterior], sample: DagSample) -> None:
    model = models[sample.method]
    assert sample == model.sample(500, seed=1)
    assert sample != model.sample(500, seed=2)
    assert sample != model.sample(499, seed=1)
    assert sample != sample.unique()
    assert sample != "a sample"
    with pytest.raises(TypeError):
        hash(sample)


# Questions


def test_frequencies_of_edges_are_weighted_sums(sample: DagSample) -> None:
    frequencies = sample.edge_frequencies()
    assert isinstance(frequencies, pd.DataFrame)
    assert (frequencies.index.name, frequencies.columns.name) == ("parent", "child")
    assert tuple(frequencies.index) == tuple(frequencies.columns) == sample.names
    np.testing.assert_allclose(frequencies, np.tensordot(sample.weights, sample.adjacency(), 1), rtol=0, atol=1e-12)


@pytest.mark.parametrize("relation", ["->", "~>", "~>{2}", "--"])
def test_a_matrix_has_what_each_pair_has_by_itself(relation: str, sample: DagSample) -> None:
    matrix = sample.probability_matrix(relation)
    assert (matrix.index.name, matrix.columns.name) == ("from", "to")
    assert not matrix.to_numpy().diagonal().any()
    for source, target in (("Smoking", "Pressure"), ("Family", "M. Work"), ("Proteins", "Smoking")):
        expected = sample.probability(f'"{source}" {relation} "{target}"').value
        # With the evidence known, the estimate of a single statement keeps within what the drawn graphs prove.
        assert matrix.loc[source, target] == pytest.approx(
            expected, abs=1e-9 if sample.estimator != "distinct" else 0.05
        )


@pytest.mark.parametrize("relation", ["=>", "<-", "~>{0}", "~>{x}", "", None, 3])
def test_a_relation_that_is_none_is_refused(relation: Any, layers: DagSample, said: Said) -> None:
    with said.raises(InputError):
        layers.probability_matrix(relation)


def test_statements_come_as_text_objects_and_functions(layers: DagSample) -> None:
    def smoking_to_pressure(graph: nx.DiGraph) -> bool:
        return graph.has_edge("Smoking", "Pressure")

    asked = ["Smoking -> Pressure", edge("Smoking", "Pressure"), smoking_to_pressure]
    several = layers.probability(asked)
    assert len({estimate.value for estimate in several}) == 1
    assert facts(several) == facts([layers.probability(one) for one in asked])  # type: ignore[call-overload]
    assert layers.probability([]) == []


def test_several_questions_are_answered_as_each_alone(sample: DagSample) -> None:
    asked: list[Any] = [
        "Smoking ~> Pressure",
        "P(Smoking -> Family | Smoking ~> Pressure)",
        path("Smoking", "Pressure") & ~edge("Smoking", "Family"),
        "P(Family -> Smoking | Proteins -> Smoking)",
        "Smoking _||_ Family",
    ]
    assert facts(sample.probability(asked)) == facts([sample.probability(one) for one in asked])


def test_a_condition_is_a_share(layers: DagSample) -> None:
    found = layers.probability("Smoking -> Pressure", given="Smoking ~> Family", estimator="counting")
    names = list(layers.names)
    graphs = [naive_features.graph_of(row, names) for row in layers.parents]
    condition = [graph for graph in graphs if nx.has_path(graph, "Smoking", "Family")]
    expected = sum(graph.has_edge("Smoking", "Pressure") for graph in condition) / len(condition)
    assert found.value == pytest.approx(expected)
    assert found.samples == len(condition)
    assert facts(layers.probability("P(Smoking -> Pressure | Smoking ~> Family)", estimator="counting")) == facts(found)


def test_two_conditions_are_one_too_many(layers: DagSample) -> None:
    with pytest.raises(InputError, match="two conditions"):
        layers.probability("P(Smoking -> Family | Smoking ~> Pressure)", given="Smoking -> Pressure")


def test_a_condition_that_never_occurred_is_said_to_have_not(sample: DagSample) -> None:
    found = sample.probability("Smoking -> Pressure", given="Smoking ~> Family & Family ~> Smoking")
    assert math.isnan(found.value)
    assert (found.lower, found.upper, found.rule) == (0.0, 1.0, "the condition never occurred")


def test_every_estimator_gives_about_the_same_or_says_why_it_cannot(
    sample: DagSample, models: dict[str, DagPosterior]
) -> None:
    truth = models["dds" if sample.method == "dds" else "exact-layers"].probability("Smoking -> Pressure").value
    for estimator in ESTIMATORS:
        if estimator in METHODS[sample.method]:
            found = sample.probability("Smoking -> Pressure", estimator=estimator, confidence=1.0 - 1e-7)
            assert found.lower <= truth <= found.upper
            assert found.upper - found.lower < 0.5
            weights = sample.edge_frequencies(estimator).loc["Smoking", "Pressure"]
            assert weights == pytest.approx(truth, abs=0.15)
        else:
            with pytest.raises(InputError, match=r"Use estimator="):
                sample.probability("Smoking -> Pressure", estimator=estimator)
            with pytest.raises(InputError, match=r"Use estimator="):
                sample.edge_frequencies(estimator)


@pytest.mark.parametrize("estimator", ["best", None, 1, "given weights"])
def test_an_estimator_that_is_none_is_refused_everywhere(estimator: Any, layers: DagSample, said: Said) -> None:
    for asked in (layers, layers.unique()):
        with said.raises(InputError):
            asked.probability("Smoking -> Pressure", estimator=estimator)
        with said.raises(InputError):
            asked.edge_frequencies(estimator)


@pytest.mark.parametrize("confidence", [0.0, 1.0, 95, math.nan, "0.9"])
def test_what_is_no_confidence_is_refused(confidence: Any, layers: DagSample, said: Said) -> None:
    with said.raises(InputError):
        layers.probability("Smoking -> Pressure", confidence=confidence)


def test_effective_samples_and_covered_mass(sample: DagSample, models: dict[str, DagPosterior]) -> None:
    assert sample.effective_samples > 50
    if sample.method == "dds":
        assert sample.effective_samples == pytest.approx(500)
        assert math.isnan(sample.covered)
    else:
        distinct = sample.unique()
        mass = np.exp(distinct.log_joint - models["exact-layers"].log_evidence_).sum()
        assert sample.covered == pytest.approx(mass)
        assert 0.5 < sample.covered <= 1.0
    assert json.loads(json.dumps(sample.summary(), allow_nan=False))["method"] == sample.method


def test_the_text_says_what_the_sample_is(sample: DagSample) -> None:
    kind = "independent graphs" if sample.method in ("exact-layers", "dds") else "graphs"
    modularity = "order" if sample.method == "dds" else "structure"
    assert repr(sample) == f"DagSample of 500 {kind} over 6 variables ({sample.method}, {modularity}-modular)"
    assert "<table" in sample._repr_html_()


def test_names_are_escaped_in_html() -> None:
    sample = by_hand([[0, 1, 0]], names=("<script>alert(1)</script>", "B", "C"))
    assert "<script>" not in sample._repr_html_()


# Asked for by precision


@pytest.mark.parametrize("method", ["exact-layers", "dds"])
def test_a_sample_of_a_given_precision_answers_by_hoeffding(method: str, models: dict[str, DagPosterior]) -> None:
    """The rate of false alarms is that of Hoeffding's inequality at four times the precision, below 1e-12."""
    drawn = models[method].sample(precision=0.05, confidence=0.95, seed=1)
    assert len(drawn) == 738
    found = drawn.probability("Smoking -> Pressure")
    assert (found.rule, found.confidence, found.samples) == ("Hoeffding", 0.95, 738)
    assert found.upper - found.lower == pytest.approx(0.1)
    assert found.value == drawn.adjacency()[:, 0, 3].mean()
    assert found.value == pytest.approx(models[method].probability("Smoking -> Pressure").value, abs=0.2)
    assert drawn.probability("Smoking -> Pressure", given="Smoking ~> Family").rule != "Hoeffding"
    assert drawn[:100].probability("Smoking -> Pressure").rule != "Hoeffding"


@pytest.mark.parametrize("method", ["exact-layers", "dds"])
def test_all_ways_to_ask_a_sample_of_a_given_precision_agree(method: str, models: dict[str, DagPosterior]) -> None:
    drawn = models[method].sample(precision=0.05, seed=1)
    expected = drawn.probability("Smoking -> Pressure").value
    assert drawn.weights[drawn.adjacency()[:, 0, 3]].sum() == pytest.approx(expected)
    assert drawn.edge_frequencies().loc["Smoking", "Pressure"] == pytest.approx(expected)
    assert drawn.probability_matrix("->").loc["Smoking", "Pressure"] == pytest.approx(expected)


# Kept in a file


def test_a_sample_comes_back_from_its_file_as_it_was(sample: DagSample, tmp_path: Path) -> None:
    sample.save(tmp_path / "graphs.dagpost")
    found = DagSample.load(tmp_path / "graphs.dagpost")
    assert found == sample
    assert found.parents.dtype == sample.parents.dtype
    assert found.provenance == sample.provenance
    assert found.log_evidence == pytest.approx(sample.log_evidence)
    asked = ["Smoking ~> Pressure", "P(Smoking -> Family | Smoking ~> Pressure)"]
    assert facts(found.probability(asked)) == facts(sample.probability(asked))


def test_a_guarantee_and_given_weights_outlive_the_file(models: dict[str, DagPosterior], tmp_path: Path) -> None:
    drawn = models["exact-layers"].sample(precision=0.05, seed=1)
    for original in (drawn, drawn.unique(), drawn[[1, 2]]):
        original.save(tmp_path / "x")
        found = DagSample.load(tmp_path / "x")
        assert found == original
        assert found.guarantee == original.guarantee
        assert facts(found.probability("Smoking ~> Pressure")) == facts(original.probability("Smoking ~> Pressure"))


def test_a_sample_knows_where_it_comes_from(models: dict[str, DagPosterior]) -> None:
    about = models["exact-layers"].sample(3, seed=7).provenance
    assert about["seed"] == 7
    assert about["observations"] == 1841
    assert about["score"] == {"kind": "BDeu", "equivalent_sample_size": 1.0}
    assert len(about["data_fingerprint"]) == 64


def test_a_seed_of_numpy_can_be_kept(models: dict[str, DagPosterior], tmp_path: Path) -> None:
    drawn = models["exact-layers"].sample(3, seed=np.int64(7))
    assert drawn == models["exact-layers"].sample(3, seed=7)
    drawn.save(tmp_path / "x")
    assert DagSample.load(tmp_path / "x") == drawn
