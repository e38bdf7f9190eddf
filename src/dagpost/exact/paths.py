"""Who influences whom under the order-modular prior, exactly: the distribution of the descendants of a node.

The nodes are placed one by one, as an order has them. Let `s` be the source that is asked about, `S` the nodes
placed so far, and, once `s` is placed, `U ⊆ S` those that are neither `s` nor its descendants. A new node `i` stays
apart if it takes all its parents in `U`, and becomes a descendant of `s` if it takes one outside. So, with
`alpha_i(U)` the weight of node `i` over the parent sets inside `U`, and `L(S)` the sum over all orders of `S`
(order.py),

    f(S + s, S)     += L(S) * alpha_s(S)                         for S without s: here s itself is placed
    f(S + i, U + i) += f(S, U) * alpha_i(U)
    f(S + i, U)     += f(S, U) * (alpha_i(S) - alpha_i(U))

and `f(V, U) / L(V)` is the probability that the descendants of `s` are all nodes but `s` and `U` (Parviainen &
Koivisto 2011). The probability of a path `s ~> y` is a sum of these.

Time: `(n-1) 3^(n-2)` steps of two to three nanoseconds a source. Memory: `3^(n-1)` doubles, one source after the other,
and `n 2^(n-1)` wide floats for `alpha`, which all sources share.

Numbers: `f(S, U)` is never above `L(S)`, so it is kept as a double relative to the binary exponent of `L(S)`. Every
step then multiplies by little more than one at most, and what underflows could not be seen in any result. The
difference of the two alphas loses digits only where it is negligible beside `alpha_i(S)`, that is, beside the other
branch.
"""

from __future__ import annotations

import numpy as np

from dagpost._tools import memory
from dagpost._tools.arrays import Floats, Integers, Masks, Wide
from dagpost._tools.checks import whole_number
from dagpost._tools.kernels import inlined, kernel
from dagpost._tools.progress import NO_PROGRESS, Reporter, Stage
from dagpost._tools.wide_floats import FRACTION_BITS, ZERO_LIMIT, multiply
from dagpost.engines import Engine
from dagpost.exact.alternating import leaf_alphas
from dagpost.exact.order import ForwardTable
from dagpost.exact.walk import Layout, Split, by_complement, leaf_layout, waves
from dagpost.families.numbering import squeeze, unsqueeze

#: The table of a source is one task up to this many nodes; beyond, the sets of the last few nodes number the tasks.
NODES_IN_A_TASK = 8
_MOST_TASK_NODES = 8

_ONE_BITS = 1023 << 52
# Factors below 2^-1000 become zero: no result could show them, and their exponent would not be one of a double.
_SMALLEST = np.int64(-(1000 << FRACTION_BITS))


def order_descendant_sets(
    forward: ForwardTable,
    node: int,
    *,
    engine: Engine,
    reporter: Reporter = NO_PROGRESS,
    nodes_in_a_task: int = NODES_IN_A_TASK,
) -> Floats:
    """Entry `D`, a mask without `node`: the probability that the descendants of `node` are just `D`.

    A graph counts once for every order that it fits. Entries whose mask has `node` in it are 0.

    >>> from dagpost.engines import ThreadEngine
    >>> from dagpost.exact.order import forward_table
    >>> two_nodes = np.log([[1.0, 3.0], [2.0, 1.0]])  # rows: nodes; columns: no parent, the other node
    >>> forward = forward_table(two_nodes, 1, engine=ThreadEngine(1))
    >>> (order_descendant_sets(forward, 0, engine=ThreadEngine(1)) * 11).round(9).tolist()
    [10.0, 0.0, 1.0, 0.0]

    (No edge, in two orders: 2 · 1 · 2 = 4; 2 -> 1: 3 · 2 = 6; 1 -> 2: 1 · 1 = 1.)

    Reference: Parviainen & Koivisto, "Ancestor relations in the presence of unobserved variables", ECML 2011.
    """
    nodes = forward.layout.nodes
    whole_number(node, "node", least=0, most=nodes - 1)
    require_memory(nodes)
    alpha = _all_alphas(forward, engine, reporter)
    offsets = table_offsets(nodes)
    top = _task_nodes(nodes, nodes_in_a_task)
    with reporter.stage("descendants", 1 << top) as stage:
        apart = _in_tasks(forward, alpha, offsets, node, top, engine, stage)
    return by_complement(apart, node)


