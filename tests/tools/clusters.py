"""Clusters of processes on this machine, for tests that ask for some number of workers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from dagpost.engines.dask import DaskEngine
from dagpost.engines.dask.cluster import local_cluster


class Stopped(BaseException):
    """What stands for the loss of the cluster."""


def engines_by_workers() -> Iterator[Callable[[int], DaskEngine]]:
    """Engines by their number of worker processes, each started when first asked for; for a fixture to hand on."""
    import distributed

    started: dict[int, tuple[Any, Any]] = {}

    def engine_with(workers: int) -> DaskEngine:
        if workers not in started:
            local = local_cluster(workers)
            started[workers] = (local, distributed.Client(local))
        return DaskEngine(started[workers][1], threads=2)

    yield engine_with
    for local, client in started.values():
        client.close()
        local.close()
