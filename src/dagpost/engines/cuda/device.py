"""The CUDA device: is there one, what is free on it, and the kernels compiled for it.

The kernels are CUDA C++ in kernels/. CuPy compiles them when they are first needed and keeps them in its cache. All
sizes (layout.py, and those of the problem) are constants to the compiler, so that loops unroll; a new number of
variables costs a second or two once.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.resources import files
from importlib.util import find_spec
from typing import Any

from numpy.typing import NDArray

from dagpost._tools.memory import readable
from dagpost._tools.spelling import setting
from dagpost.errors import InputError, ResourceError

INSTALL = 'Install CuPy for your CUDA, for CUDA 13 with: pip install "dagpost[cuda]"'
_THREADS = f"Use {setting('engine', 'threads')}."


class DeviceError(InputError):
    """There is no CUDA device to work on."""


def load_cupy() -> Any:
    """CuPy, if it has a device to work on; otherwise an error that says what is missing."""
    try:
        import cupy
    except ImportError:
        raise DeviceError(
            f"{setting('engine', 'cuda')} needs CuPy, which is not installed. {INSTALL}; or use "
            f"{setting('engine', 'auto')}."
        ) from None
    needs = f"{setting('engine', 'cuda')} needs a CUDA device"
    try:
        count = cupy.cuda.runtime.getDeviceCount()
    except Exception as error:  # noqa: BLE001 (CuPy wraps every failure of the driver in a class of its own)
        raise DeviceError(f"{needs}: {error}. {_THREADS}") from None
    if count == 0:
        raise DeviceError(f"{needs}, and there is none. {_THREADS}")
    return cupy


def device_is_present() -> bool:
    """Whether engine='cuda' is available here."""
    if find_spec("cupy") is None:
        return False
    try:
        load_cupy()
    except DeviceError:
        return False
    return True


def free_bytes() -> int:
    """Memory of the device that can be taken now."""
    cupy = load_cupy()
    cupy.get_default_memory_pool().free_all_blocks()
    return int(cupy.cuda.runtime.memGetInfo()[0])


def shared_bytes() -> int:
    """Shared memory that a block of threads can have: 227 KB on an H200, 99 KB or less on a card for graphics."""
    runtime = load_cupy().cuda.runtime
    properties = runtime.getDeviceProperties(runtime.getDevice())
    # The second is what a block gets without asking, and the most on devices older than Volta.
    return int(max(properties.get("sharedMemPerBlockOptin", 0), properties["sharedMemPerBlock"]))


def require(needed: int, what: str, remedy: str) -> None:
    """Refuse, with both figures, what does not fit on the device."""
    free = free_bytes()
    if needed > free:
        raise ResourceError(
            f"{what} needs {readable(needed)} on the CUDA device, of which {readable(free)} are free: {remedy}"
        )


def require_for_nodes(nodes: int, needed: Callable[[int], int], what: str, alternative: str) -> None:
    """Refuse, with both figures and the largest number of nodes that fits, what does not fit on the device."""
    free = free_bytes()
    if needed(nodes) > free:
        largest = next((fewer for fewer in range(nodes - 1, 0, -1) if needed(fewer) <= free), 0)
        room = f"Leave columns out, use {setting('engine', 'threads')}, whose tables are in the memory of the machine"
        require(needed(nodes), what, f"up to {largest} variables fit. {room}, or use {alternative}")


def set_global(module: Any, name: str, values: NDArray[Any]) -> None:
    """Copy an array to a global variable of some kernels."""
    load_cupy().ndarray(values.shape, dtype=values.dtype, memptr=module.get_global(name)).set(values)


def compiled(names: tuple[str, ...], **constants: int) -> Any:
    """The kernels of some files, joined in this order, with these constants defined."""
    cupy = load_cupy()
    folder = files("dagpost.engines.cuda") / "kernels"
    source = "\n".join((folder / name).read_text() for name in names)
    options = ("-std=c++17", *(f"-D{name}={value}" for name, value in constants.items()))
    return cupy.RawModule(code=source, options=options)


@contextmanager
def left_clean() -> Iterator[None]:
    """Run with the device, and free what is no longer used, whatever ended the run."""
    cupy = load_cupy()
    try:
        yield
    except BaseException as error:
        # The arrays of the run live as long as the frames of its traceback.
        traceback.clear_frames(error.__traceback__)
        cupy.cuda.runtime.deviceSynchronize()
        raise
    finally:
        cupy.get_default_memory_pool().free_all_blocks()
