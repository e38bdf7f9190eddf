"""What one effect, and all of them, take: CPU time and memory, 20 columns and 30,000 graphs, from a model file.

    python -m benchmarks.effects [--kinds levels numbers both latent] [--columns 20] [--graphs 30000]

Tables of 1,000 rows from a random network with two parents on average; levels are cut at thirds. Each kind runs in a
process of its own: the model is fitted and saved, and another process loads it, asks once for the kernels to be there,
and is measured: one effect with its parts through all other columns (10,000 draws), the same given a statement, two
causes at once, and all effects (2,000 draws). CPU seconds of all threads; the peak of memory of the process so far.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from dagpost import DagPosterior, edge

SEED, ROWS = 2042, 1_000
SCORES = {"levels": "bdeu", "numbers": "bge", "both": "conditional-gaussian", "latent": "latent-gaussian"}


def frame_of(kind: str, columns: int) -> pd.DataFrame:
    """A linear network; its numbers, or what they are cut into, or the first half cut."""
    rng = np.random.default_rng(SEED)
    slopes = np.triu(rng.random((columns, columns)) < 4.0 / (columns - 1), k=1) * rng.uniform(0.3, 0.8, (columns,) * 2)
    data = np.zeros((ROWS, columns))
    for column in range(columns):
        data[:, column] = data @ slopes[:, column] + rng.standard_normal(ROWS)
    frame = pd.DataFrame(data, columns=[f"V{column:02}" for column in range(columns)])
    cut = {"levels": columns, "numbers": 0}.get(kind, columns // 2)
    for name in frame.columns[:cut]:
        frame[name] = pd.qcut(frame[name], 3, labels=["low", "mid", "high"])
    return frame


def fit(kind: str, columns: int, graphs: int, path: Path) -> None:
    """Fit and save, with at most three parents."""
    model = DagPosterior(SCORES[kind], prior="uniform", max_parents=3, samples=graphs, seed=1, progress=False)
    model.fit(frame_of(kind, columns)).save(path)


def measured(work: Callable[[], Any]) -> tuple[float, float]:
    """CPU seconds, and the peak of memory in MB."""
    start = time.process_time()
    work()
    return time.process_time() - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def ask(path: Path) -> dict[str, tuple[float, float]]:
    """Each question twice, the second time measured; the first makes kernels and what the model remembers."""
    model = DagPosterior.load(path)
    first, last, other = model.names_[0], model.names_[-1], model.names_[1]
    found = {
        "loading": measured(lambda: None),
        "first effect of a loaded model": measured(lambda: model.effect(first, last, seed=1)),
    }
    questions: dict[str, Callable[[], Any]] = {
        "one effect": lambda: model.effect(first, last, seed=2),
        "given a statement": lambda: model.effect(first, last, given=~edge(first, other), seed=2),
        "two causes": lambda: model.effect([first, other], last, seed=2),
        "all effects": lambda: model.effects(seed=2),
    }
    for title, question in questions.items():
        question()
        found[title] = measured(question)
    return found


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kinds", nargs="+", choices=[*SCORES], default=[*SCORES])
    parser.add_argument("--columns", type=int, default=20)
    parser.add_argument("--graphs", type=int, default=30_000)
    parser.add_argument("--ask", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.ask:
        print(json.dumps(ask(options.ask)))
        return
    for kind in options.kinds:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.dagpost"
            start = time.process_time()
            fit(kind, options.columns, options.graphs, path)
            print(f"{kind}: fitted in {time.process_time() - start:.1f} CPU s, {path.stat().st_size / 1e6:.1f} MB")
            command = [sys.executable, "-m", "benchmarks.effects", "--ask", str(path)]
            done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
        for title, (seconds, memory) in json.loads(done.stdout.splitlines()[-1]).items():
            print(f"    {title:<32}{seconds:>7.2f} CPU s{memory:>8.0f} MB", flush=True)


if __name__ == "__main__":
    main()
