"""A table with one row a graph, as people write it: which columns it may have, and what `A->B;C->D` says."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TypeVar

from dagpost._tools.text import shown
from dagpost.errors import InputError

ARROW, BETWEEN_EDGES = "->", ";"
EDGES, WEIGHT, PROBABILITY = "edges", "weight", "probability"
#: Columns that number the rows, or say what is not needed. pandas and R write row numbers without a name.
_PASSED_OVER = ("graph", "index", "score", "seconds", "")

Cells = TypeVar("Cells")


def check_columns(columns: Collection[str]) -> None:
    """Refuse columns that are not known: one called "weights" would be passed over, and nobody would see it."""
    for column in columns:
        if column not in (EDGES, WEIGHT, PROBABILITY, *_PASSED_OVER):
            raise InputError(
                f"A table of graphs has no column {shown(column)}. Its columns are 'edges', and if you like 'weight', "
                "'probability', 'seconds', 'graph', 'index' and 'score'. Rename or remove it."
            )


def weights_in(table: Mapping[str, Cells]) -> tuple[str, Cells] | None:
    """The column that says what each graph counts, with its name: the weights, or else the probabilities.

    >>> weights_in({"edges": ["A->B", ""], "probability": [0.75, 0.25]})
    ('probability', [0.75, 0.25])
    """
    return next(((name, table[name]) for name in (WEIGHT, PROBABILITY) if name in table), None)


def edges_in(text: str) -> list[str]:
    """The edges of a text, in which they may stand in square brackets.

    >>> edges_in("[A->B;C->D]"), edges_in("")
    (['A->B', 'C->D'], [])
    """
    bare = text.strip()
    if bare[:1] == "[" and bare[-1:] == "]":
        bare = bare[1:-1]
    edges = bare.split(BETWEEN_EDGES)
    return edges if all(edges) else [edge for edge in edges if edge]


def ends_of(edge: str) -> tuple[str, str]:
    """The parent and the child of an edge; spaces around their names do not count.

    >>> ends_of("A -> B")
    ('A', 'B')
    """
    ends = tuple(end.strip() for end in edge.split(ARROW))
    if len(ends) != 2 or not all(ends):
        undirected = " An edge without a direction belongs to no DAG." if "-" in edge and ARROW not in edge else ""
        raise InputError(f"an edge is a pair (parent, child), written 'A->B'. Got {shown(edge)} instead.{undirected}")
    return ends[0], ends[1]
