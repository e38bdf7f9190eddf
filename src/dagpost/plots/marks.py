"""How the direction of a pair is drawn and told: one mark and one wording for every picture, the report and notebooks.

What is known of a direction is one of six words (`dagpost.posterior.directions`). A mark says the word by its line
(whole, dashed, dotted) and its head (filled, hollow, none), so that it can be read in black and white; colour, where
there is any, only repeats it. A line without a head makes no claim: nothing hangs on which end is named first.

A column that is not modelled has a square mark, or a box with square corners, filled with grey; others are round.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dagpost._tools.arrays import Floats
from dagpost.posterior.directions import CLEAR, LABELS, LEANING, PairDirection, Word

#: The words in the order of legends.
WORDS: tuple[Word, ...] = ("clear", "leaning", "open", "rules", "model", "unknown")

#: What a legend says of each mark.
LEGEND: dict[Word, str] = {
    "clear": f"clear: compelled by the data (at least {100 * CLEAR:g}%)",
    "leaning": f"leaning: compelled by the data in {100 * LEANING:g} to {100 * CLEAR:g}%",
    **{word: LABELS[word] for word in ("open", "rules", "model", "unknown")},
}
#: What a legend says of a column that is not modelled, and with what its box is filled.
EXOGENOUS = "exogenous: given, not modelled"
EXOGENOUS_FILL = "#dcdcdc"
_HEADS: dict[Word, bool] = {"clear": True, "leaning": True, "rules": False, "model": False}
_DASHES: dict[Word, tuple[float, float]] = {"leaning": (5.0, 3.0), "model": (5.0, 3.0), "unknown": (1.2, 2.0)}


def head_of(word: Word) -> bool | None:
    """Whether the head at the end of a line is filled; None for no head.

    >>> [head_of(word) for word in ("clear", "rules", "open")]
    [True, False, None]
    """
    return _HEADS.get(word)


def dashes_of(word: Word) -> tuple[float, float] | None:
    """Strokes and gaps of a line, in points; None for a whole one."""
    return _DASHES.get(word)


def listed(words: Iterable[Word]) -> list[Word]:
    """The words that a legend explains: those that occur, each once.

    >>> listed(["rules", "open", "rules"])
    ['open', 'rules']
    """
    found = set(words)
    return [word for word in WORDS if word in found]


def mark(word: Word) -> str:
    """The mark of a word as a small SVG, pointing to the right, in the colour of the text around it.

    >>> mark("clear").count("<path"), mark("open").count("<path")
    (2, 1)
    """
    filled, dashes = head_of(word), dashes_of(word)
    end = 58 if filled is None else 47
    stroke = "" if dashes is None else f' stroke-dasharray="{1.4 * dashes[0]:g} {1.4 * dashes[1]:g}"'
    head = ""
    if filled is not None:
        fill = "currentColor" if filled else "none"
        head = f'<path class="head" d="M57 7 47 2.5V11.5Z" fill="{fill}" stroke="currentColor" stroke-width="1.4"/>'
    line = f'<path d="M2 7H{end}" fill="none" stroke="currentColor" stroke-width="2.2"{stroke}/>'
    return f'<svg class="mark {word}" viewBox="0 0 60 14" width="45" height="11" aria-hidden="true">{line}{head}</svg>'


def exogenous_mark() -> str:
    """The box of a column that is not modelled as a small SVG.

    >>> exogenous_mark().count("<rect")
    1
    """
    box = '<rect x="12" y="1.5" width="36" height="11" stroke="currentColor" stroke-width="1.4"/>'
    return f'<svg class="mark exogenous" viewBox="0 0 60 14" width="45" height="11" aria-hidden="true">{box}</svg>'


def for_layers(edges: Floats, pairs: Sequence[PairDirection]) -> Floats:
    """What a layout in layers goes by: known directions before all else, then the more frequent ones.

    Layers need some way for each line, whether it has a head or not.
    """
    wanted = edges.copy()
    for pair in pairs:
        if head_of(pair.word) is not None:
            wanted[pair.source, pair.target] = 1.0 + pair.share
            wanted[pair.target, pair.source] = 0.0
    return wanted
