r"""How wide text is, without a font at hand, and how a name is broken into lines that fit a box.

A scene is laid out before anybody knows which font will draw it: a browser's, matplotlib's, a viewer's of SVG files.
The widths are those of DejaVu Sans, the widest of the usual sans-serif fonts, so that other fonts leave some room and
none needs more. Characters that the table does not have are taken to be as wide as the widest of their kind.
"""

from __future__ import annotations

import unicodedata
from functools import cache

from dagpost._tools.text import printable

#: Widths of the characters from " " to "~", in thousandths of the size of the font.
_WIDTHS = (
    318, 401, 460, 838, 636, 950, 780, 275, 390, 390, 500, 838, 318, 361, 318, 337, 636, 636, 636, 636, 636, 636, 636,
    636, 636, 636, 337, 337, 838, 838, 838, 531, 1000, 684, 686, 698, 770, 632, 575, 775, 752, 295, 295, 656, 557, 863,
    748, 787, 603, 787, 695, 635, 611, 732, 684, 989, 685, 611, 685, 390, 337, 390, 838, 500, 500, 613, 635, 550, 635,
    615, 352, 635, 634, 278, 278, 579, 278, 974, 634, 612, 635, 635, 411, 521, 392, 634, 592, 818, 592, 592, 525, 636,
    337, 636, 838,
)  # fmt: skip
_WIDE, _PICTURE, _CAPITAL, _SMALL, _OTHER = 1.08, 1.4, 1.0, 0.84, 1.0
#: After these a name may be broken.
_BREAKS = " _-./:,;"
#: From one line to the next, in sizes of the font.
LINE = 1.18


@cache
def _width_of(character: str) -> float:
    code = ord(character)
    if 32 <= code < 127:
        return _WIDTHS[code - 32] / 1000.0
    kind = unicodedata.category(character)
    if kind in ("Mn", "Me", "Cf"):
        return 0.0
    if code >= 0x1F000 or 0x2600 <= code < 0x27C0:
        return _PICTURE
    if unicodedata.east_asian_width(character) in "WF":
        return _WIDE
    if code < 0x2000:
        return _CAPITAL if kind == "Lu" else _SMALL
    return _OTHER


def text_width(text: str, size: float) -> float:
    """How wide one line of text is at most, in the unit of the size of the font.

    >>> text_width("Ill", 10.0) < text_width("Www", 10.0)
    True
    """
    return size * sum(map(_width_of, text))


def cut_to(text: str, width: float) -> str:
    """As much of the text as fits a width in letters, with an ellipsis where that is not all.

    >>> cut_to("cholesterol", 5.0), cut_to("age", 5.0)
    ('cholest…', 'age')
    """
    if text_width(text, 1.0) <= width:
        return text
    kept, left = "", width - _OTHER
    for character in text:
        left -= _width_of(character)
        if left < 0.0:
            break
        kept += character
    return f"{kept.rstrip()}…"


def broken(name: object, width: float, most: int = 3) -> tuple[tuple[str, ...], bool]:
    r"""A name in lines that are not wider than this, in letters, and whether something had to be left out.

    >>> broken("diastolic_blood_pressure", 9.0)
    (('diastolic_blood_', 'pressure'), False)
    >>> broken("blood pressure[t-2]", 9.0)
    (('blood pressure', '[t-2]'), False)
    >>> broken("two\nlines", 9.0)
    (('two\\nlines',), False)
    """
    found: list[str] = []
    rest = printable(name)
    while text_width(rest, 1.0) > width and len(found) < most - 1:
        head = _longest_start(rest, width)
        # Rather after a mark than in the middle of a word.
        place = max((at for at in range(len(head) + 1) if _may_break(rest, at)), default=0)
        cut = place if place > len(head) // 3 else len(head)
        found.append(rest[:cut].rstrip())
        rest = rest[cut:].lstrip()
    last = cut_to(rest, width)
    return (*found, last), last != rest


def _may_break(text: str, place: int) -> bool:
    """Whether a new line may begin at a place: after a mark or before a bracket, but not in a number such as -2."""
    if not 0 < place < len(text):
        return False
    before, after = text[place - 1], text[place]
    return (before in _BREAKS and not (before != " " and after.isdigit())) or after == "["


def _longest_start(text: str, width: float) -> str:
    """The longest beginning that fits, at least one character."""
    left = width
    for place, character in enumerate(text):
        left -= _width_of(character)
        if left < 0.0 and place:
            # A break just after the line is as good as one inside it.
            return text[: place + 1] if character == " " else text[:place]
    return text


def wrapped_text(text: str, width: float, size: float) -> list[str]:
    """Sentences in lines of at most this width, broken between words."""
    lines: list[str] = []
    for word in text.split():
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and text_width(longer, size) <= width:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines
