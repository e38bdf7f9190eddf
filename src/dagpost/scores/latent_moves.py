"""Moves of whole columns of latent numbers that leave `p_BGe(Z | G)` with the ranks as it is: without parameters.

Given the parameters, or given all other numbers, a border between two levels moves by no more than the gap between the
numbers next to it, about 1 / rows. These moves take the numbers of a column along. Each is a change of coordinates: the
numbers of the column are written as one coordinate `x` and a rest, and `x` is drawn anew given the rest, from the
density that the target has in these coordinates (with the determinant of the change), by slice sampling (Neal, Annals
of Statistics 2003), which leaves it as it is. So each move leaves the target as it is, and so do all of them in turn.

- Place: `z = x + rest`. Determinant 1.
- Width: `z = exp(x) rest`, with the rest on the unit sphere. Determinant `exp(n x)`, for `n` numbers.
- Borders: first a border `t_k` between neighbouring levels is drawn uniformly between the largest number of the one and
  the smallest of the other. So numbers and borders have the density `p_BGe(Z | G) / product of these gaps`, and numbers
  alone the density that they had. Then, of one border `t_k = x`, the numbers of the level below are `t_(k-1) +
  (x - t_(k-1)) rest` and those of the level above `t_(k+1) - (t_(k+1) - x) rest`. Determinant: the lengths of the two
  levels to the powers of their counts. An outermost level has no other border; its numbers are `x + rest`.
- Tails: the numbers of an outermost level are `t + exp(x) rest`, where `t` is its border. Determinant `exp(n x)`, for
  its `n` numbers.

Where a slice has no point among the first `_MOST_TRIES`, nothing moves. That is no harm: a way from one point of a
slice to another over some points outside has the density of the way back over the same points.

Along each move the numbers of a level are linear functions of `y`, the change of `x` or of `exp(x)`, so that `R` of BGe
(bge.py) follows from sums over levels (latent_sums.py). Only families change that have the column `c` in them; the
determinant of `R` of a set `S` and `c` is that of `S` times the pivot of `c`, which is a quadratic function of `y`. So
a point of a slice takes one logarithm for each such set, and a column rows times the columns in a family with it.

Numbers of the column that have no rank go along when the whole column moves, and stay otherwise. Columns with a known
number, or with bounds, do not move: they have a place and a width.
"""

from __future__ import annotations

import math

import numpy as np

from dagpost._tools.arrays import Flags, Floats, Integers
from dagpost._tools.kernels import inline_no_refcount, kernel
from dagpost.scores.gaussian_completion import Families
from dagpost.scores.latent_cells import LatentCells
from dagpost.scores.latent_sums import (
    BORDER,
    COUNT,
    LEAST,
    MOST,
    OFFSET,
    PUSH,
    SLOPE,
    SQUARES,
    SUM,
    TURN,
    Moved,
    Posterior,
    Space,
    blanket_of,
    factorise,
    sum_up,
    total_of,
    write_back,
)

#: The kinds of moves, as they are chosen.
MOVES = ("place", "width", "borders", "tails")

#: How often the moves of a column are made, one after the other: they take less time than the sums that they share.
_CYCLES = 2
#: First widths of slices: of a place and of a logarithm of a width, and of what the rows determine, in deviations.
_WIDTH_OF_PLACE, _WIDTH_OF_SCALE, _DEVIATIONS = 1.0, 1.0, 3.0
#: A slice has at most this many such widths, and is looked at this often; if no point of it was found, nothing moves.
_MOST_WIDTHS, _MOST_TRIES = 8, 50


@kernel
def move_columns(
    latent: LatentCells,
    graph: Families,
    movable: Flags,
    chosen: Flags,
    posterior: Posterior,
    values: Floats,
    space: Space,
    generator: np.random.Generator,
    cancel: Integers,
) -> None:
    """Make the chosen ones of `MOVES` with every movable column, in place; the sums of the posterior go along."""
    for column in range(len(values)):
        if not movable[column]:
            continue
        if cancel[0] != 0:
            return
        neighbours = blanket_of(column, graph, space)
        groups, ranked = sum_up(column, neighbours, latent, values, space)
        sets = factorise(column, graph, posterior, space)
        moved = Moved(column, groups, ranked, neighbours, sets, posterior, space)
        for _ in range(_CYCLES):
            _move(moved, chosen, generator)
        write_back(moved, latent, values)


