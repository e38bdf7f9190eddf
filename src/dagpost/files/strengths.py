"""Edge probabilities as users of R's bnlearn know them: the strength and the direction of every arc.

bnlearn's `boot.strength` and `custom.strength` return one row for each ordered pair of variables: `strength` is the
share of the networks in which the two are joined, whichever way, `direction` the share of those in which the arc points
from the first to the second, and 0 where the two are never joined. Rows are in the order of the columns of the table.
With `cpdag = FALSE` every network counts as it is, and strength times direction is the probability of the edge. With
`cpdag = TRUE`, the default there, each network is replaced by its equivalence class first, and an arc that the class
leaves open counts half each way: `strength` is the same, `direction` is pulled towards 1/2.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from dagpost._tools.arrays import Floats
from dagpost._tools.checks import different_texts, kind
from dagpost._tools.text import shown
from dagpost.errors import InputError
from dagpost.files.frames import matrix_of_triples, shares_in
from dagpost.posterior.summaries.edges import adjacency_table, check_probabilities, orientation_table

if TYPE_CHECKING:
    import pandas as pd

    from dagpost.posterior.sources import EdgeSource

_COLUMNS = ("from", "to", "strength", "direction")
#: Strengths that were written with fewer digits than they have may differ by this much between the rows of a pair.
_ROUNDING = 1e-6


def strength_table(source: EdgeSource) -> pd.DataFrame:
    """One row an ordered pair of variables, in the order of the columns: from, to, strength, direction.

    `strength` is the probability that the two are joined, `direction` the probability that the edge points this way if
    they are, 0 where they never are: what bnlearn's `boot.strength(cpdag = FALSE)` returns, with probabilities in place
    of shares of bootstrap replicates. `source` is a fitted model, a sample, or a table such as `edge_probabilities_`.

    bnlearn's default `cpdag = TRUE` counts an arc whose direction the equivalence class leaves open half each way; here
    every graph counts as it is. The two agree on `strength`.

    >>> import pandas as pd
    >>> edges = pd.DataFrame([[0.0, 0.75], [0.125, 0.0]], index=["A", "B"], columns=["A", "B"])
    >>> print(strength_table(edges).round(3).to_string(index=False))
    from to  strength  direction
       A  B     0.875      0.857
       B  A     0.875      0.143
    """
    import pandas as pd

    names, _ = check_probabilities(source)
    rows, columns = np.nonzero(~np.eye(len(names), dtype=bool))
    strength, direction = adjacency_table(source), orientation_table(source).fillna(0.0)
    return pd.DataFrame(
        {
            "from": [names[row] for row in rows],
            "to": [names[column] for column in columns],
            "strength": strength.to_numpy()[rows, columns],
            "direction": direction.to_numpy()[rows, columns],
        }
    )


def matrix_of_strengths(strengths: pd.DataFrame, names: Iterable[str] | None = None) -> pd.DataFrame:
    """The probability of every edge, strength times direction, from a table such as that of `boot.strength`.

    Parents are in the rows, children in the columns, as in `edge_probabilities_`; pairs that are not listed have
    probability 0. `names` are the variables, in order; without them they come in the order in which the table names
    them. In R, `write.csv(strengths, "strengths.csv", row.names = FALSE)` writes a table for `pandas.read_csv`.

    >>> import pandas as pd
    >>> strengths = pd.DataFrame({"from": ["A", "B"], "to": ["B", "A"], "strength": 0.5, "direction": [0.75, 0.25]})
    >>> matrix_of_strengths(strengths).loc["A", "B"]
    np.float64(0.375)
    """
    import pandas as pd

    owner = "matrix_of_strengths"
    kind(strengths, "strengths", pd.DataFrame, "a DataFrame, as strength_table and boot.strength give it", owner)
    missing = [column for column in _COLUMNS if column not in strengths.columns]
    if missing:
        hint = " Only boot.strength and custom.strength of bnlearn have it." if missing == ["direction"] else ""
        raise InputError(
            "A table of strengths has the columns 'from', 'to', 'strength' and 'direction'. There is no "
            f"{missing[0]!r}.{hint}"
        )
    sources, targets = (strengths[column].to_list() for column in _COLUMNS[:2])
    strength, direction = (shares_in(strengths, column) for column in _COLUMNS[2:])
    _refuse_two_strengths(sources, targets, strength)
    known = _named_in([*sources, *targets]) if names is None else different_texts(names, "names", owner)
    return matrix_of_triples(zip(sources, targets, strength * direction, strict=True), known)


def _named_in(ends: list[object]) -> list[str]:
    """The variables that a table names, each once."""
    for name in ends:
        if not isinstance(name, str):
            raise InputError(
                f"The columns 'from' and 'to' hold names of variables, as text. Got {shown(name)}. Read the table with "
                "pandas.read_csv(path, dtype={'from': str, 'to': str}, keep_default_na=False)."
            )
    return list(dict.fromkeys(map(str, ends)))


def _refuse_two_strengths(sources: list[object], targets: list[object], strength: Floats) -> None:
    """Refuse a pair that is joined with one probability in one row and another in the other."""
    of_pair = dict(zip(zip(sources, targets, strict=True), strength.tolist(), strict=True))
    for (source, target), one in of_pair.items():
        other = of_pair.get((target, source), one)
        if abs(one - other) > _ROUNDING:
            raise InputError(
                f"The strength of a pair is the same both ways. Got {one:g} for {shown(source)} -> {shown(target)} and "
                f"{other:g} for {shown(target)} -> {shown(source)}."
            )
