"""Kernels that were compiled before the package was installed.

A wheel for one platform and one Python holds the kernels of the common commands as machine code, made by
`tools/compile_ahead.py`, so that a first answer does not wait for the compiler. They are used where they fit: the same
Numba, the same source files, a processor that has what they need. In every other case, and where a file is damaged, the
kernel is compiled as it would be without them, and kept in Numba's cache.

Numba keeps compiled functions as pickles, and a pickle can run anything. These are part of the installed package, as
its modules are, and are read from there alone; who can change them can change the modules too.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import pickle
import platform
import sys
from functools import cache
from pathlib import Path
from typing import Any

import numba
from llvmlite import binding
from numba.core import config
from numba.core.caching import FunctionCache
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps

from dagpost._tools.source_stamps import source_digest

FOLDER = Path(__file__).parents[1] / "_compiled"
MANIFEST = "manifest.json"
#: What the kernels of a wheel may use: nearly every x86 processor since 2015 has it, and NumPy asks for not much less.
FEATURES = {"x86-64-v3": ["avx", "avx2", "bmi", "bmi2", "cx16", "f16c", "fma", "lzcnt", "movbe", "popcnt", "sse4.2"]}
#: What reading a file that does not fit can end in; the kernel is compiled then.
_UNFIT = (OSError, ValueError, KeyError, IndexError, TypeError, AttributeError, ImportError, EOFError, RuntimeError)


class KernelCache(FunctionCache):
    """Where a kernel is looked for before it is compiled: among those that came with the package, then on disk."""

    def __init__(self, function: Any) -> None:
        super().__init__(function)
        with contextlib.suppress(AttributeError):
            self._cache_file._source_stamp = source_digest(Path(function.__code__.co_filename))

    def load_overload(self, signature: Any, target_context: Any) -> Any:
        """The compiled function, or None."""
        target_context.refresh()
        shipped = load(self._py_func, signature, target_context)
        if shipped is not None:
            return shipped
        try:
            return super().load_overload(signature, target_context)
        except _UNFIT:
            # Kept by an earlier version, with types that have since moved: begin again.
            self.flush()
            return None


def load(function: Any, signature: Any, target_context: Any) -> Any:
    """The compiled function as it came with the package; None where it did not, or does not fit."""
    try:
        place = f"{function.__module__}.{function.__qualname__}"
        entry = _kernels()[place]
        if entry["sources"] != source_digest(Path(function.__code__.co_filename)):
            return None
        content = (FOLDER / place).read_bytes()
        if hashlib.sha256(content).hexdigest() != entry["content"]:
            return None
        parts = pickle.loads(content)
        return CompileResult._rebuild(target_context, *pickle.loads(parts[str(signature)]))
    except (*_UNFIT, pickle.UnpicklingError):
        return None


def save(folder: Path, processor: str, kernels: dict[str, Any]) -> None:
    """Write dispatchers, by place, with everything they have compiled in this process."""
    entries = {}
    for place, dispatcher in kernels.items():
        found = {str(signature): dumps(made._reduce()) for signature, made in dispatcher.overloads.items()}
        content = pickle.dumps(found, protocol=5)
        (folder / place).write_bytes(content)
        sources = source_digest(Path(dispatcher.py_func.__code__.co_filename))
        entries[place] = {"sources": sources, "content": hashlib.sha256(content).hexdigest()}
    manifest = {"made_with": _made_with(), "features": FEATURES.get(processor, []), "kernels": entries}
    (folder / MANIFEST).write_text(json.dumps(manifest, indent=1), encoding="utf-8")


@cache
def _kernels() -> dict[str, Any]:
    """The kernels that came with the package, if they fit this computer; read once."""
    try:
        manifest = json.loads((FOLDER / MANIFEST).read_text(encoding="utf-8"))
        # Who names a processor wants code for that one.
        if config.CPU_NAME is not None or manifest["made_with"] != _made_with():
            return {}
        there = binding.get_host_cpu_features()
        if not all(there.get(feature) for feature in manifest["features"]):
            return {}
        kernels: dict[str, Any] = manifest["kernels"]
        return kernels
    except _UNFIT:
        return {}


def _made_with() -> dict[str, Any]:
    """What compiled code depends on beside its source and the processor."""
    return {
        "numba": numba.__version__,
        "llvmlite": binding.llvm_version_info[0],
        "python": f"{sys.implementation.cache_tag}{sys.abiflags}",
        "platform": [sys.platform, platform.machine()],
        "short vectors": bool(config.USING_SVML),
    }
