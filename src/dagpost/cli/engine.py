"""Where a command works: the engine that its options ask for, closed again when the command ends."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from dagpost.cli import choices
from dagpost.cli.options import option, setting
from dagpost.errors import InputError
from dagpost.methods.choice import AUTO


@dataclass(frozen=True)
class EngineOptions:
    """Where to work, and how to get there."""

    engine: Annotated[
        str,
        setting(
            "ENGINE",
            f"Where exact tables are made: {', '.join(choices.engines())}.",
            autocompletion=choices.complete_engine,
        ),
    ] = AUTO
    cluster: Annotated[
        str | None,
        option("ADDRESS", "The scheduler of a Dask cluster to work on, as tcp://host:8786 or tls://host:8786."),
    ] = None
    tls_ca_file: Annotated[
        Path | None,
        option("FILE", "For a cluster at tls://...: the certificate of its authority, as for `dask worker`."),
    ] = None
    tls_cert: Annotated[Path | None, option("FILE", "The certificate to show to the cluster.")] = None
    tls_key: Annotated[Path | None, option("FILE", "Its key, unless that is in the same file.")] = None


@contextmanager
def chosen_engine(options: EngineOptions, threads: int | None, *, quiet: bool) -> Iterator[Any]:
    """What `DagPosterior(engine=...)` takes; says where a cluster can be watched."""
    from dagpost.engines import ThreadEngine
    from dagpost.engines.dask.engine import DaskEngine
    from dagpost.engines.registry import ENGINES

    name, cluster = options.engine, options.cluster
    certificates = {
        "--tls-ca-file": options.tls_ca_file,
        "--tls-cert": options.tls_cert,
        "--tls-key": options.tls_key,
    }
    # Refuse what is wrong before a table is read.
    ThreadEngine(threads)
    if name != AUTO:
        ENGINES.named(name, beside=(AUTO,))
    if cluster is not None and name not in (AUTO, DaskEngine.name):
        raise InputError(f"--cluster is for --engine {DaskEngine.name}; it cannot be used with --engine {name}.")
    if cluster is None and any(certificates.values()):
        raise InputError("--tls-ca-file, --tls-cert and --tls-key are for --cluster tls://...")
    if cluster is None and name != DaskEngine.name:
        yield name
        return

    with DaskEngine(cluster, threads=threads, security=_security(certificates)) as engine:
        if not quiet:
            watch = f"; watch it at {engine.dashboard_link}" if engine.dashboard_link else ""
            typer.echo(f"Working on {engine}{watch}", err=True)
        yield engine


def _security(certificates: Mapping[str, Path | None]) -> Any:
    """What Dask takes; None where no file is named, so that its configuration counts."""
    from dagpost.engines.dask.connection import load_distributed

    if not any(certificates.values()):
        return None
    for name, path in certificates.items():
        if path is None and name != "--tls-key":
            raise InputError(f"{name} is missing: --tls-ca-file and --tls-cert go together, and --tls-key with them.")
        if path is not None and not path.is_file():
            raise InputError(f"{name} {path}: there is no such file.")
    names = ("tls_ca_file", "tls_client_cert", "tls_client_key")
    files = zip(names, certificates.values(), strict=True)
    return load_distributed().Security(**{name: str(path) for name, path in files if path is not None})
