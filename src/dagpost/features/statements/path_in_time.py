"""`A ~> B within 2 steps`: a directed path leads from one series, at most so many steps ago, to another one now.

A graph over present and earlier columns is a template: the same edges lead into every time. Repeated in time, a path
may go through several slices, by lagged edges and by those within a slice. It is followed backwards from the present.
In the template, the ancestors of a present column are those of its own slice that reach it, and the earlier columns
from which an edge leads to these: each of them is a present column of its own slice, whose ancestors come next.

Time per graph: series times columns for each step; for all graphs of a block at once, in one kernel.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dagpost._tools.arrays import Integers
from dagpost._tools.checks import whole_number
from dagpost._tools.kernels import kernel
from dagpost.data.time_columns import TimeColumns, earlier, time_columns
from dagpost.errors import InputError
from dagpost.features.blocks import Block, Flags, Masks
from dagpost.features.feature import Feature
from dagpost.features.forms import Form, Suffix
from dagpost.features.names import check_text, quoted
from dagpost.features.reader import Reader
from dagpost.features.statements.edge import Edge
from dagpost.features.statements.path import Path

#: More steps than anybody asks for.
_MOST_STEPS = 1_000


@dataclass(frozen=True)
class PathInTime(Feature):
    """`A ~> B within 2 steps`: A, now or up to 2 steps ago, influences B now; paths may pass through any time between.

    A may be B itself: then it is about its own past.
    """

    source: str
    target: str
    steps: int

    name = "path in time"

    def __post_init__(self) -> None:
        check_text(self.source, self.target)
        steps = whole_number(self.steps, "steps", "path_in_time", least=0, most=_MOST_STEPS)
        object.__setattr__(self, "steps", steps)
        if self.source == self.target and steps == 0:
            raise InputError(f"The statement {str(self)!r} is about the past of {self.source!r}: allow a step or more.")

    def __str__(self) -> str:
        unit = "step" if self.steps == 1 else "steps"
        return f"{quoted(self.source)} ~> {quoted(self.target)} within {self.steps} {unit}"

    @classmethod
    def forms(cls) -> tuple[Form, ...]:
        return (Suffix("within", cls.read, ("A ~> B within 2 steps",), Path),)

    @classmethod
    def read(cls, reader: Reader, source: str, target: str) -> PathInTime:
        """`within 2 steps`."""
        start = reader.step()
        steps = reader.number("a number of steps")
        if (reader.next.kind, reader.next.value) not in (("name", "steps"), ("name", "step")):
            raise reader.error(reader.next, f"Expected 'steps' after the number of steps, but {reader.next}.")
        reader.step()
        reader.build(start, time_columns(reader.names).required, "'within' is")
        return reader.build(start, cls, source, target, steps)

    def simpler(self, names: Sequence[str]) -> Feature:
        """Within the present, a path like any other; without time there is none."""
        self._columns(names)
        return self if self.steps else Path(self.source, self.target)

    def by_lagged_edges(self, names: Sequence[str]) -> Feature:
        """The same where no edges lead within a slice: within one step, a single edge."""
        lagged = earlier(self.source, 1)
        return Edge(lagged, self.target) if self.steps == 1 and lagged in names else self

    def holds_in(self, block: Block) -> Flags:
        """The graphs in which such a path is found backwards from the target."""
        columns = self._columns(block.names)
        present, before = _places(columns)
        target = self._series(columns, self.target)
        fixed = columns.names.index(self.source) if self.source in columns.static else -1
        source = self._series(columns, self.source) if fixed < 0 else -1
        ancestors = np.ascontiguousarray(block.ancestors().reshape(block.nodes, block.count, -1))
        held = np.zeros(block.count, dtype=np.bool_)
        _follow_back(ancestors, present, before, source, fixed, target, self.steps, held)
        return held

    def _columns(self, names: Sequence[str]) -> TimeColumns:
        return time_columns(names).required(f"The statement {str(self)!r} is")

    def _series(self, columns: TimeColumns, name: str) -> int:
        if name in columns.series:
            return columns.series.index(name)
        raise InputError(
            f"The statement {str(self)!r} is about series, and {name!r} is not one. Series are "
            f"{', '.join(map(repr, columns.series))}."
        )


def path_in_time(source: str, target: str, steps: int) -> PathInTime:
    """The statement that `source`, now or at most `steps` steps ago, influences `target` now, for models with time.

    >>> print(path_in_time("salt", "pressure", 2))
    salt ~> pressure within 2 steps
    """
    return PathInTime(source, target, steps)


def _places(columns: TimeColumns) -> tuple[Integers, Integers]:
    """The column of each series at present, and at each lag; -1 where there is none."""

    def place(series: str, lag: int) -> int:
        found = columns.place(series, lag)
        return -1 if found is None else found

    present = [place(series, 0) for series in columns.series]
    before = [[place(series, lag) for series in columns.series] for lag in range(1, columns.lags + 1)]
    return np.array(present, dtype=np.int64), np.array(before, dtype=np.int64)


@kernel
def _follow_back(
    ancestors: Masks,
    present: Integers,
    before: Integers,
    source: int,
    fixed: int,
    target: int,
    steps: int,
    held: Flags,
) -> None:
    """Say for each graph whether a path comes from the series `source`, or from the static column `fixed`."""
    lags, series = before.shape
    # The series from which a lagged edge leads on towards the target, by how long ago.
    leads = np.empty((steps + 1, series), dtype=np.bool_)
    looked_for = fixed if source < 0 else present[source]
    for graph in range(len(held)):
        for step in range(steps + 1):
            for one in range(series):
                leads[step, one] = False
        leads[0, target] = True
        found = False
        for step in range(steps + 1):
            for one in range(series):
                if found or not leads[step, one]:
                    continue
                if one == source and step > 0:
                    found = True
                    continue
                column = present[one]
                if column < 0:
                    continue
                if looked_for >= 0 and _holds(ancestors, column, graph, looked_for):
                    found = True
                    continue
                for lag in range(min(lags, steps - step)):
                    for other in range(series):
                        place = before[lag, other]
                        if place >= 0 and _holds(ancestors, column, graph, place):
                            leads[step + lag + 1, other] = True
        held[graph] = found


@kernel
def _holds(sets: Masks, node: int, graph: int, member: int) -> bool:
    return bool(sets[node, graph, member >> 6] >> np.uint64(member & 63) & np.uint64(1))
