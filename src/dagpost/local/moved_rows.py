"""What becomes of people when columns are set, in graphs with the parameters of their nodes.

Columns that nothing set acts on stay as they are. A number below what is set moves with its parents and keeps its place
among the values that these leave it; a level is drawn anew, by the same number between 0 and 1 in every world. Of an
outcome of numbers the mean moves, of one of levels the chances given its parents are taken.

Time: what the local models take for each graph and person, for every column between what is set and the outcome.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from dagpost._tools.arrays import Flags, Floats, Masks
from dagpost.features import ancestors
from dagpost.local.base import LevelModel, NumberModel, drawn_levels
from dagpost.local.models import LocalModels
from dagpost.local.networks import Member, Networks


class People(NamedTuple):
    """The values of all columns (columns, people), and a number between 0 and 1 for each, by which levels are drawn."""

    values: Floats
    uniforms: Floats

    def first(self, count: int) -> People:
        """The first few."""
        return People(*(np.ascontiguousarray(array[:, :count]) for array in self))


def people_of(models: LocalModels) -> People:
    """Those that effects start from."""
    return People(models.seen.people, models.uniforms)


class Asked(NamedTuple):
    """One question: columns are set to `set_to` (nan: they are not); the outcome sees `seen` of the cause instead.

    A mediator (-1: none) has the value that it would have, drawn afresh, if the cause were set to `other`.
    """

    outcome: int
    set_to: Floats
    cause: int = -1
    seen: float = math.nan
    mediator: int = -1
    other: float = math.nan


class Ways(NamedTuple):
    """The ancestors of every node where nothing acts on columns that are set, and what that leaves to be computed."""

    above: Masks
    #: (graphs, nodes): the outcome, and what lies between a column that is set and it.
    needed: Flags


def ways_of(graphs: Masks, asked: Asked) -> Ways:
    """What matters of some graphs to a question."""
    cut, nodes = graphs.copy(), graphs.shape[1]
    is_set = ~np.isnan(asked.set_to)
    cut[:, is_set] = 0
    above = ancestors(cut)
    bits = np.uint64(1) << np.arange(nodes, dtype=np.uint64)
    changed = bits[is_set].sum(dtype=np.uint64)
    needed = (above & changed != 0) & (above[:, [asked.outcome]] & bits != 0)
    needed[:, asked.outcome] = True
    return Ways(above, needed)


class _World:
    """The columns of people in every graph: (columns, graphs, people)."""

    def __init__(self, networks: Networks, people: People) -> None:
        self._networks, self._people = networks, people
        self.values = np.repeat(people.values[:, np.newaxis], len(networks.graphs), axis=1)

    def set(self, column: int, values: float | Floats) -> None:
        """Set a column in all graphs."""
        self.values[column] = values

    def move(self, member: Member, *, afresh: bool = False) -> None:
        """Give a column the values that follow from its parents, and from what people have of their own.

        `afresh`: each has what the next person has of their own.
        """
        model, parents, node = member.model, self._of_parents(member), member.node

        def own(array: Floats) -> Floats:
            return np.roll(array, -1, axis=-1) if afresh else array

        if isinstance(model, LevelModel):
            chances = model.chances(parents, member.theta)
            self.values[node, member.graphs] = drawn_levels(chances, own(self._people.uniforms[node]))
            return
        assert isinstance(model, NumberModel)
        standing, numbers = own(self._as_they_are(member, mean=False)), own(self._people.values[[node]])
        self.values[node, member.graphs] = model.moved(standing, parents, member.theta, numbers)

    def seen(self, member: Member) -> Floats:
        """The mean of a number given its parents, or the probability of each level: (graphs, people, levels)."""
        model, parents = member.model, self._of_parents(member)
        if isinstance(model, LevelModel):
            return model.chances(parents, member.theta)
        assert isinstance(model, NumberModel)
        change = model.expected(parents, member.theta) - self._as_they_are(member, mean=True)
        moved: Floats = (self._people.values[member.node] + change)[..., np.newaxis]
        return moved

    def _of_parents(self, member: Member) -> Floats:
        # Not all graphs first: most families have few.
        values: Floats = self.values[np.array(member.parents, dtype=np.int64)[:, np.newaxis], member.graphs]
        return values

    def _as_they_are(self, member: Member, *, mean: bool) -> Floats:
        """The mean of a number where nothing was set, or where people stand around it; asked once of each family."""
        model, people, known = member.model, self._people, self._networks.remembered
        assert isinstance(model, NumberModel)
        key = member.family, people.values.shape[1], mean
        if key not in known:
            theta = self._networks.theta[member.family]
            parents = people.values[list(member.parents)][:, np.newaxis]
            if mean:
                known[key] = model.expected(parents, theta)
            else:
                known[key] = model.standing(parents, theta, people.values[[member.node]])
        return known[key] if known[key].shape[-2] == 1 else known[key][..., member.draws, :]


def outcomes(networks: Networks, ways: Ways, people: People, asked: Asked, levels: int) -> Floats:
    """The outcome in each graph and person: its mean, or the probability of each level, (graphs, people, levels).

    Zeros where a mediator does not lie between cause and outcome.
    """
    result = np.zeros((len(networks.graphs), people.values.shape[1], max(levels, 1)))
    asking = np.arange(len(networks.graphs))
    if asked.mediator >= 0:
        asking = np.flatnonzero(ways.needed[:, asked.mediator])
        networks = networks.some(asking)
    world = _World(networks, people)
    for column in np.flatnonzero(~np.isnan(asked.set_to)):
        world.set(int(column), float(asked.set_to[column]))
    if asked.mediator >= 0:
        world.set(asked.mediator, _mediator(networks, people, asked))
    for member in networks.in_order():
        if member.node not in (asked.outcome, asked.mediator) and np.isnan(asked.set_to[member.node]):
            world.move(member)
    if not np.isnan(asked.seen):
        world.set(asked.cause, asked.seen)
    for member in networks.of_node(asked.outcome):
        result[asking[member.graphs]] = world.seen(member)
    return result


def _mediator(networks: Networks, people: People, asked: Asked) -> Floats:
    """What a mediator would be if the cause were set to `other`: (graphs, people)."""
    world = _World(networks, people)
    world.set(asked.cause, asked.other)
    for member in networks.in_order():
        if member.node not in (asked.outcome, asked.cause):
            world.move(member, afresh=True)
    found: Floats = world.values[asked.mediator]
    return found
