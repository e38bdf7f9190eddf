"""Short names for the kinds of arrays that kernels take."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
#: Sets of nodes as bit masks.
Masks = NDArray[np.uint64]
#: Wide floats (wide_floats.py).
Wide = NDArray[np.int64]
#: Binary exponents that stand beside doubles.
Exponents = NDArray[np.int32]
