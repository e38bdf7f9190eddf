"""What is wrong with a cluster, in words that say what to do about it.

Dask tells of a worker without dagpost, of workers that die again and again and of a scheduler that has gone by errors
of its own, some of them raised far from where the fault lies. Others are passed on as they are.
"""

from __future__ import annotations

import re
from concurrent.futures import CancelledError
from importlib.util import find_spec

from dagpost._version import __version__
from dagpost.errors import DagpostError, InputError, ResourceError

_NOT_FOUND = re.compile(r"No module named '(\w+)")
LOST = (
    "The cluster has lost a result that it cannot make again: its scheduler has gone, or a worker with a part of the "
    "table that came from a checkpoint. Run the same again; a checkpoint is gone on from."
)


def gone(address: str) -> str:
    """What to say of a scheduler that has answered before."""
    return (
        f"The Dask scheduler at {address} does not answer any more. Start the cluster again and make a new client; a "
        "run with a checkpoint goes on from there."
    )


def in_plain_words(error: BaseException, address: str) -> DagpostError | None:
    """What an error that came from the cluster at an address means; None if it speaks for itself."""
    import asyncio

    import distributed
    from distributed.comm.core import CommClosedError

    if isinstance(error, DagpostError):
        return None

    missing = _missing_module(error)
    if missing is not None:
        return InputError(
            f"The cluster at {address} cannot import {missing!r}. Install dagpost {__version__} with all it needs (pip "
            f'install "dagpost[dask]=={__version__}") where its scheduler and its workers run, and start them again.'
        )
    if isinstance(error, distributed.KilledWorker):
        return ResourceError(
            f"{error.allowed_failures + 1} workers of the cluster died one after the other on the same task "
            f"({error.task}). Most often they lack memory: give each more of it, or fewer threads; their log says more."
        )
    if isinstance(error, CommClosedError):
        return ResourceError(gone(address))
    if isinstance(error, CancelledError | asyncio.CancelledError):
        return ResourceError(LOST)
    return None


def _missing_module(error: BaseException) -> str | None:
    """The module that an error, or what it came from, misses though it is there in this process."""
    seen: BaseException | None = error
    while seen is not None:
        # What was run on all workers at once comes back as text.
        found = (
            _NOT_FOUND.search(str(seen)) if isinstance(seen, ModuleNotFoundError) or type(seen) is Exception else None
        )
        if found is not None:
            return found[1] if find_spec(found[1]) is not None else None
        seen = seen.__cause__
    return None
