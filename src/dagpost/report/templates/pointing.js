"use strict";
// Pointing at the graph, clicking on it, and stepping through it with keys.

Report.hideTip = () => {
  Report.find("tip").hidden = true;
  for (const line of document.querySelectorAll(".pair.pointed")) line.classList.remove("pointed");
};

// `at` is a point of the window.
Report.tell = (lines, at) => {
  const tip = Report.find("tip");
  tip.replaceChildren(...lines.map(Report.sentence));
  tip.hidden = false;
  const frame = tip.parentElement;
  const box = frame.getBoundingClientRect();
  const within = (place, most) => `${Math.max(4, Math.min(place + 14, most - 4))}px`;
  tip.style.left = within(at.x - box.left, frame.clientWidth - tip.offsetWidth);
  tip.style.top = within(at.y - box.top, frame.clientHeight - tip.offsetHeight);
};

Report.tellLine = (line, at) => {
  Report.hideTip();
  line.classList.add("pointed");
  Report.tell([...Report.saidOf(Report.pairOf(line)), ...Report.beforeOf(Number(line.dataset.pair))], at);
};

// What was said before the last change, where that was something else, and what is assumed.
Report.beforeOf = (place) => {
  const lines = [];
  const change = Report.changeAt(place);
  const was = change?.was;
  if (was) lines.push(["before: ", was.from, was.head ? " → " : " — ", was.to, `: joined ${Report.number(was.joined)}`]);
  const { from, to } = Report.pairAt(place);
  const assumed = Report.markOf(from, to);
  if (assumed?.kind === "edge") lines.push(["assumed: ", assumed.from, " → ", assumed.to]);
  else if (assumed?.kind === "no-edge") lines.push(["assumed away: ", assumed.from, " → ", assumed.to]);
  else if (assumed) lines.push([assumed.kind === "joined" ? "assumed: joined" : "assumed: not joined"]);
  return lines;
};

// What is told of a variable that is pointed at.
Report.tellBox = (box, at) => {
  const place = Report.nodeOf(box);
  const own = Report.shownLines().map(Report.pairOf).filter(({ from, to }) => from === place || to === place).length;
  Report.hideTip();
  Report.tell([[place], [`${own} ${own === 1 ? "line" : "lines"} shown; click for parent sets`]], at);
};

// What is said of a pair: how probably it is joined, its direction in words, and the numbers behind these.
Report.saidOf = ({ from, to, head, joined, said, effect }) => {
  const lines = [[from, head ? " → " : " — ", to, `: joined ${Report.number(joined)}`], [`direction ${said}`]];
  if (effect) lines.push([effect]);
  return lines;
};

Report.middleOf = (line) => {
  const path = line.querySelector(".line");
  const { x, y } = path.getPointAtLength(path.getTotalLength() / 2).matrixTransform(path.getScreenCTM());
  return { x, y };
};

Report.watch = () => {
  const frame = Report.find("graph");
  const under = (event, kind) => event.target.closest(kind);
  const mouse = (event) => ({ x: event.clientX, y: event.clientY });
  frame.addEventListener("pointermove", (event) => {
    if (event.pointerType === "touch" || frame.classList.contains("held")) return;
    const [line, box] = [under(event, ".pair"), under(event, ".node")];
    if (line) Report.tellLine(line, mouse(event));
    else if (box) Report.tellBox(box, mouse(event));
    else Report.hideTip();
  });
  frame.addEventListener("pointerleave", (event) => { if (event.pointerType !== "touch") Report.hideTip(); });
  frame.addEventListener("click", (event) => {
    if (Report.dragged) return;
    const [line, box] = [under(event, ".pair"), under(event, ".node")];
    if (line) Report.openPair(Number(line.dataset.pair));
    else if (box) Report.openVariable(Report.nodeOf(box));
    else Report.closePanel(false);
  });
  frame.addEventListener("keydown", Report.press);
  frame.addEventListener("blur", () => Report.hideTip());
};

// What one steps to must be in sight.
Report.bringIn = (line) => {
  const frame = Report.find("graph");
  const box = frame.getBoundingClientRect();
  const at = Report.middleOf(line);
  if (at.x < box.left || at.x > box.right) frame.scrollLeft += at.x - (box.left + box.width / 2);
  if (at.y < box.top || at.y > box.bottom) frame.scrollTop += at.y - (box.top + box.height / 2);
  const now = Report.middleOf(line);
  if (now.y < 0 || now.y > window.innerHeight) window.scrollBy(0, now.y - window.innerHeight / 2);
};

// The place of the pair that keys stepped to last.
Report.steppedTo = null;

Report.step = (by) => {
  const shown = Report.reachedLines();
  if (shown.length === 0) return;
  // After a redraw it goes on from where it was.
  const pointed = shown.findIndex((line) => line.classList.contains("pointed"));
  const now = pointed >= 0 ? pointed : shown.findIndex((line) => Number(line.dataset.pair) === Report.steppedTo);
  const next = shown[now < 0 && by < 0 ? shown.length - 1 : (now + by + shown.length) % shown.length];
  Report.steppedTo = Number(next.dataset.pair);
  Report.bringIn(next);
  Report.tellLine(next, Report.middleOf(next));
};

Report.press = (event) => {
  const steps = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key in steps) Report.step(steps[event.key]);
  else if (event.key === "Enter") {
    const pointed = Report.reachedLines().find((line) => line.classList.contains("pointed"));
    if (pointed) {
      Report.openPair(Number(pointed.dataset.pair));
      Report.find("panel").focus();
    }
  } else if (event.key === "+" || event.key === "=") Report.zoom(1.25);
  else if (event.key === "-") Report.zoom(0.8);
  else if (event.key === "0") Report.fit();
  else return;
  event.preventDefault();
};
