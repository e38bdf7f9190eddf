"use strict";
// The graph: one line for each pair of variables, drawn by cytoscape and arranged in layers by dagre.
// Width and opacity of a line say how probable it is that the two are joined, its head and dashes what is known of the
// direction. Which word that is for each pair stands in the numbers of the page.

// What is below a threshold by less than this has reached it.
const NEAR = 1e-6;
// A name stands on up to two lines of so many characters.
const LINE = 17;
const BREAKS = " _-./:,;";
// Smaller than this nobody can read the names.
const READABLE = 0.6;
// With more variables the frame is higher.
const MANY = 14;
// More lines than this are not readable in layers, and laying them out would hold up the page.
const MOST_LAYERED = 250;
// With more variables than this, those without a line are not drawn.
const MOST_DRAWN = 64;
// And no more lines than these, the most probable ones.
const MOST_LINES = 200;

// A name over up to two lines, rather broken after a mark in the second half of a line than in the middle of a word.
Report.wrapped = (name) => {
  const signs = Array.from(name);
  if (signs.length <= LINE) return [name];
  let cut = LINE;
  for (let place = LINE; place > LINE / 2; place -= 1) {
    if (BREAKS.includes(signs[place - 1])) {
      cut = place;
      break;
    }
  }
  const rest = signs.slice(cut);
  const last = rest.length > LINE ? [...rest.slice(0, LINE - 1), "…"] : rest;
  return [signs.slice(0, cut).join("").trimEnd(), last.join("").trimStart()];
};

Report.makeGraph = () => {
  document.documentElement.classList.toggle("many", Report.data.names.length > MANY);
  const pen = document.createElement("canvas").getContext("2d");
  pen.font = "14px sans-serif";
  // Of very many variables, those that no listed pair joins have no box at all.
  const joined = new Set(Report.data.pairs.flatMap((pair) => [pair.from, pair.to]));
  const exogenous = new Set(Report.data.exogenous);
  Report.many = Report.data.names.length > MOST_DRAWN;
  const nodes = Report.data.names.map((name, place) => {
    const lines = Report.wrapped(name);
    const width = Math.max(...lines.map((line) => pen.measureText(line).width), 10) + 22;
    return {
      data: { id: `n${place}`, place, label: name, lines, shown: lines.join("\n"), width, height: 14 + 18 * lines.length },
      classes: exogenous.has(place) ? "exogenous" : "",
    };
  }).filter((node) => !Report.many || joined.has(node.data.place));
  const edges = Report.data.pairs.map((pair) => ({
    data: { id: `e${pair.from}-${pair.to}`, source: `n${pair.from}`, target: `n${pair.to}`, ...pair },
    classes: pair.word,
  }));
  const box = Report.find("graph");
  // The wheel scrolls the page, as everywhere; with Ctrl it zooms.
  box.parentElement.addEventListener(
    "wheel",
    (event) => { if (!event.ctrlKey && !event.metaKey) event.stopPropagation(); },
    { capture: true, passive: true },
  );
  Report.cy = cytoscape({
    container: box,
    elements: [...nodes, ...edges],
    layout: { name: "preset" },
    minZoom: 0.1,
    maxZoom: 4,
    boxSelectionEnabled: false,
    autounselectify: true,
  });
  Report.paint();
  Report.watch();
};

// The colour of each word; line and head say the same without it.
Report.inks = { clear: "--line", leaning: "--line", rules: "--given", model: "--given", open: "--open", unknown: "--quiet" };

Report.colour = (name, palette) => getComputedStyle(palette).getPropertyValue(name).trim();

// Colours come from the style sheet, so that dark screens and paper get their own.
Report.paint = () => {
  const colours = ["--ink", "--paper", "--strong", "--exogenous"];
  const [ink, paper, strong, exogenous] = colours.map((name) => Report.colour(name, document.documentElement));
  const line = (edge) => Report.colour(Report.inks[edge.data("word")], document.documentElement);
  Report.cy.style([
    { selector: "node", style: {
      "label": "data(shown)", "width": "data(width)", "height": "data(height)", "shape": "round-rectangle",
      "background-color": paper, "border-color": ink, "border-width": 1.2, "color": ink,
      "font-size": 14, "font-family": "sans-serif", "text-valign": "center", "text-halign": "center",
      "text-wrap": "wrap", "text-max-width": 1000, "line-height": 1.15,
    } },
    { selector: "node.exogenous", style: { "shape": "rectangle", "background-color": exogenous } },
    { selector: "node.marked", style: { "border-width": 3.5, "border-color": strong } },
    { selector: "edge", style: {
      "width": (edge) => 1 + 3.5 * edge.data("joined"),
      "opacity": (edge) => 0.3 + 0.7 * edge.data("joined"),
      "line-color": line, "target-arrow-color": line, "target-arrow-shape": "none", "arrow-scale": 1.1,
      "curve-style": "unbundled-bezier", "edge-distances": "node-position",
      "control-point-distances": (edge) => edge.scratch("distances") || [18],
      "control-point-weights": (edge) => edge.scratch("weights") || [0.5],
    } },
    { selector: "edge.clear, edge.leaning, edge.rules, edge.model", style: { "target-arrow-shape": "triangle" } },
    { selector: "edge.rules, edge.model", style: { "target-arrow-fill": "hollow" } },
    { selector: "edge.leaning, edge.model", style: { "line-style": "dashed", "line-dash-pattern": [8, 5] } },
    { selector: "edge.unknown", style: { "line-style": "dashed", "line-dash-pattern": [2, 3] } },
    { selector: "edge.below, node.lonely", style: { "display": "none" } },
    { selector: "edge.pointed", style: { "line-color": strong, "target-arrow-color": strong, "opacity": 1 } },
  ]);
};

