"""Runs that are killed at a random moment and begun again give what the unbroken run gives, to the last bit.

The runs are those of `tests.tools.killed_runs`: exact sums, scores, draws, chains and the bootstrap with a checkpoint.
They die by a signal after a random time, or just before or after one of their file operations. Files that are written
over an older one are whole whenever the writer dies: the old one or the new one.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from tests.tools.killed_runs import Arrays, Run, attempt, chain_table, compare, die_at, fit, sample, scores

from dagpost import (
    BDeu,
    Bootstrap,
    Checkpoint,
    DagPosterior,
    DagSample,
    HybridMCMC,
    OrderMCMC,
    PartialOrderMCMC,
    PartitionMCMC,
    StructureMCMC,
    write_graphml,
)
from torture.campaign import Campaign, Defect, require
from torture.choices import Choices

_SHORT: dict[str, Any] = {"chains": 2, "thinning": 5, "burn_in": 500}

KINDS: dict[str, Callable[[], Run]] = {
    "structure-modular fit": lambda: fit(12, max_parents=3),
    "order-modular fit": lambda: fit(15, max_parents=2, modularity="order"),
    "averaged fit": lambda: fit(10, max_parents=3, score=BDeu((1.0, 10.0, 50.0))),
    "scores of levels": lambda: scores("bde", 300),
    "scores of numbers": lambda: scores("bge", 300),
    "bootstrap": lambda: fit(6, method=Bootstrap(replicates=12)),
    "exact-layers sample": lambda: sample(11, 40_000),
    "linear-extensions sample": lambda: sample(11, 40_000, method="linear-extensions"),
    "dds sample": lambda: sample(12, 60_000, modularity="order"),
    "partition-mcmc sample": lambda: sample(10, 1_000, method=PartitionMCMC(**_SHORT)),
    "partial-order-mcmc sample": lambda: sample(10, 1_000, modularity="order", method=PartialOrderMCMC(**_SHORT)),
    "order-mcmc sample": lambda: sample(10, 1_000, modularity="order", method=OrderMCMC(**_SHORT)),
    "structure-mcmc sample": lambda: sample(10, 4_000, method=StructureMCMC(**_SHORT)),
    "hybrid-mcmc sample": lambda: sample(10, 4_000, method=HybridMCMC(**_SHORT)),
}
_SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)

_runs: dict[str, Run] = {}
_expected: dict[str, tuple[Arrays, float]] = {}
_models: list[DagPosterior] = []


def run_case(seed: int, folder: Path) -> int:
    """One run, killed a few times; the number of kills."""
    choices = Choices(seed)
    if choices.chance(0.25):
        return _killed_writer(choices, folder)
    kind = choices.pick(tuple(KINDS))
    arrays, seconds = _unbroken(kind)
    kills, resumed = 0, False
    for _ in range(choices.integer(1, 3)):
        killed = _killed_attempt(kind, choices, folder, seconds)
        kills += killed
        if not killed:
            break
    else:
        _through(attempt(_runs[kind], folder, choices.integer(1, 2)), kind)
    resumed, same = compare(arrays, folder)
    require(same, f"A {kind} that was killed gives what the unbroken one gives, to the last bit", f"resumed: {resumed}")
    return kills


def _killed_attempt(kind: str, choices: Choices, folder: Path, seconds: float) -> bool:
    """Begin the run, or resume it, and kill it; False if it was through before."""
    threads = choices.integer(1, 2)
    if choices.chance(0.4):
        return not _through(attempt(_runs[kind], folder, threads, partial(die_at, choices.integer(0, 40))), kind)
    # Chains that are interrupted end by themselves, with the graphs that they have.
    number = choices.pick(_SIGNALS[:2] if kind.endswith("mcmc sample") else _SIGNALS)
    before = signal.signal(signal.SIGINT, signal.SIG_DFL)
    process = attempt(_interruptible(_runs[kind]), folder, threads)
    signal.signal(signal.SIGINT, before)
    time.sleep(seconds * choices.integer(0, 100) / 80)
    os.kill(process, number)
    return not _through(process, kind)


def _interruptible(run: Run) -> Run:
    """A run that ends as a command does when Ctrl-C comes; before and after it the signal just ends the process."""

    def interruptible(checkpoint: Checkpoint | None, threads: int) -> Arrays:
        try:
            try:
                signal.signal(signal.SIGINT, signal.default_int_handler)
                return run(checkpoint, threads)
            finally:
                signal.signal(signal.SIGINT, signal.SIG_DFL)
        except KeyboardInterrupt:
            os._exit(130)

    return interruptible


def _through(process: int, kind: str) -> bool:
    """Wait for a run: whether it got through, or was killed; anything else is a defect."""
    code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    if code == 1:
        raise Defect(f"A {kind} that was killed can be resumed\nIt failed; its output is below.")
    return code == 0


def _unbroken(kind: str) -> tuple[Arrays, float]:
    """What the run gives if nobody kills it, and how long it takes."""
    if kind not in _expected:
        _runs[kind] = KINDS[kind]()
        _runs[kind](None, 1)
        began = time.monotonic()
        arrays = _runs[kind](None, 1)
        _expected[kind] = (arrays, time.monotonic() - began)
    return _expected[kind]


def _killed_writer(choices: Choices, folder: Path) -> int:
    """A file that is replaced while the writer is killed is the old one or the new one."""
    first, second = _two_models()
    kind = choices.pick(("model", "sample", "graphml", "report"))
    path = folder / f"file.{kind}"
    _write(kind, first, path)
    old = _content(kind, path)
    _write(kind, second, folder / "new")
    new = _content(kind, folder / "new")
    process = os.fork()
    if process == 0:
        try:
            if choices.chance(0.7):
                die_at(choices.integer(0, 3))
            else:
                signal.setitimer(signal.ITIMER_REAL, choices.integer(1, 200) / 10_000)
                signal.signal(signal.SIGALRM, signal.SIG_DFL)
            _write(kind, second, path)
        finally:
            os._exit(0)
    code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    found = _content(kind, path)
    require(found in (old, new), f"A {kind} file whose writer was killed is the old one or the new one")
    require(code < 0 or found == new, f"A {kind} file is the new one once it is written")
    # What is left behind does not stand in the way of the next writer.
    _write(kind, second, path)
    require(_content(kind, path) == new, f"A {kind} file can be written after a writer was killed")
    return int(code < 0)


def _two_models() -> tuple[DagPosterior, DagPosterior]:
    if not _models:
        for nodes in (3, 4):
            _models.append(DagPosterior(score="bdeu", seed=1, samples=100, threads=1).fit(chain_table(nodes)))
    return _models[0], _models[1]


def _write(kind: str, model: DagPosterior, path: Path) -> None:
    if kind == "model":
        model.save(path)
    elif kind == "sample":
        model.sample(50, seed=3).save(path)
    elif kind == "report":
        model.report(path)
    else:
        write_graphml(model.best(2), path)


def _content(kind: str, path: Path) -> Any:
    """What a file says; archives have the time of their writing in them."""
    if kind == "model":
        model = DagPosterior.load(path)
        return (model.names_, model.log_evidence_, model.edge_probabilities_.to_numpy().tobytes())
    if kind == "sample":
        return np.asarray(DagSample.load(path).parents).tobytes()
    content = path.read_bytes()
    return (len(content), content[-20:]) if kind == "report" else content


def prepare() -> None:
    """Make all unbroken runs, and load what writes files."""
    for kind in KINDS:
        _unbroken(kind)
    _two_models()


CAMPAIGN = Campaign(
    "kills",
    "runs with a checkpoint and writers of files, killed at random moments",
    run_case,
    counted="kills",
    prepare=prepare,
    seconds=180,
    share=1.5,
)
