"""`A -- B`: an edge joins two variables, in either direction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dagpost.features.feature import Feature
from dagpost.features.forms import Arrow, Form
from dagpost.features.names import check_different, quoted
from dagpost.features.reductions import Conditions
from dagpost.features.statements.edge import Edge


@dataclass(frozen=True)
class Adjacent(Feature):
    """`A -- B`: an edge joins A and B, in either direction."""

    first: str
    second: str

    name = "adjacent"
    projects = True

    def __post_init__(self) -> None:
        check_different(self, self.first, self.second)

    def __str__(self) -> str:
        return f"{quoted(self.first)} -- {quoted(self.second)}"

    @classmethod
    def forms(cls) -> tuple[Form, ...]:
        # A DAG has at most one of the two edges between a pair, so the parents give each adjacent pair once.
        return (Arrow("--", cls, ("A -- B",), direction="none", related=lambda block: block.parents),)

    @property
    def directions(self) -> tuple[Edge, Edge]:
        """The two edges that may join the variables."""
        return Edge(self.first, self.second), Edge(self.second, self.first)

    def conjunctions(self, names: Sequence[str], *, untrue: bool) -> list[Conditions] | None:
        # Both edges would be a cycle, so the two ways never hold together.
        return None if untrue else [dict([one.family_condition(names)]) for one in self.directions]


def adjacent(first: str, second: str) -> Adjacent:
    """The statement that an edge joins two variables, in either direction.

    >>> print(adjacent("Smoking", "Pressure"))
    Smoking -- Pressure
    """
    return Adjacent(first, second)
