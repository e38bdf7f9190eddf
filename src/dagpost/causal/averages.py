"""The outcome in every world and the parts of an effect: expected over all graphs, and in draws from the posterior.

Expected values are exact given the graphs (mechanisms.py). Draws are of graphs by their weights (systematic
resampling), each with one draw of its parameters.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from dagpost._tools import memory
from dagpost._tools.arrays import Floats, Integers
from dagpost.causal.graphs import Alike, Graphs, Weighted
from dagpost.causal.kinds import KINDS
from dagpost.causal.mechanisms import Mechanisms, World

#: While draws are made there are some copies of them.
_COPIES = 3


class Drawn(NamedTuple):
    """Draws: outcomes (worlds, draws, levels), direct parts (draws, levels), and those through each column."""

    outcomes: Floats
    direct: Floats
    through: dict[int, Floats]


def expected_outcomes(
    graphs: Graphs, groups: Sequence[Alike], worlds: Sequence[World], outcome: int, width: int
) -> Floats:
    """The posterior mean of the outcome in every world, (worlds, levels)."""
    result = np.zeros((len(worlds), width))
    for part, own in zip(graphs.parts, groups, strict=True):
        mechanisms = expected_in(part, own, graphs)
        for place, world in enumerate(worlds):
            result[place] += own.weights @ mechanisms.outcome(outcome, world)
    return result


def expected_in(part: Weighted, own: Alike, graphs: Graphs) -> Mechanisms:
    """The mechanisms of the graphs that stand for others, with the posterior means of their parameters."""
    kind = KINDS[type(part.prior)]
    return kind.expected(part.statistics, part.prior, part.graphs[own.rows], graphs.background)


def shared_out(weights: Sequence[Floats], draws: int, generator: np.random.Generator) -> list[Integers]:
    """How many draws each graph of each part gets: its share of them, rounded up or down at random without bias."""
    joined = np.concatenate(weights)
    borders = np.cumsum(joined)
    points = (np.arange(draws) + generator.random()) / draws * borders[-1]
    # Rounding must not choose a graph of weight 0 at the end.
    places = np.minimum(np.searchsorted(borders, points, side="right"), np.flatnonzero(joined)[-1])
    counts = np.bincount(places, minlength=len(joined))
    return np.split(counts, np.cumsum([len(own) for own in weights])[:-1])


def drawn_in(
    graphs: Graphs, groups: Sequence[Alike], draws: int, generator: np.random.Generator
) -> Iterator[Mechanisms]:
    """Mechanisms with drawn parameters, part by part; `draws` graphs in all."""
    counts = shared_out([own.weights for own in groups], draws, generator)
    for part, own, number in zip(graphs.parts, groups, counts, strict=True):
        rows = np.repeat(own.rows, number)
        if len(rows):
            kind = KINDS[type(part.prior)]
            yield kind.drawn(part.statistics, part.prior, part.graphs[rows], graphs.background, generator)


def check_room(draws: int, numbers: int) -> None:
    """Refuse more draws than fit into memory, at `numbers` numbers each."""
    what, remedy = f"Drawing {draws:,} times from the posterior of an effect", "Ask for fewer draws."
    memory.require(_COPIES * 8 * draws * numbers, what, remedy)
