"""New rows of a table with time."""

from __future__ import annotations

import numpy as np
import pytest
from tests.tools.wording import Said
from tests.unit.data.test_unroll import PANEL

from dagpost import DagPosterior, unroll
from dagpost.errors import DagpostWarning, InputError

FRAME = PANEL[["id", "week", "x", "y"]]


@pytest.fixture(scope="module")
def model() -> DagPosterior:
    return DagPosterior("bge", prior="uniform", max_parents=2, samples=100, seed=1).fit(
        unroll(FRAME, time="week", subject="id")
    )


def test_a_panel_is_unrolled_and_each_row_keeps_its_place(model: DagPosterior, said: Said) -> None:
    new = FRAME[FRAME["id"].isin(["p3", "p4"])].sample(frac=1.0, random_state=1)
    unrolled = unroll(new, time="week", subject="id")
    expected = np.full(len(new), np.nan)
    expected[unrolled.positions] = model.score_samples(unrolled)
    with said.warns(DagpostWarning):
        found = model.score_samples(new)
    assert np.array_equal(found, expected, equal_nan=True)
    assert np.isfinite(model.score_samples(unrolled.to_pandas())).all()


def test_rows_without_times_and_earlier_values_are_refused(model: DagPosterior, said: Said) -> None:
    with said.raises(InputError):
        model.score_samples(FRAME.drop(columns="week"))
