"""What every statement about a DAG can do, and how statements are joined: `edge("A", "B") & ~path("B", "C")`.

A statement is immutable, hashable and names its variables by their names. `str` writes it in the language of
`dagpost.features.language`, and parsing that text gives an equal object back (except for Python functions). A slip that
no DAG could ever satisfy, such as an edge from a variable to itself, is refused when the statement is made.

`And`, `Or` and `Not` are here; every other statement has a file in `statements/`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, cast

import numpy as np

from dagpost._tools.spelling import bare
from dagpost._tools.text import position_of, shown
from dagpost.errors import InputError
from dagpost.features import reductions
from dagpost.features.reductions import Condition, Conditions, FamilyCondition, OneNodeReach
from dagpost.features.registry import STATEMENTS

if TYPE_CHECKING:
    import networkx as nx

    from dagpost.features.blocks import Block, Flags
    from dagpost.features.forms import Form

#: What a user may ask of a graph.
Function = Callable[["nx.DiGraph[str]"], bool]


class Feature(ABC):
    """A yes/no statement about a DAG. Join statements with `&`, `|` and `~`."""

    #: What the registry calls it. A subclass with a name registers itself.
    name: ClassVar[str]
    #: Whether its text may go on behind a bar, so that inside other texts it is put in brackets.
    takes_bar: ClassVar[bool] = False
    #: Whether its conditions on parents are the same for all variables that it does not name, and see of these only
    #: whether any is a parent (projection.py). A condition that counts parents does not.
    projects: bool = False
    #: Whether it asks a function of the user, which is called by one thread only.
    calls_back: bool = False

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "name" in cls.__dict__:
            STATEMENTS.add(cls)

    @abstractmethod
    def __str__(self) -> str: ...

    @classmethod
    def forms(cls) -> tuple[Form, ...]:
        """How it is written."""
        return ()

    @classmethod
    def from_python(cls, thing: object) -> Feature | None:
        """The statement that an object of Python stands for; None where it is not one of this kind."""
        del thing
        return None

    def holds_in(self, block: Block) -> Flags:
        """In which graphs of a block it holds; by default, those that meet its conditions on parents, if it has any."""
        if (simple := self.simpler(block.names)) is not self:
            return block.holds(simple)
        single = self.family_condition(block.names)
        if single is not None:
            node, condition = single
            return condition(block.parents[node])
        for untrue in (False, True):
            ways = self.conjunctions(block.names, untrue=untrue)
            if ways is not None:
                met = [[condition(block.parents[node]) for node, condition in way.items()] for way in ways]
                held: Flags = np.logical_or.reduce([np.logical_and.reduce(way) for way in met])
                return ~held if untrue else held
        raise InputError(f"The statement {type(self).__name__} has no method 'holds_in'.")

    def simpler(self, names: Sequence[str]) -> Feature:  # noqa: ARG002
        """An equivalent statement about these variables that may have an exact answer, if there is one."""
        return self

    def family_condition(self, names: Sequence[str]) -> FamilyCondition | None:  # noqa: ARG002
        """The condition on the parents of one node that it is equivalent to, if it is."""
        return None

    def conjunctions(self, names: Sequence[str], *, untrue: bool) -> list[Conditions] | None:  # noqa: ARG002
        """Its ways to be true, or `untrue`, as conjunctions of conditions on the parents of nodes, if it has any.

        One of both is enough. No two of them may hold in one graph.
        """
        return None

    def reaches(self, names: Sequence[str]) -> list[OneNodeReach]:  # noqa: ARG002
        """All conditions on the descendants or the ancestors of one node that it is equivalent to."""
        return []

    def conditional(self, exogenous: frozenset[str]) -> Feature:
        """The statement as it reads where some columns are not modelled; refused where it is about these alone."""
        refuse_among(self, exogenous)
        return self

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
        # `edge(...) and path(...)` would silently be the path alone.
        raise InputError(
            f"The statement {str(self)!r} is neither true nor false by itself. "
            "Join statements with &, | and ~ rather than 'and', 'or' and 'not'."
        )


@dataclass(frozen=True)
class _Joined(Feature):
    """Two or more statements; nested ones of the same kind are put in one row."""

    parts: tuple[Feature, ...]

    symbol: ClassVar[str]
    join: ClassVar[np.ufunc]

    def __post_init__(self) -> None:
        parts: list[Feature] = []
        for part in map(as_feature, self.parts):
            parts.extend(part.parts if isinstance(part, _Joined) and type(part) is type(self) else [part])
        if len(parts) < 2:
            raise InputError(f"{type(self).__name__} joins two or more statements. Got {len(parts)}.")
        object.__setattr__(self, "parts", tuple(parts))

    def conditional(self, exogenous: frozenset[str]) -> Feature:
        return type(self)(tuple(part.conditional(exogenous) for part in self.parts))

    def __str__(self) -> str:
        return f" {self.symbol} ".join(bracketed(part, _Joined) for part in self.parts)

    @property
    def projects(self) -> bool:  # type: ignore[override]
        return all(part.projects for part in self.parts)

    @property
    def calls_back(self) -> bool:  # type: ignore[override]
        return any(part.calls_back for part in self.parts)

    def holds_in(self, block: Block) -> Flags:
        result: Flags = self.join.reduce([block.holds(part) for part in self.parts])
        return result

    def family_condition(self, names: Sequence[str]) -> FamilyCondition | None:
        found = [reductions.family_condition(part, names) for part in self.parts]
        known = [one for one in found if one is not None]
        if len(known) < len(found) or len({node for node, _ in known}) > 1:
            return None
        return known[0][0], self._joined([condition for _, condition in known])

    def reaches(self, names: Sequence[str]) -> list[OneNodeReach]:
        each = [
            {(reach.node, reach.direction): reach.condition for reach in reductions.reaches(part, names)}
            for part in self.parts
        ]
        return [
            reductions.OneNodeReach(*key, self._joined([one[key] for one in each]))
            for key in each[0]
            if all(key in one for one in each)
        ]

    def _joined(self, conditions: Sequence[Condition]) -> Condition:
        return reductions.joined(self.join, conditions)


class And(_Joined):
    """`f & g`: all of the parts hold."""

    symbol = "&"
    join = np.logical_and


class Or(_Joined):
    """`f | g`: at least one of the parts holds."""

    symbol = "|"
    join = np.logical_or


@dataclass(frozen=True)
class Not(Feature):
    """`!f`: the part does not hold."""

    part: Feature

    def __post_init__(self) -> None:
        object.__setattr__(self, "part", as_feature(self.part))

    def conditional(self, exogenous: frozenset[str]) -> Feature:
        """Not the part as it reads."""
        return Not(self.part.conditional(exogenous))

    def __invert__(self) -> Feature:
        return self.part

    def __str__(self) -> str:
        return f"!{self.part}" if isinstance(self.part, Not) else f"!({self.part})"

    @property
    def projects(self) -> bool:  # type: ignore[override]
        """Whether the part does."""
        return self.part.projects

    @property
    def calls_back(self) -> bool:  # type: ignore[override]
        """Whether the part does."""
        return self.part.calls_back

    def holds_in(self, block: Block) -> Flags:
        """The graphs in which the part does not hold."""
        return ~block.holds(self.part)

    def family_condition(self, names: Sequence[str]) -> FamilyCondition | None:
        """The condition of the part, negated."""
        inner = reductions.family_condition(self.part, names)
        return inner and (inner[0], reductions.negated(inner[1]))

    def reaches(self, names: Sequence[str]) -> list[OneNodeReach]:
        """The conditions of the part, negated."""
        return [
            reductions.OneNodeReach(reach.node, reach.direction, reductions.negated(reach.condition))
            for reach in reductions.reaches(self.part, names)
        ]


def as_feature(thing: object) -> Feature:
    """A statement as it is, and a Python function as the statement that asks it."""
    if isinstance(thing, Feature):
        return thing
    made = (kind.from_python(thing) for kind in STATEMENTS.classes().values())
    found = next((feature for feature in made if feature is not None), None)
    if found is not None:
        return found
    raise InputError(
        f"A statement about a DAG must be an object such as edge('A', 'B') or a function. Got {shown(thing)}."
    )


def check_variables(feature: Feature, names: Sequence[str]) -> None:
    """Refuse a statement about a variable that is not there, and suggest the nearest name."""
    for name in sorted(feature.variables):
        position_of(name, names)


def refuse_among(feature: Feature, exogenous: frozenset[str]) -> None:
    """Refuse a statement that relates exogenous columns to each other and to nothing else."""
    named = feature.variables
    if len(named) > 1 and named <= exogenous:
        columns = " and ".join(repr(name) for name in sorted(named))
        raise InputError(
            f"The statement {str(feature)!r} is about {columns}, which are exogenous: the model is conditional on them "
            "and says nothing about how they depend on each other. Ask about a column that is modelled, or take them "
            f"out of {bare('exogenous')} and fit again."
        )


def bracketed(part: Feature, *kinds: type[Feature]) -> str:
    """The text of a statement, in brackets if it is of one of these kinds or its own bar could be misread as "or"."""
    return f"({part})" if part.takes_bar or isinstance(part, kinds) else str(part)


def _can_join(thing: object) -> bool:
    return isinstance(thing, Feature) or callable(thing)


def _variables_in(value: object) -> frozenset[str]:
    if isinstance(value, str):
        return frozenset((value,))
    if isinstance(value, Feature):
        return value.variables
    return frozenset().union(*map(_variables_in, value)) if isinstance(value, tuple | frozenset) else frozenset()
