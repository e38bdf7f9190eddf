"""Which edges must a graph have, which must it not have? Required and forbidden edges, tiers, exogenous columns.

For each node they come down to the parents that it must and must not have, as two matrices or masks; contradictions
are refused by the names of the edges. Nothing leads to an exogenous column.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.arrays import Flags, Floats
from dagpost._tools.checks import different_texts, texts, whole_number
from dagpost._tools.spelling import bare, quoted, setting
from dagpost._tools.text import nearest, shown
from dagpost.errors import InputError
from dagpost.families.masks import matrix_of_masks
from dagpost.families.parent_lists import ParentLists
from dagpost.priors.edge_table import read_edge

#: An edge by its names: (parent, child).
Edge = tuple[str, str]
_WRITTEN = "An edge is a pair such as ('Smoking', 'Cancer'), parent first, or text such as 'Smoking -> Cancer'."


@dataclass(frozen=True)
class Constraints:
    """Edges that must be there, edges that must not, and tiers between which edges lead one way only.

    Parameters
    ----------
    required, forbidden
        Edges: pairs of names, (parent, child), or text such as ``"smoking -> cancer"``, where names may be in quotes.
        One text is one edge.
    tiers
        Lists of names, earliest first, or a mapping from names to numbers. No edge leads from a later tier to
        an earlier one; within a tier, and from and to names that are in no tier, all edges are possible.
    exogenous
        Names of columns that are not modelled: they may be parents, and have none.
    apart
        Names of columns with no edges among them.
    sinks
        Names of columns that lead only to each other: the model behind a score has no other edges.

    >>> Constraints(required="smoking -> cancer", tiers={"age": 0, "cancer": 2, "smoking": 1}).tiers
    (('age',), ('smoking',), ('cancer',))
    """

    required: str | Iterable[Edge | str] = ()
    forbidden: str | Iterable[Edge | str] = ()
    tiers: Iterable[Iterable[str]] | Mapping[str, Any] | None = None
    exogenous: str | Iterable[str] = ()
    apart: Iterable[str] = ()
    sinks: Iterable[str] = ()

    def __post_init__(self) -> None:
        """Bring all of them into tuples, so that constraints can be compared and stored."""
        object.__setattr__(self, "required", edge_pairs("required", self.required))
        object.__setattr__(self, "forbidden", edge_pairs("forbidden", self.forbidden))
        object.__setattr__(self, "tiers", _tiers(self.tiers))
        object.__setattr__(self, "exogenous", _exogenous(self.exogenous))
        object.__setattr__(self, "apart", texts(self.apart, "apart", "Constraints"))
        object.__setattr__(self, "sinks", texts(self.sinks, "sinks", "Constraints"))

    def matrices(self, names: tuple[str, ...], max_parents: int) -> tuple[Flags, Flags]:
        """Of every (child, parent), whether the edge is required, and whether it is forbidden.

        Among exogenous columns, and into them, everything is forbidden. Contradictions are errors that name the edges.

        >>> constraints = Constraints(required=[("a", "b")], tiers=[["a", "b"], ["c"]])
        >>> required, forbidden = constraints.matrices(("a", "b", "c"), 2)
        >>> np.argwhere(required).tolist(), np.argwhere(forbidden).tolist()
        ([[1, 0]], [[0, 2], [1, 2]])
        """
        names = different_texts(names, "names", "matrices")
        whole_number(max_parents, "max_parents", "matrices", least=0)
        required = self._edges("required", names)
        forbidden = self._edges("forbidden", names)
        tier = self._tier_of(names)
        exogenous = self._exogenous_of(names)
        _refuse_both(required, forbidden, tier)
        _refuse_impossible(required, exogenous, set(self.apart), set(self.sinks))
        _refuse_cycle(required)
        _refuse_crowd(required, names, max_parents)
        barred = _matrix(forbidden, names)
        tiers = np.array([tier.get(name, -1) for name in names])
        barred |= (tiers[None, :] > tiers[:, None]) & (tiers[:, None] >= 0)
        barred[[name in exogenous for name in names]] = True
        apart = np.isin(names, list(self.apart))
        barred |= apart[:, None] & apart[None, :]
        sinks = np.isin(names, list(self.sinks))
        barred |= sinks[None, :] & ~sinks[:, None]
        np.fill_diagonal(barred, False)
        return _matrix(required, names), barred

    def parent_lists(self, names: tuple[str, ...], max_parents: int) -> ParentLists:
        """The columns that may be parents of each node.

        >>> lists = Constraints(exogenous=["a"], forbidden="b -> c").parent_lists(("a", "b", "c"), 2)
        >>> [own.tolist() for own in lists.candidates]
        [[], [0, 2], [0]]
        """
        _, forbidden = self.matrices(names, max_parents)
        # Where no column may have parents, no cycle can close either.
        allowed = ~forbidden if max_parents else np.zeros_like(forbidden)
        np.fill_diagonal(allowed, False)
        return ParentLists.of_matrix(allowed, max_parents)

    def leave_unmodelled(self, names: tuple[str, ...], *log_weights: Floats) -> None:
        """Give exogenous columns the weight 1 without parents and 0 with any, in place: no score or prior of theirs.

        Rows are columns, and the first entry of a row is the empty set. So the weight of a graph is a product over the
        columns that are modelled, given the others.
        """
        own = [name in self._exogenous_of(names) for name in names]
        for weights in log_weights:
            weights[own] = -np.inf
            weights[own, 0] = 0.0

    def refuse_graph(self, names: tuple[str, ...], parents: NDArray[np.uint64]) -> None:
        """Refuse a graph, one mask of parents a node, that does not obey them."""
        required, forbidden = self.matrices(names, len(names))
        present = matrix_of_masks(parents).T
        for child, parent in np.argwhere(required & ~present)[:1].tolist():
            edge = f"{names[parent]} -> {names[child]}"
            raise InputError(f"The graph lacks the edge {edge}, which {bare('required')} has.")
        for child, parent in np.argwhere(forbidden & present)[:1].tolist():
            edge = f"{names[parent]} -> {names[child]}"
            rule = "exogenous" if names[child] in self.exogenous else "tiers"
            rule = "forbidden" if (names[parent], names[child]) in list(self.forbidden) else rule
            if names[parent] in self.sinks and names[child] not in self.sinks:
                raise InputError(f"The graph has the edge {edge}, which the model behind the score does not have.")
            raise InputError(f"The graph has the edge {edge}, which {bare(rule)} rules out.")

    def _edges(self, setting: str, names: tuple[str, ...]) -> list[Edge]:
        edges: list[Edge] = list(getattr(self, setting))
        for parent, child in edges:
            for name in (parent, child):
                if name not in names:
                    raise InputError(
                        f"{quoted(setting)} has the edge {parent} -> {child}, but there is no column {name!r}."
                        f"{nearest(name, names)}"
                    )
            if parent == child:
                raise InputError(
                    f"{quoted(setting)} has the edge {parent} -> {child}: no node is its own parent. Leave it out."
                )
        return edges

    def _exogenous_of(self, names: tuple[str, ...]) -> set[str]:
        for name in self.exogenous:
            if name not in names:
                raise InputError(
                    f"{quoted('exogenous')} has the name {name!r}, but there is no such column.{nearest(name, names)}"
                )
        if self.exogenous and set(self.exogenous) == set(names):
            raise InputError(
                f"{quoted('exogenous')} names every column, and nothing is left to model. Take out the columns whose "
                "causes you ask for."
            )
        return set(self.exogenous)

    def _tier_of(self, names: tuple[str, ...]) -> dict[str, int]:
        tier: dict[str, int] = {}
        for number, members in enumerate(self.tiers or ()):
            for name in members:
                if name not in names:
                    raise InputError(
                        f"{quoted('tiers')} has the name {name!r} in tier {number + 1}, but there is no such column."
                        f"{nearest(name, names)}"
                    )
                tier[name] = number
        return tier


def edge_pairs(setting: str, edges: Any) -> tuple[Edge, ...]:
    """The edges of a setting as pairs of names; anything else is an error that names the setting."""
    if not isinstance(edges, Iterable) or getattr(edges, "ndim", 1) == 0:
        raise InputError(f"{quoted(setting)} must be a list of edges. Got {shown(edges)} instead. {_WRITTEN}")
    return tuple(_pair(setting, edge) for edge in ([edges] if isinstance(edges, str) else edges))


def _pair(setting: str, edge: Any) -> Edge:
    if isinstance(edge, str):
        return read_edge(edge, setting)
    # A set does not say which comes first.
    listed = isinstance(edge, Iterable) and not isinstance(edge, Set) and getattr(edge, "ndim", 1) == 1
    pair = tuple(edge) if listed else None
    if pair is None or len(pair) != 2 or not all(isinstance(name, str) for name in pair):
        raise InputError(f"{quoted(setting)} must be made of edges. Got {shown(edge)} instead. {_WRITTEN}")
    return str(pair[0]), str(pair[1])


def _tiers(tiers: Any) -> tuple[tuple[str, ...], ...] | None:
    if tiers is None:
        return None
    if isinstance(tiers, Mapping):
        try:
            numbers = sorted(set(tiers.values()))
        except TypeError:
            raise InputError(
                f"{quoted('tiers')} must map names to numbers that can be ordered. Got {shown(tiers)}."
            ) from None
        tiers = [[name for name in tiers if tiers[name] == number] for number in numbers]
    if isinstance(tiers, str) or not isinstance(tiers, Iterable) or getattr(tiers, "ndim", 1) == 0:
        raise InputError(
            f"{quoted('tiers')} must be lists of names, or a mapping from names to numbers. Got {shown(tiers)}."
        )
    checked = []
    seen: dict[str, int] = {}
    for number, members in enumerate(tiers):
        if isinstance(members, str) or not isinstance(members, Iterable) or getattr(members, "ndim", 1) == 0:
            raise InputError(
                f"{quoted('tiers')} must be lists of names; tier {number + 1} is {shown(members)}. Put it into a list."
            )
        tier = tuple(members)
        for name in tier:
            if not isinstance(name, str):
                raise InputError(f"{quoted('tiers')} must hold names. Got {shown(name)} in tier {number + 1} instead.")
            if name in seen:
                raise InputError(
                    f"{quoted('tiers')} has {name!r} twice, in tiers {seen[name] + 1} and {number + 1}. Keep one."
                )
            seen[name] = number
        checked.append(tier)
    return tuple(checked)


def _exogenous(names: Any) -> tuple[str, ...]:
    """The names of a setting, each once; one name may stand alone."""
    return tuple(dict.fromkeys(texts([names] if isinstance(names, str) else names, "exogenous", "Constraints")))


def _refuse_impossible(required: list[Edge], exogenous: set[str], apart: set[str], sinks: set[str]) -> None:
    """Refuse edges that are required where the columns or the model behind the score leave none."""
    for parent, child in required:
        edge = f"The edge {parent} -> {child} is required, but"
        if parent in apart and child in apart:
            raise InputError(
                f"{edge} edges among present values are not considered ({setting('contemporaneous', False)}). Take it "
                f"out of {bare('required')}."
            )
        if parent in sinks and child not in sinks:
            raise InputError(
                f"{edge} the model behind the score has no edges from columns of numbers to columns of levels. Take it "
                f"out of {bare('required')}, or use another score: {setting('score', 'latent-gaussian')} where all "
                "levels are in an order, or a discrete one."
            )
        if child in exogenous:
            raise InputError(
                f"{edge} {child!r} is exogenous: it is not modelled and has no parents. Take the edge out of "
                f"{bare('required')}, or the column out of {bare('exogenous')}."
            )


def _refuse_both(required: list[Edge], forbidden: list[Edge], tier: dict[str, int]) -> None:
    both = [f"{parent} -> {child}" for parent, child in dict.fromkeys(required) if (parent, child) in forbidden]
    if both:
        raise InputError(f"Both required and forbidden: {', '.join(both)}. Take each out of one of the two.")
    against = [
        f"{parent} -> {child} (tier {tier[parent] + 1} to tier {tier[child] + 1})"
        for parent, child in dict.fromkeys(required)
        if parent in tier and child in tier and tier[parent] > tier[child]
    ]
    if against:
        raise InputError(
            "Required but forbidden by the tiers, where no edge leads to an earlier tier: "
            f"{', '.join(against)}. Take the edge out, or move one of its nodes to another tier."
        )


def _refuse_cycle(required: list[Edge]) -> None:
    if not required:
        return
    import networkx as nx

    graph: nx.DiGraph[str] = nx.DiGraph(required)
    if not nx.is_directed_acyclic_graph(graph):
        cycle = [edge[0] for edge in nx.find_cycle(graph)]
        way = " -> ".join([*cycle, cycle[0]])
        raise InputError(f"The required edges form a cycle: {way}. Take one of them out.")


def _refuse_crowd(required: list[Edge], names: tuple[str, ...], max_parents: int) -> None:
    for name in names:
        parents = [parent for parent, child in dict.fromkeys(required) if child == name]
        if len(parents) > max_parents:
            edges = ", ".join(f"{parent} -> {name}" for parent in parents)
            raise InputError(
                f"{len(parents)} edges into {name!r} are required, but {bare('max_parents')} is {max_parents}: "
                f"{edges}. Raise {bare('max_parents')} to {len(parents)} or require fewer."
            )


def _matrix(edges: list[Edge], names: tuple[str, ...]) -> Flags:
    place = {name: position for position, name in enumerate(names)}
    result = np.zeros((len(names), len(names)), dtype=np.bool_)
    for parent, child in edges:
        result[place[child], place[parent]] = True
    return result