def order_path_probabilities(
    forward: ForwardTable, *, engine: Engine, reporter: Reporter = NO_PROGRESS, nodes_in_a_task: int = NODES_IN_A_TASK
) -> Floats:
    """Entry [x, y]: the probability of a directed path from x to y, a graph counting once for every order that it fits.

    >>> from dagpost.engines import ThreadEngine
    >>> from dagpost.exact.order import forward_table
    >>> two_nodes = np.log([[1.0, 3.0], [2.0, 1.0]])
    >>> forward = forward_table(two_nodes, 1, engine=ThreadEngine(1))
    >>> (order_path_probabilities(forward, engine=ThreadEngine(1)) * 11).round(9).tolist()
    [[0.0, 1.0], [6.0, 0.0]]

    Reference: Parviainen & Koivisto, "Ancestor relations in the presence of unobserved variables", ECML 2011.
    """
    nodes = forward.layout.nodes
    require_memory(nodes)
    alpha = _all_alphas(forward, engine, reporter)
    offsets = table_offsets(nodes)
    top = _task_nodes(nodes, nodes_in_a_task)
    paths = np.zeros((nodes, nodes))
    # One source after the other, the workers on its one table.
    with reporter.stage("paths", nodes << top) as stage:
        for source in range(nodes):
            paths[source] = _marginals(_in_tasks(forward, alpha, offsets, source, top, engine, stage), source)
    return paths


def expected_seconds(nodes: int, sources: int, workers: int) -> float:
    """Roughly how long this many sources take; a machine of 2024 needs some 3 ns for each step."""
    return 3e-9 * sources * (nodes - 1) * 3.0 ** (nodes - 2) / workers


def memory_needed(nodes: int) -> int:
    """Bytes: the table of a source, `alpha`, and where the parts of the table begin."""
    return 8 * (3 ** (nodes - 1) + (nodes << (nodes - 1)) + (1 << nodes))


def require_memory(nodes: int) -> None:
    """Refuse, with both figures, what does not fit."""
    memory.require_for_nodes(
        nodes,
        memory_needed,
        f"Exact path probabilities of {nodes} variables, a graph counted once for every order,",
        "leave columns out, or sample graphs instead.",
    )


def _task_nodes(nodes: int, nodes_in_a_task: int) -> int:
    """How many of the last nodes number the tasks of one source, whatever the number of workers."""
    return min(max(nodes - nodes_in_a_task, 0), _MOST_TASK_NODES)


def table_offsets(nodes: int) -> Integers:
    """Where the subsets of each set of the nodes other than the source begin in the table."""
    sizes = np.ones(1, dtype=np.int64)
    for _ in range(nodes - 1):
        sizes = np.concatenate([sizes, 2 * sizes])
    return np.cumsum(sizes) - sizes


def _all_alphas(forward: ForwardTable, engine: Engine, reporter: Reporter) -> Wide:
    """Row i, column S: alpha of node i at the set S, itself squeezed out."""
    nodes, max_parents, low = forward.layout[:3]
    layout = leaf_layout(nodes, max_parents, Split(low=low))
    alpha = np.empty((layout.nodes, 1 << (layout.nodes - 1)), dtype=np.int64)

    def block(leaf: int, cancel: Integers) -> None:
        if not cancel[0]:
            _alphas_of_leaf(layout, forward.weights, leaf, alpha)

    with reporter.stage("weights of all sets", 1 << layout.top) as stage:
        for _ in engine.run(block, range(1 << layout.top)):
            stage.advance(1)
    return alpha


def _in_tasks(
    forward: ForwardTable, alpha: Wide, offsets: Integers, source: int, top: int, engine: Engine, stage: Stage
) -> Floats:
    """The distribution of `U` for one source, all workers on its one table."""
    nodes = forward.layout.nodes
    sets = 1 << (nodes - 1 - top)
    table = np.empty(3 ** (nodes - 1))

    def block(task: int, cancel: Integers) -> None:
        place_nodes(alpha, forward.sums, offsets, table, source, task * sets, (task + 1) * sets, cancel)

    for wave in waves(top):
        for _ in engine.run(block, wave):
            stage.advance(1)
    last = table[-(1 << (nodes - 1)) :]
    return last / last.sum()


def _marginals(apart: Floats, source: int) -> Floats:
    """How probable it is that each node is a descendant of the source."""
    row = np.zeros(len(apart).bit_length())
    for other in range(len(row) - 1):
        descends = apart.reshape(-1, 2, 1 << other)[:, 0, :].sum()
        row[other + (other >= source)] = min(float(descends), 1.0)
    return row


