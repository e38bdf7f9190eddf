"use strict";
// Which edges are compelled only because something is assumed: Meek's rules, graph by graph (families/essential.py has
// the same in Python). A graph is one of its own class, so a rule can only give an edge the direction that it has.

Report.closing = (nodes) => {
  const made = {};
  // Sets of each node, in two words: parents, those compelled, all joined, children by compelled edges, open neighbours.
  for (const name of ["above", "known", "joined", "below", "open"]) {
    made[name] = new Int32Array(2 * nodes);
  }
  return made;
};

Report.inSet = (sets, node, other) => (sets[2 * node + (other >> 5)] >>> (other & 31)) & 1;
Report.putIn = (sets, node, other) => { sets[2 * node + (other >> 5)] |= 1 << (other & 31); };
Report.takeOut = (sets, node, other) => { sets[2 * node + (other >> 5)] &= ~(1 << (other & 31)); };

// Whether one of the rules turns x - y into x -> y. 1: some z -> x where z is not joined to y. 2: some x -> z -> y.
// 3: x - z -> y for two z that are not joined. 4: x - w -> z -> y where w is not joined to y, and z is joined to x.
Report.follows = ({ known, joined, below, open }, x, y) => {
  const [xs, ys] = [2 * x, 2 * y];
  if ((known[xs] & ~joined[ys]) !== 0 || (known[xs + 1] & ~joined[ys + 1]) !== 0) return true;
  if ((below[xs] & known[ys]) !== 0 || (below[xs + 1] & known[ys + 1]) !== 0) return true;
  for (let half = 0; half < 2; half += 1) {
    for (let left = joined[xs + half] & known[ys + half]; left !== 0; left &= left - 1) {
      const z = 32 * half + 31 - Math.clz32(left & -left);
      const zs = 2 * z;
      if (Report.inSet(open, x, z)) {
        const low = open[xs] & known[ys] & ~joined[zs];
        const high = open[xs + 1] & known[ys + 1] & ~joined[zs + 1];
        // z is not joined to itself.
        if ((half === 0 ? low & ~(1 << z) : low) !== 0 || (half === 1 ? high & ~(1 << (z - 32)) : high) !== 0) return true;
      }
      // Known parents of z; y is none of them, for z -> y.
      if ((open[xs] & ~joined[ys] & known[zs]) !== 0 || (open[xs + 1] & ~joined[ys + 1] & known[zs + 1]) !== 0) return true;
    }
  }
  return false;
};

// Adds to the known edges of one graph all that follow.
Report.close = (sets, nodes) => {
  const { above, known, joined, below, open } = sets;
  joined.set(above);
  below.fill(0);
  for (let place = 0; place < 2 * nodes; place += 1) open[place] = above[place] & ~known[place];
  for (let child = 0; child < nodes; child += 1) {
    for (let half = 0; half < 2; half += 1) {
      for (let left = above[2 * child + half]; left !== 0; left &= left - 1) {
        const parent = 32 * half + 31 - Math.clz32(left & -left);
        Report.putIn(joined, parent, child);
        Report.putIn(Report.inSet(known, child, parent) ? below : open, parent, child);
      }
    }
  }
  for (let changed = true; changed;) {
    changed = false;
    for (let child = 0; child < nodes; child += 1) {
      for (let half = 0; half < 2; half += 1) {
        for (let left = above[2 * child + half] & ~known[2 * child + half]; left !== 0; left &= left - 1) {
          const parent = 32 * half + 31 - Math.clz32(left & -left);
          if (!Report.follows(sets, parent, child)) continue;
          Report.putIn(known, child, parent);
          Report.putIn(below, parent, child);
          Report.takeOut(open, parent, child);
          Report.takeOut(open, child, parent);
          changed = true;
        }
      }
    }
  }
};

// Moves to `by_rules`, and to `by_model`, the shares of what is compelled only with the assumptions.
Report.addAssumed = (all, facts, places, total, { settled, fixed }, shares) => {
  const { nodes, lists, codes, weights, kinds } = all;
  const before = new Set(facts.settled.map((way) => way.join(" ")));
  const ways = settled.filter((way) => !before.has(way.join(" ")));
  if (ways.length === 0) return;
  const [ruled, modelled] = [Math.min(2, kinds - 1), kinds - 1];
  const sets = Report.closing(nodes);
  const byRules = new Int32Array(2 * nodes);
  // The sets of one graph, of one kind.
  const read = (made, place, kind) => {
    for (let node = 0; node < nodes; node += 1) {
      const row = codes[node][place];
      made[2 * node] = lists[node][kind].low[row];
      made[2 * node + 1] = lists[node][kind].high[row];
    }
  };
  const has = (place, kind, [from, to]) => {
    const words = from < 32 ? lists[to][kind].low : lists[to][kind].high;
    return (words[codes[to][place]] >>> (from & 31)) & 1;
  };
  // What is compelled in one graph by edges known before and those that are settled now.
  const closed = (place, kind, more) => {
    read(sets.above, place, 0);
    read(sets.known, place, kind);
    for (const [from, to] of more) if (Report.inSet(sets.above, to, from)) Report.putIn(sets.known, to, from);
    // Parents of what was set from outside in every row are seen by no score: nothing follows from these.
    const unseen = facts.always.map((node) => [node, sets.known[2 * node], sets.known[2 * node + 1]]);
    for (const node of facts.always) {
      sets.above[2 * node] = sets.above[2 * node + 1] = sets.known[2 * node] = sets.known[2 * node + 1] = 0;
    }
    Report.close(sets, nodes);
    for (const [node, low, high] of unseen) [sets.known[2 * node], sets.known[2 * node + 1]] = [low, high];
  };
  const add = (matrix, node, low, high, share) => Report.eachOf(low, high, (parent) => { matrix[parent][node] += share; });
  for (const place of places) {
    if (!ways.some((way) => has(place, 0, way) && !has(place, ruled, way))) continue;
    const share = weights[place] / total;
    closed(place, ruled, ways);
    byRules.set(sets.known);
    if (modelled > ruled) closed(place, modelled, [...ways, ...fixed]);
    for (let node = 0; node < nodes; node += 1) {
      const row = codes[node][place];
      const [rules, model] = [lists[node][ruled], lists[node][modelled]];
      const [low, high] = [byRules[2 * node], byRules[2 * node + 1]];
      add(shares.by_rules, node, low & ~rules.low[row], high & ~rules.high[row], share);
      if (modelled === ruled) continue;
      add(shares.by_model, node, model.low[row] & ~rules.low[row], model.high[row] & ~rules.high[row], -share);
      add(shares.by_model, node, sets.known[2 * node] & ~low, sets.known[2 * node + 1] & ~high, share);
    }
  }
};
