"""Fits on a cluster from a machine of its own, and says what came out, for tests that look on from outside.

    python -m tests.tools.cluster_client '{"cluster": "tcp://10.0.0.1:8786", "fits": ["order"]}' ...

Each argument is a task for a client of its own. `cluster` is an address. Each fit of `fits` (those of `FITS`) prints a
line of JSON with a digest of every array that was found, or with the error; before that, `pause_at`, ["stage", share],
prints "paused" when a stage is that far and waits for a line on standard input. `nodes` is another number of columns,
`checkpoint` a folder, `tls` the files of a certificate.
"""

from __future__ import annotations

import hashlib
import json
import logging
import resource
import sys
import time
import warnings
from typing import Any

import numpy as np
from tests.tools.killed_runs import chain_table, fitted

from dagpost import Checkpoint, DagPosterior, PartitionMCMC
from dagpost.engines import Engine
from dagpost.errors import DagpostError

#: Settings of each fit.
FITS: dict[str, dict[str, Any]] = {
    "order": {"nodes": 18, "method": "dds", "modularity": "order", "max_parents": 3},
    "chains": {"nodes": 8, "method": PartitionMCMC(chains=2, burn_in=4000), "max_parents": 3},
}
SAMPLES = 500


def main() -> None:
    """Do the fits that the argument asks for."""
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    for task in map(json.loads, sys.argv[1:]):
        started = time.monotonic()
        try:
            with engine_of(task) as engine:
                for name in task["fits"]:
                    say(result_of(name, engine, task))
        except DagpostError as error:
            say(refusal(error, started))


def say(what: Any) -> None:
    """A line of JSON, at once."""
    sys.stdout.write(json.dumps(what) + "\n")
    sys.stdout.flush()


def refusal(error: DagpostError, started: float) -> dict[str, Any]:
    """What a line says of an error that a user can mend."""
    return {"error": type(error).__name__, "said": str(error), "wall": round(time.monotonic() - started, 2)}


def engine_of(task: dict[str, Any]) -> Engine:
    """The engine that a task asks for."""
    import distributed

    from dagpost import DaskEngine

    security = distributed.Security(**task["tls"]) if task.get("tls") else None
    return DaskEngine(task["cluster"], threads=1, security=security)


def result_of(name: str, engine: Engine, task: dict[str, Any]) -> dict[str, Any]:
    """Digests of everything that a fit finds, what it ran on, and what it took."""
    settings = dict(FITS[name])
    usual = settings.pop("nodes")
    nodes = task.get("nodes", usual)
    started = time.monotonic()
    model = DagPosterior(
        score="bdeu", seed=1, samples=SAMPLES, engine=engine, progress=Pausing(task), **{"prior": "uniform", **settings}
    )
    folder = task.get("checkpoint")
    try:
        model.fit(chain_table(nodes), checkpoint=None if folder is None else Checkpoint(folder, seconds=0))
        found = fitted(model) | {"drawn": model.sample(SAMPLES, seed=2).parents}
    except DagpostError as error:
        return refusal(error, started)
    used = resource.getrusage(resource.RUSAGE_SELF)
    return {
        "digests": {part: digest(array) for part, array in found.items()},
        "engine": model.engine_,
        "wall": round(time.monotonic() - started, 2),
        "cpu": round(used.ru_utime + used.ru_stime, 2),
    }


def digest(array: Any) -> str:
    """The same for the same bits only."""
    plain = np.ascontiguousarray(array)
    return hashlib.sha256(f"{plain.dtype}{plain.shape}".encode() + plain.tobytes()).hexdigest()


class Pausing:
    """Progress of a fit: stops once, where the task asks for it, until a line comes."""

    def __init__(self, task: dict[str, Any]) -> None:
        stage, share = task.get("pause_at") or (None, 0.0)
        self._stage: str | None = stage
        self._share = float(share)

    def __call__(self, title: str, done: int, total: int) -> None:
        if self._stage is not None and title.startswith(self._stage) and done >= self._share * total:
            self._stage = None
            say("paused")
            sys.stdin.readline()


if __name__ == "__main__":
    main()
