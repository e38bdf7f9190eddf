"""What the additive score takes and refuses, and that a run which is broken off gives the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.naive import additive as naive
from tests.tools.kinds_of_columns import table_of_kinds
from tests.tools.wording import Said

from dagpost import Additive, DagPosterior, Recipe, local_scores
from dagpost.errors import InputError


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


@pytest.mark.parametrize("missing", [None, "drop", "level"])
@pytest.mark.parametrize("score", ["additive", "committee"])
def test_numbers_below_a_limit_are_not_called_gaps(score: str, missing: Any) -> None:
    values = np.random.default_rng(1).normal(size=(60, 2)).astype(object)
    values[3, 0] = values[7, 0] = "<-3"
    frame = pd.DataFrame(values, columns=["salt", "iron"])
    with pytest.raises(InputError, match=r"only a limit is known, such as '<-3': 'salt' \(2\)\.") as refused:
        DagPosterior(score, missing=missing).fit(frame)
    assert "complete" not in str(refused.value)
    # What it says to do works.
    cut = DagPosterior("additive", recipe=Recipe(cut={"salt": -3.0}), prior="uniform").fit(frame)
    assert cut.exact_


@pytest.mark.parametrize("missing", [None, "augment"])
@pytest.mark.parametrize("columns", [["age", "value", "site"], ["site", "grade"]])
@pytest.mark.filterwarnings("ignore::dagpost.DagpostWarning")
def test_gaps_are_completed_or_their_rows_dropped(clinic: pd.DataFrame, missing: Any, columns: list[str]) -> None:
    gapped = clinic[columns].mask(np.random.default_rng(1).random((120, len(columns))) < 0.02)
    model = DagPosterior("additive", missing=missing, samples=400, seed=1, progress=False).fit(gapped)
    assert not model.exact_
    assert len(model.missing_cells()) == int(gapped.isna().sum().sum())
    dropped = DagPosterior("additive", missing="drop", seed=1).fit(gapped)
    complete = DagPosterior("additive", seed=1).fit(gapped.dropna())
    assert dropped.log_evidence_ == pytest.approx(complete.log_evidence_)


def test_scores_of_a_table_with_gaps_are_refused(clinic: pd.DataFrame, said: Said) -> None:
    gapped = clinic.mask(np.random.default_rng(1).random(clinic.shape) < 0.02)
    with said.raises(InputError):
        local_scores(gapped, "additive")


@pytest.mark.parametrize("rows", [1, 2])
@pytest.mark.parametrize("kinds", [("number",), ("number", "nominal", "ordered")])
def test_a_table_of_a_row_or_a_column_is_scored(kinds: tuple[str, ...], rows: int) -> None:
    table = table_of_kinds(kinds, rows, 1)
    scores, evidence = local_scores(table, "additive"), naive.Evidence(table)
    for child, parents in naive.families(table, 2):
        assert scores.score(child, parents) == pytest.approx(evidence.score(child, parents), rel=1e-10)


@pytest.mark.parametrize(
    "settings",
    [
        {"slope_variance": -1.0},
        {"curve_variance": "wide"},
    ],
)
def test_settings_are_checked_under_their_names(settings: dict[str, Any], said: Said) -> None:
    with said.raises(InputError):
        Additive(**settings)


def test_words_name_the_settings() -> None:
    said = Additive(2.0, 0.25)
    assert "2 and 0.25 times" in said.in_detail()
    assert all([said.assumes(), said.in_words(), said.summary, said.citation])
    assert [other.setting for other in said.alternatives()] == [Additive(own, 0.25) for own in (0.25, 1.0, 4.0)]
