"""Plain twins of engines/cuda/kernels/layers.cu: source layers drawn for many samples at once."""

from __future__ import annotations

import math

import numpy as np
from tests.naive.cuda import Launch, bits_of, squeeze
from tests.naive.cuda_structure import SMALLEST_SHIFT, scaled


def describe_groups(
    launch: Launch,
    alpha: np.ndarray,
    placed: np.ndarray,
    last: np.ndarray,
    groups: int,
    left: int,
    outside: np.ndarray,
    now: np.ndarray,
    before: np.ndarray,
    exponents: np.ndarray,
) -> None:
    nodes = launch.constants["NODES"]
    for group in range(min(groups, launch.threads)):
        members, layer = int(placed[group]), int(last[group])
        missing = [node for node in range(nodes) if not members >> node & 1]
        assert len(missing) == left
        for position, node in enumerate(missing, group * left):
            value = scaled(alpha[(node << (nodes - 1)) + squeeze(members, node)])
            earlier = scaled(alpha[(node << (nodes - 1)) + squeeze(members & ~layer, node)])
            outside[position], now[position], exponents[position] = node, value.value, value.exponent
            before[position] = min(earlier.on(value.exponent), value.value) if layer else 0.0


def _reached(
    group: int, added: int, placed: np.ndarray, outside: np.ndarray, exponents: np.ndarray, left: int
) -> tuple[int, int]:
    """The set with some of the nodes outside added, and the exponent of their product."""
    positions = [group * left + bit for bit in bits_of(added)]
    members = int(placed[group]) | sum(1 << int(outside[position]) for position in positions)
    return members, sum(int(exponents[position]) for position in positions)


def largest_shifts(
    launch: Launch,
    completion_exponents: np.ndarray,
    placed: np.ndarray,
    outside: np.ndarray,
    exponents: np.ndarray,
    left: int,
    largest: np.ndarray,
) -> None:
    for group in range(launch.grid[1]):
        for added in range(1 << left):
            place, shift = _reached(group, added, placed, outside, exponents, left)
            largest[group] = max(largest[group], shift + int(completion_exponents[place]))


def fill_tensors(
    launch: Launch,
    completions: np.ndarray,
    completion_exponents: np.ndarray,
    placed: np.ndarray,
    outside: np.ndarray,
    exponents: np.ndarray,
    left: int,
    largest: np.ndarray,
    tensors: np.ndarray,
) -> None:
    for group in range(launch.grid[1]):
        for added in range(1 << left):
            place, shift = _reached(group, added, placed, outside, exponents, left)
            shift = max(shift + int(completion_exponents[place]) - int(largest[group]), SMALLEST_SHIFT)
            tensors[(group << left) + added] = math.ldexp(completions[place], shift)


def part_tensors(
    launch: Launch,
    tensors: np.ndarray,
    group_of: np.ndarray,
    now: np.ndarray,
    left: int,
    position: int,
    branches: int,
    parted: np.ndarray,
) -> None:
    halves = tensors[: branches << (position + 1)].reshape(branches, 2, 1 << position)
    staying, joining = parted.reshape(2, branches, 1 << position)
    for branch in range(branches):
        without, with_it = halves[branch]
        staying[branch] = without - now[group_of[branch] * left + position] * with_it
        joining[branch] = with_it


def _folded(rows: np.ndarray, group_of: np.ndarray, before: np.ndarray, left: int, position: int) -> np.ndarray:
    """One node fewer to sum over: rows that stay out of the layer, then rows that join it."""
    factors = before[group_of * left + position]
    halves = rows.reshape(len(rows), 2, 1 << position)
    smaller: np.ndarray = halves[:, 0] - np.concatenate([factors, factors])[:, None] * halves[:, 1]
    return smaller


def fold(
    launch: Launch,
    rows: np.ndarray,
    group_of: np.ndarray,
    before: np.ndarray,
    left: int,
    position: int,
    branches: int,
    smaller: np.ndarray,
) -> None:
    both = rows.reshape(2 * branches, -1)
    smaller[:] = _folded(both, group_of[:branches], before, left, position).reshape(-1)


def fold_rest(
    launch: Launch,
    rows: np.ndarray,
    group_of: np.ndarray,
    before: np.ndarray,
    left: int,
    count: int,
    branches: int,
    totals: np.ndarray,
) -> None:
    assert count <= launch.constants["FOLDED_NODES"], "a row that does not fit in shared memory"
    assert launch.grid[0] == 2 * branches, "one block a row"
    values = rows.reshape(2 * branches, 1 << count)
    for position in range(count - 1, -1, -1):
        values = _folded(values, group_of[:branches], before, left, position)
    totals[: 2 * branches] = values[:, 0]


def decide(
    launch: Launch,
    totals: np.ndarray,
    group_of: np.ndarray,
    now: np.ndarray,
    before: np.ndarray,
    chosen: np.ndarray,
    left: int,
    position: int,
    branches: int,
    samples: int,
    branch_of: np.ndarray,
    uniforms: np.ndarray,
) -> None:
    for sample in range(min(samples, launch.threads)):
        branch, uniform = int(branch_of[sample]), float(uniforms[sample])
        place = group_of[branch] * left + position
        staying = max(float(totals[branch]), 0.0)
        joining = max(float((now[place] - before[place]) * totals[branches + branch]), 0.0)
        if position == 0 and chosen[branch] == 0:
            staying, joining = 0.0, 1.0
        chance = joining / (joining + staying) if joining + staying > 0.0 else 0.5
        if uniform < chance:
            uniforms[sample], branch_of[sample] = uniform / chance, branches + branch
        else:
            uniforms[sample] = (uniform - chance) / (1.0 - chance)


def take_branches(
    launch: Launch, parted: np.ndarray, taken: np.ndarray, position: int, count: int, tensors: np.ndarray
) -> None:
    tensors.reshape(count, 1 << position)[:] = parted.reshape(-1, 1 << position)[taken[:count]]


def place_layer(
    launch: Launch,
    placed: np.ndarray,
    last: np.ndarray,
    outside: np.ndarray,
    now: np.ndarray,
    before: np.ndarray,
    exponents: np.ndarray,
    chosen: np.ndarray,
    group_of: np.ndarray,
    branch_of: np.ndarray,
    members: np.ndarray,
    left: int,
    samples: int,
    all_samples: int,
    placed_of: np.ndarray,
    last_of: np.ndarray,
    allowed: np.ndarray,
    to_meet: np.ndarray,
    joined_weight: np.ndarray,
) -> None:
    nodes = launch.constants["NODES"]
    allowed, to_meet = allowed.reshape(nodes, all_samples), to_meet.reshape(nodes, all_samples)
    joined_weight = joined_weight.reshape(all_samples, nodes)
    for place in range(min(samples, launch.threads)):
        sample, branch = int(members[place]), int(branch_of[place])
        group, layer = int(group_of[branch]), 0
        for bit in bits_of(int(chosen[branch])):
            position = group * left + bit
            node = int(outside[position])
            layer |= 1 << node
            allowed[node, sample], to_meet[node, sample] = placed[group], last[group]
            ratio = before[position] / now[position]
            weight = math.log(now[position]) + int(exponents[position]) * math.log(2.0)
            joined_weight[sample, node] = -math.inf if ratio > 1.0 - 1e-6 else weight + math.log1p(-ratio)
        placed_of[sample], last_of[sample] = int(placed[group]) | layer, layer


KERNELS = {
    function.__name__: function
    for function in (
        describe_groups,
        largest_shifts,
        fill_tensors,
        part_tensors,
        fold,
        fold_rest,
        decide,
        take_branches,
        place_layer,
    )
}
