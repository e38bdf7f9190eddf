"""Where the boxes of a graph stand, in points: in layers, on a circle, or where graphviz puts them.

In layers every box has the room it needs, so that no two overlap. Parts without an edge between them are laid out one
by one and put side by side, variables without any edge come last.
"""

from __future__ import annotations

import math
import shutil
import subprocess
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dagpost._tools.text import shown
from dagpost.errors import InputError
from dagpost.plots import coordinates
from dagpost.plots.layering import Edge, bends_needed, in_layers

Point = tuple[float, float]
Size = tuple[float, float]
#: A way straight down: x, top and bottom.
Stretch = tuple[float, float, float]

#: Layouts of our own.
LAYOUTS = ("layered", "circle", "graphviz")
_GAP = 16.0
_BETWEEN = 32.0
_BEND_WIDTH = 7.0
_SMALLEST_DROP, _LARGEST_DROP = 36.0, 76.0
#: A graph whose edges need more bends than this is not readable in layers.
MOST_BENDS = 700


@dataclass(frozen=True)
class Placing:
    """Centres of the boxes and the size of the whole, in points, x to the right and y up.

    `routes` has for each edge (parent, child) the stretches (x, top, bottom) in which it passes other layers; an edge
    that is not in it is a straight line. `layer` has the layer of each node, in the order of the nodes; None where
    there are no layers.
    """

    centres: tuple[Point, ...]
    width: float
    height: float
    routes: dict[Edge, tuple[Stretch, ...]]
    layer: tuple[int, ...] | None


def layered(edges: Sequence[Edge], sizes: Sequence[Size]) -> Placing:
    """Boxes of these sizes in layers, parents above children; the edges must have no cycle.

    >>> placed = layered([(0, 1)], [(40.0, 20.0), (60.0, 20.0)])
    >>> placed.layer, placed.centres[0][1] > placed.centres[1][1]
    ((0, 1), True)
    """
    parts = _components(len(sizes), edges)
    blocks = [_place_part(part, edges, sizes) for part in parts]
    widest = max([_whole_width(sizes), *(block.width for block in blocks)])
    centres: dict[int, Point] = {}
    routes: dict[Edge, tuple[Stretch, ...]] = {}
    layer = [0] * len(sizes)
    width, top, number = 0.0, 0.0, 0
    for shelf in _shelves([block.width for block in blocks], widest):
        left, deepest = 0.0, 0
        for part, block in ((parts[place], blocks[place]) for place in shelf):
            low = top - block.height
            for node, (x, y), own in zip(part, block.centres, block.layer or (), strict=True):
                centres[node] = (left + x, low + y)
                layer[node] = number + own
                deepest = max(deepest, layer[node] + 1)
            for (parent, child), stretches in block.routes.items():
                shifted = tuple((left + x, low + upper, low + lower) for x, upper, lower in stretches)
                routes[part[parent], part[child]] = shifted
            left += block.width + _BETWEEN
        width, number = max(width, left - _BETWEEN), deepest
        top -= max(blocks[place].height for place in shelf) + _BETWEEN
    height = -top - _BETWEEN
    moved = tuple((centres[node][0], centres[node][1] + height) for node in range(len(sizes)))
    lifted = {edge: tuple((x, y1 + height, y0 + height) for x, y1, y0 in found) for edge, found in routes.items()}
    return Placing(moved, width, height, lifted, tuple(layer))


def too_dense(edges: Sequence[Edge], count: int) -> bool:
    """Whether layers would be no help."""
    return bends_needed(count, edges, _most_in_layer(count)) > MOST_BENDS


def on_circle(sizes: Sequence[Size]) -> Placing:
    """Boxes on an ellipse, in the order of the columns, beginning on top and going with the clock."""
    count = len(sizes)
    wide, high = max(w for w, _ in sizes), max(h for _, h in sizes)
    # Neighbours at the sides stand above each other, those on top and below beside each other.
    down = max(60.0, count * (high + 9.0) / 4.0)
    across = max(80.0, count * (wide + _GAP) / 5.5)
    angles = [2.0 * math.pi * number / count for number in range(count)]
    centres = [(across * math.sin(angle), down * math.cos(angle)) for angle in angles]
    return _framed(centres, sizes)


def by_graphviz(edges: Sequence[Edge], sizes: Sequence[Size]) -> Placing:
    """Boxes where the program `dot` of graphviz puts them."""
    program = shutil.which("dot")
    if program is None:
        raise InputError(
            "layout='graphviz' needs the program 'dot', which is not on the path. Install graphviz, or use "
            "layout='layered'."
        )
    lines = [f"{n} [width={w / 72:.4f} height={h / 72:.4f}];" for n, (w, h) in enumerate(sizes)]
    lines += [f"{parent} -> {child};" for parent, child in edges]
    text = 'digraph { node [shape=box fixedsize=true label=""]; nodesep=0.2; ' + " ".join(lines) + " }"
    done = subprocess.run([program, "-Tplain"], input=text, capture_output=True, text=True, check=False)
    rows = [line.split() for line in done.stdout.splitlines() if line.startswith("node ")]
    if done.returncode or len(rows) != len(sizes):
        raise InputError(f"The program 'dot' of graphviz failed: {done.stderr.strip()}. Use layout='layered'.")
    found = {int(row[1]): (72.0 * float(row[2]), 72.0 * float(row[3])) for row in rows}
    return _framed([found[node] for node in range(len(sizes))], sizes)


