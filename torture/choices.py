"""Random choices that are written down, so that a failing case can be tried again with smaller ones.

Every choice is a whole number from 0 up, and 0 is the simplest: `pick` takes the first option, `chance` says no,
`integer` gives the lowest. A case that draws everything through one `Choices` is therefore fixed by a list of numbers,
and a shorter list, or one with smaller numbers, is a simpler case; this is how Hypothesis shrinks. What comes after the
end of a given list is 0.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import IO, TypeVar

import numpy as np

Option = TypeVar("Option")
_LARGEST_SEED = 2**32 - 1

# For the cases that are being repeated: the numbers to use instead of random ones.
_replayed: dict[int, tuple[int, ...]] = {}
# For the case that ran last: what it chose.
_recorded: dict[int, list[int]] = {}
# Where every choice is also written at once, for cases that may not live to tell.
_journals: list[IO[bytes]] = []


class Choices:
    """The random choices of the case with this seed."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self._given = _replayed.get(seed)
        self._random = random.Random(seed)
        self._made: list[int] = []
        _recorded.clear()
        _recorded[seed] = self._made

    def integer(self, low: int, high: int) -> int:
        """A whole number from `low` to `high`, both included; `low` is the simplest."""
        if high < low:
            raise ValueError(f"no whole number from {low} to {high}")
        if self._given is None:
            offset = self._random.randint(0, high - low)
        else:
            position = len(self._made)
            offset = min(self._given[position], high - low) if position < len(self._given) else 0
        self._made.append(offset)
        for journal in _journals:
            journal.write(b"%d " % offset)
        return low + offset

    def chance(self, probability: float) -> bool:
        """True with this probability, to a thousandth; False is the simpler."""
        return self.integer(0, 999) >= 1000 - round(1000 * probability)

    def pick(self, options: Sequence[Option]) -> Option:
        """One of the options; the first is the simplest."""
        return options[self.integer(0, len(options) - 1)]

    def some(self, options: Sequence[Option], probability: float = 0.5) -> list[Option]:
        """Each of the options with this probability."""
        return [option for option in options if self.chance(probability)]

    def shuffled(self, options: Sequence[Option]) -> list[Option]:
        """The options in another order; as they are is the simplest."""
        left = list(options)
        return [left.pop(self.integer(0, len(left) - 1)) for _ in range(len(left))]

    def generator(self) -> np.random.Generator:
        """For many numbers at once: a generator whose seed is one choice."""
        return np.random.default_rng(self.integer(0, _LARGEST_SEED))


def recorded(seed: int) -> tuple[int, ...] | None:
    """What the last case chose, if it had this seed and drew through `Choices`."""
    made = _recorded.get(seed)
    return None if made is None else tuple(made)


def replay(seed: int, numbers: Sequence[int] | None) -> None:
    """Let the case with this seed choose these numbers from now on, or random ones again."""
    _replayed.clear()
    if numbers is not None:
        _replayed[seed] = tuple(numbers)


def keep_journal(path: Path) -> None:
    """Write down every choice of this process as it is made."""
    _journals.append(path.open("ab", buffering=0))


def read_journal(path: Path) -> tuple[int, ...] | None:
    """What a process that is gone has chosen, if it kept a journal."""
    return tuple(map(int, path.read_bytes().split())) if path.exists() else None
