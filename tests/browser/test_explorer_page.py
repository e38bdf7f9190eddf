"""The explorer in a real browser: statements, graphs one by one, sliders, links; hostile names and links."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import quote

import pytest
from tests.browser.pages import Seen

from dagpost import BDeu, DagPosterior, datasets

NASTY = "<img src=x onerror=alert(1)>"
QUOTED = 'say "x" \\ </script>'
#: The browser tells every refused question on the console, although the page expects it.
REFUSED = "error: Failed to load resource:"


@dataclass
class Explored(Seen):
    """The page of a model, and the model."""

    model: Any = None
    address: str = ""

    def open(self, fragment: str = "") -> None:
        """Load it anew, with these words behind #."""
        self.page.goto("about:blank")
        self.page.goto(self.address + (f"#{fragment}" if fragment else ""))
        self.page.wait_for_selector("html.ready")
        self.wait()

    def until(self, expression: str, argument: Any = None) -> None:
        """Wait until an expression holds; Playwright's own way evaluates text in the page, which the policy forbids."""
        for _ in range(400):
            if self.page.evaluate(expression, argument):
                return
            self.page.wait_for_timeout(25)
        raise AssertionError(f"never true: {expression}")

    def wait(self) -> None:
        """Wait until nothing is being computed."""
        self.until("!Report.progress.asking && Report.view !== null")

    def write(self, text: str) -> None:
        """Type a statement as a hand would."""
        field = self.page.locator("#statement")
        field.fill("")
        field.press_sequentially(text)

    def answer(self) -> float:
        """The answer that stands below the box, when it is the last word."""
        found = self.page.wait_for_selector("#statement-answer:not(.old):not([hidden])[data-final=true]")
        return float(found.get_attribute("data-value"))

    def given(self) -> list[str]:
        """What is assumed, as statements."""
        found: list[str] = self.page.evaluate("Report.state.given.map(Report.statementOf)")
        return found


@pytest.fixture(scope="module")
def opened_explorer(browser: Any) -> Iterator[Explored]:
    pytest.importorskip("uvicorn", reason="the extra [explore] is not installed")
    from dagpost.explorer.serving import explore

    table = datasets.load("coronary")
    names = {"Proteins": NASTY, "Family": QUOTED}
    table = replace(table, names=tuple(names.get(name, name) for name in table.names))
    model = DagPosterior(score=BDeu(equivalent_sample_size=(5.0, 10.0)), seed=1, samples=200).fit(table)
    served = explore(model.fitted_, title="<script>alert(2)</script>", open_browser=False)
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    seen = Explored(context.new_page(), path=None, model=model, address=served.address)
    seen.watch()
    yield seen
    context.close()
    served.stop()


@pytest.fixture
def explorer(opened_explorer: Explored) -> Iterator[Explored]:
    opened_explorer.open()
    yield opened_explorer
    assert [words for words in opened_explorer.trouble if not words.startswith(REFUSED)] == []
    inside = (opened_explorer.address, "data:", "blob:", "about:")
    assert [url for url in opened_explorer.requests if not url.startswith(inside)] == []


def test_what_is_begun_is_completed_and_quoted_where_it_must_be(explorer: Explored) -> None:
    explorer.until("Explorer.words.relations.length > 0")
    explorer.write("Smo")
    explorer.page.keyboard.press("Enter")
    assert explorer.page.locator("#statement").input_value() == "Smoking "
    offered = explorer.page.locator("#completions bdi").all_text_contents()
    assert {"->", "~>", "--"} <= set(offered)
    # A name with a point in it, and one that is anything but a word.
    explorer.page.keyboard.type("~> m. w")
    assert explorer.page.locator("#completions bdi").all_text_contents()[0] == '"M. Work"'
    explorer.page.keyboard.press("Tab")
    explorer.page.keyboard.type("& Smoking -> onerr")
    explorer.page.keyboard.press("Enter")
    assert explorer.page.locator("#statement").input_value() == f'Smoking ~> "M. Work" & Smoking -> "{NASTY}" '
    explorer.write("P(Smoking = ")
    levels = explorer.page.locator("#completions bdi").all_text_contents()
    assert set(levels) == {str(level) for level in datasets.load("coronary").levels[0]}


def test_answers_are_those_of_python_also_under_assumptions(explorer: Explored) -> None:
    text = 'Smoking ~> "M. Work" & !(Pressure -> Smoking)'
    explorer.write(text)
    assert explorer.answer() == pytest.approx(float(explorer.model.probability(text)), abs=1e-9)
    explorer.page.locator("#statement-watch").click()
    number = explorer.page.locator(".watched-number")
    number.wait_for()
    explorer.write("Smoking -> Pressure")
    explorer.answer()
    explorer.page.locator("#statement-assume").click()
    explorer.until("Report.state.given.length === 1")
    explorer.wait()
    assert explorer.page.evaluate("Report.state.given[0].kind") == "edge"
    under = float(explorer.model.probability(text, given="Smoking -> Pressure"))
    explorer.until(
        "(now) => Math.abs(Number(document.querySelector('.watched-number').dataset.value) - now) < 1e-9", under
    )
    # What it was without assumptions stands before it.
    assert f"{float(explorer.model.probability(text)):.3f} → {under:.3f}" in number.inner_text()


