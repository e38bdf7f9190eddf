"""Parent sets for a chain whose weights change all the time: the union of several lists, laid out in groups.

Lists of considered sets (considered_sets.py) belong to one table. Where cells of the table change, so do the weights,
and other sets matter. A chain over graphs and cells needs lists that stay as they are: here they are the union of those
of several completed tables. Such lists have thousands of sets a node, and to weigh them all whenever a cell changes
would take most of the time. So sets that often lead a list lead the union too, and the others are dealt out into
groups of about as many sets; while the graph is moved, a node has the sets that lead and those of *one* group.

That is exact. As in set_tables.py, the state of a node is its parent set and a group: a leading set goes with each of
the `g` groups, with its weight divided by `g`, any other set with its own group only. Given a leading set the group is
any one, with equal chances; given another set it is its own; neither depends on the cells, so cells may be redrawn
given the graph alone. And given the groups, graphs are drawn among the leading sets and, with their weight times `g`,
those of the groups.

Memory: 10 bytes and 2 more for each possible member, a set.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from dagpost._tools.arrays import Floats, Integers, Masks
from dagpost._tools.kernels import inline_no_refcount, kernel
from dagpost._tools.log_sums import add_logs
from dagpost.families.considered_sets import ConsideredSets, Members

#: A group has at least about as many sets.
IN_GROUP = 32
#: A set leads the union if it leads this part of the lists.
_OFTEN = 0.25
#: The likeliest of them, where they are more than this.
_MOST_LEADING = 1000


class GroupedLists(NamedTuple):
    """Sets without weights; node `i` has those from `start[i]` to `start[i + 1]`.

    The first `leading[i]` of them lead, and the others follow group by group, `groups[i]` groups that differ by one set
    at most. Sets that lead, and sets of a group, are sorted so that those that begin alike follow each other. `often`:
    in which part of the lists of the union a set leads.
    """

    start: Integers
    leading: Integers
    groups: Integers
    members: Members
    often: Floats

    @property
    def nodes(self) -> int:
        """Number of columns."""
        return len(self.start) - 1

    @property
    def counts(self) -> Integers:
        """How many sets each node has."""
        return np.diff(self.start)


class Active(NamedTuple):
    """The sets in play: where those of each node begin, their places in the lists, and what groups add to logs."""

    start: Integers
    places: Integers
    log_factors: Floats


def grouped_lists(found: Sequence[ConsideredSets], in_group: int = IN_GROUP) -> GroupedLists:
    """The union of some lists; a group has about as many sets as lead, or `in_group`.

    >>> start, logs, nothing = np.array([0, 1, 3]), np.log([1.0, 8.0, 4.0]), np.zeros((2, 2))
    >>> one = ConsideredSets(start, np.array([[2], [0], [2]], dtype=np.int16), logs, np.array([1, 1]), *nothing, "")
    >>> lists = grouped_lists([one, one])
    >>> lists.members.tolist(), lists.leading.tolist(), lists.groups.tolist()
    ([[2], [0], [2]], [1, 1], [1, 1])
    """
    nodes = found[0].nodes
    width = max(own.members.shape[1] for own in found)
    parts = [_laid_out(found, node, width, in_group) for node in range(nodes)]
    members, leading, groups, often = zip(*parts, strict=True)
    start = np.concatenate([[0], np.cumsum([len(own) for own in members])]).astype(np.int64)
    return GroupedLists(
        start, np.array(leading), np.array(groups), np.ascontiguousarray(np.concatenate(members)), np.concatenate(often)
    )


def _laid_out(
    found: Sequence[ConsideredSets], node: int, width: int, in_group: int
) -> tuple[Members, int, int, Floats]:
    """The sets of one node, how many lead, in how many groups the others are, and how often each leads."""
    nodes = found[0].nodes
    sets, leads, logs = [], [], []
    for own in found:
        first, end = own.start[node], own.start[node + 1]
        part = np.full((end - first, width), nodes, dtype=np.int16)
        part[:, : own.members.shape[1]] = own.members[first:end]
        sets.append(part)
        leads.append(np.arange(end - first) < own.leading[node])
        logs.append(own.log_weights[first:end] - own.log_weights[first])
    members, number = np.unique(np.concatenate(sets), axis=0, return_inverse=True)
    number = number.reshape(-1)
    often = np.bincount(number, weights=np.concatenate(leads)) / len(found)
    best = np.full(len(members), -np.inf)
    np.maximum.at(best, number, np.concatenate(logs))
    # Heavier sets come first where some are as often in the lead.
    falling = np.lexsort((-best, -often))
    leading = int(np.clip((often >= _OFTEN).sum(), 1, _MOST_LEADING))
    others = falling[leading:]
    others = others[np.argsort(-best[others], kind="stable")]
    groups = max(1, -(-len(others) // max(leading, in_group)))
    # Heavy and light ones in every group; within it, in the order of their members.
    dealt = [np.sort(others[group::groups]) for group in range(groups)]
    order = np.concatenate([np.sort(falling[:leading]), *dealt])
    return members[order], leading, groups, often[order]


def lost_of(lists: GroupedLists, fresh: ConsideredSets) -> Floats:
    """For each node a bound on the posterior probability, for one table, of the sets that the union does not have.

    `fresh` are the sets that matter for that table: each one holds at most the share that it has of the weight of all
    its subsets among them (pruning.py).
    """
    lost = np.array(fresh.lost)
    for node, (own, other) in enumerate(zip(_keyed(fresh), _keyed(lists), strict=True)):
        missing = np.flatnonzero(~np.isin(own, other))
        first, end = fresh.start[node], fresh.start[node + 1]
        order = np.argsort(own, kind="stable")
        members, logs = np.ascontiguousarray(fresh.members[first:end]), fresh.log_weights[first:end]
        lost[node] += _sum_shares(missing, members, lists.nodes, logs, own, own[order], order, _KEYS)
    return np.minimum(lost, 1.0)


#: A random number for each column; the sum of those of its members is the key of a set.
_KEYS = np.append(np.random.Generator(np.random.PCG64(14)).integers(0, 2**62, 1 << 11, dtype=np.uint64), np.uint64(0))


def _keyed(lists: GroupedLists | ConsideredSets) -> Iterator[Masks]:
    """The keys of the sets of each node."""
    keys = _KEYS.copy()
    keys[lists.nodes] = 0
    for node in range(lists.nodes):
        members = lists.members[lists.start[node] : lists.start[node + 1]]
        yield keys[members].sum(axis=1, dtype=np.uint64)


@kernel
def _sum_shares(
    missing: Integers,
    members: Members,
    nodes: int,
    log_weights: Floats,
    keys: Masks,
    rising: Masks,
    order: Integers,
    column_keys: Masks,
) -> float:
    """The sum of the shares of some sets; `rising` has the keys of all sets in order."""
    total = 0.0
    for number in missing:
        size = 0
        while size < members.shape[1] and members[number, size] < nodes:
            size += 1
        log_sum = log_weights[number]
        for left_out in range(1, 1 << size):
            key = keys[number]
            for slot in range(size):
                if left_out >> slot & 1:
                    key -= column_keys[members[number, slot]]
            place = np.searchsorted(rising, key)
            if place < len(rising) and rising[place] == key:
                log_sum = add_logs(log_sum, log_weights[order[place]])
        total += np.exp(log_weights[number] - log_sum)
    return total


def choose_active(lists: GroupedLists, numbers: Integers, generator: np.random.Generator) -> Active:
    """Choose a group for each node, given the number of its set in its list: its own, or any if its set leads."""
    chosen = np.empty(lists.nodes, dtype=np.int64)
    sizes = _choose_groups(lists, numbers, generator, chosen)
    places, factors = np.empty(sizes[-1], dtype=np.int64), np.zeros(sizes[-1])
    _list_active(lists, chosen, sizes, places, factors)
    return Active(sizes, places, factors)


@inline_no_refcount
def _group_start(others: int, groups: int, group: int) -> int:
    """How many of the sets that do not lead are in earlier groups."""
    return group * (others // groups) + min(group, others % groups)


@kernel
def _choose_groups(
    lists: GroupedLists, numbers: Integers, generator: np.random.Generator, chosen: Integers
) -> Integers:
    nodes = len(chosen)
    start = np.zeros(nodes + 1, dtype=np.int64)
    for node in range(nodes):
        groups, leading = lists.groups[node], lists.leading[node]
        others = lists.start[node + 1] - lists.start[node] - leading
        group = 0
        if numbers[node] < leading:
            group = int(generator.random() * groups)
        else:
            while _group_start(others, groups, group + 1) <= numbers[node] - leading:
                group += 1
        chosen[node] = group
        size = _group_start(others, groups, group + 1) - _group_start(others, groups, group)
        start[node + 1] = start[node] + leading + size
    return start


@kernel
def _list_active(lists: GroupedLists, chosen: Integers, start: Integers, places: Integers, factors: Floats) -> None:
    for node in range(len(chosen)):
        leading, groups = lists.leading[node], lists.groups[node]
        others = lists.start[node + 1] - lists.start[node] - leading
        behind = lists.start[node] + leading + _group_start(others, groups, chosen[node])
        for place in range(start[node], start[node + 1]):
            rank = place - start[node]
            places[place] = lists.start[node] + rank if rank < leading else behind + rank - leading
            factors[place] = 0.0 if rank < leading else np.log(float(groups))
