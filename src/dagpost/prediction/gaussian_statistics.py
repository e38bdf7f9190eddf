"""What prediction must remember of columns of numbers: how many rows, their means and scatter, for every family alike.

Rows in which a node was set by intervention are left out for that node (Cooper & Yoo 1999).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.arrays import Floats, Integers
from dagpost.data.table import Table
from dagpost.prediction.stored_arrays import integers_of, require
from dagpost.scores import standard_deviations
from dagpost.scores.parameter_priors import centre
from dagpost.scores.set_functions import runs_of

_ARRAYS = ("centre", "deviations", "group_of", "observations", "means", "scatters")


@dataclass(frozen=True, eq=False, repr=False)
class GaussianStatistics:
    """Number of rows, means and scatter of continuous columns; make one with `sufficient_statistics`.

    Nodes that were never set by intervention share the same rows; `group_of` says which group of rows counts for each
    node. Any family can be worked out from them.
    """

    names: tuple[str, ...]
    #: The mean of all rows together, on which a prior without a mean of its own is centred.
    centre: Floats
    #: The standard deviations of all rows together, which are the units of a prior without units of its own.
    deviations: Floats
    group_of: Integers
    #: By group: the number of rows, the means (groups, n), the scatter around them (groups, n, n).
    observations: Floats
    means: Floats
    scatters: Floats

    @property
    def levels(self) -> tuple[None, ...]:
        """No column has levels."""
        return (None,) * len(self.names)

    @property
    def arities(self) -> tuple[int, ...]:
        """Number of levels of each column: 0."""
        return (0,) * len(self.names)

    def covers(self, parents: NDArray[Any]) -> bool:  # noqa: ARG002
        """Whether all families of some graphs are there: always."""
        return True

    def about(self) -> dict[str, Any]:
        """What is not an array, as JSON can hold it."""
        return {"kind": "gaussian", "names": list(self.names)}

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The arrays to be stored."""
        return {name: getattr(self, name) for name in _ARRAYS}

    def __repr__(self) -> str:
        return f"GaussianStatistics over {len(self.names)} variables"


def count_gaussian(table: Table) -> GaussianStatistics:
    """Number of rows, means and scatter of a table of numbers."""
    data = table.values()
    nodes = data.shape[1]
    weights = table.weights.astype(np.float64)
    runs = runs_of(table.interventions, nodes)
    group_of = np.zeros(nodes, dtype=np.int64)
    observations, means = np.zeros(len(runs)), np.zeros((len(runs), nodes))
    scatters = np.zeros((len(runs), nodes, nodes))
    for group, (members, observed) in enumerate(runs):
        group_of[list(members)] = group
        rows = slice(None) if observed is None else observed
        observations[group] = weights[rows].sum()
        if observations[group] > 0:
            centred, first, rest = centre(data[rows], weights[rows])
            means[group] = first + rest
            scatters[group] = (centred * weights[rows, np.newaxis]).T @ centred
    _, first, rest = centre(data, weights)
    deviations = standard_deviations(data, weights)
    return GaussianStatistics(table.names, first + rest, deviations, group_of, observations, means, scatters)


def gaussian_from(about: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> GaussianStatistics:
    """The statistics that `about()` and `arrays()` describe; what does not fit together is a ValueError."""
    names = tuple(map(str, about["names"]))
    group_of = integers_of(arrays, "group_of")
    centre, observations, means, scatters = (
        arrays[name].astype(np.float64) for name in ("centre", "observations", "means", "scatters")
    )
    nodes, groups = len(names), len(observations)
    # Files without deviations are of a time when no prior asked for them.
    deviations = arrays["deviations"].astype(np.float64) if "deviations" in arrays else np.ones(nodes)
    require(centre.shape == deviations.shape == group_of.shape == (nodes,), "nodes do not match")
    require(means.shape == (groups, nodes) and scatters.shape == (groups, nodes, nodes), "groups do not match")
    require(bool(((group_of >= 0) & (group_of < groups)).all()), "unknown groups")
    finite = all(bool(np.isfinite(array).all()) for array in (centre, deviations, observations, means, scatters))
    require(finite and bool((observations >= 0).all() and (deviations > 0).all()), "numbers are not finite")
    return GaussianStatistics(names, centre, deviations, group_of, observations, means, scatters)
