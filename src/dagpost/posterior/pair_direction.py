"""What is said of one pair of variables: a word for its direction, a sentence, and a mark between the two."""

from __future__ import annotations

import math
from typing import Literal, NamedTuple

Word = Literal["clear", "leaning", "rules", "model", "open", "unknown"]

#: What a word says in a sentence or a table; the share is that of the probability of being joined.
LABELS: dict[Word, str] = {
    "clear": "clear: the data compel it ({share})",
    "leaning": "leaning: the data compel it ({share})",
    "rules": "decided by your rules",
    "model": "follows from the model, which has no edges from numbers to levels",
    "open": "open: the data cannot tell",
    "unknown": "not computed",
}
#: What is said of "rules" where something is assumed.
UNDER_ASSUMPTION = "decided by your rules or assumptions"
#: What is said where the two are joined in no graph.
NEVER = "never joined"
#: What stands between the two variables, and in plain ASCII.
MARKS: dict[Word, tuple[str, str]] = {
    "clear": ("→", "->"),
    "leaning": ("⇢", "..>"),
    "rules": ("⇒", "=>"),
    "model": ("⇒", "=>"),
    "open": ("—", "--"),
    "unknown": ("—", "--"),
}


class PairDirection(NamedTuple):
    """What is said of one pair: a word, and the variables in the order in which they are written and drawn.

    "clear" and "leaning": the data compel `source -> target` in `share` of the probability that the two are joined.
    "rules": `source -> target` because the user's rules say so, not the data. "model": because the model behind the
    score has no edges from numbers to levels. "open": the data cannot tell. "unknown": directions were not computed.
    """

    word: Word
    source: int
    target: int
    share: float
    joined: float
    #: Whether something is assumed, which may be what decided.
    assumed: bool = False

    @property
    def label(self) -> str:
        """What is said of it, such as "open: the data cannot tell".

        >>> PairDirection("clear", 0, 1, 0.962, 0.5).label
        'clear: the data compel it (96%)'
        """
        if self.word == "unknown" and not self.joined > 0.0:
            return NEVER
        if self.word == "rules" and self.assumed:
            return UNDER_ASSUMPTION
        return LABELS[self.word].format(share=_percent(self.share))

    def mark(self, *, plain: bool = False) -> str:
        """What stands between the two; `plain`: in ASCII."""
        return MARKS[self.word][plain]


def _percent(share: float) -> str:
    """A share in words, rounded down: what leans is not said to be compelled in 90%, nor what is not all in 100%.

    >>> _percent(0.961), _percent(0.899), _percent(0.9999), _percent(1.0)
    ('96%', '89%', 'over 99%', '100%')
    """
    # A quotient may be off by its rounding.
    return "over 99%" if 0.995 <= share < 1.0 - 1e-9 else f"{math.floor(100.0 * share + 1e-9)}%"
