"""Graphs in smaller blocks than usual, so that a few of them make several."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from dagpost.features import blocks


@contextmanager
def in_blocks_of(size: int) -> Iterator[None]:
    """Work on at most so many graphs at a time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "BLOCK_SIZE", size)
        yield
