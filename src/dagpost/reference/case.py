"""One reference case: a table, the model of its columns, and the exact posterior that they have together.

A case says everything that its posterior depends on: the table (bundled, or drawn from a stated network with a stated
seed), the score with its parameters, the prior over graphs and the largest number of parents. Two people who follow it
get the same numbers, whatever program they use; `local_scores` gives the numbers that a sampler works with, so that
nobody has to write our scores again.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from dagpost.data.table import Table
from dagpost.errors import InputError
from dagpost.reference.sources import Bundled, Drawn
from dagpost.reference.truth_files import read_truth, text_of_table
from dagpost.scores import LocalScores, Score

if TYPE_CHECKING:
    from dagpost.model import DagPosterior
    from dagpost.reference.truth import Truth

#: The kinds of columns that a case may have.
DISCRETE, GAUSSIAN, MIXED = KINDS = ("discrete", "gaussian", "mixed")

#: What the words of a score leave to those who know it.
_IN_FULL = {
    DISCRETE: "each cell of a node's table, one for each of its levels in each combination of its parents' levels, has "
    "an equal share of the equivalent sample size",
    GAUSSIAN: "the prior matrix has half the square of the scale on its diagonal, as in bnlearn",
    MIXED: "the columns that make the degrees of freedom are those of numbers, standard deviations are those of all "
    "rows (with the number of rows less one), and the prior matrix has half the square of the scale on its diagonal; "
    "no edge leads from a column of numbers to one of levels",
}


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
    source: Bundled | Drawn = field(repr=False, kw_only=True)

    @cached_property
    def table(self) -> Table:
        """The table, drawn or looked up when it is first needed."""
        return self.source.table()

    @property
    def origin(self) -> str:
        """Where the table comes from, with all that is needed to make it again."""
        return self.source.in_words()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns, in the order of all matrices."""
        return self.table.names

    @property
    def rows(self) -> int:
        """How many rows the table has; each is one observation."""
        return self.table.rows

    @property
    def columns(self) -> int:
        """How many columns the table has."""
        return len(self.table.names)

    @property
    def settings(self) -> str:
        """The score and the prior in one sentence, with all that they depend on."""
        return (
            f"The marginal likelihood is {self.score.in_detail()}; {_IN_FULL[self.kind]}; all graphs in which no node "
            f"has more than {self.max_parents} parents have the same prior probability."
        )

    def csv_text(self) -> str:
        """The table as a CSV file has it: a header, commas, levels as text and numbers with four decimals.

        This text is the same on every platform, and `fingerprint` is taken from it.
        """
        return text_of_table(self.table)

    @cached_property
    def fingerprint(self) -> str:
        """The SHA-256 of the table's CSV text, in hexadecimal digits."""
        return hashlib.sha256(self.csv_text().encode()).hexdigest()

    def check_fingerprint(self, expected: str) -> None:
        """Refuse to go on where the table is not the one that an exact posterior was computed for."""
        if self.fingerprint != expected:
            raise InputError(
                f"The table of the reference case {self.name!r} is not the one that its posterior was computed for: "
                f"its SHA-256 begins with {self.fingerprint[:16]} instead of {expected[:16]}. This version of NumPy, "
                "SciPy or scikit-learn makes another table, or the case was changed; please report it."
            )

    @cached_property
    def truth(self) -> Truth:
        """The exact posterior of this case, as it comes with the package."""
        return read_truth(self)

    def local_scores(self) -> LocalScores:
        """The log marginal likelihood of every family, which is all that a sampler needs (`write_jkl` writes it)."""
        from dagpost.scores.local_scores import local_scores

        return local_scores(self.table, self.score, self.max_parents)

    def model(self, **settings: object) -> DagPosterior:
        """A model of dagpost that is set up for this case, not yet fitted; `settings` may name a method, a seed, ..."""
        from dagpost.model import DagPosterior

        return DagPosterior(score=self.score, prior="uniform", max_parents=self.max_parents, **settings)  # type: ignore[arg-type]
