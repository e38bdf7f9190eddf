"""`pos(A) <= 1`: how many edges the longest directed path has that ends in a variable.

A kernel goes along the lists of parents, parents first, once for all such statements of a call.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass, field
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.checks import one_of, whole_number
from dagpost._tools.kernels import kernel
from dagpost.families.graph_lists import GraphLists
from dagpost.features.blocks import Block, Flags
from dagpost.features.feature import Feature, Not
from dagpost.features.forms import Call, Form
from dagpost.features.names import check_text, quoted
from dagpost.features.reader import Reader
from dagpost.features.statements.node_sets import ParentSet

COMPARISONS = {"=": operator.eq, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
#: No path is as long; a larger number could not be read back from the text of a statement.
_BEYOND = 10**9 - 1


@dataclass(frozen=True)
class TopologicalPosition(Feature):
    """`pos(A) <= 1`: the longest directed path that ends in A has at most one edge (0: A has no parents)."""

    node: str
    comparison: str = field(metadata={"named": False})
    value: int

    name = "topological_position"
    projects = True

    def __post_init__(self) -> None:
        check_text(self.node)
        one_of(self.comparison, "comparison", COMPARISONS, self.name)
        value: Any = self.value
        # All numbers beyond the length of any path say the same.
        value = min(value, _BEYOND) if isinstance(value, Integral) else value
        object.__setattr__(self, "value", whole_number(value, "value", self.name, least=0))

    def __str__(self) -> str:
        return f"pos({quoted(self.node)}) {self.comparison} {self.value}"

    @classmethod
    def forms(cls) -> tuple[Form, ...]:
        return (Call("pos", _read, ("pos(A) <= 1",)),)

    def holds_in(self, block: Block) -> Flags:
        positions = block.shared(_positions)[block.node(self.node)]
        # No position reaches n, so every larger value compares as n does.
        result: Flags = COMPARISONS[self.comparison](positions, min(self.value, block.nodes))
        return result

    def simpler(self, names: Sequence[str]) -> Feature:  # noqa: ARG002
        no_parents = ParentSet(self.node, frozenset())
        if (self.comparison, self.value) in (("=", 0), ("<=", 0), ("<", 1)):
            return no_parents
        if (self.comparison, self.value) in ((">", 0), (">=", 1)):
            return Not(no_parents)
        return self


def topological_position(node: str, comparison: str, value: int) -> TopologicalPosition:
    """The statement that the longest directed path that ends in `node` has `value` edges, or fewer, or more.

    `comparison` is one of "=", "<", "<=", ">" and ">=".

    >>> print(topological_position("Smoking", "<=", 1))
    pos(Smoking) <= 1
    """
    return TopologicalPosition(node, comparison, value)


def _read(reader: Reader) -> TopologicalPosition:
    start = reader.next
    name = reader.argument()
    if not reader.at(*COMPARISONS):
        raise reader.error(reader.next, f"Expected one of {', '.join(COMPARISONS)} after pos( ), but {reader.next}.")
    comparison = reader.step().value
    return reader.build(start, TopologicalPosition, name, comparison, reader.number("a number of edges"))


def _positions(block: Block) -> NDArray[np.int64]:
    """The number of edges of the longest path that ends in each node."""
    positions = np.zeros((block.nodes, block.count), dtype=np.int64)
    _longest_paths(block.lists, positions)
    return positions


@kernel
def _longest_paths(lists: GraphLists, positions: NDArray[np.int64]) -> None:
    """One more than the highest position of a parent, which comes before."""
    for graph in range(positions.shape[1]):
        for place in range(lists.ordered[graph]):
            node = lists.order[graph, place]
            for edge in range(lists.starts[graph, node], lists.starts[graph, node + 1]):
                longer = positions[lists.members[edge], graph] + 1
                positions[node, graph] = max(positions[node, graph], longer)
