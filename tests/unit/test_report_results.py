"""The report of every kind of result: what it says of itself, and what it leaves out."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.report_page import Page, random_table, written

from dagpost import Bootstrap, DagPosterior, DagSample, EdgePrior, PartitionMCMC, Trees, datasets, local_scores
from dagpost.show import report_content, report_words


@pytest.fixture(scope="module")
def coronary() -> DagPosterior:
    return DagPosterior(seed=1, samples=4_000).fit(datasets.load("coronary"))


def test_sample_of_independent_graphs(coronary: DagPosterior, tmp_path: Path) -> None:
    sample = coronary.sample(1_000, seed=3)
    page = written(sample, tmp_path)
    assert "The probabilities are estimates, from 1,000 graphs" in page.sections["trust"]
    assert "of the whole posterior" in page.sections["trust"]
    heads, first, *_ = page.tables["edges"]
    assert heads[3] == "95% interval"
    lower, upper = map(float, first[3].split(" to "))
    assert lower <= float(first[2].lstrip("<>")) <= upper
    assert dict(page.tables["settings"][1:])["Seed"] == "3"


def test_sample_for_a_precision_says_so(coronary: DagPosterior, tmp_path: Path) -> None:
    page = written(coronary.sample(precision=0.05, confidence=0.9, seed=3), tmp_path)
    assert "within 0.05 of the exact value with 90% confidence" in page.sections["trust"]
    assert page.tables["edges"][0][3] == "90% interval"


def test_best_graphs_are_called_no_sample(coronary: DagPosterior, tmp_path: Path) -> None:
    page = written(coronary.best(20), tmp_path)
    assert "among the 20 most probable graphs, which are no sample" in page.sections["trust"]


def test_a_list_of_best_graphs_bounds_what_it_leaves_out(coronary: DagPosterior, tmp_path: Path) -> None:
    best = coronary.best(200)
    page = written(best, tmp_path)
    rest = 1.0 - best.covered
    assert f"{100 * best.covered:.1f}% of the whole posterior" in page.sections["trust"]
    assert f"differs from the one shown by at most {rest:.2g}." in page.sections["trust"]
    assert np.abs(best.edge_frequencies() - coronary.edge_probabilities_).to_numpy().max() <= rest
    # Neither drawn nor an estimate, and worth no number of draws.
    for words in ("Estimated", "estimate", "worth about"):
        assert words not in page.words, words
    # What is left out is known, so the bounds are certain.
    assert page.tables["edges"][0][3] == "Certain bound"
    settings = dict(page.tables["settings"][1:])
    assert settings["Best graphs"] == "200"
    assert "Graphs drawn" not in settings
    assert "Among the 200 most probable graphs only" in page.sections["edges"]


def test_a_model_of_best_graphs_says_what_its_parts_are(tmp_path: Path) -> None:
    model = DagPosterior(method="kbest", samples=300).fit(datasets.load("coronary"))
    page = written(model, tmp_path)
    assert "This needs the list of the 300 best graphs" in page.sections["graphs"]
    assert "drawing" not in page.sections["graphs"]
    model.own_sample()
    page = written(model, tmp_path)
    assert "Some other parts, marked so, are those among the 300 most probable graphs" in page.sections["trust"]
    assert "Among the 300 most probable graphs only" in page.sections["graphs"]
    assert "Estimated" not in page.words


def test_a_limit_on_parents_that_decides_is_told(tmp_path: Path) -> None:
    table = datasets.load("coronary")
    tight = written(DagPosterior(max_parents=1, seed=1, samples=200).fit(table), tmp_path).sections["trust"]
    assert re.search(r"Mind the limit of 1 parent: .* has that many with a probability of at least 0\.\d\d", tight)
    for limit in (4, 5):
        wide = written(DagPosterior(max_parents=limit, seed=1, samples=200).fit(table), tmp_path).sections["trust"]
        assert "Mind the limit" not in wide
    tree = written(DagPosterior(method="trees", seed=1, samples=200).fit(table), tmp_path).sections["trust"]
    assert "Mind the limit" not in tree


def test_directions_of_a_given_order_are_no_finding(tmp_path: Path) -> None:
    page = written(DagPosterior(method="given-order", seed=1, samples=200).fit(datasets.load("coronary")), tmp_path)
    assert "Their directions are those of the given order, and no finding." in page.words
    assert "All directions are those of the given order." in page.sections["edges"]


def test_rules_of_the_user_are_told_beside_what_was_found(tmp_path: Path) -> None:
    model = DagPosterior(required=[("Smoking", "Pressure")], seed=1, samples=200).fit(datasets.load("coronary"))
    assert "Rules that the user set decide some of this." in written(model, tmp_path).words


def test_a_bootstrap_tells_prior_limit_and_how_close_its_shares_are(tmp_path: Path) -> None:
    model = DagPosterior(method=Bootstrap(replicates=100), max_parents=2, seed=1).fit(datasets.load("coronary"))
    page = written(model, tmp_path)
    assert "joined in a share of the replicates of at least 0.5." in page.words
    assert "a share near one half is known to about ±0.1 (95%)" in page.sections["trust"]
    assert "every set of parents has the same weight" in page.sections["trust"]
    assert "A variable has at most 2 parents." in page.sections["trust"]
    assert dict(page.tables["settings"][1:])["Replicates"] == "100"


def test_picked_graphs_claim_no_accuracy(coronary: DagPosterior, tmp_path: Path) -> None:
    page = written(coronary.sample(200, seed=3)[[0, 5, 7]], tmp_path)
    assert "3 graphs that were picked" in page.sections["trust"]
    assert "95% interval" not in page.sections["edges"]


def test_chains_tell_their_verdict(tmp_path: Path) -> None:
    model = DagPosterior(method=PartitionMCMC(chains=2), samples=2_000, seed=1).fit(datasets.load("coronary"))
    sample = model.own_sample()
    words = written(sample, tmp_path).sections["trust"]
    assert sample.diagnostics().verdict in words
    assert "R-hat compares these chains" in words
    exact = written(model, tmp_path).sections["trust"]
    assert "The probabilities of edges are exact" in exact
    assert "About these: " in exact


def test_chains_that_disagree_are_not_to_be_trusted(tmp_path: Path) -> None:
    model = DagPosterior(method=PartitionMCMC(chains=2), samples=2_000, seed=1).fit(datasets.load("coronary"))
    page = written(model.own_sample()[:30], tmp_path)
    assert "Do not trust it yet" in page.words or "One chain alone" in page.words
    moods = [about["class"] for tag, about in page.tags if "standing" in str(about.get("class"))]
    assert moods == ["standing poor"]


def test_continuous_columns(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    values = pd.DataFrame(rng.normal(size=(100, 3)), columns=["x", "y", "z"])
    values["y"] += values["x"]
    page = written(DagPosterior(score="bge", seed=1, samples=500).fit(values), tmp_path)
    assert [row[1] for row in page.tables["columns"][1:]] == ["continuous"] * 3
    assert re.fullmatch(r"-?[\d.]+ to -?[\d.]+", page.tables["columns"][1][2])
    assert "Kuipers, J., Moffa, G., & Heckerman" in page.sections["cite"]


def test_two_variables_and_no_edge_to_speak_of(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    table = pd.DataFrame(rng.integers(0, 2, (500, 2)), columns=["A", "B"]).astype("category")
    page = written(DagPosterior(seed=1, samples=500).fit(table), tmp_path)
    assert len(page.tables["edges"]) == 2
    assert 0.0 < page.numbers["threshold"] < 0.5


def test_a_model_from_a_file_has_the_same_report_but_for_the_rows(coronary: DagPosterior, tmp_path: Path) -> None:
    coronary.save(tmp_path / "model.dagpost")
    loaded = DagPosterior.load(tmp_path / "model.dagpost")
    before, after = written(coronary, tmp_path), written(loaded, tmp_path)
    assert before.numbers == after.numbers
    assert "the rows are not kept with these results" in after.sections["data"]
    assert after.tables["columns"] == before.tables["columns"]


def test_a_sample_from_a_file_has_the_same_report(coronary: DagPosterior, tmp_path: Path) -> None:
    sample = coronary.sample(300, seed=3)
    sample.save(tmp_path / "sample.dagpost")
    assert written(DagSample.load(tmp_path / "sample.dagpost"), tmp_path).numbers == written(sample, tmp_path).numbers


@pytest.mark.parametrize(
    ("method", "words"),
    [
        ("trees", "Only trees are considered"),
        ("given-order", "Only graphs that fit the given order"),
        (Bootstrap(replicates=20), "it is not the probability that the edge is there"),
    ],
    ids=["trees", "given-order", "bootstrap"],
)
def test_methods_that_speak_of_something_else_say_so(method: Any, words: str, tmp_path: Path) -> None:
    model = DagPosterior(method=method, seed=1, samples=500).fit(datasets.load("coronary"))
    page = written(model, tmp_path)
    assert words in page.sections["trust"]
    assert page.numbers["posterior"] == (model.target_ != "bootstrap")
    assert f"joined with a {page.numbers['measure']} of at least" in page.sections["graph-section"]
    assert page.numbers["measure"] == ("share" if model.target_ == "bootstrap" else "probability")
    assert page.numbers["families"] is not None


def test_order_modular_model_says_what_is_counted(tmp_path: Path) -> None:
    page = written(DagPosterior(modularity="order", seed=1, samples=500).fit(datasets.load("coronary")), tmp_path)
    assert "Each graph is counted once for every order" in page.sections["trust"]
    assert "of itself" in page.sections["trust"]
    assert "of the graphs seen" in page.sections["graphs"]


def test_scores_from_elsewhere_have_no_rows(tmp_path: Path) -> None:
    scores = local_scores(datasets.load("coronary"), "bdeu")
    page = written(DagPosterior(seed=1, samples=500).fit_scores(scores), tmp_path)
    assert "Nothing is known of the rows" in page.sections["data"]
    assert page.tables["columns"][0] == ["Variable"]


def test_what_would_take_too_long_is_left_out_with_the_reason(
    coronary: DagPosterior, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(report_content, "_sample_of", lambda _: None)
    monkeypatch.setattr(report_content, "_exact_paths", lambda _: None)
    monkeypatch.setattr(report_content, "_best", lambda _: None)
    page = written(coronary, tmp_path)
    for part, title in (("paths", "Path matrix"), ("graphs", "Classes of equivalent graphs")):
        assert f"{title}: left out. This needs a sample of graphs" in page.sections[part]
        # For those who have a terminal, and for those who have Python.
        assert "dagpost sample MODEL" in page.sections[part]
        assert "own_sample()" in page.sections[part]
    assert page.numbers["blankets"] is None
    assert page.numbers["blanketsNote"].startswith("Markov blanket: left out.")
    assert page.numbers["families"] is not None


def test_many_variables_make_no_large_file(tmp_path: Path) -> None:
    """30 variables: under 1.5 MB, with every pair in the tables."""
    rng = np.random.default_rng(1)
    names = tuple(f"variable number {number}" for number in range(30))
    # A variable has parents among those before it only.
    before = (1 << np.arange(30, dtype=np.uint32)) - 1
    parents = rng.integers(0, 1 << 30, (500, 30), dtype=np.uint32) & before.astype(np.uint32)
    nothing = np.full(500, np.nan)
    sample = DagSample(names, parents, nothing, nothing, nothing, np.full(500, 1 / 500), "order", "dds", "counting")
    target = sample.report(tmp_path / "report.html")
    assert target.stat().st_size < 1_500_000
    page = Page(target.read_text(encoding="utf-8"))
    assert len(page.tables["matrix"]) == 31
    assert len(page.tables["edges"]) == 1 + 30 * 29 // 2


def test_shares_of_a_bootstrap_are_nowhere_called_probabilities(tmp_path: Path) -> None:
    model = DagPosterior(method=Bootstrap(replicates=20), seed=1).fit(datasets.load("coronary"))
    page = written(model, tmp_path)
    for part in ("edges", "paths", "graphs", "graph-section"):
        left = page.sections[part].replace("not posterior probabilities", "").replace("is improbable", "")
        assert "probab" not in left.lower().replace("graph of the probable edges", ""), part
    assert "most frequent of the graphs seen" in page.sections["graphs"]
    assert "by the share of graphs with an edge between them" in page.sections["edges"]


@pytest.mark.parametrize("spanning", [True, False])
def test_trees_have_one_parent_at_most_whatever_the_setting(spanning: bool, tmp_path: Path) -> None:
    page = written(DagPosterior(method=Trees(spanning=spanning), seed=1).fit(datasets.load("coronary")), tmp_path)
    assert dict(page.tables["settings"][1:])["Most parents"] == "1"


def test_weights_of_a_prior_are_not_called_probabilities(tmp_path: Path) -> None:
    """With cycles ruled out, no edge and no set of parents has the probability that its weight would be."""
    table = datasets.load("coronary")
    for prior, words in (
        ("uniform", "every set of parents has the same weight"),
        ("indegree", "every number of parents has the same weight"),
        (EdgePrior(0.1), "an edge has the weight 0.1"),
    ):
        told = written(DagPosterior(prior=prior, seed=1, samples=200).fit(table), tmp_path).sections["trust"]
        assert words in told
        assert "equally probable" not in told


def test_independent_graphs_are_not_said_to_be_worth_their_own_number(coronary: DagPosterior, tmp_path: Path) -> None:
    page = written(coronary.sample(precision=0.1, seed=1), tmp_path)
    assert "worth about" not in page.words


def test_two_variables_are_spoken_of_in_the_singular(tmp_path: Path) -> None:
    page = written(DagPosterior(seed=1, samples=200).fit(random_table(["a", "b"])), tmp_path)
    assert "A variable has at most 1 parent." in page.sections["trust"]
    assert "1 pair of variables" in page.sections["edges"]


def test_exact_edges_beside_chains_that_disagree_are_marked(tmp_path: Path) -> None:
    """The edges are exact whatever the chains do; the mark at the top must not vouch for the rest."""
    sampled = report_content.gather(DagPosterior(seed=1, samples=200).fit(datasets.load("coronary")))
    assert report_words.standing(sampled) == ("Exact probabilities", "good")
    disagreeing = dataclasses.replace(sampled, trusted=False)
    assert report_words.standing(disagreeing) == ("Edges exact, the rest not to be trusted yet", "fair")
