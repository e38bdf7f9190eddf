"""Statements about a DAG, as Python objects: `path("Smoking", "Pressure") & ~edge("Smoking", "Family")`.

Every object is immutable, hashable and names its variables by their names. `str` writes it in the language of
`dagpost.features.language`, and parsing that text gives an equal object back (all but `Custom`, which holds
Python code). A statement that no DAG could ever satisfy because of a slip, such as an edge from a variable to
itself, is refused when it is made.

Users make them with the functions of `dagpost.features.constructors` (`edge`, `path`, ...).
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, fields
from operator import index
from typing import TYPE_CHECKING, Any, NoReturn, cast

from dagpost.errors import InputError

if TYPE_CHECKING:
    import networkx as nx

    Function = Callable[[nx.DiGraph[str]], bool]

#: Words with a meaning of their own in the language. As names of variables they are written in quotes.
RESERVED = frozenset({"P", "an", "de", "in", "mb", "pa", "pos"})
COMPARISONS = ("=", "<", "<=", ">", ">=")

_PLAIN = re.compile(r"\w+")
_ESCAPES = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n", "\r": r"\r", "\t": r"\t"})


class Feature(ABC):
    """A yes/no statement about a DAG. Combine with `&`, `|` and `~`."""

    @abstractmethod
    def __str__(self) -> str: ...

    @property
    def variables(self) -> frozenset[str]:
        """The variables that the statement names."""
        named = [entry.name for entry in fields(cast("Any", self)) if entry.metadata.get("named", True)]
        return frozenset().union(*(_variables_in(getattr(self, name)) for name in named))

    def __and__(self, other: Feature | Function) -> And:
        return And((self, as_feature(other))) if _can_join(other) else NotImplemented

    def __rand__(self, other: Function) -> And:
        return And((as_feature(other), self)) if _can_join(other) else NotImplemented

    def __or__(self, other: Feature | Function) -> Or:
        return Or((self, as_feature(other))) if _can_join(other) else NotImplemented

    def __ror__(self, other: Function) -> Or:
        return Or((as_feature(other), self)) if _can_join(other) else NotImplemented

    def __invert__(self) -> Feature:
        return Not(self)

    def __bool__(self) -> NoReturn:
        # `edge(...) and path(...)` would quietly be the path alone.
        raise InputError(
            f"The statement {str(self)!r} is neither true nor false by itself. "
            "Join statements with &, | and ~ rather than 'and', 'or' and 'not'."
        )


@dataclass(frozen=True)
class Edge(Feature):
    """`A -> B`: A is a parent of B."""

    parent: str
    child: str

    def __post_init__(self) -> None:
        _check_different(self, self.parent, self.child)

    def __str__(self) -> str:
        return f"{quoted(self.parent)} -> {quoted(self.child)}"


@dataclass(frozen=True)
class Path(Feature):
    """`A ~> B`: a directed path leads from A to B; `A ~>{2} B`: one of at most 2 edges."""

    source: str
    target: str
    longest: int | None = None

    def __post_init__(self) -> None:
        _check_different(self, self.source, self.target)
        if self.longest is not None:
            object.__setattr__(self, "longest", _whole_number("longest", self.longest, 1))

    def __str__(self) -> str:
        limit = "" if self.longest is None else f"{{{self.longest}}}"
        return f"{quoted(self.source)} ~>{limit} {quoted(self.target)}"


@dataclass(frozen=True)
class Adjacent(Feature):
    """`A -- B`: an edge joins A and B, in either direction."""

    first: str
    second: str

    def __post_init__(self) -> None:
        _check_different(self, self.first, self.second)

    def __str__(self) -> str:
        return f"{quoted(self.first)} -- {quoted(self.second)}"


@dataclass(frozen=True)
class VStructure(Feature):
    """`A -> C <- B`: A and B are parents of C and are not adjacent themselves."""

    first: str
    collider: str
    second: str

    def __post_init__(self) -> None:
        _check_different(self, self.first, self.collider, self.second)

    def __str__(self) -> str:
        return f"{quoted(self.first)} -> {quoted(self.collider)} <- {quoted(self.second)}"


@dataclass(frozen=True)
class ParentSet(Feature):
    """`pa(B) = {A, C}`: the parents of B are exactly these."""

    child: str
    parents: frozenset[str]

    def __post_init__(self) -> None:
        _store_others(self, "parents", self.child)

    def __str__(self) -> str:
        return f"pa({quoted(self.child)}) = {_braced(self.parents)}"


@dataclass(frozen=True)
class AncestorSet(Feature):
    """`an(B) = {A, C}`: directed paths lead to B from exactly these."""

    node: str
    members: frozenset[str]

    def __post_init__(self) -> None:
        _store_others(self, "members", self.node)

    def __str__(self) -> str:
        return f"an({quoted(self.node)}) = {_braced(self.members)}"


@dataclass(frozen=True)
class DescendantSet(Feature):
    """`de(A) = {B, C}`: directed paths lead from A to exactly these."""

    node: str
    members: frozenset[str]

    def __post_init__(self) -> None:
        _store_others(self, "members", self.node)

    def __str__(self) -> str:
        return f"de({quoted(self.node)}) = {_braced(self.members)}"


@dataclass(frozen=True)
class InMarkovBlanket(Feature):
    """`A in mb(B)`: A is a parent of B, a child of B, or another parent of a child of B."""

    member: str
    of: str

    def __post_init__(self) -> None:
        _check_different(self, self.member, self.of)

    def __str__(self) -> str:
        return f"{quoted(self.member)} in mb({quoted(self.of)})"


@dataclass(frozen=True)
class DSeparated(Feature):
    """`A _||_ B | C, D`: C and D d-separate A from B. Both sides may be sets: `{A, B} _||_ C`."""

    first: frozenset[str]
    second: frozenset[str]
    given: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        for side in ("first", "second", "given"):
            object.__setattr__(self, side, names_of(getattr(self, side)))
        if not self.first or not self.second:
            raise InputError("A d-separation needs at least one variable on both sides; one side is empty.")
        twice = (self.first & self.second) | (self.given & (self.first | self.second))
        if twice:
            raise InputError(
                f"The variable {min(twice)!r} stands twice in the d-separation {str(self)!r}. "
                "The two sides and what is conditioned on must have no variable in common."
            )

    def __str__(self) -> str:
        given = f" | {', '.join(map(quoted, sorted(self.given)))}" if self.given else ""
        return f"{_side(self.first)} _||_ {_side(self.second)}{given}"


@dataclass(frozen=True)
class TopologicalPosition(Feature):
    """`pos(A) <= 1`: the longest directed path that ends in A has at most one edge (0: A has no parents)."""

    node: str
    comparison: str = field(metadata={"named": False})
    value: int

    def __post_init__(self) -> None:
        _check_names(self.node)
        if self.comparison not in COMPARISONS:
            raise InputError(
                f"The comparison of a topological position must be one of {', '.join(COMPARISONS)}. "
                f"Got {self.comparison!r} instead."
            )
        object.__setattr__(self, "value", _whole_number("value", self.value, 0))

    def __str__(self) -> str:
        return f"pos({quoted(self.node)}) {self.comparison} {self.value}"


@dataclass(frozen=True)
class Custom(Feature):
    """Any Python function of a `networkx.DiGraph`, whose nodes are the variable names, that says yes or no.

    The graph is frozen; the function is called once for each distinct DAG of a block of samples.
    """

    function: Function

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise InputError(f"A custom statement needs a function of a networkx.DiGraph. Got {self.function!r}.")

    def __str__(self) -> str:
        return f"{getattr(self.function, '__name__', type(self.function).__name__)}(dag)"


@dataclass(frozen=True)
class And(Feature):
    """`f & g`: all of the parts hold."""

    parts: tuple[Feature, ...]

    def __post_init__(self) -> None:
        _store_parts(self)

    def __str__(self) -> str:
        return " & ".join(map(_bracketed, self.parts))


@dataclass(frozen=True)
class Or(Feature):
    """`f | g`: at least one of the parts holds."""

    parts: tuple[Feature, ...]

    def __post_init__(self) -> None:
        _store_parts(self)

    def __str__(self) -> str:
        return " | ".join(map(_bracketed, self.parts))


@dataclass(frozen=True)
class Not(Feature):
    """`!f`: the part does not hold."""

    part: Feature

    def __post_init__(self) -> None:
        object.__setattr__(self, "part", as_feature(self.part))

    def __invert__(self) -> Feature:
        return self.part

    def __str__(self) -> str:
        return f"!{self.part}" if isinstance(self.part, Not) else f"!({self.part})"


def as_feature(thing: object) -> Feature:
    """A statement as it is, and a Python function as a `Custom` statement."""
    if isinstance(thing, Feature):
        return thing
    if callable(thing):
        return Custom(thing)
    raise InputError(f"A statement about a DAG must be an object such as edge('A', 'B') or a function. Got {thing!r}.")


# How names are written


def quoted(name: str) -> str:
    """A name as it stands in the language: in quotes unless it is a plain word.

    >>> quoted("Smoking"), quoted("M. Work"), quoted("in")
    ('Smoking', '"M. Work"', '"in"')
    """
    if _PLAIN.fullmatch(name) and name not in RESERVED:
        return name
    return f'"{name.translate(_ESCAPES)}"'


def _braced(names: Iterable[str]) -> str:
    return f"{{{', '.join(map(quoted, sorted(names)))}}}"


def _side(names: frozenset[str]) -> str:
    return quoted(next(iter(names))) if len(names) == 1 else _braced(names)


def _bracketed(part: Feature) -> str:
    # A d-separation ends in a bar of its own, which must not be taken for "or".
    return f"({part})" if isinstance(part, And | Or | DSeparated) else str(part)


def _variables_in(value: object) -> frozenset[str]:
    if isinstance(value, str):
        return frozenset((value,))
    if isinstance(value, Feature):
        return value.variables
    return frozenset().union(*map(_variables_in, value)) if isinstance(value, tuple | frozenset) else frozenset()


# Checks


def _can_join(thing: object) -> bool:
    return isinstance(thing, Feature) or callable(thing)


def _check_names(*names: object) -> None:
    for name in names:
        if not isinstance(name, str):
            raise InputError(f"A variable is called by its name, a text. Got {name!r} ({type(name).__name__}).")


def _check_different(feature: Feature, *names: str) -> None:
    _check_names(*names)
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(
            f"The statement {str(feature)!r} relates {twice!r} to itself, which no DAG allows. "
            "Name different variables."
        )


def names_of(names: str | Iterable[str]) -> frozenset[str]:
    # A lone text is one name; read as a collection it would fall into letters.
    if isinstance(names, str):
        return frozenset((names,))
    if not isinstance(names, Iterable):
        raise InputError(f"Expected a variable name or a collection of them. Got {names!r} instead.")
    members = tuple(names)
    _check_names(*members)
    return frozenset(members)


def _store_others(feature: Any, attribute: str, node: str) -> None:
    """Keep a set of names that may not hold the node that it is about."""
    _check_names(node)
    members = names_of(getattr(feature, attribute))
    object.__setattr__(feature, attribute, members)
    if node in members:
        raise InputError(
            f"The statement {str(feature)!r} relates {node!r} to itself, which no DAG allows. "
            f"Leave {node!r} out of the set."
        )


def _store_parts(feature: And | Or) -> None:
    """Keep the parts, with those of nested statements of the same kind in their place."""
    parts: list[Feature] = []
    for part in map(as_feature, feature.parts):
        parts.extend(part.parts if isinstance(part, And | Or) and type(part) is type(feature) else [part])
    if len(parts) < 2:
        raise InputError(f"{type(feature).__name__} joins two statements or more. Got {len(parts)}.")
    object.__setattr__(feature, "parts", tuple(parts))


def _whole_number(what: str, value: object, least: int) -> int:
    try:
        number = index(value)  # type: ignore[arg-type]
    except TypeError:
        number = least - 1
    if isinstance(value, bool) or number < least:
        raise InputError(f"The '{what}' of a statement must be a whole number of at least {least}. Got {value!r}.")
    return number
