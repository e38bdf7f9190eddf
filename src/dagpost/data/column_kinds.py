"""What is a column: levels, a number, or nothing that a network is about?

Decided from the values and the name, whatever the type and the order of the rows, by the first rule that fits:

1. no value at all: left out. Categories that the user declared: levels.
2. one value only: left out, unless gaps are a level beside it; then the two are levels.
3. dates, by type, or text nearly all of which reads as dates (2026-11-15, 15.11.2026, with or without a time): left
   out.
4. identifiers: left out. Nearly all values (95%) are different, there are at least 20 rows, and the values are text
   without blanks, or whole numbers that are consecutive or whose name has a word such as id, number, code or key. With
   a name that can mean nothing else (id, uuid), 5 rows are enough.
5. free text, more than half of it different and most of it with blanks: left out.
6. truth values and other text: levels.
7. numbers, some of which may be censored ("<0.05"): levels if there are at most 10 different ones (and, for
   fractions, each occurs twice on average); a number otherwise.

In a table that is coded throughout, each used column with the whole numbers from 0 up to the number of its levels, as
repositories and scikit-learn's encoders have them, all columns are levels.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.text import shortened
from dagpost.data.encoding import MOST_LEVELS, Cells
from dagpost.data.number_words import reads_as_number

Use = Literal["levels", "number", "regimes", "left out"]

#: What a first column without a name is called, as pandas calls it: most likely row numbers that were saved along.
ROW_NUMBERS = "Unnamed: 0"
#: A coded table has codes below this.
MOST_CODES = 100
_NEARLY_ALL = 0.95
_ROWS_OF_IDENTIFIERS = 20
_ROWS_OF_NAMED_IDENTIFIERS = 5
_SURE_WORDS = {"id", "ids", "uuid", "guid", "identifier"}
_SURE_ENDINGS = re.compile(r".*(patient|subject|user|case|study|record|sample|row|customer|person|visit|donor)id")
_WORDS = _SURE_WORDS | {"nr", "no", "num", "number", "code", "index", "key"}
_DATE = re.compile(
    r"(?:\d{4}([-/.])(?:0?[1-9]|1[0-2])\1(?:0?[1-9]|[12]\d|3[01])|(?:0?[1-9]|[12]\d|3[01])([-/.])(?:0?[1-9]|[12]\d|3[01])\2"
    r"(?:\d{4}|\d{2}))(?:[T ]\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?: ?[AaPp][Mm])?(?:Z| ?[+-]\d{2}:?\d{2})?)?"
)


class Verdict(NamedTuple):
    """What a column is used as, and why; of a column that is left out, the reason comes before a colon."""

    use: Use
    why: str


def verdict(
    name: str, cells: Cells, counts: NDArray[np.int64] | None, *, keep: bool, gap_level: bool = False
) -> Verdict:
    """What becomes of a column; with `keep`, it is not left out unless it is empty. `gap_level`: gaps are a level.

    >>> from dagpost.data.encoding import cells_of
    >>> verdict("patient_id", cells_of("patient_id", np.arange(100)), None, keep=False)
    Verdict(use='left out', why='identifier: 100 different values in 100 rows')
    """
    counted = np.ones(len(cells.places), dtype=bool) if counts is None else counts > 0
    seen = ~cells.missing & counted
    observations = int(seen.sum() if counts is None else counts[seen].sum())
    occurring = np.zeros(len(cells.values) + 1, dtype=bool)
    occurring[cells.places[seen]] = True
    different = int(occurring[:-1].sum())
    if cells.kind == "empty" or bool(cells.missing.all()):
        return Verdict("left out", "empty: no value in any row")
    if gap_level and different == 1 and cells.kind != "declared" and bool((cells.gaps & counted).any()):
        return Verdict("levels", "one value, and gaps")
    # Two people can be alike, but do not share a name that tells them apart: each row of counts has its own.
    told_apart = int(seen.sum()) if name == ROW_NUMBERS or _surely_identifies(_words_of(name)) else observations
    if not keep and (reason := _left_out(name, cells, different, told_apart)):
        return reason
    words = {"declared": "categories as declared", "truth": "true or false"}.get(cells.kind)
    if words is not None:
        return Verdict("levels", words)
    if not cells.numeric:
        stray = stray_levels(cells.levels())
        but = f"; all but {shortened([repr(level) for level in stray])} are numbers" if stray else ""
        return Verdict("levels", f"{cells.kind}, {_times(different, 'value')}{but}")
    kind = "whole numbers" if cells.kind == "whole" else "numbers"
    why = f"{kind}, {_times(different, 'value')}{_limits_in_words(cells)}"
    repeated = cells.kind == "whole" or 2 * different <= observations
    return Verdict("levels" if different <= MOST_LEVELS and repeated else "number", why)


def stray_levels(levels: Sequence[object]) -> list[str]:
    """The few levels but for which a column of text would be one of many numbers; none in other columns.

    >>> stray_levels([*map(str, range(30, 60)), "?"])
    ['?']
    """
    texts = [level for level in levels if isinstance(level, str)]
    stray = [text for text in texts if not reads_as_number(text)]
    numbers = len(texts) - len(stray)
    return stray if numbers > MOST_LEVELS and len(stray) <= max(1, (1 - _NEARLY_ALL) * len(texts)) else []


def is_coded(columns: Iterable[Cells]) -> bool:
    """Whether each column holds the whole numbers from 0 up to the number of its levels, each twice on average."""
    return all(
        cells.kind == "whole"
        and cells.bounds is None
        and cells.values[0] == 0
        and cells.values[-1] == len(cells.values) - 1 < MOST_CODES
        and 2 * len(cells.values) <= len(cells.places)
        for cells in columns
    )


def _left_out(name: str, cells: Cells, different: int, observations: int) -> Verdict | None:
    if cells.kind == "declared":
        return None
    if different == 1:
        where = "in all rows" if not cells.missing.any() else "wherever there is one"
        return Verdict("left out", f"constant: one value {where}")
    if cells.kind in ("truth", "decimal"):
        return None
    if cells.kind == "dates" or (cells.kind == "text" and _share(cells.values, _DATE) >= _NEARLY_ALL):
        return Verdict("left out", f"dates: {_times(different, 'value')}")
    counted = f"{different:,} different values in {observations:,} rows"
    if name == ROW_NUMBERS and cells.kind == "whole" and different == observations:
        return Verdict("left out", "row numbers: a first column without a name")
    blanks = cells.kind == "text" and 2 * sum(" " in str(text) for text in cells.values) > len(cells.values)
    if different >= _NEARLY_ALL * observations and not blanks and _identifies(name, cells, different, observations):
        return Verdict("left out", f"identifier: {counted}")
    if blanks and 2 * different > observations >= _ROWS_OF_IDENTIFIERS:
        return Verdict("left out", f"free text: {counted}")
    return None


def _limits_in_words(cells: Cells) -> str:
    """How many cells are censored, and on which side."""
    if cells.bounds is None:
        return ""
    below, above = np.isfinite(cells.bounds[cells.censored]).T[::-1]
    counts = {"below": below & ~above, "above": above & ~below, "between": below & above}
    said = [f"{int(own.sum()):,} {side}" for side, own in counts.items() if own.any()]
    return f"; {', '.join(said)} {'limits' if counts['between'].any() else 'a limit'}" if said else ""


def _identifies(name: str, cells: Cells, different: int, observations: int) -> bool:
    words = _words_of(name)
    sure = _surely_identifies(words)
    if observations < (_ROWS_OF_NAMED_IDENTIFIERS if sure else _ROWS_OF_IDENTIFIERS):
        return False
    named = bool(_WORDS & set(words)) or sure
    consecutive = cells.kind == "whole" and bool(cells.values[-1] - cells.values[0] == len(cells.values) - 1)
    return cells.kind == "text" or named or (different == observations and consecutive)


def _words_of(name: str) -> list[str]:
    return re.findall(r"[a-z]+", re.sub(r"([a-z])([A-Z])", r"\1 \2", name).lower())


def _surely_identifies(words: list[str]) -> bool:
    return bool(_SURE_WORDS & set(words)) or any(map(_SURE_ENDINGS.fullmatch, words))


def _share(texts: list[str], pattern: re.Pattern[str]) -> float:
    return sum(pattern.fullmatch(text) is not None for text in texts) / len(texts)


def _times(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
