"""Short names for the kinds of arrays that kernels take, and matrices over pairs of variables as tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pandas as pd

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]
#: The code of a level of a discrete column.
Codes = NDArray[np.uint16]
#: Counts of rows, and numbers of rows or cells.
Counts = NDArray[np.uint32]
#: Sets of nodes as bit masks.
Masks = NDArray[np.uint64]
#: Wide floats (wide_floats.py).
Wide = NDArray[np.int64]
#: Binary exponents that stand beside doubles.
Exponents = NDArray[np.int32]


def labelled(matrix: Floats, names: Sequence[str], rows: str = "from", columns: str = "to") -> pd.DataFrame:
    """A matrix over pairs of variables as a table, whose numbers may be changed without changing the matrix."""
    import pandas as pd

    return pd.DataFrame(matrix, pd.Index(names, name=rows), pd.Index(names, name=columns), copy=True)
