"""The exact posterior under the order-modular prior: evidence, and the probability of every family and edge.

With `alpha_i(S)` the sum of the weights of node `i` over parent sets inside `S`,

    L(S) = sum over i in S     of L(S - i) alpha_i(S - i)        all orders of S       (forward,  L(∅) = 1)
    R(S) = sum over i not in S of alpha_i(S) R(S ∪ i)            all ways to go on     (backward, R(V) = 1)

`L(V)` is the evidence, and the posterior of family (i, P) is `beta_i(P) * sum over S ⊇ P of L(S) R(S ∪ i) / L(V)`
(Koivisto & Sood 2004; Koivisto 2006). `alpha` is never stored: the subsets are walked block by block (walk.py), and a
block pulls from finished blocks what it needs. `R` may overwrite `L`, since a block needs its own `L` only.

Time: about `n 2^(n-1)` times a dozen additions for `L`, three times that with `R` and all families. Memory: `2^n` wide
floats a table, and a few megabytes a thread. The blocks that share a subset of the top nodes form a *chunk*, the
unit of work of an engine; chunks with as many top nodes are independent. Every sum is taken in an order that depends
on `n` alone, so results are the same to the last bit for any number of threads.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dagpost import memory
from dagpost.arrays import Floats, Integers, Wide
from dagpost.checkpoints import Checkpoint, none
from dagpost.engines import Engine
from dagpost.errors import InputError, NoGraphError, PrecisionError
from dagpost.exact.transforms import from_dense, let_in_transposed, superset_sums
from dagpost.exact.walk import (
    Plan,
    alpha_at_leaf,
    entries_of,
    in_waves,
    let_in_level,
    level_above,
    level_bases,
    level_row,
    lowest_bit,
    make_plan,
    start_across,
    start_chunk,
    starts_around,
    universe_at,
    waves,
)
from dagpost.families import family_count, parent_sets
from dagpost.kernels import copy_into, inlined, kernel
from dagpost.names import node_called
from dagpost.progress import Reporter, silent
from dagpost.widefloat import ONE, ZERO, add, check_range, from_logs, multiply, to_logs

#: Weights this far below the weight of the empty parent set cannot change any alpha in its last digit.
_NEGLIGIBLE_NATS = 200.0
#: Relative error of any probability from these sums, which have no subtraction in them: seen to stay below 1e-11.
RELATIVE_ERROR = 1e-10
#: The probabilities of the parent sets of a variable sum to 1, or something is very wrong.
_LARGEST_MISS = 1e-6


@dataclass(frozen=True, eq=False)
class ForwardTable:
    """The forward sums `L(S)` of every set of nodes, as wide floats, with what they were made from.

    `log_scales[i]` was taken off the log weights of node `i`; `log_total` is the log of the sum over all orders and
    graphs without them.
    """

    plan: Plan
    log_weights: Floats
    log_scales: Floats
    weights: Wide
    sums: Wide
    log_total: float

    @property
    def log_evidence(self) -> float:
        """Natural log of the sum over all orders and graphs."""
        return self.log_total + float(self.log_scales.sum())


def forward_table(
    log_weights: Floats,
    max_parents: int,
    *,
    engine: Engine,
    reporter: Reporter = silent,
    checkpoint: Checkpoint = none,
) -> ForwardTable:
    """Sum over all orders of every set of nodes.

    `log_weights[i, f]` is the log weight of node `i` with parent set number `f` (families.py), minus infinity where it
    is not allowed.

    >>> from dagpost.engines import ThreadEngine
    >>> two_nodes = np.log([[1.0, 3.0], [2.0, 1.0]])  # rows: nodes; columns: no parent, the other node
    >>> round(math.exp(forward_table(two_nodes, 1, engine=ThreadEngine(1)).log_evidence), 9)
    11.0

    (Order 1, 2: 1 · (2 + 1) = 3; order 2, 1: 2 · (1 + 3) = 8.)
    """
    nodes = len(log_weights)
    check_weights(log_weights, max_parents)
    require_memory(nodes, max_parents, tables=1, workers=engine.workers)
    plan = make_plan(nodes, max_parents)
    scales = log_weights.max(axis=1)
    weights = wide_weights(log_weights, scales)
    sums = np.empty(1 << nodes, dtype=np.int64)

    def block(chunk: int, cancel: Integers) -> None:
        forward_chunk(plan, weights, sums, starts_around(plan, chunk), chunk, cancel)

    all_waves = list(waves(plan.top))
    saved = checkpoint.stage("forward table", in_waves(all_waves), lambda chunk: [entries_of(plan, sums, chunk)])
    with reporter.stage("forward table", 1 << plan.top) as stage:
        for _ in saved.finished:
            stage.advance(1)
        for wave in all_waves:
            for _ in saved.run(engine, block, wave):
                stage.advance(1)
    log_total = float(to_logs(sums[-1:])[0])
    if not math.isfinite(log_total):
        raise no_graph()
    return ForwardTable(plan, log_weights, scales, weights, sums, log_total)


def family_probabilities(
    forward: ForwardTable,
    *,
    engine: Engine,
    reporter: Reporter = silent,
    keep_forward: bool = True,
    checkpoint: Checkpoint = none,
) -> Floats:
    """Posterior probability of every parent set of every node, shaped like the weights.

    With `keep_forward=False` the backward sums overwrite the forward ones, which halves the memory; `forward` is of no
    use afterwards.
    """
    plan = forward.plan
    # Walking back, a worker holds the sums on the way down and those on the way up.
    require_memory(plan.nodes, plan.max_parents, tables=int(keep_forward), workers=2 * engine.workers)
    backward = np.empty_like(forward.sums) if keep_forward else forward.sums
    gathered = np.full(forward.weights.shape, ZERO, dtype=np.int64)

    def block(chunk: int, cancel: Integers) -> Wide:
        own, starts = entries_of(plan, forward.sums, chunk), starts_around(plan, chunk)
        return backward_chunk(plan, forward.weights, own, backward, starts, chunk, True, cancel)

    all_waves = list(reversed(list(waves(plan.top))))
    saved = checkpoint.stage(
        "backward table",
        in_waves(all_waves),
        lambda chunk: [entries_of(plan, backward, chunk)],
        lambda: [gathered],
    )
    with reporter.stage("edge probabilities", 1 << plan.top) as stage:
        for _ in saved.finished:
            stage.advance(1)
        for wave in all_waves:
            for chunk, contribution in saved.run(engine, block, wave):
                stage.advance(1)
                give_back_chunk(plan, contribution, gathered, chunk)
    return posterior_of_families(gathered, forward.log_weights, forward.log_scales, forward.log_total)


def edge_probabilities(families: Floats, max_parents: int) -> Floats:
    """Entry [j, i]: the probability that j is a parent of i, from the probabilities of all families."""
    nodes = len(families)
    sets = parent_sets(nodes - 1, max_parents)
    edges = np.zeros((nodes, nodes))
    for element in range(nodes - 1):
        members = (sets >> np.uint64(element)) & np.uint64(1) != 0
        of_children = families[:, members].sum(axis=1)
        for child in range(nodes):
            edges[element + (element >= child), child] = of_children[child]
    return edges


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
        "leave columns out, free memory, or use a method without tables, such as 'partition-mcmc'.",
    )


def fits(nodes: int, max_parents: int, *, workers: int) -> bool:
    """Whether the forward table fits into the memory that is free."""
    return _memory_needed(nodes, max_parents, 1, workers) <= memory.available_bytes()


def _memory_needed(nodes: int, max_parents: int, tables: int, workers: int) -> int:
    """Bytes: the tables, the weights and what is gathered for them, the sums of each walk."""
    families = 8 * nodes * family_count(nodes - 1, max_parents)
    return tables * table_bytes(nodes) + 2 * families + workers * _scratch_bytes(nodes, max_parents)


def _scratch_bytes(nodes: int, max_parents: int) -> int:
    """Memory of the restricted sums of one worker."""
    plan = make_plan(nodes, max_parents)
    levels = sum(family_count(top, max_parents) for top in range(plan.low, nodes - plan.top + 1))
    return 8 * (nodes * levels + 2 * family_count(nodes - 1, max_parents) + (nodes << plan.low))


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


def no_graph() -> NoGraphError:
    """The error for constraints that leave no graph at all."""
    return NoGraphError(
        "No graph satisfies the constraints: every order leaves some node without an allowed parent set."
    )


def wide_weights(log_weights: Floats, scales: Floats) -> Wide:
    """Weights, at most one each, as wide floats; what cannot matter beside the empty set becomes zero."""
    weights = np.empty(log_weights.shape, dtype=np.int64)
    spans = np.zeros(len(scales))
    for node, scale in enumerate(scales):
        row = log_weights[node] - scale
        row[row < row[0] - _NEGLIGIBLE_NATS] = -np.inf
        spans[node] = -np.min(row, where=np.isfinite(row), initial=0.0)
        weights[node] = from_logs(row)
    check_range(spans)
    return weights


def posterior_of_families(gathered: Wide, log_weights: Floats, log_scales: Floats, log_total: float) -> Floats:
    """Probabilities of all families from what the sums give to each weight; takes the place of `gathered`."""
    result = gathered.view(np.float64)
    for node, scale in enumerate(log_scales):
        logs = to_logs(gathered[node])
        logs += log_weights[node]
        logs -= scale + log_total
        np.exp(logs, out=result[node])
    off = np.abs(result.sum(axis=1) - 1.0).max()
    if not off < _LARGEST_MISS:
        raise PrecisionError(
            f"The probabilities of the parent sets of a variable miss 1 by {off:.1e}: rounding has spoiled the sums. "
            "Use modularity='order' or a chain, such as method='partition-mcmc', and report the table."
        )
    return result


@kernel
def forward_chunk(plan: Plan, weights: Wide, sums: Wide, starts: Integers, chunk: int, cancel: Integers) -> None:
    """Fill the forward sums of a chunk; `starts` says where in `sums` it and those that it pulls from begin."""
    nodes, low = plan.nodes, plan.low
    inner = nodes - low - plan.top
    size = 1 << low
    bases = level_bases(plan)
    arrays = np.empty(bases[-1], dtype=np.int64)
    lanes = np.empty(size, dtype=np.int64)
    alpha = np.empty(size, dtype=np.int64)
    low_alpha = np.empty((low, size >> 1), dtype=np.int64)
    start_chunk(plan, weights, chunk, arrays, bases)
    for leaf in range(1 << inner):
        if cancel[0]:
            return
        high = (chunk << inner) | leaf
        if leaf:
            bit = lowest_bit(leaf)
            for node in range(nodes):
                # A high node that was left out pulls nothing in any block below.
                left_out = node > low + bit and not (high >> (node - low)) & 1
                if node != low + bit and not left_out:
                    let_in_level(plan, arrays, bases, leaf, bit, node)
        begin = starts[plan.top] + (leaf << low)
        block = sums[begin : begin + size]
        block[:] = ZERO
        if high == 0:
            block[0] = ONE
        for node in range(low, nodes):
            if (high >> (node - low)) & 1:
                alpha_at_leaf(plan, arrays, bases, leaf, node, lanes, alpha)
                begin = start_across(plan, starts, leaf, node)
                pulled = sums[begin : begin + size]
                for place in range(size):
                    block[place] = add(block[place], multiply(alpha[place], pulled[place]))
        for node in range(low):
            alpha_at_leaf(plan, arrays, bases, leaf, node, lanes, low_alpha[node])
        _finish_forward(block, low_alpha)


@inlined
def _finish_forward(block: Wide, low_alpha: Wide) -> None:
    """Add the orders that end in a low node. When the last set without node v (and any lower ones) is done, all sets
    without v in its run are, and the run with v takes its share in one go."""
    size = len(block)
    for last in range(size - 1):
        node = 0
        while (last >> node) & 1:
            node += 1
        run = 1 << node
        begin = last + 1 - run
        without = block[begin : begin + run]
        with_node = block[begin + run : begin + 2 * run]
        place = (begin >> (node + 1)) << node
        alpha = low_alpha[node, place : place + run]
        for step in range(run):
            with_node[step] = add(with_node[step], multiply(alpha[step], without[step]))


@inlined
def _finish_backward(block: Wide, low_alpha: Wide) -> None:
    """Add the orders that go on with a low node: `_finish_forward` in reverse."""
    for first in range(len(block) - 1, 0, -1):
        node = lowest_bit(first)
        run = 1 << node
        without = block[first - run : first]
        with_node = block[first : first + run]
        place = ((first - run) >> (node + 1)) << node
        alpha = low_alpha[node, place : place + run]
        for step in range(run):
            without[step] = add(without[step], multiply(alpha[step], with_node[step]))


@kernel
def backward_chunk(
    plan: Plan,
    weights: Wide,
    forward: Wide,
    backward: Wide,
    starts: Integers,
    chunk: int,
    gather: bool,
    cancel: Integers,
) -> Wide:
    """Fill the backward sums of a chunk; returns what its blocks give to each weight, at the level where it starts.

    `forward` has the sums of this chunk alone; `starts` says where in `backward` it and those that it pulls from begin.
    Without `gather`, `forward` is not looked at and what is returned is nothing yet: see `gather_chunk`.
    """
    nodes, low = plan.nodes, plan.low
    inner = nodes - low - plan.top
    size = 1 << low
    bases = level_bases(plan)
    arrays = np.empty(bases[-1], dtype=np.int64)
    gathered = np.full(bases[-1], ZERO, dtype=np.int64)
    lanes = np.empty(size, dtype=np.int64)
    alpha = np.empty(size, dtype=np.int64)
    own_forward = np.empty(size, dtype=np.int64)
    low_alpha = np.empty((low, size >> 1), dtype=np.int64)
    start_chunk(plan, weights, chunk, arrays, bases)
    changed = inner
    for leaf in range((1 << inner) - 1, -1, -1):
        if cancel[0]:
            break
        high = (chunk << inner) | leaf
        for bit in range(changed - 1, -1, -1):
            for node in range(nodes):
                # A high node that is in already goes on with nothing in any block below.
                if node < low + bit or (node > low + bit and not (high >> (node - low)) & 1):
                    let_in_level(plan, arrays, bases, leaf, bit, node)
        if gather:
            copy_into(own_forward, forward[leaf << low : (leaf + 1) << low])
        begin = starts[plan.top] + (leaf << low)
        block = backward[begin : begin + size]
        block[:] = ZERO
        if high == (1 << (nodes - low)) - 1:
            block[-1] = ONE
        for node in range(low, nodes):
            if not (high >> (node - low)) & 1:
                alpha_at_leaf(plan, arrays, bases, leaf, node, lanes, alpha)
                begin = start_across(plan, starts, leaf, node)
                pulled = backward[begin : begin + size]
                for place in range(size):
                    block[place] = add(block[place], multiply(alpha[place], pulled[place]))
        for node in range(low):
            alpha_at_leaf(plan, arrays, bases, leaf, node, lanes, low_alpha[node])
        _finish_backward(block, low_alpha)
        if gather:
            _gather_leaf(plan, own_forward, backward, starts, high, leaf, 0, nodes, gathered, bases, alpha, lanes)
        if leaf:
            changed = lowest_bit(leaf)
    # A copy: a view would keep the levels of the whole walk alive as long as the result.
    return gathered[bases[inner] :].copy()


@kernel
def gather_chunk(
    plan: Plan, forward: Wide, backward: Wide, starts: Integers, chunk: int, first: int, last: int, cancel: Integers
) -> Wide:
    """What a chunk gives to the weights of the nodes from `first` up to `last`, once its backward sums are there.

    The same sums in the same order as `backward_chunk` takes them; those of different nodes never meet.
    """
    low = plan.low
    inner = plan.nodes - low - plan.top
    size = 1 << low
    bases = level_bases(plan)
    gathered = np.full(bases[-1], ZERO, dtype=np.int64)
    lanes = np.empty(size, dtype=np.int64)
    products = np.empty(size, dtype=np.int64)
    for leaf in range((1 << inner) - 1, -1, -1):
        if cancel[0]:
            break
        own_forward = forward[leaf << low : (leaf + 1) << low]
        high = (chunk << inner) | leaf
        _gather_leaf(plan, own_forward, backward, starts, high, leaf, first, last, gathered, bases, products, lanes)
    width = plan.offset[low + inner, plan.max_parents + 1]
    return gathered[bases[inner] + first * width : bases[inner] + last * width].copy()


@inlined
def _gather_leaf(
    plan: Plan,
    own_forward: Wide,
    backward: Wide,
    starts: Integers,
    high: int,
    leaf: int,
    first: int,
    last: int,
    gathered: Wide,
    bases: Integers,
    products: Wide,
    lanes: Wide,
) -> None:
    """Add, for nodes that may come next, forward times backward over all supersets of each parent set.

    What is gathered at levels that the walk leaves here goes to the levels above.
    """
    low = plan.low
    size = 1 << low
    own_begin = starts[plan.top] + (leaf << low)
    block = backward[own_begin : own_begin + size]
    for node in range(first, last):
        bits = low
        if node >= low:
            if (high >> (node - low)) & 1:
                continue
            begin = start_across(plan, starts, leaf, node)
            onward = backward[begin : begin + size]
            for place in range(size):
                products[place] = multiply(own_forward[place], onward[place])
        else:
            bits = low - 1
            run = 1 << node
            for begin in range(0, size, 2 * run):
                product = products[begin >> 1 : (begin >> 1) + run]
                before = own_forward[begin : begin + run]
                onward = block[begin + run : begin + 2 * run]
                for step in range(run):
                    product[step] = multiply(before[step], onward[step])
        superset_sums(products[: 1 << bits], lanes[: 1 << bits], bits)
        level = level_above(plan, leaf, -1, node)
        from_dense(
            level_row(plan, gathered, bases, level, node),
            universe_at(plan, level, node),
            plan.positions if bits == low else plan.own_positions,
            lanes,
            bits,
            plan.max_parents,
            plan.binomial,
            plan.offset,
        )
        if leaf:
            _give_back_level(plan, gathered, bases, leaf, lowest_bit(leaf), node)


@inlined
def _give_back_level(plan: Plan, gathered: Wide, bases: Integers, leaf: int, bit: int, node: int) -> None:
    """Transpose of `let_in_level`; leaves the level empty for its next use."""
    level = level_above(plan, leaf, bit, node)
    filled = level_row(plan, gathered, bases, bit, node)
    let_in_transposed(
        level_row(plan, gathered, bases, level, node),
        universe_at(plan, level, node),
        universe_at(plan, bit, node),
        filled,
        plan.max_parents,
        plan.binomial,
        plan.offset,
    )
    filled[:] = ZERO


@kernel
def give_back_chunk(plan: Plan, contribution: Wide, gathered: Wide, chunk: int) -> None:
    """Transpose of `start_chunk`: add a chunk's contribution to that of every weight."""
    give_back_nodes(plan, contribution, gathered, chunk, 0)


