"""Models whose rules leave each variable its own parents to choose from, in files: flat arrays, node after node.

`allowed_counts` says how many columns may be parents of each variable and `allowed_columns` which, ascending; they fix
the numbers of the parent sets (families/parent_lists.py), and so how many weights and probabilities a variable has. The
weights of all variables, and the probabilities of their parent sets, are one array each, in the order of the variables.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.arrays import Floats
from dagpost._tools.schema import ArrayRule, Sizes, check_arrays, numbers, probabilities, require, wholes
from dagpost.families.numbering import family_count
from dagpost.families.parent_lists import MOST_COLUMNS, ParentLists, all_others
from dagpost.posterior.component_workspace import ComponentWorkspace

if TYPE_CHECKING:
    from dagpost.posterior.workspace import SummingWorkspace

Arrays = Mapping[str, NDArray[Any]]

_COUNTS, _COLUMNS = "allowed_counts", "allowed_columns"
_LISTS: Mapping[str, ArrayRule] = {
    _COUNTS: wholes("nodes", most=MOST_COLUMNS),
    _COLUMNS: wholes("allowed edges", most=MOST_COLUMNS - 1),
}
_RESULTS: Mapping[str, ArrayRule] = {
    "edges": probabilities("nodes", "nodes"),
    "families": probabilities("allowed families", optional=True),
    # Paths between components are left to samples.
    "paths": probabilities("nodes", "nodes", nan=True, optional=True),
}


def are_in(arrays: Arrays) -> bool:
    """Whether a file holds such a model."""
    return _COUNTS in arrays


def arrays_of_parts(parts: Mapping[str, SummingWorkspace]) -> dict[str, NDArray[Any]]:
    """The weights of some workspaces, each under its name, and the parents that rules allow where they are by node.

    The parts of a mixture have the same rules, and so the same parent sets.
    """
    if not any(isinstance(part, ComponentWorkspace) for part in parts.values()):
        return {name: flat(part.log_weights) for name, part in parts.items()}
    ragged = {name: _ragged(part) for name, part in parts.items()}
    lists = next(iter(ragged.values()))[0]
    return {
        _COUNTS: np.array([len(own) for own in lists.candidates], dtype=np.uint16),
        _COLUMNS: np.concatenate(lists.candidates).astype(np.uint16),
        **{name: flat(weights) for name, (_, weights) in ragged.items()},
    }


def _ragged(part: SummingWorkspace) -> tuple[ParentLists, tuple[Floats, ...]]:
    if isinstance(part, ComponentWorkspace):
        return part.lists, part.log_weights
    return all_others(part.nodes, part.max_parents), tuple(part.log_weights)


def flat(own: Sequence[Floats] | Floats) -> Floats:
    """Arrays of each variable as one; where they are one already, in rows, that one."""
    return own if isinstance(own, np.ndarray) else np.concatenate(own)


def by_node(name: str, arrays: Arrays, lists: ParentLists) -> tuple[Floats, ...]:
    """The array of each variable."""
    ends = np.cumsum(lists.counts)[:-1]
    return tuple(np.ascontiguousarray(own) for own in np.split(arrays[name].astype(np.float64), ends))


def lists_in(arrays: Arrays, max_parents: int) -> ParentLists:
    """The parents that rules allow, once they were checked."""
    ends = np.cumsum(arrays[_COUNTS].astype(np.int64))[:-1]
    columns = np.split(arrays[_COLUMNS].astype(np.int64), ends)
    return ParentLists(tuple(np.ascontiguousarray(own) for own in columns), max_parents)


def check_allowed(arrays: Arrays, sizes: Sizes, max_parents: int, weights: Mapping[str, float]) -> None:
    """Refuse, with a `ValueError`, what cannot be the weights and results of such a model.

    `weights` are the names of the arrays of weights, with how large a weight may be.
    """
    nodes = sizes["nodes"]
    check_arrays(_LISTS, arrays, sizes)
    counts, columns = arrays[_COUNTS].astype(np.int64), arrays[_COLUMNS].astype(np.int64)
    require(int(counts.sum()) == len(columns), f"{len(columns)} allowed parents where {int(counts.sum())} are counted")
    children = np.repeat(np.arange(nodes), counts)
    require(bool((columns < nodes).all() and (columns != children).all()), "allowed parents that cannot be")
    require(bool((np.diff(children * nodes + columns) > 0).all()), "allowed parents that do not ascend")
    # In whole numbers of any size: so many families may not fit into 64 bits.
    own = [family_count(count, max_parents) for count in counts.tolist()]
    sizes["allowed families"] = sum(own)
    for name, largest in weights.items():
        rule = numbers("allowed families", least=-largest, most=largest, minus_infinity=True)
        check_arrays({name: rule}, arrays, sizes)
        best = np.maximum.reduceat(arrays[name], np.cumsum([0, *own[:-1]]))
        require(bool(np.isfinite(best).all()), f"{name} leaves a variable no parent set")
    check_arrays(_RESULTS, arrays, sizes)
