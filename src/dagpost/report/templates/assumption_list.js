"use strict";
// What is assumed, as it is seen: the list with what each assumption costs, how much was assumed away, where the numbers
// come from, what grew and what shrank, undo and redo. The same in the report and in the explorer, in #assumptions.

const MOST_CHANGES = 8;
const MOST_SPOKEN = 3;
// Smaller changes are not worth a line.
const LEAST_CHANGE = 0.02;

Report.parts = {};

// Builds the section once; what changes is put into its parts later.
Report.buildAssumptions = () => {
  const section = Report.find("assumptions");
  const { element, parts } = Report;
  const button = (words, act) => {
    const made = element("button", words);
    made.type = "button";
    made.addEventListener("click", () => { if (made.getAttribute("aria-disabled") !== "true") act(); });
    return made;
  };
  parts.title = element("h2", "Assumptions");
  parts.hint = element("p", "What if? Click a line to assume that it is there, turned, or absent, and see what else changes.", "help");
  parts.list = element("ol", undefined, "assumed");
  parts.costs = element("p", "Each number: its probability given those above.", "help");
  parts.chance = element("div", undefined, "chance");
  parts.bar = element("div", undefined, "chance-bar");
  parts.bar.setAttribute("aria-hidden", "true");
  parts.chanceSaid = element("p");
  parts.chance.append(parts.bar, parts.chanceSaid);
  parts.source = element("p", "", "help source");
  parts.scope = element("p", "The rest of this page, but for the table of pairs, assumes nothing.", "help");
  parts.trouble = element("div", undefined, "trouble");
  parts.changed = element("div", undefined, "changed");
  parts.undo = button("Undo", Report.undo);
  parts.redo = button("Redo", Report.redo);
  parts.reset = button("Free all", Report.reset);
  parts.buttons = element("p", undefined, "buttons");
  parts.buttons.append(parts.undo, parts.redo, parts.reset);
  parts.fold = element("details", undefined, "pairing");
  parts.form = Report.pairForm();
  parts.fold.append(element("summary", "Assume something about any two variables"), parts.form);
  section.replaceChildren(
    parts.title, parts.hint, parts.list, parts.costs, parts.chance, parts.trouble, parts.source, parts.scope, parts.buttons,
    parts.changed, parts.fold);
};

Report.openForm = (place) => {
  Report.parts.fold.open = true;
  Report.parts.form.choose(place);
  Report.parts.form.querySelectorAll("select")[2].focus();
};

Report.put = (element, parts) => {
  for (const part of parts) element.append(typeof part === "number" ? Report.name(part) : part);
  return element;
};

// The list

Report.drawList = () => {
  const { parts } = Report;
  const { list } = parts;
  const { given } = Report.state;
  const culprit = Report.progress.trouble?.impossible && Report.progress.old ? Report.culprit() : null;
  const costs = given.map((_, place) => Report.costOf(place));
  // The cost of a single one is told below.
  const costly = given.length > 1 && costs.some((cost) => cost !== null);
  parts.costs.hidden = !costly;
  list.replaceChildren(...given.map((assumption, place) => {
    const said = Report.assumptionParts(assumption);
    const item = Report.element("li");
    const remove = Report.element("button", "×", "remove");
    remove.type = "button";
    remove.title = "Take this assumption back";
    remove.setAttribute("aria-label", `Take back: ${Report.plainWords(said)}`);
    remove.addEventListener("click", () => Report.removeAt(place));
    item.append(Report.put(Report.element("span", undefined, "what"), said));
    if (costly && costs[place] !== null) item.append(Report.element("span", Report.costWords(costs[place]), "number cost"));
    item.append(remove);
    if (place === culprit) {
      item.classList.add("culprit");
      item.querySelector(".what").append(Report.element("em", Report.progress.trouble.proven ? " cannot be" : " was not drawn with the others"));
    }
    return item;
  }));
  list.hidden = given.length === 0;
};

// The focus goes to the assumption that takes the place of the removed one.
Report.removeAt = (place) => {
  Report.free(place);
  const buttons = Report.parts.list.querySelectorAll(".remove");
  const next = buttons[Math.min(place, buttons.length - 1)] ?? Report.parts.undo;
  next.focus({ preventScroll: true });
};

Report.costWords = ({ value, exact }) => (exact || value < 0.0005 ? "" : "≈") + Report.number(value);

