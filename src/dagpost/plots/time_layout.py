"""Where the boxes of a picture in time stand, and how its lines run between them.

Series are rows and times are columns, the present at the right; static columns come first. A line from an earlier time
leaves its box at the right and enters the present one at the left. Where it passes other columns, it does so between
two rows, each line in a lane of its own. A line between present values bends around them at the right.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

#: From row to row, by the number of rows, in points: less where there are many.
_PITCHES = ((6, 42.0), (12, 30.0), (1_024, 24.0))
#: The room between the boxes of two columns; lines between two columns alone need more.
_BETWEEN, _BETWEEN_TWO = 74.0, 150.0
#: How far the lanes between two rows are apart, at most.
_LANE = 2.6
#: How far a line between present values bends to the right: at least, and for each row that it passes.
_BEND, _BEND_A_ROW = 20.0, 7.0


class Cell(NamedTuple):
    """A row and a column of the picture."""

    row: int
    column: int


class Stop(NamedTuple):
    """A stretch on which a line runs between two rows, in points: from where to where, and how high."""

    begin: float
    end: float
    height: float


@dataclass
class Route:
    """A line from box to box: the stretches between, where it leaves and enters the boxes, and how far it bends."""

    stops: list[Stop] = field(default_factory=list)
    #: Heights, in shares of the boxes.
    ports: list[float] = field(default_factory=lambda: [0.5, 0.5])
    #: How far it bends to the right; 0 for a line that leads on in time.
    bend: float = 0.0


@dataclass(frozen=True)
class Grid:
    """Rows and columns of boxes of one size, in points."""

    rows: int
    columns: int
    box_width: float
    box_height: float

    @property
    def pitch(self) -> float:
        """From row to row."""
        usual = next((pitch for most, pitch in _PITCHES if self.rows <= most), _PITCHES[-1][1])
        return max(usual, self.box_height + 9.0)

    @property
    def between(self) -> float:
        """From column to column, between the boxes."""
        return _BETWEEN_TWO if self.columns == 2 else _BETWEEN

    def centre(self, cell: Cell) -> tuple[float, float]:
        """Where a box stands; the first row is at the top, the first column at the left."""
        x = self.box_width / 2 + cell.column * (self.box_width + self.between)
        return x, (self.rows - 0.5 - cell.row) * self.pitch

    @property
    def width(self) -> float:
        """Of all boxes, without the lines at their right."""
        return self.columns * self.box_width + (self.columns - 1) * self.between

    @property
    def height(self) -> float:
        """Of all rows."""
        return self.rows * self.pitch


def routes_of(lines: Sequence[tuple[Cell, Cell]], grid: Grid) -> list[Route]:
    """How each line runs, in the order in which they are given."""
    routes = [Route() for _ in lines]
    # Between which two rows a line passes each column, by the numbers of the row below.
    gaps: dict[tuple[int, int], list[int]] = {}
    for number, (begin, end) in enumerate(lines):
        if begin.column == end.column:
            routes[number].bend = _BEND + _BEND_A_ROW * abs(begin.row - end.row)
            continue
        for column in range(begin.column + 1, end.column):
            share = (column - begin.column) / (end.column - begin.column)
            row = begin.row + share * (end.row - begin.row)
            gaps.setdefault((column, round(row + 0.5 * (1 if end.row > begin.row else -0.9))), []).append(number)
    for (column, gap), members in gaps.items():
        members.sort(key=lambda number: (lines[number][0].row, lines[number][1].row))
        apart = min(_LANE, (grid.pitch - grid.box_height) / len(members))
        x, y = grid.centre(Cell(gap, column))
        for lane, number in enumerate(members):
            height = y + grid.pitch / 2 - (lane - (len(members) - 1) / 2) * apart
            routes[number].stops.append(Stop(x - grid.box_width / 2 - 4.0, x + grid.box_width / 2 + 4.0, height))
    for route in routes:
        route.stops.sort()
    _spread_ports(lines, routes, grid)
    return routes


def _spread_ports(lines: Sequence[tuple[Cell, Cell]], routes: Sequence[Route], grid: Grid) -> None:
    """Let lines leave and enter the same side of a box one below the other."""
    sides: dict[tuple[Cell, bool], list[tuple[float, int, int]]] = {}
    for number, (begin, end) in enumerate(lines):
        stops, bent = routes[number].stops, begin.column == end.column
        towards = stops[0].height if stops else grid.centre(end)[1]
        back = stops[-1].height if stops else grid.centre(begin)[1]
        sides.setdefault((begin, True), []).append((towards, number, 0))
        sides.setdefault((end, bent), []).append((back, number, 1))
    for own in sides.values():
        for place, (_, number, which) in enumerate(sorted(own)):
            routes[number].ports[which] = (place + 1.0) / (len(own) + 1.0)
