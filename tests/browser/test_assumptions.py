"""What is assumed in the page: its state, undo and redo, who is asked, and what is said, with answers made by hand."""

from __future__ import annotations

import random
from typing import Any

import pytest
from tests.browser.assuming import FAKE, KINDS, StateModel
from tests.browser.pages import Seen

from dagpost.features import Feature, edge, parse, path
from dagpost.features.names import quoted
from dagpost.features.statements.adjacent import adjacent

#: Names that could be taken for something else, by the language or by the page.
NASTY = (
    *("plain", "in", "P", "mb", "12", "1.5", "-3", "_||_", "a_||_b", "{a, b}", "!(x)", "a -> b", "a -- b & c"),
    *('say "x"', "it's", """both " and '""", "\\", "ends with \\", '\\"', "[t-1]", "x[t-1]", "x[t]", "P(a | b)"),
    *(
        "🙂",
        "ÄÖ ß",
        "two\nlines",
        "tab\t",
        "\x1b[31m",
        "\u2028",
        "\u202ertl",
        "<img src=x onerror=alert(1)>",
        " spaces ",
        "",
    ),
)


@pytest.fixture
def page(seen: Seen) -> Any:
    """The page with the source made by hand, and nothing assumed."""
    seen.resize(1200, 900)
    seen.page.evaluate(FAKE)
    return seen.page


def _assume(page: Any, kind: str, source: int, target: int) -> None:
    page.evaluate("([kind, from, to]) => Report.assume({ kind, from, to })", [kind, source, target])


def _given(page: Any) -> list[list[Any]]:
    found: list[list[Any]] = page.evaluate("Report.state.given.map(({ kind, from, to }) => [kind, from, to])")
    return found


def _settle(page: Any) -> None:
    page.wait_for_function("!Report.progress.asking")


# The state


def test_a_walk_of_changes_ends_where_the_obvious_model_does(page: Any) -> None:
    rng, model = random.Random(17), StateModel()
    steps: list[Any] = []
    expected = []
    for _ in range(150):
        did = rng.choices(("assume", "free", "undo", "redo", "reset"), (8, 2, 4, 3, 0.5))[0]
        source, target = rng.sample(range(3), 2)
        own = [rng.choice(KINDS), source, target]
        place = rng.randrange(4)
        steps.append([did, own, place])
        if did == "assume":
            model.assume(*own)
        elif did == "free":
            model.go([kept for number, kept in enumerate(model.given) if number != place])
        elif did == "reset":
            model.go([])
        else:
            getattr(model, did)()
        expected.append([list(map(list, model.given)), len(model.past), len(model.future)])
    seen = page.evaluate(
        """(steps) => steps.map(([did, [kind, from, to], place]) => {
            if (did === "assume") Report.assume({ kind, from, to });
            else if (did === "free") Report.free(place);
            else Report[did]();
            const given = Report.state.given.map(({ kind, from, to }) => [kind, from, to]);
            return [given, Report.past.length, Report.future.length];
        })""",
        steps,
    )
    assert seen == expected
    _settle(page)
    assert page.evaluate("Report.keyOf(Report.shownState) === Report.keyOf(Report.state)")
    listed = page.locator("#assumptions .assumed li")
    assert listed.count() == len(model.given)


def test_a_contradiction_replaces_the_earlier_assumption_in_its_place(page: Any) -> None:
    _assume(page, "apart", 0, 1)
    _assume(page, "edge", 2, 3)
    _assume(page, "edge", 1, 0)
    assert _given(page) == [["edge", 1, 0], ["edge", 2, 3]]
    # What one already assumes is not a step.
    before = page.evaluate("Report.past.length")
    _assume(page, "edge", 2, 3)
    assert page.evaluate("Report.past.length") == before
    # Neither does one direction that is ruled out contradict that the two are joined.
    page.evaluate("Report.reset()")
    _assume(page, "no-edge", 0, 1)
    _assume(page, "joined", 1, 0)
    assert _given(page) == [["no-edge", 0, 1], ["joined", 1, 0]]


