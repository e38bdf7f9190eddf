"""Runs that are killed (SIGKILL) and begun again until they are through, and the unbroken run to compare them with.

    python killed_runs.py KIND FOLDER random|writes

The kernels are loaded and the unbroken run is made once; every attempt is then a process of its own, forked from here,
so that an attempt costs what the work costs. `random`: attempts are killed after random delays until one is through.
`writes`: attempts are killed just before or just after a file operation, each at another one, and the next attempt goes
on. Prints what happened as JSON.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from dagpost import DagPosterior, datasets, local_scores
from dagpost._tools.progress import NO_PROGRESS
from dagpost.checkpoints import NO_CHECKPOINT, Checkpoint
from dagpost.data import as_table
from dagpost.engines import ThreadEngine
from dagpost.methods.augmentation import Augmentation
from dagpost.methods.block_gibbs import BlockGibbs
from dagpost.methods.bootstrap import Bootstrap
from dagpost.posterior.exact_workspace import ExactWorkspace
from dagpost.posterior.fitting import draw_sample

Arrays = dict[str, Any]
Run = Callable[[Checkpoint | None, int], Arrays]

_MOST_KILLS = 6
LATENT = {"score": "latent-gaussian", "samples": 2_100}


def main() -> None:
    """Run one kind and say how it went."""
    kind, folder, how = sys.argv[1:]
    run = KINDS[kind]()
    expected = run(None, 2)
    report = (killed_at_random if how == "random" else killed_at_writes)(run, expected, Path(folder))
    sys.stdout.write(json.dumps(report))


def chain_table(nodes: int) -> pd.DataFrame:
    """Binary columns, each a noisy copy of the one before."""
    generator = np.random.default_rng(1)
    rows = generator.integers(0, 2, (300, nodes))
    for column in range(1, nodes):
        rows[:, column] = np.where(generator.random(300) < 0.7, rows[:, column - 1], rows[:, column])
    return pd.DataFrame(rows, columns=[f"c{column}" for column in range(nodes)])


def fitted(model: DagPosterior) -> Arrays:
    """All numbers of a fitted model."""
    arrays = {"edges": model.edge_probabilities_.to_numpy(), "evidence": np.array(model.fitted_.results.log_evidence)}
    sums, drawn = model.fitted_.results.sums, model.fitted_.drawn
    if sums is not None:
        arrays["families"] = np.concatenate(list(sums.families))
        if sums.paths is not None:
            arrays["paths"] = sums.paths
    if drawn is not None:
        arrays["parents"], arrays["log_joint"] = drawn.parents, drawn.log_joint
        if drawn.chains is not None:
            arrays |= {f"series_{name}": array for name, array in drawn.chains.series.items()}
            arrays |= {f"sums_{name}": array for name, array in drawn.chains.sums.items()}
    return arrays


def fit(nodes: int, gaps: float = 0.0, **settings: Any) -> Run:
    """Fit a table of so many columns, of which a share of the cells may be missing."""
    table = datasets.load("coronary") if nodes == 6 else chain_table(nodes)
    if gaps:
        table = chain_table(nodes)
        table = table.mask(np.random.default_rng(2).random(table.shape) < gaps)

    def run(checkpoint: Checkpoint | None, threads: int) -> Arrays:
        return fitted(
            DagPosterior(seed=1, threads=threads, **{"prior": "uniform", "score": "bdeu", **settings}).fit(
                table, checkpoint=checkpoint
            )
        )

    return run


def sample(nodes: int, count: int, **settings: Any) -> Run:
    """Fit a table of so many columns, beforehand, and draw so many graphs."""
    model = DagPosterior(max_parents=2, **{"prior": "uniform", "score": "bdeu", **settings}).fit(chain_table(nodes))

    def run(checkpoint: Checkpoint | None, threads: int) -> Arrays:
        workspace = model.fitted_.workspace
        assert isinstance(workspace, ExactWorkspace)
        # As if the model came from a file, which holds no tables.
        bare = ExactWorkspace(workspace.log_weights, workspace.max_parents, ThreadEngine(threads), NO_PROGRESS)
        dags = draw_sample(replace(model.fitted_, workspace=bare), count, None, 0.95, 2, None, checkpoint)
        return {"parents": dags.parents, "log_joint": dags.log_joint, "weights": dags.weights}

    return run


def scores(score: str, rows: int) -> Run:
    """Score so many rows, of which each counts for all columns but two."""
    generator = np.random.default_rng(2)
    values = generator.normal(size=(rows, 16)).cumsum(axis=1)
    frame = pd.DataFrame(values if score == "bge" else np.digitize(values, (-1.0, 1.0)))
    table = as_table(frame.rename(columns=str), interventions=np.resize(["", "", "", "3", "7"], rows))

    def run(checkpoint: Checkpoint | None, threads: int) -> Arrays:
        with (checkpoint or NO_CHECKPOINT).task("fit", {}) as kept:
            return {"values": local_scores(table, score, 5, engine=ThreadEngine(threads), checkpoint=kept).values}

    return run


KINDS: dict[str, Callable[[], Run]] = {
    "structure-modular fit": lambda: fit(14, max_parents=3),
    "fit by components": lambda: fit(
        26, max_parents=3, tiers=[[f"c{column}" for column in columns] for columns in (range(13), range(13, 26))]
    ),
    "order-modular fit": lambda: fit(20, max_parents=2, modularity="order"),
    "scores of levels": lambda: scores("bde", 4_000),
    "scores of numbers": lambda: scores("bge", 2_000),
    "bootstrap": lambda: fit(6, method=Bootstrap(replicates=40)),
    "fit with gaps": lambda: fit(5, 0.1, method=Augmentation(chains=3, burn_in=20, error=1e-9), samples=2_100),
    "fit of latent numbers": lambda: fit(5, method=Augmentation(chains=3, burn_in=20, error=1e-9), **LATENT),
    "block-gibbs sample": lambda: sample(10, 3_000, method=BlockGibbs(chains=3, thinning=2, burn_in=600)),
    "dds sample": lambda: sample(14, 140_000, modularity="order"),
    "exact-layers sample": lambda: sample(13, 70_000),
    "linear-extensions sample": lambda: sample(13, 70_000, method="linear-extensions"),
}


def attempt(run: Run, folder: Path, threads: int, prepare: Callable[[], None] = lambda: None) -> int:
    """Begin, or go on, in a process of its own: its id."""
    process = os.fork()
    if process == 0:
        try:
            prepare()
            checkpoint = Checkpoint(folder / "checkpoint", seconds=0)
            arrays = run(checkpoint, threads)
            np.savez(folder / "result.npz", resumed=checkpoint.resumed, **arrays)
            status = 0
        except BaseException:  # noqa: BLE001
            traceback.print_exc()
            status = 1
        os._exit(status)
    return process


def ended(process: int) -> bool:
    """Wait for the end: True if it got through, False if it was killed."""
    status = os.waitpid(process, 0)[1]
    if os.WIFSIGNALED(status):
        return False
    if os.WEXITSTATUS(status) != 0:
        raise SystemExit("An attempt failed.")
    return True


def compare(expected: Arrays, folder: Path) -> tuple[bool, bool]:
    """Whether the last attempt went on from an earlier one, and gave the expected result to the last bit."""
    with np.load(folder / "result.npz") as found:
        same = all(np.array_equal(found[name], value, equal_nan=True) for name, value in expected.items())
        return bool(found["resumed"]), same


def killed_at_random(run: Run, expected: Arrays, folder: Path) -> dict[str, Any]:
    """Five runs, each killed after random delays until an attempt is through."""
    generator = np.random.default_rng(7)
    report = {"runs": 5, "kills": 0, "resumed": 0, "same": 0}
    whole = min(seconds_of(run, folder / "first"), seconds_of(run, folder / "second"))
    for number in range(report["runs"]):
        place = folder / str(number)
        place.mkdir()
        through, threads = False, 1
        while not through:
            process = attempt(run, place, threads)
            time.sleep(generator.uniform(0.1, 1.0) * whole)
            os.kill(process, signal.SIGKILL)
            through, threads = ended(process), 3 - threads
            report["kills"] += not through
            if report["kills"] == _MOST_KILLS * (number + 1):
                through = ended(attempt(run, place, threads))
        resumed, same = compare(expected, place)
        report["resumed"] += resumed
        report["same"] += same
    return report


def seconds_of(run: Run, place: Path) -> float:
    """How long an attempt takes that is not killed."""
    place.mkdir()
    began = time.monotonic()
    ended(attempt(run, place, 1))
    return time.monotonic() - began


def killed_at_writes(run: Run, expected: Arrays, folder: Path) -> dict[str, Any]:
    """For some moments before or after a file operation, an attempt that is killed there and one that goes on."""
    report = {"runs": 0, "kills": 0, "resumed": 0, "same": 0}
    killed = True
    while killed:
        # Eleven has no factor in common with the operations of a write, so each of them has its turn.
        number = 11 * report["runs"]
        place = folder / str(number)
        place.mkdir()
        killed = not ended(attempt(run, place, 1 + number % 2, partial(die_at, number)))
        if killed:
            assert ended(attempt(run, place, 2 - number % 2))
        resumed, same = compare(expected, place)
        report["runs"] += 1
        report["kills"] += killed
        report["resumed"] += resumed
        report["same"] += same
    return report


def die_at(number: int) -> None:
    """Kill this process at the moment with this number: there is one before and one after every file operation."""
    left = [number]

    def deadly(operation: Callable[..., Any]) -> Callable[..., Any]:
        def operate(*arguments: Any, **options: Any) -> Any:
            for wanted in (0, 1):
                if left[0] == 0:
                    os.kill(os.getpid(), signal.SIGKILL)
                left[0] -= 1
                if wanted == 0:
                    result = operation(*arguments, **options)
            return result

        return operate

    for name in ("fsync", "replace", "unlink"):
        setattr(os, name, deadly(getattr(os, name)))


if __name__ == "__main__":
    main()
