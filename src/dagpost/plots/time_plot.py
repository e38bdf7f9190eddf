"""The network of a table with time: series as rows, times as columns, the present at the right.

Lines lead on in time, from earlier values to present ones, or join two present values. They have the marks of all other
pictures (`dagpost.plots.marks`): wide and dark where an edge is probable, with a head where its direction is known.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from dagpost._tools.checks import truth
from dagpost._tools.text import printable
from dagpost.data.time_columns import TimeColumns, time_columns
from dagpost.plots.explanation import LineLegend, caption_strip, explain
from dagpost.plots.figures import SMALL, axes_for, escaped, family_for, wrapped
from dagpost.plots.marks import EXOGENOUS_FILL, listed
from dagpost.plots.sources import directions_at_hand, probabilities_of
from dagpost.plots.time_layout import Cell, Grid, Route, routes_of
from dagpost.plots.time_pairs import BY_TIME, cells_of, drawn_pairs, labels_of, onward, times_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.text import Text

    from dagpost.plots.sources import Source
    from dagpost.posterior.directions import PairDirection

_FONT, _PAD, _MARGIN, _HEADER = 9.0, 0.35, 8.0, 20.0
#: Up to this many lines have their number written on them.
_NUMBERED = 12
_LARGEST = (1100.0, 900.0)


def in_time(
    source: Source,
    *,
    threshold: float | None = None,
    numbers: bool | None = None,
    legend: bool = True,
    ax: Axes | None = None,
) -> Axes:
    """Draw the network of a table with time: series as rows, times as columns, the present at the right.

    Lines lead from earlier values (grey boxes, which are not modelled) to present ones, or join two present values.
    Their width and darkness say how probable an edge is, their heads what is known of its direction, as in `graph`.

    Parameters
    ----------
    source
        A `DagPosterior` fitted to an unrolled table, a sample of it, or its table of edge probabilities.
    threshold
        Less probable edges are not drawn; the caption says how many. None: 0.1, or more where that leaves over 60.
    numbers
        Whether each line has its probability written on it; None: up to 12 lines.
    legend
        Whether to explain lines and heads, and to say what the numbers are.
    ax
        Where to draw; None: in a new figure of fitting size.

    >>> import pandas
    >>> table = pandas.DataFrame(0.0, ["a", "b", "a[t-1]", "b[t-1]"], ["a", "b", "a[t-1]", "b[t-1]"])
    >>> table.loc["a[t-1]", "b"] = 0.9
    >>> ax = in_time(table)
    >>> [text.get_text() for text in ax.texts if text.get_gid() == "time"]
    ['1 step earlier', 'now']
    """
    from dagpost.posterior.summaries.edges import check_threshold

    shown = probabilities_of(source)
    if threshold is not None:
        check_threshold(threshold)
    truth(numbers, "numbers", "in_time", optional=True)
    truth(legend, "legend", "in_time")
    columns = time_columns(shown.names).required("A picture in time is")
    directions, remark = directions_at_hand(source, shown)
    edges = np.nan_to_num(shown.matrix, nan=0.0)
    pairs, hidden = drawn_pairs(columns, edges + edges.T, threshold)
    said = [onward(directions.pair(*pair), pair, columns) for pair in pairs]
    own, ax = ax is None, axes_for(ax, 7.0, 5.0)
    ax.set_axis_off()
    cells = cells_of(columns)
    nodes, key, grid = _boxes(ax, columns, cells, {node for pair in pairs for node in pair})
    routes = routes_of([(cells[pair.source], cells[pair.target]) for pair in said], grid)
    told = [shown.sentence, *([remark] if pairs else []), *hidden]
    caption = [" ".join(filter(None, told)), *key] if legend else []
    explained = LineLegend(shown.share, listed(pair.word for pair in said), exogenous=True, labels=BY_TIME)
    scale = _fit(ax, own, grid, routes, nodes, cells, caption, explained)
    _head_columns(ax, columns, grid, scale)
    _draw_lines(ax, said, routes, nodes, scale, numbers)
    return ax


def picture_of(model: Any, ax: Axes | None, options: dict[str, Any]) -> Axes:
    """The picture of a fitted model: in time where it has time, unless a layout is asked for, else its graph."""
    from dagpost.plots.graph_plot import graph

    fitted = getattr(model, "fitted_", None)
    with_time = fitted is not None and fitted.data.time is not None and "layout" not in options
    return in_time(model, ax=ax, **options) if with_time else graph(model, ax=ax, **options)


def _boxes(
    ax: Axes, columns: TimeColumns, cells: Sequence[Cell], joined: set[int]
) -> tuple[list[Text], list[str], Grid]:
    """A box for each variable, all of one size, a key to names that are shortened, and the grid of boxes."""
    from dagpost.plots.arrows import NameBox

    present = {columns.place(series, 0) for series in columns.series}
    labels = labels_of(columns)
    shortened = {label: wrapped(label, lines=1) for label in labels}
    key = [f"{short}: {escaped(printable(label))}" for label, (short, cut) in shortened.items() if cut]
    family = family_for(labels)
    nodes = []
    for place, label in enumerate(labels):
        given = place not in present
        box = {"facecolor": EXOGENOUS_FILL if given else "white", "edgecolor": "0.25" if place in joined else "0.7"}
        text = ax.text(
            0.0,
            0.0,
            shortened[label][0],
            ha="center",
            va="center",
            fontsize=_FONT,
            family=family,
            color="0.0" if place in joined or not given else "0.5",
            zorder=4,
            gid="node",
            bbox={"boxstyle": NameBox(_PAD, 0.0, square=given), **box},
        )
        nodes.append(text)
    points = 72.0 / ax.figure.dpi
    extents = [text.get_window_extent() for text in nodes]
    widest, border = max(extent.width for extent in extents) * points, 2.0 * _PAD * _FONT + 1.0
    for place, text in enumerate(nodes):
        box_style: Any = NameBox(_PAD, widest / _FONT, square=place not in present)
        text.get_bbox_patch().set_boxstyle(box_style)  # type: ignore[union-attr]
    height = max(extent.height for extent in extents) * points + border
    rows, last = max(cell.row for cell in cells) + 1, max(cell.column for cell in cells) + 1
    return nodes, key, Grid(rows, last, widest + border, height)


def _fit(
    ax: Axes,
    own: bool,
    grid: Grid,
    routes: Sequence[Route],
    nodes: Sequence[Text],
    cells: Sequence[Cell],
    caption: Sequence[str],
    legend: LineLegend,
) -> float:
    """Put boxes, legend and caption into the axes; how much smaller letters became for want of room."""
    figure: Any = ax.figure
    bend = 0.75 * max((route.bend for route in routes), default=0.0)
    wide, high = grid.width + bend + 2 * _MARGIN, grid.height + _HEADER + 2 * _MARGIN
    if own:
        width = min(max(wide, 400.0), _LARGEST[0])
        strip = caption_strip(width, caption, legend)[1]
        height = min(max(high, 120.0), _LARGEST[1]) + strip
        figure.set_size_inches((width + 8.0) / 72.0, (height + 8.0) / 72.0)
    else:
        extent = ax.get_window_extent()
        width, height = (side * 72.0 / figure.dpi for side in (extent.width, extent.height))
    lines, strip = caption_strip(width, caption, legend)
    small = SMALL if own or not caption else SMALL * min(1.0, width / 340.0, 0.35 * height / strip)
    strip *= small / SMALL
    scale = min(1.0, width / wide, (height - strip) / high)
    ax.set_xlim(-_MARGIN, max(wide, width / scale) - _MARGIN)
    ax.set_ylim(-_MARGIN - strip / scale, max(high, (height - strip) / scale) - _MARGIN)
    for text, cell in zip(nodes, cells, strict=True):
        text.set_position(grid.centre(cell))
        text.set_fontsize(_FONT * scale)
    if caption:
        explain(ax, lines, small, legend)
    return scale


def _head_columns(ax: Axes, columns: TimeColumns, grid: Grid, scale: float) -> None:
    """Say above each column which time it is."""
    for column, words in enumerate(times_of(columns)):
        x, _ = grid.centre(Cell(0, column))
        ax.text(x, grid.height + 6.0, words, ha="center", va="bottom", fontsize=_FONT * scale, color="0.2", gid="time")


def _draw_lines(
    ax: Axes,
    said: Sequence[PairDirection],
    routes: Sequence[Route],
    nodes: Sequence[Text],
    scale: float,
    numbers: bool | None,
) -> None:
    from dagpost.plots.arrows import EdgeNumber
    from dagpost.plots.time_arrows import TimeArrow

    numbered = len(said) <= _NUMBERED if numbers is None else numbers
    # The most probable ones last, on top of the others.
    for pair, route in sorted(zip(said, routes, strict=True), key=lambda item: (item[0].joined, item[0][:2])):
        arrow = TimeArrow(nodes[pair.source], nodes[pair.target], pair.joined, pair.word, route, scale)
        arrow.set_zorder(2)
        ax.add_artist(arrow)
        if numbered:
            paper = {"boxstyle": "round,pad=0.1", "facecolor": "white", "edgecolor": "none"}
            ax.add_artist(EdgeNumber(arrow, False, fontsize=SMALL * scale, color="0.1", zorder=3, bbox=paper))