@inline_no_refcount
def _move(moved: Moved, chosen: Flags, generator: np.random.Generator) -> None:
    """The moves of a column, one after the other."""
    groups, ranked, space, kept = moved.groups, moved.ranked, moved.space, moved.space.groups
    for group in range(ranked - 1):
        gap = kept[group + 1, LEAST] - kept[group, MOST]
        kept[group, BORDER] = kept[group, MOST] + generator.random() * gap
    # The moves: place, width, the borders, and the tails on both sides.
    tails = 2 if ranked > 1 else 0
    borders = ranked - 1 if ranked > 2 else 0
    for move in range(2 + borders + tails):
        if not chosen[move if move < 2 else 2 if move < 2 + borders else 3]:
            continue
        for group in range(groups):
            kept[group, TURN], kept[group, PUSH] = 0.0, 0.0
        in_logs, whole, width = False, False, 0.0
        if move == 0:
            whole, width = True, _WIDTH_OF_PLACE
            for group in range(groups):
                kept[group, PUSH] = 1.0
        elif move == 1:
            whole, in_logs, width = True, True, _WIDTH_OF_SCALE
            for group in range(groups):
                kept[group, TURN] = 1.0
        elif move < 2 + borders:
            width = _aim_at_border(move - 2, ranked, space)
        else:
            in_logs = True
            group = 0 if move == 2 + borders else ranked - 1
            border = kept[0 if group == 0 else group - 1, BORDER]
            kept[group, TURN], kept[group, PUSH] = 1.0, -border
            width = _DEVIATIONS / math.sqrt(kept[group, COUNT])
        if not 0.0 < width < np.inf:
            continue
        _turn_pivots(moved)
        change = _slice(width, in_logs, whole, moved, generator)
        if change != 0.0:
            _go(change, whole, move, moved)


@inline_no_refcount
def _aim_at_border(border: int, ranked: int, space: Space) -> float:
    """The direction of a move of one border; the first width of the slice, which no such move changes."""
    kept = space.groups
    here = kept[border, BORDER]
    width = _DEVIATIONS / math.sqrt(kept[border, COUNT] + kept[border + 1, COUNT])
    if border == 0:
        kept[0, PUSH] = 1.0
    else:
        end = kept[border - 1, BORDER]
        kept[border, TURN], kept[border, PUSH] = 1.0 / (here - end), -end / (here - end)
    if border == ranked - 2:
        kept[ranked - 1, PUSH] = 1.0
    else:
        end = kept[border + 1, BORDER]
        kept[border + 1, TURN], kept[border + 1, PUSH] = 1.0 / (here - end), -end / (here - end)
        if border > 0:
            width = min(width, 1.0) * (end - kept[border - 1, BORDER])
    return width


@inline_no_refcount
def _turn_pivots(moved: Moved) -> None:
    """The pivot of the column in every set along the direction, as a polynomial."""
    column, groups, neighbours = moved.column, moved.groups, moved.neighbours
    posterior, space = moved.posterior, moved.space
    kept, first = space.groups, posterior.first
    linear, square, total = 0.0, 0.0, 0.0
    for near in range(neighbours):
        space.direction[space.blanket[near]] = 0.0
    for group in range(groups):
        turn, push = kept[group, TURN], kept[group, PUSH]
        if turn == 0.0 and push == 0.0:
            continue
        count, own, squares = kept[group, COUNT], kept[group, SUM], kept[group, SQUARES]
        linear += turn * squares + push * own
        square += turn * turn * squares + 2.0 * turn * push * own + push * push * count
        total += turn * own + push * count
        for near in range(neighbours):
            other = space.blanket[near]
            space.direction[other] += turn * space.products[group, other] + push * space.totals[group, other]
    for near in range(neighbours):
        other = space.blanket[near]
        space.direction[other] -= total * first[other] / posterior.weight
    linear -= (total_of(groups, space) + posterior.prior[column]) * total / posterior.weight
    square -= total * total / posterior.weight
    for number in range(moved.sets):
        once, twice = linear, square
        cholesky, turned = space.cholesky[number], space.turned[number]
        for place in range(space.sizes[number]):
            entry = space.direction[space.sets[number, place]]
            for before in range(place):
                entry -= cholesky[place, before] * turned[before]
            entry /= cholesky[place, place]
            turned[place] = entry
            once -= entry * space.solved[number, place]
            twice -= entry * entry
        space.pivots[number, 1], space.pivots[number, 2] = 2.0 * once, twice


