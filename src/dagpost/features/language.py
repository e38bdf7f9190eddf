"""Statements about a DAG, read from text: `Smoking ~> Pressure & !(Smoking -> Family)`.

What single statements look like is written in their own files, `statements/`. This module reads what joins them:

| text | holds when |
| --- | --- |
| `A -> B -> C`, `A ~> B ~> C` | every step of the chain holds |
| `A[t-1] -> B` | `A[t-1]` is the name of a column: A a step earlier, in a table with time |
| `!f`, `f & g`, `f | g`, `(f)` | not, and, or; `!` binds tightest, then `&`, then `|` |
| `P(f | g)` | f, among the DAGs in which g holds; only around the whole text |
| `P(A = x | B = y, do(C = z), f)`, `E(A | B > 3)` | not about the DAG alone but about values (value_language.py) |

A name is a word of letters, digits and underscores, or anything in single or double quotes. Directly inside `P(...)`, a
bar introduces the condition, and after some statements it belongs to them (`A _||_ B | C`). An "or" in these places
needs brackets: `P((f | g) | h)`, `(A _||_ B) | C -> D`.

The grammar, read by recursive descent in one pass, in time linear in the length of the text:

    query       = "P" "(" conjunction [ "|" conditions ] ")"  |  disjunction
    conditions  = negation { ( "&" | "," ) negation }
    disjunction = conjunction { "|" conjunction }
    conjunction = negation { "&" negation }
    negation    = "!" negation  |  "(" disjunction ")"  |  statement
    statement   = name arrow name { arrow name }  |  name arrow name suffix ...
                |  name "in" word "(" name ")"  |  word "(" ...  |  side infix ...
    side        = name  |  "{" name { "," name } "}"
    name        = ( word | quoted ) [ "[" "t" [ "-" number ] "]" ]

Arrows, words and infixes, and what follows a word or an infix, come from the registered statements (`forms.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

from dagpost._tools.text import shown
from dagpost.errors import InputError
from dagpost.features.feature import And, Feature, Not, Or, as_feature, bracketed, check_variables
from dagpost.features.forms import Arrow
from dagpost.features.names import known_names
from dagpost.features.reader import one_of
from dagpost.features.tokens import Token
from dagpost.features.value_language import Item, ValueReader
from dagpost.features.value_queries import RELATIONS, ValueQuery, joined, refuse_values

#: Brackets and negations nested deeper than this are a slip, and would exceed the interpreter's own limit.
_DEEPEST = 100


@dataclass(frozen=True)
class Query:
    """A question: a statement, and the statement it is conditioned on, if any."""

    feature: Feature
    given: Feature | None = None

    def __str__(self) -> str:
        if self.given is None:
            return str(self.feature)
        return f"P({bracketed(self.feature, Or)} | {bracketed(self.given, Or)})"


def parse(text: str, names: Sequence[str]) -> Query:
    """Read a statement about the variables `names`.

    >>> parse("A ~> B & !(A -> B)", ["A", "B"]).feature
    And(parts=(Path(source='A', target='B', longest=None), Not(part=Edge(parent='A', child='B'))))
    >>> print(parse("P(A -> B | B ~> 'M. Work')", ["A", "B", "M. Work"]).given)
    B ~> "M. Work"
    >>> parse("A -> Bee", ["A", "Beer"])
    Traceback (most recent call last):
    dagpost.errors.InputError: There is no variable 'Bee'. Did you mean 'Beer'?
      A -> Bee
           ^
    """
    if not isinstance(text, str):
        raise InputError(f"A statement to parse must be text. Got {shown(text)} instead.")
    query = read(text, known_names(names))
    refuse_values(query)
    assert isinstance(query, Query)
    return query


def read(text: str, names: Sequence[str]) -> Query | ValueQuery:
    """Read a question about the graph, or about values.

    >>> print(read("P(A = 'x y' | B != z, A -> B)", ["A", "B"]))
    P(A = "x y" | B != z, A -> B)
    """
    return _Grammar(text, names).query()


def resolve(statement: object, names: Sequence[str], given: object = None, exogenous: Collection[str] = ()) -> Query:
    """The question that a text, an object or a Python function stands for, with its names checked.

    Where columns are `exogenous`, it is read as `Feature.conditional` says.

    >>> from dagpost.features import path
    >>> print(resolve("A -> B", ["A", "B", "C"], given=path("B", "C")))
    P(A -> B | B ~> C)
    """
    query = _resolved(statement, names, frozenset(exogenous))
    if given is None:
        return query
    condition = _resolved(given, names, frozenset(exogenous))
    if query.given is not None or condition.given is not None:
        raise InputError(
            f"There are two conditions: given={str(given)!r}, and one inside P( | ). "
            "Give only one; if both are meant, join them with &."
        )
    return Query(query.feature, condition.feature)


def _resolved(statement: object, names: Sequence[str], exogenous: frozenset[str]) -> Query:
    if isinstance(statement, str):
        query = parse(statement, names)
    else:
        query = statement if isinstance(statement, Query) else Query(as_feature(statement))
        check_variables(query.feature, names)
        if query.given is not None:
            check_variables(query.given, names)
    if not exogenous:
        return query
    given = None if query.given is None else query.given.conditional(exogenous)
    return Query(query.feature.conditional(exogenous), given)


class _Grammar(ValueReader):
    """Whatever joins statements; their own forms read the rest."""

    def __init__(self, text: str, names: Sequence[str]) -> None:
        super().__init__(text, names)
        self.depth = 0

    def query(self) -> Query | ValueQuery:
        if self.next.kind == "end":
            such = self.vocabulary.examples[0]
            raise self.error(self.next, f"The text is empty. Write a statement such as {such}.")
        if self.at_call() and self.next.value in ("P", "E"):
            word = self.next.value
            query = self.conditional()
            if self.next.kind != "end":
                raise self.error(
                    self.next, f"{word}( ) encloses the whole text, so the text should end here, but {self.next}."
                )
            return query
        if self.at_value():
            return self.bare_values()
        feature = self.disjunction()
        if self.at(")"):
            raise self.error(self.next, "This bracket closes nothing: no bracket is open here.")
        if self.next.kind != "end":
            raise self.error(self.next, f"Expected '&', '|' or the end, but {self.next}.")
        return Query(feature)

    def bare_values(self) -> ValueQuery:
        """Values without P( ) around them."""
        query = self.query_of(self.items("&", ","), [], None)
        assert query is not None
        if self.next.kind != "end":
            hint = " A condition needs P( | ) around the whole." if self.at("|") else ""
            raise self.error(self.next, f"Expected '&' or the end, but {self.next}.{hint}")
        return query

    def conditional(self) -> Query | ValueQuery:
        of_mean = self.step().value == "E"
        opening = self.step()
        self.bar_is_given = True
        mean_of = self.mean_of() if of_mean else None
        targets = [] if of_mean else self.items("&")
        given: list[Item] = []
        if self.at("|"):
            self.step()
            given = self.items("&", ",")
        if self.at("|"):
            raise self.error(
                self.next,
                "Inside P( ), a bar introduces the condition, and there is one already. "
                "To say 'or', put it in brackets: P((f | g) | h).",
            )
        self.close(opening, "'&', ',' or ')'" if given else "'|' or ')'" if of_mean else "'&', '|' or ')'")
        query = self.query_of(targets, given, mean_of)
        if query is not None:
            return query
        feature, condition = (
            joined([item for _, item in items if isinstance(item, Feature)]) for items in (targets, given)
        )
        assert feature is not None
        return Query(feature, condition)

    def items(self, *separators: str) -> list[Item]:
        """Statements and values, with these symbols between them."""
        return [item for found in self.separated(self.item, *separators) for item in found]

    def item(self) -> Sequence[Item]:
        """What stands between two of them: limits of a value are two."""
        start = self.next
        if self.at_value():
            return self.terms()
        return [(start, self.set_columns() if self.at_do() else self.negation())]

    def close(self, opening: Token, expected: str) -> None:
        if self.next.kind == "end":
            raise self.error(opening, "This bracket is never closed.")
        if not self.at(")"):
            raise self.error(self.next, f"Expected {expected}, but {self.next}.")
        self.step()

    def disjunction(self) -> Feature:
        return self.joined("|", self.conjunction, Or)

    def conjunction(self) -> Feature:
        return self.joined("&", self.negation, And)

    def joined(self, symbol: str, part: Callable[[], Feature], join: type[And | Or]) -> Feature:
        parts = self.separated(part, symbol)
        return join(tuple(parts)) if len(parts) > 1 else parts[0]

    def negation(self) -> Feature:
        if not self.at("!", "("):
            return self.statement()
        self.depth += 1
        if self.depth > _DEEPEST:
            raise self.error(self.next, f"Brackets and '!' are nested more than {_DEEPEST} deep. Use fewer of them.")
        opening = self.step()
        if opening.value == "!":
            feature: Feature = Not(self.negation())
        else:
            outside, self.bar_is_given = self.bar_is_given, False
            feature = self.disjunction()
            self.close(opening, "'&', '|' or ')'")
            self.bar_is_given = outside
        self.depth -= 1
        return feature

    def statement(self) -> Feature:
        start = self.next
        if self.at("{"):
            return self.infix(start, self.group())
        if self.at_call():
            return self.call()
        name = self.name(f"a statement such as {self.vocabulary.examples[0]}")
        if self.at(*self.vocabulary.arrows):
            return self.chain(start, name)
        if self.at_in():
            return self.membership(start, name)
        if self.at(*self.vocabulary.infixes):
            return self.infix(start, frozenset((name,)))
        if self.at(*RELATIONS):
            raise self.error(start, self.misplaced(name))
        expected = one_of([*self.vocabulary.symbols, "'in'"])
        raise self.error(self.next, f"Expected {expected} after {name!r}, but {self.next}.")

    def chain(self, start: Token, name: str) -> Feature:
        places, names = [start], [name]
        arrows = []
        while self.at(*self.vocabulary.arrows):
            arrows.append((self.next, *self.arrow()))
            places.append(self.next)
            names.append(self.name())
        pattern = self.vocabulary.patterns.get(" ".join(arrow.sign for _, arrow, _ in arrows))
        if pattern is not None and not any(read for _, _, read in arrows):
            return self.build(places[-1], pattern.make, *names)
        if self.at_suffix(arrows):
            ends = names if arrows[0][1].direction == "right" else names[::-1]
            return self.vocabulary.suffixes[self.next.value].make(self, *ends)
        steps: list[Feature] = []
        for place, (token, arrow, read) in enumerate(arrows):
            if arrow.direction != arrows[0][1].direction:
                raise self.error(token, self.mixed_chain())
            ends = names[place : place + 2]
            if arrow.direction == "left":
                ends.reverse()
            steps.append(self.build(places[place + 1], arrow.make, *ends, *read))
        return And(tuple(steps)) if len(steps) > 1 else steps[0]

    def at_suffix(self, arrows: list[tuple[Token, Arrow, tuple[Any, ...]]]) -> bool:
        """Whether a word comes next that says more about the one arrow before it."""
        found = self.vocabulary.suffixes.get(self.next.value) if self.next.kind == "name" else None
        return found is not None and len(arrows) == 1 and arrows[0][1].make == found.arrow and not arrows[0][2]

    def mixed_chain(self) -> str:
        allowed = [f"{pattern.examples[0]} ({pattern.called})" for pattern in self.vocabulary.patterns.values()]
        return (
            f"The steps of a chain must point the same way, except in {one_of(allowed, 'and')}. "
            "Write the steps separately, with & between them."
        )

    def membership(self, start: Token, member: str) -> Feature:
        self.step()
        word = self.next
        memberships = self.vocabulary.memberships
        if not self.at_call() or word.value not in memberships:
            expected = one_of(f"{known}( )" for known in memberships)
            raise self.error(word, f"Expected {expected} after 'in', but {word}.")
        return self.build(start, memberships[word.value].make, member, self.argument())

    def call(self) -> Feature:
        start = self.next
        if start.value in ("P", "E"):
            raise self.error(start, f"{start.value}( ) can only enclose the whole text.")
        if start.value == "do":
            raise self.error(start, "Columns are set behind the bar of P( ) or E( ): P(A = x | do(B = y)).")
        if start.value not in self.vocabulary.calls:
            known = one_of((f"{word}( )" for word in self.vocabulary.words), "and")
            raise self.error(start, f"There is no {start.value}( ). There are {known}.")
        return self.vocabulary.calls[start.value].make(self)

    def infix(self, start: Token, first: frozenset[str]) -> Feature:
        infixes = self.vocabulary.infixes
        if not self.at(*infixes):
            raise self.error(self.next, f"Expected {one_of(map(repr, infixes))} after a set, but {self.next}.")
        return infixes[self.step().value].make(self, start, first)
