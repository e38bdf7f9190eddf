"""Which edges does an assumption leave no choice about: which are in all graphs in which it holds, and which in none?

Conditions on parents are tried with all sets of the variables that they name; a path from A to B rules out the edge
back, and where there is no path there is no edge. What follows only from several of these together, such as that edges
close no cycle, is left to the graphs. An assumption of any other kind decides no single edge.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from dagpost._tools.arrays import Flags
from dagpost._tools.text import position_of
from dagpost.errors import InputError
from dagpost.features import And, Feature, Not, Path, projected_conditions, resolve
from dagpost.features.statements.adjacent import Adjacent

#: Of statements that name more variables, which are rare, the sets are not tried.
_MOST_NAMED = 12


class AssumedEdges(NamedTuple):
    """Edges (parent, child) that all graphs have under an assumption, and those that none has."""

    required: Flags
    forbidden: Flags


def assumed_edges(statements: Any, names: Sequence[str], exogenous: Collection[str] = ()) -> AssumedEdges:
    """What texts of statements decide; one that is not about these variables decides nothing.

    >>> found = assumed_edges(["A -> B", "!(A ~> C)"], ["A", "B", "C"])
    >>> found.required.astype(int).tolist(), found.forbidden.astype(int).tolist()
    ([[0, 1, 0], [0, 0, 0], [0, 0, 0]], [[0, 0, 1], [0, 0, 0], [0, 0, 0]])
    """
    size = len(names), len(names)
    found = AssumedEdges(np.zeros(size, dtype=np.bool_), np.zeros(size, dtype=np.bool_))
    for part in _parts(statements, names, exogenous):
        path = part.part if isinstance(part, Not) else part
        if isinstance(path, Path):
            way = position_of(path.source, names), position_of(path.target, names)
            found.forbidden[way if isinstance(part, Not) else way[::-1]] = True
        elif isinstance(part, Not) and isinstance(path, Adjacent):
            ends = [position_of(name, names) for name in sorted(path.variables)]
            found.forbidden[ends, ends[::-1]] = True
        else:
            _add_conditions(found, part, names)
    return found


def _parts(statements: Any, names: Sequence[str], exogenous: Collection[str]) -> Iterable[Feature]:
    """The statements, those that are joined by "and" one by one."""
    for statement in statements if isinstance(statements, list | tuple) else ():
        try:
            feature = resolve(statement, names, None, exogenous).feature
        except InputError:
            # A function of Python, or whatever the maker of a sample has written there.
            continue
        yield from feature.parts if isinstance(feature, And) else (feature,)


def _add_conditions(found: AssumedEdges, feature: Feature, names: Sequence[str]) -> None:
    """What a condition on the parents of some nodes decides."""
    projected = projected_conditions(feature, names)
    named = sorted(position_of(name, names) for name in feature.variables)
    if projected is None or not feature.projects or len(named) > _MOST_NAMED:
        return
    conditions, bits = projected
    if conditions.constant or [term.sign for term in conditions.terms] != [1]:
        return
    others = [column for column in range(len(names)) if column not in named]
    for node, condition in conditions.terms[0].conditions.items():
        candidates = [column for column in named if column != node]
        members = (np.arange(1 << len(candidates))[:, None] >> np.arange(len(candidates))) & 1 == 1
        masks = np.bitwise_or.reduce(np.where(members, bits[candidates], 0), axis=1, initial=np.uint64(0))
        elsewhere = np.bitwise_or.reduce(bits[[column for column in others if column != node]], initial=np.uint64(0))
        alone, joined = condition(masks), condition(masks | elsewhere)
        met = members[alone | joined]
        found.required[candidates, node] |= met.all(axis=0)
        found.forbidden[candidates, node] |= ~met.any(axis=0)
        if not joined.any():
            found.forbidden[[column for column in others if column != node], node] = True
