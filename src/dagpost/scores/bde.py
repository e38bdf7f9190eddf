"""BDe: the marginal likelihood of discrete columns, with the same pseudocount `a` in every cell (bdeu.py)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from dagpost.scores.counted import CountedScore
from dagpost.scores.parameter_priors import DirichletPrior, strength

if TYPE_CHECKING:
    from dagpost.scores.cells import CellFunction


@dataclass(frozen=True)
class BDe(CountedScore):
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
        "knowledge and statistical data. Machine Learning, 20. "
        "https://doi.org/10.1007/BF00994016"
    )
    choices = (("pseudocount", "pseudocount", (0.1, 0.5, 1.0)),)

    pseudocount: float = 0.5

    def __post_init__(self) -> None:
        """Check the parameter."""
        object.__setattr__(self, "pseudocount", strength(self.pseudocount, "pseudocount", "BDe"))

    def terms(self, arities: tuple[int, ...], max_size: int, variants: list[int], observations: int) -> CellFunction:  # noqa: ARG002
        """Those of one parameter."""
        from dagpost.scores.cells import fixed_terms

        return fixed_terms(self.pseudocount, variants, observations)

    def parameter_prior(self) -> DirichletPrior:
        """The same pseudocount in every cell."""
        return DirichletPrior(self.pseudocount)

    def in_words(self) -> str:
        """Its name."""
        return "BDe"

    def in_detail(self) -> str:
        """Its name with its Dirichlet priors."""
        return f"the BDe score with Dirichlet priors of {self.pseudocount:g} imagined observations in each cell"
