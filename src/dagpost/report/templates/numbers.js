"use strict";
// What the other scripts share: the numbers of the page, and how they are shown.
// Names come from the data of strangers: they become text nodes and nothing else.

const Report = {
  data: JSON.parse(document.getElementById("numbers").textContent),
};

Report.find = (id) => document.getElementById(id);

Report.number = (value) => {
  if (value > 0 && value < 0.0005) return "<0.001";
  // Weights that sum to 1 do so up to rounding.
  if (value > 0.9995 && value < 1 - 1e-9) return ">0.999";
  return value.toFixed(3);
};

Report.element = (tag, words, kind) => {
  const made = document.createElement(tag);
  if (words !== undefined) made.textContent = words;
  if (kind) made.className = kind;
  return made;
};

// A name, whose direction of writing stays inside it; the whole of a long one shows when pointed at.
Report.name = (place) => {
  const whole = Report.data.names[place];
  const made = Report.element("bdi");
  // A long name may be broken after an underscore rather than anywhere.
  const parts = (whole.length > 40 ? `${whole.slice(0, 39)}…` : whole).split("_");
  parts.forEach((part, number) => {
    if (number > 0) made.append("_", document.createElement("wbr"));
    made.append(part);
  });
  if (whole.length > 40) made.title = whole;
  return made;
};

// A line of text in which numbers stand for variables.
Report.sentence = (parts) => {
  const made = Report.element("div");
  for (const part of parts) made.append(typeof part === "number" ? Report.name(part) : part);
  return made;
};

// What somebody hears who does not see the page, one sentence at a time.
Report.say = (words) => {
  const live = Report.find("live");
  if (live) live.textContent = words;
};

Report.save = (blob, name) => {
  const link = Report.element("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
};
