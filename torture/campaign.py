"""What a campaign is: a name, a sentence, and a function that makes and checks one random case.

To add one, write a module with a `CAMPAIGN` and add one line to `torture.registry`. `run_case` gets the seed of the
case and an empty folder to write in, checks whatever must hold, and returns how many checks it made. A broken law is
raised as a `Defect` whose first line names the law; any other exception counts as a defect too, and so do a crash and a
hang. Draw the case with `Choices(seed)` so that it can be minimised.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


class Defect(Exception):  # noqa: N818
    """Something that must hold did not hold. The first line names the law, the rest describes the case."""


def _nothing() -> None:
    """Prepare nothing."""


@dataclass(frozen=True)
class Campaign:
    """A kind of random cases and what is checked in each of them.

    `prepare` runs once in the process from which all workers are forked: load kernels there, make what the cases share.
    Cases must run without it too; only more slowly.
    `counted` says what the number that `run_case` returns counts, in the plural. A case that takes longer than
    `seconds` (wall clock, on a busy machine) is a hang. `share` is its part of the time, relative to the others.
    """

    name: str
    words: str
    run_case: Callable[[int, Path], int]
    counted: str = "checks"
    prepare: Callable[[], None] = _nothing
    seconds: float = 120.0
    share: float = 1.0


def require(holds: object, law: str, *details: object) -> int:
    """Raise a `Defect` that names the law unless it holds; returns 1, the number of checks made."""
    if not holds:
        raise Defect("\n".join([law, *(str(detail) for detail in details)]))
    return 1
