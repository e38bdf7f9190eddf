"""Which statements can be answered exactly, and from what?

*Conditions on parents.* The indicator of a statement is often a sum of a few conjunctions, with signs, in which each
condition is about the parents of one node:

    [f holds in G] = constant + sum over terms of sign * product over nodes i of [condition on i's parents]

The probability of a conjunction is the ratio of two evidences; in the upper one, families that break a condition have
weight 0 (docs/design, "Features"). The probability of `f` is then the same sum. "Not" is `1 - f`, "and" is a product,
"or" is `1 - (1 - f)(1 - g)`. Conditions on one node are joined before anything is multiplied out, so a conjunction of
any number of edges, parent sets and their negations is one term. Terms that no DAG can meet (both directions of one
edge) have evidence 0.

*One node's reach.* A boolean combination of statements about the descendants of one node, or about the ancestors of
one node, is a condition on that one set. The distribution of that set is exact under the structure-modular prior
(docs/design, "Structure-modular posterior").

Every statement gives its own conditions (`Feature.family_condition`, `conjunctions`, `reaches`); this module is the
algebra that joins them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
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

#: The most terms that are multiplied out: each costs a pass over all sets of nodes.
MOST_TERMS = 32


@dataclass(frozen=True, eq=False)
class Term:
    """A conjunction of conditions, each on the parents of one node, and its factor in the sum: mostly 1 or -1."""

    sign: int
    conditions: Conditions


@dataclass(frozen=True, eq=False)
class ParentConditions:
    """The probability of a statement is `constant` plus the sum of `sign` times that of each conjunction."""

    constant: int
    terms: tuple[Term, ...]


@dataclass(frozen=True, eq=False)
class OneNodeReach:
    """The statement holds exactly when the proper descendants (or ancestors) of `node` meet the condition."""

    node: int
    direction: Direction
    condition: Condition


def parent_conditions(feature: Feature, names: Sequence[str]) -> ParentConditions | None:
    """The statement as conditions on the parents of single nodes, or None if it is not of that kind.

    A condition takes masks over all nodes and returns, for each, whether that parent set meets it. None is also
    returned if more than `MOST_TERMS` terms would be needed.

    >>> from dagpost import adjacent, edge
    >>> found = parent_conditions(edge("A", "B") & ~edge("C", "B"), ["A", "B", "C"])
    >>> found.constant, [(term.sign, list(term.conditions)) for term in found.terms]
    (0, [(1, [1])])
    >>> found.terms[0].conditions[1](np.array([0b001, 0b100, 0b101], dtype=np.uint64))
    array([ True, False, False])
    >>> found = parent_conditions(~adjacent("A", "B"), ["A", "B", "C"])
    >>> found.constant, [(term.sign, list(term.conditions)) for term in found.terms]
    (1, [(-1, [1]), (-1, [0])])
    """
    simple = _checked(feature).simpler(texts(names, "names"))
    single = simple.family_condition(names)
    return simple.conjunctions(names) if single is None else one_term(dict([single]))


def one_node_reach(feature: Feature, names: Sequence[str]) -> OneNodeReach | None:
    """The statement as a condition on the descendants or the ancestors of one node, or None if it is not one.

    >>> from dagpost.features import path
    >>> found = one_node_reach(path("A", "B") & ~path("A", "C"), ["A", "B", "C"])
    >>> found.node, found.direction
    (0, 'descendants')
    >>> found.condition(np.array([0b010, 0b110], dtype=np.uint64))
    array([ True, False])
    """
    found = reaches(_checked(feature), texts(names, "names"))
    return found[0] if found else None


def _checked(feature: Any) -> Feature:
    has_method(feature, "feature", "simpler", "a statement such as edge('A', 'B')")
    found: Feature = feature
    return found


def family_condition(feature: Feature, names: Sequence[str]) -> FamilyCondition | None:
    """The condition on the parents of one node that the statement, or a simpler one, is equivalent to."""
    return feature.simpler(names).family_condition(names)


def reaches(feature: Feature, names: Sequence[str]) -> list[OneNodeReach]:
    """The conditions on one node's reach that the statement, or a simpler one, is equivalent to."""
    return feature.simpler(names).reaches(names)


# Sums of conjunctions


def one_term(conditions: Conditions) -> ParentConditions:
    """A conjunction as a sum of one term."""
    return ParentConditions(0, (Term(1, conditions),)) if conditions else ParentConditions(1, ())


def one_minus(inner: ParentConditions | None) -> ParentConditions | None:
    """The sum for the negation."""
    if inner is None:
        return None
    return ParentConditions(1 - inner.constant, tuple(Term(-term.sign, term.conditions) for term in inner.terms))


def times(factors: Sequence[ParentConditions | None]) -> ParentConditions | None:
    """The product of sums, multiplied out."""
    constant = 1
    terms: list[Term] = []
    for factor in factors:
        if factor is None:
            return None
        left = [Term(constant, {})] * (constant != 0) + terms
        right = [Term(factor.constant, {})] * (factor.constant != 0) + list(factor.terms)
        constant *= factor.constant
        terms = [
            Term(one.sign * other.sign, merge(one.conditions, other.conditions))
            for one, other in product(left, right)
            if one.conditions or other.conditions
        ]
        if len(terms) > MOST_TERMS:
            return None
    return ParentConditions(constant, tuple(terms))


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
