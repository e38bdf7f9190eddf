"""What do all graphs sum to where a parent set weighs by its size alone, as most priors have it, without a table?

With `w_s` the weight of `s` parents, a node whose parents are among `u` others has `alpha(u) = sum of C(u, s) w_s`, and
the sums over sets of nodes of mathematics.md become sums over their sizes:

    every graph once           B(n) = 1,  B(u) = sum over t of (-1)^(t+1) C(n-u, t) alpha(u)^t B(u+t);  B(0) is the sum
    once for every order       n! alpha(0) alpha(1) ... alpha(n-1)

Signs alternate and cancel, so decimal numbers carry as many digits as that can take. Their derivative by the log of the
odds of an edge, carried along, gives the expected number of edges. Time: `n^2` such numbers; 64 nodes take 10 ms.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal, localcontext
from typing import NamedTuple

#: Digits that are kept beside those that cancel.
_DIGITS = 40
#: Digits that cancel, a node: terms are below `4^n` times what is left, with room to spare.
_DIGITS_A_NODE = 4


class SumBySize(NamedTuple):
    """Log of the sum over all graphs, and how many edges a graph has on average when drawn by its weight."""

    log_sum: float
    edges: float


def sum_by_size(nodes: int, log_weights: Sequence[float], modularity: str) -> SumBySize:
    """The sum over all graphs of so many nodes; `log_weights` are those of 0, 1, ... parents, up to the most allowed.

    >>> sum_by_size(3, [0.0, 0.0, 0.0], "structure")  # 25 graphs, with 48 edges in all
    SumBySize(log_sum=3.2188758248682006, edges=1.92)
    """
    with localcontext() as context:
        context.prec = _DIGITS + _DIGITS_A_NODE * nodes
        context.Emax, context.Emin = 10**9, -(10**9)
        weights = [Decimal(weight).exp() for weight in log_weights]
        alphas = [_alpha(others, weights) for others in range(nodes)]
        if modularity == "order":
            log_sum = Decimal(math.factorial(nodes)).ln() + sum(value.ln() for value, _ in alphas)
            return SumBySize(float(log_sum), float(sum(slope / value for value, slope in alphas)))
        # B(u) and its derivative.
        sums = [(Decimal(0), Decimal(0))] * nodes + [(Decimal(1), Decimal(0))]
        for placed in reversed(range(nodes)):
            alpha, slope = alphas[placed]
            total, derivative, power, before = Decimal(0), Decimal(0), alpha, Decimal(1)
            for more in range(1, nodes - placed + 1):
                ways = math.comb(nodes - placed, more) * (-1) ** (more + 1)
                rest, rest_slope = sums[placed + more]
                total += ways * power * rest
                derivative += ways * (more * before * slope * rest + power * rest_slope)
                before, power = power, power * alpha
            sums[placed] = total, derivative
        value, slope = sums[0]
        return SumBySize(float(value.ln()), float(slope / value))


def _alpha(others: int, weights: Sequence[Decimal]) -> tuple[Decimal, Decimal]:
    """The weight of all parent sets among others, and its derivative."""
    terms = [math.comb(others, size) * weight for size, weight in enumerate(weights)]
    return sum(terms, Decimal(0)), sum((size * term for size, term in enumerate(terms)), Decimal(0))
