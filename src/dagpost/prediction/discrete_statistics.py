"""What prediction must remember of columns of levels: for every family, how often each of its cells occurred.

Rows in which a node was set by intervention are left out for that node (Cooper & Yoo 1999). The rows themselves are not
kept. Time: one pass over the distinct rows a family. Memory: two numbers a cell that occurs, and as much again while
they are put together.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.arrays import Flags, Integers, Masks
from dagpost._tools.progress import Reporter
from dagpost._tools.text import names_in, readable_level, shortened
from dagpost.data.table import Table
from dagpost.engines import Engine
from dagpost.errors import InputError
from dagpost.prediction.counting import cell_numbers, count_families
from dagpost.prediction.family_lists import Families, families_in
from dagpost.prediction.stored_arrays import integers_of, require, smallest


@dataclass(frozen=True, eq=False, repr=False)
class DiscreteStatistics:
    """How often each cell of each family occurred; make one with `sufficient_statistics`.

    The families are sorted by node and then by parents. A cell is numbered by the levels of the parents, the first node
    first, and of the node itself as the last digit, each digit in the base of its number of levels.
    """

    names: tuple[str, ...]
    levels: tuple[tuple[object, ...], ...]
    #: The node and the parents of each family.
    children: Integers
    parents: Masks
    #: Where the cells of each family begin, and where those of the last end.
    starts: Integers
    #: The numbers of the cells that occurred, ascending within a family, and how often each did.
    cells: Integers
    counts: Integers
    #: The columns that are indicators of regimes, of which at most one is 1 in a row.
    regimes: tuple[str, ...] = ()

    @property
    def exclusive(self) -> Flags:
        """Of every column, whether it is an indicator of a regime."""
        return np.array([name in self.regimes for name in self.names], dtype=np.bool_)

    @property
    def arities(self) -> tuple[int, ...]:
        """Number of levels of each column."""
        return tuple(len(levels) for levels in self.levels)

    def locate(self, children: Integers, parents: Masks) -> Integers:
        """The numbers of some families; one that is not there is an error."""
        found = self._search(children, parents)
        missing = np.flatnonzero(found < 0)
        if len(missing):
            child, mask = int(children[missing[0]]), int(parents[missing[0]])
            of = shortened([repr(name) for name in names_in(mask, self.names)]) or "none"
            raise InputError(
                f"Nothing was counted for {self.names[child]!r} with parents {of}, and {len(missing):,} families in "
                "all are missing. Count again for these graphs: sufficient_statistics(table, parents, score)."
            )
        return found

    def covers(self, parents: NDArray[Any]) -> bool:
        """Whether all families of some graphs, rows of parent masks, are there."""
        families = families_in(parents)
        return bool((self._search(families.children, families.parents) >= 0).all())

    def _search(self, children: Integers, parents: Masks) -> Integers:
        found = np.full(len(children), -1, dtype=np.int64)
        for child in np.unique(children):
            first, last = np.searchsorted(self.children, [child, child + 1])
            wanted = np.flatnonzero(children == child)
            if first < last:
                place = np.minimum(first + np.searchsorted(self.parents[first:last], parents[wanted]), last - 1)
                found[wanted] = np.where(self.parents[place] == parents[wanted], place, -1)
        return found

    def about(self) -> dict[str, Any]:
        """What is not an array, as JSON can hold it."""
        levels = [[readable_level(level) for level in levels] for levels in self.levels]
        about = {"kind": "discrete", "names": list(self.names), "levels": levels}
        return {**about, "regimes": list(self.regimes)} if self.regimes else about

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The arrays to be stored, in the smallest types that hold them."""
        names = ("children", "parents", "starts", "cells", "counts")
        return {name: smallest(getattr(self, name)) for name in names}

    def __repr__(self) -> str:
        return (
            f"DiscreteStatistics of {len(self.children):,} families over {len(self.names)} variables: "
            f"{len(self.cells):,} cells"
        )


def count_discrete(table: Table, families: Families, engine: Engine, reporter: Reporter) -> DiscreteStatistics:
    """How often each cell of some families occurs in a table."""
    sizes, cells, counts = count_families(table, families.children, families.parents, engine, reporter)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    levels = tuple(levels or () for levels in table.levels)
    counted = families.children, families.parents, starts, cells, counts
    return DiscreteStatistics(table.names, levels, *counted, table.regimes)


def discrete_from(about: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> DiscreteStatistics:
    """The statistics that `about()` and `arrays()` describe; what does not fit together is a ValueError."""
    names, levels = tuple(map(str, about["names"])), tuple(tuple(levels) for levels in about["levels"])
    kept = {name: integers_of(arrays, name) for name in ("children", "starts", "cells", "counts")}
    parents = arrays["parents"].astype(np.uint64)
    children, starts, cells, counts = kept.values()
    families = len(children)
    require(len(levels) == len(names) and all(levels), "every column needs levels")
    require(parents.shape == (families,) and starts.shape == (families + 1,), "families do not match")
    require(cells.shape == counts.shape and bool((counts > 0).all()), "cells and counts do not match")
    require(
        starts[0] == 0 and starts[-1] == len(cells) and bool((np.diff(starts) >= 0).all()), "cells are out of place"
    )
    inside = (children >= 0) & (children < len(names))
    require(bool(inside.all()) and not (parents >> np.uint64(len(names) - 1) >> np.uint64(1)).any(), "unknown nodes")
    require(not (parents >> children.astype(np.uint64) & np.uint64(1)).any(), "a node is its own parent")
    in_order = (np.diff(children) > 0) | ((np.diff(children) == 0) & (parents[1:] > parents[:-1]))
    require(bool(in_order.all()), "families are out of order")
    regimes = tuple(map(str, about.get("regimes", ())))
    result = DiscreteStatistics(names, levels, children, parents, starts, cells, counts, regimes)
    sizes = np.diff(starts)
    limits = np.repeat(cell_numbers(result.arities, children, parents), sizes)
    require(bool(((cells >= 0) & (cells < limits)).all()), "a cell is beyond its family")
    same_family = np.diff(np.repeat(np.arange(families), sizes)) == 0
    require(bool((np.diff(cells) > 0)[same_family].all()), "cells are out of order")
    return result
