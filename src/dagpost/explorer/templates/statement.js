"use strict";
// A box for any statement: its answer as one types, what is wrong under the character that is wrong, and a list of
// statements whose answers are kept up to date.

Explorer.watched = [];
Explorer.typingPause = 120;

// Answers a statement: at once, and again when there is something better; `tell` gets each answer.
Explorer.answer = async (statement, present, signal, tell) => {
  const first = await Explorer.ask("ask", { ...present, statement }, signal);
  if (signal.aborted) return;
  tell(first);
  if (first.final !== false) return;
  const better = await Explorer.ask("ask", { ...present, statement, patient: true }, signal);
  if (!signal.aborted) tell(better);
};

// An answer in a word: a probability with as many digits as the report shows, or what the server says of it.
Explorer.worded = (answer) => {
  if (typeof answer.value !== "number" || answer.kind === "number") return answer.said ?? "";
  return Report.number(answer.value);
};

Explorer.within = (answer) => {
  if (answer.exact) return "exact";
  if (typeof answer.lower !== "number") return "";
  return `between ${Report.number(answer.lower)} and ${Report.number(answer.upper)}`;
};

// The error under the field: a caret below its character, and the sentence.
Explorer.showError = (field, place, error) => {
  const { message, at } = error;
  place.replaceChildren();
  place.hidden = message === null;
  field.setAttribute("aria-invalid", String(message !== null));
  if (message === null) return;
  if (at !== null && at !== undefined) {
    const line = Report.element("div", undefined, "caret-line");
    line.setAttribute("aria-hidden", "true");
    const before = Array.from(field.value).slice(0, at).join("");
    line.append(Report.element("span", before, "as-wide"), Report.element("span", "^", "caret"));
    line.dataset.at = String(at);
    place.append(line);
    // The field may be scrolled; so is the line below it.
    line.scrollLeft = field.scrollLeft;
  }
  // What only is not finished yet is not wrong.
  place.classList.toggle("unfinished", at !== null && at !== undefined && at >= Array.from(field.value.trimEnd()).length);
  place.append(Report.element("p", message));
};

Explorer.startStatements = () => {
  const field = Report.find("statement");
  const error = Report.find("statement-error");
  const answer = Report.find("statement-answer");
  const none = { message: null };
  let pending = null;
  let timer = null;
  const clear = () => {
    answer.hidden = true;
    Explorer.showError(field, error, none);
  };
  const tell = (found) => {
    Explorer.showError(field, error, none);
    answer.replaceChildren(Report.element("strong", Explorer.worded(found)), " ", Report.element("span", Explorer.within(found), "help"));
    answer.dataset.value = String(found.value);
    answer.dataset.final = String(found.final !== false);
    answer.classList.toggle("waiting", found.final === false);
    answer.classList.remove("old");
    answer.hidden = false;
  };
  const look = () => {
    clearTimeout(timer);
    pending?.abort();
    const statement = field.value;
    if (statement.trim() === "") {
      clear();
      return;
    }
    answer.classList.add("old");
    pending = new AbortController();
    const { signal } = pending;
    timer = setTimeout(() => {
      Explorer.answer(statement, Explorer.present(), signal, (found) => {
        tell(found);
        if (found.final !== false) Explorer.say(`${statement}: ${Explorer.worded(found)}, ${Explorer.within(found)}.`);
      }).catch((problem) => {
        if (signal.aborted) return;
        answer.hidden = true;
        Explorer.showError(field, error, problem);
      });
    }, Explorer.typingPause);
  };
  const list = Explorer.completed(field, Report.find("completions"), look);
  field.addEventListener("input", look);
  field.addEventListener("scroll", () => {
    const line = error.querySelector(".caret-line");
    if (line) line.scrollLeft = field.scrollLeft;
  });
  const taken = () => {
    field.value = "";
    list.close();
    look();
  };
  // Only what can be answered is watched or assumed; otherwise the field says what is wrong.
  const checked = async (then) => {
    const statement = field.value.trim();
    if (statement === "") {
      field.focus();
      return;
    }
    try {
      const found = await Explorer.ask("ask", { ...Explorer.present(), statement });
      then(statement, found);
      // Who has gone on writing meanwhile keeps that.
      if (field.value.trim() === statement) taken();
    } catch (problem) {
      answer.hidden = true;
      Explorer.showError(field, error, problem);
      field.focus();
    }
  };
  const watch = () => checked((statement, found) => Explorer.watch(statement, found));
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter") watch();
    if (event.key === "Escape" && field.value !== "") {
      taken();
      event.stopPropagation();
    }
  });
  Report.find("statement-watch").addEventListener("click", watch);
  Report.find("statement-assume").addEventListener("click", () => checked((statement, found) => {
    if (found.kind && found.kind !== "graph") throw new Explorer.Refusal("Only a statement about the graph can be assumed.");
    Report.assume(Explorer.assumptionOf(statement));
  }));
  document.addEventListener("state", () => {
    look();
    Explorer.answerWatched();
  });
  Explorer.ask("words").then((words) => {
    Explorer.words = { ...Explorer.words, ...words };
    const such = Explorer.exampleOf();
    if (such) Report.find("statement-help").replaceChildren("Such as ", such, ". Enter keeps it below.");
    Report.find("statement-help").after(Explorer.grammar(Explorer.words));
  }).catch(() => {});
};

