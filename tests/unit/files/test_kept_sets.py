"""Considered sets in files: what was written comes back, and what cannot be is refused before a kernel sees it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.tools.considered import random_sets
from tests.tools.wording import Said

from dagpost._tools.schema import Sizes
from dagpost.files.kept_sets import are_in, check_sets, considered_in, parts_of


def test_sets_come_back() -> None:
    considered = random_sets(70, 7, 3, 4)
    about, arrays = parts_of(considered)
    check_sets(about, arrays, Sizes(nodes=70), 3)
    again = considered_in(about, arrays)
    assert are_in(arrays)
    for name in ("start", "members", "log_weights", "lost", "missed"):
        np.testing.assert_array_equal(getattr(again, name), getattr(considered, name))
        assert getattr(again, name).dtype == getattr(considered, name).dtype
    assert again.scored == considered.scored


def beyond(arrays: Any) -> None:
    arrays["considered_members"][3, 0] = 71


def below(arrays: Any) -> None:
    arrays["considered_members"][3, 0] = -1


def own(arrays: Any) -> None:
    arrays["considered_members"][0] = [0, 70, 70]


def twisted(arrays: Any) -> None:
    arrays["considered_members"][0] = [6, 5, 70]


def gap(arrays: Any) -> None:
    arrays["considered_members"][0] = [70, 5, 70]


def twice(arrays: Any) -> None:
    arrays["considered_members"][1] = arrays["considered_members"][0]


def rising(arrays: Any) -> None:
    arrays["considered_log_weights"][0] = -50.0


def infinite(arrays: Any) -> None:
    arrays["considered_log_weights"][0] = -np.inf


def more(arrays: Any) -> None:
    arrays["considered_counts"][0] += 1


def none(arrays: Any) -> None:
    arrays["considered_counts"][:2] = [0, arrays["considered_counts"][:2].sum()]


def wild(arrays: Any) -> None:
    arrays["considered_counts"][:] = 2**53


def short(arrays: Any) -> None:
    arrays["considered_lost"] = arrays["considered_lost"][:-1]


def missing(arrays: Any) -> None:
    del arrays["considered_missed"]


@pytest.mark.parametrize(
    "change", [beyond, below, own, twisted, gap, twice, rising, infinite, more, none, wild, short, missing]
)
def test_what_cannot_be_is_refused(change: Any) -> None:
    about, arrays = parts_of(random_sets(70, 7, 3, 4))
    arrays = {name: array.copy() for name, array in arrays.items()}
    change(arrays)
    with pytest.raises(ValueError, match=r"considered|parent"):
        check_sets(about, arrays, Sizes(nodes=70), 3)


def test_more_parents_than_the_model_allows_are_refused(said: Said) -> None:
    about, arrays = parts_of(random_sets(70, 7, 3, 4))
    with said.raises(ValueError):
        check_sets(about, arrays, Sizes(nodes=70), 2)
