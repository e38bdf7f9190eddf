"""One decorator for every compiled function, and the notice a user sees while they compile.

Kernels are compiled once for a machine and kept on disk. Several processes may start at once on an empty
cache: Numba writes each entry to a temporary file and renames it, and because every kernel here is called with
one signature only, two processes that race write the same code under the same name.
"""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

import numba
from numba.core import event

Function = TypeVar("Function", bound=Callable[..., Any])


def kernel(function: Function) -> Function:
    """Compile to machine code on first call, free of the interpreter lock, and keep the result on disk."""
    compiled: Any = numba.njit(cache=True, nogil=True, error_model="numpy")(function)
    # Numba looks only at the file of the kernel itself to see whether what is kept is stale; kernels are made of
    # helpers from other files too.
    with contextlib.suppress(AttributeError):
        compiled._cache._cache_file._source_stamp = _package_stamp()
    result: Function = compiled
    return result


def inlined(function: Function) -> Function:
    """A small helper of kernels; the compiler folds it into its callers, so it needs no cache of its own."""
    compiled: Any = numba.njit(nogil=True, error_model="numpy")(function)
    result: Function = compiled
    return result


def summing_kernel(function: Function) -> Function:
    """A helper of kernels that sums doubles: the compiler may add them up in an order that suits its vectors."""
    compiled: Any = numba.njit(nogil=True, error_model="numpy", fastmath={"reassoc", "nsz", "contract"})(function)
    result: Function = compiled
    return result


@inlined
def copy_into(target: Any, source: Any) -> None:
    """`target[: len(source)] = source` for one-dimensional arrays: written so, it would take seconds to compile."""
    for position in range(len(source)):
        target[position] = source[position]


@lru_cache(maxsize=1)
def _package_stamp() -> tuple[tuple[str, float, int], ...]:
    """Changes whenever a module of the package does."""
    package = Path(__file__).parent
    files = sorted(package.rglob("*.py"))
    return tuple((str(file.relative_to(package)), file.stat().st_mtime, file.stat().st_size) for file in files)


_NOTICE = "dagpost: compiling its kernels for this machine, once (half a minute); later runs start at once.\n"


class _CompileNotice(event.Listener):
    """Says once per process that compilation is under way: it is the one slow thing a new user meets."""

    def __init__(self) -> None:
        self._said = threading.Event()

    def on_start(self, event: Any) -> None:
        name = event.data["dispatcher"].py_func.__module__
        if name.startswith("dagpost.") and not self._said.is_set():
            self._said.set()
            sys.stderr.write(
                "dagpost: compiling its kernels for this machine, once (half a minute); later runs start at once.\n"
            )
            sys.stderr.flush()

    def on_end(self, event: Any) -> None:
        pass


event.register("numba:compile", _CompileNotice())  # type: ignore[no-untyped-call]