def test_keys_undo_and_redo_but_not_while_one_writes(page: Any) -> None:
    _assume(page, "edge", 0, 1)
    page.locator("#graph").focus()
    page.keyboard.press("Control+z")
    assert _given(page) == []
    page.keyboard.press("Control+Shift+z")
    assert len(_given(page)) == 1
    page.keyboard.press("Control+z")
    page.keyboard.press("Control+y")
    assert len(_given(page)) == 1
    page.locator("#variable").focus()
    page.keyboard.press("Control+z")
    assert len(_given(page)) == 1


# Statements


def test_statements_are_read_back_by_the_language_whatever_the_names_are(page: Any) -> None:
    names = list(NASTY)
    cases = [(kind, place, (place + 1) % len(names)) for place in range(len(names)) for kind in KINDS]
    texts = page.evaluate(
        """([written, cases]) => {
            const kept = Report.data.written;
            Report.data.written = written;
            const texts = cases.map(([kind, from, to]) => Report.statementOf({ kind, from, to }));
            Report.data.written = kept;
            return texts;
        }""",
        [list(map(quoted, names)), cases],
    )
    meant = {
        "edge": edge,
        "no-edge": lambda one, two: ~edge(one, two),
        "joined": adjacent,
        "apart": lambda one, two: ~adjacent(one, two),
        "path": path,
        "no-path": lambda one, two: ~path(one, two),
    }
    for text, (kind, source, target) in zip(texts, cases, strict=True):
        expected: Feature = meant[kind](names[source], names[target])
        assert parse(text, names).feature == expected, text


# Who is asked


def test_answers_to_what_is_no_longer_asked_are_dropped(page: Any) -> None:
    page.evaluate("() => { window.answer = (state) => new Promise((done) => later.push(() => done(madeUp(state)))); }")
    _assume(page, "edge", 0, 1)
    _assume(page, "edge", 1, 2)
    assert page.evaluate("asked.slice(-2).map(({ signal }) => signal.aborted)") == [True, False]
    # The second answer comes first, and then the first one.
    page.evaluate("later[1]()")
    _settle(page)
    page.evaluate("later[0]()")
    page.evaluate("new Promise((done) => setTimeout(done))")
    assert page.evaluate("Report.view.edges[1][2]") == 1
    assert page.evaluate("Report.shownState.given.length") == 2


def test_a_later_source_replaces_the_answer_of_an_earlier_one(page: Any) -> None:
    page.evaluate(
        """() => {
            window.seen = [];
            document.addEventListener("view", ({ detail }) => seen.push([detail.view.source, detail.before?.source]));
            const drawn = { source: "draws", few: true, seconds: 2, graphs: { left: 37, of: 3000, worth: 30 } };
            const slow = (state) => new Promise((done) => later.push(() => done(madeUp(state))));
            window.answer = (state) => madeUp(state, drawn);
            Report.sources.push({ name: "mute", view: () => null }, { name: "exact", view: slow });
            Report.assume({ kind: "edge", from: 0, to: 1 });
        }"""
    )
    source = page.locator("#assumptions .source")
    page.wait_for_function("later.length > 0")
    assert source.text_content() == (
        "Too few graphs left: 37 of 3,000 distinct ones drawn, worth 30 independent draws. "
        "A better answer comes in about 2 s."
    )
    page.evaluate("later.pop()()")
    _settle(page)
    assert source.text_content() == "Exact: all graphs that are left are summed."
    # Both are compared with what was seen before the change.
    assert page.evaluate("seen") == [["draws", "exact"], ["exact", "exact"]]
    page.evaluate("asked.length = 0")
    page.evaluate("Report.undo(), Report.redo()")
    assert page.evaluate("asked.length") == 0, "what was found is not asked for again"


