"use strict";
// The panel about what was chosen: a variable with its parent sets and Markov blanket, or a line with its numbers.

Report.panelOf = null;

// Takes the place of the legend; the whole page keeps its shape.
Report.openPanel = (title, parts) => {
  const panel = Report.find("panel");
  const close = Report.element("button", "Close", "close");
  close.type = "button";
  close.addEventListener("click", () => Report.closePanel(true));
  const head = Report.element("h3");
  head.append(...title);
  panel.replaceChildren(close, head, ...parts);
  panel.hidden = false;
  panel.scrollTop = 0;
  Report.find("about").classList.add("covered");
  Report.hideTip();
};

// On a narrow screen the panel is a sheet at the bottom: what was chosen moves above it.
Report.keepAbove = (chosen) => {
  const panel = Report.find("panel");
  if (!chosen || getComputedStyle(panel).position !== "fixed") return;
  const under = chosen.getBoundingClientRect().bottom + 12 - panel.getBoundingClientRect().top;
  if (under > 0) window.scrollBy(0, under);
};

Report.closePanel = (focus) => {
  Report.find("panel").hidden = true;
  Report.find("about").classList.remove("covered");
  Report.panelOf = null;
  Report.find("variable").value = "";
  for (const box of Report.boxes()) box.classList.remove("matched");
  Report.choose(null);
  if (focus) Report.find("graph").focus({ preventScroll: true });
};

Report.openVariable = (place) => {
  const { data } = Report;
  const parts = [];
  if (data.exogenous.includes(place)) {
    parts.push(Report.element("p", "Exogenous: not modelled, and without parents. All numbers are given this variable.", "help"));
  } else {
    const families = data.families && data.families[place].map(([parents, chance]) => [Report.setOf(parents), chance]);
    parts.push(...Report.list("Parent sets", "Parents together", families, data.familiesNote));
    const blanket = data.blankets && data.blankets[place].slice(0, 12).map(([other, chance]) => [Report.name(other), chance]);
    parts.push(...Report.list("Markov blanket", "Variable", blanket, data.blanketsNote));
    parts.push(Report.element("p", "Once the variables of the blanket are known, no other one helps to predict this one.", "help"));
  }
  if (!Report.isBase(Report.view)) parts.unshift(...Report.linesOf(place));
  // Of many variables one first wants to see fewer.
  if (data.names.length > 12) parts.unshift(...Report.focusButtons(place));
  else parts.push(...Report.focusButtons(place));
  parts.push(...Report.assumeAbout(place));
  Report.openPanel([Report.name(place)], parts);
  Report.panelOf = { variable: place };
  Report.find("variable").value = data.names[place];
  Report.choose(place);
  Report.keepAbove(Report.boxes(Report.picture()).find((box) => Report.nodeOf(box) === place));
};

// Under assumptions: what a variable is joined with, since all else in its panel holds without them.
Report.linesOf = (place) => {
  const own = Report.pairs.filter(({ from, to, joined }) => (from === place || to === place) && joined >= 0.05)
    .sort((one, two) => two.joined - one.joined).slice(0, 12);
  const rows = own.map(({ from, to, head, joined }) => [Report.way(from, to, "", head ? " → " : " — "), joined]);
  return [
    ...Report.list("Lines under your assumptions", "Joined", rows, ""),
    Report.element("p", "What follows holds without your assumptions.", "help"),
  ];
};

Report.openPair = (place) => {
  const { data } = Report;
  const pair = Report.pairAt(place);
  const rows = [["joined, either way", pair.joined, pair.within]];
  if (pair.parts) {
    const [onward, back, rules, reversible] = pair.parts;
    rows.push([Report.way(pair.from, pair.to, "compelled by the data: "), onward]);
    rows.push([Report.way(pair.to, pair.from, "compelled by the data: "), back]);
    if (rules > 0) rows.push([data.decided, rules]);
    rows.push(["reversible: the data cannot tell", reversible]);
  }
  const parts = [Report.element("p", `Direction ${pair.said}.`)];
  if (pair.effect) parts.push(Report.element("p", `${Report.capital(pair.effect)}.`));
  parts.push(...Report.assumeButtons(pair.from, pair.to));
  parts.push(...Report.list("Numbers", "The two are", rows, ""));
  if (pair !== data.pairs[place] && data.pairs[place]) {
    parts.push(Report.element("p", `Without assumptions: joined ${Report.number(data.pairs[place].joined)}; direction ${data.pairs[place].said}.`, "help"));
  }
  if (pair.choices) parts.push(Report.element("h4", "Under other choices"), Report.element("p", pair.choices));
  const ends = Report.element("p", "More about ", "help");
  [pair.from, pair.to].forEach((node, number) => {
    const button = Report.element("button");
    button.type = "button";
    button.append(Report.name(node));
    button.addEventListener("click", () => {
      Report.openVariable(node);
      Report.find("panel").focus();
    });
    ends.append(number ? " and " : "", button);
  });
  Report.openPanel([Report.way(pair.from, pair.to, "", pair.head ? " → " : " — ")], [...parts, ends]);
  Report.panelOf = { pair: place };
  Report.choose(null, place);
  Report.keepAbove(Report.lines(Report.picture()).find((line) => Number(line.dataset.pair) === place));
};

// The panel that is open, under the present view; what had the focus in it keeps it.
Report.refreshPanel = () => {
  if (Report.panelOf === null) return;
  const panel = Report.find("panel");
  const controls = () => Array.from(panel.querySelectorAll("button, a, input, select, summary"));
  const focused = panel.contains(document.activeElement) ? document.activeElement : null;
  const [words, place] = [focused?.textContent, controls().indexOf(focused)];
  const scrolled = panel.scrollTop;
  const { pair, variable } = Report.panelOf;
  if (pair !== undefined) Report.openPair(pair);
  else Report.openVariable(variable);
  panel.scrollTop = scrolled;
  if (!focused) return;
  const now = controls();
  const next = now.find((control) => control.textContent === words) ?? now[place] ?? panel;
  next.focus({ preventScroll: true });
};

// Two variables with a mark between them.
Report.way = (from, to, before = "", mark = " → ") => {
  const made = Report.element("span", before);
  made.append(Report.name(from), mark, Report.name(to));
  return made;
};

Report.capital = (words) => words.charAt(0).toLocaleUpperCase() + words.slice(1);

Report.setOf = (parents) => {
  if (parents.length === 0) return Report.element("em", "none");
  const set = Report.element("span");
  parents.forEach((parent, number) => {
    if (number) set.append(", ");
    set.append(Report.name(parent));
  });
  return set;
};

Report.list = (title, head, entries, note) => {
  const parts = [Report.element("h4", title)];
  if (entries) {
    const table = Report.element("table");
    const row = table.createTHead().insertRow();
    for (const words of [head, Report.data.measure]) {
      const cell = Report.element("th", words);
      cell.scope = "col";
      row.append(cell);
    }
    const body = table.createTBody();
    for (const [what, chance, within] of entries) {
      const line = body.insertRow();
      line.insertCell().append(what);
      const cell = line.insertCell();
      cell.textContent = Report.number(chance);
      cell.className = "number bar";
      cell.style.setProperty("--p", `${(100 * chance).toFixed(1)}%`);
      if (within) cell.append(Report.element("small", within));
    }
    parts.push(table);
  }
  if (note) parts.push(Report.element("p", note, "help"));
  return parts;
};
