"""The graph of a posterior: one line for each pair that may be joined, wide and dark where that is probable.

A posterior is not a single graph. Both directions of an edge share one line, and its mark says what is known of the
direction (`dagpost.plots.marks`). Layers follow the heads of the lines; those without one go wherever is more frequent.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from dagpost._tools.arrays import Floats
from dagpost._tools.checks import truth
from dagpost._tools.text import printable
from dagpost.plots import placing
from dagpost.plots.explanation import LineLegend, caption_strip, explain
from dagpost.plots.figures import SMALL, axes_for, escaped, family_for, say, wrapped
from dagpost.plots.layering import Edge, acyclic_orientation
from dagpost.plots.marks import EXOGENOUS_FILL, for_layers, listed
from dagpost.plots.readable_part import readable_part
from dagpost.plots.sources import directions_at_hand, probabilities_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.text import Text

    from dagpost.plots.sources import Source
    from dagpost.posterior.directions import PairDirection

#: Pairs that are joined with less probability than this are not drawn unless asked for.
THRESHOLD = 0.1
_FONT = 10.0
_PAD = 0.35
#: Room for the end of a line on a box, in letters.
_ROOM = 1.0
_MARGIN = 6.0
#: Fewer expected edges than this are not mentioned.
_WORTH_TELLING = 0.01
#: Up to this many lines have their number written on them.
_NUMBERED = 12
#: The smallest and the largest figure that is opened, in points.
_SMALLEST, _LARGEST = (400.0, 150.0), (1000.0, 800.0)
#: The same for a graph of which only a part is drawn, and how many lines and boxes that part has at most.
_LARGEST_OF_MANY = (1600.0, 1300.0)
_MOST_PAIRS, _MOST_NODES = 150, 100


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

    A filled head is a direction that the data compel: it is the same in every graph that fits them equally well. The
    line is whole where that is clear and dashed where it is not. A hollow head is decided by your rules or (dashed) the
    model. A line without a head is open: the data cannot tell. A dotted line says that directions are not computed: a
    table of edge probabilities does not have them. A grey box with square corners is an exogenous column, which is not
    modelled.

    Parameters
    ----------
    source
        A fitted `DagPosterior`, a `DagSample`, or a table of edge probabilities, parents in the rows.
    threshold
        Pairs that are joined, either way, with less than this probability are not drawn; the caption says how many. Of
        more than 64 columns, those that are joined to others are drawn, by the most probable pairs.
    layout
        "layered" (parents above children; a graph too dense for that is put on a circle), "circle", "graphviz" (needs
        its program `dot`), or a position (x, y) for each name.
    numbers
        Whether each line has the probability of an edge, either way, written on it; None: up to 12 lines.
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
    # An unknown probability is not guessed: a pair is joined at least as often as the direction that is known.
    edges = np.nan_to_num(shown.matrix, nan=0.0)
    positions = placing.given_positions(layout, shown.names)
    visible, hidden = _visible_pairs(edges, threshold, shown.share)
    directions, remark = directions_at_hand(source, shown)
    part = readable_part(edges + edges.T, visible, threshold, most_pairs=_MOST_PAIRS, most_nodes=_MOST_NODES)
    local = {node: number for number, node in enumerate(part.nodes)}
    names, inside = [shown.names[node] for node in part.nodes], np.ix_(part.nodes, part.nodes)
    said = [_numbered(directions.pair(*pair), local) for pair in part.pairs]
    pairs = [(local[first], local[second]) for first, second in part.pairs]
    oriented = acyclic_orientation(for_layers(edges[inside], said), pairs)
    own, ax = ax is None, axes_for(ax, 6.0, 4.5)
    ax.set_axis_off()
    told = [shown.sentence, *([remark] if pairs else []), *hidden, *part.remarks, *_unknown(shown.matrix)]
    if not names:
        say(ax, " ".join(filter(None, told)))
        return ax
    if layout == "layered" and placing.too_dense(oriented, len(names)):
        layout = "circle"
    least = _least_widths(oriented, len(names)) if layout == "layered" else [0.0] * len(names)
    exogenous = {shown.names[node] for node in directions.exogenous} & {*names}
    nodes, key = _node_texts(ax, names, least, exogenous, [part.suffix(node) for node in part.nodes])
    given = None if positions is None else [positions[node] for node in part.nodes]
    place = _placed(layout, given, oriented, _sizes(ax, nodes, least))
    caption = [" ".join(filter(None, told)), *key] if legend else []
    largest = _LARGEST if part.whole else _LARGEST_OF_MANY
    words = LineLegend(shown.share, listed(pair.word for pair in said), bool(exogenous.intersection(names)))
    scale = _fit(ax, largest if own else None, place, nodes, caption, words)
    _draw_edges(ax, shown.matrix[inside], dict(zip(oriented, said, strict=True)), place, nodes, scale, numbers)
    return ax


def _numbered(pair: PairDirection, local: Mapping[int, int]) -> PairDirection:
    """What is said of a pair, with the numbers that its ends have among the columns that are drawn."""
    return pair._replace(source=local[pair.source], target=local[pair.target])


def _visible_pairs(edges: Floats, threshold: float, share: bool) -> tuple[list[Edge], list[str]]:
    """The pairs to draw, and what to say of those that are not."""
    joined = np.triu(edges + edges.T)
    drawn = (joined >= threshold) & (joined > 0.0)
    left = (joined > 0.0) & ~drawn
    pairs = [(int(i), int(j)) for i, j in np.argwhere(drawn)]
    if not left.any():
        return pairs, []
    number = int(left.sum())
    expected = float(joined[left].sum())
    how = "in a share of the replicates" if share else "with a probability"
    size = f"{expected:,.0f}" if expected >= 10.0 else f"{expected:.2g}"
    together = f", together {size} expected edges" if expected >= _WORTH_TELLING and not share else ""
    which = f"{number:,} pair{'' if number == 1 else 's'} joined {how} below {threshold:g}"
    return pairs, [f"Not drawn: {which}{together}."]


def _unknown(matrix: Floats) -> list[str]:
    number = int(np.isnan(matrix).sum())
    return [f"Not known: {number} edge{'' if number == 1 else 's'}."] if number else []


def _least_widths(oriented: Sequence[Edge], count: int) -> list[float]:
    """How wide each box must be, in letters, for its lines to end side by side."""
    ends = [[edge[end] for edge in oriented] for end in (0, 1)]
    return [_ROOM * max(side.count(node) for side in ends) for node in range(count)]


def _node_texts(
    ax: Axes, names: Sequence[str], least: Sequence[float], exogenous: Collection[str], suffixes: Sequence[str]
) -> tuple[list[Text], list[str]]:
    """A box for each name, with what follows it, and a key to those that are shortened."""
    from dagpost.plots.arrows import NameBox

    labels = [wrapped(name) for name in names]
    texts = [label for label, _ in labels]
    family = family_for(names)
    nodes, key = [], []
    for number, (name, (label, short)) in enumerate(zip(names, labels, strict=True)):
        # Two long names may begin alike.
        shown = f"{label} [{number + 1}]" if texts.count(label) > 1 else label
        if short:
            key.append(f"{shown.replace(chr(10), ' ')}: {escaped(printable(name))}")
        text = ax.text(
            0.0,
            0.0,
            shown + suffixes[number],
            ha="center",
            va="center",
            fontsize=_FONT,
            family=family,
            linespacing=1.0,
            zorder=4,
            gid="node",
            bbox={
                "boxstyle": NameBox(_PAD, least[number], square=name in exogenous),
                "facecolor": EXOGENOUS_FILL if name in exogenous else "white",
                "edgecolor": "0.25",
            },
        )
        nodes.append(text)
    return nodes, key


def _sizes(ax: Axes, nodes: Sequence[Text], least: Sequence[float]) -> list[tuple[float, float]]:
    """Widths and heights of the boxes, in points."""
    points = 72.0 / ax.figure.dpi
    extents = [text.get_window_extent() for text in nodes]
    border = 2.0 * _PAD * _FONT + 1.0
    return [
        (max(extent.width * points, letters * _FONT) + border, extent.height * points + border)
        for extent, letters in zip(extents, least, strict=True)
    ]


def _placed(layout: Any, positions: Any, oriented: Sequence[Edge], sizes: Any) -> placing.Placing:
    if positions is not None:
        return placing.as_given(positions, sizes)
    if layout == "graphviz":
        return placing.by_graphviz(oriented, sizes)
    if layout == "circle":
        return placing.on_circle(sizes)
    return placing.layered(oriented, sizes)


def _fit(
    ax: Axes,
    largest: tuple[float, float] | None,
    place: placing.Placing,
    nodes: Sequence[Text],
    caption: Sequence[str],
    legend: LineLegend,
) -> float:
    """Put boxes, legend and caption into the axes; how much smaller letters became for want of room.

    A figure of our own is made at most as large as `largest`; None: the axes are not ours.
    """
    figure: Any = ax.figure
    wide, high = place.width + 2 * _MARGIN, place.height + 2 * _MARGIN
    if largest is not None:
        width = min(max(wide, _SMALLEST[0]), largest[0])
        strip = caption_strip(width, caption, legend)[1]
        height = min(max(high, _SMALLEST[1]), largest[1]) + strip
        figure.set_size_inches((width + 8.0) / 72.0, (height + 8.0) / 72.0)
    else:
        extent = ax.get_window_extent()
        width, height = (side * 72.0 / figure.dpi for side in (extent.width, extent.height))
    lines, strip = caption_strip(width, caption, legend)
    # In small axes the words must not take what the picture needs.
    small = SMALL if largest is not None or not caption else SMALL * min(1.0, width / 340.0, 0.35 * height / strip)
    strip *= small / SMALL
    scale = min(1.0, width / wide, (height - strip) / high)
    ax.set_xlim(-_MARGIN, place.width + _MARGIN)
    ax.set_ylim(-_MARGIN - strip * high / max(height - strip, 1.0), place.height + _MARGIN)
    for text, centre in zip(nodes, place.centres, strict=True):
        text.set_position(centre)
        text.set_fontsize(_FONT * scale)
    if caption:
        explain(ax, lines, small, legend)
    return scale


def _draw_edges(
    ax: Axes,
    matrix: Floats,
    said: Mapping[Edge, PairDirection],
    place: placing.Placing,
    nodes: Sequence[Text],
    scale: float,
    numbers: bool | None,
) -> None:
    from dagpost.plots.arrows import EdgeArrow, EdgeNumber

    ports = _ports(list(said), place)
    numbered = len(said) <= _NUMBERED if numbers is None else numbers
    # The most probable ones last, on top of the others.
    for edge, pair in sorted(said.items(), key=lambda item: (item[1].joined, item[0])):
        arrow = EdgeArrow(
            nodes[edge[0]],
            nodes[edge[1]],
            pair.joined,
            pair.word,
            edge[0] != pair.source,
            place.routes.get(edge),
            ports.get(edge, (0.5, 0.5)),
            scale,
        )
        arrow.set_zorder(2)
        ax.add_artist(arrow)
        if numbered:
            least = bool(np.isnan(matrix[edge] + matrix[edge[::-1]]))
            paper = {"boxstyle": "round,pad=0.1", "facecolor": "white", "edgecolor": "none"}
            ax.add_artist(EdgeNumber(arrow, least, fontsize=SMALL * scale, color="0.1", zorder=3, bbox=paper))


def _ports(oriented: Sequence[Edge], place: placing.Placing) -> dict[Edge, tuple[float, float]]:
    """Where on its two boxes each edge begins and ends: side by side, in the order in which they come."""
    found: dict[Edge, list[float]] = {edge: [0.5, 0.5] for edge in oriented if edge in place.routes}
    for end in (0, 1):
        for node in {edge[end] for edge in found}:
            own = [edge for edge in found if edge[end] == node]
            own.sort(key=lambda edge: (_next_x(edge, end, place), edge))
            for number, edge in enumerate(own):
                found[edge][end] = (number + 0.5) / len(own)
    return {edge: (ports[0], ports[1]) for edge, ports in found.items()}


def _next_x(edge: Edge, end: int, place: placing.Placing) -> float:
    stretches = place.routes[edge]
    if stretches:
        return stretches[-end][0]
    return place.centres[edge[1 - end]][0]
