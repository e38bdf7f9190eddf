"use strict";
// Which edges are compelled only because something is assumed: Meek's rules, graph by graph (families/essential.py has
// them in Python). A graph is one of its own class, so a rule can only give an edge the direction that it has.
//
// Only what follows from the edges that are assumed is looked for, from edge to edge: few are open, and fewer follow.

// For every node of every graph, in words of 32 bits: all variables joined to it, and those joined by an edge that is open,
// given what is compelled by one of the kinds. Parents of what was set from outside in every row are not seen by any
// score: such edges are left out, for nothing follows from them. Made once.
Report.neighboursIn = (all, facts, kind) => {
  all.neighbours ??= [];
  if (all.neighbours[kind]) return all.neighbours[kind];
  const { nodes, count, lists, codes } = all;
  const halves = nodes > 32 ? 2 : 1;
  const joined = new Int32Array(count * nodes * halves);
  const open = new Int32Array(count * nodes * halves);
  const unseen = new Set(facts.always);
  for (let node = 0; node < nodes; node += 1) {
    if (unseen.has(node)) continue;
    const [parents, known, own] = [lists[node][0], lists[node][kind], codes[node]];
    const [half, bit] = [node >> 5, 1 << (node & 31)];
    for (let graph = 0; graph < count; graph += 1) {
      const row = own[graph];
      const start = graph * nodes * halves;
      for (let word = 0; word < halves; word += 1) {
        const above = word === 0 ? parents.low[row] : parents.high[row];
        const opened = above & ~(word === 0 ? known.low[row] : known.high[row]);
        joined[start + node * halves + word] |= above;
        open[start + node * halves + word] |= opened;
        for (let left = above; left !== 0; left &= left - 1) {
          const lowest = left & -left;
          const place = start + (32 * word + 31 - Math.clz32(lowest)) * halves + half;
          joined[place] |= bit;
          if ((opened & lowest) !== 0) open[place] |= bit;
        }
      }
    }
  }
  all.neighbours[kind] = { joined, open };
  return all.neighbours[kind];
};

// A function that follows Meek's rules: takes a graph and edges that are open in it and become known, each as
// parent * nodes + child; gives how many become known in all, and holds these in `found`.
Report.follower = (all, facts, kind) => {
  const { nodes, lists, codes } = all;
  const neighbours = Report.neighboursIn(all, facts, kind);
  const halves = nodes > 32 ? 2 : 1;
  const size = nodes * halves;
  const joined = new Int32Array(size);
  const open = new Int32Array(size);
  const found = new Int32Array(nodes * nodes);
  const unseen = new Uint8Array(nodes);
  for (const node of facts.always) unseen[node] = 1;
  let graph = 0;
  let count = 0;
  // Words of the sets of parents and children by known edges.
  const above = (node, half) => {
    if (unseen[node]) return 0;
    const set = lists[node][0];
    return (half === 0 ? set.low : set.high)[codes[node][graph]] | 0;
  };
  const known = (node, half) => above(node, half) & ~open[node * halves + half];
  const below = (node, half) => joined[node * halves + half] & ~above(node, half) & ~open[node * halves + half];
  const has = (sets, node, other) => ((sets[node * halves + (other >> 5)] >>> (other & 31)) & 1) === 1;
  const direct = (parent, child) => {
    if (!has(open, child, parent)) return;
    open[child * halves + (parent >> 5)] &= ~(1 << (parent & 31));
    open[parent * halves + (child >> 5)] &= ~(1 << (child & 31));
    found[count] = parent * nodes + child;
    count += 1;
  };
  // All that follows at once from u -> v; words are read before they change, since sets only shrink.
  const follow = (u, v) => {
    const [us, vs] = [u * halves, v * halves];
    for (let half = 0; half < halves; half += 1) {
      const at = (left) => 32 * half + 31 - Math.clz32(left & -left);
      // 1: v -> w where w is not joined to u.
      const self = u >> 5 === half ? 1 << (u & 31) : 0;
      for (let left = open[vs + half] & ~joined[us + half] & ~self; left !== 0; left &= left - 1) direct(v, at(left));
      // 2: u -> v -> w, and w -> u -> v.
      for (let left = open[us + half] & below(v, half); left !== 0; left &= left - 1) direct(u, at(left));
      for (let left = open[vs + half] & known(u, half); left !== 0; left &= left - 1) direct(at(left), v);
      // 3: x - u -> v and x - z -> v where u and z are not joined.
      for (let left = open[us + half] & open[vs + half]; left !== 0; left &= left - 1) {
        const x = at(left);
        for (let other = 0; other < halves; other += 1) {
          const own = u >> 5 === other ? 1 << (u & 31) : 0;
          if ((known(v, other) & open[x * halves + other] & ~joined[us + other] & ~own) !== 0) {
            direct(x, v);
            break;
          }
        }
      }
      // 4: x - w -> z -> y where w is not joined to y, and z is joined to x: once u -> v is w -> z, once it is z -> y.
      for (let left = below(v, half) & ~joined[us + half]; left !== 0; left &= left - 1) {
        const y = at(left);
        for (let other = 0; other < halves; other += 1) {
          let both = open[us + other] & open[y * halves + other] & joined[vs + other];
          for (; both !== 0; both &= both - 1) direct(32 * other + 31 - Math.clz32(both & -both), y);
        }
      }
      for (let left = known(u, half) & ~joined[vs + half]; left !== 0; left &= left - 1) {
        const w = at(left);
        for (let other = 0; other < halves; other += 1) {
          let both = open[w * halves + other] & open[vs + other] & joined[us + other];
          for (; both !== 0; both &= both - 1) direct(32 * other + 31 - Math.clz32(both & -both), v);
        }
      }
    }
  };
  const run = (place, ways) => {
    graph = place;
    count = 0;
    const start = place * size;
    for (let word = 0; word < size; word += 1) {
      joined[word] = neighbours.joined[start + word];
      open[word] = neighbours.open[start + word];
    }
    for (const way of ways) direct(Math.floor(way / nodes), way % nodes);
    for (let next = 0; next < count; next += 1) follow(Math.floor(found[next] / nodes), found[next] % nodes);
    return count;
  };
  return { run, found };
};

