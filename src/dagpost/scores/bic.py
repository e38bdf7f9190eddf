"""How well do discrete parents explain a discrete node, given the parameters they need? (Schwarz 1978.)

    score_i(P) = sum over p, x of N(x, p) log(N(x, p) / N(p)) - (log m / 2) (r - 1) q

for a node of `r` levels, `q` configurations of its parents (whether they occur or not) and `m` observations.
Cost and memory are those of counting (`dagpost.scores.counting`).
"""

from __future__ import annotations

import math
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
    from dagpost.scores.cells import CellFunction


@dataclass(frozen=True)
class BIC(Score):
    """The Bayesian information criterion: maximal log likelihood less half a log of the rows per parameter.

    It approximates a log marginal likelihood without a prior to choose; DAGs that say the same about
    independence get the same score.

    >>> BIC()
    BIC()

    References
    ----------
    Schwarz (1978), Estimating the dimension of a model. Annals of Statistics 6.
    """

    name: ClassVar[str] = "bic"
    summary: ClassVar[str] = "likelihood with a penalty for parameters"
    citation: ClassVar[str] = "Schwarz, G. (1978). Estimating the dimension of a model. Annals of Statistics, 6."

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
        from dagpost.scores.cells import entropy_terms
        from dagpost.scores.discrete_runs import fill_by_counting

        def terms(variants: list[int], observations: int) -> CellFunction:
            each = math.log(observations) / 2
            return entropy_terms([each * (arity - 1) for arity in variants], observations)

        fill_by_counting(table, max_parents, values, table.arities, terms, engine, reporter, checkpoint)

    def parameter_prior(self) -> DirichletPrior:
        """BIC has none: Jeffreys' prior, one half of an observation in each cell, stands in for it."""
        return DirichletPrior(0.5)

    def in_words(self) -> str:
        """Its name."""
        return "BIC"
