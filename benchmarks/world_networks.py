"""A network of columns whose mechanisms are known: rows from it, also with columns set from outside, and its truth.

The mechanisms stay in it as objects (world_columns.py), so that what setting a column does to another can be simulated.

What is true of the columns that a table shows (`truth`): without hidden columns, the edges of the network, and which of
them all equivalent graphs have (Chickering 1995). With hidden columns, the maximal ancestral graph of the columns that
are seen (Richardson & Spirtes 2002): two of them are joined if no set of the others makes them independent, and there
is an arrow from a to b if they are joined and a acts on b by some path of the whole network. Where neither acts on the
other, both directions are wrong. Which arrows of that graph data could tell is not worked out: all count as such.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from benchmarks.world_columns import Column, Floats, Levels, code_of
from numpy.typing import NDArray

from dagpost.families.essential import essential_graphs

Flags = NDArray[np.bool_]


class Truth(NamedTuple):
    """Of the columns that are seen: who is joined, which arrows there are, and which of these data can tell."""

    joined: Flags
    arrows: Flags
    compelled: Flags


@dataclass(frozen=True)
class KnownNetwork:
    """Columns with their mechanisms; `parents[i]` act on column i, and `order` has parents before their children.

    `hidden` columns act and are not shown. `cuts` are numbers that are shown as levels while the uncut number acts on
    others: the truth is then that of the numbers behind the columns. Of `exogenous` columns, whoever fits the table is
    told that nothing acts on them; what follows of directions is not counted as told by data.
    """

    columns: tuple[Column, ...]
    parents: tuple[tuple[int, ...], ...]
    order: tuple[int, ...]
    hidden: tuple[int, ...] = ()
    cuts: Mapping[int, tuple[float, ...]] | None = None
    exogenous: tuple[int, ...] = ()

    @property
    def names(self) -> list[str]:
        """What the columns are called, which says nothing about their place in the order."""
        return [f"V{node}" for node in range(len(self.columns))]

    @property
    def seen(self) -> list[int]:
        """The columns that a table has."""
        return [node for node in range(len(self.columns)) if node not in self.hidden]

    @property
    def edges(self) -> Flags:
        """`[a, b]`: whether a acts on b directly, hidden columns included."""
        there = np.zeros((len(self.columns),) * 2, dtype=np.bool_)
        for child, own in enumerate(self.parents):
            there[list(own), child] = True
        return there

    def truth(self) -> Truth:
        """What is true of the columns that are seen."""
        edges = self.edges
        if not self.hidden:
            return Truth(edges | edges.T, edges, compelled_edges(edges))
        place = np.ix_(self.seen, self.seen)
        joined = inseparable(edges, self.seen)[place]
        arrows = joined & ancestors(edges)[place]
        return Truth(joined, arrows, arrows)

    def simulate(self, rows: int, seed: np.random.SeedSequence, do: Mapping[str, object] | None = None) -> list[Floats]:
        """The values of all columns, numbers and codes; those in `do` are set to a value of theirs in every row.

        Each column has a stream of its own: with the same seed, whatever `do` does not act on stays as it is.
        """
        fixed = {self.names.index(name): value for name, value in (do or {}).items()}
        shown: list[Floats] = [np.zeros(rows)] * len(self.columns)
        acting = list(shown)
        for node in self.order:
            column = self.columns[node]
            if node in fixed:
                shown[node] = np.full(rows, code_of(column, fixed[node]))
            else:
                shown[node] = column.draw(acting, rows, stream(seed, node))
            acting[node] = column.act(shown[node])
        return shown

    def frame(self, rows: int, seed: np.random.SeedSequence) -> pd.DataFrame:
        """A table as people have it: text for levels, in an order where there is one; hidden columns are left out."""
        shown = self.simulate(rows, seed)
        return pd.DataFrame({self.names[node]: self._as_people_see(node, shown[node]) for node in self.seen})

    def _as_people_see(self, node: int, values: Floats) -> Any:
        column, cuts = self.columns[node], self.cuts or {}
        if node in cuts:
            grades = [f"grade {code}" for code in range(len(cuts[node]) + 1)]
            return pd.Categorical([grades[code] for code in np.searchsorted(cuts[node], values)], grades, ordered=True)
        if isinstance(column, Levels):
            labels = [column.labels[code] for code in values.astype(np.int64)]
            return pd.Categorical(labels, column.labels, ordered=True) if column.ordered else labels
        return values.astype(np.int64) if np.array_equal(values, np.round(values)) else values

    def contrast(
        self, cause: str, outcome: str, do: tuple[object, object], seed: np.random.SeedSequence, rows: int = 100_000
    ) -> float:
        """E[outcome | do(cause = first)] - E[outcome | do(cause = second)], with the same noise; of levels, codes."""
        place = self.names.index(outcome)
        first, second = (self.simulate(rows, seed, {cause: value})[place] for value in do)
        return float(np.mean(first - second))


def stream(seed: np.random.SeedSequence, *places: int) -> np.random.Generator:
    """One of the independent streams of random numbers below a seed."""
    return np.random.default_rng(np.random.SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, *places)))


def ancestors(edges: Flags) -> Flags:
    """`[a, b]`: whether there is a directed path from a to b."""
    reached = edges.copy()
    for node in range(len(edges)):
        reached |= reached[:, [node]] & reached[[node]]
    return reached


def compelled_edges(edges: Flags) -> Flags:
    """The edges that are directed in the essential graph."""
    places = np.arange(len(edges), dtype=np.uint64)
    masks = (edges.astype(np.uint64) << places[:, np.newaxis]).sum(axis=0, dtype=np.uint64)
    pattern = essential_graphs(masks[np.newaxis])[0]
    there = (pattern[np.newaxis] >> places[:, np.newaxis] & np.uint64(1)).astype(np.bool_)
    result: Flags = there & ~there.T
    return result


def inseparable(edges: Flags, seen: list[int]) -> Flags:
    """`[a, b]`: whether no set of the other columns that are seen separates the two.

    If any does, then so do those that are ancestors of a or b (Richardson & Spirtes 2002, theorem 4.2).
    """
    above = ancestors(edges) | np.eye(len(edges), dtype=np.bool_)
    result = np.zeros_like(edges)
    for a in seen:
        for b in seen:
            kept = above[:, a] | above[:, b]
            given = [node for node in seen if kept[node] and node not in (a, b)]
            result[a, b] = a != b and _connected(edges & np.outer(kept, kept), a, b, given)
    return result


def _connected(edges: Flags, a: int, b: int, given: list[int]) -> bool:
    """Whether a and b are connected in the moral graph of these edges, without the columns that are given."""
    moral = edges | edges.T | (edges.astype(np.int64) @ edges.T > 0)
    moral[given] = moral[:, given] = False
    return bool(ancestors(moral)[a, b])
