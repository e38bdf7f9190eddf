"""The same numbers in another number of bins: how many there are is a choice, and a result may hang on it.

Only columns that a rule cut are cut otherwise; points that a user gave are a decision, not a choice of ours.
"""

from __future__ import annotations

from dagpost.data.cut_tables import cut_columns
from dagpost.data.table import Table


def bins_of(table: Table) -> frozenset[int]:
    """Into how many bins rules cut the columns of a table; nothing where no column was cut by a rule."""
    return frozenset(len(table.recipe.step(name).cuts or ()) + 1 for name in _cut_by_rule(table) if table.recipe)


def cut_otherwise(table: Table, bins: int) -> Table:
    """The table with the columns that a rule cut in another number of bins.

    >>> import numpy as np
    >>> from dagpost.data import discretise
    >>> halves = discretise(np.random.default_rng(1).normal(size=(40, 2)), bins=2)
    >>> halves.arities, cut_otherwise(halves, 4).arities
    ((2, 2), (4, 4))
    """
    names = _cut_by_rule(table)
    if table.recipe is None or not names:
        return table
    known = dict(zip(table.names, table.numbers, strict=True))
    rules = {name: table.recipe.rule_of(name)._replace(bins=bins) for name in names}
    return cut_columns(table, {name: known[name] for name in names}, rules)


def cut_whole(table: Table, bins: int) -> Table:
    """The table with every column of numbers cut: about as many rows in each bin."""
    assert table.recipe is not None
    numbers = {
        name: own for name, own, known in zip(table.names, table.columns, table.levels, strict=True) if known is None
    }
    rules = {name: table.recipe.usual_rule._replace(bins=bins) for name in numbers}
    return cut_columns(table, numbers, rules)


def _cut_by_rule(table: Table) -> list[str]:
    if table.recipe is None or not table.numbers:
        return []
    known = zip(table.names, table.numbers, strict=True)
    return [name for name, numbers in known if numbers is not None and table.recipe.rule_of(name).points is None]
