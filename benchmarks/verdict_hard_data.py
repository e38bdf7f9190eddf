"""Tables that are hard for chains over graphs, with known answers: what verdicts.py runs block chains on.

A table depends on its number alone. Kinds take turns: columns that are copies of others (one, two, or a chain of
copies), near-copies, bundles of four columns that are nearly the same, functions of others without any noise, exclusive
ors (which no pair of columns shows), equivalent sample sizes of 0.001 and 0.01, mixtures of networks and numbers cut
into quantiles (no network fits), tens of thousands of rows, and the tables of He, Tian & Wu where they are at hand. 10
to 20 columns: exact sums take seconds.
"""

from __future__ import annotations

import numpy as np
from benchmarks.measuring import SHARED
from benchmarks.networks import draw_codes, random_network
from benchmarks.verdict_data import Case, Codes, cut, linear, mixture, table_of_codes

from dagpost.data import read_table

SEED = 2032
COLUMNS = (12, 14, 10, 13, 12, 15)
ROWS = (1_000, 200, 5_000, 500, 2_000)
#: One in five of all is one of these, with the equivalent sample size.
REAL = (
    ("zoo", 1.0),
    ("tumor", 1.0),
    ("insur19_m1000", 1.0),
    ("letter_m1000", 1.0),
    ("child_m500", 1.0),
    ("wine", 0.001),
    ("insur19_m200", 0.001),
    ("credit", 1.0),
    ("vehicle", 1.0),
    ("child_m100", 1.0),
    ("zoo", 0.001),
    ("insur19_m5000", 1.0),
    ("letter_m100", 0.01),
    ("housing", 1.0),
    ("syn15_m5000", 0.001),
    ("letter_m5000", 1.0),
)
KINDS = (
    "copies",
    "functions",
    "exclusive or",
    "real",
    "many rows",
    "chain of copies",
    "tiny sample size",
    "near-copies",
    "real",
    "exclusive or of three",
    "mixture, many rows",
    "functions, many rows",
    "cut, many rows",
    "bundles",
    "near-copies, many rows",
    "mixture",
)


def hard_case(number: int) -> Case:
    """The table of that number."""
    rng = np.random.default_rng([SEED, number])
    turn, kind = divmod(number, len(KINDS))
    kind = KINDS[kind]
    if kind == "real":
        name, size = REAL[(2 * turn + (number % len(KINDS) > 4)) % len(REAL)]
        if (SHARED / f"{name}.csv").exists():
            return Case(number, kind, "bdeu", read_table(SHARED / f"{name}.csv"), size)
        kind = "mixture"
    columns, rows = COLUMNS[turn % len(COLUMNS)], ROWS[(number + turn) % len(ROWS)]
    size = (1.0, 1.0, 0.001, 10.0)[turn % 4]
    if "many rows" in kind:
        rows = (20_000, 50_000, 100_000)[turn % 3]
    if kind == "tiny sample size":
        size = (0.001, 0.01)[turn % 2]
    codes = _codes(kind, rng, columns, rows)
    # Names and numbers say nothing of who came first.
    return Case(number, kind, "bdeu", table_of_codes(codes[:, rng.permutation(codes.shape[1])]), size)


def _codes(kind: str, rng: np.random.Generator, columns: int, rows: int) -> Codes:
    kind = kind.removesuffix(", many rows")
    if kind == "mixture":
        return mixture(rng, columns, rows).astype(np.int64)
    if kind == "cut":
        return cut(rng, linear(rng, columns, rows))
    if kind == "functions":
        return _functions(rng, columns, rows)
    if kind == "bundles":
        return _bundles(rng, columns, rows)
    if kind.startswith("exclusive or"):
        return _exclusive_or(rng, columns, rows, 3 if kind.endswith("three") else 2)
    if kind in ("many rows", "tiny sample size"):
        return _network(rng, columns, rows)
    if kind == "chain of copies":
        return _chain_of_copies(rng, columns, rows)
    noise = 0.0 if kind == "copies" else float(rng.choice([0.002, 0.01, 0.03]))
    return _copies(rng, columns, rows, noise)


def _network(rng: np.random.Generator, columns: int, rows: int) -> Codes:
    network = random_network(columns, int(rng.integers(2**31)), mean_parents=1.5)
    return draw_codes(network, rows, int(rng.integers(2**31))).astype(np.int64)


def _noisy(rng: np.random.Generator, values: Codes, noise: float) -> Codes:
    """Values, some of them drawn anew out of the same column."""
    return np.where(rng.random(len(values)) < noise, rng.permutation(values), values)


def _copies(rng: np.random.Generator, columns: int, rows: int, noise: float) -> Codes:
    """A network, and each of two or three of its columns once or twice more."""
    copied = int(rng.integers(2, 4))
    times = int(rng.integers(1, 3))
    codes = _network(rng, columns - copied * times, rows)
    chosen = rng.choice(codes.shape[1], size=copied, replace=False)
    more = [_noisy(rng, codes[:, column], noise) for column in chosen for _ in range(times)]
    return np.column_stack([codes, *more])


def _bundles(rng: np.random.Generator, columns: int, rows: int) -> Codes:
    """Every column of a network as four that are nearly the same, each wrong now and then on its own account."""
    codes = _network(rng, columns // 4, rows)
    return np.column_stack([_noisy(rng, column, 0.02) for column in codes.T for _ in range(4)])


def _chain_of_copies(rng: np.random.Generator, columns: int, rows: int) -> Codes:
    """A network, and near-copies of one of its columns, each of the one before, from exact to one in twenty wrong."""
    copies = columns // 3
    codes = _network(rng, columns - copies, rows)
    links = [codes[:, int(rng.integers(codes.shape[1]))]]
    for _ in range(copies):
        links.append(_noisy(rng, links[-1], float(rng.choice([0.0, 0.005, 0.05]))))
    return np.column_stack([codes, *links[1:]])


def _functions(rng: np.random.Generator, columns: int, rows: int) -> Codes:
    """A few random columns of two or three levels, and the others functions of one to three before them."""
    free = columns // 3
    codes = np.zeros((rows, columns), dtype=np.int64)
    for column in range(columns):
        if column < free:
            codes[:, column] = rng.choice(int(rng.integers(2, 4)), size=rows)
            continue
        own = codes[:, rng.choice(column, size=min(column, int(rng.integers(1, 4))), replace=False)]
        values = rng.integers(0, int(rng.integers(2, 4)), size=3 ** own.shape[1])
        codes[:, column] = values[own @ 3 ** np.arange(own.shape[1])]
        if len(np.unique(codes[:, column])) == 1:
            codes[:, column] = own[:, 0]
    return codes


def _exclusive_or(rng: np.random.Generator, columns: int, rows: int, inputs: int) -> Codes:
    """Fair coins, exclusive ors of two or three of them, some with a little noise, and noisy copies of any."""
    codes = np.zeros((rows, columns), dtype=np.int64)
    free = columns // 2
    codes[:, :free] = rng.random((rows, free)) < 0.5
    for column in range(free, columns):
        if rng.random() < 0.3:
            codes[:, column] = _noisy(rng, codes[:, int(rng.integers(column))], 0.2)
            continue
        own = codes[:, rng.choice(column, size=inputs, replace=False)].sum(axis=1) % 2
        codes[:, column] = np.where(rng.random(rows) < rng.choice([0.0, 0.02]), 1 - own, own)
    return codes
