"""Probabilities of pairs as long pandas tables.

The table itself, parents in the rows and children in the columns, is what `edge_probabilities_` and
`probability_matrix` give; `xarray.DataArray` takes it as it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from dagpost._tools.arrays import Floats, labelled
from dagpost._tools.checks import different_texts, kind
from dagpost._tools.text import position_of, shown
from dagpost.errors import InputError
from dagpost.posterior.summaries.edges import check_probabilities

if TYPE_CHECKING:
    import pandas as pd

    from dagpost.posterior.sources import EdgeSource

_COLUMNS = ("from", "to", "probability")
_ROUNDING = 1e-6


def long_table(source: EdgeSource) -> pd.DataFrame:
    """One row a pair of variables: from, to, probability; most probable first.

    `source` is a fitted model, a sample, or a table such as `edge_probabilities_`.

    >>> import pandas as pd
    >>> edges = pd.DataFrame([[0.0, 0.25], [0.75, 0.0]], index=["A", "B"], columns=["A", "B"])
    >>> print(long_table(edges).to_string(index=False))
    from to  probability
       B  A         0.75
       A  B         0.25
    """
    import pandas as pd

    names, matrix = check_probabilities(source)
    rows, columns = np.nonzero(~np.eye(len(names), dtype=bool))
    frame = pd.DataFrame(
        {
            "from": [names[row] for row in rows],
            "to": [names[column] for column in columns],
            "probability": matrix[rows, columns],
        }
    )
    return frame.sort_values("probability", ascending=False, kind="stable", ignore_index=True)


def matrix_of_long(long: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """The table with one row and one column a variable, from rows of from, to, probability; what is missing is 0.

    >>> import pandas as pd
    >>> matrix_of_long(pd.DataFrame({"from": ["A"], "to": ["B"], "probability": [0.25]}), ["A", "B"]).loc["A", "B"]
    np.float64(0.25)
    """
    import pandas as pd

    kind(long, "long", pd.DataFrame, "a DataFrame, as long_table gives it", "matrix_of_long")
    names = different_texts(names, "names", "matrix_of_long")
    missing = [column for column in _COLUMNS if column not in long.columns]
    if missing:
        raise InputError(f"A long table has the columns 'from', 'to' and 'probability'. There is no {missing[0]!r}.")
    return matrix_of_triples(zip(long["from"], long["to"], shares_in(long, "probability"), strict=True), names)


def shares_in(table: pd.DataFrame, column: str) -> Floats:
    """A column of numbers between 0 and 1, up to what single precision leaves of sums."""
    import pandas as pd

    numbers = pd.to_numeric(table[column], errors="coerce").to_numpy(dtype=np.float64)
    # Not the other way round: this is true of nan too.
    wrong = ~((numbers >= -_ROUNDING) & (numbers <= 1.0 + _ROUNDING))
    if wrong.any():
        row = int(wrong.argmax())
        came = shown(table[column].to_list()[row])
        raise InputError(f"The column {column!r} must hold numbers from 0 to 1. Got {came} in row {row + 1}.")
    return numbers


def matrix_of_triples(triples: Iterable[tuple[Any, ...]], names: Sequence[str]) -> pd.DataFrame:
    """The same from triples (from, to, probability)."""
    matrix = np.zeros((len(names), len(names)))
    seen = set()
    places = {name: place for place, name in enumerate(names)}
    for parent, child, probability in triples:
        known = isinstance(parent, str) and isinstance(child, str) and parent in places and child in places
        place = (places[parent], places[child]) if known else (position_of(parent, names), position_of(child, names))
        # A matrix as a table of pairs has its diagonal, too.
        if place in seen or (place[0] == place[1] and probability != 0.0):
            problem = "more than once" if place in seen else "with itself"
            raise InputError(f"Each pair of two variables must come once. Got {shown(parent)} -> {child!r} {problem}.")
        seen.add(place)
        matrix[place] = probability
    frame = labelled(matrix, names)
    check_probabilities(frame)
    return frame
