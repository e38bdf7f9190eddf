"""Bits of words, for kernels."""

from __future__ import annotations

import numpy as np

from dagpost._tools.kernels import inline_no_refcount


@inline_no_refcount
def ones_in(word: np.uint64) -> np.uint64:
    """The number of ones of a word, in the form that the compiler knows as one instruction."""
    word -= (word >> np.uint64(1)) & np.uint64(0x5555555555555555)
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return (word * np.uint64(0x0101010101010101)) >> np.uint64(56)
