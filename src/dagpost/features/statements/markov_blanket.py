"""`A in mb(B)`: one variable is in the Markov blanket of another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dagpost._tools.text import position_of
from dagpost.features.feature import Feature
from dagpost.features.forms import Call, Form, Membership
from dagpost.features.names import check_different, mask_of, quoted
from dagpost.features.reader import Reader
from dagpost.features.reductions import Conditions, all_in, negated


@dataclass(frozen=True)
class InMarkovBlanket(Feature):
    """`A in mb(B)`: A is a parent of B, a child of B, or another parent of a child of B."""

    member: str
    of: str

    name = "in_markov_blanket"
    projects = True

    def __post_init__(self) -> None:
        check_different(self, self.member, self.of)

    def __str__(self) -> str:
        return f"{quoted(self.member)} in mb({quoted(self.of)})"

    @classmethod
    def forms(cls) -> tuple[Form, ...]:
        return Membership("mb", cls, ("A in mb(B)",)), Call("mb", _refuse_set, ("A in mb(B)",))

    def conjunctions(self, names: Sequence[str], *, untrue: bool) -> list[Conditions] | None:
        if not untrue:
            return None
        # Not being in the blanket is one conjunction: neither is a parent of the other, and no node is a child of both.
        lacks_both = negated(all_in(mask_of([self.member, self.of], names)))
        conditions = dict.fromkeys(range(len(names)), lacks_both)
        for node, other in ((self.member, self.of), (self.of, self.member)):
            conditions[position_of(node, names)] = negated(all_in(mask_of([other], names)))
        return [conditions]


def in_markov_blanket(member: str, of: str) -> InMarkovBlanket:
    """The statement that `member` is in the Markov blanket of `of`: a parent, a child, or a child's parent.

    >>> print(in_markov_blanket("Smoking", "Pressure"))
    Smoking in mb(Pressure)
    """
    return InMarkovBlanket(member, of)


def _refuse_set(reader: Reader) -> Feature:
    raise reader.error(
        reader.next, "A statement about a Markov blanket names one variable at a time: A in mb(B). Join several with &."
    )
