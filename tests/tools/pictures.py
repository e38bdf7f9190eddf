"""What is in a picture: boxes, lines, captions, legends; and tables to draw pictures of."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd

from dagpost import DagSample
from dagpost.methods.targets import STRUCTURE
from dagpost.plots.canvas import SceneLine

mpl.use("Agg")

#: The pairs of `every_word()` and what is known of each: a word, in which share of being joined, and how often joined.
SAID = {
    ("A", "C"): ("clear", 1.0, 1.0),
    ("B", "C"): ("clear", 1.0, 1.0),
    ("D", "E"): ("open", 0.0, 1.0),
    ("F", "G"): ("rules", 1.0, 1.0),
    ("H", "I"): ("leaning", 0.7, 1.0),
    ("J", "I"): ("clear", 1.0, 0.7),
    ("K", "L"): ("model", 1.0, 1.0),
}

ODD = [
    "$x_1$",
    "a_b^c%",
    "line\nbreak",
    "L" * 60,
    "many words in one name, and then some more words",
    "<b>bold</b>",
    "\\frac{1}{2}",
    "~",
]
ALARM = [
    "CVP",
    "PCWP",
    "HISTORY",
    "TPR",
    "BP",
    "CO",
    "HRBP",
    "HREKG",
    "HRSAT",
    "PAP",
    "SAO2",
    "FIO2",
    "PRESS",
    "EXPCO2",
    "MINVOL",
    "MINVOLSET",
    "HYPOVOLEMIA",
    "LVFAILURE",
    "ANAPHYLAXIS",
    "INSUFFANESTH",
    "PULMEMBOLUS",
    "INTUBATION",
    "KINKEDTUBE",
    "DISCONNECT",
    "LVEDVOLUME",
    "STROKEVOLUME",
    "CATECHOL",
    "ERRLOWOUTPUT",
    "HR",
    "ERRCAUTER",
    "SHUNT",
    "PVSAT",
    "ARTCO2",
    "VENTALV",
    "VENTLUNG",
    "VENTTUBE",
    "VENTMACH",
    "A1",
    "A2",
    "A3",
]


def frame(matrix: Any, names: list[str] | None = None) -> pd.DataFrame:
    numbers = np.array(matrix, dtype=np.float64)
    names = [f"v{number}" for number in range(len(numbers))] if names is None else names
    return pd.DataFrame(numbers, index=names, columns=names)


def drawn(names: tuple[str, ...], graphs: list[list[tuple[str, str]]], **provenance: Any) -> DagSample:
    """Graphs of equal weight, by their edges."""
    parents = np.zeros((len(graphs), len(names)), dtype=np.uint32)
    for place, edges in enumerate(graphs):
        for parent, child in edges:
            parents[place, names.index(child)] |= np.uint32(1 << names.index(parent))
    nothing, weights = np.full(len(graphs), np.nan), np.full(len(graphs), 1.0 / len(graphs))
    return DagSample(
        names, parents, nothing, nothing, nothing, weights, STRUCTURE, "exact-layers", "independent", "counting",
        provenance=provenance,
    )  # fmt: skip


def every_word() -> DagSample:
    """Ten graphs with pairs of every kind (`SAID`); of `D -- E` each direction is drawn five times."""
    usual = [("A", "C"), ("B", "C"), ("F", "G"), ("H", "I"), ("K", "L")]
    graphs = [
        [*usual, ("D", "E") if place < 5 else ("E", "D"), *([("J", "I")] if place < 7 else [])] for place in range(10)
    ]
    return drawn(tuple("ABCDEFGHIJKL"), graphs, required=[("F", "G")], sinks=["L"])


def one_class() -> DagSample:
    """The 17 graphs of a tree of 17 variables, one for each root: one class, in which every edge is reversible.

    Most edges point the same way from nearly every root.
    """
    names = tuple(f"v{number}" for number in range(17))
    neighbours: dict[int, list[int]] = {node: [] for node in range(17)}
    for node in range(1, 17):
        # Many leaves around a few nodes in the middle.
        other = node - 1 if node <= 5 else node % 5
        neighbours[node].append(other)
        neighbours[other].append(node)
    graphs = []
    for root in range(17):
        edges, reached, waiting = [], {root}, [root]
        while waiting:
            node = waiting.pop()
            for other in set(neighbours[node]) - reached:
                edges.append((names[node], names[other]))
                reached.add(other)
                waiting.append(other)
        graphs.append(edges)
    return drawn(names, graphs)


def sparse(names: list[str], seed: int, degree: float = 2.4) -> pd.DataFrame:
    """A posterior with about so many probable edges a variable, and many improbable ones."""
    rng, count = np.random.default_rng(seed), len(names)
    order = rng.permutation(count)
    likely = rng.random((count, count)) < degree / max(count - 1, 1)
    joined = np.triu(np.where(likely, rng.beta(4.0, 1.0, (count, count)), 0.04 * rng.random((count, count))), 1)
    share = rng.beta(1.5, 0.4, (count, count))
    return frame((joined * share + (joined * (1.0 - share)).T)[np.ix_(order, order)], names)


def nodes(ax: Any) -> list[Any]:
    return [text for text in ax.texts if text.get_gid() == "node"]


def arrows(ax: Any) -> list[SceneLine]:
    """The lines of the graph, without those of its legend."""
    return [patch for patch in ax.patches if patch.get_gid() == "line" and patch.line is not None]


def caption(ax: Any) -> str:
    return " ".join(text.get_text() for text in ax.texts if text.get_gid() == "caption").replace("\n", " ")


def boxes_of(ax: Any) -> list[Any]:
    """The boxes of the nodes as they are drawn, in pixels."""
    figure = ax.figure
    figure.canvas.draw()
    return [patch.get_window_extent() for patch in ax.patches if patch.get_gid() == "box"]


def assert_apart_and_inside(ax: Any) -> None:
    """Boxes do not overlap, are inside the figure, and hold their names."""
    boxes, whole = boxes_of(ax), ax.figure.bbox
    for one, two in combinations(boxes, 2):
        assert not one.overlaps(two)
    for box, text in zip(boxes, nodes(ax), strict=True):
        label = text.get_window_extent()
        assert whole.x0 - 1 <= box.x0 < label.x0
        assert label.x1 < box.x1 <= whole.x1 + 1
        assert whole.y0 - 1 <= box.y0 <= label.y0 + 1
        assert label.y1 - 1 <= box.y1 <= whole.y1 + 1


def legend_words(ax: Any) -> list[str]:
    return [text.get_text() for text in ax.texts if text.get_gid() == "legend"]
