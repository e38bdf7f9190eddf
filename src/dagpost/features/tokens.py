"""Which words and symbols does the text of a statement consist of, and where in it is an error?"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import cache

from dagpost._tools.text import unescaped
from dagpost.data.time_columns import earlier
from dagpost.errors import InputError

#: `[t-1]` behind a name; `[t]` is the present.
_EARLIER = re.compile(r"\s*\[\s*t\s*(?:-\s*(?P<lag>[0-9]{1,4})\s*)?\]")
#: A number with a point, a sign or a signed exponent: others are words.
_NUMBER = r"(?: [-+]? (?: \d+\.\d* | \.\d+ ) (?: [eE][-+]?\d+ )? | [-+]\d+ (?: [eE][-+]?\d+ )? | \d+[eE][-+]\d+ )"
#: Symbols with a meaning in every text; statements bring their own.
_PUNCTUATION = ("<=", ">=", "!=", *"<>=&|!(){},")


@dataclass(frozen=True)
class Token:
    """A symbol, a name, a quoted name, a number that is not also a word, or the end of the text, and its position."""

    kind: str  # "symbol", "name", "quoted", "number" or "end"
    value: str
    position: int

    def __str__(self) -> str:
        return "the text ends here" if self.kind == "end" else f"found {self.value!r}"


def tokens_of(text: str, symbols: tuple[str, ...]) -> list[Token]:
    """The parts of a text, the last of which is its end; an error shows the place that cannot be read.

    >>> [token.value for token in tokens_of("Petal.Width -> 'M. Work'", ("->",))]
    ['Petal.Width', '->', 'M. Work', '']
    >>> [token.value for token in tokens_of("A[t - 1] -> 'M. Work'[t]", ("->",))]
    ['A[t-1]', '->', 'M. Work', '']
    """
    part = _part_of(symbols)
    tokens: list[Token] = []
    place = 0
    while not tokens or tokens[-1].kind != "end":
        match = part.match(text, place)
        if match is None:
            place += len(text[place:]) - len(text[place:].lstrip())
            raise error_at(text, place, _why_unreadable(text[place]))
        kind = str(match.lastgroup)
        value = match[kind]
        start = match.start(kind)
        place = match.end()
        if kind == "quoted":
            value = unescaped(value[1:-1])
        if kind in ("name", "quoted") and (before := _EARLIER.match(text, place)):
            value, place = earlier(value, int(before["lag"] or 0)), before.end()
        tokens.append(Token(kind, value, start))
    return tokens


@cache
def _part_of(symbols: tuple[str, ...]) -> re.Pattern[str]:
    longest_first = sorted((*symbols, *_PUNCTUATION), key=len, reverse=True)
    symbol = "|".join(map(re.escape, longest_first))
    # A symbol such as _||_ begins like a name.
    inside = "|".join([re.escape(one) for one in longest_first if re.match(r"\w", one)]) or r"\Z"
    word = rf"(?: (?! {inside} ) \w )+"
    return re.compile(
        rf"""\s*(?:
          (?P<number> {_NUMBER} (?! \w ) )
        | (?P<symbol> {symbol} )
        | (?P<name> {word} (?: \. {word} )* )
        | (?P<quoted> "(?:[^"\\]|\\.)*" | '(?:[^'\\]|\\.)*' )
        | (?P<end> \Z )
        )""",
        re.VERBOSE | re.DOTALL,
    )


def _why_unreadable(character: str) -> str:
    if character in "\"'":
        return "This quote is never closed."
    if character in "~^":
        return f"The character {character!r} means nothing here. Write ! for 'not'."
    if character in "[]":
        return "Earlier values are written A[t-1]. Put a name with other brackets in quotes."
    return f"The character {character!r} means nothing here. Put a name that contains it in quotes."


def error_at(text: str, position: int, message: str) -> InputError:
    """An error that shows the text, with a caret under the place, which it knows as `at` too."""
    # Line breaks and control characters would separate the caret from its place, and wide characters would shift it.
    shown = "".join(character if character.isprintable() else " " for character in text)
    before = "".join(" " * _width(character) for character in shown[:position])
    error = InputError(f"{message}\n  {shown}\n  {before}^")
    error.at = position
    return error


def _width(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
