"""Sums of numbers that are given by their logs, for kernels."""

from __future__ import annotations

import math

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
