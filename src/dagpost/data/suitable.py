"""Which tables can a score take? Others are refused, with what can be done about it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dagpost._tools.spelling import bare, either, setting
from dagpost._tools.text import shortened
from dagpost.data.encoding import number_text
from dagpost.data.number_words import limit_text
from dagpost.errors import InputError

if TYPE_CHECKING:
    from dagpost.data.table import Columns, Table

_DISCRETISE = 'discretise(data, bins=3, strategy="quantile"), or --discretise quantile on the command line'


def refuse_other_than(table: Table, kind: Columns) -> None:
    """Refuse columns that a score of this kind cannot take."""
    if kind == "ordered":
        _refuse_nominal(table)
        return
    refuse_censored(table)
    if kind == "mixed":
        return
    continuous = [name for name, levels in zip(table.names, table.levels, strict=True) if levels is None]
    if kind == "discrete" and continuous:
        raise InputError(
            f"{columns_are(continuous)} continuous, and a discrete score needs levels. "
            f"Discretise first: {either(_DISCRETISE, '--discretise quantile')}; or, if all columns are continuous, "
            f"use {setting('score', 'bge')}."
        )
    if kind == "discrete":
        return
    discrete, with_gaps = table.not_numeric(), table.with_gap_levels()
    if discrete:
        raise InputError(
            f"{columns_are(discrete)} not made of numbers, and a score for continuous data needs numbers. Leave "
            f"{'it' if len(discrete) == 1 else 'them'} out, or use a discrete score such as "
            f"{setting('score', 'bdeu')}."
        )
    if with_gaps:
        raise InputError(
            f"{columns_are(with_gaps, 'has', 'have')} gaps, which are not numbers, and a score for continuous data "
            f"needs numbers. Have them completed ({setting('missing', 'augment')}), drop the incomplete rows "
            f"({setting('missing', 'drop')}), or use a discrete score such as {setting('score', 'bdeu')}."
        )


def _refuse_nominal(table: Table) -> None:
    """Refuse levels in no order."""
    found = [name for name, ordered in zip(table.names, table.ordered, strict=True) if not ordered]
    if found:
        order = either(f"Recipe(order={{{found[0]!r}: [lowest, ..., highest]}})", f"--order '{found[0]}=low<...<high'")
        mixed = f"use {setting('score', 'conditional-gaussian')}"
        if table.censored.any():
            mixed += f" and cut columns with censored cells, which that score does not take ({_cut_at_limit(table)})"
        raise InputError(
            f"{columns_are(found, 'has', 'have')} three or more levels in no order, and the latent Gaussian score "
            f"needs one. Say which it is ({order}), {mixed}, or put a column of 0 and 1 for each level but one in "
            f"{'its' if len(found) == 1 else 'their'} place, and name those in {bare('exogenous')}."
        )


def refuse_censored(table: Table) -> None:
    """Refuse numbers of which only a limit is known: such a score takes numbers, or gaps of which nothing is known."""
    censored = table.censored
    places = np.flatnonzero(censored.any(axis=1)).tolist()
    if not places:
        return
    counted = [f"{table.names[place]!r} ({int(censored[place].sum()):,})" for place in places]
    example = limit_text(*_first_limits(table)[1])
    raise InputError(
        f"Of some numbers only a limit is known, such as {example!r}: {shortened(counted)}. This "
        f"score needs numbers, and to leave such rows out, or to take such cells as gaps, would shift what is found. "
        f"Use {setting('score', 'latent-gaussian')}, which takes limits as they are, or cut the column at its limit "
        f"for a discrete score ({_cut_at_limit(table)})."
    )


def _first_limits(table: Table) -> tuple[str, tuple[float, float]]:
    """The first column with censored cells, and between which numbers the first of them lies."""
    place = int(table.censored.any(axis=1).argmax())
    own = table.bounds[place]
    assert own is not None
    lower, upper = own[int(table.censored[place].argmax())].tolist()
    return table.names[place], (lower, upper)


def _cut_at_limit(table: Table) -> str:
    """How to cut the first column with censored cells at the limit of the first of them."""
    name, (lower, upper) = _first_limits(table)
    limit = number_text(upper if np.isfinite(upper) else lower)
    return either(f"Recipe(cut={{{name!r}: {limit}}})", f"--cut {name}={limit}")


def columns_are(names: list[str], one: str = "is", several: str = "are") -> str:
    """The beginning of a sentence about some columns.

    >>> columns_are(["a"]), columns_are(["a", "b"], "has", "have")
    ("Column 'a' is", "Columns 'a', 'b' have")
    """
    noun, verb = ("Column", one) if len(names) == 1 else ("Columns", several)
    return f"{noun} {shortened([repr(name) for name in names])} {verb}"
