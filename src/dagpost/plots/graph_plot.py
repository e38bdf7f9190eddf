"""The graph of a posterior: one line for each pair that may be joined, wide and dark where that is probable.

A posterior is not a single graph. Both directions of an edge share one line, and its mark says what is known of the
direction (`dagpost.plots.marks`). The picture is a scene (`dagpost.plots.scene`), as in the report and in notebooks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from dagpost._tools.arrays import Floats
from dagpost._tools.checks import truth
from dagpost.plots import placing
from dagpost.plots.figures import axes_for
from dagpost.plots.scene import THRESHOLD, Scene, scene_of
from dagpost.plots.sheet import sheet_of
from dagpost.plots.sources import Probabilities, directions_at_hand, probabilities_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from dagpost.plots.sources import Source
    from dagpost.posterior.directions import Directions

#: Fewer expected edges than this are not mentioned.
_WORTH_TELLING = 0.01


def graph(
    source: Source,
    *,
    threshold: float = THRESHOLD,
    layout: str | Mapping[str, Sequence[float]] = "layered",
    numbers: bool | None = None,
    legend: bool = True,
    ax: Axes | None = None,
) -> Axes:
    """Draw the graph of a posterior: width and darkness of a line say how probable an edge is, either way.

    A filled head is a direction that the data compel: it is the same in every graph that fits them equally well. An
    open angle is one to which they lean. A hollow head is decided by your rules or, on a line with fine dashes, by the
    model. A line without a head, thin and pale, is open: the data cannot tell. A dotted line says that directions are
    not computed: a table of edge probabilities does not have them. A grey box with square corners is an exogenous
    column, which is not modelled.

    Parameters
    ----------
    source
        A fitted `DagPosterior`, a `DagSample`, or a table of edge probabilities, parents in the rows.
    threshold
        Pairs that are joined, either way, with less than this probability are not drawn; the caption says how many. Of
        more than 64 columns, those that are joined to others are drawn, by the most probable pairs.
    layout
        "layered" (boxes in rows, so that lines are short, cross little and lead from parents down to children), or a
        position (x, y) for each name.
    numbers
        Whether each line has the probability of an edge, either way, written on it; None: where it covers nothing.
    legend
        Whether to explain lines and heads, and to say what the numbers are.
    ax
        Where to draw; None: in a new figure of fitting size.

    >>> from dagpost import DagPosterior, datasets
    >>> ax = graph(DagPosterior().fit(datasets.load("coronary")))
    >>> sorted(text.get_text() for text in ax.texts if text.get_gid() == "node")[:2]
    ['Family', 'M. Work']
    """
    from dagpost.posterior.summaries.edges import check_threshold

    shown = probabilities_of(source)
    check_threshold(threshold)
    truth(numbers, "numbers", "graph", optional=True)
    truth(legend, "legend", "graph")
    positions = placing.given_positions(layout, shown.names)
    directions, remark = directions_at_hand(source, shown)
    own, ax = ax is None, axes_for(ax, 6.0, 4.5)
    scene = graph_scene(shown, directions, remark, threshold, numbers, positions)
    from dagpost.plots.canvas import draw_sheet

    draw_sheet(sheet_of(scene, legend=legend), ax, own=own)
    return ax


def graph_scene(
    shown: Probabilities,
    directions: Directions,
    remark: str,
    threshold: float,
    numbers: bool | None,
    positions: Sequence[tuple[float, float]] | None = None,
) -> Scene:
    """The scene of a posterior, with what its numbers are, and what is not drawn."""
    pairs = directions.pairs(max(threshold, np.nextafter(0.0, 1.0)))
    # An unknown probability is not guessed: a pair is joined at least as often as the direction that is known.
    half_known = np.isnan(shown.matrix + shown.matrix.T)
    told = [
        shown.sentence,
        remark if pairs else "",
        *_hidden(directions, threshold, shown.share),
        *_unknown(shown.matrix),
    ]
    return scene_of(
        directions,
        pairs,
        threshold=threshold,
        numbers=numbers,
        positions=positions,
        least=[(one, two) for one, two in np.argwhere(half_known).tolist()],
        measure=shown.measure,
        remarks=told,
    )


def _hidden(directions: Directions, threshold: float, share: bool) -> list[str]:
    """What to say of the pairs that are not drawn."""
    joined = np.where(directions.asked, directions.joined, 0.0)
    left = (joined > 0.0) & (joined < threshold)
    if not left.any():
        return []
    number = int(left.sum())
    expected = float(joined[left].sum())
    how = "in a share of the replicates" if share else "with a probability"
    size = f"{expected:,.0f}" if expected >= 10.0 else f"{expected:.2g}"
    together = f", together {size} expected edges" if expected >= _WORTH_TELLING and not share else ""
    which = f"{number:,} pair{'' if number == 1 else 's'} joined {how} below {threshold:g}"
    return [f"Not drawn: {which}{together}."]


def _unknown(matrix: Floats) -> list[str]:
    number = int(np.isnan(matrix).sum())
    return [f"Not known: {number} edge{'' if number == 1 else 's'}."] if number else []
