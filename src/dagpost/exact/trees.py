"""Averages over all trees, exactly, and independent draws of them (Meilă & Jaakkola 2006).

Every node `v` takes one *target* `p`, its only parent or the outside, with weight `w(v -> p)`. The graphs in which
every node leads outside are the *forests*: all DAGs with at most one parent a node. Eliminating the nodes one by one,

    S_v = sum of w(v -> p) over the remaining p and the outside,    w(u -> p) += w(u -> v) w(v -> p) / S_v  (u ≠ p),

the product of all `S_v` is the weight of all forests: the matrix-tree theorem without a subtraction (Grassmann, Taksar
& Heyman 1985), so that in logs nothing cancels and nothing underflows, whatever the weights span.

*Spanning trees* are the forests with one root. Multiply each weight to the outside by ε and let ε go to 0: only the
forests with the fewest roots are left. So a weight has an *order*, its power of ε, beside its log; a sum keeps its
lowest order. Only weights to the outside can have an order other than 0. Where equivalent graphs score the same, all
rootings of an undirected tree weigh the same: this is the paper's posterior, with every node as likely to be the root.

*Families.* With `h(p)` the probability that a walk from `p`, with steps in proportion to `w`, gets outside before it
comes to `v` (1 for the outside itself), `v` takes `p` with probability `w(v -> p) h(p) / sum over q of w(v -> q) h(q)`.
Where `v` is eliminated last, the others' rows, as they were when each was eliminated, give `h` without a subtraction.

*Draws* run one elimination backwards. Put `v` back into a forest of the nodes that remained after it: an edge `u -> p`
was the sum of itself and the detour `u -> v -> p`, and a coin for each edge, with their shares, says which it is. If
no edge is a detour, `v` takes its target in proportion to `w(v -> p)`. Otherwise all those on a detour take `v`, and
`v` takes the target of the last of them on the way outside. Why that is right: let `k` nodes be on a detour, keep all
other edges, and call the weights from `v` into the parts that hang from those nodes `b_1 .. b_k`, into the part that
leads outside `b_0`; they sum to `S_v`. By Cayley's formula the ways to join the parts to a tree weigh
`b_0 S_v^(k-1)`. With `S_v` for `v` itself and `1 / S_v` for each detour `b_0` is left, which is what the targets that
`v` may take weigh; and whichever node is joined to the part that leads outside, its target there has the share of
`w(v -> p)` in `b_0`. (A walk, as in Wilson's algorithm, could go to and fro between two nodes e^1000 times.)

Time: `n^4 / 3` sums of logs for the families, `n^3 / 3` to prepare draws, `n^2 / 2` coins for each draw. Memory: `n^3`
doubles, and some megabytes of random numbers a worker.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dagpost._tools.arrays import Floats, Integers, Masks
from dagpost._tools.kernels import inlined, kernel
from dagpost._tools.log_sums import add_logs
from dagpost._tools.progress import NO_PROGRESS, Reporter
from dagpost._tools.text import node_called
from dagpost._tools.uniforms import SEED_BLOCK, row_blocks, uniform_rows
from dagpost.engines import Engine
from dagpost.errors import InputError, NoGraphError
from dagpost.families.numbering import MAX_NODES


@dataclass(frozen=True, eq=False)
class TreePosterior:
    """The posterior over spanning trees, or over forests.

    `log_weights[i, j]` is the log weight of node `i` with the only parent `j`, `log_weights[i, i]` that of node `i`
    without parents; `families` has their probabilities in the same places. `log_evidence` is the natural log of the
    sum over all graphs.
    """

    log_weights: Floats
    spanning: bool
    log_evidence: float
    families: Floats


def tree_posterior(log_weights: Floats, *, spanning: bool = True, names: Sequence[str] | None = None) -> TreePosterior:
    """Evidence and families of all spanning trees, or, with `spanning=False`, of all forests.

    `log_weights[i, j]` is the log weight of node `i` with the only parent `j`, `log_weights[i, i]` that of node `i`
    without parents, minus infinity where it is not allowed.

    >>> two_nodes = np.log([[1.0, 3.0], [1.0, 2.0]])
    >>> posterior = tree_posterior(two_nodes, spanning=False)
    >>> round(math.exp(posterior.log_evidence), 9), (posterior.families * 9).round(6).tolist()
    (9.0, [[3.0, 6.0], [1.0, 8.0]])
    >>> posterior = tree_posterior(two_nodes)
    >>> round(math.exp(posterior.log_evidence), 9), (posterior.families * 7).round(6).tolist()
    (7.0, [[1.0, 6.0], [1.0, 6.0]])

    (No edge: 1 · 2 = 2; 1 -> 0: 3 · 2 = 6; 0 -> 1: 1 · 1 = 1.)
    """
    log_weights = _checked(log_weights, names)
    scales = log_weights.max(axis=1)
    families = np.zeros_like(log_weights)
    log_total, roots = _families(log_weights - scales[:, None], int(spanning), families)
    if log_total == -math.inf or (spanning and roots > 1):
        raise _no_graph(spanning)
    return TreePosterior(log_weights, spanning, float(log_total + scales.sum()), families)


def draw_trees(
    posterior: TreePosterior,
    count: int,
    *,
    seed: np.random.SeedSequence,
    engine: Engine,
    reporter: Reporter = NO_PROGRESS,
) -> tuple[Masks, Floats]:
    """Draw `count` independent graphs: parent masks (draws, nodes), and the log weight of each graph.

    >>> from dagpost.engines import ThreadEngine
    >>> posterior = tree_posterior(np.log([[1.0, 3.0], [1.0, 2.0]]))
    >>> parents, _ = draw_trees(posterior, 7_000, seed=np.random.SeedSequence(1), engine=ThreadEngine(1))
    >>> bool(abs((parents == [2, 0]).all(axis=1).mean() - 6 / 7) < 0.02)
    True
    """
    log_weights = posterior.log_weights
    nodes = len(log_weights)
    detours = np.zeros((nodes, nodes, nodes))
    choices = np.ones((nodes, nodes))
    _prepare_draws(log_weights - log_weights.max(axis=1)[:, None], int(posterior.spanning), detours, choices)
    parents, log_joint = np.empty((count, nodes), dtype=np.uint64), np.empty(count)
    # A coin for each pair of nodes, and a target for each node but the first.
    columns = nodes * (nodes + 1) // 2 - 1

    def block(rows: slice, cancel: Integers) -> int:
        uniforms = uniform_rows(seed, rows, columns)
        draw_forests(log_weights, detours, choices, uniforms, parents[rows], log_joint[rows], cancel)
        return len(uniforms)

    with reporter.stage("graphs", count) as stage:
        for drawn in engine.run(block, row_blocks(count, SEED_BLOCK)):
            stage.advance(drawn)
    return parents, log_joint


def _checked(log_weights: Floats, names: Sequence[str] | None) -> Floats:
    """A copy of the weights; refuses a wrong shape, what is not a number, and a node with nothing to choose."""
    result = np.array(log_weights, dtype=np.float64, order="C")
    if result.ndim != 2 or result.shape[0] != result.shape[1] or not 1 <= len(result) <= MAX_NODES:
        raise InputError(
            "The log weights of trees must have shape (n, n), a row and a column for each of n = 1 to "
            f"{MAX_NODES} nodes. Got {result.shape} instead."
        )
    if np.isnan(result).any() or np.isposinf(result).any():
        raise InputError("The log weights must be finite or minus infinity. Got nan or infinity instead.")
    impossible = np.flatnonzero(np.isneginf(result).all(axis=1))
    if len(impossible):
        raise NoGraphError(
            f"{node_called(int(impossible[0]), names)} may neither be without parents nor have any one parent, and in "
            "a tree there is nothing else. Relax its required or forbidden edges."
        )
    return result


def _no_graph(spanning: bool) -> NoGraphError:
    if spanning:
        return NoGraphError(
            "No spanning tree satisfies the constraints: whatever the parents, there is a cycle or more than one node "
            "without parents. Relax the required or forbidden edges, or allow forests (spanning=False)."
        )
    return NoGraphError(
        "No forest satisfies the constraints: whatever the parents, there is a cycle. "
        "Relax the required or forbidden edges."
    )


@inlined
def _add(first: float, first_order: int, second: float, second_order: int) -> tuple[float, int]:
    """Sum of two weights, each a log and an order."""
    if second == -math.inf or (first_order < second_order and first > -math.inf):
        return first, first_order
    if first == -math.inf or second_order < first_order:
        return second, second_order
    return add_logs(first, second), first_order


@inlined
def _eliminate(weights: Floats, orders: Integers, node: int) -> tuple[float, int]:
    """Eliminate `node`, the last that remains; returns its pivot, a log and an order.

    The diagonal of `weights` holds the weights to the outside, whose orders are in `orders`. What stands in the row and
    the column of `node` stays as it is.
    """
    pivot, pivot_order = weights[node, node], orders[node]
    for target in range(node):
        pivot, pivot_order = _add(pivot, pivot_order, weights[node, target], 0)
    if pivot == -math.inf:
        return pivot, pivot_order
    for child in range(node):
        share = weights[child, node] - pivot
        if share == -math.inf:
            continue
        # The order of the pivot is 0 here, unless `node` can only go outside and there is nothing to add.
        for target in range(node):
            if target != child:
                weights[child, target] = add_logs(weights[child, target], share + weights[node, target])
        weights[child, child], orders[child] = _add(
            weights[child, child], orders[child], share + weights[node, node], orders[node] - pivot_order
        )
    return pivot, pivot_order


@kernel
def _families(log_weights: Floats, outside_order: int, families: Floats) -> tuple[float, int]:
    """Fill in the probabilities of all families; returns the log of the sum over all graphs, and its order."""
    nodes = len(log_weights)
    weights = np.empty((nodes, nodes))
    orders = np.empty(nodes, dtype=np.int64)
    pivots = np.empty(nodes)
    pivot_orders = np.empty(nodes, dtype=np.int64)
    # h of every target: 1 for the outside, in the place of the node that takes one, and for the others as they come.
    outside = np.empty(nodes)
    outside_orders = np.empty(nodes, dtype=np.int64)
    log_total, total_order = 0.0, 0
    labels = np.arange(nodes)
    for last in range(nodes):
        # `last` changes places with node 0, which is eliminated last.
        labels[0], labels[last] = last, 0
        for row in range(nodes):
            orders[row] = outside_order
            for column in range(nodes):
                weights[row, column] = log_weights[labels[row], labels[column]]
        for node in range(nodes - 1, -1, -1):
            pivots[node], pivot_orders[node] = _eliminate(weights, orders, node)
            if pivots[node] == -math.inf:
                return -math.inf, 0
            if last == 0:
                log_total += pivots[node]
                total_order += pivot_orders[node]
        # Terms of the sum over the targets of `last`: first the outside, then the others.
        total, order = log_weights[last, last], outside_order
        for node in range(1, nodes):
            value, value_order = weights[node, node], orders[node]
            for target in range(1, node):
                through = weights[node, target] + outside[target]
                value, value_order = _add(value, value_order, through, outside_orders[target])
            outside[node] = value - pivots[node]
            outside_orders[node] = value_order - pivot_orders[node]
            total, order = _add(total, order, log_weights[last, labels[node]] + outside[node], outside_orders[node])
        outside[0], outside_orders[0] = 0.0, outside_order
        for node in range(nodes):
            if outside_orders[node] == order:
                families[last, labels[node]] = math.exp(log_weights[last, labels[node]] + outside[node] - total)
        labels[0], labels[last] = 0, last
    return log_total, total_order


@kernel
def _prepare_draws(log_weights: Floats, outside_order: int, detours: Floats, choices: Floats) -> None:
    """Fill in what the way back needs.

    `detours[v, u, p]`: the share of the detour over `v` in the edge `u -> p` (to the outside for p = u).
    `choices[v, p]`: the running sum of the probabilities that `v` takes `p` (the outside for p = v).
    """
    nodes = len(log_weights)
    weights = log_weights.copy()
    orders = np.full(nodes, outside_order, dtype=np.int64)
    for node in range(nodes - 1, 0, -1):
        pivot, pivot_order = _eliminate(weights, orders, node)
        for child in range(node):
            # Added up as in `_eliminate`: where nothing else is in the sum, the share of the detour is just 1.
            share = weights[child, node] - pivot
            outside_counts = orders[node] - pivot_order == orders[child]
            for target in range(node):
                through = share + weights[node, node if target == child else target]
                if through > -math.inf and (target != child or outside_counts):
                    detours[node, child, target] = math.exp(through - weights[child, target])
        running = 0.0
        last = 0
        for target in range(node + 1):
            order = orders[node] if target == node else 0
            if order == pivot_order and weights[node, target] > -math.inf:
                running += math.exp(weights[node, target] - pivot)
                last = target
            choices[node, target] = running
        # Rounding must not leave anything above the last one that is possible.
        for target in range(last, node + 1):
            choices[node, target] = 1.0


@inlined
def _first_column(node: int) -> int:
    """Where the random numbers of a node begin: one for each node before it, one for itself; node 0 needs none."""
    return node * (node + 1) // 2 - 1


@kernel
def draw_forests(
    log_weights: Floats,
    detours: Floats,
    choices: Floats,
    uniforms: Floats,
    parents: Masks,
    log_joint: Floats,
    cancel: Integers,
) -> None:
    """One graph for each row of `uniforms`; a node that is its own target goes outside."""
    nodes = len(log_weights)
    targets = np.empty(nodes, dtype=np.int64)
    on_detour = np.empty(nodes, dtype=np.bool_)
    for sample in range(len(uniforms)):
        if cancel[0]:
            return
        targets[0] = 0
        for node in range(1, nodes):
            column = _first_column(node)
            some = -1
            for child in range(node):
                on_detour[child] = uniforms[sample, column + child] < detours[node, child, targets[child]]
                if on_detour[child]:
                    some = child
            if some < 0:
                target = 0
                while choices[node, target] <= uniforms[sample, column + node]:
                    target += 1
                targets[node] = target
                continue
            last = some
            while targets[some] != some:
                some = targets[some]
                if on_detour[some]:
                    last = some
            targets[node] = node if targets[last] == last else targets[last]
            for child in range(node):
                if on_detour[child]:
                    targets[child] = node
        total = 0.0
        for node in range(nodes):
            outside = targets[node] == node
            parents[sample, node] = np.uint64(0) if outside else np.uint64(1) << np.uint64(targets[node])
            total += log_weights[node, targets[node]]
        log_joint[sample] = total
