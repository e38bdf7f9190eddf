"""Graphs with the numbers of all their regressions: one draw of them for each graph, or their means."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dagpost._tools import memory
from dagpost._tools.arrays import Floats, Integers, Masks
from dagpost._tools.kernels import kernel
from dagpost.errors import InputError
from dagpost.local.additive import AdditiveFamilies


class Networks(NamedTuple):
    """Graphs, their columns in an order, the family of each node, and where its numbers begin in `theta`."""

    graphs: Masks
    orders: Integers
    families: Integers
    begins: Integers
    theta: Floats

    def some(self, rows: Integers) -> Networks:
        """Some of the graphs, with the same numbers."""
        graphs, orders = self.graphs[rows], self.orders[rows]
        return Networks(graphs, orders, self.families[rows], self.begins[rows], self.theta)


def networks_of(own: AdditiveFamilies, graphs: Masks, generator: np.random.Generator | None) -> Networks:
    """One draw from the posterior of each graph's numbers; without a generator their means."""
    graphs = np.ascontiguousarray(graphs, dtype=np.uint64)
    families, regressions = _families_of(own, graphs), np.diff(own.shapes.begins)
    sizes = (own.shapes.heights * regressions)[families].reshape(-1)
    memory.require(8 * int(sizes.sum()), "The drawn parameters", "Ask for fewer draws.")
    begins = np.cumsum(sizes) - sizes
    theta = np.empty(int(sizes.sum()))
    order = np.argsort(families, axis=None, kind="stable")
    borders = np.searchsorted(families.reshape(-1)[order], np.arange(len(own.children) + 1))
    for family in np.flatnonzero(np.diff(borders)).tolist():
        places = begins[order[borders[family] : borders[family + 1]]]
        height = int(own.shapes.heights[family])
        for number, regression in enumerate(range(own.shapes.begins[family], own.shapes.begins[family + 1])):
            posterior = own.posteriors[regression]
            drawn = np.repeat(posterior.coefficients[np.newaxis], len(places), axis=0)
            if generator is not None and own.parents[family]:
                noise = generator.standard_normal((len(places), posterior.factor.shape[1]))
                if np.isfinite(posterior.freedom):
                    chi = generator.chisquare(posterior.freedom, len(places))
                    noise *= np.sqrt(posterior.freedom / chi)[:, np.newaxis]
                drawn += noise @ posterior.factor.T
            theta[(places + number * height)[:, np.newaxis] + np.arange(height)] = drawn
    return Networks(graphs, orders_of(graphs), families, begins.reshape(graphs.shape), theta)


def _families_of(own: AdditiveFamilies, graphs: Masks) -> Integers:
    families = np.empty(graphs.shape, dtype=np.int64)
    for node in range(graphs.shape[1]):
        masks, member = np.unique(graphs[:, node], return_inverse=True)
        families[:, node] = own.locate(np.full(len(masks), node), masks)[member.reshape(-1)]
    if (families < 0).any():
        raise InputError(
            f"Nothing was fitted for {int((families < 0).sum()):,} of the families of these graphs. Fit the model "
            "again, or save it with its rows: save(path, rows=True)."
        )
    return families


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
