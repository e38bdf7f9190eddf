"""Graphs with the numbers of the regressions that a question needs: one draw for each graph, or the most probable ones.

The draws of a family come from a seed of their own, so that every question sees the same parameters.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dagpost._tools import memory
from dagpost._tools.arrays import Flags, Floats, Integers, Masks
from dagpost._tools.kernels import kernel
from dagpost.local.additive import AdditiveModels, Family, Shapes


class Networks(NamedTuple):
    """Graphs, their columns in an order, the family of each node (-1: not needed), and where its numbers begin."""

    graphs: Masks
    orders: Integers
    families: Integers
    begins: Integers
    theta: Floats

    def some(self, rows: Integers) -> Networks:
        """Some of the graphs, with the same numbers."""
        return Networks(self.graphs[rows], self.orders[rows], self.families[rows], self.begins[rows], self.theta)


class Draws(NamedTuple):
    """Which draw of the parameters each of some graphs has: graph `row` of the graphs that were drawn together."""

    seed: int
    together: Masks
    rows: Integers


def networks_of(
    models: AdditiveModels, graphs: Masks, needed: Flags, draws: Draws | None = None
) -> tuple[Shapes, Networks]:
    """Graphs with the numbers of the nodes that are `needed` (graphs, nodes) in each; drawn, or the likeliest."""
    rows, nodes = np.nonzero(needed)
    pairs = np.column_stack([nodes.astype(np.uint64), graphs[rows, nodes]])
    distinct, member = np.unique(pairs, axis=0, return_inverse=True)
    member = member.reshape(-1)
    fitted = models.families(distinct[:, 0].astype(np.int64), distinct[:, 1])
    shapes = models.shapes_of(fitted)
    room = (shapes.heights * np.diff(shapes.begins))[member]
    memory.require(8 * int(room.sum()), "The drawn parameters", "Ask for fewer draws.")
    begins, families = np.zeros((2, *graphs.shape), dtype=np.int64)
    families[:] = -1
    families[rows, nodes], begins[rows, nodes] = member, np.cumsum(room) - room
    theta = np.empty(int(room.sum()))
    for number, own in enumerate(fitted):
        node, mask = int(distinct[number, 0]), distinct[number, 1]
        chosen = rows[member == number]
        if draws is None:
            _write(own, begins[chosen, node], None, chosen, theta)
            continue
        # All graphs with this family draw, so that those of some of them are the same.
        everyone = np.flatnonzero(draws.together[:, node] == mask)
        places = np.searchsorted(everyone, draws.rows[chosen])
        generator = np.random.default_rng([draws.seed, node, int(mask)])
        _write(own, begins[chosen, node], (generator, len(everyone)), places, theta)
    return shapes, Networks(graphs, orders_of(graphs), families, begins, theta)


def _write(
    own: Family, begins: Integers, drawing: tuple[np.random.Generator, int] | None, places: Integers, theta: Floats
) -> None:
    """Write the numbers of a family's regressions from each of `begins` on: the likeliest, or some of its draws."""
    for posterior in own.posteriors:
        height = len(posterior.coefficients)
        numbers = np.repeat(posterior.coefficients[np.newaxis], len(begins), axis=0)
        if drawing is not None:
            generator, count = drawing
            noise = generator.standard_normal((count, posterior.factor.shape[1]))
            if np.isfinite(posterior.freedom):
                chi = generator.chisquare(posterior.freedom, count)
                noise *= np.sqrt(posterior.freedom / chi)[:, np.newaxis]
            numbers += noise[places] @ posterior.factor.T
        theta[begins[:, np.newaxis] + np.arange(height)] = numbers
        begins = begins + height


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