def given_positions(layout: Any, names: Sequence[str]) -> list[Point] | None:
    """The positions that a user gives for all names; None for one of our own layouts."""
    if isinstance(layout, str) and layout in LAYOUTS:
        return None
    if not isinstance(layout, Mapping):
        raise InputError(
            f"The 'layout' must be one of {', '.join(map(repr, LAYOUTS))}, or a dict with a position (x, y) for each "
            f"name. Got {shown(layout)} instead."
        )
    layout = {str(name): position for name, position in layout.items()}
    missing = [name for name in names if name not in layout]
    if missing:
        raise InputError(f"The 'layout' has no position for {missing[0]!r}. Give one for each of the {len(names)}.")
    try:
        found = [(float(layout[name][0]), float(layout[name][1])) for name in names]
    except (TypeError, ValueError, IndexError, KeyError) as wrong:
        raise InputError(f"A position in 'layout' must be two numbers (x, y): {wrong}.") from wrong
    if not np.isfinite(found).all():
        raise InputError("A position in 'layout' must be two finite numbers (x, y). Some are not finite.")
    return found


def as_given(positions: Sequence[Point], sizes: Sequence[Size]) -> Placing:
    """Boxes at given positions, whatever their unit, spread so that neighbours have room where that can be done."""
    points = np.array(positions, dtype=np.float64)
    spread = np.maximum(np.ptp(points, axis=0), 1e-12)
    needed = math.sqrt(len(sizes)) * (np.max(np.array(sizes), axis=0) + _GAP) * 1.3
    scaled = (points - points.min(axis=0)) * (needed / spread)
    return _framed([(float(x), float(y)) for x, y in scaled], sizes)


def _framed(centres: Sequence[Point], sizes: Sequence[Size]) -> Placing:
    left = min(x - w / 2 for (x, _), (w, _) in zip(centres, sizes, strict=True))
    right = max(x + w / 2 for (x, _), (w, _) in zip(centres, sizes, strict=True))
    low = min(y - h / 2 for (_, y), (_, h) in zip(centres, sizes, strict=True))
    high = max(y + h / 2 for (_, y), (_, h) in zip(centres, sizes, strict=True))
    moved = tuple((x - left, y - low) for x, y in centres)
    return Placing(moved, right - left, high - low, {}, None)


def _most_in_layer(count: int) -> int:
    return max(4, math.ceil(1.5 * math.sqrt(count)))


def _whole_width(sizes: Sequence[Size]) -> float:
    """A width at which the boxes fill a page rather than a ribbon."""
    area = sum((w + _GAP) * (h + 2 * _SMALLEST_DROP) for w, h in sizes)
    return max(math.sqrt(1.6 * area), *(w for w, _ in sizes))


def _shelves(widths: Sequence[float], widest: float) -> list[list[int]]:
    """Numbers of blocks, in rows that are not wider than that."""
    shelves: list[list[int]] = []
    left = math.inf
    for number, width in enumerate(widths):
        if left + width > widest:
            shelves.append([])
            left = 0.0
        shelves[-1].append(number)
        left += width + _BETWEEN
    return shelves


def _components(count: int, edges: Sequence[Edge]) -> list[list[int]]:
    """Nodes that hang together, the largest parts first."""
    part = list(range(count))
    for parent, child in edges:
        old, new = sorted((part[parent], part[child]), reverse=True)
        part = [new if number == old else number for number in part]
    members = defaultdict(list)
    for node, number in enumerate(part):
        members[number].append(node)
    return sorted(members.values(), key=lambda nodes: (-len(nodes), nodes[0]))


def _place_part(part: Sequence[int], edges: Sequence[Edge], sizes: Sequence[Size]) -> Placing:
    local = {node: number for number, node in enumerate(part)}
    inside = [(local[parent], local[child]) for parent, child in edges if parent in local]
    own = [sizes[node] for node in part]
    layers = in_layers(len(part), inside, _most_in_layer(len(part)))
    widths = [*(w for w, _ in own), *[_BEND_WIDTH] * (len(layers.layer) - len(own))]
    across = coordinates.across(layers, widths, _GAP)
    tall = [max([own[n][1] for n in nodes if n < layers.count], default=0.0) for nodes in layers.order]
    drops = [_SMALLEST_DROP] * len(layers.order)
    for upper, lower in layers.segments:
        # Far to the side needs some way down, or the line runs along the boxes.
        run = 0.2 * abs(across[upper] - across[lower])
        drops[layers.layer[upper]] = min(max(drops[layers.layer[upper]], run), _LARGEST_DROP)
    depth = np.cumsum([0.0, *(high + drop for high, drop in zip(tall, drops, strict=True))])
    height = float(depth[-1] - drops[-1])
    middle = [height - float(depth[number]) - tall[number] / 2 for number in range(len(tall))]
    centres = tuple((across[node], middle[layers.layer[node]]) for node in range(layers.count))
    routes = {
        edge: tuple(
            (
                across[bend],
                middle[layers.layer[bend]] + tall[layers.layer[bend]] / 2,
                middle[layers.layer[bend]] - tall[layers.layer[bend]] / 2,
            )
            for bend in bends
        )
        for edge, bends in layers.bends.items()
    }
    width = max(x + w / 2 for x, w in zip(across, widths, strict=True))
    return Placing(centres, width, height, routes, layers.layer[: layers.count])
