"""`compelled(A -> B)`: an edge is there, and has that direction in all graphs of the equivalence class.

As data tell it that were only observed, whatever was set from outside and whatever the rules of a model are;
`DagPosterior.directions` takes both into account. The compelled edges of a block of graphs are found once
(families/essential.py).
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from dagpost.families.essential import compelled_by_data
from dagpost.features.blocks import Block, Flags, Masks
from dagpost.features.feature import Feature
from dagpost.features.forms import Call, Form
from dagpost.features.names import check_different, quoted
from dagpost.features.reader import Reader
from dagpost.features.reductions import all_in


@dataclass(frozen=True)
class CompelledEdge(Feature):
    """`compelled(A -> B)`: A is a direct parent of B in all graphs that observed data cannot tell from this one."""

    parent: str
    child: str
    #: Columns that are not modelled: data do not show two of them to be apart.
    exogenous: frozenset[str] = field(default=frozenset(), metadata={"named": False})

    name = "compelled"

    def __post_init__(self) -> None:
        check_different(self, self.parent, self.child)

    def __str__(self) -> str:
        return f"compelled({quoted(self.parent)} -> {quoted(self.child)})"

    @classmethod
    def forms(cls) -> tuple[Form, ...]:
        return (Call("compelled", _read, ("compelled(A -> B)",)),)

    def conditional(self, exogenous: frozenset[str]) -> Feature:
        """In all graphs that say the same of the modelled columns given the others."""
        super().conditional(exogenous)
        return CompelledEdge(self.parent, self.child, exogenous)

    def holds_in(self, block: Block) -> Flags:
        found = block.shared(_compelled, self.exogenous)
        return all_in(block.mask([self.parent]))(found[:, block.node(self.child)])


def compelled(parent: str, child: str) -> CompelledEdge:
    """The statement that an edge is there and has this direction in all graphs of the equivalence class.

    Observed data say nothing about directions beyond these. Rules of a model, and columns that were set from outside,
    are not taken into account: `DagPosterior.directions` does that.

    >>> print(compelled("Smoking", "Pressure"))
    compelled(Smoking -> Pressure)
    """
    return CompelledEdge(parent, child)


def _read(reader: Reader) -> CompelledEdge:
    start = reader.step()
    reader.step()
    parent = reader.name()
    reader.take("->", where="after the variable")
    child = reader.name()
    reader.take(")", where="after the variable")
    return reader.build(start, CompelledEdge, parent, child)


def _compelled(block: Block, exogenous: frozenset[str]) -> Masks:
    """The compelled edges of every graph, as masks of parents."""
    given = [block.node(name) for name in sorted(exogenous)]
    masks: Masks = compelled_by_data(block.by_graph(block.parents), exogenous=given).astype(np.uint64)
    return masks
