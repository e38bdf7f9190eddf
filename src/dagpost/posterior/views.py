"""Statements are about masks of columns, and a mask has 64 bits: which column has which bit in a statement's masks?

With up to 64 columns, column `j` has bit `j`. With more, only the columns that a statement names have a bit of their
own; all others share one, which is set in a set that holds any of them. A statement that its own variables and "is
there any other?" decide is then decided by such a mask.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from dagpost._tools.arrays import Integers, Masks
from dagpost._tools.text import position_of
from dagpost.families.numbering import MAX_NODES
from dagpost.features import Feature

#: What the bit of all other columns is called; no column has this name, since names are not empty.
_OTHERS = ""


class View(NamedTuple):
    """The names that bits stand for, the columns of these, and the bit of every column."""

    names: tuple[str, ...]
    columns: Integers
    bit_of: Integers

    def node(self, bit: int) -> int:
        """The column of a bit."""
        return int(self.columns[bit])

    def mask_of(self, columns: Integers) -> np.uint64:
        """One set of columns as a mask."""
        bits = np.uint64(1) << self.bit_of[columns].astype(np.uint64)
        return np.uint64(np.bitwise_or.reduce(bits, initial=np.uint64(0)))

    def masks_of(self, columns: Integers) -> Masks:
        """All sets of some columns, in the order of their numbers, as masks."""
        masks = np.zeros(1, dtype=np.uint64)
        for column in columns.tolist():
            masks = np.concatenate([masks, masks | np.uint64(1) << np.uint64(self.bit_of[column])])
        return masks


def view_of(feature: Feature, names: Sequence[str]) -> View | None:
    """The bits for one statement; None where it names more columns than there are bits."""
    if len(names) <= MAX_NODES:
        everyone = np.arange(len(names))
        return View(tuple(names), everyone, everyone)
    columns = np.array(sorted(position_of(name, names) for name in feature.variables), dtype=np.int64)
    if len(columns) >= MAX_NODES:
        return None
    bit_of = np.full(len(names), len(columns), dtype=np.int64)
    bit_of[columns] = np.arange(len(columns))
    return View((*(names[column] for column in columns), _OTHERS), columns, bit_of)
