"""What is there to learn from: a table, how its families are scored, and what was believed before."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from dagpost.data.table import Table
    from dagpost.priors.base import StructurePrior
    from dagpost.priors.constraints import Constraints
    from dagpost.scores.base import Score


class Study(NamedTuple):
    """A table with the score, the prior, the rules and the most parents of a fit."""

    table: Table
    score: Score
    prior: StructurePrior
    constraints: Constraints
    max_parents: int
