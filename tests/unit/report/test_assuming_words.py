"""What a report says of assuming something, by what it holds."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from dagpost.report.about import what_if
from dagpost.report.content import Content


def content(columns: int = 5, **about: Any) -> Content:
    usual = {"exact": False, "of_sample": False, "omitted": {}}
    return cast(Content, SimpleNamespace(names=("x",) * columns, **{**usual, **about}))


def packed(draws: int, whole: int, different: int) -> dict[str, Any]:
    return {"draws": draws, "of": whole, "graphs": different}


@pytest.mark.parametrize(
    ("about", "graphs", "said"),
    [
        ({}, packed(300, 300, 300), "those of the 300 graphs in this file in which that holds."),
        ({}, packed(3_000, 3_000, 20), "those of the 3,000 graphs in this file, 20 of them different, in which"),
        ({}, packed(300, 900, 300), "graphs in this file (the sample has 900, too many for one page) in which"),
        ({"exact": True}, packed(3, 3, 3), "dagpost explore MODEL sums over all graphs instead, exactly"),
        ({"of_sample": True}, packed(3, 3, 3), "with the model that drew these graphs"),
        ({"columns": 65}, None, "graphs of more than 64 variables would make it too large. dagpost explore MODEL"),
        ({"omitted": {"directions": "It takes long"}}, None, "for it holds no graphs. It takes long."),
    ],
)
def test_the_report_says_what_can_be_assumed(about: dict[str, Any], graphs: Any, said: str) -> None:
    assert said in what_if(content(**about), graphs)
