"""Pictures that are drawn anew under other views, in a real browser: looks, heads, marks, single graphs, and focus."""

from __future__ import annotations

import datetime
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from tests.browser.pages import Seen, opened_page
from tests.tools.wide_content import wide_content

from dagpost.plots.box_layout import head_scale
from dagpost.plots.marks import HEAD_STROKES, LOOKS, head_size
from dagpost.report.page import page

_HOSTILE = ("<img src=x onerror=alert(1)>", "</script><b>", "'\"&", "a_b", "gene", "x")
_SIZE = 10
#: The lines of the picture in sight: what was said of each, how it is drawn, and where its ends and its head are.
_DRAWN = """() => {
  const points = (text) => (text.match(/-?[\\d.]+,-?[\\d.]+/g) ?? []).map((own) => own.split(",").map(Number));
  return Report.shownLines().map((line) => {
    const part = (kind, name) => line.querySelector(kind)?.getAttribute(name) ?? null;
    return {
      pair: Report.pairOf(line), kind: line.getAttribute("class"),
      width: part(".line", "stroke-width"), opacity: part(".line", "opacity"),
      dashes: part(".line", "stroke-dasharray"),
      head: part(".head", "class"), stroke: part(".head", "stroke-width"), corners: points(part(".head", "d") ?? ""),
      course: points(part(".line", "d")), number: line.querySelector(".number")?.firstChild.textContent ?? null,
    };
  });
}"""
_BOXES = """() => {
  const sides = (rect) => ["x", "y", "width", "height"].map((name) => rect.getAttribute(name));
  return Object.fromEntries(Report.pictures().map((svg) => [
    svg.matches(".wide") ? "wide" : "narrow", Report.boxes(svg).map((box) => sides(box.querySelector("rect"))),
  ]));
}"""


@pytest.fixture(scope="module")
def redrawn(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Seen]:
    content = wide_content(_SIZE, exogenous=1)
    names = (*_HOSTILE, *content.names[len(_HOSTILE) :])
    directions = content.directions.__class__(**{**vars(content.directions), "names": names})
    path = tmp_path_factory.mktemp("redraw") / "page.html"
    made = page(
        content.__class__(**{**vars(content), "names": names, "directions": directions}),
        None,
        datetime.datetime(2026, 1, 2, tzinfo=datetime.UTC),
    )
    path.write_text(made, encoding="utf-8")
    yield from opened_page(browser, path)


@pytest.fixture
def seen(redrawn: Seen) -> Iterator[Seen]:
    redrawn.resize(1200, 900)
    redrawn.open()
    yield redrawn
    assert redrawn.trouble == []


def view_of(seed: int, **changed: Any) -> dict[str, Any]:
    """A view of random numbers: about half of all pairs are joined, directions compelled as it comes."""
    rng = np.random.default_rng(seed)
    joined = np.triu(np.where(rng.random((_SIZE, _SIZE)) < 0.5, rng.random((_SIZE, _SIZE)), 0.0), 1)
    share = rng.random((_SIZE, _SIZE))
    edges = joined * share + (joined * (1.0 - share)).T
    kinds = rng.dirichlet([0.4, 0.4, 0.4, 0.4], (_SIZE, _SIZE))
    matrices = {name: (edges * kinds[:, :, at]).tolist() for at, name in enumerate(("by_data", "by_rules", "by_model"))}
    return {
        "given": ["assumed"],
        "setting": {},
        "chance": None,
        "source": "exact",
        "final": True,
        "seconds": None,
        "graphs": None,
        "few": False,
        "edges": edges.tolist(),
        "paths": None,
        **matrices,
        "settled": [],
        "fixed": [],
        "notes": [],
        **changed,
    }


def distance_to_border(point: list[float], box: list[str]) -> float:
    x, y, width, height = map(float, box)
    across, down = abs(point[0] - x - width / 2.0) - width / 2.0, abs(point[1] - y - height / 2.0) - height / 2.0
    return abs(max(across, down))


