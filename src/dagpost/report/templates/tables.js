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

// The rows of the table of pairs under the present view: filled when somebody looks at them.
Report.fillRowsLater = () => {
  Report.rowsDue = true;
  if (Report.rowsSeen) setTimeout(Report.fillRows, 60);
};

Report.watchRows = (table) => {
  new IntersectionObserver(([{ isIntersecting }]) => {
    Report.rowsSeen = isIntersecting;
    if (isIntersecting) Report.fillRows();
  }, { rootMargin: "200px" }).observe(table);
  window.addEventListener("beforeprint", Report.fillRows);
};

// The rows as the page was made, by place of their pair; what stood in each is kept for the way back.
Report.rows = new Map(Array.from(document.querySelectorAll("table.pairs > tbody > tr"), (row, place) =>
  [place, { row, pair: Report.data.pairs[place], first: null }]));

Report.fillRows = () => {
  const body = document.querySelector("table.pairs > tbody");
  if (!body || !Report.rowsDue) return;
  Report.rowsDue = false;
  Report.pairs.forEach((pair, place) => {
    if (!Report.rows.has(place) && Report.rows.size > 0 && pair.joined >= 0.01) {
      const row = Report.rows.get(0).row.cloneNode(true);
      row.hidden = false;
      body.append(row);
      Report.rows.set(place, { row, pair: null, first: null });
    }
    const own = Report.rows.get(place);
    if (!own || own.pair === pair) return;
    own.first ??= Array.from(own.row.cells, (cell) => cell.cloneNode(true));
    own.pair = pair;
    if (pair === Report.data.pairs[place]) own.row.replaceChildren(...own.first.map((cell) => cell.cloneNode(true)));
    else Report.fillRow(own.row, pair);
  });
};

Report.fillRow = (row, pair) => {
  const { cells } = row;
  cells[0].replaceChildren(Report.name(pair.from));
  cells[2].replaceChildren(Report.name(pair.to));
  const mark = cells[1].querySelector("svg");
  mark.setAttribute("class", `mark ${pair.word}`);
  mark.setAttribute("opacity", String(Report.data.looks.words[pair.word].strengths[1]));
  mark.firstElementChild.setAttribute("href", `#mark-${pair.word}`);
  cells[4].textContent = pair.said;
  const parts = pair.parts ?? [];
  // Onward, back, by rules or the model (a column only where there are any), reversible.
  const numbers = cells.length === 8 ? [parts[0], parts[1], parts[3]] : parts;
  [[3, pair.joined], ...Array.from({ length: cells.length - 5 }, (_, number) => [5 + number, numbers[number]])].forEach(([place, chance]) => {
    const cell = cells[place];
    cell.textContent = chance === undefined ? "" : Report.number(chance);
    cell.style.setProperty("--p", `${(100 * (chance ?? 0)).toFixed(1)}%`);
  });
  row.classList.toggle("slight", pair.joined < 0.01);
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
