"""One decorator for every compiled function.

Kernels are compiled once for a machine and kept on disk. Several processes may start at once on an empty
cache: Numba writes each entry to a temporary file and renames it, and because every kernel here is called with
one signature only, two processes that race write the same code under the same name.

Numba is loaded by the first kernel that is called, not before: half of the questions that a stored model is asked need
no kernel, and Numba takes longer to load than these take to answer.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

from dagpost._tools.compile_notice import CompileNotice
from dagpost._tools.source_stamps import source_digest

Function = TypeVar("Function", bound=Callable[..., Any])

#: Versions of Numba that `inlining` and `shipped`, which build on its internals, were tested with. Under others kernels
#: compile in Numba's usual way, in twice the time.
_KNOWN_INSIDE = ((0, 68),)
#: Held while Numba is loaded and while a function gets its dispatcher: there must be one of it for all threads.
_LOADING = threading.RLock()


class Kernel:
    """A function that Numba compiles on its first call: from Python or, as a helper, from another kernel."""

    def __init__(self, function: Callable[..., Any], **options: Any) -> None:
        functools.update_wrapper(self, function)
        self._function, self._options = function, options
        self._dispatcher: Any = None

    @property
    def dispatcher(self) -> Any:
        """What Numba made of the function: it has the compiled code, for every signature."""
        if self._dispatcher is None:
            with _LOADING:
                if self._dispatcher is None:
                    self._dispatcher = _dispatcher_of(self._function, self._options)
        return self._dispatcher

    @property
    def is_compiled(self) -> bool:
        """Whether this is a kernel with code of its own, and not one that nobody called or a helper of others."""
        return "cache" in self._options and self._dispatcher is not None and bool(self._dispatcher.overloads)

    def __call__(self, *arguments: Any) -> Any:
        return (self._dispatcher or self.dispatcher)(*arguments)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.dispatcher, name)

    def __repr__(self) -> str:
        return f"<kernel {self.__module__}.{self._function.__qualname__}>"

    def __reduce__(self) -> str:
        """Pickled as functions are: by name."""
        return self._function.__qualname__


def _dispatcher_of(function: Callable[..., Any], options: dict[str, Any]) -> Any:
    numba = _load_numba()
    options = {**options, "nogil": True, "error_model": "numpy"}
    if options.pop("refcounts", True) is False and _knows_nrt():
        options["_nrt"] = False
    if numba.config.DISABLE_JIT:
        return function
    is_kernel = options.pop("cache", False)
    if numba.version_info[:2] not in _KNOWN_INSIDE:
        compiled = numba.njit(cache=is_kernel, **options)(function)
        if is_kernel:
            # Helpers from other files are in the kernel too, whichever way it is compiled.
            with suppress(AttributeError):
                compiled._cache._cache_file._source_stamp = source_digest(Path(function.__code__.co_filename))
        return compiled
    from dagpost._tools.inlining import Helper, KernelCompiler
    from dagpost._tools.shipped import KernelCache

    if not is_kernel:
        return Helper(function, options)
    compiled = numba.njit(no_cfunc_wrapper=True, pipeline_class=KernelCompiler, **options)(function)
    compiled._cache = KernelCache(function)
    return compiled


@cache
def _load_numba() -> Any:
    """Numba, which from now on knows that a kernel among the names of another one stands for its dispatcher."""
    import numba
    from numba.core import event
    from numba.extending import typeof_impl

    @typeof_impl.register(Kernel)
    def type_of_kernel(value: Kernel, context: Any) -> Any:
        return typeof_impl(value.dispatcher, context)

    event.Listener.register(CompileNotice)
    event.register("numba:compile", CompileNotice())  # type: ignore[no-untyped-call]
    return numba


def _knows_nrt() -> bool:
    from numba.core.cpu import CPUTargetOptions

    return hasattr(CPUTargetOptions, "_nrt")


def kernel(function: Function) -> Function:
    """Compile to machine code on the first call, without the interpreter lock, and keep the result on disk."""
    return cast("Function", Kernel(function, cache=True))


def inlined(function: Function) -> Function:
    """A small helper of kernels; the compiler inlines it, so it needs no cache of its own."""
    return cast("Function", Kernel(function))


def inline_no_refcount(function: Function) -> Function:
    """A small helper of kernels that neither makes nor returns an array: it reads and writes those it is given.

    Numba counts references to every array that a function receives, one by one even if they come in a named tuple; in
    helpers of a few operations that takes longer than the work (five times as long in the steps of a chain). The caller
    holds all of these arrays anyway. A helper that returns an array must not be marked in this way.
    """
    return cast("Function", Kernel(function, forceinline=True, refcounts=False))


def summing_kernel(function: Function) -> Function:
    """A helper of kernels that sums doubles: the compiler may add them up in an order that suits its vectors.

    There must be only one such order: these helpers are always inlined, so that a kernel holds one copy of each.
    """
    return cast("Function", Kernel(function, forceinline=True, fastmath={"reassoc", "nsz", "contract"}))


@inline_no_refcount
def copy_into(target: Any, source: Any) -> None:
    """`target[: len(source)] = source` for one-dimensional arrays; the slice would take seconds to compile."""
    for position in range(len(source)):
        target[position] = source[position]


@inline_no_refcount
def fill(target: Any, value: Any) -> None:
    """`target[:] = value` for a one-dimensional array, which takes longer to compile."""
    for position in range(len(target)):
        target[position] = value
