"""`A -> C <- B`: two variables that are not adjacent are both parents of a third."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dagpost.features.feature import And, Feature, refuse_among
from dagpost.features.forms import Form, Pattern
from dagpost.features.names import check_different, quoted
from dagpost.features.statements.adjacent import Adjacent
from dagpost.features.statements.edge import Edge


@dataclass(frozen=True)
class VStructure(Feature):
    """`A -> C <- B`: A and B are parents of C and are not adjacent themselves."""

    first: str
    collider: str
    second: str

    name = "v_structure"
    projects = True

    def __post_init__(self) -> None:
        check_different(self, self.first, self.collider, self.second)

    def __str__(self) -> str:
        return f"{quoted(self.first)} -> {quoted(self.collider)} <- {quoted(self.second)}"

    @classmethod
    def forms(cls) -> tuple[Form, ...]:
        return (Pattern("-> <-", cls, ("A -> C <- B",), called="a v-structure"),)

    def conditional(self, exogenous: frozenset[str]) -> Feature:
        """Whether two exogenous parents are adjacent is not modelled: refused."""
        refuse_among(Adjacent(self.first, self.second), exogenous)
        return self

    def simpler(self, names: Sequence[str]) -> Feature:  # noqa: ARG002
        apart = [~edge for edge in Adjacent(self.first, self.second).directions]
        return And((Edge(self.first, self.collider), Edge(self.second, self.collider), *apart))


def v_structure(first: str, collider: str, second: str) -> VStructure:
    """The statement that two variables are parents of `collider` and not adjacent to each other.

    Without the last condition it is `edge(first, collider) & edge(second, collider)`.

    >>> print(v_structure("Smoking", "Pressure", "Family"))
    Smoking -> Pressure <- Family
    """
    return VStructure(first, collider, second)
