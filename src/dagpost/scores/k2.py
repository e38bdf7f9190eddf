"""K2: the marginal likelihood of discrete columns, with the pseudocount 1 in every cell (dirichlet.py)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from dagpost.checkpoints import NO_CHECKPOINT, Checkpoint
from dagpost.scores.base import Score
from dagpost.scores.parameter_priors import DirichletPrior

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from dagpost._tools.progress import Reporter
    from dagpost.data.table import Table
    from dagpost.engines import Engine


@dataclass(frozen=True)
class K2(Score):
    """The score of the K2 algorithm: every conditional distribution is equally likely beforehand.

    >>> K2()
    K2()

    References
    ----------
    Cooper & Herskovits (1992), A Bayesian method for the induction of probabilistic networks from data.
    Machine Learning 9.
    """

    name: ClassVar[str] = "k2"
    summary: ClassVar[str] = "every conditional distribution is equally likely beforehand"
    citation: ClassVar[str] = (
        "Cooper, G. F., & Herskovits, E. (1992). A Bayesian method for the induction of probabilistic networks from "
        "data. Machine Learning, 9."
    )

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

        fill_with_pseudocount(1.0, table, max_parents, values, engine, reporter, checkpoint)

    def parameter_prior(self) -> DirichletPrior:
        """A pseudocount of one in every cell."""
        return DirichletPrior(1.0)

    def in_words(self) -> str:
        """Its name."""
        return "K2"