def test_an_error_stands_under_its_character(explorer: Explored) -> None:
    explorer.write("Smoking -> Bee & Pressure")
    # What was not finished yet may have been wrong elsewhere.
    explorer.page.get_by_text("There is no variable 'Bee'").wait_for()
    assert explorer.page.locator(".caret-line").get_attribute("data-at") == "11"
    apart = explorer.page.evaluate(
        """(() => {
            const field = document.getElementById("statement"), style = getComputedStyle(field);
            const pen = document.createElement("canvas").getContext("2d");
            pen.font = style.font;
            const left = field.getBoundingClientRect().left + parseFloat(style.paddingLeft) + 1;
            const x = left + pen.measureText("Smoking -> ").width;
            return document.querySelector(".caret").getBoundingClientRect().left - x;
        })()"""
    )
    assert abs(apart) < 2.0
    assert explorer.page.locator("#statement").get_attribute("aria-invalid") == "true"


def test_graphs_are_played_one_by_one_until_something_is_assumed(explorer: Explored) -> None:
    explorer.page.wait_for_selector("#player:not([hidden])")
    explorer.page.evaluate("Report.assume({ kind: 'edge', from: 0, to: 3 })")
    explorer.wait()
    explorer.page.get_by_label("One graph on").click()
    explorer.page.keyboard.press("ArrowRight")
    shown = explorer.page.evaluate(
        "(() => { const { left, shown, at } = Explorer.player; return Report.draws.graph(left.places[shown[at]]); })()"
    )
    assert 0 in shown[3]
    assert explorer.page.evaluate("Explorer.player.shown.length") == 2
    explorer.page.keyboard.press("ArrowLeft")
    assert explorer.page.evaluate("Explorer.player.at") == 0
    assert "under your assumptions" in explorer.page.locator("#player-told").inner_text()
    explorer.page.get_by_label("Play", exact=True).press(" ")
    explorer.until("Explorer.player.at > 0")
    # Space presses the button that has the focus, whichever it is.
    explorer.page.get_by_label("Stop, and").press(" ")
    assert explorer.page.evaluate("[Explorer.player.timer, Explorer.player.at]") == [None, -1]
    explorer.page.get_by_label("One graph on").click()
    explorer.page.evaluate("Report.undo()")
    assert explorer.page.evaluate("[Explorer.player.timer, Explorer.player.at]") == [None, -1]
    # Each as often as it is probable: evenly spread numbers miss a share by one of them at most.
    missed = explorer.page.evaluate(
        """(() => {
            const left = Explorer.graphsLeft(), counts = new Array(left.places.length).fill(0), draws = 40000;
            for (let draw = 0; draw < draws; draw += 1) counts[Explorer.drawOne(left, (draw + 0.5) / draws)] += 1;
            return counts.map((count, place) => Math.abs(count / draws - left.weights[place] / left.total));
        })()"""
    )
    assert max(missed) <= 1 / 40000 + 1e-12


def test_each_slider_takes_one_value_of_what_is_averaged_over(explorer: Explored) -> None:
    found, setting = explorer.model.mixture_weights_, {}
    for number, name in enumerate(found.index.names):
        weights = found.groupby(level=name).sum()
        slider, said = explorer.page.locator(f"#setting-{number}"), explorer.page.locator(".setting output").nth(number)
        assert said.inner_text() == "averaged"
        slider.focus()
        explorer.page.keyboard.press("ArrowRight")
        setting[name] = weights.index[0]
        explorer.until(f"Object.keys(Report.view.setting).length === {number + 1}")
        assert explorer.page.evaluate("Report.view.setting") == setting
        under = explorer.model.given(setting=setting)
        assert explorer.page.evaluate("Report.view.edges[0][3]") == pytest.approx(
            float(under.probability("Smoking -> Pressure")), abs=1e-9
        )
        assert said.inner_text().startswith(f"{weights.index[0]:.3g} (weight ")
        assert float(said.inner_text().split()[-1].strip("<>)")) == pytest.approx(weights.iloc[0], abs=1e-3)
    for _ in setting:
        explorer.page.evaluate("Report.undo()")
    assert explorer.page.evaluate("Report.state.setting") == {}
    assert explorer.page.locator(".setting output").all_inner_texts() == ["averaged", "averaged"]


