"""What must hold for the recipe of any table: it repeats itself, can be written down, and ignores the order of rows."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.naive import cutting as naive
from tests.tools.examples import examples
from tests.tools.wording import Said

from dagpost.data.cutting import bin_names, bin_of, cut_points
from dagpost.data.recipe import Recipe
from dagpost.errors import InputError

ROWS = 24


@st.composite
def columns(draw: st.DrawFn) -> list[Any]:
    """A column of any kind, with gaps or without."""
    kind = draw(st.sampled_from(["number", "whole", "few", "text", "truth", "written", "constant", "id"]))
    cells = {
        "number": st.floats(-1e6, 1e6, allow_nan=False, width=32),
        "whole": st.integers(0, 200),
        "few": st.integers(0, 3),
        "text": st.sampled_from(["low", "middle", "high", " low"]),
        "truth": st.booleans(),
        "written": st.integers(0, 99).map(lambda number: f"{number}.5"),
        "constant": st.just("same"),
        "id": st.integers(0, 10**9).map(lambda number: f"P{number}"),
    }[kind]
    found: list[Any] = draw(st.lists(cells, min_size=ROWS, max_size=ROWS))
    gaps = draw(st.sets(st.integers(0, ROWS - 1), max_size=2))
    return [None if row in gaps else cell for row, cell in enumerate(found)]


@st.composite
def frames(draw: st.DrawFn) -> pd.DataFrame:
    """A table of several such columns; some columns that are always used come first."""
    fixed = {"a": ["x", "y"] * (ROWS // 2), "b": ["u", "v", "w"] * (ROWS // 3)}
    more = draw(st.lists(columns(), min_size=1, max_size=4))
    return pd.DataFrame({**fixed, **{f"c{place}": cells for place, cells in enumerate(more)}})


recipes = st.builds(
    Recipe,
    bins=st.integers(2, 5),
    strategy=st.sampled_from(["quantile", "uniform"]),
    missing=st.sampled_from(["augment", "drop", "level"]),
)


@given(frame=frames(), recipe=recipes)
@settings(max_examples=examples(60), deadline=None)
def test_transforming_the_rows_it_was_fitted_to_repeats_the_decisions(frame: pd.DataFrame, recipe: Recipe) -> None:
    table = recipe.fit(frame).transform(frame)
    assert table.discrete
    assert table.names == tuple(recipe.get_feature_names_out())
    assert Recipe(**recipe.get_params()).fit_transform(frame).fingerprint() == table.fingerprint()
    assert table.recipe is not None
    assert table.recipe.to_json() == recipe.to_json()
    assert table.rows + recipe.dropped_rows_ == len(frame)
    for step, column in zip([step for step in recipe.steps_ if step.used], table.columns, strict=True):
        assert column.max() < len(step.levels or ())


@given(frame=frames(), recipe=recipes)
@settings(max_examples=examples(60), deadline=None)
def test_a_recipe_in_json_is_the_same_recipe(frame: pd.DataFrame, recipe: Recipe) -> None:
    recipe.fit(frame)
    again = Recipe.from_json(json.loads(json.dumps(recipe.to_json())))
    assert again.to_json() == recipe.to_json()
    assert again.steps_ == recipe.steps_
    assert again.transform(frame).fingerprint() == recipe.transform(frame).fingerprint()


@given(frame=frames(), recipe=recipes, seed=st.integers(0, 99))
@settings(max_examples=examples(60), deadline=None)
def test_shuffled_rows_have_the_same_recipe(frame: pd.DataFrame, recipe: Recipe, seed: int) -> None:
    shuffled = frame.sample(frac=1.0, random_state=seed).reset_index(drop=True)
    assert Recipe(**recipe.get_params()).fit(shuffled).steps_ == recipe.fit(frame).steps_


@given(frame=frames(), recipe=recipes)
@settings(max_examples=40, deadline=None)
def test_text_says_the_same_as_values(frame: pd.DataFrame, recipe: Recipe) -> None:
    written = frame.map(lambda cell: "" if pd.isna(cell) else str(cell)).astype(object)
    table, other = recipe.fit_transform(frame), Recipe(**recipe.get_params()).fit_transform(written)
    assert other.fingerprint() == table.fingerprint()


values_with_ties = st.lists(st.integers(-5, 5).map(float) | st.floats(-1e3, 1e3, width=32), min_size=1, max_size=40)


@given(values=values_with_ties, bins=st.integers(2, 6))
def test_quantile_bins_are_those_of_the_twin(values: list[float], bins: int) -> None:
    cuts = cut_points(np.array(values), None, bins, "quantile")
    assert bin_of(np.array(values), cuts).tolist() == naive.quantile_bins(values, bins)
    assert len(bin_names(cuts)) == len(cuts) + 1


@given(values=st.lists(st.integers(-99, 99).map(float), min_size=1, max_size=40), bins=st.sampled_from([2, 4, 8]))
def test_bins_of_equal_width_are_those_of_the_twin(values: list[float], bins: int) -> None:
    cuts = cut_points(np.array(values), None, bins, "uniform")
    assert bin_of(np.array(values), cuts).tolist() == naive.uniform_bins(values, bins)


@given(values=values_with_ties, bins=st.integers(2, 6), data=st.data())
def test_counts_weigh_as_repeated_rows(values: list[float], bins: int, data: st.DataObject) -> None:
    counts = np.array(data.draw(st.lists(st.integers(1, 3), min_size=len(values), max_size=len(values))))
    for strategy in ("quantile", "uniform"):
        expected = cut_points(np.repeat(values, counts), None, bins, strategy)
        assert cut_points(np.array(values), counts, bins, strategy) == expected


@given(value=st.floats(allow_nan=False, allow_infinity=False))
def test_every_new_number_has_a_bin(value: float) -> None:
    frame = pd.DataFrame({"x": np.arange(40) / 7, "y": ["a", "b"] * 20})
    recipe = Recipe(bins=3).fit(frame)
    table = recipe.transform(pd.DataFrame({"x": [value], "y": ["a"]}))
    assert table.columns[0][0] in (0, 1, 2)


def test_an_unfitted_recipe_transforms_nothing(said: Said) -> None:
    with said.raises(InputError):
        Recipe().transform(pd.DataFrame({"a": [1, 2], "b": [3, 4]}))
