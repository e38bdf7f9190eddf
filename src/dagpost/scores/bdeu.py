"""BDeu: the marginal likelihood of discrete columns, with an equivalent sample size shared out among the cells.

The parameter `a` of a cell (`dagpost.scores.dirichlet`) is the equivalent sample size over the number of cells of the
family, so that DAGs which say the same about independence get the same score (Heckerman, Geiger & Chickering 1995).
"""

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
    from dagpost.scores.cells import CellFunction


@dataclass(frozen=True)
class BDeu(Score):
    """The Bayesian Dirichlet score with a likelihood-equivalent uniform prior.

    Parameters
    ----------
    equivalent_sample_size
        How many imagined rows the prior is worth, in all. The result can depend on it a good deal: small
        values favour few edges, large ones many. Try several, such as 1, 5 and 10, before relying on an edge.

    >>> BDeu(equivalent_sample_size=5)
    BDeu(equivalent_sample_size=5.0)

    References
    ----------
    Heckerman, Geiger & Chickering (1995), Learning Bayesian networks: the combination of knowledge and
    statistical data. Machine Learning 20.
    """

    name: ClassVar[str] = "bdeu"
    summary: ClassVar[str] = "Dirichlet prior worth an equivalent sample size"
    citation: ClassVar[str] = (
        "Heckerman, D., Geiger, D., & Chickering, D. M. (1995). Learning Bayesian networks: the combination of "
        "knowledge and statistical data. Machine Learning, 20."
    )

    equivalent_sample_size: float = 1.0

    def __post_init__(self) -> None:
        """Check the parameter."""
        checked = strength(self.equivalent_sample_size, "equivalent_sample_size", "BDeu")
        object.__setattr__(self, "equivalent_sample_size", checked)

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
        from dagpost.scores.cells import shared_terms
        from dagpost.scores.discrete_runs import fill_by_counting

        def terms(variants: list[int], observations: int) -> CellFunction:  # noqa: ARG001
            return shared_terms(self.equivalent_sample_size, table.arities, max_parents + 1, observations)

        same = (0,) * len(table.names)
        fill_by_counting(table, max_parents, values, same, terms, engine, reporter, checkpoint)

    def parameter_prior(self) -> DirichletPrior:
        """The equivalent sample size, shared out evenly among the cells of a family."""
        return DirichletPrior(self.equivalent_sample_size, shared=True)

    def in_words(self) -> str:
        """Its name with the equivalent sample size."""
        return f"BDeu, equivalent sample size {self.equivalent_sample_size:g}"