// What an assumption costs: its probability given those above it; null where one of the two numbers is not known.
Report.costOf = (place) => {
  const { given, setting } = Report.state;
  const [before, after] = [place, place + 1].map((count) => Report.chanceAt({ given: given.slice(0, count), setting }));
  if (before === null || after === null || before.value <= 0) return null;
  return { value: Math.min(1, after.value / before.value), exact: before.exact && after.exact };
};

Report.chanceAt = (state) => {
  if (Report.assumed(state) === 0) return { value: 1, exact: true };
  const key = Report.keyOf(state);
  const shown = Report.shownState !== null && Report.keyOf(Report.shownState) === key;
  const view = shown ? Report.view : Report.kept.get(key);
  if (view?.chance) return view.chance;
  const drawn = Report.drawnChance(key, state);
  return drawn === null ? null : { value: drawn, exact: false };
};

// How much of the drawn graphs a state leaves; looked up once for each state.
Report.drawnChances = new Map();
Report.drawnChance = (key, state) => {
  if (!Report.draws?.all) return null;
  if (!Report.drawnChances.has(key)) {
    const chance = Report.draws.chance(state);
    // That it was never drawn does not say how rare it is.
    Report.drawnChances.set(key, chance > 0 ? chance : null);
  }
  return Report.drawnChances.get(key);
};

// The chance

Report.drawChance = () => {
  const { chance, bar, chanceSaid, source } = Report.parts;
  const { view, state, progress } = Report;
  const count = Report.assumed(state);
  const some = count > 0;
  const known = some && view?.chance && !progress.old;
  chance.hidden = !known;
  source.hidden = !some || !view || progress.old;
  // The explorer has nothing else.
  Report.parts.scope.hidden = source.hidden || Boolean(Report.data.explorer);
  if (known) {
    bar.style.setProperty("--chance", `${100 * view.chance.value}%`);
    bar.style.setProperty("--lower", `${100 * view.chance.lower}%`);
    bar.style.setProperty("--upper", `${100 * view.chance.upper}%`);
    bar.classList.toggle("interval", !view.chance.exact);
    chanceSaid.textContent = Report.chanceTold(state, view);
  }
  if (!source.hidden) {
    const told = Report.sourceSentence(view, { asking: progress.asking, command: Report.exactCommand() });
    source.textContent = [told, ...(view.notes ?? [])].join(" ");
    bar.classList.toggle("provisional", progress.asking && view.source !== "exact");
    source.classList.toggle("few", view.few);
  }
};

// How the numbers are had exactly; null where that is being done, or nobody could.
Report.exactCommand = () => (Report.data.explorer || Report.data.base?.source !== "exact" ? null : "dagpost explore MODEL");

Report.drawTrouble = () => {
  const { trouble: place } = Report.parts;
  const { trouble, old } = Report.progress;
  place.hidden = trouble === null;
  if (place.hidden) return;
  const said = [Report.element("p", trouble.words)];
  said.push(Report.element("p", old
    ? "The picture still shows what was found before this change."
    : "The numbers are those found at first; a better answer did not come.", "help"));
  const actions = Report.element("p", undefined, "buttons");
  const culprit = old ? Report.culprit() : null;
  if (culprit !== null) {
    const back = Report.put(Report.element("button", "Take back: "), Report.assumptionParts(Report.state.given[culprit]));
    back.type = "button";
    back.addEventListener("click", () => {
      Report.takeBack(culprit);
      Report.parts.undo.focus({ preventScroll: true });
    });
    actions.append(back);
  }
  if (!trouble.impossible) {
    const again = Report.element("button", "Try again");
    again.type = "button";
    again.addEventListener("click", () => Report.refresh());
    actions.append(again);
  }
  place.replaceChildren(...said, actions);
};

// What changed

// The two views that are compared now; null where there is nothing to compare.
Report.comparedViews = () => {
  const before = Report.compared === "base" ? Report.baseView : Report.beforeView;
  return before && Report.view && before !== Report.view ? [before, Report.view] : null;
};

// What changed elsewhere than where something is assumed, the largest change first.
Report.presentChanges = () => {
  const views = Report.comparedViews();
  if (views === null) return null;
  // Asked for several times an answer: among many columns there are thousands of pairs.
  if (views.some((view, place) => view !== Report.lastChanges?.views[place])) {
    Report.lastChanges = { views, found: Report.changes(...views, LEAST_CHANGE) };
  }
  return Report.lastChanges.found.filter(({ from, to }) => Report.assumedOf(from, to).length === 0);
};

