"""The weights behind a model of more columns than tables are made for: the parent sets that chains consider, no more.

Beyond 64 columns there are too many families to score, and a set of columns is no longer one number. What is scored are
the sets among promising parents (mcmc/candidates.py), kept as lists (families/considered_sets.py), over which chains of
blocks walk. Nothing is summed over all graphs: evidence and exact answers there are none.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.arrays import Floats, Masks
from dagpost._tools.progress import Reporter
from dagpost.engines import Engine
from dagpost.families.considered_lookup import SetIndex, index_sets, log_weights_among, numbers_of_parents
from dagpost.families.considered_sets import ConsideredSets
from dagpost.posterior.workspace import Workspace


class WideWorkspace(Workspace):
    """The parent sets that chains consider, with their weights, for any number of columns."""

    def __init__(self, considered: ConsideredSets, max_parents: int, engine: Engine, reporter: Reporter) -> None:
        super().__init__(None, engine, reporter, considered.nodes, max_parents)
        self.considered = considered

    @property
    def considered_words(self) -> str:
        """Which parent sets were scored, in words."""
        return self.considered.scored

    @cached_property
    def _index(self) -> SetIndex:
        return index_sets(self.considered)

    def log_joint(self, parents: Masks) -> Floats:
        """Log p(graph, data) of graphs; minus infinity where a variable has parents that are not considered."""
        return log_weights_among(self.considered, self._index, parents)

    def not_considered(self, parents: Masks) -> Sequence[int]:
        """The variables whose parents in one graph, a row of masks, are not considered."""
        found: list[int] = np.flatnonzero(numbers_of_parents(self._index, parents[np.newaxis])[0] < 0).tolist()
        return found

    def _all_weights(self) -> Sequence[NDArray[Any]]:
        return self.considered.start, self.considered.members, self.considered.log_weights
