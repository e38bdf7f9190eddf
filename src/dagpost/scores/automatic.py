"""Which score, where none is named? One that suits the columns, and says what it assumes.

Complete tables:

- All columns are levels: BDeu, averaged over equivalent sample sizes.
- There are numbers: the committee that suits the columns and rows (committee.py), in which curves are allowed and
  levels and numbers may each lead to the other. On simulated tables with known truth (docs/calibration.md) it loses no
  more than any single score at any number of rows. With levels and few rows it is the additive score alone.

Averages take exact sums of every part. Where these are out of reach, and for methods that have no exact evidence, it is
one score: BDeu with the equivalent sample size that was best, or the additive one. Where that one takes too long as
well: straight lines (`BGe`) for numbers, the latent Gaussian score for numbers beside levels in an order, and else the
conditional Gaussian one.

Tables with gaps and numbers are completed and scored again many times: they have the additive score too, where that is
a matter of a minute. On simulated tables with erased cells it comes nearer to what the complete ones say than the
others (docs/gaps.md). Larger ones, and tables with censored cells, go by these last three.

Of single equivalent sample sizes, 10 finds more than 5 where relations are many, and invents more where there are few.
"""

from __future__ import annotations

from typing import NamedTuple

from dagpost._tools.text import shortened
from dagpost.data.files import MISSING_LEVEL
from dagpost.data.level_order import orders_to_read_signs
from dagpost.data.table import Table
from dagpost.scores.additive import Additive
from dagpost.scores.base import Score
from dagpost.scores.bdeu import BDeu
from dagpost.scores.bge import BGe
from dagpost.scores.committee import Committee
from dagpost.scores.conditional_gaussian import ConditionalGaussian
from dagpost.scores.latent_gaussian import LatentGaussian
from dagpost.scores.resolve import AVERAGED

BEST_SINGLE = BDeu(5.0)
#: Up to so many variables all fits together are a matter of seconds. Not a time: the answer to a question must not
#: depend on the machine.
MOST_VARIABLES = 18
#: So many regressions of the additive score take some ten seconds on one thread: those of 30 columns with five parents.
MOST_REGRESSIONS = 2**23
#: So many regressions of the additive score are made again and again where gaps are completed, and sums over so many
#: columns together.
MOST_COMPLETED, MOST_SUMMED_AGAIN = 2**18, 16
#: Chains over latent numbers are for tables of at most so many columns, and so many cells with a rank only: beyond,
#: they take far longer than minutes.
MOST_LATENT_COLUMNS, MOST_LATENT_CELLS = 64, 200_000


class Work(NamedTuple):
    """What a fit has to do, from the rules alone."""

    #: How many columns are summed over together: one number where the table is summed as a whole, several where rules
    #: split it.
    groups: tuple[int, ...]
    #: How many families score.
    families: int
    #: How many regressions the additive score makes.
    regressions: int

    @property
    def quick(self) -> bool:
        """Whether exact sums of several scores cost no more than those of 18 variables without rules."""
        pairs = sum(3**size for size in self.groups if size > 1)
        return bool(pairs <= 3**MOST_VARIABLES and self.families <= MOST_VARIABLES * 2 ** (MOST_VARIABLES - 1))


def automatic_score(
    table: Table, work: Work, *, mixes: bool = True, draws: bool = True, needs_gaps: bool = False
) -> Score:
    """The score that suits a table, for a method and the work that it has; the first that applies, from above.

    The method `mixes` posteriors, or cannot; it `draws` latent numbers by chains, or cannot; and if it `needs_gaps`, it
    does nothing else.

    >>> from dagpost.data import as_table
    >>> import numpy as np
    >>> rows, work = np.random.default_rng(1).normal(size=(40, 2)), Work((2,), 4, 5)
    >>> automatic_score(as_table(rows > 0), work).in_words()
    'BDeu, averaged over the equivalent sample sizes 2, 10, 50 and 200'
    >>> automatic_score(as_table(rows), work).in_words()
    'a committee of additive (67%) and linear (BGe) (33%)'
    >>> automatic_score(as_table(rows), work, mixes=False)
    Additive(slope_variance=1.0, curve_variance=0.5)
    """
    averages = mixes and work.quick
    if table.discrete:
        return AVERAGED if averages else BEST_SINGLE
    if table.gap_count and not table.censored.any():
        again = mixes and work.regressions <= MOST_COMPLETED and max(work.groups) <= MOST_SUMMED_AGAIN
        return Additive() if again else _without_curves(table, draws=draws)
    if table.censored.any() or needs_gaps or work.regressions > MOST_REGRESSIONS:
        return _without_curves(table, draws=draws)
    return Committee().for_table(table) if averages else Additive()


def _without_curves(table: Table, *, draws: bool) -> Score:
    """The score for numbers, or numbers and levels, that takes gaps and any number of columns."""
    if table.censored.any():
        return LatentGaussian()
    levels = [own for name, own in zip(table.names, table.levels, strict=True) if name not in table.regimes]
    if all(own is None for own in levels):
        return BGe()
    return LatentGaussian() if draws and _suits_chains(table) else ConditionalGaussian()


def _suits_chains(table: Table) -> bool:
    """Whether all columns are in an order, nothing was set from outside, and chains over latent numbers are quick."""
    known = [own for own in table.levels if own is not None]
    observations = table.rows if table.counts is None else table.observations
    return (
        all(table.ordered)
        and not table.regimes
        and (table.interventions is None or not table.interventions.any())
        and not any(MISSING_LEVEL in own for own in known)
        and len(table.names) <= MOST_LATENT_COLUMNS
        and len(known) * observations <= MOST_LATENT_CELLS
    )


def notice_of_choice(score: Score, table: Table) -> str:
    """What the score that was chosen for a table assumes, in one sentence; empty for Dirichlet scores."""
    if isinstance(score, Additive | Committee):
        return _notice_of_curves(score, table)
    if isinstance(score, LatentGaussian):
        orders = orders_to_read_signs(table.names, table.levels)
        levels = any(own is not None for own in table.levels)
        taken = f"Columns of levels are taken as ordered{f' ({shortened(orders)})' if orders else ''} and n"
        said = f"{taken if levels else 'N'}umbers by their ranks"
        said += ": relations are assumed to be monotone, as between Gaussian numbers behind the columns"
    elif isinstance(score, ConditionalGaussian):
        nominal = [repr(name) for name, own in zip(table.names, table.ordered, strict=True) if not own]
        why = f" ({shortened(nominal)} {'has' if len(nominal) == 1 else 'have'} levels in no order)" if nominal else ""
        said = "Numbers are assumed to be Gaussian around a line within each combination of levels"
        said += f"{why}, and never lead to levels in this model"
    elif isinstance(score, BGe):
        said = "All columns are numbers: relations are assumed to be linear, with Gaussian noise"
    else:
        return ""
    return f"{said} (score {score.name!r})."


def _notice_of_curves(score: Additive | Committee, table: Table) -> str:
    """The same of the additive score, alone or on a committee."""
    levels = any(own is not None for own in table.levels)
    said = "Relations may be curved" + " and run either way between levels and numbers" * levels
    said += ", and no column need be normally distributed"
    if isinstance(score, Committee):
        said += f": several kinds of models are averaged with fixed weights, {score.members_in_words}"
        said += ", so what only one of them finds gets a middling probability, and there is no log evidence"
    else:
        said += "; the effects of several causes add up"
        said += ", and the log evidence is not comparable with that of other scores"
    return f"{said} (score {score.name!r})."
