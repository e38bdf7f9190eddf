"""The report of every kind of result: what it says of itself, and what it leaves out."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.tools.clinical import clinical_frame
from tests.tools.report_page import Page, random_table, written

from dagpost import Bootstrap, DagPosterior, DagSample, EdgePrior, PartitionMCMC, Recipe, Trees, datasets, local_scores
from dagpost.cli import info
from dagpost.errors import DagpostWarning
from dagpost.methods.targets import ORDER
from dagpost.plots.sources import percent
from dagpost.report import content as report_content
from dagpost.report import direction_words
from dagpost.report import page as report
from dagpost.report import tables as report_tables
from dagpost.report import words as report_words


@pytest.fixture(scope="module")
def coronary() -> DagPosterior:
    return DagPosterior(score="bdeu", seed=1, samples=4_000).fit(datasets.load("coronary"))


def test_sample_of_independent_graphs(coronary: DagPosterior, tmp_path: Path) -> None:
    sample = coronary.sample(1_000, seed=3)
    page = written(sample, tmp_path)
    assert "Probabilities are estimates from 1,000 graphs" in page.sections["trust"]
    assert "of the posterior" in page.sections["trust"]
    assert "Small figures: 95% interval" in page.sections["pairs"]
    uncertain = 0
    for row in page.tables["pairs"][1:]:
        for cell in (row[3], row[5], row[6]):
            found = re.fullmatch(r"[<>]?(\d\.\d{4})(?:(\d\.\d{3}) to (\d\.\d{3}))?", cell)
            assert found is not None, cell
            if found[2]:
                uncertain += 1
                assert float(found[2]) <= float(found[1]) <= float(found[3])
    assert uncertain > 10
    assert dict(page.tables["settings"][1:])["Seed"] == "3"


def test_sample_for_a_precision_says_so(coronary: DagPosterior, tmp_path: Path) -> None:
    page = written(coronary.sample(precision=0.05, confidence=0.9, seed=3), tmp_path)
    assert "within 0.05 of the exact value with 90% confidence" in page.sections["trust"]
    assert "Small figures: 90% interval" in page.sections["pairs"]


def test_best_graphs_are_called_no_sample(coronary: DagPosterior, tmp_path: Path) -> None:
    page = written(coronary.best(20), tmp_path)
    assert "among 20 of the most probable graphs, which are not a sample" in page.sections["trust"]


def test_a_list_of_best_graphs_bounds_what_it_leaves_out(coronary: DagPosterior, tmp_path: Path) -> None:
    best = coronary.best(200)
    page = written(best, tmp_path)
    rest = 1.0 - best.covered
    assert f"{100 * best.covered:.1f}% of the posterior" in page.sections["trust"]
    (bound,) = re.findall(r"differs from the one shown by at most ([\d.]+)\.", page.sections["trust"])
    assert rest <= float(bound) < 1.1 * rest
    assert (best.edge_frequencies() - coronary.edge_probabilities_).abs().to_numpy().max() <= rest
    # Neither drawn nor an estimate, and worth no number of draws.
    for words in ("Estimated", "estimate", "worth about"):
        assert words not in page.words, words
    # What is left out is known, so the bounds are certain.
    assert "Small figures: certain bound" in page.sections["pairs"]
    settings = dict(page.tables["settings"][1:])
    assert settings["Graphs listed"] == "200"
    assert "Graphs drawn" not in settings
    assert "Among 200 of the most probable graphs only" in page.sections["pairs"]


def test_a_model_of_best_graphs_says_what_its_parts_are(tmp_path: Path) -> None:
    model = DagPosterior(score="bdeu", method="kbest", samples=300).fit(datasets.load("coronary"))
    page = written(model, tmp_path)
    assert "This needs the list of the 300 best graphs" in page.sections["graphs"]
    assert "drawing" not in page.sections["graphs"]
    assert "dagpost sample MODEL -n 1000 -o DAGS, then dagpost report DAGS" in page.sections["graphs"]
    model.own_sample()
    page = written(model, tmp_path)
    assert "Other parts, marked so, are those among 300 of the most probable graphs" in page.sections["trust"]
    assert "Among 300 of the most probable graphs only" in page.sections["graphs"]
    # The model has the whole list.
    assert "most probable of all graphs" in page.sections["graphs"]
    assert "Estimated" not in page.words


def test_a_limit_on_parents_that_decides_is_told(tmp_path: Path) -> None:
    table = datasets.load("coronary")
    tight = written(DagPosterior(score="bdeu", max_parents=1, seed=1, samples=200).fit(table), tmp_path).sections[
        "trust"
    ]
    assert re.search(r"Mind the limit of 1 parent: .* has that many with a probability of at least 0\.\d\d", tight)
    for limit in (4, 5):
        wide = written(
            DagPosterior(score="bdeu", max_parents=limit, seed=1, samples=200).fit(table), tmp_path
        ).sections["trust"]
        assert "Mind the limit" not in wide
    tree = written(DagPosterior(score="bdeu", method="trees", seed=1, samples=200).fit(table), tmp_path).sections[
        "trust"
    ]
    assert "Mind the limit" not in tree


def test_directions_of_a_given_order_are_no_finding(tmp_path: Path) -> None:
    page = written(
        DagPosterior(score="bdeu", method="given-order", seed=1, samples=200).fit(datasets.load("coronary")), tmp_path
    )
    assert "All directions are those of the given order, not a finding." in page.words
    assert "All directions are those of the given order, not a finding." in page.sections["pairs"]


def test_what_a_rule_decides_is_never_a_finding(tmp_path: Path) -> None:
    model = DagPosterior(score="bdeu", required=[("Smoking", "Pressure")], seed=1, samples=200).fit(
        datasets.load("coronary")
    )
    page = written(model, tmp_path)
    assert "For 1 your rules decide it." in page.words
    assert "probably joined, your rules decide the direction of 1; none of these is a find" in page.sections["rules"]
    assert "Every graph has Smoking → Pressure." in page.sections["rules"]
    assert [row[0] for row in page.tables["ruled"][1:]] == ["Smoking ⇒ Pressure"]
    (row,) = [row for row in page.tables["pairs"][1:] if (row[0], row[2]) == ("Smoking", "Pressure")]
    assert row[4] == "decided by your rules"
    assert "Classes keep your rules" in page.sections["graphs"]


def test_a_report_without_a_sample_says_how_to_have_directions(tmp_path: Path) -> None:
    model = DagPosterior(score="bdeu", method="kbest", samples=300).fit(datasets.load("coronary"))
    page = written(model, tmp_path)
    assert "Which way they point was not computed" in page.words
    assert "Directions: left out. This needs the list of the 300 best graphs" in page.sections["pairs"]
    assert page.tables["pairs"][0] == ["From", "Mark", "To", "Joined", "Direction"]
    assert {row[4] for row in page.tables["pairs"][1:]} == {"not computed"}
    assert {pair["word"] for pair in page.numbers["pairs"]} == {"unknown"}
    model.own_sample()
    assert "Directions: left out" not in written(model, tmp_path).words


def test_a_bootstrap_tells_prior_limit_and_how_close_its_shares_are(tmp_path: Path) -> None:
    model = DagPosterior(score="bdeu", prior="uniform", method=Bootstrap(replicates=100), max_parents=2, seed=1).fit(
        datasets.load("coronary")
    )
    page = written(model, tmp_path)
    assert "joined in a share of the replicates of at least 0.5, above all" in page.words
    assert "A share near one half is known to about ±0.1 (95%)" in page.sections["trust"]
    assert "every set of parents has the same weight" in page.sections["trust"]
    assert "A variable has at most 2 parents." in page.sections["trust"]
    assert dict(page.tables["settings"][1:])["Replicates"] == "100"


def test_picked_graphs_claim_no_accuracy(coronary: DagPosterior, tmp_path: Path) -> None:
    page = written(coronary.sample(200, seed=3)[[0, 5, 7]], tmp_path)
    assert "3 graphs that were picked" in page.sections["trust"]
    assert "95% interval" not in page.sections["pairs"]


def test_chains_tell_their_verdict(tmp_path: Path) -> None:
    model = DagPosterior(score="bdeu", method=PartitionMCMC(chains=2), samples=2_000, seed=1).fit(
        datasets.load("coronary")
    )
    sample = model.own_sample()
    words = written(sample, tmp_path).sections["trust"]
    assert sample.diagnostics().verdict in words
    assert "R-hat compares the chains that drew them" in words
    of_model = written(model, tmp_path).sections["trust"]
    assert "Probabilities are estimates from 2,000 graphs" in of_model
    assert sample.diagnostics().verdict in of_model


def test_chains_that_disagree_are_not_to_be_trusted(tmp_path: Path) -> None:
    model = DagPosterior(score="bdeu", method=PartitionMCMC(chains=2), samples=2_000, seed=1).fit(
        datasets.load("coronary")
    )
    page = written(model.own_sample()[:30], tmp_path)
    assert "Do not trust it" in page.words
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
    page = written(DagPosterior(score="bdeu", seed=1, samples=500).fit(table), tmp_path)
    assert len(page.tables["pairs"]) == 2
    assert 0.0 < page.numbers["threshold"] < 0.5


def test_a_model_from_a_file_has_the_same_report_but_for_the_rows(coronary: DagPosterior, tmp_path: Path) -> None:
    coronary.save(tmp_path / "model.dagpost")
    loaded = DagPosterior.load(tmp_path / "model.dagpost")
    before, after = written(coronary, tmp_path), written(loaded, tmp_path)
    # Other choices need the rows.
    known, again = before.numbers, after.numbers
    for pair in known["pairs"] + again["pairs"]:
        pair.pop("choices", None)
    assert known == again
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
    model = DagPosterior(score="bdeu", method=method, seed=1, samples=500).fit(datasets.load("coronary"))
    page = written(model, tmp_path)
    assert words in page.sections["trust"]
    assert page.numbers["posterior"] == (model.target_ != "bootstrap")
    assert f"Show from {page.numbers['measure']}" in page.sections["graph-section"]
    assert page.numbers["measure"] == ("share" if model.target_ == "bootstrap" else "probability")
    assert page.numbers["families"] is not None


def test_order_modular_model_says_what_is_counted(tmp_path: Path) -> None:
    page = written(
        DagPosterior(score="bdeu", modularity="order", seed=1, samples=500).fit(datasets.load("coronary")), tmp_path
    )
    assert "Each graph is counted once for every order" in page.sections["trust"]
    assert "of itself" in page.sections["trust"]
    assert "of the graphs seen" in page.sections["graphs"]


def test_scores_from_elsewhere_have_no_rows(tmp_path: Path) -> None:
    scores = local_scores(datasets.load("coronary"), "bdeu")
    page = written(DagPosterior(score="bdeu", seed=1, samples=500).fit_scores(scores), tmp_path)
    assert "Nothing is known of the rows" in page.sections["data"]
    assert page.tables["columns"][0] == ["Variable"]


@pytest.mark.long
def test_what_would_take_too_long_is_left_out_with_the_reason(tmp_path: Path) -> None:
    """With 25 variables a model from a file has edges and parent sets, and the rest would take longer than the fit."""
    table = np.random.default_rng(1).integers(0, 2, (50, 25))
    model = DagPosterior(score="bdeu", modularity="order", max_parents=1, seed=1).fit(table)
    model.save(tmp_path / "model.dagpost")
    page = written(DagPosterior.load(tmp_path / "model.dagpost"), tmp_path)
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
    sample = DagSample(
        names, parents, nothing, nothing, nothing, np.full(500, 1 / 500), ORDER, "dds", "independent", "counting"
    )
    target = sample.report(tmp_path / "report.html")
    assert target.stat().st_size < 1_500_000
    page = Page(target.read_text(encoding="utf-8"))
    assert len(page.tables["matrix"]) == 31
    assert len(page.tables["pairs"]) == 1 + 30 * 29 // 2


def test_shares_of_a_bootstrap_are_nowhere_called_probabilities(tmp_path: Path) -> None:
    model = DagPosterior(score="bdeu", method=Bootstrap(replicates=20), seed=1).fit(datasets.load("coronary"))
    page = written(model, tmp_path)
    for part in ("pairs", "paths", "graphs", "graph-section"):
        left = page.sections[part].replace("not posterior probabilities", "").replace("is improbable", "")
        assert "probab" not in left.lower().replace("graph of the probable edges", ""), part
    assert "most frequent of the graphs seen" in page.sections["graphs"]
    assert "by the share of graphs with an edge between them" in page.sections["pairs"]


@pytest.mark.parametrize("spanning", [True, False])
def test_trees_have_one_parent_at_most_whatever_the_setting(spanning: bool, tmp_path: Path) -> None:
    page = written(
        DagPosterior(score="bdeu", method=Trees(spanning=spanning), seed=1).fit(datasets.load("coronary")), tmp_path
    )
    assert dict(page.tables["settings"][1:])["Most parents"] == "1"


def test_weights_of_a_prior_are_not_called_probabilities(tmp_path: Path) -> None:
    """With cycles ruled out, no edge and no set of parents has the probability that its weight would be."""
    table = datasets.load("coronary")
    for prior, words in (
        ("uniform", "every set of parents has the same weight"),
        ("indegree", "every number of parents has the same weight"),
        (EdgePrior(0.1), "an edge has the weight 0.1"),
    ):
        told = written(DagPosterior(score="bdeu", prior=prior, seed=1, samples=200).fit(table), tmp_path).sections[
            "trust"
        ]
        assert words in told
        assert "equally probable" not in told


def test_independent_graphs_are_not_said_to_be_worth_their_own_number(coronary: DagPosterior, tmp_path: Path) -> None:
    page = written(coronary.sample(precision=0.1, seed=1), tmp_path)
    assert "worth about" not in page.words


def test_two_variables_are_spoken_of_in_the_singular(tmp_path: Path) -> None:
    page = written(DagPosterior(score="bdeu", seed=1, samples=200).fit(random_table(["a", "b"])), tmp_path)
    assert "A variable has at most 1 parent." in page.sections["trust"]
    assert "1 pair of variables" in page.sections["pairs"]


def test_exact_edges_beside_chains_that_disagree_are_marked(tmp_path: Path) -> None:
    """The edges are exact whatever the chains do; the mark at the top must not vouch for the rest."""
    sampled = report_content.gather(
        DagPosterior(score="bdeu", seed=1, samples=200).fit(datasets.load("coronary")).fitted_
    )
    assert report_words.standing(sampled)[:2] == ("Exact probabilities", "good")
    disagreeing = dataclasses.replace(sampled, trusted=False)
    assert report_words.standing(disagreeing)[:2] == ("Edges exact, the rest not to be trusted yet", "fair")


@pytest.fixture(scope="module")
def chain() -> DagPosterior:
    """Replicates of a chain: one identical graph nearly every time, though no direction of it can be told."""
    return DagPosterior(score="bdeu", method=Bootstrap(replicates=20), seed=1).fit(
        random_table(list("abcdef"), rows=800)
    )


def test_a_bootstrap_of_a_chain_leaves_every_direction_open(chain: DagPosterior, tmp_path: Path) -> None:
    """The search picks the same direction every time, and no replicate compels it."""
    edges = chain.edge_probabilities_.to_numpy()
    assert np.maximum(edges, edges.T)[np.arange(5), np.arange(1, 6)].min() > 0.9
    page = written(chain, tmp_path)
    said = {(row[0], row[2]): row[4] for row in page.tables["pairs"][1:]}
    for pair in zip("abcde", "bcdef", strict=True):
        assert said[pair] == "open: the data cannot tell"
    assert "The data make the direction clear for none of them and leave it open for 5." in page.words
    # Where numbers hang on directions that the search picked, it is told.
    for part in ("trust", "paths"):
        assert chain.target_.directions in page.sections[part]
    assert "share of an edge, either way" in page.sections["graph-section"]


def test_replicates_are_counted_once_and_in_the_singular(chain: DagPosterior, tmp_path: Path) -> None:
    page = written(chain.sample(1, seed=2), tmp_path)
    settings = dict(page.tables["settings"][1:])
    assert settings["Replicates"] == "1"
    assert settings["Settings of the method"] == "Bootstrap"
    assert "resampled 1 time, and" in page.sections["trust"]
    assert "Shares of 1 bootstrap replicate, not" in page.sections["pairs"]
    without = dataclasses.replace(report_content.gather(chain.fitted_), sample=None)
    assert "resampled many times, and" in report_words.certainty(without)


def test_a_part_of_the_best_graphs_is_not_called_the_best(coronary: DagPosterior, tmp_path: Path) -> None:
    """A slice looks like a list of its own and does not know where it begins."""
    page = written(coronary.best(20)[2:5], tmp_path)
    assert "among 3 of the most probable graphs" in page.sections["trust"]
    assert "most probable of the graphs seen" in page.sections["graphs"]
    for claim in ("the 3 most probable graphs", "most probable of all graphs"):
        assert claim not in page.words.lower()


def test_a_sample_of_nearly_all_graphs_is_not_given_digits_nobody_sees(tmp_path: Path) -> None:
    sample = DagPosterior(score="bdeu", seed=1).fit(random_table(["a", "b"])).sample(2_000, seed=1)
    words = written(sample, tmp_path).sections["trust"]
    assert "near one half is known far more closely than the digits shown." in words
    assert "±" not in words


def test_what_chains_found_is_not_stated_before_they_can_be_trusted(coronary: DagPosterior) -> None:
    content = report_content.gather(coronary.sample(500, seed=1))
    assert direction_words.found(content)[0].isdigit()
    doubtful = direction_words.found(dataclasses.replace(content, trusted=False))
    assert doubtful.startswith("Not to be trusted yet: ")
    assert "direction" not in doubtful
    # Exact edges do not hang on chains; directions do.
    exact = direction_words.found(dataclasses.replace(content, trusted=False, exact=True))
    assert exact.startswith(direction_words.found(content).partition(" The data")[0])
    assert exact.endswith("Their directions come from chains that are not to be trusted yet.")


def test_bounds_are_rounded_outward(coronary: DagPosterior) -> None:
    assert report_words._at_most(1.4e-12, 1) == "2e-12"
    assert report_words._at_most(0.1201, 2) == "0.13"
    assert report_tables.bounds(0.99996, 1.0, 4) == "0.9999 to 1.0000"
    assert report_tables.bounds(0.0, 0.00001, 3) == "0.000 to 0.001"
    assert report_tables.bounds(0.25, 0.75, 4) == "0.2500 to 0.7500"
    assert [percent(share) for share in (0.0, 1e-9, 0.5, 0.9996, 1.0)] == [
        "0.0%",
        "under 0.1%",
        "50.0%",
        "over 99.9%",
        "over 99.9%",
    ]
    content = report_content.gather(coronary.fitted_)
    assert content.graphs is not None
    nearly_all = dataclasses.replace(content, graphs=dataclasses.replace(content.graphs, covered=1.0))
    assert "In all, over 99.9% of the posterior." in report_tables.graph_table(nearly_all)
    bounded = dataclasses.replace(content, error_bound=1.4e-12)
    assert "(rounding: at most 2e-12)" in report_words.certainty(bounded)


def test_what_only_looks_like_nothing_is_told_from_it_in_the_numbers_of_the_page(coronary: DagPosterior) -> None:
    content = report_content.gather(coronary.fitted_)
    few = dataclasses.replace(content, families=((((), 1e-8),),) * 6)
    assert report.data_of(few)["families"][0] == [[[], 1e-8]]


@pytest.mark.filterwarnings("ignore:Do not trust it:dagpost.errors.DagpostWarning")
def test_settings_of_a_method_are_said_in_words(tmp_path: Path) -> None:
    table = datasets.load("coronary")
    method = PartitionMCMC(chains=2, burn_in=100)
    chains = written(DagPosterior(score="bdeu", method=method, samples=200, seed=1).fit(table).own_sample(), tmp_path)
    said = dict(chains.tables["settings"][1:])["Settings of the method"]
    assert "burn in 100" in said
    order = written(DagPosterior(score="bdeu", method="given-order", seed=1, samples=200).fit(table), tmp_path)
    for words in (said, dict(order.tables["settings"][1:]).get("Settings of the method", "")):
        assert not re.search(r"[=\[\]']", words)


def test_one_of_a_kind_is_spoken_of_in_the_singular(tmp_path: Path) -> None:
    model = DagPosterior(score="bdeu", seed=1, samples=200).fit(random_table(["a", "b"]))
    assert "1 of 1 pair of variables is joined" in written(model, tmp_path).words
    one = written(model.sample(1, seed=1), tmp_path).words
    assert "from 1 graph, " in one or "from 1 graph and" in one
    assert "1 graphs" not in one


def test_interventions_are_not_forgotten_in_a_file(tmp_path: Path) -> None:
    table = random_table(["a", "b", "c"])
    table["set"] = ["a"] * 50 + [None] * (len(table) - 50)
    model = DagPosterior(score="bdeu", seed=1, samples=200).fit(table, interventions="set")
    file = tmp_path / "model.dagpost"
    model.save(file)
    for known in (model, DagPosterior.load(file), model.own_sample()):
        page = written(known, tmp_path)
        assert direction_words.INTERVENTIONS in page.sections["trust"]
        assert "data that were only observed" not in page.sections["graphs"]
    assert dict(info._lines_of_model(info._about(file, "model")))["interventions"]
    plain = DagPosterior(score="bdeu", seed=1, samples=200).fit(table.drop(columns="set"))
    plain.save(file)
    assert "data that were only observed" in written(DagPosterior.load(file), tmp_path).sections["graphs"]
    assert "interventions" not in dict(info._lines_of_model(info._about(file, "model")))


def test_what_was_done_with_each_column_is_told(coronary: DagPosterior, tmp_path: Path) -> None:
    frame = clinical_frame(300).rename(columns={"sex": "<b>sex</b>"})
    recipe = Recipe(cut={"systolic": 140}, missing="drop")
    with pytest.warns(DagpostWarning):
        model = DagPosterior(score="bdeu", seed=1, samples=200, recipe=recipe).fit(frame)
    page = written(model, tmp_path)
    rows = {row[0]: row[1:] for row in page.tables["recipe"][1:]}
    assert list(rows) == list(frame.columns)
    assert rows["patient_id"] == ["identifier: 300 different values in 300 rows", "left out", ""]
    assert rows["systolic"][2] == "<140, >=140"
    assert "rows dropped for gaps" in page.sections["data"]
    assert "recipe" not in written(coronary, tmp_path).tables, "where levels are as they were, there is nothing to tell"


def test_exogenous_columns_are_said_in_every_part_and_marked_for_the_graph(tmp_path: Path) -> None:
    model = DagPosterior(score="bdeu", seed=1, samples=300, exogenous=["Family", "Smoking"])
    model.fit(datasets.load("coronary"))
    for source in (model, model.own_sample()):
        page = written(source, tmp_path)
        given = "given Family and Smoking"
        assert f"Everything is conditional, {given}: exogenous columns are not modelled" in page.sections["trust"]
        assert given in page.sections["pairs"]
        assert "of 14 pairs of variables" in page.words
        assert [page.numbers["names"][place] for place in page.numbers["exogenous"]] == ["Family", "Smoking"]
        assert "exogenous: given, not modelled" in page.words
