"""How mechanisms are made, by the prior of the parameters: one line for each kind of table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from dagpost._tools.arrays import Masks
from dagpost.causal import gaussian
from dagpost.causal.mechanisms import Mechanisms
from dagpost.prediction.background import Background
from dagpost.scores import NormalWishartPrior


class Kind(NamedTuple):
    """What mechanisms.py says of `drawn` and `expected`: of statistics, prior, graphs and background (and chance)."""

    drawn: Callable[[Any, Any, Masks, Background, np.random.Generator], Mechanisms]
    expected: Callable[[Any, Any, Masks, Background], Mechanisms]


KINDS: Mapping[type[Any], Kind] = {
    NormalWishartPrior: Kind(gaussian.drawn, gaussian.expected),
}
