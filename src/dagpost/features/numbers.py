"""What does a Python function of a graph return, a number, for each of many graphs?

The function runs in Python, once for each distinct graph; no statement is involved.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.arrays import Floats
from dagpost._tools.checks import ask_user, is_finite
from dagpost._tools.text import shown
from dagpost.engines.threads import over_rows
from dagpost.errors import InputError
from dagpost.families.masks import distinct_rows, graph_of_masks

if TYPE_CHECKING:
    import networkx as nx

    NumberFunction = Callable[[nx.DiGraph[str]], float]

#: Graphs that a function is asked about before a bar moves on.
_AT_A_TIME = 100


def numbers_in(function: NumberFunction, parents: NDArray[Any], names: Sequence[str]) -> Floats:
    """What `function` returns for each graph, a frozen `networkx.DiGraph` whose nodes are the names.

    >>> chain = np.array([[0, 1, 2], [0, 0, 2]], dtype=np.uint8)  # A -> B -> C, and B -> C alone
    >>> numbers_in(lambda graph: graph.number_of_edges(), chain, ["A", "B", "C"])
    array([2., 1.])
    """
    import networkx as nx

    if not callable(function):
        raise InputError(
            f"An expected value is that of a function of a networkx.DiGraph. Got {shown(function)}. For the "
            "probability of a statement, use probability()."
        )
    first, member = distinct_rows(parents)
    called = getattr(function, "__name__", type(function).__name__)

    def ask(row: int) -> float:
        graph = nx.freeze(graph_of_masks(parents[row], names))
        return _checked(called, ask_user(f"The function {called}", function, graph), row)

    asked = over_rows(lambda rows: [ask(row) for row in first[rows]], len(first), _AT_A_TIME, alone=True)
    return np.array([value for values in asked for value in values])[member]


def _checked(called: str, value: object, graph: int) -> float:
    if isinstance(value, bool | np.bool_):
        raise InputError(f"The function {called} returns True or False, which is a statement: use probability().")
    if not is_finite(value):
        raise InputError(
            f"The function {called} must return a finite number. Got {shown(value)} for DAG number {graph}."
        )
    return float(value)  # type: ignore[arg-type]
