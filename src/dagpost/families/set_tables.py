"""Considered parent sets as kernels read them: in groups, so that a list of thousands need not be read each time.

The sets that lead a node's list are few and hold most of the weight; the others may be many. These are dealt out into
`2^bits` groups of about as many sets as lead. A chain that redraws the parents of a node looks at the leading sets and
at *one* group. That is exact: let the state of a node be its parent set and a group, where each leading set goes with
every group, with its weight divided by the number of groups, and any other set with its own group only. Summed over the
groups, every set has its weight. Given a leading set the group is any one, with equal chances; given another set it is
its own; and given the group, the set is drawn among the leading ones and those of the group, by these weights. Here the
sets in groups have their weight times the number of groups instead.

Memory: 24 bytes and 2 more for each possible member, a set.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.arrays import Floats, Integers, Wide
from dagpost._tools.kernels import inline_no_refcount, kernel
from dagpost._tools.wide_floats import FRACTION_BITS, ZERO, add, from_log
from dagpost.families.considered_sets import ConsideredSets

#: A group has at least about as many sets.
IN_GROUP = 32


class SetTables(NamedTuple):
    """Lists for kernels; weights are wide floats relative to the heaviest set of the node.

    The sets of node `i` from `start[i]` on: first those that lead, then group by group the others. `tails`: the weight
    of a set and of all that follow it in its group; for a set that leads, the heaviest of the groups included.
    """

    start: Integers
    leading: Integers
    bits: Integers
    #: Without a sign: kernels index with them.
    members: NDArray[np.uint16]
    log_weights: Floats
    weights: Wide
    tails: Wide


def set_tables(considered: ConsideredSets, power: float = 1.0, in_group: int = IN_GROUP) -> SetTables:
    """The lists for kernels; every weight may be taken to a power below 1, which flattens the posterior.

    A group has about as many sets as lead the list, or `in_group`.

    >>> members = np.array([[2], [0], [2]], dtype=np.int16)
    >>> logs = np.log([1.0, 8.0, 4.0])
    >>> lists = ConsideredSets(np.array([0, 1, 3]), members, logs, np.array([1, 2]), *np.zeros((2, 2)), "all")
    >>> from dagpost._tools.wide_floats import to_logs
    >>> np.exp(to_logs(set_tables(lists).tails)).tolist()
    [1.0, 1.5, 0.5]
    """
    start, leading = considered.start, considered.leading
    others = considered.counts - leading
    bits = np.ceil(np.log2(np.maximum(others / np.maximum(leading, in_group), 1.0))).astype(np.int64)
    order = np.empty(start[-1], dtype=np.int64)
    _deal_out(start, leading, bits, order)
    log_weights = considered.log_weights[order]
    weights, tails = np.empty(len(order), dtype=np.int64), np.empty(len(order), dtype=np.int64)
    _weigh(start, leading, bits, log_weights, power, weights, tails)
    # An even number of places, so that kernels can take two at a time.
    width = considered.members.shape[1]
    members = np.full((len(order), width + width % 2), considered.nodes, dtype=np.uint16)
    members[:, :width] = considered.members[order]
    return SetTables(start, leading, bits, members, log_weights, weights, tails)


@inline_no_refcount
def group_start(others: int, bits: int, group: int) -> int:
    """How many of the sets that do not lead are in earlier groups."""
    whole, rest = others >> bits, others & ((1 << bits) - 1)
    return group * whole + min(group, rest)


@inline_no_refcount
def group_of(others: int, bits: int, number: int) -> int:
    """The group of one of the sets that do not lead, by its number among them."""
    whole, rest = others >> bits, others & ((1 << bits) - 1)
    if number < rest * (whole + 1):
        return number // (whole + 1)
    return rest + (number - rest * (whole + 1)) // whole


@kernel
def _deal_out(start: Integers, leading: Integers, bits: Integers, order: Integers) -> None:
    """Where each set of the tables is in the lists: heavy and light ones in every group."""
    for node in range(len(leading)):
        first = start[node]
        for number in range(leading[node]):
            order[first + number] = first + number
        first += leading[node]
        others, groups = start[node + 1] - first, 1 << bits[node]
        for group in range(groups):
            begin = first + group_start(others, bits[node], group)
            for place in range(group_start(others, bits[node], group + 1) - begin + first):
                order[begin + place] = first + group + place * groups


@kernel
def _weigh(
    start: Integers, leading: Integers, bits: Integers, log_weights: Floats, power: float, weights: Wide, tails: Wide
) -> None:
    for node in range(len(leading)):
        first, middle, end = start[node], start[node] + leading[node], start[node + 1]
        for place in range(first, end):
            weights[place] = from_log(power * (log_weights[place] - log_weights[first]))
            if place >= middle:
                weights[place] += bits[node] << FRACTION_BITS
        heaviest = ZERO
        for group in range(1 << bits[node]):
            begin = middle + group_start(end - middle, bits[node], group)
            total = ZERO
            for place in range(middle + group_start(end - middle, bits[node], group + 1) - 1, begin - 1, -1):
                total = add(weights[place], total)
                tails[place] = total
            heaviest = max(heaviest, total)
        for place in range(middle - 1, first - 1, -1):
            heaviest = add(weights[place], heaviest)
            tails[place] = heaviest
