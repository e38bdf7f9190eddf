"use strict";
// The drawn graphs as a source of views: those that meet the assumptions are looked at, the others are left aside.
//
// Instant, for all of it is sums over the graphs that are left: a sum for each row of a node's list, then one for each
// edge of a row. Paths are summed by the bytes of the sets of ancestors. What is compelled only with an assumption needs
// a look at each graph in which the assumed edge is open (closing.js).

Report.draws = { name: "draws", count: 0, all: null, facts: null, ready: null, trouble: null };

// Takes packed graphs; the promise is kept when they can be asked.
Report.loadDraws = (packed) => {
  const { draws } = Report;
  draws.ready = Report.unpack(packed).then((all) => {
    const { data, ...facts } = packed;
    Object.assign(draws, { all, facts, count: all.count, trouble: null });
    Report.warmUp();
  }).catch((error) => { draws.trouble = `The graphs in this file cannot be read. ${error?.message ?? error}`; });
  return draws.ready;
};

// Does beforehand, a little at a time, what the first click would else wait for.
Report.warmUp = () => {
  const { all, facts } = Report.draws;
  const works = [
    () => Report.ancestorsIn(all),
    () => Report.neighboursIn(all, facts, Math.min(2, all.kinds - 1)),
    // Compiles the rest.
    () => { if (all.nodes > 1) Report.draws.view({ given: [{ kind: "no-edge", from: 0, to: 1, text: "" }], setting: {} }); },
  ];
  const next = () => {
    if (Report.draws.all !== all) return;
    works.shift()();
    if (works.length > 0) setTimeout(next, 0);
  };
  setTimeout(next, 0);
};

// The graphs that stand in the page; says so where a browser cannot read them.
Report.openDraws = () => {
  if (!Report.data.graphs) return;
  if (Report.canUnpack()) {
    Report.loadDraws(Report.data.graphs);
    return;
  }
  const section = Report.find("assumptions");
  if (!section) return;
  // Not for paper.
  section.classList.add("idle");
  section.replaceChildren(Report.element("p", "This browser is too old to unpack the graphs in this file: nothing can be assumed. Everything else on this page holds.", "help"));
  section.hidden = false;
};

// Which graphs are left

// For each row of a node's list, whether a variable is in its set of parents.
Report.rowsWith = ({ lists }, node, parent) => {
  const words = parent < 32 ? lists[node][0].low : lists[node][0].high;
  return Uint8Array.from(words, (word) => (word >>> (parent & 31)) & 1);
};

// Keeps those of the places in which an assumption holds; null where it is not about edges or paths.
Report.narrowed = (all, places, { kind, from, to }) => {
  const denied = ["no-edge", "apart", "no-path"].includes(kind) ? 1 : 0;
  const kept = new Int32Array(places.length);
  let count = 0;
  if (kind === "path" || kind === "no-path") {
    const size = Math.ceil(all.nodes / 8);
    const ancestors = Report.ancestorsIn(all);
    const start = to * size + (from >> 3);
    for (let order = 0; order < places.length; order += 1) {
      const held = (ancestors[places[order] * all.nodes * size + start] >> (from & 7)) & 1;
      if (held !== denied) kept[count++] = places[order];
    }
  } else if (["edge", "no-edge", "joined", "apart"].includes(kind)) {
    const onward = Report.rowsWith(all, to, from);
    const back = kind === "joined" || kind === "apart" ? Report.rowsWith(all, from, to) : new Uint8Array(all.lists[from][0].low.length);
    const [codesTo, codesFrom] = [all.codes[to], all.codes[from]];
    for (let order = 0; order < places.length; order += 1) {
      const held = onward[codesTo[places[order]]] | back[codesFrom[places[order]]];
      if (held !== denied) kept[count++] = places[order];
    }
  } else {
    return null;
  }
  return kept.subarray(0, count);
};

// The places of all graphs, made once.
Report.allPlaces = (all) => {
  if (!all.places) {
    all.places = new Int32Array(all.count);
    for (let place = 0; place < all.count; place += 1) all.places[place] = place;
  }
  return all.places;
};

// The places of the graphs in which all assumptions hold; null where one of these cannot be judged.
Report.placesLeft = (all, { given, setting }) => {
  if (Object.keys(setting).length > 0) return null;
  let places = Report.allPlaces(all);
  for (const assumption of given) {
    places = Report.narrowed(all, places, assumption);
    if (places === null) return null;
  }
  return places;
};

Report.weightOf = ({ weights }, places) => {
  let total = 0;
  for (let order = 0; order < places.length; order += 1) total += weights[places[order]];
  return total;
};

// What is said of those

