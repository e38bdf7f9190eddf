"""`A _||_ B | C, D`: two sets of variables are d-separated by a third.

Reachability in the moral graph of the ancestors (Lauritzen, Dawid, Larsen & Leimer 1990). A node and its parents are a
clique there, so one step joins a whole family to what is reached.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from dagpost._tools.kernels import kernel
from dagpost.errors import InputError
from dagpost.families.graph_lists import GraphLists
from dagpost.features.blocks import Block, Flags
from dagpost.features.feature import And, Feature, Not, refuse_among
from dagpost.features.forms import Form, Infix
from dagpost.features.names import braced, names_of, quoted
from dagpost.features.reader import Reader
from dagpost.features.statements.markov_blanket import InMarkovBlanket
from dagpost.features.tokens import Token


@dataclass(frozen=True)
class DSeparated(Feature):
    """`A _||_ B | C, D`: C and D d-separate A from B. Both sides may be sets: `{A, B} _||_ C`."""

    first: frozenset[str]
    second: frozenset[str]
    given: frozenset[str] = frozenset()

    name = "d_separated"
    projects = True
    takes_bar = True

    def __post_init__(self) -> None:
        for side in ("first", "second", "given"):
            object.__setattr__(self, side, names_of(getattr(self, side)))
        if not self.first or not self.second:
            raise InputError("A d-separation needs at least one variable on each side; one side is empty.")
        twice = (self.first & self.second) | (self.given & (self.first | self.second))
        if twice:
            raise InputError(
                f"The variable {min(twice)!r} appears twice in the d-separation {str(self)!r}. "
                "The two sides and the variables conditioned on must have no variable in common."
            )

    def __str__(self) -> str:
        given = f" | {', '.join(map(quoted, sorted(self.given)))}" if self.given else ""
        return f"{_side(self.first)} _||_ {_side(self.second)}{given}"

    @classmethod
    def forms(cls) -> tuple[Form, ...]:
        return (Infix("_||_", _read, ("A _||_ B | C, D", "{A, B} _||_ C")),)

    def conditional(self, exogenous: frozenset[str]) -> Feature:
        """Given all exogenous columns that it does not name itself: how these depend on each other is not modelled."""
        if self.first & exogenous and self.second & exogenous:
            refuse_among(DSeparated(self.first & exogenous, self.second & exogenous), exogenous)
        return DSeparated(self.first, self.second, self.given | (exogenous - self.first - self.second))

    def holds_in(self, block: Block) -> Flags:
        result = np.empty(block.count, dtype=np.bool_)
        sides = (self.first, self.second, self.given)
        first, second, given = (np.array([name in side for name in block.names]) for side in sides)
        _separate(block.lists, first, second, given, result)
        return result

    def simpler(self, names: Sequence[str]) -> Feature:
        if self.variables != frozenset(names):
            return self
        # Given all other variables, two are d-separated exactly when neither is in the other's Markov blanket.
        apart = [Not(InMarkovBlanket(*pair)) for pair in product(sorted(self.first), sorted(self.second))]
        return And(tuple(apart)) if len(apart) > 1 else apart[0]


def d_separated(first: str | Iterable[str], second: str | Iterable[str], given: str | Iterable[str] = ()) -> DSeparated:
    """The statement that `given` d-separates one variable (or set) from another.

    Pearl (1988), Probabilistic Reasoning in Intelligent Systems, section 3.3.

    >>> print(d_separated("Smoking", ["Family", "Pressure"], given="Proteins"))
    Smoking _||_ {Family, Pressure} | Proteins
    """
    return DSeparated(names_of(first), names_of(second), names_of(given))


def _side(names: frozenset[str]) -> str:
    return quoted(next(iter(names))) if len(names) == 1 else braced(names)


def _read(reader: Reader, start: Token, first: frozenset[str]) -> DSeparated:
    second = reader.group()
    given: frozenset[str] = frozenset()
    if reader.at("|"):
        bar = reader.step()
        if reader.at("!", "(") or reader.at_call():
            raise _bar_error(reader, bar)
        given = reader.group(empty=True) if reader.at("{") else frozenset(reader.listed())
        if reader.at("|") and not reader.bar_is_given:
            raise _bar_error(reader, reader.next)
        if reader.at_relation():
            raise _bar_error(reader, bar)
    return reader.build(start, DSeparated, first, second, given)


def _bar_error(reader: Reader, bar: Token) -> InputError:
    return reader.error(
        bar,
        "After a d-separation, a bar introduces the variables to condition on, as in A _||_ B | C, D. "
        "If it means something else, put the d-separation in brackets: (A _||_ B) | C -> D.",
    )


@kernel
def _separate(lists: GraphLists, first: Flags, second: Flags, given: Flags, result: Flags) -> None:
    """Whether `given` separates `first` from `second` in the moral graph of all three and their ancestors."""
    nodes = len(first)
    relevant = np.empty(nodes, dtype=np.bool_)
    reached = np.empty(nodes, dtype=np.bool_)
    for graph in range(len(result)):
        for node in range(nodes):
            relevant[node] = first[node] or second[node] or given[node]
            reached[node] = first[node]
        for place in range(lists.ordered[graph] - 1, -1, -1):
            node = lists.order[graph, place]
            if relevant[node]:
                for edge in range(lists.starts[graph, node], lists.starts[graph, node + 1]):
                    relevant[lists.members[edge]] = True
        changed = True
        while changed:
            changed = False
            for place in range(lists.ordered[graph]):
                node = lists.order[graph, place]
                if not relevant[node]:
                    continue
                start, stop = lists.starts[graph, node], lists.starts[graph, node + 1]
                joins = reached[node]
                for edge in range(start, stop):
                    joins |= reached[lists.members[edge]]
                if not joins:
                    continue
                if not given[node] and not reached[node]:
                    reached[node] = changed = True
                for edge in range(start, stop):
                    parent = lists.members[edge]
                    if not given[parent] and not reached[parent]:
                        reached[parent] = changed = True
        apart = True
        for node in range(nodes):
            apart &= not (reached[node] and second[node])
        result[graph] = apart
