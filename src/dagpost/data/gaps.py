"""What becomes of cells without a value: they stay gaps, or their rows are dropped, or they are a level, or an error.

Censored cells, of which a limit is known ("<0.05"), are not gaps in this sense, and stay whatever is done about gaps:
without them, what is left would not stand for all. A gap that stays is completed when a `DagPosterior` is fitted. That
rests on gaps being missing at random: whether a cell is empty may depend on the cells that are there, not on the value
that it would have had. Linear in the cells.

What of a table is not known, in words: gaps, censored cells, and the latent numbers behind levels in an order.

Rows with gaps written out: each observation with a gap has a value of its own there, which is not known.

Two people with the same answers and the same question left open would not have answered it alike. Rows without gaps
keep their counts. Time and memory are linear in the cells of the result, and memory is checked before it is taken.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.memory import require
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


class UnknownCells(NamedTuple):
    """The columns of which only the ranks of latent numbers are known, and how many other cells have no value.

    `latent`: whether the table is one of latent numbers at all.
    """

    ranked: tuple[str, ...] = ()
    censored: int = 0
    missing: int = 0
    latent: bool = False

    @classmethod
    def of(cls, table: Table) -> UnknownCells:
        """Those of a table, or of the table of latent numbers that a score makes of it.

        >>> from dagpost.data import as_table
        >>> from dagpost.scores.latent_columns import latent_table
        >>> table = as_table(np.array([["no", 1.5], ["yes", 2.5], [None, 7.5], ["no", None]], dtype=object))
        >>> UnknownCells.of(table).words, UnknownCells.of(latent_table(table, "raw")).words
        ('2 gaps', "the latent numbers of 'V0', and 2 gaps")
        """
        if table.gaps is None:
            return cls(latent=bool(table.ranks))
        ranked, censored, missing = [], 0, 0
        for place, (name, gaps) in enumerate(zip(table.names, table.gaps, strict=True)):
            ranks = table.ranks[place] if table.ranks else None
            bounds = table.bounds[place] if table.bounds else None
            ranked += [] if ranks is None else [name]
            empty = gaps if ranks is None else ranks < 0
            between = 0 if bounds is None else int(np.isfinite(bounds[gaps]).any(axis=1).sum())
            censored, missing = censored + between, missing + int(empty.sum()) - between
        return cls(tuple(ranked), censored, missing, bool(table.ranks))

    @property
    def words(self) -> str:
        """All of it, as the subject of a sentence."""
        cells = _counted(self.censored, "censored cell"), _counted(self.missing, "gap")
        said = " and ".join(filter(None, cells))
        if not self.ranked:
            return said
        return f"the latent numbers of {shortened([repr(name) for name in self.ranked])}{said and f', and {said}'}"

    @property
    def brief(self) -> str:
        """All of it, with columns counted and not named.

        >>> UnknownCells(("a", "b"), 1, 2, True).brief, UnknownCells(missing=2_000).brief
        ('latent numbers of 2 columns, 1 censored cell and 2 gaps', '2,000 gaps')
        """
        ranked = f"latent numbers of {_counted(len(self.ranked), 'column')}" if self.ranked else ""
        cells = _counted(self.censored, "censored cell"), _counted(self.missing, "gap")
        *before, last = [*filter(None, (ranked, *cells))] or [""]
        return " and ".join(filter(None, (", ".join(before), last)))

    @property
    def done(self) -> str:
        """That chains have drawn all of it, as a sentence begins."""
        return f"chains {'drew' if self.latent else 'completed'} {self.words}"

    @property
    def ways_out(self) -> str:
        """How to fit a model in which nothing has to be completed: the end of a sentence."""
        if self.ranked and self.censored:
            return (
                f"use a score for levels, such as {setting('score', 'bdeu')}, with all numbers cut, those with "
                f"censored cells at their limits ({either('Recipe(cut={...})', '--cut')})"
            )
        if self.ranked:
            return (
                f"use a score without latent numbers: {setting('score', 'conditional-gaussian')}, or one for levels, "
                f"such as {setting('score', 'bdeu')}, with all numbers cut"
            )
        if self.censored:
            # To leave such rows out would pick rows by their values.
            cut = either("Recipe(cut={...})", "--cut")
            return f"cut the columns with censored cells at their limits ({cut}), for a score for levels"
        drop = f"drop the incomplete rows ({setting('missing', 'drop')})"
        return drop if self.latent else f"{drop}, or give gaps a level of their own ({setting('missing', 'level')})"


def _counted(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}" if count else ""


def written_out(table: Table) -> Table:
    """The table in which every row with gaps stands for one observation; rows that stand for none are left out.

    >>> from dagpost.data import as_table
    >>> rows = np.array([["a", "x"], ["b", None], ["b", "y"]], dtype=object)
    >>> done = written_out(as_table(rows, counts=[4, 2, 3]))
    >>> done.weights.tolist(), done.gaps[1].tolist()
    ([4, 1, 1, 3], [False, True, True, False])
    """
    return written_out_like(table, table)


def written_out_like(table: Table, other: Table) -> Table:
    """A table whose rows are written out as those of another one, with the same rows and gaps of its own."""
    if other.gaps is None or other.counts is None:
        return table
    incomplete = other.gaps.any(axis=0)
    times = np.where(incomplete, other.counts, np.minimum(other.counts, 1))
    _require_memory(table, size_written_out(other)[0])
    # Of a complete row there is at most one, with the count that it had.
    counts = np.repeat(np.where(incomplete, 1, other.counts), times)
    result = table.of_rows(np.repeat(np.arange(table.rows), times))
    return replace(result, counts=None if (counts == 1).all() else counts)


def size_written_out(table: Table) -> tuple[int, int]:
    """How many rows the table has once it is written out, and how many of its cells have no value."""
    if table.gaps is None or table.counts is None:
        return table.rows, table.gap_count
    incomplete = table.gaps.any(axis=0)
    rows = int(np.where(incomplete, table.counts, np.minimum(table.counts, 1)).sum())
    return rows, int(table.gaps.sum(axis=0) @ table.counts)


def _require_memory(table: Table, rows: int) -> None:
    # Gaps take a byte a cell, places and counts 8 bytes a row each, and masks as many.
    row = sum(column.itemsize + 1 for column in table.columns) + 24
    row += sum(numbers.itemsize for numbers in table.numbers if numbers is not None)
    require(
        rows * row,
        f"A table of {rows:,} rows, each row with gaps written out as often as it counts,",
        f"Drop the incomplete rows ({setting('missing', 'drop')}), or give gaps a level of their own "
        f"({setting('missing', 'level')}).",
    )
