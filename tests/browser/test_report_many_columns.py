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
    wide.page.set_viewport_size({"width": width, "height": 900})
    wide.open()
    for details in wide.page.locator("details").all():
        details.locator("summary").click()
    assert wide.page.evaluate("document.documentElement.scrollWidth") <= width


def test_variables_without_a_line_are_not_drawn_and_counted(wide: Seen) -> None:
    boxes = "Report.cy.nodes(':visible').length"
    ends = "Report.cy.edges().not('.below').connectedNodes().length"
    assert wide.page.evaluate(boxes) == wide.page.evaluate(ends) < 150
    left = 150 - wide.page.evaluate(ends)
    assert f"{left} of 150 variables are in none of these" in wide.page.locator("#shown").text_content()
    wide.set_threshold(0.9)
    assert wide.page.evaluate(boxes) == wide.page.evaluate(ends) < 150 - left
    assert wide.page.evaluate("Report.drawing(document.documentElement).split('<rect').length - 2") == (
        wide.page.evaluate(ends)
    )


def test_more_lines_than_can_be_read_are_not_drawn(wide: Seen) -> None:
    wide.set_threshold(0.01)
    assert wide.page.evaluate("Report.cy.edges().not('.below').length") == 200
    least = wide.page.evaluate("Report.cy.edges().not('.below').min((edge) => edge.data('joined')).value")
    most = wide.page.evaluate("Report.cy.edges('.below').max((edge) => edge.data('joined')).value")
    assert least >= most
    assert "200 of" in wide.page.locator("#shown").text_content()
    assert "More reach this, at least" in wide.page.locator("#shown").text_content()


def test_groups_fill_the_frame_and_do_not_overlap(wide: Seen) -> None:
    boxes = wide.page.evaluate(
        "Report.drawn().map((node) => { const box = node.boundingBox({ includeLabels: false });"
        " return [box.x1, box.y1, box.x2, box.y2]; })"
    )
    for place, (left, top, right, bottom) in enumerate(boxes):
        for x1, y1, x2, y2 in boxes[:place]:
            assert right <= x1 or x2 <= left or bottom <= y1 or y2 <= top
    wide_side, high = (max(box[end] for box in boxes) - min(box[end - 2] for box in boxes) for end in (2, 3))
    assert 0.5 < wide_side / high < 4.0


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
        "Report.data.names.findIndex((_, place) => Report.cy.getElementById(`n${place}`).length === 0"
        " || Report.cy.getElementById(`n${place}`).hasClass('lonely'))"
    )
    wide.page.select_option("#variable", str(hidden))
    assert wide.page.locator("#panel h3").text_content() == wide_content().names[hidden]
