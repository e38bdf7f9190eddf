"""What each configuration of the missing levels of a row adds to the scores, with the parameters summed out.

A row is taken out of the counts of all families. The probability of each configuration of its missing cells is then
proportional to the product, over the families that they touch, of what the row adds to their scores:

    (a + N(x, p)) / (b + N(p))                           Dirichlet scores: parameters `a` of a cell, `b` of all of `p`
    g(N(x, p)) / g(N(p)),  g(N) = (N+1)^(N+1) / N^N      BIC

with the counts of the other rows. One configuration is drawn, and the row put back (Liu, The collapsed Gibbs sampler in
Bayesian computations, JASA 1994). The missing cells of a row are drawn jointly as long as they have few configurations,
else in blocks, which differ from round to round. What a family adds depends only on those of its own members that are
missing, and is looked up once for each of their configurations.

Time: some 50 ns for each family and configuration of its missing members.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from dagpost._tools.arrays import Codes, Counts, Flags, Floats, Integers
from dagpost._tools.kernels import inline_no_refcount
from dagpost.scores.family_counts import CellParameters, Tally, count_at

#: Cells of a row are drawn jointly up to this many configurations; a column with more levels stands alone.
JOINT_CONFIGURATIONS = 64


class GapRows(NamedTuple):
    """The rows, by columns: distinct complete ones with their weights, and from `first` on the incomplete ones.

    The gaps of incomplete row `k` are those from `start[k]` to `start[k + 1]`: their columns, and their places among
    the cells. `counted[i]` says which rows count for the family of node `i`.
    """

    codes: Codes
    weights: Counts
    counted: Flags
    first: int
    start: Integers
    columns: Integers
    cells: Integers


class Work(NamedTuple):
    """What a row needs: its block of cells, the families they touch, keys and weights of configurations."""

    block: Integers
    place_of: Integers
    touched: Integers
    seen: Integers
    digits: Integers
    steps: Integers
    missing: Integers
    own: Floats
    joint: Floats


def most_blocks(rows: GapRows, arities: Integers) -> int:
    """The most blocks of cells that a round draws: each may bring a family a configuration that had not occurred."""
    gaps = np.diff(rows.start)
    # A row has one gap or more, so no sum is over nothing.
    logs = np.add.reduceat(np.log(arities[rows.columns]), rows.start[:-1]) if gaps.size else np.zeros(0)
    return int(np.where(logs <= math.log(JOINT_CONFIGURATIONS) - 1e-9, 1, gaps).sum())


@inline_no_refcount
def weigh(node: int, row: int, size: int, parameters: CellParameters, tally: Tally, work: Work) -> None:
    """What the row would add to the score of a family, for each configuration of its members in the block.

    The node itself, if it is in the block, is the fastest digit; `steps` gets how far each cell of the block moves on.
    """
    arities, layout, codes, key, steps = parameters.arities, tally.layout, tally.codes, tally.key, work.steps
    last = layout.sizes[node] - 1
    for word in range(layout.words[node, 0]):
        key[word] = 0
    for place in range(size):
        steps[place] = 0
    levels, code = 1, int(codes[node, row])
    if work.place_of[node] >= 0:
        levels, code = arities[node], 0
        steps[work.place_of[node]] = 1
    found, outer = 0, 1
    for place in range(last):
        column = layout.members[node, place]
        if work.place_of[column] < 0:
            key[layout.word[node, place]] += layout.stride[node, place] * codes[column, row]
            continue
        steps[work.place_of[column]] = levels * outer
        work.missing[found] = place
        work.digits[found] = 0
        outer *= arities[column]
        found += 1
    own_word, own_stride = layout.word[node, last], layout.stride[node, last]
    for configuration in range(outer):
        pooled = count_at(node, 1, tally)
        key[own_word] += own_stride * code
        for level in range(levels):
            count = count_at(node, 0, tally)
            work.own[configuration * levels + level] = _added(
                count, pooled, layout.parameter[node, 0], layout.parameter[node, 1], parameters.entropy[node]
            )
            key[own_word] += own_stride
        key[own_word] -= own_stride * (code + levels)
        for digit in range(found):
            place = work.missing[digit]
            arity = arities[layout.members[node, place]]
            work.digits[digit] += 1
            key[layout.word[node, place]] += layout.stride[node, place]
            if work.digits[digit] < arity:
                break
            work.digits[digit] = 0
            key[layout.word[node, place]] -= layout.stride[node, place] * arity


@inline_no_refcount
def _added(count: float, pooled: float, cell_parameter: float, pooled_parameter: float, entropy: bool) -> float:
    """What one more row adds to the score of its family, without cancellation."""
    if not entropy:
        return math.log((cell_parameter + count) / (pooled_parameter + pooled))
    added = math.log((count + 1.0) / (pooled + 1.0))
    if count > 0.0:
        added += count * math.log1p(1.0 / count)
    if pooled > 0.0:
        added -= pooled * math.log1p(1.0 / pooled)
    return added


@inline_no_refcount
def spread_out(size: int, configurations: int, arities: Integers, work: Work) -> None:
    """Add what a family says to every configuration of the block; the first cell is the fastest digit."""
    for place in range(size):
        work.digits[place] = 0
    own = 0
    for configuration in range(configurations):
        work.joint[configuration] += work.own[own]
        for place in range(size):
            work.digits[place] += 1
            own += work.steps[place]
            if work.digits[place] < arities[work.block[place]]:
                break
            own -= work.steps[place] * work.digits[place]
            work.digits[place] = 0
