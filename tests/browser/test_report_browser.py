"""The report as a reader uses it, in a real browser: the slider, pointing, clicking, keys, sorting, and no surprise."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from tests.browser.pages import Seen, opened_page

from dagpost import DagPosterior, DagSample
from dagpost.methods.targets import ORDER
from dagpost.posterior.directions import directions_of

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = [
    "<script>alert(1)</script>",
    "</script><img src=x onerror=alert(1)>",
    "quotes \" and ' and &",
    "line\u2028separator",
    "\u202eright to left",
    "x" * 200,
]
#: How many lines are seen.
SHOWN = "Report.lines(Report.picture()).filter((line) => getComputedStyle(line).display !== 'none').length"
#: Names, numbers and boxes that are seen, each as left, top, right, bottom and what it is.
LABELS = """Array.from(Report.picture().querySelectorAll(".node rect, .number"))
    .filter((own) => own.getBoundingClientRect().width > 0)
    .map((own) => {
        const { left, top, right, bottom } = own.getBoundingClientRect();
        return [left, top, right, bottom, own.textContent || "box"];
    })"""


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


@pytest.mark.parametrize(("width", "height"), [(1280, 800), (390, 844)])
def test_graph_and_legend_are_on_the_first_screen_and_nothing_is_wider(seen: Seen, width: int, height: int) -> None:
    seen.resize(width, height)
    boxes = [seen.page.locator(part).bounding_box() for part in ("h1", ".standing", "#graph", ".legend")]
    small = seen.page.evaluate("Report.picture().getScreenCTM().a")
    kind = seen.page.evaluate("Report.picture().classList.contains('wide')")
    across = seen.page.evaluate("document.documentElement.scrollWidth")
    seen.resize(1200, 900)
    for box in boxes:
        assert box["y"] + box["height"] <= height
    # Nothing but the heading line stands above the graph.
    assert boxes[2]["y"] < 0.16 * height
    assert boxes[2]["height"] > 0.25 * height
    assert kind == (width == 1280)
    # Names of 11 points and more are read without glasses.
    assert small >= 0.8
    assert across <= width


def test_slider_hides_and_shows_lines_and_nothing_moves(seen: Seen, model: DagPosterior) -> None:
    edges = model.edge_probabilities_.to_numpy()
    joined, places = np.triu(edges + edges.T, 1), seen.places()
    assert len(places) == 6
    for threshold in (0.5, 0.93, 0.02, 1.0):
        seen.set_threshold(threshold)
        # What is below a threshold by less than anyone sees has reached it.
        expected = int((joined >= threshold - 1e-6).sum())
        assert seen.page.evaluate(SHOWN) == expected
        assert seen.page.locator("#threshold-number").input_value() == f"{threshold:.2f}"
        assert f"{expected} of 15 pairs" in seen.page.locator("#shown").inner_text()
        assert seen.places() == places


@pytest.mark.parametrize("width", [1280, 390])
def test_names_boxes_and_numbers_do_not_overlap(seen: Seen, width: int) -> None:
    seen.resize(width, 844)
    labels = seen.page.evaluate(LABELS)
    seen.resize(1200, 900)
    # A number that would cover something is left out.
    assert sum(what != "box" for *_, what in labels) >= 6
    for place, (left, top, right, bottom, what) in enumerate(labels):
        for x1, y1, x2, y2, other in labels[:place]:
            assert right <= x1 or x2 <= left or bottom <= y1 or y2 <= top, (what, other)


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


def test_pointing_at_a_line_shows_its_words_and_clicking_its_numbers(seen: Seen, model: DagPosterior) -> None:
    page = seen.page
    place = page.evaluate("Report.data.pairs.findIndex(({ joined }) => joined > 0.8 && joined < 0.97)")
    start, end = page.evaluate(
        "(place) => [Report.data.pairs[place].from, Report.data.pairs[place].to].map((own) => Report.data.names[own])",
        place,
    )
    page.mouse.move(*seen.line_of(place))
    said = directions_of(model.fitted_)
    way = model.names_.index(start), model.names_.index(end)
    pair = said.pair(*way)
    head = f"{start} {'—' if pair.word == 'open' else '→'} {end}"
    told, *effect = page.locator("#tip").inner_text().split("\n")[0::2]
    assert told == f"{head}: joined {pair.joined:.3f}"
    assert page.locator("#tip").inner_text().split("\n")[1] == f"direction {pair.label}"
    # A sentence on its sign and size, where there is one.
    assert effect == page.evaluate("(place) => [Report.data.pairs[place].effect].filter(Boolean)", place)
    page.mouse.click(*seen.line_of(place))
    panel = page.locator("#panel")
    assert panel.locator("h3").inner_text() == head
    assert pair.label in panel.inner_text()
    numbers = [pair.joined, said.by_data[way], said.by_data[way[::-1]], said.reversible[way]]
    assert panel.locator("td.number").all_inner_texts() == [f"{number:.3f}" for number in numbers]
    lit = "Array.from(Report.picture().querySelectorAll('.node.lit'), (box) => Report.data.names[Report.nodeOf(box)])"
    assert set(page.evaluate(lit)) == {start, end}
    panel.get_by_role("button", name=end, exact=True).click()
    assert panel.locator("h3").inner_text() == end
    page.keyboard.press("Escape")
    assert page.evaluate(lit) == []


def test_the_graph_is_zoomed_and_dragged_and_the_wheel_alone_scrolls_the_page(seen: Seen) -> None:
    page, frame = seen.page, "document.getElementById('graph')"
    inside = f"{frame}.scrollWidth > {frame}.clientWidth + 1 || {frame}.scrollHeight > {frame}.clientHeight + 1"
    x, y = seen.point_of("Smoking")
    assert not page.evaluate(inside)
    page.mouse.move(x, y)
    page.mouse.wheel(0, 120)
    page.wait_for_function("window.scrollY > 0")
    assert not page.evaluate(inside)
    page.evaluate("window.scrollTo(0, 0)")
    page.keyboard.down("Control")
    page.mouse.wheel(0, -300)
    page.keyboard.up("Control")
    page.wait_for_function("Report.zoomed > 1.5")
    page.evaluate("Report.zoom(3)")
    # What is pointed at stays where it is.
    under = """(() => {
        const [own, box] = [Report.picture(), Report.find("graph")].map((each) => each.getBoundingClientRect());
        return (box.top + 80 - own.top) / own.height;
    })()"""
    share = page.evaluate(under)
    page.evaluate("Report.zoom(1.3, { x: 200, y: Report.find('graph').getBoundingClientRect().top + 80 })")
    assert page.evaluate(under) == pytest.approx(share, abs=0.005)
    before = page.evaluate(f"[{frame}.scrollLeft, {frame}.scrollTop]")
    page.mouse.down()
    page.mouse.move(x + 40, y + 30, steps=3)
    page.mouse.up()
    after = page.evaluate(f"[{frame}.scrollLeft, {frame}.scrollTop]")
    assert after != before
    # A drag chooses nothing.
    assert not page.locator("#panel").is_visible()
    page.locator("#fit").click()
    assert not page.evaluate(inside)


def test_two_fingers_zoom_the_graph_and_not_the_page_and_a_sheet_tells_what_was_touched(
    browser: Any, opened: Seen
) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    page = context.new_page()
    page.goto(opened.path.as_uri())
    box = page.locator("#graph").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    hand = context.new_cdp_session(page)
    for kind, apart in (("touchStart", 20), ("touchMove", 40), ("touchMove", 70), ("touchEnd", None)):
        fingers = [] if apart is None else [{"x": x - apart, "y": y, "id": 0}, {"x": x + apart, "y": y, "id": 1}]
        hand.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": fingers})
    assert page.evaluate("Report.zoomed") > 1.5
    assert page.evaluate("visualViewport.scale") == 1
    page.locator("#fit").tap()
    page.locator("svg.graph.narrow .node[data-node='0'] text").tap()
    sheet = page.locator("#panel")
    assert sheet.locator("h3").inner_text() == page.evaluate("Report.data.names[0]")
    chosen = page.locator("svg.graph.narrow .node.marked rect").bounding_box()
    assert chosen["y"] + chosen["height"] <= sheet.bounding_box()["y"]
    context.close()


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
    assert page.locator("#panel h3").inner_text() == first.split(":")[0]
    page.keyboard.press("Escape")
    assert not page.locator("#panel").is_visible()
    assert page.evaluate("document.activeElement.id") == "graph"
    page.keyboard.press("+")
    assert page.evaluate("Report.zoomed") > 1
    page.keyboard.press("0")
    assert page.evaluate("Report.zoomed") == 1
    page.locator("#threshold").focus()
    page.keyboard.press("ArrowRight")
    assert page.locator("#threshold-number").input_value() == "0.51"
    page.locator("#variable").fill("smok")
    assert page.evaluate("Report.picture().querySelectorAll('.node.matched').length") == 1
    page.keyboard.press("Enter")
    assert page.locator("#panel h3").inner_text() == "Smoking"
    page.keyboard.press("Escape")
    assert page.evaluate("document.querySelectorAll('.node.matched').length") == 0


def test_saved_pictures_carry_title_legend_and_caption_in_the_colours_of_paper(seen: Seen) -> None:
    seen.page.emulate_media(color_scheme="dark")
    saved = {}
    for kind in ("png", "svg"):
        with seen.page.expect_download() as download:
            seen.page.locator(f"#save-{kind}").click()
        saved[kind] = Path(download.value.path()).read_bytes()
    seen.page.emulate_media(color_scheme="light")
    assert saved["png"].startswith(b"\x89PNG")
    wide, high = (int.from_bytes(saved["png"][at : at + 4], "big") for at in (16, 20))
    drawing = ElementTree.fromstring(saved["svg"])
    assert wide / high == pytest.approx(float(drawing.get("width", 0)) / float(drawing.get("height", 1)), rel=0.01)
    words = " ".join("".join(text.itertext()) for text in drawing.iter(f"{SVG}text"))
    assert "Probable connections among 6 variables" in words
    assert "open: the data cannot tell" in words
    assert "Lines from a probability of 0.50 on: 8 of 15 pairs are shown." in words
    assert "Exact probabilities. 6 variables, 1,841 observations" in words
    assert len([own for own in drawing.iter(f"{SVG}g") if own.get("data-pair")]) == seen.page.evaluate(SHOWN)
    text = saved["svg"].decode()
    assert "var(" not in text
    assert "class=" not in text
    assert drawing.find(f"{SVG}rect").get("fill") == "rgb(255, 255, 255)"


def test_citation_is_copied(seen: Seen) -> None:
    seen.page.locator("#citation + .copy").click()
    assert seen.page.locator("#citation ~ [role=status]").inner_text() != ""
    assert "He, R., Tian, J., & Wu, H. (2016)" in seen.page.evaluate("window.getSelection().toString()")


def test_dark_screens_get_dark_colours_and_paper_does_not(seen: Seen) -> None:
    def background() -> list[int]:
        colour = seen.page.evaluate("getComputedStyle(document.body).backgroundColor")
        return [int(part) for part in colour[4:-1].split(",")]

    assert min(background()) > 240
    seen.page.emulate_media(color_scheme="dark")
    seen.settle()
    assert max(background()) < 40
    name = "getComputedStyle(Report.picture().querySelector('.node text')).fill"
    assert seen.page.evaluate(name) == "rgb(232, 236, 241)"
    seen.page.emulate_media(media="print", color_scheme="dark")
    assert min(background()) > 240
    assert seen.page.evaluate(name) == "rgb(27, 31, 36)"
    assert seen.page.evaluate("Report.picture().classList.contains('wide')")
    assert not seen.page.locator(".controls").is_visible()
    seen.page.emulate_media(media="screen", color_scheme="light")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_from_its_background(seen: Seen, scheme: str) -> None:
    """WCAG AA: a contrast of at least 4.5 for text."""
    seen.page.emulate_media(color_scheme=scheme)
    contrasts = seen.page.evaluate(CONTRASTS)
    seen.page.emulate_media(color_scheme="light")
    assert len(contrasts) > 20
    assert min(contrasts.values()) >= 4.5, min(contrasts.items(), key=lambda item: item[1])


def test_tables_wider_than_a_phone_show_that_there_is_more(seen: Seen) -> None:
    seen.resize(390, 844)
    seen.page.evaluate("document.querySelectorAll('details').forEach((fold) => { fold.open = true; })")
    seen.settle()
    across = seen.page.evaluate("document.documentElement.scrollWidth")
    boxes = seen.page.evaluate(
        """Array.from(document.querySelectorAll(".table-box"), (box) => {
            const frame = box.firstElementChild;
            return [frame.scrollWidth > frame.clientWidth + 1, box.classList.contains("more-right")];
        })"""
    )
    first = """(() => {
        const wider = (own) => own.scrollWidth > own.clientWidth + 1;
        const frame = Array.from(document.querySelectorAll(".scroll")).find(wider);
        frame.scrollLeft = 60;
        const cell = frame.querySelector("tbody tr").cells[0].getBoundingClientRect();
        return cell.left - frame.getBoundingClientRect().left;
    })()"""
    held = seen.page.evaluate(first)
    seen.resize(1200, 900)
    assert across <= 390
    assert any(wider for wider, _ in boxes)
    assert all(wider == told for wider, told in boxes)
    assert held == pytest.approx(0.0, abs=1.0)


def test_hostile_names_do_nothing_and_show_as_text(hostile: Seen) -> None:
    hostile.open()
    page = hostile.page
    assert page.locator("h1").inner_text() == "<script>alert(2)</script>"
    for name in HOSTILE[:3]:
        page.mouse.move(*hostile.point_of(name))
        assert page.locator("#tip").inner_text().split("\n")[0] == name
        page.mouse.click(*hostile.point_of(name))
        assert page.locator("#panel h3").inner_text() == name
        with page.expect_download() as download:
            page.locator("#save-svg").click()
        # Well-formed, with the name as text.
        assert ElementTree.parse(download.value.path()).getroot().tag == f"{SVG}svg"
    options = page.evaluate("Array.from(Report.find('variables').options, (option) => option.value)")
    assert options[:3] == HOSTILE[:3]
    assert options[3] == "line\\u2028separator"
    assert options[4] == "\\u202eright to left"
    page.locator("#filter").fill("<script>")
    assert page.evaluate("document.images.length") == 0
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
    assert page.locator("svg.graph.wide").is_visible()
    assert not page.locator("svg.graph.narrow").is_visible()
    assert not page.locator("#threshold").is_visible()
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
        if (!own || !element.checkVisibility() || element.closest("svg, script, select")) continue;
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
    for seen in opened_page(browser, _many(22, 30).report(tmp_path / "long.html")):
        seen.open()
        for part in ("pairs", "paths"):
            box = f"document.querySelector('#{part} .scroll')"
            assert seen.page.evaluate(f"{box}.scrollHeight > {box}.clientHeight + 50"), part
        seen.page.emulate_media(media="print")
        for part in ("pairs", "paths"):
            box = f"document.querySelector('#{part} .scroll')"
            assert seen.page.evaluate(f"{box}.clientHeight >= {box}.querySelector('table').offsetHeight"), part
        assert seen.trouble == []


def test_a_long_name_leaves_the_numbers_of_the_panel_in_sight(hostile: Seen) -> None:
    hostile.open()
    for place in range(len(HOSTILE)):
        hostile.page.evaluate("(place) => Report.openVariable(place)", place)
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
