"""Questions about the values of columns, as text says them: `P(Pressure = ">140" | Smoking = yes, do(Work = no))`.

Which levels and numbers there are is not known here: a term keeps what was written and where, and whoever looks the
value up (values/question.py) shows that place if it cannot be.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from dagpost.errors import InputError
from dagpost.features.feature import And, Feature, Or, bracketed
from dagpost.features.names import quoted
from dagpost.features.tokens import error_at

#: Relations between a column and a value, and how they read from the right.
RELATIONS = {"=": "=", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}


@dataclass(frozen=True)
class WrittenValue:
    """A level or a number as it was written, in quotes or not, and where in the text."""

    text: str
    in_quotes: bool = False
    position: int = field(default=0, compare=False)

    def __str__(self) -> str:
        return quoted(self.text) if self.in_quotes else self.text


@dataclass(frozen=True)
class ValueTerm:
    """What is said of one column: `Smoking = yes`, `systolic > 140`, `Stage in {2, 3}`."""

    name: str
    relation: str
    values: tuple[WrittenValue, ...]
    position: int = field(default=0, compare=False)

    def __str__(self) -> str:
        if self.relation == "in":
            return f"{quoted(self.name)} in {{{', '.join(map(str, self.values))}}}"
        return f"{quoted(self.name)} {self.relation} {self.values[0]}"


@dataclass(frozen=True)
class ValueQuery:
    """The probability of some values, or the mean of a column, given values, columns that are set, and the graph."""

    #: The text, to show a place in it.
    text: str = field(compare=False)
    target: tuple[ValueTerm, ...]
    #: The column whose mean is asked for, where there are no targets.
    mean_of: str | None = None
    evidence: tuple[ValueTerm, ...] = ()
    do: tuple[ValueTerm, ...] = ()
    #: What holds in the graphs that are averaged over.
    where: Feature | None = None

    def __str__(self) -> str:
        asked = " & ".join(map(str, self.target)) if self.mean_of is None else quoted(self.mean_of)
        set_values = [f"do({term})" for term in self.do]
        where = [] if self.where is None else [bracketed(self.where, Or)]
        conditions = ", ".join([*map(str, self.evidence), *set_values, *where])
        return f"{'P' if self.mean_of is None else 'E'}({asked}{' | ' if conditions else ''}{conditions})"

    def error(self, position: int, message: str) -> InputError:
        """An error that shows a place in the text."""
        return error_at(self.text, position, message)


def refuse_values(query: object) -> None:
    """Refuse a question about values where only graphs are known."""
    if isinstance(query, ValueQuery):
        place = query.target[0].position if query.target else 0
        raise query.error(
            place,
            "This is about values, and only statements about the graph, such as A -> B, are possible "
            "here. Ask a fitted model about values: model.probability(...), or dagpost query MODEL.",
        )


def joined(features: list[Feature]) -> Feature | None:
    """Statements that all hold; None where there are none."""
    if not features:
        return None
    return features[0] if len(features) == 1 else And(tuple(features))