@inline_no_refcount
def _log_density(change: float, whole: bool, moved: Moved) -> float:
    """Log density of the coordinate, given the rest, after a change of `y`; -inf where levels would be out of order."""
    groups, ranked, space = moved.groups, moved.ranked, moved.space
    kept, result = space.groups, 0.0
    for group in range(groups):
        turn = kept[group, TURN]
        if turn != 0.0:
            slope = 1.0 + change * turn
            if not slope > 0.0:
                return -np.inf
            result += kept[group, COUNT] * math.log(slope)
    if not whole:
        for group in range(ranked - 1):
            below, above = kept[group], kept[group + 1]
            more = above[TURN] * above[LEAST] + above[PUSH] - below[TURN] * below[MOST] - below[PUSH]
            if more != 0.0:
                gap = above[LEAST] - below[MOST]
                if not gap + change * more > 0.0:
                    return -np.inf
                result -= math.log1p(change * more / gap)
    for number in range(moved.sets):
        pivots = space.pivots[number]
        pivot = pivots[0] + change * (pivots[1] + change * pivots[2])
        result += space.factor[number] * math.log(max(pivot, moved.posterior.floor) / pivots[0])
    return result


@inline_no_refcount
def _slice(width: float, in_logs: bool, whole: bool, moved: Moved, generator: np.random.Generator) -> float:
    """The change of `y` to a point of a slice: stepping out, then shrinking (Neal 2003, figures 3 and 5)."""
    level = math.log(1.0 - generator.random())
    low = -generator.random() * width
    high = low + width
    steps = int(generator.random() * _MOST_WIDTHS)
    for side in range(2):
        for _ in range(steps if side == 0 else _MOST_WIDTHS - 1 - steps):
            end = low if side == 0 else high
            if not _log_density(math.expm1(end) if in_logs else end, whole, moved) > level:
                break
            if side == 0:
                low -= width
            else:
                high += width
    for _ in range(_MOST_TRIES):
        point = low + generator.random() * (high - low)
        change = math.expm1(point) if in_logs else point
        if _log_density(change, whole, moved) > level:
            return change
        if point < 0.0:
            low = point
        else:
            high = point
    return 0.0


@inline_no_refcount
def _go(change: float, whole: bool, move: int, moved: Moved) -> None:
    """Take all sums along."""
    groups, ranked, neighbours, space = moved.groups, moved.ranked, moved.neighbours, moved.space
    kept = space.groups
    for group in range(groups):
        own = kept[group]
        turn, push = own[TURN], own[PUSH]
        if turn != 0.0 or push != 0.0:
            slope, offset = 1.0 + change * turn, change * push
            own[SQUARES] = slope * slope * own[SQUARES] + 2.0 * slope * offset * own[SUM]
            own[SQUARES] += offset * offset * own[COUNT]
            own[SUM] = slope * own[SUM] + offset * own[COUNT]
            own[LEAST], own[MOST] = slope * own[LEAST] + offset, slope * own[MOST] + offset
            own[SLOPE], own[OFFSET] = slope * own[SLOPE], slope * own[OFFSET] + offset
            if whole:
                own[BORDER] = slope * own[BORDER] + offset
            for near in range(neighbours):
                other = space.blanket[near]
                space.products[group, other] *= slope
                space.products[group, other] += offset * space.totals[group, other]
    if 2 <= move < 2 + (ranked - 1 if ranked > 2 else 0):
        kept[move - 2, BORDER] += change
    for number in range(moved.sets):
        pivots = space.pivots[number]
        pivots[0] = max(pivots[0] + change * (pivots[1] + change * pivots[2]), moved.posterior.floor)
        for place in range(space.sizes[number]):
            space.solved[number, place] += change * space.turned[number, place]
