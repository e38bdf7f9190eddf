"""Which statements can be answered exactly, and from what?

*Conditions on parents.* The indicator of a statement is often a sum of a few conjunctions, with signs, in
which each condition is about the parents of one node:

    [f holds in G] = constant + sum over terms of sign * product over nodes i of [condition on i's parents]

The probability of a conjunction is the ratio of two evidences, the upper one with weight 0 for the families
that break a condition (docs/design, "Features"), so the probability of `f` is the same sum. "Not" is `1 - f`,
"and" is a product, "or" is `1 - (1 - f)(1 - g)`; conditions on one node are joined before anything is
multiplied out, so a conjunction of any number of edges, parent sets and their negations is one term. Terms
that no DAG can meet (both directions of one edge) have evidence 0. Adjacency is two terms, one for each
direction, as both cannot be. Not being in a Markov blanket is one conjunction: no edge between the two, no
common child.

*One node's reach.* A boolean combination of statements about the descendants of one node, or about the
ancestors of one node, is a condition on that one set, whose distribution is exact under the structure-modular
prior (docs/design, "Structure-modular posterior").
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.text import position_of
from dagpost.features.predicates import (
    Adjacent,
    AncestorSet,
    And,
    DescendantSet,
    DSeparated,
    Edge,
    Feature,
    InMarkovBlanket,
    Not,
    Or,
    ParentSet,
    Path,
    TopologicalPosition,
    VStructure,
)

Condition = Callable[[NDArray[np.uint64]], NDArray[np.bool_]]
Conditions = Mapping[int, Condition]
Direction = Literal["descendants", "ancestors"]

#: Every term costs a pass over all sets of nodes.
MOST_TERMS = 32


@dataclass(frozen=True, eq=False)
class Term:
    """A conjunction of conditions, each on the parents of one node, and how it counts: mostly 1 or -1."""

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

    A condition takes masks over all nodes and says for each whether that parent set meets it. None is also
    the answer where more than `MOST_TERMS` terms would be needed.

    >>> from dagpost.features import edge, adjacent
    >>> found = parent_conditions(edge("A", "B") & ~edge("C", "B"), ["A", "B", "C"])
    >>> found.constant, [(term.sign, list(term.conditions)) for term in found.terms]
    (0, [(1, [1])])
    >>> found.terms[0].conditions[1](np.array([0b001, 0b100, 0b101], dtype=np.uint64))
    array([ True, False, False])
    >>> found = parent_conditions(~adjacent("A", "B"), ["A", "B", "C"])
    >>> found.constant, [(term.sign, list(term.conditions)) for term in found.terms]
    (1, [(-1, [1]), (-1, [0])])
    """
    return _expand(feature, names)


def one_node_reach(feature: Feature, names: Sequence[str]) -> OneNodeReach | None:
    """The statement as a condition on the descendants or the ancestors of one node, or None if it is not one.

    >>> from dagpost.features import path
    >>> found = one_node_reach(path("A", "B") & ~path("A", "C"), ["A", "B", "C"])
    >>> found.node, found.direction
    (0, 'descendants')
    >>> found.condition(np.array([0b010, 0b110], dtype=np.uint64))
    array([ True, False])
    """
    reaches = _reaches(feature, names)
    return OneNodeReach(*reaches[0]) if reaches else None


# Conditions on parents


def _expand(feature: Feature, names: Sequence[str]) -> ParentConditions | None:
    single = _about_one_node(feature, names)
    if single is not None:
        return _one_term(dict([single]))
    match _simpler(feature, names):
        case Not(Or(parts)):
            return _times([_expand(~part, names) for part in parts])
        case Not(part):
            return _one_minus(_expand(part, names))
        case And(parts):
            return _times([_expand(part, names) for part in parts])
        case Or(parts):
            return _one_minus(_times([_expand(~part, names) for part in parts]))
        case Adjacent(first, second):
            # Both edges would be a cycle, so the two terms never hold together.
            directions = [_about_one_node(Edge(*ends), names) for ends in ((first, second), (second, first))]
            return ParentConditions(0, tuple(Term(1, dict([one])) for one in directions if one is not None))
        case InMarkovBlanket(member, of):
            return _one_minus(_one_term(_strangers(member, of, names)))
        case DescendantSet(node, members) if not members:
            return _one_term(_childless(node, names))
    return None


def _about_one_node(feature: Feature, names: Sequence[str]) -> tuple[int, Condition] | None:
    """A statement about nothing but the parents of one node: which node, and the condition."""
    match _simpler(feature, names):
        case Edge(parent, child):
            return position_of(child, names), _all_in(_mask((parent,), names))
        case ParentSet(child, parents):
            return position_of(child, names), _equals(_mask(parents, names))
        case Not(part):
            inner = _about_one_node(part, names)
            return inner and (inner[0], _none_of([inner[1]]))
        case And(parts) | Or(parts) as joined:
            found = [_about_one_node(part, names) for part in parts]
            known = [one for one in found if one is not None]
            if len(known) < len(found) or len({node for node, _ in known}) > 1:
                return None
            conditions = [condition for _, condition in known]
            return known[0][0], _all_of(conditions) if isinstance(joined, And) else _any_of(conditions)
    return None