// Which lines are shown

Report.showFrom = (threshold) => {
  const edges = Report.cy.edges();
  const reached = edges.filter((edge) => edge.data("joined") >= threshold - NEAR);
  // They come in falling order.
  const drawn = Report.many ? reached.slice(0, MOST_LINES) : reached;
  Report.cy.batch(() => {
    edges.addClass("below");
    drawn.removeClass("below");
  });
  const shown = edges.not(".below");
  if (Report.many) {
    const ends = shown.connectedNodes();
    Report.cy.batch(() => {
      Report.cy.nodes().addClass("lonely");
      ends.removeClass("lonely");
    });
  }
  const sum = (some) => some.reduce((total, edge) => total + edge.data("joined"), 0);
  const [others, joinedOthers] = Report.data.unlisted;
  let words = `${shown.length} of ${(edges.length + others).toLocaleString("en")} pairs are shown.`;
  if (drawn.length < reached.length) words += ` More reach this, at least ${reached.length}.`;
  if (Report.many) {
    const left = Report.data.names.length - shown.connectedNodes().length;
    words += ` ${left.toLocaleString("en")} of ${Report.data.names.length.toLocaleString("en")} variables are in none of these and are not drawn.`;
  }
  if (Report.data.posterior) {
    const wrong = Math.max(0, shown.length - sum(shown));
    const missed = Math.max(0, sum(edges.filter(".below")) + joinedOthers);
    words += ` If the probabilities are right, about ${wrong.toFixed(1)} of them are not joined,` +
      ` and about ${missed.toFixed(1)} of the rest are.`;
  }
  if (shown.length > MOST_LAYERED) words += " These are too many to read: show fewer, then press Arrange.";
  Report.find("shown").textContent = words;
  Report.hideTip();
  Report.refreshPrint();
};

// Where things stand

Report.arrange = () => {
  const shown = Report.cy.edges().not(".below");
  Report.cy.edges().forEach((edge) => {
    edge.removeScratch("weights");
    edge.removeScratch("distances");
  });
  if (shown.length > MOST_LAYERED) Report.placeOnCircle(shown);
  else Report.placeInLayers(shown);
  Report.cy.style().update();
  Report.fitReadably();
};

Report.placeInLayers = (shown) => {
  // Of very many variables, groups without a line between them are laid out one by one.
  const parts = Report.many ? shown.union(shown.connectedNodes()).components().map((part) => part.edges()) : [shown];
  const groups = parts.map(Report.inLayers);
  Report.putOnShelves(groups);
  let bottom = 0;
  let right = 0;
  for (const { inside, left, top } of groups) {
    inside.nodes().forEach((id) => {
      const [x, y] = [inside.node(id).x + left, inside.node(id).y + top];
      Report.cy.getElementById(id).position({ x, y });
      bottom = Math.max(bottom, y);
      right = Math.max(right, x);
    });
  }
  Report.placeLoose(Report.drawn().not(shown.connectedNodes()), shown.length > 0 ? bottom + 90 : 0, Math.max(right, 520));
  for (const { inside, edges, left, top } of groups) {
    edges.forEach((edge, number) => {
      const points = inside.edge(...Report.endsOf(edge)).points.map(({ x, y }) => ({ x: x + left, y: y + top }));
      Report.bend(edge, edge.data("above") === edge.data("from") ? points : points.slice().reverse(), number);
    });
  }
};

// Layers need some way for each line, whether it has a head or not.
Report.endsOf = (edge) => {
  const [above, below] = [edge.source().id(), edge.target().id()];
  return edge.data("above") === edge.data("from") ? [above, below] : [below, above];
};

Report.inLayers = (edges) => {
  const inside = new dagre.graphlib.Graph();
  inside.setGraph({ rankdir: "TB", nodesep: 34, edgesep: 22, ranksep: 62 });
  inside.setDefaultEdgeLabel(() => ({}));
  edges.connectedNodes().forEach((node) => {
    inside.setNode(node.id(), { width: node.data("width"), height: node.data("height") });
  });
  edges.forEach((edge) => {
    inside.setEdge(...Report.endsOf(edge), { weight: 1 + Math.round(9 * edge.data("joined")) });
  });
  if (edges.length > 0) dagre.layout(inside);
  return { inside, edges, width: inside.graph().width || 0, height: inside.graph().height || 0 };
};

