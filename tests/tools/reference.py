"""Values that were computed independently, in 80-bit arithmetic, for several tables.

The values for the tables that come with dagpost are in tests/reference. Those for the other tables, and the tables
themselves, are not part of the project: where they are not beside it, tests of them are skipped.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dagpost.data import Table, datasets, read_table

TESTS = Path(__file__).resolve().parents[1]
SHARED_DATA = TESTS.parents[1] / "shared" / "data"
#: The names that the tables have here.
BUNDLED = {"coronary": "coronary", "iris": "iris", "tictactoe": "tic-tac-toe", "wine": "wine"}
CASES = [*BUNDLED, "glass", "housing", *(f"syn15_m{rows}" for rows in (100, 200, 500, 1000, 2000, 5000))]


def shared_folder() -> Path:
    """The folder of reference data; without it, the test is skipped."""
    if not SHARED_DATA.is_dir():
        pytest.skip(f"the reference data is not there ({SHARED_DATA.name} beside the project)")
    return SHARED_DATA


def table_of(case: str) -> Table:
    """The table of a case."""
    if case == "coronary":
        return coronary_of_the_paper()
    return datasets.load(BUNDLED[case]) if case in BUNDLED else read_table(shared_folder() / "paper" / f"{case}.csv")


def coronary_of_the_paper() -> Table:
    """The copy that He, Tian & Wu analysed: 107 and 0 smokers where 40 and 67 were published."""
    table = datasets.load("coronary")
    assert table.counts is not None
    counts = np.array(table.counts)
    without_mental_work, with_mental_work = 32, 48
    counts[without_mental_work] += counts[with_mental_work]
    counts[with_mental_work] = 0
    return replace(table, counts=counts)


def values_of(case: str) -> dict[str, Any]:
    """The values of a case, by score and prior."""
    folder = TESTS / "reference" if case in BUNDLED else shared_folder() / "expected"
    values: dict[str, Any] = json.loads((folder / f"{case}.json").read_text())
    return values
