"use strict";
// The graph as it stands on the screen, as a file: PNG from cytoscape, SVG written here.

Report.savePicture = () => {
  const made = Report.cy.png({ full: true, scale: 3, bg: Report.colour("--paper", document.documentElement), output: "blob" });
  Report.save(made, "graph.png");
};

Report.escaped = (words) =>
  words.replace(/[&<>"']/g, (sign) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" })[sign]);

// Colours are those of an element of the page: the page itself, or one that is always light.
Report.drawing = (palette) => {
  const colour = (name) => Report.colour(name, palette);
  const box = Report.cy.elements(":visible").boundingBox();
  const lines = Report.cy.edges().not(".below").toArray().reverse().map((edge) => Report.drawnEdge(edge, colour));
  const nodes = Report.drawn().toArray().map((node) => Report.drawnNode(node, colour));
  const frame = [box.x1 - 12, box.y1 - 12, box.w + 24, box.h + 24].map((number) => number.toFixed(1));
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="${frame.join(" ")}" width="${frame[2]}" height="${frame[3]}" ` +
    `font-family="sans-serif" font-size="14">` +
    `<rect x="${frame[0]}" y="${frame[1]}" width="${frame[2]}" height="${frame[3]}" fill="${colour("--paper")}"/>` +
    `${lines.join("")}${nodes.join("")}</svg>`;
};

Report.drawnEdge = (edge, colour) => {
  const start = edge.sourceEndpoint();
  const end = edge.targetEndpoint();
  const bends = edge.controlPoints() || [];
  const point = ({ x, y }) => `${x.toFixed(1)},${y.toFixed(1)}`;
  let way = `M${point(start)}`;
  bends.forEach((bend, number) => {
    const after = bends[number + 1];
    way += ` Q${point(bend)} ${point(after ? { x: (bend.x + after.x) / 2, y: (bend.y + after.y) / 2 } : end)}`;
  });
  if (bends.length === 0) way += ` L${point(end)}`;
  const { from, to, head, joined, word, said } = edge.data();
  const ink = colour(Report.inks[word]);
  const wide = (1 + 3.5 * joined).toFixed(2);
  const dashes = { leaning: ' stroke-dasharray="8 5"', model: ' stroke-dasharray="8 5"', unknown: ' stroke-dasharray="2 3"' }[word] || "";
  const fill = word === "rules" || word === "model" ? colour("--paper") : ink;
  const tip = head ? Report.drawnHead(bends[bends.length - 1] || start, end, joined, ink, fill) : "";
  const names = Report.data.names;
  const title = `${names[from]} ${head ? "→" : "—"} ${names[to]}: joined ${Report.number(joined)}; direction ${said}`;
  return `<g opacity="${(0.3 + 0.7 * joined).toFixed(2)}"><title>${Report.escaped(title)}</title>` +
    `<path d="${way}" fill="none" stroke="${ink}" stroke-width="${wide}"${dashes}/>${tip}</g>`;
};

Report.drawnHead = (from, tip, joined, ink, fill) => {
  const angle = Math.atan2(tip.y - from.y, tip.x - from.x);
  const size = 8 + 9 * joined;
  const corner = (turn) => `${(tip.x - size * Math.cos(angle + turn)).toFixed(1)},${(tip.y - size * Math.sin(angle + turn)).toFixed(1)}`;
  return `<polygon points="${tip.x.toFixed(1)},${tip.y.toFixed(1)} ${corner(0.45)} ${corner(-0.45)}" fill="${fill}" stroke="${ink}" stroke-width="1.2"/>`;
};

Report.drawnNode = (node, colour) => {
  const { x, y } = node.position();
  const { width, height, lines, label } = node.data();
  const ink = colour("--ink");
  const [rounding, fill] = node.hasClass("exogenous") ? [0, colour("--exogenous")] : [6, colour("--paper")];
  const texts = lines.map((line, number) => {
    const at = y + 5 + 17 * (number - (lines.length - 1) / 2);
    return `<text x="${x.toFixed(1)}" y="${at.toFixed(1)}" text-anchor="middle" fill="${ink}">${Report.escaped(line)}</text>`;
  });
  return `<g><title>${Report.escaped(label)}</title>` +
    `<rect x="${(x - width / 2).toFixed(1)}" y="${(y - height / 2).toFixed(1)}" width="${width.toFixed(1)}" ` +
    `height="${height.toFixed(1)}" rx="${rounding}" fill="${fill}" stroke="${ink}" stroke-width="1.2"/>${texts.join("")}</g>`;
};

// Paper gets a drawing of lines instead of the pixels of a screen, always in the light colours. It is kept ready, for
// a browser does not wait for it once it prints.
Report.refreshPrint = () => {
  clearTimeout(Report.printTimer);
  Report.printTimer = setTimeout(() => {
    const picture = Report.find("printed");
    // What a reader who sees no picture is told of it.
    const lines = Report.cy.edges().not(".below").toArray().slice(0, 12).map((edge) => {
      const { from, to, head, joined, word } = edge.data();
      return `${Report.data.names[from]} ${head ? "→" : "–"} ${Report.data.names[to]} ${Report.number(joined)} (${word})`;
    });
    picture.alt = `Graph of the pairs. ${Report.find("shown").textContent} Most: ${lines.join("; ")}.`;
    picture.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(Report.drawing(picture))}`;
  }, 150);
};
