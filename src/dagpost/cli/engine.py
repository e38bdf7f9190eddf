"""Where a command works: the engine that its options ask for, closed again when the command ends."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import typer

from dagpost.errors import InputError
from dagpost.methods.choice import AUTO


@contextmanager
def chosen_engine(name: str, cluster: str | None, threads: int | None, *, quiet: bool) -> Iterator[Any]:
    """What `DagPosterior(engine=...)` takes; says where a cluster can be watched."""
    from dagpost.engines import ThreadEngine
    from dagpost.engines.dask.engine import DaskEngine
    from dagpost.engines.registry import ENGINES

    # Refuse what is wrong before a table is read.
    ThreadEngine(threads)
    if name != AUTO:
        ENGINES.named(name, beside=(AUTO,))
    if cluster is not None and name not in (AUTO, DaskEngine.name):
        raise InputError(f"--cluster is for --engine {DaskEngine.name}; it cannot be used with --engine {name}.")
    if cluster is None and name != DaskEngine.name:
        yield name
        return

    with DaskEngine(cluster, threads=threads) as engine:
        if not quiet:
            typer.echo(f"Working on {engine}; watch it at {engine.dashboard_link}", err=True)
        yield engine
