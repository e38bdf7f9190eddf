"""Graphs in blocks, and what statements ask about all graphs of a block at once.

Graphs come as masks: row `g`, column `i` holds the parents of node `i` in graph `g`. They are worked on in blocks of
65,536, transposed so that the masks of one node are contiguous; a kernel then does the same step for a strip of graphs
at once with vector instructions. Memory beside the answer is a few blocks, whatever the number of graphs.

- Ancestors: Warshall's transitive closure on masks, `n^2` steps per graph, once for all statements of a call. It also
  finds cycles.
- Ancestors within `L` edges: `L - 1` extensions by one edge, `n^2` steps each, once for every distinct `L`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.kernels import copy_into, kernel
from dagpost._tools.text import position_of
from dagpost.errors import InputError
from dagpost.families.masks import check_masks
from dagpost.features.names import mask_of

if TYPE_CHECKING:
    from dagpost.features.feature import Feature


Masks = NDArray[np.uint64]
Flags = NDArray[np.bool_]
Made = TypeVar("Made")

BLOCK_SIZE = 65_536
#: Graphs in a strip: up to 64 nodes, the masks of all nodes of a strip stay in the first-level cache.
STRIP = 64


class Block:
    """Some graphs, one row per node, and what has been worked out about them so far."""

    def __init__(self, parents: Masks, start: int, names: Sequence[str] = ()) -> None:
        self.parents = parents
        #: The number of the first graph among all graphs of the call.
        self.start = start
        self.names = names
        self.nodes, self.count = parents.shape
        self._ancestors = {self.nodes: _ancestors_of(parents, start)}
        self._held: dict[Feature, Flags] = {}
        self._shared: dict[Callable[..., Any], Any] = {}

    @property
    def graphs(self) -> slice:
        """The numbers of these graphs among all graphs of the call."""
        return slice(self.start, self.start + self.count)

    def holds(self, feature: Feature) -> Flags:
        """In which of the graphs a statement holds; equal parts of several statements are worked out once."""
        if feature not in self._held:
            self._held[feature] = feature.holds_in(self)
        return self._held[feature]

    def shared(self, make: Callable[[Block], Made]) -> Made:
        """What `make` works out about these graphs, once for all statements that ask for it."""
        if make not in self._shared:
            self._shared[make] = make(self)
        result: Made = self._shared[make]
        return result

    def ancestors(self, longest: int | None = None) -> Masks:
        """The proper ancestors of each node, or those with a path to it of at most `longest` edges."""
        # No path has more than n - 1 edges.
        limit = self.nodes if longest is None else min(longest, self.nodes)
        if limit not in self._ancestors:
            within = np.empty_like(self.parents)
            _extend(self.parents, limit, within)
            self._ancestors[limit] = within
        return self._ancestors[limit]

    def node(self, name: str) -> int:
        """The row of a variable."""
        return position_of(name, self.names)

    def mask(self, members: Iterable[str]) -> np.uint64:
        """The mask of some variables."""
        return mask_of(members, self.names)


def blocks_of(parents: NDArray[Any], names: Sequence[str] = (), size: int = BLOCK_SIZE) -> Iterator[Block]:
    """The graphs in blocks of at most `size`; what is not an array of acyclic graphs is refused."""
    check_masks(parents)
    # Always copies: kernels are compiled for contiguous arrays that may be written to.
    starts = range(0, len(parents), size)
    return (Block(np.array(parents[at : at + size].T, dtype=np.uint64, order="C"), at, names) for at in starts)


def _ancestors_of(parents: Masks, start: int) -> Masks:
    result = parents.copy()
    cyclic = _close(result)
    if cyclic >= 0:
        raise InputError(
            f"Graph number {start + cyclic} has a directed cycle, so it is not a DAG. Leave it out, or check how the "
            "masks were made: bit j in column i says that j is a parent of i."
        )
    return result


@kernel
def _close(masks: Masks) -> int:
    """Replace parents by ancestors; returns the first graph with a cycle, or -1."""
    nodes, count = masks.shape
    one = np.uint64(1)
    for start in range(0, count, STRIP):
        stop = min(start + STRIP, count)
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
    before = np.empty((nodes, STRIP), dtype=np.uint64)
    for start in range(0, count, STRIP):
        stop = min(start + STRIP, count)
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
