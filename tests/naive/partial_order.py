"""Slow, obvious twins of Partial Order MCMC: every order of a bucket, and every step from each bucket order to each.

A bucket order is a tuple of sets of nodes; orders and parent sets are as in naive_orders.py and naive_families.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, permutations, product

import numpy as np
from tests.naive import families as naive_families
from tests.naive import orders as naive_orders

BucketOrder = tuple[frozenset[int], ...]
Sets = tuple[naive_families.Sets, ...]


# One bucket


@dataclass(frozen=True)
class Bucket:
    """Some nodes that come after others, and every order of them with its log weight."""

    sets: Sets
    members: tuple[int, ...]
    before: int

    @cached_property
    def orders(self) -> dict[naive_orders.Order, float]:
        """All orders, possible or not."""
        return {order: naive_orders.log_weight(self.sets, order, self.before) for order in permutations(self.members)}

    @cached_property
    def log_weight(self) -> float:
        """The weight of all orders together."""
        return naive_families.log_sum(self.orders.values())

    def log_front(self, front: tuple[int, ...]) -> float:
        """The weight of all orders of some members that come first."""
        return Bucket(self.sets, front, self.before).log_weight


# Bucket orders


def buckets_of(order: naive_orders.Order, size: int) -> BucketOrder:
    """An order cut into buckets."""
    return tuple(frozenset(order[start : start + size]) for start in range(0, len(order), size))


@dataclass(frozen=True)
class Space:
    """All bucket orders that some graph fits, and all orders, with their log weights."""

    size: int
    orders: list[naive_orders.Order]
    order_logs: list[float]
    buckets: list[BucketOrder]
    logs: np.ndarray

    def of_orders(self, transition: naive_orders.Matrix) -> naive_orders.Matrix:
        """Draw an order from a bucket order, take a step from there, and take the buckets of where it leads."""
        place = {bucket_order: number for number, bucket_order in enumerate(self.buckets)}
        belongs = np.zeros((len(self.orders), len(self.buckets)))
        for number, order in enumerate(self.orders):
            belongs[number, place[buckets_of(order, self.size)]] = 1.0
        drawn = belongs.T * np.exp(np.array(self.order_logs) - self.logs[:, None])
        return drawn @ transition @ belongs


def space(sets: Sets, size: int) -> Space:
    """Cut every order that is possible."""
    weights = naive_orders.possible_orders(sets)
    orders, logs = list(weights), list(weights.values())
    buckets = sorted({buckets_of(order, size) for order in orders}, key=lambda parts: [sorted(part) for part in parts])
    totals = [
        naive_families.log_sum(log for order, log in weights.items() if buckets_of(order, size) == bucket_order)
        for bucket_order in buckets
    ]
    return Space(size, orders, logs, buckets, np.array(totals))


def swap(where: Space, pairs: list[tuple[int, int]]) -> naive_orders.Matrix:
    """One of some pairs of buckets, a node of each; they change places."""

    def proposals(bucket_order: BucketOrder) -> list[tuple[BucketOrder, float]]:
        result = []
        for first, last in pairs:
            choices = list(product(bucket_order[first], bucket_order[last]))
            for one, other in choices:
                moved = list(bucket_order)
                moved[first] = bucket_order[first] - {one} | {other}
                moved[last] = bucket_order[last] - {other} | {one}
                result.append((tuple(moved), 1.0 / len(pairs) / len(choices)))
        return result

    return naive_orders.accept_or_stay(where.buckets, where.logs.tolist(), proposals)


def redraw_window(where: Space) -> naive_orders.Matrix:
    """In an order, as many nodes as a bucket has, from inside one bucket on, stand in any order."""
    starts = [
        bucket * where.size + inside for bucket in range(len(where.buckets[0]) - 1) for inside in range(1, where.size)
    ]

    def choices(order: naive_orders.Order) -> list[tuple[list[naive_orders.Order], float]]:
        result = []
        for start in starts:
            stop = start + where.size
            windows = [(*order[:start], *window, *order[stop:]) for window in permutations(order[start:stop])]
            result.append((windows, 1.0 / len(starts)))
        return result

    return where.of_orders(naive_orders.in_proportion(where.orders, where.order_logs, choices))


def transition(where: Space, chances: tuple[float, float, float, float]) -> naive_orders.Matrix:
    """The whole step: swaps between neighbours, swaps of any two, windows and shifts, with these chances."""
    count = len(where.buckets[0])
    shift = where.of_orders(naive_orders.shift_one(where.orders, where.order_logs))
    neighbours = swap(where, [(first, first + 1) for first in range(count - 1)])
    anyone = swap(where, list(combinations(range(count), 2)))
    window = redraw_window(where) if where.size > 1 else shift
    return sum(
        (chance * move for chance, move in zip(chances, (neighbours, anyone, window, shift), strict=True)),
        np.zeros_like(shift),
    )
