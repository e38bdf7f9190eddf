"""Columns that are one series at several times are treated alike: what is decided for `X` holds for `X[t-1]`.

Choices that name a series hold at all times. What a series is (levels, a number, left out) and where it is cut is
decided by its present values.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from dagpost.data.time_columns import series_and_lag

if TYPE_CHECKING:
    from dagpost._tools.arrays import Floats
    from dagpost.data.encoding import Cells
    from dagpost.data.recipe_reading import Choices
    from dagpost.data.recipe_steps import Step

#: What is true of the values of one time alone.
_OF_ONE_TIME = ("constant", "empty")


def at_all_times(choices: Choices, names: Sequence[str]) -> Choices:
    """The choices with the earlier columns of every series that is named, unless they have one of their own."""

    def widened(given: Sequence[str]) -> tuple[str, ...]:
        return (*given, *(name for name in names if name not in given and series_and_lag(name)[0] in given))

    cut = {name: choices.cut[key] for name in names if (key := _key(name, choices.cut)) is not None}
    order = {name: choices.order[key] for name in names if (key := _key(name, choices.order)) is not None}
    return choices._replace(
        columns=None if choices.columns is None else widened(choices.columns),
        drop=widened(choices.drop),
        keep=widened(choices.keep),
        cut={**choices.cut, **cut},
        order={**choices.order, **order},
        unordered=widened(choices.unordered),
    )


def _key(name: str, known: Mapping[str, Any]) -> str | None:
    return next((key for key in (name, series_and_lag(name)[0]) if key in known), None)


def decided_alike(decided: Sequence[tuple[Step, Cells | None]]) -> list[tuple[Step, Cells | None]]:
    """The same uses of all columns of a series."""
    steps = {step.name: step for step, _ in decided}
    return [(_like(step, steps.get(series_and_lag(step.name)[0]), cells), cells) for step, cells in decided]


def _like(step: Step, present: Step | None, cells: Cells | None) -> Step:
    if present is None or present.name == step.name or present.use == step.use or cells is None:
        return step
    if any(one.why.startswith(_OF_ONE_TIME) for one in (step, present)):
        return step
    if present.use == "number" and not cells.numeric:
        return step
    return replace(step, use=present.use, why=present.why)


def cut_alike(step: Step, numbers: Floats, bounds: Floats | None, steps: Mapping[str, Step]) -> Step | None:
    """The step of an earlier column with the cuts of the present one; None where that leaves all values in one bin."""
    from dagpost.data.recipe_steps import Rule
    from dagpost.errors import InputError

    present = steps.get(series_and_lag(step.name)[0])
    if present is None or present.name == step.name or present.cuts is None or np.isnan(numbers).all():
        return None
    try:
        cut = step.cut(numbers, None, Rule(points=present.cuts), bounds)
    except InputError:
        return None
    return replace(cut, rule=present.rule)
