"""Does a finding hang on a choice? Every pair of variables under other choices, one at a time, and what survives.

A pair is found if it is joined with at least `FOUND`. One that another sensible choice takes below that does not
survive; one that another choice would have found is marked too. What becomes of clear directions: pair_direction.py.
How the refits are made: variations.py.
"""

from __future__ import annotations

import html
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.arrays import Floats
from dagpost._tools.setting_text import given_columns
from dagpost._tools.text import printable
from dagpost.posterior.pair_direction import (
    FOUND,
    NOT_UNDER_EVERY_CHOICE,
    DirectionUnderChoices,
    PairDirection,
    surviving,
    where_lost,
)

if TYPE_CHECKING:
    import pandas as pd

#: Pairs that are joined less often than this under every choice are not listed.
LEAST_LISTED = 0.1
#: A table of more rows is not read; those that do not survive are listed first.
_MOST_ROWS = 25

Fate = Literal["holds", "falls", "rises", "never"]
_MARKS: Mapping[Fate, str] = {"holds": "✓", "falls": "✗", "rises": "△", "never": ""}


class Variation(NamedTuple):
    """One choice made otherwise; `words` follow "with"."""

    choice: str
    value: str
    words: str


class PairUnderChoices(NamedTuple):
    """How probable it is that two variables are joined, in the model as it is and under each variation."""

    first: int
    second: int
    own: float
    others: tuple[float, ...]

    @property
    def fate(self) -> Fate:
        """Whether the pair is found, and whether every variation agrees."""
        if self.own >= FOUND:
            return "falls" if min(self.others, default=1.0) < FOUND else "holds"
        return "rises" if max(self.others, default=0.0) >= FOUND else "never"


