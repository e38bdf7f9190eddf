"""How mechanisms are made, by the prior of the parameters: one line for each kind of table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from dagpost._tools.arrays import Floats, Masks
from dagpost.causal import discrete, gaussian, moved
from dagpost.causal.mechanisms import Mechanisms, World
from dagpost.prediction.background import Background
from dagpost.scores import DirichletPrior, LocalPrior, NormalWishartPrior, ParameterPrior


class Kind(NamedTuple):
    """How mechanisms of one kind of table are made (mechanisms.py), and what is assumed of it, in a sentence."""

    drawn: Callable[[Any, Any, Masks, Background, np.random.Generator], Mechanisms]
    expected: Callable[[Any, Any, Masks, Background, Floats], Mechanisms]
    assumption: str
    #: Whether what is expected is a sum; else it is the mean of draws that all questions share.
    sums: bool = True
    #: In linear networks, in which `through` too is linear in every parameter: the change of an outcome with columns
    #: that are set, by the step of each. A difference of two outcomes would lose it where numbers are large.
    change: Callable[[Mechanisms, int, World], Floats] | None = None

    @property
    def linear(self) -> bool:
        """Whether changes are the same wherever they start."""
        return self.change is not None


KINDS: Mapping[type[Any], Kind] = {
    DirichletPrior: Kind(
        discrete.drawn, discrete.expected, "The levels of a column follow any table of probabilities given its causes."
    ),
    NormalWishartPrior: Kind(
        gaussian.drawn,
        gaussian.expected,
        "Every column of numbers is a linear function of its causes with normal noise.",
        change=gaussian.change,
    ),
}


def kind_of(prior: ParameterPrior) -> Kind:
    """The kind of a prior; local models of every kind answer alike."""
    if isinstance(prior, LocalPrior):
        return Kind(moved.drawn, moved.expected, import_module(prior.module).ASSUMPTION, sums=False)
    return KINDS[type(prior)]
