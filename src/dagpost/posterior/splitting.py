"""Are the components that rules leave small enough for exact sums? If not: which is too large, and what splits it?

Edges may form cycles among too many columns for exact sums: which rule would split them?

Columns that were left out of the tiers that others are in, the most frequent slip, are named; otherwise it is said how
many columns have to go. What is said of a rule was computed: how many columns the largest group has once it is
followed.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np

from dagpost._tools.arrays import Flags, Integers
from dagpost._tools.spelling import bare, setting
from dagpost._tools.text import shortened, shown
from dagpost.engines import Engine
from dagpost.engines.host.backend import backend_of
from dagpost.errors import InputError, ResourceError
from dagpost.exact.components import Components
from dagpost.families.numbering import MAX_NODES
from dagpost.methods.base import Decided
from dagpost.methods.block_gibbs import BlockGibbs
from dagpost.methods.choice import AUTO, PATIENCE_SECONDS, require_room
from dagpost.priors.constraints import Constraints
from dagpost.priors.study import Study
from dagpost.scores import scores_filled


class Advice(NamedTuple):
    """A rule that splits the largest group: which setting, which columns to name there, and what is left."""

    #: "tiers", or "exogenous", where any columns will do, as many as these.
    rule: str
    columns: tuple[int, ...]
    #: How many columns the largest group has then.
    left: int


def advise(components: Components, constraints: Constraints, names: Sequence[str], most: int) -> Advice:
    """What would split the largest component, if sums take at most `most` columns at once."""
    group = components.largest
    inside = components.edges[np.ix_(group, group)]
    # Groups that the advice does not touch stay as large as they are.
    others = sorted(components.sizes)[-2] if len(components.parts) > 1 else 0
    into_tiers = _into_tiers(group, inside, constraints, names)
    if into_tiers is not None:
        return into_tiers._replace(left=max(into_tiers.left, others))
    surplus = max(len(group) - most, 1)
    return Advice("exogenous", tuple(group[-surplus:].tolist()), max(len(group) - surplus, others))


def in_words(components: Components) -> str:
    """The components, in words."""
    sizes = [size for size in components.sizes if size > 1]
    if not sizes:
        return "no group of variables"
    if len(sizes) == 1:
        return f"one group of {sizes[0]} variables"
    return f"each of {len(sizes)} groups of at most {max(sizes)} variables"


def cycles_in_words(components: Components, names: Sequence[str]) -> str:
    """Which columns form the largest group, as a sentence."""
    group = components.largest
    columns = shortened([shown(names[column]) for column in group.tolist()])
    number = f"all {len(names):,}" if len(group) == len(names) else f"{len(group):,} of the {len(names):,}"
    return f"Edges may form cycles among {number} columns: {columns}."


def advice_in_words(advice: Advice, names: Sequence[str], most: int) -> str:
    """The advice, in sentences for Python and for the command line."""
    named = [shown(names[column]) for column in advice.columns]
    if advice.rule == "tiers":
        among = "no cycles" if advice.left == 1 else f"cycles among at most {advice.left:,} columns"
        one = len(named) == 1
        are = "is" if one else "are"
        them = "it" if one else "them"
        what = (
            f"{shortened(named)} {are} in no tier, so edges lead through {them} from later tiers to earlier ones. With "
            f"{them} in {bare('tiers')} too, the others can form {among}."
        )
    else:
        what = (
            f"Split them by {bare('tiers')}, or name at least {len(named):,} of them in {bare('exogenous')}, so that "
            "they are not modelled."
        )
    return f"{what} Exact sums take at most {most} columns at once here."


def _into_tiers(group: Integers, inside: Flags, constraints: Constraints, names: Sequence[str]) -> Advice | None:
    """Columns of the group that are in no tier while most are, if the tiers would split those."""
    placed = {name for tier in constraints.tiers or () for name in tier}
    free = np.array([names[column] not in placed for column in group.tolist()])
    if not free.any() or 2 * np.count_nonzero(free) > len(group):
        return None
    left = max(Components.of_edges(inside[np.ix_(~free, ~free)]).sizes)
    if left == np.count_nonzero(~free):
        return None
    return Advice("tiers", tuple(group[free].tolist()), left)


#: Why tiers do not help where a graph counts once for every order.
_ORDERS = "Rules do not split sums over orders, since the orders of separate groups of columns interleave."


def components_of(study: Study) -> Components:
    """The components that the rules of a study leave."""
    return Components.of_edges(study.constraints.parent_lists(study.table.names, study.max_parents).matrix)


def are_affordable(components: Components, study: Study, engine: Engine) -> bool:
    """Whether the sums over all components fit into memory and take no longer than a user waits unasked."""
    backend, largest = backend_of(engine), max(components.sizes)
    if largest > 1 and not backend.structure_fits(largest, min(study.max_parents, largest - 1)):
        return False
    return sum(backend.structure_seconds(size) for size in components.sizes if size > 1) <= _patience(study)


def sums_many_by_components(components: Components, decided: Decided) -> bool:
    """Of more columns than one number holds: whether to sum each component by itself.

    Otherwise chains walk over the whole table. A method that can do neither is refused.
    """
    method, modularity, study, engine = decided
    nodes = len(study.table.names)
    able = method is None or method.by_components or nodes <= method.most_columns
    if modularity != "structure" or not able:
        what = f"The method {method.name!r}" if method is not None else setting("modularity", modularity)
        if modularity == "structure":
            remedy = f"Use {setting('method', BlockGibbs.name)}, which takes up to {BlockGibbs.most_columns:,}"
        else:
            both = f"{setting('method', AUTO)} and {setting('modularity', 'structure')}"
            remedy = f"{_ORDERS} With more columns every graph counts once: use {both}"
        raise InputError(f"{what} takes at most {MAX_NODES} columns; there are {nodes:,}. {remedy}.")
    if method is None:
        return are_affordable(components, study, engine)
    if method.by_components:
        require_components(components, decided)
    return method.by_components


def require_components(components: Components, decided: Decided) -> None:
    """Refuse, before any family is scored, a method for which the largest component is too large."""
    method, _, study, engine = decided
    assert method is not None
    size, names = len(components.largest), study.table.names
    limit = min(study.max_parents, max(size - 1, 0))
    try:
        # A chain is a way out.
        require_room(method, size, limit, engine)
        if size > 1 and method.needs_graphs and not backend_of(engine).structure_fits(size, limit):
            raise ResourceError("The exact sums over so many need more memory than is free.")
    except ResourceError as error:
        what = f"{cycles_in_words(components, names)} {error.marked}"
        raise ResourceError(f"{what} {_what_splits(components, study, engine, math.inf)}") from None


@contextmanager
def advising(decided: Decided) -> Iterator[None]:
    """What does not fit in one piece is refused with a word on what would split it, or which method can use that."""
    try:
        yield
    except ResourceError as error:
        method, _, study, engine = decided
        if method is None:
            raise
        components = components_of(study)
        if method.by_components:
            more = _what_splits(components, study, engine, math.inf)
        else:
            use = f"{setting('method', AUTO)} and {setting('modularity', 'structure')}"
            more = _exact_otherwise(components, use, study, engine)
        if not more:
            raise
        raise ResourceError(f"{error.marked} {more}") from None


def hint_for(decided: Decided) -> str:
    """Where edges are estimated although there are rules: why, and what would make them exact."""
    _, modularity, study, engine = decided
    components = components_of(study)
    if modularity == "structure":
        return hint_for_estimates(components, study, engine)
    return _exact_otherwise(components, setting("modularity", "structure"), study, engine)


def _exact_otherwise(components: Components, use: str, study: Study, engine: Engine) -> str:
    """Where only sums by components are exact, for who asks for orders; nothing where those are out of reach too."""
    if len(components.parts) == 1 or not are_affordable(components, study, engine):
        return ""
    within = in_words(components)
    return (
        f"{_ORDERS} With {use}, every graph counts once and edges are exact here, since a cycle can close only within "
        f"{within}."
    )


def hint_for_estimates(components: Components, study: Study, engine: Engine) -> str:
    """Where some edges are left out and exact sums are out of reach all the same: why, and what would bring them back.

    Edges are left out by rules, or by the model behind the score.
    """
    rules = study.constraints
    left_out = rules.forbidden or rules.tiers or rules.exogenous or rules.sinks
    if not left_out or are_affordable(components, study, engine):
        return ""
    return (
        f"{cycles_in_words(components, study.table.names)} {_what_splits(components, study, engine, _patience(study))}"
    )


def _patience(study: Study) -> float:
    """How long one sum may take of the time that a user waits unasked: a score may average over several settings."""
    return PATIENCE_SECONDS / len(scores_filled(study.score))


def _what_splits(components: Components, study: Study, engine: Engine, patience: float) -> str:
    names = study.table.names
    most = _most_at_once(study.max_parents, engine, len(components.largest), patience)
    return advice_in_words(advise(components, study.constraints, names, most), names, most)


def _most_at_once(max_parents: int, engine: Engine, size: int, patience: float) -> int:
    """How many columns, fewer than these, can be summed over at once."""
    backend = backend_of(engine)
    for fewer in range(min(size - 1, MAX_NODES), 1, -1):
        limit = min(max_parents, fewer - 1)
        if backend.structure_seconds(fewer) <= patience and backend.structure_fits(fewer, limit):
            return fewer
    return 1
