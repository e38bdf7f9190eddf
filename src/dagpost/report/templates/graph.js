"use strict";
// The graph: which lines are shown, and how large. The picture itself stands in the page, one for wide screens and one
// for narrow ones, and no box in it ever moves: scripts hide, light up, zoom, and draw lines in another way (redraw.js).

// What is below a threshold by less than this has reached it.
const NEAR = 1e-6;
const MOST_ZOOM = 8;

Report.pictures = () => Array.from(document.querySelectorAll("svg.graph"));

// The one of the two that is seen now. Looked up once for each width: to ask for a style after a change takes longer
// than all the drawing.
const NARROW = matchMedia("(max-width: 46rem)");
Report.pictureSeen = null;
Report.picture = () => {
  if (Report.pictureSeen?.narrow !== NARROW.matches) {
    const svg = Report.pictures().find((own) => getComputedStyle(own).display !== "none") ?? Report.pictures()[0];
    Report.pictureSeen = { narrow: NARROW.matches, svg };
  }
  return Report.pictureSeen.svg;
};
window.addEventListener("resize", () => { Report.pictureSeen = null; });

// The lines, or the variables, of all pictures or of one.
Report.lines = (within = document) => Array.from(within.querySelectorAll("svg.graph .pair, .pair[data-pair]"));
Report.boxes = (within = document) => Array.from(within.querySelectorAll("svg.graph .node, .node[data-node]"));
// What is said of a line under the present view.
Report.pairOf = (line) => Report.pairAt(Number(line.dataset.pair));
Report.nodeOf = (box) => Number(box.dataset.node);

// The lines of the picture in sight that are not hidden, the most probable ones first, as in the table.
Report.shownLines = () => Report.reachedLines().filter((line) => !line.classList.contains("trace"));

// And after them what is forbidden, or has just vanished.
Report.reachedLines = () => {
  const order = (line) => [line.classList.contains("trace"), -Report.pairOf(line).joined, Number(line.dataset.pair)];
  return Array.from(Report.picture().querySelectorAll(".pair:not(.hidden, .away)"))
    .map((line) => [order(line), line])
    .sort(([one], [two]) => one[0] - two[0] || one[1] - two[1] || one[2] - two[2])
    .map(([, line]) => line);
};

// Which lines are shown

Report.showFrom = (threshold) => {
  Report.threshold = threshold;
  Report.show();
  Report.foldLonely();
  if (Report.focus) Report.applyFocus();
  Report.tellShown();
  Report.tellFold();
  Report.hideTip();
};

// Variables without a line, in all pictures: of very many they would be a carpet.
Report.folded = Boolean(Report.data.many);

Report.foldLonely = () => {
  for (const svg of Report.pictures()) {
    const ends = new Set();
    for (const line of svg.querySelectorAll(".pair:not(.hidden)")) ends.add(Number(line.dataset.from)).add(Number(line.dataset.to));
    for (const box of Report.boxes(svg)) {
      box.classList.toggle("alone", !ends.has(Report.nodeOf(box)));
      box.classList.toggle("lonely", Report.folded && !ends.has(Report.nodeOf(box)));
    }
  }
};

Report.tellShown = () => {
  const { names, many, posterior } = Report.data;
  const shown = Report.shownLines().map(Report.pairOf);
  const count = (number) => number.toLocaleString("en");
  const sum = (some) => some.reduce((total, { joined }) => total + joined, 0);
  let words;
  if (Report.single) {
    const { edges, said } = Report.single;
    words = `One single graph: ${count(edges.length)} ${edges.length === 1 ? "edge" : "edges"}.${said ? ` ${said}` : ""}`;
  } else {
    const reached = Report.pairs.filter(({ joined }) => joined >= Report.threshold - NEAR);
    const [others] = Report.data.unlisted;
    words = `${count(shown.length)} of ${count(Report.data.pairs.length + others)} pairs are shown.`;
    if (shown.length < reached.length) {
      words += ` ${count(reached.length - shown.length)} more reach this and are in the table only.`;
    }
    if (many || Report.folded) {
      const ends = new Set(shown.flatMap(({ from, to }) => [from, to]));
      words += ` ${count(names.length - ends.size)} of ${count(names.length)} variables have no line and are not drawn.`;
    }
    if (posterior) {
      const wrong = Math.max(0, shown.length - sum(shown));
      const missed = Math.max(0, Report.joinedInAll() - sum(shown));
      words += ` Expect about ${wrong.toFixed(1)} false lines among them, and about ${missed.toFixed(1)} true ones among the rest.`;
    }
  }
  Report.find("shown").textContent = words;
  // What a reader who sees no picture is told of it.
  const most = shown.slice(0, 12).map(({ from, to, head, joined, word }) =>
    `${names[from]} ${head ? "→" : "–"} ${names[to]} ${Report.number(joined)} (${word})`);
  const under = Report.isBase(Report.view) ? "" : ` Under ${Report.assumed(Report.view) === 1 ? "an assumption" : "assumptions"}.`;
  for (const svg of Report.pictures()) {
    svg.setAttribute("role", "img");
    svg.setAttribute("aria-label", `Graph.${under} ${words}${most.length > 0 ? ` Most: ${most.join("; ")}.` : ""}`);
  }
};