@kernel
def _alphas_of_leaf(layout: Layout, weights: Wide, leaf: int, table: Wide) -> None:
    """Copy alpha of the sets of one leaf into the table of all sets."""
    low = layout.low
    alpha, _, _ = leaf_alphas(layout, weights, leaf)
    for node in range(layout.nodes):
        if node < low:
            size = 1 << (low - 1)
            start = leaf * size
        elif not (leaf >> (node - low)) & 1:
            size = 1 << low
            start = int(squeeze(np.uint64(leaf), node - low)) * size
        else:
            continue
        for place in range(size):
            table[node, start + place] = alpha[node, place]


@inlined
def _double(value: np.int64) -> float:
    """A wide float, not far above one, as a double."""
    if value < _SMALLEST:
        return 0.0
    return np.int64((value << 12) + _ONE_BITS).view(np.float64)


@kernel
def place_nodes(
    alpha: Wide, sums: Wide, offsets: Integers, table: Floats, source: int, begin: int, end: int, cancel: Integers
) -> None:
    """Fill f(S, U) for every U, for the sets S that are the source and a set numbered from `begin` to `end`.

    The sets are numbered as masks over the nodes other than the source, the `U` of one set as masks over its members.
    """
    nodes = len(alpha)
    members = np.empty(nodes, dtype=np.int64)
    widest = 1 << max(nodes - 2, 0)
    places = np.empty(widest, dtype=np.uint64)
    stays = np.empty(widest)
    joins = np.empty(widest)
    for others in range(begin, end):
        if cancel[0]:
            return
        count = 0
        for position in range(nodes - 1):
            if (others >> position) & 1:
                members[count] = position
                count += 1
        target = table[offsets[others] : offsets[others] + (1 << count)]
        target[:] = 0.0
        before_source = np.int64(unsqueeze(np.uint64(others), source))
        whole = before_source | (np.int64(1) << source)
        if sums[whole] <= ZERO_LIMIT:
            continue
        scale = (sums[whole] >> FRACTION_BITS) << FRACTION_BITS
        target[-1] = _double(multiply(alpha[source, others], sums[before_source]) - scale)
        for position in range(count):
            fewer = others ^ (np.int64(1) << members[position])
            node = members[position] + (members[position] >= source)
            before = whole ^ (np.int64(1) << node)
            if sums[before] <= ZERO_LIMIT:
                continue
            shift = ((sums[before] >> FRACTION_BITS) << FRACTION_BITS) - scale
            size = 1 << (count - 1)
            _fill_places(members[:count], position, node, source, places)
            _branch(
                table[offsets[fewer] : offsets[fewer] + size],
                alpha[node],
                places[:size],
                shift,
                _double(alpha[node, squeeze(np.uint64(before), node)] + shift),
                stays[:size],
                joins[:size],
            )
            _insert(target, stays[:size], joins[:size], position)


@inlined
def _fill_places(members: Integers, position: int, node: int, source: int, places: Masks) -> None:
    """Where alpha of a node stands for every set of the members but the one at `position`, which is the node."""
    places[0] = 0
    size = 1
    for other in range(len(members)):
        if other != position:
            bit = members[other] + (members[other] >= source)
            step = np.uint64(1) << np.uint64(bit - (bit > node))
            lower = places[:size]
            upper = places[size : 2 * size]
            for place in range(size):
                upper[place] = lower[place] + step
            size *= 2


@inlined
def _branch(
    previous: Floats, row: Wide, places: Masks, shift: np.int64, certain: float, stays: Floats, joins: Floats
) -> None:
    """Split the sums before a node is placed into those where it stays apart and those where it descends."""
    for place in range(len(previous)):
        apart = _double(row[places[place]] + shift)
        stays[place] = previous[place] * apart
        joins[place] = previous[place] * max(certain - apart, 0.0)


@inlined
def _insert(target: Floats, stays: Floats, joins: Floats, position: int) -> None:
    """Add both branches: a node that stays apart puts a bit at its position into the number of `U`."""
    run = 1 << position
    if run < 8:
        # Loops over runs this short cost more than the places they save.
        for place in range(len(stays)):
            at = np.uint64(place + ((place >> position) << position))
            target[at] += joins[place]
            target[at + np.uint64(run)] += stays[place]
        return
    for start in range(0, len(stays), run):
        without = target[2 * start : 2 * start + run]
        with_node = target[2 * start + run : 2 * start + 2 * run]
        stay = stays[start : start + run]
        join = joins[start : start + run]
        for step in range(run):
            without[step] += join[step]
            with_node[step] += stay[step]
