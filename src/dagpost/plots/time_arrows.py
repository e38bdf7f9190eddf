"""The lines of a picture in time, from box to box along their routes (time_layout.py), computed when they are drawn."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.path import Path
from matplotlib.text import Text

from dagpost.plots.arrows import Line, box_around
from dagpost.plots.time_layout import Route
from dagpost.posterior.directions import Word

_CURVE = 0.45


class TimeArrow(Line):
    """A line that leaves its box at the right and enters the next one at the left, or bends back to its right."""

    def __init__(self, parent: Text, child: Text, probability: float, word: Word, route: Route, scale: float) -> None:
        super().__init__(probability, word, False, scale)
        self.parent, self.child, self.route = parent, child, route
        self.number_at = route.number_at

    def path(self, renderer: Any) -> tuple[Path, list[tuple[Any, bool]]] | None:
        """Curves from box to box, straight between the rows that it passes."""
        assert self.axes is not None
        first, last = (box_around(text, renderer) for text in (self.parent, self.child))
        heights = [box.y0 + box.height * port for box, port in zip((first, last), self.route.ports, strict=True)]
        right, back = np.array([1.0, 0.0]), np.array([-1.0, 0.0])
        sizes = self.sizes(renderer)
        begin = np.array([first.x1, heights[0]])
        if self.route.bend:
            end = np.array([last.x1, heights[1]])
            inner = end + sizes[1][0] * right
            nothing, far = self.axes.transData.transform([(0.0, 0.0), (self.route.bend, 0.0)])
            bend = far - nothing
            points = [begin, begin + bend, inner + bend, inner]
            path = Path(points, [Path.MOVETO, Path.CURVE4, Path.CURVE4, Path.CURVE4])
            return path, self.heads((begin, end), (back, back), sizes)
        end = np.array([last.x0, heights[1]])
        inner = end - sizes[1][0] * right
        points, codes, here = [begin], [Path.MOVETO], begin
        for stop in self.route.stops:
            one, other = self.axes.transData.transform([(stop.begin, stop.height), (stop.end, stop.height)])
            points += [*_curve(here, one), other]
            codes += [Path.CURVE4] * 3 + [Path.LINETO]
            here = other
        path = Path([*points, *_curve(here, inner)], [*codes, *[Path.CURVE4] * 3])
        return path, self.heads((begin, end), (back, right), sizes)


def _curve(start: Any, end: Any) -> list[Any]:
    """The rest of a curve that leaves and arrives along the rows."""
    step = np.array([_CURVE * (end[0] - start[0]), 0.0])
    return [start + step, end - step, end]
