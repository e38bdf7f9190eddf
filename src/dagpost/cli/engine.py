"""Where a command works: the engine that its options ask for, closed again when the command ends."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import typer

from dagpost.errors import InputError
from dagpost.methods.choice import AUTO

#: The files of --tls-ca-file, --tls-cert and --tls-key.
Certificates = tuple[Path | None, Path | None, Path | None]


@contextmanager
def chosen_engine(
    name: str, cluster: str | None, certificates: Certificates, threads: int | None, *, quiet: bool
) -> Iterator[Any]:
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
    if cluster is None and any(certificates):
        raise InputError("--tls-ca-file, --tls-cert and --tls-key are for --cluster tls://...")
    if cluster is None and name != DaskEngine.name:
        yield name
        return

    with DaskEngine(cluster, threads=threads, security=_security(certificates)) as engine:
        if not quiet:
            watch = f"; watch it at {engine.dashboard_link}" if engine.dashboard_link else ""
            typer.echo(f"Working on {engine}{watch}", err=True)
        yield engine


def _security(certificates: Certificates) -> Any:
    """What Dask takes; None where no file is named, so that its configuration counts."""
    from dagpost.engines.dask.connection import load_distributed

    if not any(certificates):
        return None
    for option, path in zip(("--tls-ca-file", "--tls-cert", "--tls-key"), certificates, strict=True):
        if path is None and option != "--tls-key":
            raise InputError(f"{option} is missing: --tls-ca-file and --tls-cert go together, and --tls-key with them.")
        if path is not None and not path.is_file():
            raise InputError(f"{option} {path}: there is no such file.")
    authority, certificate, key = (None if path is None else str(path) for path in certificates)
    files = {"tls_ca_file": authority, "tls_client_cert": certificate, "tls_client_key": key}
    return load_distributed().Security(**{name: path for name, path in files.items() if path is not None})
