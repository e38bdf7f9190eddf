"use strict";
// What a view says of two variables, in the words of the report, and what differs between two views. A view holds the
// probabilities under some assumptions; matrices are read as [from][to].
//
// The rules are those of Directions.pair in Python; the thresholds and the words come with the page.

// The view that stands in the page: what was found without any assumption. Null where there is none.
Report.pageView = () => {
  const { base, names } = Report.data;
  if (!base) return null;
  const count = names.length;
  const matrix = (flat) => {
    if (flat === null) return null;
    // One number stands for all of them.
    const value = (place) => (typeof flat === "number" ? flat : flat[place]);
    return Array.from({ length: count }, (_, from) => Array.from({ length: count }, (__, to) => value(from * count + to)));
  };
  const matrices = ["edges", "paths", "by_data", "by_rules", "by_model"].map((key) => [key, matrix(base[key])]);
  return { ...base, ...Object.fromEntries(matrices) };
};

// Whether a list of ways, such as those that rules leave, has one: as a table, made once for each list.
Report.waysIn = new WeakMap();
Report.hasWay = (ways, from, to) => {
  let known = Report.waysIn.get(ways);
  if (!known) {
    known = new Set(ways.map((way) => way.join(" ")));
    Report.waysIn.set(ways, known);
  }
  return known.has(`${from} ${to}`);
};

// A share as the words have it: rounded down, so that what is not all is not said to be 100%.
Report.shareWords = (share) => {
  if (share >= 1 - 1e-9) return "100%";
  return share >= 0.995 ? "over 99%" : `${Math.floor(100 * share + 1e-9)}%`;
};

// What is said of one pair: its word, the two in the order in which they are written and drawn, and the numbers.
Report.pairIn = (view, first, second) => {
  const { found, clear, leaning, labels, assumed, never, headed } = Report.data.terms;
  const { edges, by_data: byData, by_rules: byRules, by_model: byModel } = view;
  const joined = Math.min(1, edges[first][second] + edges[second][first]);
  const ways = [[first, second], [second, first]];
  const told = (word, [from, to], share) => {
    const parts = byData && [
      byData[from][to],
      byData[to][from],
      byRules[from][to] + byModel[from][to] + byRules[to][from] + byModel[to][from],
    ];
    // What is left of the probability; rounding may take it below nothing.
    if (parts) parts.push(Math.max(0, joined - parts[0] - parts[1] - parts[2]));
    const label = word === "rules" && (view.assumed || view.given.length > 0) ? assumed : labels[word];
    const said = word === "unknown" && !(joined > 0) ? never : label.replace("{share}", Report.shareWords(share));
    return { from, to, joined, word, head: headed.includes(word), share, said, parts };
  };
  const settled = ways.find(([from, to]) => Report.hasWay(view.settled, from, to));
  if (settled) return told("rules", settled, 1);
  const fixed = ways.find(([from, to]) => Report.hasWay(view.fixed, from, to));
  if (fixed) return told("model", fixed, 1);
  if (!(joined > 0) || !byData) return told("unknown", ways[0], 0);
  const more = byData[first][second] >= byData[second][first] ? ways[0] : ways[1];
  const share = byData[more[0]][more[1]] / joined;
  // What is below a threshold by no more than rounding has reached it.
  const reached = (value, least) => value >= least - 1e-12;
  if (!reached(joined, found)) return told("open", ways[0], share);
  if (reached(share, leaning)) return told(reached(share, clear) ? "clear" : "leaning", more, share);
  for (const way of ways) {
    const [from, to] = way;
    const ruled = byData[from][to] + byRules[from][to];
    if (reached(ruled / joined, clear)) return told("rules", way, ruled / joined);
    const decided = ruled + byModel[from][to];
    if (reached(decided / joined, clear)) return told("model", way, decided / joined);
  }
  return told("open", ways[0], share);
};

// How far the probability of an edge, or of either one of a pair, may be off by chance alone: three standard errors, for
// there are many pairs and few should be called changed that are not. Nothing for exact numbers.
Report.noiseOf = (view, ways) => {
  if (view.source !== "draws" || !view.graphs) return 0;
  const { worth } = view.graphs;
  if (!(worth > 0)) return 1;
  const sum = (matrix) => ways.reduce((total, [from, to]) => total + matrix[from][to], 0);
  const share = Math.min(1, sum(view.edges));
  // What is in all graphs left, or in none, may be otherwise in others.
  const least = 3 / worth;
  if (!view.spread) return Math.max(least, 3 * Math.sqrt((share * (1 - share)) / worth));
  const { edges, total, times } = view.spread;
  const variance = (1 - 2 * share) * sum(edges) + share ** 2 * total;
  const dependent = times ? Math.max(...ways.map(([from, to]) => times[from][to])) : 1;
  return Math.max(least, 3 * Math.sqrt(Math.max(0, variance * dependent)));
};

// The pairs that differ between two views, the largest difference first: each as it is said before and after, by how much
// it is joined more or less, and whether it grew, shrank, or only turned. Differences below `least`, or that chance
// alone would make, are none.
Report.changes = (before, after, least = 0.05) => {
  const found = [];
  const count = after.edges.length;
  const sum = ({ edges }, ways) => Math.min(1, ways.reduce((total, [from, to]) => total + edges[from][to], 0));
  const differs = (ways) => {
    const difference = sum(after, ways) - sum(before, ways);
    if (Math.abs(difference) < least) return 0;
    // Draws under more assumptions are some of the draws under fewer: their errors do not add up.
    return Math.abs(difference) >= Math.max(Report.noiseOf(before, ways), Report.noiseOf(after, ways)) ? difference : 0;
  };
  for (let first = 0; first < count; first += 1) {
    for (let second = first + 1; second < count; second += 1) {
      const ways = [[first, second], [second, first]];
      const joined = differs(ways);
      const turns = ways.map((way) => differs([way]));
      const size = Math.max(...[joined, ...turns].map(Math.abs));
      if (size === 0) continue;
      const own = Report.pairIn(after, first, second);
      found.push({
        from: own.from,
        to: own.to,
        before: Report.pairIn(before, first, second),
        after: own,
        joined: sum(after, ways) - sum(before, ways),
        grew: joined > 0,
        shrank: joined < 0,
        turned: joined === 0,
        size,
      });
    }
  }
  return found.sort((one, two) => two.size - one.size);
};
