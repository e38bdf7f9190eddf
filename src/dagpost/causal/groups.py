"""Which graphs of a sample say the same about an effect, and which rows of the table speak of it.

In a graph without a directed path from the treatment to the outcome, setting the treatment changes nothing. In any
other one the parents of the treatment are a valid adjustment set (Pearl 2009, theorem 3.2.2): only they matter, so all
graphs that share them are one group. An exogenous treatment has no parents, but how it depends on other exogenous
columns is not modelled: those among them that are ancestors of the outcome are adjusted for instead.

Time: the ancestors of all graphs, `n^2` steps each, and one sort.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.arrays import Floats, Integers, Masks
from dagpost._tools.text import position_of
from dagpost.data.table import Table
from dagpost.errors import InputError, warn
from dagpost.features import ancestors
from dagpost.posterior.sample import DagSample


class Groups(NamedTuple):
    """The distinct adjustment sets of graphs with a path, with the weight of each; `no_path` is that of the others."""

    masks: Masks
    weights: Floats
    no_path: float


class Effects(NamedTuple):
    """The mean effect given each adjustment set, draws from the posterior, and how many observations they rest on."""

    means: Floats
    draws: Floats
    observations: int


def groups_of(sample: DagSample, treatment: int, outcome: int) -> Groups:
    """The adjustment sets of one effect; sets whose graphs weigh nothing are left out."""
    above = ancestors(sample.parents)[:, outcome]
    reached = above >> np.uint64(treatment) & np.uint64(1) == 1
    adjusted = sample.parents[:, treatment]
    if sample.names[treatment] in sample.exogenous:
        others = sum(1 << position_of(name, sample.names) for name in sample.exogenous) & ~(1 << treatment)
        adjusted = above & np.uint64(others)
    masks, member = np.unique(adjusted[reached], return_inverse=True)
    weights = np.bincount(member, weights=sample.weights[reached], minlength=len(masks))
    # Weights sum to 1 up to rounding; what is said of them should do so exactly.
    total = float(sample.weights.sum())
    chosen = weights > 0.0
    no_path = float(sample.weights[~reached].sum()) / total
    return Groups(masks[chosen].astype(np.uint64), weights[chosen] / total, no_path)


def share_out(groups: Groups, draws: int, generator: np.random.Generator) -> Integers:
    """The group of each draw, ascending; the number of groups itself stands for "no path".

    Each group gets its weight times `draws`, rounded up or down at random without bias (systematic resampling).
    """
    borders = np.cumsum(np.append(groups.weights, groups.no_path))
    points = (np.arange(draws) + generator.random()) / draws * borders[-1]
    # Rounding must not choose a group of weight 0 at the end.
    last = len(groups.weights) if groups.no_path > 0.0 else len(groups.weights) - 1
    found: Integers = np.searchsorted(borders, points, side="right")
    return np.minimum(found, last)


def speaking_rows(table: Table, treatment: int) -> NDArray[np.bool_]:
    """The rows in which nothing but the treatment was set.

    Setting the treatment changes neither its parents nor how the outcome follows from it and them. Setting anything
    else may: an ancestor of the outcome or of the parents, known or not until the graph is.
    """
    rows = np.ones(table.rows, dtype=np.bool_)
    if table.interventions is not None:
        rows &= table.interventions & ~(np.uint64(1) << np.uint64(treatment)) == 0
    if table.counts is not None:
        if (table.counts < 0).any():
            row = int((table.counts < 0).argmax())
            raise InputError(
                f"The counts of a table must be at least 0. Got {int(table.counts[row])} in row {row + 1} (the first "
                "row is row 1): correct it, or drop the row."
            )
        rows &= table.counts > 0
    if not rows.any():
        warn(
            f"In every row something other than {table.names[treatment]!r} was set, so no row speaks of its effects: "
            "they come from the prior alone. Add rows in which nothing, or only this variable, was set."
        )
    return rows


def observations_in(table: Table, rows: NDArray[Any]) -> int:
    """How many observations some rows stand for."""
    return int(table.weights[rows].sum())
