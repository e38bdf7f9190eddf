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

// The regularised incomplete gamma function: by its series, or by the continued fraction of the rest.
Report.gammaShare = (x, a) => {
  if (x <= 0) return 0;
  const front = Math.exp(a * Math.log(x) - x - Report.logGamma(a));
  if (x < a + 1) {
    let [term, sum] = [1 / a, 1 / a];
    for (let step = 1; step < 10000 && term > 1e-16 * sum; step += 1) sum += term *= x / (a + step);
    return front * sum;
  }
  let b = x + 1 - a;
  let [c, d] = [1e300, 1 / b];
  let product = d;
  for (let step = 1; step < 10000; step += 1) {
    const part = step * (a - step);
    b += 2;
    d = 1 / (part * d + b || 1e-300);
    c = b + part / c || 1e-300;
    product *= d * c;
    if (Math.abs(d * c - 1) < 1e-15) break;
  }
  return 1 - front * product;
};

Report.gammaPoint = (share, a) => {
  let [low, high] = [0, 2 * a + 40];
  for (let step = 0; step < 100 && high - low > 1e-14 * high; step += 1) {
    const middle = (low + high) / 2;
    if (Report.gammaShare(middle, a) < share) low = middle;
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
  let value = Math.min(1, sums.value);
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
    const draw = (graph) => weights[graph] / repeats[graph];
    const parts = Report.partsOf(all, held, {
      weight: (graph) => weights[graph], variance: (graph) => weights[graph] * draw(graph), draw, spread: (graph) => draw(graph) ** 2,
    });
    return told(Report.kornGraubard(parts.having, parts.lacking, parts.heaviest, 1 / draws, confidence), "Korn-Graubard");
  }
  if (estimator === "distinct") {
    const { ends, certain } = Report.intervalBeyond(all, facts, held);
    // A share of drawn graphs may contradict what their masses prove.
    value = Math.min(Math.max(value, certain[0]), certain[1]);
    return told(ends, "Korn-Graubard beyond the drawn graphs");
  }
  return told([0, 1], "weights as given");
};

// The graphs with and without something: sums and variances of weights, and both for the heaviest single draw.
Report.partsOf = ({ count }, held, { weight, variance, draw, spread }) => {
  const [having, lacking, heaviest] = [[0, 0], [0, 0], [0, 0]];
  for (let graph = 0; graph < count; graph += 1) {
    const part = held[graph] ? having : lacking;
    part[0] += weight(graph);
    part[1] += variance(graph);
    if (draw(graph) > heaviest[0]) [heaviest[0], heaviest[1]] = [draw(graph), spread(graph)];
  }
  return { having, lacking, heaviest };
};

// What the probability must lie between, whatever the graphs that were not found are like.
Report.certainInterval = (value, { covered }) => (covered === null ? [0, 1] : [value * covered, Math.min(1, value * covered + 1 - covered)]);

// The masses of the drawn graphs as they are, with an interval for what the others add. Unless the mass of the others is
// known there are two unknowns, that mass and the share in it, which takes four fifths of the risk.
Report.intervalBeyond = (all, facts, held) => {
  const { weights, repeats, count } = all;
  const { covered, confidence, total } = facts;
  const stands = (graph) => total * weights[graph];
  const missed = (graph) => Report.missedOf(repeats[graph]);
  const weight = (graph) => missed(graph) * stands(graph);
  const variance = (graph) => missed(graph) * stands(graph) ** 2;
  const parts = Report.partsOf(all, held, { weight, variance, draw: weight, spread: variance });
  const { having, lacking, heaviest } = parts;
  // The chance that all graphs with it, or all without it, have been drawn; and what each kind weighs.
  const [chances, masses] = [[1, 1], [0, 0]];
  for (let graph = 0; graph < count; graph += 1) {
    const drawn = Report.drawnOf(repeats[graph]);
    const kind = held[graph] ? 0 : 1;
    chances[kind] *= drawn;
    masses[kind] += stands(graph) * drawn;
  }
  const risk = 1 - confidence;
  const sure = covered === null ? 1 - 0.8 * risk : confidence;
  const mean = (having[0] + lacking[0]) / count;
  const [lowest, highest] = heaviest[0] > 0 ? Report.kornGraubard(having, lacking, heaviest, mean, sure) : [0, 1];
  // If there may be no graphs with it, or without it, but those that were drawn, the others may all be alike.
  const tail = (1 - sure) / 2;
  const shares = [chances[0] > tail ? 0 : lowest, chances[1] > tail ? 1 : highest];
  const left = covered === null ? Report.massBeyond(facts, having, lacking, chances[0] * chances[1]) : [1 - covered, 1 - covered];
  const whole = covered === null ? masses[0] + masses[1] : covered;
  const at = (share, mass) => (masses[0] + mass * share) / (whole + mass);
  return {
    ends: [Math.min(...left.map((mass) => at(shares[0], mass))), Math.min(1, Math.max(...left.map((mass) => at(shares[1], mass))))],
    certain: covered === null ? [0, 1] : [at(0, left[0]), Math.min(1, at(1, left[0]))],
  };
};

// Interval of the mass of the graphs that were not drawn: Garwood's, for as many counts as have its variance.
Report.massBeyond = ({ confidence, left }, having, lacking, chance) => {
  const [sum, spread] = [having[0] + lacking[0], having[1] + lacking[1]];
  const most = left ?? Infinity;
  const counts = spread > 0 ? sum * (sum / spread) : 0;
  if (counts < 1e-6) return [0, most];
  const tail = (0.2 * (1 - confidence)) / 2;
  const lower = (sum * Report.gammaPoint(tail, counts)) / counts;
  const upper = (sum * Report.gammaPoint(1 - tail, counts + 1)) / counts;
  return [chance > tail ? 0 : Math.min(lower, most), Math.min(upper, most)];
};
