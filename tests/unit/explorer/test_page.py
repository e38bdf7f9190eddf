from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests.tools import explored

from dagpost import DagPosterior
from dagpost.explorer.page import Asset, assets_of
from dagpost.explorer.session import Session
from dagpost.explorer.state import State
from dagpost.report import words
from dagpost.report.content import content_of_graph, gather
from dagpost.report.page import data_of
from dagpost.report.view_data import graphs_of

HOSTILE = '<script>alert("x")</script>'


@pytest.fixture(scope="module")
def assets() -> dict[str, Asset]:
    frame = pd.DataFrame(np.random.default_rng(1).integers(0, 2, (60, 3)), columns=["A", HOSTILE, "\u2028' onload=x"])
    fitted = DagPosterior(score="bdeu", samples=50, seed=1, threads=1).fit(frame).fitted_
    session = Session(fitted, HOSTILE, Path(f"it's {HOSTILE[:8]}\udc80.dagpost"))
    session.start = State(('A -> "\u2028\' onload=x"',))
    return assets_of(session)


def _data(assets: dict[str, Asset]) -> dict:
    found = re.search(
        r'<script type="application/json" id="numbers">(.*?)</script>', assets[""].content.decode("utf-8")
    )
    assert found is not None
    return json.loads(found[1])


def test_names_and_titles_are_text_wherever_they_stand(assets: dict[str, Asset]) -> None:
    page = assets[""].content.decode("utf-8")
    assert HOSTILE not in page
    assert "onload=x" not in re.sub(r"(?s)<script type.*?</script>|>[^<]*<|\"[^\"]*\"", "", page)
    assert _data(assets)["names"][1] == HOSTILE


def test_scripts_run_in_order_and_only_from_the_server(assets: dict[str, Asset]) -> None:
    page = assets[""].content.decode("utf-8")
    scripts = re.findall(r"<script (?!type=)([^>]*)>", page)
    assert all(re.fullmatch(r'src="scripts/\w+\.js" defer', script) for script in scripts)
    names = [script.split('"')[1] for script in scripts]
    assert names[0] == "scripts/numbers.js"
    assert names[-1] == "scripts/explorer.js"
    assert {name for name in assets if name.startswith("scripts/")} == set(names)


def test_the_page_knows_how_it_began(assets: dict[str, Asset]) -> None:
    about = _data(assets)["explorer"]
    assert about["given"] == ['A -> "\u2028\' onload=x"']
    assert about["setting"] == {}
    assert [own["name"] for own in about["settings"]] == ["edge density"]
    assert about["command"].startswith("dagpost explore 'it'")
    assert "\udc80" not in about["command"] + about["file"]


def test_the_graphs_are_those_of_the_sample(assets: dict[str, Asset]) -> None:
    graphs = json.loads(assets["graphs"].content)
    assert (graphs["nodes"], graphs["of"]) == (3, 50)


@pytest.mark.parametrize(("prior", "averaged"), [("auto", ["equivalent sample size", "edge density"]),
                                                 ("uniform", ["equivalent sample size"])])  # fmt: skip
def test_what_is_averaged_over_has_values_to_choose_from(prior: str, averaged: list[str]) -> None:
    frame = pd.DataFrame(np.random.default_rng(1).integers(0, 2, (60, 2)), columns=["A", "B"])
    fitted = DagPosterior("auto", prior=prior, samples=50, seed=1, threads=1).fit(frame).fitted_
    settings = _data(assets_of(Session(fitted, "")))["explorer"]["settings"]
    assert [own["name"] for own in settings] == averaged
    for own in settings:
        assert len(own["values"]) == len(own["weights"]) > 1
        assert sum(own["weights"]) == pytest.approx(1.0)


@pytest.mark.parametrize("kind", ["exogenous", "chains"])
def test_what_is_left_out_at_the_start_changes_nothing_that_is_drawn(kind: str) -> None:
    fitted = explored.session(kind).fitted
    light, whole = content_of_graph(fitted), gather(fitted)
    mine, own = data_of(light), data_of(whole)
    drawn = ("from", "to", "joined", "word", "head", "parts")
    assert [[pair[key] for key in drawn] for pair in mine["pairs"]] == [
        [pair[key] for key in drawn] for pair in own["pairs"]
    ]
    assert all(
        mine[key] == own[key] for key in ("base", "names", "exogenous", "threshold", "unlisted", "many", "measure")
    )
    assert words.summary(light) == words.summary(whole)
    assert words.standing(light)[:2] == words.standing(whole)[:2]
    assert graphs_of(light) == graphs_of(whole)
