"use strict";
// What is assumed at the moment, how that was reached (undo and redo), and who is asked what follows from it. Nothing is
// drawn here: `state` and `view` are events of the document, and others listen.
//
// An assumption is {kind, from, to, text}: kind "edge", "no-edge", "joined", "apart", "path" or "no-path" about two
// variables by their places, or "statement" with a text of the statement language. `setting` has values of what the model
// averages over, by name. A source is {name, view}, where view(state, signal) gives a view, now or later, or null if it
// cannot say.

Report.NOTHING = Object.freeze({ given: Object.freeze([]), setting: Object.freeze({}) });
// How much is assumed in a state, or in that of a view.
Report.assumed = ({ given, setting }) => given.length + Object.keys(setting).length;

Report.state = Report.NOTHING;
Report.sources = [];
// What is shown now, and what was found without any assumption.
Report.view = null;
Report.baseView = null;
// What the reader should know of the numbers: whether a better answer is being looked for, what went wrong, and whether the
// view in sight is that of an earlier state. Trouble is {source, words, impossible, proven}: no graph is left, for sure or
// among the drawn ones.
Report.progress = { asking: false, trouble: null, old: false };
// Changes are told against the view before the last change ("before"), or against no assumption at all ("base").
Report.compared = "before";

// As statements

// Kind: what is said of the pair, and whether it is denied.
Report.KINDS = {
  edge: ["->", false],
  "no-edge": ["->", true],
  joined: ["--", false],
  apart: ["--", true],
  path: ["~>", false],
  "no-path": ["~>", true],
};

Report.statementOf = (assumption) => {
  if (assumption.kind === "statement") return assumption.text;
  const [sign, denied] = Report.KINDS[assumption.kind];
  // As the language writes names: in quotes where they are not plain words.
  const { written } = Report.data;
  const said = `${written[assumption.from]} ${sign} ${written[assumption.to]}`;
  return denied ? `!(${said})` : said;
};

// Which assumptions exclude each other

// All that can be the case between two variables: an edge onward or back, or none and perhaps a longer path.
const ONWARD = 1;
const BACK = 2;
const LONGER_ONWARD = 4;
const LONGER_BACK = 8;
const NOTHING = 16;
const ANYTHING = ONWARD + BACK + LONGER_ONWARD + LONGER_BACK + NOTHING;
const LEFT_BY = { "->": ONWARD, "--": ONWARD + BACK, "~>": ONWARD + LONGER_ONWARD };
const LEFT_BY_REVERSED = { "->": BACK, "--": ONWARD + BACK, "~>": BACK + LONGER_BACK };

// What an assumption leaves of these, seen from one of the two variables.
Report.leftBy = ({ kind, from }, seenFrom) => {
  const [sign, denied] = Report.KINDS[kind];
  const left = (from === seenFrom ? LEFT_BY : LEFT_BY_REVERSED)[sign];
  return denied ? ANYTHING - left : left;
};

Report.samePair = (one, two) => one.kind !== "statement" && two.kind !== "statement"
  && ((one.from === two.from && one.to === two.to) || (one.from === two.to && one.to === two.from));

Report.sameAssumption = (one, two) => Report.statementOf(one) === Report.statementOf(two)
  || (Report.samePair(one, two) && one.kind === two.kind && ["joined", "apart"].includes(one.kind));

// Whether a new assumption takes the place of an earlier one: both cannot hold, or both are about the edge of one pair and
// one says no more than the other. Who chooses "not joined" after "A → B" has changed his mind.
Report.replaces = (now, earlier) => {
  if (Report.sameAssumption(now, earlier)) return true;
  if (!Report.samePair(now, earlier)) return false;
  const [mine, theirs] = [Report.leftBy(now, now.from), Report.leftBy(earlier, now.from)];
  const both = mine & theirs;
  const alike = now.kind.endsWith("path") === earlier.kind.endsWith("path");
  return both === 0 || (alike && (both === mine || both === theirs));
};

