"""Partition MCMC: draft."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from dagpost.arrays import Floats, Integers, Masks
from dagpost.errors import NoGraphError
from dagpost.kernels import inlined, kernel
from dagpost.mcmc.chains import Round, check_settings
from dagpost.mcmc.families import NO_ORDER, FamilyTables, bits_of, log_sum_meeting, place_in_candidates
from dagpost.mcmc.graphs import add_edge_probabilities, draw_graph
from dagpost.mcmc.order import choose, random_order
from dagpost.mcmc.reversal import all_nodes
from dagpost.tables import ModelTables
from dagpost.widefloat import log_of

_NEGLIGIBLE = 30.0
_SPLIT_OR_JOIN, _SWAP_ADJACENT, _SWAP, _MOVE = 0, 1, 2, 3


class PartitionState(NamedTuple):
    """The number of the part of every node, and the log weight of each node's parent sets given the partition."""

    part_of: Integers
    log_sums: Floats


@dataclass(frozen=True)
class PartitionMCMC:
    chains: int = 4
    thinning: int = 20
    burn_in: int = 20_000

    name: ClassVar[str] = "partition-mcmc"
    modularity: ClassVar[str] = "structure"
    moves: ClassVar[tuple[str, ...]] = ("split or join", "swap adjacent", "swap any two", "move one")
    state: ClassVar[type[PartitionState]] = PartitionState
    gives_edges: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Check the settings."""
        check_settings("PartitionMCMC", chains=self.chains, thinning=self.thinning, burn_in=self.burn_in)

    def prepare(self, tables: ModelTables) -> FamilyTables:
        """The weights of the families."""
        return tables.families

    def start(self, context: FamilyTables, generator: np.random.Generator) -> PartitionState:
        """The partition of a graph drawn from a random order."""
        nodes = len(context.candidates)
        state = PartitionState(np.zeros(nodes, dtype=np.int64), np.zeros(nodes))
        order = np.zeros(nodes, dtype=np.int64)
        log_sums = np.zeros(nodes)
        if not random_order(context, order, log_sums, generator):
            raise NoGraphError(NO_ORDER)
        _start(context, order, log_sums, generator, state)
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
        _advance(context, state, generator, output, cancel)


class _Work(NamedTuple):
    """Room for one step. `parts` is the partition itself, as masks with zeros behind them."""

    parts: Masks
    proposed: Masks
    before: Masks
    most: Floats
    fresh: Floats
    later: Floats
    alone: Floats
    joined: Floats
    passed: Floats
    log_own: Floats
    log_place: Floats
    slack: Floats
    allowed: Masks
    to_meet: Masks


@inlined
def _new_work(tables: FamilyTables, nodes: int) -> _Work:
    most = np.zeros(nodes)
    for node in range(nodes):
        most[node] = _log_inside_above(tables, node, all_nodes(nodes), -math.inf)
    return _Work(
        np.zeros(nodes + 2, dtype=np.uint64),
        np.zeros(nodes + 2, dtype=np.uint64),
        np.zeros(nodes + 2, dtype=np.uint64),
        most,
        np.zeros(nodes),
        np.zeros(nodes),
        np.zeros(nodes),
        np.zeros(nodes),
        np.zeros(nodes),
        np.zeros(2 * nodes + 2),
        np.zeros(2 * nodes + 2),
        np.zeros(nodes + 2),
        np.zeros(nodes, dtype=np.uint64),
        np.zeros(nodes, dtype=np.uint64),
    )


@inlined
def _lowest(mask: np.uint64) -> int:
    """The first node of a set."""
    return bits_of((mask & (~mask + np.uint64(1))) - np.uint64(1))


@inlined
def _nth(mask: np.uint64, number: int) -> int:
    for _ in range(number):
        mask &= mask - np.uint64(1)
    return _lowest(mask)


@inlined
def _count(parts: Masks) -> int:
    count = 0
    while parts[count] != np.uint64(0):
        count += 1
    return count


@inlined
def _before(parts: Masks, position: int) -> np.uint64:
    mask = np.uint64(0)
    for place in range(position):
        mask |= parts[place]
    return mask


@inlined
def _log_inside_above(tables: FamilyTables, node: int, allowed: np.uint64, floor: float) -> float:
    """`log_sum_inside`, where a sum below `floor` need not be right as long as it stays below."""
    reference = log_of(tables.sums[node, place_in_candidates(tables, node, allowed)])
    total = 1.0 if reference > -math.inf else 0.0
    limit = max(reference, floor) - _NEGLIGIBLE
    for position in range(tables.beyond_start[node], tables.beyond_start[node + 1]):
        if tables.beyond_tails[position] < limit:
            break
        if tables.beyond_masks[position] & ~allowed == np.uint64(0):
            log_weight = tables.beyond_logs[position]
            if log_weight > reference:
                total = total * math.exp(reference - log_weight) + 1.0 if total > 0.0 else 1.0
                reference = log_weight
                limit = max(limit, reference - _NEGLIGIBLE)
            else:
                total += math.exp(log_weight - reference)
    return reference if total <= 1.0 else reference + math.log(total)


@inlined
def _log_sum_above(tables: FamilyTables, node: int, allowed: np.uint64, to_meet: np.uint64, floor: float) -> float:
    """`log_sum_meeting`, or minus infinity where that is below `floor`."""
    whole = _log_inside_above(tables, node, allowed, floor)
    if whole < floor or whole == -math.inf:
        return -math.inf
    if to_meet == np.uint64(0):
        return whole
    share = -math.expm1(_log_inside_above(tables, node, allowed & ~to_meet, whole) - whole)
    if share >= 1e-5:
        return whole + math.log(share)
    if whole + math.log(max(share, 0.0) + 1e-9) < floor:
        return -math.inf
    total = 0.0
    reference = -math.inf
    limit = floor - _NEGLIGIBLE
    for position in range(tables.ranked_start[node], tables.ranked_start[node + 1]):
        if tables.ranked_tails[position] < limit:
            break
        parents = tables.ranked_masks[position]
        if parents & ~allowed == np.uint64(0) and parents & to_meet != np.uint64(0):
            if total == 0.0:
                reference = tables.ranked_logs[position]
                limit = max(limit, reference - _NEGLIGIBLE)
            total += math.exp(tables.ranked_logs[position] - reference)
    if total == 0.0:
        return -math.inf
    return reference + math.log(total)


@inlined
def _slack(members: np.uint64, most: Floats, log_sums: Floats) -> float:
    """What some nodes could gain at most."""
    slack = 0.0
    while members != np.uint64(0):
        node = _lowest(members)
        members &= members - np.uint64(1)
        slack += most[node] - log_sums[node]
    return slack


@inlined
def _look_up(
    tables: FamilyTables,
    members: np.uint64,
    allowed: np.uint64,
    to_meet: np.uint64,
    ceiling: Floats,
    result: Floats,
    hope: float,
) -> float:
    """Look up nodes of one part; what remains of the hope after they have fallen below their ceiling."""
    while members != np.uint64(0) and hope >= 0.0:
        node = _lowest(members)
        members &= members - np.uint64(1)
        result[node] = _log_sum_above(tables, node, allowed, to_meet, ceiling[node] - hope)
        hope -= ceiling[node] - result[node]
    return hope


@inlined
def _take(members: np.uint64, fresh: Floats, log_sums: Floats) -> None:
    while members != np.uint64(0):
        node = _lowest(members)
        members &= members - np.uint64(1)
        log_sums[node] = fresh[node]


@inlined
def _neighbours(parts: Masks) -> float:
    total = -1.0
    position = 0
    while parts[position] != np.uint64(0):
        total += math.ldexp(1.0, bits_of(parts[position])) - 1.0
        position += 1
    return total


@inlined
def _split_or_join(
    tables: FamilyTables, log_sums: Floats, work: _Work, generator: np.random.Generator
) -> bool:
    parts, proposed = work.parts, work.proposed
    count = _count(parts)
    neighbours = _neighbours(parts)
    pick = generator.random() * neighbours
    for position in range(len(parts)):
        proposed[position] = np.uint64(0)
    if pick < count - 1:
        first = int(pick)
        for position in range(count):
            proposed[position if position <= first else position - 1] |= parts[position]
        moving = parts[first + 1]
        behind = parts[first + 2]
        previous = parts[first - 1] if first > 0 else np.uint64(0)
        last = proposed[first]
        before = _before(parts, first)
    else:
        pick -= count - 1
        first = 0
        while first < count - 1:
            ways = math.ldexp(1.0, bits_of(parts[first])) - 2.0
            if pick < ways:
                break
            pick -= ways
            first += 1
        while parts[first] & (parts[first] - np.uint64(1)) == np.uint64(0):
            first -= 1
        front = np.uint64(0)
        while front == np.uint64(0) or front == parts[first]:
            front = np.uint64(0)
            rest = parts[first]
            while rest != np.uint64(0):
                bit = rest & (~rest + np.uint64(1))
                rest ^= bit
                if generator.random() < 0.5:
                    front |= bit
        moving = parts[first] ^ front
        behind = parts[first + 1]
        for position in range(count):
            proposed[position if position <= first else position + 1] = parts[position]
        proposed[first], proposed[first + 1] = front, moving
        previous = front
        last = moving
        before = _before(parts, first) | front
    threshold = math.log((1.0 - generator.random()) * _neighbours(proposed) / neighbours)
    hope = _slack(moving | behind, work.most, log_sums) - threshold
    hope = _look_up(tables, moving, before, previous, work.most, work.fresh, hope)
    hope = _look_up(tables, behind, before | last, last, work.most, work.fresh, hope)
    if hope < 0.0:
        return False
    _take(moving | behind, work.fresh, log_sums)
    for position in range(len(parts)):
        parts[position] = proposed[position]
    return True


@inlined
def _swap(
    tables: FamilyTables,
    log_sums: Floats,
    work: _Work,
    first: int,
    one: np.uint64,
    last: int,
    other: np.uint64,
    generator: np.random.Generator,
) -> bool:
    parts = work.parts
    both = one | other
    parts[first] ^= both
    parts[last] ^= both
    changed = other
    for position in range(first + 1, last + 2):
        changed |= parts[position]
    hope = _slack(changed, work.most, log_sums) - math.log(1.0 - generator.random())
    before = _before(parts, first)
    previous = parts[first - 1] if first > 0 else np.uint64(0)
    hope = _look_up(tables, other, before, previous, work.most, work.fresh, hope)
    for position in range(first + 1, last + 2):
        previous = parts[position - 1]
        before |= previous
        hope = _look_up(tables, parts[position], before, previous, work.most, work.fresh, hope)
    if hope >= 0.0:
        _take(changed, work.fresh, log_sums)
        return True
    parts[first] ^= both
    parts[last] ^= both
    return False


@inlined
def _take_out(parts: Masks, bit: np.uint64, rest: Masks, before: Masks) -> int:
    """The partition without one node; which place the node had."""
    now = 0
    count = 0
    for place in range(len(parts)):
        if parts[place] & bit != np.uint64(0):
            now = 2 * place + (parts[place] != bit)
        if parts[place] != bit:
            rest[count] = parts[place] & ~bit
            count += 1
    if count < len(parts):
        rest[count] = np.uint64(0)
    before[0] = np.uint64(0)
    for place in range(1, len(parts)):
        before[place] = before[place - 1] | rest[place - 1]
    return now


@inlined
def _try_places(
    tables: FamilyTables, log_sums: Floats, work: _Work, node: int, part: int, log_outside: float, log_own: float
) -> None:
    """Log weights of the two places right before `part`, in the part before it or alone.

    `log_outside` is what all other nodes have gained, `log_own` what the node itself can gain.
    """
    rest = work.proposed
    bit = np.uint64(1) << np.uint64(node)
    previous = rest[part - 1] if part > 0 else np.uint64(0)
    before = work.before[part]
    own = 0.0
    hope = _NEGLIGIBLE + log_outside + log_own + work.slack[part]
    hope = _look_up(tables, rest[part], before | bit, previous | bit, work.most, work.joined, hope)
    if hope < 0.0:
        return
    log_others = hope - _NEGLIGIBLE - log_own
    floor = log_sums[node] - log_others - _NEGLIGIBLE
    if part > 0:
        earlier = rest[part - 2] if part > 1 else np.uint64(0)
        own = _log_sum_above(tables, node, work.before[part - 1], earlier, floor)
        work.log_own[2 * part - 1] = own
        work.log_place[2 * part - 1] = log_others + own - log_sums[node]
    own = _log_sum_above(tables, node, before, previous, floor)
    work.log_own[2 * part] = own
    hope = log_others + own - log_sums[node] + _NEGLIGIBLE
    hope = _look_up(tables, rest[part], before | bit, bit, work.joined, work.alone, hope)
    work.log_place[2 * part] = hope - _NEGLIGIBLE if hope >= 0.0 else -math.inf


@inlined
def _move(tables: FamilyTables, log_sums: Floats, work: _Work, node: int, generator: np.random.Generator) -> bool:
    parts, rest = work.parts, work.proposed
    bit = np.uint64(1) << np.uint64(node)
    now = _take_out(parts, bit, rest, work.before)
    count = _count(rest)
    widest = 0.0
    total = 0.0
    for part in range(count + 1):
        work.slack[part] = _slack(rest[part], work.most, log_sums)
        widest = max(widest, work.slack[part])
    for place in range(2 * count + 1):
        work.log_place[place] = -math.inf
    boundary = (now + 1) // 2
    own_gain = work.most[node] - log_sums[node]
    _try_places(tables, log_sums, work, node, boundary, 0.0, own_gain)
    ahead = 0.0
    for part in range(boundary, count):
        previous = rest[part - 1] if part > 0 else np.uint64(0)
        most_gain = _NEGLIGIBLE + own_gain + widest
        hope = ahead + most_gain + work.slack[part]
        hope = _look_up(tables, rest[part], work.before[part], previous, work.most, work.later, hope)
        if hope < 0.0:
            break
        ahead = hope - most_gain
        _try_places(tables, log_sums, work, node, part + 1, ahead, own_gain)
    total = 0.0
    for part in range(boundary):
        total += work.slack[part]
    behind = 0.0
    for part in range(boundary, 0, -1):
        own_gain = _log_inside_above(tables, node, work.before[part], log_sums[node] - 1e3) - log_sums[node]
        most_gain = _NEGLIGIBLE + own_gain + total
        hope = behind + most_gain + work.slack[part]
        hope = _look_up(tables, rest[part], work.before[part] | bit, rest[part - 1], work.most, work.passed, hope)
        if hope < 0.0:
            break
        behind = hope - most_gain
        total -= work.slack[part - 1]
        _try_places(tables, log_sums, work, node, part - 1, behind, own_gain)
    work.log_place[now] = 0.0
    work.log_own[now] = log_sums[node]
    chosen = choose(work.log_place, 2 * count + 1, generator.random())
    if chosen == now:
        return False
    half, joins = chosen // 2, chosen % 2
    log_sums[node] = work.log_own[chosen]
    for part in range(boundary, half + joins):
        _take(rest[part], work.later, log_sums)
    for part in range(half + joins + 1, boundary + 1):
        _take(rest[part], work.passed, log_sums)
    if joins:
        _take(rest[half + 1], work.joined, log_sums)
    else:
        _take(rest[half], work.alone, log_sums)
    for place in range(len(parts)):
        parts[place] = rest[place] if place <= half - 1 + joins else (rest[place] if joins else rest[place - 1])
    if joins:
        parts[half] |= bit
    else:
        parts[half] = bit
    return True


@inlined
def _layers(parents: Masks, parts: Masks) -> None:
    nodes = len(parents)
    for place in range(len(parts)):
        parts[place] = np.uint64(0)
    placed = np.uint64(0)
    everyone = np.uint64(0)
    for node in range(nodes):
        everyone |= np.uint64(1) << np.uint64(node)
    count = 0
    while placed != everyone:
        rest = everyone & ~placed
        while rest != np.uint64(0):
            node = _lowest(rest)
            rest &= rest - np.uint64(1)
            if parents[node] & ~placed == np.uint64(0):
                parts[count] |= np.uint64(1) << np.uint64(node)
        placed |= parts[count]
        count += 1


@inlined
def _stand(work: _Work) -> None:
    before = np.uint64(0)
    previous = np.uint64(0)
    for place in range(_count(work.parts)):
        members = work.parts[place]
        while members != np.uint64(0):
            node = _lowest(members)
            members &= members - np.uint64(1)
            work.allowed[node] = before
            work.to_meet[node] = previous
        before |= work.parts[place]
        previous = work.parts[place]


@inlined
def _refresh(tables: FamilyTables, work: _Work, log_sums: Floats) -> None:
    _stand(work)
    for node in range(len(log_sums)):
        log_sums[node] = log_sum_meeting(tables, node, work.allowed[node], work.to_meet[node])


@inlined
def _write_state(work: _Work, state: PartitionState) -> None:
    for place in range(_count(work.parts)):
        members = work.parts[place]
        while members != np.uint64(0):
            node = _lowest(members)
            members &= members - np.uint64(1)
            state.part_of[node] = place


@kernel
def _start(
    tables: FamilyTables, order: Integers, log_sums: Floats, generator: np.random.Generator, state: PartitionState
) -> None:
    nodes = len(order)
    work = _new_work(tables, nodes)
    parents: Masks = np.zeros(nodes, dtype=np.uint64)
    before = np.uint64(0)
    for position in range(nodes):
        work.allowed[order[position]] = before
        before |= np.uint64(1) << np.uint64(order[position])
    draw_graph(tables, work.allowed, work.to_meet, log_sums, generator, parents)
    _layers(parents, work.parts)
    _refresh(tables, work, state.log_sums)
    _write_state(work, state)


@kernel
def _advance(
    tables: FamilyTables, state: PartitionState, generator: np.random.Generator, output: Round, cancel: Integers
) -> None:
    nodes = len(state.part_of)
    work = _new_work(tables, nodes)
    log_sums = state.log_sums
    for node in range(nodes):
        work.parts[state.part_of[node]] |= np.uint64(1) << np.uint64(node)
    for kept in range(len(output.log_joint)):
        if cancel[0] != 0:
            return
        for _ in range(output.thinning if nodes > 1 else 0):
            kind = generator.random()
            if kind < 0.25:
                move = _SPLIT_OR_JOIN
                moved = _split_or_join(tables, log_sums, work, generator)
            elif kind < 0.5:
                move = _SWAP_ADJACENT
                moved = False
                count = _count(work.parts)
                if count > 1:
                    first = int(generator.random() * (count - 1))
                    one = _nth(work.parts[first], int(generator.random() * bits_of(work.parts[first])))
                    other = _nth(work.parts[first + 1], int(generator.random() * bits_of(work.parts[first + 1])))
                    moved = _swap(tables, log_sums, work, first, np.uint64(1) << np.uint64(one), first + 1, np.uint64(1) << np.uint64(other), generator)
            elif kind < 0.75:
                move = _SWAP
                one = int(generator.random() * nodes)
                other = int(generator.random() * (nodes - 1))
                other += other >= one
                first = 0
                while work.parts[first] >> np.uint64(one) & np.uint64(1) == 0:
                    first += 1
                last = 0
                while work.parts[last] >> np.uint64(other) & np.uint64(1) == 0:
                    last += 1
                if first > last:
                    first, last, one, other = last, first, other, one
                moved = False
                if first < last:
                    moved = _swap(tables, log_sums, work, first, np.uint64(1) << np.uint64(one), last, np.uint64(1) << np.uint64(other), generator)
            else:
                move = _MOVE
                moved = _move(tables, log_sums, work, int(generator.random() * nodes), generator)
            output.proposed[move] += 1
            output.accepted[move] += moved
        _stand(work)
        output.log_joint[kept] = draw_graph(
            tables, work.allowed, work.to_meet, log_sums, generator, output.parents[kept]
        )
        output.log_state[kept] = log_sums.sum() + tables.heaviest.sum()
        add_edge_probabilities(tables, work.allowed, work.to_meet, log_sums, output.edges)
    _write_state(work, state)
