"""Which words and symbols does the text of a statement consist of, and where does an error in it stand?"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from dagpost.errors import InputError

_PART = re.compile(
    r"""\s*(?:
      (?P<symbol> _\|\|_ | ~> | <~ | -> | <- | -- | <= | >= | [<>=&|!(){},] )
    | (?P<name> (?: (?! _\|\|_ ) \w )+ )
    | (?P<quoted> "(?:[^"\\]|\\.)*" | '(?:[^'\\]|\\.)*' )
    | (?P<end> \Z )
    )""",
    re.VERBOSE | re.DOTALL,
)
_ESCAPED = {"\\": "\\", '"': '"', "'": "'", "n": "\n", "r": "\r", "t": "\t"}


@dataclass(frozen=True)
class Token:
    """A symbol, a name, a quoted name or the end of the text, and where it stands."""

    kind: str  # "symbol", "name", "quoted" or "end"
    value: str
    position: int

    def __str__(self) -> str:
        return "the text ends here" if self.kind == "end" else f"found {self.value!r}"


def tokens_of(text: str) -> list[Token]:
    """The parts of a text, the last of which is its end; an error shows the place that means nothing."""
    tokens: list[Token] = []
    place = 0
    while not tokens or tokens[-1].kind != "end":
        match = _PART.match(text, place)
        if match is None:
            place += len(text[place:]) - len(text[place:].lstrip())
            raise error_at(text, place, _why_unreadable(text[place]))
        kind = str(match.lastgroup)
        value = match[kind]
        start = match.start(kind)
        if kind == "quoted":
            value = re.sub(r"\\(.)", lambda hit: _ESCAPED.get(hit[1], hit[0]), value[1:-1], flags=re.DOTALL)
        tokens.append(Token(kind, value, start))
        place = match.end()
    return tokens


def _why_unreadable(character: str) -> str:
    if character in "\"'":
        return "This quote is never closed."
    if character in "~^":
        return f"The character {character!r} means nothing here. Write ! for 'not'."
    return f"The character {character!r} means nothing here. A name that holds it must stand in quotes."


def error_at(text: str, position: int, message: str) -> InputError:
    """An error that shows the text, with a caret under the place."""
    # Line breaks and control characters would part the caret from its place, and wide characters shift it.
    shown = "".join(character if character.isprintable() else " " for character in text)
    before = "".join(" " * _width(character) for character in shown[:position])
    return InputError(f"{message}\n  {shown}\n  {before}^")


def _width(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
