"""Sums of numbers that are given by their logs, for kernels."""

from __future__ import annotations

import math

from dagpost._tools.arrays import Floats
from dagpost._tools.kernels import inline_no_refcount

#: A number that is smaller by this much changes no digit of a sum.
NEGLIGIBLE_NATS = 40.0


@inline_no_refcount
def add_logs(first: float, second: float) -> float:
    """Log of the sum of two numbers given by their logs."""
    large, small = max(first, second), min(first, second)
    if small < large - NEGLIGIBLE_NATS or small == -math.inf:
        return large
    return large + math.log1p(math.exp(small - large))


@inline_no_refcount
def choose(count: int, uniform: float, logs: Floats) -> int:
    """The number of one of some log weights, drawn in proportion; -1 where none is above zero. The logs are lost."""
    largest = logs[0]
    for place in range(1, count):
        largest = max(largest, logs[place])
    if not math.isfinite(largest):
        return -1
    total = 0.0
    for place in range(count):
        logs[place] = math.exp(logs[place] - largest)
        total += logs[place]
    left, chosen = uniform * total, -1
    for place in range(count):
        if logs[place] > 0.0:
            chosen = place
            left -= logs[place]
            if left < 0.0:
                break
    return chosen