// What the assumptions leave of the directions: edges that are in all graphs left, and those that are in none.
Report.settledBy = ({ settled, fixed, ruled_out: ruledOut }, given) => {
  const key = (from, to) => `${from} ${to}`;
  const out = new Set(ruledOut.map(([from, to]) => key(from, to)));
  const ways = [...settled];
  const forbid = (from, to) => {
    out.add(key(from, to));
    ways.push([to, from]);
  };
  for (const { kind, from, to } of given) {
    if (kind === "edge") ways.push([from, to]);
    if (kind === "no-edge" || kind === "apart" || kind === "no-path") forbid(from, to);
    if (kind === "apart" || kind === "path") forbid(to, from);
  }
  const open = (list) => {
    const seen = new Set(out);
    return list.filter(([from, to]) => !seen.has(key(from, to)) && seen.add(key(from, to)));
  };
  return { settled: open(ways), fixed: open(fixed) };
};

Report.square = (count) => Array.from({ length: count }, () => new Array(count).fill(0));

// The variance of each graph's weight, by which the variance of any share is found (posterior/intervals.py).
Report.variancesOf = (all, facts) => {
  const { weights, repeats, count } = all;
  if (all.variances) return all.variances;
  const once = facts.estimator === "distinct";
  all.variances = new Float64Array(count);
  for (let graph = 0; graph < count; graph += 1) {
    all.variances[graph] = weights[graph] ** 2 * (once ? Report.missedOf(repeats[graph]) : 1 / repeats[graph]);
  }
  return all.variances;
};

// Graphs of chains resemble each other. For each edge, by how much more its share varies than among independent draws; where
// an edge tells nothing of that, as much as for the worst one. Null for other samples.
Report.dependenceOf = (all, facts) => {
  if (facts.estimator !== "chains") return null;
  if (!all.dependence) {
    const times = (worth) => facts.draws / Math.max(worth ?? 0, 1e-3);
    all.dependence = Array.from({ length: all.nodes }, () => new Array(all.nodes).fill(times(facts.effective)));
    for (const [from, to, worth] of facts.edge_worth) all.dependence[from][to] = times(worth);
  }
  return all.dependence;
};

// The weighted shares of edges, and of edges that are compelled by the data, only with rules, only with the model. And
// the sums of variances of the graphs with each edge, and of all.
Report.edgeShares = (all, facts, places, total) => {
  const { nodes, lists, codes, weights, kinds } = all;
  const variances = Report.variancesOf(all, facts);
  const [edges, byData, byRules, byModel, spreads] = Array.from({ length: 5 }, () => Report.square(nodes));
  for (let node = 0; node < nodes; node += 1) {
    const own = codes[node];
    const sets = lists[node];
    const sums = new Float64Array(sets[0].low.length);
    const spread = new Float64Array(sets[0].low.length);
    for (let order = 0; order < places.length; order += 1) {
      const place = places[order];
      const row = own[place];
      sums[row] += weights[place];
      spread[row] += variances[place];
    }
    for (let row = 0; row < sums.length; row += 1) {
      if (sums[row] === 0) continue;
      const share = sums[row] / total;
      const add = (matrix, part, kind, less) => {
        const low = sets[kind].low[row] & ~(less === null ? 0 : sets[less].low[row]);
        const high = sets[kind].high[row] & ~(less === null ? 0 : sets[less].high[row]);
        if ((low | high) !== 0) Report.eachOf(low, high, (parent) => { matrix[parent][node] += part; });
      };
      add(edges, share, 0, null);
      add(spreads, spread[row] / total ** 2, 0, null);
      add(byData, share, 1, null);
      if (kinds > 2) add(byRules, share, 2, 1);
      if (kinds > 3) add(byModel, share, 3, 2);
    }
  }
  let sum = 0;
  for (let order = 0; order < places.length; order += 1) sum += variances[places[order]];
  const spread = { edges: spreads, total: sum / total ** 2, times: Report.dependenceOf(all, facts) };
  return { edges, by_data: byData, by_rules: byRules, by_model: byModel, spread };
};

Report.pathShares = (all, places, total) => {
  const { nodes, weights } = all;
  const ancestors = Report.ancestorsIn(all);
  const size = Math.ceil(nodes / 8);
  const width = nodes * size;
  const sums = new Float64Array(width * 256);
  for (let order = 0; order < places.length; order += 1) {
    const weight = weights[places[order]];
    const start = places[order] * width;
    for (let byte = 0; byte < width; byte += 1) sums[(byte << 8) | ancestors[start + byte]] += weight;
  }
  const paths = Report.square(nodes);
  for (let byte = 0; byte < width; byte += 1) {
    const node = Math.floor(byte / size);
    for (let set = 1; set < 256; set += 1) {
      const sum = sums[(byte << 8) | set];
      if (sum === 0) continue;
      const share = sum / total;
      for (let left = set; left !== 0; left &= left - 1) {
        paths[8 * (byte % size) + 31 - Math.clz32(left & -left)][node] += share;
      }
    }
  }
  return paths;
};

