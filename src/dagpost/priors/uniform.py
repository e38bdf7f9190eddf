"""No preference among parent sets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dagpost.priors.base import SizePrior


@dataclass(frozen=True)
class UniformPrior(SizePrior):
    """Every parent set weighs the same.

    >>> UniformPrior().log_weights(("a", "b", "c"), 1)[0]
    array([0., 0., 0.])
    """

    name: ClassVar[str] = "uniform"
    summary: ClassVar[str] = "every parent set weighs the same"

    def log_weight_of_size(self, nodes: int, size: int) -> float:  # noqa: ARG002
        """Zero."""
        return 0.0

    def in_words(self) -> str:
        """The part of a sentence by which a report explains the prior."""
        return "before the data every set of parents has the same weight"
