"""Helpers of kernels, compiled into the kernels that call them and nowhere else.

Numba compiles every function that a kernel calls as if it were called from Python as well: with wrappers that unpack
Python objects, optimised and turned into machine code on its own, and once more for each literal number it is called
with. All of that is thrown away when the kernel is optimised, which holds a copy of the helper. Here a helper is only
translated; the kernel optimises its copy. That halves the time a first answer takes.

This is the one place that builds on how Numba is made inside: a compiler of one's own (`pipeline_class`), a library
that skips two of its steps, and a dispatcher.
"""

from __future__ import annotations

from typing import Any

import numba
from numba.core import types
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.registry import CPUDispatcher


class _WithoutEnvironment:
    """The code generator of a helper, which has no address of its own at which constants could be stored."""

    def __init__(self, codegen: Any) -> None:
        self._codegen = codegen

    def __getattr__(self, name: str) -> Any:
        return getattr(self._codegen, name)

    def set_env(self, *_: Any) -> None:
        pass


class _HelperLibrary(JITCodeLibrary):  # type: ignore[misc]
    """The code of a helper and of what it calls: linked, and left to the kernel to optimise."""

    @property
    def codegen(self) -> Any:
        return _WithoutEnvironment(self._codegen)

    def get_pointer_to_function(self, name: str) -> int:
        self._ensure_finalized()
        return 0

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True


class _HelperCompiler(Compiler):  # type: ignore[misc]
    def __init__(self, typing_context: Any, target_context: Any, library: Any, *rest: Any) -> None:
        target_context.refresh()
        super().__init__(typing_context, target_context, _HelperLibrary(target_context.codegen(), "helper"), *rest)


class Helper(CPUDispatcher):  # type: ignore[misc]
    """What the decorators of helpers return. Tests may call it from Python too; it is then compiled on its own."""

    def __init__(self, function: Any, options: dict[str, Any]) -> None:
        alone = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
        super().__init__(
            py_func=function, targetoptions={**options, **alone, "nopython": True}, pipeline_class=_HelperCompiler
        )
        self._alone = numba.njit(**options)(function)

    def compile(self, signature: Any) -> Any:
        """One copy whether a number in a call is written out or not; the optimiser sees it in either case."""
        return super().compile(tuple(types.unliteral(kind) for kind in signature))

    def add_overload(self, compiled: Any) -> None:
        """Kept for kernels only: there is nothing in it that Python could call."""
        self.overloads[tuple(compiled.signature.args)] = compiled

    def _compile_for_args(self, *arguments: Any, **keywords: Any) -> Any:
        return self._alone._compile_for_args(*arguments, **keywords)