def _simpler(feature: Feature, names: Sequence[str]) -> Feature:
    """An equal statement of a kind that can be answered, where there is one."""
    match feature:
        case Path(source, target, 1):
            return Edge(source, target)
        case Path(source, target, longest) if longest is not None and longest >= len(names) - 1:
            return Path(source, target)
        case AncestorSet(node, members) if not members:
            return ParentSet(node, members)
        case TopologicalPosition(node, "=" | "<=", 0) | TopologicalPosition(node, "<", 1):
            return ParentSet(node, frozenset())
        case TopologicalPosition(node, ">", 0) | TopologicalPosition(node, ">=", 1):
            return Not(ParentSet(node, frozenset()))
        case VStructure(first, collider, second):
            apart = Not(Edge(first, second)), Not(Edge(second, first))
            return And((Edge(first, collider), Edge(second, collider), *apart))
        case DSeparated(first, second) if feature.variables == frozenset(names):
            # Given all other variables, a Markov blanket is what keeps two apart.
            pairs = [Not(InMarkovBlanket(*pair)) for pair in product(sorted(first), sorted(second))]
            return And(tuple(pairs)) if len(pairs) > 1 else pairs[0]
    return feature


def _strangers(first: str, second: str, names: Sequence[str]) -> Conditions:
    """Neither is a parent of the other, and no third node is a child of both."""
    conditions: dict[int, Condition] = {
        position: _none_of([_all_in(_mask((first, second), names))]) for position in range(len(names))
    }
    conditions[position_of(first, names)] = _none_of([_all_in(_mask((second,), names))])
    conditions[position_of(second, names)] = _none_of([_all_in(_mask((first,), names))])
    return conditions


def _childless(node: str, names: Sequence[str]) -> Conditions:
    lacking = _none_of([_all_in(_mask((node,), names))])
    return {position: lacking for position in range(len(names)) if names[position] != node}


def _one_term(conditions: Conditions) -> ParentConditions:
    return ParentConditions(0, (Term(1, conditions),)) if conditions else ParentConditions(1, ())


def _one_minus(inner: ParentConditions | None) -> ParentConditions | None:
    if inner is None:
        return None
    return ParentConditions(1 - inner.constant, tuple(Term(-term.sign, term.conditions) for term in inner.terms))


def _times(factors: Sequence[ParentConditions | None]) -> ParentConditions | None:
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
            Term(one.sign * other.sign, _merge(one.conditions, other.conditions))
            for one, other in product(left, right)
            if one.conditions or other.conditions
        ]
        if len(terms) > MOST_TERMS:
            return None
    return ParentConditions(constant, tuple(terms))


def _merge(one: Conditions, other: Conditions) -> Conditions:
    merged = dict(one)
    for node, condition in other.items():
        merged[node] = _all_of([merged[node], condition]) if node in merged else condition
    return merged


# One node's reach


def _reaches(feature: Feature, names: Sequence[str]) -> list[tuple[int, Direction, Condition]]:
    """All the ways to say it about the descendants or the ancestors of one node, descendants first."""
    match _simpler(feature, names):
        case Path(source, target, None):
            return [
                (position_of(source, names), "descendants", _all_in(_mask((target,), names))),
                (position_of(target, names), "ancestors", _all_in(_mask((source,), names))),
            ]
        case DescendantSet(node, members):
            return [(position_of(node, names), "descendants", _equals(_mask(members, names)))]
        case AncestorSet(node, members):
            return [(position_of(node, names), "ancestors", _equals(_mask(members, names)))]
        case ParentSet(node, parents) if not parents:
            return [(position_of(node, names), "ancestors", _equals(np.uint64(0)))]
        case Not(part):
            return [(node, way, _none_of([inner])) for node, way, inner in _reaches(part, names)]
        case And(parts) | Or(parts) as joined:
            join = _all_of if isinstance(joined, And) else _any_of
            each = [{(node, way): inner for node, way, inner in _reaches(part, names)} for part in parts]
            return [
                (node, way, join([one[node, way] for one in each]))
                for node, way in each[0]
                if all((node, way) in one for one in each)
            ]
    return []


# Conditions on masks


def _mask(members: Sequence[str] | frozenset[str], names: Sequence[str]) -> np.uint64:
    return np.uint64(sum(1 << position_of(name, names) for name in members))


def _all_in(members: np.uint64) -> Condition:
    return lambda masks: masks & members == members


def _equals(members: np.uint64) -> Condition:
    return lambda masks: masks == members


def _all_of(conditions: Sequence[Condition]) -> Condition:
    return lambda masks: np.logical_and.reduce([condition(masks) for condition in conditions])


def _any_of(conditions: Sequence[Condition]) -> Condition:
    return lambda masks: np.logical_or.reduce([condition(masks) for condition in conditions])


def _none_of(conditions: Sequence[Condition]) -> Condition:
    return lambda masks: ~np.logical_or.reduce([condition(masks) for condition in conditions])
