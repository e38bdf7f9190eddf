"""Partition MCMC: a chain over ordered partitions of the variables (Kuipers & Moffa 2017).

Take the nodes without parents away from a graph, then those that have none left, and so on: these layers are an ordered
partition, and a graph has just one. A node of the first part has no parents; any other has parents in earlier parts
only, at least one of them in the part right before its own. So the weight of all graphs of a partition is a product
over the nodes, each a sum over parent sets. The chain visits partitions in proportion to their weight; from each kept
one a graph is drawn. Every graph counts once: this is the structure-modular posterior, without the bias of orders.

Moves: two parts in a row are joined or one is split in two, all with equal chances (the move of Kuipers & Moffa); two
nodes of different parts change places; one node is taken out and put back, into any part or between any two, with the
probability that the partition then has (it is never refused); a graph is drawn, some of its edges are turned round
(REV, reversal.py), and its partition is taken. The last move matters most: one edge that turns can shift whole branches
to other parts, which is a long way in small steps. Before its first step a chain follows Order MCMC for a while, from a
random order: that finds the good graphs far sooner.

A sum over the sets that meet a part is a difference of two look-ups. Where they are so close that it has to be summed
up set by set, the difference still is an upper bound, which nearly always is enough to refuse. A node that is put back
passes other parts only as long as there is something to be gained behind them. A step takes from ten to a few hundred
look-ups; memory: some numbers a node.

Kuipers & Moffa, "Partition MCMC for inference on acyclic digraphs", Journal of the American Statistical Association 112
(2017).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from dagpost.arrays import Floats, Integers, Masks
from dagpost.kernels import borrowing, copy_into, inlined, kernel
from dagpost.mcmc.chains import Round, check_settings
from dagpost.mcmc.families import FamilyTables, bits_of, log_sum_inside, log_sum_meeting
from dagpost.mcmc.graphs import add_edge_probabilities, draw_graph
from dagpost.mcmc.order import OrderMCMC, choose
from dagpost.mcmc.reversal import all_nodes, node_of, reverse_edge
from dagpost.tables import ModelTables

_SPLIT_OR_JOIN, _SWAP_NEIGHBOURS, _SWAP, _MOVE, _REVERSE = 0, 1, 2, 3, 4
#: How likely a step is of each kind, and how many edges one of the last kind tries to turn round.
CHANCES = (0.05, 0.05, 0.1, 0.2, 0.6)
REVERSALS = 10
#: Steps over orders before the first one over partitions: so many times the square of the number of nodes.
APPROACH = 12
#: Steps over orders between two looks whether the run goes on.
_PIECE = 100

#: Nats behind the best place from which on a place is not looked at: chosen once in 10^10 steps.
_NEGLIGIBLE = 25.0
#: A difference of two sums that is a smaller share than this of them is only a bound, once this error is added.
_CANCELLED = 1e-5
_ERROR = 1e-9


class PartitionState(NamedTuple):
    """The number of the part of each node, and the log weight of the parent sets that it then may have.

    `approach`, a single number: how many steps over orders come first.
    """

    part_of: Integers
    log_sums: Floats
    approach: Integers


@dataclass(frozen=True)
class PartitionMCMC:
    """A chain over ordered partitions; `DagPosterior(method=PartitionMCMC(chains=8), modularity="structure")`.

    Parameters
    ----------
    chains
        How many chains, each from a random order.
    thinning
        Steps from one kept graph to the next.
    burn_in
        Steps before the first kept graph.

    >>> PartitionMCMC(thinning=100)
    PartitionMCMC(chains=4, thinning=100, burn_in=10000)
    """

    chains: int = 4
    thinning: int = 20
    burn_in: int = 10_000

    name: ClassVar[str] = "partition-mcmc"
    modularity: ClassVar[str] = "structure"
    moves: ClassVar[tuple[str, ...]] = (
        "split or join",
        "swap neighbours",
        "swap any two",
        "move one",
        "new edge reversal",
    )
    state: ClassVar[type[PartitionState]] = PartitionState
    gives_edges: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Check the settings."""
        check_settings("PartitionMCMC", chains=self.chains, thinning=self.thinning, burn_in=self.burn_in)

    def prepare(self, tables: ModelTables) -> FamilyTables:
        """The weights of the families."""
        return tables.families

    def start(self, context: FamilyTables, generator: np.random.Generator) -> PartitionState:
        """The partition of a graph that fits a random order."""
        nodes = len(context.candidates)
        approach = np.array([APPROACH * nodes**2], dtype=np.int64)
        state = PartitionState(np.zeros(nodes, dtype=np.int64), np.zeros(nodes), approach)
        _take_partition_of(context, _graph_after_orders(context, generator, 0, np.zeros(1, dtype=np.int64)), state)
        return state

    def advance(
        self,
        context: FamilyTables,
        state: PartitionState,
        generator: np.random.Generator,
        output: Round,
        cancel: Integers,
    ) -> None:
        """One round."""
        if state.approach[0] > 0:
            parents = _graph_after_orders(context, generator, int(state.approach[0]), cancel)
            if cancel[0] != 0:
                return
            _take_partition_of(context, parents, state)
            state.approach[0] = 0
        _advance(context, state, generator, output, cancel)


