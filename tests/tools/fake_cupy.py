"""A stand-in for CuPy on NumPy, with the plain twins of the kernels: the CUDA engine runs where there is no device.

It has what the engine uses and is as strict as a device: a kernel gets exactly the types its source asks for, whole
arrays and no views, a grid and shared memory within the limits, and no array of the host; memory that was not written
holds nonsense. `installed` puts it in the place of CuPy. An engine with `SMALL_SIZES` has groups of nodes so small that
a handful of variables already makes several steps, slots and tiles.
"""

from __future__ import annotations

import importlib.machinery
import re
import sys
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
from tests.naive import cuda as naive_cuda
from tests.naive import cuda_layers as naive_cuda_layers
from tests.naive import cuda_sampling as naive_cuda_sampling
from tests.naive import cuda_structure as naive_cuda_structure
from tests.naive.cuda import Launch

from dagpost.engines.cuda.layout import Sizes

SMALL_SIZES = Sizes(
    low_nodes=3,
    mid_nodes=2,
    slot_bits=1,
    layer_entries=1 << 7,
    folded_nodes=2,
    fewest_rows=100,
    sets_per_launch=7,
)
KERNELS = {
    **naive_cuda.KERNELS,
    **naive_cuda_structure.KERNELS,
    **naive_cuda_sampling.KERNELS,
    **naive_cuda_layers.KERNELS,
}
#: The limits of an H200.
MOST_THREADS = 1024
MOST_ROWS_OF_BLOCKS = 65_535
MOST_SHARED_BYTES = 227 << 10
SHARED_BYTES_UNASKED = 48 << 10
CONSTANT_BYTES = 64 << 10
MEMORY_BYTES = 16 << 30

#: What the types of CUDA C++ are to NumPy.
TYPES = {
    "wide": np.int64,
    "long long": np.int64,
    "mask_t": np.uint64,
    "int": np.int32,
    "unsigned int": np.uint32,
    "unsigned short": np.uint16,
    "double": np.float64,
}
KERNEL_IN_SOURCE = re.compile(r'extern "C" __global__ void\s+(?:__launch_bounds__\([^)]*\)\s*)?(\w+)\(([^)]*)\)')


class Memory:
    """The memory of the device: how much there is, and what arrays hold of it."""

    def __init__(self) -> None:
        self.total = MEMORY_BYTES
        self.taken = 0

    def take(self, array: Array) -> None:
        self.taken += array.nbytes
        weakref.finalize(array, self._release, array.nbytes).atexit = False

    def _release(self, size: int) -> None:
        self.taken -= size


memory = Memory()
_arrays_by_address: weakref.WeakValueDictionary[int, Array] = weakref.WeakValueDictionary()


class Array(np.ndarray):
    """`cupy.ndarray`: refuses to work with arrays of the host."""

    def __new__(cls, shape: Any, dtype: Any = float, memptr: bytearray | None = None) -> Array:
        return super().__new__(cls, shape, dtype=dtype, buffer=memptr)

    def __array_finalize__(self, source: Any) -> None:
        if self.base is None:
            memory.take(self)

    def __array_ufunc__(self, function: Any, method: str, *inputs: Any, **options: Any) -> Any:
        if any(type(value) is np.ndarray and value.ndim for value in inputs):
            raise TypeError(f"{function.__name__}: arrays of the host and of the device do not mix")
        plain = [np.asarray(value) if isinstance(value, Array) else value for value in inputs]
        if "out" in options:
            options["out"] = tuple(np.asarray(value) for value in options["out"])
        result = getattr(function, method)(*plain, **options)
        return asarray(result) if isinstance(result, np.ndarray) else result

    @property
    def data(self) -> SimpleNamespace:  # type: ignore[override]
        """Where the array is."""
        address = self.__array_interface__["data"][0]
        _arrays_by_address[address] = self
        return SimpleNamespace(ptr=address)

    def set(self, values: np.ndarray) -> None:
        """Copy from the host."""
        if type(values) is not np.ndarray or values.dtype != self.dtype or values.shape != self.shape:
            raise ValueError(f"an array of the host of shape {self.shape} and type {self.dtype} is asked for")
        self[...] = values


def array_at(address: int) -> np.ndarray:
    """What a pointer points to, as long as somebody holds it."""
    return np.asarray(_arrays_by_address[address])


