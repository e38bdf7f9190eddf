"""Several kinds of models averaged with fixed weights, against every graph of up to four nodes under each of them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.naive import committee as twin
from tests.naive import posterior as naive
from tests.naive.density import allowed_dags
from tests.property.test_averaged_density import holds_edge, holds_path
from tests.statistical.test_samplers import assert_counts_fit, counts_of_graphs
from tests.tools.wording import Said

from dagpost import (
    Additive,
    BDe,
    BDeu,
    BGe,
    Committee,
    ConditionalGaussian,
    DagPosterior,
    EdgePrior,
    InputError,
    LatentGaussian,
    Recipe,
    Score,
    local_scores,
)
from dagpost.errors import NoGraphError
from dagpost.priors.edge import densities

TOLERANCE = 1e-9
NAMES = ("A", "B", "C", "D")
NUMBERS = (BGe(), BDeu(5, bins=4))
LEVELS = (BDeu(2), BDe(0.5))


def numbers(nodes: int, rows: int, seed: int) -> pd.DataFrame:
    """Columns of numbers, some of which depend on others in straight lines or not."""
    generator = np.random.default_rng(seed)
    columns = [generator.normal(size=rows) for _ in range(nodes)]
    for child in range(1, nodes):
        own = generator.choice([0.0, 1.0, 2.0])
        columns[child] += own * (columns[child - 1] if seed % 2 else np.cos(2.0 * columns[child - 1]))
    return pd.DataFrame(dict(zip(NAMES, columns, strict=False)))


def levels(nodes: int, rows: int, seed: int) -> pd.DataFrame:
    """The same as two levels, which both occur."""
    return numbers(nodes, rows, seed).apply(lambda column: np.where(column > column.median(), "high", "low"))


def expected_of(
    frame: pd.DataFrame,
    members: tuple[Score, ...],
    weights: tuple[float, ...],
    modularity: str,
    averaged: tuple[float, ...],
    max_parents: int = 3,
) -> twin.Members:
    limit = min(max_parents, len(frame.columns) - 1)
    scores = [naive.log_joint_of_every_dag(local_scores(frame, own, limit).values, limit) for own in members]
    allowed = allowed_dags(len(frame.columns), limit)
    return twin.Members(scores, averaged, weights, allowed, orders=modularity == "order")


cases = st.tuples(
    st.integers(2, 4),
    st.integers(6, 60),
    st.integers(0, 10_000),
    st.sampled_from([(numbers, NUMBERS), (levels, LEVELS)]),
    st.sampled_from([(1.0, 1.0), (0.9, 0.1), (2.0, 6.0)]),
    st.booleans(),
    st.sampled_from(["structure", "order"]),
)


@settings(max_examples=40, deadline=None)
@given(case=cases)
def test_edges_paths_families_statements_and_weights_match_enumeration(case: Any) -> None:
    nodes, rows, seed, (make, members), weights, averaged, modularity = case
    frame, grid = make(nodes, rows, seed), densities(nodes) if averaged else (0.2,)
    prior = EdgePrior("average" if averaged else 0.2)
    model = DagPosterior(Committee(members, weights), prior=prior, modularity=modularity).fit(frame)
    expected = expected_of(frame, members, weights, modularity, grid)
    assert model.exact_
    assert np.isnan(model.log_evidence_)
    # However much better one kind explains the table.
    by_kind = model.mixture_weights_.groupby(level="kind of model", sort=False).sum()
    assert by_kind.to_numpy() == pytest.approx(expected.weights, abs=1e-12)
    assert model.mixture_weights_.to_numpy() == pytest.approx(expected.shares, abs=TOLERANCE)
    assert model.edge_probabilities_.to_numpy() == pytest.approx(expected.edges(expected.graphs), abs=TOLERANCE)
    for own, graphs in zip(model.fitted_.results.edges_by_kind, expected.each, strict=True):
        assert own == pytest.approx(expected.edges(graphs), abs=1e-8)
    paths = model.probability_matrix("~>").to_numpy()
    for parent in range(nodes):
        for child in range(nodes):
            if parent != child:
                own = expected.probability(holds_path(nodes, parent, child))
                assert paths[parent, child] == pytest.approx(own, abs=TOLERANCE)
    for child in range(nodes):
        for parents, found in model.family_probabilities(NAMES[child]).items():
            mask = naive.mask_of([NAMES.index(name) for name in parents])  # type: ignore[attr-defined]
            truth = naive.parents_in_every_dag(nodes)[:, child] == mask
            assert found == pytest.approx(expected.probability(truth), abs=TOLERANCE)


@settings(max_examples=25, deadline=None)
@given(case=cases)
def test_conditions_are_ratios_of_weighted_sums(case: Any) -> None:
    _, rows, seed, (make, members), weights, averaged, modularity = case
    frame, grid = make(4, rows, seed), densities(4) if averaged else (0.2,)
    prior = EdgePrior("average" if averaged else 0.2)
    model = DagPosterior(Committee(members, weights), prior=prior, modularity=modularity).fit(frame)
    expected = expected_of(frame, members, weights, modularity, grid)
    a_b, b_c, c_d = (holds_edge(4, *pair) for pair in ((0, 1), (1, 2), (2, 3)))
    assert model.probability("A -> B & B -> C").value == pytest.approx(expected.probability(a_b & b_c), abs=TOLERANCE)
    for text, given_text, holds, among in (
        ("A -> B", "!(B -> C)", a_b, ~b_c),
        ("C -> D", "A -- B", c_d, a_b | holds_edge(4, 1, 0)),
        ("A ~> D", "B -> C", holds_path(4, 0, 3), b_c),
    ):
        if not expected.graphs[among].sum() > 1e-12:
            continue
        truth = expected.probability(holds, among)
        under = model.given(given_text)
        assert np.isnan(under.log_evidence_)
        assert float(under.condition_.probability) == pytest.approx(expected.graphs[among].sum(), rel=1e-7)
        assert under.probability(text).value == pytest.approx(truth, abs=1e-8)
        found = model.probability(f"P({text} | {given_text})")
        if found.rule == "exact":
            assert found.value == pytest.approx(truth, abs=1e-8)
        each = [expected.edges(graphs * among) / graphs[among].sum() for graphs in expected.each]
        assert under.fitted_.results.edges_by_kind == pytest.approx(np.array(each), abs=1e-6)


@settings(max_examples=15, deadline=None)
@given(case=cases)
def test_best_graphs_and_probabilities_of_draws_match_enumeration(case: Any) -> None:
    nodes, rows, seed, (make, members), weights, averaged, modularity = case
    frame, grid = make(nodes, rows, seed), densities(nodes) if averaged else (0.2,)
    prior = EdgePrior("average" if averaged else 0.2)
    model = DagPosterior(Committee(members, weights), prior=prior, modularity=modularity, seed=1).fit(frame)
    expected = expected_of(frame, members, weights, modularity, grid)
    times = np.array(list(naive.orders_of_every_dag(nodes).values())) if modularity == "order" else 1.0
    once = expected.graphs / times
    best = model.best(3)
    assert np.exp(best.log_joint) == pytest.approx(np.sort(once)[::-1][: len(best)], rel=1e-7)
    place = {tuple(dag): number for number, dag in enumerate(naive.parents_in_every_dag(nodes).tolist())}
    sample = model.sample(50, seed=2)
    own = [place[tuple(dag)] for dag in sample.parents.tolist()]
    assert np.exp(sample.log_joint) == pytest.approx(once[own], rel=1e-7)
    if modularity == "structure":
        # Sums of graphs are probabilities already.
        assert sample.log_evidence == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize(("modularity", "method"), [("structure", "auto"), ("order", "auto"), ("order", "dds")])
def test_graphs_are_drawn_as_often_as_they_are_probable(modularity: Any, method: str) -> None:
    """False-alarm rate at most a few times 1e-7."""
    frame, weights = numbers(4, 60, 2), (0.7, 0.3)
    model = DagPosterior(Committee(NUMBERS, weights), modularity=modularity, method=method).fit(frame)
    expected = expected_of(frame, NUMBERS, weights, modularity, densities(4))
    # The kinds must disagree, or nothing is tested.
    assert np.abs(expected.each[0] - expected.each[1]).sum() > 0.3
    assert_counts_fit(counts_of_graphs(model.sample(40_000, seed=1).parents, 4), expected.graphs)


def test_weighted_graphs_are_those_of_the_weighted_sum() -> None:
    frame, weights = numbers(4, 60, 2), (0.7, 0.3)
    model = DagPosterior(Committee(NUMBERS, weights), method="linear-extensions").fit(frame)
    expected = expected_of(frame, NUMBERS, weights, "structure", densities(4))
    sample = model.sample(2_000, seed=1)
    place = {tuple(dag): number for number, dag in enumerate(naive.parents_in_every_dag(4).tolist())}
    own = np.unique([place[tuple(dag)] for dag in sample.parents.tolist()])
    assert sample.covered == pytest.approx(expected.graphs[own].sum(), abs=1e-8)


def test_methods_with_a_target_of_their_own_weigh_kinds_over_their_graphs() -> None:
    frame, weights = numbers(4, 60, 2), (0.7, 0.3)
    model = DagPosterior(Committee(NUMBERS, weights), method="trees").fit(frame)
    alone = [DagPosterior(own, method="trees").fit(frame).edge_probabilities_.to_numpy() for own in NUMBERS]
    expected = 0.7 * alone[0] + 0.3 * alone[1]
    assert model.edge_probabilities_.to_numpy() == pytest.approx(expected, abs=1e-9)


def test_by_components_each_kind_has_its_weight_of_the_whole() -> None:
    frame, tiers = numbers(4, 50, 4), [["A", "B"], ["C", "D"]]
    model = DagPosterior(Committee(NUMBERS), tiers=tiers).fit(frame)
    alone = [DagPosterior(own, tiers=tiers).fit(frame).edge_probabilities_.to_numpy() for own in NUMBERS]
    assert model.edge_probabilities_.to_numpy() == pytest.approx((alone[0] + alone[1]) / 2, abs=1e-9)


def test_a_given_kind_is_the_model_of_that_kind(said: Said) -> None:
    frame = numbers(4, 50, 3)
    model = DagPosterior(Committee(NUMBERS, (3, 1))).fit(frame)
    for label, own, share in zip(("linear (BGe)", "levels (4 bins)"), NUMBERS, (0.75, 0.25), strict=True):
        under = model.given("!(A -> B)", setting={"kind of model": label})
        alone = DagPosterior(own).fit(frame).given("!(A -> B)")
        assert under.edge_probabilities_.to_numpy() == pytest.approx(alone.edge_probabilities_.to_numpy(), abs=1e-8)
        both = model.given(setting={"kind of model": label})
        assert float(both.condition_.probability) == pytest.approx(share, abs=1e-12)
        assert f"kind of model = {label}" in both.condition_.words
    with said.raises(InputError):
        model.given(setting={"kind of model": "additive"})
    with pytest.raises(NoGraphError):
        DagPosterior(Committee(NUMBERS), required=["A -> B"]).fit(frame).given("!(A -> B)")


def test_a_file_gives_the_same_answers(tmp_path: Any) -> None:
    model = DagPosterior(Committee(NUMBERS, (3, 1)), seed=1).fit(numbers(4, 80, 6))
    assumed = model.given("A -> B", setting={"kind of model": "linear (BGe)"})
    assumed.save(tmp_path / "assumed.dagpost")
    model.save(tmp_path / "model.dagpost")
    again = DagPosterior.load(tmp_path / "model.dagpost")
    assert again.score == model.score
    assert np.isnan(again.log_evidence_)
    assert (again.mixture_weights_ == model.mixture_weights_).all()
    assert np.array_equal(again.fitted_.results.edges_by_kind, model.fitted_.results.edges_by_kind)
    text = "A -> B & C -> D"
    assert again.probability(text).value == pytest.approx(model.probability(text).value, abs=1e-12)
    assert (again.sample(50, seed=3).parents == model.sample(50, seed=3).parents).all()
    loaded = DagPosterior.load(tmp_path / "assumed.dagpost")
    assert loaded.condition_.words == assumed.condition_.words
    assert (loaded.edge_probabilities_ == assumed.edge_probabilities_).all(axis=None)
    sample = model.sample(20, seed=4)
    sample.save(tmp_path / "sample.npz")
    assert type(sample).load(tmp_path / "sample.npz").log_evidence == sample.log_evidence


def test_what_a_committee_cannot_do_is_refused_with_a_way_out(said: Said) -> None:
    frame = numbers(4, 50, 3)
    for method in ("structure-mcmc", "bootstrap"):
        with said.raises(InputError):
            DagPosterior(Committee(NUMBERS), prior="uniform", method=method).fit(frame)
    wide = pd.DataFrame(np.random.default_rng(1).normal(size=(30, 26)))
    with pytest.raises(InputError, match=r"26 variables"):
        DagPosterior(Committee(NUMBERS), max_parents=1, prior="uniform").fit(wide)
    gaps = frame.copy()
    gaps.iloc[3, 1] = np.nan
    with said.raises(InputError):
        DagPosterior(Committee(NUMBERS)).fit(gaps)
    with said.raises(InputError):
        local_scores(frame, Committee(NUMBERS))
    with said.raises(InputError):
        DagPosterior(Committee(NUMBERS)).fit(frame.assign(D=list("abcde") * 10))
    with said.raises(InputError):
        DagPosterior(Committee([BGe(), BDeu(5)])).fit(frame)
    for members in ([BGe(), BGe()], ["bdeu:average"], [BDeu("average"), BGe()], 3):
        with pytest.raises(InputError):
            Committee(members)
    hard = ([math.nan, 1.0], [math.inf, 1.0], [1e-320, 1e300], [10**400, 1])
    for weights in ([1.0], [1.0, 0.0], "half", [1.0, -1.0], np.ones((2, 2)), *hard):
        with pytest.raises(InputError, match="weights"):
            Committee(NUMBERS, weights)
    assert Committee(NUMBERS, list(np.array([1, 3]))).shares == (0.25, 0.75)


@pytest.mark.parametrize("score", [Committee(NUMBERS), Committee([Additive(), BGe()]), Additive()])
@pytest.mark.parametrize("rows", [True, False])
def test_values_and_effects_come_with_the_table_and_from_files_without_rows(
    score: Score, rows: bool, tmp_path: Any
) -> None:
    frame = numbers(3, 50, 3)
    model = DagPosterior(score, prior="uniform", seed=1).fit(frame)
    model.save(tmp_path / "m", rows=rows)
    loaded = DagPosterior.load(tmp_path / "m")
    assert (loaded.fitted_.table is None) == (not rows)
    assert loaded.score_samples(frame) == pytest.approx(model.score_samples(frame), abs=1e-3)
    for one in (model, loaded, model.given("A -> B")):
        assert np.isfinite(one.score_samples(frame)).all()
        predicted = one.predict_number(frame.drop(columns="A"), target="A")
        assert (predicted["lower"] < predicted["upper"]).all()
        expected = one.value("A", {"B": 1.0}).mean
        assert predicted["lower"].min() < expected < predicted["upper"].max()
        assert 0.0 <= one.effect("A", "B", draws=50, seed=1).zero_probability <= 1.0
        for ask in (one.to_bayesian_network, one.direct_effects, one.latent_correlations):
            with pytest.raises(InputError, match=r"effects, predictions and values|latent|rows"):
                ask()


def test_a_recipe_that_cuts_a_column_cuts_it_for_every_member() -> None:
    frame = numbers(3, 60, 3)
    model = DagPosterior(Committee([BDeu(5, bins=4), BDeu(5, bins=8)]), recipe=Recipe(cut={"A": 2})).fit(frame)
    assert [len(own or ()) for own in model.fitted_.data.levels] == [2, 0, 0]
    assert model.mixture_weights_.index.get_level_values(0).unique().tolist() == ["levels (4 bins)", "levels (8 bins)"]


def test_members_of_one_kind_are_called_in_full_and_a_latent_gaussian_by_its_own_name() -> None:
    assert Committee([BGe(), LatentGaussian()]).labels == ("linear (BGe)", "latent Gaussian")
    assert Committee([BDeu(1), Additive(), BDeu(5)]).labels == (repr(BDeu(1)), "additive", repr(BDeu(5)))


@pytest.mark.parametrize("other", [LatentGaussian(), ConditionalGaussian()])
def test_other_linear_models_are_members_beside_numbers_alone(other: Score) -> None:
    frame = numbers(4, 40, 3)
    members = (NUMBERS[1], other)
    model = DagPosterior(Committee(members, (3, 1))).fit(frame)
    alone = [DagPosterior(own).fit(frame).edge_probabilities_.to_numpy() for own in members]
    assert np.abs(alone[0] - alone[1]).max() > 1e-3
    assert model.edge_probabilities_.to_numpy() == pytest.approx(0.75 * alone[0] + 0.25 * alone[1], abs=1e-9)


@pytest.mark.parametrize(
    ("other", "why"),
    [
        (LatentGaussian(), "latent Gaussian draws numbers that are not known"),
        (ConditionalGaussian(), "conditional-gaussian leaves out edges from numbers to levels"),
    ],
)
def test_members_that_do_not_weigh_every_graph_are_refused_with_the_reason(other: Score, why: str) -> None:
    frame = numbers(3, 40, 3)
    frame["sex"] = np.where(frame["A"] > 0.0, "f", "m")
    with pytest.raises(InputError, match=f"{why}\\. Leave it out, or fit it by itself\\."):
        DagPosterior(Committee([Additive(), other])).fit(frame)


def test_sums_that_would_take_too_long_are_refused_before_they_begin(
    monkeypatch: pytest.MonkeyPatch, said: Said
) -> None:
    from dagpost.posterior.mixture import JoinedWorkspace

    monkeypatch.setattr(JoinedWorkspace, "structure_is_affordable", lambda _: False)
    frame = numbers(4, 50, 3)
    for method in ("auto", "linear-extensions"):
        model = DagPosterior(Committee(NUMBERS), method=method)
        for ask in (model.fit, model.plan):
            with said.raises(InputError):
                ask(frame)
    # What is asked for by name is made; and orders are summed quickly.
    assert DagPosterior(Committee(NUMBERS), method="exact-layers").fit(frame).exact_
    assert DagPosterior(Committee(NUMBERS), modularity="order").fit(frame).exact_
