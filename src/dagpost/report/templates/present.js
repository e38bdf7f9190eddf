"use strict";
// What is said of every pair at the moment: `Report.data.pairs` is what the page was made with, `Report.pairs` what
// holds under the present view. A pair keeps its place; pairs that the page does not list come after those it does.
{
  // Pairs that are joined less often are not worth a line.
  const LEAST = 0.001;

  const { names, pairs: listed } = Report.data;
  const key = (one, two) => Math.min(one, two) * names.length + Math.max(one, two);
  const places = new Map(listed.map(({ from, to }, place) => [key(from, to), place]));
  const ends = listed.map(({ from, to }) => [from, to]);
  const known = new WeakMap();

  let changed = new Map();

  Report.pairs = listed.slice();

  // The place of a pair, which is given one if it has none.
  Report.placeOf = (one, two) => {
    const own = key(one, two);
    if (!places.has(own)) {
      places.set(own, ends.length);
      ends.push([one, two]);
    }
    return places.get(own);
  };

  Report.pairAt = (place) => Report.pairs[place]
    ?? { from: ends[place][0], to: ends[place][1], joined: 0, word: "unknown", head: false, said: Report.data.terms.never, parts: null };

  Report.isBase = (view) => !view || Report.assumed(view) === 0;

  // All pairs under a view, by place. Without assumptions: what the page was made with, which says more.
  Report.pairsIn = (view) => {
    if (!view) return listed.slice();
    if (known.has(view)) return known.get(view);
    const base = Report.isBase(view);
    const found = base ? listed.slice() : [];
    for (let one = 0; one < names.length; one += 1) {
      const row = view.edges[one];
      for (let two = one + 1; two < names.length; two += 1) {
        const place = places.get(key(one, two));
        if (base && place < listed.length) continue;
        if (place === undefined && !(row[two] + view.edges[two][one] >= LEAST)) continue;
        // The sign and the size of an effect are those of the page, not of the view.
        found[place ?? Report.placeOf(one, two)] = Report.pairIn(view, one, two);
      }
    }
    known.set(view, found);
    return found;
  };

  // The badge beside the title: where the numbers of the picture come from. Without assumptions it says what the page was
  // made with; drawn graphs that could not be trusted then are no better under assumptions.
  const badge = Report.find("numbers-are");
  const first = badge && [badge.textContent, badge.className];

  Report.tellSource = (view) => {
    const [words, mood] = {
      exact: ["Exact probabilities", "good"],
      averaged: ["Averages over completed tables", "fair"],
      draws: view.few ? ["Too few graphs left", "poor"] : ["From drawn graphs", "fair"],
    }[view.source] ?? [];
    const known = words === undefined || (Report.isBase(view) && view.final !== false);
    const distrusted = view.source === "draws" && !view.few && first?.[1].includes("poor");
    if (badge) [badge.textContent, badge.className] = known || distrusted ? first : [words, `standing ${mood}`];
  };
  document.addEventListener("view", ({ detail }) => Report.tellSource(detail.view));

  // How many pairs are expected to be joined, of all there are.
  Report.joinedInAll = () => {
    if (Report.isBase(Report.view)) return Report.data.unlisted[1] + listed.reduce((total, { joined }) => total + joined, 0);
    return Report.view.edges.reduce((total, row) => row.reduce((sum, chance) => sum + chance, total), 0);
  };

  // What has changed between two views, by place: by how much a pair is joined more, and what was said of it. A direction
  // has changed where its mark has.
  const changesBetween = (before, after) => {
    const looks = ({ word, head, to }) => `${word} ${head ? to : ""}`;
    const found = Report.changes(before, after).filter((change) => !change.turned || looks(change.before) !== looks(change.after));
    return new Map(found.map((change) => [
      Report.placeOf(change.from, change.to), { by: change.turned ? 0 : change.joined, was: change.before },
    ]));
  };

  // What holds from now on, and what held before; null: there is nothing to compare with.
  Report.setView = (view, before) => {
    Report.view = view;
    Report.pairs = Report.pairsIn(view);
    changed = before && before !== view ? changesBetween(before, view) : new Map();
  };

  // What has become of a pair since then; null: nothing that is worth a mark.
  Report.changeAt = (place) => changed.get(place) ?? null;

  const ABOUT_EDGES = ["edge", "joined", "apart", "no-edge"];
  const assumptions = () => (Report.state?.given ?? []).filter(({ kind }) => ABOUT_EDGES.includes(kind));

  // What is assumed of an edge between two variables, as it is marked: one that is there ("edge", "joined"), or is not
  // ("apart", or "no-edge" for one direction); null: nothing.
  Report.markOf = (one, two) => {
    const own = assumptions().filter(({ from, to }) => key(from, to) === key(one, two));
    const denied = own.filter(({ kind }) => kind === "no-edge");
    if (own.some(({ kind }) => kind === "apart") || new Set(denied.map(({ to }) => to)).size === 2) return { kind: "apart" };
    return own.find(({ kind }) => kind === "edge") ?? own.find(({ kind }) => kind === "joined") ?? denied[0] ?? null;
  };

  // The places of all pairs of which something is assumed.
  Report.assumedPlaces = () => new Set(assumptions().map(({ from, to }) => Report.placeOf(from, to)));
}
