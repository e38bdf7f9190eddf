"""Statements about a DAG, read from text: `Smoking ~> Pressure & !(Smoking -> Family)`.

| text | holds when |
| --- | --- |
| `A -> B`, `B <- A` | A is a parent of B |
| `A ~> B`, `B <~ A` | a directed path leads from A to B |
| `A ~>{2} B` | one of at most 2 edges does |
| `A -- B` | A and B are adjacent |
| `A -> B -> C`, `A ~> B ~> C` | every step holds |
| `A -> C <- B` | A and B are parents of C and *not adjacent*; without that: `A -> C & B -> C` |
| `pa(B) = {A, C}`, `an(B) = {A}`, `de(B) = {}` | the parents, ancestors, descendants of B are exactly these |
| `A in pa(B)`, `A in an(B)`, `B in de(A)`, `A in mb(B)` | A is one of them; `mb` is the Markov blanket |
| `A _||_ B | C, D`, `{A, B} _||_ C` | C and D d-separate A from B |
| `pos(A) <= 1` | the longest directed path that ends in A has at most 1 edge; also `=`, `<`, `>`, `>=` |
| `!f`, `f & g`, `f | g`, `(f)` | not, and, or; `!` binds tightest, then `&`, then `|` |
| `P(f | g)` | f, asked of the DAGs in which g holds; only around the whole text |

A name is a word of letters, digits and underscores, or anything in single or double quotes. The bar has three
uses. After `A _||_ B` it starts the list of variables conditioned on, and directly inside `P(...)` it comes
before the condition; so an "or" in these two places needs brackets: `(A _||_ B) | C -> D`, `P((f | g) | h)`.

The grammar, read by recursive descent in one pass, in time linear in the length of the text:

    query       = "P" "(" conjunction [ "|" conjunction ] ")"  |  disjunction
    disjunction = conjunction { "|" conjunction }
    conjunction = negation { "&" negation }
    negation    = "!" negation  |  "(" disjunction ")"  |  statement
    statement   = name arrow name { arrow name }  |  name "in" ( "pa" | "an" | "de" | "mb" ) "(" name ")"
                | ( "pa" | "an" | "de" ) "(" name ")" "=" set  |  "pos" "(" name ")" comparison number
                | side "_||_" side [ "|" ( names | set ) ]
    side        = name  |  "{" names "}"
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from dagpost._tools.text import position_of
from dagpost.errors import InputError
from dagpost.features.predicates import (
    COMPARISONS,
    Adjacent,
    AncestorSet,
    And,
    DescendantSet,
    DSeparated,
    Edge,
    Feature,
    InMarkovBlanket,
    Not,
    Or,
    ParentSet,
    Path,
    TopologicalPosition,
    VStructure,
    as_feature,
)
from dagpost.features.tokens import Token, error_at, tokens_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_ARROWS = ("->", "<-", "~>", "<~", "--")
_SETS: dict[str, Callable[[str, frozenset[str]], Feature]] = {
    "pa": ParentSet,
    "an": AncestorSet,
    "de": DescendantSet,
}
_MEMBERSHIPS: dict[str, Callable[[str, str], Feature]] = {
    "pa": Edge,
    "an": Path,
    "de": lambda member, of: Path(of, member),
    "mb": InMarkovBlanket,
}
#: Brackets and negations nested deeper than this are a slip, and would run into the interpreter's own limit.
_DEEPEST = 100
_MOST_DIGITS = 9

Made = TypeVar("Made")


@dataclass(frozen=True)
class Query:
    """What is asked: a statement, and the one it is conditioned on, if any."""

    feature: Feature
    given: Feature | None = None

    def __str__(self) -> str:
        if self.given is None:
            return str(self.feature)
        return f"P({_within_bars(self.feature)} | {_within_bars(self.given)})"


def parse(text: str, names: Sequence[str]) -> Query:
    """Read a statement about the variables `names`; the grammar stands at the top of this module.

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
        raise InputError(f"A statement to read must be text. Got {text!r} instead.")
    return _Reader(text, names).query()


def resolve(statement: object, names: Sequence[str], given: object = None) -> Query:
    """What is asked, from text, an object or a Python function, with its names checked.

    >>> from dagpost.features import path
    >>> print(resolve("A -> B", ["A", "B", "C"], given=path("B", "C")))
    P(A -> B | B ~> C)
    """
    query = _resolved(statement, names)
    if given is None:
        return query
    condition = _resolved(given, names)
    if query.given is not None or condition.given is not None:
        raise InputError(
            f"There are two conditions: given={str(given)!r}, and one inside P( | ). "
            "Give one of them, joined with & where both are meant."
        )
    return Query(query.feature, condition.feature)


def _resolved(statement: object, names: Sequence[str]) -> Query:
    if isinstance(statement, str):
        return parse(statement, names)
    query = statement if isinstance(statement, Query) else Query(as_feature(statement))
    check_names(query.feature, names)
    if query.given is not None:
        check_names(query.given, names)
    return query


