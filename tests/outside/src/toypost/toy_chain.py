"""A chain of our own: one edge more or less at a time, in plain Python."""

from __future__ import annotations

import math
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from dagpost import ChainMethod, StepCost


class State(NamedTuple):
    """The parents of every node, as masks."""

    parents: Any


@dataclass(frozen=True)
class ToyChain(ChainMethod):
    """Madigan & York's chain, as slow as can be."""

    chains: int = 2
    thinning: int = 5
    burn_in: int = 500

    name = "toy-chain"
    summary = "a toy: chains over graphs, one edge at a time"
    modularity = "structure"
    moves = ("toggle an edge",)
    costs = StepCost(1e-5, 0.0, 0.0, 1e-5, 0.0, 0.0)

    @property
    def moves_module(self) -> Any:
        return SimpleNamespace(State=State, start=start, advance=advance)

    def prepare(self, workspace: Any) -> Any:
        exact = workspace.all_families(self.name)
        return exact.log_weights, exact.max_parents


def start(context: Any, generator: np.random.Generator) -> State:
    """The graph without edges."""
    return State(np.zeros(len(context[0]), dtype=np.uint64))


def advance(context: Any, state: State, generator: np.random.Generator, output: Any, cancel: Any) -> None:
    """One round."""
    nodes = len(state.parents)
    for kept in range(len(output.log_joint)):
        for _ in range(output.thinning):
            if cancel[0]:
                return
            child, parent = generator.choice(nodes, 2, replace=False).tolist()
            proposed = state.parents.copy()
            proposed[child] ^= np.uint64(1 << parent)
            output.proposed[0] += 1
            change = _log_weight(*context, proposed) - _log_weight(*context, state.parents)
            if generator.random() < math.exp(min(change, 0.0)):
                state.parents[:] = proposed
                output.accepted[0] += 1
        output.parents[kept] = state.parents
        output.log_joint[kept] = output.log_state[kept] = _log_weight(*context, state.parents)


def _log_weight(log_weights: Any, max_parents: int, parents: Any) -> float:
    masks = [int(mask) for mask in parents]
    if any(mask.bit_count() > max_parents for mask in masks) or not _is_acyclic(masks):
        return -math.inf
    return float(sum(log_weights[node, _number(node, mask, len(masks))] for node, mask in enumerate(masks)))


def _number(node: int, mask: int, nodes: int) -> int:
    """The number of a parent set: by size, then colexicographically over the other nodes."""
    members = [other - (other > node) for other in range(nodes) if mask >> other & 1]
    before = sum(math.comb(nodes - 1, size) for size in range(len(members)))
    return before + sum(math.comb(member, rank + 1) for rank, member in enumerate(members))


def _is_acyclic(masks: list[int]) -> bool:
    left = set(range(len(masks)))
    while left:
        sources = {node for node in left if not any(masks[node] >> other & 1 for other in left)}
        if not sources:
            return False
        left -= sources
    return True
