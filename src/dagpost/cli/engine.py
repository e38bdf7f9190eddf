"""Where a command works: the engine that its options ask for, closed again when the command ends."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import typer

from dagpost.cli.choices import EngineName
from dagpost.errors import InputError


@contextmanager
def chosen_engine(name: EngineName, cluster: str | None, threads: int | None, *, quiet: bool) -> Iterator[Any]:
    """What `DagPosterior(engine=...)` takes; of a cluster, where to watch it."""
    from dagpost.engines import ThreadEngine

    # Before a table is read for nothing.
    ThreadEngine(threads)
    if cluster is not None and name not in (EngineName.AUTO, EngineName.DASK):
        raise InputError(f"--cluster is for --engine dask; it cannot go with --engine {name.value}.")
    if cluster is None and name is not EngineName.DASK:
        yield name.value
        return
    from dagpost.engines.dask.engine import DaskEngine

    with DaskEngine(cluster, threads=threads) as engine:
        if not quiet:
            typer.echo(f"Working on {engine}; watch it at {engine.dashboard_link}", err=True)
        yield engine
