"""How near block chains come to the posterior, and how soon: against Gibby on its own tables, and against exact sums.

    python -m benchmarks.block_gibbs gibby [--data child ins] [--runs 3] [--seconds 120] [--rival PROGRAM]
    python -m benchmarks.block_gibbs truth --data child ins [--engine cuda]
    python -m benchmarks.block_gibbs exact
    python -m benchmarks.block_gibbs speed [--data child alarm hail path andes pigs]
    python -m benchmarks.block_gibbs gibby --seconds 10 --settings '{"block_size": 6}' '{"block_size": 8}'

- gibby: independent runs of one chain, each on one thread, on the tables that come with Gibby; how far runs are from
  each other ("between": mean over pairs of runs of the largest difference of an edge; "mean": of the mean difference)
  and from the exact edges ("truth": largest difference, worst run), where `truth` has computed them. Two estimates:
  the edges of the graphs drawn, and those expected given the rest of the graph. Times are CPU seconds of sampling.
  With `--settings`, once for each choice of settings.
- exact: the usual sample of `BlockGibbs()` against exact sums over all graphs, edges and paths.
- speed: blocks and sweeps a second, microseconds a block by the most variables it may have, memory, time to get ready.

Plans are held against block chains in `benchmarks.plans --only block-gibbs`.

BDeu with an equivalent sample size of 1, at most 5 parents. Up to 64 columns all graphs are equally likely beforehand;
beyond, each edge divides the weight of a graph by the number of columns, as in Gibby's own experiments (`--prior`).
"""

from __future__ import annotations

import argparse
import itertools
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.measuring import CORES, SHARED

if TYPE_CHECKING:
    from benchmarks.block_gibbs_runs import Snapshots

GIBBY_DATA = ("child", "ins", "alarm", "hail", "path", "andes", "pigs")
PAPER_DATA = ("child_m500", "tumor", "zoo", "german", "letter_m1000")
#: What a run of a table needs, in GB.
GIGABYTES = {"hail": 1.5, "path": 2.0, "andes": 3.0, "pigs": 4.0}
GOALS = (0.05, 0.01)


