"""What can be read of a graph of very many columns: its most probable lines, and the columns that these join.

Two hundred boxes on a page are a carpet. Beyond 64 columns a picture therefore has the most probable pairs only, and of
the columns those at their ends: parents that are not themselves modelled as well as children. What is not drawn is
said, so that nobody takes a column that is missing for one that is not there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from dagpost._tools.arrays import Floats

Edge = tuple[int, int]

#: Up to this many columns everything is drawn.
MANY = 64


class Part(NamedTuple):
    """The columns and the pairs to draw, and what to say of the others.

    `missing` says of each column how many of its pairs reach the threshold and are not drawn.
    """

    nodes: list[int]
    pairs: list[Edge]
    remarks: list[str]
    missing: Mapping[int, int]

    def suffix(self, node: int) -> str:
        """What stands behind the name of a column that has lines which are not drawn."""
        return f" (+{self.missing[node]})" if self.missing.get(node) else ""


def readable_part(
    joined: Floats, pairs: Sequence[Edge], threshold: float, *, most_pairs: int, most_nodes: int, many: int = MANY
) -> Part:
    """The part to draw of the pairs that reach a threshold; `joined` is how probably each pair is joined.

    >>> import numpy as np
    >>> joined = np.zeros((70, 70))
    >>> joined[3, 68] = joined[68, 3] = 0.9
    >>> part = readable_part(joined, [(3, 68)], 0.5, most_pairs=100, most_nodes=100)
    >>> part.nodes, part.remarks
    ([3, 68], ['68 of 70 columns have no edge of at least 0.5 and are not drawn.'])
    """
    count = len(joined)
    if count <= many:
        return Part(list(range(count)), list(pairs), [], {})
    falling = sorted(pairs, key=lambda pair: (-joined[pair], pair))
    drawn: list[Edge] = []
    ends: set[int] = set()
    for pair in falling:
        # A line between two columns that are drawn must not be missing for want of room for others.
        if len(drawn) < most_pairs and len(ends | {*pair}) <= most_nodes:
            ends |= {*pair}
            drawn.append(pair)
    remarks = []
    # Pairs below the threshold may be given too, for a picture that hides them at first.
    reached = {pair for pair in falling if joined[pair] >= threshold}
    missing = Counter(node for pair in reached - {*drawn} for node in pair)
    left = count - len(ends)
    if missing:
        pairs_of = f"{len(reached & {*drawn}):,} of {len(reached):,} pairs of at least {threshold:g}"
        remarks.append(f"Drawn: {pairs_of}, the most probable first; {left:,} of {count:,} columns are not drawn.")
        if missing.keys() & ends:
            remarks.append("A number such as (+2) counts the lines of a column that lead to these.")
    elif left:
        remarks.append(f"{left:,} of {count:,} columns have no edge of at least {threshold:g} and are not drawn.")
    return Part(sorted(ends), drawn, remarks, missing)
