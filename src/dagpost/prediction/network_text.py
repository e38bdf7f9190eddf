"""What all files of networks have in common: words with their places, and a network that is put together from them.

Nothing of a file is believed before it is checked: names and labels are given once, a probability is a number from 0 to
1, those of a distribution sum to 1, a table has as many as the levels of its variables ask for, and its size is known
before memory is taken for it. Every error names the file and, where there is one, the line.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NoReturn

import numpy as np

from dagpost._tools import memory
from dagpost._tools.arrays import Floats
from dagpost._tools.text import nearest, shown
from dagpost.errors import InputError

#: NumPy has 64 axes at most, in older versions 32; one is the variable's own.
MOST_PARENTS = 31
#: How far from 1 the probabilities of a distribution may sum, because a file holds some digits of each only.
TOLERANCE = 1e-3
#: Closer than this they are taken as they are, so that what we wrote comes back to the last digit.
_EXACT = 1e-9
_NUMBER = re.compile(r"[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")
_FEW_CELLS = 100_000
_BYTES_A_CELL = 40


@dataclass
class NetworkText:
    """A network as a file describes it, while it is being read; lines are counted from 1, and 0 stands for none."""

    source: str
    labels: dict[str, tuple[str, ...]] = field(default_factory=dict)
    parents: dict[str, tuple[str, ...]] = field(default_factory=dict)
    tables: dict[str, Floats] = field(default_factory=dict)

    def fail(self, problem: str, line: int = 0) -> NoReturn:
        """Say what is wrong with the file, and where."""
        place = f", line {line}" if line else ""
        raise InputError(f"{self.source!r}{place}: {problem}")

    def add_variable(self, name: str, labels: Sequence[str], line: int = 0) -> None:
        """A variable with the labels of its levels."""
        if not name:
            self.fail("a variable has no name.", line)
        if name in self.labels:
            self.fail(f"the variable {shown(name)} comes a second time.", line)
        if not labels:
            self.fail(f"the variable {shown(name)} has no levels.", line)
        if twice := [label for label, times in Counter(labels).items() if times > 1]:
            self.fail(f"the variable {shown(name)} has the level {shown(twice[0])} twice.", line)
        self.labels[name] = tuple(labels)

    def add_parents(self, name: str, parents: Sequence[str], line: int = 0) -> tuple[int, ...]:
        """What a distribution is given; returns the shape of its table, the levels of the variable itself last."""
        for each in (name, *parents):
            if each not in self.labels:
                hint = nearest(each, list(self.labels))
                self.fail(f"there are probabilities of or given {shown(each)}, which is not a variable.{hint}", line)
        if name in self.parents:
            self.fail(f"the probabilities of {shown(name)} come a second time.", line)
        if len({name, *parents}) <= len(parents):
            self.fail(f"a variable comes twice among {shown(name)} and what it is given.", line)
        if len(parents) > MOST_PARENTS:
            self.fail(f"{shown(name)} has {len(parents)} parents; at most {MOST_PARENTS} are possible.", line)
        shape = tuple(len(self.labels[each]) for each in (*parents, name))
        # A few words can ask for any number of cells.
        if math.prod(shape) > _FEW_CELLS:
            what = f"{self.source!r}: the table of {shown(name)}"
            memory.require(_BYTES_A_CELL * math.prod(shape), what, "Use a smaller network.")
        self.parents[name] = tuple(parents)
        return shape

    def add_table(self, name: str, table: Floats, line: int = 0) -> None:
        """The probabilities of a variable, one axis a parent and its own levels last."""
        total = table.sum(axis=-1, keepdims=True)
        # In this way round because of numbers that are not there, which are nan.
        if not (np.abs(total - 1) < TOLERANCE).all():
            wrong = float(total[~(np.abs(total - 1) < TOLERANCE)][0])
            what = "some are missing" if math.isnan(wrong) else f"they sum to {wrong:.6g}"
            self.fail(f"the probabilities of {shown(name)} do not sum to 1: {what}. Correct them.", line)
        self.tables[name] = np.where(np.abs(total - 1) < _EXACT, table, table / total)

    def probability(self, text: str, line: int = 0) -> float:
        """A number from 0 to 1."""
        value = float(text) if _NUMBER.fullmatch(text) else math.nan
        if not 0.0 <= value <= 1.0 + TOLERANCE:
            self.fail(f"{shown(text)} is not a probability, a number from 0 to 1.", line)
        return value

    def filled(self, name: str, numbers: Sequence[float], shape: Sequence[int], line: int = 0) -> Floats:
        """Numbers as a table of this shape."""
        if len(numbers) != math.prod(shape):
            self.fail(
                f"{shown(name)} needs {math.prod(shape)} probabilities, as many as its levels and those of what "
                f"it is given ask for. There are {len(numbers)}.",
                line,
            )
        return np.array(numbers, dtype=np.float64).reshape(shape)

    def check_complete(self) -> None:
        """Refuse a file that ends too soon."""
        if not self.labels:
            self.fail("there is no variable in it. Is it a network, in the format that its name says?")
        missing = [name for name in self.labels if name not in self.tables]
        if missing:
            self.fail(f"there are no probabilities of {shown(missing[0])}. Was the file cut short?")


class Words:
    """The words of a text, one after the other: names, numbers, texts in quotation marks, and single signs.

    Comments as in C are passed over, and so are the signs in `skipped`.
    """

    def __init__(self, text: str, network: NetworkText, signs: str, skipped: str) -> None:
        self._text = text
        self._network = network
        self._signs = signs
        self._skipped = skipped
        known = re.escape(signs + skipped)
        self._pattern = re.compile(
            rf"""(?P<blank>\s+|//[^\n]*|/\*(?:[^*]|\*(?!/))*\*/) | "(?P<quoted>[^"]*)" | (?P<sign>[{known}])
            | (?P<word>(?:[^{known}"\s/]|/(?![/*]))+)""",
            re.VERBOSE,
        )
        self._at = 0
        #: Where the current word stands.
        self.line = 1
        self.current = ""
        #: Whether the current word is not in quotation marks and may have a meaning of its own.
        self.plain = True
        self._found = self._scan()
        self.advance()

    def _scan(self) -> Iterator[tuple[int, str, bool]]:
        end = 0
        while end < len(self._text):
            found = self._pattern.match(self._text, end)
            if found is None:
                self._go_to(end)
                what = "a quotation mark" if self._text[end] == '"' else "a comment"
                self.fail(f"{what} is left open.")
            end = found.end()
            if found.lastgroup != "blank" and found[0] not in self._skipped:
                yield found.start(), found["quoted"] if found["quoted"] is not None else found[0], found[0][0] != '"'

    def _go_to(self, place: int) -> None:
        self.line += self._text.count("\n", self._at, place)
        self._at = place

    @property
    def ended(self) -> bool:
        """Whether all words have been read."""
        return self._at >= len(self._text)

    def fail(self, problem: str) -> NoReturn:
        """Say what is wrong at the current word."""
        self._network.fail(problem, self.line)

    def advance(self) -> None:
        """Go on to the next word."""
        place, self.current, self.plain = next(self._found, (len(self._text), "", True))
        self._go_to(place)

    def take(self) -> str:
        """The current word, whatever it is; the next becomes the current one."""
        if self.ended:
            self.fail("the file ends too soon. Was it cut short?")
        word = self.current
        self.advance()
        return word

    def is_sign(self, sign: str) -> bool:
        """Whether this is the current word, not in quotation marks."""
        return self.plain and self.current == sign and not self.ended

    def expect(self, *signs: str) -> None:
        """Pass these words, and refuse others."""
        for sign in signs:
            if not self.is_sign(sign):
                found = "the file ends" if self.ended else f"there is {shown(self.current)}"
                self.fail(f"{sign!r} should stand here, but {found}.")
            self.advance()

    def name(self) -> str:
        """A name: anything but a sign."""
        if self.ended or (self.plain and self.current in self._signs):
            found = "the file ends" if self.ended else f"there is {shown(self.current)}"
            self.fail(f"a name should stand here, but {found}.")
        return self.take()

    def until(self, sign: str) -> Iterator[str]:
        """The words before a sign, which is passed too."""
        while not self.is_sign(sign):
            yield self.take()
        self.advance()
