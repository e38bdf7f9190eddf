"""The functions that make statements: what users call, and what `str` of a statement stands for."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from dagpost.features.predicates import (
    Adjacent,
    AncestorSet,
    Custom,
    DescendantSet,
    DSeparated,
    Edge,
    InMarkovBlanket,
    ParentSet,
    Path,
    TopologicalPosition,
    VStructure,
    names_of,
)

if TYPE_CHECKING:
    from dagpost.features.predicates import Function


def edge(parent: str, child: str) -> Edge:
    """The statement that `parent` is a parent of `child`.

    >>> print(edge("Smoking", "M. Work") & ~edge("Family", "Smoking"))
    Smoking -> "M. Work" & !(Family -> Smoking)
    """
    return Edge(parent, child)


def path(source: str, target: str, longest: int | None = None) -> Path:
    """The statement that a directed path, of at most `longest` edges if that is given, leads to `target`.

    >>> print(path("Smoking", "Pressure") | path("Smoking", "Proteins", longest=2))
    Smoking ~> Pressure | Smoking ~>{2} Proteins
    """
    return Path(source, target, longest)


def adjacent(first: str, second: str) -> Adjacent:
    """The statement that an edge joins two variables, in either direction.

    >>> print(adjacent("Smoking", "Pressure"))
    Smoking -- Pressure
    """
    return Adjacent(first, second)


def v_structure(first: str, collider: str, second: str) -> VStructure:
    """The statement that two variables are parents of `collider` and not adjacent to each other.

    Without the last condition it is `edge(first, collider) & edge(second, collider)`.

    >>> print(v_structure("Smoking", "Pressure", "Family"))
    Smoking -> Pressure <- Family
    """
    return VStructure(first, collider, second)


def parent_set(child: str, parents: str | Iterable[str]) -> ParentSet:
    """The statement that `parents` are the parents of `child`, no more and no fewer.

    >>> print(parent_set("Pressure", ["Smoking", "Family"]))
    pa(Pressure) = {Family, Smoking}
    """
    return ParentSet(child, names_of(parents))


def ancestor_set(node: str, members: str | Iterable[str]) -> AncestorSet:
    """The statement that directed paths lead to `node` from exactly these variables.

    >>> print(ancestor_set("Pressure", []))
    an(Pressure) = {}
    """
    return AncestorSet(node, names_of(members))


def descendant_set(node: str, members: str | Iterable[str]) -> DescendantSet:
    """The statement that directed paths lead from `node` to exactly these variables.

    >>> print(descendant_set("Smoking", ["Pressure"]))
    de(Smoking) = {Pressure}
    """
    return DescendantSet(node, names_of(members))


def in_markov_blanket(member: str, of: str) -> InMarkovBlanket:
    """The statement that `member` is in the Markov blanket of `of`: a parent, a child, or a child's parent.

    >>> print(in_markov_blanket("Smoking", "Pressure"))
    Smoking in mb(Pressure)
    """
    return InMarkovBlanket(member, of)


def d_separated(first: str | Iterable[str], second: str | Iterable[str], given: str | Iterable[str] = ()) -> DSeparated:
    """The statement that `given` d-separates one variable (or set) from another.

    Pearl (1988), Probabilistic Reasoning in Intelligent Systems, section 3.3.

    >>> print(d_separated("Smoking", ["Family", "Pressure"], given="Proteins"))
    Smoking _||_ {Family, Pressure} | Proteins
    """
    return DSeparated(names_of(first), names_of(second), names_of(given))


def topological_position(node: str, comparison: str, value: int) -> TopologicalPosition:
    """The statement that the number of edges of the longest directed path that ends in `node` compares so.

    >>> print(topological_position("Smoking", "<=", 1))
    pos(Smoking) <= 1
    """
    return TopologicalPosition(node, comparison, value)


def custom(function: Function) -> Custom:
    """The statement that a Python function of a `networkx.DiGraph` returns true.

    >>> def sparse(dag):
    ...     return dag.number_of_edges() < 5
    >>> print(custom(sparse) & edge("Smoking", "Pressure"))
    sparse(dag) & Smoking -> Pressure
    """
    return Custom(function)
