"""What is said of one pair of variables: a word for its direction, a sentence, and a mark between the two.

What becomes of a clear direction under other choices: it stays clear, leans, is open, or turns round.

Being joined is judged in sensitivity.py. The directions that are tried are those that are clear or leaning in the model
itself, and each is judged by the share that makes it so (directions.py), one share a choice.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

#: From this probability of being joined on, a pair counts as found: only then is there a direction to speak of.
FOUND = 0.5
#: From this share of the probability of being joined on, a compelled direction is clear.
CLEAR = 0.9
#: From this share on it leans one way.
LEANING = 0.6

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


#: What stands between the first and the second of a pair: onward, back, and both in plain ASCII.
_ARROWS = {"clear": ("→", "←", "->", "<-"), "leaning": ("⇢", "⇠", "..>", "<..")}
#: What is added to the words for a clear direction that another choice takes away.
NOT_UNDER_EVERY_CHOICE = ", but not under every choice"


class DirectionUnderChoices(NamedTuple):
    """`source -> target` in the model as it is and under each variation.

    `joined`, `own` and `others`: the probability of being joined in the model, and which share of it the data compel to
    point this way; `back`: the other way, under each variation. Shares are nan where a refit drew no graphs.
    """

    source: int
    target: int
    joined: float
    own: float
    others: tuple[float, ...]
    back: tuple[float, ...]

    @property
    def word(self) -> Literal["clear", "leaning"]:
        """What the model itself says of it."""
        return "clear" if self.own >= CLEAR else "leaning"

    @property
    def least(self) -> float:
        """The share from which on it is what it is in the model."""
        return CLEAR if self.word == "clear" else LEANING

    @property
    def known(self) -> list[int]:
        """The variations that say something of it."""
        return [place for place, share in enumerate(self.others) if not math.isnan(share)]

    @property
    def lost(self) -> list[int]:
        """The variations under which it is less than it is in the model, the worst first."""
        below = [place for place in self.known if self.others[place] < self.least]
        return sorted(below, key=lambda place: self.others[place] - self.back[place])

    @property
    def survives(self) -> bool:
        """Whether it is under every choice what it is in the model."""
        return not self.lost

    def arrow(self, *, plain: bool = False) -> str:
        """How it points where the pair is written in the order of the columns."""
        return _ARROWS[self.word][2 * plain + (self.source > self.target)]

    def kept(self) -> str:
        """Under how many choices it stays what it is: "4 of 5"."""
        return f"{len(self.known) - len(self.lost) or 'none'} of {len(self.known)}"

    def verdict(self, words: Sequence[str]) -> str:
        """What becomes of it; `words` say what every variation is.

        >>> DirectionUnderChoices(0, 1, 1.0, 0.96, (0.4, 0.95), (0.1, 0.0)).verdict(["4 bins", "5 bins"])
        '→ stays clear in 1 of 2; open with 4 bins'
        """
        if not self.known:
            return f"{self.arrow()} {self.word}; not tried"
        if self.survives:
            return f"{self.arrow()} stays {self.word} in all {len(self.known)}"
        worst = self.lost[0]
        return f"{self.arrow()} stays {self.word} in {self.kept()}; {self._becomes(worst)} with {words[worst]}"

    def _becomes(self, place: int) -> str:
        """What it is under a variation that takes it away."""
        if self.back[place] >= LEANING:
            return f"{'clear' if self.back[place] >= CLEAR else 'leaning'} the other way"
        return "leaning" if self.others[place] >= LEANING else "open"

    def to_json(self, names: Sequence[str], words: Sequence[str]) -> dict[str, Any]:
        """The same as JSON can hold it."""
        return {
            "from": names[self.source],
            "to": names[self.target],
            "word": self.word,
            "share": self.own,
            "under": [None if math.isnan(share) else share for share in self.others],
            "under_back": [None if math.isnan(share) else share for share in self.back],
            "survives": self.survives if self.known else None,
            "verdict": self.verdict(words),
        }


def surviving(directions: Sequence[DirectionUnderChoices]) -> str:
    """How many of the clear directions stay clear, in one sentence; nothing where there are none.

    >>> surviving([DirectionUnderChoices(0, 1, 1.0, 0.96, (0.4,), (0.1,))])
    'The one clear direction does not stay clear under every choice.'
    """
    clear = [own for own in directions if own.word == "clear" and own.known]
    if not clear:
        return ""
    held = sum(own.survives for own in clear)
    if len(clear) == 1:
        return f"The one clear direction {'stays' if held else 'does not stay'} clear under every choice."
    verb = "stay" if held > 1 else "stays"
    return f"{held or 'None'} of {len(clear)} clear directions {verb} clear under every choice."


def where_lost(directions: Sequence[DirectionUnderChoices], words: Sequence[str]) -> str:
    """Which choices take clear directions away, and how many; nothing where none does."""
    lost = [place for own in directions if own.word == "clear" for place in own.lost]
    if not lost:
        return ""
    counts = [f"{lost.count(place)} with {words[place]}" for place in sorted(set(lost))]
    return f"Clear directions lost: {', '.join(counts)}."
