"""How large the boxes of a scene are, and where they stand: those with lines in rows, those without in a block below.

A box has room for its label, and on its border for the ends of all its lines. A wide picture fits the first screen of a
computer, a narrow one the width of a phone; more columns have smaller letters.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from dagpost._tools.arrays import Floats
from dagpost.plots.letters import LINE, broken, text_width
from dagpost.plots.marks import LOOKS, head_size
from dagpost.plots.routing import room_needed
from dagpost.plots.rows import Room, in_rows, most_before
from dagpost.posterior.pair_direction import PairDirection

Shape = Literal["wide", "narrow"]

#: Lines that are not shown and less probable than this do not move boxes.
_MOVES_BOXES = 0.05
#: The size of letters for at most so many boxes.
_SIZES: dict[Shape, tuple[tuple[int, float], ...]] = {
    "wide": ((16, 13.0), (25, 12.0), (40, 11.0), (64, 10.0), (1_000, 9.0)),
    "narrow": ((16, 11.5), (1_000, 10.5)),
}
#: How wide a label is before it is broken, in letters, and the whole picture, in points.
_LABEL: dict[Shape, float] = {"wide": 8.6, "narrow": 7.4}
_WIDTH: dict[Shape, float] = {"wide": 1080.0, "narrow": 352.0}
#: How much wider than high a wide picture is.
_ASPECT = 1.75
#: How high the rows of a wide picture may become so that heads point down.
_HIGHEST = 560.0
#: Inside a box beside and above its label, between boxes and between rows, in sizes of the letters.
_BESIDE, _ABOVE, _GAP, _BETWEEN = 0.62, 0.36, 2.6, 3.8
#: How much more room there is for at most so many boxes.
_EASE = ((8, 1.3), (16, 1.15), (1_000, 1.0))


def letters_for(count: int, shape: Shape) -> float:
    """The size of letters for so many boxes.

    >>> letters_for(6, "wide"), letters_for(64, "wide")
    (13.0, 10.0)
    """
    return next(size for most, size in _SIZES[shape] if count <= most)


def head_scale(size: float) -> float:
    """Heads are smaller where letters are."""
    return min(1.0, max(size / 12.5, 0.75))


def scaled(size: tuple[float, float], scale: float) -> tuple[float, float]:
    """Length and width of a head on that scale."""
    return size[0] * scale, size[1] * scale


def labels_of_boxes(names: Sequence[str], shape: Shape) -> tuple[list[tuple[str, ...]], list[bool]]:
    """Each name in lines, and whether something of it is missing."""
    found = [broken(name, _LABEL[shape]) for name in names]
    labels = [label for label, _ in found]
    # Two long names may begin alike.
    twice = {label for label in labels if labels.count(label) > 1}
    numbered = [
        (*label[:-1], f"{label[-1]} [{number + 1}]") if label in twice else label for number, label in enumerate(labels)
    ]
    return numbered, [cut for _, cut in found]


def sides_of(
    labels: Sequence[tuple[str, ...]], pairs: Sequence[PairDirection], threshold: float, size: float
) -> list[tuple[float, float]]:
    """Widths and heights of the boxes: room for the label, and on the border for the ends of all lines."""
    needed = [0.0] * len(labels)
    for pair in pairs:
        if pair.joined >= threshold:
            head = scaled(head_size(pair.word, pair.joined), head_scale(size))
            needed[pair.source] += 2.0 * room_needed((0.0, 0.0))
            needed[pair.target] += 2.0 * room_needed(head)
    sides = []
    for label, border in zip(labels, needed, strict=True):
        width = max(text_width(line, size) for line in label) + 2.0 * _BESIDE * size
        height = LINE * size * len(label) + 2.0 * _ABOVE * size
        # Without its corners; many lines make a box higher as well.
        missing = max(border + 40.0 - 2.0 * (width + height), 0.0)
        sides.append((max(width, 2.4 * size) + 0.38 * missing, height + 0.12 * missing))
    return sides


def middles_of(
    sides: Sequence[tuple[float, float]], pairs: Sequence[PairDirection], threshold: float, shape: Shape, size: float
) -> Floats:
    """Middles of the boxes: those with lines in rows, those without in a block below."""
    lines = [pair for pair in pairs if pair.joined >= min(threshold, _MOVES_BOXES)]
    linked = sorted({node for pair in lines for node in (pair.source, pair.target)})
    centres = np.zeros((len(sides), 2))
    bottom, width = -_BETWEEN * size, 0.0
    if linked:
        local = {node: number for number, node in enumerate(linked)}
        own = [sides[node] for node in linked]
        weights = [0.4 + 0.6 * pair.joined if pair.joined >= threshold else 0.25 * pair.joined for pair in lines]
        shown = sum(pair.joined >= threshold for pair in lines)
        headed = [LOOKS[pair.word].head is not None for pair in lines]
        edges = [(local[pair.source], local[pair.target]) for pair in lines]
        ways = np.array([edge for edge, head in zip(edges, headed, strict=True) if head], dtype=np.int64).reshape(-1, 2)
        # How many boxes follow on each other along heads.
        depth = min(int(most_before(len(own), ways).max()) + 1, len(own))
        room = _room(own, shown, depth, shape, size)
        found = in_rows(own, edges, weights, headed, room)
        halves = np.array(own) / 2.0
        bottom = float((found[:, 1] + halves[:, 1]).max())
        width = float(np.ptp(np.concatenate([found[:, 0] - halves[:, 0], found[:, 0] + halves[:, 0]])))
        centres[linked] = found - [float((found[:, 0] - halves[:, 0]).min()), 0.0]
    alone = [node for node in range(len(sides)) if node not in set(linked)]
    _in_block(
        alone, sides, centres, bottom + 0.6 * _BETWEEN * size, max(width, _block_width(alone, sides, shape)), size
    )
    return centres


def _room(sides: Sequence[tuple[float, float]], lines: int, depth: int, shape: Shape, size: float) -> Room:
    """The room for boxes with so many lines between them: a page rather than a ribbon."""
    count = len(sides)
    ease = next(ease for most, ease in _EASE if count <= most)
    gap = (_GAP * ease if shape == "wide" else 1.3) * size
    pitch = max(height for _, height in sides) + _BETWEEN * ease * size
    widest = max(width for width, _ in sides)
    taken = sum(width + gap for width, _ in sides)
    if shape == "narrow":
        width = max(_WIDTH["narrow"], widest)
        rows = int(np.ceil(taken / (0.6 * width))) + 1
        return Room(width, rows, pitch, gap)
    filled = min(max(0.66 - 0.06 * lines / count, 0.34), 0.6)
    width = min(max(float(np.sqrt(_ASPECT * pitch * taken / filled)), widest), max(_WIDTH["wide"], widest))
    rows = max(int(np.ceil(taken / (filled * width))), 2)
    # Lines with heads lead downwards where there is room for as many rows as follow on each other.
    rows = max(rows, min(depth, int(_HIGHEST / pitch)))
    return Room(width, rows, pitch, gap)


def _block_width(alone: Sequence[int], sides: Sequence[tuple[float, float]], shape: Shape) -> float:
    """A width at which boxes without lines fill a page rather than a ribbon."""
    area = sum((sides[node][0] + 12.0) * (sides[node][1] + 12.0) for node in alone)
    return min(float(np.sqrt(4.0 * area)), _WIDTH[shape])


def _in_block(
    alone: Sequence[int], sides: Sequence[tuple[float, float]], centres: Floats, top: float, width: float, size: float
) -> None:
    """Boxes without lines in rows of their own, close together, in the order of the columns."""
    left, gap = 0.0, 0.9 * size
    high = max((sides[node][1] for node in alone), default=0.0)
    for node in alone:
        if left > 0.0 and left + sides[node][0] > width:
            left, top = 0.0, top + high + gap
        centres[node] = left + sides[node][0] / 2.0, top + high / 2.0
        left += sides[node][0] + gap