def empty(shape: Any, dtype: Any = float) -> Array:
    """Memory full of nonsense: what is never written must not be read."""
    kind = np.dtype(dtype)
    return full(shape, np.nan if kind.kind == "f" else np.iinfo(kind).max // 2, kind)


def empty_like(values: Array) -> Array:
    return empty(values.shape, values.dtype)


def full(shape: Any, value: Any, dtype: Any = float) -> Array:
    result = Array(shape, dtype)
    result[...] = value
    return result


def zeros(shape: Any, dtype: Any = float) -> Array:
    return full(shape, 0, dtype)


def asarray(values: Any) -> Array:
    """Onto the device, unless it is there."""
    if isinstance(values, Array):
        return values
    result = Array(np.shape(values), np.asarray(values).dtype)
    result[...] = values
    return result


def asnumpy(values: Array) -> np.ndarray:
    """Into the memory of the host."""
    return np.array(values, subok=False)


def arange(count: int, dtype: Any = None) -> Array:
    return asarray(np.arange(count, dtype=dtype))


def unique(values: Array, return_inverse: bool) -> tuple[Array, Array]:
    assert return_inverse
    found, inverse = np.unique(asnumpy(values), return_inverse=True)
    return asarray(found), asarray(inverse)


def flatnonzero(values: Array) -> Array:
    return asarray(np.flatnonzero(asnumpy(values)))


def cumsum(values: Array) -> Array:
    return asarray(np.cumsum(asnumpy(values)))


class RawModule:
    """The kernels of a source, for the sizes among the options."""

    def __init__(self, code: str, options: tuple[str, ...]) -> None:
        definitions = [option[2:].split("=") for option in options if option.startswith("-D")]
        self.constants = {name: int(value) for name, value in definitions}
        self.signatures = {name: _parameters(text) for name, text in KERNEL_IN_SOURCE.findall(code)}
        self._constant_names = set(re.findall(r"__constant__ \w+ (\w+)", code))
        self.constant_memory: dict[str, bytearray] = {}
        self.code = code

    def get_function(self, name: str) -> Kernel:
        return Kernel(self, name, self.signatures[name])

    def get_global(self, name: str) -> bytearray:
        assert name in self._constant_names, f"there is no {name!r} in constant memory"
        return self.constant_memory.setdefault(name, bytearray(CONSTANT_BYTES))


def _parameters(text: str) -> list[tuple[str, bool, bool]]:
    """Type, whether it is an array, and whether it may only be read, of every parameter."""
    found = []
    for parameter in text.replace("\n", " ").split(","):
        kind = re.fullmatch(r"\s*(const )?\s*([\w ]+?)\s*(\*?)\s*\w+\s*", parameter)
        assert kind is not None, parameter
        found.append((kind[2], bool(kind[3]), bool(kind[1])))
    return found


class Kernel:
    """A function that looks like a kernel and runs its twin."""

    def __init__(self, module: RawModule, name: str, parameters: list[tuple[str, bool, bool]]) -> None:
        self.module, self.name, self.parameters = module, name, parameters
        self.max_dynamic_shared_size_bytes = SHARED_BYTES_UNASKED

    def __call__(
        self, grid: tuple[int, ...], block: tuple[int, ...], arguments: tuple[Any, ...], *, shared_mem: int = 0
    ) -> None:
        columns, rows = (*grid, 1)[:2]
        assert columns >= 1, "an empty grid"
        assert 1 <= rows <= MOST_ROWS_OF_BLOCKS, f"a grid of {rows} rows"
        assert 1 <= block[0] <= MOST_THREADS
        assert shared_mem <= min(max(self.max_dynamic_shared_size_bytes, SHARED_BYTES_UNASKED), MOST_SHARED_BYTES)
        assert len(arguments) == len(self.parameters), f"{self.name} takes {len(self.parameters)} arguments"
        pairs = zip(arguments, self.parameters, strict=True)
        checked = [self._checked(place, *pair) for place, pair in enumerate(pairs)]
        launch = Launch(
            self.module.constants, (columns, rows), block[0], shared_mem, self.module.constant_memory, array_at
        )
        KERNELS[self.name](launch, *checked)

    def _checked(self, place: int, argument: Any, parameter: tuple[str, bool, bool]) -> Any:
        kind, is_array, read_only = parameter
        where = f"argument {place} of {self.name}"
        assert argument.dtype == TYPES[kind], f"{where} must be {kind}, is {argument.dtype}"
        assert isinstance(argument, Array) == is_array, f"{where} is on the wrong side"
        if not is_array:
            return argument.item()
        assert argument.flags.c_contiguous, f"{where} is a view with gaps"
        view = np.asarray(argument).reshape(-1)
        view.flags.writeable = not read_only
        return view


def as_module() -> ModuleType:
    """What `import cupy` gives."""
    module: Any = ModuleType("cupy")
    module.__spec__ = importlib.machinery.ModuleSpec("cupy", None)
    for function in (empty, empty_like, full, zeros, asarray, asnumpy, arange, unique, flatnonzero, cumsum):
        setattr(module, function.__name__, function)
    module.ndarray, module.RawModule = Array, RawModule
    module.get_default_memory_pool = lambda: SimpleNamespace(free_all_blocks=lambda: None)
    runtime = SimpleNamespace(
        getDeviceCount=lambda: 1,
        memGetInfo=lambda: (memory.total - memory.taken, memory.total),
        deviceSynchronize=lambda: None,
        getDevice=lambda: 0,
        getDeviceProperties=lambda _: {"sharedMemPerBlock": 48 << 10, "sharedMemPerBlockOptin": MOST_SHARED_BYTES},
    )
    stream = SimpleNamespace(synchronize=lambda: None)
    module.cuda = SimpleNamespace(runtime=runtime, get_current_stream=lambda: stream)
    return module  # type: ignore[no-any-return]


def _forget_kernels() -> None:
    from dagpost.engines.cuda import layers, order, sampling, scores, structure

    for module in (layers, order, sampling, scores, structure):
        module.kernels_for.cache_clear()


@contextmanager
def installed() -> Iterator[ModuleType]:
    """Run the CUDA engine on the twins."""
    _forget_kernels()
    module = as_module()
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "cupy", module)
        yield module
    _forget_kernels()