@inlined
def give_back_nodes(plan: Plan, contribution: Wide, gathered: Wide, chunk: int, first: int) -> None:
    """The same for the nodes from `first` on, as many as `gathered` has rows."""
    nodes, max_parents, top = plan.nodes, plan.max_parents, plan.top
    below = nodes - top
    width = plan.offset[below, max_parents + 1]
    scratch = np.empty((2, gathered.shape[1]), dtype=np.int64)
    for row in range(len(gathered)):
        node = first + row
        if node >= below and (chunk >> (node - below)) & 1:
            continue
        source = contribution[row * width : (row + 1) * width]
        source_universe = below - 1 if node < below else below
        # From the last top node that was let in to the first; the sums before the first are the weights themselves.
        let_in_nodes = [other for other in range(below, nodes) if other != node and (chunk >> (other - below)) & 1]
        universes = [other - 1 if node < other else other for other in let_in_nodes] + [nodes - 1]
        for step in range(len(universes)):
            universe = universes[step]
            target = gathered[row] if step == len(universes) - 1 else scratch[step & 1]
            if step < len(universes) - 1:
                target[:] = ZERO
            if step == 0:
                for size in range(min(max_parents, source_universe) + 1):
                    count = plan.binomial[source_universe, size]
                    begin = plan.offset[universe, size]
                    into = target[begin : begin + count]
                    values = source[plan.offset[source_universe, size] :]
                    for rank in range(count):
                        into[rank] = add(into[rank], values[rank])
            else:
                let_in_transposed(target, universe, source_universe, source, max_parents, plan.binomial, plan.offset)
            source = target
            source_universe = universe
