"""Graphs as rows of parent masks: checking them, telling the distinct ones apart, and as networkx has them.

Up to 64 columns a set of columns is one unsigned number, and graphs are an array (graphs, columns). Beyond, a set is a
row of words of 64 bits, column `j` being bit `j % 64` of word `j // 64`, and graphs are an array (graphs, columns,
words) of uint64. One graph is a row of either.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.arrays import Flags, Integers, Masks
from dagpost._tools.checks import array_refusal, fits_shape, texts
from dagpost._tools.kernels import kernel
from dagpost._tools.text import shown
from dagpost.engines.threads import over_rows
from dagpost.errors import InputError
from dagpost.families.numbering import MAX_NODES
from dagpost.families.parent_lists import MOST_COLUMNS, words_of

if TYPE_CHECKING:
    import networkx as nx

UnsignedMasks = NDArray[np.unsignedinteger[Any]]

#: About as many words are looked at together: what is made of them for a while takes a megabyte.
_WORDS_AT_A_TIME = 1 << 17


def shape_of_sets(nodes: int) -> tuple[int, ...]:
    """What one set of columns adds to the shape of an array: nothing, or the number of words beyond 64 columns."""
    return () if nodes <= MAX_NODES else (words_of(nodes),)


def check_masks(parents: object) -> None:
    """Refuse what is not an array of graphs, each a row of parent masks."""
    if not isinstance(parents, np.ndarray):
        raise InputError(f"The parents must be an array of masks. Got {shown(parents)} instead.")
    if parents.ndim not in (2, 3) or parents.dtype.kind != "u":
        raise InputError(
            "The parents must be an array of unsigned integers, one row per DAG and one column per variable. "
            f"Got {parents.ndim} dimensions of {parents.dtype} instead."
        )
    nodes = parents.shape[1]
    if not 1 <= nodes <= MOST_COLUMNS:
        raise InputError(f"DAGs have 1 to {MOST_COLUMNS} nodes. Got {nodes} columns of masks.")
    words = shape_of_sets(nodes)
    if parents.shape[2:] != words or (words and parents.dtype != np.uint64):
        form = f"{words[0]} words of uint64" if words else "one number"
        raise InputError(
            f"In DAGs of {nodes} nodes a set of parents is {form}: up to {MAX_NODES} nodes it is one number, beyond "
            f"that column j is bit j % 64 of word j // 64. Got an array of {parents.dtype} of shape {parents.shape}."
        )
    last = parents[:, :, -1] if words else parents
    used = nodes - 64 * (words[0] - 1) if words else nodes
    if used < 64 and int(last.max(initial=0)) >> used:
        sample = int(np.argmax(last.max(axis=1)))
        raise InputError(
            f"DAG number {sample} has a parent beyond its {nodes} nodes. Bit j of a mask stands for column j."
        )


def check_row_of_masks(masks: object, nodes: int) -> None:
    """Refuse what is not one mask for each of some nodes."""
    words = shape_of_sets(nodes)
    whole = isinstance(masks, np.ndarray) and masks.dtype.kind in "iu" and masks.shape == (nodes, *words)
    if whole and words:
        check_masks(masks[np.newaxis])  # type: ignore[index]
    elif not whole or int(masks.min(initial=0)) < 0 or int(masks.max(initial=0)) >> nodes:  # type: ignore[attr-defined]
        each = f"rows of {words[0]} words" if words else f"whole numbers below 2^{nodes}"
        raise InputError(f"A row of parent masks has {nodes} {each}. Got {shown(masks)} instead.")


def check_masks_of(parents: object, nodes: int, owner: str) -> None:
    """Refuse what are not masks of graphs over so many nodes: kernels write to the places that masks name."""
    words = shape_of_sets(nodes)
    wanted = (None, nodes, *words)
    if not isinstance(parents, np.ndarray) or parents.dtype.kind != "u" or not fits_shape(parents, wanted):
        shape = ", ".join(["graphs", *map(str, wanted[1:])])
        raise array_refusal(parents, "parents", owner, f"an array of unsigned masks of shape ({shape})")
    check_masks(parents)


def refuse_wide(nodes: int, what: str) -> None:
    """Refuse what can only be done where a set of columns is one number."""
    if nodes > MAX_NODES:
        raise InputError(
            f"{what} for at most {MAX_NODES} variables. Got {nodes:,}. Leave out columns that do not matter for this."
        )


def distinct_rows(rows: NDArray[Any]) -> tuple[Integers, Integers]:
    """The first place of each distinct row, and for every row the number of the distinct row that it equals.

    >>> first, member = distinct_rows(np.array([[2, 1], [0, 1], [2, 1]], dtype=np.uint8))
    >>> first.tolist(), member.tolist()
    ([1, 0], [1, 0, 1])
    """
    if rows.ndim == 2:
        return _distinct(np.ascontiguousarray(rows))
    # Sorting rows of thousands of words would copy all of them, so their digests are sorted.
    first, member = equal_digests(digests_of(rows))
    for start in range(0, len(rows), step := _together(rows)):
        part = slice(start, start + step)
        alike = first[member[part]]
        # Most graphs stand for themselves.
        others = np.flatnonzero(alike != np.arange(start, start + len(alike)))
        if not np.array_equal(rows[part][others], rows[alike[others]]):
            # Two different rows with the same 128 bits: nobody has seen it, and the long way is right all the same.
            return _distinct(np.ascontiguousarray(rows).reshape(len(rows), -1))
    return first, member


def digests_of(rows: NDArray[Any]) -> Masks:
    """128 bits for each row of masks, as two words, which differ for rows that differ (all but certainly).

    >>> one, two, again = digests_of(np.array([[2, 1], [0, 1], [2, 1]], dtype=np.uint8)).tolist()
    >>> one == again, one == two
    (True, False)
    """
    digests = np.empty((len(rows), 2), dtype=np.uint64)

    def write(part: slice) -> None:
        words = np.array(rows[part], dtype=np.uint64, order="C")
        _digest(words.reshape(len(words), -1), digests[part])

    deque(over_rows(write, len(rows), _together(rows)), maxlen=0)
    return digests


def equal_digests(digests: Masks) -> tuple[Integers, Integers]:
    """What `distinct_rows` gives, for rows of which the digests are all that is there."""
    # Numbers are sorted ten times as fast as rows of bytes, and one word of a digest tells nearly always.
    _, first, member = np.unique(digests[:, 0], return_index=True, return_inverse=True)
    member = member.reshape(-1)
    return (first, member) if (digests[first[member], 1] == digests[:, 1]).all() else _distinct(digests)


def _distinct(rows: NDArray[Any]) -> tuple[Integers, Integers]:
    keys = rows.view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1]))).reshape(-1)
    _, first, member = np.unique(keys, return_index=True, return_inverse=True)
    return first, member.reshape(-1)


@kernel
def _digest(rows: Masks, digests: Masks) -> None:
    for row in range(len(rows)):
        one, two = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xD6E8FEB86659FD93)
        for place in range(rows.shape[1]):
            word = rows[row, place]
            one = (one ^ word) * np.uint64(0xFF51AFD7ED558CCD)
            one ^= one >> np.uint64(32)
            two = (two ^ word) * np.uint64(0xC4CEB9FE1A85EC53)
            two ^= two >> np.uint64(29)
        digests[row, 0], digests[row, 1] = one, two


def rows_equal_to(row: UnsignedMasks, parents: UnsignedMasks) -> Flags:
    """Which of the graphs are this one.

    >>> rows_equal_to(np.array([0, 1], dtype=np.uint8), np.array([[0, 1], [2, 0]], dtype=np.uint8))
    array([ True, False])
    """
    result = np.empty(len(parents), dtype=np.bool_)
    step = _together(parents)
    for start in range(0, len(parents), step):
        part = parents[start : start + step]
        result[start : start + step] = (part == row).reshape(len(part), -1).all(axis=1)
    return result


def edges_in(parents: UnsignedMasks, parent: int, child: int) -> Flags:
    """In which of the graphs one column is a parent of another.

    >>> edges_in(np.array([[0, 1], [2, 0]], dtype=np.uint8), 0, 1)
    array([ True, False])
    """
    wide = parents.ndim == 3
    words = parents[:, child, parent // 64] if wide else parents[:, child]
    place, one = (words.dtype.type(number) for number in (parent % 64 if wide else parent, 1))
    found: Flags = words >> place & one != 0
    return found


def edges_of_pairs(parents: UnsignedMasks, pairs: Sequence[tuple[int, int]] | Integers) -> Flags:
    """Array (pairs, graphs): in which of the graphs the first of each pair is a parent of the second.

    >>> edges_of_pairs(np.array([[0, 1], [2, 0]], dtype=np.uint8), [(0, 1), (1, 0)])
    array([[ True, False],
           [False,  True]])
    """
    first, second = np.array(pairs, dtype=np.int64).reshape(-1, 2).T.copy()
    result = np.empty((len(pairs), len(parents)), dtype=np.bool_)

    def write(rows: slice) -> None:
        words = np.array(parents[rows], dtype=np.uint64, order="C")
        held = np.empty((len(words), len(pairs)), dtype=np.bool_)
        _read_pairs(words.reshape(*words.shape[:2], -1), first, second, held)
        result[:, rows] = held.T

    deque(over_rows(write, len(parents), _together(parents)), maxlen=0)
    return result


@kernel
def _read_pairs(sets: Masks, parents: Integers, children: Integers, held: Flags) -> None:
    """Graph by graph, since the words of one graph lie together."""
    for graph in range(len(sets)):
        for pair in range(len(parents)):
            parent = parents[pair]
            word = sets[graph, children[pair], parent >> 6]
            held[graph, pair] = word >> np.uint64(parent & 63) & np.uint64(1) != np.uint64(0)


def integers_of(row: UnsignedMasks) -> list[int]:
    """The masks of one graph as Python's integers, which have as many bits as it takes.

    >>> integers_of(np.array([[2, 1]], dtype=np.uint64)) == [2 + 2**64]
    True
    """
    if row.ndim == 1:
        numbers: list[int] = row.tolist()
        return numbers
    return [int.from_bytes(words.tobytes(), "little") for words in row.astype("<u8")]


def masks_of_integers(integers: Sequence[int], nodes: int) -> Masks:
    """Sets of columns that are given as Python's integers; the same as `integers_of` the other way round."""
    words = shape_of_sets(nodes)
    if not words:
        return np.array(integers, dtype=np.uint64)
    whole = b"".join(integer.to_bytes(8 * words[0], "little") for integer in integers)
    return np.frombuffer(whole, dtype="<u8").astype(np.uint64).reshape(len(integers), *words)


