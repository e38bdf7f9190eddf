"""The yardstick of the samplers and of the 3^n sums: each graph and each term on its own, compiled, one thread.

Orders and graphs: `alpha` is stored for all `n 2^(n-1)` pairs, as logs (textbook.py); every sample walks from all nodes
to none by itself, and every node adds up the weights of its parent sets, in the order of their numbers, until they pass
a uniform number. No two samples share anything, no parent set is ranked.

Sums over all graphs: `B(U)` (exact/structure.py) as it is written, in doubles without scales, so only for weights that
do not underflow. Layers: the tensor of every layer of every graph from scratch. Linear extensions: the textbook sum
over down-sets, in Python with a dictionary.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numba
import numpy as np
from benchmarks.textbook import squeeze

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Logs = NDArray[np.float64]
    Masks = NDArray[np.uint64]


@numba.njit(cache=True, error_model="numpy")
def draw_graphs(alpha: Logs, forward: Logs, log_weights: Logs, sets: Masks, uniforms: Logs, graphs: Masks) -> None:
    """One order and one graph for each row of `uniforms`; parent masks are over the other nodes of each child."""
    nodes = alpha.shape[0]
    for sample in range(len(graphs)):
        remaining = (1 << nodes) - 1
        for position in range(nodes - 1, -1, -1):
            running, last = 0.0, 0
            for node in range(nodes):
                if remaining >> node & 1:
                    before = remaining ^ (1 << node)
                    running += math.exp(forward[before] + alpha[node, squeeze(before, node)] - forward[remaining])
                    last = node
                    if running > uniforms[sample, position]:
                        break
            remaining ^= 1 << last
            inside = squeeze(remaining, last)
            target = uniforms[sample, nodes + position]
            graphs[sample, last] = draw_parents(
                log_weights[last], sets, np.uint64(inside), np.uint64(0), alpha[last, inside], target
            )


@numba.njit(error_model="numpy")
def draw_parents(
    log_weights: Logs, sets: Masks, inside: np.uint64, to_meet: np.uint64, log_total: float, uniform: float
) -> np.uint64:
    """The parent set inside a set, and meeting another one unless that is empty, at which the running sum passes."""
    running, last = 0.0, np.uint64(0)
    for number in range(len(sets)):
        if sets[number] & ~inside == 0 and (to_meet == 0 or sets[number] & to_meet != 0):
            running += math.exp(log_weights[number] - log_total)
            last = sets[number]
            if running > uniform:
                break
    return last


@numba.njit(cache=True, error_model="numpy")
def sum_over_graphs(alpha: Logs) -> Logs:
    """`B(U)` of every set from `alpha`, not its log: 3^n terms, the products over `T` from those over smaller sets."""
    nodes = alpha.shape[0]
    everything = (1 << nodes) - 1
    lowest = np.zeros(1 << nodes, dtype=np.int8)
    for mask in range(2, 1 << nodes, 2):
        lowest[mask] = lowest[mask >> 1] + 1
    completions = np.ones(1 << nodes)
    products = np.ones(1 << nodes)
    factors = np.empty(nodes)
    for whole in range(everything - 1, -1, -1):
        for node in range(nodes):
            if not whole >> node & 1:
                factors[node] = -alpha[node, squeeze(whole, node)]
        outside = everything ^ whole
        total = 0.0
        added = -outside & outside
        while added:
            products[added] = products[added & (added - 1)] * factors[lowest[added]]
            total -= products[added] * completions[whole | added]
            added = (added - outside) & outside
        completions[whole] = total
    return completions


@numba.njit(cache=True, error_model="numpy")
def draw_by_layers(
    alpha: Logs, completions: Logs, log_weights: Logs, sets: Masks, uniforms: Logs, graphs: Masks
) -> None:
    """One graph for each row of `uniforms` by source layers; `log_weights` on the scale of `alpha`, which is no log."""
    nodes = alpha.shape[0]
    everything = (1 << nodes) - 1
    tensor, scratch = np.empty(1 << nodes), np.empty(1 << nodes)
    places = np.empty(1 << nodes, dtype=np.int64)
    for sample in range(len(graphs)):
        whole, layer, used = 0, 0, 0
        while whole != everything:
            outside = [node for node in range(nodes) if not whole >> node & 1]
            now = np.array([alpha[node, squeeze(whole, node)] for node in outside])
            before = np.zeros(len(outside))
            if layer:
                for position, node in enumerate(outside):
                    before[position] = alpha[node, squeeze(whole ^ layer, node)]
            places[0] = whole
            for position, node in enumerate(outside):
                for place in range(1 << position):
                    places[(1 << position) + place] = places[place] | (1 << node)
            for place in range(1 << len(outside)):
                tensor[place] = completions[places[place]]
            chosen = 0
            for position in range(len(outside) - 1, -1, -1):
                half = 1 << position
                for place in range(half):
                    scratch[place] = tensor[half + place]
                joining = max((now[position] - before[position]) * contracted(scratch, before, position), 0.0)
                for place in range(half):
                    scratch[place] = tensor[place] - now[position] * tensor[half + place]
                staying = max(contracted(scratch, before, position), 0.0)
                if position == 0 and chosen == 0:
                    joining, staying = 1.0, 0.0
                # Each decision has a number of its own; there are at most n (n + 1) / 2.
                joins = uniforms[sample, used] * (joining + staying) < joining
                used += 1
                for place in range(half):
                    tensor[place] = (
                        tensor[half + place] if joins else tensor[place] - now[position] * tensor[half + place]
                    )
                if joins:
                    chosen |= 1 << outside[position]
            for position, node in enumerate(outside):
                if chosen >> node & 1:
                    graphs[sample, node] = draw_parents(
                        log_weights[node],
                        sets,
                        np.uint64(squeeze(whole, node)),
                        np.uint64(squeeze(layer, node)),
                        math.log(now[position] - before[position]),
                        uniforms[sample, uniforms.shape[1] - 1 - node],
                    )
            whole, layer = whole | chosen, chosen


@numba.njit(error_model="numpy")
def contracted(scratch: Logs, before: Logs, count: int) -> float:
    """The sum over all decisions that are left: without minus `before` times with, node by node."""
    for position in range(count - 1, -1, -1):
        half = 1 << position
        for place in range(half):
            scratch[place] -= before[position] * scratch[half + place]
    return float(scratch[0])


def linear_extensions(parents: list[int]) -> int:
    """In how many orders a graph fits: the last of a set of nodes is one that is no parent of the others."""
    known = {0: 1}

    def count(members: int) -> int:
        if members not in known:
            needed = 0
            for node, mask in enumerate(parents):
                if members >> node & 1:
                    needed |= mask
            last = (node for node in range(len(parents)) if members >> node & 1 and not needed >> node & 1)
            known[members] = sum(count(members ^ (1 << node)) for node in last)
        return known[members]

    return count((1 << len(parents)) - 1)
