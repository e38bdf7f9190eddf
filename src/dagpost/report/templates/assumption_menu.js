"use strict";
// Choosing what to assume about two variables: the buttons in the panel, the menu at a line, and the form for any two.

// What can be chosen about an edge between two variables; null frees the pair.
Report.choicesFor = (from, to) => [
  { parts: [from, " → ", to, " is there"], make: { kind: "edge", from, to } },
  { parts: [to, " → ", from, " is there"], make: { kind: "edge", from: to, to: from } },
  { parts: ["not joined"], make: { kind: "apart", from, to } },
  { parts: ["free"], make: null },
];

Report.assumedOf = (from, to) => Report.state.given.filter((assumption) => Report.aboutEdge(assumption, from, to));

Report.isChosen = ({ make }, from, to) => {
  const own = Report.assumedOf(from, to);
  return make === null ? own.length === 0 : own.some((assumption) => Report.sameAssumption(make, assumption));
};

// What a choice has for a probability now; null where it is about to replace another choice, or nothing is known.
Report.chanceOfChoice = ({ make }, from, to) => {
  const edges = Report.view?.edges;
  if (!edges || make === null || Report.progress.old || Report.assumedOf(from, to).length > 0) return null;
  const chance = make.kind === "edge" ? edges[make.from][make.to] : 1 - edges[from][to] - edges[to][from];
  return Math.min(1, Math.max(0, chance));
};

Report.pick = ({ make }, from, to) => (make === null ? Report.freePair(from, to) : Report.assume(make));

// Marks in a group of choices what is chosen now.
Report.markChoices = (group) => {
  const [from, to] = [Number(group.dataset.from), Number(group.dataset.to)];
  const marked = group.getAttribute("role") === "menu" ? "aria-checked" : "aria-pressed";
  Report.choicesFor(from, to).forEach((choice, number) => {
    const button = group.querySelectorAll("button")[number];
    const chance = Report.chanceOfChoice(choice, from, to);
    button.setAttribute(marked, String(Report.isChosen(choice, from, to)));
    button.querySelector(".chance-of").textContent = chance === null ? "" : Report.number(chance);
  });
};

Report.choiceGroup = (from, to, done = () => {}) => {
  const group = Report.element("div", undefined, "pair-choices");
  group.dataset.from = String(from);
  group.dataset.to = String(to);
  for (const choice of Report.choicesFor(from, to)) {
    const button = Report.element("button");
    button.type = "button";
    const words = Report.element("span");
    for (const part of choice.parts) words.append(typeof part === "number" ? Report.name(part) : part);
    button.append(words, Report.element("span", "", "chance-of number"));
    button.addEventListener("click", () => {
      Report.pick(choice, from, to);
      done();
    });
    group.append(button);
  }
  return group;
};

// For the panel of a pair: a heading and the four buttons; nothing where nobody can answer.
Report.assumeButtons = (from, to) => {
  if (Report.sources.length === 0) return [];
  const group = Report.choiceGroup(from, to, () => {
    // A sheet at the bottom would cover what has changed.
    if (getComputedStyle(Report.find("panel")).position === "fixed") Report.closePanel(true);
  });
  const head = Report.element("h4", "Suppose that");
  head.id = "suppose";
  group.setAttribute("role", "group");
  group.setAttribute("aria-labelledby", "suppose");
  Report.markChoices(group);
  return [head, group];
};

// The menu

Report.closeMenu = () => {
  const menu = Report.find("pair-menu");
  const held = menu?.contains(document.activeElement);
  menu?.remove();
  if (held) Report.find("graph").focus({ preventScroll: true });
};

