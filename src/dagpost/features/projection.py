"""Statements as conditions on masks where there are more columns than a mask has bits: they see only what they name.

With up to 64 columns every column has its own bit. Beyond that, the columns that a statement names get a bit each, and
all others share one more bit: "some other column is a parent". So `pa(X) = {A, B}` is a condition on three bits and on
the shared one, which must be 0. Whatever has to hold for the parents of every node, such as "X is a parent of none", is
worked out for one node that stands for all that are not named. Both are right for statements that treat all these
columns alike and do not count them; a statement says so with `Feature.projects`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dagpost._tools.arrays import Masks
from dagpost._tools.text import position_of
from dagpost.families.numbering import MAX_NODES
from dagpost.features.disjoint import disjoint_ways
from dagpost.features.names import known_names
from dagpost.features.reductions import Condition, Conditions, Direction, one_node_reach

if TYPE_CHECKING:
    from dagpost.features.feature import Feature

#: The most variables that a statement may name: with the others together they fill a word.
_MOST_NAMED = 63


class ProjectedReach(NamedTuple):
    """A statement as a condition on what one column reaches, which takes masks of projected sets.

    `told_apart` are the columns of which the condition may look at each; of the others only whether any is there.
    """

    node: int
    direction: Direction
    condition: Condition
    bits: Masks
    told_apart: Sequence[int]


class ProjectedWays(NamedTuple):
    """The ways in which a statement is true, or untrue, as conditions on the parents of single nodes (disjoint.py).

    The conditions take masks of projected sets; nodes are columns. `bits` has the bit of each column: the mask of a set
    is the bits of its members joined by "or".
    """

    ways: list[dict[int, Condition]]
    bits: Masks
    untrue: bool

    @property
    def sums(self) -> int:
        """How many ways are about several nodes: the weights that each of these leaves are summed by themselves."""
        return sum(len(way) > 1 for way in self.ways)


def projected_ways(feature: Feature, names: Sequence[str], *, untrue: bool = False) -> ProjectedWays | None:
    """`disjoint_ways` for any number of variables; None where the statement is not of that kind.

    >>> from dagpost import parent_set
    >>> names = [f"v{column}" for column in range(500)]
    >>> found = projected_ways(parent_set("v7", ["v100", "v200"]), names)
    >>> members = np.array([[100, 200], [100, 300]])  # two sets, as columns
    >>> found.ways[0][7](np.bitwise_or.reduce(found.bits[members], axis=1))
    array([ True, False])
    """
    names = known_names(names)
    seen = _seen(feature, names)
    found = None if seen is None else disjoint_ways(feature, seen.names, untrue=untrue)
    if seen is None or found is None:
        return None
    return ProjectedWays([_on_columns(way, seen.named, len(names)) for way in found], seen.bits, untrue)


def projected_conditions(feature: Feature, names: Sequence[str]) -> list[ProjectedWays]:
    """The ways in which a statement is true and those in which it is not, what takes fewer sums first.

    None at all where the statement is not of that kind.
    """
    found = [projected_ways(feature, names, untrue=untrue) for untrue in (False, True)]
    return sorted((ways for ways in found if ways is not None), key=lambda ways: ways.sums)


def projected_reach(feature: Feature, names: Sequence[str]) -> ProjectedReach | None:
    """`one_node_reach` for any number of variables; None where the statement is not of that kind."""
    names = known_names(names)
    seen = _seen(feature, names)
    found = None if seen is None else one_node_reach(feature, seen.names)
    if seen is None or found is None or found.node >= len(seen.named):
        return None
    told_apart = [position_of(name, names) for name in feature.variables] if feature.projects else range(len(names))
    return ProjectedReach(seen.named[found.node], found.direction, found.condition, seen.bits, told_apart)


class _Seen(NamedTuple):
    """The names that a statement is read with, the columns of those it names, and the bit of every column."""

    names: tuple[str, ...]
    named: Sequence[int]
    bits: Masks


def _seen(feature: Feature, names: tuple[str, ...]) -> _Seen | None:
    """What a statement sees; None where columns that it does not name may not be seen as one."""
    if len(names) <= MAX_NODES:
        everyone = range(len(names))
        return _Seen(names, everyone, np.uint64(1) << np.arange(len(names), dtype=np.uint64))
    named = sorted(position_of(name, names) for name in feature.variables)
    if not feature.projects or len(named) > _MOST_NAMED:
        return None
    others = "other"
    while others in feature.variables:
        others += "s"
    bits = np.full(len(names), 1 << len(named), dtype=np.uint64)
    bits[named] = np.uint64(1) << np.arange(len(named), dtype=np.uint64)
    return _Seen((*(names[column] for column in named), others), named, bits)


def _on_columns(conditions: Conditions, named: Sequence[int], columns: int) -> dict[int, Condition]:
    """Conditions by column; that of the node behind the named ones is that of all other columns."""
    result = {named[node]: condition for node, condition in conditions.items() if node < len(named)}
    if len(named) in conditions:
        others = (column for column in range(columns) if column not in set(named))
        result |= dict.fromkeys(others, conditions[len(named)])
    return result
