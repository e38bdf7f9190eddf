"""Plain twins of engines/cuda/kernels/sampling.cu and scores.cu: graphs from forward sums, and sums over cells."""

from __future__ import annotations

import math
from itertools import combinations
from math import comb

import numpy as np
from tests.naive.cuda import NOTHING, Launch, bits_of

from dagpost._tools.wide_floats import from_logs, to_logs


def visited_parent_sets(members: int, max_parents: int, place: int, count: int) -> list[int]:
    """The masks that the enumeration of sampling.cu visits from a place on."""
    size = 0
    while place >= comb(members, size):
        place -= comb(members, size)
        size += 1
    left, chosen, member = comb(members, size) - place, 0, members
    for position in range(size, 0, -1):
        member -= 1
        while comb(member, position) > place:
            member -= 1
        place -= comb(member, position)
        chosen |= 1 << member
    visited = []
    for _ in range(count):
        visited.append(chosen)
        left -= 1
        if left == 0:
            size += 1
            chosen = (1 << size) - 1
            left = comb(members, size) if size <= max_parents else 0
        elif chosen:
            lowest = chosen & -chosen
            ripple = chosen + lowest
            chosen = ripple | ((chosen ^ ripple) >> (lowest.bit_length() + 1))
    return visited


class _Families:
    """The parent sets of a node inside a set, in their numbering; what is looked up comes from constant memory."""

    def __init__(self, launch: Launch) -> None:
        self.nodes, self.limit = launch.constants["NODES"], launch.constants["MAX_PARENTS"]
        columns = self.limit + 2
        self.binomial = launch.constant("binomial", np.int32, (self.nodes + 1) * columns).reshape(-1, columns)
        self.found: dict[tuple[int, int], list[tuple[int, int]]] = {}

    def inside(self, allowed: int, node: int) -> list[tuple[int, int]]:
        """Mask and number of every parent set of a node inside a set."""
        if (allowed, node) not in self.found:
            masks = []
            for size in range(self.limit + 1):
                chosen = combinations(bits_of(allowed), size)
                masks += sorted(sum(1 << other for other in members) for members in chosen)
            self.found[allowed, node] = [(mask, self._number(mask, node)) for mask in masks]
        return self.found[allowed, node]

    def _number(self, mask: int, node: int) -> int:
        elements = [other if other < node else other - 1 for other in bits_of(mask)]
        start = int(self.binomial[self.nodes - 1, : len(elements)].sum())
        return start + sum(int(self.binomial[element, place + 1]) for place, element in enumerate(elements))


def alphas_of_sets(launch: Launch, weights: np.ndarray, sets: np.ndarray, alphas: np.ndarray) -> None:
    families, nodes = _Families(launch), launch.constants["NODES"]
    logs = to_logs(weights).reshape(nodes, launch.constants["FAMILIES"])
    by_set = alphas.reshape(-1, nodes)
    for block, members in enumerate(sets[: launch.grid[0]].tolist()):
        for node in range(launch.grid[1]):
            if members >> node & 1:
                own = [logs[node, number] for _, number in families.inside(members ^ 1 << node, node)]
                by_set[block, node] = from_logs(np.logaddexp.reduce(own, keepdims=True))[0]


def choose_last(
    launch: Launch,
    sums: np.ndarray,
    sets: np.ndarray,
    group: np.ndarray,
    alphas: np.ndarray,
    uniforms: np.ndarray,
    samples: int,
    placed: int,
    sets_of_samples: np.ndarray,
    predecessors: np.ndarray,
    chosen_alpha: np.ndarray,
) -> None:
    nodes = launch.constants["NODES"]
    log_sums, log_alphas = to_logs(sums), to_logs(alphas).reshape(-1, nodes)
    alphas, uniforms = alphas.reshape(-1, nodes), uniforms.reshape(-1, 2 * nodes)
    predecessors, chosen_alpha = predecessors.reshape(-1, nodes), chosen_alpha.reshape(-1, nodes)
    for sample in range(min(samples, launch.threads)):
        own = int(group[sample])
        members, running = int(sets[own]), 0.0
        last = 0
        for node in bits_of(members):
            log_probability = log_alphas[own, node] + log_sums[members ^ 1 << node] - log_sums[members]
            if log_probability > NOTHING:
                last = node
                running += math.exp(log_probability)
                if running > uniforms[sample, placed - 1]:
                    break
        before = members ^ 1 << last
        sets_of_samples[sample] = before
        predecessors[sample, last] = before
        chosen_alpha[sample, last] = alphas[own, last]