def _graph_after_orders(tables: FamilyTables, generator: np.random.Generator, steps: int, cancel: Integers) -> Masks:
    """A graph that fits the order where some steps of Order MCMC end that began at a random order."""
    orders = OrderMCMC()
    state = orders.start(tables, generator)
    nodes, kinds = len(state.order), len(orders.moves)
    pieces = max(1, math.ceil(steps / _PIECE))
    output = Round(
        min(steps, _PIECE),
        np.zeros((pieces, nodes), dtype=np.uint64),
        np.zeros(pieces),
        np.zeros(pieces),
        np.zeros((nodes, nodes)),
        np.zeros(kinds, dtype=np.int64),
        np.zeros(kinds, dtype=np.int64),
    )
    orders.advance(tables, state, generator, output, cancel)
    return output.parents[-1]


class _Work(NamedTuple):
    """Where the chain stands, and room for one step."""

    #: The nodes of each part; zeros follow.
    parts: Masks
    #: What confines the parents of each node: they are inside the one and meet the other. And a graph.
    allowed: Masks
    to_meet: Masks
    parents: Masks
    #: Another partition, or this one without a node; and for each part of it all nodes before, the log weight of its
    #: nodes as they stand now, and what they could gain at most.
    other: Masks
    before: Masks
    held: Floats
    slack: Floats
    #: Log weights of nodes: of all sets inside what they are allowed; of those that meet what they have to.
    whole: Floats
    fresh: Floats
    #: The same where the node that is put back comes behind their part, right before it and alone, into the part
    #: before theirs, or before that.
    behind: Floats
    alone: Floats
    joined: Floats
    passed: Floats
    #: Places for that node: alone before part p (2 p) or inside it (2 p + 1). Its own log weight there, and all that
    #: changes.
    log_own: Floats
    log_place: Floats


@inlined
def _room_for(nodes: int) -> _Work:
    return _Work(
        np.zeros(nodes + 2, dtype=np.uint64),
        np.zeros(nodes, dtype=np.uint64),
        np.zeros(nodes, dtype=np.uint64),
        np.zeros(nodes, dtype=np.uint64),
        np.zeros(nodes + 2, dtype=np.uint64),
        np.zeros(nodes + 2, dtype=np.uint64),
        np.zeros(nodes + 2),
        np.zeros(nodes + 2),
        np.zeros(nodes),
        np.zeros(nodes),
        np.zeros(nodes),
        np.zeros(nodes),
        np.zeros(nodes),
        np.zeros(nodes),
        np.zeros(2 * nodes + 2),
        np.zeros(2 * nodes + 2),
    )


@borrowing
def _first(members: np.uint64) -> int:
    return node_of(members & (~members + np.uint64(1)))


@borrowing
def _rest(members: np.uint64) -> np.uint64:
    """All but the first."""
    return members & (members - np.uint64(1))


@borrowing
def _random_member(members: np.uint64, generator: np.random.Generator) -> np.uint64:
    for _ in range(int(generator.random() * bits_of(members))):
        members = _rest(members)
    return members & (~members + np.uint64(1))


@borrowing
def _count(parts: Masks) -> int:
    count = 0
    while parts[count] != np.uint64(0):
        count += 1
    return count


@borrowing
def _part_before(parts: Masks, part: int) -> np.uint64:
    return parts[part - 1] if part > 0 else np.uint64(0)


