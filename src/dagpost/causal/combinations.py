"""The combinations of exogenous levels, as far as a graph tells them apart: those that matter to it, with their shares.

Columns that are not modelled are set to each of their combinations in turn, and what comes of it is averaged as often
as the combination occurs in the table (prediction/background.py). A graph has some of these columns behind its outcome,
and combinations that agree on these are one. Graphs with the same such columns should be asked after one another:
combinations are put together anew only when the columns change.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dagpost._tools.arrays import Floats, Integers, Masks
from dagpost._tools.kernels import inline_no_refcount
from dagpost.prediction.background import Background


class Combinations(NamedTuple):
    """All combinations, and those that the graph at hand tells apart: an example, and the share."""

    levels: Integers
    shares: Floats
    examples: Integers
    totals: Floats
    #: Where combinations are found by their levels; which columns matter, and how many combinations that makes.
    slots: Integers
    columns: Masks
    number: Integers


def combinations_of(background: Background) -> Combinations:
    """The combinations of exogenous columns of levels."""
    size = len(background.shares)
    slots = 1 << (2 * size - 1).bit_length()
    return Combinations(
        np.ascontiguousarray(background.levels),
        background.shares,
        np.zeros(size, dtype=np.int64),
        np.zeros(size),
        np.zeros(slots, dtype=np.int64),
        np.full(1, 2**64 - 1, dtype=np.uint64),
        np.zeros(1, dtype=np.int64),
    )


@inline_no_refcount
def tell_apart(own: Combinations, columns: np.uint64) -> int:
    """Put combinations together that agree on some columns; returns how many there are."""
    if own.columns[0] == columns:
        known: int = own.number[0]
        return known
    own.columns[0], own.number[0] = columns, 0
    for slot in range(len(own.slots)):
        own.slots[slot] = -1
    for combination in range(len(own.shares)):
        found = _find(own, columns, combination)
        own.totals[found] += own.shares[combination]
    result: int = own.number[0]
    return result


@inline_no_refcount
def _find(own: Combinations, columns: np.uint64, combination: int) -> int:
    """The number of a combination among those that differ so far; a new one if it differs from all."""
    word, nodes = np.uint64(1), own.levels.shape[1]
    for node in range(nodes):
        if columns >> np.uint64(node) & np.uint64(1):
            word = (word ^ np.uint64(own.levels[combination, node] + 1)) * np.uint64(0x9E3779B97F4A7C15)
            word ^= word >> np.uint64(29)
    slot = np.int64(word & np.uint64(len(own.slots) - 1))
    while own.slots[slot] >= 0:
        found = int(own.slots[slot])
        same = True
        for node in range(nodes):
            if columns >> np.uint64(node) & np.uint64(1):
                same &= own.levels[own.examples[found], node] == own.levels[combination, node]
        if same:
            return found
        slot = (slot + 1) % len(own.slots)
    found = int(own.number[0])
    own.number[0] += 1
    own.slots[slot], own.examples[found], own.totals[found] = found, combination, 0.0
    return found
