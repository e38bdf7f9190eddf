"""People made up column by column, in graphs with the parameters of their nodes, by what is known of them.

Columns are walked in the order of each graph. What is not known of a column is drawn given its parents; what is known
weighs the person by how probable it is there (likelihood weighting; Fung & Chang 1990). An interval or some levels are
both: weighed by how probable they are, and drawn within them.

    p(known | graph, parameters) = mean of the weights

so that two walks with the same numbers between 0 and 1, with and without a target among what is known, have the
probability of the target as their ratio.

Time: what the local models take for each graph and person, for every column that matters.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from dagpost._tools.arrays import Flags, Floats, Masks
from dagpost.features import ancestors
from dagpost.local.base import LevelModel, NumberModel, drawn_levels
from dagpost.local.networks import Member, Networks

#: What shares are divided by is no smaller.
_LEAST = 1e-300


class Fixed(NamedTuple):
    """A column that is set, or not modelled: its values (graphs, people) follow from no parents and weigh nothing."""

    values: Floats


class Observed(NamedTuple):
    """The values of a column: (graphs, people), or fewer for all alike."""

    values: Floats


class Within(NamedTuple):
    """A number lies between two others."""

    lower: float
    upper: float


class Among(NamedTuple):
    """A column has one of some levels."""

    codes: tuple[int, ...]


Known = Mapping[int, Fixed | Observed | Within | Among]


class Walk(NamedTuple):
    """The values (columns, graphs, people), and the log of each person's weight (graphs, people)."""

    values: Floats
    logs: Floats

    def log_probabilities(self) -> Floats:
        """How probable what is known is in each graph."""
        from scipy.special import logsumexp

        with np.errstate(divide="ignore"):
            found: Floats = logsumexp(self.logs, axis=1) - np.log(self.logs.shape[1])
        return found


def needed_for(graphs: Masks, known: Known, wanted: int) -> Flags:
    """Which nodes (graphs, nodes) matter for what is known and for the wanted ones: these and what leads to them."""
    cut = graphs.astype(np.uint64)
    fixed = [node for node, what in known.items() if isinstance(what, Fixed)]
    cut[:, fixed] = 0
    bits = np.uint64(1) << np.arange(graphs.shape[1], dtype=np.uint64)
    asked = [node for node in range(graphs.shape[1]) if wanted >> node & 1 or node in known]
    above = np.bitwise_or.reduce(ancestors(cut)[:, asked], axis=1, initial=np.uint64(0))
    needed: Flags = np.asarray(above[:, np.newaxis] & bits != 0)
    needed[:, asked] = True
    needed[:, fixed] = False
    return needed


def uniforms_for(nodes: int, graphs: int, people: int, generator: np.random.Generator) -> Floats:
    """Numbers between 0 and 1 (nodes, graphs, people): of each node and graph as even as they can be."""
    strata = np.stack([generator.permutation(people) for _ in range(nodes)])[:, np.newaxis]
    shifts = generator.random((nodes, graphs, 1))
    evenly: Floats = (strata / people + shifts) % 1.0
    return evenly


def walked(networks: Networks, known: Known, uniforms: Floats) -> Walk:
    """A walk through all graphs; nodes that the networks do not have stay 0."""
    values, logs = np.zeros(uniforms.shape), np.zeros(uniforms.shape[1:])
    for node, fixed in known.items():
        if isinstance(fixed, Fixed):
            values[node] = fixed.values
    for member in networks.in_order():
        parents = values[list(member.parents)][:, member.graphs]
        own = uniforms[member.node, member.graphs]
        what = known.get(member.node)
        if isinstance(member.model, LevelModel):
            found, weighed = _level(member.model, member, parents, what, own)
        else:
            assert isinstance(member.model, NumberModel)
            found, weighed = _number(member.model, member, parents, what, own)
        values[member.node, member.graphs] = found
        logs[member.graphs] += weighed
    return Walk(values, logs)


def _number(
    model: NumberModel, member: Member, parents: Floats, what: object, uniforms: Floats
) -> tuple[Floats, Floats | float]:
    """The numbers of a column, and the log of how probable what is known of it is."""
    theta = member.theta
    if isinstance(what, Observed):
        numbers = np.broadcast_to(what.values, uniforms.shape)
        return numbers, model.log_density(parents, theta, numbers)
    if isinstance(what, Within):
        ends = [model.below(parents, theta, np.full((1, 1), end)) for end in (what.lower, what.upper)]
        low, high = (np.broadcast_to(end, uniforms.shape) for end in ends)
        numbers = model.with_share(parents, theta, low + uniforms * (high - low))
        return np.clip(numbers, what.lower, what.upper), _log(high - low)
    return model.with_share(parents, theta, uniforms), 0.0


def _level(
    model: LevelModel, member: Member, parents: Floats, what: object, uniforms: Floats
) -> tuple[Floats, Floats | float]:
    """The codes of a column, and the log of how probable what is known of it is."""
    chances = model.chances(parents, member.theta)
    chances = np.broadcast_to(chances, (*uniforms.shape, chances.shape[-1]))
    if isinstance(what, Observed):
        codes = np.broadcast_to(what.values.astype(np.int64), uniforms.shape)
        each = np.take_along_axis(chances, codes[..., np.newaxis], axis=-1)[..., 0]
        return codes.astype(np.float64), _log(each)
    if isinstance(what, Among):
        allowed = np.zeros(chances.shape[-1])
        allowed[list(what.codes)] = 1.0
        chances = chances * allowed
        total = chances.sum(axis=-1)
        shares = chances / np.maximum(total, _LEAST)[..., np.newaxis]
        return drawn_levels(shares, uniforms).astype(np.float64), _log(total)
    return drawn_levels(chances, uniforms).astype(np.float64), 0.0


def _log(chances: Floats) -> Floats:
    """The log of how probable something is; what cannot be leaves nothing of a person."""
    with np.errstate(divide="ignore"):
        found: Floats = np.log(np.maximum(chances, 0.0))
    return found
