"use strict";
// Graphs of the sample, one by one: each as often as it is probable under the assumptions, so that one sees what goes
// together and not only how probable each line is.

Explorer.player = { left: null, shown: [], at: -1, timer: null };

// The graphs that are left under the assumptions: their places in the sample, and their weights summed up.
Explorer.graphsLeft = () => {
  const left = Report.draws?.count > 0 ? Report.draws.left(Report.state) : null;
  if (!left || left.places.length === 0) return null;
  let total = 0;
  const sums = Float64Array.from(left.weights, (weight) => { total += weight; return total; });
  return { places: left.places, weights: left.weights, sums, total };
};

// One of the graphs, in proportion to their weights; `part` is a number from 0 to 1.
Explorer.drawOne = ({ sums, total }, part) => {
  let [low, high] = [0, sums.length - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sums[middle] > part * total) high = middle;
    else low = middle + 1;
  }
  return low;
};

Explorer.startPlayer = () => {
  const box = Report.find("player");
  const { player } = Explorer;
  const button = (words, label, act) => {
    const made = Report.element("button", words);
    made.type = "button";
    made.setAttribute("aria-label", label);
    made.title = label;
    made.addEventListener("click", act);
    return made;
  };
  const told = Report.element("p", "", "help");
  told.id = "player-told";
  const speed = Report.element("input");
  Object.assign(speed, { type: "range", id: "player-speed", min: "-1", max: "4", step: "0.25", value: "1" });
  const perSecond = () => 2 ** Number(speed.value);
  const calm = matchMedia("(prefers-reduced-motion: reduce)");

  const show = () => {
    const place = player.shown[player.at];
    const { places, weights, total } = player.left;
    const share = weights[place] / total;
    const percent = share < 0.001 ? "less than 0.1%" : `${(100 * share).toFixed(1)}%`;
    const count = (number) => number.toLocaleString("en");
    told.textContent = `Graph ${count(place + 1)} of the ${count(places.length)} different graphs`
      + `${Report.state.given.length > 0 ? " left" : ""} in the sample; ${percent} of the posterior${Report.state.given.length > 0 ? " under your assumptions" : ""}.`;
    Report.showGraph(Report.draws.graph(places[place]));
    box.classList.add("playing");
  };
  const ready = () => {
    player.left ??= Explorer.graphsLeft();
    if (player.left === null) told.textContent = "No graph of the sample meets the assumptions, or the sample cannot judge them.";
    return player.left !== null;
  };
  const step = (by) => {
    if (!ready()) return;
    if (by < 0 && player.at <= 0) return;
    player.at += by;
    if (player.at >= player.shown.length) player.shown.push(Explorer.drawOne(player.left, Math.random()));
    // Nobody goes back further.
    if (player.shown.length > 1000) {
      player.shown.shift();
      player.at -= 1;
    }
    show();
  };
  const pause = () => {
    clearTimeout(player.timer);
    player.timer = null;
    play.textContent = "▶";
    play.setAttribute("aria-label", "Play");
    play.title = "Play";
  };
  const tick = () => {
    step(1);
    player.timer = setTimeout(tick, 1000 / perSecond());
  };
  const toggle = () => {
    if (player.timer !== null) {
      pause();
      return;
    }
    // With less motion wished for, one step at a time.
    if (calm.matches) {
      step(1);
      return;
    }
    if (!ready()) return;
    play.textContent = "❚❚";
    play.setAttribute("aria-label", "Pause");
    play.title = "Pause";
    tick();
  };
  const stop = () => {
    pause();
    const playing = player.at >= 0;
    Object.assign(player, { left: null, shown: [], at: -1 });
    box.classList.remove("playing");
    told.textContent = "Each graph as often as it is probable: see what goes together.";
    if (playing) Report.showGraph(null);
  };

  const back = button("◀", "One graph back", () => { pause(); step(-1); });
  const play = button("▶", "Play", toggle);
  const next = button("▶|", "One graph on", () => { pause(); step(1); });
  const end = button("Stop", "Stop, and show the probabilities again", stop);
  const buttons = Report.element("div", undefined, "buttons");
  const label = Report.element("label", "Speed ", "speed");
  const pace = Report.element("span", "", "help");
  const tellPace = () => {
    pace.textContent = `${perSecond() >= 1 ? perSecond().toFixed(perSecond() < 4 ? 1 : 0) : perSecond().toFixed(1)} a second`;
    speed.setAttribute("aria-valuetext", pace.textContent);
  };
  speed.addEventListener("input", tellPace);
  label.append(speed, pace);
  buttons.append(back, play, next, end, label);
  box.append(buttons, told);
  tellPace();
  stop();
  box.addEventListener("keydown", (event) => {
    if (event.target === speed || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "ArrowRight") { pause(); step(1); }
    else if (event.key === "ArrowLeft") { pause(); step(-1); }
    else if (event.key === "Escape" && player.at >= 0) { stop(); event.stopPropagation(); }
    else return;
    event.preventDefault();
  });
  document.addEventListener("state", stop);
  Explorer.offerPlayer();
};

// The player is there as soon as there are graphs.
Explorer.offerPlayer = () => { Report.find("player").hidden = !(Report.draws?.count > 0); };
