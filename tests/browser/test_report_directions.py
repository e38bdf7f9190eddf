"""What the report says of directions, in a real browser: the same word and mark in table, legend and graph."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.browser.pages import Seen, opened_page
from tests.tools.pictures import SAID, every_word, one_class

from dagpost import Bootstrap, DagPosterior, datasets
from dagpost.plots.marks import LEGEND

#: Each line of the graph: its two ends, its word, and how it is drawn.
LINES = """Report.lines(Report.picture()).map((group) => {
    const { from, to, word } = Report.pairOf(group);
    const line = getComputedStyle(group.querySelector(".line"));
    const head = group.querySelector(".head");
    const paper = getComputedStyle(document.body).backgroundColor;
    const filled = head && !["none", paper].includes(getComputedStyle(head).fill);
    const kind = head && (head.matches(".angle") ? "angle" : filled ? "filled" : "hollow");
    return [Report.data.names[from], Report.data.names[to], group.classList.contains(word) && word,
        line.strokeDasharray !== "none", kind, line.stroke];
})"""
#: Whether the line is dashed, and what its head is.
LOOKS = {
    "clear": (False, "filled"),
    "leaning": (False, "angle"),
    "rules": (False, "hollow"),
    "model": (True, "hollow"),
    "open": (False, None),
    "unknown": (True, None),
}


def _study() -> DagPosterior:
    """Two causes of one effect, two that go together, and one that comes first because the user says so."""
    rng, rows = np.random.default_rng(5), 2_000
    one, two = rng.random(rows) < 0.5, rng.random(rows) < 0.5
    effect = rng.random(rows) < np.where(one & two, 0.95, np.where(one | two, 0.6, 0.1))
    left = rng.random(rows) < 0.5
    right = rng.random(rows) < np.where(left, 0.85, 0.15)
    early = rng.random(rows) < 0.5
    late = rng.random(rows) < np.where(early, 0.8, 0.2)
    columns = {"one": one, "two": two, "effect": effect, "left": left, "right": right, "early": early, "late": late}
    table = pd.DataFrame(columns).astype("category")
    tiers = [["early"], [name for name in columns if name != "early"]]
    return DagPosterior(score="bdeu", tiers=tiers, seed=1, samples=2_000).fit(table)


#: What the study is about: the pairs that are joined in truth, and what can be known of their directions.
STUDY = {
    ("one", "effect"): "clear",
    ("two", "effect"): "clear",
    ("left", "right"): "open",
    ("early", "late"): "rules",
}


@pytest.fixture(scope="module")
def study(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Seen]:
    yield from opened_page(browser, _study().report(tmp_path_factory.mktemp("study") / "study.html"))


@pytest.fixture(scope="module")
def words(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Seen]:
    yield from opened_page(browser, every_word().report(tmp_path_factory.mktemp("words") / "words.html"))


def lines_of(seen: Seen) -> dict[tuple[str, str], tuple[str, tuple[bool, str | None]]]:
    """The word of each line, and its look: dashed or not, and its head."""
    return {
        (source, target): (word, (dashed, head)) for source, target, word, dashed, head, _ in seen.page.evaluate(LINES)
    }


def rows_of(seen: Seen) -> dict[tuple[str, str], tuple[str, str]]:
    """The mark in each row of the table, and the words beside it."""
    found = {}
    for row in seen.page.locator("table.pairs tbody tr").all():
        cells = row.locator("td").all_inner_texts()
        mark = row.locator("svg.mark").get_attribute("class").split()[-1]
        found[cells[0], cells[2]] = (mark, cells[4])
    return found


def test_clear_open_and_decided_pairs_are_told_and_drawn_as_such(study: Seen) -> None:
    study.open()
    study.set_threshold(0.5)
    lines, rows = lines_of(study), rows_of(study)
    for pair, word in STUDY.items():
        assert lines[pair] == (word, LOOKS[word]), pair
        assert rows[pair][0] == word
    assert rows["one", "effect"][1].startswith("clear: the data compel it (")
    assert rows["left", "right"][1] == "open: the data cannot tell"
    assert rows["early", "late"][1] == "decided by your rules"
    found = study.page.locator(".found").inner_text()
    assert "The data make the direction clear for 2 of them" in found
    assert "leave it open for 1. For 1 your rules decide it." in found
    assert study.trouble == []


def test_legend_explains_every_mark_that_occurs_and_no_other(study: Seen, words: Seen) -> None:
    for seen in (study, words):
        seen.open()
        items = seen.page.locator(".legend li").filter(
            has=seen.page.locator("svg.clear, svg.leaning, svg.open, svg.rules, svg.model")
        )
        shown = {
            item.locator("svg").get_attribute("class").split()[-1]: (item.inner_text().strip(), item.inner_html())
            for item in items.all()
        }
        occurring = {word for word, _ in rows_of(seen).values()}
        assert occurring >= {"clear", "open", "rules"}
        assert {word: said for word, (said, _) in shown.items()} == {
            word: f"direction {said}" for word, said in LEGEND.items() if word in occurring
        }
        # Marks are read without colours: heads and lines differ.
        assert len({drawn.split("<path", 1)[1] for _, drawn in shown.values()}) == len(shown)
        assert "direction not computed" not in seen.page.locator(".legend").inner_text()


def test_every_word_has_its_own_look_and_colour(words: Seen) -> None:
    words.open()
    words.set_threshold(0.01)
    lines, rows = lines_of(words), rows_of(words)
    assert lines.keys() == rows.keys() == SAID.keys()
    for pair, (word, _, _) in SAID.items():
        assert lines[pair] == (word, LOOKS[word])
        assert rows[pair][0] == word
    colours = {line[2]: line[-1] for line in words.page.evaluate(LINES)}
    assert len({colours["clear"], colours["open"], colours["rules"]}) == 3
    for word, colour in colours.items():
        mark = words.page.locator(f".legend svg.{word}").evaluate("(mark) => getComputedStyle(mark).color")
        assert mark.replace(" ", "") == colour.replace(" ", "")


def test_pointing_at_a_line_tells_the_words_of_the_table(words: Seen) -> None:
    words.open()
    words.set_threshold(0.01)
    words.page.locator("#graph").focus()
    rows = rows_of(words)
    for _ in SAID:
        words.page.keyboard.press("ArrowRight")
        head, said, *_ = words.page.locator("#tip").inner_text().split("\n")
        pair = head.split(":")[0].replace(" — ", " → ").split(" → ")
        assert said == f"direction {rows[pair[0], pair[1]][1]}"
        assert (" → " in head) == (SAID[pair[0], pair[1]][0] != "open")


def test_nothing_is_clear_in_a_class_of_17_graphs(browser: Any, tmp_path: Path) -> None:
    """Every edge is reversible; most point the same way in nearly all of the graphs."""
    for seen in opened_page(browser, one_class().report(tmp_path / "class.html")):
        seen.open()
        lines = lines_of(seen)
        assert len(lines) == 16
        assert set(lines.values()) == {("open", LOOKS["open"])}
        assert {said for _, said in rows_of(seen).values()} == {"open: the data cannot tell"}
        assert "The data make the direction clear for none of them" in seen.page.locator(".found").inner_text()
        assert "clear: compelled" not in seen.page.locator("body").text_content().lower()
        assert seen.trouble == []


def test_without_a_sample_lines_are_dotted_and_the_report_says_what_to_do(browser: Any, tmp_path: Path) -> None:
    listed = DagPosterior(score="bdeu", method="kbest", samples=50).fit(datasets.load("coronary"))
    for seen in opened_page(browser, listed.report(tmp_path / "unknown.html")):
        seen.open()
        assert set(lines_of(seen).values()) == {("unknown", LOOKS["unknown"])}
        assert f"direction {LEGEND['unknown']}" in seen.page.locator(".legend").inner_text()
        assert "own_sample()" in seen.page.locator("#pairs details p").first.text_content()
        assert seen.trouble == []


def test_a_bootstrap_has_the_same_words(browser: Any, tmp_path: Path) -> None:
    replicates = DagPosterior(score="bdeu", method=Bootstrap(replicates=10), seed=1).fit(datasets.load("coronary"))
    for seen in opened_page(browser, replicates.report(tmp_path / "bootstrap.html")):
        seen.open()
        lines = lines_of(seen)
        assert lines
        for word, look in lines.values():
            assert word in ("clear", "leaning", "open")
            assert look == LOOKS[word]
        assert seen.trouble == []


def test_a_pair_is_a_few_lines_on_a_narrow_screen(words: Seen) -> None:
    words.resize(400, 800)
    words.open()
    box = "document.querySelector('#pairs .scroll')"
    widths = words.page.evaluate(f"[{box}.scrollWidth, {box}.clientWidth]")
    row = words.page.locator("table.pairs tbody tr").first
    tops = [cell.bounding_box()["y"] for cell in row.locator("td").all()]
    label = row.locator("td").nth(5).evaluate("(cell) => getComputedStyle(cell, '::before').content")
    words.resize(1200, 900)
    assert widths[0] <= widths[1]
    # Names, mark and probability; then the words; then the numbers behind them, each under its head.
    assert max(tops[:4]) < tops[4] < min(tops[5:])
    assert label == '"Compelled →"'


def test_exogenous_columns_have_square_boxes_and_a_panel_that_says_so(browser: Any, tmp_path: Path) -> None:
    model = DagPosterior(score="bdeu", exogenous=["Family", "Smoking"], seed=1, samples=200)
    path = model.fit(datasets.load("coronary")).report(tmp_path / "given.html")
    for seen in opened_page(browser, path):
        seen.open()
        given = seen.page.evaluate(
            """Report.boxes(Report.picture()).filter((node) => !Number(node.querySelector("rect").getAttribute("rx")))
                .map((node) => [Report.data.names[Report.nodeOf(node)], node.matches(".exogenous")])"""
        )
        assert given == [["Smoking", True], ["Family", True]]
        seen.page.evaluate("Report.openVariable(Report.data.names.indexOf('Smoking'))")
        assert "Exogenous: not modelled" in seen.page.locator("#panel").inner_text()
        assert seen.trouble == []
