"""Tables drawn from networks whose structure is known: what calibration is measured on.

Published networks (asia, sachs, child, insurance) are read from BIF files. Those of more than 14 variables are cut to
the first 14 in topological order. Such a set holds the parents of all its members, so that the rows of these variables
alone come from the sub-network, and its edges are the truth; no cause is hidden. Random networks come from
benchmarks/networks.py, those of numbers from `continuous_case`. Everything depends on the seeds and nothing else.
"""

from __future__ import annotations

import re
import tempfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from benchmarks.networks import Network, draw_codes, random_network
from numpy.typing import NDArray

from dagpost.data import Table
from dagpost.prediction.network_files import Parts, read_network

Flags = NDArray[np.bool_]
Floats = NDArray[np.float64]

SEED = 2027
BIF_FILES = Path(__file__).resolve().parents[2] / "shared" / "data"
MOST_NODES = 14
PUBLISHED = ("asia", "sachs", "child", "insurance")
RANDOM_NODES = (8, 10, 12, 15)
KINDS = ("linear Gaussian", "linear, not Gaussian", "curved")


class Case(NamedTuple):
    """One table and the network it comes from: `truth[a, b]` says whether there is an edge from a to b."""

    network: str
    rows: int
    replicate: int
    table: Table
    truth: Flags

    @property
    def key(self) -> str:
        """What a file of results calls it."""
        return f"{self.network}/{self.rows}/{self.replicate}"


def discrete_cases(rows: tuple[int, ...], replicates: int, published: tuple[str, ...] = PUBLISHED) -> Iterator[Case]:
    """Tables of discrete columns: published networks with new rows, random ones anew for each replicate."""
    for name in published:
        path = BIF_FILES / f"{name}.bif"
        if not path.exists():
            print(f"{name} is left out: there is no {path}", flush=True)
            continue
        title, network = _published(name, path)
        for count in rows:
            for replicate in range(replicates):
                yield _discrete_case(title, network, count, replicate)
    for nodes in RANDOM_NODES:
        for count in rows:
            for replicate in range(replicates):
                name = f"random, {nodes} nodes"
                network = random_network(nodes, _seed(name, count, replicate, 1))
                yield _discrete_case(name, network, count, replicate)


def continuous_cases(rows: tuple[int, ...], replicates: int) -> Iterator[Case]:
    """Tables of numbers, from random networks of 8 to 12 nodes."""
    for kind in KINDS:
        for count in rows:
            for replicate in range(replicates):
                yield continuous_case(kind, count, replicate)


def continuous_case(kind: str, rows: int, replicate: int) -> Case:
    """Rows of a random network: every node is a function of its parents and noise of standard deviation 1.

    Coefficients are between 0.4 and 1.2 with either sign. Noise is normal, or (not Gaussian) exponential, uniform or
    Student's with 3 degrees of freedom, by node. A curved effect is a square, a hyperbolic tangent, a sine or an
    absolute value of the standardised parent. Every column is standardised before it is passed on, so that the variance
    of a column does not tell its place in the order.
    """
    seed = _seed(kind, rows, replicate, 2)
    generator = np.random.default_rng(seed)
    nodes = int(generator.integers(8, 13))
    network = random_network(nodes, seed)
    data = np.zeros((rows, nodes))
    for node in network.order:
        total = _noise(generator, rows, gaussian=kind == KINDS[0])
        for parent in network.parents[node]:
            coefficient = generator.uniform(0.4, 1.2) * generator.choice([-1.0, 1.0])
            column = data[:, parent]
            total += coefficient * (_curved(generator, column) if kind == KINDS[2] else column)
        data[:, node] = (total - total.mean()) / total.std()
    names = tuple(f"V{node}" for node in range(nodes))
    table = Table(names, tuple(np.ascontiguousarray(data.T)), (None,) * nodes)
    return Case(kind, rows, replicate, table, _adjacency(network))


def _noise(generator: np.random.Generator, rows: int, *, gaussian: bool) -> Floats:
    if gaussian:
        return generator.normal(size=rows)
    drawn: Floats
    match int(generator.integers(3)):
        case 0:
            drawn = generator.exponential(size=rows) - 1
        case 1:
            drawn = generator.uniform(-np.sqrt(3), np.sqrt(3), size=rows)
        case _:
            drawn = generator.standard_t(3, size=rows) / np.sqrt(3)
    return drawn


def _curved(generator: np.random.Generator, column: Floats) -> Floats:
    match int(generator.integers(4)):
        case 0:
            result: Floats = column**2 / np.sqrt(2)
        case 1:
            result = np.tanh(2 * column)
        case 2:
            result = np.sin(2 * column)
        case _:
            result = np.abs(column)
    return result


def _discrete_case(name: str, network: Network, rows: int, replicate: int) -> Case:
    codes = draw_codes(network, rows, _seed(name, rows, replicate, 3))
    names = tuple(f"V{node}" for node in range(network.nodes))
    columns = tuple(np.ascontiguousarray(column) for column in codes.astype(np.uint8).T)
    # All levels of the network, whether they occur or not.
    levels = tuple(tuple(range(arity)) for arity in network.arities)
    return Case(name, rows, replicate, Table(names, columns, levels), _adjacency(network))


def _published(name: str, path: Path) -> tuple[str, Network]:
    """The network of a file, or the first `MOST_NODES` variables of it in topological order."""
    found = _read(path)
    place = {variable: number for number, variable in enumerate(found.names)}
    parents = [tuple(place[parent] for parent in above) for above in found.parents]
    order: list[int] = []
    while len(order) < len(parents):
        order.append(next(n for n in range(len(parents)) if n not in order and set(parents[n]) <= set(order)))
    kept = order[:MOST_NODES]
    new_place = {node: number for number, node in enumerate(kept)}
    above, chances = [], []
    for node in kept:
        axes = sorted(range(len(parents[node])), key=lambda axis: new_place[parents[node][axis]])
        above.append(tuple(new_place[parents[node][axis]] for axis in axes))
        table = np.transpose(found.tables[node], [*axes, len(axes)])
        chances.append(np.ascontiguousarray(table.reshape(-1, table.shape[-1])))
    title = name if len(kept) == len(order) else f"{name}, {len(kept)} of {len(order)} nodes"
    return title, Network(tuple(range(len(kept))), tuple(above), tuple(chances))


def _read(path: Path) -> Parts:
    """The network of a BIF file, whose levels may hold characters that pyAgrum does not take, such as "Asy/Patch"."""
    text = path.read_text(encoding="utf-8")
    labels = {label.strip() for listed in re.findall(r"discrete[^{]*{([^}]*)}", text) for label in listed.split(",")}
    for number, label in enumerate(sorted(labels)):
        if not label.isidentifier():
            text = re.sub(rf"(?<=[{{(,\s]){re.escape(label)}(?=[,)}}\s])", f"level_{number}", text)
    with tempfile.TemporaryDirectory() as folder:
        plain = Path(folder) / path.name
        plain.write_text(text, encoding="utf-8")
        return read_network(plain)


def _adjacency(network: Network) -> Flags:
    result = np.zeros((network.nodes, network.nodes), dtype=bool)
    for node, parents in enumerate(network.parents):
        result[list(parents), node] = True
    return result


def _seed(name: str, rows: int, replicate: int, what: int) -> int:
    return int(np.random.SeedSequence([SEED, zlib.crc32(name.encode()), rows, replicate, what]).generate_state(1)[0])
