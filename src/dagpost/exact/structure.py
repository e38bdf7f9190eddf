"""The exact posterior under the structure-modular prior, in which every graph counts once.

With `alpha_i(U)` the weight of node `i` over the parent sets inside `U`, and `V` all nodes,

    B(U) = sum over nonempty T ⊆ V-U of (-1)^(|T|+1) prod over i in T of alpha_i(U) * B(U ∪ T),    B(V) = 1
    A(S) = sum over nonempty T ⊆ S   of (-1)^(|T|+1) prod over i in T of alpha_i(S-T) * A(S - T),  A(∅) = 1

`B(U)`: the weight of all ways to complete `V - U` without a cycle when its nodes may also take parents in `U`;
`A(S)`: the weight of all graphs on `S` alone. `A(V) = B(∅)` is the evidence. For a node `i` outside `U`,

    G_i(U) = A(U) * sum over X ⊆ V-U-i of prod over j in X of (-alpha_j(U)) * B(U ∪ i ∪ X)

is never negative; the posterior of family (i, P) is `beta_i(P)` times the sum of `G_i(U)` over `U ⊇ P`, over the
evidence, and `alpha_i(U) G_i(U)` over the evidence is the probability that `i` and its descendants are just `V - U`
(Tian & He 2009 get edges by inclusion-exclusion; the form here gives all families and all paths in one pass).

The sums alternate, so every digit counts: they are kept in doubles, each set with a binary exponent of its own.
Every term of `B(U)` is at most `B(U)`, and `B(U)` lies between the largest and the sum of its terms with one node,
which gives a scale before the sum is known; `A(S)` is at most the order-modular `L(S)`, which serves it likewise.
What rounding may have done is bounded by `eps * sum over U of A(U) * sum of |terms of B(U)| / B(∅)`; the bound is
part of the result.

Time: `3^n` terms for `A` and as many for `B` with all families and paths. Memory: 8 bytes a set for `L`, 8 for `A`,
12 for `B`, and some 24 for what the leaves under way hold.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Unpack

import numpy as np

from dagpost._tools import memory
from dagpost._tools.arrays import Exponents, Floats, Integers, Wide
from dagpost._tools.kernels import kernel
from dagpost._tools.progress import NO_PROGRESS, Reporter
from dagpost._tools.spelling import setting
from dagpost._tools.wide_floats import FRACTION_BITS, ZERO
from dagpost.checkpoints import Tracking, tracked
from dagpost.engines import Engine
from dagpost.errors import PrecisionError
from dagpost.exact.alternating import SMALLEST_SHIFT, block_leaves, leaf_cost
from dagpost.exact.completions import completions_of_leaf
from dagpost.exact.graph_sums import sum_over_graphs
from dagpost.exact.order import ForwardTable, forward_table, posterior_of_families
from dagpost.exact.order_blocks import give_back_chunk
from dagpost.exact.walk import (
    SPLIT,
    Layout,
    Split,
    by_complement,
    entries_of,
    in_waves,
    leaf_layout,
    nested_waves,
    waves,
)
from dagpost.families.numbering import family_count

_EPSILON = float(np.finfo(np.float64).eps)
#: Beyond this bound on the error of a probability, nothing is returned. Where hardly any edge has weight, the bound is
#: some 3^n roundings, 8e-7 at 20 nodes and 7e-6 at 22; the error itself was a twentieth of the bound, or less.
LARGEST_ERROR = 1e-5


@dataclass(frozen=True, eq=False)
class StructureTables:
    """The sums of every set of nodes.

    `graphs` is `A`, relative to the binary exponents of the order-modular sums in `forward`; `completions` and
    `completion_exponents` are `B` as doubles in [1, 2) with exponents of their own. `error_bound` is how far
    rounding may have moved any probability.
    """

    forward: ForwardTable
    layout: Layout
    graphs: Floats
    completions: Floats
    completion_exponents: Exponents
    log_evidence: float
    error_bound: float


@dataclass(frozen=True, eq=False)
class StructurePosterior:
    """What one pass over all sets gives: the probability of every family, and of a directed path for every pair."""

    tables: StructureTables
    families: Floats
    paths: Floats
    #: What made it, for the provenance of what comes from it.
    engine: str = "threads"


def structure_evidence(
    log_weights: Floats, max_parents: int, *, engine: Engine, split: Split = SPLIT, **tracking: Unpack[Tracking]
) -> float:
    """Natural log of the sum over all graphs, each counted once; half the work of the whole posterior.

    >>> from dagpost.engines import ThreadEngine
    >>> two_nodes = np.log([[1.0, 3.0], [2.0, 1.0]])  # rows: nodes; columns: no parent, the other node
    >>> round(math.exp(structure_evidence(two_nodes, 1, engine=ThreadEngine(1))), 9)
    9.0

    (No edge: 1 · 2 = 2; 2 -> 1: 3 · 2 = 6; 1 -> 2: 1 · 1 = 1.)
    """
    forward, _, graphs = _sums_over_graphs(log_weights, max_parents, engine, split, **tracking)
    return log_total_of(forward, graphs) + float(forward.log_scales.sum())


def structure_posterior(
    log_weights: Floats,
    max_parents: int,
    *,
    engine: Engine,
    split: Split = SPLIT,
    largest_error: float = LARGEST_ERROR,
    **tracking: Unpack[Tracking],
) -> StructurePosterior:
    """Evidence, families and paths under the prior in which every graph counts once.

    Raises `PrecisionError` where the error of a probability may exceed `largest_error`.

    >>> from dagpost.engines import ThreadEngine
    >>> two_nodes = np.log([[1.0, 3.0], [2.0, 1.0]])
    >>> posterior = structure_posterior(two_nodes, 1, engine=ThreadEngine(1))
    >>> (posterior.families * 9).round(6).tolist()
    [[3.0, 6.0], [8.0, 1.0]]
    """
    nodes = len(log_weights)
    forward, layout, graphs = _sums_over_graphs(log_weights, max_parents, engine, split, **tracking)
    log_total = log_total_of(forward, graphs)
    completions = np.empty(1 << nodes)
    completion_exponents = np.empty(1 << nodes, dtype=np.int32)
    gathered = np.full(forward.weights.shape, ZERO, dtype=np.int64)
    paths = np.zeros((nodes, nodes))
    error = np.zeros(1)

    def block(leaf: int, cancel: Integers) -> tuple[Wide, Floats, float]:
        arguments = (graphs, completions, completion_exponents, leaf, -1, np.empty(0), cancel)
        result: tuple[Wide, Floats, float] = completions_of_leaf(layout, forward.weights, forward.sums, *arguments)
        return result

    all_waves = nested_waves(layout.top, block_leaves(nodes))[::-1]
    with tracked(
        "families and paths",
        in_waves(all_waves),
        lambda leaf: [entries_of(layout, completions, leaf), entries_of(layout, completion_exponents, leaf)],
        lambda: [gathered, paths, error],
        units=3**layout.top,
        units_of=partial(leaf_cost, layout),
        kept_as="families and paths by blocks",
        **tracking,
    ) as (saved, stage):
        for wave in all_waves:
            for leaf, (contribution, leaf_paths, leaf_error) in saved.run(engine, block, wave):
                stage.advance(leaf_cost(layout, leaf))
                give_back_chunk(layout, contribution, gathered, leaf)
                paths += leaf_paths
                error += leaf_error
    bound = error_bound(float(error[0]), nodes, largest_error)
    log_evidence = log_total + float(forward.log_scales.sum())
    tables = StructureTables(forward, layout, graphs, completions, completion_exponents, log_evidence, bound)
    families = posterior_of_families(gathered, log_weights, forward.log_scales, log_total)
    np.fill_diagonal(paths, 0.0)
    return StructurePosterior(tables, families, np.clip(paths, 0.0, 1.0))


def _sums_over_graphs(
    log_weights: Floats, max_parents: int, engine: Engine, split: Split, **tracking: Unpack[Tracking]
) -> tuple[ForwardTable, Layout, Floats]:
    """The order-modular sums `L`, the layout of the leaves, and `A`."""
    nodes = len(log_weights)
    require_memory(nodes, max_parents, engine.workers)
    forward = forward_table(log_weights, max_parents, engine=engine, split=split, **tracking)
    layout = leaf_layout(nodes, max_parents, split)
    return forward, layout, sum_over_graphs(forward, layout, engine, **tracking)


def descendant_sets(tables: StructureTables, node: int, *, engine: Engine, reporter: Reporter = NO_PROGRESS) -> Floats:
    """Entry `D`, a mask without `node`: the probability that the descendants of `node` are just `D`."""
    layout = tables.layout
    by_rest = np.zeros(1 << layout.nodes)
    completions, exponents = np.empty_like(tables.completions), np.empty_like(tables.completion_exponents)

    def block(leaf: int, cancel: Integers) -> None:
        arguments = (tables.graphs, completions, exponents, leaf, node, by_rest, cancel)
        completions_of_leaf(layout, tables.forward.weights, tables.forward.sums, *arguments)

    with reporter.stage("descendants", 3**layout.top) as stage:
        for wave in waves(layout.top)[::-1]:
            for leaf, _ in zip(wave, engine.run(block, wave), strict=True):
                stage.advance(leaf_cost(layout, leaf))
    # `by_rest` is numbered by the nodes that are neither `node` nor its descendants.
    return by_complement(by_rest.reshape(-1, 2, 1 << node)[:, 0].reshape(-1), node)


def ancestor_sets(tables: StructureTables, node: int, *, engine: Engine, reporter: Reporter = NO_PROGRESS) -> Floats:
    """Entry `S`, a mask without `node`: the probability that the ancestors of `node` are just `S`.

    It is `B(S ∪ node)` times the part of the sum `A(S ∪ node)` whose terms leave `node` to the sinks, over the
    evidence.
    """
    layout, forward = tables.layout, tables.forward
    closed = sum_over_graphs(forward, layout, engine, tables.graphs, node, reporter=reporter)
    result = np.zeros(1 << layout.nodes)
    _times_completions(
        closed, forward.sums, tables.graphs[-1], tables.completions, tables.completion_exponents, node, result
    )
    return result


def expected_seconds(nodes: int, workers: int) -> float:
    """Roughly how long the whole posterior takes; a machine of 2024 needs some 1.5 ns for each of the 3^n pairs."""
    # Beyond, a float does not hold it.
    return 1.5e-9 * 3.0 ** min(nodes, 600) / workers


def require_memory(nodes: int, max_parents: int, workers: int) -> None:
    """Refuse, with both figures, what does not fit."""
    memory.require_for_nodes(
        nodes,
        lambda size: memory_needed(size, max_parents, workers),
        f"The exact posterior of {nodes} variables, every graph counted once,",
        f"leave columns out, or use {setting('method', 'auto')}, which draws graphs of the same posterior instead.",
    )


@lru_cache(maxsize=64)
def memory_needed(nodes: int, max_parents: int, workers: int) -> int:
    """Bytes: `L`, `A` and `B`; the rows and results of the leaves under way; the sums of the walk."""
    under_way = widest_wave(nodes, workers, 24) + 8 * min(workers, 2) * (1 << nodes)
    return 28 * (1 << nodes) + under_way + workers * 8 * nodes * family_count(nodes, max_parents)


@lru_cache(maxsize=64)
def widest_wave(nodes: int, workers: int, bytes_each: int) -> int:
    """Most bytes that the leaves under way take at once if a leaf takes `bytes_each` for every set that holds it."""
    top = leaf_layout(nodes, 1).top
    return max(min(workers, math.comb(top, size)) * bytes_each << (nodes - size) for size in range(top + 1))


def error_bound(magnitude: float, nodes: int, largest: float = LARGEST_ERROR) -> float:
    """How far rounding may have moved a probability, from the sum of all |terms|, times A, over the evidence."""
    # The second part is what the roundings of alpha may do, none of which the alternating signs can amplify.
    bound = _EPSILON * magnitude + nodes**2 * 2.0 ** -(FRACTION_BITS + 1)
    if not bound < largest:
        raise cancelled(bound)
    return bound


def cancelled(bound: float) -> PrecisionError:
    """The error for sums that rounding has spoiled."""
    return PrecisionError(
        "The alternating sums over all graphs cancel too far: the error of a probability may be as large as "
        f"{bound:.1g}. Use a method of weighted draws, which gives graphs of the same posterior without these sums; "
        f"those of {setting('modularity', 'order')} do not alternate, but count a graph once an order."
    )


def log_total_of(forward: ForwardTable, graphs: Floats) -> float:
    """Log of the sum over all graphs of the scaled weights."""
    # The sum over all nodes is a double beside the binary exponent of the sum over orders.
    evidence, exponent = float(graphs[-1]), int(forward.sums[-1] >> FRACTION_BITS)
    if not evidence > 0.0:
        raise cancelled(math.inf)
    return math.log(evidence) + exponent * math.log(2.0)


@kernel
def _times_completions(
    closed: Floats, sums: Wide, evidence: float, completions: Floats, exponents: Exponents, node: int, result: Floats
) -> None:
    everything = len(closed) - 1
    for ancestors in range(len(closed)):
        if not (ancestors >> node) & 1:
            whole = ancestors | (1 << node)
            shift = (sums[whole] >> FRACTION_BITS) + exponents[whole] - (sums[everything] >> FRACTION_BITS)
            value = closed[whole] * completions[whole] / evidence
            # Not cut off at zero: over many sets the rounding errors cancel, cut off they would add up.
            result[ancestors] = math.ldexp(value, max(shift, SMALLEST_SHIFT))
