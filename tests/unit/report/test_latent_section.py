"""What people are shown of a model of latent numbers: the report, answers, refusals and the command line."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import pytest
from matplotlib.figure import Figure
from tests.tools.gapped import fitted_to
from tests.tools.latent import clinic, frame_of, latent_model, without_gaps
from tests.tools.wording import Said
from typer.testing import CliRunner

from dagpost import DagPosterior, InputError, LatentGaussian, cross_validate, local_scores, plots, top_graphs
from dagpost.cli import app
from dagpost.errors import ResourceError
from dagpost.methods.augmentation import Augmentation
from dagpost.report.content import gather
from dagpost.report.gap_facts import gap_facts
from dagpost.report.methods_paragraph import cited as citation

pytestmark = pytest.mark.filterwarnings("ignore::dagpost.DagpostWarning")


def page_of(model: DagPosterior, folder: Path) -> str:
    return model.report(folder / "report.html").read_text(encoding="utf-8")


def test_a_report_without_gaps_speaks_of_latent_numbers_and_not_of_missing_values(tmp_path: Path) -> None:
    page = page_of(without_gaps(), tmp_path)
    assert '<a href="#latent">Latent numbers</a>' in page
    assert "the order of its levels, 0 &lt; 1 &lt; 2" in page
    assert "enter by their ranks" in page
    assert "12 tables of latent numbers" in page
    # Scripts have words for every kind of report.
    read = re.sub(r"<script>.*?</script>", "", page, flags=re.DOTALL)
    for word in ("Missing values", "missing at random", "completed table", "Rubin"):
        assert word not in read


def test_a_report_with_gaps_says_both_and_tells_limits_from_gaps(tmp_path: Path) -> None:
    page = page_of(latent_model(), tmp_path)
    assert "limits, of 1 censored cell" in page
    assert "2 of 200 cells (1.0%) have no value, in 2 of 40 observations" in page
    assert '<a href="#gaps">Missing values</a>' in page
    assert "Rubin, D. B. (1976)" in citation(gather(latent_model().fitted_))
    assert "Hoff, P. D. (2007)" in citation(gather(latent_model().fitted_))


def test_a_report_says_what_the_conditional_gaussian_score_assumes_and_rules_out(tmp_path: Path) -> None:
    table = frame_of()[["sex", "age", "pressure"]].dropna()
    page = page_of(DagPosterior("conditional-gaussian", max_parents=1, samples=20).fit(table), tmp_path)
    assert "ruled out by the model: that there are none is not a finding" in page


def test_numbers_without_gaps_have_no_chains_and_no_section() -> None:
    model = DagPosterior("latent-gaussian").fit(frame_of()[["age", "pressure"]])
    assert model.exact_
    assert gap_facts(model.fitted_) is None
    assert "as they are" in LatentGaussian(margins="raw").assumes()


def test_a_model_says_what_was_drawn() -> None:
    said = repr(latent_model()).partition("): ")[2]
    assert ", latent numbers of 2 columns, 1 censored cell and 2 gaps drawn; averaged over 26 tables of latent" in said
    assert "latent numbers of 2 columns drawn" in repr(without_gaps())
    reason = latent_model().method_reason_
    assert reason.startswith("latent numbers of 2 columns, 1 censored cell and 2 gaps are drawn;")
    assert latent_model().probability("age -> pressure").rule == "averaged over 26 tables of latent numbers"
    assert "tables of latent numbers" in latent_model().own_sample().diagnostics().verdict
    assert "26 tables of latent numbers" in str(latent_model()._repr_html_())
    assert plots.traces(latent_model(), ax=Figure().subplots()).get_ylabel() == "log p(graph, table of latent numbers)"


@pytest.mark.parametrize(
    "ask",
    [
        lambda model: model.log_evidence_,
        lambda model: model.best(2),
        lambda model: model.sensitivity(),
        lambda model: model.log_joint([("age", "sex")]),
        lambda model: model.parents_considered(),
    ],
)
def test_what_latent_numbers_leave_unknown_is_refused_with_a_way_out(ask: Any, said: Said) -> None:
    with said.raises((InputError, AttributeError)):
        ask(latent_model())


def test_graphs_are_ranked_by_how_often_they_were_drawn_where_nothing_is_missing() -> None:
    best = top_graphs(without_gaps(), 1)
    standing = without_gaps().standing(best.graph(0))
    assert standing.rank == 1
    assert math.isnan(standing.log_joint)


@pytest.mark.parametrize("method", ["partition-mcmc", "kbest", "bootstrap"])
def test_methods_that_draw_no_latent_numbers_are_refused(method: str, said: Said) -> None:
    with said.raises(InputError):
        fitted_to(clinic(), score="latent-gaussian", method=method)


def test_families_of_latent_numbers_have_no_scores_and_those_of_numbers_have_those_of_their_ranks(said: Said) -> None:
    with said.raises(InputError):
        local_scores(clinic(), "latent-gaussian")
    numbers = frame_of()[["age", "pressure"]]
    found = local_scores(numbers, "latent-gaussian").values
    assert found == pytest.approx(local_scores(numbers**3, "latent-gaussian").values)
    model = DagPosterior("latent-gaussian", prior="uniform").fit(numbers)
    assert model.log_joint([("age", "pressure")]) == pytest.approx(found[0, 0] + found[1, 1])


def test_plans_count_what_chains_keep() -> None:
    plan = DagPosterior("latent-gaussian", samples=400).plan(clinic())
    assert "up to 40 tables of latent numbers in 4 chains" in str(plan)
    method = Augmentation()
    kept = [method.bytes_kept(latent_model().fitted_.workspace.passes.cell_rules, 5, count) for count in (400, 800)]
    assert kept == [40 * (82 * 4 + 8 * 25), 80 * (82 * 4 + 8 * 25)]
    assert plan.size >= 2 * kept[0]


def test_many_latent_numbers_are_refused_before_memory_is_taken(monkeypatch: pytest.MonkeyPatch, said: Said) -> None:
    monkeypatch.setattr(Augmentation, "bytes_kept", lambda *_: 10**15)
    with said.raises(ResourceError):
        latent_model().sample(1_000)


def test_folds_keep_the_chains_that_were_asked_for() -> None:
    table = frame_of()[["smoking", "age", "pressure"]]
    method = Augmentation(chains=2, burn_in=0)
    model = DagPosterior("latent-gaussian", method=method, samples=20, max_parents=1, threads=1, progress=False)
    found = cross_validate(model, table, folds=2, seed=1)
    assert len(found.log_scores) == 40


def test_the_command_line_says_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    latent_model().save("m.dagpost")

    def said(*arguments: str) -> str:
        return CliRunner().invoke(app, list(arguments)).output

    about = said("info", "m.dagpost")
    assert "latent numbers  82 that chains drew" in about
    assert "2 cells have no value" in about
    assert "of 1 cell only limits are known" in about
    assert "averaged over tables of latent numbers" in about
    assert "tables of latent numbers" in said("query", "m.dagpost", "age ~> pressure")
    assert "they are others" in said("best", "m.dagpost")
    cells = said("complete", "m.dagpost", "--cells").splitlines()
    assert len(cells) == 4
    assert "NaN" not in said("complete", "m.dagpost", "--cells", "--json")
    frame_of()[["smoking", "sex", "age"]].to_csv("t.csv", index=False)
    refused = said("best", "t.csv", "--score", "latent-gaussian")
    assert "latent numbers of 'smoking', 'sex', and 1 gap" in refused
    assert "--score conditional-gaussian" in refused
