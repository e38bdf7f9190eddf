"use strict";
// Large graphs: one variable and what is around it, everything else faded, and variables without a line folded away. The
// picture is zoomed to the part, boxes stay where they are.

// What may be around a variable, and how that is said.
Report.REACHES = {
  one: ["1 step", "and what it is joined with"],
  two: ["2 steps", "and what is at most two lines away"],
  causes: ["what leads to it", "and what leads to it"],
  effects: ["what it leads to", "and what it leads to"],
};
// Never closer than this: three boxes need not fill a screen.
const CLOSEST = 2.4;

Report.focus = null;

// The variables around one, by the lines that are shown, or by the probability of a directed path.
Report.around = (node, reach) => {
  const lines = Report.shownLines().map(Report.pairOf);
  const found = new Set([node]);
  const paths = Report.view?.paths;
  if ((reach === "causes" || reach === "effects") && paths) {
    paths.forEach((row, other) => {
      const chance = reach === "causes" ? row[node] : paths[node][other];
      if (other !== node && chance >= Report.threshold - 1e-6) found.add(other);
    });
    return found;
  }
  // Without these along the heads of lines, as far as they lead.
  const steps = { one: 1, two: 2 }[reach] ?? Report.data.names.length;
  const leads = ({ from, to, head }, here) => {
    if (reach === "causes") return head && to === here ? from : null;
    if (reach === "effects") return head && from === here ? to : null;
    if (from === here) return to;
    return to === here ? from : null;
  };
  let last = [node];
  for (let step = 0; step < steps && last.length > 0; step += 1) {
    const next = last.flatMap((here) => lines.map((pair) => leads(pair, here)).filter((other) => other !== null && !found.has(other)));
    next.forEach((other) => found.add(other));
    last = next;
  }
  return found;
};

// Fades what is not around the variable in focus; called again whenever lines have changed.
Report.applyFocus = () => {
  for (const line of document.querySelectorAll(".pair.away, .node.away")) line.classList.remove("away");
  const around = Report.focus && Report.around(Report.focus.node, Report.focus.reach);
  for (const svg of Report.pictures()) {
    svg.classList.toggle("focused", around !== null);
    if (around === null) continue;
    for (const line of Report.lines(svg)) {
      line.classList.toggle("away", !(around.has(Number(line.dataset.from)) && around.has(Number(line.dataset.to))));
    }
    for (const box of Report.boxes(svg)) box.classList.toggle("away", !around.has(Report.nodeOf(box)));
  }
  Report.tellFocus(around);
  return around;
};

Report.tellFocus = (around) => {
  const bar = Report.find("focus-bar");
  if (!bar) return;
  bar.hidden = around === null;
  if (around === null) return;
  const { node, reach } = Report.focus;
  const words = Report.element("span");
  words.append(Report.name(node), ` ${Report.REACHES[reach][1]}: ${around.size} of ${Report.data.names.length} variables `);
  bar.firstElementChild.replaceWith(words);
};

// Around a variable, or everything again: null.
Report.setFocus = (node, reach = "one") => {
  Report.focus = node === null ? null : { node, reach };
  const around = Report.applyFocus();
  if (around === null) Report.fit();
  else Report.zoomTo(around);
  Report.tellShown();
  for (const button of document.querySelectorAll("[data-reach]")) {
    button.setAttribute("aria-pressed", String(Report.focus?.reach === button.dataset.reach));
  }
};

// Zooms to some boxes of the picture in sight, and scrolls to them.
Report.zoomTo = (nodes) => {
  const frame = Report.find("graph");
  const svg = Report.picture();
  Report.fit();
  const boxes = Report.boxes(svg).filter((box) => nodes.has(Report.nodeOf(box))).map((box) => box.getBoundingClientRect());
  if (boxes.length === 0) return;
  const edge = (side, most) => most(...boxes.map((box) => box[side]));
  const [left, right, top, bottom] = [edge("left", Math.min), edge("right", Math.max), edge("top", Math.min), edge("bottom", Math.max)];
  const [wide, high] = [frame.clientWidth, Math.min(frame.clientHeight, window.innerHeight)];
  Report.zoom(Math.max(1, Math.min(CLOSEST, wide / (right - left + 60), high / (bottom - top + 60))));
  const now = Report.boxes(svg).filter((box) => nodes.has(Report.nodeOf(box))).map((box) => box.getBoundingClientRect());
  const middle = (low, top_) => (Math.min(...now.map((box) => box[low])) + Math.max(...now.map((box) => box[top_]))) / 2;
  const place = frame.getBoundingClientRect();
  frame.scrollLeft += middle("left", "right") - (place.left + place.width / 2);
  const down = middle("top", "bottom");
  frame.scrollTop += down - (place.top + place.height / 2);
  // A picture that is higher than the window scrolls with the page.
  const box = Report.boxes(svg).find((own) => Report.nodeOf(own) === Report.focus?.node)?.getBoundingClientRect();
  if (box && (box.top < 0 || box.bottom > window.innerHeight)) window.scrollBy(0, box.top - window.innerHeight / 3);
};

// For the panel of a variable.
Report.focusButtons = (node) => {
  const head = Report.element("h4", "Look only at it and");
  head.id = "look-only";
  const group = Report.element("div", undefined, "buttons");
  group.setAttribute("role", "group");
  group.setAttribute("aria-labelledby", "look-only");
  for (const [reach, [words]] of Object.entries(Report.REACHES)) {
    const button = Report.element("button", words);
    button.type = "button";
    button.dataset.reach = reach;
    const pressed = () => Report.focus?.node === node && Report.focus.reach === reach;
    button.setAttribute("aria-pressed", String(pressed()));
    button.addEventListener("click", () => {
      if (pressed()) Report.setFocus(null);
      else Report.setFocus(node, reach);
    });
    group.append(button);
  }
  return [head, group];
};

// Variables without a line

Report.tellFold = () => {
  const button = Report.find("fold");
  if (!button) return;
  const alone = Report.boxes(Report.picture()).filter((box) => box.classList.contains("alone")).length;
  button.hidden = alone === 0 || Report.data.names.length < 8;
  button.textContent = `${Report.folded ? "Show" : "Hide"} the ${alone} ${alone === 1 ? "variable" : "variables"} without a line`;
  button.setAttribute("aria-pressed", String(Report.folded));
};

Report.connectFocus = () => {
  const bar = Report.element("div");
  bar.id = "focus-bar";
  bar.hidden = true;
  bar.setAttribute("role", "status");
  const back = Report.element("button", "Show everything");
  back.type = "button";
  back.addEventListener("click", () => {
    Report.setFocus(null);
    Report.find("graph").focus({ preventScroll: true });
  });
  bar.append(Report.element("span"), back);
  Report.find("graph").after(bar);
  const fold = Report.element("button");
  fold.type = "button";
  fold.id = "fold";
  fold.addEventListener("click", () => {
    Report.folded = !Report.folded;
    Report.foldLonely();
    Report.tellShown();
    Report.tellFold();
  });
  Report.find("shown").after(fold);
  Report.tellFold();
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && Report.focus !== null && Report.panelOf === null) Report.setFocus(null);
  });
};

document.addEventListener("DOMContentLoaded", Report.connectFocus);
