"""Statements about graphs: made at random, written as text, and looked up in every graph of a few nodes.

A statement is a nested tuple with the numbers of nodes in it. `truth` says in which of all graphs it holds, one bit a
graph, from the definitions in docs/features.md; `text` writes it in one of the ways that the page allows. Nothing of
dagpost is used.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from functools import cache, lru_cache
from itertools import combinations, pairwise, permutations
from typing import Any

from torture.choices import Choices
from torture.oracle import Graph, graphs

Statement = tuple[Any, ...]
_COMPARISONS = {"=": operator.eq, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}


@lru_cache(maxsize=100_000)
def truth(statement: Statement, nodes: int) -> int:
    """The graphs in which a statement holds, as the bits of a number."""
    kind, *parts = statement
    everything = (1 << len(graphs(nodes))) - 1
    if kind == "not":
        return everything & ~truth(parts[0], nodes)
    if kind in {"and", "or"}:
        found = everything if kind == "and" else 0
        for part in parts:
            found = found & truth(part, nodes) if kind == "and" else found | truth(part, nodes)
        return found
    return sum(1 << number for number, graph in enumerate(graphs(nodes)) if holds(statement, graph))


def holds(statement: Statement, graph: Graph) -> bool:
    """Whether a single statement, not joined from others, holds in a graph."""
    kind, *parts = statement
    if kind == "edge":
        return parts[0] in graph[parts[1]]
    if kind == "adjacent":
        return parts[0] in graph[parts[1]] or parts[1] in graph[parts[0]]
    if kind == "path":
        source, target, longest = parts
        return target in _within(graph, source, longest)
    if kind == "v":
        first, middle, second = parts
        joined = first in graph[second] or second in graph[first]
        return first in graph[middle] and second in graph[middle] and not joined
    if kind == "compelled":
        return parts[0] in graph[parts[1]] and _compelled(graph, parts[0], parts[1])
    if kind == "parents":
        return bool(graph[parts[0]] == parts[1])
    if kind == "ancestors":
        return bool(_ancestors(graph, parts[0]) == parts[1])
    if kind == "descendants":
        return bool(_within(graph, parts[0], None) == parts[1])
    if kind == "blanket":
        return _in_blanket(graph, *parts)
    if kind == "separated":
        return not _connected(graph, *parts)
    if kind == "position":
        return bool(_COMPARISONS[parts[1]](_position(graph, parts[0]), parts[2]))
    raise ValueError(kind)


def _within(graph: Graph, source: int, longest: int | None) -> frozenset[int]:
    """What a directed path of so many edges leads to."""
    reached: set[int] = set()
    front = {source}
    for _ in range(len(graph) if longest is None else longest):
        front = {node for node, parents in enumerate(graph) if parents & front}
        reached |= front
    return frozenset(reached)


def _ancestors(graph: Graph, node: int) -> frozenset[int]:
    return frozenset(other for other in range(len(graph)) if node in _within(graph, other, None))


def _in_blanket(graph: Graph, first: int, second: int) -> bool:
    spouses = any(first in parents and second in parents for parents in graph)
    return first in graph[second] or second in graph[first] or spouses


def _position(graph: Graph, node: int) -> int:
    return max((1 + _position(graph, parent) for parent in graph[node]), default=0)


def _connected(graph: Graph, first: frozenset[int], second: frozenset[int], given: frozenset[int]) -> bool:
    """Whether some path between the two sides is open: looked up path by path, by Pearl's definition."""
    nodes = range(len(graph))
    open_if_given = {node for node in nodes if ({node} | _within(graph, node, None)) & given}
    for start in first:
        for end in second:
            others = [node for node in nodes if node not in (start, end)]
            for size in range(len(others) + 1):
                for between in permutations(others, size):
                    if _open((start, *between, end), graph, given, open_if_given):
                        return True
    return False


def _open(walk: Sequence[int], graph: Graph, given: frozenset[int], open_if_given: set[int]) -> bool:
    for here, there in pairwise(walk):
        if here not in graph[there] and there not in graph[here]:
            return False
    for before, middle, after in zip(walk, walk[1:], walk[2:], strict=False):
        collides = before in graph[middle] and after in graph[middle]
        if (middle not in open_if_given) if collides else (middle in given):
            return False
    return True


@cache
def _class_of(graph: Graph) -> tuple[frozenset[tuple[int, int]], frozenset[tuple[int, int, int]]]:
    """What all graphs with the same independences share: who is joined, and which v-structures there are."""
    joined = frozenset((min(a, b), max(a, b)) for b, parents in enumerate(graph) for a in parents)
    colliders = frozenset(
        (a, middle, b)
        for middle, parents in enumerate(graph)
        for a, b in combinations(sorted(parents), 2)
        if (a, b) not in joined
    )
    return joined, colliders


@cache
def _classes(nodes: int) -> dict[Any, list[Graph]]:
    found: dict[Any, list[Graph]] = {}
    for graph in graphs(nodes):
        found.setdefault(_class_of(graph), []).append(graph)
    return found


