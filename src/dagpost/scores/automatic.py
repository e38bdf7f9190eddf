"""Which score, where none is named? One that suits the columns, and says what it assumes.

- All columns are levels: a Dirichlet score, below.
- All are numbers: `BGe`. Relations are linear and noise is normal.
- Both, or censored numbers, and all levels are in an order: `LatentGaussian`. Nothing is cut, and relations are
  monotone. Its chains are for methods that can complete tables, for tables without interventions, and for work that
  takes minutes at most.
- Both otherwise, as where levels are in no order: `ConditionalGaussian`, in which numbers never lead to levels.

On simulated tables whose numbers are shown as levels in part, cutting the others as well loses most of the evidence
where relations are many (docs/mixed.md).

Of the Dirichlet scores it is the one whose probabilities were measured to be closest to the truth. On simulated tables
(docs/calibration.md) BDeu averaged over equivalent sample sizes has the least log loss; of single sizes, 10 finds more
than 5 where relations are many, and invents more where there are few. Averaging takes the exact evidence of every size,
so it takes as many fits, and methods without exact evidence cannot do it: those, and tables on which that many fits
would take minutes, get the single size.
"""

from __future__ import annotations

from collections.abc import Sequence

from dagpost._tools.text import shortened
from dagpost.data.files import MISSING_LEVEL
from dagpost.data.level_order import orders_to_read_signs
from dagpost.data.table import Table
from dagpost.scores.base import Score
from dagpost.scores.bdeu import BDeu
from dagpost.scores.bge import BGe
from dagpost.scores.conditional_gaussian import ConditionalGaussian
from dagpost.scores.latent_gaussian import LatentGaussian

#: The setting that leaves the choice to us.
AUTO = "auto"
AVERAGED = BDeu("average")
BEST_SINGLE = BDeu(5.0)
#: Up to so many variables all fits together are a matter of seconds. Not a time: the answer to a question must not
#: depend on the machine.
MOST_VARIABLES = 18


#: Chains over latent numbers are for tables of at most so many columns, and so many cells with a rank only: beyond,
#: they take far longer than minutes.
MOST_LATENT_COLUMNS, MOST_LATENT_CELLS = 64, 200_000


def score_of_columns(table: Table, *, completes: bool = True) -> Score | None:
    """The score that suits the columns of a table; None where all have levels.

    `completes` says whether the method can run chains over latent numbers.

    >>> from dagpost.data import as_table
    >>> import numpy as np
    >>> rows = np.random.default_rng(1).normal(size=(40, 2))
    >>> score_of_columns(as_table(rows)).name
    'bge'
    >>> score_of_columns(as_table(np.column_stack([rows, rows[:, 0] > 0]))).name
    'latent-gaussian'
    """
    if table.discrete:
        return None
    if table.censored.any():
        return LatentGaussian()
    levels = [own for name, own in zip(table.names, table.levels, strict=True) if name not in table.regimes]
    if all(own is None for own in levels):
        return BGe()
    return LatentGaussian() if completes and _suits_chains(table) else ConditionalGaussian()


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


def automatic_score(groups: Sequence[int], families: int, *, mixes: bool) -> Score:
    """The Dirichlet score of a table of levels, for a method that can mix posteriors or for one that cannot.

    `groups` are the numbers of columns that are summed over together: one number where the table is summed as a whole,
    several where rules split it. Groups and families must cost no more than the 18 variables of a table without rules.

    >>> automatic_score([6], 120, mixes=True).in_words()
    'BDeu, averaged over the equivalent sample sizes 2, 10, 50 and 200'
    >>> automatic_score([30], 4_000_000, mixes=True)
    BDeu(equivalent_sample_size=5.0)
    >>> automatic_score([15, 15], 900_000, mixes=True) == AVERAGED
    True
    """
    pairs = sum(3**size for size in groups if size > 1)
    quick = pairs <= 3**MOST_VARIABLES and families <= MOST_VARIABLES * 2 ** (MOST_VARIABLES - 1)
    return AVERAGED if mixes and quick else BEST_SINGLE