@borrowing
def _all_before(parts: Masks, part: int) -> np.uint64:
    mask = np.uint64(0)
    for earlier in range(part):
        mask |= parts[earlier]
    return mask


# Weights


@borrowing
def _total(members: np.uint64, values: Floats) -> float:
    total = 0.0
    while members != np.uint64(0):
        total += values[_first(members)]
        members = _rest(members)
    return total


@borrowing
def _take(members: np.uint64, values: Floats, log_sums: Floats) -> None:
    while members != np.uint64(0):
        log_sums[_first(members)] = values[_first(members)]
        members = _rest(members)


@borrowing
def _weigh_all(tables: FamilyTables, members: np.uint64, allowed: np.uint64, whole: Floats) -> float:
    """Log weights of all parent sets inside `allowed`, for some nodes; their total."""
    total = 0.0
    while members != np.uint64(0):
        node = _first(members)
        whole[node] = log_sum_inside(tables, node, allowed)
        total += whole[node]
        members = _rest(members)
    return total


@borrowing
def _weigh(
    tables: FamilyTables,
    members: np.uint64,
    allowed: np.uint64,
    to_meet: np.uint64,
    whole: Floats,
    result: Floats,
    hope: float,
) -> float:
    """Log weights of the parent sets inside `allowed` that meet `to_meet`, for some nodes; their total and `hope`.

    Where that is below 0, no more than this is known. `whole` is what `_weigh_all` gave.
    """
    bounds = np.uint64(0)
    while members != np.uint64(0):
        node = _first(members)
        result[node] = whole[node]
        if to_meet != np.uint64(0) and whole[node] > -math.inf:
            share = -math.expm1(log_sum_inside(tables, node, allowed & ~to_meet) - whole[node])
            if share < _CANCELLED:
                bounds |= np.uint64(1) << np.uint64(node)
                share = max(share, 0.0) + _ERROR
            result[node] += math.log(share)
        hope += result[node]
        members = _rest(members)
    while bounds != np.uint64(0) and hope >= 0.0:
        node = _first(bounds)
        hope -= result[node]
        result[node] = _log_sum_above(tables, node, allowed, to_meet, -hope)
        hope += result[node]
        bounds = _rest(bounds)
    return hope


@borrowing
def _log_sum_above(tables: FamilyTables, node: int, allowed: np.uint64, to_meet: np.uint64, floor: float) -> float:
    """`log_sum_meeting`, set by set; of what is below `floor` some may be missing."""
    total = 0.0
    heaviest = -math.inf
    limit = floor - _NEGLIGIBLE
    for position in range(tables.ranked_start[node], tables.ranked_start[node + 1]):
        if tables.ranked_tails[position] < limit:
            break
        parents = tables.ranked_masks[position]
        if parents & ~allowed == np.uint64(0) and parents & to_meet != np.uint64(0):
            if total == 0.0:
                heaviest = tables.ranked_logs[position]
                limit = max(limit, heaviest - _NEGLIGIBLE)
            total += math.exp(tables.ranked_logs[position] - heaviest)
    return heaviest + math.log(total) if total > 0.0 else -math.inf


# Splitting, joining, swapping


@borrowing
def _ways_to_split(part: np.uint64) -> float:
    return math.ldexp(1.0, bits_of(part)) - 2.0


@borrowing
def _neighbours(parts: Masks) -> float:
    count = _count(parts)
    total = count - 1.0
    for part in range(count):
        total += _ways_to_split(parts[part])
    return total


@borrowing
def _random_share(members: np.uint64, generator: np.random.Generator) -> np.uint64:
    """Any subset, neither empty nor everything, with equal chances."""
    share = np.uint64(0)
    while share == np.uint64(0) or share == members:
        share = np.uint64(0)
        left = members
        while left != np.uint64(0):
            if generator.random() < 0.5:
                share |= left & (~left + np.uint64(1))
            left = _rest(left)
    return share


