"""What do answers cost now, beside another version of dagpost? Both in turn, each time in a process of its own.

    python -m benchmarks.before_after OTHER/src [--runs 5] [--quick]

OTHER is a checkout of another commit (`git worktree add OTHER COMMIT`). Asked are a model of levels and one of numbers:
log probabilities of rows, a column of new rows, a value, an effect with its parts, all effects. Every process fits the
model, asks each question once to load kernels, and then measures CPU seconds. Shown are the medians, their ratio (now
over then), and the peak memory of the processes.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
from pathlib import Path
from statistics import median

from benchmarks.world_measures import table_text

HERE = Path(__file__).resolve().parents[1] / "src"
#: What a process does; it prints CPU seconds by question, and peak memory.
PROGRAM = """
import json, resource, sys, time, warnings
import numpy as np, pandas as pd
from dagpost import DagPosterior
warnings.simplefilter("ignore")
kind, times = sys.argv[1], int(sys.argv[2])
rng = np.random.default_rng(1)
columns = {}
for number in range(10):
    parents = [own for own in columns if rng.random() < 0.3]
    columns[f"c{number}"] = sum((0.6 * columns[own] for own in parents), rng.normal(size=1000))
frame = pd.DataFrame(columns)
if kind == "levels":
    frame = pd.DataFrame({name: np.digitize(own, [-0.5, 0.7]).astype(str) for name, own in frame.items()})
model = DagPosterior("bdeu" if kind == "levels" else "bge", seed=1, threads=1, samples=2000, progress=False).fit(frame)
level = "2" if kind == "levels" else 1.0
target = "c9"
asked = {
    "rows": lambda: model.score_samples(frame),
    "column": lambda: model.predict_proba(frame, target=target) if kind == "levels"
              else model.predict_number(frame[:200], target=target),
    "value": lambda: model.value(target, {"c2": level}, seed=1),
    "effect": lambda: model.effect("c0", target, seed=1, draws=2000),
    "all effects": lambda: model.effects(draws=200, seed=1),
}
found = {}
for name, ask in asked.items():
    ask()
    start = time.process_time()
    for _ in range(times):
        ask()
    found[name] = (time.process_time() - start) / times
found["memory"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps(found))
"""


def measured(source: Path, kind: str, times: int) -> dict[str, float]:
    """What one process says."""
    environment = {**os.environ, "PYTHONPATH": str(source), "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-c", PROGRAM, kind, str(times)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.before_after", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("other", nargs="?", type=Path, default=HERE, help="the other version's src")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--times", type=int, default=3, help="of each question in a process")
    parser.add_argument("--quick", action="store_true", help="one run beside itself")
    options = parser.parse_args()
    if options.quick:
        options.runs = options.times = 1
    lines = []
    for kind in ("levels", "numbers"):
        runs = [
            (measured(options.other, kind, options.times), measured(HERE, kind, options.times))
            for _ in range(options.runs)
        ]
        for name in runs[0][0]:
            before, now = (median(run[side][name] for run in runs) for side in (0, 1))
            unit = "MB" if name == "memory" else "CPU s"
            lines.append([kind, name, unit, f"{before:.4g}", f"{now:.4g}", f"{now / before:.2f}"])
    print(table_text(("columns", "asked", "", "other", "now", "ratio"), lines))
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"\nCPU seconds of all processes: {used.ru_utime + used.ru_stime:.0f}")


if __name__ == "__main__":
    main()
