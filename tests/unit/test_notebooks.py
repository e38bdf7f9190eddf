"""What a notebook shows of a model, a sample and an estimate: a picture, a table, a sentence, and nothing that runs."""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np
import pandas as pd
import polars as pl
import pytest
from tests.tools.pictures import every_word

from dagpost import DagPosterior, datasets, long_table
from dagpost.plots.notebook import small_picture
from dagpost.posterior.directions import not_computed

NASTY = ["<script>alert(1)</script>", 'a "quoted" & odd', "Ω" * 40]


@pytest.fixture(scope="module")
def model() -> DagPosterior:
    rows = np.random.default_rng(1).integers(0, 2, (60, 3))
    rows[:, 1] = rows[:, 0]
    return DagPosterior(score="bdeu", samples=200, seed=1).fit(pd.DataFrame(rows, columns=NASTY))


def test_a_fitted_model_shows_edges_a_picture_and_how_sure_it_is(model: DagPosterior) -> None:
    shown = model._repr_mimebundle_()
    assert shown["text/plain"] == repr(model)
    page = shown["text/html"]
    assert "Exact (each graph counted once)." in page
    assert "<svg" in page
    assert "<script" not in page
    assert "&lt;script&gt;" in page


def test_notebooks_list_pairs_with_the_marks_and_words_of_pictures() -> None:
    page = every_word()._repr_html_()
    assert page.count('class="mark clear"') == 3
    for word, said in (
        ("leaning", "the data compel it (70%)"),
        ("open", "the data cannot tell"),
        ("rules", "decided by your rules"),
        ("model", "follows from the model, which has no edges from numbers to levels"),
    ):
        assert page.count(f'class="mark {word}"') == 1
        assert f"{said}</td>" in page
    assert "assuming no hidden common causes" in page
    later = DagPosterior(score="bdeu", method="kbest", samples=20).fit(datasets.load("coronary"))
    assert later.edge_probabilities_.shape == (6, 6)
    assert "Directions are not computed yet: own_sample()" in later._repr_mimebundle_()["text/html"]


def test_a_model_without_data_shows_its_settings() -> None:
    assert "max_parents" in str(DagPosterior(score="bdeu", max_parents=2)._repr_mimebundle_())


def test_a_sample_and_an_estimate_escape_names(model: DagPosterior) -> None:
    for page in (model.own_sample()._repr_html_(), model.probability(_edge())._repr_html_()):
        assert "<script" not in page


def _edge() -> str:
    return f'"{NASTY[0]}" -> "{NASTY[2]}"'


def test_a_sample_of_chains_says_whether_to_trust_it() -> None:
    chained = DagPosterior(score="bdeu", method="structure-mcmc", seed=1).fit(datasets.load("coronary"))
    assert "Trust it" in chained.sample(4000, seed=1)._repr_html_()


@pytest.mark.parametrize("count", [1, 2, 3, 25])
def test_the_picture_is_well_formed_and_stays_inside_its_frame(count: int) -> None:
    names = [f"{NASTY[number % 3]}{number}" for number in range(count)]
    edges = np.random.default_rng(count).random((count, count)) ** 4
    np.fill_diagonal(edges, 0.0)
    picture = ElementTree.fromstring(small_picture(not_computed(tuple(names), edges)))
    across, down = (float(number) for number in picture.attrib["viewBox"].split()[2:])
    boxes = [part for part in picture.iter() if part.attrib.get("class", "").startswith("node")]
    assert len(boxes) == count
    for box in boxes:
        frame = next(part for part in box if part.tag.endswith("rect"))
        x, y, wide, high = (float(frame.attrib[side]) for side in ("x", "y", "width", "height"))
        assert 0 < x < x + wide < across
        assert 0 < y < y + high < down


def test_results_go_to_polars_and_back(model: DagPosterior) -> None:
    long = long_table(model.edge_probabilities_)
    there = pl.from_pandas(long)
    pd.testing.assert_frame_equal(there.to_pandas(), long, check_dtype=False)
    rows = pl.DataFrame({name: np.arange(40) % (number + 2) for number, name in enumerate("abc")})
    same = DagPosterior(score="bdeu").fit(rows.to_pandas())
    pd.testing.assert_frame_equal(DagPosterior(score="bdeu").fit(rows).edge_probabilities_, same.edge_probabilities_)
