"use strict";
// A slider over the values that the score averages over, with the posterior weight of each. The slider of the threshold is
// that of the report.

Explorer.startSettings = () => {
  const settings = Report.data.explorer?.settings;
  if (!settings || settings.values.length < 2) return;
  const box = Report.find("setting");
  const { name, values, weights } = settings;
  const written = (value) => String(Number(value.toPrecision(6)));
  const slider = Report.element("input");
  Object.assign(slider, { type: "range", id: "setting-slider", min: "0", max: String(values.length), step: "1", value: "0" });
  // Not a label: it would belong to the output, which comes first.
  slider.setAttribute("aria-label", Report.capital(name));
  const label = Report.element("div", `${Report.capital(name)} `);
  const said = Report.element("output", "");
  said.htmlFor = "setting-slider";
  label.append(said, slider);
  const stops = Report.element("div", undefined, "stops");
  stops.setAttribute("aria-hidden", "true");
  // The first stop is the average over all values.
  const bars = ["all", ...values.map(written)].map((words, place) => {
    const stop = Report.element("span", undefined, "stop");
    const bar = Report.element("span", undefined, "weight");
    bar.style.setProperty("--weight", place === 0 ? "0" : String(weights[place - 1]));
    stop.append(bar, Report.element("span", words));
    stop.title = place === 0 ? "averaged over all values" : `posterior weight ${Report.number(weights[place - 1])}`;
    stop.addEventListener("click", () => choose(place));
    return stop;
  });
  stops.append(...bars);
  stops.style.setProperty("--stops", String(bars.length));
  box.style.setProperty("--stops", String(bars.length));
  const tell = (place) => {
    slider.value = String(place);
    const words = place === 0
      ? "averaged"
      : `${written(values[place - 1])} (weight ${Report.number(weights[place - 1])})`;
    said.textContent = words;
    slider.setAttribute("aria-valuetext", words);
    bars.forEach((bar, number) => bar.classList.toggle("here", number === place));
  };
  const choose = (place) => {
    tell(place);
    Report.setSetting(place === 0 ? null : values[place - 1]);
  };
  slider.addEventListener("input", () => tell(Number(slider.value)));
  slider.addEventListener("change", () => choose(Number(slider.value)));
  document.addEventListener("state", ({ detail }) => {
    tell(detail.setting === null || detail.setting === undefined ? 0 : values.indexOf(detail.setting) + 1);
  });
  box.append(label, stops);
  box.hidden = false;
  tell(0);
};
