"""The weights of parent sets, laid out so that a step of a chain costs a few look-ups.

Chains ask four things of a node, again and again: the weight of one parent set; the weight of all sets inside a set of
nodes (its predecessors in an order); of those inside it that also meet another set (the part before its own, in a
partition); and a random one of those. So every node has up to `CANDIDATES` *candidate parents*, and a table with the
sum over all sets inside each set of candidates. Sets that are not made of candidates alone are kept in a list by
falling weight with the sum of what follows, and scanned until nothing that matters is left: nearly always at once.

Which sets there are (`FamilyWeights`): every set of at most `small_size` parents, and every set of at most
`max_parents` parents among the candidates. Where all families fit (up to 37 nodes with 5 parents) `small_size` is
`max_parents` and the candidates only make things fast; where all others can be candidates (up to 21 nodes) nothing is
scanned either. mcmc/candidates.py chooses them.

Sets that hardly ever matter leave the lists (pruning.py): those that a node loses hold at most 1e-8 of its posterior.

Memory: 8 bytes times 2^candidates a node, and up to 48 bytes a family.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from dagpost._tools import memory
from dagpost._tools.arrays import Floats, Integers, Masks, Wide
from dagpost._tools.bits import ones_in
from dagpost._tools.kernels import inline_no_refcount, kernel
from dagpost._tools.log_sums import add_logs
from dagpost._tools.spelling import bare
from dagpost._tools.wide_floats import ZERO, check_range, from_log, log_of
from dagpost.engines import Engine
from dagpost.errors import NoGraphError
from dagpost.families.numbering import (
    binomials,
    family_count,
    number_of_set,
    size_offsets,
    squeeze,
)
from dagpost.families.pruning import found_among, masks_of_members, stay_of_node
from dagpost.families.transforms import lane_positions, subset_sums

#: Up to this many other nodes, all of them are candidates; of more, `CANDIDATES` are chosen.
ALL_CANDIDATES = 20
CANDIDATES = 16
#: Families that a chain works with, at most, beside those among the candidates.
MOST_FAMILIES = 17_000_000

#: Why a chain finds no state to start from.
NO_ORDER = "No graph satisfies the constraints: every order leaves some node without an allowed parent set."

#: What the tables take: for every sum and every candidate, and for every set that is listed.
_SECONDS_A_SUM, _SECONDS_A_SET = 2.5e-9, 250e-9
#: The share of a node's posterior that the sets that leave the lists may hold.
_LOST = 1e-8
#: A term this many nats below a sum no longer changes it.
_NEGLIGIBLE = 30.0
#: A difference of two sums that is a smaller share than this of them is summed up directly instead; until then it is a
#: bound, with this error added.
_CANCELLED, _ERROR = 1e-5, 1e-9


@dataclass(frozen=True, eq=False)
class FamilyWeights:
    """Log weights of the parent sets that chains may use.

    `inner[i]` numbers the sets among the candidates of node `i` (ascending, row `i` of `candidates`) as in
    numbering.py; `small[i]` those of at most `small_size` out of all other nodes. `missed[i]` estimates the posterior
    probability of the other sets of node `i` (mcmc/growth.py); None where that is not known, or there are none.
    """

    max_parents: int
    small_size: int
    candidates: Integers
    inner: Floats
    small: Floats
    missed: Floats | None = None

    @property
    def nodes(self) -> int:
        """Number of variables."""
        return len(self.candidates)

    @property
    def restricted(self) -> bool:
        """Whether some parent sets of at most `max_parents` are left out."""
        return self.small_size < self.max_parents and self.candidates.shape[1] < self.nodes - 1

    def describe(self) -> str:
        """Which parent sets are considered, in words."""
        if not self.restricted:
            return f"every set of at most {self.max_parents} parents"
        return (
            f"every set of at most {self.small_size} parents, and those of at most {self.max_parents} among the "
            f"{self.candidates.shape[1]} most promising ones of each variable"
        )


class FamilyTables(NamedTuple):
    """`FamilyWeights` as kernels read them; sums and lists are relative to `heaviest`, the best set of the node."""

    max_parents: int
    small_size: int
    candidates: Integers
    candidate_masks: Masks
    inner: Floats
    small: Floats
    heaviest: Floats
    #: Row `i`: total weight of the sets inside each set of the candidates of node `i`.
    sums: Wide
    #: All sets by falling weight, node `i` from `ranked_start[i]`; tails: log weight of a set and all that follow it.
    ranked_start: Integers
    ranked_masks: Masks
    ranked_logs: Floats
    ranked_tails: Floats
    #: The same for those sets that are not made of candidates alone.
    beyond_start: Integers
    beyond_masks: Masks
    beyond_logs: Floats
    beyond_tails: Floats
    binomial: Integers
    offset: Integers


def candidate_count(nodes: int) -> int:
    """How many candidate parents each of `nodes` nodes has."""
    return nodes - 1 if nodes - 1 <= ALL_CANDIDATES else CANDIDATES


def largest_small_size(nodes: int, max_parents: int) -> int:
    """Up to how many parents all sets are considered."""
    fitting = [size for size in range(max_parents + 1) if nodes * family_count(nodes - 1, size) <= MOST_FAMILIES]
    return fitting[-1]


def size_of_tables(nodes: int, max_parents: int) -> int:
    """Bytes of the tables of all nodes, while they are made."""
    return nodes * _bytes_a_node(candidate_count(nodes), _listed(nodes, max_parents))


def seconds_of_tables(nodes: int, max_parents: int) -> float:
    """Seconds that the tables take on one thread: a pass over the sums for every candidate, and sorted lists."""
    width = candidate_count(nodes)
    return nodes * (_SECONDS_A_SUM * width * (1 << width) + _SECONDS_A_SET * _listed(nodes, max_parents))


def _listed(nodes: int, max_parents: int) -> int:
    """How many sets a node has, those of candidates alone and, where these are not all, the small ones."""
    width = candidate_count(nodes)
    small = 0 if width == nodes - 1 else family_count(nodes - 1, largest_small_size(nodes, max_parents))
    return family_count(width, max_parents) + small


def _bytes_a_node(width: int, families: int) -> int:
    return 8 * (1 << width) + 48 * families


def tables_without_sums(weights: FamilyWeights) -> FamilyTables:
    """The part of the tables that takes no time: enough to look the weight of a set up."""
    nodes, width = weights.candidates.shape
    everyone = width == nodes - 1
    heaviest = weights.inner.max(axis=1)
    if not everyone:
        heaviest = np.maximum(heaviest, weights.small.max(axis=1))
    starts = np.zeros(nodes + 1, dtype=np.int64)
    no_masks, no_logs = np.empty(0, dtype=np.uint64), np.empty(0)
    return FamilyTables(
        weights.max_parents,
        0 if everyone else weights.small_size,
        np.ascontiguousarray(weights.candidates, dtype=np.int64),
        np.bitwise_or.reduce(np.uint64(1) << weights.candidates.astype(np.uint64), axis=1),
        np.ascontiguousarray(weights.inner),
        np.ascontiguousarray(weights.inner[:, :1] if everyone else weights.small),
        heaviest,
        np.zeros((nodes, 1), dtype=np.int64),
        *(starts, no_masks, no_logs, no_logs),
        *(starts, no_masks, no_logs, no_logs),
        binomials(weights.max_parents).copy(),
        size_offsets(weights.max_parents).copy(),
    )


def family_tables(weights: FamilyWeights, *, engine: Engine) -> FamilyTables:
    """Sum and rank the weights of every node."""
    nodes, width = weights.candidates.shape
    everyone = width == nodes - 1
    listed = family_count(width, weights.max_parents)
    _require_memory(nodes, width, listed + (0 if everyone else family_count(nodes - 1, weights.small_size)))
    tables = tables_without_sums(weights)
    heaviest, masks = tables.heaviest, tables.candidate_masks
    positions = lane_positions(width, weights.max_parents)
    if np.isneginf(heaviest).any():
        raise NoGraphError(NO_ORDER)
    # Sums of one node each; who multiplies those of several asks for all of them.
    spans = spans_of(tables)
    check_range(np.where(np.arange(nodes) == np.argmax(spans), spans, 0.0))
    sums = np.empty((nodes, 1 << width), dtype=np.int64)

    def tables_of(node: int, cancel: Integers) -> tuple[tuple[Masks, Floats], tuple[Masks, Floats]]:  # noqa: ARG001
        relative = weights.inner[node] - heaviest[node]
        _sum_subsets(relative, positions, sums[node], width)
        kept = stay_of_node(found_among(weights, node), node, nodes, _LOST)
        falling = np.argsort(-kept.log_weights, kind="stable")
        ranked, logs = masks_of_members(kept.members[falling], nodes), kept.log_weights[falling] - heaviest[node]
        outside = (ranked & ~masks[node]) != 0
        return (ranked, logs), (ranked[outside], logs[outside])

    ranked, beyond = zip(*engine.run(tables_of, range(nodes)), strict=True)
    return tables._replace(sums=sums, **_lists("ranked", ranked), **_lists("beyond", beyond))


def spans_of(tables: FamilyTables) -> Floats:
    """How many nats the weights of each node over its candidates span."""
    spans: Floats = np.where(np.isfinite(tables.inner), tables.heaviest[:, None] - tables.inner, 0.0).max(axis=1)
    return spans


def as_sets_of_nodes(sets: Masks, candidates: Integers) -> Masks:
    """Sets over the candidates as sets over all nodes."""
    result = np.zeros(len(sets), dtype=np.uint64)
    for place, node in enumerate(candidates.tolist()):
        result |= ((sets >> np.uint64(place)) & np.uint64(1)) << np.uint64(node)
    return result


def _require_memory(nodes: int, width: int, families: int) -> None:
    memory.require(
        nodes * _bytes_a_node(width, families),
        f"The tables of the parent sets of {nodes} variables",
        f"Use a smaller {bare('max_parents')}.",
    )


def _lists(name: str, parts: Sequence[tuple[Masks, Floats]]) -> dict[str, Any]:
    """The sets of all nodes, which stand by falling weight, one after another, and the sums of what follows."""
    start = np.concatenate([[0], np.cumsum([len(logs) for _, logs in parts])]).astype(np.int64)
    masks = np.empty(start[-1], dtype=np.uint64)
    logs, tails = np.empty(start[-1]), np.empty(start[-1])
    for node, (own_masks, own_logs) in enumerate(parts):
        here = slice(start[node], start[node + 1])
        masks[here], logs[here] = own_masks, own_logs
        tails[here] = np.logaddexp.accumulate(own_logs[::-1])[::-1]
    return {f"{name}_start": start, f"{name}_masks": masks, f"{name}_logs": logs, f"{name}_tails": tails}


@kernel
def _sum_subsets(relative: Floats, positions: Integers, sums: Wide, bits: int) -> None:
    lanes = np.full(1 << bits, ZERO, dtype=np.int64)
    for number in range(len(relative)):
        lanes[positions[number]] = from_log(relative[number])
    subset_sums(lanes, sums, bits)


@inline_no_refcount
def bits_of(mask: np.uint64) -> int:
    """Number of nodes in a set."""
    return int(ones_in(mask))


@inline_no_refcount
def place_in_candidates(tables: FamilyTables, node: int, mask: np.uint64) -> np.int64:
    """Where the candidates of `node` that are in `mask` stand in its row of `sums`."""
    width = tables.candidates.shape[1]
    if width == len(tables.candidates) - 1:
        return np.int64(squeeze(mask & ~(np.uint64(1) << np.uint64(node)), node))
    place = np.uint64(0)
    for bit in range(width):
        place |= ((mask >> np.uint64(tables.candidates[node, bit])) & np.uint64(1)) << np.uint64(bit)
    return np.int64(place)


@inline_no_refcount
def log_weight_of(tables: FamilyTables, node: int, parents: np.uint64) -> float:
    """Log weight of one parent set, not relative to anything; minus infinity for a set that is not considered."""
    size = bits_of(parents)
    nodes, width = tables.candidates.shape
    if size > tables.max_parents:
        return -math.inf
    if parents & ~tables.candidate_masks[node] == np.uint64(0):
        inside = np.uint64(place_in_candidates(tables, node, parents))
        return tables.inner[node, number_of_set(inside, width, tables.binomial, tables.offset)]
    if size > tables.small_size:
        return -math.inf
    return tables.small[node, number_of_set(squeeze(parents, node), nodes - 1, tables.binomial, tables.offset)]


@inline_no_refcount
def log_sum_inside(tables: FamilyTables, node: int, allowed: np.uint64) -> float:
    """Log weight of all parent sets inside `allowed`, relative to the heaviest set of the node."""
    total = log_of(tables.sums[node, place_in_candidates(tables, node, allowed)])
    for position in range(tables.beyond_start[node], tables.beyond_start[node + 1]):
        if tables.beyond_tails[position] < total - _NEGLIGIBLE:
            break
        if tables.beyond_masks[position] & ~allowed == np.uint64(0):
            total = add_logs(total, tables.beyond_logs[position])
    return total


@inline_no_refcount
def log_sum_scanned(tables: FamilyTables, node: int, allowed: np.uint64, to_meet: np.uint64, floor: float) -> float:
    """`log_sum_meeting`, set by set; terms that are nothing beside `floor` may be missing."""
    total = -math.inf
    for position in range(tables.ranked_start[node], tables.ranked_start[node + 1]):
        if tables.ranked_tails[position] < max(total, floor) - _NEGLIGIBLE:
            break
        parents = tables.ranked_masks[position]
        if parents & ~allowed == np.uint64(0) and parents & to_meet != np.uint64(0):
            total = add_logs(total, tables.ranked_logs[position])
    return total


@inline_no_refcount
def log_sum_bound(tables: FamilyTables, node: int, allowed: np.uint64, to_meet: np.uint64) -> tuple[float, bool]:
    """`log_sum_meeting` by two look-ups; True: their difference has too few digits, and is an upper bound."""
    whole = log_sum_inside(tables, node, allowed)
    if to_meet == np.uint64(0) or whole == -math.inf:
        return whole, False
    share = -math.expm1(log_sum_inside(tables, node, allowed & ~to_meet) - whole)
    if share < _CANCELLED:
        return whole + math.log(max(share, 0.0) + _ERROR), True
    return whole + math.log(share), False


@inline_no_refcount
def log_sum_meeting(tables: FamilyTables, node: int, allowed: np.uint64, to_meet: np.uint64) -> float:
    """Log weight of the parent sets inside `allowed` with a node of `to_meet`, relative to the heaviest of the node.

    An empty `to_meet` asks for nothing.
    """
    total, vague = log_sum_bound(tables, node, allowed, to_meet)
    return log_sum_scanned(tables, node, allowed, to_meet, -math.inf) if vague else total


@inline_no_refcount
def draw_parents(
    tables: FamilyTables, node: int, allowed: np.uint64, to_meet: np.uint64, log_total: float, uniform: float
) -> int:
    """Position in the ranked lists of a random parent set inside `allowed` that meets `to_meet` (unless that is empty).

    `log_total` is the log weight of all of them, as the functions above give it. -1 if there is none.
    """
    remaining = uniform
    last = -1
    for position in range(tables.ranked_start[node], tables.ranked_start[node + 1]):
        parents = tables.ranked_masks[position]
        if parents & ~allowed == np.uint64(0) and (to_meet == np.uint64(0) or parents & to_meet != np.uint64(0)):
            last = position
            remaining -= math.exp(tables.ranked_logs[position] - log_total)
            if remaining < 0.0:
                break
    return last
