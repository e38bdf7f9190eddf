"""`an(B) = {A, C}`: the ancestors of a variable are exactly these."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from dagpost._tools.text import position_of
from dagpost.features.blocks import Block, Flags
from dagpost.features.feature import Feature
from dagpost.features.forms import Call, Form
from dagpost.features.names import braced, mask_of, names_of, quoted, store_others
from dagpost.features.reductions import OneNodeReach, equal_to
from dagpost.features.statements.parent_set import ParentSet


@dataclass(frozen=True)
class AncestorSet(Feature):
    """`an(B) = {A, C}`: directed paths lead to B from exactly these."""

    node: str
    members: frozenset[str]

    name = "ancestor_set"

    def __post_init__(self) -> None:
        store_others(self, "members", self.node)

    def __str__(self) -> str:
        return f"an({quoted(self.node)}) = {braced(self.members)}"

    @classmethod
    def forms(cls) -> tuple[Form, ...]:
        return (Call("an", lambda reader: reader.node_and_set(cls), ("an(B) = {A}",)),)

    def holds_in(self, block: Block) -> Flags:
        return equal_to(block.mask(self.members))(block.ancestors()[block.node(self.node)])

    def simpler(self, names: Sequence[str]) -> Feature:  # noqa: ARG002
        return self if self.members else ParentSet(self.node, self.members)

    def reaches(self, names: Sequence[str]) -> list[OneNodeReach]:
        return [OneNodeReach(position_of(self.node, names), "ancestors", equal_to(mask_of(self.members, names)))]


def ancestor_set(node: str, members: str | Iterable[str]) -> AncestorSet:
    """The statement that directed paths lead to `node` from exactly these variables.

    >>> print(ancestor_set("Pressure", []))
    an(Pressure) = {}
    """
    return AncestorSet(node, names_of(members))
