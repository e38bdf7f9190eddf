"""No preference among numbers of parents (Koivisto & Sood 2004)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from dagpost.priors.base import SizePrior


@dataclass(frozen=True)
class InDegreePrior(SizePrior):
    """Every number of parents weighs the same, shared out evenly among the parent sets of that size.

    >>> import numpy as np
    >>> np.exp(InDegreePrior().log_weights(("a", "b", "c"), 2)[0])
    array([1. , 0.5, 0.5, 1. ])

    References
    ----------
    Koivisto & Sood (2004), Exact Bayesian structure discovery in Bayesian networks. JMLR 5.
    """

    name: ClassVar[str] = "indegree"
    summary: ClassVar[str] = "every number of parents weighs the same"
    citation: ClassVar[str] = (
        "Koivisto, M., & Sood, K. (2004). Exact Bayesian structure discovery in Bayesian networks. "
        "Journal of Machine Learning Research, 5."
    )

    def log_weight_of_size(self, nodes: int, size: int) -> float:
        """Minus the log of the number of parent sets of this size."""
        return -math.log(math.comb(nodes - 1, size))

    def in_words(self) -> str:
        """The part of a sentence by which a report explains the prior."""
        return "before the data every number of parents has the same weight"