@pytest.mark.parametrize("seed", [1, 2])
def test_lines_look_as_their_words_say_with_heads_at_the_right_end(seen: Seen, seed: int) -> None:
    boxes = seen.page.evaluate(_BOXES)
    seen.set_threshold(0.2)
    seen.page.evaluate("(view) => Report.redraw(view, Report.pageView())", view_of(seed))
    assert seen.page.evaluate(_BOXES) == boxes
    wide = boxes["wide"]
    size = float(seen.page.locator("svg.graph.wide").get_attribute("font-size"))
    edges = np.array(view_of(seed)["edges"])
    lines = seen.page.evaluate(_DRAWN)
    assert len(lines) == int((np.triu(edges + edges.T) >= 0.2).sum())
    for line in lines:
        pair = line["pair"]
        word, joined, source, target = pair["word"], pair["joined"], pair["from"], pair["to"]
        look = LOOKS[word]
        scale = min(1.0, size / 11.0)
        assert word in line["kind"].split()
        assert joined == pytest.approx(edges[source, target] + edges[target, source], abs=1e-12)
        assert float(line["width"]) == pytest.approx(look.width(joined) * scale, abs=0.006)
        assert float(line["opacity"]) == pytest.approx(look.strength(joined), abs=0.006)
        assert (line["dashes"] or "") == " ".join(f"{part:g}" for part in look.dashes)
        assert line["head"] == (None if look.head is None else f"head {look.head}")
        ends = [line["course"][0], line["course"][-1]]
        if look.head is None:
            # Either end of the course may be the first one.
            found = min(
                max(distance_to_border(at, wide[node]) for at, node in zip(ends, order, strict=True))
                for order in ((source, target), (target, source))
            )
            assert found < 1.0
            continue
        tip = line["corners"][0 if look.head != "angle" else 1]
        assert distance_to_border(tip, wide[target]) < 1.0
        assert distance_to_border(ends[0], wide[source]) < 1.0
        length, width = (head_scale(size) * part for part in head_size(word, joined))
        left, right = line["corners"][1:3] if look.head != "angle" else (line["corners"][2], line["corners"][4])
        assert math.dist(left, right) == pytest.approx(width, abs=0.3)
        # The line ends where its head begins; on a bend that is a little nearer.
        assert 0.8 * length < math.dist(ends[1], tip) < length + 0.3
        assert float(line["stroke"]) == pytest.approx(HEAD_STROKES.get(look.head, float(line["width"])), abs=0.006)
        if line["number"] is not None:
            assert line["number"] == f"{joined:.2f}"


def test_what_was_drawn_at_first_comes_back(seen: Seen) -> None:
    seen.set_threshold(0.2)
    before = seen.page.evaluate(_DRAWN)
    seen.page.evaluate("(view) => { Report.redraw(view, null); Report.redraw(Report.pageView(), null); }", view_of(3))
    after = seen.page.evaluate(_DRAWN)
    assert [line["pair"] for line in after] == [line["pair"] for line in before]
    for one, two in zip(before, after, strict=True):
        assert {**one, "corners": 0, "course": 0} == {**two, "corners": 0, "course": 0}
        for first, second in zip(one["corners"] + one["course"], two["corners"] + two["course"], strict=False):
            assert math.dist(first, second) < 12.0


def test_what_grew_shrank_and_is_assumed_is_marked_and_told(seen: Seen) -> None:
    view = view_of(4)
    for matrix in ("edges", "by_data", "by_rules", "by_model"):
        for one, two in ((0, 1), (2, 3), (4, 5)):
            view[matrix][one][two] = view[matrix][two][one] = 0.0
    earlier = {name: [list(row) for row in rows] if name == "edges" else rows for name, rows in view.items()}
    earlier["edges"][2][3] = 0.8
    view["edges"][0][1] = 0.9
    seen.page.evaluate(
        """([view, before]) => {
            const given = [{ kind: "edge", from: 0, to: 1 }, { kind: "apart", from: 4, to: 5 }];
            Report.state = { given, setting: {} };
            Report.redraw(view, before);
        }""",
        [view, earlier],
    )
    marked = seen.page.evaluate(
        """() => Object.fromEntries(Report.reachedLines().map((line) =>
            [[line.dataset.from, line.dataset.to].sort().join(" "), [...line.classList]]))"""
    )
    assert {"grew", "required"} <= set(marked["0 1"])
    assert {"shrank", "trace"} <= set(marked["2 3"])
    assert {"forbidden", "trace"} <= set(marked["4 5"])
    text = seen.page.evaluate("document.querySelector('.graph.wide .pair.grew .number').textContent")
    assert text == "0.90 ▲.90"
    # What is forbidden, or has vanished, is not counted among what is shown.
    shown = int((np.triu(np.array(view["edges"]) + np.array(view["edges"]).T) >= 0.5).sum())
    assert seen.page.locator("#shown").text_content().startswith(f"{shown} of 45 pairs")
    assert f"{shown} of 45 pairs" in seen.page.locator("svg.graph.wide").get_attribute("aria-label")
    place = seen.page.evaluate("Report.placeOf(2, 3)")
    told = seen.page.evaluate("(place) => Report.beforeOf(place).flat().join('')", place)
    assert told.startswith("before: ")
    assert told.endswith("joined 0.800")
    legend = [item.strip().split("\n")[-1] for item in seen.page.locator(".legend li").all_inner_texts()]
    assert {"assumed", "assumed away", "less than before", "more than before"} <= set(legend)
    assert "direction not computed" not in legend
    assert "▲.90" in seen.page.evaluate("Report.drawing().text")
    # By hand: to the line and into its panel, and back.
    seen.page.locator("#graph").focus()
    seen.page.keyboard.press("ArrowLeft")
    seen.page.keyboard.press("Enter")
    assert seen.page.evaluate("Report.panelOf.pair !== undefined && document.activeElement.id === 'panel'")
    seen.page.evaluate("document.querySelector('#panel .close').focus()")
    seen.page.evaluate("(view) => Report.redraw(view, null)", view_of(5))
    assert seen.page.evaluate("document.activeElement.matches('#panel .close')")
    seen.page.keyboard.press("Escape")
    assert seen.page.evaluate("document.activeElement.id") == "graph"


