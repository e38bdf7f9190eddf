"""Columns that are not modelled in every picture: square and grey, explained in the legend, and told in the caption."""

from __future__ import annotations

from typing import Any

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.colors import to_hex
from tests.tools.pictures import assert_apart_and_inside, caption, legend_words, nodes

from dagpost import DagPosterior, datasets, plots
from dagpost.plots.marks import COLOURS, EXOGENOUS
from dagpost.posterior.summaries import markov_blanket_table

mpl.use("Agg")

GIVEN = "given Family and Smoking"


@pytest.fixture(scope="module")
def given() -> DagPosterior:
    model = DagPosterior(score="bdeu", exogenous=["Family", "Smoking"], seed=1, samples=300)
    return model.fit(datasets.load("coronary"))


def test_their_boxes_are_square_and_grey(given: DagPosterior) -> None:
    ax = plots.graph(given)
    ax.figure.canvas.draw()
    patches = [patch for patch in ax.patches if patch.get_gid() == "box"]
    boxes: dict[str, Any] = {text.get_text(): patch for text, patch in zip(nodes(ax), patches, strict=True)}
    square = {name for name, box in boxes.items() if type(box.get_boxstyle()).__name__ == "Square"}
    grey = {name for name, box in boxes.items() if to_hex(box.get_facecolor()) == COLOURS["exogenous"]}
    assert square == grey == {"Family", "Smoking"}
    assert EXOGENOUS in legend_words(ax)
    assert GIVEN in " ".join(caption(ax).split())
    assert_apart_and_inside(ax)


def test_without_any_nothing_is_said_of_them() -> None:
    ax = plots.graph(DagPosterior(score="bdeu", seed=1, samples=300).fit(datasets.load("coronary")))
    assert EXOGENOUS not in legend_words(ax)
    assert "given" not in caption(ax)


def test_a_notebook_shows_squares_and_says_what_it_is_conditional_on(given: DagPosterior) -> None:
    html = given._repr_mimebundle_()["text/html"]
    assert html.count('class="node exogenous"') == 2
    assert EXOGENOUS in html
    assert f"Exact (each graph counted once; {GIVEN})." in html
    assert GIVEN in given.own_sample()._repr_html_()
    assert GIVEN in repr(given)


def test_what_they_are_to_each_other_is_not_told(given: DagPosterior) -> None:
    table = markov_blanket_table(given)
    assert np.isnan(table.loc["Family", "Smoking"])
    assert table.isna().sum(axis=None) == 2
    pairs = given.directions()
    assert len(pairs) == 14
    assert not ((pairs["from"] == "Smoking") & (pairs["to"] == "Family")).any()
    assert "of 14 pairs" in repr(given)
