"""What people are shown of a model with gaps: the report, the notebook, pictures and the command line."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from matplotlib.figure import Figure
from tests.tools.gap_models import fitted, table_with_gaps
from tests.tools.wording import Said
from typer.testing import CliRunner

from dagpost import DagPosterior, plots
from dagpost.cli import app
from dagpost.methods.augmentation import Augmentation
from dagpost.plots.sources import probabilities_of
from dagpost.report.content import gather
from dagpost.report.gap_facts import GapFacts, gap_facts, how_many, in_brief
from dagpost.report.gap_section import gap_section
from dagpost.report.methods_paragraph import cited as citation

TABLES = "Averaged over 240 completed tables"


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    return fitted().report(tmp_path_factory.mktemp("report") / "gaps.html").read_text(encoding="utf-8")


def test_the_report_says_how_much_was_missing_where_and_what_was_assumed(page: str) -> None:
    assert "6 of 200 cells (3.0%) have no value, in 4 of 50 observations." in page
    assert "averages of exact sums over all graphs given each of 240 completed tables" in page
    assert "missing at random (Rubin 1976)" in page
    assert '<td><bdi>A</bdi></td><td class="number">2</td><td class="number">4.0%</td>' in page
    assert '<a href="#gaps">Missing values</a>' in page
    assert "The 4 columns with missing values" in page


def test_the_report_says_how_sure_the_averages_are(page: str) -> None:
    model = fitted()
    assert f"standard error of the probability of an edge is {model.edge_errors_.to_numpy().max():.4f}" in page
    assert "4 chains of 60 completed tables, from cells drawn independently" in page
    assert f"{TABLES}." in page
    assert "Averages over completed tables</" in page
    assert "Log evidence" not in page


def test_pairs_have_intervals_around_what_is_shown() -> None:
    content = gather(fitted().fitted_)
    assert content.intervals
    for (first, second), (lower, upper) in content.intervals.items():
        assert lower <= content.edges[first, second] + content.edges[second, first] <= upper
    assert content.families is not None
    assert not content.families_exact
    assert not content.paths_exact


def test_the_papers_behind_it_are_cited() -> None:
    content = gather(fitted().fitted_)
    works = citation(content)
    for work in ("Tanner, M. A., & Wong, W. H. (1987)", "Rubin, D. B. (1976)", "Tian, J., & He, R. (2009)"):
        assert work in works
    assert "Rubin" not in citation(replace(content, gaps=None))


def test_a_table_without_gaps_has_no_such_section() -> None:
    complete = DagPosterior("bdeu").fit(table_with_gaps().dropna())
    assert gap_facts(complete.fitted_) is None
    assert gap_section(None) == ""


def test_words_fit_one_column_few_cells_and_chains_over_graphs() -> None:
    facts = GapFacts(1, 10_000, {"<A>": 1}, 1, 100, 400, 0.01, None, exact_given_table=False)
    assert "(under 0.1%)" in how_many(facts)
    assert "graphs that chains found given" in how_many(facts)
    assert in_brief(facts).startswith("Under 0.1% of the cells")
    section = gap_section(facts)
    assert "The column with missing values" in section
    assert "&lt;A&gt;" in section
    assert "of a path" not in section


def test_counts_are_counted_as_observations(said: Said) -> None:
    frame = table_with_gaps().assign(times=2)
    method = Augmentation(chains=2, burn_in=1)
    model = DagPosterior("bdeu", method=method, samples=200, seed=1, missing="augment")
    with said.warns(UserWarning):
        model.fit(frame, counts="times")
    facts = gap_facts(model.fitted_)
    assert facts is not None
    assert (facts.cells, facts.of, facts.incomplete, facts.observations) == (12, 400, 8, 100)


def test_a_notebook_and_pictures_say_what_the_numbers_are() -> None:
    model = fitted()
    html = model._repr_mimebundle_()["text/html"]
    error = model.edge_errors_.to_numpy().max()
    assert f"{TABLES}, with standard errors of at most {error:.4f} (each graph counted once)." in html
    assert probabilities_of(model, "~>").sentence.startswith(f"{TABLES}, with standard errors of at most")
    assert probabilities_of(model, "~>{2}").sentence.startswith("Estimated from 2,400 graphs by augmentation")
    assert plots.traces(model, ax=Figure().subplots()).get_ylabel() == "log p(graph, completed table)"


def test_commands_show_the_errors(tmp_path: Path) -> None:
    path = tmp_path / "gaps.dagpost"
    fitted().save(path)

    def run(*arguments: str) -> str:
        result = CliRunner().invoke(app, arguments, prog_name="dagpost", catch_exceptions=False)
        assert result.exit_code == 0, result.output
        return result.stdout

    shown = run("edges", str(path))
    assert shown.splitlines()[0].split() == ["pair", "joined", "error", "->", "<-", "direction"]
    assert f"{TABLES}, with standard errors of at most" in shown
    found = json.loads(run("edges", str(path), "--json"))
    assert found["completed_tables"] == 240
    assert found["log_evidence"] is None
    assert all(edge["error"] >= 0.0 for edge in found["edges"])
    assert "(averaged over 240 completed tables, 95%; each graph counted once)" in run("query", str(path), "A -> B")
    assert "averaged over completed tables" in run("info", str(path))
    result = CliRunner().invoke(app, ["best", str(path)], prog_name="dagpost")
    assert "dagpost report" in str(result.output) + str(result.exception)
