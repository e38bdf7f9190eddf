"""Which score is chosen for which columns, and what is said about it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.tools.wording import Said

from dagpost import (
    Additive,
    BDeu,
    BGe,
    Bootstrap,
    Committee,
    ConditionalGaussian,
    DagPosterior,
    GivenOrder,
    LatentGaussian,
    Recipe,
    Regimes,
    Score,
    as_table,
    unroll,
)
from dagpost.data.table import Table
from dagpost.errors import DagpostWarning, InputError, collected_warnings
from dagpost.families.numbering import family_count
from dagpost.methods.choice import resolve_method
from dagpost.methods.registry import METHODS
from dagpost.posterior.augmenting import runs_chains
from dagpost.scores.automatic import (
    BEST_SINGLE,
    MOST_LATENT_CELLS,
    MOST_SUMMED_AGAIN,
    Work,
    automatic_score,
    notice_of_choice,
)
from dagpost.scores.resolve import AVERAGED
from dagpost.scores.scoring_time import regressions_among

RNG = np.random.default_rng(8)
ROWS = 48
NUMBERS = {"x": RNG.normal(size=ROWS), "y": RNG.normal(size=ROWS)}
SITES = ["oslo", "rome", "bonn", "graz"] * (ROWS // 4)
DOSES = ["low", "medium", "high", "low"] * (ROWS // 4)
TRUTH = [True, False] * (ROWS // 2)


def table_of(recipe: Recipe | None = None, **columns: Any) -> Table:
    with collected_warnings():
        return as_table(pd.DataFrame(columns), recipe=recipe)


def work_of(nodes: int, max_parents: int = 5) -> Work:
    """What a fit of so many columns without rules has to do."""
    limit = min(max_parents, nodes - 1)
    return Work((nodes,), nodes * family_count(nodes - 1, limit), regressions_among(nodes, limit))


def chosen(table: Table, nodes: int = 4, **method: bool) -> Score:
    return automatic_score(table, work_of(nodes), **method)


def test_levels_alone_are_left_to_bdeu() -> None:
    table = table_of(dose=DOSES, site=SITES)
    assert chosen(table) == AVERAGED
    assert chosen(table, 19) == chosen(table, mixes=False) == BEST_SINGLE


def test_numbers_are_for_the_committee_of_their_rows() -> None:
    numbers, many = table_of(**NUMBERS), table_of(**NUMBERS).with_counts(np.full(ROWS, 3_000 // ROWS + 1))
    for table in (numbers, many):
        assert isinstance(chosen(table), Committee)
        assert chosen(table) == Committee().for_table(table)
    assert chosen(numbers) != chosen(many)


def test_levels_beside_few_numbers_are_for_curves_alone_and_beside_many_for_the_committee() -> None:
    columns = {**NUMBERS, "dose": DOSES, "site": SITES, "few": [1, 2, 3, 4] * (ROWS // 4)}
    assert chosen(table_of(**columns)) == Additive()
    many = table_of(**columns).with_counts(np.full(ROWS, 3_000 // ROWS + 1))
    assert chosen(many) == Committee([Additive(), BDeu(5, bins=4)], [5, 6])


def test_where_sums_take_too_long_or_a_method_has_none_it_is_curves_alone() -> None:
    for table in (table_of(**NUMBERS), table_of(**NUMBERS, site=SITES)):
        assert isinstance(chosen(table, 18), type(chosen(table)))
        assert chosen(table, 19) == chosen(table, 30) == chosen(table, mixes=False) == Additive()


def test_where_regressions_take_too_long_it_is_lines() -> None:
    ordered, nominal = table_of(**NUMBERS, dose=DOSES), table_of(**NUMBERS, site=SITES)
    for beyond in ({"nodes": 40}, {"needs_gaps": True}):
        assert chosen(table_of(**NUMBERS), **beyond) == BGe()
        assert chosen(ordered, **beyond) == LatentGaussian()
        assert chosen(ordered, **beyond, draws=False) == ConditionalGaussian()
        assert chosen(nominal, **beyond) == ConditionalGaussian()


def test_gaps_are_completed_by_curves_where_that_is_quick_and_limits_are_for_latent_numbers() -> None:
    limits = [f"{value:.3f}" for value in NUMBERS["x"]]
    limits[3] = "<-3"
    assert chosen(table_of(x=limits, y=NUMBERS["y"])) == LatentGaussian()
    gappy = NUMBERS["x"].copy()
    gappy[5] = np.nan
    numbers, ordered, nominal = (
        table_of(x=gappy, **own) for own in ({"y": NUMBERS["y"]}, {"dose": DOSES}, {"site": SITES})
    )
    for table in (numbers, ordered, nominal):
        assert chosen(table, MOST_SUMMED_AGAIN) == Additive()
    for nodes, mixes in ((MOST_SUMMED_AGAIN + 1, True), (4, False)):
        assert chosen(numbers, nodes, mixes=mixes) == BGe()
        assert chosen(ordered, nodes, mixes=mixes) == LatentGaussian()
        assert chosen(nominal, nodes, mixes=mixes) == ConditionalGaussian()


def test_unordered_codes_and_gap_levels_are_not_for_latent_numbers() -> None:
    codes = [1, 2, 3, 4] * (ROWS // 4)
    doses = [None, *DOSES[1:]]
    mixed = table_of(**NUMBERS, dose=DOSES)
    for table in (
        table_of(Recipe(unordered=["few"]), **NUMBERS, few=codes),
        table_of(Recipe(missing="level"), **NUMBERS, dose=doses),
        as_table(pd.DataFrame({**NUMBERS, "dose": DOSES}), interventions=["dose"] * 4 + [None] * (ROWS - 4)),
        mixed.with_counts(np.full(ROWS, MOST_LATENT_CELLS // ROWS + 1)),
    ):
        assert chosen(table, 40) == ConditionalGaussian()


def test_what_came_first_what_was_set_and_how_often_rows_count_change_nothing() -> None:
    frame = pd.DataFrame({**NUMBERS, "dose": DOSES})
    later = pd.DataFrame({"person": np.repeat(range(12), 4), "week": list(range(4)) * 12, **NUMBERS})
    given: list[tuple[Any, dict[str, Any], dict[str, Any]]] = [
        (frame, {"exogenous": ["dose"]}, {}),
        (frame, {"tiers": [["dose"], ["x", "y"]]}, {}),
        (frame, {"modularity": "order"}, {}),
        (frame, {}, {"interventions": ["dose" if row < 4 else None for row in range(ROWS)]}),
        (frame.assign(lab=["a", "b"] * (ROWS // 2)), {"regimes": Regimes("lab", reference="a")}, {}),
        (frame.assign(dose=["", *DOSES[1:]]), {"missing": "level"}, {}),
        (frame.assign(weight=2), {}, {"counts": "weight"}),
        (unroll(later, time="week", subject="person"), {}, {}),
    ]
    for table, settings, beside in given:
        model = DagPosterior(seed=1, samples=200, max_parents=2, **settings)
        with collected_warnings():
            model.fit(table, **beside)
        edges = model.edge_probabilities_.to_numpy()
        assert np.isfinite(edges).all()
        assert isinstance(model.fitted_.score, Additive | Committee)
        assert model.exact_


@pytest.mark.parametrize("method", METHODS.names())
def test_every_method_fits_the_score_that_is_chosen_for_it(method: str) -> None:
    frame = pd.DataFrame(NUMBERS).assign(z=NUMBERS["x"] ** 2)
    chains, order = method.endswith("mcmc"), method in ("dds", "order-mcmc", "partial-order-mcmc")
    asked: Any = GivenOrder(["x", "y", "z"]) if method == "given-order" else method
    asked = Bootstrap(replicates=50) if method == "bootstrap" else asked
    model = DagPosterior(method=asked, samples=400, seed=1, modularity="order" if order else "structure")
    with collected_warnings():
        if method == "augmentation":
            with pytest.raises(InputError, match="completes tables"):
                model.fit(frame)
            return
        model.fit(frame)
        sample = model.sample(40, seed=1)
    known = resolve_method(asked)
    assert known is not None
    assert isinstance(model.fitted_.score, Committee if known.mixes else Additive)
    assert not (known.mixes and chains)
    assert np.isfinite(sample.log_joint).all()


@pytest.mark.parametrize(
    ("method", "modularity", "nodes", "expected"),
    [
        ("auto", "structure", 40, True),
        ("auto", "order", 8, True),
        ("auto", "order", 20, False),
        ("exact-layers", "structure", 8, True),
        ("exact-layers", "structure", 20, False),
        ("block-gibbs", "structure", 40, True),
        ("augmentation", "structure", 40, True),
        ("partition-mcmc", "structure", 8, False),
        ("kbest", "structure", 8, False),
    ],
)
def test_chains_over_latent_numbers_are_for_methods_that_can(
    method: str, modularity: str, nodes: int, expected: bool
) -> None:
    assert runs_chains(resolve_method(method), modularity, nodes) is expected


def test_notices_say_in_one_sentence_what_is_assumed(said: Said) -> None:
    table = table_of(**NUMBERS, dose=DOSES, truth=TRUTH)
    assert notice_of_choice(LatentGaussian(), table).startswith(
        "Columns of levels are taken as ordered (dose: low < medium < high) and numbers by their ranks: relations are "
    )
    table = table_of(**NUMBERS, dose=DOSES, later=DOSES, sex=np.where(NUMBERS["x"] > 0, "f", "m"))
    assert "(dose, later: low < medium < high, sex: f < m)" in notice_of_choice(LatentGaussian(), table)
    table = table_of(**NUMBERS, site=SITES)
    assert "('site' has levels in no order), and never lead to levels" in notice_of_choice(ConditionalGaussian(), table)
    many = table.with_counts(np.full(ROWS, 100))
    for own in (table, many):
        said(notice_of_choice(chosen(own), own))
    assert notice_of_choice(BDeu(5), table_of(dose=DOSES, site=SITES)) == ""
    with said.warns(DagpostWarning):
        model = DagPosterior(prior="uniform").fit(pd.DataFrame(NUMBERS))
    assert not hasattr(model, "predict_proba")


def test_numbers_are_cut_only_where_that_is_asked_for(said: Said) -> None:
    frame = pd.DataFrame({**NUMBERS, "dose": DOSES})
    for recipe, cut in (
        (Recipe(), []),
        (Recipe(cut={"x": 0}), ["x"]),
        (Recipe(bins=2), ["x", "y"]),
        (Recipe(strategy="uniform"), ["x", "y"]),
        (Recipe(cut={"x": 0}).fit(frame), ["x"]),
    ):
        fitted = Recipe(**recipe.get_params()).fit(frame)
        assert [step.name for step in fitted.steps_ if step.cuts is not None] == cut
        with collected_warnings():
            model = DagPosterior(prior="uniform", recipe=recipe, method="kbest").fit(frame)
        assert [step.name for step in model.recipe_.steps_ if step.cuts is not None] == cut
        assert model.fitted_.data.levels.count(None) == 2 - len(cut)
    with said.warns(DagpostWarning):
        assert None not in DagPosterior("bdeu", prior="uniform").fit(frame).fitted_.data.levels
    gappy = frame.assign(x=frame["x"].where(frame["x"] > -1))
    with collected_warnings():
        model = DagPosterior(prior="uniform", missing="level").fit(
            gappy
        )  # a gap that is a level needs levels beside it
    assert model.recipe_.step("x").levels is not None
    assert model.recipe_.step("y").levels is None


def test_a_recipe_file_without_bins_cuts_nothing(tmp_path: Path) -> None:
    frame = pd.DataFrame({**NUMBERS, "dose": DOSES})
    Recipe().fit(frame).save(tmp_path / "r.toml")
    text = (tmp_path / "r.toml").read_text()
    assert "# bins = 3\n" in text
    with collected_warnings():
        assert (
            DagPosterior(prior="uniform", recipe=tmp_path / "r.toml", method="kbest")
            .fit(frame)
            .fitted_.data.levels.count(None)
            == 2
        )
    (tmp_path / "r.toml").write_text(text.replace("# bins = 3\n", "bins = 2\n"))
    assert len(Recipe.load(tmp_path / "r.toml").rule_of("x").strategy) > 0
    with collected_warnings():
        model = DagPosterior(prior="uniform", recipe=tmp_path / "r.toml").fit(frame)
    assert [len(levels or ()) for levels in model.fitted_.data.levels] == [2, 2, 3]


def test_limits_and_levels_in_no_order_together_are_refused_with_the_ways_out(said: Said) -> None:
    limits = [f"{value:.3f}" for value in NUMBERS["x"]]
    limits[3] = "<-3"
    with said.raises(InputError):
        DagPosterior(prior="uniform").fit(pd.DataFrame({"x": limits, "y": NUMBERS["y"], "site": SITES}))
    way_out = Recipe(cut={"x": -3})
    with collected_warnings():
        model = DagPosterior(prior="uniform", recipe=way_out, method="kbest").fit(
            pd.DataFrame({"x": limits, "site": SITES, "y": NUMBERS["y"]})
        )
    assert model.fitted_.score.name == "additive"
