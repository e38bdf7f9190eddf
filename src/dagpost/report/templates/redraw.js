"use strict";
// Draws the standing pictures anew under another view, or as one single graph: widths, strengths, dashes, heads at either
// end, numbers, and marks on what has changed and what is assumed. Boxes never move; a pair that had no line gets one.
{
  const { looks } = Report.data;
  // More lines than this in one picture cannot be told apart.
  const MOST_LINES = 400;
  // Lines change smoothly only where there are no more than this.
  const MOST_MOVING = 60;
  // An edge of a single graph looks like a clear direction of this probability.
  const PLAIN = { word: "clear", joined: 0.75 };
  // What is below the threshold and still seen leaves a trace.
  const TRACE = { width: 1, strength: 0.45, dashes: "2 3.2" };

  // The parts of each picture, by place of the pair and by variable.
  const pictures = new WeakMap();

  const lineOf = (group) => ({
    group,
    place: Number(group.dataset.pair),
    from: Number(group.dataset.from),
    to: Number(group.dataset.to),
    line: group.querySelector(".line"),
    target: group.querySelector(".target"),
    head: group.querySelector(".head"),
    number: group.querySelector(".number"),
    behind: group.querySelector(".behind"),
    words: group.querySelector(".number")?.textContent ?? null,
    word: Report.pairOf(group)?.word,
    pair: Report.data.pairs[Number(group.dataset.pair)],
    marked: "",
  });

  const middleOf = (rect) => {
    const [x, y, width, height] = ["x", "y", "width", "height"].map((name) => Number(rect.getAttribute(name)));
    return { x: x + width / 2, y: y + height / 2, across: width / 2, down: height / 2 };
  };

  const partsOf = (svg) => {
    if (!pictures.has(svg)) {
      const { numberSize, widthScale, headScale } = svg.dataset;
      pictures.set(svg, {
        svg,
        boxes: new Map(Report.boxes(svg).map((box) => [Report.nodeOf(box), middleOf(box.querySelector("rect"))])),
        lines: new Map(Report.lines(svg).map((group) => [Number(group.dataset.pair), lineOf(group)])),
        size: Number(numberSize),
        widthScale: Number(widthScale),
        headScale: Number(headScale),
      });
    }
    return pictures.get(svg);
  };

  const courseOf = (own) => {
    own.course ??= Report.courseOf(own.target.getAttribute("d"));
    return own.course;
  };

  // A line for a pair that has none.
  const added = (picture, place) => {
    const { from, to } = Report.pairAt(place);
    const [start, end] = [picture.boxes.get(from), picture.boxes.get(to)];
    if (!start || !end || picture.lines.size >= 2 * MOST_LINES) return null;
    const course = Report.courseBetween(start, end, Array.from(picture.boxes.values()));
    const group = Report.shape("g", { class: "pair unknown", "data-pair": place, "data-from": from, "data-to": to });
    const text = Report.courseText(course);
    group.append(Report.shape("path", { class: "line", d: text }), Report.shape("path", { class: "target", d: text }));
    picture.svg.insertBefore(group, picture.svg.querySelector(".node"));
    const own = { ...lineOf(group), course, pair: null, word: "unknown" };
    picture.lines.set(place, own);
    return own;
  };

  // The course of a line, cut for a head at one end or none: worked out once for each end.
  const routeOf = (own, end, length) => {
    own.routes ??= new Map();
    if (!own.routes.has(end)) {
      const course = end === own.from ? [...courseOf(own)].reverse() : courseOf(own);
      const line = end === null ? course : Report.shortened(course, length);
      own.routes.set(end, { course, line, text: Report.courseText(line) });
    }
    return own.routes.get(end);
  };

  // One line

  const drawStroke = (picture, own, { word, joined }, end) => {
    const look = looks.words[word];
    const mixed = ([least, most]) => least + (most - least) * joined;
    const [width, strength] = [mixed(look.widths) * picture.widthScale, mixed(look.strengths).toFixed(2)];
    const { length, extra, strokes } = looks.head;
    const { text, course, line } = routeOf(own, look.head === null ? null : end, length * picture.headScale);
    if (look.head !== null) {
      const found = Report.headOn(course, line, (mixed(look.widths) + extra) * picture.headScale);
      if (!own.head) {
        own.head = Report.shape("path", {});
        own.line.after(own.head);
      }
      set(own.head, {
        class: `head ${look.head}`,
        d: Report.headText(look.head, found),
        "stroke-width": (strokes[look.head] ?? width.toFixed(2)),
        "stroke-linejoin": look.head === "angle" ? "round" : "miter",
        opacity: strength,
      });
    } else removePart(own, "head");
    set(own.line, { d: text, "stroke-width": width.toFixed(2), opacity: strength, "stroke-dasharray": look.dashes.join(" ") });
  };

  const drawTrace = (own) => {
    removePart(own, "head");
    set(own.line, {
      d: Report.courseText(courseOf(own)), "stroke-width": TRACE.width, opacity: TRACE.strength, "stroke-dasharray": TRACE.dashes,
    });
  };

  const set = (element, about) => {
    for (const [name, value] of Object.entries(about)) {
      if (value === "") element.removeAttribute(name);
      else element.setAttribute(name, value);
    }
  };

  const removePart = (own, part) => {
    own[part]?.remove();
    own[part] = null;
  };

  // About as wide as the text is: points and signs are narrow.
  const widthOf = (words, size) => size * Array.from(words).reduce((sum, letter) => sum + (letter === "." || letter === " " ? 0.32 : 0.64), 0);

  // The number of a line, with how much it has grown or shrunk; null: none.
  const drawNumber = (picture, own, words, change, must = false) => {
    if (words === null) {
      removePart(own, "number");
      removePart(own, "behind");
      return;
    }
    const whole = change === "" ? words : `${words} ${change}`;
    const [width, height] = [widthOf(whole, picture.size) + 3, 1.12 * picture.size];
    own.home ??= own.behind ? middleOf(own.behind) : placeFor(picture, own, width, height, must);
    // With its change a number is longer, and moves along its line if it would cover something.
    const wider = change !== "" && own.home !== null && covers(picture, own, width, height);
    if (wider) own.wider ??= placeFor(picture, own, width, height, false);
    if (own.home === null || (wider && own.wider === null)) {
      // Where there is no room for both, the halo and the list tell the change.
      if (change !== "") drawNumber(picture, own, words, "", true);
      return;
    }
    own.at = wider ? own.wider : own.home;
    if (!own.number) {
      own.behind = Report.shape("rect", { class: "behind" });
      own.number = Report.shape("text", { class: "number", "text-anchor": "middle", "font-size": picture.size });
      own.target.before(own.behind, own.number);
    }
    set(own.behind, { x: (own.at.x - width / 2).toFixed(1), y: (own.at.y - height / 2).toFixed(1), width: width.toFixed(1), height: height.toFixed(1) });
    set(own.number, { x: own.at.x.toFixed(1), y: (own.at.y + 0.36 * picture.size).toFixed(1) });
    own.number.textContent = words;
    if (change !== "") own.number.append(Report.shape("tspan", { class: "change" }, ` ${change}`));
  };

  // The middles of the numbers that are seen now.
  const takenIn = (picture) => {
    picture.taken ??= Array.from(picture.lines.values())
      .filter((other) => other.behind && !other.group.classList.contains("hidden"))
      .map((other) => { other.at ??= middleOf(other.behind); return other.at; });
    return picture.taken;
  };

  const covers = (picture, own, width, height) => {
    const { x, y } = own.home;
    const near = (place, across, down) => Math.abs(x - place.x) < across + width / 2 && Math.abs(y - place.y) < down + height / 2;
    for (const box of picture.boxes.values()) if (near(box, box.across, box.down)) return true;
    // Most numbers have four digits or signs.
    return takenIn(picture).some((place) => place !== own.home && place !== own.at && near(place, 1.2 * picture.size, height / 2));
  };

  // Where a number finds room beside those that are seen now; null, if it must not stand where there is none.
  const placeFor = (picture, own, width, height, must) => {
    const others = takenIn(picture).filter((place) => place !== own.at && place !== own.home);
    const free = Report.numberPlace(courseOf(own), width, height, Array.from(picture.boxes.values()), others);
    if (free === null && !must) return null;
    const [x, y] = free ?? Report.pointAt(courseOf(own), 0.5);
    const place = { x, y };
    picture.taken.push(place);
    return place;
  };

  // A halo under what has changed, a lock on what is required, a cross on what is forbidden.
  const drawMarks = (picture, own, { change, assumed, trace }) => {
    for (const part of ["halo", "lock", "cross"]) removePart(own, part);
    if (change) {
      own.halo = Report.shape("path", { class: "halo", d: own.target.getAttribute("d") });
      own.group.prepend(own.halo);
    }
    if (!assumed) return;
    const [x, y] = own.number ? [own.at.x, own.at.y] : Report.pointAt(courseOf(own), 0.5);
    if (assumed.kind === "edge" || assumed.kind === "joined") {
      const wide = own.number ? Number(own.behind.getAttribute("width")) : 0;
      // Beside the number; above it on a line that is hardly longer than that.
      const [start, end] = [courseOf(own)[0], courseOf(own).at(-1)];
      const short = Math.hypot(end[0] - start[0], end[1] - start[1]) < wide + 40;
      const [across, down] = short ? [x, y - (own.number ? picture.size : 0)] : [x - (wide > 0 ? wide / 2 + 5 : 0), y];
      own.lock = Report.shape("path", { class: "lock", d: looks.marks.lock, transform: `translate(${across.toFixed(1)} ${down.toFixed(1)})` });
      own.target.before(own.lock);
    } else {
      // One direction: where its head would be. Both: in the middle.
      const near = assumed.kind === "no-edge" && !trace ? (assumed.to === own.to ? 0.86 : 0.14) : 0.5;
      const [across, down] = Report.pointAt(courseOf(own), near);
      own.cross = Report.shape("path", { class: "cross", d: looks.marks.cross, transform: `translate(${across.toFixed(1)} ${down.toFixed(1)})` });
      own.target.before(own.cross);
    }
  };

  // How a change is written: "▲.21"; what has only turned has no number.
  const changeText = (change) => (!change || Math.abs(change.by) < 0.005 ? ""
    : `${change.by > 0 ? "▲" : "▼"}${Math.abs(change.by).toFixed(2).replace(/^0/, "")}`);

  const drawLine = (picture, own, state) => {
    const { pair, change, assumed, trace, single } = state;
    const marked = [
      change && (changeText(change) || "turned"), assumed && `${assumed.kind} ${assumed.to}`, trace && "trace",
      single !== undefined && `single ${single}`,
    ].filter(Boolean).join(" ");
    // What stands there already is not drawn again: a threshold that moves changes no line.
    if (own.pair === pair && own.marked === marked) return;
    Object.assign(own, { pair, marked });
    const word = single === undefined ? pair.word : PLAIN.word;
    if (own.word !== word) own.group.classList.replace(own.word, word);
    own.word = word;
    const { classList } = own.group;
    classList.toggle("trace", trace);
    classList.toggle("grew", Boolean(change) && change.by > 0.005);
    classList.toggle("shrank", Boolean(change) && change.by < -0.005);
    classList.toggle("turned", Boolean(change) && Math.abs(change.by) <= 0.005);
    classList.toggle("required", assumed?.kind === "edge" || assumed?.kind === "joined");
    classList.toggle("forbidden", assumed?.kind === "apart" || assumed?.kind === "no-edge");
    if (trace) drawTrace(own);
    else drawStroke(picture, own, single === undefined ? pair : PLAIN, single ?? pair.to);
    own.group.setAttribute("data-joined", pair.joined.toPrecision(4));
    const base = pair === Report.data.pairs[own.place];
    const told = base && own.words !== null ? own.words : `${pair.joined.toFixed(2)}${pair.sign ? ` ${pair.sign.replace("-", "−")}` : ""}`;
    // Lines that had no room for a number when the page was made have none, unless they have changed. Of lines that were not
    // shown then, nobody looked.
    const { threshold, pairs } = Report.data;
    const numbered = single === undefined && !(trace && assumed)
      && (own.words !== null || change || !(pairs[own.place]?.joined >= threshold));
    drawNumber(picture, own, numbered ? told : null, changeText(change));
    drawMarks(picture, own, state);
  };

  // The whole picture

  // What is drawn of every pair: null for nothing.
  const statesNow = () => {
    const assumed = Report.assumedPlaces();
    const least = Report.threshold - 1e-6;
    return Report.pairs.map((_, place) => place).concat(Array.from(assumed).filter((place) => !(place in Report.pairs)))
      .reduce((states, place) => {
        const pair = Report.pairAt(place);
        const change = Report.changeAt(place);
        const own = assumed.has(place) ? Report.markOf(pair.from, pair.to) : null;
        const shown = pair.joined >= least && own?.kind !== "apart";
        const left = change !== null && (change.was?.joined ?? 0) >= least;
        if (shown || own || left) states.set(place, { pair, change, assumed: own, trace: !shown });
        return states;
      }, new Map());
  };

  // The edges of a single graph, and those that the one before had.
  const statesOfGraph = ({ edges, before }) => {
    const states = new Map();
    const add = ([from, to], trace, change) => {
      const place = Report.placeOf(from, to);
      if (!states.has(place)) states.set(place, { pair: Report.pairAt(place), change, assumed: null, trace, single: to });
    };
    const had = before && new Set(before.map(String));
    for (const edge of edges) add(edge, false, had && !had.has(String(edge)) ? { by: 0, turned: true } : null);
    for (const edge of before ?? []) add(edge, true, null);
    return states;
  };

  const drawPicture = (picture, states) => {
    const { single } = Report;
    picture.taken = null;
    picture.svg.classList.toggle("single", Boolean(single));
    picture.svg.classList.toggle("smooth", states.size <= MOST_MOVING);
    for (const [place, own] of picture.lines) {
      const state = states.get(place);
      own.group.classList.toggle("hidden", state === undefined);
      if (state !== undefined) drawLine(picture, own, state);
    }
    // Without assumptions a picture has the lines that it was made with.
    if (!single && Report.isBase(Report.view)) return;
    const missing = Array.from(states.keys()).filter((place) => !picture.lines.has(place));
    const room = Math.max(0, MOST_LINES - states.size + missing.length);
    missing.sort((one, two) => Report.pairAt(two).joined - Report.pairAt(one).joined);
    for (const place of missing.slice(0, room)) {
      const own = added(picture, place);
      if (own !== null) drawLine(picture, own, states.get(place));
    }
  };

  // Draws what is shown from the present threshold on: the picture in sight now, the other one when there is time.
  Report.show = () => {
    const states = Report.single ? statesOfGraph(Report.single) : statesNow();
    const seen = Report.picture();
    drawPicture(partsOf(seen), states);
    clearTimeout(Report.drawingRest);
    Report.drawRest = () => {
      for (const svg of Report.pictures()) if (svg !== seen) drawPicture(partsOf(svg), states);
      Report.foldLonely();
      if (Report.focus) Report.applyFocus();
    };
    Report.drawingRest = setTimeout(Report.drawRest, 120);
  };

  // What the legend must say besides what it said when the page was made.
  Report.tellLegend = () => {
    const legend = document.querySelector(".legend");
    const more = legend?.querySelector("template");
    if (!more) return;
    const needed = new Set();
    for (const line of Report.reachedLines()) {
      // A line that is hardly there has no direction to explain.
      const trace = line.classList.contains("trace");
      for (const word of line.classList) if (!(trace && word in looks.words)) needed.add(word);
    }
    for (const item of more.content.children) {
      const { word } = item.dataset;
      const there = legend.querySelector(`li[data-word="${word}"]`);
      if (needed.has(word) && !there) more.before(item.cloneNode(true));
      else if (!needed.has(word) && there) there.remove();
    }
  };

  // What holds now

  Report.redraw = (view, before = null) => {
    Report.setView(view, before);
    Report.showFrom(Report.threshold);
    Report.tellLegend();
    Report.refreshPanel();
    Report.fillRowsLater?.();
  };

  // Parents of every variable, by place; null: back to the view. `said` is told of the graph.
  Report.showGraph = (parents, said = "") => {
    const edges = parents?.flatMap((own, to) => Array.from(own, (from) => [from, to]));
    Report.single = parents === null ? null : { edges, before: Report.single?.edges ?? null, said };
    Report.showFrom(Report.threshold);
  };

  document.addEventListener("view", ({ detail: { view, before } }) => Report.redraw(view, before ?? null));
}
