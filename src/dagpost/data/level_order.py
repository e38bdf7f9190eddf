"""Are the levels of a column in an order, and in which? Whoever knows says so; else the words of the levels may.

The first that holds: the recipe's `unordered` or `order`; categories that were declared to be in an order; levels whose
words are those of a well-known scale (scales.py). Numbers and two levels are in an order by nature, and nobody has to
say it. Levels are listed in their order everywhere, the lowest first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from dagpost._tools.spelling import either
from dagpost._tools.text import shortened
from dagpost.data.encoding import Cells, is_number, number_text
from dagpost.data.number_words import number_of, reads_as_number
from dagpost.data.scales import known_order
from dagpost.errors import InputError

#: Levels of an order that are shown.
_MOST_SHOWN = 7
_TWO = 2


def in_order(
    name: str, cells: Cells, order: Sequence[object] | None, *, unordered: bool, known_scales: bool = True
) -> Cells:
    """The cells of a column of levels with values in their order, as far as there is one."""
    if unordered:
        return replace(cells, ordered=False)
    if order is not None:
        return _told_from_numbers(_as_asked(name, cells, order))
    if cells.ordered is None and known_scales and cells.kind in ("text", "declared"):
        places = known_order(cells.values)
        if places is not None:
            # Two levels are in an order anyway: which of them comes first is all that there is to say.
            ordered = True if len(places) > _TWO else None
            return replace(cells.rearranged(places, [cells.values[place] for place in places]), ordered=ordered)
    return _told_from_numbers(cells)


def _told_from_numbers(cells: Cells) -> Cells:
    """Numbers that are listed in another order than their own are names of levels, and are kept as text."""
    levels: tuple[Any, ...] = cells.levels()
    if not cells.ordered or not all(map(is_number, levels)) or all(low < high for low, high in pairwise(levels)):
        return cells
    return replace(cells, values=[number_text(level) for level in levels])


def order_in_words(levels: Sequence[object]) -> str:
    """The order of levels, as "never < former < current".

    >>> order_in_words(["never", "former", "current"])
    'never < former < current'
    """
    texts = [number_text(level) for level in levels]
    shown = texts if len(texts) <= _MOST_SHOWN else [*texts[: _MOST_SHOWN - 2], "...", texts[-1]]
    return " < ".join(shown)


def orders_to_read_signs(names: Sequence[str], levels: Sequence[Sequence[object] | None]) -> list[str]:
    """Which levels are the higher ones, each order with the columns that have it; of 0 and 1 everyone knows.

    >>> orders_to_read_signs(["age", "sex", "ill", "well"], [None, ("f", "m"), ("no", "yes"), ("no", "yes")])
    ['sex: f < m', 'ill, well: no < yes']
    """
    columns: dict[str, list[str]] = {}
    for name, own in zip(names, levels, strict=True):
        if own is not None and (len(own) > _TWO or any(isinstance(level, str) for level in own)):
            columns.setdefault(order_in_words(own), []).append(name)
    return [f"{shortened(having)}: {order}" for order, having in columns.items()]


def words_of_order(cells: Cells) -> str:
    """What was said or found about the order of the levels of a column; empty if nothing was."""
    if cells.ordered is None:
        return ""
    return f", in the order {order_in_words(cells.levels())}" if cells.ordered else ", in no order"


def _as_asked(name: str, cells: Cells, order: Sequence[object]) -> Cells:
    places = {number_text(level): place for place, level in enumerate(order)}
    lacking = [level for level in cells.levels() if number_text(level) not in places]
    if lacking:
        listed = [*order, *lacking]
        remedy = either(f"Recipe(order={{{name!r}: {listed!r}}})", f"--order '{name}={order_in_words(listed)}'")
        raise InputError(
            f"Column {name!r} has levels that its order does not name: {shortened([repr(own) for own in lacking])}. "
            f"Name all of its levels, the lowest first, as in {remedy}."
        )
    found = {number_text(level): level for level in cells.levels()}
    moved = np.array([*(places[text] for text in found), -1], dtype=np.intp)
    # A level that does not occur is one nevertheless: it was declared.
    values = [found.get(number_text(level), _like(level, cells)) for level in order]
    return replace(cells, kind="declared", places=moved[cells.places], values=values, ordered=True)


def _like(level: object, cells: Cells) -> object:
    """A level that does not occur, as those that do are."""
    return number_of(level) if cells.numeric and isinstance(level, str) and reads_as_number(level) else level
