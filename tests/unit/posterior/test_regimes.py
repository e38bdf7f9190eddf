"""Regimes with unknown targets: against enumeration, what must hold whatever the data, and what is refused."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.naive import regimes as naive
from tests.tools.wording import Said

from dagpost import (
    BDeu,
    CustomPrior,
    DagPosterior,
    DagpostWarning,
    EdgePrior,
    InputError,
    Recipe,
    Regimes,
)
from dagpost.data.table import Table
from dagpost.engines import ThreadEngine
from dagpost.posterior.study import with_regimes
from dagpost.priors import log_prior, log_prior_of_lists
from dagpost.priors.constraints import Constraints
from dagpost.priors.regimes import RegimePrior
from dagpost.priors.study import Study
from dagpost.scores import local_scores, table_for
from dagpost.scores.allowed_scores import score_allowed


def random_frame(seed: int, columns: int, regimes: int, rows: int = 60) -> pd.DataFrame:
    """Columns that depend on the first, which the last regime changes."""
    generator = np.random.default_rng(seed)
    names = [f"r{regime}" for regime in range(regimes + 1)]
    which = np.array([*names, *generator.choice(names, rows - len(names))])
    first = np.where(which == names[-1], generator.random(rows) < 0.8, generator.random(rows) < 0.4).astype(int)
    frame = pd.DataFrame({"v0": first})
    for place in range(1, columns):
        frame[f"v{place}"] = np.where(generator.random(rows) < 0.6, first, generator.integers(0, 2 + place % 2, rows))
    return frame.assign(regime=which)


def fitted(frame: pd.DataFrame, **changed: object) -> DagPosterior:
    given = {"score": "bdeu", "regimes": Regimes("regime", reference="r0"), "seed": 1, "samples": 300, **changed}
    return DagPosterior(**{"prior": "uniform", **given}).fit(frame)


@pytest.fixture(scope="module")
def model() -> DagPosterior:
    """Three variables, of which the second regime changes the first."""
    return fitted(random_frame(1, 3, 2, rows=400))


@settings(max_examples=8)
@given(
    seed=st.integers(0, 2**32 - 1),
    columns=st.integers(2, 3),
    regimes=st.integers(1, 2),
    expected=st.sampled_from([0.3, 1.0, 1.7]),
    max_parents=st.integers(1, 2),
    max_regimes=st.sampled_from([None, 1]),
)
def test_the_posterior_matches_enumeration(
    seed: int, columns: int, regimes: int, expected: float, max_parents: int, max_regimes: int | None
) -> None:
    frame = random_frame(seed, columns, regimes)
    settings = Regimes("regime", "r0", expected, max_regimes)
    model = fitted(frame, score=BDeu(2.0), regimes=settings, max_parents=max_parents)
    table = table_for("bdeu", frame, regimes=settings)
    most = regimes if max_regimes is None else max_regimes
    score = partial(naive.bdeu, size=2.0)
    truth = naive.by_enumeration(table, score, expected / columns, min(max_parents, columns - 1), most)
    assert model.exact_
    assert model.log_evidence_ == pytest.approx(truth.log_evidence, abs=1e-9)
    np.testing.assert_allclose(model.regime_effects().probabilities, truth.targets, atol=1e-9)
    edges = model.edge_probabilities_.to_numpy()[:columns, :columns]
    np.testing.assert_allclose(edges, truth.edges, atol=1e-9)


@pytest.mark.parametrize("prior", ["uniform", "indegree", EdgePrior(0.3), CustomPrior(lambda _, own: -1.0 * len(own))])
def test_the_prior_of_lists_is_that_of_all_families(prior: object) -> None:
    table = table_for("bdeu", random_frame(3, 4, 3), regimes=Regimes("regime", "r0"))
    asked = DagPosterior(max_parents=2, regimes=Regimes("regime", "r0", 0.5, 2), prior=prior)
    from dagpost.priors import resolve_prior

    study = Study(table, BDeu(), resolve_prior(prior), Constraints(forbidden="v1 -> v0"), 2)
    limited, _, own, rules, most = with_regimes(asked, study)
    lists = rules.parent_lists(table.names, most)
    of_lists = log_prior_of_lists(table.names, lists, own, rules)
    of_all = log_prior(table.names, most, own, rules)
    scores = score_allowed(limited, BDeu(), lists, engine=ThreadEngine(1), modelled=np.arange(7) < 4)
    every = local_scores(table, BDeu(), most)
    for node in range(4):
        for number in range(lists.counts[node]):
            parents = lists.parents(node, number)
            place = local_number(len(table.names), node, parents)
            assert of_lists[node][number] == pytest.approx(of_all[node, place], abs=1e-12)
            if of_lists[node][number] > -np.inf:
                # Where the prior leaves no weight, nothing need be scored.
                assert scores[node][number] == pytest.approx(every.score(node, parents), abs=1e-9)


def local_number(nodes: int, node: int, parents: tuple[int, ...]) -> int:
    """The number of a parent set where everyone else may be a parent."""
    from dagpost.families.parent_lists import all_others

    return all_others(nodes, nodes - 1).number(node, parents)


def test_a_regime_that_did_nothing_changed_nothing() -> None:
    frame = random_frame(5, 3, 0, rows=300)
    twice = pd.concat([frame.assign(regime="control"), frame.assign(regime="copy")])
    effects = fitted(twice, regimes=Regimes("regime", "control")).regime_effects()
    assert effects.table.loc["copy"].max() < 0.1
    assert "copy probably changed none" in repr(effects)


def test_what_a_regime_changed_is_found(model: DagPosterior) -> None:
    effects = model.regime_effects()
    assert effects.reference == "r0"
    assert effects.regimes == ("r1", "r2")
    assert effects.table.loc["r2", "v0"] > 0.99
    assert effects.table.loc["r1"].max() < 0.5
    assert effects.pairs.iloc[0].tolist()[:2] == ["r2", "v0"]
    assert effects.expected["r2"] == pytest.approx(effects.table.loc["r2"].sum())
    assert effects.sentences()[1].startswith("r2 changed v0 (1.00)")


def test_the_regimes_are_not_variables_and_their_indicators_have_no_parents(model: DagPosterior) -> None:
    assert model.names_ == ("v0", "v1", "v2", "regime=r1", "regime=r2")
    edges = model.edge_probabilities_
    assert (edges[["regime=r1", "regime=r2"]].to_numpy() == 0.0).all()
    assert float(model.probability('"regime=r2" -> v0')) == pytest.approx(edges.loc["regime=r2", "v0"], abs=1e-9)
    assert list(model.feature_names_in_) == ["v0", "v1", "v2", "regime"]


def test_a_file_keeps_the_regimes(model: DagPosterior, tmp_path: Path) -> None:
    model.save(tmp_path / "model.dagpost", rows=True)
    again = DagPosterior.load(tmp_path / "model.dagpost")
    assert again.regimes == Regimes("regime", "r0")
    assert list(again.exogenous) == []
    assert repr(again.regime_effects()) == repr(model.regime_effects())
    table = again.fitted_.table
    assert isinstance(table, Table)
    assert table.regimes == ("regime=r1", "regime=r2")
    assert model.own_sample().provenance["regimes"]["reference"] == "r0"


def test_known_and_unknown_targets_go_together() -> None:
    frame = random_frame(1, 3, 2, rows=400)
    known = fitted_with_known(frame)
    # The rows in which v0 was set say nothing about it: what is left of the edge is the prior.
    chance = known.regime_effects().table.loc["r2", "v0"]
    assert chance == pytest.approx(1 / 3, abs=1e-9)
    assert known.fitted_.data.interventions


def fitted_with_known(frame: pd.DataFrame) -> DagPosterior:
    targets = ["v0" if regime == "r2" else None for regime in frame["regime"]]
    return DagPosterior(prior="uniform", score="k2", regimes=Regimes("regime", "r0")).fit(frame, interventions=targets)


def test_prediction_knows_how_many_configurations_there_are(said: Said) -> None:
    """With one graph allowed, the evidence of one row more is the probability of that row."""
    frame = random_frame(4, 2, 2)
    indicators = ['"regime=r1"', '"regime=r2"']
    rules = {
        "required": [f"{own} -> v0" for own in indicators],
        "forbidden": ["v0 -> v1", "v1 -> v0", *(f"{own} -> v1" for own in indicators)],
    }
    model = fitted(frame, **rules)
    new = frame.iloc[[0, 1, 2, 20]]
    gained = [fitted(pd.concat([frame, new.iloc[[row]]]), **rules).log_evidence_ for row in range(4)]
    np.testing.assert_allclose(model.score_samples(new), np.array(gained) - model.log_evidence_, atol=1e-9)
    chances = model.predict_proba(new, target="v0")
    assert chances.shape == (4, 2)
    with said.raises(InputError):
        model.score_samples(new.drop(columns="regime"))
    with said.raises(InputError):
        model.score_samples(new.assign(regime="r9"))


def test_rules_may_name_regimes(model: DagPosterior) -> None:
    frame = random_frame(1, 3, 2, rows=400)
    ruled = fitted(frame, forbidden='"regime=r2" -> v0', required="'regime=r1' -> v2", tiers=[["v0"], ["v1", "v2"]])
    effects = ruled.regime_effects().table
    assert effects.loc["r2", "v0"] == 0.0
    assert effects.loc["r1", "v2"] == pytest.approx(1.0)
    assert ruled.edge_probabilities_.loc["v1", "v0"] == 0.0


def test_numbers_with_regimes_say_that_only_means_shift(said: Said) -> None:
    generator = np.random.default_rng(0)
    which = np.repeat(["a", "b"], 150)
    first = generator.normal(size=300) + 2.0 * (which == "b")
    frame = pd.DataFrame({"x": first, "y": first + generator.normal(size=300), "which": which})
    model = DagPosterior(prior="uniform", score="bge", regimes=Regimes("which", "a")).fit(frame)
    effects = model.regime_effects()
    assert effects.table.loc["b", "x"] > 0.95
    assert effects.table.loc["b", "y"] < 0.5
    said(effects.note)
    assert "only shift the mean" in repr(effects)


def test_numbers_are_cut_for_a_score_of_levels() -> None:
    generator = np.random.default_rng(0)
    which = np.repeat(["a", "b"], 150)
    first = generator.normal(size=300) + 2.0 * (which == "b")
    frame = pd.DataFrame({"which": which, "x": first, "y": first + generator.normal(size=300)})
    recipe = Recipe(columns=["x", "y"], cut={"x": (3, "quantile"), "y": (3, "quantile")})
    model = DagPosterior(prior="uniform", score="bdeu", regimes=Regimes("which", "a"), recipe=recipe).fit(frame)
    assert model.regime_effects().table.loc["b", "x"] > 0.95
    assert model.names_ == ("x", "y", "which=b")
    tried = {variation.words for variation in model.sensitivity().variations}
    assert {"0.25 expected targets of a regime", "2 bins", "at most 1 parent"} & tried == {
        "0.25 expected targets of a regime",
        "2 bins",
    }


def test_numbers_and_counts_name_regimes_as_well() -> None:
    frame = random_frame(2, 2, 2).assign(n=2)
    frame["regime"] = frame["regime"].str[1:].astype(int)
    model = DagPosterior(prior="uniform", score="bdeu", regimes=Regimes("regime", 1)).fit(frame, counts="n")
    assert model.names_ == ("v0", "v1", "regime=0", "regime=2")
    assert model.regime_effects().reference == "1"


def test_the_reference_is_the_regime_of_the_first_row_and_a_notice_says_so(said: Said) -> None:
    with said.warns(DagpostWarning):
        model = fitted(random_frame(2, 2, 2), regimes="regime")
    assert model.regime_effects().reference == "r0"


@pytest.mark.parametrize(
    "regimes",
    [
        "regim",
        Regimes("regime", "r7"),
        Regimes("regime", "r0", 3.0),
        3,
    ],
)
def test_what_cannot_be_is_refused(regimes: object, said: Said) -> None:
    with said.raises(InputError):
        fitted(random_frame(2, 3, 2), regimes=regimes)


def test_one_regime_alone_is_refused(said: Said) -> None:
    with said.raises(InputError):
        fitted(random_frame(2, 3, 0))


def test_too_many_parents_of_both_kinds_are_refused() -> None:
    frame = random_frame(2, 3, 2)
    table = table_for("bdeu", frame, regimes=Regimes("regime", "r0"))
    asked = DagPosterior(prior="uniform", max_parents=12, regimes=Regimes("regime", "r0"))
    _, _, own, _, most = with_regimes(asked, Study(table, BDeu(), EdgePrior(0.5), Constraints(), 12))
    assert isinstance(own, RegimePrior)
    assert (own.max_parents, own.max_regimes, most) == (2, 2, 4)
    with pytest.raises(InputError, match="max_regimes"):
        Regimes("regime", max_regimes=0)


def test_settings_that_cannot_be_are_refused() -> None:
    with pytest.raises(InputError, match="expected_targets"):
        Regimes("regime", expected_targets=0.0)
    with pytest.raises(InputError, match="reference"):
        Regimes("regime", reference=[1])


def test_a_model_without_regimes_says_how_to_have_them() -> None:
    with pytest.raises(InputError, match="no regimes"):
        DagPosterior(prior="uniform", score="bdeu").fit(random_frame(2, 2, 0).drop(columns="regime")).regime_effects()
