"use strict";
// What is known about a variable or a pair under the assumptions: at once in a word beside the pointer, more in the panel.

// Below this nothing is said of an edge or a path beside the pointer, and nothing is listed in the panel.
Explorer.told = { tip: 0.2, panel: 0.01, most: 5, listed: 10 };

// The others by a number that belongs to each, from the largest on: [place, number, the number without assumptions].
Explorer.ranked = (number, least, view = Report.view, base = Report.baseView) => {
  const found = Report.data.names.map((_, other) => [other, number(view, other), base ? number(base, other) : null]);
  return found.filter(([, now, before]) => Math.max(now ?? 0, before ?? 0) >= least).sort((one, two) => two[1] - one[1]);
};

// Edges and paths into a variable and out of it.
Explorer.kin = (place) => ({
  parents: (view, other) => (other === place ? 0 : view.edges[other][place]),
  children: (view, other) => (other === place ? 0 : view.edges[place][other]),
  ancestors: (view, other) => (other === place || !view.paths ? 0 : view.paths[other][place]),
  descendants: (view, other) => (other === place || !view.paths ? 0 : view.paths[place][other]),
});

Explorer.changed = (now, before) => before !== null && Math.abs(now - before) >= 0.005;

// "0.87", or "0.41 → 0.87" where assumptions changed it.
Explorer.numbers = (now, before) => (Explorer.changed(now, before)
  ? `${Report.number(before)} → ${Report.number(now)}` : Report.number(now));

// Beside the pointer

Explorer.tipOf = (place) => {
  const lines = [[place]];
  if (!Report.view) return lines;
  const kin = Explorer.kin(place);
  const add = (words, number) => {
    const some = Explorer.ranked(number, Explorer.told.tip);
    if (some.length === 0) return;
    const line = [`${words} `];
    some.slice(0, Explorer.told.most).forEach(([other, now, before], count) => {
      line.push(count > 0 ? ", " : "", other, ` ${Explorer.numbers(now, before)}`);
    });
    if (some.length > Explorer.told.most) line.push(`, and ${some.length - Explorer.told.most} more`);
    lines.push(line);
  };
  add("parents:", kin.parents);
  add("children:", kin.children);
  add("paths from:", kin.ancestors);
  add("paths to:", kin.descendants);
  if (lines.length === 1) lines.push([`no edge or path of ${Explorer.told.tip} or more`]);
  return lines;
};

// Edges and paths between two, both ways, with what they were without assumptions.
Explorer.pairLines = (from, to) => {
  const lines = [];
  const add = (matrix, sign, least) => {
    if (!Report.view?.[matrix]) return;
    for (const [one, two] of [[from, to], [to, from]]) {
      const now = Report.view[matrix][one][two];
      const before = Report.baseView?.[matrix]?.[one][two] ?? null;
      if (now >= least || Explorer.changed(now, before)) lines.push([one, sign, two, `: ${Explorer.numbers(now, before)}`]);
    }
  };
  add("edges", " → ", 0.005);
  add("paths", " ⇝ ", Explorer.told.tip);
  return lines;
};

// What depends on a variable and what it depends on, as shades of their boxes; null: no shades.
Explorer.shade = (place) => {
  const { view } = Report;
  // The pointer moves more often than what it points at.
  if (Explorer.shaded?.place === place && Explorer.shaded.view === view) return;
  Explorer.shaded = { place, view };
  for (const box of Report.boxes()) {
    const other = Report.nodeOf(box);
    const known = place !== null && other !== place && view?.paths;
    const down = known ? view.paths[place][other] : 0;
    const up = known ? view.paths[other][place] : 0;
    box.classList.toggle("downstream", down > up && down >= 0.05);
    box.classList.toggle("upstream", up >= down && up >= 0.05);
    box.style.setProperty("--path", `${(55 * Math.max(down, up)).toFixed(1)}%`);
  }
};

// In the panel

// A table of variables with their numbers now, and without assumptions where that is another number.
Explorer.table = (title, head, entries) => {
  if (entries.length === 0) return [];
  const rows = entries.slice(0, Explorer.told.listed).map(([what, now, before]) => [
    typeof what === "number" ? Report.name(what) : what, now,
    before !== null && before !== undefined && Explorer.changed(now, before) ? `was ${Report.number(before)}` : undefined,
  ]);
  const more = entries.length - rows.length;
  return Report.list(title, head, rows, more > 0 ? `and ${more} more, less probable` : "");
};

// A place in the panel that is filled when the answer comes, if the panel is still about the same.
// It is asked after a moment: while better numbers come in, the panel is filled anew with each of them.
Explorer.later = (words, ask) => {
  const place = Report.element("div", undefined, "later");
  place.append(Report.element("p", words, "help waiting"));
  const pending = new AbortController();
  Explorer.pendingDetails?.push(pending);
  const fill = (parts) => { if (!pending.signal.aborted) place.replaceChildren(...parts); };
  Explorer.pause(200, pending.signal).then(() => ask(pending.signal, fill)).catch((problem) => {
    if (!pending.signal.aborted) fill([Report.element("p", problem.message, "help")]);
  });
  return place;
};

Explorer.pendingDetails = [];

Explorer.dropDetails = () => {
  for (const pending of Explorer.pendingDetails) pending.abort();
  Explorer.pendingDetails = [];
};

Explorer.underWords = () => {
  if (Report.assumed(Report.state) === 0) return null;
  return Report.element("p", "Under your assumptions.", "help");
};

Explorer.notes = (notes) => (notes ?? []).map((words) => Report.element("p", words, "help"));