def ask(request: dict[str, Any]) -> dict[str, Any]:
    """One run in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.block_gibbs_runs", json.dumps(request)]
    process = subprocess.run(command, capture_output=True, text=True, check=False)
    if process.returncode != 0:
        sys.exit(f"{request} failed:\n{process.stderr}")
    found: dict[str, Any] = json.loads(process.stdout.splitlines()[-1])
    return found


def there_is(data: Sequence[str]) -> list[str]:
    """The tables that are there; says which are not."""
    from benchmarks.block_gibbs_runs import GIBBY

    missing = [name for name in data if not (GIBBY / f"{name}1k.dat").exists()]
    if missing:
        print(f"Skipped, since they are not in {GIBBY}: {', '.join(missing)}")
    return [name for name in data if name not in missing]


def measure_gibby(options: argparse.Namespace) -> None:
    """Independent runs, ours and of a rival, and a row for each table and kind of run."""
    kinds: list[dict[str, Any]] = [
        {"what": "chain", "settings": json.loads(text)} for text in options.settings or ["{}"]
    ]
    if options.rival:
        kinds.append({"what": "rival", "rival": str(Path(options.rival).resolve())})
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(workers_of(options)) as pool:
        waiting = []
        # The largest tables first: they take longest to get ready.
        for data, kind in itertools.product(there_is(options.data)[::-1], range(len(kinds))):
            files = [Path(folder) / f"{data}-{kind}-{run}.npz" for run in range(options.runs)]
            asked = [
                {**kinds[kind], "data": data, "seed": run + options.seed, "file": str(file)}
                | {"seconds": options.seconds, "prior": options.prior}
                for run, file in enumerate(files)
            ]
            waiting.append((data, kinds[kind], files, [pool.submit(ask, one) for one in asked]))
        shown = False
        for data, asked_kind, files, runs in reversed(waiting):
            abouts = [run.result() for run in runs]
            if not shown:
                print(heading(options.seconds))
                shown = True
            for line in rows_of(data, asked_kind, abouts, files, options.seconds, options.prior):
                print(line, flush=True)


def workers_of(options: argparse.Namespace) -> int:
    """As many runs at a time as asked for, and as memory has room for."""
    import psutil

    most = max((GIGABYTES.get(data, 1.0) for data in options.data), default=1.0)
    return int(max(1, min(options.processes, psutil.virtual_memory().available / 1e9 // most)))


def heading(seconds: float) -> str:
    """The first line of the table."""
    from benchmarks.block_gibbs_runs import TIMES

    times = [at for at in TIMES if at <= seconds] or [seconds]
    looks = "".join(f"{f'{what} {at:g}s':>14}" for at in times for what in ("between", "mean", "truth"))
    goals = "".join(f"{f'to {goal:g}':>9}" for goal in GOALS)
    return f"{'data':7}{'n':>4}  {'run':24}{'edges':9}{'sets':>8}{'ready s':>9}{'sweeps/s':>10}{looks}{goals}"


def rows_of(
    data: str, kind: dict[str, Any], abouts: list[dict[str, Any]], files: list[Path], seconds: float, prior: str
) -> list[str]:
    """A row for each kind of estimate that the runs have."""
    import numpy as np
    from benchmarks.block_gibbs_runs import TIMES, Snapshots, exact_file, grid_of

    runs = [Snapshots(**dict(np.load(file))) for file in files]
    truth = np.load(exact_file(data)) if exact_file(data).exists() and prior != "sparse" else None
    about = abouts[0]
    name = "rival" if kind["what"] == "rival" else json.dumps(kind["settings"]).strip("{}").replace('"', "") or "usual"
    rows = []
    for estimate in ("drawn", "expected"):
        if not getattr(runs[0], estimate)[-1].any():
            continue
        row = f"{data:7}{about['nodes']:4}  {name:24.24}{estimate:9}{about.get('sets', 0):8,}"
        row += f"{np.mean([one.get('set_up', np.nan) for one in abouts]):9.1f}"
        row += f"{np.mean([one['sweeps'] for one in abouts]):10,.0f}"
        for at in [at for at in TIMES if at <= seconds] or [seconds]:
            largest, mean = differences(runs, at, estimate)
            row += f"{largest:14.4f}{mean:14.2e}"
            errors = [np.abs(run.estimate(at, estimate) - truth).max() for run in runs] if truth is not None else []
            row += f"{max(errors):14.4f}" if errors else f"{'':14}"
        # A hundredth of the time is the first for which there is a tenth to leave out.
        times = [at for at in grid_of(seconds) if at >= 0.99 * seconds / 100]
        found = [differences(runs, at, estimate)[0] for at in times]
        rows.append(row + "".join(f"{time_to(goal, times, found):>9}" for goal in GOALS))
    return rows


def differences(runs: Sequence[Snapshots], at: float, estimate: str) -> tuple[float, float]:
    """Mean over pairs of runs: of the largest difference of an edge, and of the mean difference."""
    import numpy as np

    edges = [run.estimate(at, estimate) for run in runs]
    nodes = len(edges[0])
    pairs = [np.abs(one - other) for one, other in itertools.combinations(edges, 2)]
    mean = np.mean([pair.sum() / (nodes * (nodes - 1)) for pair in pairs])
    return float(np.mean([pair.max() for pair in pairs])), float(mean)


def time_to(goal: float, times: Sequence[float], found: Sequence[float]) -> str:
    """From when on the runs stay within the goal."""
    place = len(found)
    while place > 0 and found[place - 1] < goal:
        place -= 1
    if place == len(found):
        return f"> {times[-1]:.0f}"
    return f"{times[place]:.1f}" if place else f"< {times[0]:.1f}"


def measure_truth(options: argparse.Namespace) -> None:
    """The exact edges, for `gibby` to compare with."""
    for data in there_is(options.data):
        found = ask({"what": "exact", "data": data, "engine": options.engine})
        print(f"{data}: exact edges in {found['seconds']:.1f} s", flush=True)


def measure_exact(options: argparse.Namespace) -> None:
    """The usual sample against exact sums, on the tables of the paper."""
    import numpy as np

    from dagpost import BDeu, BlockGibbs, DagPosterior, read_table
    from dagpost.posterior.answers import known_paths

    print(f"{'data':14}{'n':>4}{'seconds':>9}{'edges':>9}{'as drawn':>10}{'paths':>9}   verdict")
    for data in PAPER_DATA:
        if not (SHARED / f"{data}.csv").exists():
            print(f"Skipped, since it is not in {SHARED}: {data}")
            continue
        table = read_table(SHARED / f"{data}.csv")
        shared: dict[str, Any] = {"score": BDeu(1.0), "threads": options.processes, "progress": False, "seed": 1}
        exact = DagPosterior(method="exact-layers", **{"prior": "uniform", **shared}).fit(table)
        edges, paths = exact.edge_probabilities_.to_numpy(), known_paths(exact.fitted_, np.inf)
        model = DagPosterior(method=BlockGibbs(), **{"prior": "uniform", **shared}).fit(table)
        began = time.process_time()
        sample = model.own_sample()
        took = time.process_time() - began
        found = [
            np.abs(model.edge_probabilities_.to_numpy() - edges).max(),
            np.abs(sample.edge_frequencies().to_numpy() - edges).max(),
            np.abs(sample.probability_matrix("~>").to_numpy() - paths).max(),
        ]
        verdict = "trust" if sample.diagnostics().trusted else "no trust"
        row = f"{data:14}{len(edges):4}{took:9.1f}{found[0]:9.4f}{found[1]:10.4f}{found[2]:9.4f}"
        print(f"{row}   {verdict}", flush=True)


def measure_speed(options: argparse.Namespace) -> None:
    """What a block costs, by the most variables that it may have; the usual choice last."""
    print(f"{'data':7}{'n':>4}{'ready s':>9}{'peak MB':>9}{'sets':>9}   microseconds a block, by the most it may have")
    for data in there_is(options.data):
        with tempfile.TemporaryDirectory() as folder:
            file = str(Path(folder) / "run.npz")
            asked = {
                "what": "chain",
                "data": data,
                "seconds": options.seconds,
                "seed": 1,
                "file": file,
                "prior": options.prior,
            }
            found = [ask({**asked, "settings": {"block_size": size}}) for size in SIZES]
            usual = ask(asked)
        row = f"{data:7}{usual['nodes']:4}{usual['set_up']:9.1f}{usual['peak'] / 1e6:9.0f}{usual['sets']:9,}   "
        row += "".join(f"{size}: {1e6 / one['blocks']:.1f}  " for size, one in zip(SIZES, found, strict=True))
        print(f"{row} usual: {usual['blocks']:,.0f} blocks/s, {usual['sweeps']:,.0f} sweeps/s", flush=True)


SIZES = (2, 4, 6, 8, 10)
PARTS = {"gibby": measure_gibby, "truth": measure_truth, "exact": measure_exact}
PARTS |= {"speed": measure_speed}


def main() -> None:
    """Measure one part and print its table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("--data", nargs="+", default=GIBBY_DATA, choices=GIBBY_DATA)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--processes", type=int, default=CORES)
    parser.add_argument("--prior", default="auto", choices=("auto", "uniform", "sparse"))
    parser.add_argument("--rival", default="", help="a program, see block_gibbs_runs.py")
    parser.add_argument("--engine", default="auto", help="what computes the truth")
    parser.add_argument("--settings", nargs="+", help="settings of BlockGibbs as JSON, one or more choices")
    options = parser.parse_args()
    PARTS[options.part](options)


if __name__ == "__main__":
    main()
