"""Tables drawn from random sparse networks whose structure is known: what the methods for many nodes are tried on.

    python -m benchmarks.networks --nodes 40 --rows 1000 --network-seed 1 --data-seed 1 -o DATA.csv

Nodes come in a random order; each takes a binomial number of parents among those before it. A row of a table of
chances is drawn from a Dirichlet distribution and mixed with a little of every level, so that all levels occur in a
table of ordinary length. The columns are V0, V1, ... and say nothing about the order. A network and a table depend
on their seeds and nothing else.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dagpost.data import Table, as_table

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: The least chance of a level, whatever the parents: a level is missing from 1,000 rows about once in 10^13 times.
_LEAST_CHANCE = 0.03


@dataclass(frozen=True, eq=False)
class Network:
    """A Bayesian network of discrete columns.

    `order` has every parent before its children; `parents[i]` are the parents of column i, from low to high;
    `chances[i]` has a row for each configuration of the parents (the last parent changes fastest) and a column for
    each level.
    """

    order: tuple[int, ...]
    parents: tuple[tuple[int, ...], ...]
    chances: tuple[NDArray[np.float64], ...]

    @property
    def nodes(self) -> int:
        """Number of columns."""
        return len(self.parents)

    @property
    def edges(self) -> int:
        """Number of edges."""
        return sum(len(parents) for parents in self.parents)

    @property
    def arities(self) -> tuple[int, ...]:
        """Number of levels of each column."""
        return tuple(chances.shape[1] for chances in self.chances)

    def parent_masks(self) -> NDArray[np.uint64]:
        """The structure as in a `DagSample`: bit j of entry i is set where j is a parent of i."""
        return np.array([sum(1 << parent for parent in parents) for parents in self.parents], dtype=np.uint64)


def random_network(
    nodes: int,
    seed: int,
    *,
    mean_parents: float = 1.5,
    max_parents: int = 3,
    arities: tuple[int, ...] = (2, 3),
    concentration: float = 0.5,
) -> Network:
    """A random network; the first few nodes of its order have fewer parents than the mean.

    >>> network = random_network(40, seed=1)
    >>> network.nodes, network.edges, sorted(set(network.arities)), max(map(len, network.parents))
    (40, 59, [2, 3], 3)
    >>> place = np.argsort(network.order)
    >>> all(place[parent] < place[node] for node in range(40) for parent in network.parents[node])
    True
    """
    rng = np.random.default_rng(seed)
    order = rng.permutation(nodes)
    levels = rng.choice(arities, size=nodes)
    parents: list[tuple[int, ...]] = [()] * nodes
    for place, node in enumerate(order):
        count = min(place, int(rng.binomial(max_parents, mean_parents / max_parents)))
        parents[node] = tuple(sorted(int(parent) for parent in rng.choice(order[:place], size=count, replace=False)))
    chances = tuple(
        _random_chances(
            rng, int(np.prod(levels[list(parents[node])], dtype=np.int64)), int(levels[node]), concentration
        )
        for node in range(nodes)
    )
    return Network(tuple(int(node) for node in order), tuple(parents), chances)


def _random_chances(rng: np.random.Generator, rows: int, arity: int, concentration: float) -> NDArray[np.float64]:
    return _LEAST_CHANCE + (1 - arity * _LEAST_CHANCE) * rng.dirichlet([concentration] * arity, size=rows)


def draw_codes(network: Network, rows: int, seed: int) -> NDArray[np.int64]:
    """Independent rows of level codes, a column for each node; a level may be missing."""
    rng = np.random.default_rng(seed)
    arities = network.arities
    codes = np.zeros((rows, network.nodes), dtype=np.int64)
    for node in network.order:
        configuration = np.zeros(rows, dtype=np.int64)
        for parent in network.parents[node]:
            configuration = configuration * arities[parent] + codes[:, parent]
        bounds = network.chances[node].cumsum(axis=1)[configuration, :-1]
        codes[:, node] = (rng.random(rows)[:, None] > bounds).sum(axis=1)
    return codes


def draw_table(network: Network, rows: int, seed: int) -> Table:
    """Independent rows of a network as a table in which every level of every column occurs.

    >>> network = random_network(5, seed=1)
    >>> table = draw_table(network, 200, seed=2)
    >>> table.rows, table.names, table.arities == network.arities
    (200, ('V0', 'V1', 'V2', 'V3', 'V4'), True)
    """
    codes = draw_codes(network, rows, seed)
    for node, arity in enumerate(network.arities):
        missing = sorted(set(range(arity)) - {int(code) for code in np.unique(codes[:, node])})
        if missing:
            raise ValueError(
                f"Level {missing[0]} of column V{node} does not occur in the {rows} rows drawn with seed {seed}: "
                "draw more rows, or take another seed."
            )
    return as_table(codes)


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.networks", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--nodes", type=int, default=40)
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--network-seed", type=int, default=1)
    parser.add_argument("--data-seed", type=int, default=1)
    parser.add_argument("-o", "--output", type=Path, required=True, help="the CSV file to write")
    options = parser.parse_args()
    network = random_network(options.nodes, options.network_seed)
    try:
        table = draw_table(network, options.rows, options.data_seed)
    except ValueError as error:
        sys.exit(str(error))
    frame: Any = table.to_pandas()
    frame.to_csv(options.output, index=False)
    print(f"{table.rows} rows of {network.nodes} columns from a network of {network.edges} edges: {options.output}")


if __name__ == "__main__":
    main()
