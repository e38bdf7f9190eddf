"""What all networks share: how they show themselves, an order in which parents come first, and randomness."""

from __future__ import annotations

import html
from collections.abc import Sequence

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
    waiting = [len(of) for of in parents]
    children: list[list[int]] = [[] for _ in names]
    for child, of in enumerate(parents):
        for parent in of:
            if parent in place:
                children[place[parent]].append(child)
    order: list[int] = []
    ready = [node for node, count in enumerate(waiting) if count == 0]
    while ready:
        order += ready
        following = []
        for node in ready:
            for child in children[node]:
                waiting[child] -= 1
                following += [child] if waiting[child] == 0 else []
        ready = sorted(following)
    if len(order) < len(names):
        placed = {*order}
        stuck = shortened([repr(name) for node, name in enumerate(names) if node not in placed])
        raise InputError(f"The graph has a directed cycle, or an unknown parent, among {stuck}: it is not a DAG.")
    return order


def generator_for(rows: int, seed: int | None) -> np.random.Generator:
    """What draws some rows."""
    whole_number(rows, "rows", "sample", least=0)
    return np.random.default_rng(seed_number(seed))
