"""What the parts of a model file about its data must be: what was counted, the rows, and the table of other choices.

And what all parts begin with: the names of the variables, which say how many there are.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.schema import (
    ArrayRule,
    Rule,
    Sizes,
    check_arrays,
    check_fields,
    counts,
    level,
    list_of,
    mapping,
    masks,
    number,
    numbers,
    optional,
    probabilities,
    require,
    text,
    truth,
    whole,
    wholes,
)
from dagpost.families.parent_lists import MOST_COLUMNS

Arrays = Mapping[str, NDArray[Any]]

NAMES = list_of(text, "nodes", distinct=True)
LEVELS = Rule(
    "a list of different levels",
    lambda value, sizes: list_of(level, distinct=True).holds(value, sizes) and len(value) > 0,
)

#: Numbers of nats: log weights and log evidences.
NATS = 1e15
#: A value of what a model averages over: a number, or what a kind of model is called.
VALUE = Rule("a number from 0, or text", lambda value, sizes: isinstance(value, str) or number(0.0).holds(value, sizes))
#: What a model averages over.
MIXTURE = optional(
    mapping(
        {
            "settings": list_of(
                mapping(
                    {
                        "setting": text,
                        "values": list_of(VALUE),
                        "shares": list_of(number(0.0, 1.0 + 1e-9)),
                        "fixed": truth,
                    },
                    may_lack=("fixed",),
                )
            ),
            "shares": list_of(number(0.0, 1.0 + 1e-9), "cells"),
            "structure_log_evidences": list_of(optional(number(-NATS, NATS)), "cells"),
            "log_priors": list_of(number(-NATS, NATS), "cells"),
            "ordinary": whole(),
            "disagreement": text,
        },
        # Averages over completed tables have no weights of their own.
        may_lack=("structure_log_evidences", "log_priors", "ordinary", "disagreement"),
    )
)

STATISTICS_FIELDS: Mapping[str, Mapping[str, Rule]] = {
    "discrete": {"names": NAMES, "levels": list_of(LEVELS, "nodes")},
    "gaussian": {"names": NAMES},
    "mixed": {"names": NAMES, "levels": list_of(optional(LEVELS), "nodes")},
}
STATISTICS_ARRAYS: Mapping[str, Mapping[str, ArrayRule]] = {
    "discrete": {
        "children": wholes("counted families"),
        "parents": masks("counted families"),
        "starts": wholes("ends of families"),
        "cells": wholes("cells", most=2**63 - 1),
        "counts": counts("cells", least=1),
    },
    "gaussian": {
        "centre": numbers("nodes"),
        "deviations": numbers("nodes", least=1e-300, optional=True),
        "group_of": wholes("nodes", most=MOST_COLUMNS),
        "observations": numbers("groups", least=0.0, most=2.0**53),
        "means": numbers("groups", "nodes"),
        "scatters": numbers("groups", "nodes", "nodes"),
    },
    "mixed": {
        "levels_children": wholes("counted families"),
        "levels_parents": masks("counted families"),
        "levels_starts": wholes("ends of families"),
        "levels_cells": wholes("cells", most=2**63 - 1),
        "levels_counts": counts("cells", least=1),
        "numbers_centre": numbers("columns of numbers"),
        "numbers_deviations": numbers("columns of numbers", least=1e-300),
        "numbers_observations": numbers("groups", least=0.0, most=2.0**53),
        "numbers_means": numbers("groups", "columns of numbers"),
        "numbers_scatters": numbers("groups", "columns of numbers", "columns of numbers"),
        "run_of": wholes("columns of numbers", most=MOST_COLUMNS),
        "set_runs": wholes("sets of parents", most=MOST_COLUMNS),
        "set_masks": masks("sets of parents"),
        "starts": wholes("ends of sets"),
        "configurations": wholes("combinations", most=2**63 - 1),
    },
}
BACKGROUND_ARRAYS: Mapping[str, ArrayRule] = {
    "levels": wholes("combinations", "nodes"),
    "shares": probabilities("combinations"),
    "means": numbers("combinations", "nodes", nan=True),
}
ROWS_FIELDS: Mapping[str, Rule] = {
    "names": NAMES,
    "levels": list_of(optional(LEVELS), "nodes"),
    "labels": list_of(level, "rows of the data"),
    "in_order": list_of(text, distinct=True),
    "unordered": list_of(text, distinct=True),
}
ROWS_ARRAYS: Mapping[str, ArrayRule] = {
    "counts": counts("rows", optional=True),
    "interventions": masks("rows", optional=True),
    "row_numbers": wholes("rows", optional=True),
    #: Eight cells of a column a byte.
    "gaps": ArrayRule(("nodes", "bytes of a column"), "u", 0, 255, optional=True),
}
SENSITIVITY_FIELDS: Mapping[str, Rule] = {
    "summary": text,
    "variations": list_of(list_of(text, 3), "variations"),
    "required": list_of(list_of(whole(0, "nodes", 1), 2)),
    "left_out": list_of(text),
    "exogenous": list_of(text),
}
SENSITIVITY_ARRAYS: Mapping[str, ArrayRule] = {
    "joined": probabilities("choices", "nodes", "nodes"),
    "compelled": probabilities("choices", "nodes", "nodes", nan=True, optional=True),
}


def sizes_of(about: Mapping[str, Any]) -> Sizes:
    """How many nodes there are, once that is a possible number."""
    sizes = Sizes()
    check_fields({"names": NAMES}, about, sizes)
    require(1 <= sizes["nodes"] <= MOST_COLUMNS, f"{sizes['nodes']} variables")
    return sizes


def check_statistics(about: Mapping[str, Any], arrays: Arrays) -> None:
    """The same for what was counted for predictions."""
    kind = about.get("kind")
    require(isinstance(kind, str) and kind in STATISTICS_FIELDS, f"no statistics of kind {kind!r} are known")
    sizes = sizes_of(about)
    check_fields(STATISTICS_FIELDS[str(kind)], about, sizes, within="statistics: ")
    check_arrays(STATISTICS_ARRAYS[str(kind)], arrays, sizes)


def check_regressions(about: Mapping[str, Any], arrays: Arrays) -> None:
    """The same for regressions that stand for rows; who makes models of their arrays checks what those are."""
    check_fields({"observations": number(0.0, 2.0**53)}, about, Sizes(), within="regressions: ")
    for name, array in arrays.items():
        require(array.dtype.kind in "fui", f"regressions: {name} holds {array.dtype}")
        require(array.dtype.kind != "f" or bool(np.isfinite(array).all()), f"regressions: {name} is not finite")
    lacking = {"children", "parents", "people", "quartiles", "means", "exclusive"} - arrays.keys()
    require(not lacking, f"regressions: {min(lacking, default='')} is lacking")


def check_background(about: Mapping[str, Any], arrays: Arrays) -> None:
    """The same for how exogenous columns are distributed."""
    del about
    check_arrays(BACKGROUND_ARRAYS, arrays, Sizes())


def check_rows(about: Mapping[str, Any], arrays: Arrays) -> None:
    """The same for the rows of a table."""
    sizes = sizes_of(about)
    check_fields(ROWS_FIELDS, about, sizes, may_lack=("labels", "in_order", "unordered"), within="rows: ")
    for place, levels in enumerate(about["levels"]):
        last = 0 if levels is None else len(levels) - 1
        # A gap in a column of numbers is nan.
        column = numbers("rows", nan=True) if levels is None else ArrayRule(("rows",), "u", 0, last)
        own = {
            f"column{place}": column,
            f"numbers{place}": numbers("rows", nan=True, optional=True),
            f"bounds{place}": numbers("rows", 2, nan=True, optional=True),
        }
        check_arrays(own, arrays, sizes)
    require(sizes["rows"] > 0, "it has no rows")
    check_arrays(ROWS_ARRAYS, arrays, sizes)
    if "counts" in arrays:
        total = sum(arrays["counts"].tolist())
        require(0 < total < 2**53, f"its rows stand for {total} observations")
    if "gaps" in arrays:
        _check_gaps(arrays, sizes)
    for place, levels in enumerate(about["levels"]):
        if f"bounds{place}" in arrays:
            _check_bounds(arrays, place, "numbers" if levels is not None else "column")
    if "labels" in about:
        last = int(arrays["row_numbers"].max()) if "row_numbers" in arrays else sizes["rows"] - 1
        require(last < sizes["rows of the data"], f"{sizes['rows of the data']} labels of {last + 1} rows")


def _check_gaps(arrays: Arrays, sizes: Sizes) -> None:
    """Cells without a value are cells of the table, which hold none and were not set from outside."""
    packed, rows = arrays["gaps"], sizes["rows"]
    require(packed.dtype == np.uint8 and packed.shape[1] == -(-rows // 8), f"gaps of other cells than {rows} rows have")
    gaps = np.unpackbits(packed, axis=1)
    require(not gaps[:, rows:].any(), "gaps beyond the rows")
    gaps = gaps[:, :rows].astype(bool)
    for place, own in enumerate(gaps):
        column = arrays[f"column{place}"][own]
        require(bool((np.isnan(column) if column.dtype.kind == "f" else column == 0).all()), "gaps with a value")
        require(not own.all(), f"column{place} without any value")
        if "interventions" in arrays:
            was_set = arrays["interventions"].astype(np.uint64) >> np.uint64(place) & np.uint64(1)
            require(not bool(was_set[own].any()), "gaps that were set from outside")


def _check_bounds(arrays: Arrays, place: int, of: str) -> None:
    """Limits are those of cells without a number, in a column of numbers or one that was cut, the lower one first."""
    own, held = arrays[f"bounds{place}"], arrays.get(f"{of}{place}")
    require(held is not None, f"bounds{place} of a column without numbers")
    require(not np.isfinite(own[~np.isnan(np.asarray(held))]).any(), f"bounds{place} of cells with a value")
    require(not (own[:, 0] >= own[:, 1]).any(), f"bounds{place} with a lower limit above the upper one")


def check_sensitivity(about: Mapping[str, Any], arrays: Arrays) -> None:
    """The same for the table of other choices."""
    sizes = Sizes()
    if "joined" in arrays and arrays["joined"].ndim == 3:
        sizes["nodes"] = arrays["joined"].shape[1]
    check_fields(SENSITIVITY_FIELDS, about, sizes, may_lack=("exogenous",), within="sensitivity: ")
    sizes["choices"] = 1 + sizes["variations"]
    check_arrays(SENSITIVITY_ARRAYS, arrays, sizes)
