"""In which of many DAGs does a statement hold? See `blocks.py` for how the DAGs are worked on.

Statements run as kernels or NumPy operations on whole blocks. Only Python functions (`custom`) run in Python, once for
each distinct DAG of a block.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.arrays import Floats
from dagpost._tools.checks import members
from dagpost._tools.kernels import kernel
from dagpost._tools.text import shown
from dagpost.engines.threads import over_rows
from dagpost.errors import InputError
from dagpost.families.graph_lists import place_of_bit
from dagpost.families.masks import check_masks
from dagpost.features import blocks
from dagpost.features.blocks import Block, Flags, Masks, blocks_within, over_blocks
from dagpost.features.feature import Feature, as_feature, check_variables
from dagpost.features.forms import Arrow, vocabulary
from dagpost.features.names import known_names
from dagpost.features.reader import Reader, one_of

#: As many graphs of very many columns are added up in one matrix, so that adding up matrices takes little beside them.
_FOR_A_MATRIX = 1024


def evaluate(features: Sequence[Feature], parents: NDArray[Any], names: Sequence[str]) -> Flags:
    """Whether each statement holds in each DAG: one row per statement, one column per DAG.

    `parents` has one row per DAG and one column per variable; bit j of an entry: variable j is a parent.

    >>> from dagpost.features import edge, path
    >>> chain = np.array([[0, 1, 2], [0, 0, 2]], dtype=np.uint8)  # A -> B -> C, and B -> C alone
    >>> evaluate([path("A", "C"), ~edge("A", "B")], chain, ["A", "B", "C"])
    array([[ True, False],
           [False,  True]])
    """
    names = known_names(names)
    features = members(features, "features", "evaluate", allowed="a list of statements")
    check_masks(parents)
    if parents.shape[1] != len(names):
        raise InputError(
            f"The DAGs have {parents.shape[1]} nodes and there are {len(names)} names. "
            "Give one name for each column of masks."
        )
    statements = [as_feature(feature) for feature in features]
    for statement in statements:
        check_variables(statement, names)
    held = np.empty((len(statements), len(parents)), dtype=np.bool_)

    def hold(block: Block) -> None:
        for row, statement in enumerate(statements):
            held[row, block.graphs] = block.holds(statement)

    # A function of the user is called by one thread, the one that asked.
    alone = any(statement.calls_back for statement in statements)
    deque(over_blocks(hold, parents, names, alone=alone, steps=len(statements)), maxlen=0)
    return held


def ancestors(parents: NDArray[Any]) -> Masks:
    """The masks of the proper ancestors of every node in every DAG, shaped like the masks of the parents.

    >>> ancestors(np.array([[0, 1, 2]], dtype=np.uint8))
    array([[0, 1, 3]], dtype=uint64)
    """
    check_masks(parents)
    result = np.empty(parents.shape, dtype=np.uint64)

    def write(block: Block) -> None:
        result[block.graphs] = block.ancestors().swapaxes(0, 1)

    deque(over_blocks(write, parents), maxlen=0)
    return result


def weighted_matrix(relation: str, parents: NDArray[Any], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Entry [x, y]: the total weight of the DAGs in which `x relation y` holds, for all pairs in one pass.

    `relation` is "->", "~>", "--" or a path of a limited number of edges, such as "~>{2}".

    >>> chain = np.array([[0, 1, 2], [0, 0, 2]], dtype=np.uint8)
    >>> weighted_matrix("~>", chain, np.array([0.75, 0.25]))
    array([[0.  , 0.75, 0.75],
           [0.  , 0.  , 1.  ],
           [0.  , 0.  , 0.  ]])
    """
    arrow, read = _arrow_of(relation)
    related = arrow.related
    assert related is not None
    check_masks(parents)
    weights = np.asarray(weights, dtype=np.float64)
    if weights.shape != (len(parents),):
        raise InputError(f"There are {len(parents)} DAGs, and weights of shape {weights.shape}. Give one per DAG.")
    nodes = parents.shape[1]
    total = np.zeros((nodes, nodes))

    def add_up(rows: slice) -> Floats:
        part = np.zeros((nodes, nodes))
        for block in blocks_within(rows, parents):
            sets, own = related(block, *read), np.array(weights[block.graphs])
            _add_weights(block.by_graph(sets).reshape(block.count, nodes, -1), own, part)
        # The sums of a node lie together while words are read.
        return part.T

    for part in over_rows(add_up, len(parents), _FOR_A_MATRIX if parents.ndim == 3 else blocks.BLOCK_SIZE):
        total += part
    # An arrow without a direction gives each pair once, in one of its two places.
    return total + total.T if arrow.direction == "none" else total


def _arrow_of(relation: str) -> tuple[Arrow, tuple[Any, ...]]:
    """The arrow that is meant, and what its modifier read."""
    try:
        reader = Reader(relation, ())
        if reader.at(*reader.vocabulary.arrows):
            arrow, read = reader.arrow()
            if arrow.related is not None and reader.next.kind == "end":
                return arrow, read
    except (InputError, TypeError):
        pass
    known = [arrow for arrow in vocabulary().arrows.values() if arrow.related is not None]
    examples = [example.removeprefix("A ").removesuffix(" B") for arrow in known for example in arrow.examples]
    raise InputError(
        f"The relation must be an arrow such as {one_of(map(repr, examples))}. Got {shown(relation)} instead."
    )


@kernel
def _add_weights(sets: Masks, weights: Floats, total: Floats) -> None:
    """The same to [y, x], for sets as rows of words, graph by graph: most words are zero or have few members."""
    count, nodes, words = sets.shape
    for graph in range(count):
        weight = weights[graph]
        for node in range(nodes):
            for word in range(words):
                rest = sets[graph, node, word]
                while rest != np.uint64(0):
                    bit = rest & (~rest + np.uint64(1))
                    rest ^= bit
                    total[node, 64 * word + place_of_bit(bit)] += weight
