"""What the additive score takes and refuses, and that a run which is broken off gives the same."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.naive import additive as naive
from tests.tools.broken_off import Stopped, StoppingEngine, eager
from tests.tools.kinds_of_columns import table_of_kinds

from dagpost import Additive, DagPosterior, local_scores
from dagpost.engines import ThreadEngine
from dagpost.errors import DagpostWarning, InputError


@pytest.fixture(scope="module")
def clinic() -> pd.DataFrame:
    """Age, a measured value that follows it along a curve, a site, and a grade in an order."""
    generator = np.random.default_rng(1)
    age = generator.normal(50.0, 10.0, 120)
    return pd.DataFrame(
        {
            "age": age,
            "value": np.exp((age - 50.0) ** 2 / 200.0 + 0.3 * generator.normal(size=120)),
            "site": generator.choice(["north", "south", "west"], 120),
            "grade": np.clip(np.round(age / 20.0 + 0.5 * generator.normal(size=120)), 1, 4).astype(int),
        }
    )


@pytest.fixture(scope="module")
def model(clinic: pd.DataFrame) -> DagPosterior:
    return DagPosterior("additive", seed=1, samples=200).fit(clinic)


def test_a_curve_is_found_where_no_line_is(clinic: pd.DataFrame, model: DagPosterior) -> None:
    assert abs(np.corrcoef(clinic["age"].rank(), clinic["value"].rank())[0, 1]) < 0.2
    edges = model.edge_probabilities_
    assert edges.loc["age", "value"] + edges.loc["value", "age"] > 0.99
    assert edges.loc["age", "site"] + edges.loc["site", "age"] < 0.2


@pytest.mark.parametrize("levels", [20, 21, 60])
def test_many_levels_that_are_equally_frequent_keep_their_effects(levels: int) -> None:
    site = np.repeat(np.arange(levels), 20)
    generator = np.random.default_rng(levels)
    value = generator.normal(size=levels)[site] + generator.normal(size=len(site))
    edges = DagPosterior("additive").fit(pd.DataFrame({"site": site.astype(str), "value": value}))
    assert edges.edge_probabilities_.to_numpy().sum() > 0.99


@pytest.mark.parametrize("missing", [None, "augment"])
@pytest.mark.parametrize("columns", [["age", "value", "site"], ["site", "grade"]])
def test_a_fit_of_a_table_with_gaps_is_refused_and_names_what_to_do(
    clinic: pd.DataFrame, missing: Any, columns: list[str]
) -> None:
    gapped = clinic[columns].mask(np.random.default_rng(1).random((120, len(columns))) < 0.02)
    with pytest.raises(InputError, match=r"'additive' cannot complete the \d gaps.*\(missing='drop'\)"):
        DagPosterior("additive", missing=missing).fit(gapped)
    with pytest.warns(DagpostWarning, match="have gaps and were dropped"):
        dropped = DagPosterior("additive", missing="drop", seed=1).fit(gapped)
    complete = DagPosterior("additive", seed=1).fit(gapped.dropna())
    assert dropped.log_evidence_ == pytest.approx(complete.log_evidence_)


def test_scores_of_a_table_with_gaps_are_refused(clinic: pd.DataFrame) -> None:
    gapped = clinic.mask(np.random.default_rng(1).random(clinic.shape) < 0.02)
    with pytest.raises(InputError, match=r"complete rows only, and \d+ cells .*\(missing='drop'\)"):
        local_scores(gapped, "additive")


@pytest.mark.parametrize(
    "ask",
    [
        lambda model, _: model.value("value"),
        lambda model, _: model.effect("age", "value"),
        lambda model, _: model.effects(),
        lambda model, table: model.predict_number(table, target="value"),
        lambda model, table: model.predict_proba(table, target="site"),
        lambda model, table: model.score_samples(table),
        lambda model, _: model.to_bayesian_network(),
    ],
)
def test_questions_about_values_are_refused_with_the_scores_that_answer_them(
    model: DagPosterior, clinic: pd.DataFrame, ask: Callable[[Any, Any], Any]
) -> None:
    with pytest.raises(InputError, match=r"'additive' does not say which it is\. Fit with a score that does: BDeu, "):
        ask(model, clinic)


def test_what_comes_first_is_a_matter_of_rules_and_no_setting(clinic: pd.DataFrame, tmp_path: Path) -> None:
    model = DagPosterior("additive", tiers=[["age", "site"], ["value", "grade"]], seed=1).fit(clinic)
    assert model.fitted_.score == Additive().in_stages([["age", "site"], ["value", "grade"]])
    assert "stages" not in repr(model.fitted_.score) + str(model.fitted_.settings)
    model.save(tmp_path / "model.dagpost")
    found = DagPosterior.load(tmp_path / "model.dagpost")
    pd.testing.assert_frame_equal(found.edge_probabilities_, model.edge_probabilities_)
    # Fitted anew, it finds out again.
    assert found.fit(clinic).log_evidence_ == pytest.approx(model.log_evidence_)
    assert DagPosterior(model.fitted_.score, seed=1).fit(clinic).fitted_.score == Additive()


@pytest.mark.parametrize("rows", [1, 2])
@pytest.mark.parametrize("kinds", [("number",), ("number", "nominal", "ordered")])
def test_a_table_of_a_row_or_a_column_is_scored(kinds: tuple[str, ...], rows: int) -> None:
    table = table_of_kinds(kinds, rows, 1)
    scores, evidence = local_scores(table, "additive"), naive.Evidence(table)
    for child, parents in naive.families(table, 2):
        assert scores.score(child, parents) == pytest.approx(evidence.score(child, parents), rel=1e-10)


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"slope_variance": -1.0}, "slope_variance"),
        ({"curve_variance": "wide"}, "curve_variance"),
    ],
)
def test_settings_are_checked_under_their_names(settings: dict[str, Any], named: str) -> None:
    with pytest.raises(InputError, match=f"'{named}' parameter of Additive"):
        Additive(**settings)


def test_words_name_the_settings() -> None:
    said = Additive(2.0, 0.25)
    assert "2 and 0.25 times" in said.in_detail()
    assert all([said.assumes(), said.in_words(), said.summary, said.citation])
    assert [other.setting for other in said.alternatives()] == [Additive(own, 0.25) for own in (0.25, 1.0, 4.0)]


def test_stages_name_every_column() -> None:
    with pytest.raises(InputError, match=r"stages of Additive must name every column\. 'v1' is missing"):
        local_scores(table_of_kinds(("number", "number"), 10, 1), Additive().in_stages([["v0"], ["v2"]]))


@pytest.mark.parametrize("extra", [False, True])
def test_scores_that_are_broken_off_anywhere_are_the_same(extra: bool, tmp_path: Path) -> None:
    """Also where several columns were set, each in rows of its own."""
    table = table_of_kinds(("number", "nominal", "rounded", "ordered", "number"), 40, 2, extra=extra)

    def attempt(engine: ThreadEngine, folder: Path) -> np.ndarray:
        with eager(folder).task("fit", {}) as kept:
            return local_scores(table, "additive", 3, engine=engine, checkpoint=kept).values

    whole = local_scores(table, "additive", 3, engine=ThreadEngine(1)).values
    counting = StoppingEngine(10**6)
    np.testing.assert_array_equal(attempt(counting, tmp_path / "counting"), whole)
    results = 10**6 - int(counting.left)
    for place in range(1, results, max(results // 6, 1)):
        with pytest.raises(Stopped):
            attempt(StoppingEngine(place), tmp_path / str(place))
        again = StoppingEngine(10**6)
        np.testing.assert_array_equal(attempt(again, tmp_path / str(place)), whole)
        # What was finished is not done again, but for what ties the sets of each run together.
        runs = 1 if not extra else 5
        assert 10**6 - int(again.left) <= results - place + 2 + 6 * runs
