"""What is assumed in the page: its state, undo and redo, who is asked, and what is said, with answers made by hand."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest
from tests.browser.pages import Seen

from dagpost.features import Feature, edge, parse, path
from dagpost.features.names import quoted
from dagpost.features.statements.adjacent import adjacent

#: Names that could be taken for something else, by the language or by the page.
NASTY = (
    *("plain", "in", "P", "mb", "12", "1.5", "-3", "_||_", "a_||_b", "{a, b}", "!(x)", "a -> b", "a -- b & c"),
    *('say "x"', "it's", """both " and '""", "\\", "ends with \\", '\\"', "[t-1]", "x[t-1]", "x[t]", "P(a | b)"),
    *("🙂", "ÄÖ ß", "two\nlines", "tab\t", "\x1b[31m", "\u2028", "\u202ertl", "<img src=x onerror=alert(1)>", " spaces ", ""),
)

#: A source whose answers are made by hand. `answers` holds what tests put there; without that, a view in which an edge
#: that is assumed is certain, every other one has probability 0.3, and the chance is 0.3 for each assumption.
FAKE = """
() => {
  const count = Report.data.names.length;
  window.asked = [];
  window.later = [];
  window.madeUp = (state, more = {}) => {
    const edges = Array.from({ length: count }, (_, from) => Array.from({ length: count }, (__, to) => (from === to ? 0 : 0.3)));
    for (const { kind, from, to } of state.given) {
      if (kind === "edge" || kind === "apart") edges[to][from] = 0;
      if (kind === "edge") edges[from][to] = 1;
      if (kind === "apart") edges[from][to] = 0;
    }
    const value = 0.3 ** state.given.length;
    const chance = state.given.length === 0 ? null : { value, lower: value, upper: value, exact: true, said: "" };
    return { given: [], setting: null, chance, source: "exact", final: true, seconds: null, graphs: null, few: false, edges,
      paths: null, by_data: null, by_rules: null, by_model: null, settled: [], fixed: [], notes: [], ...more };
  };
  window.answer = (state) => window.madeUp(state);
  Report.sources.length = 0;
  Report.sources.push({ name: "made up", view: (state, signal) => { asked.push({ state, signal }); return answer(state); } });
  Report.kept.clear();
  Report.startAssuming();
  return Report.refresh();
}
"""


@pytest.fixture
def page(seen: Seen) -> Iterator[Any]:
    """The page with the source made by hand, and nothing assumed."""
    seen.resize(1200, 900)
    seen.page.evaluate(FAKE)
    yield seen.page


def _assume(page: Any, kind: str, source: int, target: int) -> None:
    page.evaluate("([kind, from, to]) => Report.assume({ kind, from, to })", [kind, source, target])


def _given(page: Any) -> list[list[Any]]:
    found: list[list[Any]] = page.evaluate("Report.state.given.map(({ kind, from, to }) => [kind, from, to])")
    return found


def _settle(page: Any) -> None:
    page.wait_for_function("!Report.progress.asking")


# The state


class _Model:
    """What the state should be: the obvious way."""

    def __init__(self) -> None:
        self.past: list[list[tuple[str, int, int]]] = []
        self.future: list[list[tuple[str, int, int]]] = []
        self.given: list[tuple[str, int, int]] = []

    def go(self, given: list[tuple[str, int, int]]) -> None:
        if given != self.given:
            self.past.append(self.given)
            self.future, self.given = [], given

    def assume(self, kind: str, source: int, target: int) -> None:
        if any(_means(own) == _means((kind, source, target)) for own in self.given):
            return
        out = [own for own in self.given if _replaced(own, (kind, source, target))]
        given = [own for own in self.given if own not in out]
        given.insert(self.given.index(out[0]) if out else len(given), (kind, source, target))
        self.go(given)

    def undo(self) -> None:
        if self.past:
            self.future.append(self.given)
            self.given = self.past.pop()

    def redo(self) -> None:
        if self.future:
            self.past.append(self.given)
            self.given = self.future.pop()


#: What can be between the first and the second of two variables: an edge or none, a path or none, each way.
_CASES = [("->", "~>"), ("<-", "<~"), (None, "~>"), (None, "<~"), (None, None)]


def _means(assumption: tuple[str, int, int]) -> tuple[frozenset[int], frozenset[int]]:
    """The two variables, and the cases that are left, seen from the lower one."""
    kind, source, target = assumption
    onward = source < target
    arrow, way = ("->", "~>") if onward else ("<-", "<~")
    holds = {
        "edge": lambda edge, _: edge == arrow,
        "no-edge": lambda edge, _: edge != arrow,
        "joined": lambda edge, _: edge is not None,
        "apart": lambda edge, _: edge is None,
        "path": lambda _, path: path == way,
        "no-path": lambda _, path: path != way,
    }[kind]
    return frozenset((source, target)), frozenset(place for place, case in enumerate(_CASES) if holds(*case))


def _replaced(earlier: tuple[str, int, int], now: tuple[str, int, int]) -> bool:
    (pair, left), (other, mine) = _means(earlier), _means(now)
    if pair != other:
        return False
    same_sort = earlier[0].endswith("path") == now[0].endswith("path")
    return not left & mine or (same_sort and (left <= mine or mine <= left))


KINDS = ("edge", "no-edge", "joined", "apart", "path", "no-path")


def test_a_walk_of_changes_ends_where_the_obvious_model_does(page: Any) -> None:
    rng, model = random.Random(17), _Model()
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
    cases = [[kind, place, (place + 1) % len(names)] for place in range(len(names)) for kind in KINDS]
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
            window.answer = (state) => madeUp(state, { source: "draws", few: true, seconds: 2, graphs: { left: 37, of: 3000, worth: 30 } });
            Report.sources.push({ name: "mute", view: () => null });
            Report.sources.push({ name: "exact", view: (state) => new Promise((done) => later.push(() => done(madeUp(state)))) });
            Report.assume({ kind: "edge", from: 0, to: 1 });
        }"""
    )
    source = page.locator("#assumptions .source")
    page.wait_for_function("later.length > 0")
    assert source.text_content() == (
        "For now from 37 of 3,000 drawn graphs, worth 30 independent ones: numbers are within ±0.2. "
        "Too few graphs left: 37. A better answer comes in about 2 s."
    )
    page.evaluate("later.pop()()")
    _settle(page)
    assert source.text_content() == "Exact: all graphs that are left are summed."
    # Both are compared with what was seen before the change.
    assert page.evaluate("seen") == [["draws", "exact"], ["exact", "exact"]]
    page.evaluate("asked.length = 0")
    page.evaluate("Report.undo(), Report.redo()")
    assert page.evaluate("asked.length") == 0, "what was found is not asked for again"
