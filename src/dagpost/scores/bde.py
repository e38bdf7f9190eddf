"""BDe: the marginal likelihood of discrete columns, with the same pseudocount `a` in every cell (dirichlet.py)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from dagpost.checkpoints import NO_CHECKPOINT, Checkpoint
from dagpost.scores.base import Score
from dagpost.scores.parameter_priors import DirichletPrior, strength

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from dagpost._tools.progress import Reporter
    from dagpost.data.table import Table
    from dagpost.engines import Engine


@dataclass(frozen=True)
class BDe(Score):
    """The Bayesian Dirichlet score with the same Dirichlet parameter for every cell.

    Parameters
    ----------
    pseudocount
        How often each level of a node is imagined to have been seen in each configuration of its parents. One
        half is the prior of Jeffreys, 1 the score `K2`. DAGs that say the same about independence may differ
        in score.

    >>> BDe()
    BDe(pseudocount=0.5)

    References
    ----------
    Heckerman, Geiger & Chickering (1995), Learning Bayesian networks: the combination of knowledge and
    statistical data. Machine Learning 20.
    """

    name: ClassVar[str] = "bde"
    summary: ClassVar[str] = "the same Dirichlet parameter in every cell"
    citation: ClassVar[str] = (
        "Heckerman, D., Geiger, D., & Chickering, D. M. (1995). Learning Bayesian networks: the combination of "
        "knowledge and statistical data. Machine Learning, 20."
    )

    pseudocount: float = 0.5

    def __post_init__(self) -> None:
        """Check the parameter."""
        object.__setattr__(self, "pseudocount", strength(self.pseudocount, "pseudocount", "BDe"))

    def fill(
        self,
        table: Table,
        max_parents: int,
        values: NDArray[np.float64],
        engine: Engine,
        reporter: Reporter,
        checkpoint: Checkpoint = NO_CHECKPOINT,
    ) -> None:
        """Write the score of every family of at most `max_parents` parents into `values`."""
        from dagpost.scores.dirichlet import fill_with_pseudocount

        fill_with_pseudocount(self.pseudocount, table, max_parents, values, engine, reporter, checkpoint)

    def parameter_prior(self) -> DirichletPrior:
        """The same pseudocount in every cell."""
        return DirichletPrior(self.pseudocount)

    def in_words(self) -> str:
        """Its name."""
        return "BDe"
