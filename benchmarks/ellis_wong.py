"""The correction of Ellis & Wong (2008), for comparison: graphs drawn order by order until most of each order is seen.

Orders come from the order-modular posterior. For every distinct order, graphs are drawn from their posterior given
the order until the distinct ones hold 95 % of the order's mass; the union over all orders, each graph once, is
weighted by the joint probability. (Ellis & Wong sample the orders by Markov chains; here they are independent draws,
which is what the correction would have at best.) An order whose graphs are many and equally rare would never come to
an end, so a limit on the draws of one order bounds the work; what it cut short is part of the result.

"Learning Causal Bayesian Network Structures From Experimental Data", JASA 103 (2008).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dagpost.engines import Engine
from dagpost.families.masks import distinct_rows
from dagpost.sampling.dags import RankedFamilies, draw_dags
from dagpost.sampling.orders import OrderSample

Floats = NDArray[np.float64]
Masks = NDArray[np.uint64]
Integers = NDArray[np.int64]

_FIRST_DRAWS = 8
#: Rows that are drawn at a time: 64 nodes of them take half a gigabyte of uniforms.
_MOST_ROWS = 1 << 20


@dataclass(frozen=True, eq=False)
class EllisWong:
    """Distinct graphs with weights that sum to 1, and what they cost.

    `covered[o]` is the share of the mass of the o-th distinct order that its graphs hold; `cut_short` counts the
    orders that came to the limit before the aim, `draws` all graphs drawn.
    """

    parents: Masks
    log_joint: Floats
    weights: Floats
    covered: Floats
    cut_short: int
    draws: int


def ellis_wong(
    families: RankedFamilies,
    orders: OrderSample,
    *,
    seed: int,
    engine: Engine,
    aim: float = 0.95,
    most_draws: int = 1000,
) -> EllisWong:
    """Draw graphs for every distinct order until they hold `aim` of its mass, at most `most_draws` times."""
    first, _ = distinct_rows(orders.orders)
    distinct, log_alpha = orders.orders[first], orders.log_alpha[first]
    rng = np.random.default_rng(seed)
    pool = _Pool(np.empty((0, distinct.shape[1]), dtype=np.uint64), np.empty(0), np.empty(0, dtype=np.int64))
    covered: Floats = np.zeros(len(distinct))
    drawn = np.zeros(len(distinct), dtype=np.int64)
    active = np.arange(len(distinct))
    while len(active):
        # As many draws again as an order has had, so that few rounds are wasted on those that are nearly done.
        share = np.minimum(np.maximum(drawn[active], _FIRST_DRAWS), most_draws - drawn[active])
        for part in _portions(active, share):
            times = share[np.searchsorted(active, part)]
            owner = np.repeat(part, times)
            parents, log_joint = draw_dags(
                families,
                np.ascontiguousarray(distinct[owner]),
                np.ascontiguousarray(log_alpha[owner]),
                rng.random((len(owner), distinct.shape[1])),
                engine=engine,
            )
            pool = pool.joined(_Pool(parents, log_joint, owner))
            drawn[part] += times
        chances = np.exp(pool.log_joint - log_alpha[pool.owner].sum(axis=1))
        covered = np.bincount(pool.owner, weights=chances, minlength=len(distinct)).astype(np.float64)
        active = np.flatnonzero((covered < aim) & (drawn < most_draws))
    chosen, _ = distinct_rows(pool.parents)
    log_joint = pool.log_joint[chosen]
    weights = np.exp(log_joint - log_joint.max())
    return EllisWong(
        pool.parents[chosen],
        log_joint,
        weights / weights.sum(),
        covered,
        int((covered < aim).sum()),
        int(drawn.sum()),
    )


@dataclass(frozen=True, eq=False)
class _Pool:
    """Distinct pairs of an order and a graph."""

    parents: Masks
    log_joint: Floats
    owner: Integers

    def joined(self, more: _Pool) -> _Pool:
        parents = np.concatenate([self.parents, more.parents])
        log_joint = np.concatenate([self.log_joint, more.log_joint])
        owner = np.concatenate([self.owner, more.owner])
        pairs = np.column_stack([parents, owner.astype(np.uint64)])
        first, _ = distinct_rows(pairs)
        return _Pool(parents[first], log_joint[first], owner[first])


def _portions(active: Integers, share: Integers) -> list[Integers]:
    """The orders in portions of at most so many draws together."""
    ends = np.cumsum(share)
    cuts = np.flatnonzero(np.diff(ends // _MOST_ROWS)) + 1
    return np.split(active, cuts)