// Opens at a point of the window, inside the picture.
Report.openMenu = (from, to, at) => {
  Report.closeMenu();
  Report.hideTip();
  const frame = document.querySelector(".picture");
  const menu = Report.choiceGroup(from, to, Report.closeMenu);
  menu.id = "pair-menu";
  menu.setAttribute("role", "menu");
  menu.setAttribute("aria-label", `Suppose, of ${Report.data.names[from]} and ${Report.data.names[to]}`);
  for (const button of menu.children) {
    button.setAttribute("role", "menuitemradio");
    button.tabIndex = -1;
  }
  Report.markChoices(menu);
  frame.append(menu);
  const box = frame.getBoundingClientRect();
  const within = (place, most) => `${Math.max(4, Math.min(place, most - 4))}px`;
  menu.style.left = within(at.x - box.left + 10, frame.clientWidth - menu.offsetWidth);
  menu.style.top = within(at.y - box.top + 10, frame.clientHeight - menu.offsetHeight);
  menu.addEventListener("keydown", Report.pressInMenu);
  menu.querySelector("button").focus({ preventScroll: true });
};

Report.pressInMenu = (event) => {
  const items = Array.from(event.currentTarget.children);
  const now = items.indexOf(document.activeElement);
  const next = { ArrowDown: now + 1, ArrowUp: now - 1 + items.length, Home: 0, End: items.length - 1 }[event.key];
  if (event.key === "Escape" || event.key === "Tab") Report.closeMenu();
  else if (next !== undefined) items[next % items.length].focus();
  else return;
  event.stopPropagation();
  event.preventDefault();
};

Report.watchMenu = () => {
  const frame = Report.find("graph");
  frame.addEventListener("click", (event) => {
    const line = event.target.closest(".pair");
    Report.closeMenu();
    // On a narrow screen the sheet at the bottom has the same buttons.
    if (Report.dragged || !line || getComputedStyle(Report.find("panel")).position === "fixed") return;
    if (Report.sources.length === 0) return;
    const { from, to } = Report.pairOf(line);
    Report.openMenu(from, to, { x: event.clientX, y: event.clientY });
  });
  document.addEventListener("pointerdown", (event) => {
    if (!event.target.closest("#pair-menu, #graph")) Report.closeMenu();
  });
  frame.addEventListener("scroll", Report.closeMenu, { passive: true });
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") Report.closeMenu(); });
};

// Any two variables

const RELATIONS = [
  ["edge", "has an edge to"],
  ["no-edge", "has no edge to"],
  ["apart", "is not joined to"],
  ["joined", "is joined, either way, to"],
  ["path", "leads, by a path, to"],
  ["no-path", "does not lead to"],
];

// A form for any two variables, joined or not.
Report.pairForm = () => {
  const form = Report.element("form", undefined, "pair-form");
  const pick = (words, options) => {
    const select = Report.element("select");
    select.setAttribute("aria-label", words);
    for (const [value, text] of options) {
      const option = Report.element("option", text);
      option.value = value;
      select.append(option);
    }
    return select;
  };
  const names = Report.data.names.map((name, place) => [String(place), name.length > 60 ? `${name.slice(0, 59)}…` : name]);
  const from = pick("First variable", names);
  const kind = pick("What is assumed", RELATIONS);
  const to = pick("Second variable", names);
  to.value = names.length > 1 ? "1" : "0";
  const button = Report.element("button", "Assume it");
  const check = () => {
    const same = from.value === to.value;
    to.setCustomValidity(same ? "Choose two different variables." : "");
  };
  from.addEventListener("change", check);
  to.addEventListener("change", check);
  form.append(from, kind, to, button);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (from.value !== to.value) Report.assume({ kind: kind.value, from: Number(from.value), to: Number(to.value) });
  });
  form.choose = (place) => {
    from.value = String(place);
    if (to.value === from.value) to.value = String(place === 0 ? 1 : 0);
    check();
  };
  return form;
};

// For the panel of a variable: leads to the form, which has it as its first variable.
Report.assumeAbout = (place) => {
  if (Report.sources.length === 0 || Report.data.names.length < 2) return [];
  const button = Report.element("button", "Assume something about it and another variable");
  button.type = "button";
  button.addEventListener("click", () => Report.openForm(place));
  return [button];
};
