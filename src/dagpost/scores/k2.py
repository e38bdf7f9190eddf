"""K2: the marginal likelihood of discrete columns, with the pseudocount 1 in every cell (bdeu.py)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from dagpost.scores.counted import CountedScore
from dagpost.scores.parameter_priors import DirichletPrior

if TYPE_CHECKING:
    from dagpost.scores.cells import CellFunction


@dataclass(frozen=True)
class K2(CountedScore):
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
        "data. Machine Learning, 9. "
        "https://doi.org/10.1007/BF00994110"
    )

    def terms(self, arities: tuple[int, ...], max_size: int, variants: list[int], observations: int) -> CellFunction:  # noqa: ARG002
        """Those of the parameter 1."""
        from dagpost.scores.cells import fixed_terms

        return fixed_terms(1.0, variants, observations)

    def in_detail(self) -> str:
        """Its name with its Dirichlet priors."""
        return "the K2 score with Dirichlet priors of one imagined observation in each cell"

    def parameter_prior(self) -> DirichletPrior:
        """A pseudocount of one in every cell."""
        return DirichletPrior(1.0)
