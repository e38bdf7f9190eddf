"""In which of many DAGs does a statement hold?

DAGs come as masks: row `g`, column `i` holds the parents of node `i` in DAG `g`. They are worked on in blocks
of 65,536, turned so that each node's masks lie side by side; a kernel then does the same step for a strip of
DAGs at once with vector instructions. Memory beside the answer is a few blocks, whatever the number of DAGs.

- Ancestors: Warshall's transitive closure on masks, `n^2` steps a DAG, once for all statements of a call. It
  also finds cycles. Paths, ancestor and descendant sets are bits of its result.
- Paths of at most `L` edges: `L - 1` extensions by one edge, `n^2` steps each, once for every distinct `L`.
- Topological positions: the nodes with a path of `l` edges that ends in them, for `l = 1, 2, ...`.
- d-separation: reachability in the moral graph of the ancestors (Lauritzen, Dawid, Larsen & Leimer 1990). A
  node and its parents are a clique there, so one step joins a whole family to what is reached.

Python functions (`Custom`) are the only thing that runs in Python, once for each distinct DAG of a block.
"""

from __future__ import annotations

import operator
import re
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.kernels import copy_into, kernel
from dagpost._tools.text import position_of
from dagpost.errors import InputError
from dagpost.families.masks import check_masks
from dagpost.features.language import check_names
from dagpost.features.predicates import (
    Adjacent,
    AncestorSet,
    And,
    Custom,
    DescendantSet,
    DSeparated,
    Edge,
    Feature,
    InMarkovBlanket,
    Not,
    Or,
    ParentSet,
    Path,
    TopologicalPosition,
    VStructure,
    as_feature,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

Masks = NDArray[np.uint64]
Flags = NDArray[np.bool_]

_BLOCK = 65_536
#: DAGs in a strip: the masks of all nodes of a strip stay in the first-level cache up to 64 nodes.
_STRIP = 64
_COMPARE = {"=": operator.eq, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
_RELATION = re.compile(r"\s*(?:(?P<plain>->|~>|--)|~>\s*\{\s*(?P<longest>[1-9][0-9]{0,8})\s*\})\s*")


def evaluate(features: Sequence[Feature], parents: NDArray[Any], names: Sequence[str]) -> Flags:
    """Whether each statement holds in each DAG: one row per statement, one column per DAG.

    `parents` has one row per DAG and one column per variable; bit j of an entry: variable j is a parent.

    >>> from dagpost.features import edge, path
    >>> chain = np.array([[0, 1, 2], [0, 0, 2]], dtype=np.uint8)  # A -> B -> C, and B -> C alone
    >>> evaluate([path("A", "C"), ~edge("A", "B")], chain, ["A", "B", "C"])
    array([[ True, False],
           [False,  True]])
    """
    check_masks(parents)
    if parents.shape[1] != len(names):
        raise InputError(
            f"The DAGs have {parents.shape[1]} nodes and there are {len(names)} names. "
            "Give one name for each column of masks."
        )
    statements = [as_feature(feature) for feature in features]
    for statement in statements:
        check_names(statement, names)
    held = np.empty((len(statements), len(parents)), dtype=np.bool_)
    for start, masks in _blocks(parents):
        block = _Block(masks, start, names)
        for row, statement in enumerate(statements):
            held[row, start : start + masks.shape[1]] = block.holds(statement)
    return held


def ancestors(parents: NDArray[Any]) -> Masks:
    """The masks of the proper ancestors of every node in every DAG, shaped like the masks of the parents.

    >>> ancestors(np.array([[0, 1, 2]], dtype=np.uint8))
    array([[0, 1, 3]], dtype=uint64)
    """
    check_masks(parents)
    result = np.empty(parents.shape, dtype=np.uint64)
    for start, masks in _blocks(parents):
        result[start : start + masks.shape[1]] = _ancestors_of(masks, start).T
    return result


def weighted_matrix(relation: str, parents: NDArray[Any], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Entry [x, y]: the total weight of the DAGs in which `x relation y` holds, for all pairs in one pass.

    `relation` is "->", "~>", "--" or a path of at most so many edges, such as "~>{2}".

    >>> chain = np.array([[0, 1, 2], [0, 0, 2]], dtype=np.uint8)
    >>> weighted_matrix("~>", chain, np.array([0.75, 0.25]))
    array([[0.  , 0.75, 0.75],
           [0.  , 0.  , 1.  ],
           [0.  , 0.  , 0.  ]])
    """
    match = _RELATION.fullmatch(relation) if isinstance(relation, str) else None
    if match is None:
        raise InputError(f"The relation must be '->', '~>', '--' or such as '~>{{2}}'. Got {relation!r} instead.")
    check_masks(parents)
    weights = np.asarray(weights, dtype=np.float64)
    if weights.shape != (len(parents),):
        raise InputError(f"There are {len(parents)} DAGs, and weights of shape {weights.shape}. Give one for each.")
    nodes = parents.shape[1]
    total = np.zeros((nodes, nodes))
    for start, masks in _blocks(parents):
        related = _ancestors_of(masks, start)
        if match["longest"]:
            related = _ancestors_within(masks, int(match["longest"]))
        elif match["plain"] != "~>":
            related = masks
        part = np.zeros((nodes, nodes))
        _add_weights(related, np.array(weights[start : start + masks.shape[1]]), part)
        total += part
    # A DAG has at most one of the two edges between a pair, so adjacency is the sum of both directions.
    return total + total.T if match["plain"] == "--" else total


class _Block:
    """Some DAGs, and what has been worked out about them so far."""

    def __init__(self, parents: Masks, start: int, names: Sequence[str]) -> None:
        self.parents = parents
        self.start = start
        self.names = names
        self.nodes, self.count = parents.shape
        self._ancestors = {self.nodes: _ancestors_of(parents, start)}
        self._positions: NDArray[np.int64] | None = None
        self._held: dict[Feature, Flags] = {}

    def holds(self, feature: Feature) -> Flags:
        """In which of the DAGs the statement holds; equal parts of several statements are worked out once."""
        if feature not in self._held:
            self._held[feature] = self._work_out(feature)
        return self._held[feature]

    def _work_out(self, feature: Feature) -> Flags:
        match feature:
            case And(parts):
                return _reduce(np.logical_and, [self.holds(part) for part in parts])
            case Or(parts):
                return _reduce(np.logical_or, [self.holds(part) for part in parts])
            case Not(part):
                return ~self.holds(part)
            case Edge(parent, child):
                return _covers(self._parents_of(child), self._set((parent,)))
            case Path(source, target, longest):
                return _covers(self.ancestors(longest)[self._node(target)], self._set((source,)))
            case Adjacent(first, second):
                return self._joined(first, second)
            case VStructure(first, collider, second):
                both = self._set((first, second))
                return _covers(self._parents_of(collider), both) & ~self._joined(first, second)
            case ParentSet(child, parents):
                return _equals(self._parents_of(child), self._set(parents))
            case AncestorSet(node, members):
                return _equals(self.ancestors()[self._node(node)], self._set(members))
            case DescendantSet(node, members):
                return _equals(self._descendants(node), self._set(members))
            case InMarkovBlanket(member, of):
                both = self._set((member, of))
                married = [_covers(masks, both) for masks in self.parents]
                return _reduce(np.logical_or, [self._joined(member, of), *married])
            case DSeparated(first, second, given):
                return self._separated(self._set(first), self._set(second), self._set(given))
            case TopologicalPosition(node, comparison, value):
                return self._compared(node, comparison, value)
            case Custom():
                return self._ask(feature)
        raise InputError(f"There is no way to evaluate a statement of type {type(feature).__name__}.")

    def ancestors(self, longest: int | None = None) -> Masks:
        """The proper ancestors of each node, or those with a path to it of at most `longest` edges."""
        limit = self.nodes if longest is None else min(longest, self.nodes)
        if limit not in self._ancestors:
            self._ancestors[limit] = _ancestors_within(self.parents, limit)
        return self._ancestors[limit]

    def positions(self) -> NDArray[np.int64]:
        """The number of edges of the longest path that ends in each node."""
        if self._positions is None:
            self._positions = np.zeros((self.nodes, self.count), dtype=np.int64)
            _longest_paths(self.parents, self._positions)
        return self._positions

    def _node(self, name: str) -> int:
        return position_of(name, self.names)

    def _set(self, names: Iterable[str]) -> np.uint64:
        return np.uint64(sum(1 << self._node(name) for name in names))

    def _parents_of(self, name: str) -> Masks:
        masks: Masks = self.parents[self._node(name)]
        return masks

    def _joined(self, first: str, second: str) -> Flags:
        onward = _covers(self._parents_of(second), self._set((first,)))
        return onward | _covers(self._parents_of(first), self._set((second,)))

    def _compared(self, name: str, comparison: str, value: int) -> Flags:
        # No position reaches n, so every larger value compares as n does.
        result: Flags = _COMPARE[comparison](self.positions()[self._node(name)], min(value, self.nodes))
        return result

    def _descendants(self, name: str) -> Masks:
        shift = np.uint64(self._node(name))
        result = np.zeros(self.count, dtype=np.uint64)
        for node, masks in enumerate(self.ancestors()):
            result |= (masks >> shift & np.uint64(1)) << np.uint64(node)
        return result

    def _separated(self, first: np.uint64, second: np.uint64, given: np.uint64) -> Flags:
        result = np.empty(self.count, dtype=np.bool_)
        _separate(self.parents, self.ancestors(), first, second, given, result)
        return result

    def _ask(self, feature: Custom) -> Flags:
        answers: dict[bytes, bool] = {}
        result = np.empty(self.count, dtype=np.bool_)
        for place, row in enumerate(np.ascontiguousarray(self.parents.T)):
            key = row.tobytes()
            if key not in answers:
                answers[key] = self._call(feature, row.tolist(), self.start + place)
            result[place] = answers[key]
        return result

    def _call(self, feature: Custom, masks: list[int], sample: int) -> bool:
        import networkx as nx

        dag: nx.DiGraph[str] = nx.DiGraph()
        dag.add_nodes_from(self.names)
        for child, mask in zip(self.names, masks, strict=True):
            dag.add_edges_from((parent, child) for bit, parent in enumerate(self.names) if mask >> bit & 1)
        answer = feature.function(nx.freeze(dag))
        if not isinstance(answer, bool | np.bool_):
            raise InputError(
                f"The function {feature} must return True or False. Got {answer!r} for DAG number {sample}."
            )
        return bool(answer)


def _covers(masks: Masks, members: np.uint64) -> Flags:
    return _equals(masks & members, members)


def _equals(masks: Masks, members: np.uint64) -> Flags:
    result: Flags = masks == members
    return result


def _reduce(join: np.ufunc, parts: list[Flags]) -> Flags:
    result: Flags = join.reduce(parts)
    return result


def _blocks(parents: NDArray[Any]) -> Iterator[tuple[int, Masks]]:
    """Blocks of DAGs as fresh arrays, one row per node, with the number of their first DAG."""
    for start in range(0, len(parents), _BLOCK):
        # A copy in any case: kernels are compiled for arrays that are in order and may be written to.
        yield start, np.array(parents[start : start + _BLOCK].T, dtype=np.uint64, order="C")


def _ancestors_of(parents: Masks, start: int) -> Masks:
    """The proper ancestors of each node; a graph with a cycle is an error."""
    result = parents.copy()
    cyclic = _close(result)
    if cyclic >= 0:
        raise InputError(
            f"The graph number {start + cyclic} has a directed cycle, so it is not a DAG. Leave it out, or "
            "look at how the masks were made: bit j in column i says that j is a parent of i."
        )
    return result


def _ancestors_within(parents: Masks, longest: int) -> Masks:
    """The nodes from which a path of at most `longest` edges leads to each node."""
    result = np.empty_like(parents)
    # No path has more than n - 1 edges.
    _extend(parents, min(longest, len(parents)), result)
    return result


@kernel
def _close(masks: Masks) -> int:
    """Replace parents by ancestors; returns the first graph with a cycle, or -1."""
    nodes, count = masks.shape
    one = np.uint64(1)
    for start in range(0, count, _STRIP):
        stop = min(start + _STRIP, count)
        for middle in range(nodes):
            through = masks[middle, start:stop]
            shift = np.uint64(middle)
            for node in range(nodes):
                if node != middle:
                    mask = masks[node, start:stop]
                    for lane in range(len(mask)):
                        # All bits set where `middle` is among the ancestors so far, none where it is not.
                        chosen = np.uint64(0) - (mask[lane] >> shift & one)
                        mask[lane] |= through[lane] & chosen
        first = stop
        for node in range(nodes):
            for lane in range(start, first):
                if masks[node, lane] >> np.uint64(node) & one:
                    first = lane
                    break
        if first < stop:
            return int(first)
    return -1


@kernel
def _extend(parents: Masks, longest: int, result: Masks) -> None:
    """From the parents, go back over one more edge at a time."""
    nodes, count = parents.shape
    one = np.uint64(1)
    before = np.empty((nodes, _STRIP), dtype=np.uint64)
    for start in range(0, count, _STRIP):
        stop = min(start + _STRIP, count)
        for node in range(nodes):
            copy_into(result[node, start:stop], parents[node, start:stop])
        for _ in range(longest - 1):
            for node in range(nodes):
                copy_into(before[node], result[node, start:stop])
            for node in range(nodes):
                direct = parents[node, start:stop]
                mask = result[node, start:stop]
                for middle in range(nodes):
                    through = before[middle, : stop - start]
                    shift = np.uint64(middle)
                    for lane in range(len(mask)):
                        mask[lane] |= through[lane] & (np.uint64(0) - (direct[lane] >> shift & one))


@kernel
def _longest_paths(parents: Masks, positions: NDArray[np.int64]) -> None:
    """Count for each node the lengths l = 1, 2, ... of which some path ends in it."""
    nodes, count = parents.shape
    ending = np.empty(_STRIP, dtype=np.uint64)
    following = np.empty(_STRIP, dtype=np.uint64)
    for start in range(0, count, _STRIP):
        stop = min(start + _STRIP, count)
        ending[:] = ~np.uint64(0)
        for _ in range(nodes):
            following[:] = np.uint64(0)
            for node in range(nodes):
                direct = parents[node, start:stop]
                position = positions[node, start:stop]
                bit = np.uint64(1) << np.uint64(node)
                for lane in range(len(direct)):
                    longer = direct[lane] & ending[lane] != np.uint64(0)
                    position[lane] += 1 if longer else 0
                    following[lane] |= bit if longer else np.uint64(0)
            copy_into(ending, following)
            if not following.any():
                break


@kernel
def _separate(
    parents: Masks, ancestors: Masks, first: np.uint64, second: np.uint64, given: np.uint64, result: Flags
) -> None:
    """Whether `given` parts `first` from `second` in the moral graph of all three and their ancestors."""
    nodes, count = parents.shape
    one, none = np.uint64(1), np.uint64(0)
    named = first | second | given
    relevant = np.empty(_STRIP, dtype=np.uint64)
    reached = np.empty(_STRIP, dtype=np.uint64)
    for start in range(0, count, _STRIP):
        stop = min(start + _STRIP, count)
        relevant[:] = named
        for node in range(nodes):
            if named >> np.uint64(node) & one:
                above = ancestors[node, start:stop]
                for lane in range(len(above)):
                    relevant[lane] |= above[lane]
        reached[:] = first
        changed = True
        while changed:
            difference = none
            for node in range(nodes):
                direct = parents[node, start:stop]
                bit = one << np.uint64(node)
                for lane in range(len(direct)):
                    family = (direct[lane] | bit) & ~given
                    joins = family & reached[lane] != none and relevant[lane] & bit != none
                    new = reached[lane] | (family if joins else none)
                    difference |= new ^ reached[lane]
                    reached[lane] = new
            changed = difference != none
        for lane in range(stop - start):
            result[start + lane] = reached[lane] & second == none


@kernel
def _add_weights(masks: Masks, weights: NDArray[np.float64], total: NDArray[np.float64]) -> None:
    """Add the weight of each DAG to [x, y] where bit x is set in the mask of node y."""
    nodes, count = masks.shape
    one = np.uint64(1)
    sums = np.empty(nodes)
    for node in range(nodes):
        sums[:] = 0.0
        row = masks[node]
        for lane in range(count):
            mask = row[lane]
            weight = weights[lane]
            if mask != np.uint64(0):
                for bit in range(nodes):
                    sums[bit] += weight if mask >> np.uint64(bit) & one else 0.0
        total[:, node] += sums