def matrix_of_masks(row: UnsignedMasks) -> Flags:
    """One graph as a matrix [parent, child].

    >>> matrix_of_masks(np.array([0, 1], dtype=np.uint8)).tolist()
    [[False, True], [False, False]]
    """
    words = np.ascontiguousarray(row, dtype="<u8").reshape(len(row), -1)
    bits = np.unpackbits(words.view(np.uint8), axis=1, count=len(row), bitorder="little")
    return np.ascontiguousarray(bits.T).view(np.bool_)


def masks_of_matrix(matrix: Flags) -> Masks:
    """A matrix [parent, child] as one row of parent masks.

    >>> masks_of_matrix(np.array([[False, True], [False, False]])).tolist()
    [0, 1]
    """
    nodes = len(matrix)
    packed = np.packbits(matrix.T, axis=1, bitorder="little")
    whole = np.zeros((nodes, 8 * words_of(nodes)), dtype=np.uint8)
    whole[:, : packed.shape[1]] = packed
    return whole.view("<u8").astype(np.uint64).reshape(nodes, *shape_of_sets(nodes))


def matrices_of_masks(parents: UnsignedMasks) -> NDArray[np.bool_]:
    """Array (graphs, parents, children): whether each edge is there."""
    nodes = parents.shape[1]
    result = np.empty((len(parents), nodes, nodes), dtype=np.bool_)
    step = max(1, _WORDS_AT_A_TIME // nodes**2)
    for start in range(0, len(parents), step):
        part = np.ascontiguousarray(parents[start : start + step], dtype="<u8").reshape(-1, nodes, words_of(nodes))
        bits = np.unpackbits(part.view(np.uint8), axis=2, count=nodes, bitorder="little")
        result[start : start + step] = bits.swapaxes(1, 2)
    return result


def graph_of_masks(masks: UnsignedMasks, names: Iterable[str]) -> nx.DiGraph[str]:
    """One row of parent masks as a networkx graph.

    >>> sorted(graph_of_masks(np.array([0, 1], dtype=np.uint8), ["A", "B"]).edges)
    [('A', 'B')]
    """
    import networkx as nx

    known = texts(names, "names")
    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_nodes_from(known)
    check_row_of_masks(masks, len(known))
    for child, mask in zip(known, integers_of(masks), strict=True):
        graph.add_edges_from((known[parent], child) for parent in members_of(mask))
    return graph


def members_of(mask: int) -> Iterable[int]:
    """The columns of a set, ascending.

    >>> list(members_of(0b101))
    [0, 2]
    """
    while mask:
        lowest = mask & -mask
        yield lowest.bit_length() - 1
        mask ^= lowest


def mask_type(nodes: int) -> type[np.unsignedinteger[Any]]:
    """The smallest type that holds a set of `nodes` nodes, or one of its words."""
    kinds = (np.uint8, np.uint16, np.uint32, np.uint64)
    return next((kind for kind in kinds if nodes <= 8 * np.dtype(kind).itemsize), np.uint64)


def _together(rows: NDArray[Any]) -> int:
    """How many rows are looked at together."""
    return max(1, _WORDS_AT_A_TIME // max(1, int(np.prod(rows.shape[1:]))))


def edges_among(parents: NDArray[np.unsignedinteger[Any]], columns: int) -> Integers:
    """How many edges of each graph come from the first so many columns."""
    words = parents.reshape(len(parents), parents.shape[1], -1)
    low = np.array([(1 << min(max(columns - 64 * word, 0), 64)) - 1 for word in range(words.shape[2])], dtype=np.uint64)
    edges: Integers = np.bitwise_count(words & low).sum(axis=(1, 2), dtype=np.int64)
    return edges


def unions_of(bits: Masks) -> Masks:
    """All sets of some columns, by their number in a table of sets, as masks of the columns' bits."""
    masks = np.zeros(1, dtype=np.uint64)
    for bit in bits:
        masks = np.concatenate([masks, masks | bit])
    return masks
