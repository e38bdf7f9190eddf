"""Several kinds of models for the same columns, averaged with weights that the data do not change.

Straight lines, curves and levels read a table each in their own way: their evidences are about different data, or hang
on what no kind of model gets right, so that the largest says little about which of them is right about the graph. On
simulated tables with known truth no kind is best everywhere, and the average of several loses less than any one.
With weights `w_m` that sum to 1,

    P(f | D) = sum over m of w_m P_m(f | D)

Within a kind everything else that is averaged over, such as the density of edges, is weighed by its evidence. That is
the mixture of posterior/mixture.py in which each kind has the prior weight `w_m / Z_m`, so conditions, draws and best
graphs are those of the mixture. There is no evidence of a committee.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar

from dagpost._tools.alternatives import Alternative
from dagpost._tools.checks import refusal
from dagpost._tools.json_settings import from_json
from dagpost._tools.mixture import Mixture
from dagpost.errors import InputError
from dagpost.scores.additive import Additive
from dagpost.scores.base import Score
from dagpost.scores.bdeu import BDeu
from dagpost.scores.bge import BGe
from dagpost.scores.parameter_priors import LocalPrior
from dagpost.scores.registry import SCORES

if TYPE_CHECKING:
    from dagpost.data.table import Columns, Table

KIND = "kind of model"
_OWNER = "Committee"
_LEVELS, _BINNED = BDeu(5.0), BDeu(5.0, bins=4)
_Choices = Sequence[tuple[int, dict[Score, float]]]
#: Weights so large can still be added up.
_LARGEST = 1e300
#: In fewer observations, bins see too little to have a vote.
FEWEST_FOR_BINS = 3_000
#: Who is on the committee where nobody says it, with which weights, from how many observations on: for tables of
#: numbers, and for tables of levels and numbers. By the worlds (benchmarks/committees.py, seeds for choosing): of two
#: members the one that invents fewer pairs has a little more than half, so that no pair stands at 0.5 by the other's
#: word alone.
_OF_NUMBERS: _Choices = (
    (0, {Additive(): 2.0, BGe(): 1.0}),
    (FEWEST_FOR_BINS, {Additive(): 1.0, BGe(): 1.0, _BINNED: 1.0}),
)
_OF_BOTH: _Choices = ((0, {Additive(): 1.0}), (FEWEST_FOR_BINS, {Additive(): 5.0, _BINNED: 6.0}))


@dataclass(frozen=True)
class Committee(Score):
    """Several kinds of models for the same columns, whose posteriors are averaged with fixed weights.

    Parameters
    ----------
    members
        Scores, each of one kind, or their names; "4 bins" is ``BDeu(5, bins=4)``. Nothing: those that suit the columns
        and the number of rows.
    weights
        How much each member counts, in any unit; all the same unless given.

    Sums over all graphs must be exact: many columns, chains and tables with gaps are refused. Effects, predictions
    and values come from additive regressions in the graphs of all members.

    >>> Committee([BGe(), BDeu(5, bins=4)]).in_words()
    'a committee of linear (BGe) (50%) and levels (4 bins) (50%)'
    """

    name: ClassVar[str] = "committee"
    summary: ClassVar[str] = "several kinds of models, averaged with fixed weights"
    citation: ClassVar[str] = (
        "Genest, C., & Zidek, J. V. (1986). Combining probability distributions: A critique and an annotated "
        "bibliography. Statistical Science, 1(1), 114-135."
    )
    has_evidence: ClassVar[bool] = False

    members: Sequence[Score | str] = ()
    weights: Sequence[float] | None = None

    def __post_init__(self) -> None:
        """Check the members and their weights."""
        several = isinstance(self.members, list | tuple)
        members = tuple(map(_member, self.members)) if several else ()
        if not several or len(set(members)) < len(members):
            raise refusal(self.members, "members", _OWNER, "different scores, such as [BGe(), BDeu(5, bins=4)]")
        object.__setattr__(self, "members", members)
        given = self.weights
        if given is None:
            return
        several = isinstance(given, list | tuple) and all(isinstance(own, Real) for own in given)
        numbers = [float(own) for own in given if 0.0 < own <= _LARGEST] if several else []
        shares = tuple(own / sum(numbers) for own in numbers)
        if not several or not len(given) == len(members) == len(shares) or min(shares, default=1.0) == 0.0:
            raise refusal(given, "weights", _OWNER, f"as many numbers above 0 as there are members, {len(members)}")
        object.__setattr__(self, "weights", shares)

    @property
    def columns(self) -> Columns:  # type: ignore[override]
        """What all members take; both kinds, where that differs, or where a member cuts numbers itself."""
        kinds: set[Columns] = {"mixed" if getattr(own, "bins", None) else own.columns for own in self._scores}
        return kinds.pop() if len(kinds) == 1 else "mixed"

    @property
    def equivalent(self) -> bool:  # type: ignore[override]
        """Whether all members treat graphs alike that say the same about independence."""
        return all(own.equivalent for own in self._scores)

    @property
    def _scores(self) -> tuple[Score, ...]:
        return self.members  # type: ignore[return-value]

    @property
    def labels(self) -> tuple[str, ...]:
        """What the members are called: by their kinds, and those of one kind in full."""
        kinds = [own.kind_of_model() for own in self._scores]
        pairs = zip(kinds, self._scores, strict=True)
        return tuple(kind if kinds.count(kind) == 1 else repr(own) for kind, own in pairs)

    @property
    def shares(self) -> tuple[float, ...]:
        """The weights of the members, which sum to 1."""
        return tuple(self.weights or [1.0 / len(self.members) for _ in self.members])

    def parameter_prior(self) -> LocalPrior:
        """Sizes come from additive regressions, in the graphs of all members."""
        return LocalPrior("dagpost.local.additive")

    def for_table(self, table: Table) -> Score:
        """The members that suit a table, if they are left to it; one alone is itself."""
        if not self.members:
            chosen = _usual(table)
            if len(chosen) == 1:
                return next(iter(chosen))
            return Committee(tuple(chosen), tuple(chosen.values())).for_table(table)
        for own, label in zip(self._scores, self.labels, strict=True):
            modelled = own.modelled(table)
            try:
                modelled.refuse_other_than(own.columns)
            except InputError as error:
                cut = " Numbers are cut by a member with bins, such as BDeu(5, bins=4)." if not table.discrete else ""
                cut = cut if own.columns == "discrete" else ""
                raise InputError(f"The member {label} does not take this table. {error}{cut}") from None
            draws = modelled.gap_count > table.gap_count
            if draws or 0 < len(own.sinks(table)) < len(table.names):
                why = "draws numbers that are not known" if draws else "leaves out edges from numbers to levels"
                raise InputError(
                    f"A member of a committee gives every graph its exact weight, and {label} {why}. Leave it out, or "
                    "fit it by itself."
                )
        return self

    def fill(self, *_: Any) -> None:
        """There are none."""
        raise InputError(
            f"{self!r} averages over kinds of models, which only a fitted model can do. Score one of them."
        )

    def mixture(self) -> Mixture[Score] | None:
        """One part for each member, with its fixed weight."""
        logs = tuple(map(math.log, self.shares)) if self.members else ()
        return Mixture(KIND, self.labels, self._scores, logs, fixed=True) if self.members else None

    def alternatives(self) -> list[Alternative[Score]]:
        """Each member alone."""
        return [Alternative(KIND, label, own) for label, own in zip(self.labels, self._scores, strict=True)]

    def assumes(self) -> str:
        """What each of the members assumes, by their names."""
        said = zip(self.labels, (own.assumes() for own in self._scores), strict=True)
        return " ".join(f"Under {label}: {text[0].lower()}{text[1:]}" for label, text in said if text)

    def in_words(self) -> str:
        """Its members and their weights."""
        return f"a committee of {self.members_in_words}"

    @property
    def members_in_words(self) -> str:
        """What the members are called, with their weights."""
        return self._listed(self.labels)

    def in_detail(self) -> str:
        """The same with the priors of the members."""
        return f"a committee of scores, with fixed weights: {self._listed([own.in_detail() for own in self._scores])}"

    def _listed(self, words: Sequence[str]) -> str:
        *first, last = [f"{own} ({share:.0%})" for own, share in zip(words, self.shares, strict=True)] or [
            "those that suit"
        ]
        return f"{', '.join(first)} and {last}" if first else last


def _member(own: Any) -> Score:
    """A member from what was given for it, or from what a file says of it."""
    from dagpost.scores.resolve import resolve_score

    binned = re.fullmatch(r"(\d{1,3}) bins", own) if isinstance(own, str) else None
    if binned is not None:
        return replace(_BINNED, bins=int(binned[1]))
    found = resolve_score(from_json(own, SCORES) if isinstance(own, dict) else own)
    if found.mixture() is not None or not found.has_evidence:
        raise refusal(own, "members", _OWNER, "scores that average over nothing themselves, such as BDeu(5)")
    return found


def _usual(table: Table) -> dict[Score, float]:
    """The members for a table, with their weights."""
    numbers = [own is None for name, own in zip(table.names, table.levels, strict=True) if name not in table.regimes]
    if not any(numbers):
        return {_LEVELS: 1.0}
    choices = _OF_NUMBERS if all(numbers) else _OF_BOTH
    return [members for least, members in choices if table.observations >= least][-1]
