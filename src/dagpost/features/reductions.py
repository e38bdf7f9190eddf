"""Which statements can be answered exactly, and from what?

*Conditions on parents.* A statement is often true in one of a few ways, each a conjunction of conditions on the parents
of single nodes (disjoint.py). The probability of a conjunction is the ratio of two evidences; in the upper one,
families that break a condition have weight 0 (docs/design, "Features").

*One node's reach.* A boolean combination of statements about the descendants of one node, or about the ancestors of
one node, is a condition on that one set. The distribution of that set is exact under the structure-modular prior
(docs/design, "Structure-modular posterior").

Every statement gives its own conditions (`Feature.family_condition`, `conjunctions`, `reaches`); this module is the
algebra that joins them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.checks import has_method, texts

if TYPE_CHECKING:
    from dagpost.features.feature import Feature

#: Takes masks of sets, numbers or rows of words as the number of variables wants it; whether each set meets it.
Condition = Callable[[NDArray[np.uint64]], NDArray[np.bool_]]
Conditions = Mapping[int, Condition]
#: A node, and a condition on its parents.
FamilyCondition = tuple[int, Condition]
Direction = Literal["descendants", "ancestors"]


@dataclass(frozen=True, eq=False)
class OneNodeReach:
    """The statement holds exactly when the proper descendants (or ancestors) of `node` meet the condition."""

    node: int
    direction: Direction
    condition: Condition


def one_node_reach(feature: Feature, names: Sequence[str]) -> OneNodeReach | None:
    """The statement as a condition on the descendants or the ancestors of one node, or None if it is not one.

    >>> from dagpost.features import path
    >>> found = one_node_reach(path("A", "B") & ~path("A", "C"), ["A", "B", "C"])
    >>> found.node, found.direction
    (0, 'descendants')
    >>> found.condition(np.array([0b010, 0b110], dtype=np.uint64))
    array([ True, False])
    """
    found = reaches(checked_feature(feature), texts(names, "names"))
    return found[0] if found else None


def checked_feature(feature: Any) -> Feature:
    """What has the methods of a statement; refused otherwise."""
    has_method(feature, "feature", "simpler", "a statement such as edge('A', 'B')")
    found: Feature = feature
    return found


def family_condition(feature: Feature, names: Sequence[str]) -> FamilyCondition | None:
    """The condition on the parents of one node that the statement, or a simpler one, is equivalent to."""
    return feature.simpler(names).family_condition(names)


def reaches(feature: Feature, names: Sequence[str]) -> list[OneNodeReach]:
    """The conditions on one node's reach that the statement, or a simpler one, is equivalent to."""
    return feature.simpler(names).reaches(names)


def merge(one: Conditions, other: Conditions) -> Conditions:
    """What has to hold for both conjunctions, node by node."""
    merged = dict(one)
    for node, condition in other.items():
        merged[node] = joined(np.logical_and, [merged[node], condition]) if node in merged else condition
    return merged


# Conditions on masks


def all_in(members: Any) -> Condition:
    """Whether a set contains all these members, given as a number or as a row of words."""
    if np.ndim(members) == 0:
        return lambda masks: masks & members == members
    (used,) = np.nonzero(members)
    # Only the words that have members are looked at.
    return lambda masks: (masks[..., used] & members[used] == members[used]).all(axis=-1)


def equal_to(members: Any) -> Condition:
    """Whether a set has exactly these members, given as a number or as a row of words."""
    if np.ndim(members) == 0:
        return lambda masks: masks == members
    return lambda masks: (masks == members).all(axis=-1)


def negated(condition: Condition) -> Condition:
    """Whether a set does not meet the condition."""
    return lambda masks: ~condition(masks)


def joined(join: np.ufunc, conditions: Sequence[Condition]) -> Condition:
    """Whether a set meets all (`np.logical_and`) or at least one (`np.logical_or`) of the conditions."""
    return lambda masks: join.reduce([condition(masks) for condition in conditions])
