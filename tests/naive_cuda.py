"""The steps of the CUDA kernels in plain Python: the same arrays, numbering and order of work, with logs for numbers.

Each method is the twin of one kernel in engines/cuda/kernels/order.cu, `visited_parent_sets` of the enumeration in
sampling.cu. A walk over these steps is checked against enumeration; on a machine with a device the kernels are checked
against the thread engine (tests/unit/test_cuda_device.py).
"""

from __future__ import annotations

from itertools import combinations
from math import comb

import numpy as np

from dagpost.engines.cuda.plan import DevicePlan

NOTHING = -np.inf


def squeeze(mask: int, bit: int) -> int:
    """A mask without the place `bit`."""
    return (mask & ((1 << bit) - 1)) | ((mask >> (bit + 1)) << bit)


def start_of(universe: int, size: int) -> int:
    """Where the sets of a size begin among those over `universe` elements."""
    return sum(comb(universe, smaller) for smaller in range(size))


def bits_of(mask: int) -> list[int]:
    """The elements of a mask, smallest first."""
    return [bit for bit in range(mask.bit_length()) if mask >> bit & 1]


def visited_parent_sets(members: int, max_parents: int, place: int, count: int) -> list[int]:
    """The masks that the enumeration of sampling.cu visits from a place on."""
    size = 0
    while place >= comb(members, size):
        place -= comb(members, size)
        size += 1
    left, chosen, member = comb(members, size) - place, 0, members
    for position in range(size, 0, -1):
        member -= 1
        while comb(member, position) > place:
            member -= 1
        place -= comb(member, position)
        chosen |= 1 << member
    visited = []
    for _ in range(count):
        visited.append(chosen)
        left -= 1
        if left == 0:
            size += 1
            chosen = (1 << size) - 1
            left = comb(members, size) if size <= max_parents else 0
        elif chosen:
            lowest = chosen & -chosen
            ripple = chosen + lowest
            chosen = ripple | ((chosen ^ ripple) >> (lowest.bit_length() + 1))
    return visited