// What is lit

// Lights up a variable with its lines and neighbours, or a line with its two ends; null lights up everything again.
Report.choose = (node, pair = null) => {
  for (const svg of Report.pictures()) {
    svg.classList.toggle("chosen", node !== null || pair !== null);
    const lit = new Set(node === null ? [] : [node]);
    for (const line of Report.lines(svg)) {
      const { from, to } = Report.pairOf(line);
      const own = pair === null ? from === node || to === node : Number(line.dataset.pair) === pair;
      line.classList.toggle("lit", own);
      if (own && !line.classList.contains("hidden")) lit.add(from).add(to);
    }
    for (const box of Report.boxes(svg)) {
      box.classList.toggle("lit", lit.has(Report.nodeOf(box)));
      box.classList.toggle("marked", Report.nodeOf(box) === node);
    }
  }
};

// Zoom: the picture grows inside its frame, which then scrolls as everything else in a browser does

Report.zoomed = 1;

// Zooms so that a point of the window stays where it is.
Report.zoom = (factor, at) => {
  const frame = Report.find("graph");
  const box = frame.getBoundingClientRect();
  const [x, y] = at ? [at.x - box.left, at.y - box.top] : [box.width / 2, box.height / 2];
  const before = Report.picture().getBoundingClientRect();
  const [across, down] = [(box.left + x - before.left) / before.width, (box.top + y - before.top) / before.height];
  // A frame that grew with its picture would never be left.
  if (Report.zoomed === 1) frame.style.height = `${box.height}px`;
  Report.zoomed = Math.min(MOST_ZOOM, Math.max(1, Report.zoomed * factor));
  frame.style.setProperty("--zoom", String(Report.zoomed));
  if (Report.zoomed === 1) frame.style.height = "";
  frame.classList.toggle("larger", Report.zoomed > 1);
  const after = Report.picture().getBoundingClientRect();
  frame.scrollLeft += after.left + across * after.width - (box.left + x);
  frame.scrollTop += after.top + down * after.height - (box.top + y);
  Report.hideTip();
};

Report.fit = () => Report.zoom(0);

// Ctrl and the wheel, two fingers, and dragging with the mouse. The wheel alone and one finger scroll the page.
Report.watchZoom = () => {
  const frame = Report.find("graph");
  frame.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    Report.zoom(Math.exp(-0.0025 * Math.max(-200, Math.min(200, event.deltaY))), { x: event.clientX, y: event.clientY });
  }, { passive: false });
  const fingers = new Map();
  let held = null;
  frame.addEventListener("pointerdown", (event) => {
    if (event.pointerType === "touch") fingers.set(event.pointerId, event);
    else if (event.button === 0) held = { x: event.clientX, y: event.clientY, moved: false };
  });
  window.addEventListener("pointermove", (event) => {
    if (held !== null && event.pointerType !== "touch") {
      const [right, down] = [event.clientX - held.x, event.clientY - held.y];
      if (!held.moved && Math.hypot(right, down) < 4) return;
      held = { x: event.clientX, y: event.clientY, moved: true };
      frame.classList.add("held");
      frame.scrollBy(-right, -down);
      Report.hideTip();
    } else if (fingers.has(event.pointerId) && fingers.size === 2) {
      const apart = () => {
        const [one, two] = fingers.values();
        return Math.hypot(one.clientX - two.clientX, one.clientY - two.clientY) || 1;
      };
      const before = apart();
      fingers.set(event.pointerId, event);
      const [one, two] = fingers.values();
      Report.zoom(apart() / before, { x: (one.clientX + two.clientX) / 2, y: (one.clientY + two.clientY) / 2 });
    }
  });
  const leave = (event) => {
    fingers.delete(event.pointerId);
    frame.classList.remove("held");
    // A click that ends a drag chooses nothing.
    if (held?.moved) Report.dragged = true;
    held = null;
    setTimeout(() => { Report.dragged = false; }, 0);
  };
  window.addEventListener("pointerup", leave);
  window.addEventListener("pointercancel", leave);
};
