"""What prediction must remember of a table of levels and numbers, for networks of `ConditionalGaussian`.

Columns of levels have parents of levels only: their families are counted as in any table of levels. A column of numbers
has a regression of its own in each combination of levels of its discrete parents: for every set of discrete parents of
the graphs, the rows of each combination that occurs are one group, with their number, means and scatter over all
columns of numbers. Rows in which a node was set by intervention are left out for that node.

Time: a sort of the rows for each distinct set of discrete parents, and one pass over them. Memory: the square of the
number of columns of numbers for each combination that occurs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dagpost._tools import memory
from dagpost._tools.arrays import Integers, Masks
from dagpost._tools.progress import Reporter
from dagpost._tools.text import readable_level
from dagpost.data.table import Table
from dagpost.engines import Engine
from dagpost.errors import InputError
from dagpost.prediction.counting import cell_numbers, refuse_many_cells
from dagpost.prediction.discrete_statistics import DiscreteStatistics, count_discrete, discrete_from
from dagpost.prediction.family_lists import Families, families_in
from dagpost.prediction.gaussian_statistics import GaussianStatistics, gaussian_from
from dagpost.prediction.grouped_rows import combinations_of, grouped_rows
from dagpost.prediction.stored_arrays import integers_of, require, smallest
from dagpost.scores import standard_deviations
from dagpost.scores.columns import part_of
from dagpost.scores.parameter_priors import centre
from dagpost.scores.set_functions import runs_of

#: The arrays of sets, beside those of the two kinds of columns.
_SETS = ("run_of", "set_runs", "set_masks", "starts", "configurations")


@dataclass(frozen=True, eq=False, repr=False)
class MixedStatistics:
    """Counts of the columns of levels, and the rows of every combination of discrete parents of columns of numbers.

    Masks of discrete parents have one bit for each column of levels, in their order.
    """

    names: tuple[str, ...]
    #: None for a column of numbers.
    levels: tuple[tuple[object, ...] | None, ...]
    #: The columns of levels by themselves.
    discrete: DiscreteStatistics
    #: The columns of numbers by themselves, in groups: none of the rows, then the rows of each combination that occurs.
    numbers: GaussianStatistics
    #: Which rows count for each column of numbers: those where it was not set.
    run_of: Integers
    #: Sets of discrete parents, sorted by run and then by mask, and where the combinations of each begin.
    set_runs: Integers
    set_masks: Masks
    starts: Integers
    #: The combinations that occur, ascending within a set: the levels of the parents, the first one first, as digits.
    configurations: Integers

    @property
    def arities(self) -> tuple[int, ...]:
        """Number of levels of each column; 0 for numbers."""
        return tuple(len(levels or ()) for levels in self.levels)

    @property
    def level_columns(self) -> Integers:
        """Which columns are levels."""
        return np.array([node for node, levels in enumerate(self.levels) if levels is not None], dtype=np.int64)

    @property
    def number_columns(self) -> Integers:
        """Which columns are numbers."""
        return np.array([node for node, levels in enumerate(self.levels) if levels is None], dtype=np.int64)

    def locate_sets(self, runs: Integers, masks: Masks) -> Integers:
        """The numbers of some sets of discrete parents; one that is not there is an error."""
        found = self._search(runs, masks)
        if (found < 0).any():
            raise InputError(
                f"Nothing was counted for {int((found < 0).sum()):,} of the families of these graphs. Count again for "
                "them: sufficient_statistics(table, parents, score)."
            )
        return found

    def covers(self, parents: NDArray[Any]) -> bool:
        """Whether all families of some graphs, rows of parent masks, are there."""
        levels, numbers = self.level_columns, self.number_columns
        families = families_in(parents)
        own = np.isin(families.children, numbers)
        among = np.uint64(sum(1 << int(column) for column in numbers))
        if (families.parents[~own] & among).any():
            # From numbers to levels: not a family of this model.
            return False
        masks = compressed(families.parents, levels)
        sets = self._search(self.run_of[np.searchsorted(numbers, families.children[own])], masks[own])
        discrete = np.ascontiguousarray(compressed(parents[:, levels].astype(np.uint64), levels))
        return bool((sets >= 0).all()) and (not len(levels) or self.discrete.covers(discrete))

    def _search(self, runs: Integers, masks: Masks) -> Integers:
        found = np.full(len(masks), -1, dtype=np.int64)
        for run in np.unique(runs):
            first, last = np.searchsorted(self.set_runs, [run, run + 1])
            wanted = np.flatnonzero(runs == run)
            if first < last:
                place = np.minimum(first + np.searchsorted(self.set_masks[first:last], masks[wanted]), last - 1)
                found[wanted] = np.where(self.set_masks[place] == masks[wanted], place, -1)
        return found

    def about(self) -> dict[str, Any]:
        """What is not an array, as JSON can hold it."""
        levels = [None if own is None else [readable_level(level) for level in own] for own in self.levels]
        about = {"kind": "mixed", "names": list(self.names), "levels": levels}
        return {**about, "regimes": list(self.discrete.regimes)} if self.discrete.regimes else about

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The arrays to be stored, in the smallest types that hold them."""
        numbers = self.numbers.arrays()
        del numbers["group_of"]
        return {
            **{f"levels_{name}": array for name, array in self.discrete.arrays().items()},
            **{f"numbers_{name}": array for name, array in numbers.items()},
            **{name: smallest(getattr(self, name)) for name in _SETS},
        }

    def __repr__(self) -> str:
        return (
            f"MixedStatistics of {len(self.discrete.children):,} families of levels and {len(self.set_masks):,} sets "
            f"of discrete parents over {len(self.names)} variables"
        )


