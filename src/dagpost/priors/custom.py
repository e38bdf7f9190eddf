"""Weights from a function of the user's: the one prior that calls Python for every family."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING

import numpy as np

from dagpost._tools.arrays import Floats
from dagpost._tools.checks import ask_user, is_finite, refusal
from dagpost._tools.text import shown
from dagpost.errors import InputError
from dagpost.priors.base import SetPrior

if TYPE_CHECKING:
    from dagpost.families.considered_sets import Members


@dataclass(frozen=True)
class CustomPrior(SetPrior):
    """Weights from a function of the child's name and the frozenset of its parents' names.

    The function gives the log weight of the family: any finite number, or minus infinity where the family is
    impossible. It is called once for every family, so it should be quick.

    >>> def few(child, parents):
    ...     return 1.0 - len(parents)
    >>> CustomPrior(few).log_weights(("a", "b", "c"), 1)[0]
    array([1., 0., 0.])
    """

    function: Callable[[str, frozenset[str]], float]

    def __post_init__(self) -> None:
        """Check the parameter."""
        if not callable(self.function):
            raise refusal(self.function, "function", "CustomPrior", "callable as function(child, parents)")

    def log_weights_of_members(self, names: tuple[str, ...], node: int, members: Members) -> Floats:
        """Ask the function for some parent sets of one node, given as rows of columns."""
        sets = (frozenset(names[column] for column in own if column < len(names)) for own in members.tolist())
        return np.array([self._weight(names[node], parents) for parents in sets])

    def _weight(self, child: str, parents: frozenset[str]) -> float:
        weight = ask_user("The function of CustomPrior", self.function, child, parents)
        impossible = isinstance(weight, Real) and weight == -math.inf
        if not impossible and not is_finite(weight):
            raise InputError(
                "The function of CustomPrior must give a log weight: a finite number, or -inf for an "
                f"impossible family. Got {shown(weight)} for child {child!r} with parents {sorted(parents)!r}."
            )
        return float(weight)
