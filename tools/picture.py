"""Draw the pictures of README and of the documentation anew: `python tools/picture.py`.

They are kept in the repository, so that they show where the pages are read unbuilt. They are the scenes of reports and
notebooks, and nothing in the files hangs on the date or on chance.
"""

from __future__ import annotations

from pathlib import Path

from dagpost import BDeu, DagPosterior, datasets
from dagpost._tools.whole_files import write_text
from dagpost.plots.graph_plot import graph_scene
from dagpost.plots.sources import directions_at_hand, probabilities_of
from dagpost.plots.svg import svg_of

FOLDER = Path(__file__).parents[1] / "docs" / "_static"


def coronary() -> tuple[DagPosterior, float]:
    """Six risk factors, at the top of README and of the documentation; all lines of at least 0.1."""
    return DagPosterior(seed=1).fit(datasets.load("coronary")), 0.1


def cohort() -> tuple[DagPosterior, float]:
    """The study in waves, with the home before the child; lines of at least 0.5."""
    table = datasets.load("cohort")
    tiers = {name: int(name.rpartition("_")[2]) for name in table.names if name[-1].isdigit()}
    tiers |= dict.fromkeys(("parents_education_7", "parents_smoke_7", "crowding_7", "damp_home_7"), 0)
    model = DagPosterior(BDeu(5), tiers=tiers, exogenous=["sex", "birth_year"], max_parents=3, seed=1)
    return model.fit(table), 0.5


PICTURES = {"coronary.svg": coronary, "cohort.svg": cohort}


def drawn(name: str) -> str:
    """One picture as SVG, an element a line."""
    model, threshold = PICTURES[name]()
    shown = probabilities_of(model)
    directions, remark = directions_at_hand(model, shown)
    scene = graph_scene(shown, directions, remark, threshold, None)
    return svg_of(scene, standalone=True).replace("><", ">\n<") + "\n"


if __name__ == "__main__":
    for name in PICTURES:
        write_text(FOLDER / name, drawn(name))
