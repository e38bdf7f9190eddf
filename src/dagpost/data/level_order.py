"""Are the levels of a column in an order, and in which? Whoever knows says so; else the words of the levels may.

The first that holds: the recipe's `unordered` or `order`; categories that were declared to be in an order; levels whose
words are those of a well-known scale. Numbers and two levels are in an order by nature, and nobody has to
say it. Levels are listed in their order everywhere, the lowest first.

Levels whose words say which order they are in: never < former < current, stage I < stage II, 40-60 < >60.

A column is recognised only if all of its levels are different steps of one scale, whatever their case, so that one odd
level is enough to leave it alone. The list (scales.txt) is short on purpose: words that are a scale in one field and
names in another (primary and secondary, type I and type II, single letters) are not in it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dagpost._tools.spelling import either
from dagpost._tools.text import shortened
from dagpost.data.encoding import Cells, is_number, number_text
from dagpost.data.number_words import number_of, parsed_limits, reads_as_number
from dagpost.errors import InputError

#: Each scale from its lowest step on; a step may have several words, of which a column has one.
SCALES = tuple(
    tuple(line.split(" < ")) for line in Path(__file__).with_name("scales.txt").read_text(encoding="utf-8").splitlines()
)

_PLACES = tuple({word: place for place, step in enumerate(scale) for word in step.split("|")} for scale in SCALES)
#: Of two levels, the one that says that there is nothing comes first: none < hypertension.
_NOTHING = {"no", "none", "never", "absent", "negative", "control", "placebo", "unaffected", "healthy"}
#: What says of a word that it does not hold: untreated < treated, non-smoker < smoker.
_NOT = ("un", "in", "non", "non ", "not ", "no ")
#: Up to ten; larger ones are single letters or rare.
_NUMERALS = ["i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x"]
_ROMAN = {numeral: number for number, numeral in enumerate(_NUMERALS, start=1)}
_OF_SEVERAL_LETTERS = {number for numeral, number in _ROMAN.items() if len(numeral) > 1}
_STAGE = re.compile(
    r"(?P<word>(?:stage|grade|class|level|degree|nyha|asa|ecog)?) ?(?P<number>\d{1,2}|[ivx]{1,4})(?P<letter>[a-d]?)"
)
_RANGE = re.compile(r"(?P<low>\d+(?:\.\d+)?) ?(?:-|–|to) ?(?P<high>\d+(?:\.\d+)?)")
_FROM = re.compile(r"(?P<low>\d+(?:\.\d+)?) ?(?:\+|and over|and older|or more|or older)")
_HALF_OPEN = re.compile(r"(?P<left>[\[(])(?P<low>[^\s,]+), (?P<high>[^\s,]+)(?P<right>[\])])")


def known_order(levels: Sequence[object]) -> list[int] | None:
    """The places of levels from the lowest to the highest, if their words are those of one scale; else None.

    >>> levels = ["Current", "former", "never"]
    >>> [levels[place] for place in known_order(levels)]
    ['never', 'former', 'Current']
    >>> known_order(["red", "green"]) is None
    True
    """
    if len(levels) < 2 or not all(isinstance(level, str) for level in levels):
        return None
    words = [" ".join(re.split(r"[\s_-]+", str(level).casefold())).strip() for level in levels]
    on_scales = ([places[word] for word in words] for places in _PLACES if places.keys() >= {*words})
    for found in (*on_scales, _stages(words), _intervals([*map(str, levels)])):
        if found is not None and len(set(found)) == len(found):
            return sorted(range(len(levels)), key=found.__getitem__)
    if len(words) == _TWO:
        first, second = (_says_nothing(*pair) for pair in (words, words[::-1]))
        return None if first == second else [0, 1] if first else [1, 0]
    return None


def _says_nothing(word: str, other: str) -> bool:
    """Whether the first of two words says that there is nothing, or that the other does not hold."""
    return word in _NOTHING or other == f"ab{word}" or any(word == f"{prefix}{other}" for prefix in _NOT)


class _Stage(NamedTuple):
    word: str
    roman: bool
    number: int
    letter: str


def _stages(words: list[str]) -> list[tuple[int, str]] | None:
    """Stages with a number: "stage 2", "Grade III", "IIb"."""
    stages = [own for word in words if (own := _stage(word)) is not None]
    if len(stages) < len(words) or len({own.word for own in stages}) > 1:
        return None
    # A stage 0 may come before the first with a numeral.
    if len({own.roman for own in stages if own.number}) > 1:
        return None
    # Letters such as I, V and X may be anything; II is a numeral.
    if not stages[0].word and not (stages[-1].roman and any(own.number in _OF_SEVERAL_LETTERS for own in stages)):
        return None
    return [(own.number, own.letter) for own in stages]


def _stage(word: str) -> _Stage | None:
    found = _STAGE.fullmatch(word)
    if found is None:
        return None
    number, roman = found["number"], not found["number"].isdecimal()
    if roman and number not in _ROMAN:
        return None
    return _Stage(found["word"], roman, _ROMAN[number] if roman else int(number), found["letter"])


def _intervals(texts: list[str]) -> list[tuple[float, float]] | None:
    """Groups of numbers that do not overlap: "<40", "40-60", ">60"; "[0, 5)", ">=5"; "0", "1-4", "5+"."""
    found = [_interval(text.strip()) for text in texts]
    known = [own for own in found if own is not None]
    if len(known) < len(texts) or all(low == high for low, high in known):
        return None
    # A limit that belongs to its group is a little further out.
    apart = all(one[1] <= math.nextafter(other[0], math.inf) for one, other in pairwise(sorted(known)))
    return known if apart else None


def _interval(text: str) -> tuple[float, float] | None:
    if reads_as_number(text):
        number = float(text.replace(",", "."))
        return (number, number) if math.isfinite(number) else None
    for pattern in (_RANGE, _FROM, _HALF_OPEN):
        if own := pattern.fullmatch(text):
            ends = [own["low"], own["high"] if "high" in own.groupdict() else "inf"]
            if not all(map(reads_as_number, ends)):
                return None
            low, high = (float(number_of(end)) for end in ends)
            return (low, high) if low <= high else None
    limits = parsed_limits([text])
    return None if limits is None else limits.bounds[0]


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
