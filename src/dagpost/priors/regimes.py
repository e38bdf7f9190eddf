"""What was believed of experiments with unknown targets: how many variables a regime changes, and how many change one.

Each of `n` variables is a target of a regime with probability `p = expected_targets / n`, independently of the others.
So `t` indicators among the parents of a variable, out of `r`, weigh `p^t (1 - p)^(r - t)`; what the prior of the user's
choice says of the ordinary parents comes on top, as if there were no indicators. Sets with too many parents of one kind
weigh nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from dagpost._tools.arrays import Flags, Floats, Integers
from dagpost._tools.mixture import Mixture
from dagpost._tools.spelling import either
from dagpost.errors import InputError
from dagpost.priors.base import SetPrior, StructurePrior

if TYPE_CHECKING:
    from dagpost.families.considered_sets import Members


@dataclass(frozen=True)
class RegimePrior(SetPrior):
    """The prior of a model with indicators of regimes, which are the last columns."""

    #: The prior of the ordinary parents.
    of_parents: StructurePrior
    #: How many columns are indicators.
    indicators: int
    #: The probability that a regime changes a variable.
    probability: float
    #: The most ordinary parents, and the most indicators, of a variable.
    max_parents: int
    max_regimes: int

    @property
    def chosen(self) -> StructurePrior:
        """The prior of the user's choice."""
        return self.of_parents.chosen

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that the user's prior speaks of."""
        return self.of_parents.columns

    def mixture(self, nodes: int) -> Mixture[StructurePrior] | None:
        """What the user's prior averages over; it is about the ordinary columns."""
        return self.of_parents.mixture(nodes - self.indicators)

    def without_average(self, nodes: int) -> StructurePrior:
        """The same with one density of the ordinary columns' edges."""
        return replace(self, of_parents=self.of_parents.without_average(nodes - self.indicators))

    def settled(self, names: tuple[str, ...], barred: Flags) -> StructurePrior:
        """The same of the user's prior, which is about the ordinary columns."""
        ordinary = len(names) - self.indicators
        own = self.of_parents.settled(names[:ordinary], barred[:ordinary, :ordinary])
        return self if own is self.of_parents else replace(self, of_parents=own)

    def log_weights_of_members(self, names: tuple[str, ...], node: int, members: Members) -> Floats:
        """The log weight of some parent sets of one node, given as rows of columns."""
        ordinary = len(names) - self.indicators
        if node >= ordinary:
            return np.zeros(len(members))
        regimes = ((members >= ordinary) & (members < len(names))).sum(axis=1)
        weights = np.full(len(members), -np.inf)
        few = (members < ordinary).sum(axis=1) <= self.max_parents
        own = np.minimum(members[few], ordinary)
        weights[few] = self.of_parents.log_weights_of_members(names[:ordinary], node, own)
        result: Floats = weights + self.of_targets(regimes)
        return result

    def of_targets(self, regimes: Integers) -> Floats:
        """The log weight of being changed by so many regimes."""
        changed, kept = math.log(self.probability), math.log1p(-self.probability)
        weights: Floats = regimes * changed + (self.indicators - regimes) * kept
        return np.where(regimes <= self.max_regimes, weights, -np.inf)

    def in_words(self) -> str:
        """The part of a sentence by which a report explains the prior."""
        return (
            f"{self.of_parents.in_words()}; a regime changes a variable with probability {self.probability:.3g} before "
            "the data"
        )


def target_probability(expected_targets: float, variables: int) -> float:
    """The probability that a regime changes a variable, where it is expected to change so many of them.

    >>> target_probability(1.0, 4)
    0.25
    """
    if expected_targets >= variables:
        raise InputError(
            f"A regime is expected to change {expected_targets:g} of {variables} variables: "
            f"{either('expected_targets', '--expected-targets')} must be below their number."
        )
    return expected_targets / variables
