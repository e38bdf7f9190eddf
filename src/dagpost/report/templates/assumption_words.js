"use strict";
// What is said of assumptions: how probable they are, where the numbers come from, what was done. Sentences only.

// A probability with as many digits as it needs: 0.07, 0.0004, 3.1 × 10⁻⁹; never 0 or 1 unless it is.
Report.chanceNumber = (value) => {
  if (value <= 0) return "0";
  if (value >= 1 - 1e-9) return "1";
  if (value > 0.9995) return ">0.999";
  if (value >= 0.1) return String(Number(value.toFixed(3)));
  if (value >= 1e-5) return value.toFixed(1 - Math.floor(Math.log10(value))).replace(/0+$/, "");
  const [digits, power] = value.toExponential(1).split("e-");
  return `${digits} × 10${Array.from(`-${power}`, (sign) => "⁰¹²³⁴⁵⁶⁷⁸⁹"["0123456789".indexOf(sign)] ?? "⁻").join("")}`;
};

// A share in per cent that is never rounded to all or nothing.
Report.percent = (share) => {
  if (share > 0.999) return "over 99.9%";
  if (share > 0 && share < 0.001) return "less than 0.1%";
  const percent = 100 * share;
  return `${Number(percent.toFixed(percent < 10 || percent > 99 ? 1 : 0))}%`;
};

// How much of the posterior a state leaves, in words.
Report.chanceTold = (state, view) =>
  Report.chanceSentence(view?.chance ?? null, Report.assumed(state), Report.data.posterior, Report.weightIsFixed(state));

// Whether all that is assumed is a kind of model, whose weight was not learned from the data.
Report.weightIsFixed = ({ given, setting }) => {
  const names = Object.keys(setting);
  const axis = (Report.data.explorer?.settings ?? []).find((own) => own.name === names[0]);
  return given.length === 0 && names.length === 1 && Boolean(axis?.fixed);
};

// How much was assumed away.
Report.chanceSentence = (chance, count = 1, posterior = true, fixed = false) => {
  if (chance === null) return "Nothing is assumed.";
  const { value, lower, upper, exact } = chance;
  const [your, have, their] = count === 1 ? ["Your assumption", "has", "its"] : ["Your assumptions", "have", "their"];
  if (value >= 1 - 1e-9) {
    return exact
      ? "You have assumed nothing that the data do not already say."
      : "You have assumed nothing that the drawn graphs do not already say: it holds in all of them.";
  }
  if (value <= 0 && exact) return `No graph meets ${your.toLowerCase()}.`;
  if (value <= 0) return `No drawn graph meets ${your.toLowerCase()}: ${their} ${posterior ? "probability" : "share"} is at most ${Report.chanceNumber(upper)}.`;
  const within = exact ? "" : ` (${Report.chanceNumber(lower)} to ${Report.chanceNumber(upper)})`;
  const away = Report.percent(1 - value);
  const about = exact || /^(over|less)/.test(away) ? "" : "about ";
  const said = posterior ? `${have} ${fixed ? "the fixed weight" : "probability"} ${Report.chanceNumber(value)}` : `${count === 1 ? "holds" : "hold"} in a share of ${Report.chanceNumber(value)}`;
  const whole = posterior ? "of the posterior" : "of the graphs";
  return `${your} ${said}${within}: you have assumed away ${about}${away} ${whole}.`;
};

// What is said where no graph is left.
Report.emptyWords = (view, command = Report.exactCommand()) => {
  if (view.source !== "draws") return "No graph meets all of your assumptions: they exclude each other, or the rules of the model exclude them.";
  const told = ` ${command ?? "Only more draws"} would tell.`;
  return `No drawn graph meets all of your assumptions: they are improbable, or exclude each other.${told}`;
};

Report.circleWords = (circle) => `${circle.map(Report.shortName).join(" → ")} would be a circle, and no graph here has one.`;

// How far a number from draws may be off, at most, nineteen times in twenty.
Report.offBy = (view) => {
  const worth = view.graphs?.worth;
  return worth > 0 ? Math.min(1, 0.98 / Math.sqrt(worth)) : null;
};

