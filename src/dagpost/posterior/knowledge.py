"""What is known about directions before the data are looked at, and what the data can tell about them at all.

The first are the user's rules (required and forbidden edges, tiers, exogenous columns), what a model under a condition
assumes, an order that the method was given, and what the model behind a score has no edges for; the second depends on
which columns were set from outside. All of it is in the provenance of a sample. `max_parents` is not knowledge.

Which edges does an assumption leave no choice about: which are in all graphs in which it holds, and which in none?

Conditions on parents are tried with all sets of the variables that they name; a path from A to B rules out the edge
back, and where there is no path there is no edge. What follows only from several of these together, such as that edges
close no cycle, is left to the graphs. An assumption of any other kind decides no single edge.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dagpost._tools.arrays import Flags
from dagpost._tools.json_settings import from_json
from dagpost._tools.text import position_of
from dagpost.errors import InputError
from dagpost.families.essential import compelled_by_data, compelled_with_rules, patterns_of
from dagpost.families.masks import masks_of_matrix
from dagpost.features import And, Feature, Not, Path, projected_ways, resolve
from dagpost.features.statements.adjacent import Adjacent
from dagpost.methods.choice import resolve_method
from dagpost.methods.registry import METHODS
from dagpost.posterior.condition_words import GIVEN_STATEMENTS
from dagpost.priors.constraints import Constraints
from dagpost.scores import resolve_score
from dagpost.scores.registry import SCORES

if TYPE_CHECKING:
    from dagpost.families.essential import UnsignedMasks
    from dagpost.methods.base import Method
    from dagpost.posterior.fitted import Fitted
    from dagpost.posterior.sample import DagSample


#: Of statements that name more variables, which are rare, the sets are not tried.
_MOST_NAMED = 12


class AssumedEdges(NamedTuple):
    """Edges (parent, child) that all graphs have under an assumption, and those that none has."""

    required: Flags
    forbidden: Flags


def assumed_edges(statements: Any, names: Sequence[str], exogenous: Collection[str] = ()) -> AssumedEdges:
    """What texts of statements decide; one that is not about these variables decides nothing.

    >>> found = assumed_edges(["A -> B", "!(A ~> C)"], ["A", "B", "C"])
    >>> found.required.astype(int).tolist(), found.forbidden.astype(int).tolist()
    ([[0, 1, 0], [0, 0, 0], [0, 0, 0]], [[0, 0, 1], [0, 0, 0], [0, 0, 0]])
    """
    size = len(names), len(names)
    found = AssumedEdges(np.zeros(size, dtype=np.bool_), np.zeros(size, dtype=np.bool_))
    for part in _parts(statements, names, exogenous):
        path = part.part if isinstance(part, Not) else part
        if isinstance(path, Path):
            way = position_of(path.source, names), position_of(path.target, names)
            found.forbidden[way if isinstance(part, Not) else way[::-1]] = True
        elif isinstance(part, Not) and isinstance(path, Adjacent):
            ends = [position_of(name, names) for name in sorted(path.variables)]
            found.forbidden[ends, ends[::-1]] = True
        else:
            _add_conditions(found, part, names)
    return found


def _parts(statements: Any, names: Sequence[str], exogenous: Collection[str]) -> Iterable[Feature]:
    """The statements, those that are joined by "and" one by one."""
    for statement in statements if isinstance(statements, list | tuple) else ():
        try:
            feature = resolve(statement, names, None, exogenous).feature
        except InputError:
            # A function of Python, or whatever the maker of a sample has written there.
            continue
        yield from feature.parts if isinstance(feature, And) else (feature,)


def _add_conditions(found: AssumedEdges, feature: Feature, names: Sequence[str]) -> None:
    """What a condition on the parents of some nodes decides."""
    projected = projected_ways(feature, names)
    named = sorted(position_of(name, names) for name in feature.variables)
    if projected is None or len(projected.ways) != 1 or not feature.projects or len(named) > _MOST_NAMED:
        return
    (way,), bits = projected.ways, projected.bits
    others = [column for column in range(len(names)) if column not in named]
    for node, condition in way.items():
        candidates = [column for column in named if column != node]
        members = (np.arange(1 << len(candidates))[:, None] >> np.arange(len(candidates))) & 1 == 1
        masks = np.bitwise_or.reduce(np.where(members, bits[candidates], 0), axis=1, initial=np.uint64(0))
        elsewhere = np.bitwise_or.reduce(bits[[column for column in others if column != node]], initial=np.uint64(0))
        alone, joined = condition(masks), condition(masks | elsewhere)
        met = members[alone | joined]
        found.required[candidates, node] |= met.all(axis=0)
        found.forbidden[candidates, node] |= ~met.any(axis=0)
        if not joined.any():
            found.forbidden[[column for column in others if column != node], node] = True


TARGETS_UNKNOWN = (
    "Which columns were set in which rows was not kept, so only directions are called compelled that observed rows "
    "alone would show. Fit the model again to have the others."
)
_NOT_EQUIVALENT = (
    "This score may itself prefer some graphs of an equivalence class to others; a direction is called compelled only "
    "where all graphs of the class have it."
)


class Compelled(NamedTuple):
    """The compelled edges of graphs, as masks of parents: by the data alone, with the rules, and with the model too."""

    by_data: UnsignedMasks
    with_rules: UnsignedMasks
    with_model: UnsignedMasks


@dataclass(frozen=True, eq=False)
class Knowledge:
    """Rules, and the sets of columns that were set from outside together in some row.

    `settled[a, b]`: the rules leave `a -> b` as the only direction of that pair, or what is `assumed` does;
    `fixed[a, b]`: the model behind the score does. `targets` are masks; `note` says what could not be taken into
    account.
    """

    settled: Flags
    fixed: Flags
    targets: tuple[int, ...] = ()
    note: str = ""
    #: Columns that are not modelled.
    exogenous: tuple[int, ...] = ()
    #: Whether something is assumed, beside the rules.
    assumed: bool = False
    #: Edges that rules, or the model, do not allow; None: not known.
    ruled_out: Flags | None = None

    def compelled(self, parents: UnsignedMasks, by_data: UnsignedMasks | None = None) -> Compelled:
        """What is compelled in every graph; `by_data`: what the data compel, where that is known already."""
        if by_data is None:
            by_data = compelled_by_data(parents, self.targets, self.exogenous)
        with_rules = compelled_with_rules(parents, by_data, masks_of_matrix(self.settled), self.targets)
        if not (self.fixed & ~self.settled).any():
            return Compelled(by_data, with_rules, with_rules)
        settled = masks_of_matrix(self.settled | self.fixed)
        return Compelled(by_data, with_rules, compelled_with_rules(parents, by_data, settled, self.targets))

    def patterns(self, parents: UnsignedMasks) -> UnsignedMasks:
        """The partially directed graph of every graph, in which everything compelled is directed (its MPDAG)."""
        return patterns_of(parents, self.compelled(parents).with_model)

    def without_rules(self) -> Knowledge:
        """The same where the user knew nothing before the data; the model is what it is."""
        return replace(self, settled=np.zeros_like(self.settled))


def knowledge_of(fitted: Fitted) -> Knowledge:
    """What is known about the directions of a model."""
    return _knowledge(fitted.names, fitted.provenance, fitted.method, fitted.score)


def knowledge_of_sample(sample: DagSample) -> Knowledge:
    """What is known about the directions of a sample, by its provenance."""
    return _knowledge(sample.names, sample.provenance, _method_of(sample.provenance), sample.provenance.get("score"))


def knowledge_from(
    names: tuple[str, ...], constraints: Constraints, targets: Iterable[Iterable[str]] = (), note: str = ""
) -> Knowledge:
    """Rules, what the model leaves out, and targets by their names.

    >>> knowledge_from(("a", "b"), Constraints(forbidden=[("b", "a")]), [[], ["b"]]).settled.tolist()
    [[False, True], [False, False]]
    """
    own = replace(constraints, sinks=())
    required, forbidden = (matrix.T for matrix in own.matrices(names, len(names)))
    # Where both directions are ruled out the two are never joined.
    _, impossible = (matrix.T for matrix in constraints.matrices(names, len(names)))
    settled = required | (forbidden.T & ~forbidden)
    sinks = np.isin(names, list(constraints.sinks))
    fixed = ~sinks[:, None] & sinks[None, :]
    sets = tuple(sum(1 << place for place in {position_of(name, names) for name in own}) for own in targets)
    exogenous = tuple(position_of(name, names) for name in constraints.exogenous)
    return Knowledge(settled & ~impossible, fixed & ~impossible, sets, note, exogenous, ruled_out=np.array(impossible))


def knowledge_under(known: Knowledge, assumed: Feature | Sequence[Any] | None, names: Sequence[str]) -> Knowledge:
    """The same where a statement is assumed, or each of several; directions that these decide are settled too.

    >>> known = knowledge_from(("a", "b"), Constraints())
    >>> knowledge_under(known, ["a ~> b"], ("a", "b")).settled.tolist()
    [[False, True], [False, False]]
    """
    if assumed is None:
        return known
    statements = [assumed] if isinstance(assumed, Feature) else assumed
    found = assumed_edges(statements, names, tuple(names[column] for column in known.exogenous))
    forbidden = found.forbidden if known.ruled_out is None else found.forbidden | known.ruled_out
    settled = (known.settled | found.required | found.forbidden.T) & ~forbidden
    return replace(known, settled=settled, fixed=known.fixed & ~forbidden, assumed=True, ruled_out=forbidden)


def _knowledge(names: tuple[str, ...], provenance: Mapping[str, Any], method: Method | None, score: Any) -> Knowledge:
    constraints = Constraints(
        required=provenance.get("required", ()),
        forbidden=provenance.get("forbidden", ()),
        tiers=provenance.get("tiers") or None,
        exogenous=provenance.get("exogenous", ()),
        sinks=provenance.get("sinks", ()),
    )
    unknown = bool(provenance.get("interventions")) and not provenance.get("targets")
    remarks = [TARGETS_UNKNOWN] * unknown + [_NOT_EQUIVALENT] * (not _is_equivalent(score))
    known = knowledge_from(names, constraints, provenance.get("targets", ()), " ".join(remarks))
    if provenance.get(GIVEN_STATEMENTS):
        known = knowledge_under(known, provenance[GIVEN_STATEMENTS], names)
    order = None if method is None else method.fixed_order(names)
    if order is None:
        return known
    place = np.argsort(np.asarray(order))
    return replace(known, settled=place[:, None] < place[None, :])


def _method_of(provenance: Mapping[str, Any]) -> Method | None:
    """The method that drew a sample; None where it is not known here."""
    try:
        return resolve_method(from_json(provenance.get("method", ""), METHODS))
    except InputError:
        return None


def _is_equivalent(score: Any) -> bool:
    """Whether a score, an object or as a sample keeps it, never prefers one graph of a class.

    Graphs that say nothing of a score were not found by one.
    """
    try:
        found = from_json(score, SCORES) if isinstance(score, dict) else score
        return found is None or resolve_score(found).equivalent
    except InputError:
        # A score that is not known here, or numbers from elsewhere.
        return False
