"""What is in a picture: boxes, lines, captions, legends; and tables to draw pictures of."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd

from dagpost.plots.arrows import EdgeArrow

mpl.use("Agg")

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


def arrows(ax: Any) -> list[EdgeArrow]:
    return [artist for artist in ax.get_children() if isinstance(artist, EdgeArrow)]


def caption(ax: Any) -> str:
    return " ".join(text.get_text() for text in ax.texts if text.get_gid() == "caption").replace("\n", " ")


def boxes_of(ax: Any) -> list[Any]:
    """The boxes of the nodes as they are drawn, in pixels."""
    figure = ax.figure
    figure.canvas.draw()
    renderer = figure.canvas.get_renderer()
    return [text.get_bbox_patch().get_window_extent(renderer) for text in nodes(ax)]


def assert_apart_and_inside(ax: Any) -> None:
    boxes, whole = boxes_of(ax), ax.figure.bbox
    for one, two in combinations(boxes, 2):
        assert not one.overlaps(two)
    for box in boxes:
        assert whole.x0 <= box.x0
        assert box.x1 <= whole.x1
        assert whole.y0 <= box.y0
        assert box.y1 <= whole.y1


def legend_words(ax: Any) -> list[str]:
    from matplotlib.legend import Legend

    legends = [artist for artist in ax.get_children() if isinstance(artist, Legend)]
    return [text.get_text() for box in legends for text in (box.get_title(), *box.get_texts())]
