"""The distinct graphs of a sample: where each stands, what it weighs, and which one every draw is.

Nothing of the graphs themselves is copied: 100,000 graphs of hundreds of columns take gigabytes, and most questions
about distinct graphs need a few of them, or some at a time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.arrays import Floats, Integers
from dagpost._tools.progress import reporter_of_terminal
from dagpost.families.masks import distinct_rows

#: About as many words of graphs are copied together: 64 MB.
_WORDS_AT_A_TIME = 1 << 23


@dataclass(frozen=True, eq=False)
class DistinctGraphs:
    """Distinct graphs, those of most weight first: where each was first drawn, and the weight of all its repeats.

    `member` says for every draw which of the distinct graphs it is.
    """

    rows: Integers
    weights: Floats
    member: Integers

    def __len__(self) -> int:
        return len(self.rows)

    def some_at_a_time(self, parents: NDArray[Any]) -> Iterator[tuple[slice, NDArray[Any]]]:
        """The graphs themselves, a part at a time: which ones, and copies of their rows of `parents`."""
        step = max(1, _WORDS_AT_A_TIME // max(1, int(np.prod(parents.shape[1:]))))
        with reporter_of_terminal().stage("distinct graphs", len(self)) as stage:
            for start in range(0, len(self), step):
                part = slice(start, min(start + step, len(self)))
                yield part, parents[self.rows[part]]
                stage.advance(part.stop - part.start)


def distinct_graphs_in(parents: NDArray[Any], weights: Floats) -> DistinctGraphs:
    """The distinct graphs of a sample.

    >>> twice = np.array([[0, 1], [2, 0], [2, 0]], dtype=np.uint8)
    >>> found = distinct_graphs_in(twice, np.array([0.5, 0.375, 0.125]))
    >>> found.rows.tolist(), found.weights.tolist(), found.member.tolist()
    ([0, 1], [0.5, 0.5], [0, 1, 1])
    """
    first, member = distinct_rows(parents)
    total = np.bincount(member, weights=weights, minlength=len(first)).astype(np.float64)
    # Ties go to the graph that was drawn first.
    falling = np.lexsort((first, -total))
    place = np.empty(len(first), dtype=np.int64)
    place[falling] = np.arange(len(first))
    return DistinctGraphs(first[falling], total[falling], place[member])