def compressed(masks: NDArray[Any], columns: Integers) -> Masks:
    """Masks with one bit for each of some columns, in their order.

    >>> compressed(np.array([0b1010], dtype=np.uint64), np.array([1, 2, 3])).tolist()
    [5]
    """
    result = np.zeros(masks.shape, dtype=np.uint64)
    for place, column in enumerate(columns.tolist()):
        result |= (masks.astype(np.uint64) >> np.uint64(column) & np.uint64(1)) << np.uint64(place)
    return result


def count_mixed(table: Table, families: Families, engine: Engine, reporter: Reporter) -> MixedStatistics:
    """Count what prediction needs to know about a table of levels and numbers."""
    kinds = [levels is None for levels in table.levels]
    levels, numbers = (np.flatnonzero(np.array(kinds) == kind).astype(np.int64) for kind in (False, True))
    masks = compressed(families.parents, levels)
    own = np.isin(families.children, levels)
    _refuse_edges_to_levels(table, families, levels)
    discrete = part_of(table, levels.tolist())
    of_levels = Families(np.searchsorted(levels, families.children[own]), masks[own], families.numbers)
    counted = count_discrete(discrete, of_levels, engine, reporter) if len(levels) else _no_levels()
    data = part_of(table, numbers.tolist()).values() if len(numbers) else np.empty((table.rows, 0))
    codes = [table.columns[column].astype(np.int64) for column in levels.tolist()]
    weights = table.weights.astype(np.float64)
    run_of = np.zeros(len(numbers), dtype=np.int64)
    groups = [grouped_rows(data[:0], weights[:0], np.empty(0, dtype=np.int64), 1)]
    keys, combinations, kept = [], [np.empty(0, dtype=np.int64)], 0
    runs = runs_of(table.interventions, len(kinds), tuple(numbers.tolist())) if len(numbers) else []
    for run, (members, observed) in enumerate(runs):
        run_of[np.searchsorted(numbers, members)] = run
        rows = np.flatnonzero(weights > 0 if observed is None else observed & (weights > 0))
        wanted = np.unique(masks[np.isin(families.children, members)])
        cells = cell_numbers((*discrete.arities, 1), np.full(len(wanted), len(levels)), wanted)
        refuse_many_cells(table.names, np.full(len(wanted), members[0]), cells)
        for mask in wanted.tolist():
            places = [bit for bit in range(len(levels)) if mask >> bit & 1]
            arities = [discrete.arities[bit] for bit in places]
            numbered = combinations_of([codes[bit][rows] for bit in places], arities, len(rows))
            found, member = np.unique(numbered, return_inverse=True)
            kept += 8 * len(found) * (len(numbers) + 1) ** 2
            memory.require(kept, "The rows of every combination of levels", "Predict from fewer graphs.")
            keys.append((run, mask))
            combinations.append(found)
            groups.append(grouped_rows(data[rows], weights[rows], member.reshape(-1), len(found)))
    names = tuple(table.names[column] for column in numbers.tolist())
    mean = np.add(*centre(data, weights)[1:]) if len(numbers) else np.empty(0)
    together = (np.concatenate(arrays) for arrays in zip(*groups, strict=True))
    gaussian = GaussianStatistics(names, mean, standard_deviations(data, weights), np.zeros_like(run_of), *together)
    return MixedStatistics(
        table.names,
        table.levels,
        counted,
        gaussian,
        run_of,
        np.array([run for run, _ in keys], dtype=np.int64),
        np.array([mask for _, mask in keys], dtype=np.uint64),
        np.cumsum([len(found) for found in combinations]).astype(np.int64),
        np.concatenate(combinations),
    )


