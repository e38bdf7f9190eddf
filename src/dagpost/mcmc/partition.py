"""Partition MCMC: a chain over ordered partitions of the variables (Kuipers & Moffa 2017).

Take the nodes without parents away from a graph, then those that have none left, and so on: the layers are an ordered
partition, and each graph has just one. A node of the first part has no parents; any other has parents in earlier parts
only, at least one of them in the part right before its own. So the weight of all graphs of a partition is a product
over the nodes of sums of parent sets. The chain visits partitions in proportion to their weight; from each kept one a
graph is drawn. Every graph counts once: this is the structure-modular posterior, without the bias of orders.

Moves: two parts in a row are joined or one is split in two, all with equal chances (the move of Kuipers & Moffa); two
nodes of different parts change places; one node is taken out and put back anywhere, into a part or between two, with
the probability that the partition then has (never refused); and a graph is drawn, some of its edges are turned round
(REV, reversal.py), and its partition is taken. The last one matters most: one edge that turns may shift whole branches
to other parts, which is a long way in small steps. Before its first step a chain follows Order MCMC for a while from a
random order, which finds the region of the good graphs far sooner.

A sum over sets that meet a part is a difference of two table look-ups. Where they are so close that it has to be summed
up set by set, the difference still is an upper bound, and nearly always enough to refuse. The node that is put back
passes parts only as long as there is anything to be gained behind them. Memory: some numbers a node.

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
#: With which probability a step is of which kind.
CHANCES = (0.1, 0.1, 0.1, 0.2, 0.5)
#: Edges that are turned round in a drawn graph, one after another.
REVERSALS = 10
#: Steps over orders before the first one over partitions: this times the square of the number of nodes.
APPROACH = 12

#: Nats below which a place is not worth a look: it would be chosen once in 10^11 steps.
_NEGLIGIBLE = 25.0
#: A difference of two sums that is a smaller share than this of them is only a bound, by this much more at most.
_CANCELLED = 1e-5
_NOISE = 1e-9
#: Steps over orders between two looks whether the run goes on.
_PIECE = 100


class PartitionState(NamedTuple):
    """The number of the part of every node, and the log weight of the parent sets that it then may have.

    `approach` is one number: how many steps over orders are still to come first.
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
    PartitionMCMC(chains=4, thinning=100, burn_in=20000)
    """

    chains: int = 4
    thinning: int = 20
    burn_in: int = 20_000

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
        _stand_by(context, _graph_of_orders(context, generator, 0, np.zeros(1, dtype=np.int64)), state)
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
            parents = _graph_of_orders(context, generator, int(state.approach[0]), cancel)
            if cancel[0] == 0:
                _stand_by(context, parents, state)
            state.approach[0] = 0
        _advance(context, state, generator, output, cancel)


def _graph_of_orders(tables: FamilyTables, generator: np.random.Generator, steps: int, cancel: Integers) -> Masks:
    """A graph that fits the order that some steps of Order MCMC lead to, from a random order."""
    orders = OrderMCMC()
    state = orders.start(tables, generator)
    nodes = len(state.order)
    # Cut in pieces, after each of which the kernel looks whether it is still wanted.
    pieces = max(1, math.ceil(steps / _PIECE))
    kinds = len(orders.moves)
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
    """Where the chain stands, and room for one step.

    `parts`: the nodes of each part, then zeros. `allowed` and `to_meet`: the sets that confine the parents of each node.
    `proposed`: another partition, or this one without one node, and `before` what comes before each of its parts.
    """

    parts: Masks
    allowed: Masks
    to_meet: Masks
    proposed: Masks
    before: Masks
    parents: Masks
    #: Log weights of nodes: of all sets inside what they are allowed, and of those that meet what they have to.
    whole: Floats
    fresh: Floats
    #: Log weights of each other node where the node that is put back comes after its part, right before it all alone,
    #: in the part before it, or earlier than that.
    after: Floats
    alone: Floats
    joined: Floats
    passed: Floats
    #: What the nodes of each part weigh now, and what they could gain.
    held: Floats
    slack: Floats
    #: The places of that node: alone before part p (2 p), or inside it (2 p + 1).
    log_own: Floats
    log_place: Floats


@inlined
def _room_for(nodes: int) -> _Work:
    return _Work(
        np.zeros(nodes + 2, dtype=np.uint64),
        np.zeros(nodes, dtype=np.uint64),
        np.zeros(nodes, dtype=np.uint64),
        np.zeros(nodes + 2, dtype=np.uint64),
        np.zeros(nodes + 2, dtype=np.uint64),
        np.zeros(nodes, dtype=np.uint64),
        np.zeros(nodes),
        np.zeros(nodes),
        np.zeros(nodes),
        np.zeros(nodes),
        np.zeros(nodes),
        np.zeros(nodes),
        np.zeros(nodes + 2),
        np.zeros(nodes + 2),
        np.zeros(2 * nodes + 2),
        np.zeros(2 * nodes + 2),
    )


@borrowing
def _first(members: np.uint64) -> int:
    return node_of(members & (~members + np.uint64(1)))


@borrowing
def _without_first(members: np.uint64) -> np.uint64:
    return members & (members - np.uint64(1))


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


@borrowing
def _part_with(parts: Masks, bit: np.uint64) -> int:
    part = 0
    while parts[part] & bit == np.uint64(0):
        part += 1
    return part


@borrowing
def _random_member(members: np.uint64, generator: np.random.Generator) -> np.uint64:
    for _ in range(int(generator.random() * bits_of(members))):
        members = _without_first(members)
    return members & (~members + np.uint64(1))


# Weights


@borrowing
def _total(members: np.uint64, values: Floats) -> float:
    total = 0.0
    while members != np.uint64(0):
        total += values[_first(members)]
        members = _without_first(members)
    return total


@borrowing
def _take(members: np.uint64, values: Floats, log_sums: Floats) -> None:
    while members != np.uint64(0):
        node = _first(members)
        members = _without_first(members)
        log_sums[node] = values[node]


@borrowing
def _weigh_all(tables: FamilyTables, members: np.uint64, allowed: np.uint64, whole: Floats) -> float:
    """Log weight of all parent sets inside `allowed`, for some nodes; their sum."""
    total = 0.0
    while members != np.uint64(0):
        node = _first(members)
        members = _without_first(members)
        whole[node] = log_sum_inside(tables, node, allowed)
        total += whole[node]
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
    """`hope` and the log weights of the parent sets inside `allowed` that meet `to_meet`, for some nodes, added up.

    Where that is below 0, nobody wants to know by how much. `whole` is what `_weigh_all` gives.
    """
    bounds = np.uint64(0)
    while members != np.uint64(0):
        node = _first(members)
        result[node] = whole[node]
        if to_meet != np.uint64(0) and whole[node] > -math.inf:
            share = -math.expm1(log_sum_inside(tables, node, allowed & ~to_meet) - whole[node])
            if share < _CANCELLED:
                bounds |= np.uint64(1) << np.uint64(node)
                share = max(share, 0.0) + _NOISE
            result[node] += math.log(share)
        hope += result[node]
        members = _without_first(members)
    while bounds != np.uint64(0) and hope >= 0.0:
        node = _first(bounds)
        bounds = _without_first(bounds)
        hope -= result[node]
        result[node] = _log_sum_above(tables, node, allowed, to_meet, -hope)
        hope += result[node]
    return hope


@borrowing
def _log_sum_above(tables: FamilyTables, node: int, allowed: np.uint64, to_meet: np.uint64, floor: float) -> float:
    """`log_sum_meeting`, set by set; where it is below `floor`, less may come out."""
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


# Moves


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
def _random_half(members: np.uint64, generator: np.random.Generator) -> np.uint64:
    """Any subset but none and all, with equal chances."""
    half = np.uint64(0)
    while half == np.uint64(0) or half == members:
        half = np.uint64(0)
        rest = members
        while rest != np.uint64(0):
            if generator.random() < 0.5:
                half |= rest & (~rest + np.uint64(1))
            rest = _without_first(rest)
    return half


@borrowing
def _split_or_join(tables: FamilyTables, log_sums: Floats, work: _Work, generator: np.random.Generator) -> bool:
    """Go to a neighbour: `moving`, the second of two parts, joins the first or leaves it."""
    parts, proposed = work.parts, work.proposed
    count = _count(parts)
    neighbours = _neighbours(parts)
    pick = generator.random() * neighbours
    joins = pick < count - 1
    part = 0
    if joins:
        part = int(pick)
    else:
        pick -= count - 1
        for candidate in range(count):
            # Rounding errors must not end in a part that cannot be split.
            if _ways_to_split(parts[candidate]) > 0.0:
                part = candidate
                pick -= _ways_to_split(parts[candidate])
                if pick < 0.0:
                    break
    allowed = _all_before(parts, part)
    copy_into(proposed, parts)
    if joins:
        moving, behind = parts[part + 1], parts[part + 2]
        to_meet = _part_before(parts, part)
        proposed[part] |= moving
        for later in range(part + 1, count):
            proposed[later] = parts[later + 1]
        last = proposed[part]
    else:
        to_meet = _random_half(parts[part], generator)
        allowed |= to_meet
        moving, behind = parts[part] ^ to_meet, parts[part + 1]
        for later in range(count, part, -1):
            proposed[later] = parts[later - 1]
        proposed[part], proposed[part + 1] = to_meet, moving
        last = moving
    hope = -math.log((1.0 - generator.random()) * _neighbours(proposed) / neighbours)
    hope -= _total(moving | behind, log_sums)
    hope += _weigh_all(tables, behind, allowed | last, work.whole)
    _weigh_all(tables, moving, allowed, work.whole)
    hope = _weigh(tables, moving, allowed, to_meet, work.whole, work.fresh, hope)
    if hope >= 0.0:
        hope -= _total(behind, work.whole)
        hope = _weigh(tables, behind, allowed | last, last, work.whole, work.fresh, hope)
    if not hope >= 0.0:
        return False
    _take(moving | behind, work.fresh, log_sums)
    copy_into(parts, proposed)
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
    """Let two nodes of different parts change places, if chance will have it."""
    parts = work.parts
    first, last = _part_with(parts, one), _part_with(parts, other)
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
        before |= parts[part - 1]
        changed |= parts[part]
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


@borrowing
def _take_out(log_sums: Floats, work: _Work, bit: np.uint64) -> int:
    """Write the partition without one node into `proposed`; the place that the node has."""
    parts, rest = work.parts, work.proposed
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
    rest = work.proposed
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
        own_part = place // 2
        own_before, own_previous = work.before[own_part], _part_before(rest, own_part)
        _weigh_all(tables, bit, own_before, work.whole)
        here = _weigh(tables, bit, own_before, own_previous, work.whole, work.fresh, hope)
        work.log_own[place] = work.fresh[node]
        if own_part == part and here >= 0.0:
            here -= _total(rest[part], work.joined)
            here = _weigh(tables, rest[part], before | bit, bit, work.whole, work.alone, here)
        if here >= 0.0:
            work.log_place[place] = here - _NEGLIGIBLE


@borrowing
def _move(tables: FamilyTables, log_sums: Floats, work: _Work, node: int, generator: np.random.Generator) -> bool:
    """Take one node out and put it back with the probability of each partition that this can lead to.

    All log weights are relative to now. From where the node is, they are worked out part by part in both directions,
    until the nodes that have been passed lose more than can be gained behind them.
    """
    parts, rest = work.parts, work.proposed
    bit = np.uint64(1) << np.uint64(node)
    now = _take_out(log_sums, work, bit)
    count = _count(rest)
    next_part = (now + 1) // 2
    largest, earlier = 0.0, 0.0
    for part in range(count + 1):
        work.slack[part] = _weigh_all(tables, rest[part], work.before[part] | bit, work.whole) - work.held[part]
        largest = max(largest, work.slack[part])
        if part < next_part:
            earlier += work.slack[part]
    for place in range(2 * count + 1):
        work.log_place[place] = -math.inf
    _try_places(tables, log_sums, work, node, next_part, 0.0)
    most = _NEGLIGIBLE + log_sum_inside(tables, node, work.before[count]) - log_sums[node] + largest
    gained = 0.0
    for part in range(next_part, count):
        before = work.before[part]
        _weigh_all(tables, rest[part], before, work.fresh)
        hope = gained + most - work.held[part]
        hope = _weigh(tables, rest[part], before, _part_before(rest, part), work.fresh, work.after, hope)
        if not hope >= 0.0:
            break
        gained = hope - most
        _try_places(tables, log_sums, work, node, part + 1, gained)
    gained = 0.0
    for part in range(next_part, 0, -1):
        most = _NEGLIGIBLE + log_sum_inside(tables, node, work.before[part - 1]) - log_sums[node] + earlier
        hope = gained + most - work.held[part]
        hope = _weigh(tables, rest[part], work.before[part] | bit, rest[part - 1], work.whole, work.passed, hope)
        if not hope >= 0.0:
            break
        gained = hope - most
        earlier -= work.slack[part - 1]
        _try_places(tables, log_sums, work, node, part - 1, gained)
    work.log_place[now] = 0.0
    chosen = choose(work.log_place, 2 * count + 1, generator.random())
    if chosen == now:
        return False
    own_part, following = chosen // 2, (chosen + 1) // 2
    log_sums[node] = work.log_own[chosen]
    for part in range(next_part, following):
        _take(rest[part], work.after, log_sums)
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
    everyone = all_nodes(len(parents))
    placed = np.uint64(0)
    for part in range(len(parts)):
        parts[part] = np.uint64(0)
        left = everyone & ~placed
        while left != np.uint64(0):
            node = _first(left)
            left = _without_first(left)
            if parents[node] & ~placed == np.uint64(0):
                parts[part] |= np.uint64(1) << np.uint64(node)
        placed |= parts[part]


@borrowing
def _confine(tables: FamilyTables, log_sums: Floats, work: _Work, look_up: bool) -> None:
    """Work out what confines the parents of every node and, where that has changed, look their weight up if asked to."""
    before = np.uint64(0)
    previous = np.uint64(0)
    for part in range(_count(work.parts)):
        members = work.parts[part]
        while members != np.uint64(0):
            node = _first(members)
            members = _without_first(members)
            if look_up and (work.allowed[node] != before or work.to_meet[node] != previous):
                log_sums[node] = log_sum_meeting(tables, node, before, previous)
            work.allowed[node], work.to_meet[node] = before, previous
        previous = work.parts[part]
        before |= previous


@borrowing
def _reverse_edges(
    tables: FamilyTables, log_sums: Floats, work: _Work, times: int, generator: np.random.Generator
) -> int:
    """Draw a graph, try to turn edges of it round and take its partition; how often that was done."""
    _confine(tables, log_sums, work, False)
    draw_graph(tables, work.allowed, work.to_meet, log_sums, generator, work.parents)
    turned = 0
    for _ in range(times):
        turned += reverse_edge(tables, work.parents, generator)
    if turned > 0:
        _find_parts(work.parents, work.parts)
        _confine(tables, log_sums, work, True)
    return turned


@borrowing
def _write(work: _Work, state: PartitionState) -> None:
    for part in range(_count(work.parts)):
        members = work.parts[part]
        while members != np.uint64(0):
            state.part_of[_first(members)] = part
            members = _without_first(members)


@kernel
def _stand_by(tables: FamilyTables, parents: Masks, state: PartitionState) -> None:
    """Go to the partition of a graph."""
    work = _room_for(len(parents))
    _find_parts(parents, work.parts)
    _confine(tables, state.log_sums, work, False)
    for node in range(len(parents)):
        state.log_sums[node] = log_sum_meeting(tables, node, work.allowed[node], work.to_meet[node])
    _write(work, state)


@borrowing
def step(tables: FamilyTables, log_sums: Floats, work: _Work, kind: int, generator: np.random.Generator) -> int:
    """One step of a kind; how many moves were accepted."""
    nodes = len(log_sums)
    parts = work.parts
    if kind == _SPLIT_OR_JOIN:
        return int(_split_or_join(tables, log_sums, work, generator))
    if kind == _SWAP_NEIGHBOURS:
        count = _count(parts)
        if count == 1:
            return 0
        part = int(generator.random() * (count - 1))
        one = _random_member(parts[part], generator)
        other = _random_member(parts[part + 1], generator)
        return int(_swap(tables, log_sums, work, one, other, generator))
    if kind == _SWAP:
        one = _random_member(all_nodes(nodes), generator)
        other = _random_member(all_nodes(nodes) ^ one, generator)
        return int(_swap(tables, log_sums, work, one, other, generator))
    if kind == _MOVE:
        return int(_move(tables, log_sums, work, int(generator.random() * nodes), generator))
    return _reverse_edges(tables, log_sums, work, REVERSALS, generator)


@kernel
def _advance(
    tables: FamilyTables, state: PartitionState, generator: np.random.Generator, output: Round, cancel: Integers
) -> None:
    nodes = len(state.part_of)
    log_sums = state.log_sums
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
            output.accepted[kind] += step(tables, log_sums, work, kind, generator)
        _confine(tables, log_sums, work, False)
        output.log_joint[kept] = draw_graph(
            tables, work.allowed, work.to_meet, log_sums, generator, output.parents[kept]
        )
        output.log_state[kept] = log_sums.sum() + tables.heaviest.sum()
        add_edge_probabilities(tables, work.allowed, work.to_meet, log_sums, output.edges)
    _write(work, state)
