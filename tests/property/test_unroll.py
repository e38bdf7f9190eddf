"""Unrolling any panel, with gaps and subjects of any length, is what looking through its rows gives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.naive import unroll as naive
from tests.tools.examples import examples

from dagpost import unroll
from dagpost.errors import InputError


@st.composite
def panels(draw: st.DrawFn) -> tuple[list[naive.Row], int]:
    """Rows of subjects at some of the times, in any order, and the distance of two times."""
    scale = draw(st.sampled_from([1, 7]))
    times = st.sets(st.integers(0, 8), min_size=1, max_size=7)
    rows = [
        {"id": subject, "time": scale * time + subject % 2}
        for subject in range(draw(st.integers(1, 4)))
        for time in draw(times)
    ]
    rows = draw(st.permutations(rows))
    return [{**row, "x": place, "y": -place} for place, row in enumerate(rows)], scale


@given(panel=panels(), lags=st.integers(1, 3), kind=st.sampled_from(["whole", "fractions", "dates"]))
@settings(max_examples=examples(80), deadline=None)
def test_unrolling_is_what_looking_through_the_rows_gives(panel: Any, lags: int, kind: str) -> None:
    rows, _ = panel
    step = naive.usual_step(rows)
    assume(step is not None)
    assert step is not None
    frame = pd.DataFrame(rows)
    if kind == "fractions":
        frame["time"] = frame["time"] * 0.1
    elif kind == "dates":
        frame["time"] = pd.Timestamp("2023-02-24") + pd.to_timedelta(frame["time"], unit="D")
    expected = naive.unrolled(rows, ["x", "y"], lags, step)
    if not expected:
        with pytest.raises(InputError, match="No row has rows of its subject"):
            unroll(frame, time="time", subject="id", lags=lags, static=[])
        return
    found = unroll(frame, time="time", subject="id", lags=lags, static=[])
    assert found.to_pandas().to_dict("records") == expected
    record = found.record
    assert (record.beginnings, record.gaps) == naive.lost(rows, lags, step)
    assert record.used + record.beginnings + record.gaps == record.rows == len(rows)
    assert [rows[place]["x"] for place in found.positions] == [row["x"] for row in expected]


@given(panel=panels(), lags=st.integers(1, 2))
@settings(max_examples=40, deadline=None)
def test_the_wide_form_of_a_panel_is_unrolled_as_its_long_form(panel: Any, lags: int) -> None:
    rows, scale = panel
    rows = [{**row, "time": (row["time"] - row["id"] % 2) // scale, "place": row["id"] * 10.0} for row in rows]
    frame = pd.DataFrame(rows)
    columns = [(name, time) for time in sorted({row["time"] for row in rows}) for name in ("x", "y")]
    wide = pd.DataFrame(
        {f"{name}_w{time}": pd.Series({r["id"]: r[name] for r in rows if r["time"] == time}) for name, time in columns}
    ).sort_index()
    wide["place"] = np.array(wide.index) * 10.0
    try:
        expected = unroll(frame, time="time", subject="id", lags=lags, static=["place"], step=1)
    except InputError:
        with pytest.raises(InputError):
            unroll(wide, wide="{series}_w{time}", lags=lags, step=1)
        return
    found = unroll(wide, wide="{series}_w{time}", lags=lags, step=1)
    assert found.to_pandas().astype(float).equals(expected.to_pandas().astype(float))
