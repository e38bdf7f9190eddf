"""Which parent sets a chain considers: all but those that provably hold next to nothing of the posterior.

In a graph in which node `i` has the parents `P`, any subset `Q` of `P` may take its place: removing edges makes no
cycle. So, whatever the rest of the graph and the data are,

    p(parents of i are P)  <=  share(P)  =  w(P) / sum of w(Q) over Q ⊆ P, P itself included

and the probability that the parents of `i` are one of some sets is at most the sum of their shares. The sets with the
smallest shares go, as many as an allowance covers; with `a` allowed for all nodes together, the posterior without them
differs from the posterior with all of them by at most `a` in total variation, and so does any probability. A set that
has no lighter relative below it (the empty set, wherever it is allowed) has the share 1 and stays.

The sums over subsets. For a set with the members `p1 < p2 < ...` let `sum_t` run over the subsets that lack some of
`p1 ... pt`. Then `sum_t(P) = sum_(t-1)(P) + sum_(t-1)(P - pt)`, and each subset is counted once. There is one pass over
all sets for each `t`, the large sets first, so that one array serves. Sums of logs, since weights span thousands of
nats. Cost: one addition for each set and member, some 20 ns; memory: 16 bytes a set of one node, and what stays.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dagpost._tools import memory
from dagpost._tools.arrays import Flags, Floats, Integers, Masks
from dagpost._tools.kernels import kernel
from dagpost._tools.log_sums import add_logs
from dagpost._tools.spelling import bare, setting
from dagpost.engines.base import Engine
from dagpost.engines.threads import ThreadEngine
from dagpost.errors import NoGraphError
from dagpost.families.considered_sets import ConsideredSets, Members
from dagpost.families.numbering import binomials, size_offsets
from dagpost.families.parent_lists import Members as Places
from dagpost.families.parent_lists import ParentLists, all_others, members_of_sets

if TYPE_CHECKING:
    from dagpost.families.family_sums import FamilyWeights
    from dagpost.families.grouped_lists import GroupedLists

#: What all sets that go may hold of the posterior, over all nodes together.
ALLOWANCE = 1e-3
#: Sets that may hold this share of the posterior lead the lists.
_LEADING = 0.01
#: The heaviest of them, where they are more than this: a chain reads them all whenever it draws the node.
_MOST_LEADING = 4000

#: Why there is nothing to consider.
NO_PARENT_SET = "No graph satisfies the constraints: node {node} is left without an allowed parent set."


class Weighed(NamedTuple):
    """The log weights of all sets of at most `limit` out of some columns (ascending), as numbering.py numbers them."""

    columns: Integers
    limit: int
    log_weights: Floats


class Single(NamedTuple):
    """Sets of one node that were scored one by one: rows of columns, and a bound on the share of each."""

    members: Members
    log_weights: Floats
    shares: Floats


class Found(NamedTuple):
    """What was scored of one node; no part has one of the sets that were scored `singly`."""

    parts: Sequence[Weighed]
    singly: Single


#: Nothing was scored one by one.
NOTHING = Single(np.empty((0, 0), dtype=np.int16), np.empty(0), np.empty(0))


class Kept(NamedTuple):
    """Sets of one node that stay, as `ConsideredSets` has them, and a bound on what the others hold."""

    members: Members
    log_weights: Floats
    leading: int
    lost: float


def considered_from_lists(
    lists: ParentLists, log_weights: Sequence[Floats], *, allowance: float = ALLOWANCE, engine: Engine | None = None
) -> ConsideredSets:
    """The sets that stay of all those that rules allow, of any number of columns.

    >>> lists = ParentLists.of_matrix(np.array([[False, True], [False, False]]), 1)
    >>> considered = considered_from_lists(lists, (np.log([1e6, 1.0]), np.zeros(1)))
    >>> considered.counts.tolist(), considered.members.tolist(), considered.lost.round(9).tolist()
    ([1, 1], [[2], [2]], [1e-06, 0.0])
    """

    def found(node: int) -> Found:
        return Found([Weighed(lists.candidates[node], lists.limit(node), log_weights[node])], NOTHING)

    scored = f"every allowed set of at most {lists.max_parents} parents"
    return that_stay(found, lists.nodes, scored, allowance=allowance, engine=engine)


def considered_from_all(
    log_weights: Floats, max_parents: int, *, allowance: float = ALLOWANCE, engine: Engine | None = None
) -> ConsideredSets:
    """The sets that stay of all those of at most `max_parents` others; a row of weights a node."""
    lists = all_others(len(log_weights), max_parents)
    considered = considered_from_lists(lists, tuple(log_weights), allowance=allowance, engine=engine)
    return replace(considered, scored=f"every set of at most {max_parents} parents")


def considered_from_candidates(
    weights: FamilyWeights, *, allowance: float = ALLOWANCE, engine: Engine | None = None
) -> ConsideredSets:
    """The sets that stay of the small ones and of those among candidates."""

    def found(node: int) -> Found:
        return found_among(weights, node)

    missed = weights.missed
    return that_stay(found, weights.nodes, weights.describe(), allowance=allowance, missed=missed, engine=engine)


def found_among(weights: FamilyWeights, node: int) -> Found:
    """The sets of one node among its candidates and, where these are not everyone, the small ones."""
    nodes, width = weights.candidates.shape
    among = Weighed(weights.candidates[node], min(weights.max_parents, width), weights.inner[node])
    if width == nodes - 1:
        return Found([among], NOTHING)
    others = np.delete(np.arange(nodes), node)
    return Found([among, Weighed(others, min(weights.small_size, nodes - 1), weights.small[node])], NOTHING)


def that_stay(
    found: Callable[[int], Found],
    nodes: int,
    scored: str,
    *,
    allowance: float = ALLOWANCE,
    missed: Floats | None = None,
    engine: Engine | None = None,
) -> ConsideredSets:
    """The sets that stay of those that `found` has of each node; a set that several parts have counts once.

    With every set, a part must have all its subsets, as sets of limited size out of some columns do.
    """

    def of_node(node: int, cancel: Integers) -> Kept:  # noqa: ARG001
        return stay_of_node(found(node), node, nodes, allowance / nodes)

    kept = list((engine or ThreadEngine(1)).run(of_node, range(nodes)))
    width = max(1, *(own.members.shape[1] for own in kept))
    start = np.concatenate([[0], np.cumsum([len(own.log_weights) for own in kept])]).astype(np.int64)
    memory.require(
        int(start[-1]) * (24 + 2 * width),
        f"The list of {start[-1]:,} parent sets that matter, of {nodes:,} variables,",
        f"Use a smaller {bare('max_parents')}, or a prior for fewer parents, such as {setting('prior', 'indegree')}.",
    )
    members = np.full((start[-1], width), nodes, dtype=np.int16)
    for node, own in enumerate(kept):
        members[start[node] : start[node + 1], : own.members.shape[1]] = own.members
    return ConsideredSets(
        start,
        members,
        np.concatenate([own.log_weights for own in kept]),
        np.array([own.leading for own in kept], dtype=np.int64),
        np.array([own.lost for own in kept]),
        np.zeros(nodes) if missed is None else missed,
        scored,
    )


def node_without_core(considered: ConsideredSets | GroupedLists) -> int | None:
    """The first node none of whose considered sets lies in all the others; None if every node has such a set.

    Where every node has one, a graph becomes any other by redrawing node after node: each gives up all parents but
    those that it always has, which never makes a cycle, and then takes its new ones. Otherwise a chain that redraws
    some nodes at a time may never reach some graphs.
    """
    node = _first_without_core(considered.start, considered.members, considered.nodes)
    return None if node < 0 else int(node)


def stay_of_node(found: Found, node: int, nodes: int, allowance: float) -> Kept:
    """The sets of one node: of those that could go, the ones with the smallest shares do, while `allowance` lasts."""
    count = sum(len(part.log_weights) for part in found.parts)
    covered = np.zeros(nodes, dtype=np.bool_)
    lost = 0.0
    places, shares, logs = [found.singly.members], [found.singly.shares], [found.singly.log_weights]
    for place, part in enumerate(found.parts):
        sets = members_of_sets(len(part.columns), part.limit)
        here, own = np.empty(len(sets), dtype=np.int64), np.empty(len(sets))
        # All sets below this share may go together: no need to sort them.
        bound = allowance / count
        number, below = _noticeable(
            part.log_weights, log_subset_sums(part), sets, covered[part.columns], place > 0, bound, here, own
        )
        here = here[:number]
        lost += below
        columns = np.append(part.columns, nodes).astype(np.int16)
        places.append(columns[sets[here]])
        shares.append(own[:number])
        logs.append(part.log_weights[here])
        covered[part.columns] = True
    share, log_weights = np.concatenate(shares), np.concatenate(logs)
    rising = np.argsort(share, kind="stable")
    sums = lost + np.cumsum(share[rising])
    gone = int(np.searchsorted(sums, allowance, side="right"))
    stay = np.sort(rising[gone:])
    if not len(stay):
        raise NoGraphError(NO_PARENT_SET.format(node=node))
    behind = share[stay] < _LEADING
    heaviest = np.argsort(np.where(behind, np.inf, -log_weights[stay]), kind="stable")
    behind[heaviest[_MOST_LEADING:]] = True
    # The heaviest leads, whatever its share: weights are given relative to it.
    behind[np.argmax(log_weights[stay])] = False
    stay = stay[np.lexsort((-log_weights[stay], behind))]
    members = _side_by_side(places, nodes)[stay]
    size = int((members < nodes).sum(axis=1).max())
    leading = int((~behind).sum())
    return Kept(members[:, :size], log_weights[stay], leading, float(sums[gone - 1]) if gone else lost)


def masks_of_members(members: Members, nodes: int) -> Masks:
    """Rows of columns, at most 64, as masks."""
    bits = np.append(np.uint64(1) << np.arange(nodes, dtype=np.uint64), np.uint64(0))
    masks: Masks = np.bitwise_or.reduce(bits[members], axis=1, initial=np.uint64(0))
    return masks


def log_subset_sums(part: Weighed) -> Floats:
    """The log of the sum over all subsets of each set, itself included.

    >>> sums = log_subset_sums(Weighed(np.array([3, 7]), 2, np.log([1.0, 2.0, 3.0, 4.0])))
    >>> np.exp(sums).round(9).tolist()
    [1.0, 3.0, 4.0, 10.0]
    """
    universe, limit = len(part.columns), min(part.limit, len(part.columns))
    sums = np.array(part.log_weights, dtype=np.float64)
    sets = members_of_sets(universe, limit)
    _sum_subsets(sets, binomials(limit, universe), size_offsets(limit, universe)[universe], sums)
    return sums


def shares_of(part: Weighed) -> Floats:
    """A bound on the posterior probability of each set: its weight relative to all of its subsets."""
    shares = np.zeros(len(part.log_weights))
    present = np.isfinite(part.log_weights)
    shares[present] = np.exp(part.log_weights[present] - log_subset_sums(part)[present])
    return shares


def _side_by_side(places: Sequence[Members], nodes: int) -> Members:
    """Lists of sets one after another, as wide as the widest."""
    width = max(own.shape[1] for own in places)
    filled = [np.pad(own, ((0, 0), (0, width - own.shape[1])), constant_values=nodes) for own in places]
    return np.concatenate(filled)


@kernel
def _sum_subsets(sets: Places, binomial: Integers, offset: Integers, sums: Floats) -> None:
    """From the log weights of all sets to the log sums over their subsets, in place."""
    for removed in range(sets.shape[1]):
        # The sets with more than `removed` members; a set comes before those that it is made from.
        size = sets.shape[1]
        for number in range(len(sets) - 1, offset[removed + 1] - 1, -1):
            while number < offset[size]:
                size -= 1
            smaller = offset[size - 1]
            for place in range(removed):
                smaller += binomial[sets[number, place], place + 1]
            for place in range(removed + 1, size):
                smaller += binomial[sets[number, place], place]
            sums[number] = add_logs(sums[number], sums[smaller])


@kernel
def _noticeable(
    log_weights: Floats,
    log_sums: Floats,
    sets: Places,
    covered: Flags,
    later: bool,
    least: float,
    here: Integers,
    shares: Floats,
) -> tuple[int, float]:
    """The numbers and shares of the sets with at least this share, how many they are, and what the others sum to.

    In a `later` part, sets made of `covered` places alone have been counted before.
    """
    found, below = 0, 0.0
    log_least = math.log(least)
    for number in range(len(sets)):
        if log_weights[number] == -math.inf:
            continue
        elsewhere = later
        for place in range(sets.shape[1] if later else 0):
            if sets[number, place] >= 0 and not covered[sets[number, place]]:
                elsewhere = False
                break
        if elsewhere:
            continue
        log_share = log_weights[number] - log_sums[number]
        if log_share < log_least:
            below += math.exp(log_share)
        else:
            here[found] = number
            shares[found] = math.exp(log_share)
            found += 1
    return found, below


@kernel
def _first_without_core(start: Integers, members: Members, nodes: int) -> int:
    """The sets that lie in all others have as many members as there are columns in every set."""
    seen = np.zeros(nodes + 1, dtype=np.int64)
    for node in range(len(start) - 1):
        first, end = start[node], start[node + 1]
        smallest = members.shape[1]
        seen[:] = 0
        for number in range(first, end):
            size = 0
            for place in range(members.shape[1]):
                if members[number, place] < nodes:
                    size += 1
                    seen[members[number, place]] += 1
            smallest = min(smallest, size)
        always = 0
        for column in range(nodes):
            always += seen[column] == end - first
        if always != smallest:
            return node
    return -1
