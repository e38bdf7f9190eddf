"""How well do discrete parents explain a discrete node? The marginal likelihood under Dirichlet priors.

With `N(x, p)` rows in which node `i` has level `x` and its parents configuration `p`,

    score_i(P) = sum over p of [ log Gamma(a r) - log Gamma(a r + N(p)) ]
               + sum over p, x of [ log Gamma(a + N(x, p)) - log Gamma(a) ]

for a node of `r` levels (Cooper & Herskovits 1992; Heckerman, Geiger & Chickering 1995). Dirichlet scores differ in the
parameter `a` of a cell: `BDeu` shares an equivalent sample size out evenly among the cells of a family, so that DAGs
which say the same about independence get the same score; `BDe` and `K2` take the same `a` for every cell.
Configurations that do not occur add nothing, so cost and memory are those of counting (`dagpost.scores.counting`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from dagpost._tools.alternatives import Alternative
from dagpost.scores.counted import CountedScore
from dagpost.scores.parameter_priors import DirichletPrior, strength

if TYPE_CHECKING:
    from dagpost.scores.base import Score
    from dagpost.scores.cells import CellFunction


@dataclass(frozen=True)
class BDeu(CountedScore):
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

    def variants(self, arities: tuple[int, ...]) -> tuple[int, ...]:
        """The same for all columns."""
        return (0,) * len(arities)

    def terms(self, arities: tuple[int, ...], max_size: int, variants: list[int], observations: int) -> CellFunction:  # noqa: ARG002
        """Those of a parameter that is shared out among the configurations of a set."""
        from dagpost.scores.cells import shared_terms

        return shared_terms(self.equivalent_sample_size, arities, max_size, observations)

    def parameter_prior(self) -> DirichletPrior:
        """The equivalent sample size, shared out evenly among the cells of a family."""
        return DirichletPrior(self.equivalent_sample_size, shared=True)

    def alternatives(self) -> list[Alternative[Score]]:
        """The equivalent sample sizes that people use."""
        return [
            Alternative("equivalent sample size", f"{size:g}", BDeu(size))
            for size in (1.0, 5.0, 10.0)
            if size != self.equivalent_sample_size
        ]

    def in_words(self) -> str:
        """Its name with the equivalent sample size."""
        return f"BDeu, equivalent sample size {self.equivalent_sample_size:g}"
