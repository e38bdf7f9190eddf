"""Draw the picture at the top of README and of the documentation anew: `python tools/picture.py`.

It is kept in the repository, so that it shows where the pages are read unbuilt. Letters are drawn as outlines, for
fonts differ from place to place, and nothing in the file hangs on the date or on chance.
"""

from __future__ import annotations

import io
from pathlib import Path

import matplotlib as mpl

from dagpost import DagPosterior, datasets, plots
from dagpost._tools.whole_files import write_text

TARGET = Path(__file__).parents[1] / "docs" / "_static" / "coronary.svg"


def drawn() -> str:
    """The picture as SVG."""
    mpl.use("agg")
    with mpl.rc_context({"svg.fonttype": "path", "svg.hashsalt": "dagpost"}):
        ax = plots.graph(DagPosterior(seed=1).fit(datasets.load("coronary")))
        file = io.StringIO()
        ax.figure.savefig(file, format="svg", facecolor="white", metadata={"Date": None, "Creator": None})
        mpl.pyplot.close(ax.figure)
    return "\n".join(line.rstrip() for line in file.getvalue().splitlines()) + "\n"


if __name__ == "__main__":
    write_text(TARGET, drawn())
