"""Draws of graph and parameters that answer a question, for each kind of table: one function a parameter prior."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, reduce
from operator import or_
from typing import Any

import numpy as np

from dagpost._tools.arrays import Floats, Masks
from dagpost.causal.graphs import Graphs, Weighted
from dagpost.errors import InputError
from dagpost.local.models import LocalModels
from dagpost.prediction.discrete_statistics import DiscreteStatistics
from dagpost.prediction.gaussian_statistics import GaussianStatistics
from dagpost.prediction.parameter_draws import drawn_networks
from dagpost.scores import DirichletPrior, LocalPrior, NormalWishartPrior
from dagpost.values.draws import Drawn, NumberLimits, joined_draws, level_draws, number_draws
from dagpost.values.graphs import chosen_graphs, cut_graphs, relevant
from dagpost.values.lanes import Lanes, lanes_of
from dagpost.values.levels import drawn_logs, exact_logs
from dagpost.values.local import local_draws
from dagpost.values.normals import Limits, gaussian_moments
from dagpost.values.question import Cell, Columns, Question, refuse_open_numbers


class Asked:
    """A question about the columns of a model, with what all of its graphs share."""

    def __init__(self, columns: Columns, question: Question, graphs: Graphs) -> None:
        self.columns, self.question, self.graphs = columns, question, graphs
        self.outside = sum(1 << columns.names.index(name) for name in columns.exogenous)
        self.given = self.outside | sum(1 << node for node in question.do)
        self.asked = sum(1 << node for node in {*question.nodes, *question.evidence}) & ~self.given

    def is_number(self, node: int) -> bool:
        """Whether a column is one of numbers."""
        return self.columns.levels[node] is None

    def mattering(self, graphs: Masks) -> int:
        """The columns that matter in some of the graphs."""
        return int(np.bitwise_or.reduce(relevant(cut_graphs(graphs, self.given), self.asked), initial=np.uint64(0)))

    @cached_property
    def _mattering_outside(self) -> int:
        """The exogenous columns that matter in some graph."""
        parts = self.graphs.parts if self.outside else ()
        return reduce(or_, (self.mattering(part.graphs) for part in parts), 0) & self.outside

    def lanes(self) -> Lanes:
        """Every way to fill the columns of levels."""
        return lanes_of(self.question, self.columns, self.graphs.background, self._mattering_outside)

    def fixed_numbers(self, mattering: int) -> dict[int, float]:
        """The columns of numbers that are set or exogenous, with their values; those that matter must have one."""
        fixed, lacking = {}, []
        for node in range(len(self.columns.names)):
            cell = self.question.evidence.get(node)
            if node in self.question.do:
                value = self.question.do[node]
                cell = Cell(None, value, value) if self.is_number(node) else Cell((int(value),))
            elif not self.outside >> node & 1:
                continue
            if cell is not None and (cell.is_point or len(cell.codes or ()) == 1):
                fixed[node] = self._plain_number(node, cell)
            elif mattering >> node & 1:
                lacking.append(node)
            else:
                fixed[node] = 0.0
        refuse_open_numbers(self.columns, lacking)
        return fixed

    def _plain_number(self, node: int, cell: Cell) -> float:
        """A number, or a level that is one."""
        return cell.lower if cell.codes is None else float((self.columns.levels[node] or ())[cell.codes[0]])

    def number_order(self, outside: Mapping[int, float]) -> tuple[list[int], list[int], list[int]]:
        """Columns of numbers: points, intervals of the evidence, and targets that are not among these."""
        evidence = {
            node: cell
            for node, cell in self.question.evidence.items()
            if self.is_number(node) and node not in outside and node not in self.question.do
        }
        points = [node for node, cell in evidence.items() if cell.is_point]
        intervals = [node for node, cell in evidence.items() if not cell.is_point]
        if self.question.of is not None and self.question.of in evidence:
            raise InputError(
                f"The distribution of {self.columns.names[self.question.of]!r} is asked for, and it is among the "
                "conditions. Leave it out there."
            )
        targets = [node for node in self.question.nodes if self.is_number(node) and node not in evidence]
        return points, intervals, targets

    def limits(self, order: tuple[list[int], list[int], list[int]]) -> NumberLimits:
        """What is said of these columns."""
        points, intervals, targets = order
        evidence, wanted = self.question.evidence, self.question.targets
        given = [_limits(evidence[node]) for node in (*points, *intervals)]
        if self.question.of is not None and self.is_number(self.question.of):
            return NumberLimits(given, None)
        met = [evidence[node].meet(wanted[node]) if node in wanted else evidence[node] for node in intervals]
        more = [wanted[node] for node in targets]
        return NumberLimits(given, [*given[: len(points)], *map(_limits, (*met, *more))])


def _limits(cell: Cell) -> Limits:
    return Limits(cell.lower, cell.upper, cell.is_point)


def with_one_regime(question: Question, columns: Columns, graphs: Graphs) -> Question:
    """The question in which all other regimes are off where one is set, as in effects."""
    statistics = graphs.parts[0].statistics
    if isinstance(statistics, LocalModels):
        regimes = np.flatnonzero(statistics.seen.exclusive).tolist()
        return _others_off(question, regimes)
    if not isinstance(statistics, DiscreteStatistics):
        return question
    return _others_off(question, [columns.names.index(name) for name in statistics.regimes])


def _others_off(question: Question, regimes: Sequence[int]) -> Question:
    if not any(node in question.do for node in regimes):
        return question
    off = {node: 0.0 for node in regimes if node not in question.evidence}
    return replace(question, do={**off, **question.do})


def exact_shares(asked: Asked) -> Floats | None:
    """The probabilities of the events, averaged over graphs with the parameters integrated out; None: not possible."""
    from scipy.special import logsumexp

    parts = asked.graphs.parts
    if any(not isinstance(part.prior, DirichletPrior) for part in parts):
        return None
    lanes = asked.lanes()
    total = np.full(lanes.width, -np.inf)
    for part in parts:
        assert isinstance(part.statistics, DiscreteStatistics)
        assert isinstance(part.prior, DirichletPrior)
        weigh = part.weights > 0.0
        own = exact_logs(
            part.statistics, part.prior, part.graphs[weigh], part.weights[weigh], lanes.cells, lanes.known, asked.given
        )
        total = np.logaddexp(total, own)
    total = total + lanes.log_shares
    shares: Floats = np.exp(total - logsumexp(total)) @ lanes.events.T
    return shares


def drawn_answers(asked: Asked, draws: int, generator: np.random.Generator) -> Drawn:
    """Draws of graph and parameters, each with its answer."""
    pieces = []
    for part in asked.graphs.parts:
        share = float(part.weights.sum())
        kind = _local_kind if isinstance(part.prior, LocalPrior) else _KINDS[type(part.prior)]
        found = kind(asked, part, draws, generator)
        pieces.append(found.weighted(math.log(share / len(found.log_weights))))
    return joined_draws(pieces)


def _level_kind(asked: Asked, part: Weighted, draws: int, generator: np.random.Generator) -> Drawn:
    assert isinstance(part.statistics, DiscreteStatistics)
    assert isinstance(part.prior, DirichletPrior)
    lanes, graphs = asked.lanes(), chosen_graphs(part, draws, generator)
    logs = drawn_logs(part.statistics, part.prior, graphs, lanes.cells, lanes.known, asked.given, generator)
    return level_draws(logs + lanes.log_shares, lanes.events)


def _gaussian_kind(asked: Asked, part: Weighted, draws: int, generator: np.random.Generator) -> Drawn:
    assert isinstance(part.statistics, GaussianStatistics)
    assert isinstance(part.prior, NormalWishartPrior)
    graphs = chosen_graphs(part, draws, generator)
    fixed = asked.fixed_numbers(asked.mattering(graphs))
    order = asked.number_order(fixed)
    networks = drawn_networks(part.statistics, part.prior, graphs, generator)
    moments = gaussian_moments(networks, fixed, [*order[0], *order[1], *order[2]])
    return number_draws(*moments, asked.limits(order), generator)


def _local_kind(asked: Asked, part: Weighted, draws: int, generator: np.random.Generator) -> Drawn:
    exogenous = [asked.columns.names.index(name) for name in asked.columns.exogenous]
    return local_draws(asked.question, exogenous, part, draws, generator)


_KINDS: Mapping[type[Any], Callable[[Asked, Weighted, int, np.random.Generator], Drawn]] = {
    DirichletPrior: _level_kind,
    NormalWishartPrior: _gaussian_kind,
}