// Groups side by side, the largest first, in rows that fill a page rather than a ribbon.
Report.putOnShelves = (groups) => {
  const gap = 56;
  const area = groups.reduce((sum, { width, height }) => sum + (width + gap) * (height + gap), 0);
  const widest = Math.max(Math.sqrt(1.6 * area), ...groups.map((group) => group.width));
  groups.sort((one, two) => two.edges.length - one.edges.length || two.width - one.width);
  let [left, top, deepest] = [0, 0, 0];
  for (const group of groups) {
    if (left > 0 && left + group.width > widest) [left, top, deepest] = [0, top + deepest + gap, 0];
    [group.left, group.top] = [left, top];
    left += group.width + gap;
    deepest = Math.max(deepest, group.height);
  }
};

// The variables that have a box now.
Report.drawn = () => Report.cy.nodes().not(".lonely");

// All variables on a circle, in the order of the columns, with straight lines between them.
Report.placeOnCircle = (shown) => {
  const nodes = Report.drawn();
  const across = nodes.length * 30;
  const down = nodes.length * 16;
  nodes.forEach((node, number) => {
    const angle = (2 * Math.PI * number) / nodes.length;
    node.position({ x: across * Math.sin(angle), y: -down * Math.cos(angle) });
  });
  shown.forEach((edge) => Report.straighten(edge));
};

// Variables without lines stand in rows below the others.
Report.placeLoose = (nodes, top, width) => {
  let x = 0;
  let y = top;
  nodes.forEach((node) => {
    const own = node.data("width");
    if (x > 0 && x + own > width) {
      x = 0;
      y += 66;
    }
    node.position({ x: x + own / 2, y });
    x += own + 30;
  });
};

Report.straighten = (edge) => {
  edge.scratch("weights", [0.5]);
  edge.scratch("distances", [0]);
};

// Whether a straight line between the variables of an edge would cross the box of another one.
Report.blocked = (edge) => {
  const start = edge.source().position();
  const end = edge.target().position();
  return Report.drawn().some((node) => {
    if (node.same(edge.source()) || node.same(edge.target())) return false;
    const { x, y } = node.position();
    const [half, tall] = [node.data("width") / 2 + 4, node.data("height") / 2 + 4];
    let [from, to] = [0, 1];
    for (const [at, step, middle, side] of [[start.x, end.x - start.x, x, half], [start.y, end.y - start.y, y, tall]]) {
      const [one, two] = step === 0
        ? (Math.abs(at - middle) < side ? [-Infinity, Infinity] : [1, 0])
        : [(middle - side - at) / step, (middle + side - at) / step];
      from = Math.max(from, Math.min(one, two));
      to = Math.min(to, step === 0 && one > two ? -1 : Math.max(one, two));
    }
    return from < to;
  });
};

// A line follows the way that dagre found around the variables between, told as shares of its length.
Report.bend = (edge, points, number) => {
  if (points.length <= 3) {
    if (!Report.blocked(edge)) {
      Report.straighten(edge);
      return;
    }
    // Down, through the gap between the two layers, and down again; not all at the same height.
    const [above, below] = [edge.source().position(), edge.target().position()];
    const middle = (above.y + below.y) / 2 + 9 * (number % 3 - 1);
    points = [above, { x: above.x, y: middle }, { x: below.x, y: middle }, below];
  }
  const start = edge.source().position();
  const end = edge.target().position();
  const length = Math.hypot(end.x - start.x, end.y - start.y) || 1;
  const along = { x: (end.x - start.x) / length, y: (end.y - start.y) / length };
  const inner = points.slice(1, -1).map((point) => {
    const dx = point.x - start.x;
    const dy = point.y - start.y;
    return { weight: (dx * along.x + dy * along.y) / length, distance: dx * -along.y + dy * along.x };
  });
  edge.scratch("weights", inner.map((point) => point.weight));
  edge.scratch("distances", inner.map((point) => point.distance));
};

Report.fit = () => {
  Report.cy.fit(undefined, 24);
  if (Report.cy.zoom() > 1.4) {
    Report.cy.zoom(1.4);
    Report.cy.center();
  }
};

// The whole graph, unless its names would be too small to read; then its middle, and a word about the rest.
Report.fitReadably = () => {
  Report.fit();
  const small = Report.cy.zoom() < READABLE;
  if (small) {
    Report.cy.zoom(READABLE);
    Report.cy.center();
  }
  Report.find("outside").hidden = !small;
};

Report.zoom = (factor) => {
  const middle = { x: Report.cy.width() / 2, y: Report.cy.height() / 2 };
  Report.cy.zoom({ level: Report.cy.zoom() * factor, renderedPosition: middle });
};
