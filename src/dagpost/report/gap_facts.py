"""What a report says of cells that chains drew: how many, what was assumed, and how sure the averages are."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dagpost._tools.arrays import Flags
from dagpost.data.table import Table
from dagpost.posterior.fitted import Fitted
from dagpost.scores import Score, class_of
from dagpost.scores.latent_columns import ranks_of

MISSING_AT_RANDOM = (
    "Values are taken to be missing at random (Rubin 1976): whether a cell is empty may depend on the values that are "
    "there, not on its own."
)
OTHERWISE = (
    "Otherwise, as where the worst cases are not measured, give gaps a level of their own "
    '(missing="level" in Python, --missing level in a terminal)'
)
#: From how many levels on only some are listed.
_LEVELS = 12
#: A level for gaps has no place among levels in an order.
_WITH_ANOTHER_SCORE = ', with a score that needs no order ("conditional-gaussian", or one for levels)'


class GapFacts(NamedTuple):
    """Cells of the observations without a value: in all, of how many, by column, and in how many observations.

    `tables` completed tables were averaged over; `edge_error` and `path_error` are the largest standard errors (None:
    paths are not averages), and `exact_given_table` says whether all graphs were summed over, given each of them.
    `latent` says, where these are tables of latent numbers, what is known of those of each column that are not known.
    """

    cells: int
    of: int
    columns: dict[str, int]
    incomplete: int
    observations: int
    tables: int
    edge_error: float
    path_error: float | None
    exact_given_table: bool
    latent: tuple[tuple[str, str], ...] | None = None
    #: What the tables are called.
    called: str = Score.tables

    @property
    def share(self) -> float:
        """The share of all cells."""
        return self.cells / self.of


def gap_facts(fitted: Fitted) -> GapFacts | None:
    """What a report says of cells that chains drew; None where there are none."""
    if fitted.condition is not None:
        # The same tables were completed; under a condition some of them count for more.
        facts, errors = gap_facts(fitted.condition.base), fitted.results.edge_errors
        if facts is None or errors is None:
            return facts
        return facts._replace(tables=fitted.results.tables, edge_error=float(errors.max()), path_error=None)
    table, found = fitted.table, fitted.augmented
    if table is None or found is None:
        return None
    weights, gaps = np.asarray(table.weights), missing_in(table)
    by_column = (gaps * weights).sum(axis=1)
    return GapFacts(
        int(by_column.sum()),
        int(table.observations * len(table.names)),
        {own: int(count) for own, count in zip(table.names, by_column, strict=True) if count},
        int(weights[gaps.any(axis=0)].sum()),
        int(table.observations),
        found.tables,
        float(found.edge_errors.max()),
        None if found.path_errors is None else float(found.path_errors.max()),
        found.exact_given_table,
        _known_of_latents(fitted) if fitted.unknown.latent else None,
        class_of(fitted.score).tables,
    )


def _known_of_latents(fitted: Fitted) -> tuple[tuple[str, str], ...]:
    """The columns with latent numbers that are not known, and what is known of them, in a few words."""
    table, ranked = fitted.table, fitted.unknown.ranked
    assert table is not None
    found = []
    for place, (name, levels) in enumerate(zip(table.names, table.levels, strict=True)):
        bounds = table.bounds[place] if table.bounds else None
        if name in ranked and levels is not None:
            rising = [str(levels[code]) for code in np.argsort(ranks_of(levels))]
            listed = rising if len(rising) <= _LEVELS else [*rising[:3], "...", *rising[-3:]]
            found.append((name, f"the order of its levels, {' < '.join(listed)}"))
        elif bounds is not None:
            counts = table.weights[np.isfinite(bounds).any(axis=1)].sum()
            found.append((name, f"limits, of {counts:,} censored cell{'' if counts == 1 else 's'}"))
    return tuple(found)


def missing_in(table: Table) -> Flags:
    """Where nothing at all is known of a cell: not even limits."""
    gaps = np.zeros((len(table.names), table.rows), dtype=np.bool_) if table.gaps is None else table.gaps.copy()
    for place, bounds in enumerate(table.bounds):
        if bounds is not None:
            gaps[place] &= ~np.isfinite(bounds).any(axis=1)
    return gaps


def how_many(facts: GapFacts) -> str:
    """How much was missing and what was done about it."""
    given = "exact sums over all graphs given" if facts.exact_given_table else "graphs that chains found given"
    return (
        f"{facts.cells:,} of {facts.of:,} cells ({_share(facts).lower()}) have no value, in {facts.incomplete:,} of "
        f"{facts.observations:,} observations. Chains filled them in again and again, and the numbers are averages of "
        f"{given} each of {facts.tables:,} {facts.called}: that these values are not known is part of them."
    )


def what_was_drawn(facts: GapFacts) -> str:
    """Which latent numbers are not known and what was done about it."""
    given = "exact sums over all graphs given" if facts.exact_given_table else "graphs that chains found given"
    return (
        "The graph is one of latent numbers behind the columns. Where a cell does not fix its latent number, chains "
        f"drew it again and again, within what the cell says of it; the numbers are averages of {given} each of "
        f"{facts.tables:,} {facts.called}. How numbers and their latent numbers go together was estimated column by "
        "column, and is taken as known."
    )


def assumed_of_gaps(facts: GapFacts) -> str:
    """What completing gaps rests on, and what to do where that is not so."""
    return f"{MISSING_AT_RANDOM} {OTHERWISE}{'' if facts.latent is None else _WITH_ANOTHER_SCORE}."


def in_brief(facts: GapFacts) -> str:
    """The same in a sentence."""
    given = "exact ones" if facts.exact_given_table else "those"
    averages = f"probabilities are averages of {given} given each of {facts.tables:,} {facts.called}"
    missing = f"{_share(facts)} of the cells have no value"
    if facts.latent is None:
        return f"{missing}: {averages} (see Missing values)."
    more = f" {missing}." if facts.cells else ""
    return f"{averages[0].upper()}{averages[1:]} (see Latent numbers).{more}"


def _share(facts: GapFacts) -> str:
    return f"{100.0 * facts.share:.1f}%" if facts.share >= 0.0005 else "Under 0.1%"


def how_sure(facts: GapFacts) -> str:
    """How well the averages are known."""
    paths = "" if facts.path_error is None else f", and of the probability of a path {facts.path_error:.4f}"
    return f"The largest standard error of the probability of an edge is {facts.edge_error:.4f}{paths}."
