"""`A ~> B`: a directed path, perhaps of a limited number of edges, leads from one variable to another.

A path of any length is a bit of the ancestors, which a block has anyway; a limit of `L` edges takes `L - 1` extensions
by one edge.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dagpost._tools.checks import whole_number
from dagpost._tools.text import position_of
from dagpost.features.blocks import Block, Flags, Masks
from dagpost.features.feature import Feature
from dagpost.features.forms import Arrow, Form, Membership
from dagpost.features.names import check_different, mask_of, quoted
from dagpost.features.reader import Reader
from dagpost.features.reductions import OneNodeReach, all_in
from dagpost.features.statements.edge import Edge


@dataclass(frozen=True)
class Path(Feature):
    """`A ~> B`: a directed path leads from A to B; `A ~>{2} B`: one of at most 2 edges does."""

    source: str
    target: str
    longest: int | None = None

    name = "path"

    def __post_init__(self) -> None:
        check_different(self, self.source, self.target)
        if self.longest is not None:
            longest = whole_number(self.longest, "longest", "path", least=1, optional=True)
            object.__setattr__(self, "longest", longest)

    @property
    def projects(self) -> bool:  # type: ignore[override]
        """A limit counts the columns on the way."""
        return self.longest in (None, 1)

    def __str__(self) -> str:
        limit = "" if self.longest is None else f"{{{self.longest}}}"
        return f"{quoted(self.source)} ~>{limit} {quoted(self.target)}"

    @classmethod
    def forms(cls) -> tuple[Form, ...]:
        return (
            Arrow("~>", cls, ("A ~> B", "A ~>{2} B"), modifier=_limit, related=_ancestors),
            Arrow("<~", cls, ("B <~ A",), direction="left", modifier=_limit),
            Membership("an", cls, ("A in an(B)",)),
            Membership("de", lambda member, of: cls(of, member), ("B in de(A)",)),
        )

    def holds_in(self, block: Block) -> Flags:
        reached_from = block.ancestors(self.longest)[block.node(self.target)]
        return all_in(block.mask([self.source]))(reached_from)

    def simpler(self, names: Sequence[str]) -> Feature:
        if self.longest == 1:
            return Edge(self.source, self.target)
        if self.longest is not None and self.longest >= len(names) - 1:
            return Path(self.source, self.target)
        return self

    def reaches(self, names: Sequence[str]) -> list[OneNodeReach]:
        if self.longest is not None:
            return []
        source, target = (position_of(name, names) for name in (self.source, self.target))
        return [
            OneNodeReach(source, "descendants", all_in(mask_of([self.target], names))),
            OneNodeReach(target, "ancestors", all_in(mask_of([self.source], names))),
        ]


def path(source: str, target: str, longest: int | None = None) -> Path:
    """The statement that a directed path, of at most `longest` edges if that is given, leads to `target`.

    >>> print(path("Smoking", "Pressure") | path("Smoking", "Proteins", longest=2))
    Smoking ~> Pressure | Smoking ~>{2} Proteins
    """
    return Path(source, target, longest)


def _limit(reader: Reader) -> int | None:
    """`{2}`, if it is there."""
    if not reader.at("{"):
        return None
    reader.step()
    token = reader.next
    longest = reader.number("the largest number of edges")
    if longest < 1:
        raise reader.error(token, "A path has at least 1 edge.")
    reader.take("}", where="after the largest number of edges")
    return longest


def _ancestors(block: Block, longest: int | None = None) -> Masks:
    return block.ancestors(longest)
