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
from dagpost.priors.base import SetPrior, StructurePrior, numbers_of_places

if TYPE_CHECKING:
    from dagpost.families.considered_sets import Members as Columns
    from dagpost.families.parent_lists import Members, ParentLists


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

    def log_weights_of_members(self, names: tuple[str, ...], node: int, members: Columns) -> Floats:
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

    def log_weights_of_lists(self, names: tuple[str, ...], lists: ParentLists) -> tuple[Floats, ...]:
        """The log weight of the parent sets that rules allow each node, in the numbering of `lists`."""
        from dagpost.families.parent_lists import ParentLists

        ordinary = len(names) - self.indicators
        candidates = tuple(own[own < ordinary] for own in lists.candidates[:ordinary])
        of_parents = self.of_parents.log_weights_of_lists(names[:ordinary], ParentLists(candidates, self.max_parents))
        # Nodes with as many candidates of both kinds number their sets alike.
        known: dict[tuple[int, int], tuple[Integers, Floats]] = {}
        weights = []
        for node, own in enumerate(of_parents):
            key = len(candidates[node]), len(lists.candidates[node])
            if key not in known:
                known[key] = self._parts_of_sets(lists.members(node), key[0])
            numbers, of_targets = known[key]
            weights.append(np.where(numbers < 0, -np.inf, own[numbers]) + of_targets)
        return (*weights, *(np.zeros(count) for count in lists.counts[ordinary:]))

    def _parts_of_sets(self, members: Members, ordinary: int) -> tuple[Integers, Floats]:
        """For each set the number of its ordinary members by themselves (-1: too many), and what the rest weighs.

        Positions below `ordinary` are those of ordinary parents, and come first.
        """
        is_ordinary = (members >= 0) & (members < ordinary)
        numbers = numbers_of_places(np.where(is_ordinary, members, -1), ordinary)
        regimes = (members >= ordinary).sum(axis=1)
        return np.where(is_ordinary.sum(axis=1) <= self.max_parents, numbers, -1), self.of_targets(regimes)

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