def test_a_source_that_fails_says_so_and_the_old_view_stays_marked(page: Any) -> None:
    _assume(page, "edge", 0, 1)
    _settle(page)
    page.evaluate("() => { window.answer = () => { throw new Error('Nobody answers.'); }; }")
    _assume(page, "edge", 1, 2)
    _settle(page)
    assert page.evaluate("Report.progress") == {
        "asking": False,
        "trouble": {"source": "made up", "words": "Nobody answers.", "impossible": False, "proven": False},
        "old": True,
    }
    trouble = page.locator("#assumptions .trouble")
    assert "Nobody answers." in trouble.inner_text()
    assert page.locator(".picture.old").count() == 1
    assert page.locator("#live").text_content() == "Nobody answers."
    assert page.evaluate("Report.view.edges[1][2]") == 0.3
    page.evaluate("() => { window.answer = madeUp; }")
    trouble.get_by_role("button", name="Try again").click()
    _settle(page)
    assert trouble.is_hidden()
    assert page.evaluate("Report.view.edges[1][2]") == 1


def test_the_impossible_names_the_culprit_which_can_be_taken_back(page: Any) -> None:
    names = page.evaluate("Report.data.names")
    page.evaluate(
        """() => {
            const refused = Object.assign(new Error("No graph has all of these."), { refused: true });
            window.answer = (state) => { if (state.given.length > 2) throw refused; return madeUp(state); };
        }"""
    )
    for way in ((0, 1), (1, 2), (2, 0)):
        _assume(page, "edge", *way)
        _settle(page)
    trouble = page.locator("#assumptions .trouble")
    circle = " → ".join(names[place] for place in (0, 1, 2, 0))
    assert f"{circle} would be a circle, and no graph here has one." in trouble.inner_text()
    assert page.locator("#assumptions .culprit .what").inner_text().startswith(f"{names[2]} → {names[0]}")
    assert trouble.get_by_role("button", name="Try again").count() == 0
    trouble.get_by_role("button", name=f"Take back: {names[2]} → {names[0]}").click()
    _settle(page)
    assert _given(page) == [["edge", 0, 1], ["edge", 1, 2]]
    assert trouble.is_hidden()
    # Where no graph is left, it is the same.
    page.evaluate(
        "() => { window.answer = (state) => madeUp(state, { source: 'draws', graphs: { left: 0, of: 9, worth: 0 } }); }"
    )
    _assume(page, "apart", 3, 4)
    _settle(page)
    assert "No drawn graph meets all of your assumptions" in trouble.inner_text()
    assert page.locator("#assumptions .culprit").count() == 1


# What is listed


def test_what_changed_is_listed_largest_first_and_told_once(page: Any) -> None:
    names = page.evaluate("Report.data.names")
    page.evaluate(
        """() => {
            window.answer = (state) => {
              const view = madeUp(state);
              if (state.given.length === 1) { view.edges[2][3] = 0.6; view.edges[3][2] = 0; view.edges[1][2] = 0.2; }
              return view;
            };
            window.told = [];
            const live = Report.find("live");
            new MutationObserver(() => told.push(live.textContent)).observe(live, { childList: true });
        }"""
    )
    _assume(page, "edge", 0, 1)
    _settle(page)
    rows = page.locator("#assumptions .changed li")
    said = [" ".join(row.split()) for row in rows.all_inner_texts()]
    assert said == [
        f"{names[2]} → {names[3]} 0.300 → 0.600 ▲",
        f"{names[1]} — {names[2]} 0.600 → 0.500 ▼",
    ]
    assert page.evaluate("told") == [
        "Your assumption has probability 0.3: you have assumed away 70% of the posterior. 2 pairs changed. "
        f"{names[2]} → {names[3]} from 0.300 to 0.600; {names[1]} — {names[2]} from 0.600 to 0.500."
    ]
    rows.first.get_by_role("button").click()
    lit = "Report.boxes(Report.picture()).filter((box) => box.matches('.lit')).map(Report.nodeOf).sort()"
    assert page.evaluate(lit) == [2, 3]
    rows.first.get_by_role("button").click()
    assert page.locator("svg.graph.chosen").count() == 0
    _assume(page, "apart", 0, 4)
    _settle(page)
    _assume(page, "apart", 0, 5)
    _settle(page)
    changed = page.locator("#assumptions .changed")
    assert changed.inner_text().endswith("No other pair changed by 0.02 or more.")


