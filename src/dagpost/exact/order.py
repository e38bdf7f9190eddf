"""The exact posterior under the order-modular prior: evidence, and the probability of every family and edge.

With `alpha_i(S)` the sum of the weights of node `i` over parent sets inside `S`,

    L(S) = sum over i in S     of L(S - i) alpha_i(S - i)        all orders of S       (forward,  L(∅) = 1)
    R(S) = sum over i not in S of alpha_i(S) R(S ∪ i)            all ways to continue  (backward, R(V) = 1)

`L(V)` is the evidence, and the posterior of family (i, P) is `beta_i(P) * sum over S ⊇ P of L(S) R(S ∪ i) / L(V)`
(Koivisto & Sood 2004; Koivisto 2006). `alpha` is never stored: the subsets are walked block by block (walk.py), and a
block pulls from finished blocks what it needs. `R` may overwrite `L`, since a block needs its own `L` only.

Time: about `n 2^(n-1)` times a dozen additions for `L`, three times that with `R` and all families. Memory: `2^n` wide
floats a table, and a few megabytes a thread. The blocks that share a subset of the top nodes form a *chunk*, the
unit of work of an engine; chunks with as many top nodes are independent. Every sum is taken in an order that depends
on `n` alone, so results are the same to the last bit for any number of threads.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Unpack

import numpy as np

from dagpost._tools import memory
from dagpost._tools.arrays import Floats, Integers, Masks, Wide
from dagpost._tools.kernels import fill, kernel
from dagpost._tools.text import node_called
from dagpost._tools.wide_floats import ZERO, from_logs, to_logs, too_wide, vanished
from dagpost.checkpoints import Tracking, tracked
from dagpost.engines import Engine
from dagpost.errors import InputError, NoGraphError, PrecisionError
from dagpost.exact.order_blocks import backward_chunk, forward_chunk, give_back_chunk
from dagpost.exact.walk import SPLIT, Layout, Split, entries_of, in_waves, make_layout, starts_around, waves
from dagpost.families.numbering import family_count, parent_sets

#: Weights this far below the weight of the empty parent set cannot change any alpha in its last digit.
_NEGLIGIBLE_NATS = 200.0
#: Weights that are turned into wide floats, or back, at a time.
_ENTRIES_AT_A_TIME = 2**16
#: Relative error of any probability from these sums, which have no subtraction in them: seen to stay below 1e-11.
RELATIVE_ERROR = 1e-10
#: The probabilities of the parent sets of a variable sum to 1, or something is very wrong.
_LARGEST_MISS = 1e-6


@dataclass(frozen=True, eq=False)
class Forward:
    """The forward sums `L(S)` of every set of nodes, wherever they stand, with what they were made from.

    `log_scales[i]` was taken off the log weights of node `i`; `log_total` is the log of the sum over all orders and
    graphs without them. What `layout`, `weights` and `sums` are is up to the back end that made them.
    """

    layout: Any
    log_weights: Floats
    log_scales: Floats
    weights: Any
    sums: Any
    log_total: float

    @property
    def log_evidence(self) -> float:
        """Natural log of the sum over all orders and graphs."""
        return self.log_total + float(self.log_scales.sum())


@dataclass(frozen=True, eq=False)
class ForwardTable(Forward):
    """The forward sums in the memory of this process, as wide floats."""

    layout: Layout
    weights: Wide
    sums: Wide


def forward_table(
    log_weights: Floats, max_parents: int, *, engine: Engine, split: Split = SPLIT, **tracking: Unpack[Tracking]
) -> ForwardTable:
    """Sum over all orders of every set of nodes.

    `log_weights[i, f]` is the log weight of node `i` with parent set number `f` (numbering.py), minus infinity where it
    is not allowed.

    >>> from dagpost.engines import ThreadEngine
    >>> two_nodes = np.log([[1.0, 3.0], [2.0, 1.0]])  # rows: nodes; columns: no parent, the other node
    >>> round(float(np.exp(forward_table(two_nodes, 1, engine=ThreadEngine(1)).log_evidence)), 9)
    11.0

    (Order 1, 2: 1 · (2 + 1) = 3; order 2, 1: 2 · (1 + 3) = 8.)
    """
    nodes = len(log_weights)
    check_weights(log_weights, max_parents)
    require_memory(nodes, max_parents, tables=1, workers=engine.workers)
    layout = make_layout(nodes, max_parents, split)
    scales = log_weights.max(axis=1)
    weights = wide_weights(log_weights, scales)
    sums = np.empty(1 << nodes, dtype=np.int64)

    def block(chunk: int, cancel: Integers) -> None:
        forward_chunk(layout, weights, sums, starts_around(layout, chunk), chunk, cancel)

    def entries(chunk: int) -> list[Wide]:
        return [entries_of(layout, sums, chunk)]

    all_waves = waves(layout.top)
    with tracked("forward table", in_waves(all_waves), entries, **tracking) as (saved, stage):
        for wave in all_waves:
            for _ in saved.run(engine, block, wave):
                stage.advance(1)
    return ForwardTable(layout, log_weights, scales, weights, sums, log_of_all(sums, log_weights, max_parents))


def family_probabilities(
    forward: ForwardTable, *, engine: Engine, keep_forward: bool = True, **tracking: Unpack[Tracking]
) -> Floats:
    """Posterior probability of every parent set of every node, shaped like the weights.

    With `keep_forward=False` the backward sums overwrite the forward ones, which halves the memory; `forward` must
    not be used afterwards.
    """
    layout = forward.layout
    # Walking back, a worker holds the sums on the way down and those on the way up.
    require_memory(layout.nodes, layout.max_parents, tables=int(keep_forward), workers=2 * engine.workers)
    backward = np.empty_like(forward.sums) if keep_forward else forward.sums
    gathered = np.full(forward.weights.shape, ZERO, dtype=np.int64)

    def block(chunk: int, cancel: Integers) -> Wide:
        own, starts = entries_of(layout, forward.sums, chunk), starts_around(layout, chunk)
        return backward_chunk(layout, forward.weights, own, backward, starts, chunk, True, cancel)

    def entries(chunk: int) -> list[Wide]:
        return [entries_of(layout, backward, chunk)]

    all_waves = waves(layout.top)[::-1]
    kept = (in_waves(all_waves), entries, lambda: [gathered])
    with tracked("edge probabilities", *kept, kept_as="backward table", **tracking) as (saved, stage):
        for wave in all_waves:
            for chunk, contribution in saved.run(engine, block, wave):
                stage.advance(1)
                give_back_chunk(layout, contribution, gathered, chunk)
    return posterior_of_families(gathered, forward.log_weights, forward.log_scales, forward.log_total)


def edge_probabilities(families: Floats, max_parents: int) -> Floats:
    """Entry [j, i]: the probability that j is a parent of i, from the probabilities of all families."""
    nodes = len(families)
    edges = np.zeros((nodes, nodes))
    _add_edges(np.ascontiguousarray(families), parent_sets(nodes - 1, max_parents), edges)
    return edges


@kernel
def _add_edges(families: Floats, sets: Masks, edges: Floats) -> None:
    """Add the probability of every family to all of its edges."""
    elements = len(families) - 1
    own = np.empty(elements)
    for child in range(len(families)):
        fill(own, 0.0)
        for number in range(len(sets)):
            probability = families[child, number]
            mask = sets[number]
            # All elements, whether they are in the set or not: so the compiler makes vectors of it.
            for element in range(elements):
                own[element] += probability * np.float64((mask >> np.uint64(element)) & np.uint64(1))
        for element in range(elements):
            edges[element + (element >= child), child] = own[element]


def table_bytes(nodes: int) -> int:
    """Memory of one table."""
    return 8 << nodes


def expected_seconds(nodes: int, workers: int) -> float:
    """Roughly how long all families take; a machine of 2024 needs some 20 ns for each of the n 2^(n-1) entries."""
    return 20e-9 * nodes * 2.0 ** (nodes - 1) / workers


def require_memory(nodes: int, max_parents: int, *, tables: int, workers: int) -> None:
    """Refuse, with both figures, what does not fit."""
    memory.require_for_nodes(
        nodes,
        lambda size: _memory_needed(size, max_parents, tables, workers),
        f"The exact table of {nodes} variables",
        "leave columns out, free memory, or use a chain, which needs no tables.",
    )


def fits(nodes: int, max_parents: int, *, workers: int) -> bool:
    """Whether the forward table fits into the memory that is free."""
    return _memory_needed(nodes, max_parents, 1, workers) <= memory.available_bytes()


@lru_cache(maxsize=64)
def _memory_needed(nodes: int, max_parents: int, tables: int, workers: int) -> int:
    """Bytes: the tables, the weights and what is gathered for them, the sums of each walk."""
    families = 8 * nodes * family_count(nodes - 1, max_parents)
    return tables * table_bytes(nodes) + 2 * families + workers * _scratch_bytes(nodes, max_parents)


def _scratch_bytes(nodes: int, max_parents: int) -> int:
    """Memory of the restricted sums of one worker."""
    layout = make_layout(nodes, max_parents)
    levels = sum(family_count(top, max_parents) for top in range(layout.low, nodes - layout.top + 1))
    return 8 * (nodes * levels + 2 * family_count(nodes - 1, max_parents) + (nodes << layout.low))


def check_weights(log_weights: Floats, max_parents: int, names: Sequence[str] | None = None) -> None:
    """Refuse weights of the wrong shape, that are not numbers, or that leave a node nothing to choose."""
    nodes = len(log_weights)
    expected = (nodes, family_count(nodes - 1, max_parents))
    if log_weights.shape != expected:
        raise InputError(f"The log weights must have shape {expected}. Got {log_weights.shape} instead.")
    if np.isnan(log_weights).any() or np.isposinf(log_weights).any():
        raise InputError("The log weights must be finite or minus infinity. Got nan or infinity instead.")
    impossible = np.flatnonzero(np.isneginf(log_weights).all(axis=1))
    if len(impossible):
        which = node_called(int(impossible[0]), names)
        raise NoGraphError(f"{which} has no allowed parent set. Relax its required or forbidden edges.")


def log_of_all(sums: Wide, log_weights: Floats, max_parents: int) -> float:
    """Log of the sum for all nodes, which is the last; refuses weights that leave no graph, or none in range."""
    log_total = float(to_logs(sums[-1:])[0])
    if vanished(log_total):
        relative = log_weights - log_weights.max(axis=1)[:, np.newaxis]
        below = -_log_weight_of_a_graph(relative, max_parents)
        if not np.isfinite(below):
            raise no_graph()
        raise too_wide(-np.min(relative, axis=1, where=np.isfinite(relative), initial=0.0), below)
    return log_total


def _log_weight_of_a_graph(log_weights: Floats, max_parents: int) -> float:
    """The weight of a good graph: next comes the node that loses least by coming before the rest; -inf if none can."""
    total, left, placed = 0.0, list(range(len(log_weights))), 0
    sets = parent_sets(len(log_weights) - 1, max_parents)
    while left:
        losses = []
        for node in left:
            low = sets & np.uint64((1 << node) - 1)
            inside = ((low | (sets ^ low) << np.uint64(1)) & ~np.uint64(placed)) == 0
            losses.append(float(log_weights[node, inside].max()))
        total += max(losses)
        placed |= 1 << left.pop(int(np.argmax(losses)))
    return total


def no_graph() -> NoGraphError:
    """The error for constraints that leave no graph at all."""
    return NoGraphError(
        "No graph satisfies the constraints: every order leaves some node without an allowed parent set."
    )


def wide_weights(log_weights: Floats, scales: Floats) -> Wide:
    """Weights, at most one each, as wide floats; what cannot matter beside the empty set becomes zero."""
    weights = np.empty(log_weights.shape, dtype=np.int64)
    for nodes in _some_nodes(log_weights):
        rows = log_weights[nodes] - scales[nodes, np.newaxis]
        rows[rows < rows[:, :1] - _NEGLIGIBLE_NATS] = -np.inf
        weights[nodes] = from_logs(rows)
    return weights


def _some_nodes(log_weights: Floats) -> list[slice]:
    """The nodes in as few parts as go without another array of this size where it is large."""
    nodes, families = log_weights.shape
    each = max(1, _ENTRIES_AT_A_TIME // families)
    return [slice(first, min(first + each, nodes)) for first in range(0, nodes, each)]


def posterior_of_families(gathered: Wide, log_weights: Floats, log_scales: Floats, log_total: float) -> Floats:
    """Probabilities of all families from what the sums give to each weight; takes the place of `gathered`."""
    result = gathered.view(np.float64)
    for nodes in _some_nodes(log_weights):
        logs = to_logs(gathered[nodes])
        logs += log_weights[nodes]
        logs -= log_scales[nodes, np.newaxis] + log_total
        np.exp(logs, out=result[nodes])
    off = np.abs(result.sum(axis=1) - 1.0).max()
    if not off < _LARGEST_MISS:
        raise PrecisionError(
            f"The probabilities of the parent sets of a variable miss 1 by {off:.1e}: rounding has spoiled the sums. "
            "Use a method of chains, and report the table."
        )
    return result
