"""How cells are predicted, by the prior of the parameters: one line for each kind of table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import attrgetter
from typing import Any, NamedTuple

from dagpost._tools.arrays import Integers, Masks
from dagpost.prediction.discrete import discrete_filler
from dagpost.prediction.gap_kinds import Prepare, prepare_discrete, prepare_gaussian, prepare_mixed
from dagpost.prediction.gaussian import FamiliesByRow, gaussian_by_row, gaussian_filler
from dagpost.prediction.mixed import mixed_by_row, mixed_filler
from dagpost.prediction.strips import Fill
from dagpost.scores import ConditionalGaussianPrior, DirichletPrior, NormalWishartPrior


class Kind(NamedTuple):
    """What works out columns of whole rows, and what is left of graphs where cells are missing."""

    filler: Callable[..., Fill]
    prepare: Callable[..., Prepare]
    #: Whether missing levels are summed in every graph; if not, rows are completed in all ways.
    sums_levels: bool = True
    #: Of tables with columns of numbers: their families among themselves, and which nodes share their rows.
    families_by_row: Callable[[Any, Any, Integers, Masks], FamiliesByRow] | None = None
    runs: Callable[[Any], Integers] = attrgetter("group_of")


KINDS: Mapping[type[Any], Kind] = {
    DirichletPrior: Kind(discrete_filler, prepare_discrete),
    NormalWishartPrior: Kind(gaussian_filler, prepare_gaussian, families_by_row=gaussian_by_row),
    ConditionalGaussianPrior: Kind(
        mixed_filler, prepare_mixed, sums_levels=False, families_by_row=mixed_by_row, runs=attrgetter("run_of")
    ),
}
