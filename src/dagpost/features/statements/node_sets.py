"""`pa(B) = {A, C}`, `an(B) = {A}`, `de(A) = {}`: the parents, ancestors or descendants of a variable are just these."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dagpost._tools.text import position_of
from dagpost.features.blocks import Block, Flags
from dagpost.features.feature import Feature
from dagpost.features.forms import Call, Form
from dagpost.features.names import braced, mask_of, names_of, quoted, store_others
from dagpost.features.reductions import (
    Conditions,
    Direction,
    FamilyCondition,
    OneNodeReach,
    all_in,
    equal_to,
    negated,
)


@dataclass(frozen=True)
class _NodeSet(Feature):
    """`word(node) = {members}`."""

    node: str
    members: frozenset[str]

    word: ClassVar[str]
    example: ClassVar[str]
    projects = True

    def __post_init__(self) -> None:
        store_others(self, "members", self.node)

    def __str__(self) -> str:
        return f"{self.word}({quoted(self.node)}) = {braced(self.members)}"

    @classmethod
    def forms(cls) -> tuple[Form, ...]:
        return (Call(cls.word, lambda reader: reader.node_and_set(cls), (cls.example,)),)

    def _reach(self, direction: Direction, names: Sequence[str]) -> list[OneNodeReach]:
        return [OneNodeReach(position_of(self.node, names), direction, equal_to(mask_of(self.members, names)))]


class ParentSet(_NodeSet):
    """`pa(B) = {A, C}`: the parents of B are exactly these."""

    name = "parent_set"
    word, example = "pa", "pa(B) = {A, C}"

    def family_condition(self, names: Sequence[str]) -> FamilyCondition:
        return position_of(self.node, names), equal_to(mask_of(self.members, names))

    def reaches(self, names: Sequence[str]) -> list[OneNodeReach]:
        # A node without parents is a node without ancestors.
        return [] if self.members else self._reach("ancestors", names)


class AncestorSet(_NodeSet):
    """`an(B) = {A, C}`: directed paths lead to B from exactly these."""

    name = "ancestor_set"
    word, example = "an", "an(B) = {A}"

    def holds_in(self, block: Block) -> Flags:
        return equal_to(block.mask(self.members))(block.ancestors()[block.node(self.node)])

    def simpler(self, names: Sequence[str]) -> Feature:  # noqa: ARG002
        return self if self.members else ParentSet(self.node, self.members)

    def reaches(self, names: Sequence[str]) -> list[OneNodeReach]:
        return self._reach("ancestors", names)


class DescendantSet(_NodeSet):
    """`de(A) = {B, C}`: directed paths lead from A to exactly these."""

    name = "descendant_set"
    word, example = "de", "de(B) = {}"

    def holds_in(self, block: Block) -> Flags:
        below = all_in(block.mask([self.node]))
        members = {block.node(name) for name in self.members}
        result = np.ones(block.count, dtype=np.bool_)
        for node, masks in enumerate(block.ancestors()):
            result &= below(masks) == (node in members)
        return result

    def conjunctions(self, names: Sequence[str], *, untrue: bool) -> list[Conditions] | None:
        if self.members or untrue:
            return None
        # Without descendants: the node is a parent of no other node.
        not_a_parent = negated(all_in(mask_of([self.node], names)))
        return [{position: not_a_parent for position, name in enumerate(names) if name != self.node}]

    def reaches(self, names: Sequence[str]) -> list[OneNodeReach]:
        return self._reach("descendants", names)


def parent_set(child: str, parents: str | Iterable[str]) -> ParentSet:
    """The statement that `parents` are the parents of `child`, no more and no fewer.

    >>> print(parent_set("Pressure", ["Smoking", "Family"]))
    pa(Pressure) = {Family, Smoking}
    """
    return ParentSet(child, names_of(parents))


def ancestor_set(node: str, members: str | Iterable[str]) -> AncestorSet:
    """The statement that directed paths lead to `node` from exactly these variables.

    >>> print(ancestor_set("Pressure", []))
    an(Pressure) = {}
    """
    return AncestorSet(node, names_of(members))


def descendant_set(node: str, members: str | Iterable[str]) -> DescendantSet:
    """The statement that directed paths lead from `node` to exactly these variables.

    >>> print(descendant_set("Smoking", ["Pressure"]))
    de(Smoking) = {Pressure}
    """
    return DescendantSet(node, names_of(members))
