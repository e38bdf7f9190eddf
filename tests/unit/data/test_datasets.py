"""The bundled data sets are what they say they are."""

from __future__ import annotations

import itertools
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.tools.reference import table_of
from tests.tools.wording import Said

from dagpost.data import Table, datasets, read_table
from dagpost.errors import InputError


def expanded(table: Table) -> np.ndarray:
    """One row per observation, sorted."""
    rows = table.codes().T
    if table.counts is not None:
        rows = np.repeat(rows, table.counts, axis=0)
    return rows[np.lexsort(rows.T[::-1])]


def arities_in_use(table: Table) -> list[int]:
    return [len(np.unique(column)) for column in table.columns]


@pytest.mark.parametrize(
    ("name", "begin"),
    [("coronary", "d9232dbf"), ("tic-tac-toe", "490ddb7a"), ("iris", "14b480cf"), ("wine", "5c40d8a6")],
)
def test_the_tables_are_those_that_were_compared_with_the_files(name: str, begin: str) -> None:
    """The tests below compare them, where those files are there."""
    assert datasets.load(name).fingerprint().startswith(begin)


def test_coronary_has_the_published_counts(shared_data: Path) -> None:
    table = datasets.load("coronary")
    published = pd.read_csv(shared_data / "real" / "reinis_counts.csv")
    assert (table.rows, table.observations) == (64, 1841)
    assert np.array_equal(table.codes().T + 1, published.drop(columns="count"))
    assert table.counts is not None
    assert np.array_equal(table.counts, published["count"])


def test_the_papers_copy_of_coronary_merges_two_cells(shared_data: Path) -> None:
    """The values that were computed independently are those of that copy."""
    table, copy = table_of("coronary"), read_table(shared_data / "coronary.csv")
    assert (table.names, table.levels) == (copy.names, copy.levels)
    assert np.array_equal(expanded(table), expanded(copy))
    changed = np.flatnonzero(table.counts != datasets.load("coronary").counts)
    assert table.codes()[:, changed].T.tolist() == [[1, 0, 0, 0, 0, 0], [1, 1, 0, 0, 0, 0]]


def test_tic_tac_toe_has_958_end_positions_of_which_x_wins_626() -> None:
    table = datasets.load("tic-tac-toe")
    assert table.rows == 958
    assert table.names[:2] == ("top-left", "top-middle")
    assert table.names[-2:] == ("bottom-right", "class")
    assert Counter(table.columns[9].tolist()) == {1: 626, 0: 332}
    assert len(np.unique(table.codes(), axis=1).T) == 958


def test_tic_tac_toe_is_the_papers_up_to_the_numbers_of_the_levels(shared_data: Path) -> None:
    table = datasets.load("tic-tac-toe")
    paper = pd.read_csv(shared_data / "paper" / "tictactoe.csv").to_numpy()
    target = Counter(map(tuple, paper.tolist()))
    found = []
    for squares in itertools.permutations(range(3)):
        for outcome in itertools.permutations(range(2)):
            mapped = [np.array(squares)[column] for column in table.columns[:9]]
            rows = np.stack([*mapped, np.array(outcome)[table.columns[9]]], axis=1)
            found.append(Counter(map(tuple, rows.tolist())) == target)
    assert any(found)


@pytest.mark.parametrize(("name", "columns"), [("iris", 5), ("wine", 13)])
def test_iris_and_wine_are_the_papers(shared_data: Path, name: str, columns: int) -> None:
    table = datasets.load(name)
    paper = pd.read_csv(shared_data / "paper" / f"{name}.csv").to_numpy().T
    assert len(table.names) == columns
    assert table.codes().tolist() == paper.tolist()
    assert list(table.arities) == arities_in_use(table)


def test_iris_and_wine_have_readable_names_and_levels() -> None:
    iris, wine = datasets.load("iris"), datasets.load("wine")
    assert iris.names == ("sepal_length", "sepal_width", "petal_length", "petal_width", "species")
    assert iris.levels[0] == ("[4.3, 5.5]", "(5.5, 6.7]", "(6.7, 7.9]")
    assert iris.levels[4] == ("setosa", "versicolor", "virginica")
    assert wine.names[0] == "class"
    assert "proline" not in wine.names


def test_asia_is_drawn_from_the_published_network() -> None:
    # 1e6 rows: every frequency below has a standard error under 0.005 (the rarest condition, about 10,000
    # rows); the limits are 5 standard errors and the seed is fixed.
    table = datasets.load("asia", rows=1_000_000, seed=1)
    column = dict(zip(table.names, (c.astype(bool) for c in table.columns), strict=True))

    def close(event: Any, condition: Any, probability: Any) -> Any:
        error = np.sqrt(probability * (1 - probability) / condition.sum())
        return abs(event[condition].mean() - probability) <= 5 * error

    always = np.ones(table.rows, dtype=bool)
    assert close(column["asia"], always, 0.01)
    assert close(column["smoke"], always, 0.5)
    for given, tub in ((True, 0.05), (False, 0.01)):
        assert close(column["tub"], column["asia"] == given, tub)
    for given, lung, bronc in ((True, 0.1, 0.6), (False, 0.01, 0.3)):
        assert close(column["lung"], column["smoke"] == given, lung)
        assert close(column["bronc"], column["smoke"] == given, bronc)
    assert np.array_equal(column["either"], column["tub"] | column["lung"])
    for given, xray in ((True, 0.98), (False, 0.05)):
        assert close(column["xray"], column["either"] == given, xray)
    for bronc, either, dysp in ((1, 1, 0.9), (0, 1, 0.7), (1, 0, 0.8), (0, 0, 0.1)):
        assert close(column["dysp"], (column["bronc"] == bronc) & (column["either"] == either), dysp)


