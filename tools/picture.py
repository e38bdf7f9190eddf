"""Draw the pictures of README and of the documentation anew: `python tools/picture.py`.

They are kept in the repository, so that they show where the pages are read unbuilt. Letters are drawn as outlines, for
fonts differ from place to place, and nothing in the files hangs on the date or on chance.
"""

from __future__ import annotations

import io
from pathlib import Path

import matplotlib as mpl
from matplotlib.axes import Axes

from dagpost import BDeu, DagPosterior, datasets, plots
from dagpost._tools.whole_files import write_text

FOLDER = Path(__file__).parents[1] / "docs" / "_static"


def coronary() -> Axes:
    """Six risk factors, at the top of README and of the documentation."""
    return plots.graph(DagPosterior(seed=1).fit(datasets.load("coronary")))


def cohort() -> Axes:
    """The study in waves, with the home before the child."""
    table = datasets.load("cohort")
    tiers = {name: int(name.rpartition("_")[2]) for name in table.names if name[-1].isdigit()}
    tiers |= dict.fromkeys(("parents_education_7", "parents_smoke_7", "crowding_7", "damp_home_7"), 0)
    settings = {"score": BDeu(5), "max_parents": 3, "seed": 1}
    model = DagPosterior(tiers=tiers, exogenous=["sex", "birth_year"], **settings).fit(table)
    return plots.graph(model, threshold=0.5)


PICTURES = {"coronary.svg": coronary, "cohort.svg": cohort}


def drawn(name: str) -> str:
    """One picture as SVG."""
    mpl.use("agg")
    with mpl.rc_context({"svg.fonttype": "path", "svg.hashsalt": "dagpost"}):
        ax = PICTURES[name]()
        file = io.StringIO()
        ax.figure.savefig(file, format="svg", facecolor="white", metadata={"Date": None, "Creator": None})
        mpl.pyplot.close(ax.figure)
    return "\n".join(line.rstrip() for line in file.getvalue().splitlines()) + "\n"


if __name__ == "__main__":
    for name in PICTURES:
        write_text(FOLDER / name, drawn(name))
