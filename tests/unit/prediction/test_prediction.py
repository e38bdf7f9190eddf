"""Prediction as a user meets it: new rows of every kind, what is refused and how, files of counts."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import polars
import pyarrow
import pytest
from tests.tools.family_columns import family_log_predictive
from tests.tools.wording import Said

from dagpost._tools import memory
from dagpost.data import Table, as_table
from dagpost.data.conversion import checked_table
from dagpost.data.recipe import Recipe
from dagpost.engines import ThreadEngine
from dagpost.errors import DagpostWarning, InputError, ResourceError
from dagpost.files import archive as storage
from dagpost.methods.targets import STRUCTURE
from dagpost.posterior.sample import DagSample
from dagpost.prediction import (
    DiscreteStatistics,
    GaussianStatistics,
    averaging,
    elimination,
    encode_rows,
    log_predictive,
    predictive_of_target,
    statistics_from,
    sufficient_statistics,
)
from dagpost.scores import BIC, BDeu

NAMES = ("rain", "sprinkler", "wet")
#: No edges; rain -> wet; rain -> wet <- sprinkler.
DAGS = np.array([[0, 0, 0], [0, 0, 1], [0, 0, 3]], dtype=np.uint8)


def training() -> Table:
    rows = [("no", 0, False)] * 7 + [("no", 1, True)] * 5 + [("yes", 0, True)] * 4 + [("yes", 0, False)]
    return as_table(pandas.DataFrame(rows, columns=list(NAMES)))


def sample_of(weights: tuple[float, ...] = (0.2, 0.3, 0.5), names: tuple[str, ...] = NAMES) -> DagSample:
    nan = np.full(len(weights), np.nan)
    return DagSample(
        names,
        DAGS[: len(weights)],
        nan,
        nan,
        nan,
        np.array(weights),
        STRUCTURE,
        "exact-layers",
        "independent",
        "given weights",
    )


def counted() -> DiscreteStatistics:
    statistics = sufficient_statistics(training(), DAGS, "bdeu")
    assert isinstance(statistics, DiscreteStatistics)
    return statistics


def predict(data: Any, **settings: Any) -> np.ndarray:
    return log_predictive(sample_of(), counted(), "bdeu", data, **settings)


NEW = pandas.DataFrame({"rain": ["yes", "no", "no"], "sprinkler": [1, 0, 1], "wet": [True, True, False]})


# New rows


def test_a_row_by_hand() -> None:
    """BDeu with one imagined row: (1/2 + 5)/(1 + 17) for rain, and so on."""
    rain, sprinkler = (0.5 + 5) / 18, (0.5 + 5) / 18
    wet = [(0.5 + 9) / 18, (0.25 + 4) / (0.5 + 5), 0.5]
    expected = math.log(rain * sprinkler * (0.2 * wet[0] + 0.3 * wet[1] + 0.5 * wet[2]))
    assert predict(NEW)[0] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    "make",
    [
        lambda frame: frame[["wet", "rain", "sprinkler"]],
        polars.from_pandas,
        pyarrow.Table.from_pandas,
        checked_table,
        lambda frame: frame.to_numpy(dtype=object),
        lambda frame: frame.astype({"sprinkler": float}),
        lambda frame: frame.astype("category"),
        lambda frame: frame.assign(rain=pandas.Categorical(frame["rain"], ["yes", "maybe", "no"])),
    ],
    ids=["other order", "polars", "pyarrow", "table", "array", "floats", "categories", "levels that do not occur"],
)
def test_new_rows_come_from_any_library_in_any_order(make: Any) -> None:
    np.testing.assert_allclose(predict(make(NEW)), predict(NEW), rtol=1e-14)


def test_new_rows_come_from_a_file(tmp_path: Path) -> None:
    NEW.to_csv(tmp_path / "new.csv", index=False)
    np.testing.assert_array_equal(predict(tmp_path / "new.csv"), predict(NEW))


@pytest.mark.parametrize(
    "data",
    [
        NEW.drop(columns="wet"),
        NEW.assign(rain=["yes", "no", "snow"]),
        NEW.assign(sprinkler=["1", "0", "2"]),
        NEW.assign(sprinkler=[0.5, 0.0, 1.0]),
        NEW.head(0),
        NEW.to_numpy(dtype=object)[:, :2],
        [["yes", 1, True]],
        NEW.set_axis(["rain", "rain", "wet"], axis=1),
    ],
)
def test_rows_that_do_not_fit_are_refused(data: Any, said: Said) -> None:
    with said.raises(InputError):
        predict(data)


def test_columns_that_are_not_variables_may_be_there_and_types_do_not_matter() -> None:
    expected = predict(NEW)
    for same in (
        NEW.assign(date="2024-01-01", place=2),
        NEW.assign(sprinkler=NEW["sprinkler"].astype(str)),
        NEW.assign(sprinkler=NEW["sprinkler"].astype(float)),
        NEW.astype("category"),
        NEW.astype(str).astype("category"),
        NEW.to_numpy(dtype=object),
    ):
        np.testing.assert_array_equal(predict(same), expected)


def test_an_unknown_choice_for_unseen_levels_is_refused(said: Said) -> None:
    with said.raises(InputError):
        predict(NEW, unseen="skip")


def test_a_level_that_was_not_seen_has_the_probability_of_one_that_did_not_occur() -> None:
    rows = encode_rows(NEW.assign(rain=["snow", "no", "no"]), counted(), unseen="prior")
    families = np.array([0, 2, 2]), np.array([0, 0, 1], dtype=np.uint64)
    found = np.exp(family_log_predictive(counted(), "bdeu", *families, rows)[:, 0])
    # Rain itself; wet without parents, whom it does not concern; wet given rain: a configuration without rows.
    np.testing.assert_allclose(found, [0.5 / 18, 9.5 / 18, 0.5], rtol=1e-12)
    assert np.isfinite(predict(NEW.assign(rain="snow", wet=True), unseen="prior")).all()


def test_columns_that_were_set_from_outside_count_as_given() -> None:
    both = checked_table(NEW, None, ["rain", None, ["sprinkler", "rain"]])
    moved = Table(both.names[::-1], both.columns[::-1], both.levels[::-1], None, np.array([4, 0, 6], dtype=np.uint64))
    found = predict(both)
    np.testing.assert_allclose(found, predict(moved), rtol=1e-14)
    factors = np.log([5.5 / 18, 1.0, (12.5 / 18) * (5.5 / 18)])
    np.testing.assert_allclose(found, predict(NEW) - np.where([True, False, True], factors, 0.0), rtol=1e-12)


# The levels of a column


def test_a_target_may_be_missing_in_part_or_altogether() -> None:
    expected = predictive_of_target(sample_of(), counted(), "bdeu", NEW, "wet")
    for data in (
        NEW.drop(columns="wet"),
        NEW.assign(wet=np.array([None, True, None], dtype=object)),
        NEW.assign(wet="who knows"),
        polars.from_pandas(NEW.drop(columns="wet")),
    ):
        np.testing.assert_array_equal(predictive_of_target(sample_of(), counted(), "bdeu", data, "wet"), expected)
    joint = np.exp([predict(NEW.assign(wet=level)) for level in (False, True)]).T
    np.testing.assert_allclose(expected, joint / joint.sum(axis=1, keepdims=True), rtol=1e-12)
    np.testing.assert_allclose(expected.sum(axis=1), 1.0, rtol=1e-14)


def test_targets_that_cannot_be_predicted_are_refused(said: Said) -> None:
    def predicted(data: Any, target: str) -> np.ndarray:
        return predictive_of_target(sample_of(), counted(), "bdeu", data, target)

    with said.raises(InputError):
        predicted(NEW, "wett")
    with said.raises(InputError):
        predicted(checked_table(NEW, None, [None, "wet", None]), "wet")
    table = as_table(pandas.DataFrame(np.random.default_rng(1).normal(size=(9, 3)), columns=list(NAMES)))
    statistics = sufficient_statistics(table, DAGS, "bge")
    with said.raises(InputError):
        predictive_of_target(sample_of(), statistics, "bge", table, "wet")


def test_gaps_are_refused_where_the_recipe_refuses_them(said: Said) -> None:
    recipe = Recipe.of_levels(counted().names, counted().levels)
    recipe.missing = "refuse"
    gaps = NEW.assign(rain=np.array(["yes", None, "no"], dtype=object), wet=None)
    with said.raises(InputError):
        predictive_of_target(sample_of(), counted(), "bdeu", gaps, "wet", recipe=recipe)
    assert np.isfinite(predictive_of_target(sample_of(), counted(), "bdeu", gaps, "wet")).all()


def test_a_gap_in_a_column_that_was_set_has_no_prediction(said: Said) -> None:
    """Nothing says which value it was set to, in contrast to one that was only not observed."""
    rows = encode_rows(NEW, counted())
    gaps = np.zeros((3, 3), dtype=bool)
    gaps[0, :2] = True
    rows = rows._replace(gaps=gaps, interventions=np.array([1, 0, 0], dtype=np.uint64))
    with said.warns(DagpostWarning):
        found = log_predictive(sample_of(), counted(), "bdeu", rows)
    np.testing.assert_array_equal(np.isnan(found), [True, False, False])


def test_sums_over_gaps_that_are_too_large_are_refused(monkeypatch: pytest.MonkeyPatch, said: Said) -> None:
    monkeypatch.setattr(averaging, "_FEW_COMPLETIONS", 0)
    monkeypatch.setattr(elimination, "_MOST_ENTRIES", 2.0)
    gaps = NEW.assign(rain=None, sprinkler=None)
    with said.raises(InputError):
        log_predictive(sample_of(), counted(), "bdeu", gaps)


# Scores


class OwnScore:
    def fill(self, *_: Any) -> None:
        pass


def test_a_score_without_a_known_prior_is_refused(said: Said) -> None:
    with said.raises(InputError):
        sufficient_statistics(training(), DAGS, OwnScore())
    with said.raises(InputError):
        log_predictive(sample_of(), counted(), OwnScore(), NEW)


def test_a_score_for_the_other_kind_of_columns_is_refused(said: Said) -> None:
    with said.raises(InputError):
        log_predictive(sample_of(), counted(), "bge", NEW)
    table = as_table(pandas.DataFrame(np.random.default_rng(1).normal(size=(9, 3)), columns=list(NAMES)))
    statistics = sufficient_statistics(table, DAGS, "bge")
    with said.raises(InputError):
        log_predictive(sample_of(), statistics, "bdeu", table)


def test_bic_stands_in_half_an_observation_for_every_cell() -> None:
    statistics = sufficient_statistics(training(), DAGS[:1], BIC())
    found = log_predictive(sample_of((1.0,)), statistics, "bic", NEW)
    assert found[0] == pytest.approx(math.log((5.5 / 18) * (5.5 / 18) * (9.5 / 18)), abs=1e-12)


def test_continuous_rows_may_hold_whole_numbers_but_no_text(said: Said) -> None:
    frame = pandas.DataFrame(np.random.default_rng(1).normal(size=(9, 3)), columns=list(NAMES))
    statistics = sufficient_statistics(as_table(frame), DAGS, "bge")
    whole = frame.head(2).assign(rain=[1, 3])
    expected = log_predictive(sample_of(), statistics, "bge", whole.astype(float))
    np.testing.assert_array_equal(log_predictive(sample_of(), statistics, "bge", whole), expected)
    for wrong in (["a", "b"], [True, False]):
        with said.raises(InputError):
            log_predictive(sample_of(), statistics, "bge", whole.assign(rain=wrong))
    with said.raises(InputError):
        log_predictive(sample_of(), statistics, "bge", whole.assign(rain=[1e120, 0.5]))


# Counts


def test_counts_of_other_graphs_or_columns_are_refused(said: Said) -> None:
    statistics = sufficient_statistics(training(), DAGS[:2], "bdeu")
    assert statistics.covers(DAGS[:2])
    assert not statistics.covers(DAGS)
    with said.raises(InputError):
        log_predictive(sample_of(), statistics, "bdeu", NEW)
    with said.raises(InputError):
        log_predictive(sample_of(names=("a", "b", "c")), statistics, "bdeu", NEW)
    with said.raises(InputError):
        sufficient_statistics(training(), DAGS[:, :2].copy(), "bdeu")


def test_a_family_with_more_cells_than_can_be_numbered_is_refused(said: Said) -> None:
    generator = np.random.default_rng(1)
    codes = generator.integers(0, 100, (100, 10))
    table = Table(
        tuple(f"v{node}" for node in range(10)),
        tuple(column.astype(np.uint8) for column in codes.T),
        (tuple(range(100)),) * 10,
    )
    everything = np.array([[0] * 9 + [511]], dtype=np.uint16)
    with said.raises(InputError):
        sufficient_statistics(table, everything, "bdeu")
    fewer = np.array([[0] * 9 + [255]], dtype=np.uint16)
    statistics = sufficient_statistics(table, fewer, BDeu(1.0))
    rows = encode_rows(table, statistics)
    found = family_log_predictive(statistics, BDeu(1.0), np.array([9]), np.array([255], dtype=np.uint64), rows)
    # Every row of training is a configuration of its own.
    share = (1e-18 + 1) / (1e-16 + 1)
    np.testing.assert_allclose(found, math.log(share), atol=1e-12)


def test_counting_stops_where_memory_ends(monkeypatch: pytest.MonkeyPatch, said: Said) -> None:
    monkeypatch.setattr(memory, "available_bytes", lambda: 16)
    with said.raises(ResourceError):
        counted()


@pytest.mark.parametrize("kind", ["discrete", "continuous"])
def test_counts_survive_a_file(kind: str, tmp_path: Path) -> None:
    table, score = training(), "bdeu"
    if kind == "continuous":
        table = as_table(pandas.DataFrame(np.random.default_rng(1).normal(size=(9, 3)), columns=list(NAMES)))
        score = "bge"
    statistics = sufficient_statistics(table, DAGS, score)
    storage.write_archive(tmp_path / "counts", "model", {"statistics": statistics.about()}, statistics.arrays())
    about, arrays = storage.read_archive(tmp_path / "counts", "model")
    again = statistics_from(about["statistics"], arrays)
    assert repr(again) == repr(statistics)
    if isinstance(again, DiscreteStatistics):
        assert again.levels == (("no", "yes"), (0, 1), (False, True))
    expected = log_predictive(sample_of(), statistics, score, table)
    np.testing.assert_array_equal(log_predictive(sample_of(), again, score, table), expected)


@pytest.mark.parametrize(
    ("about", "arrays"),
    [
        ({"kind": "other"}, {}),
        ({"levels": [["no", "yes"], [0, 1]]}, {}),
        ({"levels": [["no"], [0], [False]]}, {}),
        ({"levels": 3}, {}),
        ({"names": ["a"]}, {}),
        ({}, {"cells": lambda array: array[:-1]}),
        ({}, {"cells": lambda array: array[::-1]}),
        ({}, {"cells": lambda array: array + 200}),
        ({}, {"cells": lambda array: array.astype(float)}),
        ({}, {"counts": lambda array: array * 0}),
        ({}, {"starts": lambda array: array[::-1]}),
        ({}, {"starts": lambda array: array + 1}),
        ({}, {"children": lambda array: array + 1}),
        ({}, {"children": lambda array: array[::-1]}),
        ({}, {"parents": lambda array: array + 8}),
        ({}, {"parents": lambda array: array + 4}),
        ({}, {"parents": lambda array: array.reshape(1, -1)}),
    ],
)
def test_damaged_counts_are_refused(about: dict, arrays: dict, said: Said) -> None:
    with said.raises(InputError):
        statistics_from(
            {**counted().about(), **about},
            {name: arrays.get(name, np.copy)(array) for name, array in counted().arrays().items()},
        )


def test_counts_with_a_missing_array_are_refused(said: Said) -> None:
    for name in counted().arrays():
        arrays = counted().arrays()
        del arrays[name]
        with said.raises(InputError):
            statistics_from(counted().about(), arrays)


@pytest.mark.parametrize(
    "change",
    [
        {"group_of": np.array([0, 0, 1])},
        {"group_of": np.array([0, 0])},
        {"means": np.zeros((1, 2))},
        {"scatters": np.full((1, 3, 3), np.nan)},
        {"observations": np.array([-1.0])},
        {"centre": np.zeros(2)},
    ],
)
def test_damaged_means_and_scatters_are_refused(change: dict, said: Said) -> None:
    table = as_table(pandas.DataFrame(np.random.default_rng(1).normal(size=(9, 3)), columns=list(NAMES)))
    statistics = sufficient_statistics(table, DAGS, "bge")
    assert isinstance(statistics, GaussianStatistics)
    with said.raises(InputError):
        statistics_from(statistics.about(), {**statistics.arrays(), **change})


# Engines


def test_progress_is_reported_strip_by_strip() -> None:
    class Reporter:
        stages: list[tuple[str, int]] = []  # noqa: RUF012

        def stage(self, title: str, total: int) -> Any:
            from dagpost._tools.progress import Stage

            self.stages.append((title, total))
            return Stage(title, total, lambda *_: None)

    reporter = Reporter()
    many = pandas.concat([NEW] * 50, ignore_index=True)
    statistics = sufficient_statistics(training(), DAGS, "bdeu", reporter=reporter)
    found = log_predictive(sample_of(), statistics, "bdeu", many, engine=ThreadEngine(2), reporter=reporter)
    np.testing.assert_array_equal(found, np.tile(predict(NEW), 50))
    assert reporter.stages == [("counts for prediction", 5), ("prediction", 3)]
