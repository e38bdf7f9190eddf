"""The words of a BIF file, one after the other, with the lines on which they stand."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NoReturn

from dagpost._tools.text import shown
from dagpost.errors import InputError

_SIGNS = frozenset("[]{}();")
_WORD = re.compile(
    r"""
    (?P<blank> [\s,|]+ | //[^\n]* | /\*(?s:.*?)\*/ )
    | "(?P<quoted> [^"]* )"
    | (?P<sign> [][{}();] )
    | (?P<word> (?: [^][{}();,|"\s/] | /(?![/*]) )+ )
    | (?P<open> ["/] )
    """,
    re.VERBOSE,
)


class Words:
    """Names, numbers, texts in quotation marks, and single signs; comments as in C, commas and bars are passed over."""

    def __init__(self, text: str, source: str) -> None:
        self._source = source
        self._following = self._scan(text)
        #: Where the current word stands, counted from 1.
        self.line = 1
        self.current = ""
        #: Whether the current word is not in quotation marks and may have a meaning of its own.
        self.plain = True
        self.advance()

    def _scan(self, text: str) -> Iterator[tuple[int, str, bool]]:
        line = 1
        for match in _WORD.finditer(text):
            if match.lastgroup == "open":
                what = "a comment" if match[0] == "/" else "a quotation mark"
                self.fail(f"{what} is left open.", line)
            if match.lastgroup == "quoted":
                yield line, match["quoted"], False
            elif match.lastgroup != "blank":
                yield line, match[0], True
            line += match[0].count("\n")
        yield line, "", True

    @property
    def ended(self) -> bool:
        """Whether all words have been read."""
        return self.plain and not self.current

    def fail(self, problem: str, line: int | None = None) -> NoReturn:
        """Say what is wrong with the file, at the current word if no line is given."""
        raise InputError(f"{self._source!r}, line {line or self.line}: {problem}")

    def _fail_without(self, wanted: str) -> NoReturn:
        there = "the file ends" if self.ended else f"there is {shown(self.current)}"
        self.fail(f"{wanted} should stand here, but {there}.")

    def advance(self) -> None:
        """Go on to the next word."""
        self.line, self.current, self.plain = next(self._following)

    def take(self) -> str:
        """The current word, whatever it is; the next becomes the current one."""
        if self.ended:
            self.fail("the file ends too soon. Was it cut short?")
        word = self.current
        self.advance()
        return word

    def is_sign(self, sign: str) -> bool:
        """Whether this is the current word, not in quotation marks."""
        return self.plain and self.current == sign

    def expect(self, *signs: str) -> None:
        """Pass these words, and refuse others."""
        for sign in signs:
            if not self.is_sign(sign):
                self._fail_without(repr(sign))
            self.advance()

    def name(self) -> str:
        """A name: anything but a sign."""
        if self.ended or (self.plain and self.current in _SIGNS):
            self._fail_without("a name")
        return self.take()

    def until(self, sign: str) -> Iterator[str]:
        """The words before a sign, which is passed too."""
        while not self.is_sign(sign):
            yield self.take()
        self.advance()
