"use strict";
// Puts the page together: controls, tables, and what can be copied.

document.documentElement.classList.add("script");

Report.connect = () => {
  const slider = Report.find("threshold");
  const field = Report.find("threshold-number");
  const set = (value) => {
    slider.value = String(value);
    field.value = Number(value).toFixed(2);
    Report.showFrom(Number(value));
  };
  slider.addEventListener("input", () => set(slider.value));
  field.addEventListener("change", () => set(Math.min(1, Math.max(0.01, Number(field.value) || 0.01))));
  set(Report.data.threshold);
  Report.find("zoom-in").addEventListener("click", () => Report.zoom(1.25));
  Report.find("zoom-out").addEventListener("click", () => Report.zoom(0.8));
  Report.find("fit").addEventListener("click", Report.fit);
  Report.find("save-png").addEventListener("click", Report.savePicture);
  Report.find("save-svg").addEventListener("click", () => {
    Report.save(new Blob([Report.drawing().text], { type: "image/svg+xml" }), "graph.svg");
  });
};

// Variables by name: what is typed lights up all that have it in their names, Enter opens the first.
Report.connectSearch = () => {
  const field = Report.find("variable");
  const { names } = Report.data;
  Report.find("variables").append(...names.map((name) => {
    const option = Report.element("option");
    option.value = name;
    return option;
  }));
  const found = () => {
    const wanted = field.value.trim().toLocaleLowerCase();
    return wanted === "" ? [] : names.flatMap((name, place) => (name.toLocaleLowerCase().includes(wanted) ? [place] : []));
  };
  field.addEventListener("input", () => {
    const places = new Set(found());
    for (const box of Report.boxes()) box.classList.toggle("matched", places.has(Report.nodeOf(box)));
    const whole = names.indexOf(field.value);
    if (whole >= 0) Report.openVariable(whole);
  });
  field.addEventListener("keydown", (event) => {
    const [first] = found();
    if (event.key === "Enter" && first !== undefined) Report.openVariable(first);
  });
};

// A button to copy each text that is meant to be pasted elsewhere. Works in a file opened from disk too, where the
// clipboard is not always to be had otherwise.
Report.makeCopied = (block) => {
  const button = Report.element("button", "Copy", "copy");
  const told = Report.element("span", "", "help");
  button.type = "button";
  told.setAttribute("role", "status");
  button.addEventListener("click", () => {
    const range = document.createRange();
    range.selectNodeContents(block);
    const selection = window.getSelection();
    selection.removeAllRanges();
    selection.addRange(range);
    told.textContent = document.execCommand("copy") ? "Copied." : "Selected: copy it with Ctrl+C.";
  });
  block.after(button, told);
};

// What is folded is opened while the page is printed.
Report.openForPaper = () => {
  let opened = [];
  window.addEventListener("beforeprint", () => {
    opened = Array.from(document.querySelectorAll("main details:not([open])"));
    for (const fold of opened) fold.open = true;
  });
  window.addEventListener("afterprint", () => { for (const fold of opened) fold.open = false; });
};

Report.start = () => {
  // The page tells these in its own words.
  document.querySelectorAll("svg.graph g > title").forEach((title) => title.remove());
  Report.connect();
  Report.connectSearch();
  Report.watch();
  Report.watchZoom();
  for (const table of document.querySelectorAll("table.sortable")) {
    Report.makeSortable(table);
    if (table.matches(".pairs")) {
      Report.makeSearchable(table);
      Report.watchRows(table);
    }
  }
  document.querySelectorAll(".scroll").forEach(Report.shadeEdges);
  document.querySelectorAll(".paste").forEach(Report.makeCopied);
  const save = Report.find("save-pairs");
  if (save) save.addEventListener("click", Report.savePairs);
  Report.openForPaper();
  Report.openDraws();
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    if (Report.panelOf !== null) Report.closePanel(true);
    else Report.hideTip();
  });
};

Report.start();