@borrowing
def _split_or_join(tables: FamilyTables, log_sums: Floats, work: _Work, generator: np.random.Generator) -> bool:
    """Go to a neighbour, if chance will have it: some nodes, `moving`, leave a part or join it."""
    parts, other = work.parts, work.other
    count, neighbours = _count(parts), _neighbours(parts)
    pick = generator.random() * neighbours
    copy_into(other, parts)
    if pick < count - 1:
        part = int(pick)
        moving, next_part = parts[part + 1], parts[part + 2]
        allowed, to_meet = _all_before(parts, part), _part_before(parts, part)
        other[part] |= moving
        for later in range(part + 1, count):
            other[later] = parts[later + 1]
        last = other[part]
    else:
        pick -= count - 1
        part = 0
        for candidate in range(count):
            # Rounding errors must not lead to a part that cannot be split.
            if pick >= 0.0 and _ways_to_split(parts[candidate]) > 0.0:
                part = candidate
                pick -= _ways_to_split(parts[candidate])
        to_meet = _random_share(parts[part], generator)
        moving, next_part = parts[part] ^ to_meet, parts[part + 1]
        allowed = _all_before(parts, part) | to_meet
        for later in range(count, part, -1):
            other[later] = parts[later - 1]
        other[part], other[part + 1] = to_meet, moving
        last = moving
    hope = -math.log((1.0 - generator.random()) * _neighbours(other) / neighbours)
    hope += _weigh_all(tables, next_part, allowed | last, work.whole) - _total(moving | next_part, log_sums)
    _weigh_all(tables, moving, allowed, work.whole)
    hope = _weigh(tables, moving, allowed, to_meet, work.whole, work.fresh, hope)
    if hope >= 0.0:
        hope -= _total(next_part, work.whole)
        hope = _weigh(tables, next_part, allowed | last, last, work.whole, work.fresh, hope)
    if not hope >= 0.0:
        return False
    _take(moving | next_part, work.fresh, log_sums)
    copy_into(parts, other)
    return True


@borrowing
def _swap(
    tables: FamilyTables,
    log_sums: Floats,
    work: _Work,
    one: np.uint64,
    other: np.uint64,
    generator: np.random.Generator,
) -> bool:
    """Let two nodes change places, if they are in different parts and chance will have it."""
    parts = work.parts
    first, last = 0, 0
    for part in range(_count(parts)):
        first = part if parts[part] & one != np.uint64(0) else first
        last = part if parts[part] & other != np.uint64(0) else last
    if first == last:
        return False
    if first > last:
        first, last, one, other = last, first, other, one
    parts[first] ^= one | other
    parts[last] ^= one | other
    hope = -math.log(1.0 - generator.random())
    # Of the first part only the node that is new there has to be looked up.
    changed = other
    before = _all_before(parts, first)
    hope += _weigh_all(tables, other, before, work.whole)
    for part in range(first + 1, last + 2):
        changed |= parts[part]
        before |= parts[part - 1]
        hope += _weigh_all(tables, parts[part], before, work.whole)
    hope -= _total(changed, log_sums)
    before = _all_before(parts, first)
    for part in range(first, last + 2):
        if hope >= 0.0:
            members = parts[part] & changed
            hope -= _total(members, work.whole)
            hope = _weigh(tables, members, before, _part_before(parts, part), work.whole, work.fresh, hope)
        before |= parts[part]
    if hope >= 0.0:
        _take(changed, work.fresh, log_sums)
        return True
    parts[first] ^= one | other
    parts[last] ^= one | other
    return False


# Moving one node


@borrowing
def _take_out(log_sums: Floats, work: _Work, bit: np.uint64) -> int:
    """Write the partition without one node into `other`; the place that the node has."""
    parts, rest = work.parts, work.other
    place = 0
    count = 0
    before = np.uint64(0)
    for part in range(len(parts)):
        if parts[part] & bit != np.uint64(0):
            place = 2 * part + (parts[part] != bit)
        if parts[part] != bit:
            rest[count] = parts[part] & ~bit
            work.before[count] = before
            work.held[count] = _total(rest[count], log_sums)
            before |= rest[count]
            count += 1
    for part in range(count, len(parts)):
        rest[part] = np.uint64(0)
    return place


