"""The report as it is read: names and lines in sight on any screen and on paper, by keyboard, and without a picture."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from tests.browser.pages import Seen, opened_page

from dagpost import DagSample
from dagpost.methods.targets import ORDER

LONG = [
    *("age_group", "sex", "smoking_status", "alcohol_units_per_week", "body_mass_index", "systolic_blood_pressure"),
    *("diastolic_blood_pressure", "total_cholesterol", "ldl_cholesterol", "hdl_cholesterol", "triglycerides"),
    *("fasting_glucose", "diabetes", "family_history_of_heart_disease", "physical_activity", "education_level"),
    *("income_quartile", "statin_use", "antihypertensive_medication", "heart_rate_at_rest", "coronary_heart_disease"),
]
#: Where the variables stand and how large they are, and the ends of the lines that are straight.
LAYOUT = """() => ({
    boxes: Report.cy.nodes().map((node) =>
        [node.position().x, node.position().y, node.data("width"), node.data("height")]),
    straight: Report.cy.edges().not(".below").filter((edge) => edge.scratch("distances").every((far) => far === 0))
        .map((edge) => [edge.data("from"), edge.data("to")]),
    bent: Report.cy.edges().not(".below").filter((edge) => edge.scratch("distances").length === 2).length,
})"""


def _study() -> DagSample:
    """Graphs of 21 variables with long names: most parents are near, some come from far away."""
    rng, count, draws = np.random.default_rng(4), len(LONG), 40
    parents = np.zeros((draws, count), dtype=np.uint32)
    for child in range(1, count):
        chosen = {child - 1 - min(int(rng.geometric(0.4)) - 1, child - 1), int(rng.integers(child))}
        for parent in chosen:
            parents[:, child] |= np.where(rng.random(draws) < 0.85, 1 << parent, 0).astype(np.uint32)
    nothing, weights = np.full(draws, np.nan), np.full(draws, 1 / draws)
    return DagSample(tuple(LONG), parents, nothing, nothing, nothing, weights, ORDER, "dds", "independent", "counting")


@pytest.fixture(scope="module")
def study(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Seen]:
    yield from opened_page(browser, _study().report(tmp_path_factory.mktemp("study") / "study.html"))


def _crosses(start: list[float], end: list[float], box: list[float]) -> bool:
    """Whether some point of a straight line lies in a box."""
    along = np.linspace(0.0, 1.0, 2_001)
    x, y = (start[axis] + along * (end[axis] - start[axis]) for axis in (0, 1))
    return bool(((abs(x - box[0]) < box[2] / 2) & (abs(y - box[1]) < box[3] / 2)).any())


def test_no_straight_line_runs_through_another_variable(study: Seen) -> None:
    study.open()
    layout = study.page.evaluate(LAYOUT)
    boxes = layout["boxes"]
    assert len(layout["straight"]) > 5
    # Some would, and go around.
    assert layout["bent"] >= 1
    for start, end in layout["straight"]:
        others = [box for place, box in enumerate(boxes) if place not in (start, end)]
        assert not any(_crosses(boxes[start], boxes[end], box) for box in others), (LONG[start], LONG[end])


def test_long_names_stand_on_two_lines_and_are_read_whole_or_end_in_dots(study: Seen) -> None:
    study.open()
    for lines, label in study.page.evaluate(
        "Report.cy.nodes().map((node) => [node.data('lines'), node.data('label')])"
    ):
        assert len(lines) == (2 if len(label) > 17 else 1)
        assert "".join(lines) == label or lines[-1].endswith("…")
    assert study.page.evaluate("Report.wrapped('systolic_blood_pressure')") == ["systolic_blood_", "pressure"]
    assert study.page.evaluate("Report.wrapped('x'.repeat(40))[1].length") == 17


def test_names_are_large_enough_to_read_on_a_narrow_screen(study: Seen) -> None:
    study.page.set_viewport_size({"width": 400, "height": 800})
    study.open()
    inside = """(() => {
        const box = Report.cy.elements(":visible").renderedBoundingBox();
        return box.x1 >= 0 && box.x2 <= Report.cy.width();
    })()"""
    assert study.page.evaluate("Report.cy.zoom()") == pytest.approx(0.6)
    assert study.page.locator("#outside").is_visible()
    assert not study.page.evaluate(inside)
    study.page.locator("#fit").click()
    assert study.page.evaluate(inside)
    assert not study.page.locator("#outside").is_visible()
    study.page.set_viewport_size({"width": 1200, "height": 900})
    study.open()
    assert not study.page.locator("#outside").is_visible()


def test_a_line_that_is_stepped_to_comes_into_sight(study: Seen) -> None:
    study.page.set_viewport_size({"width": 400, "height": 800})
    study.open()
    study.page.locator("#graph").focus()
    for _ in range(6):
        study.page.keyboard.press("ArrowRight")
        x, y = study.page.evaluate(
            "(() => { const at = Report.cy.edges('.pointed').renderedMidpoint(); return [at.x, at.y]; })()"
        )
        assert 0 <= x <= study.page.evaluate("Report.cy.width()")
        assert 0 <= y <= study.page.evaluate("Report.cy.height()")
    study.page.set_viewport_size({"width": 1200, "height": 900})


def test_all_columns_of_the_edges_are_seen_on_a_narrow_screen(seen: Seen) -> None:
    seen.page.set_viewport_size({"width": 400, "height": 800})
    box = "document.querySelector('#pairs .scroll')"
    widths = seen.page.evaluate(f"[{box}.scrollWidth, {box}.clientWidth]")
    # A number that is broken over two lines is misread; its interval stands below it.
    heights = seen.page.evaluate(
        """Array.from(document.querySelectorAll("table.pairs td.number, table.pairs small"), (cell) => {
            const range = document.createRange();
            range.selectNode(cell.firstChild);
            return range.getClientRects().length;
        })"""
    )
    seen.page.set_viewport_size({"width": 1200, "height": 900})
    assert widths[0] <= widths[1]
    assert set(heights) == {1}


def test_all_columns_of_a_wide_path_matrix_are_seen(study: Seen) -> None:
    study.open()
    box = "document.querySelector('#paths .scroll')"
    widths = study.page.evaluate(f"[{box}.scrollWidth, {box}.clientWidth]")
    assert widths[0] <= widths[1]


def test_every_control_is_reached_by_tab_and_shows_where_one_is(seen: Seen) -> None:
    page, reached = seen.page, {}
    for _ in range(60):
        page.keyboard.press("Tab")
        about = page.evaluate(
            """() => { const at = document.activeElement, style = getComputedStyle(at);
                return [at.id || `${at.tagName} ${at.textContent.trim().slice(0, 20)}`,
                        style.outlineStyle, parseFloat(style.outlineWidth), parseFloat(style.outlineOffset)]; }"""
        )
        reached[about[0]] = about[1:]
    expected = ["threshold", "threshold-number", "variable", "fit", "arrange", "save-png", "graph", "filter", "copy"]
    assert [name for name in expected if name not in reached] == []
    assert "BUTTON Compelled →" in reached
    for name, (style, width, _) in reached.items():
        if not name.startswith("BODY"):
            assert style != "none", name
            assert width >= 2, name
    # Its frame cuts off what is outside.
    assert reached["graph"][2] < 0


def test_table_is_sorted_from_the_keyboard(seen: Seen) -> None:
    head = seen.page.locator("table.pairs thead th:nth-child(4)")
    head.get_by_role("button").focus()
    seen.page.keyboard.press("Enter")
    assert head.get_attribute("aria-sort") == "descending"
    seen.page.keyboard.press("Space")
    assert head.get_attribute("aria-sort") == "ascending"


def test_whoever_sees_no_picture_is_told_what_is_in_it(seen: Seen) -> None:
    told = seen.page.locator("#printed").get_attribute("alt")
    assert "8 of 15 pairs are shown" in told
    assert "M. Work – P. Work 1.000" in told
    unnamed = seen.page.evaluate(
        """Array.from(document.querySelectorAll("button, input, select, [role=application]")).filter((control) =>
            !(control.getAttribute("aria-label") || control.textContent.trim() || control.labels?.length)).length"""
    )
    assert unnamed == 0
    pictures = "Array.from(document.querySelectorAll('main svg')).filter((one) => !one.closest('noscript'))"
    assert seen.page.evaluate(f"{pictures}.every((one) => one.getAttribute('aria-hidden') === 'true')")


def test_paper_repeats_heads_and_leaves_out_what_is_slight(seen: Seen) -> None:
    seen.page.emulate_media(media="print")
    head = seen.page.locator("table.pairs thead th").nth(3)
    # Browsers do not repeat a head with a button in it.
    assert not head.get_by_role("button").is_visible()
    assert head.locator(".printed-head").is_visible()
    rows = seen.page.locator("table.pairs tbody tr")
    slight = seen.page.locator("table.pairs tbody tr.slight")
    hidden = [row for row in rows.all() if not row.is_visible()]
    assert len(hidden) == slight.count() == 5
    assert "5 of them, below 0.01, are left out on paper." in seen.page.inner_text("#pairs")
    seen.page.emulate_media(media="screen")
    assert head.get_by_role("button").is_visible()
    assert all(row.is_visible() for row in slight.all())
