"""The outcome in every world and the parts of an effect: expected over all graphs, and in draws from the posterior.

Expected values are exact given the graphs (mechanisms.py). Draws are of graphs by their weights (systematic
resampling), each with one draw of its parameters. Both are made for some thousand graphs at a time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from dagpost._tools import memory
from dagpost._tools.arrays import Flags, Floats, Integers
from dagpost.causal.graphs import Alike, Graphs, Weighted
from dagpost.causal.kinds import Kind
from dagpost.causal.mechanisms import Mechanisms
from dagpost.causal.question import Question

#: Graphs whose mechanisms are made together.
_AT_A_TIME = 4096
#: While draws are made there are some copies of them.
_COPIES = 3


class Expected(NamedTuple):
    """Posterior means of the outcome in every world (worlds, levels), and what graphs with a path add to them.

    `change` is that of the outcome in linear networks; None elsewhere.
    """

    outcomes: Floats
    reached: Floats
    change: float | None = None

    def effect(self, question: Question) -> float:
        """The mean of the effect, once all is decided."""
        if self.change is not None:
            return self.change
        assert question.compared is not None
        first, second = (float(self.reached[place, question.level]) for place in question.compared)
        return first - second


class Drawn(NamedTuple):
    """Draws: outcomes (worlds, draws, levels), the effect, whether there is a path, the direct and other parts."""

    outcomes: Floats
    effect: Floats
    reached: Flags
    direct: Floats
    through: dict[int, Floats]


class Expecting:
    """Graphs with the posterior means of their parameters, or draws of these, asked for all means of one effect."""

    def __init__(self, graphs: Graphs, groups: Sequence[Alike]) -> None:
        self.graphs, self.groups = graphs, groups
        self._drawn: dict[tuple[int, int], Mechanisms] = {}

    def blocks(self) -> Iterator[tuple[Weighted, Alike, slice, Mechanisms]]:
        """Some thousand graphs of a part at a time."""
        for place, (part, own) in enumerate(zip(self.graphs.parts, self.groups, strict=True)):
            for start in range(0, len(own.rows), _AT_A_TIME):
                some = slice(start, min(start + _AT_A_TIME, len(own.rows)))
                mechanisms = self._drawn.get((place, start))
                if mechanisms is None:
                    mechanisms = part.expected(own.rows[some], self.graphs.background, own.weights[some])
                    if not part.kind.sums:
                        # These graphs are few, and remember what they were asked.
                        self._drawn[place, start] = mechanisms
                yield part, own, some, mechanisms


def expected_outcomes(expecting: Expecting, question: Question) -> Expected:
    """The posterior mean of the outcome in every world."""
    worlds = [world for _, world in question.worlds]
    everywhere, reached = np.zeros((2, len(worlds), question.width))
    change, graphs = 0.0, expecting.graphs
    with graphs.reporter.stage("expected outcomes", sum(len(own.rows) for own in expecting.groups)) as stage:
        for part, own, some, mechanisms in expecting.blocks():
            for place, world in enumerate(worlds):
                outcomes = mechanisms.outcome(question.outcome, world)
                everywhere[place] += weighted(own.weights[some], outcomes)
                reached[place] += weighted(own.weights[some] * own.reached[some], outcomes)
            if part.kind.change is not None:
                steps = part.kind.change(mechanisms, question.outcome, question.steps)
                change += float(weighted(own.weights[some] * own.reached[some], steps)[0])
            stage.advance(some.stop - some.start)
    return Expected(everywhere, reached, change if graphs.kind.linear else None)


def expected_parts(
    expecting: Expecting, question: Question, mediators: Sequence[int]
) -> tuple[float, dict[int, float]]:
    """The posterior means of the direct part, and, in linear networks, of those through other columns."""
    direct, through = 0.0, dict.fromkeys(mediators if expecting.graphs.kind.linear else (), 0.0)
    x, y, values, level = question.pair
    for _, own, some, mechanisms in expecting.blocks():
        weights = own.weights[some]
        direct += float(weighted(weights * own.joined[some], mechanisms.direct(x, y, values))[level])
        for mediator in through:
            change = mechanisms.through(x, y, mediator, values)
            through[mediator] += float(weighted(weights * own.between[some, mediator], change)[level])
    return direct, through


def weighted(weights: Floats, outcomes: Floats) -> Floats:
    """The sum of outcomes (graphs, levels) by the weights of the graphs."""
    # Not a product of matrices: threads cost more than they bring here.
    total: Floats = np.einsum("g,gl->l", weights, outcomes)
    return total


def shared_out(
    weights: Sequence[Floats], draws: int, generator: np.random.Generator, marked: Sequence[Flags] | None = None
) -> list[Integers]:
    """How many draws each graph of each part gets: its share of them, rounded up or down at random without bias.

    Those that are marked get their share together, too.
    """
    joined = np.concatenate(weights)
    order = np.arange(len(joined)) if marked is None else np.argsort(np.concatenate(marked), kind="stable")
    borders = np.cumsum(joined[order])
    points = (np.arange(draws) + generator.random()) / draws * borders[-1]
    # Rounding must not choose a graph of weight 0 at the end.
    places = np.minimum(np.searchsorted(borders, points, side="right"), np.flatnonzero(joined[order])[-1])
    counts = np.empty(len(joined), dtype=np.int64)
    counts[order] = np.bincount(places, minlength=len(joined))
    return np.split(counts, np.cumsum([len(own) for own in weights])[:-1])


def drawn_effects(
    graphs: Graphs,
    groups: Sequence[Alike],
    question: Question,
    mediators: Sequence[int],
    draws: int,
    generator: np.random.Generator,
) -> Drawn:
    """Draws of the outcome in every world, and of the parts."""
    numbers = (len(question.worlds) + 2) * question.width + len(mediators)
    what, remedy = f"Drawing {draws:,} times from the posterior of an effect", "Ask for fewer draws."
    memory.require(_COPIES * 8 * draws * numbers, what, remedy)
    counts = shared_out([own.weights for own in groups], draws, generator, [own.reached for own in groups])
    pieces = []
    with graphs.reporter.stage("draws of an effect", draws) as stage:
        for part, own, number in zip(graphs.parts, groups, counts, strict=True):
            chosen = np.repeat(np.arange(len(own.rows)), number)
            for start in range(0, len(chosen), _AT_A_TIME):
                some = chosen[start : start + _AT_A_TIME]
                mechanisms = part.drawn(own.rows[some], graphs.background, generator)
                pieces.append(_piece(mechanisms, part.kind, own, some, question, mediators))
                stage.advance(len(some))
    # In any order, so that the first few are draws as good as all.
    order = generator.permutation(draws)
    return Drawn(
        np.concatenate([own.outcomes for own in pieces], axis=1)[:, order],
        np.concatenate([own.effect for own in pieces])[order],
        np.concatenate([own.reached for own in pieces])[order],
        np.concatenate([own.direct for own in pieces])[order],
        {m: np.concatenate([own.through[m] for own in pieces])[order] for m in mediators},
    )


def _piece(
    mechanisms: Mechanisms, kind: Kind, own: Alike, some: Integers, question: Question, mediators: Sequence[int]
) -> Drawn:
    """What some graphs with drawn parameters say."""
    worlds = [world for _, world in question.worlds]
    outcomes = np.stack([mechanisms.outcome(question.outcome, world) for world in worlds])
    assert question.compared is not None
    assert question.level is not None
    first, second = question.compared
    if kind.change is None:
        effect = outcomes[first, :, question.level] - outcomes[second, :, question.level]
    else:
        effect = kind.change(mechanisms, question.outcome, question.steps)[:, 0]
    direct, through = np.zeros(len(some)), {}
    if question.single:
        x, y, values, level = question.pair
        direct = np.where(own.joined[some], mechanisms.direct(x, y, values)[:, level], 0.0)
        for mediator in mediators:
            change = mechanisms.through(x, y, mediator, values)[:, level]
            through[mediator] = np.where(own.between[some, mediator], change, 0.0)
    return Drawn(outcomes, np.where(own.reached[some], effect, 0.0), own.reached[some], direct, through)
