"use strict";
// How far a share of the drawn graphs may be from the probability that it estimates: the rules of the library
// (posterior/intervals.py), which has a word and a reference for each.

// Log of the gamma function (Lanczos).
Report.logGamma = (x) => {
  const parts = [76.18009172947146, -86.50532032941677, 24.01409824083091, -1.231739572450155, 0.1208650973866179e-2, -0.5395239384953e-5];
  const shifted = x + 5.5;
  const sum = parts.reduce((total, part, place) => total + part / (x + 1 + place), 1.000000000190015);
  return (x + 0.5) * Math.log(shifted) - shifted + Math.log((2.5066282746310005 * sum) / x);
};

// The regularised incomplete beta function, by its continued fraction.
Report.betaShare = (x, a, b) => {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  if (x > (a + 1) / (a + b + 2)) return 1 - Report.betaShare(1 - x, b, a);
  const tiny = 1e-300;
  const front = Math.exp(Report.logGamma(a + b) - Report.logGamma(a) - Report.logGamma(b) + a * Math.log(x) + b * Math.log1p(-x));
  let d = 1 / (1 - ((a + b) * x) / (a + 1) || tiny);
  let c = 1;
  let product = d;
  for (let step = 1; step < 10000; step += 1) {
    const even = (step * (b - step) * x) / ((a + 2 * step - 1) * (a + 2 * step));
    d = 1 / (1 + even * d || tiny);
    c = 1 + even / c || tiny;
    product *= d * c;
    const odd = (-(a + step) * (a + b + step) * x) / ((a + 2 * step) * (a + 2 * step + 1));
    d = 1 / (1 + odd * d || tiny);
    c = 1 + odd / c || tiny;
    product *= d * c;
    if (Math.abs(d * c - 1) < 1e-14) break;
  }
  return (front * product) / a;
};

