"""The K best DAGs: those of the greatest weight (Tian, He & Ram 2010; for K = 1 Silander & Myllymäki 2006).

A DAG is a vector of parent sets, one a node, so a DAG is listed once if its vector is. The vectors are searched node by
node. A *prefix* fixes the parents of the nodes before node `f`; its value is the weight of the best DAG that begins so.
One dynamic programme over the subsets of the later nodes gives the exact value of every way to lengthen a prefix by the
parents of `f`:

- A fixed node has no choice left, so it may as well come as soon as its parents are there. It *needs* certain free
  nodes (its free parents, and what its fixed parents need), and a parent set `P` of a free node fits behind a set of
  free nodes exactly if that contains `P'`: the free nodes in `P` and what the fixed nodes in `P` need. Only orders of
  the free nodes remain, with parent sets `P'`; one with the node itself in `P'` would close a cycle.
- Let `h(Y)` be the most weight of the nodes of `Y`, all placed before `f`, and `r(Y)` the most of those that follow
  when `Y` and `f` are there, `Y` a set of later nodes. The best DAG with `P` as the parents of `f` weighs

      weight of the prefix + weight_f(P) + max over Y ⊇ P' of h(Y) + r(Y),

  since every DAG fits some order and a maximum does not mind how many. `h` and `r` are the recursions of order.py with
  maxima for sums; the last maximum, for all `P'` at once, is a superset transform.

Values are exact, so a prefix is lengthened only if one of the K DAGs begins with it: at most K times at each depth, on
a lattice half as large as at the depth before. The textbook's lists of K for every subset, in which a DAG turns up once
for each node that can be its last, are not needed. Time: the first step takes about `n 2^(n-1)` maxima a dozen times
over, all together at most K + 1 such steps, and few in practice, since good DAGs begin alike. Memory: 8 bytes a subset
whatever K is, and some kilobytes a DAG.

Order of the list: among the DAGs not yet listed, those within `tie_tolerance` of the best of them are tied, and of
these the one whose row of parent masks comes first lexicographically is next. So the first K of 2K are the same as K,
and neither rounding nor the number of threads decides anything.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from heapq import heapify, heappop, heappush, heappushpop
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagpost import memory
from dagpost.arrays import Floats, Integers, Masks
from dagpost.engines import Engine
from dagpost.errors import InputError, NoGraphError
from dagpost.exact.order import _check_weights
from dagpost.exact.walk import lowest_bit, waves
from dagpost.families import binomials, family_count, number_of_set, parent_sets, size_offsets, squeeze, unsqueeze_all
from dagpost.kernels import inlined, kernel
from dagpost.progress import Reporter, Stage, silent

#: Log weights this close are tied, and so are those as close as rounding may bring equal ones of their size.
_TIE_NATS = 1e-9
_TIE_RELATIVE = 1e-14

_LOW_NODES = 11
_SMALLEST_CHUNK_BITS = 16
_MOST_TOP_NODES = 7
#: Bits of the part of a table that stays in the cache.
_SEGMENT_BITS = 14
#: The flag of kernels that are too short to be given up.
_GO_ON = np.zeros(1, dtype=np.int64)
#: How many prefixes wait before those that cannot matter any more are dropped: for each wanted DAG, and at least.
_WAITING_PER_DAG = 4
_FEW_WAITING = 1000
#: A prefix that waits, with its places in the queues, less its parents.
_PREFIX_BYTES = 500


@dataclass(frozen=True, eq=False)
class BestDags:
    """The best DAGs, best first: row `g` of `parents` has the parents of every node of DAG `g` as masks.

    `tied` says that the best DAG not listed ties with the last one listed: another list would be as good.
    """

    parents: Masks
    log_joint: Floats
    tied: bool


def best_dags(
    log_weights: Floats, max_parents: int, count: int, *, engine: Engine, reporter: Reporter = silent
) -> BestDags:
    """The `count` DAGs of the greatest weight, or all that there are.

    `log_weights[i, f]` is the log weight of node `i` with parent set number `f` (families.py), minus infinity where it
    is not allowed.

    >>> from dagpost.engines import ThreadEngine
    >>> two_nodes = np.log([[1.0, 3.0], [2.0, 1.0]])  # rows: nodes; columns: no parent, the other node
    >>> best = best_dags(two_nodes, 1, 2, engine=ThreadEngine(1))
    >>> best.parents.tolist()  # node 1 is the parent of node 0; no edge
    [[2, 0], [0, 0]]
    >>> np.exp(best.log_joint).round(9).tolist(), best.tied
    ([6.0, 2.0], False)

    References: Silander & Myllymäki (2006), A simple approach for finding the globally optimal Bayesian network
    structure, UAI; Tian, He & Ram (2010), Bayesian model averaging using the k-best Bayesian network structures, UAI.
    """
    if isinstance(count, bool) or not isinstance(count, int | np.integer) or count < 1:
        raise InputError(f"The number of best DAGs must be an int of at least 1. Got {count!r} instead.")
    _check_weights(log_weights, max_parents)
    _require_memory(len(log_weights), max_parents, int(count), engine.workers)
    search = _Search(log_weights, max_parents, int(count), engine)
    search.begin(reporter)
    found: list[tuple[int, ...]] = []
    with reporter.stage("best DAGs", int(count)) as stage:
        for dag in search.dags():
            found.append(dag)
            stage.advance(1)
    parents = np.array(found, dtype=np.uint64)
    tied = search.best_left >= search.last - search.tolerance
    return BestDags(parents, _log_joint(log_weights, max_parents, parents), tied)


def tie_tolerance(log_weights: Floats) -> float:
    """How far apart two log weights of DAGs may be and still count as equal.

    >>> tie_tolerance(np.array([[-5e4, -6e4], [-5e4, -np.inf]]))
    2e-09
    """
    return _TIE_NATS + _TIE_RELATIVE * math.fsum(np.abs(log_weights.max(axis=1)))


def memory_needed(nodes: int, max_parents: int, count: int, workers: int) -> int:
    """Bytes: two tables over half the subsets, the families in several forms, scratch, and the prefixes."""
    families = nodes * family_count(nodes - 1, max_parents)
    scratch = workers * 8 * (min(nodes, _LOW_NODES) + 4) << min(nodes, _LOW_NODES)
    return (8 << nodes) + 48 * families + scratch + _dag_bytes(nodes) * (count + _FEW_WAITING)


def _dag_bytes(nodes: int) -> int:
    """Memory of a DAG on the list and of the prefixes that wait meanwhile."""
    return _WAITING_PER_DAG * (_PREFIX_BYTES + 8 * nodes) + 32 * nodes


def _require_memory(nodes: int, max_parents: int, count: int, workers: int) -> None:
    available = memory.available_bytes()
    needed = memory_needed(nodes, max_parents, count, workers)
    without_dags = memory_needed(nodes, max_parents, 0, workers)
    if memory_needed(nodes, max_parents, 1, workers) > available:
        fits = nodes
        while fits > 1 and memory_needed(fits, max_parents, 1, workers) > available:
            fits -= 1
        remedy = f"The largest number of variables that fits now is {fits}: leave columns out, or free memory."
    else:
        most = (available - without_dags) // _dag_bytes(nodes)
        remedy = f"The largest number of DAGs that fits now is {most:,}: ask for fewer, or free memory."
    memory.require(needed, f"The list of the {count:,} best DAGs of {nodes} variables", remedy)


def _log_joint(log_weights: Floats, max_parents: int, parents: Masks) -> Floats:
    """The log weight of each DAG; sums are rounded once, so that they do not depend on the names of the nodes."""
    nodes = len(log_weights)
    terms = np.empty(parents.shape)
    for node in range(nodes):
        numbers = _numbers_of(
            parents[:, node].copy(), node, nodes - 1, binomials(max_parents), size_offsets(max_parents)
        )
        terms[:, node] = log_weights[node, numbers]
    return np.array([math.fsum(row) for row in terms])


# The search


class _Prefix(NamedTuple):
    """The parents of the first nodes, their weight, and that of the best DAG that begins with them."""

    parents: tuple[int, ...]
    weight: float
    value: float


class _Queue:
    """Prefixes that wait, handed out in the order of the list."""

    def __init__(self, tolerance: float) -> None:
        self._tolerance = tolerance
        # Those known to be tied for the next place: by their parents, and by value (those handed out are `gone`).
        self._tied: list[tuple[tuple[int, ...], _Prefix]] = []
        self._values: list[tuple[float, tuple[int, ...]]] = []
        self._gone: set[tuple[int, ...]] = set()
        self._others: list[tuple[float, _Prefix]] = []

    def __len__(self) -> int:
        return len(self._others) + len(self._tied)

    def push(self, prefix: _Prefix) -> None:
        heappush(self._others, (-prefix.value, prefix))

    def drop(self, least: float, count: int) -> None:
        """Forget the prefixes that weigh less than `least` and those that `count` others surely come before."""
        kept = sorted(prefix for _, prefix in (*self._others, *self._tied) if prefix.value >= least)
        values = np.array([prefix.value for prefix in kept])
        foremost = _foremost(values, np.arange(len(kept)), count)
        self._tied, self._values, self._gone = [], [], set()
        self._others = [(-kept[place].value, kept[place]) for place in foremost.tolist()]
        heapify(self._others)

    def greatest(self) -> float:
        """The greatest value that waits; minus infinity if nothing does."""
        while self._values and self._values[0][1] in self._gone:
            self._gone.remove(heappop(self._values)[1])
        tied = -self._values[0][0] if self._values else -math.inf
        return max(tied, -self._others[0][0] if self._others else -math.inf)

    def pop(self) -> _Prefix:
        least = self.greatest() - self._tolerance
        while self._others and -self._others[0][0] >= least:
            value, prefix = heappop(self._others)
            heappush(self._tied, (prefix.parents, prefix))
            heappush(self._values, (value, prefix.parents))
        _, prefix = heappop(self._tied)
        self._gone.add(prefix.parents)
        return prefix


class _Search:
    """The prefixes that may still lead to one of the best DAGs, best first."""

    def __init__(self, log_weights: Floats, max_parents: int, count: int, engine: Engine) -> None:
        self.tolerance = tie_tolerance(log_weights)
        self.last = math.inf
        self._nodes = len(log_weights)
        # One more than asked for: the next one may tie.
        self._wanted = self._most_known = count + 1
        self._most_waiting = _WAITING_PER_DAG * count + _FEW_WAITING
        self._engine = engine
        self._masks = _masks_of_families(self._nodes, max_parents)
        # Relative to the best parent set of each node: sums of good DAGs are then small, and so is their rounding.
        self._weights = log_weights - log_weights.max(axis=1, keepdims=True)
        self._families = _useful_families(self._weights, self._masks, max_parents, engine)
        self._tables = np.empty((2, 1 << (self._nodes - 1)))
        self._queue = _Queue(self.tolerance)
        # The greatest weights of different DAGs that are known, least first, at most as many as are wanted.
        self._known: list[float] = []

    @property
    def best_left(self) -> float:
        """The weight of the best DAG that was not handed out."""
        return self._queue.greatest()

    def begin(self, reporter: Reporter) -> None:
        """Find the values of all parent sets of the first node."""
        top = _top_nodes(self._nodes - 1)
        with reporter.stage("best weights of all sets", 2 << top) as stage:
            children = self._longer(_Prefix((), 0.0, 0.0), stage)
        if not children:
            raise NoGraphError(
                "No graph satisfies the constraints: every order leaves some node without an allowed parent set."
            )
        heappush(self._known, max(child.value for child in children))
        self._take_in(children)

    def dags(self) -> Iterator[tuple[int, ...]]:
        """The parents in each of the best DAGs, in the order of the list."""
        while self._wanted > 1 and self._queue.greatest() > -math.inf:
            prefix = self._queue.pop()
            if len(prefix.parents) == self._nodes:
                self._wanted -= 1
                self.last = prefix.value
                yield prefix.parents
            else:
                self._take_in(self._longer(prefix, Stage("", 0)))

    def _take_in(self, children: list[_Prefix]) -> None:
        """Let prefixes wait that may lead to a wanted DAG; the best of them leads to the one that their parent did."""
        for value in sorted((child.value for child in children), reverse=True)[1:]:
            if len(self._known) < self._most_known:
                heappush(self._known, value)
            elif heappushpop(self._known, value) == value:
                break
        least = self._least()
        for child in children:
            if child.value >= least:
                self._queue.push(child)
        if len(self._queue) > self._most_waiting:
            self._queue.drop(least, self._wanted)
            self._most_waiting = max(self._most_waiting, 2 * len(self._queue))

    def _least(self) -> float:
        """What is lighter than this is neither on the list nor tied with its end."""
        return self._known[0] - self.tolerance if len(self._known) == self._most_known else -math.inf

    def _longer(self, prefix: _Prefix, stage: Stage) -> list[_Prefix]:
        """The prefixes with the parents of one more node that may lead to a wanted DAG."""
        node = len(prefix.parents)
        best_rest = self._best_rest(np.array(prefix.parents, dtype=np.int64), stage)
        values = prefix.weight + self._weights[node] + best_rest
        able = np.flatnonzero((values >= self._least()) & (values > -math.inf))
        masks = self._masks[node, able]
        if len(able) > self._wanted:
            foremost = _foremost(values[able], masks, self._wanted)
            able, masks = able[foremost], masks[foremost]
        weights = (prefix.weight + self._weights[node, able]).tolist()
        return [
            _Prefix((*prefix.parents, mask), weight, value)
            for mask, weight, value in zip(masks.tolist(), weights, values[able].tolist(), strict=True)
        ]

    def _best_rest(self, parents: Integers, stage: Stage) -> Floats:
        """For every parent set of the next node: the most that the later nodes can weigh."""
        node = len(parents)
        bits = self._nodes - 1 - node
        low, top = min(bits, _LOW_NODES), _top_nodes(bits)
        needs = _needs_of(parents)
        rest = _Rest(bits, low, top, *_contracted(node, needs, *self._families))
        before, after = self._tables[0, : 1 << bits], self._tables[1, : 1 << bits]
        if top == 0:
            _before_chunk(rest, before, 0, _GO_ON)
            _after_chunk(rest, after, 0, _GO_ON)
            _join(before, after, bits, _GO_ON)
        else:
            chunks = list(waves(top))
            self._run(lambda chunk, cancel: _before_chunk(rest, before, chunk, cancel), chunks, stage)
            self._run(lambda chunk, cancel: _after_chunk(rest, after, chunk, cancel), chunks[::-1], stage)
            self._run(lambda _, cancel: _join(before, after, bits, cancel), [[0]], Stage("", 0))
        return _looked_up(node, self._masks[node], needs, before)

    def _run(self, block: Callable[[int, Integers], None], all_waves: list[list[int]], stage: Stage) -> None:
        for wave in all_waves:
            for _ in self._engine.run(block, wave, stage):
                pass


def _foremost(values: Floats, ranks: Integers, count: int) -> Integers:
    """The places of those that fewer than `count` others surely come before.

    What weighs at least as much and has a lower rank surely does: whenever the one is tied for the next place, so is
    the other.
    """
    lowest: list[int] = []
    chosen = []
    for place in np.lexsort((ranks, -values)).tolist():
        rank = int(ranks[place])
        if len(lowest) < count:
            heappush(lowest, -rank)
        elif heappushpop(lowest, -rank) == -rank:
            continue
        chosen.append(place)
    return np.array(chosen, dtype=np.int64)


def _masks_of_families(nodes: int, max_parents: int) -> Integers:
    """Row i: the parent sets of node i, in their numbering, as masks over all nodes."""
    sets = parent_sets(nodes - 1, max_parents).copy()
    return np.array([unsqueeze_all(sets, node) for node in range(nodes)]).view(np.int64)


def _useful_families(
    weights: Floats, masks: Integers, max_parents: int, engine: Engine
) -> tuple[Integers, Floats, Integers]:
    """The parent sets of all nodes that outweigh all their subsets: no others are ever the best inside a set.

    One node after the other, with their weights and where each node's begin.
    """
    nodes = len(weights)
    sets, binomial, offset = parent_sets(nodes - 1, max_parents), binomials(max_parents), size_offsets(max_parents)

    def choose(node: int, _: Integers) -> NDArray[np.bool_]:
        return _outweighs_subsets(weights[node], sets, nodes - 1, binomial, offset)

    useful = np.array(list(engine.run(choose, range(nodes), Stage("", 0))))
    starts = np.concatenate([[0], np.cumsum(useful.sum(axis=1))])
    return masks[useful], weights[useful], starts


def _top_nodes(bits: int) -> int:
    """How many of the free nodes number the chunks."""
    return min(max(bits - _SMALLEST_CHUNK_BITS, 0), _MOST_TOP_NODES, bits - min(bits, _LOW_NODES))


# Kernels


class _Rest(NamedTuple):
    """The families of the nodes after the next one, with sets of these nodes in place of parent sets.

    `ranges[j]` says where those of the j-th begin that do not need the next node, where they end, and where those that
    do begin and end. Nodes are split as in walk.py: `low` inside a block, `top` across chunks.
    """

    bits: int
    low: int
    top: int
    sets: Integers
    weights: Floats
    ranges: Integers


@kernel
def _numbers_of(masks: Masks, node: int, universe: int, binomial: Integers, offset: Integers) -> Integers:
    result = np.empty(len(masks), dtype=np.int64)
    for place in range(len(masks)):
        result[place] = number_of_set(squeeze(masks[place], node), universe, binomial, offset)
    return result


@kernel
def _outweighs_subsets(
    weights: Floats, sets: Masks, universe: int, binomial: Integers, offset: Integers
) -> NDArray[np.bool_]:
    best = np.empty(len(sets))
    result = np.empty(len(sets), dtype=np.bool_)
    for number in range(len(sets)):
        below = -np.inf
        rest = sets[number]
        while rest != np.uint64(0):
            element = rest & (~rest + np.uint64(1))
            below = max(below, best[number_of_set(sets[number] ^ element, universe, binomial, offset)])
            rest ^= element
        result[number] = weights[number] > below
        best[number] = max(weights[number], below)
    return result


@kernel
def _needs_of(parents: Integers) -> Integers:
    """Which free nodes have to come before each of the fixed ones, given the parents of these."""
    needs = np.zeros(len(parents), dtype=np.int64)
    for node in range(len(parents)):
        needs[node] = _needed_by(parents[node], needs, node)
        for other in range(node):
            if (needs[other] >> node) & 1:
                needs[other] = (needs[other] ^ (1 << node)) | needs[node]
    return needs


@inlined
def _needed_by(mask: int, needs: Integers, fixed: int) -> int:
    """The free nodes of a set and those that the others, the first `fixed` nodes, need."""
    result = (mask >> fixed) << fixed
    others = mask ^ result
    while others:
        result |= needs[lowest_bit(others)]
        others &= others - 1
    return result


@kernel
def _contracted(
    node: int, needs: Integers, masks: Integers, weights: Floats, starts: Integers
) -> tuple[Integers, Floats, Integers]:
    """The families of the nodes after `node` when those before it are fixed."""
    nodes = len(starts) - 1
    shift = starts[node + 1]
    sets = np.empty(starts[nodes] - shift, dtype=np.int64)
    values = np.empty(len(sets))
    ranges = np.empty((nodes - 1 - node, 4), dtype=np.int64)
    for later in range(node + 1, nodes):
        first, last = starts[later] - shift, starts[later + 1] - shift
        front, back = first, last
        for place in range(first, last):
            needed = _needed_by(masks[place + shift], needs, node)
            if (needed >> later) & 1:
                continue
            if (needed >> node) & 1:
                back -= 1
                target = back
            else:
                target = front
                front += 1
            sets[target] = needed >> (node + 1)
            values[target] = weights[place + shift]
        row = ranges[later - node - 1]
        row[0], row[1], row[2], row[3] = first, front, back, last
    return sets, values, ranges


@inlined
def _greater(first: float, second: float) -> float:
    return first if first > second else second


@inlined
def _subset_maxima(table: Floats, bits: int) -> None:
    """Replace every entry by the greatest one over the subsets of its index."""
    done = 0
    if bits >= 3:
        done = 3
        for start in range(0, 1 << bits, 8):
            row = table[start : start + 8]
            # Within one vector register a loop over slices would crawl.
            row[1] = _greater(row[1], row[0])
            row[3] = _greater(row[3], row[2])
            row[5] = _greater(row[5], row[4])
            row[7] = _greater(row[7], row[6])
            row[2] = _greater(row[2], row[0])
            row[3] = _greater(row[3], row[1])
            row[6] = _greater(row[6], row[4])
            row[7] = _greater(row[7], row[5])
            row[4] = _greater(row[4], row[0])
            row[5] = _greater(row[5], row[1])
            row[6] = _greater(row[6], row[2])
            row[7] = _greater(row[7], row[3])
    for bit in range(done, bits):
        half = 1 << bit
        for start in range(0, 1 << bits, 2 * half):
            _raise_to(table[start + half : start + 2 * half], table[start : start + half])


@inlined
def _raise_to(target: Floats, source: Floats) -> None:
    for place in range(len(target)):
        target[place] = _greater(target[place], source[place])


@inlined
def _best_sets(rest: _Rest, with_next: bool, high: int, bit: int, table: Floats) -> None:
    """The best parent set of a node inside the block `high` with every set of low nodes, itself squeezed out."""
    bits = rest.low - 1 if bit < rest.low else rest.low
    own = (1 << bit) - 1 if bit < rest.low else (1 << rest.low) - 1
    inside = (1 << rest.low) - 1
    dense = table[: 1 << bits]
    dense[:] = -np.inf
    for part in range(2 if with_next else 1):
        for place in range(rest.ranges[bit, 2 * part], rest.ranges[bit, 2 * part + 1]):
            members = rest.sets[place]
            if (members >> rest.low) & ~high == 0:
                members &= inside
                members = (members & own) | ((members & ~own) >> 1)
                dense[members] = _greater(dense[members], rest.weights[place])
    _subset_maxima(dense, bits)


@inlined
def _pull(block: Floats, best: Floats, pulled: Floats) -> None:
    for place in range(len(block)):
        block[place] = _greater(block[place], best[place] + pulled[place])


@kernel
def _before_chunk(rest: _Rest, table: Floats, chunk: int, cancel: Integers) -> None:
    """The most that each set of nodes of a chunk can weigh when it comes before the next node."""
    bits, low = rest.bits, rest.low
    inner = bits - low - rest.top
    size = 1 << low
    best = np.empty(size)
    low_best = np.empty((low, (size + 1) >> 1))
    for leaf in range(1 << inner):
        if cancel[0]:
            return
        high = (chunk << inner) | leaf
        block = table[high << low : (high + 1) << low]
        block[:] = -np.inf
        if high == 0:
            block[0] = 0.0
        for bit in range(low, bits):
            other = high ^ (1 << (bit - low))
            if other < high:
                _best_sets(rest, False, high, bit, best)
                _pull(block, best, table[other << low : (other + 1) << low])
        for bit in range(low):
            _best_sets(rest, False, high, bit, low_best[bit])
        # As in order.py: when the last set without a node is done, the run of sets with it takes its share in one go.
        for last in range(size - 1):
            bit = lowest_bit(last + 1)
            run = 1 << bit
            begin = last + 1 - run
            place = (begin >> (bit + 1)) << bit
            without, with_node = block[begin : begin + run], block[begin + run : begin + 2 * run]
            _pull(with_node, low_best[bit, place : place + run], without)


@kernel
def _after_chunk(rest: _Rest, table: Floats, chunk: int, cancel: Integers) -> None:
    """The most that the other nodes can weigh when they follow each set of a chunk and the next node."""
    bits, low = rest.bits, rest.low
    inner = bits - low - rest.top
    size = 1 << low
    best = np.empty(size)
    low_best = np.empty((low, (size + 1) >> 1))
    for leaf in range((1 << inner) - 1, -1, -1):
        if cancel[0]:
            return
        high = (chunk << inner) | leaf
        block = table[high << low : (high + 1) << low]
        block[:] = -np.inf
        if high == (1 << (bits - low)) - 1:
            block[-1] = 0.0
        for bit in range(low, bits):
            other = high | (1 << (bit - low))
            if other > high:
                _best_sets(rest, True, high, bit, best)
                _pull(block, best, table[other << low : (other + 1) << low])
        for bit in range(low):
            _best_sets(rest, True, high, bit, low_best[bit])
        for first in range(size - 1, 0, -1):
            bit = lowest_bit(first)
            run = 1 << bit
            place = ((first - run) >> (bit + 1)) << bit
            without, with_node = block[first - run : first], block[first : first + run]
            _pull(without, low_best[bit, place : place + run], with_node)


@kernel
def _join(before: Floats, after: Floats, bits: int, cancel: Integers) -> None:
    """Put into `before`, at the complement of each set, the greatest sum of both tables over its supersets."""
    if bits == 0:
        before[0] += after[0]
        return
    full = (1 << bits) - 1
    for place in range(1 << (bits - 1)):
        here, there = before[place] + after[place], before[full - place] + after[full - place]
        before[place], before[full - place] = there, here
    within = min(bits, _SEGMENT_BITS)
    for start in range(0, 1 << bits, 1 << within):
        if cancel[0]:
            return
        _subset_maxima(before[start : start + (1 << within)], within)
    for bit in range(within, bits):
        for start in range(0, 1 << bits, 2 << bit):
            if cancel[0]:
                return
            _raise_to(before[start + (1 << bit) : start + (2 << bit)], before[start : start + (1 << bit)])


@kernel
def _looked_up(node: int, masks: Integers, needs: Integers, joined: Floats) -> Floats:
    """The entry of `joined` for every parent set of `node`; minus infinity where the set needs the node itself."""
    result = np.empty(len(masks))
    full = len(joined) - 1
    for place in range(len(masks)):
        needed = _needed_by(masks[place], needs, node)
        result[place] = -np.inf if (needed >> node) & 1 else joined[full - (needed >> (node + 1))]
    return result
