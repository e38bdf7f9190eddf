"""Lines between the boxes of a graph, whole, dashed or dotted, with a filled head, a hollow one or none.

Matplotlib's own arrows stop at a box only if they are straight, and dash their heads with their lines. These are
computed when they are drawn, from the boxes as they are then: axes may be resized, and a figure saved in any format.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.colors import to_rgba
from matplotlib.legend_handler import HandlerBase
from matplotlib.lines import Line2D
from matplotlib.patches import BoxStyle, Polygon
from matplotlib.path import Path
from matplotlib.text import Text
from matplotlib.transforms import Bbox, IdentityTransform

from dagpost.plots.marks import dashes_of, head_of
from dagpost.posterior.directions import Word

#: Length of a head, and how much wider than its line it is, in points.
_HEAD = (8.0, 5.4)
_SIDE = 0.1
_CURVE = 0.45
Stretch = tuple[float, float, float]


def width_of(probability: float) -> float:
    """Width of a line, in points."""
    return 0.5 + 2.2 * probability


def grey_of(probability: float) -> str:
    """Grey of a line: the darker, the more probable."""
    return f"{0.74 * (1.0 - probability):.3f}"


def head_size(probability: float) -> tuple[float, float]:
    """Length and width of a head, in points."""
    return _HEAD[0], width_of(probability) + _HEAD[1]


class Line(Artist, ABC):
    """A line of one pair; `word` says what is known of its direction. `path` says where it runs.

    Where the layout turns a line against its direction, `turned` puts the head, if it has one, at its beginning.
    """

    #: How far along the line its number stands.
    number_at = 0.5

    def __init__(self, probability: float, word: Word, turned: bool, scale: float = 1.0) -> None:
        super().__init__()
        self.probability, self.word, self.scale = probability, word, scale
        #: Whether the heads at the beginning and at the end are filled; None for no head.
        self.filled = (head_of(word), None) if turned else (None, head_of(word))
        self.width = width_of(probability)
        self.colour = grey_of(probability)
        # It lies between boxes, which take part in the layout of the figure.
        self.set_in_layout(False)

    def draw(self, renderer: Any) -> None:
        """Draw the line, with a white border where it crosses others, and its heads."""
        if not self.get_visible():
            return
        found = self.path(renderer)
        if found is None:
            return
        path, heads = found
        context, identity = renderer.new_gc(), IdentityTransform()
        renderer.open_group("edge", self.get_gid())
        context.set_capstyle("butt")
        for colour, extra in (("white", 1.8), (self.colour, 0.0)):
            context.set_foreground(colour)
            context.set_linewidth(self.scale * (self.width + extra))
            dashes = None if extra else dashes_of(self.word)
            if dashes is not None:
                context.set_dashes(0.0, [renderer.points_to_pixels(self.scale * stroke) for stroke in dashes])
            renderer.draw_path(context, path, identity)
        context.set_dashes(0.0, None)
        context.set_linewidth(0.9 * self.scale)
        context.set_joinstyle("miter")
        for head, filled in heads:
            face = to_rgba(self.colour if filled else "white")
            renderer.draw_path(context, Path([*head, head[0]], closed=True), identity, face)
        renderer.close_group("edge")
        context.restore()
        self.stale = False

    @abstractmethod
    def path(self, renderer: Any) -> tuple[Path, list[tuple[Any, bool]]] | None:
        """The line between its heads, and corners of each head and whether it is filled, in pixels.

        None if there is no room. The head at the beginning comes first.
        """

    def sizes(self, renderer: Any) -> list[tuple[float, float]]:
        """Length and width of the heads at both ends, in pixels; nothing where there is none."""
        length, width = (renderer.points_to_pixels(self.scale) * size for size in head_size(self.probability))
        return [(0.0, 0.0) if filled is None else (length, width) for filled in self.filled]

    def heads(self, ends: Sequence[Any], ways: Sequence[Any], sizes: Sequence[Any]) -> list[tuple[Any, bool]]:
        """The corners of each head that there is, pointing along its way, and whether it is filled."""
        return [
            (_corners(tip, way, *size), filled)
            for tip, way, size, filled in zip(ends, ways, sizes, self.filled, strict=True)
            if filled is not None
        ]

    def middle(self, renderer: Any) -> tuple[float, float] | None:
        """The point for a number on the line, about half-way, in pixels."""
        found = self.path(renderer)
        if found is None:
            return None
        points = np.concatenate(found[0].to_polygons(closed_only=False))
        lengths = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(points, axis=0).T))])
        half = lengths[-1] * self.number_at
        return float(np.interp(half, lengths, points[:, 0])), float(np.interp(half, lengths, points[:, 1]))


class EdgeArrow(Line):
    """The line of one pair, from the upper variable to the lower one.

    `stretches` (x, top, bottom), in data coordinates, lead it through the layers between, from box to box, leaving
    the parent's box below and entering the child's above at `ports`, shares of their widths; None for a straight line.
    """

    def __init__(
        self,
        parent: Text,
        child: Text,
        probability: float,
        word: Word,
        turned: bool,
        stretches: Sequence[Stretch] | None,
        ports: tuple[float, float] = (0.5, 0.5),
        scale: float = 1.0,
    ) -> None:
        super().__init__(probability, word, turned, scale)
        self.parent, self.child = parent, child
        self.stretches, self.ports = stretches, ports
        # Straight lines meet in the middle of a circle: there the numbers would lie on each other.
        self.number_at = 0.5 if stretches is not None else 0.38

    def path(self, renderer: Any) -> tuple[Path, list[tuple[Any, bool]]] | None:
        """Straight from box to box, or through the layers between."""
        boxes = [box_around(text, renderer) for text in (self.parent, self.child)]
        sizes = self.sizes(renderer)
        if self.stretches is None:
            ends = _between(*boxes)
            if ends is None:
                return None
            way = (ends[1] - ends[0]) / np.hypot(*(ends[1] - ends[0]))
            inner = [ends[0] + sizes[0][0] * way, ends[1] - sizes[1][0] * way]
            path, ways = Path(inner), (-way, way)
        else:
            ends = self._at_ports(*boxes)
            down = np.array([0.0, -1.0 if ends[0][1] > ends[1][1] else 1.0])
            inner = [ends[0] + sizes[0][0] * down, ends[1] - sizes[1][0] * down]
            path, ways = self._through_layers(*inner), (-down, down)
        return path, self.heads(ends, ways, sizes)

    def _at_ports(self, upper: Bbox, lower: Bbox) -> list[Any]:
        xs = [
            b.x0 + b.width * (_SIDE + (1 - 2 * _SIDE) * port)
            for b, port in zip((upper, lower), self.ports, strict=True)
        ]
        return [np.array([xs[0], upper.y0]), np.array([xs[1], lower.y1])]

    def _through_layers(self, start: Any, end: Any) -> Path:
        """Curves between the layers, straight down inside them."""
        assert self.axes is not None
        points, codes, here = [start], [Path.MOVETO], start
        for x, top, bottom in self.stretches or ():
            above, below = self.axes.transData.transform([(x, top), (x, bottom)])
            points += [*_curve(here, above), below]
            codes += [Path.CURVE4] * 3 + [Path.LINETO]
            here = below
        return Path([*points, *_curve(here, end)], [*codes, *[Path.CURVE4] * 3])


class EdgeNumber(Text):
    """The probability of a pair, written on the middle of its line.

    Where the probability of one direction is not known (nan), that of the other one is the least that both can have.
    """

    def __init__(self, arrow: Line, least: bool, **settings: Any) -> None:
        shown = f"{'≥' if least else ''}{arrow.probability:.2f}"
        super().__init__(0.0, 0.0, shown, ha="center", va="center", **settings)
        self.arrow = arrow
        self.set_transform(IdentityTransform())
        self.set_in_layout(False)

    def draw(self, renderer: Any) -> None:
        """Go to where the line is now, and draw there."""
        middle = self.arrow.middle(renderer)
        if middle is not None:
            self.set_position(middle)
            super().draw(renderer)


class NameBox:
    """A box around a name, round or square, wide enough, in letters, for all its lines to end side by side."""

    def __init__(self, pad: float, width: float, *, square: bool = False) -> None:
        self.pad, self.width, self.square = pad, width, square

    def __call__(self, x0: float, y0: float, width: float, height: float, mutation_size: float) -> Path:
        """The outline, as matplotlib asks for it."""
        extra = max(self.width * mutation_size - width, 0.0) / 2
        outline = BoxStyle.Square(self.pad) if self.square else BoxStyle.Round(pad=self.pad, rounding_size=0.3)
        return outline(x0 - extra, y0, width + 2 * extra, height, mutation_size)


class SampleLine:
    """A line of the legend, to the right: how probable, and what is known of its direction; "open": no head."""

    def __init__(self, probability: float, word: Word = "open") -> None:
        self.probability, self.word = probability, word

    def get_label(self) -> str:
        """No label of its own."""
        return ""


class SampleHandler(HandlerBase):
    """Draws a `SampleLine` in a legend."""

    def create_artists(
        self, legend: Any, orig_handle: Any, xdescent: float, ydescent: float,
        width: float, height: float, fontsize: float, trans: Any,
    ) -> list[Artist]:  # fmt: skip
        """The line and its head."""
        del legend, fontsize
        sample, y = orig_handle, height / 2 - ydescent
        left, right = -xdescent, width - xdescent
        filled, dashes = head_of(sample.word), dashes_of(sample.word)
        length, wide = head_size(sample.probability)
        colour, thick = grey_of(sample.probability), width_of(sample.probability)
        ends = [left, right - (filled is not None) * length]
        line = Line2D(ends, [y, y], color=colour, linewidth=thick, solid_capstyle="butt", dash_capstyle="butt")
        if dashes is not None:
            line.set_linestyle((0.0, [stroke / thick for stroke in dashes]))
        artists: list[Artist] = [line]
        if filled is not None:
            corners = _corners(np.array([right, y]), np.array([1.0, 0.0]), length, wide)
            face = colour if filled else "white"
            artists.append(Polygon(corners, closed=True, facecolor=face, edgecolor=colour, linewidth=0.9))
        for artist in artists:
            artist.set_transform(trans)
        return artists


def box_around(text: Text, renderer: Any) -> Bbox:
    """The box of a name as it is drawn now, in pixels."""
    text.update_bbox_position_size(renderer)
    patch = text.get_bbox_patch()
    assert patch is not None
    return patch.get_window_extent(renderer)


def _corners(tip: Any, way: Any, length: float, width: float) -> Any:
    side = np.array([-way[1], way[0]]) * width / 2
    base = tip - length * way
    return np.array([tip, base + side, base - side])


def _curve(start: Any, end: Any) -> list[Any]:
    """The rest of a curve that leaves and arrives straight down."""
    drop = np.array([0.0, _CURVE * (end[1] - start[1])])
    return [start + drop, end - drop, end]


def _between(first: Bbox, second: Bbox) -> list[Any] | None:
    """Where the line between the centres leaves one box and enters the other."""
    centres = [np.array([(box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2]) for box in (first, second)]
    way = centres[1] - centres[0]
    shares = []
    for box in (first, second):
        reach = [
            side / 2 / abs(step) if step else math.inf for side, step in zip((box.width, box.height), way, strict=True)
        ]
        shares.append(min(reach))
    if sum(shares) >= 1.0:
        return None
    return [centres[0] + shares[0] * way, centres[1] - shares[1] * way]
