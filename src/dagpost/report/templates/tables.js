"use strict";
// Tables that can be sorted by any column, and searched.

Report.sortBy = (table, column, falling) => {
  const body = table.tBodies[0];
  const value = (row) => {
    const cell = row.cells[column];
    const words = cell.textContent;
    if (!cell.classList.contains("number")) return words;
    const number = parseFloat(words.replace(/[<>]/, ""));
    // "<0.0001" stands below and ">0.9999" above every number that is written out.
    if (words.startsWith("<")) return number / 2;
    return words.startsWith(">") ? 1 - (1 - number) / 2 : number;
  };
  const keyed = Array.from(body.rows, (row) => [value(row), row]);
  const missing = (key) => typeof key === "number" && Number.isNaN(key);
  keyed.sort(([a], [b]) => {
    if (missing(a) || missing(b)) return missing(a) - missing(b);
    const order = typeof a === "string" ? a.localeCompare(b) : a - b;
    return falling ? -order : order;
  });
  body.append(...keyed.map(([, row]) => row));
  Array.from(table.tHead.rows[0].cells).forEach((head, number) => {
    if (number === column) head.setAttribute("aria-sort", falling ? "descending" : "ascending");
    else head.removeAttribute("aria-sort");
  });
};

Report.makeSortable = (table) => {
  Array.from(table.tHead.rows[0].cells).forEach((head, column) => {
    // A head that is not seen stands over marks, which the words of another column sort.
    if (head.querySelector(".unseen")) return;
    const words = head.textContent;
    const button = Report.element("button", words);
    button.type = "button";
    button.addEventListener("click", () => {
      const current = head.getAttribute("aria-sort");
      const numbers = table.tBodies[0].rows.length > 0 && table.tBodies[0].rows[0].cells[column].matches(".number");
      // Numbers fall at first, names rise.
      Report.sortBy(table, column, current ? current === "ascending" : numbers);
    });
    // On paper plain words: browsers repeat a head on every page only if there is no button in it.
    head.replaceChildren(button, Report.element("span", words, "printed-head"));
  });
};

// Shows at the edges of a table that is wider than its frame that there is more.
Report.shadeEdges = (frame) => {
  const look = () => {
    frame.parentElement.classList.toggle("more-left", frame.scrollLeft > 1);
    frame.parentElement.classList.toggle("more-below", frame.scrollTop + frame.clientHeight < frame.scrollHeight - 1);
    frame.parentElement.classList.toggle("more-right", frame.scrollLeft + frame.clientWidth < frame.scrollWidth - 1);
  };
  frame.addEventListener("scroll", look, { passive: true });
  // Its own size changes with the window, that of the table when rows are hidden.
  const watched = new ResizeObserver(look);
  watched.observe(frame);
  watched.observe(frame.firstElementChild);
};

// All pairs that are worth a number, as a file: those of the table with what is said of them, then the others.
Report.savePairs = () => {
  const quoted = (name) => `"${name.replaceAll('"', '""')}"`;
  const line = (from, to, joined, said) =>
    [quoted(Report.data.names[from]), quoted(Report.data.names[to]), joined, quoted(said)].join(",");
  const rows = [
    "from,to,joined,direction",
    ...Report.data.pairs.map((pair) => line(pair.from, pair.to, pair.joined, pair.said)),
    ...Report.data.more.map(([from, to, joined]) => line(from, to, joined, "")),
  ];
  Report.save(new Blob([`${rows.join("\r\n")}\r\n`], { type: "text/csv" }), "pairs.csv");
};

Report.makeSearchable = (table) => {
  const label = Report.element("label", "Only rows with ", "filter");
  const field = Report.element("input");
  field.type = "search";
  field.id = "filter";
  const count = Report.element("span", "", "help");
  count.setAttribute("role", "status");
  field.addEventListener("input", () => {
    const wanted = field.value.toLocaleLowerCase();
    let shown = 0;
    for (const row of table.tBodies[0].rows) {
      const words = Array.from(row.querySelectorAll("bdi"), (name) => name.textContent).join("\n").toLocaleLowerCase();
      row.hidden = !words.includes(wanted);
      shown += row.hidden ? 0 : 1;
    }
    count.textContent = wanted ? ` ${shown} of ${table.tBodies[0].rows.length} rows` : "";
  });
  label.append(field);
  table.closest(".table-box").before(label, count);
};
