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
from dagpost._tools.inlining import Helper, KernelCompiler
from dagpost._version import __version__

_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy"}

Function = TypeVar("Function", bound=Callable[..., Any])


def kernel(function: Function) -> Function:
    """Compile to machine code on the first call, without the interpreter lock, and keep the result on disk."""
    compiled: Any = numba.njit(cache=True, no_cfunc_wrapper=True, pipeline_class=KernelCompiler, **_OPTIONS)(function)
    # To see whether its cache is stale, Numba looks only at the file of the kernel itself; kernels contain helpers
    # from other files as well.
    with contextlib.suppress(AttributeError):
        compiled._cache._cache_file._source_stamp = source_stamp(Path(function.__code__.co_filename))
    result: Function = compiled
    return result


def inlined(function: Function) -> Function:
    """A small helper of kernels; the compiler inlines it, so it needs no cache of its own."""
    return _helper(function, {})


def inline_no_refcount(function: Function) -> Function:
    """A small helper of kernels that neither makes nor returns an array: it reads and writes those it is given.

    Numba counts references to every array that a function receives, one by one even if they come in a named tuple; in
    helpers of a few operations that takes longer than the work (five times as long in the steps of a chain). The caller
    holds all of these arrays anyway. A helper that returns an array must not be marked in this way.
    """
    uncounted = {"_nrt": False} if hasattr(CPUTargetOptions, "_nrt") else {}
    return _helper(function, {"forceinline": True, **uncounted})


def summing_kernel(function: Function) -> Function:
    """A helper of kernels that sums doubles: the compiler may add them up in an order that suits its vectors.

    There must be only one such order: these helpers are always inlined, so that a kernel holds one copy of each.
    """
    return _helper(function, {"forceinline": True, "fastmath": {"reassoc", "nsz", "contract"}})


def _helper(function: Function, options: dict[str, Any]) -> Function:
    if numba.config.DISABLE_JIT:  # type: ignore[attr-defined]
        return function
    helper: Any = Helper(function, {**_OPTIONS, **options})
    result: Function = helper
    return result


@inline_no_refcount
def copy_into(target: Any, source: Any) -> None:
    """`target[: len(source)] = source` for one-dimensional arrays; the slice would take seconds to compile."""
    for position in range(len(source)):
        target[position] = source[position]


_PACKAGE = Path(__file__).parents[1]
_IMPORT = re.compile(r"^\s*from\s+dagpost([.\w]*)\s+import\s+\(?([^)]*?)\)?$", re.MULTILINE)


def source_stamp(source: Path) -> tuple[tuple[str, float, int], ...]:
    """A value that changes whenever this file, or any module that it imports directly or indirectly, changes."""
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
        # A name imported from a package may be one of its modules.
        places = [place, *(place / name.split(" as ")[0].strip() for name in names.split(","))]
        imported += [path for place in places for path in (place.with_suffix(".py"), place / "__init__.py")]
    # The package itself loads names on first use, so importing it depends on nothing.
    return [path for path in imported if path.is_file() and path != _PACKAGE / "__init__.py"]


@cache
def _last_change(file: Path) -> tuple[float, int]:
    status = file.stat()
    return status.st_mtime, status.st_size


_NOTICE = (
    "dagpost: compiling for this machine what is used for the first time (half a minute at most); later runs start at "
    "once.\n"
)


class _CompileNotice(event.Listener):
    """Says once for a machine that kernels are being compiled, the one slow thing that a new user meets.

    Every feature has kernels of its own, which are compiled when it is first used. A file beside the kept kernels
    remembers that it was said, so that this is not news each time; where none can be written, a process says it once.
    """

    def __init__(self) -> None:
        self._seen = threading.Event()

    def on_start(self, event: Any) -> None:
        dispatcher = event.data["dispatcher"]
        ours = dispatcher.py_func.__module__.startswith("dagpost.")
        if ours and progress.NOTICES and not self._seen.is_set():
            self._seen.set()
            if _is_first(dispatcher):
                sys.stderr.write(_NOTICE)
                sys.stderr.flush()

    def on_end(self, event: Any) -> None:
        pass


def _is_first(dispatcher: Any) -> bool:
    """Whether no process has said so yet for this version and this cache; from now on, one has."""
    try:
        kept = Path(dispatcher._cache._cache_path)
        # Numba keeps kernels beside each module, or in a folder for each folder of modules.
        folder = _PACKAGE / kept.name if kept.name == "__pycache__" else kept.parent
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"dagpost-{__version__}.told").touch(exist_ok=False)
    except FileExistsError:
        return False
    except (AttributeError, OSError):
        return True
    return True


event.register("numba:compile", _CompileNotice())  # type: ignore[no-untyped-call]
