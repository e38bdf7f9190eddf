"""Graphs with the parameters that a question needs: one draw for each graph, or the likeliest ones.

The draws of a family come from a seed of their own, so that every question sees the same parameters.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from dagpost._tools import memory
from dagpost._tools.arrays import Flags, Floats, Integers, Masks
from dagpost._tools.kernels import kernel
from dagpost.local.base import LocalModel, members_of
from dagpost.local.models import LocalModels


class Member(NamedTuple):
    """A node with one set of parents, the graphs that have it, and its parameters: a row for each, or one for all.

    `draws` says which draws of the family's these are.
    """

    node: int
    parents: tuple[int, ...]
    graphs: Integers
    model: LocalModel
    theta: Floats
    family: int
    draws: Integers


class Draws(NamedTuple):
    """Which draw of the parameters each of some graphs has: graph `row` of the graphs that were drawn together."""

    seed: int
    together: Masks
    rows: Integers
    #: Whether they are for averages alone.
    balanced: bool = False


@dataclass(frozen=True, eq=False)
class Networks:
    """Graphs, and their families (graphs, nodes), numbered; -1 where a question does not need a node."""

    graphs: Masks
    families: Integers
    parents: tuple[tuple[int, ...], ...]
    models: tuple[LocalModel, ...]
    #: Of each family the draws of the graphs that have it, in their order, or one row.
    theta: tuple[Floats, ...]
    #: Which of the draws each graph has.
    places: Integers
    #: What families say of people as they are, which is the same in every world (moved_rows.py).
    remembered: dict[tuple[int, int, bool], Floats] = field(default_factory=dict)

    def in_order(self) -> Iterator[Member]:
        """Every node of every graph, after its parents; those with the same family at the same depth together."""
        depths = np.zeros(self.graphs.shape, dtype=np.int64)
        _find_depths(orders_of(self.graphs), self.graphs.astype(np.uint64), self.families, depths)
        for depth in range(1, int(depths.max(initial=0)) + 1):
            yield from self._members(*np.nonzero(depths == depth))

    def of_node(self, node: int) -> Iterator[Member]:
        """One node in every graph."""
        return self._members(np.arange(len(self.graphs)), np.full(len(self.graphs), node))

    def some(self, rows: Integers) -> Networks:
        """Some of the graphs, with the same parameters."""
        return replace(self, graphs=self.graphs[rows], families=self.families[rows], places=self.places[rows])

    def _members(self, rows: Integers, nodes: Integers) -> Iterator[Member]:
        families = self.families[rows, nodes]
        order = np.argsort(families, kind="stable")
        starts = np.flatnonzero(np.diff(families[order], prepend=-1))
        for members in np.split(order, starts)[1:]:
            family, node, graphs = int(families[members[0]]), int(nodes[members[0]]), rows[members]
            theta, draws = self.theta[family], self.places[graphs, node]
            if len(theta) > 1:
                theta = theta[draws]
            yield Member(node, self.parents[family], graphs, self.models[family], theta, family, draws)


def networks_of(models: LocalModels, graphs: Masks, needed: Flags, draws: Draws | None = None) -> Networks:
    """Graphs with the parameters of the nodes that are `needed` (graphs, nodes) in each; drawn, or the likeliest."""
    from threadpoolctl import threadpool_limits

    rows, nodes = np.nonzero(needed)
    pairs = np.column_stack([nodes.astype(np.uint64), graphs[rows, nodes]])
    distinct, member = np.unique(pairs, axis=0, return_inverse=True)
    member = member.reshape(-1)
    children, masks = distinct[:, 0].astype(np.int64), distinct[:, 1]
    fitted = models.families(children, masks)
    families, places = np.full(graphs.shape, -1, dtype=np.int64), np.zeros(graphs.shape, dtype=np.int64)
    families[rows, nodes] = member
    counts = np.bincount(member, minlength=len(fitted))
    widths = np.array([len(model.likeliest) for model in fitted], dtype=np.int64)
    memory.require(8 * int(counts @ widths), "The drawn parameters", "Ask for fewer draws.")
    theta = []
    # Matrices are so small that threads of the linear algebra would only wait for each other.
    with threadpool_limits(1):
        for number, model in enumerate(fitted):
            if draws is None:
                theta.append(model.likeliest[np.newaxis])
                continue
            node, mask = int(children[number]), masks[number]
            # All graphs with this family draw, so that the parameters of some of them are the same.
            everyone = np.flatnonzero(draws.together[:, node] == mask)
            chosen = rows[member == number]
            draw = model.balanced if draws.balanced else model.drawn
            drawn = draw(np.random.default_rng([draws.seed, node, int(mask)]), len(everyone))
            theta.append(np.ascontiguousarray(drawn[np.searchsorted(everyone, draws.rows[chosen])]))
            places[chosen, node] = np.arange(len(chosen))
    parents = tuple(members_of(mask) for mask in masks.tolist())
    return Networks(graphs, families, parents, tuple(fitted), tuple(theta), places)


@kernel
def _find_depths(orders: Integers, masks: Masks, families: Integers, depths: Integers) -> None:
    """How far below nodes that have no parents each one is, among those with a family; 0 for others."""
    for graph in range(len(orders)):
        for node in orders[graph]:
            if families[graph, node] < 0:
                continue
            depths[graph, node] = 1
            for parent in range(orders.shape[1]):
                if masks[graph, node] >> np.uint64(parent) & np.uint64(1):
                    depths[graph, node] = max(depths[graph, node], depths[graph, parent] + 1)


def orders_of(graphs: Masks) -> Integers:
    """The columns of each graph, parents before children."""
    orders = np.empty(graphs.shape, dtype=np.int64)
    _sort(graphs.astype(np.uint64), orders)
    return orders


@kernel
def _sort(masks: Masks, orders: Integers) -> None:
    graphs, nodes = masks.shape
    for graph in range(graphs):
        placed = np.uint64(0)
        count = 0
        while count < nodes:
            before = count
            for node in range(nodes):
                bit = np.uint64(1) << np.uint64(node)
                if not placed & bit and masks[graph, node] & ~placed == 0:
                    orders[graph, count] = node
                    placed |= bit
                    count += 1
            if count == before:
                break
