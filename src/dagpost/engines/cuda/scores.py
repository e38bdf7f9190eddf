"""Counting on a CUDA device: the sums over the cells of every set of columns, for tables of many rows.

The host merges equal rows and shares work between sets (scores/counting.py), which nothing beats while there are few
distinct rows. With many, every set costs one pass over them, and a device makes thousands of passes at once: one block
of threads per set, with its counters in shared memory. The sets must have few enough cells for that.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from dagpost.engines.cuda import device
from dagpost.engines.cuda.layout import SCORES_THREADS, USUAL_SIZES, Sizes
from dagpost.families.numbering import binomials, family_count

if TYPE_CHECKING:
    from dagpost._tools.arrays import Floats
    from dagpost.scores.cells import CellFunction
    from dagpost.scores.rows import Rows

#: Shared memory for the counters of a block of threads, and what its other variables take there.
_MOST_COUNTER_BYTES = 96_000
_OTHER_SHARED_BYTES = 4_096
#: Copies of the counters where a set has few cells: threads that hit the same cell wait less for each other.
_COPIES, _CELLS_WITH_COPIES = 8, 1024


def sum_cells(rows: Rows, cells: CellFunction, max_size: int, sizes: Sizes = USUAL_SIZES) -> Floats | None:
    """Row 0: `A` of every set of at most `max_size` columns, in their numbering; then `B` of every variant.

    None where the table is too small to be worth it, or where a set may have more cells than there is room for.
    """
    nodes, count = rows.codes.shape
    most_cells = int(np.prod(np.sort(rows.arities)[-max_size:].astype(np.float64)))
    if count < sizes.fewest_rows or nodes * count * 4 > device.free_bytes():
        return None
    copies = _COPIES if most_cells <= _CELLS_WITH_COPIES else 1
    shared = 4 * most_cells * copies
    if shared > min(_MOST_COUNTER_BYTES, device.shared_bytes() - _OTHER_SHARED_BYTES):
        return None
    cupy = device.load_cupy()
    by_node = np.argsort(rows.order)
    module = kernels_for(nodes, max_size, copies)
    arities = np.ascontiguousarray(rows.arities[by_node]).astype(np.int32)
    device.set_global(module, "arities", arities)
    kernel = module.get_function("sum_cells")
    kernel.max_dynamic_shared_size_bytes = shared
    codes, weights = cupy.asarray(rows.codes[by_node]), cupy.asarray(rows.weights)
    variants = len(cells.penalties)
    own_rows = len(cells.products) == 0 and len(cells.tables) > 1
    sets = family_count(nodes, max_size)
    totals = cupy.zeros((1 + variants, sets))
    fixed = (
        codes,
        weights,
        np.int32(count),
        cupy.asarray(cells.parameters),
        cupy.asarray(cells.penalties),
        np.int32(variants),
        np.int32(own_rows),
        np.float64(cells.strength),
        np.int32(cells.entropy),
    )
    first = 0
    for size in range(max_size + 1):
        of_size = int(binomials(max_size)[nodes, size])
        for start in range(0, of_size, sizes.sets_per_launch):
            blocks = min(sizes.sets_per_launch, of_size - start)
            place = (np.int32(size), np.int32(first + start), np.int32(start), np.int64(sets))
            kernel((blocks,), (SCORES_THREADS,), (*fixed, *place, totals), shared_mem=shared)
            cupy.cuda.get_current_stream().synchronize()
        first += of_size
    result: Floats = cupy.asnumpy(totals)
    return result


@lru_cache(maxsize=32)
def kernels_for(nodes: int, max_size: int, copies: int) -> Any:
    """The kernel compiled for a number of columns, the largest set and copies of the counters; with its binomials."""
    sizes = {"THREADS": SCORES_THREADS, "NODES": nodes, "MAX_SIZE": max_size, "COPIES": copies}
    module = device.compiled(("scores.cu",), **sizes)
    table = np.ascontiguousarray(binomials(max_size)[: nodes + 1, : max_size + 1]).astype(np.int32)
    device.set_global(module, "binomial", table)
    return module
