"""Partial Order MCMC: a chain over bucket orders of the variables (Niinimäki, Parviainen & Koivisto 2011).

A bucket order has the nodes in buckets of the same size, one after another (the last may be smaller), and stands for
all orders that keep to it. Its weight is the sum over those, a product over its buckets (mcmc/buckets.py). The chain
visits bucket orders in proportion to their weight; from each kept one come an order, the exact probability of every
edge given that order, and a graph. A graph is reached by every order that it fits: this is the order-modular posterior.
Where all nodes fit into one bucket there is nothing to move, and the graphs are independent draws.

Moves: two nodes of neighbouring buckets change places, or two of any buckets (as in the paper). Beside these, two moves
that draw an order from the bucket order, move on from there, and take the buckets of the order that they come to. Since
the order has the right distribution, so have they, and they are never rejected: a window of as many nodes as a bucket
has, across two buckets, is drawn anew, all its orders at once; one node is taken out and put back anywhere (as in
mcmc/order.py). With windows chains over 40 nodes were worth two to twenty times as many independent graphs a second.

Only buckets whose nodes or predecessors change are summed again. A step costs the sums of two to three buckets, some
100 microseconds with buckets of 10; a kept graph as much as in mcmc/order.py. Memory: the sums of two states,
`bucket_size 2^(bucket_size - 1)` wide floats a bucket.

Niinimäki, Parviainen & Koivisto, "Partial order MCMC for structure discovery in Bayesian networks", UAI (2011).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from dagpost._tools import memory
from dagpost._tools.arrays import Floats, Integers, Masks
from dagpost._tools.kernels import copy_into, inlined, kernel
from dagpost.families.family_sums import FamilyTables
from dagpost.families.graphs import add_edge_probabilities, draw_graph
from dagpost.mcmc.buckets import (
    BucketFamilies,
    BucketSums,
    bucket_bytes,
    bucket_families,
    draw_bucket,
    mask_of,
    room_for_buckets,
    sum_bucket,
)
from dagpost.mcmc.order import OrderState, shift
from dagpost.mcmc.order import start as start_order
from dagpost.mcmc.records import Round

_SWAP_NEIGHBOURS, _SWAP, _WINDOW, _SHIFT = 0, 1, 2, 3
#: With which probability a step is of which kind; a bucket of one node has no window, and shifts instead.
CHANCES = (0.1, 0.1, 0.5, 0.3)


class PartialOrderState(NamedTuple):
    """The nodes, bucket after bucket; inside a bucket their order means nothing."""

    order: Integers


#: What chains.py calls it.
State = PartialOrderState


def prepare(families: FamilyTables, bucket_size: int, at_once: int) -> BucketFamilies:
    """The weights of the families, laid out for buckets, if the sums of `at_once` chains fit into memory."""
    nodes = len(families.candidates)
    size = min(bucket_size, nodes)
    slots = 2 * math.ceil(nodes / size) + 1
    memory.require(
        at_once * bucket_bytes(slots, size),
        f"Partial Order MCMC with buckets of {size} nodes, {at_once} chains at a time,",
        "Use smaller buckets.",
    )
    return bucket_families(families)


def start(context: BucketFamilies, generator: np.random.Generator, wanted: Integers | None = None) -> PartialOrderState:
    """The buckets of an order that some graph fits, a random one if none is wanted."""
    return PartialOrderState(start_order(context.tables, generator, wanted).order)


class _Buckets(NamedTuple):
    """The buckets under way.

    The sums of bucket `k` are in slot `slots[k]` of `sums`, its log weight in `log_weights[slots[k]]`. For those that
    are proposed there is the slot beside it, one up or down; the last slot is for windows. `drawn` is an order that
    keeps to the buckets, and `log_alpha` what its nodes weigh given their predecessors.
    """

    size: int
    order: Integers
    proposed: Integers
    drawn: Integers
    log_alpha: Floats
    slots: Integers
    log_weights: Floats
    sums: BucketSums


@inlined
def _empty_buckets(order: Integers, size: int) -> _Buckets:
    """Room for the buckets of this order, which are proposed."""
    nodes = len(order)
    count = (nodes + size - 1) // size
    sums = room_for_buckets(2 * count + 1, size)
    slots = 2 * np.arange(count)
    return _Buckets(size, order, order.copy(), order.copy(), np.zeros(nodes), slots, np.zeros(2 * count), sums)


@inlined
def _members(buckets: _Buckets, order: Integers, bucket: int) -> Integers:
    return order[bucket * buckets.size : min((bucket + 1) * buckets.size, len(order))]


@inlined
def _sum_proposed(families: BucketFamilies, buckets: _Buckets, first: int, last: int) -> float:
    """Sum the proposed buckets from `first` to `last`; by how much the log weight changes."""
    before = mask_of(buckets.proposed[: first * buckets.size])
    change = 0.0
    for bucket in range(first, last + 1):
        members = _members(buckets, buckets.proposed, bucket)
        slot = buckets.slots[bucket]
        buckets.log_weights[slot ^ 1] = sum_bucket(families, members, before, buckets.sums, slot ^ 1)
        change += buckets.log_weights[slot ^ 1] - buckets.log_weights[slot]
        if change == -math.inf:
            break
        before |= mask_of(members)
    return change


@inlined
def _accept(buckets: _Buckets, first: int, last: int) -> None:
    """Let the proposed buckets from `first` to `last` take the place of the present ones."""
    copy_into(buckets.order, buckets.proposed)
    for bucket in range(first, last + 1):
        buckets.slots[bucket] ^= 1


@inlined
def _propose_swap(buckets: _Buckets, first: int, last: int, generator: np.random.Generator) -> None:
    """Let a node of one bucket and a node of a later one change places."""
    order, proposed = buckets.order, buckets.proposed
    copy_into(proposed, order)
    one = first * buckets.size + int(generator.random() * buckets.size)
    other = last * buckets.size + int(generator.random() * len(_members(buckets, order, last)))
    proposed[one], proposed[other] = order[other], order[one]


@inlined
def _draw(buckets: _Buckets, first: int, last: int, generator: np.random.Generator) -> None:
    """Draw an order of each bucket from `first` to `last`."""
    for bucket in range(first, last + 1):
        members, drawn = _members(buckets, buckets.order, bucket), _members(buckets, buckets.drawn, bucket)
        draw_bucket(buckets.sums, buckets.slots[bucket], members, generator, drawn, buckets.log_alpha)


@inlined
def _redraw_window(families: BucketFamilies, buckets: _Buckets, first: int, generator: np.random.Generator) -> None:
    """In the drawn order, draw anew as many nodes as a bucket has, from somewhere inside the bucket `first` on."""
    start = first * buckets.size + 1 + int(generator.random() * (buckets.size - 1))
    window = buckets.drawn[start : min(start + buckets.size, len(buckets.order))]
    members = window.copy()
    before = mask_of(buckets.order[: first * buckets.size]) | mask_of(buckets.drawn[first * buckets.size : start])
    slot = 2 * len(buckets.slots)
    sum_bucket(families, members, before, buckets.sums, slot)
    draw_bucket(buckets.sums, slot, members, generator, window, buckets.log_alpha)


@inlined
def _propose_drawn(buckets: _Buckets, first: int, last: int) -> tuple[int, int]:
    """Propose the buckets of the drawn order from `first` to `last`; from where to where they are new, if they are."""
    while first <= last and not _is_new(buckets, first):
        first += 1
    while first <= last and not _is_new(buckets, last):
        last -= 1
    copy_into(buckets.proposed, buckets.order)
    for bucket in range(first, last + 1):
        copy_into(_members(buckets, buckets.proposed, bucket), _members(buckets, buckets.drawn, bucket))
    return first, last


@inlined
def _is_new(buckets: _Buckets, bucket: int) -> bool:
    return mask_of(_members(buckets, buckets.order, bucket)) != mask_of(_members(buckets, buckets.drawn, bucket))


@inlined
def _step(
    families: BucketFamilies,
    buckets: _Buckets,
    chances: Floats,
    generator: np.random.Generator,
    room: Floats,
    output: Round,
) -> None:
    nodes, count = len(buckets.order), len(buckets.slots)
    first = int(generator.random() * (count - 1))
    last = first + 1
    kind = generator.random()
    if kind < chances[0] + chances[1]:
        move = _SWAP_NEIGHBOURS
        if kind >= chances[0]:
            move = _SWAP
            other = int(generator.random() * count)
            first += first >= other
            first, last = min(first, other), max(first, other)
        _propose_swap(buckets, first, last, generator)
    else:
        move = _WINDOW
        if kind >= chances[0] + chances[1] + chances[2] or buckets.size == 1:
            move = _SHIFT
            first, last = 0, count - 1
        _draw(buckets, first, last, generator)
        if move == _WINDOW:
            _redraw_window(families, buckets, first, generator)
        else:
            drawn, position = OrderState(buckets.drawn, buckets.log_alpha), int(generator.random() * nodes)
            shift(families.tables, drawn, position, generator, room[0], room[1], room[2])
        first, last = _propose_drawn(buckets, first, last)
    change = _sum_proposed(families, buckets, first, last)
    # What was drawn has the right distribution already.
    moved = first <= last if move >= _WINDOW else generator.random() < math.exp(min(change, 0.0))
    if moved:
        _accept(buckets, first, last)
    output.proposed[move] += 1
    output.accepted[move] += moved


@inlined
def _log_weight(families: BucketFamilies, buckets: _Buckets) -> float:
    """The log weight of the bucket order."""
    log_weight = families.tables.heaviest.sum()
    for slot in buckets.slots:
        log_weight += buckets.log_weights[slot]
    return log_weight


@kernel
def is_possible(families: BucketFamilies, state: PartialOrderState, bucket_size: int) -> bool:
    """Whether some order that keeps to the buckets has a weight."""
    buckets = _empty_buckets(state.order, min(bucket_size, len(state.order)))
    return _sum_proposed(families, buckets, 0, len(buckets.slots) - 1) > -math.inf


@kernel
def advance(
    families: BucketFamilies,
    state: PartialOrderState,
    bucket_size: int,
    chances: Floats,
    generator: np.random.Generator,
    output: Round,
    cancel: Integers,
) -> None:
    """One round; `chances` are those of the kinds of steps."""
    nodes = len(state.order)
    buckets = _empty_buckets(state.order, min(bucket_size, nodes))
    count = len(buckets.slots)
    _sum_proposed(families, buckets, 0, count - 1)
    _accept(buckets, 0, count - 1)
    room = np.zeros((3, nodes))
    allowed: Masks = np.zeros(nodes, dtype=np.uint64)
    to_meet: Masks = np.zeros(nodes, dtype=np.uint64)
    for kept in range(len(output.log_joint)):
        # With one bucket there is only one state.
        for _ in range(output.thinning if count > 1 else 0):
            if cancel[0] != 0:
                return
            _step(families, buckets, chances, generator, room, output)
        if cancel[0] != 0:
            return
        _draw(buckets, 0, count - 1, generator)
        before = np.uint64(0)
        for node in buckets.drawn:
            allowed[node] = before
            before |= np.uint64(1) << np.uint64(node)
        weights = buckets.log_alpha
        output.log_joint[kept] = draw_graph(families.tables, allowed, to_meet, weights, generator, output.parents[kept])
        output.log_state[kept] = _log_weight(families, buckets)
        add_edge_probabilities(families.tables, allowed, to_meet, weights, output.edges)
