"use strict";
// The picture as it is seen, as a file of its own: with title, legend and caption, and with colours written out. Always
// in the colours of paper, for that is where such files go.

const SVG = "http://www.w3.org/2000/svg";
const LINE = 17;
// What makes the look of an element; everything else is in its attributes.
const LOOK = [
  "fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "stroke-linecap", "stroke-linejoin",
  "stroke-opacity", "opacity", "paint-order", "font-family", "font-size", "font-weight", "font-style", "text-anchor",
  "dominant-baseline",
];

Report.shape = (tag, about = {}, words) => {
  const made = document.createElementNS(SVG, tag);
  for (const [key, value] of Object.entries(about)) made.setAttribute(key, value);
  if (words !== undefined) made.textContent = words;
  return made;
};

// Colours and fonts as the style sheet has them, written into the elements themselves.
Report.written = (element) => {
  const style = getComputedStyle(element);
  if (style.display === "none" || element.matches(".target, [hidden]")) {
    element.remove();
    return;
  }
  for (const child of Array.from(element.children)) Report.written(child);
  if (!element.matches("svg, g, path, rect, circle, ellipse, line, polygon, polyline, text, tspan")) return;
  for (const name of LOOK) element.setAttribute(name, style.getPropertyValue(name));
  element.removeAttribute("style");
  element.removeAttribute("class");
};

// Words over as many lines as they need; returns the height that they take.
Report.addWords = (sheet, words, { x, y, width, size, weight = "normal" }) => {
  const pen = document.createElement("canvas").getContext("2d");
  pen.font = `${weight} ${size}px sans-serif`;
  const lines = [""];
  for (const word of words.split(/\s+/)) {
    const longer = `${lines.at(-1)} ${word}`.trim();
    if (lines.at(-1) !== "" && pen.measureText(longer).width > width) lines.push(word);
    else lines[lines.length - 1] = longer;
  }
  const step = 1.35 * size;
  lines.forEach((line, number) => {
    const about = { x, y: y + size + number * step, "font-size": size, "font-weight": weight, fill: "var(--ink)" };
    sheet.append(Report.shape("text", about, line));
  });
  return lines.length * step;
};

// A sheet with the picture that is seen now: its text, its width and its height.
Report.drawing = () => {
  const light = Report.element("div", undefined, "light unseen");
  const shown = Report.picture();
  const [, , own, high] = shown.getAttribute("viewBox").split(/[\s,]+/).map(Number);
  const wide = Math.max(own, 360);
  const sheet = Report.shape("svg", { xmlns: SVG, "font-family": "sans-serif" });
  const paper = Report.shape("rect", { x: 0, y: 0, fill: "var(--paper)", class: "ground" });
  const copy = shown.cloneNode(true);
  copy.classList.remove("chosen");
  light.append(sheet);
  document.body.append(light);
  sheet.append(paper);
  let y = 10;
  y += Report.addWords(sheet, document.title, { x: 14, y, width: wide - 28, size: 16, weight: "bold" }) + 6;
  for (const [key, value] of Object.entries({ x: (wide - own) / 2, y, width: own, height: high })) copy.setAttribute(key, value);
  sheet.append(copy);
  y += high + 8;
  for (const item of document.querySelectorAll(".legend li:not([hidden])")) {
    const mark = item.querySelector("svg");
    // The mark is copied; what is written in it is not said again.
    const words = Array.from(item.childNodes, (part) => (part === mark ? "" : part.textContent)).join("").trim();
    let taken = LINE;
    if (mark) {
      const key = mark.cloneNode(true);
      for (const [name, value] of Object.entries({ x: 14, y: y + 2, width: 45, height: 11 })) key.setAttribute(name, value);
      sheet.append(key);
    }
    taken = Math.max(taken, Report.addWords(sheet, words, { x: 68, y, width: wide - 82, size: 12 }));
    y += taken;
  }
  const facts = Array.from(document.querySelector(".summary").childNodes, (part) => part.textContent.trim()).filter(Boolean);
  const from = Report.single ? "" : ` Lines from a ${Report.data.measure} of ${Report.threshold.toFixed(2)} on:`;
  const caption = `${facts.join(". ")}.${from} ${Report.find("shown").textContent}${Report.underWords()}`;
  y += Report.addWords(sheet, caption, { x: 14, y: y + 4, width: wide - 28, size: 11 }) + 14;
  for (const [key, value] of Object.entries({ width: wide, height: y })) {
    paper.setAttribute(key, value);
    sheet.setAttribute(key, value);
  }
  sheet.setAttribute("viewBox", `0 0 ${wide} ${y}`);
  Report.written(sheet);
  const text = new XMLSerializer().serializeToString(sheet);
  light.remove();
  return { text, width: wide, height: y };
};

// The same sheet in pixels, three for each point.
Report.savePicture = () => {
  const { text, width, height } = Report.drawing();
  const picture = new Image();
  picture.addEventListener("load", () => {
    const canvas = document.createElement("canvas");
    const most = Math.min(3, 16000 / Math.max(width, height));
    canvas.width = Math.round(most * width);
    canvas.height = Math.round(most * height);
    canvas.getContext("2d").drawImage(picture, 0, 0, canvas.width, canvas.height);
    canvas.toBlob((blob) => Report.save(blob, "graph.png"), "image/png");
  });
  picture.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
};
