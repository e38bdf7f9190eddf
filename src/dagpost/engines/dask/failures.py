"""What is wrong with a cluster, in words that say what to do about it.

When a worker has no dagpost, when workers die again and again, or when a scheduler is gone, Dask raises errors of its
own, some of them far from the cause. These are put in plain words; all others are passed on as they are.
"""

from __future__ import annotations

import re
from concurrent.futures import CancelledError
from importlib.util import find_spec

from dagpost._version import __version__
from dagpost.errors import DagpostError, InputError, ResourceError

_NOT_FOUND = re.compile(r"No module named '(\w+)")
#: What Python says of a function that was sent by its name and does not exist there.
_UNKNOWN_NAME = re.compile(r"Can't get attribute .* on <module 'dagpost")
LOST = (
    "The cluster has lost a result that it cannot make again: its scheduler is gone, the connection to it was cut, or "
    "a worker is gone that held a part of a table from a checkpoint. Run the same again; a run with a checkpoint "
    "resumes from it."
)


def gone(address: str) -> str:
    """What to say of a scheduler that has answered before."""
    return (
        f"The Dask scheduler at {address} does not answer any more. Start the cluster again and make a new client; a "
        "run with a checkpoint resumes from it."
    )


def no_worker(address: str, seconds: float) -> str:
    """What to say of a cluster that has no workers, or has lost them."""
    return (
        f"The cluster has had no worker for {seconds:g} seconds. Start some, for example with 'dask worker {address}', "
        "or wait for the batch system; a run with a checkpoint resumes from it."
    )


def not_importable(module: str, address: str) -> str:
    """What to say of workers that lack a module which this process has."""
    return (
        f"The cluster at {address} cannot import {module!r}. Install dagpost {__version__} with all it needs (pip "
        f'install "dagpost[dask]=={__version__}") where its scheduler and its workers run, and start them again.'
    )


def in_plain_words(error: BaseException, address: str) -> DagpostError | None:
    """What an error from the cluster at an address means; None if it is clear as it is."""
    import asyncio

    import distributed
    from distributed.comm.core import CommClosedError

    if isinstance(error, DagpostError):
        return None

    missing = _missing_module(error)
    if missing is not None:
        return InputError(not_importable(missing, address))
    if isinstance(error, AttributeError | ImportError) and _UNKNOWN_NAME.search(str(error)):
        return InputError(
            f"A worker of the cluster at {address} has another version of dagpost ({error}), and this process "
            f"{__version__}. Install the same version on all machines, and start the workers again."
        )
    if isinstance(error, distributed.KilledWorker):
        return ResourceError(
            f"{error.allowed_failures + 1} workers of the cluster died one after the other on the same task "
            f"({error.task}). Most often they lack memory: give each more of it, or fewer threads; their logs say more."
        )
    if isinstance(error, CommClosedError):
        return ResourceError(gone(address))
    if isinstance(error, CancelledError | asyncio.CancelledError):
        return ResourceError(LOST)
    return None


def _missing_module(error: BaseException) -> str | None:
    """The module that an error, or its cause, did not find although this process has it."""
    seen: BaseException | None = error
    while seen is not None:
        # An error in what ran on all workers at once comes back as text.
        found = (
            _NOT_FOUND.search(str(seen)) if isinstance(seen, ModuleNotFoundError) or type(seen) is Exception else None
        )
        if found is not None:
            return found[1] if find_spec(found[1]) is not None else None
        seen = seen.__cause__
    return None
