"""The reference cases: one entry each."""

from __future__ import annotations

from functools import partial

from dagpost.data import datasets
from dagpost.reference.case import DISCRETE, Case
from dagpost.scores import BDeu

#: Every case by its name, small ones first.
CASES: dict[str, Case] = {
    case.name: case
    for case in (
        Case(
            "coronary",
            "1,841 Czech car workers and six risk factors of coronary disease (Edwards & Havranek 1985).",
            DISCRETE,
            BDeu(1.0),
            5,
            make=partial(datasets.load, "coronary"),
        ),
        Case(
            "tic-tac-toe",
            "All 958 end positions of the game, and whether cross won; a row of the tables of He, Tian & Wu (2016).",
            DISCRETE,
            BDeu(1.0),
            5,
            ("paper",),
            make=partial(datasets.load, "tic-tac-toe"),
        ),
        Case(
            "wine",
            "178 Italian wines, class and 12 measurements cut in three; a row of the tables of He, Tian & Wu (2016).",
            DISCRETE,
            BDeu(1.0),
            5,
            ("paper",),
            make=partial(datasets.load, "wine"),
        ),
    )
}
