"""What does it cost that a report can be asked "what if", without any server: its size, and the time of a click?

    python -m benchmarks.offline_report [--columns 14 20 40] [--draws 30000] [--clicks 15]

Tables of 300 rows of two levels with weak edges (`explorer_views.frame_of`), so that the drawn graphs are nearly all
different: the largest files, the most work. Up to 20 columns exact, beyond by chains. Printed: the size of the file and
the part of it that is graphs; the time to unpack these, once; the time to compute all numbers after a click on a line
(`Report.draws.view`); and the time from the click until the browser has painted the new picture. Medians in
milliseconds, and the fastest of all, which says more on a busy machine. The first click of a page is told apart.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import tempfile
import warnings
from pathlib import Path
from typing import Any

from benchmarks.explorer_views import frame_of

from dagpost import DagPosterior

_PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
#: Unpacks the graphs of the page again.
_UNPACK = """async () => {
    const began = performance.now();
    await Report.unpack(Report.data.graphs);
    return performance.now() - began;
}"""
#: Clicks on lines that are neither certain nor rare, each from the state without assumptions: computing, and painted.
_CLICKS = """async (clicks) => {
    const painted = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 0)));
    const { edges } = Report.baseView;
    const ways = edges.flatMap((row, from) => row.map((share, to) => [Math.abs(share - 0.5), from, to]));
    const found = [];
    for (const [, from, to] of ways.sort((one, two) => one[0] - two[0]).slice(0, clicks)) {
        const began = performance.now();
        Report.assume({ kind: "edge", from, to });
        while (Report.progress.asking) await Promise.resolve();
        await painted();
        const seen = performance.now() - began;
        const { left, worth } = Report.view.graphs;
        const start = performance.now();
        Report.draws.view(Report.state);
        found.push([performance.now() - start, seen, left, worth]);
        Report.reset();
        await painted();
    }
    return found;
}"""


def main() -> None:
    """Print a row for each table."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--columns", type=int, nargs="*", default=[14, 20, 40])
    options.add_argument("--draws", type=int, default=30_000)
    options.add_argument("--clicks", type=int, default=15)
    asked = options.parse_args()
    print("columns  draws  different  file KB  graphs KB  unpack ms  numbers ms (fastest)  click ms (fastest, first)")
    with tempfile.TemporaryDirectory() as folder:
        for columns in asked.columns:
            path = Path(folder) / f"{columns}.html"
            _model(columns, asked.draws).report(path)
            print(_row(columns, path, asked.clicks), flush=True)


def _model(columns: int, draws: int) -> DagPosterior:
    settings: dict[str, Any] = {"method": "block-gibbs"} if columns > 20 else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = DagPosterior(
            "bdeu", max_parents=4, samples=draws, seed=1, progress=False, **{"prior": "uniform", **settings}
        )
        model.fit(frame_of(columns)).own_sample()
    return model


def _row(columns: int, path: Path, clicks: int) -> str:
    from playwright.sync_api import sync_playwright

    program = next(filter(None, map(shutil.which, _PROGRAMS)), None)
    with sync_playwright() as running:
        browser = running.chromium.launch(executable_path=program, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.goto(path.as_uri())
        page.evaluate("() => Report.draws.ready")
        page.wait_for_timeout(1_000)
        facts = page.evaluate("(({ draws, graphs, data }) => [draws, graphs, data.length])(Report.data.graphs)")
        found = page.evaluate(_CLICKS, clicks)
        unpacked = statistics.median(page.evaluate(_UNPACK) for _ in range(5))
        browser.close()
    draws, different, size = facts
    sizes = f"{path.stat().st_size / 1e3:>7.0f}  {size / 1e3:>9.0f}"
    first, (numbers, painted) = found[0][1], ([own[place] for own in found[1:]] for place in (0, 1))
    return (
        f"{columns:>7}  {draws:>5}  {different:>9}  {sizes}  {unpacked:>9.0f}"
        f"  {statistics.median(numbers):>10.0f} ({min(numbers):.0f})"
        f"  {statistics.median(painted):>15.0f} ({min(painted):.0f}, {first:.0f})"
    )


if __name__ == "__main__":
    main()
