"use strict";
// The panel about one variable: its most probable parent sets and its Markov blanket.

Report.panelOf = null;

Report.openPanel = (place) => {
  const panel = Report.find("panel");
  const data = Report.data;
  const title = Report.element("h3");
  title.append(Report.name(place));
  const close = Report.element("button", "Close", "close");
  close.type = "button";
  close.addEventListener("click", () => Report.closePanel(true));
  panel.replaceChildren(close, title);
  if (data.exogenous.includes(place)) {
    panel.append(Report.element("p", "Exogenous: not modelled, and without parents. All numbers are given this variable.", "help"));
  } else {
    Report.addDetails(panel, place);
  }
  const opened = panel.hidden;
  panel.hidden = false;
  Report.panelOf = place;
  Report.find("variable").value = String(place);
  Report.mark(place);
  if (opened) Report.makeRoom();
};

Report.addDetails = (panel, place) => {
  const data = Report.data;
  const families = data.families && data.families[place].map(([parents, chance]) => [Report.setOf(parents), chance]);
  Report.addList(panel, "Parent sets", "Parents together", families, data.familiesNote);
  const blanket = data.blankets && data.blankets[place].slice(0, 12).map(([other, chance]) => [Report.name(other), chance]);
  Report.addList(panel, "Markov blanket", "Variable", blanket, data.blanketsNote);
  panel.append(
    Report.element("p", "Once the variables of the blanket are known, no other one helps to predict this one.", "help"),
  );
};

Report.closePanel = (focus) => {
  Report.find("panel").hidden = true;
  Report.panelOf = null;
  Report.find("variable").value = "";
  Report.mark(null);
  Report.makeRoom();
  if (focus) Report.find("graph").focus();
};

// The graph has more or less room than before.
Report.makeRoom = () => {
  Report.cy.resize();
  Report.fitReadably();
};

Report.setOf = (parents) => {
  if (parents.length === 0) return Report.element("em", "none");
  const set = Report.element("span");
  parents.forEach((parent, number) => {
    if (number) set.append(", ");
    set.append(Report.name(parent));
  });
  return set;
};

Report.addList = (panel, title, head, entries, note) => {
  panel.append(Report.element("h4", title));
  if (entries) {
    const table = Report.element("table");
    const row = table.createTHead().insertRow();
    for (const words of [head, Report.data.measure]) {
      const cell = Report.element("th", words);
      cell.scope = "col";
      row.append(cell);
    }
    const body = table.createTBody();
    for (const [what, chance] of entries) {
      const line = body.insertRow();
      line.insertCell().append(what);
      const cell = line.insertCell();
      cell.textContent = Report.number(chance);
      cell.className = "number bar";
      cell.style.setProperty("--p", `${(100 * chance).toFixed(1)}%`);
    }
    panel.append(table);
  }
  panel.append(Report.element("p", note, "help"));
};
