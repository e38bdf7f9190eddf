"""Plain twins of engines/cuda/kernels/structure.cu: the alternating sums over all graphs, term by term.

A term is a double and a power of two, as on the device; the terms of a sum are put on the scale of the largest and
added without rounding, where the kernels add them in the order that suits a device.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from tests.naive.cuda import Launch, bits_of, in_logs, squeeze, sum_one_bit

from dagpost._tools.wide_floats import FRACTION_BITS, ZERO, to_logs

SMALLEST_SHIFT = -1000


class Scaled(NamedTuple):
    """A double times a power of two."""

    value: float
    exponent: int

    def on(self, scale: int) -> float:
        """The number over 2^scale; zero where it is too small to matter."""
        shift = self.exponent - scale
        return math.ldexp(self.value, shift) if shift >= SMALLEST_SHIFT else 0.0


def scaled(wide: int) -> Scaled:
    """A wide float as a number in [1, 2) and an exponent."""
    wide = int(wide)
    return Scaled(1.0 + (wide & ((1 << FRACTION_BITS) - 1)) / (1 << FRACTION_BITS), wide >> FRACTION_BITS)


def as_wide(value: float, exponent: int) -> int:
    """A number that is not negative, times a power of two, as a wide float."""
    if value < np.finfo(np.float64).tiny:
        return int(ZERO)
    fraction, own = math.frexp(value)
    exponent += own - 1
    if exponent <= int(ZERO) >> FRACTION_BITS:
        return int(ZERO)
    return (exponent << FRACTION_BITS) + round((2.0 * fraction - 1.0) * (1 << FRACTION_BITS))


def sets_added(outside: list[int]) -> Iterator[list[int]]:
    """All nonempty subsets of the nodes outside a set."""
    for mask in range(1, 1 << len(outside)):
        yield [outside[bit] for bit in bits_of(mask)]


class _Set:
    """A set of nodes, alpha of every node outside, and the products of (-alpha) over the nodes that are added."""

    def __init__(self, members: int, nodes: int, alpha: np.ndarray) -> None:
        self.members = members
        self.outside = [node for node in range(nodes) if not members >> node & 1]
        self.alpha = {node: scaled(alpha[(node << (nodes - 1)) + squeeze(members, node)]) for node in self.outside}

    def products(self) -> Iterator[tuple[list[int], int, Scaled]]:
        """The nodes added, the set that is reached, and the product over them."""
        for added in sets_added(self.outside):
            factors = [self.alpha[node] for node in added]
            product = math.prod(-factor.value for factor in factors)
            reached = self.members | sum(1 << node for node in added)
            yield added, reached, Scaled(product, sum(factor.exponent for factor in factors))


def _sets_of_block(launch: Launch, upper: int, *, largest_first: bool) -> list[int]:
    bits = launch.constants["ROWS"]
    rows = sorted(range(1 << bits), key=int.bit_count, reverse=largest_first)
    return [upper << bits | row for row in rows]


def sums_over_graphs(
    launch: Launch, alpha: np.ndarray, sums: np.ndarray, graphs: np.ndarray, uppers: np.ndarray
) -> None:
    nodes = launch.constants["NODES"]
    for upper in uppers[: launch.grid[0]].tolist():
        for members in _sets_of_block(launch, upper, largest_first=False):
            if members == 0:
                graphs[members] = 1.0
            if not graphs[members] > 0.0:
                continue
            for _, reached, product in _Set(members, nodes, alpha).products():
                given = Scaled(-graphs[members] * product.value, scaled(sums[members]).exponent + product.exponent)
                graphs[reached] += given.on(scaled(sums[reached]).exponent)


def completions_of_sets(
    launch: Launch,
    alpha: np.ndarray,
    sums: np.ndarray,
    graphs: np.ndarray,
    completions: np.ndarray,
    completion_exponents: np.ndarray,
    given: np.ndarray,
    errors: np.ndarray,
    uppers: np.ndarray,
) -> None:
    nodes, impossible = launch.constants["NODES"], launch.constants["NOTHING"]
    everything = (1 << nodes) - 1
    for upper in uppers[: launch.grid[0]].tolist():
        errors[upper] = 0.0
        for members in _sets_of_block(launch, upper, largest_first=True):
            own = _Set(members, nodes, alpha)
            terms = [
                (
                    added,
                    Scaled(completions[reached] * product.value, int(completion_exponents[reached]) + product.exponent),
                )
                for added, reached, product in own.products()
                if completions[reached] > 0.0
            ]
            scale = max((term.exponent for _, term in terms), default=impossible)
            total = -math.fsum(term.on(scale) for _, term in terms)
            if members == everything:
                completions[members], completion_exponents[members] = 1.0, 0
            elif total > 0.0:
                fraction, exponent = math.frexp(total)
                completions[members], completion_exponents[members] = 2.0 * fraction, exponent - 1 + scale
            else:
                completions[members], completion_exponents[members] = 0.0, impossible
            about = scaled(sums[members]).exponent + scale
            unit = Scaled(max(graphs[members], 0.0), about).on(scaled(sums[-1]).exponent)
            errors[upper] += unit * math.fsum(abs(term.on(scale)) for _, term in terms)
            for node in own.outside:
                share = -math.fsum(term.on(scale) for added, term in terms if node in added)
                value, found = graphs[members] * share / own.alpha[node].value, int(ZERO)
                if share > 0.0 and value > 0.0:
                    found = as_wide(value, about - own.alpha[node].exponent)
                given[(node << (nodes - 1)) + squeeze(members, node)] = found


def _sum_bits(count: int, values: np.ndarray, first: int, supersets: int) -> None:
    def run(logs: np.ndarray) -> None:
        for bit in range(first, first + count):
            sum_one_bit(logs, bit, bool(supersets))

    in_logs(run, (values,))


def one_bit(launch: Launch, values: np.ndarray, first: int, supersets: int) -> None:
    _sum_bits(1, values, first, supersets)


def three_bits(launch: Launch, values: np.ndarray, first: int, supersets: int) -> None:
    _sum_bits(3, values, first, supersets)


def _places(launch: Launch, parent_sets: np.ndarray) -> Iterator[tuple[int, int]]:
    """Where each weight that a thread takes care of stands in the dense tables."""
    nodes, families = launch.constants["NODES"], launch.constants["FAMILIES"]
    for place in range(min(nodes * families, launch.threads)):
        node, family = divmod(place, families)
        yield place, (node << (nodes - 1)) + int(parent_sets[family])


def place_weights(launch: Launch, weights: np.ndarray, parent_sets: np.ndarray, values: np.ndarray) -> None:
    for place, dense in _places(launch, parent_sets):
        values[dense] = weights[place]


def pick_weights(launch: Launch, values: np.ndarray, parent_sets: np.ndarray, weights: np.ndarray) -> None:
    for place, dense in _places(launch, parent_sets):
        weights[place] = values[dense]


def _chances(launch: Launch, alpha: np.ndarray, given: np.ndarray, evidence: int, node: int) -> np.ndarray:
    own = slice(node << (launch.constants["NODES"] - 1), (node + 1) << (launch.constants["NODES"] - 1))
    chances: np.ndarray = np.exp(to_logs(alpha[own]) + to_logs(given[own]) - to_logs(np.array([evidence])))
    return chances


def sum_paths(launch: Launch, alpha: np.ndarray, given: np.ndarray, evidence: int, paths: np.ndarray) -> None:
    nodes = launch.constants["NODES"]
    assert launch.grid[1] == nodes
    threads = 32 * launch.constants["WARPS"]
    assert launch.block == threads
    by_block = paths.reshape(launch.grid[0], nodes, nodes)
    for node in range(nodes):
        others = [other for other in range(nodes) if other != node]
        by_block[:, node, others] = 0.0
        for rest, chance in enumerate(_chances(launch, alpha, given, evidence, node)):
            for place, other in enumerate(others):
                if not rest >> place & 1:
                    by_block[rest // threads % launch.grid[0], node, other] += chance


def chances_of_node(
    launch: Launch, alpha: np.ndarray, given: np.ndarray, evidence: int, node: int, chances: np.ndarray
) -> None:
    found = _chances(launch, alpha, given, evidence, node)[: launch.threads]
    chances[: len(found)] = found


KERNELS = {
    "sums_over_graphs": sums_over_graphs,
    "completions_of_sets": completions_of_sets,
    "sum_one_bit": one_bit,
    "sum_three_bits": three_bits,
    "place_weights": place_weights,
    "pick_weights": pick_weights,
    "sum_paths": sum_paths,
    "chances_of_node": chances_of_node,
}
