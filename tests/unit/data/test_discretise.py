"""Cutting continuous columns into bins."""

from __future__ import annotations

import itertools
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris, load_wine
from sklearn.preprocessing import KBinsDiscretizer
from tests.tools.wording import Said

from dagpost.data import as_table, datasets, discretise
from dagpost.errors import DagpostWarning, InputError


@pytest.fixture
def frame() -> Any:
    generator = np.random.default_rng(3)
    return pd.DataFrame(
        {
            "x": generator.normal(size=300),
            "group": generator.choice(["a", "b"], 300),
            "age": generator.integers(18, 90, 300),
        }
    )


@pytest.mark.parametrize("strategy", ["quantile", "uniform", "kmeans"])
def test_only_continuous_columns_are_cut_and_values_lie_in_the_bins_named(frame: pd.DataFrame, strategy: Any) -> None:
    table = discretise(frame, bins=4, strategy=strategy)
    assert table.arities[0] == 4
    assert table.levels[1] == as_table(frame).levels[1]
    assert table.arities[2] == 4, "ages are numbers, too"
    assert table.columns[0].dtype == np.uint8
    cuts = table.recipe.step("x").cuts
    assert table.levels[0][0] == f"<{cuts[0]:g}"
    assert table.levels[0][1] == f"[{cuts[0]:g}, {cuts[1]:g})"
    assert table.levels[0][3] == f">={cuts[2]:g}"
    for position, (low, high) in enumerate(itertools.pairwise([-np.inf, *(cuts or ()), np.inf])):
        inside = frame["x"].to_numpy()[table.columns[0] == position]
        assert low <= inside.min()
        assert inside.max() < high


def test_quantile_bins_hold_equally_many_rows(frame: pd.DataFrame) -> None:
    table = discretise(frame, bins=3)
    assert np.bincount(table.columns[0]).tolist() == [100, 100, 100]


def test_columns_of_integers_are_cut_when_named(frame: pd.DataFrame) -> None:
    table = discretise(frame, bins=3, strategy="uniform", columns=["age"])
    assert table.arities[2] == 3
    assert table.levels[0] is None
    assert discretise(frame, strategy="uniform", columns="age").fingerprint() == table.fingerprint()


def test_a_column_that_is_cut_is_not_suspected_to_be_an_identifier() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        table = discretise(pd.DataFrame({"id": range(20), "y": [0, 1] * 10}), bins=2, columns=["id"])
    assert table.levels[0] == ("<10", ">=10")


@pytest.mark.parametrize("strategy", ["quantile", "uniform", "kmeans"])
def test_counts_weigh_as_the_repeated_rows_do(frame: pd.DataFrame, strategy: Any) -> None:
    counts = np.random.default_rng(5).integers(0, 4, len(frame))
    counted = discretise(as_table(frame, counts=counts), strategy=strategy)
    repeated = discretise(frame.loc[np.repeat(frame.index, counts)], strategy=strategy)
    assert counted.levels[0] == repeated.levels[0]
    assert np.repeat(counted.columns[0], counts).tolist() == repeated.columns[0].tolist()
    assert counted.observations == repeated.rows


@pytest.mark.parametrize(("strategy", "bins", "got"), [("quantile", 3, "2 bins"), ("kmeans", 4, "3 bins")])
def test_bins_that_collapse_are_reported_with_the_column(strategy: Any, bins: Any, got: Any, said: Said) -> None:
    frame = pd.DataFrame({"x": [0.5] * 18 + [1.5, 2.5], "y": ["a", "b"] * 10})
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        table = discretise(frame, bins=bins, strategy=strategy, columns=["x"])
    assert {warning.category for warning in caught} == {DagpostWarning}
    assert f"'x' falls into {got} instead of {bins}" in str(caught[0].message)
    assert table.arities[0] == int(got[0])
    said(table.recipe.step("x").rule)


def test_a_cut_at_the_smallest_value_moves_up() -> None:
    frame = pd.DataFrame({"x": [0.5] * 18 + [1.5, 2.5], "y": ["a", "b"] * 10})
    table = discretise(frame, bins=2, columns=["x"])
    assert table.levels[0] == ("<1.5", ">=1.5")


def test_equal_width_bins_stay_as_many_as_asked_even_if_empty() -> None:
    frame = pd.DataFrame({"x": [0.5] * 18 + [1.5, 2.5], "y": ["a", "b"] * 10})
    assert discretise(frame, bins=5, strategy="uniform", columns=["x"]).arities[0] == 5


@pytest.mark.parametrize("strategy", ["quantile", "uniform", "kmeans"])
def test_the_codes_are_those_of_scikit_learn(strategy: Any) -> None:
    data = load_iris().data
    binner = KBinsDiscretizer(
        3, encode="ordinal", strategy=strategy, quantile_method="averaged_inverted_cdf", subsample=None
    )
    # Sorted, since sums of k-means depend on the order of the rows in their last digits; ours do not.
    expected = binner.fit(np.sort(data, axis=0)).transform(data)
    assert discretise(data, bins=3, strategy=strategy).codes().T.tolist() == expected.tolist()


def test_a_constant_column_that_is_kept_gets_one_level_and_a_warning(said: Said) -> None:
    with said.warns(DagpostWarning):
        table = discretise(pd.DataFrame({"x": [0.5] * 8, "y": ["a", "b"] * 4}), columns=["x"])
    assert table.levels[0] == ("any",)


@pytest.mark.parametrize("scale", [1e-12, 1e12])
def test_the_bins_do_not_depend_on_the_unit(frame: pd.DataFrame, scale: Any) -> None:
    for strategy in ("quantile", "uniform", "kmeans"):
        plain = discretise(frame, strategy=strategy)
        scaled = discretise(frame.assign(x=frame["x"] * scale), strategy=strategy)
        assert scaled.columns[0].tolist() == plain.columns[0].tolist()
        assert scaled.arities == plain.arities


def test_edges_that_lie_close_are_told_apart_by_more_digits() -> None:
    close = 1000 + np.arange(13) / 64
    table = discretise(np.column_stack([close, np.arange(13) / 7]), bins=2, strategy="uniform")
    assert table.levels[0] == ("<1000.09", ">=1000.09")


def test_settings_out_of_range_are_refused(frame: pd.DataFrame, said: Said) -> None:
    for bins in (1, 2.5, "three", True, 1000):
        with said.raises(InputError):
            discretise(frame, bins=bins)
    with said.raises(InputError):
        discretise(frame, strategy="equal")
    with said.raises(InputError):
        discretise(frame, columns=["aeg"])
    with said.raises(InputError):
        discretise(frame, columns=["group"])


def test_bad_tables_are_refused_as_everywhere(frame: pd.DataFrame, said: Said) -> None:
    with said.raises(InputError):
        discretise(frame.assign(x=np.where(frame["x"] > 0, frame["x"], np.inf)))


def test_iris_in_three_equal_bins_is_the_papers_iris_but_for_values_on_an_edge() -> None:
    data = load_iris().data
    paper = datasets.load("iris").codes().T[:, :4]
    codes = discretise(data, bins=3, strategy="uniform").codes().T
    differs = codes != paper
    # The paper puts a value on an edge into the bin below, scikit-learn into the bin above.
    assert set(data[differs].tolist()) == {5.5, 6.7, 1.7}
    assert (codes[differs] == paper[differs] + 1).all()


def test_wine_in_three_equal_bins_is_the_papers_wine() -> None:
    expected = datasets.load("wine").codes()
    table = discretise(load_wine().data[:, :12], bins=3, strategy="uniform")
    assert table.codes().tolist() == expected[1:].tolist()
