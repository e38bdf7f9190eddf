"""What chains over tables with gaps ask of a score: cells that are drawn, and families that are scored again.

Cells are in the order of `Table.filled`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Protocol

import numpy as np

from dagpost._tools.arrays import Floats, Integers
from dagpost.families.considered_sets import Members

#: Scores of some families of a table with gaps: cells (as `Table.filled` takes them), the places of the families in
#: lists that were given before, and the flag of an engine.
FamilyScorer = Callable[[Floats, Integers, Integers], Floats]

#: From the cells of the gaps of a table to the scores of all families, as `local_scores` has them.
Rescorer = Callable[[Floats], Floats]


class Completer(Protocol):
    """Draws the cells of a table that have no value, given a graph and all other cells.

    Cells are in the order of `Table.filled`. `families` has the parents of each node, a row each, padded with the
    number of columns.
    """

    def begin(self, generator: np.random.Generator) -> Floats:
        """Cells to start from: each one drawn from the values of its column."""
        ...

    def redraw(self, cells: Floats, families: Members, generator: np.random.Generator, cancel: Integers) -> None:
        """One round over all gaps, in place; what has the density exp(score) still has it, at least nearly."""
        ...


class ListScorer(ABC):
    """Scores listed families of one table again and again, with other cells in its gaps.

    Node `i` has the sets from `start[i]` to `start[i + 1]`: rows of columns, and the number of columns in the places
    that are left.
    """

    @abstractmethod
    def on(self, start: Integers, members: Members) -> FamilyScorer:
        """The function that scores families out of some lists."""

    def __call__(self, cells: Floats, start: Integers, members: Members, cancel: Integers) -> Floats:
        """The scores of all families of some lists, once."""
        return self.on(start, members)(cells, np.arange(len(members)), cancel)
