"""Which way does an edge point, and who says so: the data, the user's rules, or nobody?

Graphs of one equivalence class fit any data equally well, so a direction that differs within the class is not a
finding, however often it was drawn. For every pair of variables the posterior is therefore split into: not joined;
joined with a direction that the data compel (it is the same in all graphs of the class); joined with a direction that
follows only from the class and the user's rules together; joined, and reversible. No hidden common cause is assumed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.arrays import Floats

#: From this share of the probability of being joined on, a compelled direction is clear.
CLEAR = 0.9
#: From this share on it leans one way.
LEANING = 0.6

Word = Literal["clear", "leaning", "rules", "open", "unknown"]


class PairDirection(NamedTuple):
    """What is said of one pair: a word, and the variables in the order in which they are written and drawn.

    "clear" and "leaning": the data compel `source -> target` in `share` of the probability that the two are joined.
    "rules": `source -> target` because the user's rules say so, not the data. "open": the data cannot tell. "unknown":
    directions were not computed.
    """

    word: Word
    source: int
    target: int
    share: float
    joined: float


@dataclass(frozen=True, eq=False)
class Directions:
    """The posterior of every pair, as matrices; `[a, b]` speaks of `a -> b`.

    `joined` and `reversible` are symmetric. `by_data` is the probability that the edge is there and compelled by the
    data, `by_rules` that its direction follows only with the rules; both, both ways, and `reversible` sum to `joined`.
    `settled[a, b]`: a rule of the user leaves `a -> b` as the only direction of that pair. `lower` and `upper` bound
    `by_data` with the given confidence.
    """

    names: tuple[str, ...]
    joined: Floats
    by_data: Floats
    by_rules: Floats
    reversible: Floats
    settled: NDArray[np.bool_]
    lower: Floats
    upper: Floats
    confidence: float

    def pair(self, first: int, second: int) -> PairDirection:
        """What is said of one pair."""
        joined = float(self.joined[first, second])
        for source, target in ((first, second), (second, first)):
            if self.settled[source, target]:
                return PairDirection("rules", source, target, 1.0, joined)
        if not joined > 0.0:
            return PairDirection("unknown", first, second, 0.0, joined)
        source, target = (
            (first, second) if self.by_data[first, second] >= self.by_data[second, first] else (second, first)
        )
        share = float(self.by_data[source, target]) / joined
        if share >= LEANING:
            return PairDirection("clear" if share >= CLEAR else "leaning", source, target, share, joined)
        decided = self.by_data + self.by_rules
        for source, target in ((first, second), (second, first)):
            if decided[source, target] / joined >= CLEAR:
                return PairDirection("rules", source, target, float(decided[source, target]) / joined, joined)
        return PairDirection("open", first, second, share, joined)