// The number of a pair that changed most: the probability of an edge one way, or that of being joined at all.
Report.changeOf = ({ from, to, before, after }) => {
  const [edgesBefore, edgesAfter] = Report.comparedViews().map(({ edges }) => edges);
  const ways = [
    { parts: [from, " — ", to], numbers: [before.joined, after.joined] },
    ...[[from, to], [to, from]].map(([one, two]) => ({ parts: [one, " → ", two], numbers: [edgesBefore[one][two], edgesAfter[one][two]] })),
  ];
  const size = ({ numbers }) => Math.abs(numbers[1] - numbers[0]);
  // Joined unless a direction changed more; of two directions that of the arrow unless the other one clearly did.
  const [joined, onward, back] = ways;
  const turned = size(back) > 1.2 * size(onward) ? back : onward;
  const { parts, numbers } = size(turned) > size(joined) + 1e-9 ? turned : joined;
  const mark = numbers[1] > numbers[0] ? "▲" : "▼";
  return { parts, numbers: numbers.map(Report.number), mark, now: after.word === before.word ? "" : Report.WORDS_NOW[after.word] ?? "" };
};

// What is said where the word for a direction is another one than before.
Report.WORDS_NOW = {
  clear: "now clear", leaning: "now leaning", rules: "now decided", model: "now decided by the model", open: "now open",
};

Report.drawChanges = () => {
  const { changed } = Report.parts;
  const found = Report.progress.old ? null : Report.presentChanges();
  changed.hidden = found === null;
  if (found === null) return;
  const head = Report.element("h3", "What changed");
  const select = Report.element("select");
  select.setAttribute("aria-label", "Changes against");
  for (const [value, words] of [["before", "since the step before"], ["base", "since nothing was assumed"]]) {
    const option = Report.element("option", words);
    option.value = value;
    option.selected = value === Report.compared;
    select.append(option);
  }
  select.addEventListener("change", () => {
    Report.compareWith(select.value);
    Report.parts.changed.querySelector("select")?.focus({ preventScroll: true });
  });
  const top = Report.element("div", undefined, "changed-head");
  top.append(head);
  if (Report.beforeView !== Report.baseView && Report.view !== Report.baseView) top.append(select);
  const list = Report.element("ul");
  list.append(...found.map((change, number) => {
    const item = Report.changeItem(change);
    item.hidden = number >= MOST_CHANGES;
    return item;
  }));
  changed.replaceChildren(top, list);
  if (found.length === 0) {
    changed.append(Report.element("p", Report.nothingChanged(), "help"));
  }
  if (found.length > MOST_CHANGES) {
    const more = Report.element("button", `Show all ${found.length}`, "more");
    more.type = "button";
    more.addEventListener("click", () => {
      for (const item of list.children) item.hidden = false;
      list.children[MOST_CHANGES].firstChild.focus();
      more.remove();
    });
    changed.append(more);
  }
};

Report.nothingChanged = () => {
  const drawn = Report.comparedViews()?.some(({ source }) => source === "draws");
  return `No other pair changed by ${LEAST_CHANGE} or more${drawn ? ", or by more than drawn graphs differ by chance" : ""}.`;
};

Report.changeItem = (change) => {
  const { parts, numbers, mark, now } = Report.changeOf(change);
  const item = Report.element("li");
  const button = Report.element("button");
  button.type = "button";
  const what = Report.put(Report.element("span", undefined, "what"), parts);
  if (now) what.append(" ", Report.element("em", now));
  const number = Report.element("span", numbers.join(" → "), "number");
  const sign = Report.element("span", mark, mark === "▲" ? "grew" : "shrank");
  sign.setAttribute("aria-hidden", "true");
  button.append(what, number, sign);
  button.addEventListener("click", () => Report.lightPair(change.from, change.to));
  item.append(button);
  return item;
};

// Lights up a pair in the picture, also one whose line is not shown; once more puts it out.
Report.lightPair = (from, to) => {
  const place = Report.placeOf(from, to);
  const own = Report.lines(Report.picture()).find((line) => Number(line.dataset.pair) === place);
  const ends = Report.boxes().filter((box) => [from, to].includes(Report.nodeOf(box)));
  const lit = Report.picture().classList.contains("chosen")
    && Report.boxes(Report.picture()).every((box) => box.classList.contains("lit") === ends.includes(box));
  Report.choose(null, lit ? null : place);
  if (lit) return;
  for (const box of ends) box.classList.add("lit");
  if (own && !own.classList.contains("hidden")) Report.bringIn(own);
};