Explorer.aboutVariable = (place) => Explorer.later("Parent sets and Markov blanket …", async (signal, fill) => {
  for (const patient of [false, true]) {
    const found = await Explorer.ask("about", { ...Explorer.present(), variable: place, patient }, signal);
    const families = (found.families ?? []).map(([parents, chance]) => [Report.setOf(parents), chance, null]);
    fill([
      ...Explorer.table("Parent sets", "Parents together", families),
      ...Explorer.table("Markov blanket", "Variable", (found.blanket ?? []).map(([other, chance]) => [other, chance, null])),
      ...Explorer.notes(found.notes),
    ]);
    if (found.final !== false) return;
  }
});

// What would be seen along all numbers of a cause.
Explorer.curve = ({ caption, size, outlines, numbers }) => {
  const drawing = Report.shape("svg", { viewBox: `0 0 ${size.join(" ")}`, role: "img", "aria-label": caption });
  for (const [kind, d] of Object.entries(outlines)) drawing.append(Report.shape("path", { class: kind, d }));
  for (const [x, y, side, words] of numbers) drawing.append(Report.shape("text", { x, y, "text-anchor": side }, words));
  const figure = Report.element("span", undefined, "curve");
  figure.append(drawing, Report.element("small", caption));
  return figure;
};

// The effect of one on the other, both ways if both are possible; what they rest on is said once.
Explorer.effects = (from, to) => Explorer.later("Effects …", async (signal, fill) => {
  const ways = [[from, to], [to, from]].filter(([cause, outcome]) => !Report.view?.paths || Report.view.paths[cause][outcome] > 1e-3);
  const head = Report.element("h4", "Effects");
  if (ways.length === 0) {
    fill([head, Report.element("p", "Neither acts on the other in any graph that counts.", "help")]);
    return;
  }
  const found = [];
  const notes = new Set();
  const show = (more) => {
    const fold = Report.element("details");
    fold.append(Report.element("summary", "What this rests on"), ...Explorer.notes([...notes]));
    fill([head, ...found, ...(notes.size > 0 ? [fold] : []), ...more]);
  };
  for (const [cause, outcome] of ways) {
    const words = Report.element("p");
    words.append(Report.way(cause, outcome, "", " ⇝ "), ": ");
    const wait = Report.element("p", undefined, "help waiting");
    wait.append(Report.way(cause, outcome, "", " ⇝ "));
    show([wait]);
    try {
      const { said, notes: own, curve } = await Explorer.ask("effect", { ...Explorer.present(), cause, outcome, patient: true }, signal);
      words.append(said);
      if (curve) words.append(Explorer.curve(curve));
      for (const note of own ?? []) notes.add(note);
    } catch (problem) {
      if (signal.aborted) throw problem;
      words.append(problem.message);
    }
    found.push(words);
  }
  show([]);
});

Explorer.openVariable = (place) => {
  Explorer.dropDetails();
  const kin = Explorer.kin(place);
  const parts = [];
  const under = Explorer.underWords();
  if (under) parts.push(under);
  if (Report.data.exogenous.includes(place)) {
    parts.push(Report.element("p", "Exogenous: not modelled, and without parents. All numbers are given this variable.", "help"));
  }
  // Of many variables one first wants to see fewer.
  const focus = Report.focusButtons?.(place) ?? [];
  const many = Report.data.names.length > 12;
  if (many) parts.push(...focus);
  if (Report.view) {
    const { panel } = Explorer.told;
    const direct = (number) => Explorer.ranked(number, panel);
    parts.push(...Explorer.table("Parents", "Variable", direct(kin.parents)));
    parts.push(...Explorer.table("Children", "Variable", direct(kin.children)));
    if (Report.view.paths) {
      parts.push(...Explorer.table("Paths come from", "Variable", Explorer.ranked(kin.ancestors, 0.05)));
      parts.push(...Explorer.table("Paths lead to", "Variable", Explorer.ranked(kin.descendants, 0.05)));
    }
  }
  if (!Report.data.exogenous.includes(place)) parts.push(Explorer.aboutVariable(place));
  parts.push(...(many ? [] : focus), ...Report.assumeAbout(place));
  Report.openPanel([Report.name(place)], parts);
  Report.panelOf = { variable: place };
  Report.find("variable").value = Report.data.names[place];
  Report.choose(place);
  Report.keepAbove(Report.boxes(Report.picture()).find((box) => Report.nodeOf(box) === place));
};

// Below what the report says of a pair: paths and effects under the assumptions.
Explorer.addToPair = (from, to) => {
  Explorer.dropDetails();
  const panel = Report.find("panel");
  const rows = [];
  if (Report.view?.paths) {
    for (const [one, two] of [[from, to], [to, from]]) {
      rows.push([Report.way(one, two, "", " ⇝ "), Report.view.paths[one][two], Report.baseView?.paths?.[one][two] ?? null]);
    }
  }
  panel.append(...Explorer.table("Paths", "A directed path", rows), Explorer.effects(from, to));
};

Explorer.startDetails = () => {
  const hide = Report.hideTip;
  const plain = Report.saidOf;
  Report.saidOf = (pair) => [...plain(pair), ...Explorer.pairLines(pair.from, pair.to)];
  Report.tellBox = (box, at) => {
    const place = Report.nodeOf(box);
    hide();
    Report.tell(Explorer.tipOf(place), at);
    Explorer.shade(place);
  };
  Report.hideTip = () => {
    hide();
    Explorer.shade(null);
  };
  Report.openVariable = Explorer.openVariable;
  const openPair = Report.openPair;
  Report.openPair = (...asked) => {
    openPair(...asked);
    const { from, to } = Report.pairAt(asked[0]);
    Explorer.addToPair(from, to);
  };
  const close = Report.closePanel;
  Report.closePanel = (focus) => {
    Explorer.dropDetails();
    close(focus);
  };
};
