"""What becomes of rows when columns are set, in graphs with the numbers of their regressions.

Columns that nothing set acts on stay as they are. A number below what is set moves with its prediction and keeps its
place among the values of that prediction (spread.py); a level is drawn anew, by the same number between 0 and 1 in
every world. Of an outcome of numbers the mean moves, of one of levels the chances given its parents are taken. Rows
stand for the population, with whatever the columns share that no regression knows.

Time: some 100 ns for each graph, row, and parent of a column that moves.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from dagpost._tools.arrays import Flags, Floats, Masks
from dagpost._tools.kernels import inline_no_refcount, kernel
from dagpost.features import ancestors
from dagpost.local.additive import AdditiveModels, Shapes
from dagpost.local.layout import predictor_at
from dagpost.local.margins import Margins, score_at
from dagpost.local.networks import Networks
from dagpost.local.scales import from_scale, to_scale
from dagpost.local.spread import moved


class Particles(NamedTuple):
    """Rows: the values and scores of all columns, and a number between 0 and 1 for each, by which levels are drawn.

    What a column has of its own, apart from its parents, comes from another row where it is drawn afresh.
    """

    values: Floats
    scores: Floats
    uniforms: Floats

    def first(self, count: int) -> Particles:
        """The first few."""
        return Particles(*(np.ascontiguousarray(array[:count]) for array in self))


def particles_of(models: AdditiveModels) -> Particles:
    """The rows that effects start from."""
    values = models.particles
    scores = np.empty_like(values)
    _score_all(models.margins, values, scores)
    return Particles(values, scores, np.random.default_rng(1).random(values.shape))


@kernel
def _score_all(margins: Margins, values: Floats, scores: Floats) -> None:
    for row in range(values.shape[0]):
        for node in range(values.shape[1]):
            scores[row, node] = score_at(margins, node, values[row, node])


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


class _State(NamedTuple):
    values: Floats
    scores: Floats


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


def outcomes(shapes: Shapes, networks: Networks, ways: Ways, particles: Particles, asked: Asked) -> Floats:
    """The outcome in each graph and row: its mean, or the probability of each level, (graphs, rows, levels).

    Zeros where a mediator does not lie between cause and outcome.
    """
    width = max(int(shapes.margins.arities[asked.outcome]), 1)
    result = np.zeros((len(networks.graphs), len(particles.values), width))
    _move_all(shapes, networks, particles, ways.above, ways.needed, asked, result)
    return result


@kernel
def _move_all(
    shapes: Shapes,
    networks: Networks,
    particles: Particles,
    above: Masks,
    needed: Flags,
    asked: Asked,
    result: Floats,
) -> None:
    graphs, nodes = networks.graphs.shape
    one, rows = np.uint64(1), len(particles.values)
    state = _State(np.zeros(nodes), np.zeros(nodes))
    for graph in range(graphs):
        if asked.mediator >= 0 and not needed[graph, asked.mediator]:
            continue
        for row in range(rows):
            mediator_value = math.nan
            if asked.mediator >= 0:
                _begin(particles, row, state)
                _set(shapes.margins, asked.cause, asked.other, state)
                # What columns below the cause have of their own comes from the next row.
                fresh = (row + 1) % rows
                for place in range(nodes):
                    node = networks.orders[graph, place]
                    before = above[graph, asked.mediator] >> np.uint64(node) & one or node == asked.mediator
                    if before and needed[graph, node]:
                        _move(shapes, networks, particles, graph, fresh, node, state)
                mediator_value = state.values[asked.mediator]
            _begin(particles, row, state)
            for place in range(nodes):
                node = networks.orders[graph, place]
                set_to = mediator_value if node == asked.mediator else asked.set_to[node]
                if not np.isnan(set_to):
                    _set(shapes.margins, node, set_to, state)
                elif needed[graph, node] and node != asked.outcome:
                    _move(shapes, networks, particles, graph, row, node, state)
            if not np.isnan(asked.seen):
                _set(shapes.margins, asked.cause, asked.seen, state)
            _see(shapes, networks, particles, graph, row, asked.outcome, state, result)


@inline_no_refcount
def _begin(particles: Particles, row: int, state: _State) -> None:
    for node in range(len(state.values)):
        state.values[node] = particles.values[row, node]
        state.scores[node] = particles.scores[row, node]


@inline_no_refcount
def _set(margins: Margins, node: int, value: float, state: _State) -> None:
    state.values[node] = value
    state.scores[node] = score_at(margins, node, value)


@inline_no_refcount
def _move(
    shapes: Shapes, networks: Networks, particles: Particles, graph: int, row: int, node: int, state: _State
) -> None:
    """Give a column the value that follows from its parents, and from what it has of its own in a row."""
    family, begin = networks.families[graph, node], networks.begins[graph, node]
    regressions, height = shapes.begins[family + 1] - shapes.begins[family], shapes.heights[family]
    if shapes.margins.arities[node] > 0:
        uniform, left, level = particles.uniforms[row, node], 1.0, 0
        while level < regressions:
            chance = left * _chance(shapes, networks, family, begin + level * height, state)
            if uniform < chance:
                break
            uniform -= chance
            left -= chance
            level += 1
        _set(shapes.margins, node, float(level), state)
        return
    # The regression on the scale on which values move is the last one.
    begin += (regressions - 1) * height
    margins, numbers = shapes.margins, shapes.numbers
    values, scores = particles.values[row], particles.scores[row]
    before = predictor_at(shapes.parts, family, margins, values, scores, networks.theta, begin)
    after = predictor_at(shapes.parts, family, margins, state.values, state.scores, networks.theta, begin)
    kind, place, unit = numbers.scales[family], numbers.places[family], numbers.units[family]
    centre, size = numbers.centres[family], numbers.sizes[family]
    shown = (to_scale(kind, place, unit, values[node]) - centre) / size
    value = from_scale(kind, place, unit, centre + size * moved(shapes.spreads, family, shown, before, after))
    _set(margins, node, min(max(value, numbers.least[family]), numbers.most[family]), state)


@inline_no_refcount
def _chance(shapes: Shapes, networks: Networks, family: int, begin: int, state: _State) -> float:
    """The probability of a level among those that are left."""
    odds = predictor_at(shapes.parts, family, shapes.margins, state.values, state.scores, networks.theta, begin)
    return 1.0 / (1.0 + math.exp(-odds))


@inline_no_refcount
def _see(
    shapes: Shapes,
    networks: Networks,
    particles: Particles,
    graph: int,
    row: int,
    outcome: int,
    state: _State,
    result: Floats,
) -> None:
    """Write the mean of the outcome given its parents, or the probability of each level."""
    family, begin = networks.families[graph, outcome], networks.begins[graph, outcome]
    regressions, height = shapes.begins[family + 1] - shapes.begins[family], shapes.heights[family]
    if shapes.margins.arities[outcome] == 0:
        margins, values, scores = shapes.margins, particles.values[row], particles.scores[row]
        before = predictor_at(shapes.parts, family, margins, values, scores, networks.theta, begin)
        after = predictor_at(shapes.parts, family, margins, state.values, state.scores, networks.theta, begin)
        result[graph, row, 0] = values[outcome] + shapes.numbers.own_sizes[family] * (after - before)
        return
    left = 1.0
    for level in range(regressions):
        chance = left * _chance(shapes, networks, family, begin + level * height, state)
        result[graph, row, level] = chance
        left -= chance
    result[graph, row, regressions] = max(left, 0.0)
