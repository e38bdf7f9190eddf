"use strict";
// What can be written at a place of a statement: names, relations, words and levels, and the list that offers them.
// Only offers: whether a statement is right is for the server to say.

Explorer.words = { relations: [], words: [], joins: ["&", "|"], reserved: ["P", "in"], levels: {}, examples: [] };
Explorer.mostOffers = 12;

// A name as the language writes it: in quotes unless it is a plain word.
Explorer.quoted = (name) => {
  const earlier = /^(.*)\[t-(\d{1,4})\]$/su.exec(name);
  if (earlier && !/\[t-\d{1,4}\]$/u.test(earlier[1])) return `${Explorer.quoted(earlier[1])}[t-${earlier[2]}]`;
  if (/^[\p{L}\p{N}_]+$/u.test(name) && !Explorer.words.reserved.includes(name)) return name;
  const escapes = { "\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t" };
  return `"${name.replace(/[\\"\n\r\t]/gu, (one) => escapes[one])}"`;
};

// The part of a text that is being written at the caret: where it begins, what of it is there, and whether in quotes.
Explorer.partAt = (text, caret) => {
  let open = null;
  for (let at = 0; at < caret; at += 1) {
    if (open !== null && text[at] === "\\") at += 1;
    else if (open !== null && text[at] === text[open]) open = null;
    else if (open === null && (text[at] === '"' || text[at] === "'")) open = at;
  }
  if (open !== null) return { start: open, typed: text.slice(open + 1, caret), inQuotes: true };
  const [word] = /[\p{L}\p{N}_]*$/u.exec(text.slice(0, caret));
  return { start: caret - word.length, typed: word, inQuotes: false };
};

