"""One decorator for every compiled function, and the notice a user sees while they compile.

Kernels are compiled once for a machine and kept on disk. Several processes may start at once on an empty
cache: Numba writes each entry to a temporary file and renames it, and because every kernel here is called with
one signature only, two processes that race write the same code under the same name.
"""

from __future__ import annotations

import contextlib
import re
import sys
import threading
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import numba
from numba.core import event
from numba.core.cpu import CPUTargetOptions

from dagpost._tools import progress

Function = TypeVar("Function", bound=Callable[..., Any])


def kernel(function: Function) -> Function:
    """Compile to machine code on first call, free of the interpreter lock, and keep the result on disk."""
    compiled: Any = numba.njit(cache=True, nogil=True, error_model="numpy")(function)
    # Numba looks only at the file of the kernel itself to see whether what is kept is stale; kernels are made of
    # helpers from other files too.
    with contextlib.suppress(AttributeError):
        compiled._cache._cache_file._source_stamp = _stamp(Path(function.__code__.co_filename))
    result: Function = compiled
    return result


def inlined(function: Function) -> Function:
    """A small helper of kernels; the compiler folds it into its callers, so it needs no cache of its own."""
    compiled: Any = numba.njit(nogil=True, error_model="numpy")(function)
    result: Function = compiled
    return result


def inline_no_refcount(function: Function) -> Function:
    """A small helper of kernels that makes no array and returns none: it looks at, and writes to, those it is given.

    Numba counts the references to every array that a function is handed, one by one even where many come in a named
    tuple; in helpers of a few operations that takes longer than the work (five times as long in the steps of a chain).
    The caller holds all of these arrays anyway. A helper that hands out an array must not be marked so.
    """
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy", "forceinline": True}
    if hasattr(CPUTargetOptions, "_nrt"):
        options["_nrt"] = False
    result: Function = numba.njit(**options)(function)
    return result


def summing_kernel(function: Function) -> Function:
    """A helper of kernels that sums doubles: the compiler may add them up in an order that suits its vectors.

    That order must be one. Of a helper that is not folded into its caller there are two copies, its own and one in it,
    optimised apart; a process that has just compiled calls the one, those that load the caller from disk the other.
    """
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy", "forceinline": True}
    result: Function = numba.njit(fastmath={"reassoc", "nsz", "contract"}, **options)(function)
    return result


@inline_no_refcount
def copy_into(target: Any, source: Any) -> None:
    """`target[: len(source)] = source` for one-dimensional arrays: written so, it would take seconds to compile."""
    for position in range(len(source)):
        target[position] = source[position]


_PACKAGE = Path(__file__).parents[1]
_IMPORT = re.compile(r"^\s*from\s+dagpost([.\w]*)\s+import\s+\(?([^)]*?)\)?$", re.MULTILINE)


def _stamp(source: Path) -> tuple[tuple[str, float, int], ...]:
    """Changes whenever a module does that the one in this file imports, at whatever remove."""
    found: set[Path] = set()
    waiting = [source]
    while waiting:
        file = waiting.pop()
        if file not in found:
            found.add(file)
            waiting += _imported_by(file)
    return tuple((file.name, *_last_change(file)) for file in sorted(found))


@cache
def _imported_by(file: Path) -> list[Path]:
    imported = []
    for module, names in _IMPORT.findall(file.read_text(encoding="utf-8")):
        place = _PACKAGE.joinpath(*module.split("."))
        # What is imported from a package may be a module of it.
        places = [place, *(place / name.split(" as ")[0].strip() for name in names.split(","))]
        imported += [path for place in places for path in (place.with_suffix(".py"), place / "__init__.py")]
    # The package itself loads names when they are asked for: importing it depends on nothing.
    return [path for path in imported if path.is_file() and path != _PACKAGE / "__init__.py"]


@cache
def _last_change(file: Path) -> tuple[float, int]:
    status = file.stat()
    return status.st_mtime, status.st_size


_NOTICE = "dagpost: compiling its kernels for this machine, once (half a minute); later runs start at once.\n"


class _CompileNotice(event.Listener):
    """Says once per process that compilation is under way: it is the one slow thing a new user meets."""

    def __init__(self) -> None:
        self._said = threading.Event()

    def on_start(self, event: Any) -> None:
        name = event.data["dispatcher"].py_func.__module__
        if name.startswith("dagpost.") and progress.NOTICES and not self._said.is_set():
            self._said.set()
            sys.stderr.write(_NOTICE)
            sys.stderr.flush()

    def on_end(self, event: Any) -> None:
        pass


event.register("numba:compile", _CompileNotice())  # type: ignore[no-untyped-call]
