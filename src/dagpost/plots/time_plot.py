"""The network of a table with time, drawn with matplotlib: its scene, and what is said of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dagpost._tools.checks import truth
from dagpost.data.time_columns import time_columns
from dagpost.plots.figures import axes_for
from dagpost.plots.sheet import sheet_of
from dagpost.plots.sources import directions_at_hand, probabilities_of
from dagpost.plots.time_scene import time_scene

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from dagpost.plots.sources import Source


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
        Whether each line has its probability written on it; None: where it covers nothing.
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
    time_columns(shown.names).required("A picture in time is")
    directions, remark = directions_at_hand(source, shown)
    own, ax = ax is None, axes_for(ax, 7.0, 5.0)
    scene = time_scene(
        directions, threshold=threshold, numbers=numbers, measure=shown.measure, remarks=[shown.sentence, remark]
    )
    from dagpost.plots.canvas import draw_sheet

    draw_sheet(sheet_of(scene, legend=legend), ax, own=own)
    return ax


def picture_of(model: Any, ax: Axes | None, options: dict[str, Any]) -> Axes:
    """The picture of a fitted model: in time where it has time, unless a layout is asked for, else its graph."""
    from dagpost.plots.graph_plot import graph

    fitted = getattr(model, "fitted_", None)
    with_time = fitted is not None and fitted.data.time is not None and "layout" not in options
    return in_time(model, ax=ax, **options) if with_time else graph(model, ax=ax, **options)
