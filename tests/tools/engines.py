"""Engines for tests: one that calls its sums too slow, and one that notes which sums are made."""

from __future__ import annotations

from typing import Any

from dagpost.engines import ThreadEngine
from dagpost.engines.host.backend import HostBackend

#: The sums of a back end that take time and memory.
_SUMS = ("forward_table", "family_probabilities", "structure_posterior", "structure_evidence")


class SlowBackend(HostBackend):
    """Says that all sums take so many seconds."""

    def __init__(self, engine: ThreadEngine, seconds: float) -> None:
        super().__init__(engine)
        self._seconds = seconds

    def order_seconds(self, nodes: int) -> float:
        del nodes
        return self._seconds

    def structure_seconds(self, nodes: int) -> float:
        del nodes
        return self._seconds


class SlowEngine(ThreadEngine):
    """Threads on which all sums are said to take long: years, as those over all graphs do for many variables."""

    def __init__(self, seconds: float = 1e9) -> None:
        super().__init__(2)
        self.seconds = seconds

    def backend(self) -> SlowBackend:
        return SlowBackend(self, self.seconds)


class RecordingEngine(ThreadEngine):
    """Threads that note, in `sums`, the name of every sum over all orders or graphs that is made on them."""

    def __init__(self, threads: int | None = None) -> None:
        super().__init__(threads)
        self.sums: list[str] = []

    def backend(self) -> RecordingBackend:
        return RecordingBackend(self, self.sums)


class RecordingBackend(HostBackend):
    """The sums of the host, each noted when it begins."""

    def __init__(self, engine: ThreadEngine, sums: list[str]) -> None:
        super().__init__(engine)
        self._noted = sums

    def __getattribute__(self, name: str) -> Any:
        if name in _SUMS:
            self._noted.append(name)
        return super().__getattribute__(name)
