"""The CUDA kernels of the order-modular sums in plain Python: the same arrays, layout and numbering, logs for numbers.

Each method of `NaiveKernels` is the twin of one kernel in engines/cuda/kernels/order.cu and takes its arguments.
tests/tools/fake_cupy.py lets the engine itself run on them (`KERNELS`); cuda_walk.py runs them without it. The twins of
the other kernels are in cuda_structure.py, cuda_sampling.py and cuda_layers.py.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dagpost._tools.wide_floats import from_logs, to_logs

NOTHING = -np.inf


@dataclass(frozen=True)
class Launch:
    """What a kernel knows beside its arguments: the sizes it was compiled for, where it runs, and constant memory."""

    constants: dict[str, int]
    grid: tuple[int, int]
    block: int
    shared_bytes: int
    constant_memory: dict[str, bytearray]
    array_at: Callable[[int], np.ndarray]

    @property
    def threads(self) -> int:
        """Threads in the first dimension."""
        return self.grid[0] * self.block

    def constant(self, name: str, kind: Any, count: int) -> np.ndarray:
        """An array in constant memory."""
        return np.frombuffer(self.constant_memory[name], dtype=kind, count=count)

    def need_shared(self, size: int) -> None:
        """Fail where a kernel would write past the shared memory it was given."""
        assert self.shared_bytes >= size, f"the kernel needs {size} bytes of shared memory, got {self.shared_bytes}"


def squeeze(mask: int, bit: int) -> int:
    """A mask without the place `bit`."""
    return (mask & ((1 << bit) - 1)) | ((mask >> (bit + 1)) << bit)


def bits_of(mask: int) -> list[int]:
    """The elements of a mask, smallest first."""
    return [bit for bit in range(mask.bit_length()) if mask >> bit & 1]


def sum_one_bit(table: np.ndarray, bit: int, supersets: bool) -> None:
    """One step of the sums over subsets, or supersets, of a table of logs."""
    halves = table.reshape(-1, 2, 1 << bit)
    halves[:, int(not supersets)] = np.logaddexp(halves[:, 0], halves[:, 1])


@dataclass(frozen=True)
class Sizes:
    """The constants that order.cu is compiled with."""

    nodes: int
    low: int
    mid: int
    top: int
    slot_bits: int
    max_parents: int
    families: int
    row_sets: int
    constant_sets: int
    all_sets: int


@dataclass(frozen=True)
class Tables:
    """What the kernels look up: `struct Tables` of walk.cuh."""

    binomial: np.ndarray
    offset: np.ndarray
    bases: np.ndarray
    low_places: np.ndarray
    own_places: np.ndarray
    by_size: np.ndarray
    size_starts: np.ndarray


class NaiveKernels:
    """The kernels of order.cu, on logs."""

    def __init__(self, sizes: Sizes, tables: Tables) -> None:
        self.sizes, self.tables = sizes, tables
        self.below = sizes.low + sizes.mid

    def _choose(self, element: int, size: int) -> int:
        return int(self.tables.binomial[element, size])

    def _start(self, universe: int, size: int) -> int:
        return int(self.tables.offset[universe, size])

    def _level_above(self, leaf: int, bit: int, node: int) -> int:
        decided = leaf & ~((2 << bit) - 1) if bit >= 0 else leaf
        if node >= self.below:
            decided &= ~(1 << (node - self.below))
        return (decided & -decided).bit_length() - 1 if decided else self.sizes.top

    def _universe(self, level: int, node: int) -> int:
        below = self.below + level
        return below - 1 if node < below else below

    def _row(self, weights: np.ndarray, levels: np.ndarray, level: int, node: int) -> np.ndarray:
        if level == self.sizes.top:
            return weights[node * self.sizes.families :][: self.sizes.families]
        width = self._start(self.below + level, self.sizes.max_parents + 1)
        return levels[int(self.tables.bases[level]) + node * width :][:width]

    def _takes_part(self, leaf: int, node: int, backward: int) -> bool:
        return node < self.below or (leaf >> (node - self.below) & 1) != backward

    def _nodes_below(self, leaf: int, bit: int, backward: int) -> list[int]:
        own = self.below + bit
        others = range(own + 1, self.sizes.nodes)
        return [*range(own), *(node for node in others if self._takes_part(leaf, node, backward))]

    def _low_and_mid(self, node: int) -> tuple[int, int]:
        """So many low and mid nodes are there beside a node."""
        low, mid = self.sizes.low, self.sizes.mid
        return (low - 1 if node < low else low), (mid - 1 if low <= node < self.below else mid)

    def _shift(self, mids: int, first: int, size: int) -> int:
        return sum(self._choose(first + bit, size + 1 + position) for position, bit in enumerate(bits_of(mids)))

    def _by_slot(self, values: np.ndarray, *shape: int) -> np.ndarray:
        whole = (1 << self.sizes.slot_bits, self.sizes.nodes, *shape)
        return values[: int(np.prod(whole))].reshape(whole)

    def _rows(self, rows: np.ndarray) -> np.ndarray:
        return self._by_slot(rows, 1 << self.sizes.mid, self.sizes.row_sets)

    def _constant(self, constant: np.ndarray) -> np.ndarray:
        return self._by_slot(constant, self.sizes.constant_sets)

    def _given(self, given: np.ndarray) -> np.ndarray:
        return self._by_slot(given, 1 << self.sizes.mid, self.sizes.all_sets)

    def let_in(self, weights: np.ndarray, levels: np.ndarray, leaf: int, bit: int, backward: int) -> None:
        limit = self.sizes.max_parents
        for node in self._nodes_below(leaf, bit, backward):
            level = self._level_above(leaf, bit, node)
            universe, element = self._universe(level, node), self._universe(bit, node)
            source, target = self._row(weights, levels, level, node), self._row(weights, levels, bit, node)
            for size in range(limit + 1):
                count = self._choose(element, size)
                value = source[self._start(universe, size) :][:count]
                if size < limit:
                    with_it = self._start(universe, size + 1) + self._choose(element, size + 1)
                    value = np.logaddexp(value, source[with_it:][:count])
                target[self._start(element, size) :][:count] = value

    def expand(
        self,
        weights: np.ndarray,
        levels: np.ndarray,
        rows: np.ndarray,
        constant: np.ndarray,
        leaf: int,
        slot: int,
        backward: int,
    ) -> None:
        limit = self.sizes.max_parents
        for node in range(self.sizes.nodes):
            if not self._takes_part(leaf, node, backward):
                continue
            low, mid = self._low_and_mid(node)
            level = self._level_above(leaf, -1, node)
            universe = self._universe(level, node)
            source = self._row(weights, levels, level, node)
            for size in range(limit):
                count, room = self._choose(low, size), limit - size
                table = np.full((1 << mid, count), NOTHING)
                for mids in range(1 << mid):
                    if mids.bit_count() <= room:
                        begin = self._start(universe, size + mids.bit_count()) + self._shift(mids, low, size)
                        table[mids] = source[begin:][:count]
                for bit in range(mid):
                    for mids in range(1 << mid):
                        if mids >> bit & 1 and (mids >> bit).bit_count() <= room + 1:
                            table[mids] = np.logaddexp(table[mids], table[mids ^ 1 << bit])
                place = self._start(low, size)
                self._rows(rows)[slot, node, : 1 << mid, place : place + count] = table
            count = self._choose(low, limit)
            self._constant(constant)[slot, node, :count] = source[self._start(universe, limit) :][:count]

    def _places(self, bits: int) -> np.ndarray:
        return self.tables.low_places if bits == self.sizes.low else self.tables.own_places

    def _alpha(self, rows: np.ndarray, constant: np.ndarray, inner: int, node: int) -> np.ndarray:
        """Alpha of a node for every set of low nodes, beside the high nodes of a block."""
        limit, (bits, _) = self.sizes.max_parents, self._low_and_mid(node)
        slot, mids = inner >> self.sizes.mid, inner & ((1 << self.sizes.mid) - 1)
        if self.sizes.low <= node < self.below:
            mids = squeeze(mids, node - self.sizes.low)
        sets, everything = self._start(bits, limit), self._start(bits, limit + 1)
        table, places = np.full(1 << bits, NOTHING), self._places(bits)
        table[places[:sets]] = self._rows(rows)[slot, node, mids, :sets]
        table[places[sets:everything]] = self._constant(constant)[slot, node, : everything - sets]
        for bit in range(bits):
            sum_one_bit(table, bit, False)
        return table

    def _block(
        self, rows: np.ndarray, constant: np.ndarray, sums: np.ndarray, inner: int, outer: int, backward: bool
    ) -> None:
        low = self.sizes.low
        high = outer << (self.sizes.mid + self.sizes.slot_bits) | inner
        everything = (1 << (self.sizes.nodes - low)) - 1
        blocks = sums.reshape(-1, 1 << low)
        block = np.full(1 << low, NOTHING)
        for bit in bits_of(everything & ~high if backward else high):
            block = np.logaddexp(block, self._alpha(rows, constant, inner, low + bit) + blocks[high ^ 1 << bit])
        if backward and high == everything:
            block[-1] = 0.0
        if not backward and high == 0:
            block[0] = 0.0
        alphas = [self._alpha(rows, constant, inner, node) for node in range(low)]
        starts = self.tables.size_starts
        for size in range(low - 1, -1, -1) if backward else range(1, low + 1):
            for place in self.tables.by_size[starts[size] : starts[size + 1]].tolist():
                for node in range(low):
                    if bool(place >> node & 1) != backward:
                        term = alphas[node][squeeze(place, node)] + block[place ^ 1 << node]
                        block[place] = np.logaddexp(block[place], term)
        blocks[high] = block

    def forward_blocks(
        self, rows: np.ndarray, constant: np.ndarray, sums: np.ndarray, inners: np.ndarray, outer: int
    ) -> None:
        for inner in inners.tolist():
            self._block(rows, constant, sums, inner, outer, False)

    def backward_blocks(
        self, rows: np.ndarray, constant: np.ndarray, sums: np.ndarray, inners: np.ndarray, outer: int
    ) -> None:
        for inner in inners.tolist():
            self._block(rows, constant, sums, inner, outer, True)

    def gather(self, kept: np.ndarray, sums: np.ndarray, given: np.ndarray, outer: int) -> None:
        low, inner_bits = self.sizes.low, self.sizes.mid + self.sizes.slot_bits
        for inner in range(1 << inner_bits):
            high = outer << inner_bits | inner
            slot, mids = inner >> self.sizes.mid, inner & ((1 << self.sizes.mid) - 1)
            for node in range(self.sizes.nodes):
                if node >= low and high >> (node - low) & 1:
                    continue
                bits, _ = self._low_and_mid(node)
                table = np.full(1 << bits, NOTHING)
                for place in range(1 << low):
                    whole = high << low | place
                    if not whole >> node & 1:
                        target = squeeze(place, node) if node < low else place
                        table[target] = kept[inner << low | place] + sums[whole | 1 << node]
                for bit in range(bits):
                    sum_one_bit(table, bit, True)
                own_mids = squeeze(mids, node - low) if low <= node < self.below else mids
                count = self._start(bits, self.sizes.max_parents + 1)
                self._given(given)[slot, node, own_mids, :count] = table[self._places(bits)[:count]]

    def collect(self, gathered: np.ndarray, levels: np.ndarray, given: np.ndarray, leaf: int, slot: int) -> None:
        limit = self.sizes.max_parents
        for node in range(self.sizes.nodes):
            if not self._takes_part(leaf, node, 1):
                continue
            low, mid = self._low_and_mid(node)
            level = self._level_above(leaf, -1, node)
            universe = self._universe(level, node)
            target = self._row(gathered, levels, level, node)
            for size in range(limit + 1):
                count, room, place = self._choose(low, size), limit - size, self._start(low, size)
                table = self._given(given)[slot, node, : 1 << mid, place : place + count].copy()
                for bit in range(mid - 1, -1, -1):
                    for mids in range(1 << mid):
                        if mids >> bit & 1 and (mids >> bit).bit_count() <= room + 1:
                            table[mids ^ 1 << bit] = np.logaddexp(table[mids ^ 1 << bit], table[mids])
                for mids in range(1 << mid):
                    if mids.bit_count() <= room:
                        begin = self._start(universe, size + mids.bit_count()) + self._shift(mids, low, size)
                        target[begin : begin + count] = np.logaddexp(target[begin : begin + count], table[mids])

    def give_back(self, gathered: np.ndarray, levels: np.ndarray, leaf: int, bit: int) -> None:
        limit = self.sizes.max_parents
        for node in self._nodes_below(leaf, bit, 1):
            level = self._level_above(leaf, bit, node)
            universe, element = self._universe(level, node), self._universe(bit, node)
            source, target = self._row(gathered, levels, bit, node), self._row(gathered, levels, level, node)
            for size in range(limit + 1):
                count = self._choose(element, size)
                value = source[self._start(element, size) :][:count]
                begins = [self._start(universe, size)]
                if size < limit:
                    begins.append(self._start(universe, size + 1) + self._choose(element, size + 1))
                for begin in begins:
                    target[begin : begin + count] = np.logaddexp(target[begin : begin + count], value)
            source[: self._start(element, limit + 1)] = NOTHING


def in_logs(run: Callable[..., None], arguments: tuple[Any, ...]) -> None:
    """Run a twin that works on logs with arrays of wide floats; what it leaves alone keeps all its digits."""
    wide = [isinstance(argument, np.ndarray) and argument.dtype == np.int64 for argument in arguments]
    before = [to_logs(argument) if is_wide else argument for argument, is_wide in zip(arguments, wide, strict=True)]
    after = [logs.copy() if is_wide else logs for logs, is_wide in zip(before, wide, strict=True)]
    run(*after)
    for argument, was, logs, is_wide in zip(arguments, before, after, wide, strict=True):
        if is_wide and (changed := was != logs).any():
            argument[changed] = from_logs(logs[changed])


def _of_launch(launch: Launch) -> NaiveKernels:
    sizes = Sizes(**{field: launch.constants[field.upper()] for field in Sizes.__dataclass_fields__})
    pointers = launch.constant("tables", np.uint64, 7).tolist()
    binomial, offset, *others = (launch.array_at(pointer) for pointer in pointers)
    columns = sizes.max_parents + 3
    kinds = [np.int64, np.uint16, np.uint16, np.uint16, np.int32]
    assert binomial.dtype == offset.dtype == np.int32
    assert [table.dtype for table in others] == kinds
    return NaiveKernels(sizes, Tables(binomial.reshape(-1, columns), offset.reshape(-1, columns - 1), *others))


def _twin(name: str) -> Callable[..., None]:
    def run(launch: Launch, *arguments: Any) -> None:
        kernels = _of_launch(launch)
        sizes = kernels.sizes
        tile, groups, pad_bits = (launch.constants[constant] for constant in ("TILE", "GROUPS", "PAD_BITS"))
        assert launch.block == launch.constants["GROUP"] * groups or name in {"let_in", "give_back"}
        own = (1 << (sizes.low - 1)) + (1 << (sizes.low - 1) >> pad_bits) + 1
        whole = (1 << sizes.low) + (1 << sizes.low >> pad_bits) + 1
        if name.endswith("_blocks"):
            launch.need_shared(8 * (max(groups * whole, sizes.low * own) + (1 << sizes.low)))
            arguments = (*arguments[:3], arguments[3][: launch.grid[0]], arguments[4])
        elif name == "gather":
            launch.need_shared(8 * groups * whole)
            assert launch.grid == (1 << (sizes.mid + sizes.slot_bits), 1)
        else:
            assert launch.grid[1] == sizes.nodes, "one row of blocks a node"
        if name in {"expand", "collect"}:
            launch.need_shared(8 * tile << sizes.mid)
            assert launch.grid[0] * tile >= (sizes.row_sets if name == "expand" else sizes.all_sets)
        in_logs(getattr(kernels, name), arguments)

    return run


_NAMES = ("let_in", "expand", "forward_blocks", "backward_blocks", "gather", "collect", "give_back")
KERNELS = {name: _twin(name) for name in _NAMES}