Report.offByWords = (view) => {
  const off = Report.offBy(view);
  if (off === null) return "";
  return off >= 0.5 ? "numbers may be far off" : `numbers are within ±${off >= 0.095 ? off.toFixed(1) : off.toPrecision(1)}`;
};

// Where the numbers come from. `command`: how to have them exactly, where that is not what is running.
Report.sourceSentence = (view, { asking = false, command = null } = {}) => {
  const provisional = asking && view.source !== "exact";
  const said = [];
  if (view.source === "exact") said.push("Exact: all graphs that are left are summed.");
  else if (view.source === "averaged") said.push("Averaged over completed tables, in each of which all graphs that are left are summed.");
  else said.push(Report.drawsSentence(view, provisional));
  if (view.few && !asking) said.push(command ? `${command} would answer exactly.` : "Only more draws would tell more.");
  if (provisional) {
    said.push(view.seconds ? `A better answer comes in about ${Report.secondsWords(view.seconds)}.` : "A better answer is on its way.");
  }
  return said.join(" ");
};

Report.drawsSentence = (view, provisional) => {
  const count = (number) => Math.round(number).toLocaleString("en");
  const now = provisional ? "For now from" : "From";
  if (!view.graphs) return view.few ? "Too few graphs left." : `${now} drawn graphs.`;
  const { left, of, worth } = view.graphs;
  const draws = `${count(worth)} independent ${count(worth) === "1" ? "draw" : "draws"}`;
  if (!view.few) return `${now} ${count(left)} of ${count(of)} distinct graphs drawn, worth ${draws}: ${Report.offByWords(view)}.`;
  // Many graphs of a chain that hardly moved tell as little as few.
  if (worth < left / 2) return `Too few to trust: ${count(left)} of ${count(of)} distinct graphs drawn are left, but worth only ${draws}.`;
  return `Too few graphs left: ${count(left)} of ${count(of)} distinct ones drawn, worth ${draws}.`;
};

Report.secondsWords = (seconds) => {
  if (seconds < 1) return "a second";
  if (seconds < 90) return `${Math.round(seconds)} s`;
  return `${Math.round(seconds / 60)} min`;
};

// What is added below a picture that is saved: under what it was drawn. Nothing where nothing is assumed.
Report.underWords = () => {
  const { given, setting } = Report.shownState ?? Report.NOTHING;
  if (Report.assumed({ given, setting }) === 0) return "";
  const said = given.map((assumption) => Report.plainWords(Report.assumptionParts(assumption)));
  for (const [name, value] of Object.entries(setting)) said.push(`${name} = ${Report.threeDigits(value)}`);
  const chance = Report.view.chance ? ` (probability ${Report.chanceNumber(Report.view.chance.value)})` : "";
  return ` Assumed: ${said.join("; ")}${chance}. ${Report.sourceSentence(Report.view)}`;
};

Report.threeDigits = (value) => (typeof value === "string" ? value : String(Number(value.toPrecision(3))));

// An assumption as people say it, with places for names.
Report.assumptionParts = ({ kind, from, to, text }) => ({
  edge: [from, " → ", to],
  "no-edge": ["not ", from, " → ", to],
  joined: [from, " and ", to, " are joined"],
  apart: [from, " and ", to, " are not joined"],
  path: ["a path leads from ", from, " to ", to],
  "no-path": ["no path leads from ", from, " to ", to],
}[kind] ?? [text]);

Report.shortName = (place) => {
  const whole = Report.data.names[place];
  return whole.length > 40 ? `${whole.slice(0, 39)}…` : whole;
};

Report.plainWords = (parts) => parts.map((part) => (typeof part === "number" ? Report.shortName(part) : part)).join("");

// What was done, for the names of undo and redo.
Report.stepWords = ({ did, about }) => ({
  assume: () => `assume ${Report.plainWords(Report.assumptionParts(about))}`,
  free: () => `free ${Report.plainWords(Report.assumptionParts(about))}`,
  set: () => about,
  reset: () => "free everything",
  open: () => "the assumptions of the link",
}[did]());
