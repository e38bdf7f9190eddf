"""The report of more than 64 columns in a real browser: no wider than the window, readable, and quick to use."""

from __future__ import annotations

import csv
import datetime
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.browser.pages import Seen, opened_page
from tests.tools.wide_content import wide_content

from dagpost.report.page import data_of, page


@pytest.fixture(scope="module")
def opened_wide(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Seen]:
    path = tmp_path_factory.mktemp("report") / "wide.html"
    path.write_text(page(wide_content(), None, datetime.datetime(2026, 1, 2, tzinfo=datetime.UTC)), encoding="utf-8")
    yield from opened_page(browser, path)


@pytest.fixture
def wide(opened_wide: Seen) -> Iterator[Seen]:
    opened_wide.open()
    yield opened_wide
    assert opened_wide.trouble == []


@pytest.mark.parametrize("width", [390, 1280])
def test_nothing_is_wider_than_the_window(wide: Seen, width: int) -> None:
    wide.resize(width, 900)
    wide.open()
    wide.page.evaluate("document.querySelectorAll('details').forEach((fold) => { fold.open = true; })")
    assert wide.page.evaluate("document.documentElement.scrollWidth") <= width


def test_variables_without_a_line_are_not_drawn_and_counted(wide: Seen) -> None:
    ends = "new Set(Report.shownLines().map(Report.pairOf).flatMap(({ from, to }) => [from, to])).size"
    before = wide.page.evaluate(ends)
    assert len(wide.places()) == before < 150
    left = 150 - before
    assert f"{left} of 150 variables have no line and are not drawn" in wide.page.locator("#shown").text_content()
    wide.set_threshold(0.9)
    assert len(wide.places()) == wide.page.evaluate(ends) < before


def test_more_lines_than_can_be_read_are_not_drawn(wide: Seen) -> None:
    wide.set_threshold(0.01)
    drawn = wide.page.evaluate("Report.shownLines().map((line) => Report.pairOf(line).joined)")
    every = wide.page.evaluate("Report.data.pairs.map(({ joined }) => joined)")
    assert len(drawn) < len(every)
    # The most probable ones, as far as there is room for their variables.
    assert drawn[:60] == every[:60]
    assert "more reach this and are in the table only" in wide.page.locator("#shown").text_content()


def test_boxes_do_not_overlap_and_fill_a_page_rather_than_a_ribbon(wide: Seen) -> None:
    boxes = wide.places()
    for place, (left, top, right, bottom) in enumerate(boxes):
        for x1, y1, x2, y2 in boxes[:place]:
            assert right <= x1 or x2 <= left or bottom <= y1 or y2 <= top
    across, down = (max(box[end] for box in boxes) - min(box[end - 2] for box in boxes) for end in (2, 3))
    assert 0.5 < across / down < 4.0


def test_all_pairs_can_be_saved(wide: Seen) -> None:
    with wide.page.expect_download() as download:
        wide.page.locator("#save-pairs").click()
    rows = list(csv.reader(io.StringIO(Path(download.value.path()).read_text(encoding="utf-8"))))
    content = wide_content()
    data = data_of(content)
    assert rows[0] == ["from", "to", "joined", "direction"]
    assert len(rows) == 1 + len(data["pairs"]) + len(data["more"])
    first = data["pairs"][0]
    assert rows[1][:2] == [content.names[first["from"]], content.names[first["to"]]]
    assert float(rows[1][2]) == first["joined"]


def test_the_panel_opens_for_a_variable_that_is_not_drawn(wide: Seen) -> None:
    hidden = wide.page.evaluate(
        """(() => {
            const boxes = Report.boxes(Report.picture()).filter((box) => !box.matches(".lonely"));
            const drawn = new Set(boxes.map(Report.nodeOf));
            return Report.data.names.findIndex((_, place) => !drawn.has(place));
        })()"""
    )
    wide.page.locator("#variable").fill(wide_content().names[hidden])
    assert wide.page.locator("#panel h3").text_content() == wide_content().names[hidden]
