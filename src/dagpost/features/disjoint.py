"""A statement as conjunctions of conditions on parents of which at most one holds in any graph: its ways to be true.

`A -- B` is `A -> B` or `B -> A`, never both; `f | g` is `f`, or `g` without `f`; what negates `f & g` is `!f`, or `f`
without `g`. The weights of the graphs in which a statement holds are then a plain sum over these ways, without signs:
each way is a posterior of its own, with weights that its conditions leave, and the statement mixes them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dagpost.features.feature import And, Not, Or
from dagpost.features.reductions import Conditions, merge, negated

if TYPE_CHECKING:
    from dagpost.features.feature import Feature

#: The most ways that are written out, before those that no graph allows are left out.
MOST_WAYS = 64


def disjoint_ways(feature: Feature, names: Sequence[str]) -> list[Conditions] | None:
    """The ways in which a statement can be true; None if it is not of that kind, or has too many of them.

    >>> from dagpost import adjacent, edge
    >>> [list(way) for way in disjoint_ways(adjacent("A", "B"), ["A", "B", "C"])]
    [[1], [0]]
    >>> [list(way) for way in disjoint_ways(edge("A", "B") | edge("B", "C"), ["A", "B", "C"])]
    [[1], [1, 2]]
    """
    simple = feature.simpler(names)
    single = simple.family_condition(names)
    if single is not None:
        return [dict([single])]
    if isinstance(simple, Not):
        return _none_of(disjoint_ways(simple.part, names))
    if isinstance(simple, And):
        return _all_of([disjoint_ways(part, names) for part in simple.parts])
    if isinstance(simple, Or):
        return _any_of([disjoint_ways(part, names) for part in simple.parts])
    found = simple.conjunctions(names)
    if found is None or any(abs(term.sign) != 1 for term in found.terms):
        return None
    ways, signs = [term.conditions for term in found.terms], {term.sign for term in found.terms}
    if found.constant == 0 and signs <= {1}:
        return ways
    return _none_of(ways) if found.constant == 1 and signs <= {-1} else None


def _all_of(parts: Sequence[list[Conditions] | None]) -> list[Conditions] | None:
    ways: list[Conditions] = [{}]
    for part in parts:
        if part is None:
            return None
        ways = [merge(one, other) for one in ways for other in part]
        if len(ways) > MOST_WAYS:
            return None
    return ways


def _any_of(parts: Sequence[list[Conditions] | None]) -> list[Conditions] | None:
    """The first that holds: each together with none of those before it."""
    ways: list[Conditions] = []
    before: list[Conditions] | None = [{}]
    for part in parts:
        first = _all_of([before, part])
        before = _all_of([before, _none_of(part)])
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
