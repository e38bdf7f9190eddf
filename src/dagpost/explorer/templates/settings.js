"use strict";
// A slider for each setting that the model averages over, with the posterior weight of each value. The slider of the
// threshold is that of the report.

Explorer.startSettings = () => {
  const sliders = (Report.data.explorer?.settings ?? []).filter(({ values }) => values.length > 1).map(Explorer.sliderOf);
  const box = Report.find("averaged");
  box.append(...sliders);
  box.hidden = sliders.length === 0;
};

Explorer.sliderOf = ({ name, values, weights }, number) => {
  const box = Report.element("div", undefined, "setting");
  const slider = Report.element("input");
  Object.assign(slider, { type: "range", id: `setting-${number}`, min: "0", max: String(values.length), step: "1", value: "0" });
  // Not a label: it would belong to the output, which comes first.
  slider.setAttribute("aria-label", Report.capital(name));
  const label = Report.element("div", `${Report.capital(name)} `);
  const said = Report.element("output", "");
  said.htmlFor = slider.id;
  label.append(said, slider);
  const wordsOf = (place) => (place === 0
    ? "averaged"
    : `${Report.threeDigits(values[place - 1])} (weight ${Report.number(weights[place - 1])})`);
  const stops = Report.element("div", undefined, "stops");
  stops.setAttribute("aria-hidden", "true");
  // The first stop is the average over all values. There is room for two digits, or a word.
  const short = (value) => (typeof value === "string"
    ? value.replace(/ .*$/u, "")
    : String(Number(value.toPrecision(2))).replace(/^0\./u, "."));
  const bars = ["all", ...values.map(short)].map((words, place) => {
    const stop = Report.element("span", undefined, "stop");
    const bar = Report.element("span", undefined, "weight");
    bar.style.setProperty("--weight", place === 0 ? "0" : String(weights[place - 1]));
    stop.append(bar, Report.element("span", words));
    stop.title = wordsOf(place);
    stop.addEventListener("click", () => choose(place));
    return stop;
  });
  stops.append(...bars);
  box.style.setProperty("--stops", String(bars.length));
  const tell = (place) => {
    const words = wordsOf(place);
    slider.value = String(place);
    said.textContent = words;
    slider.setAttribute("aria-valuetext", words);
    bars.forEach((bar, stop) => bar.classList.toggle("here", stop === place));
  };
  const choose = (place) => {
    tell(place);
    Report.setSetting(name, place === 0 ? null : values[place - 1]);
  };
  slider.addEventListener("input", () => tell(Number(slider.value)));
  slider.addEventListener("change", () => choose(Number(slider.value)));
  document.addEventListener("state", ({ detail }) => tell(values.indexOf(detail.setting[name]) + 1));
  box.append(label, stops);
  tell(0);
  return box;
};
