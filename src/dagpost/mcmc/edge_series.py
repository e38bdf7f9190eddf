"""How do chains agree on each edge, and how many independent graphs are they worth for it? From bits, for many edges.

Whether an edge is there is a series of zeros and ones. Its ranks take two values, so that ranking only shifts and
scales it: the rank-normalised split R-hat of Vehtari, Gelman, Simpson, Carpenter & Bürkner (2021) is that of the series
itself, and follows from how often the edge is there in each half of each chain. For the effective sample size a series
is packed into words, and a product of the series with itself at some lag is an `and` and a count of bits.

Time: one pass over the graphs for R-hat of all pairs of columns; for an effective size a pass over the graphs, and then
a microsecond or less for each lag until the correlation is gone. Memory: some numbers for each half of a chain and pair
of columns; a bit for each graph and edge whose effective size is asked for.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from dagpost._tools.arrays import Flags, Floats, Integers, Masks
from dagpost._tools.bits import ones_in
from dagpost._tools.kernels import inline_no_refcount, kernel
from dagpost.families.edge_counts import blocks_of_words, edge_counts
from dagpost.families.masks import UnsignedMasks

#: Chains shorter than this have no figures.
_FEWEST_DRAWS = 4


@dataclass(frozen=True, eq=False)
class EdgeCounts:
    """How often each edge (parent, child) is there, in the first and the last half of each chain and in all of it."""

    halves: Integers
    whole: Integers
    draws: int

    @property
    def shares(self) -> Floats:
        """In which share of all graphs each edge is."""
        shares: Floats = self.whole.sum(axis=0) / (len(self.whole) * self.draws)
        return shares

    @property
    def varies(self) -> Flags:
        """Whether an edge comes or goes within any chain."""
        moving = (self.whole > 0) & (self.whole < self.draws)
        return np.asarray(moving.any(axis=0))

    def r_hats(self) -> Floats:
        """R-hat of each edge; infinite where chains stand still apart, nan where nothing varies or chains are short."""
        apart = self.whole.max(axis=0) > self.whole.min(axis=0)
        stuck = np.where(apart, math.inf, math.nan)
        half = self.draws // 2
        if self.draws < _FEWEST_DRAWS or len(self.whole) < 2:
            return np.where(self.varies, math.nan, stuck)
        means = self.halves / half
        # Half a chain in which nothing changes has no variance to divide by.
        with np.errstate(divide="ignore", invalid="ignore"):
            within = (means * (1.0 - means)).mean(axis=0) * half / (half - 1)
            ratio = np.sqrt((half * means.var(axis=0, ddof=1) / within + half - 1) / half)
        return np.where(self.varies, ratio, stuck)


def count_edges(chains: UnsignedMasks) -> EdgeCounts:
    """Count the edges of graphs (chains, draws, nodes), or with words of nodes behind.

    >>> counted = count_edges(np.array([[[0, 1], [0, 1], [0, 0], [0, 1]]] * 2, dtype=np.uint8))
    >>> counted.whole[:, 0, 1].tolist(), float(counted.shares[0, 1]), round(float(counted.r_hats()[0, 1]), 3)
    ([3, 3], 0.75, 0.913)
    """
    draws = chains.shape[1]
    first, middle, last = (
        np.stack([edge_counts(own[stretch]) for own in chains])
        for stretch in (slice(draws // 2), slice(draws // 2, draws - draws // 2), slice(draws - draws // 2, None))
    )
    return EdgeCounts(np.concatenate([first, last]), first + middle + last, draws)


def effective_sizes_of_edges(chains: UnsignedMasks, edges: Integers) -> Floats:
    """The effective sample size of each of some edges (parent, child), a row each, that vary in some chain.

    >>> chains = np.array([[[0, 1], [0, 0], [0, 1], [0, 0], [0, 0], [0, 1]]] * 2, dtype=np.uint8)
    >>> effective_sizes_of_edges(chains, np.array([[0, 1]])).round(2).tolist()
    [12.95]
    """
    draws, half = chains.shape[1], chains.shape[1] // 2
    sizes = np.full(len(edges), math.nan)
    if draws < _FEWEST_DRAWS:
        return sizes
    bits = np.zeros((len(edges), 2 * len(chains), -(-half // 64)), dtype=np.uint64)
    pairs = np.ascontiguousarray(edges, dtype=np.int64).reshape(-1, 2)
    for place, graphs in enumerate(_halves(chains, half)):
        start = 0
        for block in blocks_of_words(graphs):
            _pack(block, pairs, start, bits, place)
            start += len(block)
    _effective(bits, half, sizes)
    return sizes


def _halves(chains: UnsignedMasks, half: int) -> Iterator[UnsignedMasks]:
    for own in chains:
        yield own[:half]
    for own in chains:
        yield own[len(own) - half :]


@kernel
def _pack(parents: Masks, edges: Integers, start: int, bits: Masks, place: int) -> None:
    """Write whether each edge is there in some graphs, the first of which is number `start` of its half."""
    first = 0
    while first < len(parents):
        # Graphs that share a word of the series.
        word = (start + first) >> 6
        end = min(len(parents), ((word + 1) << 6) - start)
        for edge in range(len(edges)):
            parent, child = edges[edge, 0], edges[edge, 1]
            column, shift = parent >> 6, np.uint64(parent & 63)
            found = np.uint64(0)
            for graph in range(first, end):
                there = parents[graph, child, column] >> shift & np.uint64(1)
                found |= there << np.uint64((start + graph) & 63)
            bits[edge, place, word] |= found
        first = end


@kernel
def _effective(bits: Masks, length: int, sizes: Floats) -> None:
    """The effective size of each series: Geyer's initial monotone sequence, as ArviZ takes it."""
    edges, halves, words = bits.shape
    ones = np.empty(halves)
    heads, tails = np.empty(halves), np.empty(halves)
    rho = np.empty(length)
    for edge in range(edges):
        total = 0.0
        for half in range(halves):
            count = 0
            for word in range(words):
                count += int(ones_in(bits[edge, half, word]))
            ones[half] = heads[half] = tails[half] = count
            total += count
        size = float(halves * length)
        if total in (0.0, size):
            sizes[edge] = size
            continue
        mean_var, between = 0.0, 0.0
        for half in range(halves):
            mean = ones[half] / length
            mean_var += mean * (1.0 - mean)
            between += (mean - total / size) ** 2
        mean_var = mean_var / halves * length / (length - 1.0)
        spread = mean_var * (length - 1.0) / length + (between / (halves - 1) if halves > 1 else 0.0)
        for lag in range(length):
            rho[lag] = 0.0
        even, odd = 1.0, 1.0 - (mean_var - _product(bits, edge, length, 1, ones, heads, tails)) / spread
        rho[0], rho[1] = even, odd
        lag = 1
        while lag < length - 3 and even + odd > 0.0:
            even = 1.0 - (mean_var - _product(bits, edge, length, lag + 1, ones, heads, tails)) / spread
            odd = 1.0 - (mean_var - _product(bits, edge, length, lag + 2, ones, heads, tails)) / spread
            if even + odd >= 0.0:
                rho[lag + 1], rho[lag + 2] = even, odd
            lag += 2
        longest = lag - 2
        if even > 0.0:
            rho[longest + 1] = even
        lag = 1
        while lag <= longest - 2:
            if rho[lag + 1] + rho[lag + 2] > rho[lag - 1] + rho[lag]:
                rho[lag + 1] = (rho[lag - 1] + rho[lag]) / 2.0
                rho[lag + 2] = rho[lag + 1]
            lag += 2
        time = -1.0
        for lag in range(longest + 1):
            time += 2.0 * rho[lag]
        time += rho[longest + 1]
        sizes[edge] = size / max(time, 1.0 / math.log10(size))


@inline_no_refcount
def _product(bits: Masks, edge: int, length: int, lag: int, ones: Floats, heads: Floats, tails: Floats) -> float:
    """The mean autocovariance of the halves at a lag; those before it were asked for one after the other.

    `heads` and `tails` are the sums without the last, and without the first, entries that have no partner.
    """
    halves, words = bits.shape[1], bits.shape[2]
    skipped, shift = lag >> 6, np.uint64(lag & 63)
    total = 0.0
    for half in range(halves):
        both = 0
        for word in range(words - skipped):
            moved = bits[edge, half, word + skipped] >> shift
            if shift != np.uint64(0) and word + skipped + 1 < words:
                moved |= bits[edge, half, word + skipped + 1] << (np.uint64(64) - shift)
            both += int(ones_in(bits[edge, half, word] & moved))
        heads[half] -= float(bits[edge, half, (length - lag) >> 6] >> np.uint64((length - lag) & 63) & np.uint64(1))
        tails[half] -= float(bits[edge, half, (lag - 1) >> 6] >> np.uint64((lag - 1) & 63) & np.uint64(1))
        mean = ones[half] / length
        total += (both - mean * (heads[half] + tails[half]) + (length - lag) * mean * mean) / length
    return total / halves
