"use strict";
// Pointing at the graph, clicking on it, and stepping through it with keys.

Report.mark = (place) => {
  Report.cy.nodes().removeClass("marked");
  if (place !== null) Report.cy.getElementById(`n${place}`).addClass("marked");
};

Report.hideTip = () => {
  Report.find("tip").hidden = true;
  Report.cy.edges().removeClass("pointed");
};

Report.tell = (lines, at) => {
  const tip = Report.find("tip");
  tip.replaceChildren(...lines.map(Report.line));
  tip.hidden = false;
  const frame = tip.parentElement;
  tip.style.left = `${Math.max(4, Math.min(at.x + 14, frame.clientWidth - tip.offsetWidth - 4))}px`;
  tip.style.top = `${Math.max(4, Math.min(at.y + 14, frame.clientHeight - tip.offsetHeight - 4))}px`;
};

Report.tellEdge = (edge, at) => {
  Report.hideTip();
  edge.addClass("pointed");
  Report.tell(Report.linesOf(edge.data()), at);
};

// What is said of a pair: how probably it is joined, its direction in words, and the numbers behind these.
Report.linesOf = ({ from, to, head, joined, said, parts }) => {
  const lines = [[from, head ? " → " : " — ", to, `: joined ${Report.number(joined)}`], [`direction ${said}`]];
  if (parts) {
    const [onward, back, rules, reversible] = parts.map(Report.number);
    lines.push([`compelled → ${onward}, ← ${back}`], [`${Report.data.decided} ${rules}, reversible ${reversible}`]);
  }
  return lines;
};

Report.watch = () => {
  const cy = Report.cy;
  cy.on("mouseover", "edge", (event) => Report.tellEdge(event.target, event.renderedPosition));
  cy.on("mouseover", "node", (event) => {
    const place = event.target.data("place");
    const shown = event.target.connectedEdges().not(".below").length;
    Report.hideTip();
    Report.tell([[place], [`${shown} ${shown === 1 ? "line" : "lines"} shown; click for parent sets`]], event.renderedPosition);
  });
  cy.on("mouseout", "node, edge", Report.hideTip);
  cy.on("tap", "edge", (event) => Report.tellEdge(event.target, event.renderedPosition));
  cy.on("tap", "node", (event) => Report.openPanel(event.target.data("place")));
  cy.on("tap", (event) => { if (event.target === cy) Report.hideTip(); });
  cy.on("grab viewport", Report.hideTip);
  cy.on("position", Report.refreshPrint);
  Report.find("graph").addEventListener("keydown", Report.press);
  Report.find("graph").addEventListener("blur", Report.hideTip);
};

// What one steps to must be in sight.
Report.bringIn = (edge) => {
  const box = edge.union(edge.connectedNodes()).renderedBoundingBox();
  const inside = box.x1 >= 0 && box.y1 >= 0 && box.x2 <= Report.cy.width() && box.y2 <= Report.cy.height();
  if (!inside) Report.cy.center(edge);
};

Report.press = (event) => {
  const steps = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
  if (event.key in steps) {
    // Most probable lines first, as in the table.
    const shown = Report.cy.edges().not(".below").toArray();
    if (shown.length > 0) {
      const now = shown.findIndex((edge) => edge.hasClass("pointed"));
      const next = now < 0 && steps[event.key] < 0 ? shown.length - 1 : (now + steps[event.key] + shown.length) % shown.length;
      Report.bringIn(shown[next]);
      Report.tellEdge(shown[next], shown[next].renderedMidpoint());
    }
  } else if (event.key === "Enter") {
    const pointed = Report.cy.edges(".pointed");
    if (pointed.length > 0) {
      Report.openPanel(pointed[0].data("to"));
      Report.find("panel").focus();
    }
  } else if (event.key === "+" || event.key === "=") Report.zoom(1.25);
  else if (event.key === "-") Report.zoom(0.8);
  else if (event.key === "0") Report.fit();
  else return;
  event.preventDefault();
};