// Moves to `by_rules`, and to `by_model`, the shares of what is compelled only with the assumptions.
Report.addAssumed = (all, facts, places, total, { settled }, shares) => {
  const { nodes, lists, codes, weights, kinds } = all;
  const before = new Set(facts.settled.map((way) => way.join(" ")));
  const ways = settled.filter((way) => !before.has(way.join(" ")));
  if (ways.length === 0) return;
  const [ruled, modelled] = [Math.min(2, kinds - 1), kinds - 1];
  const followers = [ruled, modelled].map((kind) => Report.follower(all, facts, kind));
  const [byRules, byModel] = [new Float64Array(nodes * nodes), new Float64Array(nodes * nodes)];
  const holds = (kind, from, to, place) => {
    const set = lists[to][kind];
    return ((from < 32 ? set.low : set.high)[codes[to][place]] >>> (from & 31)) & 1;
  };
  const unseen = new Set(facts.always);
  const inRules = new Uint8Array(nodes * nodes);
  const seeds = [];
  for (let order = 0; order < places.length; order += 1) {
    const place = places[order];
    const weight = weights[place];
    seeds.length = 0;
    for (const [from, to] of ways) {
      if (!holds(0, from, to, place) || holds(ruled, from, to, place)) continue;
      if (unseen.has(to)) {
        byRules[from * nodes + to] += weight;
        byModel[from * nodes + to] -= holds(modelled, from, to, place) * weight;
      } else {
        seeds.push(from * nodes + to);
      }
    }
    if (seeds.length === 0) continue;
    const [{ run, found }, model] = followers;
    const count = run(place, seeds);
    for (let next = 0; next < count; next += 1) byRules[found[next]] += weight;
    if (modelled === ruled) continue;
    // What followed from the model before now follows from rules; what follows from both is added to the model's.
    for (let next = 0; next < count; next += 1) {
      const way = found[next];
      inRules[way] = 1;
      byModel[way] -= holds(modelled, Math.floor(way / nodes), way % nodes, place) * weight;
    }
    const more = model.run(place, seeds);
    for (let next = 0; next < more; next += 1) byModel[model.found[next]] += inRules[model.found[next]] ? 0 : weight;
    for (let next = 0; next < count; next += 1) inRules[found[next]] = 0;
  }
  for (let way = 0; way < nodes * nodes; way += 1) {
    const [from, to] = [Math.floor(way / nodes), way % nodes];
    shares.by_rules[from][to] += byRules[way] / total;
    shares.by_model[from][to] += byModel[way] / total;
  }
};
