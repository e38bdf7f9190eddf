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


@pytest.mark.parametrize("width", [1280, 390])
def test_names_are_read_whole_or_end_in_dots_and_stay_inside_their_boxes(study: Seen, width: int) -> None:
    study.resize(width, 844)
    study.open()
    found = study.page.evaluate(
        """Report.boxes(Report.picture()).map((node) => {
            const box = node.querySelector("rect").getBoundingClientRect();
            const texts = Array.from(node.querySelectorAll("text"));
            const names = texts.map((text) => text.getBoundingClientRect());
            return [Report.data.names[Report.nodeOf(node)], texts.map((text) => text.textContent).join(""),
                names.every((text) => text.left >= box.left && text.right <= box.right
                    && text.top >= box.top - 1 && text.bottom <= box.bottom + 1),
                box.left >= 0 && box.right <= window.innerWidth];
        })"""
    )
    size = study.page.evaluate(
        """(() => {
            const text = Report.picture().querySelector(".node text");
            return Report.picture().getScreenCTM().a * parseFloat(getComputedStyle(text).fontSize);
        })()"""
    )
    study.resize(1200, 900)
    assert len(found) == len(LONG)
    for name, label, inside, seen in found:
        assert inside, name
        assert seen, name
        squeezed = "".join(label.split())
        assert squeezed == "".join(name.split()) or "…" in squeezed
    # Smaller than this nobody can read the names.
    assert size >= 8.5


def test_a_line_that_is_stepped_to_comes_into_sight(study: Seen) -> None:
    study.resize(390, 600)
    study.open()
    study.page.locator("#graph").focus()
    study.page.evaluate("Report.zoom(4)")
    for _ in range(6):
        study.page.keyboard.press("ArrowRight")
        inside = study.page.evaluate(
            """(() => {
                const at = Report.middleOf(Report.picture().querySelector(".pair.pointed"));
                const box = Report.find("graph").getBoundingClientRect();
                return at.x >= box.left && at.x <= box.right && at.y >= Math.max(0, box.top)
                    && at.y <= Math.min(window.innerHeight, box.bottom);
            })()"""
        )
        assert inside
    study.resize(1200, 900)


def test_all_columns_of_the_edges_are_seen_on_a_narrow_screen(seen: Seen) -> None:
    seen.resize(400, 800)
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
    seen.resize(1200, 900)
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
    expected = ["threshold", "threshold-number", "variable", "fit", "save-svg", "save-png", "graph", "filter"]
    assert [name for name in expected if name not in reached] == []
    assert "BUTTON Compelled →" in reached
    assert "BUTTON Copy" in reached
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
    told = seen.page.locator("svg.graph.wide").get_attribute("aria-label")
    assert "8 of 15 pairs are shown" in told
    assert "M. Work – P. Work 1.000" in told
    unnamed = seen.page.evaluate(
        """Array.from(document.querySelectorAll("button, input, select, [role=application]")).filter((control) =>
            !(control.getAttribute("aria-label") || control.textContent.trim() || control.labels?.length)).length"""
    )
    assert unnamed == 0
    # Marks beside words say nothing more.
    assert seen.page.evaluate(
        "Array.from(document.querySelectorAll('svg.mark')).every((one) => one.getAttribute('aria-hidden') === 'true')"
    )


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
