"""The report of a conditioned model says what it is given wherever a sentence would be wrong without it."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from tests.tools.report_page import random_table, written

from dagpost import DagPosterior, DagSample
from dagpost.report.content import gather
from dagpost.report.methods_paragraph import methods_paragraph
from dagpost.report.reproduction import TABLE, python_code

NAMES = ["a", "b", "c c", "d"]
ROWS = random_table(NAMES, 80).astype(int)
STATEMENTS = ("a -> b", '!("c c" -> d)')
#: What is true of a report only where nothing is assumed.
_WITHOUT = (
    "sums over all graphs that are allowed:",
    "sums over all graphs that are allowed (",
    "decided by your rules.",
    "decided by your rules<",
    "a rule of yours",
    "that your rules allow were considered",
)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> DagPosterior:
    place = tmp_path_factory.mktemp("assumption") / TABLE
    ROWS.to_csv(place, index=False)
    return DagPosterior(seed=1, samples=2_000, progress=False).fit(str(place))


def test_the_page_says_first_what_is_given_and_how_probable_it_is(model: DagPosterior, tmp_path: Path) -> None:
    given = model.given(*STATEMENTS)
    assert given.condition_ is not None
    page = written(given, tmp_path)
    chance = f"{float(given.condition_.probability):.4f}"
    words = " ".join(page.words.split())
    said = 'a -> b and !("c c" -> d)'
    assert f"Probable connections among 4 variables, given {said}" in words
    assert f"Given that {said}, which has probability {chance} (exact). Every number below holds" in words
    assert words.index("Given that") < words.index("How to read this")
    # A title of one's own does not hide it.
    assert f"Given that {said}" in " ".join(written(given, tmp_path, title="My study").words.split())
    for wrong in _WITHOUT:
        assert wrong not in words, wrong
    trust, rules = (" ".join(page.sections[name].split()) for name in ("trust", "rules"))
    away = 100.0 * (1.0 - float(given.condition_.probability))
    assert f"All of it holds only if {said}, which was assumed and is not a finding. {away:.0f}% of the" in trust
    assert f"You assumed that {said} (see Rules)." in trust
    assert f"Assumed, not found: {said} (probability {chance}, exact)." in rules
    assert "your rules or assumptions decide the direction of" in rules
    # What it changed: before and after, as the models say.
    before, after = (float(own.edge_probabilities_.loc["a", "b"]) for own in (model, given))
    assert "What the assumption changed" in rules
    assert ["a → b", f"{before:.4f}", f"{after:.4f}"] in page.tables["changed"]
    assert "What is assumed here was assumed each time." in " ".join(page.sections["choices"].split())


def test_a_report_of_a_plain_model_says_nothing_of_assumptions(model: DagPosterior, tmp_path: Path) -> None:
    page = written(model, tmp_path)
    assert "assum" not in page.sections["rules"] if "rules" in page.sections else True
    assert "Given that" not in page.words
    assert 'class="given"' not in (tmp_path / "report.html").read_text(encoding="utf-8")


SOURCES: dict[str, Callable[[DagPosterior], Any]] = {
    "weights": lambda model: model.given(*STATEMENTS),
    "graphs": lambda model: model.given("a ~> d"),
    "a value": lambda model: model.given("a -> b", setting={"equivalent sample size": 10.0}),
    "a sample of it": lambda model: model.given("a -> b").sample(60, seed=5),
    "a part of a sample": lambda model: model.sample(200, seed=5).given("a -> b"),
}


@pytest.mark.parametrize("case", SOURCES)
def test_the_code_gives_the_same_under_the_condition(
    case: str, model: DagPosterior, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = SOURCES[case](model)
    content = gather(source if isinstance(source, DagSample) else source.fitted_)
    monkeypatch.chdir(tmp_path)
    ROWS.to_csv(TABLE, index=False)
    code = python_code(content)
    assert code is not None
    space: dict[str, Any] = {}
    exec(code, space)
    assert "Given that a" in Path("report.html").read_text(encoding="utf-8")
    if isinstance(source, DagSample):
        assert space["graphs"] == source
        return
    pd.testing.assert_frame_equal(space["model"].edge_probabilities_, source.edge_probabilities_)
    assert space["model"].condition_.statements == source.condition_.statements


@pytest.mark.parametrize("case", SOURCES)
def test_the_methods_paragraph_is_whole_under_a_condition(case: str, model: DagPosterior) -> None:
    source = SOURCES[case](model)
    words = methods_paragraph(gather(source if isinstance(source, DagSample) else source.fitted_)).words
    assert "All results are conditional on the assumption that a " in words
    assert not re.search(r"\bNone\b|\bnan\b|\{|\}|  | \.|\.\.|\(\)", words), words
    holds = {
        "weights": "exact: sums over all graphs that are allowed and meet it",
        "a value": "a -> b and equivalent sample size = 10, which has posterior probability",
        "a part of a sample": "graphs in which it holds, of those that were drawn",
        "a sample of it": "under this assumption (exact-layers",
    }
    assert holds.get(case, "") in words


def test_hostile_names_are_text(tmp_path: Path) -> None:
    names = ["</p><script>alert(1)</script>", 'b"\x1b[31m', "c"]
    model = DagPosterior("bdeu", samples=60, seed=1, progress=False).fit(random_table(names))
    from dagpost.features import edge

    page = written(model.given(edge(names[0], names[2])), tmp_path)
    assert not [tag for tag, about in page.tags if tag == "script" and "alert" in str(about)]
    assert "</p><script>alert(1)</script>" in page.words
    assert "\x1b" not in page.words
