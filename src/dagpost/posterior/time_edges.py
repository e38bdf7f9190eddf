"""Edges of a table with time, folded back to its series: `X -> Y at lag 1`, `X -> Y now`.

The columns `X`, `X[t-1]`, `X[t-2]` are one series, and the names say so (data/time_columns.py): models, samples and
tables of edge probabilities fold alike. Probabilities are those of the columns, exact where these are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dagpost._tools.arrays import Floats
from dagpost.data.time_columns import TimeColumns, edge_words, time_columns
from dagpost.features.feature import Feature, Or
from dagpost.features.statements.edge import Edge

if TYPE_CHECKING:
    import pandas as pd


class TimeEdge(NamedTuple):
    """An edge into the present of a series; `lag` is how many steps ago its parent was, None for a static one."""

    source: str
    target: str
    lag: int | None
    parent: int
    child: int

    @property
    def words(self) -> str:
        """The edge in words."""
        return edge_words(self.source, self.target, self.lag)


def time_edges(names: Sequence[str], *, contemporaneous: bool = True) -> list[TimeEdge]:
    """All edges that a network over these columns can have: lagged ones first, then those of now, then static ones.

    >>> [edge.words for edge in time_edges(("a", "b", "a[t-1]", "b[t-1]"), contemporaneous=False)]
    ['a -> a at lag 1', 'b -> a at lag 1', 'a -> b at lag 1', 'b -> b at lag 1']
    """
    columns = time_columns(names).required("Folded edges are")
    present = [(series, place) for series in columns.series if (place := columns.place(series, 0)) is not None]
    found = []
    for target, child in present:
        for (series, lag), parent in columns.places.items():
            if (lag or contemporaneous) and parent != child:
                found.append(TimeEdge(series, target, lag, parent, child))
        found += [TimeEdge(one, target, None, columns.names.index(one), child) for one in columns.static]
    order = {series: place for place, series in enumerate((*columns.series, *columns.static))}
    return sorted(found, key=lambda edge: (edge.lag is None, -(edge.lag or 0), order[edge.target], order[edge.source]))


def lagged_edges(names: Sequence[str], edges: Floats, *, contemporaneous: bool = True) -> pd.DataFrame:
    """The probability of each edge, most probable first: `from`, `to`, `lag` (0: now, missing: static) and words."""
    import pandas as pd

    found = time_edges(names, contemporaneous=contemporaneous)
    probabilities = np.clip([edges[edge.parent, edge.child] for edge in found], 0.0, 1.0)
    table = pd.DataFrame(
        {
            "from": [edge.source for edge in found],
            "to": [edge.target for edge in found],
            "lag": pd.array([edge.lag for edge in found], dtype="Int64"),
            "probability": probabilities,
            "edge": [edge.words for edge in found],
        }
    )
    return table.sort_values("probability", ascending=False, kind="stable", ignore_index=True)


def series_edges(names: Sequence[str], answer: Callable[[list[Feature]], Sequence[Any]]) -> pd.DataFrame:
    """For every two series, how probably one is a parent of the other at any lag; on the diagonal, of its own future.

    `answer` gives the probabilities of statements.
    """
    import pandas as pd

    columns = time_columns(names).required("Folded edges are")
    asked = {pair: _any_lag(columns, *pair) for pair in ((x, y) for x in columns.series for y in columns.series)}
    known = {pair: statement for pair, statement in asked.items() if statement is not None}
    values = dict(zip(known, map(float, answer(list(known.values()))), strict=True))
    matrix = [[values.get((x, y), 0.0) for y in columns.series] for x in columns.series]
    return pd.DataFrame(matrix, pd.Index(columns.series, name="from"), pd.Index(columns.series, name="to"))


def _any_lag(columns: TimeColumns, source: str, target: str) -> Feature | None:
    """That an edge leads from some time of one series to the present of another."""
    if columns.place(target, 0) is None:
        return None
    edges = [
        Edge(columns.names[place], target) for (series, _), place in columns.places.items() if series == source
        if columns.names[place] != target
    ]  # fmt: skip
    return None if not edges else edges[0] if len(edges) == 1 else Or(tuple(edges))