def draw_parents(
    launch: Launch,
    weights: np.ndarray,
    predecessors: np.ndarray,
    chosen_alpha: np.ndarray,
    uniforms: np.ndarray,
    parents: np.ndarray,
    families: np.ndarray,
) -> None:
    nodes, samples = launch.constants["NODES"], launch.grid[0]
    assert launch.grid[1] == nodes
    found = _Families(launch)
    logs, log_alphas = to_logs(weights).reshape(nodes, -1), to_logs(chosen_alpha).reshape(-1, nodes)
    uniforms, predecessors = uniforms.reshape(-1, 2 * nodes), predecessors.reshape(-1, nodes)
    parents, families = parents.reshape(-1, nodes), families.reshape(-1, nodes)
    for sample in range(samples):
        for node in range(nodes):
            inside = found.inside(int(predecessors[sample, node]), node)
            shares = [math.exp(logs[node, number] - log_alphas[sample, node]) for _, number in inside]
            target, running = uniforms[sample, nodes + node] * math.fsum(shares), 0.0
            for (mask, number), share in zip(inside, shares, strict=True):
                if share > 0.0:
                    parents[sample, node], families[sample, node] = mask, number
                    running += share
                    if running > target:
                        break


def sum_cells(
    launch: Launch,
    codes: np.ndarray,
    weights: np.ndarray,
    rows: int,
    parameters: np.ndarray,
    penalties: np.ndarray,
    variants: int,
    own_rows: int,
    strength: float,
    entropy: int,
    size: int,
    first: int,
    rank_start: int,
    sets: int,
    totals: np.ndarray,
) -> None:
    nodes, max_size = launch.constants["NODES"], launch.constants["MAX_SIZE"]
    binomial = launch.constant("binomial", np.int32, (nodes + 1) * (max_size + 1)).reshape(-1, max_size + 1)
    arities = launch.constant("arities", np.int32, nodes)
    codes, totals = codes.reshape(nodes, rows), totals.reshape(-1, sets)
    for block in range(launch.grid[0]):
        members = _members(rank_start + block, size, binomial)
        cells = int(np.prod(arities[members], dtype=np.int64))
        launch.need_shared(4 * cells * launch.constants["COPIES"])
        cell = np.zeros(rows, dtype=np.int64)
        for member in members:
            cell = cell * arities[member] + codes[member]
        counts = np.zeros(cells, dtype=np.int64)
        np.add.at(counts, cell, weights.astype(np.int64))
        for variant in range(-1, variants if size < max_size else 0):
            own = variant if own_rows else -1
            parameter = strength / cells if strength > 0.0 else float(parameters[own + 1])
            total = math.fsum(_term(int(count), parameter, bool(entropy)) for count in counts if count)
            penalty = float(penalties[variant]) * cells if variant >= 0 else 0.0
            totals[variant + 1, first + block] = total + penalty


def _term(count: int, parameter: float, entropy: bool) -> float:
    if entropy:
        return count * math.log(count)
    return math.lgamma(parameter + count) - math.lgamma(parameter)


def _members(rank: int, size: int, binomial: np.ndarray) -> list[int]:
    """The columns of the set at a place among those of its size, smallest first."""
    members: list[int] = []
    for position in range(size, 0, -1):
        element = max(element for element in range(len(binomial)) if binomial[element, position] <= rank)
        rank -= int(binomial[element, position])
        members.insert(0, element)
    return members


KERNELS = {
    "alphas_of_sets": alphas_of_sets,
    "choose_last": choose_last,
    "draw_parents": draw_parents,
    "sum_cells": sum_cells,
}
