"use strict";
// Puts the page together: controls, tables, the citation, and what changes for dark screens.

document.documentElement.classList.add("script");

Report.connect = () => {
  const slider = Report.find("threshold");
  const field = Report.find("threshold-number");
  const variable = Report.find("variable");
  const set = (value) => {
    slider.value = String(value);
    field.value = Number(value).toFixed(2);
    Report.showFrom(Number(value));
  };
  slider.addEventListener("input", () => set(slider.value));
  field.addEventListener("change", () => set(Math.min(1, Math.max(0.01, Number(field.value) || 0.01))));
  set(Report.data.threshold);
  Report.data.names.forEach((name, place) => {
    const option = Report.element("option", name);
    option.value = String(place);
    variable.append(option);
  });
  variable.addEventListener("change", () => {
    if (variable.value === "") Report.closePanel(false);
    else Report.openPanel(Number(variable.value));
  });
  Report.find("zoom-in").addEventListener("click", () => Report.zoom(1.25));
  Report.find("zoom-out").addEventListener("click", () => Report.zoom(0.8));
  Report.find("fit").addEventListener("click", () => {
    Report.fit();
    Report.find("outside").hidden = true;
  });
  Report.find("arrange").addEventListener("click", Report.arrange);
  Report.find("save-png").addEventListener("click", Report.savePicture);
  Report.find("save-svg").addEventListener("click", () => {
    Report.save(new Blob([Report.drawing(document.documentElement)], { type: "image/svg+xml" }), "graph.svg");
  });
};

Report.copyCitation = () => {
  // Works in a file opened from disk too, where the clipboard is not always to be had otherwise.
  const range = document.createRange();
  range.selectNodeContents(Report.find("citation"));
  const selection = window.getSelection();
  selection.removeAllRanges();
  selection.addRange(range);
  const done = document.execCommand("copy");
  Report.find("copied").textContent = done ? "Copied." : "Selected: copy it with Ctrl+C.";
};

Report.start = () => {
  Report.makeGraph();
  Report.connect();
  Report.arrange();
  for (const table of document.querySelectorAll("table.sortable")) {
    Report.makeSortable(table);
    Report.makeSearchable(table);
  }
  const save = Report.find("save-pairs");
  if (save) save.addEventListener("click", Report.savePairs);
  Report.find("copy").addEventListener("click", Report.copyCitation);
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && Report.panelOf !== null) Report.closePanel(true);
  });
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", Report.paint);
  window.addEventListener("resize", () => Report.cy.resize());
};

Report.start();
