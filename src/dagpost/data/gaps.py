"""What becomes of cells without a value: they stay gaps, or their rows are dropped, or they are a level, or an error.

Censored cells, of which a limit is known ("<0.05"), are not gaps in this sense, and stay whatever is done about gaps:
without them, what is left would not stand for all. A gap that stays is completed when a `DagPosterior` is fitted. That
rests on gaps being missing at random: whether a
cell is empty may depend on the cells that are there, not on the value that it would have had. Linear in the cells.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.spelling import bare, either, quoted, setting
from dagpost._tools.text import shortened
from dagpost.data.encoding import code_type
from dagpost.data.files import MISSING_LEVEL
from dagpost.data.recipe_steps import Missing
from dagpost.data.table import Table
from dagpost.errors import InputError, warn

#: Fewer rows say nothing.
_FEWEST_ROWS = 2

Gaps = NDArray[np.bool_]


def complete_rows(gaps: Sequence[tuple[str, Gaps]], rows: int, missing: str, least: int) -> Gaps:
    """The rows that stay: those without gaps, where these are dropped or refused; fewer than `least` are an error."""
    incomplete = np.zeros(rows, dtype=bool)
    for _, gap in gaps if missing in ("drop", "refuse") else ():
        incomplete |= gap
    if not incomplete.any():
        return ~incomplete
    if missing == "refuse":
        listed = [
            f"{name!r} has {int(gap.sum()):,} (first in row {int(gap.argmax()) + 1})" for name, gap in gaps if gap.any()
        ]
        raise InputError(
            f"Missing values (empty or NaN): {', '.join(listed)}; the first row is row 1. Fill them in, have them "
            f"completed ({setting('missing', 'augment')}), drop the incomplete rows ({setting('missing', 'drop')}), "
            f"or give gaps a level of their own ({setting('missing', 'level')})."
        )
    left = rows - int(incomplete.sum())
    if left < least:
        most = sorted(((int(gap.sum()), name) for name, gap in gaps), reverse=True)
        worst = [f"{name!r} ({gaps_of:,} gaps)" for gaps_of, name in most if gaps_of]
        raise InputError(
            f"Of {rows:,} rows, {left} {'has' if left == 1 else 'have'} a value in every column: too few. Most gaps "
            f"are in {shortened(worst)}. Leave such columns out ({either('Recipe(drop=[...])', '--drop')}), have gaps "
            f"completed ({setting('missing', 'augment')}), or give them a level of their own "
            f"({setting('missing', 'level')})."
        )
    return ~incomplete


def without_gaps(table: Table, missing: Missing) -> Table:
    """A table whose gaps, if it has any, are treated in one of the ways; with "augment" it stays as it is.

    >>> from dagpost.data import as_table
    >>> table = as_table(np.array([["a", "x"], ["b", None], ["a", "y"], ["b", "y"]], dtype=object))
    >>> without_gaps(table, "drop").rows, without_gaps(table, "level").levels[1]
    (3, ('x', 'y', '(missing)'))
    """
    if table.gaps is None or missing == "augment":
        return table
    # Of a censored cell much is known: it is not a gap, and stays.
    gaps = table.gaps & ~table.censored
    if missing == "level":
        return _with_level(table, gaps)
    kept = complete_rows(list(zip(table.names, gaps, strict=True)), table.rows, missing, least=2)
    if table.counts is not None and not table.counts[kept].any():
        raise no_observation()
    return _settled(table.of_rows(np.flatnonzero(kept)), missing, int((~kept).sum()))


def no_observation() -> InputError:
    """The error of a table whose complete rows have counts of 0."""
    return InputError("The rows without gaps stand for no observation. Fill in the gaps, or leave columns out.")


def _with_level(table: Table, gaps: Gaps) -> Table:
    """The table whose gaps are the last level of their column; in a column of numbers they are nan."""
    columns, levels = list(table.columns), list(table.levels)
    for place in np.flatnonzero(gaps.any(axis=1)).tolist():
        own = levels[place]
        if own is not None:
            levels[place] = (*own, MISSING_LEVEL)
            codes = columns[place].astype(code_type(len(own) + 1))
            columns[place] = np.where(gaps[place], codes.dtype.type(len(own)), codes)
    left = table.censored
    table = replace(table, columns=tuple(columns), levels=tuple(levels), gaps=left if left.any() else None)
    return _settled(table, "level", 0)


def _settled(table: Table, missing: Missing, dropped: int) -> Table:
    """The table with a recipe that says what was done about its gaps."""
    recipe = table.recipe
    if recipe is None:
        return table
    steps = tuple(step.with_gaps(are_level=missing == "level") for step in recipe.steps_)
    recipe = recipe.with_steps(steps)
    recipe.missing, recipe.dropped_rows_ = missing, recipe.dropped_rows_ + dropped
    return replace(table, recipe=recipe)


def gaps_of(columns: Sequence[str], found: Mapping[str, Gaps]) -> Gaps | None:
    """The gaps of all columns, from those of some; None if there are none."""
    if not any(gap.any() for gap in found.values()):
        return None
    rows = len(next(iter(found.values())))
    return np.stack([found.get(name, np.zeros(rows, dtype=bool)) for name in columns])


def without_idle_gaps(table: Table) -> Table:
    """The table without rows that have gaps and stand for no observation."""
    if table.gaps is None or table.counts is None:
        return table
    idle = table.gaps.any(axis=0) & (table.counts == 0)
    return table.of_rows(np.flatnonzero(~idle)) if idle.any() else table


def refuse_set_gaps(table: Table) -> None:
    """Refuse a gap in a cell that was set by intervention: whoever set it knows the value."""
    if table.gaps is None or table.interventions is None:
        return
    for bit, (name, gap) in enumerate(zip(table.names, table.gaps, strict=True)):
        wrong = gap & ((table.interventions >> np.uint64(bit)) & np.uint64(1)).astype(bool)
        if wrong.any():
            raise InputError(
                f"{quoted('interventions')} says that {name!r} was set in row {int(wrong.argmax()) + 1} (the first row "
                f"is row 1), and the row has no value of {name!r}: {int(wrong.sum()):,} such cells in all. Fill in "
                f"what it was set to, or drop the incomplete rows ({setting('missing', 'drop')})."
            )


def refuse_gaps_in_regimes(name: str, gap: Gaps) -> None:
    """Refuse rows whose regime is not known: nothing says how regimes are distributed."""
    if gap.any():
        raise InputError(
            f"Column {name!r} names the regimes, and has no value in row {int(gap.argmax()) + 1} (the first row is row "
            f"1): {int(gap.sum()):,} such rows in all. Fill these cells in, or drop the incomplete rows "
            f"({setting('missing', 'drop')})."
        )


def without_unmodelled_gaps(table: Table, exogenous: Sequence[str]) -> Table:
    """The table without the rows that have a gap in a column that is not modelled: nothing says what is likely there.

    A notice says so. All that is said is conditional on these columns, so that leaving such rows out is right if the
    gaps there do not depend on the other columns.
    """
    if table.gaps is None:
        return table
    own = dict(zip(table.names, table.gaps, strict=True))
    wrong = [name for name in dict.fromkeys(exogenous) if name in own and own[name].any()]
    if not wrong:
        return table
    left = np.flatnonzero(~np.any([own[name] for name in wrong], axis=0))
    listed = shortened([f"{name!r} ({int(own[name].sum()):,})" for name in wrong])
    why = "They are not modelled, so that nothing says what is likely there"
    if len(left) < _FEWEST_ROWS:
        raise InputError(
            f"{quoted('exogenous')} columns have gaps: {listed}. {why}, and fewer than {_FEWEST_ROWS} rows have none. "
            f"Give gaps a level of their own ({setting('missing', 'level')}), or take the columns out of "
            f"{bare('exogenous')}."
        )
    warn(
        f"{table.rows - len(left):,} of {table.rows:,} rows were left out, for gaps in exogenous columns: {listed}. "
        f"{why}."
    )
    return _settled(table.of_rows(left), "augment", table.rows - len(left))


def refuse_empty_columns(table: Table) -> None:
    """Refuse a column of which no observation has a value: there is nothing to complete it from."""
    if table.gaps is None:
        return
    seen = table.weights > 0
    for name, gap in zip(table.names, table.gaps, strict=True):
        if gap[seen].all():
            raise InputError(
                f"Column {name!r} has no value in any row, so that nothing says what is likely there. Leave it out "
                f"({either(f'Recipe(drop=[{name!r}])', f'--drop {name}')})."
            )
