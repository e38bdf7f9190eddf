"""What is said and refused about cells without a value: which column, which row, what to do."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.tools.wording import Said

from dagpost import DagPosterior, Recipe, as_table, local_scores, unroll
from dagpost._tools import memory
from dagpost.data.cut_tables import cut_numbers
from dagpost.data.gaps import without_gaps, without_idle_gaps, written_out
from dagpost.data.recipe_words import notice_of_gaps
from dagpost.data.table import Table
from dagpost.errors import DagpostWarning, InputError, ResourceError, collected_warnings
from dagpost.posterior.fitting import notify_of_gaps
from dagpost.posterior.study import rules_of, table_of
from dagpost.scores.columns import part_of

ROWS = 12


def frame_with(**columns: Any) -> pd.DataFrame:
    return pd.DataFrame({"sex": ["f", "m"] * 6, "arm": ["a", "b", "b"] * 4, **columns})


@pytest.fixture
def table() -> Table:
    return as_table(frame_with(dose=["low", None, "high", "low"] * 3, height=[None, *np.arange(1, 12) / 7]))


def test_a_table_says_where_its_gaps_are(table: Table, said: Said) -> None:
    assert repr(table).splitlines() == [
        "Table of 4 columns and 12 rows; 4 cells without a value, in 4 of the rows",
        "  sex     2 levels: f, m",
        "  arm     2 levels: a, b",
        "  dose    2 levels: low, high; 3 gaps",
        "  height  continuous, 0.1429 to 1.571; 1 gap",
    ]
    assert "3 gaps</td>" in table._repr_html_()
    assert table.recipe is not None
    said(table.recipe.summary())
    assert Recipe(missing="level").fit(table).summary().endswith("4 gaps are a level of their own")
    assert not table.discrete
    assert part_of(table, [3]).continuous
    assert part_of(table, [0, 1]).gaps is None


def test_what_cannot_deal_with_gaps_refuses_them(table: Table, said: Said) -> None:
    heard = r"The table has gaps: 'dose' \(3\), 'height' \(1\).*Recipe\(missing='drop'\).*fit a DagPosterior"
    for work in (lambda: cut_numbers(table).codes(), lambda: local_scores(cut_numbers(table), "bdeu", 1)):
        with pytest.raises(InputError, match=heard):
            work()
    with said.raises(InputError):
        part_of(table, [3]).values()
    with said.raises(InputError):
        DagPosterior("bge", prior="uniform").fit(table)
    with said.raises(InputError):
        DagPosterior("bdeu", prior="uniform", method="kbest").fit(cut_numbers(table))
    with pytest.raises(InputError, match=r"has 1 gap, and the method 'kbest' cannot complete it\. Use"):
        DagPosterior("bdeu", prior="uniform", method="kbest").fit(part_of(cut_numbers(table), [0, 3]))


def test_the_notice_is_one_sentence_with_columns_assumption_and_other_ways(table: Table, said: Said) -> None:
    heard = notice_of_gaps(table)
    assert heard.startswith("4 cells have no value ('dose': 3, 'height': 1), so that 4 of 12 rows (33.3%) have gaps: ")
    assert "missing at random" in heard
    assert heard.count(". ") == 0
    assert notice_of_gaps(part_of(table, [0, 1])) == ""
    with said.warns(DagpostWarning):
        notify_of_gaps(DagPosterior(prior="uniform"), table)
    notify_of_gaps(DagPosterior(prior="uniform", missing="augment"), table)  # asked for, so nothing is said


def test_a_cell_that_was_set_has_a_value(said: Said) -> None:
    frame = frame_with(dose=["low", "high", "high", None] * 3)
    done = [None, "dose", None, None] * 3
    assert as_table(frame, interventions=done).gap_count == 3
    done[7] = "dose"
    with said.raises(InputError):
        as_table(frame, interventions=done)
    assert as_table(frame, interventions=done, recipe=Recipe(missing="level")).gaps is None
    wrong = replace(as_table(frame), interventions=np.full(ROWS, 4, dtype=np.uint64))
    with said.raises(InputError):
        DagPosterior("bdeu", prior="uniform").fit(wrong)


def test_rows_with_gaps_in_columns_that_are_not_modelled_are_left_out(said: Said) -> None:
    frame = frame_with(dose=["low", "high", "high", None] * 3)
    table, by_recipe = as_table(frame), as_table(frame, recipe=Recipe(exogenous=["dose"]))
    for model, data in (
        (DagPosterior("bdeu", prior="uniform", exogenous=["dose"]), table),
        (DagPosterior("bdeu", prior="uniform"), by_recipe),
    ):
        with said.warns(DagpostWarning):
            left = table_of(model, data, None, None)
        assert left.rows == 9
        assert not left.gap_count
    assert table_of(DagPosterior("bdeu", prior="uniform", exogenous=["sex"]), table, None, None).rows == 12
    with said.raises(InputError):
        table_of(
            DagPosterior("bdeu", prior="uniform", exogenous=["dose"]), table.of_rows(np.array([0, 3, 7])), None, None
        )


@pytest.mark.parametrize("as_frame", [True, False])
def test_every_row_has_a_regime(as_frame: bool, said: Said) -> None:
    frame = frame_with(dose=["low", "high", "high", None] * 3)
    data = frame if as_frame else as_table(frame)
    with said.raises(InputError):
        DagPosterior("bdeu", prior="uniform", regimes="dose").fit(data)
    fitted = Recipe().fit(frame)
    fitted.regimes_column = "arm"
    assert fitted.read(frame).gap_count == 3


def test_a_gap_among_counts_is_an_error(said: Said) -> None:
    with said.raises(InputError):
        as_table(frame_with(n=[1, None] * 6), counts="n")


def test_a_column_without_any_value_is_left_out_or_refused(said: Said) -> None:
    with said.warns(DagpostWarning):
        assert as_table(frame_with(dose=[None] * ROWS)).names == ("sex", "arm")
    table = as_table(frame_with(dose=["low", "high", None] * 4))
    empty = replace(table, gaps=np.vstack([table.gaps[:2], np.ones((1, ROWS), dtype=bool)]))
    with said.raises(InputError):
        rules_of(DagPosterior("bdeu", prior="uniform"), empty)
    assert Recipe(bins=2).read(empty).names == ("sex", "arm")


def test_a_column_that_is_constant_where_it_has_values_is_left_out(said: Said) -> None:
    with pytest.warns(DagpostWarning, match="'dose' \\(constant\\)"):
        table = as_table(frame_with(dose=["low", None] * 6))
    assert table.gaps is None
    assert table.recipe is not None
    said(table.recipe.step("dose").why)


def test_a_table_may_be_treated_in_another_way_when_it_is_fitted(table: Table, said: Said) -> None:
    table = cut_numbers(table)
    dropped = DagPosterior("bdeu", prior="uniform", missing="drop").fit(table)
    assert dropped.fitted_.data.observations == 8
    said(dropped.recipe_.summary())
    level = DagPosterior("bdeu", prior="uniform", missing="level").fit(table)
    assert level.fitted_.data.levels[2] == ("low", "high", "(missing)")
    with said.raises(InputError):
        DagPosterior("bdeu", prior="uniform", missing="refuse").fit(table)
    assert without_gaps(table, "augment") is table
    alone = replace(table, counts=np.array([0, 1] * 6), gaps=np.tile(np.arange(ROWS) % 2 == 1, (4, 1)))
    with said.raises(InputError):
        without_gaps(alone, "drop")


def test_gaps_in_rows_that_stand_for_nothing_are_none(table: Table) -> None:
    counts = np.ones(ROWS, dtype=np.int64)
    counts[[0, 1, 5, 9]] = 0
    assert without_idle_gaps(replace(table, counts=counts)).gaps is None
    counts[0] = 2
    left = without_idle_gaps(replace(table, counts=counts))
    assert (left.rows, left.gap_count, left.observations) == (9, 1, 10)
    assert without_idle_gaps(table) is table


def test_writing_rows_out_checks_the_memory_first(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "available_bytes", lambda: 10_000)
    many = replace(table, counts=np.full(ROWS, 1_000))
    with pytest.raises(ResourceError, match=r"4,008 rows.*missing='drop'"):
        written_out(many)
    assert written_out(replace(table, counts=np.full(ROWS, 2))).rows == 16


def test_earlier_values_have_no_gaps_and_present_ones_may(said: Said) -> None:
    frame = pd.DataFrame({"day": [*range(10)] * 2, "who": [1] * 10 + [2] * 10, "pain": [3, 2, 5, 4] * 5})
    frame["mood"] = ["good", "poor", "good", "good", "poor"] * 4
    frame.loc[[4, 9], "mood"] = None
    unrolled = unroll(frame, time="day", subject="who")
    assert (as_table(unrolled).rows, as_table(unrolled).gap_count) == (18, 3)
    with said.warns(DagpostWarning):
        table = table_of(DagPosterior("bdeu", prior="uniform"), unrolled, None, None)
    assert (table.rows, table.gap_count) == (17, 2)
    assert table.gaps is not None
    assert table.gaps.any(axis=1).tolist() == [name == "mood" for name in table.names]
    assert rules_of(DagPosterior("bdeu", prior="uniform"), table).exogenous == ("pain[t-1]", "mood[t-1]")
    assert table.recipe is not None
    said(table.recipe.summary())
    assert as_table(unrolled, recipe=Recipe(missing="level")).rows == 18


def test_levels_that_are_numbers_are_completed_by_numbers(tmp_path: Any) -> None:
    frame = pd.DataFrame({"p": [0, 1, 2, None] * 6, "q": [3, None, 5, 5] * 6, "r": [0, 1, 1] * 8})
    table = table_of(DagPosterior("bge", prior="uniform"), frame, None, None)
    assert table.levels == (None, None, (0, 1))
    assert table.columns[1][:4].tolist() == pytest.approx([3, np.nan, 5, 5], nan_ok=True)
    assert table.filled(np.full(12, 0.25)).values()[3].tolist() == [0.25, 5, 0]
    assert table.recipe is not None
    assert table.recipe.read(frame).fingerprint() == table.fingerprint()
    assert table_of(DagPosterior("bdeu", prior="uniform"), frame, None, None).discrete
    with collected_warnings():
        model = DagPosterior("bge", prior="uniform", samples=40, seed=1, missing="augment").fit(frame)
    model.save(tmp_path / "m")
    assert DagPosterior.load(tmp_path / "m").recipe_.to_json() == model.recipe_.to_json()


def test_an_older_recipe_that_says_drop_drops(tmp_path: Any) -> None:
    frame = frame_with(dose=["low", "high", "high", None] * 3)
    described = Recipe(missing="drop").fit(frame).to_json()
    assert Recipe.from_json(described).transform(frame).rows == 9
    Recipe(missing="drop").fit(frame).save(tmp_path / "old.toml")
    assert Recipe.load(tmp_path / "old.toml").missing == "drop"
