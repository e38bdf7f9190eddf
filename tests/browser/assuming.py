"""What tests of assumptions share: a source whose answers are made by hand, and what the state should be."""

from __future__ import annotations

KINDS = ("edge", "no-edge", "joined", "apart", "path", "no-path")

#: A source whose answers are made by hand. A test may put another `answer` there; without that, it is a view in which
#: an edge that is assumed is certain, every other one has probability 0.3, and the chance is 0.3 for each assumption.
FAKE = """
() => {
  const count = Report.data.names.length;
  window.asked = [];
  window.later = [];
  window.madeUp = (state, more = {}) => {
    const places = [...Array(count).keys()];
    const edges = places.map((from) => places.map((to) => (from === to ? 0 : 0.3)));
    for (const { kind, from, to } of state.given) {
      if (kind === "edge" || kind === "apart") edges[to][from] = 0;
      if (kind === "edge") edges[from][to] = 1;
      if (kind === "apart") edges[from][to] = 0;
    }
    const value = 0.3 ** state.given.length;
    const chance = state.given.length === 0 ? null : { value, lower: value, upper: value, exact: true, said: "" };
    return {
      given: [], setting: {}, chance, source: "exact", final: true, seconds: null, graphs: null, few: false, edges,
      paths: null, by_data: null, by_rules: null, by_model: null, settled: [], fixed: [], notes: [], ...more,
    };
  };
  window.answer = (state) => window.madeUp(state);
  Report.sources.length = 0;
  const view = (state, signal) => {
    asked.push({ state, signal });
    return answer(state);
  };
  Report.sources.push({ name: "made up", view });
  Report.kept.clear();
  Report.startAssuming();
  return Report.refresh();
}
"""


class StateModel:
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
