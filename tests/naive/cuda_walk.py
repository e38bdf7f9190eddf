"""A walk over the twins of the CUDA kernels without the engine: any cut of the nodes, tables by their definitions.

`NaiveSteps` holds the arrays of a run for engines/cuda/walk.py; `sums_of_orders` is what must come out.
"""

from __future__ import annotations

from itertools import combinations
from math import comb

import numpy as np
from tests.naive.cuda import NOTHING, NaiveKernels, Sizes, Tables, bits_of

from dagpost.engines.cuda.layout import DeviceLayout


def start_of(universe: int, size: int) -> int:
    """Where the sets of a size begin among those over `universe` elements."""
    return sum(comb(universe, smaller) for smaller in range(size))


def sizes_and_tables(layout: DeviceLayout) -> tuple[Sizes, Tables]:
    """What the driver hands to the kernels, worked out by definition."""
    limit, low = layout.max_parents, layout.low
    rows, everything = start_of(low, limit), start_of(low, limit + 1)
    families = start_of(layout.nodes - 1, limit + 1)
    sizes = Sizes(
        layout.nodes,
        low,
        layout.mid,
        layout.top,
        layout.slot_bits,
        limit,
        families,
        rows,
        everything - rows,
        everything,
    )
    elements = range(layout.nodes + 2)
    widths = [layout.nodes * start_of(layout.below + level, limit + 1) for level in range(layout.top)]
    by_size = sorted(range(1 << low), key=int.bit_count)
    tables = Tables(
        np.array([[comb(element, size) for size in range(limit + 3)] for element in elements]),
        np.array([[start_of(element, size) for size in range(limit + 2)] for element in elements]),
        np.cumsum([0, *widths]),
        np.array(_places(low, limit)),
        np.array(_places(low - 1, limit)),
        np.array(by_size),
        np.array([start_of(low, size) for size in range(low + 2)]),
    )
    return sizes, tables


def _places(bits: int, limit: int) -> list[int]:
    """Masks in the numbering of families.py: by size, then by value; those of more than `limit` members last."""
    return sorted(range(1 << bits), key=lambda mask: (min(mask.bit_count(), limit + 1), mask))


class NaiveSteps:
    """All arrays of one run on the twins, and the steps of engines/cuda/walk.py."""

    def __init__(self, layout: DeviceLayout, log_weights: np.ndarray) -> None:
        sizes, tables = sizes_and_tables(layout)
        self.layout, self.kernels = layout, NaiveKernels(sizes, tables)
        self.weights = log_weights.reshape(-1).copy()
        self.sums = np.full(1 << layout.nodes, np.nan)
        self.levels = np.full(int(tables.bases[-1]), np.nan)
        slots = layout.nodes << layout.slot_bits
        self.rows = np.full((slots << layout.mid) * sizes.row_sets, np.nan)
        self.constant = np.full(slots * sizes.constant_sets, np.nan)
        self.given = np.full((slots << layout.mid) * sizes.all_sets, np.nan)
        self.gathered = np.full(log_weights.shape, NOTHING)
        self.gathered_levels = np.full(self.levels.shape, NOTHING)
        self.kept = np.empty(0)

    def let_in(self, leaf: int, bit: int, backward: bool) -> None:
        self.kernels.let_in(self.weights, self.levels, leaf, bit, int(backward))

    def expand(self, leaf: int, slot: int, backward: bool) -> None:
        self.kernels.expand(self.weights, self.levels, self.rows, self.constant, leaf, slot, int(backward))

    def forward_blocks(self, step: int, size: int) -> None:
        self.kernels.forward_blocks(self.rows, self.constant, self.sums, self.layout.inners_of_size(size), step)

    def backward_blocks(self, step: int, size: int) -> None:
        self.kernels.backward_blocks(self.rows, self.constant, self.sums, self.layout.inners_of_size(size), step)

    def keep_forward(self, step: int) -> None:
        count = 1 << (self.layout.low + self.layout.inner_bits)
        self.kept = self.sums[step * count : (step + 1) * count].copy()

    def gather(self, step: int) -> None:
        self.kernels.gather(self.kept, self.sums, self.given, step)

    def collect(self, leaf: int, slot: int) -> None:
        self.kernels.collect(self.gathered.reshape(-1), self.gathered_levels, self.given, leaf, slot)

    def give_back(self, leaf: int, bit: int) -> None:
        self.kernels.give_back(self.gathered.reshape(-1), self.gathered_levels, leaf, bit)


def sums_of_orders(log_weights: np.ndarray, max_parents: int) -> tuple[np.ndarray, np.ndarray]:
    """Log L(S) of every set and log R(S), by their definitions; parent sets numbered as in families.py."""
    nodes = len(log_weights)
    alphas = np.full((nodes, 1 << nodes), NOTHING)
    for node in range(nodes):
        others = [other for other in range(nodes) if other != node]
        place = 0
        for size in range(max_parents + 1):
            masks = sorted(sum(1 << other for other in chosen) for chosen in combinations(others, size))
            for mask in masks:
                for subset in range(1 << nodes):
                    if mask & ~subset == 0 and not subset >> node & 1:
                        alphas[node, subset] = np.logaddexp(alphas[node, subset], log_weights[node, place])
                place += 1
    forward, backward = np.full(1 << nodes, NOTHING), np.full(1 << nodes, NOTHING)
    forward[0] = backward[-1] = 0.0
    for subset in range(1, 1 << nodes):
        for node in bits_of(subset):
            before = subset ^ 1 << node
            forward[subset] = np.logaddexp(forward[subset], forward[before] + alphas[node, before])
    for subset in range((1 << nodes) - 2, -1, -1):
        for node in bits_of(~subset & ((1 << nodes) - 1)):
            onward = backward[subset | 1 << node] + alphas[node, subset]
            backward[subset] = np.logaddexp(backward[subset], onward)
    return forward, backward