# Hands


def test_a_click_on_a_line_offers_what_can_be_assumed(page: Any, seen: Seen) -> None:
    x, y = seen.line_of(0)
    page.mouse.click(x, y)
    menu = page.locator("#pair-menu")
    source, target = page.evaluate("[Report.pairs[0].from, Report.pairs[0].to]")
    names = page.evaluate("Report.data.names")
    words = menu.get_by_role("menuitemradio")
    assert [text.split("\n")[0] for text in words.all_inner_texts()] == [
        f"{names[source]} → {names[target]} is there",
        f"{names[target]} → {names[source]} is there",
        "not joined",
        "free",
    ]
    assert words.nth(3).get_attribute("aria-checked") == "true"
    words.nth(1).click()
    _settle(page)
    assert menu.count() == 0
    assert _given(page) == [["edge", target, source]]
    # The panel of the pair has the same buttons, and knows what is chosen.
    buttons = page.locator("#panel .pair-choices button")
    assert [buttons.nth(number).get_attribute("aria-pressed") for number in range(4)] == [
        "false",
        "true",
        "false",
        "false",
    ]
    buttons.nth(2).click()
    assert _given(page) == [["apart", source, target]]
    buttons.nth(3).click()
    assert _given(page) == []


def test_any_two_variables_can_be_assumed_about_and_the_list_takes_back(page: Any) -> None:
    page.locator("#assumptions .pairing summary").click()
    first, kind, second = page.locator("#assumptions .pair-form select").all()
    first.select_option("5")
    kind.select_option("path")
    second.select_option("2")
    page.get_by_role("button", name="Assume it").click()
    _settle(page)
    assert _given(page) == [["path", 5, 2]]
    undo = page.locator("#assumptions .buttons button").first
    assert undo.get_attribute("aria-label").startswith("Undo: assume a path leads from ")
    page.locator("#assumptions .remove").click()
    assert _given(page) == []
    # The focus is not lost with the button that had it.
    assert page.evaluate("document.activeElement.closest('#assumptions') !== null")
    undo.click()
    assert _given(page) == [["path", 5, 2]]


def test_names_are_text_in_the_list_the_menu_and_the_form(page: Any) -> None:
    page.evaluate(
        """(names) => {
            Report.data.names.splice(0, 3, ...names);
            Report.buildAssumptions();
            Report.drawAssumptions();
            Report.openMenu(0, 1, { x: 300, y: 300 });
            Report.assume({ kind: "edge", from: 0, to: 1 });
        }""",
        ["<img src=x onerror=alert(1)>", "</section><script>alert(2)</script>", "\u202e&amp;"],
    )
    _settle(page)
    assert page.locator("#assumptions img, #assumptions script, #pair-menu img, #pair-menu script").count() == 0
    assert "<img src=x onerror=alert(1)> →" in page.locator("#assumptions .assumed").inner_text()
    assert "<img src=x onerror=alert(1)> →" in page.locator("#pair-menu").inner_text()


def test_each_assumption_says_what_it_costs_given_those_above(page: Any) -> None:
    _assume(page, "edge", 0, 1)
    _settle(page)
    # That of a single one is the chance, which is told anyway.
    assert page.locator("#assumptions .cost").count() == 0
    _assume(page, "edge", 1, 2)
    _settle(page)
    assert page.locator("#assumptions .cost").all_inner_texts() == ["0.300", "0.300"]
    chance = "{ value: 0.045, lower: 0.04, upper: 0.05, exact: false, said: '' }"
    page.evaluate(f"() => {{ window.answer = (state) => madeUp(state, {{ chance: {chance} }}); }}")
    _assume(page, "edge", 2, 3)
    _settle(page)
    assert page.locator("#assumptions .cost").all_inner_texts() == ["0.300", "0.300", "≈0.500"]