@borrowing
def _try_places(tables: FamilyTables, log_sums: Floats, work: _Work, node: int, part: int, gained: float) -> None:
    """Log weights of the two places right before `part`: inside the part before it, and alone.

    `gained` is what the nodes of all other parts then weigh more than now.
    """
    rest = work.other
    bit = np.uint64(1) << np.uint64(node)
    before, previous = work.before[part], _part_before(rest, part)
    hope = _NEGLIGIBLE + gained - log_sums[node]
    most = log_sum_inside(tables, node, before)
    if hope + most + work.slack[part] < 0.0:
        return
    hope += most - work.held[part]
    hope = _weigh(tables, rest[part], before | bit, previous | bit, work.whole, work.joined, hope)
    if not hope >= 0.0:
        return
    hope -= most
    for place in range(max(2 * part - 1, 0), 2 * part + 1):
        own_before, own_previous = work.before[place // 2], _part_before(rest, place // 2)
        _weigh_all(tables, bit, own_before, work.whole)
        here = _weigh(tables, bit, own_before, own_previous, work.whole, work.fresh, hope)
        work.log_own[place] = work.fresh[node]
        if place == 2 * part and here >= 0.0:
            here -= _total(rest[part], work.joined)
            here = _weigh(tables, rest[part], before | bit, bit, work.whole, work.alone, here)
        if here >= 0.0:
            work.log_place[place] = here - _NEGLIGIBLE


@borrowing
def _move(tables: FamilyTables, log_sums: Floats, work: _Work, node: int, generator: np.random.Generator) -> bool:
    """Take one node out and put it back with the probability of each partition that this can lead to.

    Log weights are relative to now. From where the node is they are worked out part by part in both directions, until
    the nodes that it has passed lose more than can be gained behind them.
    """
    parts, rest = work.parts, work.other
    bit = np.uint64(1) << np.uint64(node)
    now = _take_out(log_sums, work, bit)
    count, next_part = _count(rest), (now + 1) // 2
    largest_slack, earlier_slack = 0.0, 0.0
    for part in range(count + 1):
        work.slack[part] = _weigh_all(tables, rest[part], work.before[part] | bit, work.whole) - work.held[part]
        largest_slack = max(largest_slack, work.slack[part])
        earlier_slack += work.slack[part] if part < next_part else 0.0
    for place in range(2 * count + 1):
        work.log_place[place] = -math.inf
    _try_places(tables, log_sums, work, node, next_part, 0.0)
    most = _NEGLIGIBLE + log_sum_inside(tables, node, work.before[count]) - log_sums[node] + largest_slack
    gained = 0.0
    for part in range(next_part, count):
        before = work.before[part]
        _weigh_all(tables, rest[part], before, work.fresh)
        hope = gained + most - work.held[part]
        hope = _weigh(tables, rest[part], before, _part_before(rest, part), work.fresh, work.behind, hope)
        if not hope >= 0.0:
            break
        gained = hope - most
        _try_places(tables, log_sums, work, node, part + 1, gained)
    gained = 0.0
    for part in range(next_part, 0, -1):
        most = _NEGLIGIBLE + log_sum_inside(tables, node, work.before[part - 1]) - log_sums[node] + earlier_slack
        hope = gained + most - work.held[part]
        hope = _weigh(tables, rest[part], work.before[part] | bit, rest[part - 1], work.whole, work.passed, hope)
        if not hope >= 0.0:
            break
        gained = hope - most
        earlier_slack -= work.slack[part - 1]
        _try_places(tables, log_sums, work, node, part - 1, gained)
    work.log_place[now] = 0.0
    chosen = choose(work.log_place, 2 * count + 1, generator.random())
    if chosen == now:
        return False
    own_part, following = chosen // 2, (chosen + 1) // 2
    log_sums[node] = work.log_own[chosen]
    for part in range(next_part, following):
        _take(rest[part], work.behind, log_sums)
    for part in range(following + 1, next_part + 1):
        _take(rest[part], work.passed, log_sums)
    copy_into(parts, rest)
    if own_part < following:
        _take(rest[following], work.joined, log_sums)
        parts[own_part] |= bit
    else:
        _take(rest[following], work.alone, log_sums)
        for part in range(count, own_part, -1):
            parts[part] = rest[part - 1]
        parts[own_part] = bit
    return True


# Graphs


@borrowing
def _find_parts(parents: Masks, parts: Masks) -> None:
    """The partition of a graph."""
    left = all_nodes(len(parents))
    for part in range(len(parts)):
        parts[part] = np.uint64(0)
        members = left
        while members != np.uint64(0):
            if parents[_first(members)] & left == np.uint64(0):
                parts[part] |= members & (~members + np.uint64(1))
            members = _rest(members)
        left &= ~parts[part]


@borrowing
def _confine(work: _Work, tables: FamilyTables, log_sums: Floats, look_up: bool) -> None:
    """What confines the parents of every node; if asked to, look weights up where that has changed."""
    before, previous = np.uint64(0), np.uint64(0)
    for part in range(_count(work.parts)):
        members = work.parts[part]
        while members != np.uint64(0):
            node = _first(members)
            if look_up and (work.allowed[node] != before or work.to_meet[node] != previous):
                log_sums[node] = log_sum_meeting(tables, node, before, previous)
            work.allowed[node], work.to_meet[node] = before, previous
            members = _rest(members)
        previous = work.parts[part]
        before |= previous


@borrowing
def _reverse_edges(tables: FamilyTables, log_sums: Floats, work: _Work, generator: np.random.Generator) -> int:
    """Draw a graph, try to turn edges of it round and take its partition; how many turned."""
    _confine(work, tables, log_sums, False)
    draw_graph(tables, work.allowed, work.to_meet, log_sums, generator, work.parents)
    turned = 0
    for _ in range(REVERSALS):
        turned += reverse_edge(tables, work.parents, generator)
    if turned > 0:
        _find_parts(work.parents, work.parts)
        _confine(work, tables, log_sums, True)
    return turned


# Chains


@borrowing
def _write(work: _Work, part_of: Integers) -> None:
    for part in range(_count(work.parts)):
        members = work.parts[part]
        while members != np.uint64(0):
            part_of[_first(members)] = part
            members = _rest(members)


@kernel
def _take_partition_of(tables: FamilyTables, parents: Masks, state: PartitionState) -> None:
    """Set a chain down where a graph belongs."""
    work = _room_for(len(parents))
    _find_parts(parents, work.parts)
    _confine(work, tables, state.log_sums, False)
    for node in range(len(parents)):
        state.log_sums[node] = log_sum_meeting(tables, node, work.allowed[node], work.to_meet[node])
    _write(work, state.part_of)


@borrowing
def _step(tables: FamilyTables, log_sums: Floats, work: _Work, kind: int, generator: np.random.Generator) -> int:
    """One step of this kind; how many moves were accepted."""
    nodes, count = len(log_sums), _count(work.parts)
    if kind == _SPLIT_OR_JOIN:
        return int(_split_or_join(tables, log_sums, work, generator))
    if kind == _SWAP_NEIGHBOURS:
        part = int(generator.random() * (count - 1))
        one = _random_member(work.parts[part], generator)
        # Where there is one part only, a node swaps with itself.
        other = _random_member(work.parts[part + (count > 1)], generator)
        return int(_swap(tables, log_sums, work, one, other, generator))
    if kind == _SWAP:
        one = _random_member(all_nodes(nodes), generator)
        other = _random_member(all_nodes(nodes) ^ one, generator)
        return int(_swap(tables, log_sums, work, one, other, generator))
    if kind == _MOVE:
        return int(_move(tables, log_sums, work, int(generator.random() * nodes), generator))
    return _reverse_edges(tables, log_sums, work, generator)


@kernel
def _advance(
    tables: FamilyTables, state: PartitionState, generator: np.random.Generator, output: Round, cancel: Integers
) -> None:
    nodes, log_sums = len(state.part_of), state.log_sums
    work = _room_for(nodes)
    for node in range(nodes):
        work.parts[state.part_of[node]] |= np.uint64(1) << np.uint64(node)
    for kept in range(len(output.log_joint)):
        for _ in range(output.thinning if nodes > 1 else 0):
            if cancel[0] != 0:
                return
            chance = generator.random()
            kind = 0
            while kind < _REVERSE and chance >= CHANCES[kind]:
                chance -= CHANCES[kind]
                kind += 1
            output.proposed[kind] += REVERSALS if kind == _REVERSE else 1
            output.accepted[kind] += _step(tables, log_sums, work, kind, generator)
        _confine(work, tables, log_sums, False)
        output.log_joint[kept] = draw_graph(
            tables, work.allowed, work.to_meet, log_sums, generator, output.parents[kept]
        )
        output.log_state[kept] = log_sums.sum() + tables.heaviest.sum()
        add_edge_probabilities(tables, work.allowed, work.to_meet, log_sums, output.edges)
    _write(work, state.part_of)
