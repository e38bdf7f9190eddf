"""The HTML report: complete in itself, true to the model, and deaf to whatever the data are called."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from tests.tools.pictures import SAID, every_word, one_class
from tests.tools.report_page import Page, random_table, written
from tests.tools.wording import Said

import dagpost
from dagpost import DagPosterior, InputError, datasets
from dagpost._tools.text import printable
from dagpost.features import edge, parse
from dagpost.plots.marks import LEGEND
from dagpost.posterior.directions import directions_of
from dagpost.report import page as report

HOSTILE = [
    "<script>alert(1)</script>",
    "</script><img src=x onerror=alert(1)>",
    "quotes \" and ' and `",
    "&amp; {{title}}",
    "line\u2028and\u2029paragraph",
    "\u202eright to left",
    "x" * 200,
]
PARTS = ("trust", "graph-section", "pairs", "paths", "graphs", "data", "method", "cite")


@pytest.fixture(scope="module")
def coronary() -> DagPosterior:
    return DagPosterior(score="bdeu", seed=1, samples=4_000).fit(datasets.load("coronary"))


@pytest.fixture(scope="module")
def page(coronary: DagPosterior, tmp_path_factory: pytest.TempPathFactory) -> Page:
    return written(coronary, tmp_path_factory.mktemp("report"))


def test_every_section_is_there_and_filled(page: Page) -> None:
    for part in PARTS:
        assert len(page.sections[part].split()) > 10, part
    assert "1,841 observations" in page.words
    assert "no, yes" in page.sections["data"]


def test_no_mark_of_the_template_is_left(page: Page) -> None:
    assert "{{" not in page.words
    assert "}}" not in page.words


def number(cell: str) -> float:
    """The number in a cell, which an interval may follow."""
    found = re.match(r"[<>]?(\d\.\d{4})", cell)
    assert found is not None, cell
    return float(found[1])


def test_pair_table_has_the_numbers_and_words_of_the_model(coronary: DagPosterior, page: Page) -> None:
    heads, *rows = page.tables["pairs"]
    assert heads == [
        *("From", "Mark", "To", "Joined", "Direction"),
        *("Compelled →", "Compelled ←", "Reversible"),
    ]
    table = coronary.directions()
    assert len(rows) == (table["joined"] >= 0.001).sum()
    for row, pair in zip(rows, table.to_dict("records"), strict=False):
        assert [row[0], row[2]] == [pair["from"], pair["to"]]
        assert row[4].split(":")[0] == pair["direction"]
        for cell, column in ((row[3], "joined"), (row[5], "by_data"), (row[6], "by_data_back"), (row[7], "reversible")):
            assert number(cell) == pytest.approx(pair[column], abs=1e-4)
        # The parts of one whole.
        assert sum(map(number, row[5:])) == pytest.approx(number(row[3]), abs=4e-4)
    falling = [number(row[3]) for row in rows]
    assert falling == sorted(falling, reverse=True)
    assert "“reversible”: the data cannot tell it." in page.sections["pairs"]


def test_json_has_the_numbers_of_the_model(coronary: DagPosterior, page: Page) -> None:
    numbers = page.numbers
    names = numbers["names"]
    assert tuple(names) == coronary.names_
    edges = coronary.edge_probabilities_.to_numpy()
    directions = directions_of(coronary.fitted_)
    for pair in numbers["pairs"]:
        way = pair["from"], pair["to"]
        assert pair["joined"] == pytest.approx(edges[way] + edges[way[::-1]], abs=1e-6)
        assert pair["word"] == directions.pair(*way).word
        assert pair["head"] == (pair["word"] in ("clear", "leaning", "rules"))
        assert sum(pair["parts"]) == pytest.approx(pair["joined"], abs=1e-6)
    child = "Family"
    expected = coronary.family_probabilities(child).head(3)
    found = numbers["families"][names.index(child)][:3]
    assert [frozenset(names[parent] for parent in parents) for parents, _ in found] == expected.index.to_list()
    assert [chance for _, chance in found] == pytest.approx(expected.to_list(), abs=1e-6)


def test_path_matrix_is_that_of_the_model_and_says_it_is_exact(coronary: DagPosterior, page: Page) -> None:
    _, *rows = page.tables["matrix"]
    matrix: Any = coronary.probability_matrix("~>")
    for name, *cells in rows:
        for other, cell in zip(coronary.names_, cells, strict=True):
            assert cell == ("" if other == name else f"{matrix.loc[name, other]:.2f}")
    assert "directly or through others. Exact." in page.sections["paths"]


def test_best_graph_is_listed_first_with_its_probability(coronary: DagPosterior, page: Page) -> None:
    best = coronary.best(10)
    _, first, *others = page.tables["graphs"]
    assert first[1] == f"{best.posterior_probabilities()[0]:.4f}"
    listed = {tuple(edge.strip().split(" → ")) for edge in first[2].split(";")}
    assert listed == set(best[0].edges)
    assert len(others) == 9
    assert f"{best.covered:.1%} of the posterior" in page.sections["graphs"]


def test_a_class_is_never_shown_outside_its_certain_bounds(page: Page) -> None:
    _, *rows = page.tables["classes"]
    assert len(rows) == 10
    for _, shown, bounds, *_ in rows:
        lower, upper = map(float, bounds.split(" to "))
        assert lower <= float(shown) <= upper


def test_wording_of_an_exact_model(page: Page) -> None:
    words = page.sections["trust"]
    assert "Probabilities of edges are exact" in words
    assert "(rounding: at most" in words
    assert "Each graph is counted once" in words
    assert "Arrows are causes only if no common cause of two variables is left out" in words
    assert "every graph that fits equally well has it" in words
    assert "R-hat" not in words


def test_method_settings_and_citation_are_told(coronary: DagPosterior, page: Page) -> None:
    settings = dict(row for row in page.tables["settings"][1:])
    assert settings["Score"] == "BDeu, equivalent sample size 1"
    assert settings["Seed"] == "1"
    assert settings["Log evidence"] == f"{coronary.log_evidence_:.6f}"
    assert settings["Data fingerprint"] == datasets.load("coronary").fingerprint()
    assert f"dagpost {dagpost.__version__}" in settings["Versions"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d UTC", settings["Report written"])
    cite = page.sections["cite"]
    for work in (f"version {dagpost.__version__}", "He, R., Tian, J., & Wu, H. (2016)", "Tian, J., & He, R. (2009)"):
        assert work in cite


# Safety


def test_policy_allows_these_very_scripts_and_no_request(page: Page) -> None:
    (policy,) = [about["content"] for tag, about in page.tags if about.get("http-equiv") == "Content-Security-Policy"]
    assert policy is not None
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == "'none'"
    assert rules["img-src"] == "data: blob:"
    assert rules["base-uri"] == rules["form-action"] == "'none'"
    assert set(rules) == {"default-src", "script-src", "style-src", "img-src", "base-uri", "form-action"}
    programs = [text for about, text in page.scripts if not about]
    digests = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in programs]
    assert rules["script-src"].split() == [f"'sha256-{digest}'" for digest in digests]


def test_page_refers_to_nothing_outside_itself(page: Page) -> None:
    for tag, about in page.tags:
        assert tag not in ("link", "iframe", "object", "embed", "base", "form"), tag
        assert "src" not in about, (tag, about)
        if "href" in about:
            assert str(about["href"]).startswith("#")
        assert [key for key in about if key.startswith("on")] == []
    assert "sourceMappingURL" not in "".join(text for _, text in page.scripts)


def test_hostile_names_are_text_everywhere(tmp_path: Path) -> None:
    model = DagPosterior(score="bdeu", seed=1, samples=500).fit(random_table(HOSTILE))
    page = written(model, tmp_path, title="<b>" + HOSTILE[1])
    known = written(
        DagPosterior(score="bdeu", seed=1, samples=500).fit(random_table(list("abcdefg"))), tmp_path, title="plain"
    )
    assert sorted({tag for tag, _ in page.tags}) == sorted({tag for tag, _ in known.tags})
    assert len(page.scripts) == len(known.scripts)
    assert [text for about, text in page.scripts if not about] == [text for about, text in known.scripts if not about]
    assert "<b>" + HOSTILE[1] in page.words
    in_data = [row[0] for row in page.tables["columns"][1:]]
    assert in_data == [printable(name) for name in HOSTILE]
    assert page.numbers["names"] == in_data
    assert "\u202e" not in page.words
    assert "\u2028" not in page.words
    # What is assumed in the page is said with these.
    first, *others = page.numbers["written"]
    read = [parse(f"{first} -> {other}", HOSTILE).feature for other in others]
    assert read == [edge(HOSTILE[0], name) for name in HOSTILE[1:]]


def test_json_in_the_page_comes_back_as_it_was() -> None:
    data = {"names": [*HOSTILE, "<!--", "]]>", "\\u003c"]}
    text = report.as_data(data)
    assert json.loads(text) == data
    assert not re.search("[<>&\u2028\u2029]", text)


def test_names_of_levels_and_of_constraints_are_escaped(tmp_path: Path) -> None:
    level = "<i>high</i>"
    table = random_table(["A<u>", "B<u>", "C"]).astype(int).astype(str).replace({"1": level})
    model = DagPosterior(
        score="bdeu", seed=1, samples=500, required=[("A<u>", "B<u>")], tiers=[["A<u>"], ["B<u>", "C"]]
    ).fit(table)
    page = written(model, tmp_path)
    assert level in page.sections["data"]
    assert "A<u> → B<u>" in page.sections["method"]
    assert not {"u", "i"} & {tag for tag, _ in page.tags}
    assert "You fixed required edges and tiers beforehand" in page.sections["trust"]


# Files


def test_output_is_the_same_apart_from_the_date(coronary: DagPosterior, tmp_path: Path) -> None:
    first = coronary.report(tmp_path / "first.html").read_text(encoding="utf-8")
    second = coronary.report(tmp_path / "second.html").read_text(encoding="utf-8")
    date = r"\d{4}-\d\d-\d\d \d\d:\d\d UTC"
    assert re.sub(date, "", first) == re.sub(date, "", second)
    assert len(re.findall(date, first)) == 1


def test_path_comes_back_and_an_older_file_is_replaced(coronary: DagPosterior, tmp_path: Path) -> None:
    target = tmp_path / "report.html"
    target.write_text("old")
    assert coronary.report(str(target), title="Fresh & new") == target
    text = target.read_text(encoding="utf-8")
    assert text.startswith("<!DOCTYPE html>")
    assert "<h1>Fresh &amp; new</h1>" in text
    assert [file.name for file in tmp_path.iterdir()] == ["report.html"]


def test_a_folder_and_a_missing_folder_are_refused_before_any_work(
    coronary: DagPosterior, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: Said
) -> None:
    monkeypatch.setattr(report, "gather", lambda _: pytest.fail("it worked before it looked"))
    with said.raises(InputError):
        coronary.report(tmp_path)
    with said.raises(InputError):
        coronary.report(tmp_path / "missing" / "report.html")
    with said.raises(InputError):
        coronary.report(tmp_path / "report.html", title=7)
    wrong: Any
    for wrong in (5, None, b"report.html", ["report.html"], True):
        with said.raises(InputError):
            coronary.report(wrong)
    with pytest.raises(InputError, match="is empty"):
        coronary.report("")
    for wrong in ("re\0port.html", "x" * 300 + ".html"):
        with said.raises(InputError):
            coronary.report(tmp_path / wrong)
    assert list(tmp_path.iterdir()) == []


def test_an_unfitted_model_has_no_report(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="Call fit"):
        DagPosterior(score="bdeu").report(tmp_path / "report.html")


# The scripts


def test_no_script_could_end_its_own_element(page: Page) -> None:
    for file in files("dagpost.report").joinpath("templates").iterdir():
        if file.name.endswith(".js"):
            assert not re.search(r"</script|<!--|\r", file.read_text(encoding="utf-8"), re.IGNORECASE), file.name


def test_own_scripts_never_make_markup_of_text() -> None:
    for file in files("dagpost.report").joinpath("templates").iterdir():
        if file.name.endswith(".js"):
            code = file.read_text(encoding="utf-8")
            assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|fetch\(", code), (
                file.name
            )


def test_both_pictures_are_there_without_javascript_and_show_every_variable(page: Page) -> None:
    kinds = [str(about["class"]).split() for tag, about in page.tags if tag == "svg" and "graph" in str(about["class"])]
    assert sorted(kinds) == [["graph", "narrow"], ["graph", "wide"]]
    nodes = [about["data-node"] for tag, about in page.tags if tag == "g" and "data-node" in about]
    assert sorted(map(int, filter(None, nodes))) == sorted([*range(6)] * 2)
    for name in ("M. Work", "Proteins"):
        assert page.sections["graph-section"].count(name) >= 2


def test_words_and_marks_are_those_of_every_picture(tmp_path: Path) -> None:
    page = written(every_word(), tmp_path)
    for word in ("clear", "leaning", "open", "rules", "model"):
        assert f"direction {LEGEND[word]}" in page.sections["graph-section"]
    assert f"direction {LEGEND['unknown']}" not in page.words
    said = {(row[0], row[2]): row[4] for row in page.tables["pairs"][1:]}
    starts = {
        "clear": "clear: the data compel it (100%)",
        "leaning": "leaning: the data compel it (70%)",
        "open": "open: the data cannot tell",
        "rules": "decided by your rules",
        "model": "follows from the model, which has no edges from numbers to levels",
    }
    assert said == {pair: starts[word] for pair, (word, _, _) in SAID.items()}
    # In the legend and in each row, as the marks of pictures.
    marks = [str(about["class"]).split()[-1] for tag, about in page.tags if tag == "svg" and about.get("class")]
    words = [word for word, _, _ in SAID.values()]
    for word in ("clear", "leaning", "open", "rules", "model"):
        assert marks.count(word) == words.count(word) + 1
    assert page.tables["pairs"][0][-2:] == ["By rules or model", "Reversible"]


def test_first_sentence_counts_what_the_data_compel_and_what_rules_decide(tmp_path: Path, page: Page) -> None:
    words = written(every_word(), tmp_path).words
    assert "7 of 66 pairs of variables are joined with a probability of at least 0.5, above all " in words
    assert "The data make the direction clear for 3 of them, lean to one for 1, and leave it open for 1." in words
    assert "For 1 your rules decide it. For 1 it follows from the model." in words
    assert "your rules decide" not in page.words


def test_a_class_in_which_all_is_reversible_has_no_clear_direction(tmp_path: Path) -> None:
    page = written(one_class(), tmp_path)
    assert "16 of 136 pairs of variables are joined" in page.words
    assert "The data make the direction clear for none of them and leave it open for 16." in page.words
    assert {pair["word"] for pair in page.numbers["pairs"]} == {"open"}
    assert {row[4] for row in page.tables["pairs"][1:]} == {"open: the data cannot tell"}


def test_a_pipe_or_device_is_not_replaced_by_a_report(coronary: DagPosterior, tmp_path: Path, said: Said) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with said.raises(InputError):
        coronary.report(pipe)
    assert pipe.is_fifo()


def test_a_blank_title_leaves_the_usual_one(coronary: DagPosterior, tmp_path: Path) -> None:
    text = coronary.report(tmp_path / "report.html", title="  ").read_text(encoding="utf-8")
    assert "<h1>Probable connections among 6 variables</h1>" in text
