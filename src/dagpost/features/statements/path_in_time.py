"""`A ~> B within 2 steps`: a directed path leads from one series, at most so many steps ago, to another one now.

A graph over present and earlier columns is a template: the same edges lead into every time. Repeated in time, a path
may go through several slices, by lagged edges and by those within a slice. It is followed backwards from the present.
In the template, the ancestors of a present column are those of its own slice that reach it, and the earlier columns
from which an edge leads to these: each of them is a present column of its own slice, whose ancestors come next.

Time per graph: series times columns for each step; for all graphs of a block at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from dagpost._tools.checks import whole_number
from dagpost.data.time_columns import TimeColumns, earlier, time_columns
from dagpost.errors import InputError
from dagpost.features.blocks import Block, Flags
from dagpost.features.feature import Feature
from dagpost.features.forms import Form, Suffix
from dagpost.features.names import check_text, quoted
from dagpost.features.reader import Reader
from dagpost.features.reductions import all_in
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
        columns, ancestors = self._columns(block.names), block.ancestors()
        self._require_series(columns, self.target)
        if self.source not in columns.static:
            self._require_series(columns, self.source)

        @cache
        def leads(place: int, child: int) -> Flags:
            """The graphs in which a path leads from one column to another."""
            return all_in(block.mask([block.names[place]]))(ancestors[child])

        looked_for = columns.names.index(self.source) if self.source in columns.names else None
        held = np.zeros(block.count, dtype=np.bool_)
        # The series from which a path leads on to the target, in which graphs, by how many steps ago.
        reached: list[dict[str, Flags]] = [{} for _ in range(self.steps + 1)]
        reached[0][self.target] = np.ones(block.count, dtype=np.bool_)
        for step, those in enumerate(reached):
            for series, graphs in those.items():
                if series == self.source and step:
                    held |= graphs
                child = columns.place(series, 0)
                if child is None:
                    continue
                if looked_for is not None:
                    held |= graphs & leads(looked_for, child)
                for (other, lag), place in columns.places.items():
                    if lag and step + lag <= self.steps and (more := graphs & leads(place, child)).any():
                        reached[step + lag][other] = more | reached[step + lag].get(other, False)
        return held

    def _columns(self, names: Sequence[str]) -> TimeColumns:
        return time_columns(names).required(f"The statement {str(self)!r} is")

    def _require_series(self, columns: TimeColumns, name: str) -> None:
        if name not in columns.series:
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
