"""The report as a reader uses it, in a real browser: the slider, pointing, clicking, keys, sorting, and no surprise."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.browser.pages import Seen, opened_page

from dagpost import DagPosterior, DagSample
from dagpost.methods.targets import ORDER
from dagpost.posterior.directions import directions_of

HOSTILE = [
    "<script>alert(1)</script>",
    "</script><img src=x onerror=alert(1)>",
    "quotes \" and ' and &",
    "line\u2028separator",
    "\u202eright to left",
    "x" * 200,
]
#: Numbers of the lines that are not hidden.
SHOWN = "Report.cy.edges().filter((edge) => edge.style('display') !== 'none').length"


@pytest.fixture(scope="module")
def hostile(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Seen]:
    rng = np.random.default_rng(1)
    columns = [rng.integers(0, 2, 200)]
    for _ in HOSTILE[1:]:
        columns.append(np.where(rng.random(200) < 0.85, columns[-1], rng.integers(0, 2, 200)))
    table = pd.DataFrame(dict(zip(HOSTILE, columns, strict=True))).astype("category")
    model = DagPosterior(score="bdeu", seed=1, samples=500).fit(table)
    path = model.report(tmp_path_factory.mktemp("hostile") / "hostile.html", title="<script>alert(2)</script>")
    yield from opened_page(browser, path)


def test_slider_hides_and_shows_lines(seen: Seen, model: DagPosterior) -> None:
    edges = model.edge_probabilities_.to_numpy()
    joined = np.triu(edges + edges.T, 1)
    for threshold in (0.5, 0.93, 0.02, 1.0):
        seen.set_threshold(threshold)
        # What is below a threshold by less than anyone sees has reached it.
        expected = int((joined >= threshold - 1e-6).sum())
        assert seen.page.evaluate(SHOWN) == expected
        assert seen.page.locator("#threshold-number").input_value() == f"{threshold:.2f}"
        assert f"{expected} of 15 pairs" in seen.page.locator("#shown").inner_text()


def test_number_beside_the_slider_moves_it(seen: Seen) -> None:
    seen.page.locator("#threshold-number").fill("0.93")
    seen.page.locator("#threshold-number").press("Enter")
    assert seen.page.locator("#threshold").input_value() == "0.93"
    assert seen.page.evaluate(SHOWN) == 6


def test_click_on_a_variable_opens_its_parent_sets_and_blanket(seen: Seen, model: DagPosterior) -> None:
    assert not seen.page.locator("#panel").is_visible()
    seen.page.mouse.click(*seen.point_of("Family"))
    panel = seen.page.locator("#panel")
    assert panel.locator("h3").inner_text() == "Family"
    first, second = (
        [cell.strip() for cell in row.locator("td").all_inner_texts()]
        for row in panel.locator("table").first.locator("tbody tr").all()[:2]
    )
    expected = model.top_families("Family", 2)
    assert first == [expected.index[0], f"{expected.iloc[0]:.3f}"]
    assert second == ["none", f"{expected.iloc[1]:.3f}"]
    blanket = panel.locator("table").nth(1).locator("tbody tr").first.locator("td").all_inner_texts()
    assert blanket[0] == "M. Work"
    panel.get_by_role("button", name="Close").click()
    assert not panel.is_visible()


def test_pointing_at_a_line_shows_its_numbers(seen: Seen, model: DagPosterior) -> None:
    find = "Report.cy.edges().filter(e => e.data('joined') > 0.8 && e.data('joined') < 0.9)[0]"
    start, end = seen.page.evaluate(f"[{find}.data('from'), {find}.data('to')].map(i => Report.data.names[i])")
    seen.page.mouse.move(*seen.on_screen(f"{find}.renderedMidpoint()"))
    tip = seen.page.locator("#tip")
    tip.wait_for(state="visible")
    said = directions_of(model.fitted_)
    way = model.names_.index(start), model.names_.index(end)
    pair = said.pair(*way)
    head, joined, *parts = tip.inner_text().split("\n")
    assert head == f"{start} {'—' if pair.word == 'open' else '→'} {end}: joined {pair.joined:.3f}"
    assert joined == f"direction {pair.label}"
    assert parts == [
        f"compelled → {said.by_data[way]:.3f}, ← {said.by_data[way[::-1]]:.3f}",
        f"by rules 0.000, reversible {said.reversible[way]:.3f}",
    ]


def test_a_variable_can_be_dragged(seen: Seen) -> None:
    place = "Report.cy.nodes()[0].position()"
    before, start = seen.page.evaluate(place), seen.on_screen("Report.cy.nodes()[0].renderedPosition()")
    seen.page.mouse.move(*start)
    seen.page.mouse.down()
    seen.page.mouse.move(start[0] + 60, start[1] + 40, steps=4)
    seen.page.mouse.up()
    after = seen.page.evaluate(place)
    assert after["x"] > before["x"] + 20
    assert after["y"] > before["y"] + 10


def test_heads_of_the_table_sort_it(seen: Seen) -> None:
    def column(number: int) -> list[str]:
        return seen.page.locator(f"table.pairs tbody tr td:nth-child({number})").all_inner_texts()

    def number(text: str) -> float:
        return float(text.lstrip("<>").split()[0])

    for place in (4, 6, 8):
        head = seen.page.locator(f"table.pairs thead th:nth-child({place})")
        head.get_by_role("button").click()
        assert head.get_attribute("aria-sort") == ("descending")
        values = list(map(number, column(place)))
        assert values == sorted(values, reverse=True)
        head.get_by_role("button").click()
        assert head.get_attribute("aria-sort") == "ascending"
        assert list(map(number, column(place))) == sorted(values)
    seen.page.locator("table.pairs thead th:nth-child(1) button").click()
    assert column(1) == sorted(column(1))


def test_searching_the_table_leaves_the_rows_with_a_name(seen: Seen) -> None:
    seen.page.locator("#filter").fill("fam")
    rows = [row.inner_text() for row in seen.page.locator("table.pairs tbody tr").all() if row.is_visible()]
    assert len(rows) == 5
    assert all("Family" in row for row in rows)


def test_everything_works_from_the_keyboard(seen: Seen) -> None:
    page = seen.page
    page.locator("#graph").focus()
    page.keyboard.press("ArrowRight")
    first = page.locator("#tip").inner_text()
    pair, names = page.evaluate("[Report.data.pairs[0], Report.data.names]")
    assert first.split(":")[0] == f"{names[pair['from']]} {'→' if pair['head'] else '—'} {names[pair['to']]}"
    page.keyboard.press("ArrowRight")
    assert page.locator("#tip").inner_text() != first
    page.keyboard.press("ArrowLeft")
    assert page.locator("#tip").inner_text() == first
    page.keyboard.press("Enter")
    assert page.locator("#panel h3").inner_text() == page.evaluate("Report.data.names[Report.data.pairs[0].to]")
    page.keyboard.press("Escape")
    assert not page.locator("#panel").is_visible()
    assert page.evaluate("document.activeElement.id") == "graph"
    before = page.evaluate("Report.cy.zoom()")
    page.keyboard.press("+")
    assert page.evaluate("Report.cy.zoom()") > before
    page.locator("#threshold").focus()
    page.keyboard.press("ArrowRight")
    assert page.locator("#threshold-number").input_value() == "0.51"
    page.locator("#variable").select_option(label="Smoking")
    assert page.locator("#panel h3").inner_text() == "Smoking"


def test_graph_can_be_saved_as_png_and_svg(seen: Seen) -> None:
    for button, start in (("#save-png", b"\x89PNG"), ("#save-svg", b"<svg")):
        with seen.page.expect_download() as download:
            seen.page.locator(button).click()
        content = Path(download.value.path()).read_bytes()
        assert content.startswith(start)
        if start == b"<svg":
            drawing = content.decode()
            assert drawing.count("<path") == seen.page.evaluate(SHOWN)
            # One head for each line that has a direction.
            assert drawing.count("<polygon") == seen.page.evaluate(
                "Report.cy.edges().not('.below').filter((edge) => edge.data('head')).length"
            )


def test_citation_is_copied(seen: Seen) -> None:
    seen.page.locator("#copy").click()
    assert seen.page.locator("#copied").inner_text() != ""
    assert "He, R., Tian, J., & Wu, H. (2016)" in seen.page.evaluate("window.getSelection().toString()")


def test_dark_screens_get_dark_colours_and_paper_does_not(seen: Seen) -> None:
    def background() -> list[int]:
        colour = seen.page.evaluate("getComputedStyle(document.body).backgroundColor")
        return [int(part) for part in colour[4:-1].split(",")]

    assert min(background()) > 240
    seen.page.emulate_media(color_scheme="dark")
    seen.settle()
    assert max(background()) < 40
    assert seen.page.evaluate("Report.cy.nodes()[0].style('color')") == "rgb(232,236,241)"
    drawing = seen.page.evaluate("Report.drawing(Report.find('printed'))")
    assert 'fill="#ffffff"' in drawing
    assert "#14181d" not in drawing
    seen.page.emulate_media(media="print", color_scheme="dark")
    assert min(background()) > 240
    assert seen.page.locator("#printed").is_visible()
    assert not seen.page.locator("#graph").is_visible()
    seen.page.emulate_media(media="screen", color_scheme="light")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_from_its_background(seen: Seen, scheme: str) -> None:
    """WCAG AA: a contrast of at least 4.5 for text."""
    seen.page.emulate_media(color_scheme=scheme)
    contrasts = seen.page.evaluate(CONTRASTS)
    seen.page.emulate_media(color_scheme="light")
    assert len(contrasts) > 20
    assert min(contrasts.values()) >= 4.5, min(contrasts.items(), key=lambda item: item[1])


def test_narrow_screens_need_no_sideways_scrolling(seen: Seen) -> None:
    seen.page.set_viewport_size({"width": 400, "height": 800})
    widths = seen.page.evaluate("[document.documentElement.scrollWidth, window.innerWidth]")
    seen.page.set_viewport_size({"width": 1200, "height": 900})
    assert widths[0] <= widths[1]


def test_hostile_names_do_nothing_and_show_as_text(hostile: Seen) -> None:
    hostile.open()
    page = hostile.page
    assert page.locator("h1").inner_text() == "<script>alert(2)</script>"
    for name in HOSTILE[:3]:
        page.mouse.move(*hostile.point_of(name))
        assert page.locator("#tip").inner_text().split("\n")[0] == name
        page.mouse.click(*hostile.point_of(name))
        assert page.locator("#panel h3").inner_text() == name
    options = page.locator("#variable option").all_inner_texts()
    assert options[1:4] == HOSTILE[:3]
    assert options[4] == "line\\u2028separator"
    assert options[5] == "\\u202eright to left"
    page.locator("#filter").fill("<script>")
    assert page.evaluate("document.images.length") == 1
    assert hostile.trouble == []
    assert set(hostile.requests) == {hostile.path.as_uri()}


def test_a_script_that_is_not_of_the_report_is_refused(hostile: Seen) -> None:
    """The policy is real: what is put into the page afterwards does not run, and nothing is fetched."""
    hostile.open()
    ran = hostile.page.evaluate(
        """() => {
            const script = document.createElement("script");
            script.textContent = "window.intruder = true";
            document.body.append(script);
            return window.intruder === true;
        }"""
    )
    assert not ran
    assert hostile.page.evaluate("fetch('http://127.0.0.1:9/').then(() => 'sent', () => 'refused')") == "refused"
    assert any("Content Security Policy" in line for line in hostile.trouble)


def test_tables_and_a_picture_are_there_without_javascript(browser: Any, opened: Seen) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(opened.path.as_uri())
    assert page.locator("table.pairs tbody tr").count() == 15
    assert page.locator("noscript svg, #graph-section svg[role=img]").first.is_visible()
    assert not page.locator("#threshold").is_visible()
    # The still picture speaks the same language.
    assert page.locator(".legend li").first.is_visible()
    context.close()


#: Contrast of every element that holds text, by what it is; colours that mix or shine through are blended first.
CONTRASTS = """() => {
    const pen = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
    const blend = (colours) => {
        pen.clearRect(0, 0, 1, 1);
        for (const colour of colours) { pen.fillStyle = colour; pen.fillRect(0, 0, 1, 1); }
        return Array.from(pen.getImageData(0, 0, 1, 1).data).slice(0, 3);
    };
    const light = (colour) => {
        const linear = (v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
        const [r, g, b] = colour.map((v) => linear(v / 255));
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const found = {};
    for (const element of document.querySelectorAll("body *")) {
        const own = Array.from(element.childNodes).some((node) => node.nodeType === 3 && node.textContent.trim());
        if (!own || !element.checkVisibility() || element.closest("svg, script, noscript, select")) continue;
        const grounds = [];
        for (let at = element; at; at = at.parentElement) {
            const style = getComputedStyle(at);
            grounds.unshift(style.backgroundColor);
            if (at.matches(".bar")) grounds.push(style.getPropertyValue("--bar"));
        }
        const ground = blend(["white", ...grounds]);
        const text = blend([`rgb(${ground.join(" ")})`, getComputedStyle(element).color]);
        const [high, low] = [light(ground), light(text)].sort((a, b) => b - a);
        const key = `${element.tagName} ${element.className} ${element.textContent.slice(0, 20)}`;
        found[key] = Math.min(found[key] ?? 99, (high + 0.05) / (low + 0.05));
    }
    return found;
}"""


def test_paper_shows_every_row_of_a_long_table(browser: Any, tmp_path: Path) -> None:
    """On the screen long tables scroll; on paper nobody can scroll."""
    for seen in opened_page(browser, _many(24, 30).report(tmp_path / "long.html")):
        seen.open()
        for part in ("pairs", "paths"):
            box = f"document.querySelector('#{part} .scroll')"
            assert seen.page.evaluate(f"{box}.scrollHeight > {box}.clientHeight + 50"), part
        seen.page.emulate_media(media="print")
        for part in ("pairs", "paths"):
            box = f"document.querySelector('#{part} .scroll')"
            assert seen.page.evaluate(f"{box}.clientHeight >= {box}.querySelector('table').offsetHeight"), part
        assert seen.trouble == []


def test_a_graph_of_too_many_lines_is_put_on_a_circle(browser: Any, tmp_path: Path) -> None:
    """Layers of 435 lines are not readable, and those of 1,770 would hold up the page for minutes."""
    for seen in opened_page(browser, _many(30, 500).report(tmp_path / "dense.html")):
        seen.open()
        seen.set_threshold(0.01)
        assert "too many to read" in seen.page.inner_text("#shown")
        seen.page.click("#arrange")
        places = seen.page.evaluate("Report.cy.nodes().map((node) => node.position())")
        # On an ellipse around the middle, whose half axes are the farthest places.
        wide, high = max(place["x"] for place in places), max(abs(place["y"]) for place in places)
        for place in places:
            assert (place["x"] / wide) ** 2 + (place["y"] / high) ** 2 == pytest.approx(1.0, abs=0.02)
        seen.set_threshold(1.0)
        assert "too many" not in seen.page.inner_text("#shown")
        assert seen.trouble == []


def test_a_long_name_leaves_the_numbers_of_the_panel_in_sight(hostile: Seen) -> None:
    hostile.open()
    for place in range(len(HOSTILE)):
        hostile.page.select_option("#variable", str(place))
        inside = hostile.page.evaluate(
            "(() => { const panel = Report.find('panel'); return panel.scrollWidth <= panel.clientWidth; })()"
        )
        assert inside, HOSTILE[place]


def _many(count: int, draws: int) -> DagSample:
    """Random graphs in which any two variables are often joined."""
    rng = np.random.default_rng(1)
    before = ((1 << np.arange(count, dtype=np.uint32)) - 1).astype(np.uint32)
    parents = rng.integers(0, 1 << count, (draws, count), dtype=np.uint32) & before
    nothing, weights = np.full(draws, np.nan), np.full(draws, 1 / draws)
    names = tuple(f"variable {number}" for number in range(count))
    return DagSample(names, parents, nothing, nothing, nothing, weights, ORDER, "dds", "independent", "counting")
