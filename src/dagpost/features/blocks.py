"""Graphs in blocks, and what statements ask about all graphs of a block at once.

Graphs come as masks: row `g`, column `i` holds the parents of node `i` in graph `g`. They are worked on in blocks of
65,536, transposed so that the masks of one node are contiguous; a kernel then does the same step for a strip of graphs
at once with vector instructions. Blocks are worked on by all cores. Memory beside the answer is a few blocks for each
core, whatever the number of graphs.

- Ancestors: Warshall's transitive closure on masks, `n^2` steps per graph, once for all statements of a call. It also
  finds cycles.
- All else goes along lists of parents, graph by graph: ancestors within `L` edges, longest paths, d-separation; and the
  ancestors in graphs of more than 64 columns, whose sets are rows of words and whose blocks are smaller.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.kernels import inline_no_refcount, kernel
from dagpost._tools.text import position_of
from dagpost.engines.threads import over_rows
from dagpost.errors import InputError
from dagpost.families.graph_lists import GraphLists, graphs_together, lists_of
from dagpost.families.masks import check_masks
from dagpost.features.names import mask_of

if TYPE_CHECKING:
    from dagpost.features.feature import Feature


Masks = NDArray[np.uint64]
Flags = NDArray[np.bool_]
Made = TypeVar("Made")

BLOCK_SIZE = 65_536
#: Blocks of graphs of very many columns are at most so many times as large as usual.
_LARGEST_BLOCK = 16
#: Graphs in a strip: up to 64 nodes, the masks of all nodes of a strip stay in the first-level cache.
_STRIP = 64


class Block:
    """Some graphs, one row per node, and what has been worked out about them so far.

    `parents[i]` and `ancestors()[i]` hold a set for each graph: a number, or a row of words beyond 64 columns.
    """

    def __init__(self, parents: Masks, start: int, names: Sequence[str] = ()) -> None:
        self.parents = parents
        #: The number of the first graph among all graphs of the call.
        self.start = start
        self.names = names
        self.nodes, self.count = parents.shape[:2]
        self._ancestors: dict[int, Masks] = {}
        self._held: dict[Feature, Flags] = {}
        self._shared: dict[Any, Any] = {}

    @property
    def graphs(self) -> slice:
        """The numbers of these graphs among all graphs of the call."""
        return slice(self.start, self.start + self.count)

    def holds(self, feature: Feature) -> Flags:
        """In which of the graphs a statement holds; equal parts of several statements are worked out once."""
        if feature not in self._held:
            self._held[feature] = feature.holds_in(self)
        return self._held[feature]

    def shared(self, make: Callable[..., Made], *more: Any) -> Made:
        """What `make` works out about these graphs, and `more`, once for all statements that ask for it."""
        if (make, *more) not in self._shared:
            self._shared[make, *more] = make(self, *more)
        result: Made = self._shared[make, *more]
        return result

    def ancestors(self, longest: int | None = None) -> Masks:
        """The proper ancestors of each node, or those with a path to it of at most `longest` edges."""
        # No path has more than n - 1 edges.
        limit = self.nodes if longest is None else min(longest, self.nodes)
        if limit not in self._ancestors:
            self._ancestors[limit] = self._find_ancestors() if limit == self.nodes else self._find_within(limit)
        return self._ancestors[limit]

    def by_graph(self, sets: Masks) -> Masks:
        """Sets of this block, such as its parents, with the graphs in the rows, in order."""
        return np.ascontiguousarray(sets.swapaxes(0, 1))

    def node(self, name: str) -> int:
        """The row of a variable."""
        return position_of(name, self.names)

    def mask(self, members: Iterable[str]) -> Any:
        """The mask of some variables: a number, or a row of words."""
        return mask_of(members, self.names)

    @cached_property
    def lists(self) -> GraphLists:
        """The parents of each node as lists."""
        lists, cyclic = lists_of(self._words())
        self._refuse_cyclic(cyclic)
        return lists

    def _words(self) -> Masks:
        """The parents, graph by graph, as rows of words."""
        return self.by_graph(self.parents).reshape(self.count, self.nodes, -1)

    def _find_ancestors(self) -> Masks:
        if self.parents.ndim == 3:
            return self._along_lists(_close_lists)
        result = self.parents.copy()
        self._refuse_cyclic(_close(result))
        return result

    def _find_within(self, longest: int) -> Masks:
        return self._along_lists(_extend_lists, longest)

    def _along_lists(self, work: Callable[..., None], *more: int) -> Masks:
        result = self._words().copy()
        work(self.lists, *more, result)
        return result.reshape(self.count, self.nodes, *self.parents.shape[2:]).swapaxes(0, 1)

    def _refuse_cyclic(self, graph: int) -> None:
        if graph >= 0:
            raise InputError(
                f"Graph number {self.start + graph} has a directed cycle, so it is not a DAG. Leave it out, or check "
                "how the masks were made: bit j in column i says that j is a parent of i."
            )


def blocks_within(rows: slice, parents: NDArray[Any]) -> Iterator[Block]:
    """Some rows of masks that were checked, in blocks; cycles are refused."""
    size = _together(parents)
    parts = (slice(first, min(first + size, rows.stop)) for first in range(rows.start, rows.stop, size))
    return (_block_at(part, parents, ()) for part in parts)


def over_blocks(
    work: Callable[[Block], Made],
    parents: NDArray[Any],
    names: Sequence[str] = (),
    *,
    alone: bool = False,
    steps: int = 1,
) -> Iterator[Made]:
    """What `work` finds in each block, in their order; all cores take part, unless it has to run `alone`.

    Work of many `steps` for each block, such as many statements, has larger blocks.
    """
    check_masks(parents)
    size = _together(parents, steps)
    return over_rows(lambda rows: work(_block_at(rows, parents, names)), len(parents), size, alone=alone)


def _together(parents: NDArray[Any], steps: int = 1) -> int:
    """How many graphs make a block."""
    if parents.ndim == 2:
        return BLOCK_SIZE
    return min(BLOCK_SIZE, graphs_together(*parents.shape[1:]) * min(max(steps, 1), _LARGEST_BLOCK))


def _block_at(rows: slice, parents: NDArray[Any], names: Sequence[str]) -> Block:
    # Always copies: kernels are compiled for contiguous arrays that may be written to.
    if parents.ndim == 3:
        # A view: graph by graph, as kernels take them, the masks lie in order.
        block = Block(np.array(parents[rows], order="C").swapaxes(0, 1), rows.start, names)
        _ = block.lists
    else:
        block = Block(np.array(parents[rows].T, dtype=np.uint64, order="C"), rows.start, names)
        block.ancestors()
    # Either has shown whether there are cycles.
    return block


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
def _close_lists(lists: GraphLists, result: Masks) -> None:
    """Add to the parents of each node the ancestors of these, which come before it."""
    words = result.shape[2]
    for graph in range(len(result)):
        for place in range(lists.ordered[graph]):
            _add_above(lists, graph, lists.order[graph, place], words, result)


@kernel
def _extend_lists(lists: GraphLists, longest: int, result: Masks) -> None:
    """From the parents, go back over one more edge at a time."""
    words = result.shape[2]
    for graph in range(len(result)):
        for _ in range(longest - 1):
            # A node before its parents, which still have what they had in the last round.
            for place in range(lists.ordered[graph] - 1, -1, -1):
                _add_above(lists, graph, lists.order[graph, place], words, result)


@inline_no_refcount
def _add_above(lists: GraphLists, graph: int, node: int, words: int, result: Masks) -> None:
    """Add what the parents of a node have."""
    for edge in range(lists.starts[graph, node], lists.starts[graph, node + 1]):
        parent = lists.members[edge]
        if lists.starts[graph, parent] < lists.starts[graph, parent + 1]:
            for word in range(words):
                result[graph, node, word] |= result[graph, parent, word]
