"""Equivalence classes as text, and the exact weight of a whole class.

Two graphs that have the same adjacencies and the same v-structures say the same about data (Verma & Pearl 1990). A
class is written as its essential graph, "A->B;B--C": an edge is directed where all graphs of the class have it that
way. Only the data count here, not what a score allows, so that any program finds the same text.

The weight of a class is the sum over its graphs of the products of their family weights. The undirected part of an
essential graph falls into components that are directed independently of each other (Andersson, Madigan & Perlman 1997),
so the sum is a product over components. A component has one source in each of its graphs; with the source fixed, what
is then directed follows, and smaller components remain (He, Jia & Yu 2015). The same node sets come up again and again
and are summed once. Nothing is assumed about the score: graphs that it does not allow weigh nothing.

Time: some microseconds for each pair of a component and its source; a clique of k nodes has 2^k components.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from dagpost.families.masks import members_of

#: The log weight of a node with a set of parents, given as a mask; minus infinity where that is not allowed.
LogWeight = Callable[[int, int], float]


class ClassWeight(NamedTuple):
    """The log of the sum of the weights of all graphs of a class, and how many of them have any weight."""

    log_weight: float
    graphs: int


def pattern_text(pattern: Sequence[int], names: Sequence[str]) -> str:
    """An essential graph as text; bit j of entry i: there is an edge j -> i, or j -- i where bit i of j is set too.

    The edges stand in the order of their text; the two ends of an undirected edge stand in the order of the columns.
    """
    edges = []
    for child, mask in enumerate(pattern):
        for parent in members_of(mask):
            if not pattern[parent] >> child & 1:
                edges.append(f"{names[parent]}->{names[child]}")
            elif parent < child:
                edges.append(f"{names[parent]}--{names[child]}")
    return ";".join(sorted(edges))


def class_weight(pattern: Sequence[int], log_weight: LogWeight) -> ClassWeight:
    """The weight of all graphs of the class that an essential graph stands for.

    >>> chain = [0b010, 0b101, 0b010]  # A -- B -- C
    >>> class_weight(chain, lambda node, parents: 0.0)
    ClassWeight(log_weight=1.0986122886681098, graphs=3)
    """
    undirected = [sum(1 << j for j in members_of(mask) if pattern[j] >> i & 1) for i, mask in enumerate(pattern)]
    sums = _ComponentSums(undirected, log_weight)
    everything = (1 << len(pattern)) - 1
    components = [(members, _above(members, pattern, undirected)) for members in _components(everything, undirected)]
    return sums.of_all(components)


def _above(members: int, pattern: Sequence[int], undirected: Sequence[int]) -> int:
    """The parents that a component has outside: all of its nodes have the same."""
    node = (members & -members).bit_length() - 1
    return pattern[node] & ~undirected[node]


class _ComponentSums:
    """Sums over all ways to direct components of undirected edges without a cycle or a new v-structure."""

    def __init__(self, undirected: Sequence[int], log_weight: LogWeight) -> None:
        self._undirected = undirected
        self._log_weight = log_weight
        self._known: dict[tuple[int, int], ClassWeight] = {}

    def of_all(self, components: Iterable[tuple[int, int]]) -> ClassWeight:
        """Components that are directed independently of each other: weights and numbers of graphs are multiplied."""
        log_weight, graphs = 0.0, 1
        for members, above in components:
            own = self.of_component(members, above)
            if not own.graphs:
                return ClassWeight(-math.inf, 0)
            log_weight += own.log_weight
            graphs *= own.graphs
        return ClassWeight(log_weight, graphs)

    def of_component(self, members: int, above: int) -> ClassWeight:
        """One component, whose nodes all have the parents `above` beside those that they get here."""
        key = members, above
        if key not in self._known:
            self._known[key] = self._summed(members, above)
        return self._known[key]

    def _summed(self, members: int, above: int) -> ClassWeight:
        if members & (members - 1) == 0:
            own = self._log_weight(members.bit_length() - 1, above)
            return ClassWeight(own, 1) if own > -math.inf else ClassWeight(-math.inf, 0)
        found = [self.of_all(self._with_source(members, source, above)) for source in members_of(members)]
        possible = [own for own in found if own.graphs]
        if not possible:
            return ClassWeight(-math.inf, 0)
        largest = max(own.log_weight for own in possible)
        total = math.fsum(math.exp(own.log_weight - largest) for own in possible)
        return ClassWeight(largest + math.log(total), sum(own.graphs for own in possible))

    def _with_source(self, members: int, source: int, above: int) -> list[tuple[int, int]]:
        """What is left undirected once a node is the source of its component, with the parents of each part."""
        first = 1 << source
        parts = [(first, above)]
        layer, left = first, members & ~first
        while left:
            following = left & _union(self._undirected, layer)
            parents = {node: self._undirected[node] & layer for node in members_of(following)}
            still = self._directed_within(following, parents)
            for part in _components(following, still):
                node = (part & -part).bit_length() - 1
                parts.append((part, above | parents[node]))
            layer, left = following, left & ~following
        return parts

    def _directed_within(self, nodes: int, parents: dict[int, int]) -> dict[int, int]:
        """Add to `parents` what follows among nodes that are equally far from the source; what stays undirected.

        x -> y -- z becomes y -> z where x and z are not joined.
        """
        still = {node: self._undirected[node] & nodes for node in parents}
        changed = True
        while changed:
            changed = False
            for y in list(parents):
                for z in members_of(still[y]):
                    if parents[y] & ~self._undirected[z] & ~(1 << z):
                        parents[z] |= 1 << y
                        still[y] &= ~(1 << z)
                        still[z] &= ~(1 << y)
                        changed = True
        return still


def _union(sets: Sequence[int], of: int) -> int:
    """The union of the sets of some nodes."""
    union = 0
    for node in members_of(of):
        union |= sets[node]
    return union


def _components(nodes: int, undirected: Sequence[int] | dict[int, int]) -> list[int]:
    """The connected parts of some nodes."""
    found = []
    while nodes:
        part = nodes & -nodes
        border = part
        while border:
            near = 0
            for node in members_of(border):
                near |= undirected[node]
            border = near & nodes & ~part
            part |= border
        found.append(part)
        nodes &= ~part
    return found