@pytest.mark.parametrize(("name", "usual"), [("asia", 1000), ("cohort", 1500)])
def test_drawn_data_depends_on_the_seed_alone_and_longer_draws_begin_alike(name: str, usual: int) -> None:
    short, long = datasets.load(name, rows=100, seed=4), datasets.load(name, rows=300, seed=4)
    assert np.array_equal(short.codes(), long.codes()[:, :100])
    assert datasets.load(name).rows == usual
    assert datasets.load(name).fingerprint() == datasets.load(name, rows=usual, seed=0).fingerprint()
    assert datasets.load(name, seed=1).fingerprint() != datasets.load(name, seed=2).fingerprint()


@pytest.mark.long
def test_each_column_of_the_cohort_depends_on_its_causes_as_declared() -> None:
    # 200,000 rows; for each column the most frequent combination of its causes, which occurs in at least 3,000 rows.
    # The limit is 5 standard errors: a false alarm in one of 36 columns and at most 2 cuts each has a chance below
    # 5e-5, and the seed is fixed.
    table = datasets.load("cohort", rows=200_000, seed=1)
    codes = dict(zip(table.names, table.columns, strict=True))
    for name, column in datasets.columns_of("cohort").items():
        assert table.levels[table.names.index(name)] == tuple(column["levels"])
        strengths = column.get("causes", {})
        causes = [codes[cause] for cause in strengths] or [np.zeros(table.rows, dtype=int)]
        seen, member, count = np.unique(np.stack(causes), axis=1, return_inverse=True, return_counts=True)
        rows = codes[name][member.reshape(-1) == count.argmax()]
        assert len(rows) >= 3_000
        score = seen[:, count.argmax()] @ np.array([*strengths.values()] or [0.0])
        for level, cut in enumerate(column["cuts"]):
            above = 1.0 / (1.0 + np.exp(cut - score))
            assert abs((rows > level).mean() - above) <= 5 * np.sqrt(above * (1 - above) / len(rows)), (name, level)


def test_no_cause_in_the_cohort_is_measured_after_its_effect() -> None:
    def age(name: str) -> int:
        end = name.rpartition("_")[2]
        return int(end) if end.isdigit() else 0

    table = datasets.load("cohort")
    assert (table.rows, len(table.names)) == (1500, 36)
    assert {age(name) for name in table.names} == {0, 7, 30, 45, 60}
    edges = datasets.true_edges("cohort")
    assert all(age(cause) <= age(effect) for cause, effect in edges)
    assert all(table.names.index(cause) < table.names.index(effect) for cause, effect in edges)


def test_the_true_graph_of_asia_is_that_of_the_columns_it_is_drawn_from() -> None:
    table = datasets.load("asia")
    assert {name for edge in datasets.true_edges("asia") for name in edge} == set(table.names)
    assert len(datasets.true_edges("asia")) == 8


def test_real_data_have_no_true_graph_that_anybody_knows(said: Said) -> None:
    with said.raises(InputError):
        datasets.true_edges("coronary")


@pytest.mark.parametrize("name", ["asia", "cohort"])
@pytest.mark.parametrize("rows", [0, -5, 2.5, "many", True])
def test_drawn_data_needs_a_whole_number_of_rows(name: str, rows: Any, said: Said) -> None:
    with said.raises(InputError):
        datasets.load(name, rows=rows)


@pytest.mark.parametrize("name", ["asia", "cohort"])
def test_drawn_data_needs_a_seed_that_is_a_number(name: str, said: Said) -> None:
    with said.raises(InputError):
        datasets.load(name, seed=-1)


def test_other_data_sets_take_neither_rows_nor_seed(said: Said) -> None:
    with said.raises(InputError):
        datasets.load("coronary", rows=10)


def test_an_unknown_name_is_an_error_with_the_nearest_or_all_names(said: Said) -> None:
    with said.raises(InputError):
        datasets.load("coronry")
    with said.raises(InputError):
        datasets.describe("zzz")


@pytest.mark.parametrize("name", datasets.names())
def test_every_data_set_is_discrete_and_described_in_one_line_with_its_source(name: str) -> None:
    table = datasets.load(name)
    assert table.discrete
    assert len(table.names) >= 5
    description = datasets.describe(name)
    assert "\n" not in description
    assert "(" in description
