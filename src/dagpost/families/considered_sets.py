"""The parent sets that a chain considers: lists by falling weight, for any number of columns.

Most parent sets of a node never matter. Whenever `P` is possible so is each of its subsets, so `P` holds at most the
share `w(P) / sum of w(Q) over Q ⊆ P` of the posterior, whatever the other nodes do. Sets whose shares sum to no more
than a stated amount can go, and the posterior changes by no more than that (families/pruning.py decides which). What
remains is short: tens to thousands of sets a node.

Members are listed one by one, not as bit masks, so a set costs the same among 20 columns and among 1,000. The places
that a small set leaves empty hold the number of columns, an index just past the last one: a kernel that looks something
up for every member gives that index a neutral entry and needs no branch.

Memory: 24 bytes and 2 more for each possible member, a set.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.arrays import Floats, Integers
from dagpost._tools.kernels import kernel

if TYPE_CHECKING:
    import pandas as pd

#: Columns of parents, the number of columns in the places that are left.
Members = NDArray[np.int16]


@dataclass(frozen=True, eq=False)
class ConsideredSets:
    """Parent sets with their log weights; node `i` has those from `start[i]` to `start[i + 1]`.

    `members` has a row a set: its columns, ascending, and then the number of columns in the places that are left. The
    first `leading[i]` sets of node `i` are those that may hold a noticeable share of the posterior, the heaviest of all
    sets first; the others follow, again by falling weight.
    `lost`: a bound, for each node, on the posterior probability that its parents are a set that was scored and left
    out. `missed`: the same, only estimated, for sets that were not scored; zero where all were.
    """

    start: Integers
    members: Members
    log_weights: Floats
    leading: Integers
    lost: Floats
    missed: Floats
    #: Which sets were scored, in words.
    scored: str

    @property
    def nodes(self) -> int:
        """Number of columns."""
        return len(self.start) - 1

    @property
    def counts(self) -> Integers:
        """How many sets each node has."""
        return np.diff(self.start)

    def candidates(self) -> Integers:
        """For each node, how many columns are in at least one of its sets."""
        return np.diff(columns_of_sets(self.start, self.members)[0])

    def describe(self) -> str:
        """Which parents are considered, what those left out hold at most, and about how much those not scored.

        >>> members = np.array([[2], [0], [2]], dtype=np.int16)
        >>> leading, lost, missed = np.array([1, 2]), np.zeros(2), np.zeros(2)
        >>> start, logs = np.array([0, 1, 3]), np.zeros(3)
        >>> ConsideredSets(start, members, logs, leading, lost, missed, "every set of one").describe()
        'parents considered: every set of one (1 to 2 for a variable); none is left out'
        """
        fewest, most = int(self.counts.min()), int(self.counts.max())
        sets = f"{most:,}" if fewest == most else f"{fewest:,} to {most:,}"
        lost, missed = float(self.lost.sum()), float(self.missed.max())
        held = "none is left out" if lost == 0.0 else f"sets left out hold at most {lost:.2g} of the posterior"
        words = f"parents considered: {self.scored} ({sets} for a variable); {held}"
        if missed == 0.0:
            return words
        return f"{words}; sets that were never scored hold about {missed:.2g} of it for the worst variable"

    def table(self, names: Sequence[str]) -> pd.DataFrame:
        """For each variable how many parents and sets are considered, and what other sets hold of the posterior."""
        import pandas as pd

        columns = {
            "candidates": self.candidates(),
            "sets": self.counts,
            "dropped_at_most": self.lost,
            "not_scored_about": self.missed,
        }
        return pd.DataFrame(columns, index=pd.Index(list(names), name="variable"))


@kernel
def columns_of_sets(start: Integers, members: Members) -> tuple[Integers, Integers]:
    """Where the columns that occur in the sets of each node begin, and these columns."""
    nodes = len(start) - 1
    begins = np.zeros(nodes + 1, dtype=np.int64)
    columns = np.empty(nodes * nodes, dtype=np.int64)
    seen = np.zeros(nodes + 1, dtype=np.bool_)
    found = 0
    for node in range(nodes):
        seen[:] = False
        for place in range(start[node], start[node + 1]):
            for slot in range(members.shape[1]):
                seen[members[place, slot]] = True
        for column in range(nodes):
            if seen[column]:
                columns[found] = column
                found += 1
        begins[node + 1] = found
    return begins, columns[:found].copy()
