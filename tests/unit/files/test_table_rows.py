"""The rows of a table in a file: what is known of censored cells and of the order of levels comes back."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.tools.wording import Said

from dagpost.data.table import Table
from dagpost.files.data_schema import check_rows
from dagpost.files.table_rows import rows_of, table_of


def censored_table() -> Table:
    """Four rows: a number below a limit and one above, and levels in an order and in none."""
    bounds = np.full((4, 2), [-np.inf, np.inf])
    bounds[1, 1], bounds[2, 0] = 0.05, 9.0
    return Table(
        ("crp", "smoking", "clinic"),
        (
            np.array([0.3, np.nan, np.nan, 1.5]),
            np.array([0, 1, 2, 0], dtype=np.uint8),
            np.array([0, 1, 2, 0], dtype=np.uint8),
        ),
        (None, ("never", "former", "current"), (1, 2, 3)),
        gaps=np.array([[False, True, True, False], [False] * 4, [False] * 4]),
        bounds=(bounds, None, None),
        in_order=("smoking",),
        unordered=("clinic",),
    )


def test_bounds_and_orders_come_back() -> None:
    table = censored_table()
    about, arrays = rows_of(table)
    check_rows(about, arrays)
    again = table_of(about, arrays)
    assert again.fingerprint() == table.fingerprint()
    assert again.ordered == table.ordered == (True, True, False)
    assert again.bounds[0] is not None
    np.testing.assert_array_equal(again.bounds[0], table.bounds[0])
    assert again.bounds[1:] == (None, None)


def _with(place: tuple[int, int], value: float) -> Any:
    def change(arrays: dict[str, Any]) -> None:
        arrays["bounds0"] = arrays["bounds0"].copy()
        arrays["bounds0"][place] = value

    return change


def _of_levels(arrays: dict[str, Any]) -> None:
    arrays["bounds1"] = arrays.pop("bounds0")


@pytest.mark.parametrize(
    "change",
    [
        _with((0, 1), 3.0),
        _with((1, 0), 3.0),
        _of_levels,
    ],
)
def test_bounds_that_cannot_be_are_refused(change: Any, said: Said) -> None:
    about, arrays = rows_of(censored_table())
    change(arrays)
    with said.raises(ValueError):
        check_rows(about, arrays)
