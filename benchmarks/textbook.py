"""The yardstick: the order-modular sums as textbooks write them, compiled, in logs.

`alpha` is stored for all `n 2^(n-1)` pairs of a node and a set of others, as natural logs in doubles; every
addition is `max + log1p(exp(-|d|))`; sets come in numeric order; one thread, no fastmath (Koivisto & Sood
2004). Memory: `n 2^(n-1)` doubles and two tables of `2^n`.
"""

from __future__ import annotations

import math

import numba
import numpy as np
from numpy.typing import NDArray

Logs = NDArray[np.float64]


@numba.njit(error_model="numpy")
def log_add(first: float, second: float) -> float:
    """Log of the sum of two numbers given by their logs."""
    largest = max(first, second)
    if largest == -math.inf:
        return largest
    return largest + math.log1p(math.exp(-abs(first - second)))


@numba.njit(error_model="numpy")
def squeeze(mask: int, node: int) -> int:
    """A set without `node` as a set of the other nodes."""
    low = (1 << node) - 1
    return (mask & low) | ((mask >> 1) & ~low)


@numba.njit(cache=True, nogil=True, error_model="numpy")
def fill_alpha(log_weights: Logs, sets: NDArray[np.uint64], alpha: Logs) -> None:
    """Row i: sums over all subsets of the weights of node i."""
    for node in range(alpha.shape[0]):
        row = alpha[node]
        row[:] = -math.inf
        for number in range(len(sets)):
            row[sets[number]] = log_weights[node, number]
        half = 1
        while half < len(row):
            for start in range(0, len(row), 2 * half):
                for place in range(start, start + half):
                    row[place + half] = log_add(row[place + half], row[place])
            half *= 2


@numba.njit(cache=True, nogil=True, error_model="numpy")
def fill_forward(alpha: Logs, forward: Logs) -> None:
    """Sums over all orders of each set."""
    nodes = alpha.shape[0]
    forward[0] = 0.0
    for mask in range(1, 1 << nodes):
        total = -math.inf
        for node in range(nodes):
            if mask >> node & 1:
                before = mask ^ (1 << node)
                total = log_add(total, forward[before] + alpha[node, squeeze(before, node)])
        forward[mask] = total


@numba.njit(cache=True, nogil=True, error_model="numpy")
def fill_backward(alpha: Logs, backward: Logs) -> None:
    """Sums over all orders of what is not in each set."""
    nodes = alpha.shape[0]
    backward[(1 << nodes) - 1] = 0.0
    for mask in range((1 << nodes) - 2, -1, -1):
        total = -math.inf
        for node in range(nodes):
            if not mask >> node & 1:
                total = log_add(total, backward[mask | (1 << node)] + alpha[node, squeeze(mask, node)])
        backward[mask] = total


@numba.njit(cache=True, nogil=True, error_model="numpy")
def fill_families(
    log_weights: Logs, sets: NDArray[np.uint64], forward: Logs, backward: Logs, products: Logs, families: Logs
) -> None:
    """Log probability of every family; `products` is the memory of alpha, which is no longer needed."""
    nodes = products.shape[0]
    log_evidence = forward[(1 << nodes) - 1]
    for node in range(nodes):
        row = products[node]
        for mask in range(1 << nodes):
            if not mask >> node & 1:
                row[squeeze(mask, node)] = forward[mask] + backward[mask | (1 << node)]
        half = 1
        while half < len(row):
            for start in range(0, len(row), 2 * half):
                for place in range(start, start + half):
                    row[place] = log_add(row[place], row[place + half])
            half *= 2
        for number in range(len(sets)):
            families[node, number] = log_weights[node, number] + row[sets[number]] - log_evidence


def forward_table(log_weights: Logs, sets: NDArray[np.uint64]) -> tuple[Logs, Logs]:
    """The table of alpha and the log of L of every set; `sets` are the parent sets in their numbering."""
    nodes = len(log_weights)
    alpha = np.empty((nodes, 1 << (nodes - 1)))
    forward = np.empty(1 << nodes)
    fill_alpha(log_weights, sets, alpha)
    fill_forward(alpha, forward)
    return alpha, forward


def family_probabilities(log_weights: Logs, sets: NDArray[np.uint64]) -> tuple[Logs, Logs]:
    """The log of L of every set and the probability of every family."""
    alpha, forward = forward_table(log_weights, sets)
    backward = np.empty_like(forward)
    fill_backward(alpha, backward)
    families = np.empty_like(log_weights)
    fill_families(log_weights, sets, forward, backward, alpha, families)
    return forward, np.exp(families)
