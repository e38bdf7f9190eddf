"""From prior probabilities of single edges to the weights of families.

Two columns stand in one of three states, which exclude each other: an edge one way, an edge the other way, no edge. Of
each pair a prior gives the weights `p_ij : p_ji : 1 - p_ij - p_ji`, and the pairs are independent but for cycles, which
no graph has. So a family weighs the product of the odds `p_ij / (1 - p_ij - p_ji)` of its edges. What a pair needs and
was not given is shared out:

    joined with probability p             p / 2 each way; p, if the rules leave one way only
    one way with probability p            the rest as two states of a pair that was not mentioned; all of it to
                                          no edge, if the rules rule out the other way
    joined with p, one way with q         p - q the other way
    not mentioned                         `otherwise` each way; no edge has what is missing to 1

Time and memory: a few square matrices, and one product of matrices for all families.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import numpy as np

from dagpost._tools.arrays import Flags, Floats
from dagpost._tools.text import nearest
from dagpost.errors import InputError
from dagpost.priors.base import SetPrior, StructurePrior
from dagpost.priors.edge_table import PAIR, Link, Rows

if TYPE_CHECKING:
    from dagpost.families.considered_sets import Members

#: Each of the three states of a pair is as probable as the others, which makes the odds of every edge 1.
INDIFFERENT = 1.0 / 3.0


@dataclass(frozen=True, eq=False, repr=False)
class PairPrior(SetPrior):
    """Odds of every edge on its own: what a table of prior probabilities comes down to for the columns of a table."""

    #: The prior of the user's choice.
    given: StructurePrior
    #: Log odds of every edge, by [child, parent]; 0 where the rules leave it out.
    log_odds: Floats
    #: The log weight of a node without parents.
    log_empty: Floats

    @property
    def chosen(self) -> StructurePrior:
        """The prior of the user's choice."""
        return self.given

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that it speaks of."""
        return self.given.columns

    def log_weights_of_members(self, names: tuple[str, ...], node: int, members: Members) -> Floats:
        """The log weight of some parent sets of one node, given as rows of columns."""
        odds = np.append(self.log_odds[node], 0.0)
        weights: Floats = odds[np.minimum(members, len(names))].sum(axis=1) + self.log_empty[node]
        return weights

    def in_words(self) -> str:
        """The part of a sentence by which a report explains the prior."""
        return self.given.in_words()

    def __repr__(self) -> str:
        return repr(self.given)


def pair_prior(
    given: StructurePrior, said: tuple[Link, ...] | Rows, otherwise: float, names: tuple[str, ...], barred: Flags
) -> PairPrior:
    """The odds of every edge, from what was said of some and of all others, and from the edges that rules leave out."""
    weights, none = states_of(said, otherwise, names, barred)
    possible = ~barred & ~np.eye(len(names), dtype=np.bool_)
    log_none = np.log(none / (weights + weights.T + none))
    log_odds = np.log(np.where(possible, weights.T / none, 1.0))
    # The weight of a pair without an edge goes to the nodes that could have one.
    share = np.where(possible & possible.T, 0.5, possible)
    return PairPrior(given, log_odds, (share * log_none).sum(axis=1))


def states_of(
    said: tuple[Link, ...] | Rows, otherwise: float, names: tuple[str, ...], barred: Flags
) -> tuple[Floats, Floats]:
    """Of every pair the weight of an edge, by [parent, child], and that of no edge, which is symmetric.

    >>> nothing_barred = np.zeros((3, 3), dtype=bool)
    >>> weights, none = states_of((("a", "->", "b", 0.6), ("b", "--", "c", 0.8)), 0.1, ("a", "b", "c"), nothing_barred)
    >>> weights.round(3).tolist(), none.round(3).tolist()
    ([[0.0, 0.6, 0.1], [0.044, 0.0, 0.4], [0.1, 0.4, 0.0]], [[1.0, 0.356, 0.8], [0.356, 1.0, 0.2], [0.8, 0.2, 1.0]])
    """
    edges, pairs = _matrices(said, names)
    back, out, out_back = edges.T, barred.T, barred
    given, given_back, joined = ~np.isnan(edges), ~np.isnan(back), ~np.isnan(pairs)
    _refuse_contradictions(edges, pairs, names)
    # What a pair leaves is shared by the other way, if that is possible, and no edge.
    rest = np.where(out, 0.0, otherwise / (1.0 - otherwise))
    cases = [
        (given, edges),
        (given_back & joined, pairs - back),
        (given_back, (1.0 - back) * rest),
        (joined, np.where(out_back, pairs, pairs / 2.0)),
    ]
    weights = np.select([case for case, _ in cases], [value for _, value in cases], otherwise)
    none = np.select(
        [given & given_back, joined, given, given_back],
        [1.0 - edges - back, 1.0 - pairs, (1.0 - edges) * (1.0 - rest.T), (1.0 - back) * (1.0 - rest)],
        1.0 - 2.0 * otherwise,
    )
    weights[out] = 0.0
    np.fill_diagonal(weights, 0.0)
    np.fill_diagonal(none, 1.0)
    return weights, none


def _matrices(said: tuple[Link, ...] | Rows, names: tuple[str, ...]) -> tuple[Floats, Floats]:
    """What was said of edges, by [parent, child], and of pairs, both ways; nan where nothing was."""
    edges, pairs = np.full((2, len(names), len(names)), np.nan)
    if said and not isinstance(said[0][0], str):
        if len(said) != len(names):
            raise InputError(
                f"The matrix of prior probabilities has {len(said)} rows and columns, and the table has "
                f"{len(names)} columns. Give one row and column for each, or a data frame with names."
            )
        edges[:] = np.array(said, dtype=np.float64)
        return edges, pairs
    place = {name: position for position, name in enumerate(names)}
    for first, arrow, second, probability in cast("tuple[Link, ...]", said):
        for name in (first, second):
            if name not in place:
                raise InputError(
                    f"The prior speaks of {first} {arrow} {second}, but there is no column {name!r}."
                    f"{nearest(name, names)}"
                )
        if arrow == PAIR:
            pairs[place[first], place[second]] = pairs[place[second], place[first]] = probability
        else:
            edges[place[first], place[second]] = probability
    return edges, pairs


def _refuse_contradictions(edges: Floats, pairs: Floats, names: tuple[str, ...]) -> None:
    """Refuse a pair whose states have nothing left for one of them, or more than one may have."""
    for parent, child in np.argwhere(np.triu(edges + edges.T, 1) >= 1.0)[:1].tolist():
        raise InputError(
            f"The prior gives {names[parent]} -> {names[child]} the probability {edges[parent, child]:g} and "
            f"{names[child]} -> {names[parent]} {edges[child, parent]:g}: an edge leads one way only, so together they "
            "must be below 1. Lower one; what is missing to 1 is the probability of no edge."
        )
    for first, second in np.argwhere(~np.isnan(edges) & ~np.isnan(edges.T) & ~np.isnan(pairs))[:1].tolist():
        raise InputError(
            f"The prior gives {names[first]} -> {names[second]}, {names[second]} -> {names[first]} and the pair "
            f"{names[first]} -- {names[second]}, which says the same twice. Leave one of the three out."
        )
    for parent, child in np.argwhere(edges >= pairs)[:1].tolist():
        raise InputError(
            f"The prior gives {names[parent]} -> {names[child]} the probability {edges[parent, child]:g} and the pair "
            f"{names[parent]} -- {names[child]} {pairs[parent, child]:g}: a pair is joined at least as probably as one "
            "way, and more where the other way is possible. Raise that of the pair."
        )