def test_a_single_graph_has_its_edges_and_no_others(seen: Seen) -> None:
    edges = "Report.shownLines().map((line) => line.querySelector('.head') !== null).length"
    parents: list[list[int]] = [[] for _ in range(_SIZE)]
    parents[3], parents[1] = [0, 2], [3]
    seen.page.evaluate("(parents) => Report.showGraph(parents, 'Graph 1 of 2.')", parents)
    assert seen.page.evaluate(edges) == 3
    assert seen.page.locator("#shown").text_content() == "One single graph: 3 edges. Graph 1 of 2."
    heads = """() => Report.shownLines().map((line) => {
        const [x, y] = line.querySelector(".head").getAttribute("d").match(/-?[\\d.]+/g).map(Number);
        return [x, y];
    })"""
    wide = seen.page.evaluate(_BOXES)["wide"]
    ends = [
        min(range(_SIZE), key=lambda node: distance_to_border(tip, wide[node])) for tip in seen.page.evaluate(heads)
    ]
    assert sorted(ends) == [1, 3, 3]
    parents[1] = []
    seen.page.evaluate("(parents) => Report.showGraph(parents)", parents)
    assert seen.page.evaluate("Report.reachedLines().filter((line) => line.matches('.trace')).length") == 1
    seen.page.evaluate("Report.showGraph(null)")
    assert "pairs are shown" in seen.page.locator("#shown").text_content()


def test_both_pictures_and_the_table_follow_the_view(seen: Seen) -> None:
    view = view_of(6)
    seen.page.evaluate("(view) => { Report.redraw(view, null); Report.drawRest(); Report.fillRows(); }", view)
    shown = seen.page.evaluate("Report.pictures().map((svg) => svg.querySelectorAll('.pair:not(.hidden)').length)")
    assert shown[0] == shown[1] > 0
    rows = seen.page.evaluate(
        """() => Array.from(document.querySelectorAll("table.pairs > tbody > tr"), (row) =>
            [row.cells[0].textContent, row.cells[2].textContent, row.cells[3].textContent])"""
    )
    names = seen.page.evaluate("Report.data.names")
    edges = np.array(view["edges"])
    for one, two, number in rows:
        source, target = names.index(one), names.index(two)
        joined = edges[source, target] + edges[target, source]
        assert float(number.strip("<>")) == pytest.approx(joined, abs=1e-3)


def test_focus_fades_the_rest_and_everything_comes_back(seen: Seen) -> None:
    boxes = seen.page.evaluate(_BOXES)
    seen.page.evaluate("(view) => Report.redraw(view, null)", view_of(7))
    edges = np.array(view_of(7)["edges"])
    joined = edges + edges.T
    near = {4, *np.flatnonzero(joined[4] >= 0.5).tolist()}
    lit = "Report.boxes(Report.picture()).filter((box) => !box.matches('.away')).map(Report.nodeOf)"
    seen.page.evaluate("Report.openVariable(4)")
    seen.page.locator("#panel [data-reach=one]").click()
    assert set(seen.page.evaluate(lit)) == near
    assert f"{len(near)} of {_SIZE} variables" in seen.page.locator("#focus-bar").inner_text()
    farther = near | {int(node) for here in near for node in np.flatnonzero(joined[here] >= 0.5)}
    seen.page.locator("#panel [data-reach=two]").click()
    assert set(seen.page.evaluate(lit)) == farther
    assert seen.page.evaluate(_BOXES) == boxes
    seen.page.locator("#focus-bar button").click()
    assert len(seen.page.evaluate(lit)) == _SIZE
    assert seen.page.evaluate("document.activeElement.id") == "graph"


def test_variables_without_a_line_fold_into_a_button(seen: Seen) -> None:
    seen.page.evaluate("(view) => Report.redraw(view, null)", view_of(8, edges=[[0.0] * _SIZE for _ in range(_SIZE)]))
    seen.page.evaluate("Report.closePanel(false)")
    button = seen.page.locator("#fold")
    assert button.inner_text() == f"Hide the {_SIZE} variables without a line"
    button.click()
    assert seen.places() == []
    assert button.inner_text() == f"Show the {_SIZE} variables without a line"
    button.click()
    assert len(seen.places()) == _SIZE
