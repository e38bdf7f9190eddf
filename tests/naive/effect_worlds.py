"""Worlds with known effects: networks from the prior of a score, and tables from them, row after row."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from tests.naive import mixed
from tests.naive.causal import Generator, Pseudocounts, members
from tests.naive.effect_posteriors import Part, Weighed, drawn_network
from tests.naive.effects import Levels, Network, Number
from tests.naive.posterior import all_dags

from dagpost.data.table import Table

NAMES = ("A", "B", "C", "D", "E")


def empty_table(arities: Sequence[int], rows: int = 0) -> Table:
    """Columns of levels, 0, 1, 2, ..., or of numbers where there are 0 levels."""
    columns = tuple(np.zeros(rows, dtype=np.uint8 if arity else np.float64) for arity in arities)
    levels = tuple(tuple(range(arity)) if arity else None for arity in arities)
    return Table(NAMES[: len(arities)], columns, levels)


def prior_of(arities: Sequence[int], size: float, mean: float = 0.0, scale: float = 1.0) -> Part:
    """A prior that does not look at the data: `size` rows of levels, and numbers about `mean`, all `scale` wide."""
    numbers = arities.count(0)
    prior = mixed.Prior(size, 1.0, numbers + 2.0, np.full(numbers, mean), np.full(numbers, scale))
    return Part(lambda *_: 0.0, Pseudocounts(size=size), prior)


def world_from_prior(arities: Sequence[int], part: Part, generator: Generator) -> Network:
    """A graph, each as likely as any other, in which no number leads to levels, and its parameters."""
    table = empty_table(arities)
    graphs = mixed.possible(table, all_dags(len(arities)))
    graph = tuple(graphs[generator.integers(len(graphs))])
    return drawn_network(table, Weighed(graph, part, 1.0), generator)


def table_from(network: Network, rows: int, generator: Generator) -> Table:
    """Rows of the network, node after node as its parents come."""
    table = empty_table(network.arities, rows)
    placed: list[int] = []
    while len(placed) < len(network.nodes):
        for node in network.nodes:
            if node not in placed and set(members(network.graph[node])) <= set(placed):
                placed.append(node)
                for row in range(rows):
                    table.columns[node][row] = _cell(network, table, node, row, generator)
    return table


def _cell(network: Network, table: Table, node: int, row: int, generator: Generator) -> float:
    codes = tuple(int(table.columns[parent][row]) for parent in network.level_parents(node))
    mechanism = network.mechanisms[node]
    if isinstance(mechanism, Levels):
        return float(np.searchsorted(np.cumsum(mechanism.shares[codes])[:-1], generator.random()))
    assert isinstance(mechanism, Number)
    assert mechanism.deviations is not None
    intercept, slopes = mechanism.lines[codes]
    mean = intercept + sum(slope * table.columns[parent][row] for parent, slope in slopes.items())
    return float(generator.normal(mean, mechanism.deviations[codes]))
