"""Which parents were overlooked? Sets among candidates, each with one column added that is not a candidate.

Candidates are chosen from small sets, and a column may matter only beside others. So the sets of a node with the
largest shares (families/pruning.py), and these less one member, are *extended*: each is scored with every column that
is not a candidate. A column whose extended sets hold a noticeable share becomes a candidate, and the sets among the
candidates are scored anew. In the end the extended sets are considered like all others, one by one.

What is left out then are sets of more than `small_size` parents that are an extension of a set that was not extended,
or that have two columns or more that are not candidates. `missed` estimates the probability that the parents of a node
are one of them. With `r` the shares of all extended sets relative to those of the sets that they extend, and `f` the
part that these have of the shares of all sets that could be extended,

    missed  =  r (1 - f)  +  r^2 / 2

as if the other sets gained as much by one more column as those that were extended, and a second column came on top of a
first one independently of it. It is an estimate, not a bound, and too large where a variable has many children: sets of
these explain it well, and the estimate does not know that the posterior has these edges the other way round.

Cost: for every node as many families as there are sets among its candidates, some 2 microseconds each at 1,000 rows.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from dagpost._tools.arrays import Flags, Floats, Integers
from dagpost._tools.kernels import kernel
from dagpost._tools.log_sums import add_logs
from dagpost._tools.progress import NO_PROGRESS, Reporter
from dagpost.checkpoints import NO_CHECKPOINT, Checkpoint, CheckpointPart, Tracking, tracked
from dagpost.engines import Engine
from dagpost.families.considered_sets import Members
from dagpost.families.numbering import binomials, size_offsets
from dagpost.families.parent_lists import Members as Places
from dagpost.families.parent_lists import members_of_sets
from dagpost.families.pruning import NOTHING, Single, Weighed, log_subset_sums, shares_of
from dagpost.priors.base import StructurePrior
from dagpost.scores.base import Extender

#: A column becomes a candidate if the sets that it extends hold at least this share, as many as these at a time.
NOTICEABLE = 0.01
_AT_A_TIME = 4
#: Fewer sets than this are never extended, however many columns there are.
_FEWEST_EXTENDED = 4


class Extended(NamedTuple):
    """Sets of one node that are extended: their numbers among the sets of candidates, and the columns to add."""

    numbers: Integers
    others: Integers
    #: The sum of their shares, and which part it is of the shares of all sets that could be extended.
    held: float
    part: float

    def members(self, among: Weighed, nodes: int) -> Members:
        """The sets as rows of columns, the number of columns in the places that are left."""
        columns = np.append(among.columns, nodes).astype(np.int16)
        return columns[members_of_sets(len(among.columns), among.limit)[self.numbers]]


def to_extend(among: Weighed, allowed: Integers, smallest: int, required: Integers) -> Extended:
    """The sets to extend, of `smallest` members or more: larger shares first, as many as the candidates have sets.

    `required` are the columns that every set must have.
    """
    others = np.setdiff1d(allowed, among.columns)
    sets = members_of_sets(len(among.columns), among.limit)
    if not len(others) or smallest >= among.limit:
        return Extended(np.empty(0, dtype=np.int64), others[:0], 0.0, 1.0)
    shares = shares_of(among)
    most = max(_FEWEST_EXTENDED, len(sets) // len(others))
    universe = len(among.columns)
    numbers = np.empty(most, dtype=np.int64)
    must = np.isin(among.columns, required)
    tables = binomials(among.limit, universe), size_offsets(among.limit, universe)[universe]
    found = _pick(np.argsort(-shares, kind="stable"), shares, sets, *tables, smallest, must, numbers)
    numbers = np.sort(numbers[:found])
    sizes = (sets >= 0).sum(axis=1)
    possible = float(shares[(sizes >= smallest) & (sizes < among.limit)].sum())
    held = float(shares[numbers].sum())
    return Extended(numbers, others, held, held / possible if possible > 0.0 else 1.0)


def extended_shares(extended: Extended, among: Weighed, small: Weighed, log_weights: Floats) -> Floats:
    """A bound on the share of every extended set: what it weighs relative to those of its subsets that were scored.

    `log_weights` has a row a set that was extended and a column for each that was added.
    """
    shares = np.zeros(log_weights.shape)
    universe, limit = len(small.columns), min(small.limit, len(small.columns))
    sets = members_of_sets(len(among.columns), among.limit)
    _share(
        log_weights,
        log_subset_sums(among)[extended.numbers],
        sets[extended.numbers],
        np.searchsorted(small.columns, among.columns),
        np.searchsorted(small.columns, extended.others),
        small.log_weights,
        limit,
        binomials(max(limit, 2), universe),
        size_offsets(limit, universe)[universe],
        shares,
    )
    return shares


def weigh_extended(
    extended: Extended,
    among: Weighed,
    small: Weighed,
    scores: Floats,
    prior: StructurePrior,
    names: tuple[str, ...],
    node: int,
) -> tuple[Floats, Floats]:
    """Add the prior to the scores of extended sets; log weights, and a bound on the share of each."""
    if not scores.size:
        return scores, scores
    sets = np.repeat(extended.members(among, len(names)), len(extended.others), axis=0)
    added = np.tile(extended.others, len(extended.numbers)).astype(np.int16)
    members = np.sort(np.column_stack([sets, added]), axis=1)[:, : among.limit]
    log_weights = scores + prior.log_weights_of_members(names, node, members).reshape(scores.shape)
    return log_weights, extended_shares(extended, among, small, log_weights)


def extend_sets(
    extend: Extender,
    among: Mapping[int, Weighed],
    extended: Mapping[int, Extended],
    nodes: int,
    label: str,
    *,
    engine: Engine,
    reporter: Reporter = NO_PROGRESS,
    checkpoint: Checkpoint = NO_CHECKPOINT,
) -> dict[int, Floats]:
    """The scores of the extended sets of some nodes: a row a set, a column for each that is added."""
    growing = list(extended)
    values = {node: np.zeros((len(extended[node].numbers), len(extended[node].others))) for node in growing}

    def score(node: int, cancel: Integers) -> int:
        if values[node].size:
            sets = extended[node].members(among[node], nodes)
            values[node][:] = extend(node, sets, extended[node].others, cancel)
        return node

    kept = CheckpointPart(checkpoint, label)
    tracking: Tracking = {"reporter": reporter, "checkpoint": kept}
    with tracked("sets with one more parent", growing, lambda node: [values[node]], **tracking) as (saved, stage):
        for _ in saved.run(engine, score, [*saved.finished, *saved.left]):
            stage.advance(1)
    return values


def columns_to_take(extended: Extended, shares: Floats, room: int) -> Integers:
    """The columns that become candidates: those whose extended sets hold most, if it is noticeable."""
    gains = shares.sum(axis=0)
    best = np.argsort(-gains, kind="stable")[: min(room, _AT_A_TIME)]
    return extended.others[best[gains[best] >= NOTICEABLE]]


def swapped_candidates(
    extended: Extended, among: Weighed, shares: Floats, smallest: int, required: Integers
) -> Integers | None:
    """The candidates once columns that show have taken the places of those that matter less; None if none shows.

    How much a candidate matters is the shares of all sets with it that have more than `smallest` members.
    """
    taken = columns_to_take(extended, shares, _AT_A_TIME)
    if not len(taken):
        return None
    sets = members_of_sets(len(among.columns), among.limit)
    own = np.where((sets >= 0).sum(axis=1) > smallest, shares_of(among), 0.0)
    use = np.array([own[(sets == place).any(axis=1)].sum() for place in range(len(among.columns))])
    use[np.isin(among.columns, required)] = np.inf
    gains = dict(zip(extended.others.tolist(), shares.sum(axis=0).tolist(), strict=True))
    candidates = among.columns.copy()
    for column, place in zip(taken.tolist(), np.argsort(use, kind="stable").tolist(), strict=False):
        if gains[column] > use[place]:
            candidates[place] = column
    return None if np.array_equal(candidates, among.columns) else np.sort(candidates)


def extended_sets(extended: Extended, among: Weighed, nodes: int, log_weights: Floats, shares: Floats) -> Single:
    """The extended sets one by one; those without weight are left out."""
    present = np.flatnonzero(~np.isneginf(log_weights.ravel()))
    if not len(present):
        return NOTHING
    rows, columns = np.divmod(present, max(len(extended.others), 1))
    added = extended.others[columns].astype(np.int16)
    members = np.column_stack([extended.members(among, nodes)[rows], added])
    members.sort(axis=1)
    return Single(members[:, : among.limit], log_weights.ravel()[present], shares.ravel()[present])


def missed_share(extended: Extended, shares: Floats) -> float:
    """The estimate of what was not scored."""
    if extended.held == 0.0:
        return 0.0
    gain = float(shares.sum()) / extended.held
    return min(1.0, gain * (1.0 - extended.part) + gain * gain / 2.0)


@kernel
def _pick(
    falling: Integers,
    shares: Floats,
    sets: Places,
    binomial: Integers,
    offset: Integers,
    smallest: int,
    must: Flags,
    numbers: Integers,
) -> int:
    """Sets with the largest shares and those that they leave when one member goes, each once."""
    taken = np.zeros(len(sets), dtype=np.bool_)
    most = sets.shape[1]
    needed = must.sum()
    found = 0
    for number in falling:
        if shares[number] <= 0.0:
            break
        size = 0
        has = 0
        while size < most and sets[number, size] >= 0:
            has += must[sets[number, size]]
            size += 1
        # The set itself, and then without each of its members.
        for removed in range(-1, size):
            left, having, own = number, has, size
            if removed >= 0:
                left, own = offset[size - 1], size - 1
                having -= must[sets[number, removed]]
                for place in range(removed):
                    left += binomial[sets[number, place], place + 1]
                for place in range(removed + 1, size):
                    left += binomial[sets[number, place], place]
            if smallest <= own < most and having == needed and not taken[left]:
                if found == len(numbers):
                    return found
                taken[left] = True
                numbers[found] = left
                found += 1
    return found


@kernel
def _share(
    log_weights: Floats,
    log_sums: Floats,
    sets: Places,
    places: Integers,
    others: Integers,
    small: Floats,
    limit: int,
    binomial: Integers,
    offset: Integers,
    shares: Floats,
) -> None:
    """The subsets without the added column are in `log_sums`; of those with it, the small ones are known."""
    for number in range(len(sets)):
        for other in range(len(others)):
            own = log_weights[number, other]
            if own == -math.inf:
                continue
            total = add_logs(log_sums[number], own)
            added = others[other]
            if limit > 0:
                total = add_logs(total, small[offset[1] + added])
            for place in range(sets.shape[1] if limit > 1 else 0):
                if sets[number, place] < 0:
                    break
                member = places[sets[number, place]]
                low, high = min(member, added), max(member, added)
                total = add_logs(total, small[offset[2] + low + binomial[high, 2]])
            shares[number, other] = math.exp(own - total)
