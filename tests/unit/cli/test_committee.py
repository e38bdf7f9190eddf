"""A committee of kinds of models: who is on it, what is said of it, and how it is asked for."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.tools.changed_files import changed, entry, shorter
from tests.tools.cli_checks import Run
from tests.tools.wording import Said

from dagpost import Additive, BDe, BDeu, BGe, Committee, DagPosterior, InputError
from dagpost.data import as_table
from dagpost.explorer.session import Session
from dagpost.explorer.state import State
from dagpost.explorer.views import view

GENERATOR = np.random.default_rng(5)


def curved(rows: int = 200) -> pd.DataFrame:
    """Salt depends on weight along a curve, which straight lines do not see; blood on salt along a line."""
    generator = np.random.default_rng(5)
    weight = generator.normal(size=rows)
    salt = weight**2 + 0.5 * generator.normal(size=rows)
    return pd.DataFrame({"weight": weight, "salt": salt, "blood": salt + generator.normal(size=rows)})


@pytest.fixture
def numbers(tmp_path: Path) -> str:
    curved().to_csv(tmp_path / "numbers.csv", index=False)
    return "numbers.csv"


MEMBERS = "committee:members=bge>additive,weights=1>3"


def test_members_that_nobody_names_suit_the_columns_and_the_rows() -> None:
    mixed = curved(4_000).assign(sex=GENERATOR.choice(["f", "m"], 4_000))
    few, many, both = (Committee().for_table(as_table(own)) for own in (curved(2_999), curved(3_000), mixed))
    assert isinstance(few, Committee)
    assert few.members == (Additive(), BGe())
    assert few.shares == pytest.approx((2 / 3, 1 / 3))
    assert isinstance(many, Committee)
    assert many.members == (Additive(), BGe(), BDeu(5, bins=4))
    assert many.shares == pytest.approx((1 / 3, 1 / 3, 1 / 3))
    assert isinstance(both, Committee)
    assert both.members == (Additive(), BDeu(5, bins=4))
    assert both.shares == pytest.approx((5 / 11, 6 / 11))
    assert Committee().for_table(as_table(mixed[:300])) == Additive()
    assert Committee().for_table(as_table(mixed[["sex"]].assign(other=mixed["sex"]))) == BDeu(5)
    # As often as a row counts.
    weighed = as_table(curved(300), counts=np.full(300, 10))
    assert Committee().for_table(weighed) == many
    assert DagPosterior("committee").fit(mixed[:100]).fitted_.settings["score"]["kind"] == "Additive"


def test_members_are_given_by_name_or_as_scores_and_kept(said: Said) -> None:
    committee = Committee(["bge", BDeu(5, bins=4)], [1, 3])
    assert committee.members == (BGe(), BDeu(5, bins=4))
    assert committee == Committee(["bge", "4 bins"], [1, 3])
    assert committee.shares == (0.25, 0.75)
    assert committee.labels == ("linear (BGe)", "levels (4 bins)")
    assert Committee([BDeu(1), BDeu(5)]).labels == (repr(BDeu(1)), repr(BDeu(5)))
    assert Committee([BDeu(1), BDe()]).columns == "discrete"
    assert committee.columns == "mixed"
    assert [own.setting for own in committee.alternatives()] == list(committee.members)
    said(committee.in_words())


def test_no_member_has_an_edge_against_the_tiers() -> None:
    model = DagPosterior(Committee([Additive(), BGe()]), tiers=[["weight"], ["salt", "blood"]]).fit(curved(60))
    edges = model.edge_probabilities_
    assert (edges["weight"] == 0.0).all()
    assert edges.loc["salt", "blood"] + edges.loc["blood", "salt"] > 0.0


def test_what_the_kinds_differ_about_is_said_everywhere(run: Run, numbers: str, tmp_path: Path) -> None:
    shown = run("fit", numbers, "--score", MEMBERS, "-o", "m").stdout
    model = DagPosterior.load(tmp_path / "m")
    assert model.score == Committee(["bge", "additive"], [1, 3])
    pairs = model.joined_by_kind_
    first = pairs.iloc[0]
    assert {first["from"], first["to"]} == {"weight", "salt"}
    # Lines see nothing of the curve.
    assert first["additive"] - first["linear (BGe)"] == pytest.approx(first["apart"])
    assert first["apart"] > 0.5
    alone = DagPosterior(BGe()).fit(curved()).edge_probabilities_
    assert first["linear (BGe)"] == pytest.approx(alone.loc["weight", "salt"] + alone.loc["salt", "weight"], abs=1e-8)
    said = (
        f"The kinds of models differ most about weight - salt: joined with {first['additive']:.2f} under additive, "
        f"{first['linear (BGe)']:.2f} under linear (BGe)."
    )
    weights = "additive (75%), linear (BGe) (25%); these weights are fixed, so that there is no log evidence"
    assert f"{said}\n" in shown
    assert f"Kind of model: {weights}.\n" in shown
    assert not re.search(r"log evidence -?\d", shown)
    assert "kind of model linear (BGe), additive;" in shown
    info = run("info", "m").stdout
    assert said in info
    assert weights in info
    assert not re.search(r"log evidence -?\d", info)
    listed = run("edges", "m").stdout.splitlines()
    assert re.search(r"linear \(BGe\) +additive", listed[0])
    assert f"{first['linear (BGe)']:.4f}" in next(line for line in listed if {"weight", "salt"} <= set(line.split()))
    content = json.loads(run("edges", "m", "--json").stdout)
    assert content["log_evidence"] is None
    assert content["mixture"]["disagreement"] == said
    assert content["by_kind"] == pairs.to_dict("records")
    run("report", "m", "-o", "r.html")
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert said in page
    assert "a committee of scores, with fixed weights: the BGe score with a normal-Wishart prior" in page
    assert "each value with a fixed weight" in page
    assert "Log evidence" not in page
    model.sample(10, seed=1).report(tmp_path / "s.html")
    assert "Log evidence" not in (tmp_path / "s.html").read_text(encoding="utf-8")


def test_weights_are_not_called_probabilities_and_every_member_says_what_it_assumes(
    run: Run, numbers: str, tmp_path: Path
) -> None:
    members = "committee:members=bge>4 bins>additive,weights=1>1>2"
    shown = run("fit", numbers, "--score", members, "-o", "m", "--no-sensitivity").stdout
    model = DagPosterior.load(tmp_path / "m")
    assumed = (
        f"Under linear (BGe): {BGe().assumes().replace('Columns', 'columns')} Under levels (4 bins): numbers are cut "
        "into 4 bins with about as many rows in each, and where in its bin a number is makes no difference; nothing is "
        f"assumed of the form of relations. Under additive: {Additive().assumes().replace('Effects', 'effects')}"
    )
    assert assumed in shown
    assert model.mixture_weights_.name == "weight"
    model.report(tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    # Among the sentences on reading it, and in the methods paragraph.
    assert page.count(assumed) == 2
    heads = re.findall(r"<th[^>]*>(Kind of model|Edge density)</th><th[^>]*>(\w+)</th>", page)
    assert heads == [("Kind of model", "Weight"), ("Edge density", "Probability")]
    assert "fit it again, or save it with its rows" not in page
    one = model.given(setting={"kind of model": "additive"})
    one.save(tmp_path / "one")
    assert "kind of model = additive (fixed weight 0.5000, exact)" in run("info", "one").stdout
    one.report(tmp_path / "one.html")
    page = (tmp_path / "one.html").read_text(encoding="utf-8")
    assert "Given that kind of model = additive, which has the fixed weight 0.5000 (exact)" in page
    assert "(fixed weight 0.5000, exact)" in page
    both = model.given("weight -> salt", setting={"kind of model": "additive"})
    both.save(tmp_path / "both")
    assert re.search(
        r"weight -> salt and kind of model = additive \(probability 0\.\d+, exact\)", run("info", "both").stdout
    )


def test_kinds_that_agree_are_said_to_agree(said: Said) -> None:
    frame = pd.DataFrame(np.random.default_rng(1).normal(size=(300, 2)), columns=["A", "B"])
    frame["B"] += 3.0 * frame["A"]
    model = DagPosterior(Committee([BGe(), BDeu(5, bins=4)])).fit(frame)
    assert model.fitted_.results.edges_by_kind.shape == (2, 2, 2)
    from dagpost.posterior.lists import disagreement

    assert disagreement(model.fitted_) == "The kinds of models agree: no two differ by more than 0.00 about any pair."
    one = model.given(setting={"kind of model": "linear (BGe)"})
    assert disagreement(one.fitted_) == ""
    with said.raises(AttributeError):
        _ = one.joined_by_kind_
    assert not hasattr(DagPosterior(BGe()).fit(frame), "joined_by_kind_")


def test_the_explorer_takes_a_kind_by_its_name() -> None:
    model = DagPosterior(Committee([BGe(), Additive()]), seed=1).fit(curved())
    session = Session(model.fitted_, "curved")
    label = "linear (BGe)"
    shown: Any = view(session, {"given": [], "setting": {"kind of model": label}})
    expected = model.given(setting={"kind of model": label}).edge_probabilities_
    assert session.under(State((), (("kind of model", label),))).results.edges == pytest.approx(expected.to_numpy())
    assert shown["setting"] == {"kind of model": label}


@pytest.mark.parametrize(
    "change",
    [
        entry([0.1, 0.9], "settings", "score", "weights"),
        entry(None, "settings", "score", "weights"),
        entry([{"kind": "Additive"}, {"kind": "BGe"}], "settings", "score", "members"),
        entry({"kind": "BGe"}, "settings", "score"),
        shorter("edges_by_kind"),
    ],
)
def test_a_file_whose_members_or_weights_were_changed_is_refused(change: Any, tmp_path: Path) -> None:
    model = DagPosterior(Committee([BGe(), Additive()], [1, 3])).fit(curved(60))
    with pytest.raises(InputError, match="lacks parts of a model"):
        DagPosterior.load(changed(model, tmp_path, change))


def test_a_report_has_code_that_fits_the_same_again() -> None:
    from dagpost.report.content import gather
    from dagpost.report.reproduction import python_code

    model = DagPosterior(Committee([BGe(), BDeu(5, bins=4)], [1, 3]), seed=1).fit(curved())
    content = gather(model.fitted_)
    code = python_code(content)
    assert code is not None
    written: dict[str, Any] = {}
    exec(code.partition("model.fit")[0].replace("\nmodel = ", "\nfound = "), written)
    assert written["found"].score == model.score


def test_effects_along_curves_need_no_rows_in_the_file(run: Run, numbers: str) -> None:
    fast = ("--score", "additive", "--seed", "1", "--no-sensitivity")
    assert "holds the rows" not in run("fit", numbers, *fast, "-o", "bare").stdout
    shown = run("fit", numbers, *fast, "--rows", "-o", "whole").stdout
    assert "The model file holds the rows of the table: you asked for them. Share it like the data." in shown
    for file in ("bare", "whole"):
        assert "Of weight: the upper rather than the lower quartile." in run("effect", file, "weight", "salt").stdout
