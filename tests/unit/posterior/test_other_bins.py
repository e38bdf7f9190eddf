"""Other numbers of bins: the same numbers cut again, by the same rule, and what hangs on it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.naive.sensitivity import joined_under

from dagpost import BDeu, BGe, DagPosterior, datasets, discretise
from dagpost.data.cut_tables import bins_of, cut_otherwise
from dagpost.data.recipe import Recipe
from dagpost.posterior.sensitivity import Sensitivity

# A notice that columns are cut, which is what these tests are about.
pytestmark = pytest.mark.filterwarnings("ignore:Cut into levels:dagpost.DagpostWarning")


def measured(seed: int = 4) -> pd.DataFrame:
    """Numbers and a column of levels."""
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(120, 3))
    values[:, 1] += values[:, 0]
    frame = pd.DataFrame(values, columns=["low", "middle", "high"])
    return frame.assign(sex=np.where(rng.random(120) < 0.5, "f", "m"))


def bins_tried(found: Sensitivity) -> list[str]:
    return [own.words for own in found.variations if own.choice == "bins"]


@pytest.mark.parametrize(("settings", "tried"), [({}, (2, 4, 5)), ({"recipe": Recipe(bins=4)}, (2, 3, 5))])
def test_numbers_of_bins_are_tried_as_one_would_by_hand(settings: dict[str, Any], tried: tuple[int, ...]) -> None:
    table = measured()
    found = DagPosterior(BDeu(1), **{"prior": "uniform", **settings}).fit(table).sensitivity()
    assert bins_tried(found) == [f"{bins} bins" for bins in tried]
    for place, own in enumerate(found.variations):
        by_hand = joined_under(table, own.choice, own.value, score=BDeu(1), **settings)
        np.testing.assert_allclose(found.joined[1 + place], by_hand, atol=1e-9, err_msg=own.words)


def test_an_edge_that_hangs_on_the_number_of_bins_is_marked() -> None:
    rng = np.random.default_rng(0)
    values = rng.normal(size=(300, 4))
    values[:, 1] += values[:, 0]
    values[:, 2] += 0.3 * values[:, 1]
    found = DagPosterior(BDeu(1), prior="uniform").fit(pd.DataFrame(values, columns=list("abcd"))).sensitivity()
    assert [found.verdict(pair) for pair in found.pairs() if pair.fate == "falls"] == ["falls to 0.00 with 5 bins"]


def test_points_that_the_user_gave_are_not_cut_otherwise() -> None:
    table = measured()
    points = {"low": [0.0], "middle": [-0.5, 0.5], "high": [0.0]}
    assert bins_tried(DagPosterior(BDeu(1), prior="uniform", recipe=Recipe(cut=points)).fit(table).sensitivity()) == []
    mixed = DagPosterior(BDeu(1), prior="uniform", recipe=Recipe(cut={"low": [0.0]})).fit(table)
    assert bins_tried(mixed.sensitivity()) == ["2 bins", "4 bins", "5 bins"]
    otherwise = cut_otherwise(mixed.fitted_.table, 5)
    assert otherwise.arities == (2, 5, 5, 2)
    assert otherwise.levels[0] == mixed.fitted_.table.levels[0]


@pytest.mark.parametrize("strategy", ["quantile", "uniform", "kmeans"])
def test_other_bins_are_cut_by_the_same_strategy(strategy: Any) -> None:
    table = discretise(measured(), bins=2, strategy=strategy)
    assert bins_of(table) == {2}
    for bins in (3, 5):
        expected = discretise(measured(), bins=bins, strategy=strategy)
        assert cut_otherwise(table, bins).levels == expected.levels
        assert cut_otherwise(table, bins).fingerprint() == expected.fingerprint()
    assert cut_otherwise(cut_otherwise(table, 5), 2).fingerprint() == table.fingerprint()


def test_other_bins_are_tried_after_loading_with_rows_and_with_gaps(tmp_path: Path) -> None:
    table = measured()
    table.loc[3:9, "middle"] = np.nan
    model = DagPosterior(BDeu(1), prior="uniform", missing="level").fit(table)
    model.save(tmp_path / "m", rows=True)
    found = DagPosterior.load(tmp_path / "m").sensitivity()
    assert bins_tried(found) == ["2 bins", "4 bins", "5 bins"]
    assert found.to_json() == model.sensitivity().to_json()


def test_without_numbers_there_is_nothing_to_cut_otherwise() -> None:
    assert (
        bins_tried(DagPosterior(BGe(), prior="uniform").fit(measured()[["low", "middle", "high"]]).sensitivity()) == []
    )
    table = datasets.load("coronary")
    assert bins_of(table) == frozenset()
    assert cut_otherwise(table, 2) is table
    few = discretise(measured()).with_counts(np.arange(120) % 3)
    assert cut_otherwise(few, 2).rows == few.rows == 80