// How many independent draws the graphs left are worth: as many have shares of the same variance, of edges that are
// neither rare nor common. The least of these, for edges differ: with some go the graphs that weigh most.
Report.worthOf = ({ edges, spread }, none) => {
  if (none) return 0;
  // Where all graphs that count were drawn nothing is left to chance.
  let worth = Math.min(1e9, 1 / spread.total);
  edges.forEach((row, from) => row.forEach((share, to) => {
    const variance = ((1 - 2 * share) * spread.edges[from][to] + share ** 2 * spread.total) * (spread.times?.[from][to] ?? 1);
    if (share > 0.1 && share < 0.9 && variance > 0) worth = Math.min(worth, (share * (1 - share)) / variance);
  }));
  return worth;
};

Report.isFew = (worth, facts, share) => {
  // The best graphs of all: what matters is how much the others could change.
  if (facts.estimator === "iw") return facts.covered !== null && 1 - facts.covered > (share * facts.covered) / 9;
  return worth < Report.data.terms.fewest;
};

// The view that stands in the page, read once.
Report.baseOfPage = () => {
  Report.draws.base ??= Report.pageView();
  return Report.draws.base;
};

// The probability of the assumptions: exactly where the page has it, else as the graphs have it.
Report.chanceOf = (all, facts, places, given) => {
  const base = Report.baseOfPage();
  const [{ kind, from, to }] = given;
  if (given.length === 1 && base?.source === "exact" && Report.shareIn(base, kind, from, to) !== null) {
    const value = Report.shareIn(base, kind, from, to);
    return { value, lower: value, upper: value, exact: true, said: `${value.toFixed(4)} (exact; ${facts.counted})` };
  }
  const held = new Uint8Array(all.count);
  for (let order = 0; order < places.length; order += 1) held[places[order]] = 1;
  // Chains may be worth more for one edge than for the worst one.
  const own = facts.edge_worth.find(([parent, child]) => kind.endsWith("edge") && parent === from && child === to);
  return Report.shareOf(all, own && given.length === 1 ? { ...facts, effective: own[2] } : facts, held);
};

// The probability that a view gives to one assumption; null where it has none.
Report.shareIn = ({ edges, paths, paths_exact: exact }, kind, from, to) => {
  const limited = (value) => Math.min(1, Math.max(0, value));
  if (kind === "edge") return edges[from][to];
  if (kind === "no-edge") return 1 - edges[from][to];
  if (kind === "joined") return limited(edges[from][to] + edges[to][from]);
  if (kind === "apart") return limited(1 - edges[from][to] - edges[to][from]);
  if (!paths || !exact) return null;
  return kind === "path" ? paths[from][to] : 1 - paths[from][to];
};

// As a source

Report.draws.view = (state) => {
  const { all, facts } = Report.draws;
  if (Report.assumed(state) === 0 && Report.data.base) return Report.baseOfPage();
  if (Report.draws.trouble) throw new Error(Report.draws.trouble);
  if (!all) return Report.draws.ready ? Report.draws.ready.then(() => Report.draws.view(state)) : null;
  const places = Report.placesLeft(all, state);
  if (places === null) return null;
  const total = Report.weightOf(all, places);
  const none = places.length === 0;
  // With no graph left there is nothing to say: what is said of all of them stands there.
  const shown = none ? Report.allPlaces(all) : places;
  const shares = Report.edgeShares(all, facts, shown, none ? 1 : total);
  const worth = Report.worthOf(shares, none);
  const known = Report.settledBy(facts, state.given);
  if (!none) Report.addAssumed(all, facts, places, total, known, shares);
  return {
    given: state.given.map((assumption) => assumption.text),
    setting: {},
    chance: state.given.length === 0 ? null : Report.chanceOf(all, facts, places, state.given),
    source: "draws",
    final: true,
    seconds: null,
    graphs: { left: places.length, of: all.count, worth },
    few: none || Report.isFew(worth, facts, total),
    paths: Report.pathShares(all, shown, none ? 1 : total),
    ...shares,
    ...known,
    notes: [],
  };
};

// The probability of the assumptions of a state; null where it cannot be judged.
Report.draws.chance = ({ given, setting }) => {
  const { all, facts } = Report.draws;
  const places = all && Report.placesLeft(all, { given, setting });
  if (!places) return null;
  return given.length === 0 ? 1 : Report.chanceOf(all, facts, places, given).value;
};

// The graphs left under a state, by their places, with their weights; null where it cannot be judged.
Report.draws.left = (state) => {
  const { all } = Report.draws;
  const places = all && Report.placesLeft(all, state);
  if (!places) return null;
  const weights = new Float64Array(places.length);
  for (let order = 0; order < places.length; order += 1) weights[order] = all.weights[places[order]];
  return { places, weights };
};

// One graph: the parents of every variable.
Report.draws.graph = (place) => Report.draws.all.lists.map(([parents], node) => {
  const row = Report.draws.all.codes[node][place];
  const found = [];
  Report.eachOf(parents.low[row], parents.high[row], (parent) => found.push(parent));
  return found;
});