// All that can be written, folded.
Explorer.grammar = ({ relations, words }) => {
  const fold = Report.element("details", undefined, "grammar");
  const list = Report.element("dl");
  const joins = [
    { example: "A -> B & B -> C", said: "both" },
    { example: "A -> B | B -> A", said: "one of them" },
    { example: "!(A -> B)", said: "not" },
    { example: "P(A -> B | B -> C)", said: "the first, where the second holds" },
    { example: "P(A = yes | B = no)", said: "values instead of graphs; E(A) is a mean, do(B = no) sets a column" },
  ];
  for (const { example, said } of [...relations, ...words, ...joins]) {
    list.append(Report.element("dt", example), Report.element("dd", said));
  }
  fold.append(Report.element("summary", "What can be asked"), list);
  return fold;
};

// An example about the variables of this table, which is written into the box by a click.
Explorer.exampleOf = () => {
  const { names, pairs } = Report.data;
  if (names.length < 2) return null;
  const { from, to } = pairs[0] ?? { from: 0, to: 1 };
  const button = Report.element("button", `${Explorer.quoted(names[from])} ~> ${Explorer.quoted(names[to])}`, "plain");
  button.type = "button";
  button.addEventListener("click", () => {
    const field = Report.find("statement");
    field.value = button.textContent;
    field.focus();
    field.setSelectionRange(field.value.length, field.value.length);
    field.dispatchEvent(new Event("input"));
  });
  return button;
};

// Watched statements: what each says without assumptions, and what it says now

Explorer.watch = (statement, found) => {
  if (Explorer.watched.some((one) => one.statement === statement)) return;
  const one = { statement, now: found, base: null, pending: null };
  Explorer.watched.push(one);
  Explorer.listWatched();
  Explorer.answerOne(one);
};

Explorer.answerOne = (one) => {
  one.pending?.abort();
  one.pending = new AbortController();
  const { signal } = one.pending;
  const failed = (problem) => {
    if (signal.aborted) return;
    one.now = { said: problem.message };
    Explorer.listWatched();
  };
  const here = Explorer.present();
  if (one.base === null) {
    Explorer.answer(one.statement, Report.NOTHING, signal, (found) => {
      one.base = found;
      Explorer.listWatched();
    }).catch(failed);
  }
  Explorer.answer(one.statement, here, signal, (found) => {
    one.now = found;
    Explorer.listWatched();
  }).catch(failed);
};

Explorer.answerWatched = () => Explorer.watched.forEach(Explorer.answerOne);

Explorer.listWatched = () => {
  const changed = (one) => one.base && typeof one.base.value === "number" && typeof one.now.value === "number"
    && Math.abs(one.base.value - one.now.value) > 5e-4;
  const focused = document.activeElement?.getAttribute("aria-label");
  const list = Report.find("watched");
  const held = list.contains(document.activeElement);
  list.replaceChildren(...Explorer.watched.map((one) => {
    const item = Report.element("li");
    const words = Report.element("span", undefined, "watched-number");
    if (changed(one)) words.append(Report.element("s", Explorer.worded(one.base)), " → ");
    words.append(Report.element("strong", Explorer.worded(one.now)));
    words.dataset.value = String(one.now.value);
    words.title = Explorer.within(one.now);
    if (changed(one)) words.classList.add(one.now.value > one.base.value ? "grew" : "shrank");
    const assume = Report.element("button", "Assume");
    const away = Report.element("button", "×");
    for (const button of [assume, away]) button.type = "button";
    assume.setAttribute("aria-label", `Assume ${one.statement}`);
    away.setAttribute("aria-label", `Do not watch ${one.statement}`);
    assume.hidden = Boolean(one.now.kind) && one.now.kind !== "graph";
    assume.addEventListener("click", () => Report.assume(Explorer.assumptionOf(one.statement)));
    away.addEventListener("click", () => {
      one.pending?.abort();
      Explorer.watched.splice(Explorer.watched.indexOf(one), 1);
      Explorer.listWatched();
      Report.find("statement").focus();
    });
    item.append(Report.element("bdi", one.statement, "statement"), words, assume, away);
    return item;
  }));
  // Whoever stands at a button stays there when the numbers change.
  if (held) Array.from(list.querySelectorAll("button")).find((one) => one.getAttribute("aria-label") === focused)?.focus();
};
