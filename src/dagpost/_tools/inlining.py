"""Helpers of kernels, compiled into the kernels that call them and nowhere else.

Numba compiles every function that a kernel calls as if Python called it as well: with wrappers that unpack Python
objects, optimised and turned into machine code on its own, and once more for each literal number it is called with.
None of that is used: the kernel holds a copy of the helper and optimises it again. Here a helper is only translated,
and the kernel optimises its copy. That halves the time in which a first answer compiles.

This module and `shipped.py` are the only ones that build on how Numba is made inside: a compiler of our own
(`pipeline_class`), a library that skips three of its steps, and a dispatcher.
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

    def get_pointer_to_function(self, _: str) -> int:
        self._ensure_finalized()
        return 0

    def _optimize_functions(self, module: Any) -> None:
        module.data_layout = self._codegen._data_layout

    def _optimize_final_module(self) -> None:
        pass

    @classmethod
    def _unserialize(cls, codegen: Any, state: Any) -> Any:
        """A kernel that calls another one, loaded from disk: that is whole."""
        codegen._library_class = JITCodeLibrary
        try:
            return JITCodeLibrary._unserialize(codegen, state)
        finally:
            codegen._library_class = cls

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True


class KernelCompiler(Compiler):  # type: ignore[misc]
    """Compiles a kernel, and everything that it calls as helpers: ours, and Numba's own."""

    def __init__(self, typing_context: Any, target_context: Any, _: Any, *rest: Any) -> None:
        target_context.refresh()
        self._codegen = target_context.codegen()
        library = JITCodeLibrary(self._codegen, "kernel")
        library.enable_object_caching()
        super().__init__(typing_context, target_context, library, *rest)

    def compile_extra(self, function: Any) -> Any:
        """Compile; Numba holds its lock meanwhile, so that no other thread sees the change."""
        before = self._codegen._library_class
        self._codegen._library_class = _HelperLibrary
        try:
            return super().compile_extra(function)
        finally:
            self._codegen._library_class = before


class Helper(CPUDispatcher):  # type: ignore[misc]
    """What the decorators of helpers return. Tests may call it from Python too; it is then compiled on its own."""

    def __init__(self, function: Any, options: dict[str, Any]) -> None:
        alone = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
        super().__init__(py_func=function, targetoptions={**options, **alone, "nopython": True})
        self._alone = numba.njit(**options)(function)

    def compile(self, signature: Any) -> Any:
        """One copy whether a number in a call is written out or not; the optimiser sees it in either case."""
        return super().compile(tuple(types.unliteral(kind) for kind in signature))

    def add_overload(self, compiled: Any) -> None:
        """Kept for kernels only: there is nothing in it that Python could call."""
        self.overloads[tuple(compiled.signature.args)] = compiled

    def _compile_for_args(self, *arguments: Any, **keywords: Any) -> Any:
        return self._alone._compile_for_args(*arguments, **keywords)
