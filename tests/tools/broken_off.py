"""What the tests of checkpoints share: runs that stop by themselves, damaged files, results that are compared."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dagpost import DagPosterior, DagSample
from dagpost.checkpoints import Checkpoint
from dagpost.engines import ThreadEngine


class Stopped(BaseException):
    """What stands for a kill inside one process."""


class StoppingEngine(ThreadEngine):
    """Runs blocks until it has given so many results, and then no more."""

    def __init__(self, results: float, threads: int = 2) -> None:
        super().__init__(threads)
        self.left = results

    def run(self, block: Callable[[Any, Any], Any], items: Sequence[Any]) -> Iterator[Any]:
        for result in super().run(block, items):
            if self.left <= 0:
                raise Stopped
            self.left -= 1
            yield result


def eager(folder: Path) -> Checkpoint:
    """A checkpoint that is written after every step."""
    return Checkpoint(folder, seconds=0)


def parts(folder: Path) -> list[Path]:
    return sorted(folder.glob("part-*.bin"))


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[-2] ^= 1
    path.write_bytes(content)


def same_fit(one: DagPosterior, other: DagPosterior) -> bool:
    results = one.fitted_.results, other.fitted_.results
    sums = [found.sums for found in results if found.sums is not None]
    assert len(sums) == 2
    pairs = [
        (one.edge_probabilities_.to_numpy(), other.edge_probabilities_.to_numpy()),
        (sums[0].families, sums[1].families),
        (np.array(one.log_evidence_), np.array(other.log_evidence_)),
    ]
    if sums[0].paths is not None:
        assert sums[1].paths is not None
        pairs.append((sums[0].paths, sums[1].paths))
    return all(np.array_equal(first, second) for first, second in pairs)


def same_sample(one: DagSample, other: DagSample) -> bool:
    arrays = ((one.parents, other.parents), (one.log_joint, other.log_joint), (one.weights, other.weights))
    return all(np.array_equal(first, second) for first, second in arrays)


def broken_off(attempt: Callable[[ThreadEngine, Checkpoint], Any], folder: Path, results: float) -> Any:
    """Stop after so many results of blocks, then go on with another number of threads."""
    with pytest.raises(Stopped):
        attempt(StoppingEngine(results), eager(folder))
    checkpoint = eager(folder)
    found = attempt(ThreadEngine(1), checkpoint)
    checkpoint.remove()
    return found
