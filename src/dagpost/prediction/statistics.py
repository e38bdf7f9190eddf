"""What prediction must remember of a table: for every family of a sample, how often each of its cells occurred.

A family is a node with its parents. For discrete columns the counts of the cells that occur are kept; for continuous
ones the number of rows, the means and the scatter matrix, which serve every family alike. Rows in which a node was set
by intervention are left out for that node (Cooper & Yoo 1999). The rows themselves are not kept.

Time: one pass over the distinct rows a family. Memory: two numbers a cell that occurs, and as much again while they are
put together.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.arrays import Flags, Floats, Integers, Masks
from dagpost._tools.checks import has_method, kind
from dagpost._tools.progress import NO_PROGRESS, Reporter
from dagpost._tools.text import names_in, readable_level, shortened
from dagpost.data.table import Table
from dagpost.engines import Engine, engine_or_threads
from dagpost.errors import InputError
from dagpost.families.masks import check_masks, refuse_wide
from dagpost.prediction.counting import cell_numbers, count_families
from dagpost.scores import (
    NormalWishartPrior,
    ParameterPrior,
    Score,
    parameter_prior_of,
    standard_deviations,
    table_for,
)
from dagpost.scores.set_functions import runs_of


@dataclass(frozen=True, eq=False, repr=False)
class DiscreteStatistics:
    """How often each cell of each family occurred; make one with `sufficient_statistics`.

    The families are sorted by node and then by parents. A cell is numbered by the levels of the parents, the first node
    first, and of the node itself as the last digit, each digit in the base of its number of levels.
    """

    names: tuple[str, ...]
    levels: tuple[tuple[object, ...], ...]
    #: The node and the parents of each family.
    children: Integers
    parents: Masks
    #: Where the cells of each family begin, and where those of the last end.
    starts: Integers
    #: The numbers of the cells that occurred, ascending within a family, and how often each did.
    cells: Integers
    counts: Integers
    #: The columns that are indicators of regimes, of which at most one is 1 in a row.
    regimes: tuple[str, ...] = ()

    @property
    def exclusive(self) -> Flags:
        """Of every column, whether it is an indicator of a regime."""
        return np.array([name in self.regimes for name in self.names], dtype=np.bool_)

    @property
    def arities(self) -> tuple[int, ...]:
        """Number of levels of each column."""
        return tuple(len(levels) for levels in self.levels)

    def locate(self, children: Integers, parents: Masks) -> Integers:
        """The numbers of some families; one that is not there is an error."""
        found = self._search(children, parents)
        missing = np.flatnonzero(found < 0)
        if len(missing):
            child, mask = int(children[missing[0]]), int(parents[missing[0]])
            of = shortened([repr(name) for name in names_in(mask, self.names)]) or "none"
            raise InputError(
                f"Nothing was counted for {self.names[child]!r} with parents {of}, and {len(missing):,} families in "
                "all are missing. Count again for these graphs: sufficient_statistics(table, parents, score)."
            )
        return found

    def covers(self, parents: NDArray[Any]) -> bool:
        """Whether all families of some graphs, rows of parent masks, are there."""
        families = families_in(parents)
        return bool((self._search(families.children, families.parents) >= 0).all())

    def _search(self, children: Integers, parents: Masks) -> Integers:
        found = np.full(len(children), -1, dtype=np.int64)
        for child in np.unique(children):
            first, last = np.searchsorted(self.children, [child, child + 1])
            wanted = np.flatnonzero(children == child)
            if first < last:
                place = np.minimum(first + np.searchsorted(self.parents[first:last], parents[wanted]), last - 1)
                found[wanted] = np.where(self.parents[place] == parents[wanted], place, -1)
        return found

    def about(self) -> dict[str, Any]:
        """What is not an array, as JSON can hold it."""
        levels = [[readable_level(level) for level in levels] for levels in self.levels]
        about = {"kind": "discrete", "names": list(self.names), "levels": levels}
        return {**about, "regimes": list(self.regimes)} if self.regimes else about

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The arrays to be stored, in the smallest types that hold them."""
        names = ("children", "parents", "starts", "cells", "counts")
        return {name: _smallest(getattr(self, name)) for name in names}

    def __repr__(self) -> str:
        return (
            f"DiscreteStatistics of {len(self.children):,} families over {len(self.names)} variables: "
            f"{len(self.cells):,} cells"
        )


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

    def covers(self, parents: NDArray[Any]) -> bool:  # noqa: ARG002
        """Whether all families of some graphs are there: always."""
        return True

    def about(self) -> dict[str, Any]:
        """What is not an array, as JSON can hold it."""
        return {"kind": "gaussian", "names": list(self.names)}

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The arrays to be stored."""
        return {name: getattr(self, name) for name in _GAUSSIAN}

    def __repr__(self) -> str:
        return f"GaussianStatistics over {len(self.names)} variables"


Statistics = DiscreteStatistics | GaussianStatistics

_GAUSSIAN = ("centre", "deviations", "group_of", "observations", "means", "scatters")


class Families(NamedTuple):
    """The distinct families of some graphs, and the number of that of each node in each graph."""

    children: Integers
    parents: Masks
    numbers: NDArray[np.int32]


def families_in(parents: NDArray[Any]) -> Families:
    """The distinct families of graphs given as rows of parent masks, sorted by node and then by parents.

    >>> families = families_in(np.array([[0, 1], [2, 0], [0, 1]], dtype=np.uint8))
    >>> families.children.tolist(), families.parents.tolist()
    ([0, 0, 1, 1], [0, 2, 0, 1])
    >>> families.numbers.tolist()
    [[0, 3], [1, 2], [0, 3]]
    """
    check_masks(parents)
    refuse_wide(parents.shape[1], "Predictions are made")
    numbers = np.empty(parents.shape, dtype=np.int32)
    masks: list[Masks] = []
    total = 0
    for node in range(parents.shape[1]):
        distinct, member = np.unique(parents[:, node], return_inverse=True)
        numbers[:, node] = total + member
        masks.append(distinct.astype(np.uint64))
        total += len(distinct)
    children = np.repeat(np.arange(len(masks)), [len(distinct) for distinct in masks])
    return Families(children, np.concatenate(masks), numbers)


def predicting_prior(score: str | Score) -> ParameterPrior:
    """The prior of the parameters behind a score, over which prediction integrates."""
    return parameter_prior_of(score, "Prediction needs to know")


def prior_for(statistics: Statistics, score: str | Score) -> ParameterPrior:
    """The same, if it is for the kind of columns that were counted."""
    prior = predicting_prior(score)
    continuous = isinstance(prior, NormalWishartPrior)
    if continuous != isinstance(statistics, GaussianStatistics):
        takes, counted = ("continuous", "discrete") if continuous else ("discrete", "continuous")
        raise InputError(
            f"The score {score!r} is for {takes} columns, but {counted} ones were counted. Give the score that the "
            "graphs were found with."
        )
    return prior


def check_statistics(statistics: Any) -> Statistics:
    """What `sufficient_statistics` counted; anything else is an error."""
    found: Statistics = kind(
        statistics, "statistics", (DiscreteStatistics, GaussianStatistics), "what sufficient_statistics(...) counted"
    )
    return found


def sufficient_statistics(
    table: Table,
    parents: NDArray[Any],
    score: str | Score,
    *,
    engine: Engine | None = None,
    reporter: Reporter = NO_PROGRESS,
) -> Statistics:
    """Count what prediction from some graphs needs to know about a table.

    Parameters
    ----------
    parents
        The graphs, one row of parent masks each, such as `DagSample.parents`.
    score
        The score the graphs were found with: the prior of its parameters says whether columns are discrete or
        continuous.

    >>> from dagpost.data import datasets
    >>> no_edges = np.zeros((1, 6), dtype=np.uint8)
    >>> sufficient_statistics(datasets.load("coronary"), no_edges, "bdeu")
    DiscreteStatistics of 6 families over 6 variables: 12 cells
    """
    has_method(reporter, "reporter", "stage", "a Reporter")
    prior, table = predicting_prior(score), table_for(score, table)
    check_masks(parents)
    refuse_wide(parents.shape[1], "Predictions are made")
    if parents.shape[1] != len(table.names):
        raise InputError(f"The graphs have {parents.shape[1]} nodes, but the table has {len(table.names)} columns.")
    if isinstance(prior, NormalWishartPrior):
        return _gaussian_statistics(table)
    families = families_in(parents)
    sizes, cells, counts = count_families(
        table, families.children, families.parents, engine_or_threads(engine), reporter
    )
    starts = np.concatenate([[0], np.cumsum(sizes)])
    levels = tuple(levels or () for levels in table.levels)
    counted = families.children, families.parents, starts, cells, counts
    return DiscreteStatistics(table.names, levels, *counted, table.regimes)


def _gaussian_statistics(table: Table) -> GaussianStatistics:
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
            means[group] = np.average(data[rows], axis=0, weights=weights[rows])
            centred = data[rows] - means[group]
            scatters[group] = (centred * weights[rows, np.newaxis]).T @ centred
    centre = np.average(data, axis=0, weights=weights)
    deviations = standard_deviations(data, weights)
    return GaussianStatistics(table.names, centre, deviations, group_of, observations, means, scatters)


def statistics_from(about: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Statistics:
    """The statistics that `about()` and `arrays()` describe; what does not fit together is an error."""
    try:
        names = tuple(map(str, about["names"]))
        if about["kind"] == "gaussian":
            return _checked_gaussian(names, arrays)
        if about["kind"] == "discrete":
            found = _checked_discrete(names, tuple(tuple(levels) for levels in about["levels"]), arrays)
            return replace(found, regimes=tuple(map(str, about.get("regimes", ()))))
        raise ValueError(f"no statistics of kind {about['kind']!r} are known")
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise InputError(
            f"The counts for prediction are incomplete or damaged ({error}). Make the file again."
        ) from error


def _checked_discrete(
    names: tuple[str, ...], levels: tuple[tuple[object, ...], ...], arrays: Mapping[str, NDArray[Any]]
) -> DiscreteStatistics:
    kept = {name: _integers(arrays, name) for name in ("children", "starts", "cells", "counts")}
    parents = arrays["parents"].astype(np.uint64)
    children, starts, cells, counts = kept.values()
    families = len(children)
    _require(len(levels) == len(names) and all(levels), "every column needs levels")
    _require(parents.shape == (families,) and starts.shape == (families + 1,), "families do not match")
    _require(cells.shape == counts.shape and bool((counts > 0).all()), "cells and counts do not match")
    _require(
        starts[0] == 0 and starts[-1] == len(cells) and bool((np.diff(starts) >= 0).all()), "cells are out of place"
    )
    inside = (children >= 0) & (children < len(names))
    _require(bool(inside.all()) and not (parents >> np.uint64(len(names) - 1) >> np.uint64(1)).any(), "unknown nodes")
    _require(not (parents >> children.astype(np.uint64) & np.uint64(1)).any(), "a node is its own parent")
    in_order = (np.diff(children) > 0) | ((np.diff(children) == 0) & (parents[1:] > parents[:-1]))
    _require(bool(in_order.all()), "families are out of order")
    result = DiscreteStatistics(names, levels, children, parents, starts, cells, counts)
    sizes = np.diff(starts)
    limits = np.repeat(cell_numbers(result.arities, children, parents), sizes)
    _require(bool(((cells >= 0) & (cells < limits)).all()), "a cell is beyond its family")
    same_family = np.diff(np.repeat(np.arange(families), sizes)) == 0
    _require(bool((np.diff(cells) > 0)[same_family].all()), "cells are out of order")
    return result


def _checked_gaussian(names: tuple[str, ...], arrays: Mapping[str, NDArray[Any]]) -> GaussianStatistics:
    group_of = _integers(arrays, "group_of")
    centre, observations, means, scatters = (
        arrays[name].astype(np.float64) for name in ("centre", "observations", "means", "scatters")
    )
    nodes, groups = len(names), len(observations)
    # Files without deviations are of a time when no prior asked for them.
    deviations = arrays["deviations"].astype(np.float64) if "deviations" in arrays else np.ones(nodes)
    _require(centre.shape == deviations.shape == group_of.shape == (nodes,), "nodes do not match")
    _require(means.shape == (groups, nodes) and scatters.shape == (groups, nodes, nodes), "groups do not match")
    _require(bool(((group_of >= 0) & (group_of < groups)).all()), "unknown groups")
    finite = all(bool(np.isfinite(array).all()) for array in (centre, deviations, observations, means, scatters))
    _require(finite and bool((observations >= 0).all() and (deviations > 0).all()), "numbers are not finite")
    return GaussianStatistics(names, centre, deviations, group_of, observations, means, scatters)


def _require(fits: bool, otherwise: str) -> None:
    if not fits:
        raise ValueError(otherwise)


def _integers(arrays: Mapping[str, NDArray[Any]], name: str) -> Integers:
    array = arrays[name]
    _require(array.ndim == 1 and array.dtype.kind in "ui", f"{name} must be whole numbers in a row")
    return array.astype(np.int64)


def _smallest(array: NDArray[Any]) -> NDArray[Any]:
    return array.astype(np.min_scalar_type(int(array.max(initial=0))))
