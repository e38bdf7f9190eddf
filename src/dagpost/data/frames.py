"""Whatever a user has, as named columns of cells: data frames, arrays, files.

Names that are missing or used twice are refused here; what the cells mean is for others to decide. No cell is copied.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from dagpost._tools.spelling import either
from dagpost._tools.text import shortened
from dagpost.data import datasets
from dagpost.data.files import read_frame
from dagpost.errors import InputError

#: What a first column without a name is called, as pandas calls it: most likely row numbers that were saved along.
ROW_NUMBERS = "Unnamed: 0"


def frame_of(path: str | os.PathLike[str]) -> Any:
    """What `read_frame` gives; the name of a bundled data set in place of a file is an error that says so."""
    if os.fspath(path) in datasets.names() and not os.path.exists(path):
        raise InputError(
            f"{path}: there is no such file, but there is a bundled data set of that name: "
            + either(f'dagpost.datasets.load("{path}").', f"dagpost data export {path} -o {path}.csv.")
        )
    return read_frame(path)


def named_cells(data: Any) -> tuple[list[str], list[Any]]:
    """The names and the cells of the columns, in NumPy arrays or narwhals series.

    A first column without a name is called `ROW_NUMBERS`.
    """
    if isinstance(data, np.ndarray):
        return _columns_of_array(data)
    import narwhals as nw

    data = nw.to_native(data, pass_through=True)
    if nw.dependencies.is_pandas_dataframe(data):
        # narwhals refuses names that are not unique strings; ours must be checked, not its message shown.
        names = ["" if _is_missing(name) else str(name) for name in data.columns]
        check_names(names)
        data = data.set_axis(names, axis=1)
    elif nw.dependencies.is_pyarrow_table(data):
        check_names(data.column_names)
    try:
        frame = nw.from_native(data, eager_only=True)
    except TypeError:
        remedy = " Collect it first: data.collect()." if hasattr(data, "collect") else ""
        raise InputError(
            "A table must be a pandas, polars or pyarrow table, a 2-D NumPy array, or the path of a CSV or "
            f"Parquet file. Got {type(data).__module__}.{type(data).__name__} instead.{remedy}"
        ) from None
    names = [ROW_NUMBERS if not place and not name.strip() else name for place, name in enumerate(frame.columns)]
    check_names(names)
    return names, [frame[name] for name in frame.columns]


def _columns_of_array(data: Any) -> tuple[list[str], list[Any]]:
    if data.ndim != 2 or data.dtype.names is not None:
        raise InputError(
            f"An array must have 2 dimensions, rows and columns. Got shape {data.shape}: reshape it, or "
            "give a data frame."
        )
    if data.dtype.kind == "c":
        raise InputError("Complex data not supported: take the real part, or the modulus, of the numbers first.")
    if data.shape[1] == 0:
        raise InputError(
            f"The array has 0 feature(s) (shape={data.shape}) while a minimum of 2 is required: give it columns."
        )
    return [f"V{i}" for i in range(data.shape[1])], list(data.T)


def check_names(names: Sequence[str]) -> None:
    """Refuse names that are used twice, and columns without a name other than the first."""
    for position, name in enumerate(names):
        if position and not name.strip():
            raise no_name(position, len(names))
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        places = [str(position + 1) for position, name in enumerate(names) if name == repeated[0]]
        raise InputError(
            f"Column names must be different. {shortened([repr(name) for name in repeated])} "
            f"{'is' if len(repeated) == 1 else 'are'} used more than once ({repeated[0]!r} by columns "
            f"{', '.join(places)}): rename them (is there a line of names at the top?)."
        )


def no_name(position: int, columns: int) -> InputError:
    """The error for a column without a name."""
    return InputError(
        f"Column {position + 1} of {columns} has no name. Every column needs one: name it, or "
        "leave it out (is it an index that was saved along? then save with index=False)."
    )


def _is_missing(name: object) -> bool:
    return name is None or (isinstance(name, float) and math.isnan(name))