// Variables whose assumed edges and paths lead back to the first of them; null where there is no such circle.
Report.circle = (given) => {
  const after = (place) => given.filter(({ kind, from }) => (kind === "edge" || kind === "path") && from === place).map(({ to }) => to);
  const search = (way) => {
    for (const next of after(way.at(-1))) {
      if (next === way[0]) return [...way, next];
      const found = way.includes(next) ? null : search([...way, next]);
      if (found) return found;
    }
    return null;
  };
  for (const start of new Set(given.map(({ from }) => from))) {
    const found = start === undefined ? null : search([start]);
    if (found) return found;
  }
  return null;
};

// What is assumed, and what was

Report.past = [];
Report.future = [];

Report.keyOf = ({ given, setting }) => JSON.stringify([given.map(Report.statementOf), Object.entries(setting).sort()]);

// Goes to a state; `step` says what was done, for the names of undo and redo.
Report.goTo = (state, step) => {
  if (Report.keyOf(state) === Report.keyOf(Report.state)) return false;
  Report.past.push({ state: Report.state, step });
  Report.future = [];
  Report.arrive(state);
  return true;
};

Report.arrive = (state) => {
  Report.state = Object.freeze({ given: Object.freeze([...state.given]), setting: Object.freeze({ ...state.setting }) });
  // Whoever hears of the state should not take the view in sight for its own.
  Report.progress = { asking: true, trouble: null, old: true };
  document.dispatchEvent(new CustomEvent("state", { detail: Report.state }));
  Report.refresh();
};

// Assumes something; false where it was assumed before.
Report.assume = (assumption) => {
  const { given, setting } = Report.state;
  if (given.some((earlier) => Report.sameAssumption(assumption, earlier))) return false;
  const own = Object.freeze({ ...assumption, text: Report.statementOf(assumption) });
  const first = given.findIndex((earlier) => Report.replaces(own, earlier));
  const kept = given.filter((earlier) => !Report.replaces(own, earlier));
  // Takes the place of the first that it replaces: those before it were kept.
  kept.splice(first < 0 ? kept.length : first, 0, own);
  return Report.goTo({ given: kept, setting }, { did: "assume", about: own });
};

Report.free = (place) => {
  const { given, setting } = Report.state;
  if (!(place in given)) return false;
  return Report.goTo({ given: given.filter((_, other) => other !== place), setting }, { did: "free", about: given[place] });
};

// Frees whatever is assumed about an edge of a pair.
Report.freePair = (from, to) => {
  const { given, setting } = Report.state;
  const own = given.filter((assumption) => Report.aboutEdge(assumption, from, to));
  if (own.length === 0) return false;
  return Report.goTo({ given: given.filter((one) => !own.includes(one)), setting }, { did: "free", about: own[0] });
};

Report.aboutEdge = (assumption, from, to) => Report.samePair(assumption, { kind: "edge", from, to })
  && !assumption.kind.endsWith("path");

// One value of what the model averages over; null: averaged again.
Report.setSetting = (name, value) => {
  const { given, setting } = Report.state;
  const others = Object.entries(setting).filter(([own]) => own !== name);
  const values = value === null ? others : [...others, [name, value]];
  return Report.goTo({ given, setting: Object.fromEntries(values) }, { did: "set", about: name });
};

Report.reset = () => Report.goTo(Report.NOTHING, { did: "reset" });

// Everything at once: the state of a link or of the command line.
Report.restore = ({ given, setting = {} }) => Report.goTo({
  given: given.map((own) => Object.freeze({ ...own, text: Report.statementOf(own) })), setting,
}, { did: "open" });

Report.undo = () => {
  const before = Report.past.pop();
  if (!before) return false;
  Report.future.push({ state: Report.state, step: before.step });
  Report.arrive(before.state);
  return true;
};

Report.redo = () => {
  const after = Report.future.pop();
  if (!after) return false;
  Report.past.push({ state: Report.state, step: after.step });
  Report.arrive(after.state);
  return true;
};

// What follows from it

// Views that will not get better, by their states: undo and redo are instant.
const MOST_KEPT = 40;
Report.kept = new Map();
// The state of the view that is shown, and the view that was shown for another state before.
Report.shownState = null;
Report.beforeView = null;

let turn = 0;
let waiting = null;

