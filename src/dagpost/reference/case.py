"""One reference case: a table, the model of its columns, and the exact posterior that they have together.

A case says everything that its posterior depends on: the table (bundled, or drawn from a stated network with a stated
seed), the score with its parameters, the prior over graphs and the largest number of parents. Two people who follow it
get the same numbers, whatever program they use; `local_scores` gives the numbers that a sampler works with, so that
nobody has to write our scores again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from dagpost.data.table import Table
from dagpost.scores import LocalScores, Score

if TYPE_CHECKING:
    from dagpost.model import DagPosterior

#: The kinds of columns that a case may have.
DISCRETE, GAUSSIAN, MIXED = "discrete", "gaussian", "mixed"


@dataclass(frozen=True, eq=False)
class Case:
    """A table with a stated model, whose posterior is known exactly.

    `kind` is "discrete", "gaussian" or "mixed"; `tags` say what makes the case worth its place ("hard", "flat",
    "few rows", ...). Every graph counts once: the prior is uniform over all graphs in which no node has more than
    `max_parents` parents.
    """

    name: str
    description: str
    kind: str
    score: Score
    max_parents: int
    tags: tuple[str, ...] = ()
    make: Callable[[], Table] = field(repr=False, kw_only=True)

    @cached_property
    def table(self) -> Table:
        """The table, drawn or looked up when it is first needed."""
        return self.make()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns, in the order of all matrices."""
        return self.table.names

    def local_scores(self) -> LocalScores:
        """The log marginal likelihood of every family, which is all that a sampler needs (`write_jkl` writes it)."""
        from dagpost.scores.local_scores import local_scores

        return local_scores(self.table, self.score, self.max_parents)

    def model(self, **settings: object) -> DagPosterior:
        """A model of dagpost that is set up for this case, not yet fitted; `settings` may name a method, a seed, ..."""
        from dagpost.model import DagPosterior

        return DagPosterior(score=self.score, prior="uniform", max_parents=self.max_parents, **settings)  # type: ignore[arg-type]