@dataclass(frozen=True, eq=False, repr=False)
class Sensitivity:
    """The probability of every pair to be joined, under the choices of a model and under others, one at a time.

    `joined[0]` is the symmetric matrix of the model as it is, `joined[1 + v]` that of variation `v`. `required` are the
    pairs that the user decided, which are no findings. `left_out` says of each variation that was not tried, why.
    `compelled[v, a, b]` is the share of `joined[v, a, b]` in which the data compel `a -> b`: of pairs with a direction
    that is clear or leaning in the model, else nan; None where directions were not tried.

    >>> from dagpost import DagPosterior, datasets
    >>> DagPosterior("bic").fit(datasets.load("coronary")).sensitivity()
    4 of 6 pairs found (joined with at least 0.5) hold under each of 5 other choices.
    """

    names: tuple[str, ...]
    variations: tuple[Variation, ...]
    joined: Floats
    required: tuple[tuple[int, int], ...] = ()
    left_out: tuple[str, ...] = ()
    compelled: Floats | None = None
    #: Columns that are not modelled: all of it is conditional on these.
    exogenous: tuple[str, ...] = ()

    def pairs(self) -> list[PairUnderChoices]:
        """All pairs that are joined with at least 0.1 under some choice, the most probable first."""
        decided = {frozenset(pair) for pair in self.required}
        listed = [
            PairUnderChoices(first, second, float(values[0]), tuple(values[1:].tolist()))
            for first, second in np.argwhere(np.triu((self.joined >= LEAST_LISTED).any(axis=0), 1)).tolist()
            if frozenset((first, second)) not in decided
            for values in [self.joined[:, first, second]]
        ]
        return sorted(listed, key=lambda pair: -pair.own)

    def shown(self, most: int = _MOST_ROWS) -> list[PairUnderChoices]:
        """As many pairs as a table has rows; where these are too few, the pairs that hang on a choice go first."""
        changing = {(pair.first, pair.second) for pair in self.changing()}

        def importance(pair: PairUnderChoices) -> tuple[bool, float]:
            return (pair.first, pair.second) not in changing, -pair.own

        kept = sorted(self.pairs(), key=importance)[:most]
        return sorted(kept, key=lambda pair: -pair.own)

    def changing(self) -> list[PairUnderChoices]:
        """The pairs that another choice loses or finds, or whose direction it takes away, the most probable first."""
        lost = {frozenset((own.source, own.target)) for own in self.directions() if not own.survives}
        return [
            pair
            for pair in self.pairs()
            if pair.fate in ("falls", "rises") or frozenset((pair.first, pair.second)) in lost
        ]

    def directions(self) -> list[DirectionUnderChoices]:
        """What is clear or leaning in the model, and what becomes of it; those of the most probable pairs first."""
        if self.compelled is None:
            return []
        known = np.argwhere(np.triu(~np.isnan(self.compelled[0]), 1)).tolist()
        found = [own for pair in known if (own := self.direction(*pair)) is not None]
        return sorted(found, key=lambda own: -own.joined)

    def direction(self, first: int, second: int) -> DirectionUnderChoices | None:
        """What becomes of the direction of a pair, where it has one."""
        if self.compelled is None or np.isnan(self.compelled[0, first, second]):
            return None
        back = self.compelled[0, first, second] < self.compelled[0, second, first]
        source, target = (second, first) if back else (first, second)
        onward, backward = self.compelled[:, source, target].tolist(), self.compelled[1:, target, source].tolist()
        joined = float(self.joined[0, source, target])
        return DirectionUnderChoices(source, target, joined, onward[0], tuple(onward[1:]), tuple(backward))

    def direction_verdict(self, pair: PairUnderChoices) -> str:
        """What becomes of a pair's direction, in words: "→ stays clear in 4 of 5; open with 4 bins"; "" without one."""
        own = self.direction(pair.first, pair.second)
        return "" if own is None else own.verdict(self._words)

    def directions_kept(self) -> str:
        """How many clear directions of found pairs stay clear, in one sentence; nothing where there are none."""
        return surviving(self._of_found_pairs())

    def directions_lost(self) -> str:
        """Which choices take clear directions of found pairs away; nothing where none does."""
        return where_lost(self._of_found_pairs(), self._words)

    @property
    def _words(self) -> list[str]:
        return [own.words for own in self.variations]

    def _of_found_pairs(self) -> list[DirectionUnderChoices]:
        """A report counts the directions of pairs that are found, and so does the sentence here."""
        return [own for own in self.directions() if own.joined >= FOUND]

    def pair_text(self, pair: PairUnderChoices, dash: str = "—") -> str:
        """The names of a pair, safe to print."""
        return f"{printable(self.names[pair.first])} {dash} {printable(self.names[pair.second])}"

    def choices(self) -> str:
        """What was tried, in a few words: "equivalent sample size 5, 10; prior indegree"."""
        values: dict[str, list[str]] = {}
        for own in self.variations:
            values.setdefault(own.choice, []).append(own.value)
        return "; ".join(f"{choice} {', '.join(own)}" for choice, own in values.items())

    @staticmethod
    def mark(pair: PairUnderChoices) -> str:
        """The sign for what becomes of a pair."""
        return _MARKS[pair.fate]

    def verdict(self, pair: PairUnderChoices) -> str:
        """What becomes of a pair, in words: "falls to 0.23 with 4 bins"."""
        if pair.fate == "holds":
            return f"holds in all {len(pair.others)}" if pair.others else "holds"
        if pair.fate == "never":
            return f"below {FOUND:g} in all"
        across = [value for value in pair.others if (value < FOUND) == (pair.fate == "falls")]
        farthest = min(across) if pair.fate == "falls" else max(across)
        words = self.variations[pair.others.index(farthest)].words
        more = f" (and in {len(across) - 1} more of {len(pair.others)})" if len(across) > 1 else ""
        return f"{pair.fate} to {_beside(farthest)} with {words}{more}"

    def summary(self) -> str:
        """How many of the pairs found survive, in one sentence, and how many of the clear directions, in another."""
        given = given_columns(self.exogenous)
        parts = self._pairs_in_words(), self.directions_kept(), f"All of it {given}." if given else ""
        return " ".join(filter(None, parts))

    def _pairs_in_words(self) -> str:
        fates = [pair.fate for pair in self.pairs()]
        held, found, rising = fates.count("holds"), fates.count("holds") + fates.count("falls"), fates.count("rises")
        if not self.variations:
            return "No other choice was tried."
        others = len(self.variations)
        tried, none = (f"{word} of {others} other choices" for word in ("each", "any"))
        if others == 1:
            tried = none = "the one other choice"
        if found == 0:
            return f"No pair is joined with at least {FOUND:g}" + (
                f"; {rising} would be under other choices." if rising else f", nor under {none}."
            )
        of_all, verb = f"{held} of {found} pairs", "holds" if held == 1 else "hold"
        if found == 1:
            of_all, verb = "The one pair", "holds" if held else "does not hold"
        more = f"; {rising} more would be found under some of them" if rising else ""
        return f"{of_all} found (joined with at least {FOUND:g}) {verb} under {tried}{more}."

    def table(self) -> pd.DataFrame:
        """One row a pair, one column a choice, grouped by what is chosen; then what becomes of it in words.

        Where directions are clear or leaning, more columns have the share that the data compel, in the model and where
        it is lowest, and what becomes of the direction.
        """
        import pandas as pd

        shown = self.shown()
        heads = [("this model", ""), *((own.choice, own.value) for own in self.variations), ("verdict", "")]
        rows = [[pair.own, *pair.others, f"{self.mark(pair)} {self.verdict(pair)}".strip()] for pair in shown]
        if self.directions():
            heads += [("direction", "share"), ("direction", "lowest"), ("direction", "verdict")]
            rows = [[*row, *self._direction_cells(pair)] for row, pair in zip(rows, shown, strict=True)]
        index = pd.MultiIndex.from_tuples(
            [(self.names[pair.first], self.names[pair.second]) for pair in shown], names=["first", "second"]
        )
        return pd.DataFrame(rows, index=index, columns=pd.MultiIndex.from_tuples(heads))

    def _direction_cells(self, pair: PairUnderChoices) -> list[float | str]:
        own = self.direction(pair.first, pair.second)
        if own is None:
            return [np.nan, np.nan, ""]
        return [own.own, min((own.others[place] for place in own.known), default=np.nan), own.verdict(self._words)]

    def to_json(self) -> dict[str, Any]:
        """The same as JSON can hold it, with every pair."""
        return {
            "summary": self.summary(),
            "threshold": FOUND,
            "variations": [own._asdict() for own in self.variations],
            "left_out": list(self.left_out),
            "pairs": [
                {
                    "pair": [self.names[pair.first], self.names[pair.second]],
                    "joined": pair.own,
                    "under": list(pair.others),
                    "fate": pair.fate,
                    "verdict": self.verdict(pair),
                    "direction": None if own is None else own.to_json(self.names, self._words),
                }
                for pair in self.pairs()
                for own in [self.direction(pair.first, pair.second)]
            ],
        }

    def __repr__(self) -> str:
        return self.summary()

    def _repr_html_(self) -> str:
        table = self.table().map(lambda cell: cell if isinstance(cell, str) else f"{cell:.2f}").replace("nan", "")
        table.index = table.index.map(lambda pair: tuple(map(printable, pair)))
        notes = [self.summary(), *(f"Left out: {reason}." for reason in self.left_out)]
        return "".join(f"<p>{html.escape(note)}</p>" for note in notes) + table.to_html(escape=True)

    # In files

    def about(self) -> dict[str, Any]:
        """What a file says of it beside the numbers."""
        return {
            "summary": self.summary(),
            "variations": [list(own) for own in self.variations],
            "required": [list(pair) for pair in self.required],
            "left_out": list(self.left_out),
            **({"exogenous": list(self.exogenous)} if self.exogenous else {}),
        }

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The numbers that a file keeps."""
        return {"joined": self.joined, **({} if self.compelled is None else {"compelled": self.compelled})}


def sensitivity_from(
    names: tuple[str, ...], about: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]
) -> Sensitivity:
    """What a file keeps, checked."""
    variations = tuple(Variation(*map(str, own)) for own in about["variations"])
    joined = arrays["joined"].astype(np.float64)
    if joined.shape != (1 + len(variations), len(names), len(names)):
        raise ValueError(f"sensitivity of shape {joined.shape}")
    required = tuple((int(first), int(second)) for first, second in about["required"])
    compelled = arrays["compelled"].astype(np.float64) if "compelled" in arrays else None
    if compelled is not None and compelled.shape != joined.shape:
        raise ValueError(f"compelled directions of shape {compelled.shape}")
    left_out, exogenous = (tuple(map(str, about.get(key, ()))) for key in ("left_out", "exogenous"))
    return Sensitivity(names, variations, joined, required, left_out, compelled, exogenous)


def label_under_choices(pair: PairDirection, found: Sensitivity | None) -> str:
    """What is said of the direction of a pair; of a clear one that another choice takes away, that too."""
    own = None if found is None or pair.word != "clear" else found.direction(pair.source, pair.target)
    return pair.label if own is None or own.survives else pair.label + NOT_UNDER_EVERY_CHOICE


def _beside(probability: float) -> str:
    """A probability on one side of the threshold, with as many digits as show on which."""
    for digits in (2, 3, 4):
        shown = f"{probability:.{digits}f}"
        if (float(shown) < FOUND) == (probability < FOUND):
            return shown
    return f"just below {FOUND:g}"