// Asks all sources about the present state, the fastest first. Answers to what is no longer asked are dropped.
Report.refresh = async () => {
  const own = ++turn;
  const { state } = Report;
  waiting?.abort();
  waiting = new AbortController();
  const kept = Report.kept.get(Report.keyOf(state));
  if (kept) {
    Report.take(kept, state);
    Report.tellProgress({ asking: false, trouble: null, old: false });
    return;
  }
  // Nobody need be asked about a circle.
  const circle = Report.circle(state.given);
  if (circle) {
    const trouble = { source: null, words: Report.circleWords(circle), impossible: true, proven: true };
    Report.tellProgress({ asking: false, trouble, old: Report.isOld() });
    return;
  }
  Report.tellProgress({ asking: true, trouble: null, old: Report.isOld() });
  let trouble = null;
  let answered = false;
  let impossible = false;
  for (const source of Report.sources) {
    let view = null;
    try {
      view = await source.view(state, waiting.signal);
    } catch (error) {
      if (own !== turn) return;
      trouble = { source: source.name, words: Report.wordsOf(error), impossible: error?.refused === true, proven: error?.refused === true };
    }
    if (own !== turn) return;
    if (!view) continue;
    // A better source may know graphs where this one has none.
    impossible = Report.isEmpty(view);
    trouble = impossible ? { source: source.name, words: Report.emptyWords(view), impossible, proven: view.source !== "draws" } : null;
    if (impossible) continue;
    answered = true;
    Report.take(view, state);
    Report.tellProgress({ asking: true, trouble, old: false });
  }
  if (answered && trouble === null && Report.view.final !== false) Report.keep(state, Report.view);
  if (!answered && trouble === null && Report.sources.length > 0) {
    trouble = { source: null, words: Report.draws?.trouble ?? "The graphs in this page cannot judge this assumption.", impossible: false, proven: false };
  }
  Report.tellProgress({ asking: false, trouble, old: !answered && Report.isOld() });
};

// Whether the view in sight is that of another state.
Report.isOld = () => Report.shownState !== null && Report.keyOf(Report.shownState) !== Report.keyOf(Report.state);

// Whether a view says that no graph is left.
Report.isEmpty = (view) => view.graphs?.left === 0 || (view.chance !== null && view.chance.upper === 0);

Report.wordsOf = (error) => {
  const words = error instanceof Error ? error.message : String(error ?? "");
  return words.trim() === "" ? "No answer came." : words;
};

Report.keep = (state, view) => {
  Report.kept.delete(Report.keyOf(state));
  Report.kept.set(Report.keyOf(state), view);
  if (Report.kept.size > MOST_KEPT) Report.kept.delete(Report.kept.keys().next().value);
};

// Shows a view of a state.
Report.take = (view, state) => {
  if (Report.isOld()) Report.beforeView = Report.view;
  Report.view = view;
  Report.shownState = state;
  if (Report.assumed(state) === 0) Report.baseView = view;
  Report.announceView();
};

Report.announceView = () => {
  const before = Report.compared === "base" ? Report.baseView : Report.beforeView;
  document.dispatchEvent(new CustomEvent("view", { detail: { view: Report.view, before, base: Report.baseView } }));
};

Report.compareWith = (which) => {
  Report.compared = which;
  if (Report.view) Report.announceView();
};

Report.tellProgress = (progress) => {
  Report.progress = progress;
  document.dispatchEvent(new CustomEvent("progress", { detail: progress }));
};

// The last assumption that the view in sight does not know yet: with it the trouble began.
Report.culprit = () => {
  const known = new Set((Report.shownState?.given ?? []).map(Report.statementOf));
  const { given } = Report.state;
  for (let place = given.length - 1; place >= 0; place -= 1) {
    if (!known.has(Report.statementOf(given[place]))) return place;
  }
  return null;
};

// Takes the last change back if the trouble began with it, else the assumption alone.
Report.takeBack = (place) => {
  const last = Report.past.at(-1);
  if (last && Report.shownState && Report.keyOf(last.state) === Report.keyOf(Report.shownState)) return Report.undo();
  return Report.free(place);
};
