"""The picture of a posterior as plain data: boxes, lines, heads, numbers and a legend, with their places in points.

Everything that draws a graph draws a scene: `svg` for the report and notebooks, `canvas` for matplotlib. So one layout,
one way to lead lines and one set of marks (`marks`) are the same everywhere, and what holds for the scene holds for
every picture: labels are inside their boxes, no line passes over a foreign box, heads do not overlap.

Points count to the right and downwards. Boxes stand in rows (`rows`); columns without any line come last, in a block.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import repeat

import numpy as np

from dagpost._tools.text import printable
from dagpost.plots.box_layout import Shape, head_scale, labels_of_boxes, letters_for, middles_of, scaled, sides_of
from dagpost.plots.curves import Path, corners_around, points_along
from dagpost.plots.letters import text_width
from dagpost.plots.marks import LOOKS, head_size, listed
from dagpost.plots.number_places import number_places
from dagpost.plots.placing import as_given
from dagpost.plots.ports import Frame, Point
from dagpost.plots.readable_part import readable_part
from dagpost.plots.routing import Routed, Wanted, routed
from dagpost.posterior.directions import Directions
from dagpost.posterior.pair_direction import UNDER_ASSUMPTION, PairDirection, Word

Edge = tuple[int, int]

#: Pairs that are joined with less probability than this are not shown at first.
THRESHOLD = 0.1
#: More lines than this cannot be told apart.
_MOST_LINES = 400
#: Lines and boxes that a scene of very many columns has at most.
_MOST_PAIRS, _MOST_NODES = 150, 100
#: How far boxes move apart step by step, if there are at most so many, until all numbers have a place.
_STRETCHES: dict[Shape, tuple[float, ...]] = {"wide": (1.0, 1.12, 1.12, 1.12), "narrow": (1.0, 1.12)}
_STRETCHED = 16
_MARGIN = 8.0
#: Size of the numbers on lines, in sizes of the letters.
_NUMBER = 0.82


@dataclass(frozen=True)
class Box:
    """The box of a column: its number and name, its label in lines, its middle and sides, and whether it is square."""

    node: int
    name: str
    label: tuple[str, ...]
    x: float
    y: float
    width: float
    height: float
    square: bool = False
    #: Drawn lightly: nothing is said of this column.
    faint: bool = False


@dataclass(frozen=True)
class Line:
    """The line of a pair: where it runs up to its head, the corners of that (tip first), and its number.

    `pair` is its place among the pairs that were given. `hidden`: not shown at first. `number_at` is the middle of the
    number; None where it would cover something.
    """

    pair: int
    source: int
    target: int
    word: Word
    joined: float
    said: str
    path: Path
    head: tuple[Point, Point, Point] | None
    number: str
    number_at: Point | None
    sign: str = ""
    hidden: bool = False

    @property
    def shown(self) -> str:
        """What is written on the line: its number and, where it is known, its sign."""
        return f"{self.number} {self.sign.replace('-', '−')}" if self.sign else self.number


@dataclass(frozen=True)
class Scene:
    """A picture: its sides and the size of its letters in points, what is drawn, what is explained and what is told."""

    shape: Shape
    width: float
    height: float
    size: float
    boxes: tuple[Box, ...]
    lines: tuple[Line, ...]
    measure: str = "probability"
    remarks: tuple[str, ...] = ()
    #: Other words than usual for some words of the legend.
    labels: Mapping[Word, str] | None = None
    #: Words that stand in the picture, such as those above columns of times, with their middles.
    heads: tuple[tuple[str, Point], ...] = ()

    @property
    def number_size(self) -> float:
        """Size of the numbers on lines."""
        return _NUMBER * self.size

    @property
    def words(self) -> list[Word]:
        """The words that the legend explains: those of the lines that are shown."""
        return listed(line.word for line in self.lines if not line.hidden)

    @property
    def exogenous(self) -> bool:
        """Whether a column is not modelled."""
        return any(box.square for box in self.boxes)


def scene_of(
    directions: Directions,
    pairs: Sequence[PairDirection] | None = None,
    *,
    threshold: float = THRESHOLD,
    shape: Shape = "wide",
    numbers: bool | None = None,
    positions: Sequence[Point] | None = None,
    said: Sequence[str] | None = None,
    signs: Sequence[str] | None = None,
    least: Sequence[Edge] = (),
    measure: str = "probability",
    remarks: Sequence[str] = (),
) -> Scene:
    """The picture of what is known of the directions of all pairs.

    Parameters
    ----------
    directions
        The posterior of every pair; see `dagpost.posterior.directions`.
    pairs
        The lines to draw, such as all pairs of a report; None: those that reach the threshold.
    threshold
        Lines below it are hidden, and hardly move the boxes.
    shape
        "wide" for a screen, "narrow" for a phone.
    numbers
        Whether every line has its number; None: those on which it covers nothing.
    positions
        Where the box of every column is; None: in rows, where lines are short, cross little and lead down.
    said, signs
        What is told of each pair, and the sign of its effect ("+", "-" or ""), in the order of the pairs.
    least
        Pairs of which only a least probability is known.

    >>> from dagpost.posterior.directions import not_computed
    >>> found = scene_of(not_computed(("a", "b"), np.array([[0.0, 0.8], [0.1, 0.0]])))
    >>> [box.label for box in found.boxes], [(line.word, line.number) for line in found.lines]
    ([('a',), ('b',)], [('unknown', '0.90')])
    """
    given = directions.pairs(max(threshold, 1e-9)) if pairs is None else list(pairs)
    ends = [(pair.source, pair.target) for pair in given]
    part = readable_part(directions.joined, ends, threshold, most_pairs=_MOST_PAIRS, most_nodes=_MOST_NODES)
    if any(pair.joined < threshold for pair in given):
        # What is shown changes with the threshold: the page says it.
        part = part._replace(remarks=[], missing={})
    kept = set(part.pairs)
    falling = sorted(range(len(given)), key=lambda place: (-given[place].joined, place))
    reached = sum(given[place].joined >= threshold and ends[place] in kept for place in falling)
    most = min(max(reached, 3 * len(part.nodes) + 30), _MOST_LINES)
    drawn = sorted([place for place in falling if ends[place] in kept][:most])
    too_many = [f"Drawn: the {most:,} most probable of {reached:,} pairs."] if reached > most else []
    local = {node: number for number, node in enumerate(part.nodes)}
    size = letters_for(len(local), shape)
    shown = [directions.names[node] + part.suffix(node) for node in part.nodes]
    inside = [given[place]._replace(source=local[ends[place][0]], target=local[ends[place][1]]) for place in drawn]
    labels, cut = labels_of_boxes(shown, shape)
    sides = sides_of(labels, inside, threshold, size)
    if positions is None:
        centres = middles_of(sides, inside, threshold, shape, size)
    else:
        centres = as_given([positions[node] for node in part.nodes], sides) if sides else np.zeros((0, 2))
    given_columns = {local[node] for node in directions.exogenous if node in local}
    boxes = [
        Box(node, directions.names[node], label, float(x), float(y), *side, square=local[node] in given_columns)
        for node, label, (x, y), side in zip(part.nodes, labels, centres, sides, strict=True)
    ]
    told = [_told(directions, given[place], said[place] if said is not None else given[place].label) for place in drawn]
    may_stretch = positions is None and len(boxes) <= _STRETCHED and numbers is None
    stretches = _STRETCHES[shape] if may_stretch else (1.0,)
    for stretch in stretches:
        # Boxes move apart until every number finds a place; a phone is not wider.
        across = stretch if shape == "wide" else 1.0
        boxes = [replace(box, x=box.x * across, y=box.y * stretch) for box in boxes]
        lines = lines_between(
            boxes, inside, threshold, size, told=told,
            signs=[signs[place] if signs is not None else "" for place in drawn],
            least=[ends[place] in least or ends[place][::-1] in least for place in drawn], numbers=numbers,
        )  # fmt: skip
        if all(line.hidden or line.number_at is not None for line in lines):
            break
    numbered = [
        replace(line, pair=place, source=given[place].source, target=given[place].target)
        for place, line in zip(drawn, lines, strict=True)
    ]
    key = [f"{' '.join(labels[at])}: {printable(name)}" for at, name in enumerate(shown) if cut[at]]
    words = " ".join(filter(None, [*remarks, *part.remarks, *too_many]))
    told_below = tuple(filter(None, [words, *key]))
    found = Scene(shape, 0.0, 0.0, size, tuple(boxes), tuple(numbered), measure, told_below)
    return framed(replace(found, labels={"rules": UNDER_ASSUMPTION}) if directions.assumed else found)


def lines_between(
    boxes: Sequence[Box],
    pairs: Sequence[PairDirection],
    threshold: float,
    size: float,
    *,
    told: Sequence[str],
    numbers: bool | None,
    signs: Sequence[str] | None = None,
    least: Sequence[bool] | None = None,
) -> list[Line]:
    """The lines between some boxes, routed, with their heads and numbers; pairs count the boxes."""
    frames = [Frame(box.x, box.y, box.width / 2.0, box.height / 2.0) for box in boxes]
    scale = head_scale(size)
    hidden = [pair.joined < threshold for pair in pairs]
    wanted = [
        Wanted(pair.source, pair.target, scaled(head_size(pair.word, pair.joined), scale), crowded=not away)
        for pair, away in zip(pairs, hidden, strict=True)
    ]
    found = routed(frames, wanted)
    lines = [
        Line(
            number, pair.source, pair.target, pair.word, pair.joined, words, route.path, route.head,
            f"{'≥' if only_least else ''}{pair.joined:.2f}", None, sign, away,
        )
        for number, (pair, words, route, only_least, sign, away) in enumerate(
            zip(pairs, told, found, least or repeat(False), signs or repeat(""), hidden, strict=False)
        )
    ]  # fmt: skip
    return with_numbers(lines, frames, found, size, numbers)


def with_numbers(
    lines: Sequence[Line], frames: Sequence[Frame], found: Sequence[Routed], size: float, numbers: bool | None
) -> list[Line]:
    """Lines with a place for their numbers; those that are hidden come after all others and give way to these."""
    if numbers is False:
        return list(lines)
    height = _NUMBER * size
    sizes = [(text_width(line.shown, height) + 3.0, 1.15 * height) for line in lines]
    order = sorted(range(len(lines)), key=lambda number: (lines[number].hidden, -lines[number].joined, number))
    shown = [number for number in order if not lines[number].hidden]
    later = [number for number in order if lines[number].hidden]
    placed = list(lines)
    for part, among in ((shown, shown), (later, order)):
        where = {number: place for place, number in enumerate(among)}
        places = number_places(
            frames,
            [found[number] for number in among],
            [sizes[number] for number in among],
            [where[number] for number in part],
            every=bool(numbers),
        )
        for number in part:
            placed[number] = replace(lines[number], number_at=places[where[number]])
    return placed


def framed(scene: Scene) -> Scene:
    """The scene moved so that all of it begins at a margin, and the sides that it needs."""
    corners: list[Point] = [(0.0, 0.0)] if not scene.boxes else []
    for box in scene.boxes:
        corners += [(box.x + sign * box.width / 2.0, box.y + sign * box.height / 2.0) for sign in (-1.0, 1.0)]
    for line in scene.lines:
        points = points_along(line.path)
        corners += [tuple(points.min(axis=0).tolist()), tuple(points.max(axis=0).tolist()), *(line.head or ())]
        if line.number_at is not None:
            x, y = line.number_at
            half = text_width(line.shown, scene.number_size) / 2.0
            corners += [(x - half, y - scene.number_size), (x + half, y + scene.number_size)]
    for text, (x, y) in scene.heads:
        half = text_width(text, scene.size) / 2.0
        corners += [(x - half, y - scene.size), (x + half, y + scene.size)]
    left, top, right, bottom = corners_around(corners)
    step = (_MARGIN - left, _MARGIN - top)

    def moved(point: Point) -> Point:
        return point[0] + step[0], point[1] + step[1]

    boxes = [replace(box, x=box.x + step[0], y=box.y + step[1]) for box in scene.boxes]
    lines = [
        replace(
            line,
            path=tuple(map(moved, line.path)),
            head=None if line.head is None else (moved(line.head[0]), moved(line.head[1]), moved(line.head[2])),
            number_at=None if line.number_at is None else moved(line.number_at),
        )
        for line in scene.lines
    ]
    return replace(
        scene,
        width=right - left + 2.0 * _MARGIN,
        height=bottom - top + 2.0 * _MARGIN,
        boxes=tuple(boxes),
        lines=tuple(lines),
        heads=tuple((text, moved(place)) for text, place in scene.heads),
    )


def _told(directions: Directions, pair: PairDirection, said: str) -> str:
    source, target = (printable(directions.names[node]) for node in (pair.source, pair.target))
    between = "and" if LOOKS[pair.word].head is None else "->"
    return f"{source} {between} {target}: joined {pair.joined:.3f}; direction {said}"
