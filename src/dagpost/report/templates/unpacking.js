"use strict";
// The graphs in the page, unpacked (packed_graphs.py says how they were packed). A set of variables is two words of 32
// bits, `low` and `high`.

// Whether this browser can unpack at all; those from before 2023 cannot.
Report.canUnpack = () => typeof DecompressionStream === "function";

Report.bytesOf = async (text) => {
  const letters = atob(text);
  const bytes = new Uint8Array(letters.length);
  for (let place = 0; place < letters.length; place += 1) bytes[place] = letters.charCodeAt(place);
  const plain = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new Uint8Array(await new Response(plain).arrayBuffer());
};

// Of every graph its weight, what an interval needs to know of it, and for each node the place of its row in a list; of
// every row one set for each kind: parents, those compelled by the data, with the rules, with the model.
Report.unpack = async (packed) => {
  const bytes = await Report.bytesOf(packed.data);
  const { nodes, graphs: count, kinds, rows } = packed;
  let at = 0;
  // Numbers of a few bytes each, all first bytes before all second ones, into words of `width` bytes.
  const numbers = (length, size, width) => {
    const made = new Uint8Array(length * width);
    for (let byte = 0; byte < size; byte += 1) {
      for (let place = 0; place < length; place += 1) made[place * width + byte] = bytes[at + place];
      at += length;
    }
    return made.buffer;
  };
  const weights = new Float64Array(numbers(count, 8, 8));
  const repeats = new Float32Array(numbers(count, 4, 4));
  const size = Math.ceil(nodes / 8);
  const lists = rows.map((length) => {
    const words = new Uint32Array(numbers(length * kinds, size, 8));
    return Array.from({ length: kinds }, (_, kind) => {
      const pick = (half) => Uint32Array.from({ length }, (__, row) => words[2 * (row * kinds + kind) + half]);
      return { low: pick(0), high: pick(1) };
    });
  });
  const codes = rows.map((length) => {
    if (length <= 0x100) return new Uint8Array(numbers(count, 1, 1));
    if (length <= 0x10000) return new Uint16Array(numbers(count, 2, 2));
    return new Uint32Array(numbers(count, 3, 4));
  });
  if (at !== bytes.length) throw new Error("The graphs in this file are damaged.");
  return { nodes, count, kinds, weights, repeats, lists, codes, ancestors: null };
};

// Calls `act` with each member of a set.
Report.eachOf = (low, high, act) => {
  for (let left = low; left !== 0; left &= left - 1) act(31 - Math.clz32(left & -left));
  for (let left = high; left !== 0; left &= left - 1) act(63 - Math.clz32(left & -left));
};

// The variables from which a path leads to each node of each graph: one byte for every eight variables. Made once.
Report.ancestorsIn = (all) => {
  if (all.ancestors) return all.ancestors;
  const { nodes, count, lists, codes } = all;
  const size = Math.ceil(nodes / 8);
  const made = new Uint8Array(count * nodes * size);
  const low = new Int32Array(nodes);
  const high = new Int32Array(nodes);
  const waiting = new Int32Array(nodes);
  // Parents first, as the graph before had them: much the same order fits the next one.
  const order = Int32Array.from({ length: nodes }, (_, node) => node);
  for (let graph = 0; graph < count; graph += 1) {
    let knownLow = 0;
    let knownHigh = 0;
    let left = nodes;
    let done = 0;
    waiting.set(order);
    while (left > 0) {
      let still = 0;
      for (let place = 0; place < left; place += 1) {
        const node = waiting[place];
        const row = codes[node][graph];
        let setLow = lists[node][0].low[row] | 0;
        let setHigh = lists[node][0].high[row] | 0;
        // Its parents come first.
        if ((setLow & ~knownLow) !== 0 || (setHigh & ~knownHigh) !== 0) {
          waiting[still] = node;
          still += 1;
          continue;
        }
        for (let rest = setLow; rest !== 0; rest &= rest - 1) {
          const parent = 31 - Math.clz32(rest & -rest);
          setLow |= low[parent];
          setHigh |= high[parent];
        }
        for (let rest = lists[node][0].high[row] | 0; rest !== 0; rest &= rest - 1) {
          const parent = 63 - Math.clz32(rest & -rest);
          setLow |= low[parent];
          setHigh |= high[parent];
        }
        low[node] = setLow;
        high[node] = setHigh;
        order[done] = node;
        done += 1;
        if (node < 32) knownLow |= 1 << node;
        else knownHigh |= 1 << (node - 32);
      }
      if (still === left) throw new Error("A graph in this file has a cycle.");
      left = still;
    }
    for (let node = 0; node < nodes; node += 1) {
      const start = (graph * nodes + node) * size;
      for (let byte = 0; byte < size; byte += 1) {
        made[start + byte] = byte < 4 ? low[node] >>> (8 * byte) : high[node] >>> (8 * (byte - 4));
      }
    }
  }
  all.ancestors = made;
  return made;
};