def _compelled(graph: Graph, parent: int, child: int) -> bool:
    """Whether every graph with the same independences has the edge, too."""
    return all(parent in other[child] for other in _classes(len(graph))[_class_of(graph)])


def random_statement(choices: Choices, nodes: int, depth: int = 2) -> Statement:
    """A statement about so many nodes; the simplest is the edge between the first two."""
    kinds = ("atom", "and", "or", "not") if depth else ("atom",)
    kind = choices.pick(kinds)
    if kind == "not":
        return ("not", random_statement(choices, nodes, depth - 1))
    if kind != "atom":
        count = choices.integer(2, 3)
        return (kind, *(random_statement(choices, nodes, depth - 1) for _ in range(count)))
    return _random_atom(choices, nodes)


def _random_atom(choices: Choices, nodes: int) -> Statement:
    kinds = ["edge", "adjacent", "path", "bounded", "parents", "ancestors", "descendants", "blanket", "separated"]
    kinds += ["position", "compelled", *(["v"] if nodes > 2 else [])]
    kind = choices.pick(kinds)
    first, second, *others = choices.shuffled(range(nodes))
    if kind == "path":
        return ("path", first, second, None)
    if kind == "bounded":
        return ("path", first, second, choices.integer(1, nodes + 1))
    if kind in {"parents", "ancestors", "descendants"}:
        return (kind, first, frozenset(choices.some([second, *others])))
    if kind == "v":
        return ("v", first, second, others[0])
    if kind == "separated":
        sides: list[set[int]] = [{first}, {second}, set(), set()]
        for node in others:
            choices.pick((sides[3], sides[2], sides[0], sides[1])).add(node)
        return ("separated", *(frozenset(side) for side in sides[:3]))
    if kind == "position":
        return ("position", first, choices.pick(tuple(_COMPARISONS)), choices.integer(0, nodes))
    return (kind, first, second)


def text(statement: Statement, names: Sequence[str], choices: Choices) -> str:
    """The statement in one of the ways of writing it, with blanks or without."""
    kind, *parts = statement
    blank = choices.pick((" ", "", "  "))
    if kind == "not":
        return f"!{blank}({text(parts[0], names, choices)})"
    if kind in {"and", "or"}:
        symbol = "&" if kind == "and" else "|"
        return f" {symbol} ".join(f"({text(part, names, choices)})" for part in parts)
    if kind == "separated":
        sides = [_group(part, names, choices, blank) for part in parts[:2]]
        given = f" | {', '.join(_name(names[node], choices) for node in sorted(parts[2]))}" if parts[2] else ""
        return f"{sides[0]} _||_ {sides[1]}{given}"
    if kind in {"parents", "ancestors", "descendants"}:
        word = {"parents": "pa", "ancestors": "an", "descendants": "de"}[kind]
        members = f",{blank}".join(_name(names[node], choices) for node in choices.shuffled(sorted(parts[1])))
        return f"{word}({_name(names[parts[0]], choices)}){blank}={blank}{{{members}}}"
    if kind == "position":
        return f"pos({_name(names[parts[0]], choices)}){blank}{parts[1]}{blank}{parts[2]}"
    if kind == "v":
        first, middle, second = (_name(names[node], choices) for node in parts)
        return f"{first}{blank}->{blank}{middle}{blank}<-{blank}{second}"
    first, second = (_name(names[node], choices) for node in parts[:2])
    return choices.pick(_ways(kind, first, second, parts[2] if kind == "path" else None))


def _ways(kind: str, first: str, second: str, longest: int | None) -> tuple[str, ...]:
    if kind == "edge":
        return (f"{first} -> {second}", f"{second} <- {first}", f"{first}->{second}", f"{first} in pa({second})")
    if kind == "adjacent":
        return (f"{first} -- {second}", f"{second}--{first}")
    if kind == "blanket":
        return (f"{first} in mb({second})", f"{second} in mb({first})")
    if kind == "compelled":
        return (f"compelled({first} -> {second})",)
    if longest is None:
        return (f"{first} ~> {second}", f"{second} <~ {first}", f"{first} in an({second})", f"{second} in de({first})")
    return (f"{first} ~>{{{longest}}} {second}",)


def _group(members: frozenset[int], names: Sequence[str], choices: Choices, blank: str) -> str:
    written = [_name(names[node], choices) for node in choices.shuffled(sorted(members))]
    return written[0] if len(written) == 1 else "{" + f",{blank}".join(written) + "}"


def _name(name: str, choices: Choices) -> str:
    """A name as a word where it can be one, or in quotes."""
    word = name.replace("_", "a").isalnum() and name.isascii()
    if word and not choices.chance(0.3):
        return name
    mark = choices.pick(('"', "'"))
    return mark + name.replace("\\", "\\\\").replace(mark, "\\" + mark) + mark
