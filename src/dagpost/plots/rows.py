"""Boxes in rows, found by simulated annealing: short lines, few crossings, heads that point down, no line over a box.

After Davidson & Harel (1996), with boxes for nodes. A state is a row and a place along it for every node; one of them
is moved, and what that costs is counted for the lines and boxes that it concerns:

- the length of each line, more if it is too short for its head and number;
- two lines that cross, or leave a box side by side;
- a line that passes over a box, or close to one;
- a line with a head that does not lead downwards;
- boxes of a row that overlap.

A line counts by its weight. It starts from the slowest vibrations of the graph, in which neighbours move together
(Hall 1970); chance comes from a generator of its own, so that the same graph always looks the same. Cost: lines squared
in the worst case, per node and step; half a second for 64 boxes and 150 lines.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dagpost._tools.arrays import Floats
from dagpost._tools.kernels import inlined, kernel

Edge = tuple[int, int]

#: What things cost, in lengths of a line of `_UNIT` points.
_CROSSING, _OVER_BOX, _SIDE_BY_SIDE, _UPWARDS, _LEVEL, _OVERLAP, _TOO_SHORT = 1.4, 5.0, 1.2, 7.0, 0.4, 0.25, 3.0
_UNIT = 100.0
#: How close to a box a line may pass, and how long a line must be between its boxes, in points.
_CLEARANCE, _SHORTEST = 8.0, 46.0
#: Moves for each node, and at least in all, as long as that is not too much work; then fewer, but not fewer than that.
_MOVES, _FEWEST, _WORK, _LEAST = 800, 8_000, 2.4e7, 1_500
_HOT, _COLD = 2.2, 0.03
#: How much any two nodes are joined at first, beside their lines, so that parts without a line between them lie apart.
_APART = 0.02
#: Several states to begin with, for graphs that are settled quickly.
_STARTS = ((16, 6), (40, 3), (1_000_000, 1))


@dataclass(frozen=True)
class Room:
    """The room that rows of boxes have: how wide, how many rows, from row to row, and between boxes of a row."""

    width: float
    rows: int
    pitch: float
    gap: float


def in_rows(
    sizes: Sequence[tuple[float, float]],
    edges: Sequence[Edge],
    weights: Sequence[float],
    headed: Sequence[bool],
    room: Room,
) -> Floats:
    """Centres (x, y) of the boxes, y growing downwards from the first row.

    >>> found = in_rows([(40.0, 20.0)] * 2, [(0, 1)], [1.0], [True], Room(200.0, 2, 60.0, 20.0))
    >>> found[:, 1].tolist()
    [0.0, 60.0]
    """
    count = len(sizes)
    halves = np.array(sizes, dtype=np.float64).reshape(-1, 2) / 2.0
    ends = np.array(edges, dtype=np.int64).reshape(-1, 2)
    weight, head = np.array(weights, dtype=np.float64), np.array(headed, dtype=np.int64)
    members, first = _lines_of(count, ends)
    points = _places_by_neighbours(count, ends, weight)
    # What a move looks at: each line of a node against all lines and boxes, and all lines against its box.
    looks = 2.0 * len(ends) / count * (len(ends) + count) + len(ends)
    starts = next(number for most, number in _STARTS if count <= most)
    starts = max(min(starts, int(_WORK / looks / _LEAST)), 1)
    moves = int(min(max(_MOVES * count, _FEWEST), max(_WORK / looks / starts, _LEAST)))
    heights = _heights(points, ends, head)
    best, least = None, math.inf
    for start in range(starts):
        x, row = _first_places(points, heights, halves, room, start)
        cost = anneal(
            x, row, halves, ends, weight, head, members, first,
            room.width, room.rows, room.pitch, room.gap, moves, 977 + 7919 * start,
        )  # fmt: skip
        if cost < least - 1e-9:
            best, least = (x, row), cost
    assert best is not None
    x, row = best
    return np.column_stack([x, (row - row.min()) * room.pitch])


def _lines_of(count: int, ends: Any) -> tuple[Any, Any]:
    """The numbers of the lines of each node, one after the other, and where those of each begin."""
    own: list[list[int]] = [[] for _ in range(count)]
    for number, (one, two) in enumerate(ends.tolist()):
        own[one].append(number)
        own[two].append(number)
    first = np.cumsum([0, *map(len, own)])
    return np.array([number for lines in own for number in lines], dtype=np.int64), first.astype(np.int64)


def _places_by_neighbours(count: int, ends: Any, weight: Floats) -> Floats:
    """The ranks of the nodes in the two slowest vibrations: the first eigenvectors of the Laplacian that part them."""
    joined = np.full((count, count), _APART)
    np.add.at(joined, (ends[:, 0], ends[:, 1]), weight)
    np.add.at(joined, (ends[:, 1], ends[:, 0]), weight)
    vectors = np.linalg.eigh(np.diag(joined.sum(axis=1)) - joined)[1][:, 1:3]
    # The sign of an eigenvector is anybody's choice: the largest entry is positive here.
    turned = np.where(vectors.max(axis=0, initial=0.0) < -vectors.min(axis=0, initial=0.0), -vectors, vectors)
    ranks: Floats = np.argsort(np.argsort(turned, axis=0, kind="stable"), axis=0).astype(np.float64)
    return np.pad(ranks, ((0, 0), (0, 2 - ranks.shape[1])))


def _first_places(points: Floats, down: Floats, halves: Floats, room: Room, start: int) -> tuple[Floats, Any]:
    """Points put into rows; every other start mirrors them, and later ones turn them."""
    across = points[:, 0]
    if start >= 2:
        angle = (start // 2) * math.pi / 5.0
        across = math.cos(angle) * across - math.sin(angle) * points[:, 1]
    if start % 2:
        across = -across
    row = np.minimum(down * room.rows, room.rows - 1).astype(np.int64)
    spread = max(float(np.ptp(across)), 1e-9)
    x = (across - across.min()) / spread * room.width
    return np.clip(x, halves[:, 0], np.maximum(room.width - halves[:, 0], halves[:, 0])), row


def most_before(count: int, ways: Any) -> Floats:
    """How many nodes stand before each one along lines with heads, at most; cycles are not gone round."""
    before = np.zeros(count)
    for _ in range(count):
        old = before.sum()
        np.maximum.at(before, ways[:, 1], np.minimum(before[ways[:, 0]] + 1.0, count))
        if before.sum() == old:
            break
    return before


def _heights(points: Floats, ends: Any, head: Any) -> Floats:
    """How far down each node stands at first, from 0 to 1: between the nodes before and after it along heads."""
    count = len(points)
    order = np.argsort(np.argsort(points[:, 1], kind="stable"), kind="stable") / count
    ways = ends[head > 0]
    if not len(ways):
        return order
    before, after = most_before(count, ways), most_before(count, ways[:, ::-1])
    whole = before + after
    found: Floats = np.where(whole > 0.0, (before + 0.5) / (whole + 1.0), order)
    return found


@inlined
def _uniform(state: Any) -> float:
    """A number from 0 to 1, by xorshift."""
    word = state[0]
    word ^= (word << np.uint64(13)) & np.uint64(0xFFFFFFFFFFFFFFFF)
    word ^= word >> np.uint64(7)
    word ^= (word << np.uint64(17)) & np.uint64(0xFFFFFFFFFFFFFFFF)
    state[0] = word
    return float(word >> np.uint64(11)) / 9007199254740992.0


@inlined
def _turn(ax: float, ay: float, bx: float, by: float, cx: float, cy: float) -> float:
    return (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)


@inlined
def _crosses(ax: float, ay: float, bx: float, by: float, cx: float, cy: float, dx: float, dy: float) -> bool:
    if max(ax, bx) < min(cx, dx) or max(cx, dx) < min(ax, bx) or max(ay, by) < min(cy, dy) or max(cy, dy) < min(ay, by):
        return False
    return (
        _turn(ax, ay, bx, by, cx, cy) * _turn(ax, ay, bx, by, dx, dy) < 0.0
        and _turn(cx, cy, dx, dy, ax, ay) * _turn(cx, cy, dx, dy, bx, by) < 0.0
    )


@inlined
def _over_box(
    ax: float, ay: float, bx: float, by: float, x: float, y: float, half_width: float, half_height: float
) -> float:
    """How much of the line between two points lies in a box: 0 for nothing, else 0.3 and up to 1 for its middle."""
    low, high = 0.0, 1.0
    for axis in range(2):
        start, step, middle, half = (ax, bx - ax, x, half_width) if axis == 0 else (ay, by - ay, y, half_height)
        if abs(step) < 1e-9:
            if abs(start - middle) >= half:
                return 0.0
        else:
            one, two = (middle - half - start) / step, (middle + half - start) / step
            low, high = max(low, min(one, two)), min(high, max(one, two))
    if low >= high:
        return 0.0
    at = (low + high) / 2.0
    off_x, off_y = abs(ax + at * (bx - ax) - x) / half_width, abs(ay + at * (by - ay) - y) / half_height
    return 0.3 + 0.7 * (1.0 - min(max(off_x, off_y), 1.0))


@inlined
def _side_by_side(ux: float, uy: float, vx: float, vy: float) -> float:
    """How nearly two lines from one box run the same way: 0 from some 20 degrees on, 1 for the same."""
    lengths = math.sqrt((ux * ux + uy * uy) * (vx * vx + vy * vy))
    if lengths < 1e-9:
        return 1.0
    return max(0.0, (ux * vx + uy * vy) / lengths - 0.94) / 0.06


@inlined
def _line_cost(line: int, x: Any, row: Any, halves: Any, ends: Any, weight: Any, head: Any, pitch: float) -> float:
    """What one line costs by itself, and by the boxes that it passes."""
    one, two = ends[line, 0], ends[line, 1]
    ax, ay, bx, by = x[one], row[one] * pitch, x[two], row[two] * pitch
    across, down = bx - ax, by - ay
    cost = math.sqrt(across * across + down * down) / _UNIT
    steps = row[two] - row[one]
    if steps == 0:
        shown = abs(across) - halves[one, 0] - halves[two, 0]
        if shown < _SHORTEST:
            cost += _TOO_SHORT * (1.0 - shown / _SHORTEST)
        cost += _LEVEL
    if head[line] and steps <= 0:
        cost += _UPWARDS - 0.3 * steps
    for node in range(len(x)):
        if node not in (one, two):
            cost += _OVER_BOX * _over_box(
                ax, ay, bx, by, x[node], row[node] * pitch, halves[node, 0] + _CLEARANCE, halves[node, 1] + _CLEARANCE
            )
    total: float = cost * weight[line]
    return total


@inlined
def _node_cost(
    node: int, x: Any, row: Any, halves: Any, ends: Any, weight: Any, head: Any, members: Any, first: Any,
    pitch: float, gap: float, limit: float,
) -> float:  # fmt: skip
    """What a node costs with its lines, its box and the lines that pass it; beyond the limit, any number above it."""
    cost = 0.0
    for other in range(len(x)):
        if other != node and row[other] == row[node]:
            room = abs(x[other] - x[node]) - halves[other, 0] - halves[node, 0] - gap
            if room < 0.0:
                cost -= _OVERLAP * (room - 4.0)
    y = row[node] * pitch
    for place in range(first[node], first[node + 1]):
        if cost > limit:
            return cost
        line = members[place]
        cost += _line_cost(line, x, row, halves, ends, weight, head, pitch)
        far = ends[line, 0] + ends[line, 1] - node
        fx, fy = x[far], row[far] * pitch
        for other in range(len(ends)):
            one, two = ends[other, 0], ends[other, 1]
            if other == line:
                continue
            both = weight[line] * weight[other]
            ox, oy, px, py = x[one], row[one] * pitch, x[two], row[two] * pitch
            if one in (node, far) or two in (node, far):
                shared_here = node in (one, two)
                end = node if shared_here else far
                rest = one + two - end
                hx, hy = (x[node], y) if shared_here else (fx, fy)
                tx, ty = (fx, fy) if shared_here else (x[node], y)
                cost += both * _SIDE_BY_SIDE * _side_by_side(tx - hx, ty - hy, x[rest] - hx, row[rest] * pitch - hy)
            elif _crosses(x[node], y, fx, fy, ox, oy, px, py):
                cost += both * _CROSSING
    for other in range(len(ends)):
        one, two = ends[other, 0], ends[other, 1]
        if node not in (one, two):
            cost += weight[other] * _OVER_BOX * _over_box(
                x[one], row[one] * pitch, x[two], row[two] * pitch, x[node], y,
                halves[node, 0] + _CLEARANCE, halves[node, 1] + _CLEARANCE,
            )  # fmt: skip
    return cost


@kernel
def anneal(
    x: Any, row: Any, halves: Any, ends: Any, weight: Any, head: Any, members: Any, first: Any,
    width: float, rows: int, pitch: float, gap: float, moves: int, seed: int,
) -> float:  # fmt: skip
    """Move nodes until they are cold; `x` and `row` are changed in place. What the state costs, comes back."""
    count = len(x)
    state = np.empty(1, dtype=np.uint64)
    state[0] = np.uint64(seed) * np.uint64(2654435761) + np.uint64(88172645463325252)
    for move in range(moves):
        done = move / moves
        heat = _HOT * (_COLD / _HOT) ** done
        node = min(int(_uniform(state) * count), count - 1)
        kind = _uniform(state)
        old_x, old_row = x[node], row[node]
        new_x, new_row = old_x + width * (0.02 + 0.5 * (1.0 - done) ** 2) * (2.0 * _uniform(state) - 1.0), old_row
        lines = first[node + 1] - first[node]
        if kind < 0.55 and lines > 0:
            # Near one of its neighbours.
            line = members[first[node] + min(int(_uniform(state) * lines), lines - 1)]
            far = ends[line, 0] + ends[line, 1] - node
            if kind < 0.4:
                new_x = x[far] + (new_x - old_x)
            new_row = row[far] + int(5.0 * _uniform(state)) - 2
        elif kind < 0.7:
            new_row = old_row + int(3.0 * _uniform(state)) - 1
        before = _node_cost(node, x, row, halves, ends, weight, head, members, first, pitch, gap, math.inf)
        row[node] = min(max(new_row, 0), rows - 1)
        x[node] = min(max(new_x, halves[node, 0]), max(width - halves[node, 0], halves[node, 0]))
        # What the new state may cost; it need not be known any better than that it costs more.
        limit = before - heat * math.log(max(_uniform(state), 1e-12))
        if _node_cost(node, x, row, halves, ends, weight, head, members, first, pitch, gap, limit) > limit:
            x[node], row[node] = old_x, old_row
    total = 0.0
    for node in range(count):
        total += _node_cost(node, x, row, halves, ends, weight, head, members, first, pitch, gap, math.inf)
    return total