class NaiveSteps:
    """All arrays of one run, and the kernels one after the other."""

    def __init__(self, plan: DevicePlan, log_weights: np.ndarray) -> None:
        self.plan = plan
        self.weights = log_weights.copy()
        self.sums = np.full(1 << plan.nodes, np.nan)
        self.levels = [self._empty_level(level) for level in range(plan.top)]
        self.rows: dict[tuple[int, int, int], np.ndarray] = {}
        self.gathered = np.full(log_weights.shape, NOTHING)
        self.gathered_levels = [np.full_like(level, NOTHING) for level in self.levels]
        self.given: dict[tuple[int, int, int], np.ndarray] = {}
        self.kept = np.empty(0)

    def _empty_level(self, level: int) -> np.ndarray:
        plan = self.plan
        return np.full((plan.nodes, start_of(plan.below + level, plan.max_parents + 1)), np.nan)

    def _level_above(self, leaf: int, bit: int, node: int) -> int:
        decided = leaf & ~((2 << bit) - 1) if bit >= 0 else leaf
        if node >= self.plan.below:
            decided &= ~(1 << (node - self.plan.below))
        return (decided & -decided).bit_length() - 1 if decided else self.plan.top

    def _universe(self, level: int, node: int) -> int:
        below = self.plan.below + level
        return below - 1 if node < below else below

    def _row(self, weights: np.ndarray, levels: list[np.ndarray], level: int, node: int) -> np.ndarray:
        return weights[node] if level == self.plan.top else levels[level][node]

    def _takes_part(self, leaf: int, node: int, backward: bool) -> bool:
        return node < self.plan.below or bool(leaf >> (node - self.plan.below) & 1) != backward

    def _nodes_below(self, leaf: int, bit: int, backward: bool) -> list[int]:
        own = self.plan.below + bit
        return [
            node
            for node in range(self.plan.nodes)
            if node < own or (node > own and self._takes_part(leaf, node, backward))
        ]

    def let_in(self, leaf: int, bit: int, backward: bool) -> None:
        limit = self.plan.max_parents
        for node in self._nodes_below(leaf, bit, backward):
            level = self._level_above(leaf, bit, node)
            universe, element = self._universe(level, node), self._universe(bit, node)
            source = self._row(self.weights, self.levels, level, node)
            for size in range(limit + 1):
                for rank in range(comb(element, size)):
                    value = source[start_of(universe, size) + rank]
                    if size < limit:
                        with_it = start_of(universe, size + 1) + comb(element, size + 1) + rank
                        value = np.logaddexp(value, source[with_it])
                    self.levels[bit][node, start_of(element, size) + rank] = value

    def _sizes(self, node: int) -> tuple[int, int]:
        plan = self.plan
        low = plan.low - 1 if node < plan.low else plan.low
        mid = plan.mid - 1 if plan.low <= node < plan.below else plan.mid
        return low, mid

    @staticmethod
    def _shift(mids: int, first: int, size: int) -> int:
        return sum(comb(first + bit, size + 1 + position) for position, bit in enumerate(bits_of(mids)))

    def expand(self, leaf: int, slot: int, backward: bool) -> None:
        limit = self.plan.max_parents
        for node in range(self.plan.nodes):
            if not self._takes_part(leaf, node, backward):
                continue
            low, mid = self._sizes(node)
            level = self._level_above(leaf, -1, node)
            universe = self._universe(level, node)
            source = self._row(self.weights, self.levels, level, node)
            table = np.full((1 << mid, start_of(low, limit + 1)), NOTHING)
            for size in range(limit + 1):
                for rank in range(comb(low, size)):
                    column = table[:, start_of(low, size) + rank]
                    room = limit - size
                    for mids in range(1 << mid):
                        if mids.bit_count() <= room:
                            begin = start_of(universe, size + mids.bit_count()) + self._shift(mids, low, size)
                            column[mids] = source[begin + rank]
                    for bit in range(mid):
                        for mids in range(1 << mid):
                            undecided = (mids >> bit).bit_count()
                            if mids >> bit & 1 and undecided <= room + 1:
                                column[mids] = np.logaddexp(column[mids], column[mids ^ 1 << bit])
            for mids in range(1 << mid):
                self.rows[slot, node, mids] = table[mids]

    def _alpha(self, slot: int, mids: int, node: int) -> np.ndarray:
        plan = self.plan
        bits, _ = self._sizes(node)
        if plan.low <= node < plan.below:
            mids = squeeze(mids, node - plan.low)
        table = np.full(1 << bits, NOTHING)
        row = self.rows[slot, node, mids]
        table[plan.places(bits)[: len(row)]] = row
        for bit in range(bits):
            for place in range(1 << bits):
                if place >> bit & 1:
                    table[place] = np.logaddexp(table[place], table[place ^ 1 << bit])
        return table

    def _block(self, step: int, inner: int, backward: bool) -> None:
        plan = self.plan
        slot, mids = inner >> plan.mid, inner & ((1 << plan.mid) - 1)
        high = step << plan.inner_bits | inner
        everything = (1 << (plan.nodes - plan.low)) - 1
        pulled = everything & ~high if backward else high
        block = np.full(1 << plan.low, NOTHING)
        for bit in bits_of(pulled):
            other = high ^ 1 << bit
            values = self.sums[other << plan.low : (other + 1) << plan.low]
            block = np.logaddexp(block, self._alpha(slot, mids, plan.low + bit) + values)
        if backward and high == everything:
            block[-1] = 0.0
        if not backward and high == 0:
            block[0] = 0.0
        alphas = [self._alpha(slot, mids, node) for node in range(plan.low)]
        places = sorted(range(1 << plan.low), key=lambda place: place.bit_count(), reverse=backward)
        for place in places:
            for node in range(plan.low):
                if bool(place >> node & 1) != backward:
                    term = alphas[node][squeeze(place, node)] + block[place ^ 1 << node]
                    block[place] = np.logaddexp(block[place], term)
        self.sums[high << plan.low : (high + 1) << plan.low] = block

    def forward_blocks(self, step: int, size: int) -> None:
        for inner in self.plan.inners_of_size(size):
            self._block(step, int(inner), False)

    def backward_blocks(self, step: int, size: int) -> None:
        for inner in self.plan.inners_of_size(size):
            self._block(step, int(inner), True)

    def keep_forward(self, step: int) -> None:
        count = 1 << (self.plan.low + self.plan.inner_bits)
        self.kept = self.sums[step * count : (step + 1) * count].copy()

    def gather(self, step: int) -> None:
        plan = self.plan
        self.given = {}
        for inner in range(1 << plan.inner_bits):
            high = step << plan.inner_bits | inner
            slot, mids = inner >> plan.mid, inner & ((1 << plan.mid) - 1)
            for node in range(plan.nodes):
                bits, _ = self._sizes(node)
                if node >= plan.low and high >> (node - plan.low) & 1:
                    continue
                table = np.full(1 << bits, NOTHING)
                for place in range(1 << plan.low):
                    whole = high << plan.low | place
                    if not whole >> node & 1:
                        own = self.kept[inner << plan.low | place]
                        target = squeeze(place, node) if node < plan.low else place
                        table[target] = own + self.sums[whole | 1 << node]
                for bit in range(bits):
                    for place in range(1 << bits):
                        if place >> bit & 1:
                            table[place ^ 1 << bit] = np.logaddexp(table[place ^ 1 << bit], table[place])
                own_mids = squeeze(mids, node - plan.low) if plan.low <= node < plan.below else mids
                self.given[slot, node, own_mids] = table[plan.places(bits)[: start_of(bits, plan.max_parents + 1)]]

    def collect(self, leaf: int, slot: int) -> None:
        limit = self.plan.max_parents
        for node in range(self.plan.nodes):
            if not self._takes_part(leaf, node, True):
                continue
            low, mid = self._sizes(node)
            level = self._level_above(leaf, -1, node)
            universe = self._universe(level, node)
            target = self._row(self.gathered, self.gathered_levels, level, node)
            table = np.array([self.given[slot, node, mids] for mids in range(1 << mid)])
            for size in range(limit + 1):
                for rank in range(comb(low, size)):
                    column = table[:, start_of(low, size) + rank]
                    room = limit - size
                    for bit in range(mid - 1, -1, -1):
                        for mids in range(1 << mid):
                            if mids >> bit & 1 and (mids >> bit).bit_count() <= room + 1:
                                column[mids ^ 1 << bit] = np.logaddexp(column[mids ^ 1 << bit], column[mids])
                    for mids in range(1 << mid):
                        if mids.bit_count() <= room:
                            begin = start_of(universe, size + mids.bit_count()) + self._shift(mids, low, size)
                            target[begin + rank] = np.logaddexp(target[begin + rank], column[mids])

    def give_back(self, leaf: int, bit: int) -> None:
        limit = self.plan.max_parents
        for node in self._nodes_below(leaf, bit, True):
            level = self._level_above(leaf, bit, node)
            universe, element = self._universe(level, node), self._universe(bit, node)
            target = self._row(self.gathered, self.gathered_levels, level, node)
            source = self.gathered_levels[bit][node]
            for size in range(limit + 1):
                for rank in range(comb(element, size)):
                    value = source[start_of(element, size) + rank]
                    places = [start_of(universe, size) + rank]
                    if size < limit:
                        places.append(start_of(universe, size + 1) + comb(element, size + 1) + rank)
                    for place in places:
                        target[place] = np.logaddexp(target[place], value)
            source[:] = NOTHING


def sums_of_orders(log_weights: np.ndarray, max_parents: int) -> tuple[np.ndarray, np.ndarray]:
    """log L(S) of every set and log R(S), by their definitions; parent sets numbered as in families.py."""
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