// Undo and redo

Report.drawHistory = () => {
  const name = (button, words, entry) => {
    const said = entry ? `${words}: ${Report.stepWords(entry.step)}` : words;
    button.setAttribute("aria-label", said);
    button.title = said;
    // Not `disabled`: that would take the focus away from who has just pressed it.
    button.setAttribute("aria-disabled", String(!entry));
  };
  name(Report.parts.undo, "Undo", Report.past.at(-1));
  name(Report.parts.redo, "Redo", Report.future.at(-1));
  Report.parts.reset.setAttribute("aria-disabled", String(Report.assumed(Report.state) === 0));
  Report.parts.buttons.hidden = Report.past.length + Report.future.length === 0;
};

Report.drawAssumptions = () => {
  const { old, asking, trouble } = Report.progress;
  const waiting = asking && old;
  Report.drawList();
  // What was said before stays for the moment, paler: nothing should jump for the sake of a tenth of a second.
  if (!waiting) {
    Report.drawChance();
    Report.drawChanges();
  }
  Report.drawTrouble();
  Report.drawHistory();
  const idle = Report.assumed(Report.state) === 0;
  Report.parts.hint.hidden = !idle;
  Report.find("assumptions").classList.toggle("idle", idle);
  document.querySelectorAll(".pair-choices").forEach(Report.markChoices);
  Report.find("graph").parentElement.classList.toggle("old", old);
  Report.find("assumptions").classList.toggle("computing", waiting && !trouble);
};

// What somebody hears who does not see the page: once for each state, when it is settled.
Report.tellChange = ({ asking, trouble }) => {
  if (asking) return;
  const key = Report.keyOf(Report.state) + (trouble?.words ?? "");
  if (Report.toldOf === key) return;
  const first = Report.toldOf === undefined;
  Report.toldOf = key;
  if (first) return;
  if (trouble) {
    Report.say(trouble.words);
    return;
  }
  const changes = Report.presentChanges() ?? [];
  const most = changes.slice(0, MOST_SPOKEN).map((change) => {
    const { parts, numbers, now } = Report.changeOf(change);
    return `${Report.plainWords(parts)} from ${numbers.join(" to ")}${now ? `, ${now}` : ""}`;
  });
  const told = changes.length === 0 ? Report.nothingChanged() : `${changes.length} ${changes.length === 1 ? "pair" : "pairs"} changed. ${most.join("; ")}.`;
  Report.say(`${Report.chanceTold(Report.state, Report.view)} ${told}`);
};

// Ctrl+Z and its like, unless one is writing.
Report.pressUndo = (event) => {
  if (!(event.ctrlKey || event.metaKey) || event.altKey) return;
  const field = event.target.closest?.("input, textarea, [contenteditable]");
  if (field && !["range", "checkbox", "radio", "button"].includes(field.type)) return;
  const key = event.key.toLowerCase();
  if (key === "z" && !event.shiftKey) Report.undo();
  else if (key === "y" || (key === "z" && event.shiftKey)) Report.redo();
  else return;
  event.preventDefault();
};

Report.startAssuming = () => {
  const section = Report.find("assumptions");
  if (!section || Report.parts.title) return;
  // The drawn graphs answer first; in the explorer they may come later than the page.
  const drawn = Report.draws?.ready || Report.data.explorer;
  if (drawn && !Report.sources.includes(Report.draws)) Report.sources.unshift(Report.draws);
  if (Report.sources.length === 0) return;
  Report.buildAssumptions();
  section.hidden = false;
  if (!Report.data.explorer) Report.find("graph-help").append(" Click a line, or press Enter on it, to assume that it is there, turned, or absent.");
  Report.watchMenu();
  for (const happened of ["state", "view", "progress"]) document.addEventListener(happened, Report.drawAssumptions);
  document.addEventListener("progress", ({ detail }) => Report.tellChange(detail));
  document.addEventListener("keydown", Report.pressUndo);
  const found = Report.pageView?.() ?? null;
  if (found) Report.keep(Report.state, found);
  Report.refresh();
};

// When all scripts of the page have run: sources come with later ones.
document.addEventListener("DOMContentLoaded", Report.startAssuming);
