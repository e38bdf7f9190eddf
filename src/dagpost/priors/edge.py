"""The same odds for every edge."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Self

from dagpost._tools.checks import number
from dagpost._tools.spelling import bare, either
from dagpost._tools.text import shown
from dagpost.errors import InputError
from dagpost.priors.base import SizePrior


@dataclass(frozen=True)
class EdgePrior(SizePrior):
    """Every edge multiplies the weight of a graph by the same odds `p / (1 - p)`.

    If cycles were allowed, every edge would be there with this probability, independently of the others.

    >>> import numpy as np
    >>> np.exp(EdgePrior(0.1).log_weights(("a", "b", "c"), 1)[0]).round(2)
    array([0.81, 0.09, 0.09])
    """

    name: ClassVar[str] = "edge"
    summary: ClassVar[str] = "edge:P, every edge is there with probability P"
    argument: ClassVar[str] = "P"

    probability: float

    def __post_init__(self) -> None:
        """Check the parameter."""
        checked = number(
            self.probability,
            "probability",
            "EdgePrior",
            above=0.0,
            below=1.0,
            allowed=either("a float in (0, 1)", "a number between 0 and 1"),
            hint=f"For edges that must or must not be there, use {bare('required')} and {bare('forbidden')}.",
        )
        object.__setattr__(self, "probability", checked)

    @classmethod
    def from_text(cls, argument: str | None = None) -> Self:
        """The prior of a probability that is given as text.

        >>> EdgePrior.from_text("0.2")
        EdgePrior(probability=0.2)
        """
        try:
            return cls(float(argument or "") if argument is None or isinstance(argument, str) else math.nan)
        except ValueError:
            written = "edge" if argument is None else f"edge:{argument}" if isinstance(argument, str) else argument
            raise InputError(
                f"The prior 'edge' is written edge:P with P between 0 and 1. Got {shown(written)} instead."
            ) from None

    def log_weight_of_size(self, nodes: int, size: int) -> float:
        """The log probability of exactly these parents, if there are `size` of them."""
        return size * math.log(self.probability) + (nodes - 1 - size) * math.log1p(-self.probability)

    def in_words(self) -> str:
        """The part of a sentence by which a report explains the prior."""
        return f"before the data an edge has the weight {self.probability:g}, and its absence what is missing to 1"
