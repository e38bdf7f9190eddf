"""Tables on which chains go astray, small enough for exact sums: what the campaign of verdicts.py is run on.

A table depends on its number alone. Six kinds take turns: numbers of a linear network cut into quantiles; rows of two
or three networks mixed; every column nearly a function of its parents; random networks; and numbers as they are (for
BGe), of one network and of two mixed. 8 to 14 columns, 100 to 5,000 rows.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from benchmarks.networks import Network, draw_codes, random_network
from numpy.typing import NDArray

from dagpost import BDeu, Table

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

SEED = 2031
KINDS = ("cut", "mixture", "near-deterministic", "cut", "mixture", "network", "gaussian", "gaussian mixture")
COLUMNS = (12, 8, 14, 12, 10)
#: The most rows come most often: there the modes are deepest.
ROWS = (5_000, 1_000, 5_000, 5_000, 200, 5_000, 5_000, 2_000, 5_000, 100, 5_000)


class Case(NamedTuple):
    """A table with what it is: its number and kind, and the score for it."""

    number: int
    kind: str
    score: str
    table: Table
    #: The equivalent sample size, for BDeu.
    size: float = 1.0

    @property
    def used_score(self) -> BDeu | str:
        """The score with its setting."""
        return BDeu(self.size) if self.score == "bdeu" else self.score

    def about(self) -> dict[str, str | int | float]:
        """What a result says of its table."""
        columns = len(self.table.names)
        return {
            "table": self.number,
            "kind": self.kind,
            "columns": columns,
            "rows": self.table.rows,
            "score": self.score,
            "equivalent_size": self.size,
        }


def case(number: int) -> Case:
    """The table of that number."""
    rng = np.random.default_rng([SEED, number])
    kind = KINDS[number % len(KINDS)]
    columns, rows = COLUMNS[number % len(COLUMNS)], ROWS[number % len(ROWS)]
    if kind in ("gaussian", "gaussian mixture"):
        parts = 1 if kind == "gaussian" else 2
        values = np.concatenate([linear(rng, columns, rows // parts) for _ in range(parts)])
        return Case(number, kind, "bge", _numbers(values))
    if kind == "cut":
        codes = cut(rng, linear(rng, columns, rows))
    elif kind == "mixture":
        codes = mixture(rng, columns, rows)
    elif kind == "near-deterministic":
        codes = _near_functions(rng, columns, rows)
    else:
        network = random_network(columns, int(rng.integers(2**31)))
        codes = draw_codes(network, rows, int(rng.integers(2**31)))
    return Case(number, kind, "bdeu", table_of_codes(codes))


def linear(rng: np.random.Generator, columns: int, rows: int) -> Floats:
    """Every column a weighted sum of some of those before it, in a random order, and normal noise."""
    data = np.zeros((rows, columns))
    order = rng.permutation(columns)
    for place, node in enumerate(order):
        parents = rng.choice(order[:place], size=min(place, int(rng.integers(0, 5))), replace=False)
        weights = rng.uniform(0.3, 1.2, size=len(parents)) * rng.choice([-1.0, 1.0], size=len(parents))
        total = data[:, parents] @ weights + rng.normal(size=rows)
        data[:, node] = (total - total.mean()) / total.std()
    return data


def cut(rng: np.random.Generator, data: Floats) -> Codes:
    """Every column in two to four quantiles."""
    codes = np.zeros(data.shape, dtype=np.int64)
    for column in range(data.shape[1]):
        bins = int(rng.integers(2, 5))
        cuts = np.quantile(data[:, column], np.arange(1, bins) / bins)
        codes[:, column] = np.searchsorted(cuts, data[:, column])
    return codes


def mixture(rng: np.random.Generator, columns: int, rows: int) -> Codes:
    """Rows of two or three networks with the same columns: no network fits, and many fit nearly as badly."""
    parts = int(rng.integers(2, 4))
    arities = (int(rng.integers(2, 4)),)
    drawn = []
    for part in range(parts):
        share = rows // parts + (part < rows % parts)
        network: Network = random_network(columns, int(rng.integers(2**31)), mean_parents=2.0, arities=arities)
        drawn.append(draw_codes(network, share, int(rng.integers(2**31))))
    return np.concatenate(drawn)


def _near_functions(rng: np.random.Generator, columns: int, rows: int) -> Codes:
    """Columns of 0 and 1: a copy, an exclusive or, or an and of others, a few of a hundred the wrong way."""
    codes = np.zeros((rows, columns), dtype=np.int64)
    order = rng.permutation(columns)
    for place, node in enumerate(order):
        count = min(place, int(rng.choice([0, 1, 2, 2])))
        if count == 0:
            codes[:, node] = rng.random(rows) < rng.uniform(0.3, 0.7)
            continue
        own = codes[:, rng.choice(order[:place], size=count, replace=False)]
        values = own.sum(axis=1) % 2 if rng.random() < 0.5 else own.min(axis=1)
        codes[:, node] = np.where(rng.random(rows) < rng.uniform(0.01, 0.06), 1 - values, values)
    return codes


def _names(columns: int) -> tuple[str, ...]:
    return tuple(f"V{column}" for column in range(columns))


def _numbers(values: Floats) -> Table:
    columns = values.shape[1]
    return Table(_names(columns), tuple(np.ascontiguousarray(values.T)), (None,) * columns)


def table_of_codes(codes: Codes) -> Table:
    """Codes as a table, a column with the levels that occur in it."""
    columns, levels = [], []
    for column in codes.T:
        # Only those that occur: a table of few rows may lack some.
        found, place = np.unique(column, return_inverse=True)
        columns.append(np.ascontiguousarray(place, dtype=np.uint8))
        levels.append(tuple(int(level) for level in found))
    return Table(_names(len(columns)), tuple(columns), tuple(levels))
