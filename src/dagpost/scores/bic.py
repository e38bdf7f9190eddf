"""How well do discrete parents explain a discrete node, given the parameters they need?

    score_i(P) = sum over p, x of N(x, p) log(N(x, p) / N(p)) - (log m / 2) (r - 1) q

for a node of `r` levels, `q` configurations of its parents (whether they occur or not) and `m` observations (Schwarz
1978). Cost and memory are those of counting (`dagpost.scores.counting`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from dagpost.scores.counted import CountedScore
from dagpost.scores.parameter_priors import DirichletPrior

if TYPE_CHECKING:
    from dagpost.scores.cells import CellFunction


@dataclass(frozen=True)
class BIC(CountedScore):
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
    equivalent: ClassVar[bool] = True
    citation: ClassVar[str] = (
        "Schwarz, G. (1978). Estimating the dimension of a model. Annals of Statistics, 6. "
        "https://doi.org/10.1214/aos/1176344136"
    )

    def terms(self, arities: tuple[int, ...], max_size: int, variants: list[int], observations: int) -> CellFunction:  # noqa: ARG002
        """`N log N`, and the penalty of each configuration of the parents."""
        from dagpost.scores.cells import entropy_terms

        each = math.log(observations) / 2
        return entropy_terms([each * (arity - 1) for arity in variants], observations)

    def in_detail(self) -> str:
        """What it approximates."""
        return "the BIC, which approximates the log marginal likelihood"

    def parameter_prior(self) -> DirichletPrior:
        """BIC has none: Jeffreys' prior, one half of an observation in each cell, stands in for it."""
        return DirichletPrior(0.5)
