"""Models of more columns than tables are made for, in files: the parent sets that their chains consider.

`considered_counts` says how many sets each variable has and `considered_leading` how many of them lead; of all sets,
variable after variable, first those that lead and then the others, both by falling weight,
`considered_members` has the columns, ascending, with the number of columns in the places that are left, and
`considered_log_weights` the weights. `considered_lost` and `considered_missed` say what the sets that are left out may
cost (families/considered_sets.py). Kernels index with the members, so none may be out of range.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.schema import ArrayRule, Rule, Sizes, check_arrays, check_fields, numbers, require, text, wholes
from dagpost.families.considered_sets import ConsideredSets
from dagpost.families.parent_lists import MOST_COLUMNS
from dagpost.scores.local_scores import MOST_PARENTS

Arrays = Mapping[str, NDArray[Any]]

_COUNTS, _MEMBERS, _WEIGHTS = "considered_counts", "considered_members", "considered_log_weights"
_LEADING, _LOST, _MISSED = "considered_leading", "considered_lost", "considered_missed"
#: Which sets were scored, in words.
SCORED = "considered_scored"
_FIELDS: Mapping[str, Rule] = {SCORED: text}
_RULES: Mapping[str, ArrayRule] = {
    _COUNTS: wholes("nodes", least=1),
    _MEMBERS: wholes("sets", "most members", most=MOST_COLUMNS),
    _WEIGHTS: numbers("sets", least=-1e15, most=1e15),
    _LEADING: wholes("nodes", least=1),
    _LOST: numbers("nodes", least=0.0),
    _MISSED: numbers("nodes", least=0.0),
}


def are_in(arrays: Arrays) -> bool:
    """Whether a file holds such a model."""
    return _COUNTS in arrays


def parts_of(considered: ConsideredSets) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """The sets as JSON and arrays."""
    return {SCORED: considered.scored}, {
        _COUNTS: considered.counts,
        _MEMBERS: considered.members,
        _WEIGHTS: considered.log_weights,
        _LEADING: considered.leading,
        _LOST: considered.lost,
        _MISSED: considered.missed,
    }


def considered_in(about: Mapping[str, Any], arrays: Arrays) -> ConsideredSets:
    """The sets that `parts_of` took apart, once `check_sets` has seen them."""
    return ConsideredSets(
        np.concatenate([[0], np.cumsum(arrays[_COUNTS].astype(np.int64))]),
        np.ascontiguousarray(arrays[_MEMBERS], dtype=np.int16),
        arrays[_WEIGHTS].astype(np.float64),
        arrays[_LEADING].astype(np.int64),
        arrays[_LOST].astype(np.float64),
        arrays[_MISSED].astype(np.float64),
        str(about[SCORED]),
    )


def check_sets(about: Mapping[str, Any], arrays: Arrays, sizes: Sizes, max_parents: int) -> None:
    """Refuse, with a `ValueError`, what cannot be the parent sets of such a model."""
    nodes = sizes["nodes"]
    check_fields(_FIELDS, about, sizes)
    check_arrays(_RULES, arrays, sizes)
    counts, members, weights = arrays[_COUNTS].astype(np.int64), arrays[_MEMBERS].astype(np.int64), arrays[_WEIGHTS]
    require(sizes["most members"] <= MOST_PARENTS, f"sets of up to {sizes['most members']} parents")
    # In whole numbers of any size: sums of wild counts may not fit into 64 bits.
    total = sum(counts.tolist())
    require(total == len(members), f"{len(members)} parent sets where {total} are counted")
    require(bool((members <= nodes).all()), f"parents beyond the {nodes} variables")
    node = np.repeat(np.arange(nodes), counts)
    require(not (members == node[:, None]).any(), "a variable that is its own parent")
    steps = np.diff(members, axis=1)
    require(bool(((steps > 0) | (members[:, 1:] == nodes)).all()), "parents that do not ascend")
    require(bool(((members < nodes).sum(axis=1) <= max_parents).all()), f"more than {max_parents} parents")
    leading, first = arrays[_LEADING].astype(np.int64), np.cumsum(counts) - counts
    require(bool((leading <= counts).all()), "more sets that lead than there are")
    behind = np.arange(total) - first[node] >= leading[node]
    same = (np.diff(node) == 0) & (np.diff(behind.astype(np.int8)) == 0)
    require(bool((np.diff(weights)[same] <= 0.0).all()), "parent sets that do not go from heavy to light")
    require(bool((weights <= weights[first][node]).all()), "a variable whose first parent set is not the heaviest")
    rows = np.column_stack([node, members])
    rows = rows[np.lexsort(rows.T)]
    require(not (np.diff(rows, axis=0) == 0).all(axis=1).any(), "a parent set that is there twice")
