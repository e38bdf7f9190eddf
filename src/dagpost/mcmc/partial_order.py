"""Partial Order MCMC: a chain over bucket orders of the variables (Niinimäki, Parviainen & Koivisto 2011)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from dagpost.arrays import Floats, Integers, Masks
from dagpost.errors import NoGraphError
from dagpost.kernels import inlined, kernel
from dagpost.mcmc.buckets import BucketFamilies, BucketSums, add_bucket_edges, draw_bucket, mask_of, room_for_buckets, sum_backward, sum_bucket
from dagpost.mcmc.chains import Round, check_settings
from dagpost.mcmc.families import NO_ORDER, FamilyTables
from dagpost.mcmc.graphs import draw_graph
from dagpost.mcmc.order import random_order, _shift, OrderState
from dagpost.widefloat import from_logs
from dagpost.tables import ModelTables

_NEIGHBOURS, _SWAP, _REDRAW, _SHIFT = 0, 1, 2, 3


class PartialOrderState(NamedTuple):
    order: Integers


@dataclass(frozen=True)
class PartialOrderMCMC:
    bucket_size: int = 10
    chains: int = 4
    thinning: int = 20
    burn_in: int = 4000
    graphs_a_state: int = 1
    mix: tuple = (0.4,0.2,0.4,0.0)

    name: ClassVar[str] = "partial-order-mcmc"
    modularity: ClassVar[str] = "order"
    moves: ClassVar[tuple[str, ...]] = ("swap between neighbouring buckets", "swap any two", "redraw a window", "shift")
    state: ClassVar[type[PartialOrderState]] = PartialOrderState
    gives_edges: ClassVar[bool] = True

    def prepare(self, tables: ModelTables) -> FamilyTables:
        f = tables.families
        return BucketFamilies(f, from_logs(f.beyond_logs))

    def start(self, context: FamilyTables, generator: np.random.Generator) -> PartialOrderState:
        context = context.tables
        nodes = len(context.candidates)
        state = PartialOrderState(np.zeros(nodes, dtype=np.int64))
        if not random_order(context, state.order, np.zeros(nodes), generator):
            raise NoGraphError(NO_ORDER)
        return state

    def advance(self, context, state, generator, output, cancel) -> None:
        _advance(context, state, self.bucket_size, self.graphs_a_state, np.cumsum(np.array(self.mix)), generator, output, cancel)


class _Buckets(NamedTuple):
    order: Integers
    proposed: Integers
    drawn: Integers
    log_alpha: Floats
    size: int
    slots: Integers
    log_weights: Floats
    sums: BucketSums


@inlined
def _members(order, buckets, bucket):
    return order[bucket * buckets.size : min((bucket + 1) * buckets.size, len(order))]


@inlined
def _sum_proposed(families, buckets, first, last):
    before = mask_of(buckets.proposed[: first * buckets.size])
    total = 0.0
    for bucket in range(first, last + 1):
        members = _members(buckets.proposed, buckets, bucket)
        slot = buckets.slots[bucket] ^ 1
        buckets.log_weights[slot] = sum_bucket(families, members, before, buckets.sums, slot)
        total += buckets.log_weights[slot] - buckets.log_weights[slot ^ 1]
        if total == -math.inf:
            break
        before |= mask_of(members)
    return total


@inlined
def _accept(buckets, first, last):
    for bucket in range(first, last + 1):
        buckets.slots[bucket] ^= 1
    for position in range(first * buckets.size, min((last + 1) * buckets.size, len(buckets.order))):
        buckets.order[position] = buckets.proposed[position]


@inlined
def _swap(families, buckets, first, last, generator):
    size = buckets.size
    nodes = len(buckets.order)
    for position in range(nodes):
        buckets.proposed[position] = buckets.order[position]
    a = first * size + int(generator.random() * size)
    b = last * size + int(generator.random() * (min(nodes, last * size + size) - last * size))
    buckets.proposed[a], buckets.proposed[b] = buckets.proposed[b], buckets.proposed[a]
    change = _sum_proposed(families, buckets, first, last)
    if generator.random() < math.exp(min(change, 0.0)):
        _accept(buckets, first, last)
        return True
    return False


@inlined
def _collapse(families, buckets):
    """drawn -> buckets; recompute those whose members changed."""
    nodes = len(buckets.order)
    count = len(buckets.slots)
    first, last = count, -1
    for bucket in range(count):
        if mask_of(_members(buckets.drawn, buckets, bucket)) != mask_of(_members(buckets.order, buckets, bucket)):
            first = min(first, bucket)
            last = bucket
    if last < 0:
        return False
    for position in range(nodes):
        buckets.proposed[position] = buckets.drawn[position]
    _sum_proposed(families, buckets, first, last)
    _accept(buckets, first, last)
    return True


@inlined
def _draw(buckets, first, last, generator):
    for bucket in range(first, last + 1):
        draw_bucket(buckets.sums, buckets.slots[bucket], _members(buckets.order, buckets, bucket), generator, _members(buckets.drawn, buckets, bucket), buckets.log_alpha)


@inlined
def _redraw(families, buckets, generator):
    size, nodes = buckets.size, len(buckets.order)
    count = len(buckets.slots)
    for position in range(nodes):
        buckets.drawn[position] = buckets.order[position]
    bucket = int(generator.random() * (count - 1))
    start = bucket * size + 1 + int(generator.random() * (size - 1))
    stop = min(start + size, nodes)
    _draw(buckets, bucket, bucket + 1, generator)
    before = mask_of(buckets.drawn[:start])
    window = buckets.drawn[start:stop]
    members = window.copy()
    slot = 2 * count
    sum_bucket(families, members, before, buckets.sums, slot)
    draw_bucket(buckets.sums, slot, members, generator, window, buckets.log_alpha)
    return _collapse(families, buckets)


@kernel
def _advance(families, state, size, graphs_a_state, mix, generator, output, cancel):
    tables = families.tables
    nodes = len(state.order)
    size = min(size, nodes)
    count = (nodes + size - 1) // size
    sums = room_for_buckets(2 * count + 1, size)
    buckets = _Buckets(state.order, state.order.copy(), state.order.copy(), np.zeros(nodes), size, 2 * np.arange(count) + 1, np.zeros(2 * count), sums)
    log_place, log_own, log_other = np.zeros(nodes), np.zeros(nodes), np.zeros(nodes)
    allowed: Masks = np.zeros(nodes, dtype=np.uint64)
    to_meet: Masks = np.zeros(nodes, dtype=np.uint64)
    edges = np.zeros((nodes, nodes))
    _sum_proposed(families, buckets, 0, count - 1)
    _accept(buckets, 0, count - 1)
    log_state = 0.0
    kept_all = len(output.log_joint)
    for kept in range(kept_all):
        if cancel[0] != 0:
            return
        if kept % graphs_a_state == 0:
            for _ in range(output.thinning * graphs_a_state if count > 1 else 0):
                kind = generator.random()
                if kind < mix[0]:
                    move = _NEIGHBOURS
                    first = int(generator.random() * (count - 1))
                    moved = _swap(families, buckets, first, first + 1, generator)
                elif kind < mix[1]:
                    move = _SWAP
                    first = int(generator.random() * count)
                    last = int(generator.random() * (count - 1))
                    last += last >= first
                    moved = _swap(families, buckets, min(first, last), max(first, last), generator)
                elif kind < mix[2]:
                    move = _REDRAW
                    moved = _redraw(families, buckets, generator)
                else:
                    move = _SHIFT
                    _draw(buckets, 0, count - 1, generator)
                    moved = _shift(tables, OrderState(buckets.drawn, buckets.log_alpha), int(generator.random() * nodes), generator, log_place, log_own, log_other)
                    if moved:
                        moved = _collapse(families, buckets)
                output.proposed[move] += 1
                output.accepted[move] += moved
            before = np.uint64(0)
            log_state = tables.heaviest.sum()
            for bucket in range(count):
                slot = buckets.slots[bucket]
                members = _members(buckets.order, buckets, bucket)
                sum_backward(sums, slot, len(members))
                add_bucket_edges(families, members, before, sums, slot, float(min(graphs_a_state, kept_all - kept)), output.edges)
                before |= mask_of(members)
                log_state += buckets.log_weights[slot]
        _draw(buckets, 0, count - 1, generator)
        before = np.uint64(0)
        for position in range(nodes):
            allowed[buckets.drawn[position]] = before
            before |= np.uint64(1) << np.uint64(buckets.drawn[position])
        output.log_joint[kept] = draw_graph(tables, allowed, to_meet, buckets.log_alpha, generator, output.parents[kept])
        output.log_state[kept] = log_state
