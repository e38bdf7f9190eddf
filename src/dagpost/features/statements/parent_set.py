"""`pa(B) = {A, C}`: the parents of a variable are exactly these."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from dagpost._tools.text import position_of
from dagpost.features.feature import Feature
from dagpost.features.forms import Call, Form
from dagpost.features.names import braced, mask_of, names_of, quoted, store_others
from dagpost.features.reductions import FamilyCondition, OneNodeReach, equal_to


@dataclass(frozen=True)
class ParentSet(Feature):
    """`pa(B) = {A, C}`: the parents of B are exactly these."""

    child: str
    parents: frozenset[str]

    name = "parent_set"

    def __post_init__(self) -> None:
        store_others(self, "parents", self.child)

    def __str__(self) -> str:
        return f"pa({quoted(self.child)}) = {braced(self.parents)}"

    @classmethod
    def forms(cls) -> tuple[Form, ...]:
        return (Call("pa", lambda reader: reader.node_and_set(cls), ("pa(B) = {A, C}",)),)

    def family_condition(self, names: Sequence[str]) -> FamilyCondition:
        return position_of(self.child, names), equal_to(mask_of(self.parents, names))

    def reaches(self, names: Sequence[str]) -> list[OneNodeReach]:
        # A node without parents is a node without ancestors.
        node, condition = self.family_condition(names)
        return [] if self.parents else [OneNodeReach(node, "ancestors", condition)]


def parent_set(child: str, parents: str | Iterable[str]) -> ParentSet:
    """The statement that `parents` are the parents of `child`, no more and no fewer.

    >>> print(parent_set("Pressure", ["Smoking", "Family"]))
    pa(Pressure) = {Family, Smoking}
    """
    return ParentSet(child, names_of(parents))
