"""Signs and sizes in the report: those of `model.effect`, in words that fit, and left out with a reason."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import pandas as pd
import pytest
from tests.tools.report_page import Page, random_table, written

from dagpost import Bootstrap, DagPosterior, EdgePrior, local_scores
from dagpost.plots.small_curve import small_curve
from dagpost.report import sizes as report_sizes
from dagpost.report.content import gather
from dagpost.report.page import data_of
from dagpost.report.size_section import sentence, size_section, tip
from dagpost.report.sizes import PairEffect


@pytest.fixture(scope="module")
def numbers() -> DagPosterior:
    """A chain whose directions are given: dose lowers marker by 2 a unit, marker raises pressure by 0.5."""
    random = np.random.default_rng(1)
    dose = random.normal(size=300)
    marker = -2.0 * dose + random.normal(size=300)
    pressure = 0.5 * marker + 0.3 * random.normal(size=300)
    frame = pd.DataFrame({"dose": dose, "marker": marker, "<b>pressure": pressure})
    tiers = [["dose"], ["marker"], ["<b>pressure"]]
    return DagPosterior("bge", tiers=tiers, seed=1, samples=200).fit(frame)


@pytest.fixture(scope="module")
def levels() -> DagPosterior:
    return DagPosterior("bdeu", seed=1, samples=200).fit(random_table(["a", "b", "c"]).astype(int).astype(str))


def test_the_numbers_are_those_of_the_effects(numbers: DagPosterior, tmp_path: Path) -> None:
    page = written(numbers, tmp_path)
    rows = {row[0]: row[1:] for row in page.tables["sizes"][1:]}
    assert set(rows) == {"marker → <b>pressure", "dose → marker", "dose → <b>pressure"}
    # No edge joins the last two: all of it passes through the marker.
    assert rows["dose → <b>pressure"][2].startswith("marker −0.9")
    found = numbers.effect("dose", "marker", seed=1)
    assert rows["dose → marker"][0].startswith(f"{found.mean:+.3g}".replace("-", "−"))
    assert "One unit more of dose lowers the mean of marker by " in page.sections["sizes"]
    assert "One unit more of marker raises the mean of <b>pressure by " in page.sections["sizes"]
    assert "decided by your rules: dose ⇒ marker" in page.sections["sizes"]
    assert "no common cause of two variables is left out" in page.sections["sizes"]
    assert not any(tag == "b" for tag, _ in page.tags)


def test_the_surest_effects_of_numbers_have_curves(
    numbers: DagPosterior, levels: DagPosterior, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = gather(numbers.fitted_)
    assert content.sizes is not None
    captions = [own.caption for own in content.sizes.curves]
    assert captions[:2] == [f"{own.effect.measured} along {own.effect.cause}" for own in content.sizes.pairs[:2]]
    assert len(captions) == 3
    page = written(numbers, tmp_path)
    assert "the mean of <b>pressure along marker" in page.sections["sizes"]
    assert not any(tag == "b" for tag, _ in page.tags)
    assert "If the value were set" not in written(levels, tmp_path).sections["sizes"]
    monkeypatch.setattr(report_sizes, "_CURVES", 1)
    frame = pd.DataFrame(np.random.default_rng(1).normal(size=(60, 3)).cumsum(axis=1), columns=["a", "b", "c"])
    again = DagPosterior("bge", tiers=[["a"], ["b"], ["c"]], seed=1, samples=50).fit(frame)
    found = gather(again.fitted_).sizes
    assert found is not None
    assert (len(found.pairs) > 1, len(found.curves)) == (True, 1)


def test_a_small_curve_is_the_curve_of_the_effect(numbers: DagPosterior) -> None:
    effect = numbers.effect("dose", "marker", draws=500, seed=1)
    found, frame = small_curve(effect), effect.curve()
    course = found.outlines["line"].removeprefix("M").split("L")
    xs, ys = np.array([point.split() for point in course], dtype=float).T
    assert np.corrcoef(xs, frame["value"])[0, 1] == pytest.approx(1.0)
    assert np.corrcoef(ys, frame["mean"])[0, 1] == pytest.approx(-1.0)
    assert len(found.outlines["band"].split("L")) == 50
    assert 50 < found.outlines["rows"].count("M") <= 100
    ends = [words for *_, words in found.numbers]
    assert [float(words.replace("−", "-")) for words in ends] == pytest.approx(
        [frame["value"].min(), frame["value"].max(), frame["lower"].min(), frame["upper"].max()], abs=0.51
    )


def test_the_tip_and_the_sign_of_a_line(numbers: DagPosterior) -> None:
    pairs = {(pair["from"], pair["to"]): pair for pair in data_of(gather(numbers.fitted_))["pairs"]}
    assert pairs[0, 1]["sign"] == "-"
    assert pairs[1, 2]["sign"] == "+"
    assert pairs[0, 1]["effect"].startswith("dose lowers marker by 1.9 (")
    assert pairs[0, 1]["effect"].endswith(") per unit")


def test_levels_change_by_points(levels: DagPosterior, tmp_path: Path) -> None:
    content = gather(levels.fitted_)
    assert content.sizes is not None
    own = next(own for own in content.sizes.pairs if {own.cause, own.outcome} == {0, 1})
    assert own is not None
    first, second = (levels.names_[place] for place in (own.cause, own.outcome))
    size = f"{100 * own.effect.mean / (1 - own.effect.zero_probability):.1f}"
    assert sentence(own).startswith(f"Setting {first} to 1 rather than 0 raises P({second} = 1) by {size} points (")
    assert f"with a probability of {100 * own.effect.zero_probability:.0f}% there is no effect." in sentence(own)
    assert tip(own).startswith(f"{first} raises P({second} = 1) by {size} points (")
    assert "for 1 rather than 0; no effect: " in tip(own)
    assert f"P({second} = 1) with 1 rather than 0" in written(levels, tmp_path).sections["sizes"]


def test_no_effect_and_a_sign_that_is_not_clear_are_said() -> None:
    class Of:
        samples = np.array([-1.0, 0.5, 1.0, 1.5] * 5 + [0.0] * 5)
        mean, zero_probability, outcome_level, values = 0.4, 0.2, None, (None,)
        deed, measured, cause, outcome, direct, through = "one unit more of x", "the mean of y", "x", "y", None, ()

    own = PairEffect(0, 1, cast("Any", Of()))
    assert own.sign == "?"
    assert own.size == pytest.approx(0.5)
    assert sentence(own) == (
        "One unit more of x changes the mean of y by 0.5 (−1 to 1.5); with a probability of 20% there is no effect."
    )
    Of.samples = -np.abs(Of.samples)
    assert own.sign == "-"
    assert "lowers the mean of y by" in sentence(own)
    assert "(0.5 to 1.5)" in sentence(own)


def test_what_has_no_sizes_says_why(levels: DagPosterior, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = random_table(["a", "b", "c"])
    shares = DagPosterior("bdeu", method=Bootstrap(replicates=5), forbidden=["a -> c"], seed=1).fit(table)
    page = written(shares, tmp_path)
    assert "not a posterior" in page.sections["sizes"]
    assert "joined in at least half of the replicates" in page.sections["rules"]
    scores = DagPosterior(samples=50, seed=1).fit_scores(local_scores(table, "bdeu"))
    assert "Local scores do not say" in written(scores, tmp_path).sections["sizes"]
    assert "sizes" not in written(levels.own_sample(), tmp_path).sections
    monkeypatch.setattr(report_sizes, "_MOST", 1)
    few = gather(DagPosterior("bdeu", seed=1, samples=50).fit(table).fitted_)
    assert few.sizes is not None
    assert len(few.sizes.pairs) == 1
    assert "more effects are not listed: model.effects() has all." in size_section(few)
    assert "Not to be trusted yet" in size_section(replace(few, trusted=False))


def test_rules_and_beliefs_have_a_section(tmp_path: Path) -> None:
    table = random_table(["a", "b", "c"])
    prior = EdgePrior({"a -- b": 0.9, "b -> c": 0.2})
    model = DagPosterior("bdeu", prior, tiers=[["a"], ["b", "c"]], forbidden=["a -> c"], seed=1, samples=100).fit(table)
    page = written(model, tmp_path)
    words = page.sections["rules"]
    assert "No graph has a → c." in words
    assert "No edge leads back in this order: a | b, c." in words
    assert "your rules decide the direction of" in words
    before = {row[0]: row[1:] for row in page.tables["believed"][1:]}
    edges = model.edge_probabilities_
    assert before["a — b"][0] == "0.9000"
    assert before["b → c"] == ["0.2000", f"{edges.to_numpy()[1, 2]:.4f}"]
    assert "a ⇒ b" in [row[0] for row in page.tables["ruled"][1:]]
    assert "rules" not in written(DagPosterior("bdeu", seed=1, samples=100).fit(table), tmp_path).sections


def test_the_first_sentences_fit_on_a_card(numbers: DagPosterior, tmp_path: Path) -> None:
    page: Page = written(numbers, tmp_path)
    content = gather(numbers.fitted_)
    assert "2 of 3 pairs of variables are joined with a probability of at least 0.5, above all" in page.words
    assert content.sizes is not None
    assert len(page.sections["sizes"].split("What do these numbers assume?")[0].split()) < 160
