"""Any Python function of a graph as a statement.

It has no text that can be read back, and it is the only statement that runs in Python, once for each distinct graph of
a block.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dagpost._tools.checks import ask_user
from dagpost._tools.text import shown
from dagpost.errors import InputError
from dagpost.families.masks import graph_of_masks
from dagpost.features.blocks import Block, Flags, Masks
from dagpost.features.feature import Feature, Function


@dataclass(frozen=True)
class Custom(Feature):
    """Any Python function of a `networkx.DiGraph`, whose nodes are the variable names, that returns True or False.

    The graph is frozen; the function is called once for each distinct DAG of a block of samples.
    """

    function: Function

    name = "custom"
    calls_back = True

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise InputError(f"A custom statement needs a function of a networkx.DiGraph. Got {shown(self.function)}.")

    @classmethod
    def from_python(cls, thing: object) -> Feature | None:
        return cls(thing) if callable(thing) else None

    def __str__(self) -> str:
        return f"{getattr(self.function, '__name__', type(self.function).__name__)}(dag)"

    def holds_in(self, block: Block) -> Flags:
        answers: dict[bytes, bool] = {}
        result = np.empty(block.count, dtype=np.bool_)
        for place, row in enumerate(block.by_graph(block.parents)):
            key = row.tobytes()
            if key not in answers:
                answers[key] = self._ask(block, row, block.start + place)
            result[place] = answers[key]
        return result

    def _ask(self, block: Block, masks: Masks, sample: int) -> bool:
        import networkx as nx

        graph = nx.freeze(graph_of_masks(masks, block.names))
        answer = ask_user(f"The function {self} of a statement", self.function, graph)
        if not isinstance(answer, bool | np.bool_):
            raise InputError(
                f"The function {self} must return True or False. Got {shown(answer)} for DAG number {sample}. For the "
                "expected value of a number, use expectation(function)."
            )
        return bool(answer)


def custom(function: Function) -> Custom:
    """The statement that a Python function of a `networkx.DiGraph` returns true.

    >>> from dagpost import edge
    >>> def sparse(dag):
    ...     return dag.number_of_edges() < 5
    >>> print(custom(sparse) & edge("Smoking", "Pressure"))
    sparse(dag) & Smoking -> Pressure
    """
    return Custom(function)
