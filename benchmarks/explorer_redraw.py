"""How long does the explorer take from a click to the redrawn picture, seen from the browser?

    python -m benchmarks.explorer_redraw [--clicks 9] [--columns 14 18 40]

Real Chromium, the real server. Each click assumes one edge of a line that is shown, from the state without assumptions,
so that nothing is remembered from an earlier click. Two times: until the first picture (mostly from the drawn graphs,
which the page has itself), and until the picture that will not get better (exact up to 18 columns; 40 columns have
draws only). A picture counts when the browser has painted it. Medians of all clicks, in milliseconds.
"""

from __future__ import annotations

import argparse
import shutil
import statistics

import numpy as np
import pandas as pd

from dagpost import DagPosterior

_PROGRAMS = ("chromium", "chromium-browser", "google-chrome")

#: Clicks a line and waits for its pictures.
_CLICK = """
async ([from, to]) => {
  const seen = [];
  const began = performance.now();
  const painted = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 0)));
  const note = async ({ detail: { view } }) => {
    await painted();
    seen.push([performance.now() - began, view.source, view.final !== false]);
  };
  document.addEventListener("view", note);
  Report.assume({ kind: "edge", from, to });
  while (Report.progress.asking) await new Promise((done) => setTimeout(done, 2));
  await painted();
  await painted();
  document.removeEventListener("view", note);
  const kept = seen.slice();
  Report.reset();
  while (Report.progress.asking) await new Promise((done) => setTimeout(done, 2));
  await painted();
  return kept;
}
"""


def main() -> None:
    """Print a row for each table."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--clicks", type=int, default=9)
    options.add_argument("--columns", type=int, nargs="*", default=[14, 18, 40])
    options.add_argument(
        "--averaged", action="store_true", help="average over sizes and densities, as the default does (slower)"
    )
    asked = options.parse_args()
    print(f"{'columns':>7}  {'first picture':>13}  {'from':>8}  {'last picture':>12}  {'from':>8}  clicks")
    for columns in asked.columns:
        times = _clicked(_model(columns, averaged=asked.averaged), asked.clicks)
        first = statistics.median(own[0][0] for own in times)
        last = statistics.median(own[-1][0] for own in times)
        sources = times[0][0][1], times[0][-1][1]
        print(f"{columns:>7}  {first:>10.0f} ms  {sources[0]:>8}  {last:>9.0f} ms  {sources[1]:>8}  {len(times)}")


def _model(columns: int, *, averaged: bool) -> DagPosterior:
    """A network in which every column has up to two parents: levels, or numbers where there are too many for sums."""
    random, rows = np.random.default_rng(columns), 300
    values = np.zeros((rows, columns))
    for column in range(columns):
        values[:, column] = random.normal(size=rows)
        for parent in random.permutation(column)[:2]:
            values[:, column] += random.uniform(0.5, 1.0) * random.choice([-1, 1]) * values[:, parent]
    table = pd.DataFrame(values, columns=[f"v{column:02d}" for column in range(columns)])
    if columns > 20:
        return DagPosterior(score="bge", seed=1).fit(table)
    levels = (table > table.median()).astype(int).astype(str)
    return (DagPosterior(seed=1) if averaged else DagPosterior(score="bdeu", prior="uniform", seed=1)).fit(levels)


def _clicked(model: DagPosterior, clicks: int) -> list[list[tuple[float, str, bool]]]:
    from playwright.sync_api import sync_playwright

    program = next(filter(None, map(shutil.which, _PROGRAMS)), None)
    with model.explore(open_browser=False) as explorer, sync_playwright() as running:
        browser = running.chromium.launch(executable_path=program, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.goto(explorer.address)
        page.wait_for_function("() => Report.view !== null && !Report.progress.asking", timeout=120_000)
        page.evaluate("() => Report.draws?.ready")
        pairs = page.evaluate(
            "() => Report.shownLines().map(Report.pairOf).map(({ from, to }) => [from, to])"
            ".filter(([from, to]) => Report.view.edges[from][to] > 0.02 && Report.view.edges[from][to] < 0.98)"
        )
        # The first click warms up what is compiled on demand.
        found = [page.evaluate(_CLICK, pair) for pair in pairs[: clicks + 1]][1:]
        browser.close()
    return found


if __name__ == "__main__":
    main()
