"""How long does a whole job take, from the start of the process to the sample? One thread, warm caches.

    python -m benchmarks.end_to_end                     # this tree
    python -m benchmarks.end_to_end --before OLD/src    # and another one, in turns, with the ratio

The jobs are those for which He, Tian & Wu (2016) give times: DDS on child (m = 100), 20,000 graphs, and IW-DDS on
german and tumor, 30,000 graphs (their data cases beside the project; without them, tables of the same size from a fixed
seed). Wall time on a shared machine is noisy, so the processor time of the process stands beside it, and the best of
some runs is taken of both.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from benchmarks.measuring import SHARED

SOURCE = Path(__file__).resolve().parents[1] / "src"

#: Name, columns, rows and levels of a stand-in, modularity, method, graphs.
JOBS = (
    ("child_m100", 20, 100, 3, "order", "dds", 20_000),
    ("german", 21, 1000, 3, "structure", "iw-dds", 30_000),
    ("tumor", 18, 339, 3, "structure", "iw-dds", 30_000),
)

JOB = """
import sys
from dagpost import DagPosterior
path, modularity, method, graphs = sys.argv[1:]
model = DagPosterior(score="bdeu", modularity=modularity, method=method, threads=1, progress=False).fit(path)
sample = model.sample(int(graphs), seed=1)
print(float(sample.weights.sum()), len(sample))
"""


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--before", type=Path, help="folder of another source tree to compare with")
    parser.add_argument("--runs", type=int, default=3, help="of which the best is taken")
    options = parser.parse_args()
    trees = {"now": SOURCE, **({} if options.before is None else {"before": options.before})}
    print(f"{'job':28} {'tree':8} {'wall':>8} {'processor':>10}")
    with tempfile.TemporaryDirectory() as folder:
        for name, *size, modularity, method, graphs in JOBS:
            table = _table(name, *size, Path(folder))
            best = dict.fromkeys(trees, (np.inf, np.inf))
            # The first run compiles and warms the caches; trees take turns, so that both meet the same load.
            for turn in range(options.runs + 1):
                for label, tree in trees.items():
                    seconds = _run(tree, [str(table), modularity, method, str(graphs)])
                    if turn:
                        best[label] = tuple(min(pair) for pair in zip(best[label], seconds, strict=True))
            for label, (wall, processor) in best.items():
                print(f"{f'{method}, {name}, {graphs:,}':28} {label:8} {wall:6.2f} s {processor:8.2f} s")
            if len(trees) > 1:
                print(f"{'':28} {'ratio':8} {best['before'][0] / best['now'][0]:8.2f}")


def _table(name: str, columns: int, rows: int, levels: int, folder: Path) -> Path:
    file = SHARED / f"{name}.csv"
    if file.is_file():
        return file
    print(f"{name} is not there: a table of its size from a fixed seed instead")
    cells = np.random.default_rng(1).integers(0, levels, (rows, columns))
    stand_in = folder / f"{name}.csv"
    np.savetxt(stand_in, cells, fmt="%d", delimiter=",", header=",".join(f"V{i}" for i in range(columns)), comments="")
    return stand_in


def _run(tree: Path, arguments: list[str]) -> tuple[float, float]:
    """Seconds on the clock and on the processor of one process."""
    import resource
    import time

    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    environment = {**os.environ, "PYTHONPATH": str(tree)}
    subprocess.run(
        [sys.executable, "-W", "ignore", "-c", JOB, *arguments], check=True, env=environment, capture_output=True
    )
    wall, after = time.perf_counter() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    main()
