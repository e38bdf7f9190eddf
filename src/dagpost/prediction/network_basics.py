"""What all networks share: how they show themselves, an order in which parents come first, and randomness."""

from __future__ import annotations

import html
from collections.abc import Sequence
from graphlib import CycleError, TopologicalSorter

import numpy as np

from dagpost._tools.checks import seed_number, whole_number
from dagpost._tools.setting_text import given_columns
from dagpost._tools.text import shortened
from dagpost.errors import InputError


class Network:
    """How networks show themselves."""

    names: tuple[str, ...]
    parents: tuple[tuple[str, ...], ...]
    exogenous: tuple[str, ...]

    def __repr__(self) -> str:
        names, edges, given = len(self.names), sum(map(len, self.parents)), given_columns(self.exogenous)
        size = f"{names} variable{'s' * (names != 1)} and {edges} edge{'s' * (edges != 1)}"
        return f"{type(self).__name__} of {size}{given and f', {given}'}"

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><th>{html.escape(name)}</th><td>{html.escape(', '.join(of)) or 'none'}</td></tr>"
            for name, of in zip(self.names, self.parents, strict=True)
        )
        head = "<tr><th>variable</th><th>parents</th></tr>"
        return f"<table><caption>{html.escape(repr(self))}</caption>{head}{rows}</table>"


def order_of(names: tuple[str, ...], parents: Sequence[Sequence[str]]) -> list[int]:
    """The nodes, every one after its parents; a cycle is an error."""
    place = {name: node for node, name in enumerate(names)}
    order: list[int] = []
    try:
        sorter = TopologicalSorter({node: [place[parent] for parent in of] for node, of in enumerate(parents)})
        sorter.prepare()
    except (KeyError, CycleError) as error:
        stuck = error.args if isinstance(error, KeyError) else [names[node] for node in sorted({*error.args[1]})]
        listed = shortened([repr(name) for name in stuck])
        raise InputError(
            f"The graph has a directed cycle, or an unknown parent, among {listed}: it is not a DAG."
        ) from error
    while sorter.is_active():
        ready = sorted(sorter.get_ready())
        order += ready
        sorter.done(*ready)
    return order


def generator_for(rows: int, seed: int | None) -> np.random.Generator:
    """What draws some rows."""
    whole_number(rows, "rows", "sample", least=0)
    return np.random.default_rng(seed_number(seed))
