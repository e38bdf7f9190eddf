"""`de(A) = {B, C}`: the descendants of a variable are exactly these."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from dagpost._tools.text import position_of
from dagpost.features.blocks import Block, Flags
from dagpost.features.feature import Feature
from dagpost.features.forms import Call, Form
from dagpost.features.names import braced, mask_of, names_of, quoted, store_others
from dagpost.features.reductions import OneNodeReach, ParentConditions, all_in, equal_to, negated, one_term


@dataclass(frozen=True)
class DescendantSet(Feature):
    """`de(A) = {B, C}`: directed paths lead from A to exactly these."""

    node: str
    members: frozenset[str]

    name = "descendant_set"

    def __post_init__(self) -> None:
        store_others(self, "members", self.node)

    def __str__(self) -> str:
        return f"de({quoted(self.node)}) = {braced(self.members)}"

    @classmethod
    def forms(cls) -> tuple[Form, ...]:
        return (Call("de", lambda reader: reader.node_and_set(cls), ("de(B) = {}",)),)

    def holds_in(self, block: Block) -> Flags:
        shift = np.uint64(block.node(self.node))
        descendants = np.zeros(block.count, dtype=np.uint64)
        for node, masks in enumerate(block.ancestors()):
            descendants |= (masks >> shift & np.uint64(1)) << np.uint64(node)
        return equal_to(block.mask(self.members))(descendants)

    def conjunctions(self, names: Sequence[str]) -> ParentConditions | None:
        if self.members:
            return None
        # Without descendants: the node is a parent of no other node.
        not_a_parent = negated(all_in(mask_of([self.node], names)))
        return one_term({position: not_a_parent for position, name in enumerate(names) if name != self.node})

    def reaches(self, names: Sequence[str]) -> list[OneNodeReach]:
        return [OneNodeReach(position_of(self.node, names), "descendants", equal_to(mask_of(self.members, names)))]


def descendant_set(node: str, members: str | Iterable[str]) -> DescendantSet:
    """The statement that directed paths lead from `node` to exactly these variables.

    >>> print(descendant_set("Smoking", ["Pressure"]))
    de(Smoking) = {Pressure}
    """
    return DescendantSet(node, names_of(members))
