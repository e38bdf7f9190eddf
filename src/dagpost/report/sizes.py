"""Signs and sizes: what setting one variable does to another, for the pairs that are probably joined."""

from __future__ import annotations

from typing import NamedTuple


class PairEffect(NamedTuple):
    """What setting one column does to another, over the draws in which it does anything."""

    cause: int
    outcome: int


class Sizes(NamedTuple):
    """The effects of the pairs that are probably joined, the most probable pairs first; or why there are none."""

    pairs: tuple[PairEffect, ...] = ()
    omitted: str = ""
