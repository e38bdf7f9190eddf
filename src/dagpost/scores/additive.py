"""How well do parents of both kinds explain a column, of levels or of numbers, along curves, in either direction?

For a set `S` of columns let `F(S)` be the log of a joint evidence of these columns. Then

    score(i | P) = F(P + i) - F(P)

gives graphs that say the same about independence the same score, whatever `F` is: directions come from what is
independent of what, never from the shape of a curve. Here

    F(S) = log mean over the orders of S of the product over its columns c of exp R(c | columns before c)

where `R` is the log evidence of a regression with a line and, perhaps, curves for each parent (additive_columns.py,
additive_regression.py); the mean is one pass over subsets (additive_sets.py). Numbers, and levels in an order, are seen
through the normal scores of their ranks; levels in no order are indicators, which are regressed on together.

Columns that are known to come first (tiers, exogenous ones) do not come first in every order, although equivalent
graphs would still have equal scores: on 14 worlds of 8 or 12 tables with 3,000 rows, told three tiers, that had a log
loss of 0.086 where this has 0.068, and it lost with exogenous columns, and with 300 rows, too. What fits only one way
then decides which edges there are.

Why levels as if they were numbers: on tables with known truth (benchmarks/worlds.py, seeds for choosing; both kinds,
1,000 rows) a joint Dirichlet evidence of all levels, with regressions of numbers given these, had a log loss of 0.147
and 169 of 1,055 clear directions wrong; this has 0.084 and 85 of 1,042.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dagpost._tools.spelling import setting
from dagpost.data.table import Columns, Table
from dagpost.errors import InputError
from dagpost.scores.base import Extender, Filling, Score
from dagpost.scores.completing import Completer
from dagpost.scores.parameter_priors import LocalPrior, strength


@dataclass(frozen=True)
class Additive(Score):
    """The score of additive regressions: levels and numbers together, curves allowed, every direction allowed.

    Parameters
    ----------
    slope_variance, curve_variance
        The prior variances of a slope and of each of the four curves of a parent, in units of the variance of the
        noise, for columns of variance 1.

    >>> Additive().in_words()
    'additive regressions (levels and numbers, curves)'
    """

    name: ClassVar[str] = "additive"
    summary: ClassVar[str] = "levels and numbers: additive regressions, curves allowed"
    equivalent: ClassVar[bool] = True
    columns: ClassVar[Columns] = "mixed"
    #: Regressions on splines within Bayesian networks are theirs; the joint evidences are in docs/mathematics.md.
    citation: ClassVar[str] = (
        "Imoto, S., Goto, T., & Miyano, S. (2002). Estimation of genetic networks and functional structures between "
        "genes by using Bayesian networks and nonparametric regression. Pacific Symposium on Biocomputing, 7, 175-186."
    )
    choices = (("variance of a slope", "slope_variance", (0.25, 1.0, 4.0)),)

    slope_variance: float = 1.0
    curve_variance: float = 0.5

    def __post_init__(self) -> None:
        """Check the parameters."""
        for name in ("slope_variance", "curve_variance"):
            object.__setattr__(self, name, strength(getattr(self, name), name, "Additive"))

    def assumes(self) -> str:
        """That effects add up, and noise is the same everywhere."""
        return (
            "Effects of several parents are taken to add up, each along a line or a smooth curve. Columns are seen "
            "through their ranks, those of levels in no order as an indicator for each level; on that scale noise is "
            "taken for normal and equally large everywhere."
        )

    def in_words(self) -> str:
        """Its name, and what it is for."""
        return "additive regressions (levels and numbers, curves)"

    def in_detail(self) -> str:
        """Its name with its priors."""
        return (
            "the additive score: joint evidences of regressions on the normal scores of ranks, along lines and cubic "
            "splines, averaged over the orders of the columns (prior variances of slopes and of curves "
            f"{self.slope_variance:g} and {self.curve_variance:g} times that of the noise)"
        )

    def fill_nodes(self, asked: Filling) -> None:
        """Write the scores of some of the columns."""
        from dagpost.scores.additive_sets import fill_additive

        if asked.apart:
            super().fill_nodes(asked)
        else:
            _refuse_gaps(asked.table)
            fill_additive(self, asked)

    def completer(self, table: Table, max_parents: int) -> Completer | None:
        """What draws the cells that have no value: regressions of each column on others."""
        from dagpost.scores.chained_completion import ChainedCompleter

        del max_parents
        return None if table.censored.any() else ChainedCompleter(table)

    def begins_near(self, table: Table) -> bool:
        """Whether chains begin near their end: regressions on all other columns come before any graph."""
        del table
        return True

    def parameter_prior(self) -> LocalPrior:
        """Sizes come from regressions on the columns' own scale."""
        return LocalPrior("dagpost.local.additive")

    def extender(self, table: Table, max_parents: int, workers: int) -> Extender:
        """The function that scores given sets of parents of a node, each with one of many columns added."""
        from dagpost.scores.additive_extender import additive_extender

        _refuse_gaps(table)
        return additive_extender(self, table, max_parents, workers)


def _refuse_gaps(table: Table) -> None:
    """Refuse gaps, and numbers of which only a limit is known."""
    table.refuse_other_than("mixed")
    if table.gap_count:
        cells = "one cell of the table has" if table.gap_count == 1 else f"{table.gap_count:,} cells of the table have"
        raise InputError(
            f"The additive score takes complete rows only, and {cells} no value. "
            f"Drop the incomplete rows ({setting('missing', 'drop')}), or give gaps a level of their own "
            f"({setting('missing', 'level')})."
        )
