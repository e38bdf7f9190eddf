"""An engine that keeps the exact sums on a CUDA device; everything else runs on threads of this process."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dagpost.engines.base import Engine
from dagpost.engines.cuda import device
from dagpost.engines.threads import ThreadEngine

if TYPE_CHECKING:
    from dagpost._tools.arrays import Floats
    from dagpost.engines.cuda.layout import Sizes
    from dagpost.engines.host.backend import ExactBackend
    from dagpost.scores.cells import CellFunction
    from dagpost.scores.rows import Rows

#: With fewer variables the threads of any machine are done before a device has begun.
_FEWEST_NODES = 20
#: How many parents there may be matters little to the memory of a table.
_USUAL_PARENTS = 5


class CudaEngine(ThreadEngine):
    """Tables over all sets of variables on the current CUDA device, all other work on `threads` threads.

    Raises `DeviceError` where there is no CuPy or no device. `sizes` says how much the device takes on at once; the
    default suits every device that dagpost has run on.
    """

    name = "cuda"
    summary = "tables on a CUDA device"

    def __init__(self, threads: int | None = None, *, sizes: Sizes | None = None) -> None:
        from dagpost.engines.cuda.layout import USUAL_SIZES

        super().__init__(threads)
        self.sizes = USUAL_SIZES if sizes is None else sizes
        device.load_cupy()

    @classmethod
    def suits(cls, nodes: int) -> bool:
        """Whether there are enough variables, and a device that has room for their tables."""
        if nodes < _FEWEST_NODES or not device.device_is_present():
            return False
        from dagpost.engines.cuda import order

        return order.fits(nodes, _USUAL_PARENTS)

    @property
    def tasks(self) -> Engine:
        """The threads: chains and replicates do not run on the device."""
        return ThreadEngine(self.workers)

    def backend(self) -> ExactBackend:
        """The exact sums on the device."""
        from dagpost.engines.cuda.backend import CudaBackend

        return CudaBackend(self)

    def sum_cells(self, rows: Rows, cells: CellFunction, max_size: int) -> Floats | None:
        """The sums that scores take over the cells of every set of columns; None where the host is the better place."""
        from dagpost.engines.cuda.scores import sum_cells

        with device.left_clean():
            return sum_cells(rows, cells, max_size, self.sizes)
