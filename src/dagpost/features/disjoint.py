"""A statement as conjunctions of conditions on parents of which at most one holds in any graph: its ways to be true.

`A -- B` is `A -> B` or `B -> A`, never both; `f | g` is `f`, or `g` without `f`; what negates `f & g` is `!f`, or `f`
without `g`. The weights of the graphs in which a statement holds are then a plain sum over these ways, without signs:
each way is a posterior of its own, with weights that its conditions leave, and the statement mixes them. What negates a
statement has its ways too, at times fewer: "not in the Markov blanket" is one conjunction, and d-separation of two
sides given all other variables is one too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dagpost._tools.checks import truth
from dagpost.features.feature import And, Not, Or
from dagpost.features.names import known_names
from dagpost.features.reductions import Conditions, checked_feature, merge, negated

if TYPE_CHECKING:
    from dagpost.features.feature import Feature

#: The most ways that are written out, before those that no graph allows are left out.
MOST_WAYS = 64


def disjoint_ways(feature: Feature, names: Sequence[str], *, untrue: bool = False) -> list[Conditions] | None:
    """The ways in which a statement can be true, or `untrue`; None if it is not of that kind, or has too many of them.

    Each way says by node what the parents must meet, as a condition that takes masks over all nodes.

    >>> import numpy as np
    >>> from dagpost import adjacent, edge
    >>> [list(way) for way in disjoint_ways(adjacent("A", "B"), ["A", "B", "C"])]
    [[1], [0]]
    >>> [list(way) for way in disjoint_ways(edge("A", "B") | edge("B", "C"), ["A", "B", "C"])]
    [[1], [1, 2]]
    >>> (way,) = disjoint_ways(edge("A", "B") & ~edge("C", "B"), ["A", "B", "C"])
    >>> way[1](np.array([0b001, 0b100, 0b101], dtype=np.uint64))
    array([ True, False, False])
    """
    return _ways(checked_feature(feature), known_names(names), bool(truth(untrue, "untrue")))


def _ways(feature: Feature, names: Sequence[str], untrue: bool) -> list[Conditions] | None:
    simple = feature.simpler(names)
    single = simple.family_condition(names)
    if single is not None:
        node, condition = single
        return [{node: negated(condition) if untrue else condition}]
    if isinstance(simple, Not):
        return _ways(simple.part, names, not untrue)
    if isinstance(simple, And | Or):
        found = [_ways(part, names, untrue) for part in simple.parts]
        if isinstance(simple, And) is not untrue:
            return _all_of(found)
        return _any_of(found, [_ways(part, names, not untrue) for part in simple.parts])
    ways = simple.conjunctions(names, untrue=untrue)
    return _none_of(simple.conjunctions(names, untrue=not untrue)) if ways is None else ways


def _all_of(parts: Sequence[list[Conditions] | None]) -> list[Conditions] | None:
    ways: list[Conditions] = [{}]
    for part in parts:
        if part is None:
            return None
        ways = [merge(one, other) for one in ways for other in part]
        if len(ways) > MOST_WAYS:
            return None
    return ways


def _any_of(
    parts: Sequence[list[Conditions] | None], opposites: Sequence[list[Conditions] | None]
) -> list[Conditions] | None:
    """The first that holds: each together with none of those before it."""
    ways: list[Conditions] = []
    before: list[Conditions] | None = [{}]
    for part, opposite in zip(parts, opposites, strict=True):
        first, before = _all_of([before, part]), _all_of([before, opposite])
        if first is None or before is None or len(ways) + len(first) > MOST_WAYS:
            return None
        ways += first
    return ways


def _none_of(ways: list[Conditions] | None) -> list[Conditions] | None:
    return None if ways is None else _all_of([_broken(way) for way in ways])


def _broken(way: Conditions) -> list[Conditions]:
    """A conjunction fails at its first condition that does not hold."""
    nodes = list(way)
    return [
        {**{earlier: way[earlier] for earlier in nodes[:place]}, node: negated(way[node])}
        for place, node in enumerate(nodes)
    ]