def check_names(feature: Feature, names: Sequence[str]) -> None:
    """Raise an error that suggests the nearest name if a variable of the statement is not there."""
    for name in sorted(feature.variables):
        position_of(name, names)


def _within_bars(feature: Feature) -> str:
    return f"({feature})" if isinstance(feature, Or | DSeparated) else str(feature)


class _Reader:
    """The tokens of a text, and how far they have been read."""

    def __init__(self, text: str, names: Sequence[str]) -> None:
        self.text = text
        self.names = names
        self.tokens = tokens_of(text)
        self.place = 0
        self.depth = 0
        # Directly inside P( ), where a bar comes before the condition.
        self.bar_is_given = False

    # Tokens

    @property
    def next(self) -> Token:
        return self.tokens[self.place]

    def at(self, *symbols: str) -> bool:
        return self.next.kind == "symbol" and self.next.value in symbols

    def at_call(self) -> bool:
        """Whether a word with an opening bracket behind it comes next."""
        following = self.tokens[min(self.place + 1, len(self.tokens) - 1)]
        return self.next.kind == "name" and following.kind == "symbol" and following.value == "("

    def step(self) -> Token:
        token = self.next
        self.place += 1
        return token

    def take(self, symbol: str, *, where: str) -> Token:
        if not self.at(symbol):
            raise self.error(self.next, f"Expected {symbol!r} {where}, but {self.next}.")
        return self.step()

    def name(self, what: str = "a variable") -> str:
        if self.next.kind not in ("name", "quoted"):
            raise self.error(self.next, f"Expected {what}, but {self.next}.")
        token = self.step()
        self.build(token, position_of, token.value, self.names)
        return token.value

    def number(self, what: str) -> int:
        token = self.step()
        digits = token.value
        if token.kind != "name" or not (digits.isascii() and digits.isdecimal()) or len(digits) > _MOST_DIGITS:
            raise self.error(token, f"Expected {what}, a whole number, but {token}.")
        return int(digits)

    def error(self, token: Token, message: str) -> InputError:
        return error_at(self.text, token.position, message)

    def build(self, token: Token, make: Callable[..., Made], *arguments: Any) -> Made:
        """Call `make`, and show the place of `token` if it refuses."""
        try:
            return make(*arguments)
        except InputError as error:
            raise self.error(token, str(error)) from None

    # The grammar

    def query(self) -> Query:
        if self.next.kind == "end":
            raise self.error(self.next, "The text is empty. Write a statement such as A -> B or A ~> B.")
        if self.at_call() and self.next.value == "P":
            query = self.conditional()
            if self.next.kind != "end":
                raise self.error(self.next, f"P( ) goes around the whole text, so it should end here, but {self.next}.")
            return query
        feature = self.disjunction()
        if self.at(")"):
            raise self.error(self.next, "This bracket closes none that is open.")
        if self.next.kind != "end":
            raise self.error(self.next, f"Expected '&', '|' or the end, but {self.next}.")
        return Query(feature)

    def conditional(self) -> Query:
        self.step()
        opening = self.step()
        self.bar_is_given = True
        feature = self.conjunction()
        given = None
        if self.at("|"):
            self.step()
            given = self.conjunction()
        if self.at("|"):
            raise self.error(
                self.next,
                "Inside P( ) a single bar comes before the condition. To say 'or', put it in brackets: P((f | g) | h).",
            )
        self.close(opening, "'&', '|' or ')'" if given is None else "'&' or ')'")
        return Query(feature, given)

    def close(self, opening: Token, expected: str) -> None:
        if self.next.kind == "end":
            raise self.error(opening, "This bracket is never closed.")
        if not self.at(")"):
            raise self.error(self.next, f"Expected {expected}, but {self.next}.")
        self.step()

    def disjunction(self) -> Feature:
        parts = [self.conjunction()]
        while self.at("|"):
            self.step()
            parts.append(self.conjunction())
        return Or(tuple(parts)) if len(parts) > 1 else parts[0]

    def conjunction(self) -> Feature:
        parts = [self.negation()]
        while self.at("&"):
            self.step()
            parts.append(self.negation())
        return And(tuple(parts)) if len(parts) > 1 else parts[0]

    def negation(self) -> Feature:
        if not self.at("!", "("):
            return self.statement()
        self.depth += 1
        if self.depth > _DEEPEST:
            raise self.error(self.next, f"Brackets and '!' are nested more than {_DEEPEST} deep. Write it flatter.")
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
        if self.at("{"):
            start = self.next
            return self.separation(start, self.group())
        if self.at_call():
            return self.call()
        start = self.next
        name = self.name("a statement such as A -> B")
        if self.at(*_ARROWS):
            return self.chain(start, name)
        if self.next.kind == "name" and self.next.value == "in":
            return self.membership(start, name)
        if self.at("_||_"):
            return self.separation(start, frozenset((name,)))
        raise self.error(self.next, f"Expected ->, <-, ~>, <~, --, _||_ or 'in' after {name!r}, but {self.next}.")

    def chain(self, start: Token, name: str) -> Feature:
        places, names = [start], [name]
        arrows: list[Token] = []
        limits: list[int | None] = []
        while self.at(*_ARROWS):
            arrows.append(self.step())
            limits.append(self.limit() if arrows[-1].value in ("~>", "<~") else None)
            places.append(self.next)
            names.append(self.name())
        if [arrow.value for arrow in arrows] == ["->", "<-"]:
            return self.build(places[2], VStructure, *names)
        steps: list[Feature] = []
        for place, arrow in enumerate(arrows):
            if _direction(arrow) != _direction(arrows[0]):
                raise self.error(
                    arrow,
                    "The steps of a chain must point the same way; only A -> C <- B, a v-structure, "
                    "does not. Write the steps apart, with & between them.",
                )
            ends = names[place : place + 2]
            steps.append(self.build(places[place + 1], _step, arrow.value, ends, limits[place]))
        return And(tuple(steps)) if len(steps) > 1 else steps[0]

    def limit(self) -> int | None:
        if not self.at("{"):
            return None
        self.step()
        token = self.next
        longest = self.number("the largest number of edges")
        if longest < 1:
            raise self.error(token, "A path has at least 1 edge.")
        self.take("}", where="after the largest number of edges")
        return longest

    def membership(self, start: Token, member: str) -> Feature:
        self.step()
        which = self.next
        if not self.at_call() or which.value not in _MEMBERSHIPS:
            raise self.error(which, f"Expected pa( ), an( ), de( ) or mb( ) after 'in', but {which}.")
        return self.build(start, _MEMBERSHIPS[which.value], member, self.argument())

    def argument(self) -> str:
        """The variable in the brackets behind a word."""
        self.step()
        self.step()
        name = self.name()
        self.take(")", where="after the variable")
        return name

    def call(self) -> Feature:
        start = self.next
        word = start.value
        if word == "P":
            raise self.error(start, "P( ) can only go around the whole text.")
        if word == "mb":
            raise self.error(start, "A Markov blanket is asked about one variable at a time: A in mb(B).")
        if word != "pos" and word not in _SETS:
            raise self.error(start, f"There is no {word}( ). There are pa( ), an( ), de( ), mb( ) and pos( ).")
        name = self.argument()
        if word == "pos":
            return self.position(start, name)
        self.take("=", where=f"after {word}( )")
        if not self.at("{"):
            raise self.error(self.next, f"Expected a set such as {{A, B}} or {{}}, but {self.next}.")
        return self.build(start, _SETS[word], name, self.group(empty=True))

    def position(self, start: Token, name: str) -> Feature:
        if not self.at(*COMPARISONS):
            raise self.error(self.next, f"Expected one of {', '.join(COMPARISONS)} after pos( ), but {self.next}.")
        comparison = self.step().value
        return self.build(start, TopologicalPosition, name, comparison, self.number("a number of edges"))

    def group(self, *, empty: bool = False) -> frozenset[str]:
        """A variable, or several in braces."""
        if not self.at("{"):
            return frozenset((self.name("a variable or a set such as {A, B}"),))
        opening = self.step()
        members = [] if empty and self.at("}") else self.listed()
        if self.next.kind == "end":
            raise self.error(opening, "This brace is never closed.")
        self.take("}", where="or ',' after a variable of a set")
        return frozenset(members)

    def listed(self) -> list[str]:
        members = [self.name()]
        while self.at(","):
            self.step()
            members.append(self.name())
        return members

    def separation(self, start: Token, first: frozenset[str]) -> Feature:
        self.take("_||_", where="after a set")
        second = self.group()
        given: frozenset[str] = frozenset()
        if self.at("|"):
            bar = self.step()
            if self.at("!", "(") or self.at_call():
                raise self.bar_error(bar)
            given = self.group(empty=True) if self.at("{") else frozenset(self.listed())
            if self.at("|") and not self.bar_is_given:
                raise self.bar_error(self.next)
            if self.at(*_ARROWS, "_||_") or (self.next.kind, self.next.value) == ("name", "in"):
                raise self.bar_error(bar)
        return self.build(start, DSeparated, first, second, given)

    def bar_error(self, bar: Token) -> InputError:
        return self.error(
            bar,
            "After a d-separation a bar comes before the variables conditioned on, as in A _||_ B | C, D. "
            "To say something else with it, put the d-separation in brackets: (A _||_ B) | C -> D.",
        )


def _direction(arrow: Token) -> str:
    return {"->": "right", "~>": "right", "<-": "left", "<~": "left", "--": "none"}[arrow.value]


def _step(arrow: str, ends: list[str], longest: int | None) -> Feature:
    left, right = ends
    match arrow:
        case "->":
            return Edge(left, right)
        case "<-":
            return Edge(right, left)
        case "~>":
            return Path(left, right, longest)
        case "<~":
            return Path(right, left, longest)
        case _:
            return Adjacent(left, right)
