"""A table as JSON and plain arrays, for files that shall hold the rows themselves, and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.text import readable_level
from dagpost.data.table import Table


def rows_of(table: Table, labels: Sequence[Any] | None = None) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """A table as JSON and arrays; levels that are neither text nor numbers become text. `labels` are those of rows."""
    levels = [None if levels is None else [readable_level(level) for level in levels] for levels in table.levels]
    arrays: dict[str, NDArray[Any]] = {f"column{place}": column for place, column in enumerate(table.columns)}
    arrays |= {f"numbers{place}": numbers for place, numbers in enumerate(table.numbers) if numbers is not None}
    if table.counts is not None:
        arrays["counts"] = table.counts
    if table.interventions is not None:
        arrays["interventions"] = table.interventions
    if table.gap_count:
        arrays["gaps"] = np.packbits(np.asarray(table.gaps), axis=1)
    # A limit that is not there is nan in a file.
    arrays |= {
        f"bounds{place}": np.where(np.isfinite(own), own, np.nan)
        for place, own in enumerate(table.bounds)
        if own is not None
    }
    if table.row_numbers is not None:
        arrays["row_numbers"] = table.row_numbers.astype(np.int64)
    about: dict[str, Any] = {"names": list(table.names), "levels": levels}
    more = {"regimes": table.regimes, "in_order": table.in_order, "unordered": table.unordered}
    about |= {what: list(own) for what, own in more.items() if own}
    return {**about, "labels": list(labels)} if labels is not None else about, arrays


def table_of(about: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Table:
    """The table that `rows_of` took apart, once `data_schema.check_rows` has seen its parts.

    >>> from dagpost.data import datasets
    >>> table = datasets.load("iris")
    >>> table_of(*rows_of(table)).fingerprint() == table.fingerprint()
    True
    """
    names = tuple(map(str, about["names"]))
    levels = tuple(None if levels is None else tuple(levels) for levels in about["levels"])
    columns = tuple(arrays[f"column{place}"] for place in range(len(names)))
    counts, interventions = arrays.get("counts"), arrays.get("interventions")
    numbers = tuple(arrays.get(f"numbers{place}") for place in range(len(names)))
    bounds = tuple(_bounds_in(arrays, place) for place in range(len(names)))
    gaps = np.unpackbits(arrays["gaps"], axis=1, count=len(columns[0])).astype(bool) if "gaps" in arrays else None
    return Table(
        names,
        columns,
        levels,
        None if counts is None else counts.astype(np.int64),
        None if interventions is None else interventions.astype(np.uint64),
        numbers=tuple(None if own is None else own.astype(np.float64) for own in numbers),
        regimes=tuple(map(str, about.get("regimes", ()))),
        gaps=gaps,
        row_numbers=arrays["row_numbers"].astype(np.intp) if "row_numbers" in arrays else None,
        bounds=bounds if any(own is not None for own in bounds) else (),
        in_order=tuple(map(str, about.get("in_order", ()))),
        unordered=tuple(map(str, about.get("unordered", ()))),
    )


def _bounds_in(arrays: dict[str, NDArray[Any]], place: int) -> NDArray[np.float64] | None:
    """Between which numbers the censored cells of a column lie, if it has any."""
    own = arrays.get(f"bounds{place}")
    return None if own is None else np.where(np.isnan(own), [-np.inf, np.inf], own)
