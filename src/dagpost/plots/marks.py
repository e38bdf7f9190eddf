"""How the direction of a pair is drawn and told: one mark and one wording for every picture, the report and notebooks.

What is known of a direction is one of six words (`dagpost.posterior.directions`). What is certain looks strong, what is
open looks light: a line is the wider and darker the more probable it is, and a line of which the direction is open is
thinner and paler than one with a direction. The head says the word in black and white too: filled for a clear
direction, an open angle for one that leans, hollow for one that rules or the model decide (finely dashed for the
model), none where the data cannot tell. Colour, where there is any, only repeats it. A line without a head makes no
claim: nothing hangs on which end is named first.

A column that is not modelled has a square box, filled with grey; others are round.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any, Literal

from dagpost.posterior.pair_direction import CLEAR, LABELS, LEANING, Word

#: The words in the order of legends.
WORDS: tuple[Word, ...] = ("clear", "leaning", "open", "rules", "model", "unknown")

#: What a legend says of each mark.
LEGEND: dict[Word, str] = {
    "clear": f"clear: compelled by the data (at least {100 * CLEAR:g}%)",
    "leaning": f"leaning: compelled by the data in {100 * LEANING:g} to {100 * CLEAR:g}%",
    **{word: LABELS[word] for word in ("open", "rules", "model", "unknown")},
}
#: What a legend says of a column that is not modelled.
EXOGENOUS = "exogenous: given, not modelled"

Head = Literal["filled", "angle", "hollow"]
Ink = Literal["line", "given", "open"]


@dataclass(frozen=True)
class Look:
    """How the lines of a word look.

    `widths` and `strengths` are those of a line that is hardly there and of a certain one; a strength of 1 is the full
    colour, 0 that of the paper. `dashes` are strokes and gaps, in points; () for a whole line. `ink` names the colour.
    """

    head: Head | None
    dashes: tuple[float, ...]
    widths: tuple[float, float]
    strengths: tuple[float, float]
    ink: Ink

    def width(self, probability: float) -> float:
        """Width of a line, in points."""
        return self.widths[0] + (self.widths[1] - self.widths[0]) * probability

    def strength(self, probability: float) -> float:
        """How strong the colour of a line is."""
        return self.strengths[0] + (self.strengths[1] - self.strengths[0]) * probability


LOOKS: dict[Word, Look] = {
    "clear": Look("filled", (), (0.6, 2.2), (0.3, 1.0), "line"),
    "leaning": Look("angle", (), (0.5, 1.6), (0.25, 0.9), "line"),
    "rules": Look("hollow", (), (0.6, 1.5), (0.35, 0.95), "given"),
    "model": Look("hollow", (3.6, 2.0), (0.6, 1.1), (0.35, 0.95), "given"),
    "open": Look(None, (), (0.3, 1.5), (0.2, 0.85), "open"),
    "unknown": Look(None, (0.9, 2.2), (0.6, 1.2), (0.35, 0.8), "open"),
}
#: The colours of pictures that are not part of a page, which has its own.
COLOURS: dict[str, str] = {
    "line": "#12263f",
    "given": "#6a2c80",
    "open": "#5f6b78",
    "paper": "#ffffff",
    "ink": "#16191d",
    "quiet": "#57606a",
    "border": "#4a5563",
    "exogenous": "#dcdfe3",
}
#: Length of a head and how much wider than its line it is, in points.
_HEAD_LENGTH, _HEAD_EXTRA = 7.6, 5.0
#: Width of the stroke around a head, in points; an angle is as wide as its line.
HEAD_STROKES: dict[Head, float] = {"filled": 0.6, "hollow": 1.1}

#: The marks of a line that is assumed, and of one that is assumed away, around their middles.
LOCK = "M-3.6,-0.6H3.6V4.6H-3.6ZM-2.1,-0.6V-2.4A2.1,2.1 0 0 1 2.1,-2.4V-0.6"
CROSS = "M-4,-4L4,4M-4,4L4,-4"


def head_of(word: Word) -> Head | None:
    """The head at the end of a line; None for no head.

    >>> [head_of(word) for word in ("clear", "leaning", "rules", "open")]
    ['filled', 'angle', 'hollow', None]
    """
    return LOOKS[word].head


def head_size(word: Word, probability: float) -> tuple[float, float]:
    """Length and width of a head, in points; nothing for a line without one.

    >>> head_size("open", 1.0)
    (0.0, 0.0)
    """
    if head_of(word) is None:
        return 0.0, 0.0
    return _HEAD_LENGTH, LOOKS[word].width(probability) + _HEAD_EXTRA


def looks_as_data() -> dict[str, Any]:
    """All looks for a script that draws lines anew, as plain data.

    >>> looks_as_data()["words"]["leaning"]["head"], looks_as_data()["head"]
    ('angle', {'length': 7.6, 'extra': 5.0, 'strokes': {'filled': 0.6, 'hollow': 1.1}})
    """
    return {
        "words": {word: asdict(look) for word, look in LOOKS.items()},
        "head": {"length": _HEAD_LENGTH, "extra": _HEAD_EXTRA, "strokes": dict(HEAD_STROKES)},
        "marks": {"lock": LOCK, "cross": CROSS},
    }


def mixed(ink: str, strength: float) -> str:
    """A colour of `COLOURS`, paler: mixed with that of the paper.

    >>> mixed("paper", 0.5), mixed("line", 1.0)
    ('#ffffff', '#12263f')
    """
    parts = [[int(COLOURS[name][place : place + 2], 16) for name in (ink, "paper")] for place in (1, 3, 5)]
    return "#" + "".join(f"{round(strength * one + (1.0 - strength) * two):02x}" for one, two in parts)


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
    look = LOOKS[word]
    end = 45 if look.head in ("filled", "hollow") else 57
    dashes = f' stroke-dasharray="{" ".join(f"{1.5 * part:g}" for part in look.dashes)}"' if look.dashes else ""
    width, strength = 1.3 * look.width(1.0), look.strength(1.0)
    heads = {
        "filled": '<path class="head" d="M57 7 45 2V12Z" fill="currentColor" stroke="none"/>',
        "hollow": '<path class="head" d="M56 7 45.5 2.6V11.4Z" fill="none" stroke="currentColor" stroke-width="1.4"/>',
        "angle": '<path class="head" d="M47 1.8 57 7 47 12.2" fill="none" stroke="currentColor" stroke-width="1.9"/>',
    }
    head = "" if look.head is None else heads[look.head]
    line = f'<path d="M2 7H{end}" fill="none" stroke="currentColor" stroke-width="{width:.2g}"{dashes}/>'
    return (
        f'<svg class="mark {word}" viewBox="0 0 60 14" width="45" height="11" opacity="{strength:g}" '
        f'aria-hidden="true">{line}{head}</svg>'
    )


def exogenous_mark() -> str:
    """The box of a column that is not modelled as a small SVG.

    >>> exogenous_mark().count("<rect")
    1
    """
    box = '<rect x="12" y="1.5" width="36" height="11" stroke="currentColor" stroke-width="1.4"/>'
    return f'<svg class="mark exogenous" viewBox="0 0 60 14" width="45" height="11" aria-hidden="true">{box}</svg>'