def _refuse_edges_to_levels(table: Table, families: Families, levels: Integers) -> None:
    """Refuse graphs in which a column of numbers leads to one of levels."""
    of_levels = sum(1 << column for column in levels.tolist())
    wrong = np.isin(families.children, levels) & (families.parents & ~np.uint64(of_levels) != 0)
    if wrong.any():
        child, mask = int(families.children[wrong][0]), int(families.parents[wrong][0]) & ~of_levels
        parent = table.names[mask.bit_length() - 1]
        raise InputError(
            f"A graph has an edge from {parent!r}, a column of numbers, to {table.names[child]!r}, a column of levels; "
            "the conditional Gaussian model has none. Leave that edge out."
        )


def _no_levels() -> DiscreteStatistics:
    none = np.empty(0, dtype=np.int64)
    return DiscreteStatistics((), (), none, none.astype(np.uint64), np.zeros(1, dtype=np.int64), none, none)


def mixed_from(about: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> MixedStatistics:
    """The statistics that `about()` and `arrays()` describe; what does not fit together is a ValueError."""
    names, levels = tuple(map(str, about["names"])), [None if own is None else tuple(own) for own in about["levels"]]
    require(len(levels) == len(names), "every column needs levels, or none")
    pairs = list(zip(names, levels, strict=True))
    own_names = [name for name, own in pairs if own is not None]
    known: dict[str, Any] = {"names": own_names, "levels": [own for own in levels if own is not None]}
    known["regimes"] = about.get("regimes", ())
    discrete = discrete_from(known, _beginning("levels_", arrays)) if own_names else _no_levels()
    numbers = [name for name, own in pairs if own is None]
    parts = {**_beginning("numbers_", arrays), "group_of": np.zeros(len(numbers), dtype=np.int64)}
    gaussian = gaussian_from({"names": numbers}, parts)
    run_of, set_runs, starts, configurations = (
        integers_of(arrays, name) for name in ("run_of", "set_runs", "starts", "configurations")
    )
    masks = arrays["set_masks"].astype(np.uint64)
    sets = len(set_runs)
    require(run_of.shape == (len(numbers),) and masks.shape == (sets,), "sets do not match")
    require(starts.shape == (sets + 1,) and starts[0] == 0 and bool((np.diff(starts) >= 0).all()), "sets out of place")
    require(starts[-1] == len(configurations) == len(gaussian.observations) - 1, "combinations do not match")
    in_order = (np.diff(set_runs) > 0) | ((np.diff(set_runs) == 0) & (masks[1:] > masks[:-1]))
    require(bool(in_order.all()) and gaussian.observations[0] == 0.0, "sets are out of order")
    require(not (masks >> np.uint64(len(own_names))).any(), "unknown parents")
    same_set = np.diff(np.repeat(np.arange(sets), np.diff(starts))) == 0
    require(bool((np.diff(configurations) > 0)[same_set].all()), "combinations are out of order")
    return MixedStatistics(names, tuple(levels), discrete, gaussian, run_of, set_runs, masks, starts, configurations)


def _beginning(prefix: str, arrays: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
