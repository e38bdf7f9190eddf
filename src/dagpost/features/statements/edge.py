"""`A -> B`: one variable is a parent of another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dagpost._tools.text import position_of
from dagpost.data.time_columns import earlier, time_columns
from dagpost.features.feature import Feature
from dagpost.features.forms import Arrow, Form, Membership, Suffix
from dagpost.features.names import check_different, mask_of, quoted
from dagpost.features.reader import Reader
from dagpost.features.reductions import FamilyCondition, all_in


@dataclass(frozen=True)
class Edge(Feature):
    """`A -> B`: A is a parent of B."""

    parent: str
    child: str

    name = "edge"
    projects = True

    def __post_init__(self) -> None:
        check_different(self, self.parent, self.child)

    def __str__(self) -> str:
        return f"{quoted(self.parent)} -> {quoted(self.child)}"

    @classmethod
    def forms(cls) -> tuple[Form, ...]:
        return (
            Arrow("->", cls, ("A -> B",), related=lambda block: block.parents),
            Arrow("<-", cls, ("B <- A",), direction="left"),
            Membership("pa", cls, ("A in pa(B)",)),
            Suffix("at", cls.read_lag, ("A -> B at lag 1",), cls),
            Suffix("now", cls.read_now, ("A -> B now",), cls),
        )

    @classmethod
    def read_lag(cls, reader: Reader, parent: str, child: str) -> Edge:
        """`at lag 1`: from the column of the parent so many steps earlier."""
        start = reader.step()
        if (reader.next.kind, reader.next.value) != ("name", "lag"):
            raise reader.error(reader.next, f"Expected 'lag' after 'at', but {reader.next}.")
        reader.step()
        column = earlier(parent, reader.number("how many steps ago"))
        reader.build(start, time_columns(reader.names).required, "A lag is")
        reader.build(start, position_of, column, reader.names)
        return reader.build(start, cls, column, child)

    @classmethod
    def read_now(cls, reader: Reader, parent: str, child: str) -> Edge:
        """`now`: between present values."""
        start = reader.step()
        reader.build(start, time_columns(reader.names).required, "'now' is")
        return reader.build(start, cls, parent, child)

    def family_condition(self, names: Sequence[str]) -> FamilyCondition:
        return position_of(self.child, names), all_in(mask_of([self.parent], names))


def edge(parent: str, child: str) -> Edge:
    """The statement that `parent` is a parent of `child`.

    >>> print(edge("Smoking", "M. Work") & ~edge("Family", "Smoking"))
    Smoking -> "M. Work" & !(Family -> Smoking)
    """
    return Edge(parent, child)
