"""Which score, where none is named? The one whose probabilities were measured to be closest to the truth.

On tables from known networks (docs/calibration.md) BDeu averaged over equivalent sample sizes has the least loss, in
pairs, edges and paths; of single sizes, 5 has. Averaging takes the exact evidence of every size, so it takes as many
fits, and methods without exact evidence cannot do it: those, and tables on which that many fits would take minutes,
get the single size.
"""

from __future__ import annotations

from collections.abc import Sequence

from dagpost.scores.base import Score
from dagpost.scores.bdeu import BDeu

#: The setting that leaves the choice to us.
AUTO = "auto"
AVERAGED = BDeu("average")
BEST_SINGLE = BDeu(5.0)
#: Up to so many variables all fits together are a matter of seconds. Not a time: the answer to a question must not
#: depend on the machine.
MOST_VARIABLES = 18


def automatic_score(groups: Sequence[int], families: int, *, mixes: bool) -> Score:
    """The score of a table, for a method that can mix posteriors or for one that cannot.

    `groups` are the numbers of columns that are summed over together: one number where the table is summed as a whole,
    several where rules split it. Groups and families must cost no more than the 18 variables of a table without rules.

    >>> automatic_score([6], 120, mixes=True).in_words()
    'BDeu, averaged over the equivalent sample sizes 1, 2, 5, 10, 20 and 50'
    >>> automatic_score([30], 4_000_000, mixes=True)
    BDeu(equivalent_sample_size=5.0)
    >>> automatic_score([15, 15], 900_000, mixes=True) == AVERAGED
    True
    """
    pairs = sum(3**size for size in groups if size > 1)
    quick = pairs <= 3**MOST_VARIABLES and families <= MOST_VARIABLES * 2 ** (MOST_VARIABLES - 1)
    return AVERAGED if mixes and quick else BEST_SINGLE
