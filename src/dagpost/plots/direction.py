"""How sure the direction of an edge is, in one word, the same in every picture and in the report.

Given that two variables are joined, the share of the more probable direction decides. Pictures say the word twice, so
that it can be read in black and white: by the line (whole, dashed, dotted) and by its heads (filled, hollow, none).
Colour, where there is any, only repeats it.

Graphs that a greedy search found say nothing of that kind: of equally good directions it picks one, the same in every
replicate. Their lines have no heads ("picked").
"""

from __future__ import annotations

import math

#: From this share on a direction is clear: a whole line with one filled head.
CLEAR = 0.9
#: From this share on it leans: a dashed line, a filled head and a hollow one. Below, both heads are hollow.
LEANING = 0.6

#: The words in the order of legends; "unknown" stands there only where it occurs: a dotted line without heads.
DIRECTIONS = ("clear", "leaning", "open", "unknown")
LABELS = {
    "clear": f"clear (at least {100 * CLEAR:g}%)",
    "leaning": f"leans to the filled head ({100 * LEANING:g} to {100 * CLEAR:g}%)",
    "open": f"open (below {100 * LEANING:g}%)",
    "unknown": "not known",
    "picked": "not shown: the search may have picked it",
}


def direction_of(onward: float, back: float) -> str:
    """The word for a pair with these probabilities of its two directions; "unknown" where one of them is nan.

    >>> [direction_of(0.8, 0.05), direction_of(0.3, 0.7), direction_of(0.5, 0.5), direction_of(0.5, float("nan"))]
    ['clear', 'leaning', 'open', 'unknown']
    """
    joined = onward + back
    if math.isnan(joined) or joined <= 0.0:
        return "unknown"
    share = max(onward, back) / joined
    if share >= CLEAR:
        return "clear"
    return "leaning" if share >= LEANING else "open"


def heads_of(direction: str) -> tuple[bool | None, bool | None]:
    """Whether the heads at the end and at the start of a line are filled; None for no head.

    >>> heads_of("leaning")
    (True, False)
    """
    return {"clear": (True, None), "leaning": (True, False), "open": (False, False)}.get(direction, (None, None))