const NAME_AT_END = /(?:[\p{L}\p{N}_]+|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')(?:\s*\[t(?:-\d+)?\])?$/u;

// The name at the end of a text, if there is one, as the table has it.
Explorer.nameBefore = (text) => {
  const found = NAME_AT_END.exec(text.trimEnd());
  if (!found) return null;
  return Report.data.names.find((name) => Explorer.quoted(name) === found[0] || name === found[0]
    || name === found[0].replace(/^["']|["']$/gu, "")) ?? null;
};

// What is expected behind a text: a level of a column, what follows a name, or a name.
Explorer.expected = (before) => {
  const level = /^(.*?)\s*(?:!=|<=|>=|=|<|>)\s*$/su.exec(before);
  if (level) {
    const column = Explorer.nameBefore(level[1]);
    if (column !== null && Explorer.words.levels[column]) return { kind: "level", column };
  }
  const among = /^(.*)\sin\s*\{[^{}]*$/su.exec(before);
  if (among) {
    const column = Explorer.nameBefore(among[1]);
    if (column !== null && Explorer.words.levels[column]) return { kind: "level", column };
  }
  const trimmed = before.trimEnd();
  if (/[)}]$/u.test(trimmed)) return { kind: "join" };
  const name = Explorer.nameBefore(trimmed);
  if (name === null || trimmed === "") return { kind: "name" };
  // Behind the second name of "A -> B" another statement may be joined.
  const rest = trimmed.replace(NAME_AT_END, "").trimEnd();
  return /[->~_]$/u.test(rest) || /[=<>{,]$/u.test(rest) ? { kind: "join" } : { kind: "relation" };
};

// How well a name answers what was typed: 0 best, null not at all.
Explorer.likeness = (name, typed) => {
  const [own, wanted] = [name.toLocaleLowerCase(), typed.toLocaleLowerCase()];
  if (own.startsWith(wanted)) return 0;
  if (own.split(/[^\p{L}\p{N}]+/u).some((word) => word.startsWith(wanted))) return 1;
  return own.includes(wanted) ? 2 : null;
};

// Where a name begins of which the last characters before the caret are the beginning: "M. W" of "M. Work".
Explorer.beginning = (text, caret, name) => {
  for (let length = Math.min(name.length, caret); length > 0; length -= 1) {
    const start = caret - length;
    const whole = start === 0 || !/[\p{L}\p{N}_"']/u.test(text[start - 1]);
    if (whole && text.slice(start, caret).toLocaleLowerCase() === name.slice(0, length).toLocaleLowerCase()) return start;
  }
  return null;
};

// The offers at the caret of a text, best first: what replaces [start, caret), and what it is.
Explorer.offers = (text, caret) => {
  const part = Explorer.partAt(text, caret);
  const { kind, column } = Explorer.expected(text.slice(0, part.start));
  const offers = [];
  // "in mb(" stands behind a name, "pa(" where one could be.
  const follows = ({ text: sign }) => sign.startsWith("in ") || sign.endsWith(" ");
  const offer = (put, said, start, rank) => offers.push({ put, said, start, rank });
  if (kind === "level") {
    for (const level of Explorer.words.levels[column]) {
      const rank = Explorer.likeness(level, part.typed);
      if (rank !== null) offer(Explorer.quoted(level), "level", part.start, rank);
    }
  } else if (kind === "name" || part.typed !== "") {
    for (const name of Report.data.names) {
      const start = part.inQuotes ? null : Explorer.beginning(text, caret, name);
      if (start !== null && start < part.start) offer(Explorer.quoted(name), "variable", start, -1);
      else if (kind === "name") {
        const rank = Explorer.likeness(name, part.typed);
        if (rank !== null) offer(Explorer.quoted(name), "variable", part.start, rank);
      }
    }
    if (!part.inQuotes && kind === "name" && part.typed !== "") {
      for (const word of Explorer.words.words) {
        if (!follows(word) && word.text.toLocaleLowerCase().startsWith(part.typed.toLocaleLowerCase())) offer(word.text, word.said, part.start, 1);
      }
    }
  }
  if (kind === "relation" && !part.inQuotes) {
    for (const { text: sign, said } of [...Explorer.words.relations, ...Explorer.words.words.filter(follows)]) {
      if (sign.startsWith(part.typed)) offer(sign, said, part.start, 0);
    }
  }
  if (kind === "join" && part.typed === "" && /\s$/u.test(text.slice(0, caret))) {
    const said = { "&": "and", "|": "or" };
    for (const sign of Explorer.words.joins) if (said[sign]) offer(sign, said[sign], part.start, 0);
  }
  offers.sort((one, two) => one.rank - two.rank);
  // Whoever has written a name out needs no offer of it.
  const done = offers.some(({ put, start }) => put === text.slice(start, caret));
  return done ? [] : offers.slice(0, Explorer.mostOffers);
};

// The list below a field

Explorer.completed = (field, list, changed) => {
  let offers = [];
  let active = -1;
  const mark = (place) => {
    active = place;
    Array.from(list.children).forEach((item, number) => item.setAttribute("aria-selected", String(number === place)));
    if (place >= 0) {
      field.setAttribute("aria-activedescendant", list.children[place].id);
      list.children[place].scrollIntoView({ block: "nearest" });
    } else field.removeAttribute("aria-activedescendant");
  };
  const close = () => {
    offers = [];
    list.hidden = true;
    list.replaceChildren();
    field.setAttribute("aria-expanded", "false");
    mark(-1);
  };
  const take = (offer) => {
    const before = field.value.slice(0, offer.start);
    const after = field.value.slice(field.selectionEnd);
    const put = `${offer.put}${/[({ ]$/u.test(offer.put) || /^\s/u.test(after) ? "" : " "}`;
    field.value = before + put + after;
    field.setSelectionRange(before.length + put.length, before.length + put.length);
    field.focus();
    open();
    changed();
  };
  const open = (asked = false) => {
    const caret = field.selectionStart;
    if (caret !== field.selectionEnd || (field.value === "" && !asked)) {
      close();
      return;
    }
    offers = Explorer.offers(field.value, caret);
    list.replaceChildren(...offers.map((offer, number) => {
      const item = Report.element("li");
      item.id = `completion-${number}`;
      item.setAttribute("role", "option");
      const put = Report.element("bdi", offer.put);
      item.append(put, " ", Report.element("span", offer.said, "help"));
      // Before the field loses the focus.
      item.addEventListener("pointerdown", (event) => {
        event.preventDefault();
        take(offer);
      });
      return item;
    }));
    list.hidden = offers.length === 0;
    field.setAttribute("aria-expanded", String(offers.length > 0));
    // What was begun is offered at once; where nothing was, Enter is not for the list.
    mark(offers.length > 0 && (asked || Explorer.partAt(field.value, caret).typed !== "") ? 0 : -1);
  };
  field.addEventListener("input", () => open());
  field.addEventListener("blur", close);
  field.addEventListener("keydown", (event) => {
    const steps = { ArrowDown: 1, ArrowUp: -1 };
    if (event.key in steps) {
      if (offers.length === 0) open(true);
      else mark((active + steps[event.key] + offers.length) % offers.length);
    } else if ((event.key === "Enter" || event.key === "Tab") && active >= 0 && !event.shiftKey) take(offers[active]);
    else if (event.key === "Escape" && offers.length > 0) close();
    else return;
    event.preventDefault();
    event.stopImmediatePropagation();
  });
  return { close };
};
