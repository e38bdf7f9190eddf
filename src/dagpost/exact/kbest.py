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
from functools import partial
from heapq import heapify, heappop, heappush, heappushpop
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagpost._tools import memory
from dagpost._tools.arrays import Floats, Integers, Masks
from dagpost._tools.checks import whole_number
from dagpost._tools.progress import NO_PROGRESS, Reporter, Stage
from dagpost.engines import Engine
from dagpost.exact.best_lattice import (
    Rest,
    contract,
    fill_chunk,
    join_halves,
    look_up,
    needs_of,
    numbers_of_sets,
    outweighs_subsets,
)
from dagpost.exact.order import check_weights, no_graph
from dagpost.exact.walk import SPLIT, Split, waves
from dagpost.families.numbering import binomials, family_count, parent_sets, size_offsets, unsqueeze_all

#: Log weights this close are tied, and so are those as close as rounding may bring equal ones of their size.
_TIE_NATS = 1e-9
_TIE_RELATIVE = 1e-14

#: The flag of kernels that are too short to be given up.
_GO_ON = np.zeros(1, dtype=np.int64)
#: A prefix that waits, with its places in the queues, less its parents.
_PREFIX_BYTES = 500


class Waiting(NamedTuple):
    """How many prefixes wait before those that no longer matter are dropped: `per_dag` times the DAGs, and `least`."""

    per_dag: int = 4
    least: int = 1000


WAITING = Waiting()


@dataclass(frozen=True, eq=False)
class BestDags:
    """The best DAGs, best first: row `g` of `parents` has the parents of every node of DAG `g` as masks.

    `tied` says that the best DAG not listed ties with the last one listed: another list would be as good.
    """

    parents: Masks
    log_joint: Floats
    tied: bool


def best_dags(
    log_weights: Floats,
    max_parents: int,
    count: int,
    *,
    engine: Engine,
    reporter: Reporter = NO_PROGRESS,
    split: Split = SPLIT,
    waiting: Waiting = WAITING,
) -> BestDags:
    """The `count` DAGs of the greatest weight, or all that there are.

    `log_weights[i, f]` is the log weight of node `i` with parent set number `f` (families/numbering.py), minus infinity
    where it is not allowed.

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
    count = whole_number(count, "count")
    check_weights(log_weights, max_parents)
    _require_memory(len(log_weights), max_parents, count, engine.workers)
    search = _Search(log_weights, max_parents, count, engine, split, waiting)
    search.begin(reporter)
    found: list[tuple[int, ...]] = []
    with reporter.stage("best DAGs", count) as stage:
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
    low = SPLIT.low_of(nodes)
    scratch = workers * 8 * (low + 4) << low
    return (8 << nodes) + 48 * families + scratch + _dag_bytes(nodes) * (count + WAITING.least)


def _dag_bytes(nodes: int) -> int:
    """Memory of a DAG on the list and of the prefixes that wait meanwhile."""
    return WAITING.per_dag * (_PREFIX_BYTES + 8 * nodes) + 32 * nodes


def _require_memory(nodes: int, max_parents: int, count: int, workers: int) -> None:
    available = memory.available_bytes()
    needed = memory_needed(nodes, max_parents, count, workers)
    without_dags = memory_needed(nodes, max_parents, 0, workers)
    if memory_needed(nodes, max_parents, 1, workers) > available:
        fits = memory.largest_that_fits(nodes, lambda size: memory_needed(size, max_parents, 1, workers))
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
        numbers = numbers_of_sets(
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

    def __init__(
        self, log_weights: Floats, max_parents: int, count: int, engine: Engine, split: Split, waiting: Waiting
    ) -> None:
        self.tolerance = tie_tolerance(log_weights)
        self.last = math.inf
        self._nodes = len(log_weights)
        # One more than asked for: the next one may tie.
        self._wanted = self._most_known = count + 1
        self._most_waiting = waiting.per_dag * count + waiting.least
        self._engine = engine
        self._split = split
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
        top = self._split.top_of(self._nodes - 1)
        with reporter.stage("best weights of all sets", 2 << top) as stage:
            children = self._longer(_Prefix((), 0.0, 0.0), stage)
        if not children:
            raise no_graph()
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
        low, top = self._split.low_of(bits), self._split.top_of(bits)
        needs = needs_of(parents)
        rest = Rest(bits, low, top, *contract(node, needs, *self._families))
        before, after = self._tables[0, : 1 << bits], self._tables[1, : 1 << bits]
        if top == 0:
            fill_chunk(rest, before, False, 0, _GO_ON)
            fill_chunk(rest, after, True, 0, _GO_ON)
            join_halves(before, after, bits, _GO_ON)
        else:
            chunks = waves(top)
            self._run(partial(fill_chunk, rest, before, False), chunks, stage)
            self._run(partial(fill_chunk, rest, after, True), chunks[::-1], stage)
            self._run(lambda _, cancel: join_halves(before, after, bits, cancel), [[0]], Stage("", 0))
        return look_up(node, self._masks[node], needs, before)

    def _run(self, block: Callable[[int, Integers], None], all_waves: list[list[int]], stage: Stage) -> None:
        for wave in all_waves:
            for _ in self._engine.run(block, wave):
                stage.advance(1)


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
        return outweighs_subsets(weights[node], sets, nodes - 1, binomial, offset)

    useful = np.array(list(engine.run(choose, range(nodes))))
    starts = np.concatenate([[0], np.cumsum(useful.sum(axis=1))])
    return masks[useful], weights[useful], starts
