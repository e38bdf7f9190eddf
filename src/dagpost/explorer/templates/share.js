"use strict";
// The present state for others: as a link, as code, as a report; and what a link says, read without trusting it.

Explorer.mostLinked = { characters: 20_000, statements: 100, length: 2_000 };

// Statements as assumptions

// The place of a variable by its name as the language writes it; null if there is none.
Explorer.placeOf = (written) => {
  const { names } = Report.data;
  const own = Report.data.written ?? names.map(Explorer.quoted);
  const place = own.indexOf(written);
  if (place >= 0) return place;
  const quoted = /^(["'])((?:(?!\1)[^\\])*)\1$/su.exec(written);
  const found = names.indexOf(quoted ? quoted[2] : written);
  return found >= 0 ? found : null;
};

const A_NAME = String.raw`(?:[\p{L}\p{N}_]+|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')(?:\[t(?:-\d+)?\])?`;
const PLAIN_STATEMENT = new RegExp(String.raw`^(${A_NAME})\s*(->|<-|~>|<~|--)\s*(${A_NAME})$`, "su");
const PLAIN_KINDS = { "->": ["edge", "no-edge"], "~>": ["path", "no-path"], "--": ["joined", "apart"] };

// A statement as an assumption: about a pair where it is that simple, so that drawn graphs can judge it.
Explorer.assumptionOf = (text) => {
  let rest = text.trim();
  let denied = 0;
  const denial = /^!\s*/u;
  // Around all of it, with no others inside but those in names.
  const brackets = /^\(((?:[^()"']|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')*)\)$/su;
  for (let more = true; more;) {
    more = false;
    if (denial.test(rest)) { rest = rest.replace(denial, ""); denied = 1 - denied; more = true; }
    const inside = brackets.exec(rest);
    if (inside) { rest = inside[1].trim(); more = true; }
  }
  const found = PLAIN_STATEMENT.exec(rest);
  if (found) {
    const turned = found[2].startsWith("<");
    const sign = turned ? `${found[2][1]}>` : found[2];
    const ends = [Explorer.placeOf(found[1]), Explorer.placeOf(found[3])];
    if (turned) ends.reverse();
    const [from, to] = ends;
    if (from !== null && to !== null && from !== to) return { kind: PLAIN_KINDS[sign][denied], from, to, text };
  }
  return { kind: "statement", text: text.trim() };
};

// Links

// The state as what stands behind # in the address.
Explorer.fragment = () => {
  const { given, setting } = Report.state;
  const parts = new URLSearchParams();
  for (const assumption of given) parts.append("given", Report.statementOf(assumption));
  for (const [name, value] of Object.entries(setting)) parts.append("setting", `${name}=${value}`);
  if (Report.threshold !== Report.data.threshold) parts.append("threshold", String(Report.threshold));
  return parts.toString();
};

// What a fragment says, or null where it is not one of ours: anybody can write a link.
Explorer.readFragment = (fragment) => {
  const most = Explorer.mostLinked;
  if (fragment === "" || fragment.length > most.characters) return null;
  const parts = new URLSearchParams(fragment);
  for (const key of parts.keys()) if (!["given", "setting", "threshold"].includes(key)) return null;
  const given = parts.getAll("given");
  if (given.length > most.statements || given.some((text) => text.trim() === "" || text.length > most.length)) return null;
  if (parts.getAll("threshold").length > 1) return null;
  const setting = Explorer.settingIn(parts.getAll("setting"));
  if (setting === null) return null;
  const threshold = parts.has("threshold") ? Number(parts.get("threshold")) : null;
  if (threshold !== null && !(threshold >= 0.01 && threshold <= 1)) return null;
  return { given: given.map(Explorer.assumptionOf), setting, threshold };
};

// Values of what the model averages over, each as "name=value"; null where one is not among them, or comes twice.
Explorer.settingIn = (texts) => {
  const found = {};
  for (const text of texts) {
    // What a kind of model is called may have this sign in it.
    const end = text.indexOf("=");
    const [name, written] = [text.slice(0, end), text.slice(end + 1)];
    const axis = Report.data.explorer.settings.find((own) => own.name === name);
    const value = axis?.values.find((own) => String(own) === written);
    if (value === undefined || Object.hasOwn(found, name)) return null;
    found[name] = value;
  }
  return found;
};

Explorer.setThreshold = (threshold) => {
  const slider = Report.find("threshold");
  slider.value = String(threshold);
  slider.dispatchEvent(new Event("input"));
};

// Goes to the state of the address. Statements that the server refuses are not taken, and nothing else happens.
Explorer.openFragment = async () => {
  const found = Explorer.readFragment(location.hash.slice(1));
  if (found === null) return false;
  const { given, setting, threshold } = found;
  if (given.some(({ kind }) => kind === "statement")) {
    const texts = given.map(Report.statementOf);
    try {
      await Explorer.ask("view", { given: texts, setting });
    } catch {
      return false;
    }
  }
  if (threshold !== null) Explorer.setThreshold(threshold);
  Report.restore({ given, setting });
  return true;
};

// The address says what is assumed: a page that is loaded again is the same one.
Explorer.keepAddress = () => {
  const fragment = Explorer.fragment();
  if (location.hash.slice(1) === fragment) return;
  history.replaceState(null, "", fragment === "" ? location.pathname : `#${fragment}`);
};

// Copies

Explorer.copy = async (text) => {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // Where the browser does not allow that: the old way.
    const field = Report.element("textarea", undefined, "unseen");
    field.value = text;
    document.body.append(field);
    field.select();
    const done = document.execCommand("copy");
    field.remove();
    return done;
  }
};

// A text in a frame, with a button that copies it.
Explorer.copied = (title, text) => {
  const head = Report.element("h3", title);
  const block = Report.element("pre", text, "paste");
  block.tabIndex = 0;
  const button = Report.element("button", "Copy", "copy");
  button.type = "button";
  button.setAttribute("aria-label", `Copy: ${title}`);
  button.addEventListener("click", async () => {
    const done = await Explorer.copy(text);
    button.textContent = done ? "Copied" : "Select it and press Ctrl+C";
    Explorer.say(done ? "Copied." : "Not copied: select it and press Ctrl+C.");
    setTimeout(() => { button.textContent = "Copy"; }, 2000);
  });
  head.append(button);
  return [head, block];
};

Explorer.startSharing = () => {
  const place = Report.find("shared");
  let open = null;
  const tell = (...parts) => place.replaceChildren(...parts);
  const trouble = (error) => tell(Report.element("p", error.message, "error"));
  let asked = null;
  const code = async () => {
    asked?.abort();
    asked = new AbortController();
    const { signal } = asked;
    open = "code";
    tell(Report.element("p", "Writing the code …", "help waiting"));
    try {
      const { python, command } = await Explorer.ask("code", Explorer.present(), signal);
      const parts = [...Explorer.copied("Python", python)];
      if (command) parts.push(...Explorer.copied("Command line", command));
      if (!signal.aborted) tell(...parts);
    } catch (error) {
      if (!signal.aborted) trouble(error);
    }
  };
  Report.find("share-code").addEventListener("click", () => {
    if (open === "code") {
      asked.abort();
      open = null;
      tell();
    } else code();
  });
  Report.find("share-link").addEventListener("click", async () => {
    open = "link";
    const address = new URL(location.href);
    address.hash = Explorer.fragment();
    const done = await Explorer.copy(address.href);
    tell(
      Report.element("p", `${done ? "Copied. " : ""}It opens this state, on this machine, while the explorer runs.`, "help"),
      ...(done ? [] : Explorer.copied("Link", address.href)),
    );
    Explorer.say(done ? "The link is copied." : "The link is shown below.");
  });
  Report.find("share-report").addEventListener("click", async ({ currentTarget }) => {
    const button = currentTarget;
    open = "report";
    button.disabled = true;
    tell(Report.element("p", "Writing the report …", "help waiting"));
    try {
      const { html, name } = await Explorer.ask("report", { ...Explorer.present(), patient: true });
      Report.save(new Blob([html], { type: "text/html" }), name ?? "report.html");
      tell(Report.element("p", "The report of this state is saved where your browser saves files.", "help"));
      Explorer.say("The report is saved.");
    } catch (error) {
      trouble(error);
    }
    button.disabled = false;
  });
  document.addEventListener("state", () => {
    Explorer.keepAddress();
    if (open === "code") code();
    else {
      open = null;
      tell();
    }
  });
  Report.find("threshold").addEventListener("change", Explorer.keepAddress);
  Report.find("threshold-number").addEventListener("change", Explorer.keepAddress);
  window.addEventListener("hashchange", () => {
    if (location.hash.slice(1) !== Explorer.fragment()) Explorer.openFragment();
  });
};
