"""The posterior of graphs and parameters by listing all graphs: weights, mean parameters and draws, family by family.

Columns of levels have Dirichlet distributions. Columns of numbers have regressions on their numeric parents, one for
each combination of the levels of their other parents, from a normal distribution of the mean and a Wishart distribution
of the precision matrix: the residual variance is the residual of the matrix over a chi-squared number, slopes are
normal around those of the matrix, and so is the mean of the column (Geiger & Heckerman 2002).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from tests.naive import exogenous, mixed, posterior, scores
from tests.naive.causal import Generator, Graph, Pseudocounts, has_path, members
from tests.naive.effects import Levels, Network, Number, Row
from tests.naive.features import graph_of, holds

from dagpost.data.table import Table
from dagpost.features import Feature

Family = Callable[[int, list[int]], float]


@dataclass(frozen=True)
class Part:
    """One setting of a score: the score of a family, and what it takes for the prior of parameters."""

    score: Family
    pseudocounts: Pseudocounts
    numbers: mixed.Prior | None = None


def of_levels(table: Table, size: float) -> Part:
    """BDeu."""
    return Part(lambda child, parents: scores.bdeu(table, child, parents, size), Pseudocounts(size=size))


def of_bic(table: Table) -> Part:
    return Part(lambda child, parents: scores.bic(table, child, parents), Pseudocounts(fixed=0.5))


def of_pseudocount(table: Table, pseudocount: float) -> Part:
    """BDe with a fixed pseudocount; K2 with 1."""
    return Part(
        lambda child, parents: scores.dirichlet(table, child, parents, pseudocount), Pseudocounts(fixed=pseudocount)
    )


def of_numbers(table: Table) -> Part:
    """BGe as it is without any settings."""
    prior = mixed.prior_of(table)
    return Part(
        lambda child, parents: scores.bge(
            table, child, parents, prior.weight, prior.degrees, prior.mean, prior.deviations
        ),
        Pseudocounts(),
        prior,
    )


# Graphs


@dataclass(frozen=True)
class Weighed:
    """A graph under one part of a score, with its posterior probability."""

    graph: tuple[int, ...]
    part: Part
    weight: float


def posterior_of(
    table: Table,
    parts: Sequence[Part],
    log_prior: Callable[[Graph], float],
    *,
    unmodelled: Iterable[int] = (),
    orders: bool = False,
    given: Feature | None = None,
) -> list[Weighed]:
    """Every graph under every part; with `orders` it counts once for every order of all nodes that it fits."""
    left_out = frozenset(unmodelled)
    nodes = len(table.names)
    found = []
    for part in parts:
        family = _remembered(part.score)
        for graph in exogenous.dags_given(nodes, left_out):
            log = log_prior(graph)
            if log == -math.inf or (given is not None and not holds(given, graph_of(np.array(graph), [*table.names]))):
                continue
            log += sum(family(node, members(graph[node])) for node in range(nodes) if node not in left_out)
            if orders:
                log += math.log(posterior.orders_of_every_dag(nodes)[graph])
            found.append((graph, part, log))
    logs = np.array([log for *_, log in found])
    weights = np.exp(logs - posterior.log_sum(logs))
    return [Weighed(graph, part, float(weight)) for (graph, part, _), weight in zip(found, weights, strict=True)]


def _remembered(score: Family) -> Family:
    known: dict[tuple[int, ...], float] = {}

    def family(child: int, parents: list[int]) -> float:
        key = (child, *parents)
        if key not in known:
            known[key] = score(child, parents)
        return known[key]

    return family


def allowed(
    max_parents: int,
    forbidden: Iterable[tuple[int, int]] = (),
    required: Iterable[tuple[int, int]] = (),
    tiers: Sequence[Sequence[int]] = (),
) -> Callable[[Graph], float]:
    """The log of a uniform prior of the graphs that obey the rules: 0, or minus infinity."""
    place = {node: level for level, tier in enumerate(tiers) for node in tier}
    left_out, wanted = set(forbidden), set(required)

    def log_prior(graph: Graph) -> float:
        edges = {(parent, child) for child, mask in enumerate(graph) for parent in members(mask)}
        fine = (
            all(int(mask).bit_count() <= max_parents for mask in graph)
            and not edges & left_out
            and wanted <= edges
            and not any(place[parent] > place[child] for parent, child in edges if {parent, child} <= set(place))
        )
        return 0.0 if fine else -math.inf

    return log_prior


# Parameters


def rows_of(table: Table, unmodelled: Iterable[int]) -> list[Row]:
    """The rows of the table, of which only the columns that are not modelled are kept."""
    columns = list(unmodelled)
    times = np.ones(table.rows) if table.counts is None else np.asarray(table.counts, dtype=float)
    if not columns:
        return [Row({}, 1.0)]
    pooled: dict[tuple[float, ...], float] = {}
    for row in range(table.rows):
        key = tuple(float(table.columns[column][row]) for column in columns)
        pooled[key] = pooled.get(key, 0.0) + float(times[row])
    return [Row(dict(zip(columns, key, strict=True)), own / times.sum()) for key, own in pooled.items()]


def mean_network(table: Table, weighed: Weighed, unmodelled: Iterable[int] = ()) -> Network:
    """The graph with the posterior means of its parameters."""
    return _network(table, weighed, unmodelled, None)


def drawn_network(table: Table, weighed: Weighed, generator: Generator, unmodelled: Iterable[int] = ()) -> Network:
    """The graph with parameters drawn from their posterior."""
    return _network(table, weighed, unmodelled, generator)


def _network(table: Table, weighed: Weighed, unmodelled: Iterable[int], generator: Generator | None) -> Network:
    left_out = set(unmodelled)
    arities = [0 if levels is None else len(levels) for levels in table.levels]
    mechanisms: list[Levels | Number | None] = []
    for node, mask in enumerate(weighed.graph):
        if node in left_out:
            mechanisms.append(None)
        elif arities[node]:
            mechanisms.append(_levels(table, weighed.part, node, members(mask), generator))
        else:
            mechanisms.append(_number(table, weighed.part, node, members(mask), generator))
    return Network(weighed.graph, arities, mechanisms, rows_of(table, left_out))


def _levels(table: Table, part: Part, node: int, parents: list[int], generator: Generator | None) -> Levels:
    cells, _ = scores.family_counts(table, node, parents)
    arity = table.arities[node]
    configurations = list(product(*(range(table.arities[parent]) for parent in parents)))
    pseudo = part.pseudocounts.of(len(configurations) * arity)
    shares: dict[tuple[int, ...], np.ndarray] = {}
    for codes in configurations:
        parameters = np.array([pseudo + cells[codes, code] for code in range(arity)])
        shares[codes] = parameters / parameters.sum() if generator is None else generator.dirichlet(parameters)
    return Levels(shares)


def _number(table: Table, part: Part, node: int, parents: list[int], generator: Generator | None) -> Number:
    assert part.numbers is not None
    numbers = mixed.numeric(table)
    discrete = [parent for parent in parents if parent not in numbers]
    explaining = [parent for parent in parents if parent in numbers]
    lines: dict[tuple[int, ...], tuple[float, Mapping[int, float]]] = {}
    deviations: dict[tuple[int, ...], float] = {}
    for codes in product(*(range(table.arities[parent]) for parent in discrete)):
        alike = mixed.rows_with(table, dict(zip(discrete, codes, strict=True)))
        rows = [row for row, count in scores.rows_for(alike, node) for _ in range(count)]
        data = np.array([[alike.columns[column][row] for column in numbers] for row in rows]).reshape(-1, len(numbers))
        intercept, slopes, deviations[codes] = _regression(
            data, numbers.index(node), [numbers.index(parent) for parent in explaining], part.numbers, generator
        )
        lines[codes] = intercept, dict(zip(explaining, slopes, strict=True))
    return Number(lines, None if generator is None else deviations)


def _regression(
    data: np.ndarray, node: int, parents: list[int], prior: mixed.Prior, generator: Generator | None
) -> tuple[float, list[float], float]:
    """Intercept and slopes of a column on others, and the deviation from them: means of the first two, or one draw."""
    rows, nodes = data.shape
    matrix = prior.weight * (prior.degrees - nodes - 1) / (prior.weight + 1) * np.diag(prior.deviations**2)
    centre = prior.mean
    if rows:
        mean = data.mean(axis=0)
        away = prior.mean - mean
        matrix = matrix + (data - mean).T @ (data - mean)
        matrix = matrix + rows * prior.weight / (rows + prior.weight) * np.outer(away, away)
        centre = (prior.weight * prior.mean + rows * mean) / (rows + prior.weight)
    among = matrix[np.ix_(parents, parents)]
    slopes = np.linalg.solve(among, matrix[parents, node])
    own, variance = centre[node], math.nan
    if generator is not None:
        left = matrix[node, node] - slopes @ matrix[parents, node]
        variance = left / generator.chisquare(prior.degrees + rows - nodes + len(parents) + 1)
        if parents:
            slopes = generator.multivariate_normal(slopes, variance * np.linalg.inv(among))
        own = generator.normal(own, math.sqrt(variance / (rows + prior.weight)))
    return float(own - slopes @ centre[parents]), slopes.tolist(), math.sqrt(variance)


# Sums over graphs


def no_path(weighed: Sequence[Weighed], cause: int, outcome: int) -> float:
    """The probability that the cause does not lead to the outcome."""
    return math.fsum(own.weight for own in weighed if not has_path(own.graph, cause, outcome))
