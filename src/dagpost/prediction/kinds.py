"""How cells are predicted, by the prior of the parameters: one line for each kind of table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from dagpost.prediction.discrete import discrete_filler
from dagpost.prediction.gap_kinds import Prepare, prepare_discrete, prepare_gaussian
from dagpost.prediction.gaussian import gaussian_filler
from dagpost.prediction.strips import Fill
from dagpost.scores import DirichletPrior, NormalWishartPrior


class Kind(NamedTuple):
    """What works out columns of whole rows, and what is left of graphs where cells are missing."""

    filler: Callable[..., Fill]
    prepare: Callable[..., Prepare]


KINDS: Mapping[type[Any], Kind] = {
    DirichletPrior: Kind(discrete_filler, prepare_discrete),
    NormalWishartPrior: Kind(gaussian_filler, prepare_gaussian),
}
