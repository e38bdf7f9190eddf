"""Censored cells: numbers of which only a limit is known, such as "<0.05"."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.tools.examples import examples
from tests.tools.wording import Said

from dagpost import DagPosterior, Recipe, as_table, read_table, unroll
from dagpost.data.cut_tables import cut_numbers, cut_otherwise
from dagpost.data.gaps import without_gaps
from dagpost.data.number_words import limit_text, parsed_limits
from dagpost.data.recipe_words import notice_of_gaps
from dagpost.errors import InputError, collected_warnings

NUMBERS = [f"{number / 10:g}" for number in range(1, 25)]


def frame_with(*changed: tuple[int, Any], **columns: Any) -> pd.DataFrame:
    crp: list[Any] = list(NUMBERS)
    for row, cell in changed:
        crp[row] = cell
    return pd.DataFrame({"sex": ["f", "m"] * 12, "crp": crp, **columns})


def test_a_number_below_a_limit_is_a_gap_with_bounds(tmp_path: Path, said: Said) -> None:
    frame = frame_with((0, "<0.05"), (5, "> 100"), (7, "≤0.8"), (9, ">=3"), (11, None))
    frame.to_csv(tmp_path / "crp.csv", index=False)
    for table in (as_table(frame), read_table(tmp_path / "crp.csv")):
        assert table.levels[1] is None
        assert table.gaps is not None
        assert np.flatnonzero(table.gaps[1]).tolist() == [0, 5, 7, 9, 11]
        assert np.flatnonzero(table.censored[1]).tolist() == [0, 5, 7, 9]
        own = table.bounds[1]
        assert own is not None
        assert own[[0, 5, 11]].tolist() == [[-math.inf, 0.05], [100.0, math.inf], [-math.inf, math.inf]]
        assert own[7, 1] == math.nextafter(0.8, 1.0)
        assert own[9, 0] == math.nextafter(3.0, 0.0)
        assert table.recipe is not None
        step = table.recipe.step("crp")
        assert (step.gaps, step.censored) == (1, 4)
        said(step.why)


def test_a_decimal_comma_and_an_interval_are_understood() -> None:
    frame = frame_with((3, "<0,05"))
    frame["crp"] = [cell.replace(".", ",") for cell in frame["crp"]]
    own = as_table(frame).bounds[1]
    assert own is not None
    assert own[3, 1] == 0.05
    own = as_table(frame_with((3, "[3, 5]"))).bounds[1]
    assert own is not None
    assert limit_text(*own[3].tolist()) == "[3, 5]"


@pytest.mark.parametrize(
    "words",
    [
        ["<40", "40-60", ">60", "40-60"] * 6,  # groups
        ["<1", ">2"] * 12,  # no numbers
        ["0", "1", "2", ">=3"] * 6,  # few numbers are levels
        [*NUMBERS[:-1], "<low"],  # not a limit
        [*NUMBERS[:-1], "<inf"],
        [*NUMBERS[:-1], "[5, 3]"],
    ],
)
def test_what_is_not_a_column_of_numbers_stays_levels(words: list[str]) -> None:
    table = as_table(pd.DataFrame({"sex": ["f", "m"] * 12, "x": words}), recipe=Recipe(keep=["x"]))
    assert table.levels[1] is not None
    assert table.bounds == ()


@given(
    sign=st.sampled_from(["<", "<=", ">", ">="]),
    limit=st.decimals(-1000, 1000, places=3, allow_nan=False).map(lambda number: f"{number:f}"),
    blank=st.sampled_from(["", " "]),
)
@settings(max_examples=examples(60), deadline=None)
def test_limits_come_back_from_their_text(sign: str, limit: str, blank: str) -> None:
    found = parsed_limits([f"{sign}{blank}{limit}"])
    assert found is not None
    lower, upper = found.bounds[0]
    assert (lower < float(limit) < upper) == ("=" in sign)
    assert math.isinf(lower) == ("<" in sign)
    again = parsed_limits([limit_text(lower, upper)])
    assert again is not None
    assert again.bounds == found.bounds


def test_censored_rows_stay_whatever_is_done_about_gaps() -> None:
    frame = frame_with((0, "<0.05"), (1, None))
    for missing, rows in (("augment", 24), ("drop", 23), ("level", 24)):
        with collected_warnings():
            table = as_table(frame, recipe=Recipe(missing=missing))
        assert table.rows == rows
        assert table.censored.sum() == 1
        again = without_gaps(as_table(frame), missing)
        assert (again.rows, again.censored.sum()) == (rows, 1)
        assert again.gap_count == (2 if missing == "augment" else 1)
    with pytest.raises(InputError, match="Missing values"):
        as_table(frame, recipe=Recipe(missing="refuse"))
    assert as_table(frame_with((0, "<0.05")), recipe=Recipe(missing="refuse")).censored.sum() == 1


@pytest.mark.parametrize("score", ["bge", "conditional-gaussian"])
def test_scores_of_numbers_refuse_limits_with_the_ways_out(score: str, said: Said) -> None:
    frame = frame_with((0, "<0.05"), x=np.arange(24) ** 1.5)
    with said.raises(InputError):
        DagPosterior(score, prior="uniform").fit(frame if score != "bge" else frame.drop(columns="sex"))


def test_a_limit_falls_into_the_bin_that_holds_it(said: Said) -> None:
    frame = frame_with((0, "<0.05"), (1, "<0.5"), (2, "> 2"))
    for cut, bins in ((1.5, [0, 0, 1]), ([0.5, 2], [0, 0, 2])):
        table = as_table(frame, recipe=Recipe(cut={"crp": cut}))
        done = cut_numbers(table)
        assert done.columns[1][:3].tolist() == bins
        assert done.gaps is None
        assert done.levels[1] is not None
        assert "(missing)" not in done.levels[1]
        assert done.codes().shape == (2, 24)
    new = done.recipe.transform(pd.DataFrame({"sex": ["f"], "crp": ["<0.1"]}))
    assert new.columns[1].tolist() == [0]
    with said.raises(InputError):
        cut_numbers(as_table(frame_with((0, "<2")), recipe=Recipe(cut={"crp": 1})))


def test_cells_below_the_limit_share_in_the_quantiles_and_in_other_cuts() -> None:
    frame = frame_with(*((row, "<0.05") for row in range(12)))
    table = cut_numbers(as_table(frame, recipe=Recipe(bins=2)))
    assert table.columns[1].tolist() == [0] * 12 + [1] * 12
    other = cut_otherwise(table, 3)
    assert other.columns[1][:12].tolist() == [0] * 12
    assert np.bincount(other.columns[1]).tolist() == [12, 4, 8]


def test_limits_come_back_from_a_data_frame_and_go_with_time() -> None:
    frame = frame_with((0, "<0.05"), (5, ">=9"))
    table = as_table(frame)
    again = as_table(table.to_pandas())
    assert again.fingerprint() == table.fingerprint()
    panel = unroll(frame.assign(y=np.arange(24) % 7), lags=1)
    with_time = as_table(panel)
    place = with_time.names.index("crp[t-1]")
    assert with_time.censored[place].nonzero()[0].tolist() == [0, 5]
    assert as_table(panel.to_pandas()).censored.sum() == with_time.censored.sum() == 3


def test_the_recipe_file_counts_censored_cells(tmp_path: Path) -> None:
    recipe = Recipe().fit(frame_with((0, "<0.05")))
    recipe.save(tmp_path / "r.toml")
    assert "censored = 1" in (tmp_path / "r.toml").read_text()
    assert Recipe.load(tmp_path / "r.toml").step("crp").censored == 1


def test_a_prediction_does_not_take_a_limit_for_a_gap(said: Said) -> None:
    rng = np.random.default_rng(2)
    frame = pd.DataFrame(rng.normal(size=(60, 2)), columns=["x", "y"])
    model = DagPosterior("bge", prior="uniform").fit(frame)
    with said.raises(InputError):
        model.score_samples(pd.DataFrame({"x": ["0.1", "<0.5"], "y": [0.1, 0.2]}))


def test_a_notice_tells_limits_from_gaps() -> None:
    table = as_table(frame_with((0, "<0.05"), (1, "<0.05"), (2, None)))
    assert re.search(r"^1 cell has no value .*random.*Of 2 cells only a limit is known", notice_of_gaps(table))
    assert notice_of_gaps(as_table(frame_with((0, "<0.05")))).startswith("Of 1 cell only a limit is known ('crp': 1)")