// Where that function reaches a share.
Report.betaPoint = (share, a, b) => {
  let [low, high] = [0, 1];
  for (let step = 0; step < 100 && high - low > 1e-15 * high; step += 1) {
    const middle = (low + high) / 2;
    if (Report.betaShare(middle, a, b) < share) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
};

Report.clopperPearson = (hits, draws, confidence) => {
  const tail = (1 - confidence) / 2;
  const misses = draws - hits;
  return [
    hits <= 0 ? 0 : Report.betaPoint(tail, hits, misses + 1),
    misses <= 0 ? 1 : Report.betaPoint(1 - tail, hits + 1, misses),
  ];
};

// Two parts of draws, with the statement and without it, each as [sum of weights, its variance].
Report.ofSameVariance = (having, lacking, confidence) => {
  const [total, spread] = [having[0] + lacking[0], having[1] + lacking[1]];
  const value = having[0] / total;
  let draws = total * (total / spread);
  const deviation = having[1] * (1 - value) ** 2 + lacking[1] * value ** 2;
  if (deviation > 0) draws = Math.min(draws, value * (1 - value) * total * (total / deviation));
  return draws >= 1e-6 ? Report.clopperPearson(value * draws, draws, confidence) : [0, 1];
};

// Weighted draws: `heaviest` is [weight, variance] of the heaviest one, `mean` the mean weight. Two more as heavy count.
Report.kornGraubard = (having, lacking, heaviest, mean, confidence) => {
  if (having[1] + lacking[1] <= 0) return [0, 1];
  const excess = Math.max(1 - mean / heaviest[0], 0);
  const unseen = [2 * heaviest[0] * excess, 2 * heaviest[1] * excess ** 2];
  const more = (part) => [part[0] + unseen[0], part[1] + unseen[1]];
  const seen = Report.ofSameVariance(having, lacking, confidence);
  const [lower] = Report.ofSameVariance(having, more(lacking), confidence);
  const [, upper] = Report.ofSameVariance(more(having), lacking, confidence);
  return [Math.min(lower, seen[0]), Math.max(upper, seen[1])];
};

// The chance that a graph would not have been drawn, and that it would: the larger of the two is 1 less the other.
Report.missedOf = (repeat) => (repeat >= 0 ? repeat : 1 + repeat);
Report.drawnOf = (repeat) => (repeat >= 0 ? 1 - repeat : -repeat);

// The probability of what holds in some graphs (`held`, 1 or 0 each), as the page tells probabilities.
Report.shareOf = (all, facts, held) => {
  const { weights, repeats, count } = all;
  const { estimator, confidence, draws } = facts;
  const sums = { value: 0, hits: 0 };
  for (let graph = 0; graph < count; graph += 1) {
    if (!held[graph]) continue;
    sums.value += weights[graph];
    sums.hits += repeats[graph];
  }
  const value = Math.min(1, sums.value);
  const told = ([lower, upper], rule, sure = confidence) => {
    const ends = [Math.min(lower, value), Math.max(upper, value)];
    const [low, high] = ends.map((end) => end.toFixed(4));
    const said = `${value.toFixed(4)} [${low}, ${high}] (${rule}, ${Number((100 * sure).toPrecision(6))}%, ${draws.toLocaleString("en")} graphs; ${facts.counted})`;
    return { value, lower: ends[0], upper: ends[1], exact: false, said };
  };
  if (facts.precision !== null) return told([Math.max(0, value - facts.precision), Math.min(1, value + facts.precision)], "Hoeffding");
  if (estimator === "counting") return told(Report.clopperPearson(sums.hits, draws, confidence), "Clopper-Pearson");
  if (estimator === "chains") {
    const worth = facts.effective ?? 0;
    return told(worth > 0 ? Report.clopperPearson(value * worth, worth, confidence) : [0, 1], "effective draws");
  }
  if (estimator === "iw") return told(Report.certainInterval(value, facts), facts.covered === null ? "covered mass unknown" : "covered mass", 1);
  if (estimator === "linear-extensions") {
    const parts = Report.partsOf(all, held, (graph) => weights[graph] / repeats[graph], (graph) => weights[graph], (graph) => weights[graph] ** 2 / repeats[graph]);
    return told(Report.kornGraubard(parts.having, parts.lacking, parts.heaviest, 1 / draws, confidence), "Korn-Graubard");
  }
  if (estimator === "distinct") return told(Report.intervalBeyond(all, facts, held), "Korn-Graubard beyond the drawn graphs");
  return told([0, 1], "weights as given");
};

// The graphs with and without something: sums and variances of weights, and the heaviest of them.
Report.partsOf = ({ count }, held, single, weight, variance) => {
  const [having, lacking, heaviest] = [[0, 0], [0, 0], [0, 0]];
  for (let graph = 0; graph < count; graph += 1) {
    const part = held[graph] ? having : lacking;
    part[0] += weight(graph);
    part[1] += variance(graph);
    const own = single(graph);
    if (own > heaviest[0]) [heaviest[0], heaviest[1]] = [own, variance(graph) * (own / weight(graph)) ** 2];
  }
  return { having, lacking, heaviest };
};

// What the probability must lie between, whatever the graphs that were not found are like.
Report.certainInterval = (value, { covered }) => (covered === null ? [0, 1] : [value * covered, Math.min(1, value * covered + 1 - covered)]);

// The masses of the drawn graphs as they are, with an interval for what the others add.
Report.intervalBeyond = (all, facts, held) => {
  const { weights, repeats, count } = all;
  const { covered, confidence, total } = facts;
  const stands = (graph) => total * weights[graph];
  const missed = (graph) => Report.missedOf(repeats[graph]);
  const known = covered !== null;
  const weight = (graph) => (known ? missed(graph) : 1) * stands(graph);
  const { having, lacking, heaviest } = Report.partsOf(all, held, weight, weight, (graph) => missed(graph) * stands(graph) ** 2);
  let [lower, upper] = heaviest[0] > 0 ? Report.kornGraubard(having, lacking, heaviest, (having[0] + lacking[0]) / count, confidence) : [0, 1];
  if (!known) return [lower, upper];
  // If every graph with it, or without it, may have been drawn already, the others may have none, or all have it.
  let [chanceAll, chanceNone, mass] = [1, 1, 0];
  for (let graph = 0; graph < count; graph += 1) {
    const drawn = Report.drawnOf(repeats[graph]);
    if (held[graph]) {
      chanceAll *= drawn;
      mass += stands(graph) * drawn;
    } else {
      chanceNone *= drawn;
    }
  }
  const tail = (1 - confidence) / 2;
  if (chanceAll > tail) lower = 0;
  if (chanceNone > tail) upper = 1;
  return [mass + (1 - covered) * lower, Math.min(1, mass + (1 - covered) * upper)];
};
