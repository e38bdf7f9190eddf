"""The posterior of a table with gaps, straight from its definition: every completion of the table, under every graph.

The weight of a graph is its prior times the sum, over all ways to fill the gaps, of exp(score of the completed table);
a number that is missing is summed over the points of a quadrature. The score of a family depends on the cells in its
own columns alone, so it is worked out once for each way to fill those. Graphs are enumerated up to six columns.
Counts, interventions and rules of any kind are taken; a row with gaps that counts more than once is as many rows, each
with cells of its own.

Where there are many completions of six columns, graphs are too many, and `Sums` follows the recursion over sinks, or
over orders, for all completions at once: for evidence, edges and whatever can be said about families.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import permutations

import numpy as np
from numpy.typing import NDArray
from tests.naive import posterior as naive
from tests.naive.completed_scores import FamilyScore, Flags, Numbers, Rows, observed_moments

#: Log prior of a child with these parents; minus infinity where it may not have them.
Prior = Callable[[int, list[int]], float]

#: Points for each number that is missing, and how far they reach, in hyperbolic sines of standard deviations.
POINTS, REACH = 45, 4.2


# Completions


@dataclass(frozen=True)
class Choices:
    """What each gap may hold, with the log weight of each value in the sum."""

    values: list[Numbers]
    log_weights: list[Numbers]

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(len(own) for own in self.values)

    @property
    def digits(self) -> NDArray[np.int64]:
        """Which value each gap has (gaps, completions)."""
        return np.indices(self.shape).reshape(len(self.shape), int(np.prod(self.shape)))

    @property
    def log_weight(self) -> Numbers:
        """Of each completion."""
        parts = [own[digit] for own, digit in zip(self.log_weights, self.digits, strict=True)]
        return np.sum(parts, axis=0) if parts else np.zeros(1)


def choices_of(rows: Rows, points: int = POINTS, reach: float = REACH) -> Choices:
    """Every level of a column, or the points of a trapezoidal rule after a change of variable that reaches far out."""
    mean, deviations = observed_moments(rows)
    steps = np.linspace(-reach, reach, points)
    values, logs = [], []
    for column, _ in rows.gaps:
        if rows.arities[column]:
            values.append(np.arange(float(rows.arities[column])))
            logs.append(np.zeros(rows.arities[column]))
        else:
            values.append(mean[column] + deviations[column] * np.sinh(steps))
            logs.append(np.log(deviations[column] * np.cosh(steps) * (steps[1] - steps[0])))
    return Choices(values, logs)


def filled_rows(rows: Rows, choices: Choices, cells: Sequence[int]) -> Numbers:
    """The rows with some of the gaps filled in all ways (ways, rows, columns); zeros in the others."""
    shape = tuple(choices.shape[cell] for cell in cells)
    digits = np.indices(shape).reshape(len(shape), int(np.prod(shape)))
    result = np.repeat(np.nan_to_num(rows.values)[None], digits.shape[1], axis=0)
    for cell, digit in zip(cells, digits, strict=True):
        column, row = rows.gaps[cell]
        result[:, row, column] = choices.values[cell][digit]
    return result


def family_logs(
    rows: Rows, choices: Choices, score: FamilyScore, max_parents: int, prior: Prior | None
) -> list[Numbers]:
    """Of each node: log prior and score of each set of parents, by mask, in each completion (sets, completions)."""
    columns, digits = rows.values.shape[1], choices.digits
    result = []
    for child in range(columns):
        own = np.full((1 << columns, digits.shape[1]), -np.inf)
        for mask in naive.parent_masks(child, columns, max_parents):
            parents = [node for node in range(columns) if mask >> node & 1]
            before = 0.0 if prior is None else prior(child, parents)
            if before == -np.inf:
                continue
            cells = [cell for cell, (column, _) in enumerate(rows.gaps) if column in (child, *parents)]
            logs = score(rows, filled_rows(rows, choices, cells), child, parents)
            shape = tuple(choices.shape[cell] for cell in cells)
            place = np.ravel_multi_index(tuple(digits[cells]), shape) if cells else np.zeros(digits.shape[1], int)
            own[mask] = before + logs[place]
        result.append(own)
    return result


# Graphs


@cache
def every_dag(nodes: int) -> tuple[NDArray[np.int64], Numbers]:
    """Parent masks of every graph without cycles (graphs, nodes), and how many orders each of them fits."""
    codes = []
    for order in permutations(range(nodes)):
        own = np.zeros(1, dtype=np.int64)
        for place, node in enumerate(order):
            masks = np.array([naive.mask_of(members) for members in naive.all_subsets(order[:place])], dtype=np.int64)
            own = (own[:, None] + (masks << nodes * node)).ravel()
        codes.append(own)
    graphs, orders = np.unique(np.concatenate(codes), return_counts=True)
    return graphs[:, None] >> nodes * np.arange(nodes) & (1 << nodes) - 1, orders.astype(float)


@cache
def ancestors(nodes: int) -> NDArray[np.int64]:
    """The masks of the proper ancestors of each node in every graph."""
    parents, _ = every_dag(nodes)
    result = parents.copy()
    for _ in range(nodes):
        for node in range(nodes):
            for other in range(nodes):
                result[:, node] |= np.where(result[:, node] >> other & 1 == 1, parents[:, other], 0)
    return result


def has_edge(nodes: int, parent: int, child: int) -> Flags:
    """The graphs with an edge."""
    return every_dag(nodes)[0][:, child] >> parent & 1 == 1


def has_path(nodes: int, start: int, end: int) -> Flags:
    """The graphs with a directed path."""
    return ancestors(nodes)[:, end] >> start & 1 == 1


@dataclass(frozen=True)
class Posterior:
    """Log p(value of the setting, graph, observed cells), a row each value, in the order of `every_dag`."""

    logs: Numbers
    #: Log p(value, completion, observed cells), in the order of `Choices.digits`.
    completions: Numbers
    choices: Choices
    nodes: int

    @property
    def graphs(self) -> Numbers:
        """The probability of each graph."""
        return np.exp(self.logs - naive.log_sum(self.logs.ravel())).sum(axis=0)

    @property
    def shares(self) -> Numbers:
        """The probability of each value of the setting."""
        return np.exp(self.logs - naive.log_sum(self.logs.ravel())).sum(axis=1)

    def probability(self, holds: Flags, given: Flags | None = None) -> float:
        """Of the graphs in which a statement holds, among those in which another does."""
        among = np.ones_like(holds) if given is None else given
        return float(self.graphs[holds & among].sum() / self.graphs[among].sum())

    def log_ratio(self, one: Flags, other: Flags) -> float:
        """How much more probable one statement is than another, as a log: a log ratio of evidences."""
        return float(np.log(self.graphs[one].sum() / self.graphs[other].sum()))

    @property
    def edges(self) -> Numbers:
        """The probability of each edge [parent, child]."""
        return self._matrix(every_dag(self.nodes)[0])

    @property
    def paths(self) -> Numbers:
        """The probability of a directed path [from, to]."""
        return self._matrix(ancestors(self.nodes))

    def _matrix(self, masks: NDArray[np.int64]) -> Numbers:
        graphs = self.graphs
        there = [
            [graphs[masks[:, end] >> start & 1 == 1].sum() for end in range(self.nodes)] for start in range(self.nodes)
        ]
        return np.array(there)

    def cell(self, number: int) -> Numbers:
        """The probability of each level of a gap, or of each point of the quadrature."""
        weights = np.exp(self.completions - naive.log_sum(self.completions.ravel())).sum(axis=0)
        digits = self.choices.digits[number]
        return np.array([weights[digits == digit].sum() for digit in range(self.choices.shape[number])])


def posterior(
    rows: Rows,
    scores: Sequence[FamilyScore],
    max_parents: int | None = None,
    *,
    orders: bool = False,
    prior: Prior | None = None,
    points: int = POINTS,
) -> Posterior:
    """Sum over all completions under every graph; several scores are equally probable before.

    With `orders`, a graph counts once for every order that it fits.
    """
    nodes = rows.values.shape[1]
    choices = choices_of(rows, points)
    parents, times = every_dag(nodes)
    times = times if orders else np.ones_like(times)
    graphs, completions = [], []
    for score in scores:
        families = family_logs(rows, choices, score, nodes - 1 if max_parents is None else max_parents, prior)
        families[0] = families[0] + choices.log_weight
        tops = [own.max() for own in families]
        shares = [np.exp(own - top) for own, top in zip(families, tops, strict=True)]
        of_graphs, of_completions = np.zeros(len(parents)), np.zeros(shares[0].shape[1])
        # As many graphs at a time as memory allows.
        for block in np.array_split(np.arange(len(parents)), len(parents) * shares[0].shape[1] // 10**7 + 1):
            product = times[block, None] * np.prod(
                [own[parents[block, node]] for node, own in enumerate(shares)], axis=0
            )
            of_graphs[block] = product.sum(axis=1)
            of_completions += product.sum(axis=0)
        with np.errstate(divide="ignore"):
            graphs.append(np.log(of_graphs) + sum(tops) - np.log(len(scores)))
            completions.append(np.log(of_completions) + sum(tops) - np.log(len(scores)))
    return Posterior(np.array(graphs), np.array(completions), choices, nodes)


# Without a list of graphs


class Sums:
    """The same sums for more columns, by recursion over sets of nodes, for all completions at once."""

    def __init__(
        self,
        rows: Rows,
        score: FamilyScore,
        max_parents: int | None = None,
        *,
        orders: bool = False,
        prior: Prior | None = None,
    ) -> None:
        self.nodes = rows.values.shape[1]
        choices = choices_of(rows)
        families = family_logs(rows, choices, score, self.nodes - 1 if max_parents is None else max_parents, prior)
        families[0] = families[0] + choices.log_weight
        # Sums over sinks cancel, so more digits than those of doubles.
        self.families = [np.exp((own - own.max()).astype(np.longdouble)) for own in families]
        self.orders = orders

    def weight(self, kept: Callable[[int, int], bool] = lambda _child, _mask: True) -> float:
        """The weight of all graphs whose families are kept, up to a factor that is the same for all questions."""
        alpha = []
        for child, own in enumerate(self.families):
            sums = np.array([row * kept(child, mask) for mask, row in enumerate(own)])
            for bit in range(self.nodes):
                for mask in range(1 << self.nodes):
                    if mask >> bit & 1:
                        sums[mask] += sums[mask ^ 1 << bit]
            alpha.append(sums)
        graphs = [np.ones_like(alpha[0][0])]
        for whole in range(1, 1 << self.nodes):
            members = tuple(node for node in range(self.nodes) if whole >> node & 1)
            total = np.zeros_like(graphs[0])
            for sinks in [(node,) for node in members] if self.orders else naive.all_subsets(members)[1:]:
                rest = whole ^ naive.mask_of(sinks)
                total += (
                    (-1) ** (len(sinks) + 1) * graphs[rest] * np.prod([alpha[node][rest] for node in sinks], axis=0)
                )
            graphs.append(total)
        return float(graphs[-1].sum())

    @property
    def edges(self) -> Numbers:
        """The probability of each edge [parent, child]."""
        result = np.zeros((self.nodes, self.nodes))
        for parent, child in permutations(range(self.nodes), 2):
            result[parent, child] = self.weight(partial(_has_parent, parent, child))
        return result / self.weight()


def _has_parent(parent: int, child: int, node: int, mask: int) -> bool:
    """Whether a family is one of other nodes, or has the parent."""
    return node != child or bool(mask >> parent & 1)