def test_a_link_restores_the_state(explorer: Explored) -> None:
    statements = ["Smoking -> Pressure", f'!(Smoking -> "{NASTY}")', '"M. Work" ~> Smoking | Pressure -> Smoking']
    setting = {"equivalent sample size": 10, "edge density": 0.5}
    parts = [f"given={quote(text)}" for text in statements]
    parts += [f"setting={quote(name)}={value}" for name, value in setting.items()]
    fragment = "&".join([*parts, "threshold=0.25"])
    explorer.open(fragment)
    assert explorer.given() == statements
    assert explorer.page.evaluate("Report.state.given.map(({ kind }) => kind)") == ["edge", "no-edge", "statement"]
    assert explorer.page.evaluate("[Report.state.setting, Report.threshold]") == [setting, 0.25]
    # The address is that of the state, whatever is changed.
    explorer.page.evaluate("Report.free(2)")
    again = explorer.page.evaluate("location.hash.slice(1)")
    explorer.open(again)
    assert explorer.given() == statements[:2]
    assert explorer.page.evaluate("[Report.state.setting, Report.threshold]") == [setting, 0.25]


HOSTILE = [
    "given=" + quote(f"<img src=x onerror=alert(3)> -> {NASTY}"),
    "given=Smoking+->+Nobody",
    "setting=7&given=Smoking+->+Pressure",
    "setting=equivalent+sample+size=7&given=Smoking+->+Pressure",
    "setting=__proto__=10",
    "setting=edge+density=0.5&setting=edge+density=0.5",
    "threshold=NaN",
    "threshold=1e99",
    "__proto__=1&given=Smoking+->+Pressure",
    "javascript:alert(4)",
    "given=" + "x" * 30_000,
    "&".join(["given=Smoking+->+Pressure"] * 300),
    "%E0%A4%A",
]


def test_hostile_fragments_assume_nothing(explorer: Explored) -> None:
    explorer.open(HOSTILE[0])
    nothing: list[Any] = [[], {}, True]
    state = "[Report.state.given, Report.state.setting, Report.threshold === Report.data.threshold]"
    assert explorer.page.evaluate(state) == nothing
    for fragment in HOSTILE:
        opened = explorer.page.evaluate(
            "(words) => { history.replaceState(null, '', `#${words}`); return Explorer.openFragment(); }", fragment
        )
        assert not opened, fragment
        assert explorer.page.evaluate(state) == nothing, fragment


def test_hostile_names_are_text_wherever_they_are_shown(explorer: Explored) -> None:
    page = explorer.page
    place = page.evaluate("(name) => Report.data.names.indexOf(name)", NASTY)
    page.mouse.move(*explorer.point_of(NASTY))
    page.wait_for_selector("#tip:not([hidden])")
    assert NASTY in page.locator("#tip").inner_text()
    page.evaluate("(place) => Report.openVariable(place)", place)
    explorer.until("document.querySelector('#panel .later table') !== null")
    page.evaluate("(place) => Report.assume({ kind: 'path', from: 0, to: place })", place)
    explorer.wait()
    page.locator("#share-code").click()
    page.wait_for_selector("#shared pre")
    assert NASTY in page.locator("#shared pre").first.text_content()
    explorer.write(NASTY)
    page.wait_for_selector("#statement-error p")
    assert (
        page.evaluate("document.querySelectorAll('img, script:not([src]):not([type=\"application/json\"])').length")
        == 0
    )
    assert page.title() == "<script>alert(2)</script>"


def test_a_busy_server_is_asked_again_and_one_that_has_ended_is_told_of(explorer: Explored) -> None:
    turned_away: list[str] = []

    def busy(route: Any) -> None:
        if len(turned_away) < 2:
            turned_away.append(route.request.url)
            route.fulfill(status=503, content_type="application/json", body='{"error": "busy"}')
        else:
            route.continue_()

    explorer.page.route("**/ask/ask", busy)
    explorer.write("Smoking -> Pressure")
    assert explorer.answer() == pytest.approx(float(explorer.model.probability("Smoking -> Pressure")), abs=1e-9)
    assert len(turned_away) == 2
    explorer.page.unroute("**/ask/ask")
    explorer.page.route("**/ask/*", lambda route: route.abort("connectionrefused"))
    explorer.write("Pressure -> Smoking")
    explorer.page.wait_for_selector("#gone:not([hidden])")
    assert "The explorer has ended. Start it again: dagpost explore" in explorer.page.locator("#gone").inner_text()
    explorer.page.unroute("**/ask/*")
    explorer.write("Pressure -> Smoking")
    explorer.answer()
    assert explorer.page.locator("#gone").is_hidden()


def test_everything_has_a_name_and_nothing_is_wider_than_the_window(explorer: Explored) -> None:
    page = explorer.page
    unnamed = page.evaluate(
        """Array.from(document.querySelectorAll("button, input, select, [role=application]")).filter((control) =>
            !(control.getAttribute("aria-label") || control.textContent.trim() || control.labels?.length)).length"""
    )
    assert unnamed == 0
    page.evaluate("Report.openPair(0)")
    for width in (390, 820, 1280):
        explorer.resize(width, 800)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    # The graph is where it was, whatever its legend and the panel beside it say.
    before = page.evaluate("Report.picture().getBoundingClientRect().toJSON()")
    page.evaluate("Report.assume({ kind: 'apart', from: 1, to: 2 })")
    explorer.wait()
    page.evaluate("Report.closePanel(false)")
    assert page.evaluate("Report.picture().getBoundingClientRect().toJSON()") == before
