"""Distances between two matrices of probabilities of pairs: SAD, calibration, divergence, and what they are worth."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from dagpost._tools.arrays import Flags, Floats
from dagpost.reference.distances import MOST_DRAWS, Calibration, Divergence, PairDistance

#: Stated probabilities are put together by tenths.
BINS = 10
#: A stated 0 or 1 that is no further off is right up to rounding.
_ROUNDING = 1e-9
#: From this variance of a count on, its mean absolute deviation is that of a normal distribution, to 1e-5.
_NORMAL = 1e4


def pair_distance(exact: Floats, stated: Floats, names: Sequence[str]) -> PairDistance:
    """The sum, the mean and the largest of the absolute differences over all ordered pairs.

    References
    ----------
    He, Tian & Wu (2016), Structure learning in Bayesian networks of a moderate size by efficient sampling. Journal of
    Machine Learning Research 17.
    """
    off = np.abs(exact - stated)
    # The diagonals are 0 in both.
    sad = float(off.sum())
    parent, child = divmod(int(np.argmax(off)), len(names))
    if parent == child:
        # Nothing is off: any pair will do.
        parent, child = 0, len(names) - 1
    pairs = max(1, len(names) * (len(names) - 1))
    return PairDistance(sad, sad / pairs, float(off[parent, child]), (names[parent], names[child]))


def calibration(exact: Floats, stated: Floats) -> Calibration:
    """The pairs by the tenth that their stated probability is in, the last of which holds 1 too."""
    import pandas as pd

    apart = _pairs(len(exact))
    p, q = exact[apart], stated[apart]
    # 0.3 * 10 is a little below 3.
    bins = np.minimum(np.floor(q * BINS + _ROUNDING).astype(np.int64), BINS - 1)
    pairs = np.bincount(bins, minlength=BINS)
    used = np.flatnonzero(pairs)
    means = [np.bincount(bins, weights=own, minlength=BINS)[used] / pairs[used] for own in (q, p)]
    table = pd.DataFrame(
        {
            "least": used / BINS,
            "most": (used + 1) / BINS,
            "pairs": pairs[used],
            "stated": means[0],
            "exact": means[1],
        }
    )
    error = float((pairs[used] * np.abs(means[0] - means[1])).sum() / max(1, len(p)))
    return Calibration(table, error)


def divergence(exact: Floats, stated: Floats, names: Sequence[str]) -> Divergence:
    """The Kullback-Leibler divergence of the stated from the exact probabilities, pair by pair, and its sum."""
    from scipy.special import rel_entr

    off = np.abs(exact - stated)
    wrong = ((stated <= 0.0) | (stated >= 1.0)) & (off > _ROUNDING) & _pairs(len(exact))
    if wrong.any():
        parent, child = divmod(int(np.argmax(np.where(wrong, off, -1.0))), len(names))
        where = names[parent], names[child]
        return Divergence(math.inf, int(wrong.sum()), where, float(stated[parent, child]), float(exact[parent, child]))
    # A stated 0 or 1 that is right up to rounding costs nothing.
    both = ((exact, stated), (1.0 - exact, 1.0 - stated))
    total = sum(float(rel_entr(p, np.where(q > 0.0, q, p)).sum()) for p, q in both)
    # Rounding may leave a sum that is a little below 0.
    return Divergence(max(0.0, total))


def draws_worth(exact: Floats, sad: float) -> float:
    """How many independent draws of the exact posterior have this SAD on average; see `Distances.worth`.

    The expected SAD of N draws falls with N, so the largest N that has at least this one is found by halving.
    """
    p = exact[_pairs(len(exact))]
    low, high = 0, MOST_DRAWS + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if expected_sad(p, middle) >= sad else (low, middle)
    return math.inf if low == MOST_DRAWS else float(low)


def expected_sad(p: Floats, draws: int) -> float:
    """The SAD that shares of independent draws have on average, given the exact probabilities of the edges.

    The share of an edge is a binomial count over N, whose mean absolute deviation is 2 m/N C(N, m) p^m (1-p)^(N-m+1)
    with m = floor(N p) + 1 (de Moivre; Diaconis & Zabell 1991). Where N p (1 - p) is large it is that of a normal
    distribution, sqrt(2 p (1 - p) / (pi N)).

    >>> round(expected_sad(np.array([0.5, 0.25]), 1), 6)
    0.875
    """
    from scipy.special import gammaln

    rare = np.minimum(p, 1.0 - p)
    rare = rare[rare > 0.0]
    variance = rare * (1.0 - rare)
    total = np.sqrt(2.0 * variance / (math.pi * draws))
    few = draws * variance < _NORMAL
    s = rare[few]
    m = np.floor(draws * s) + 1.0
    ways = gammaln(draws + 1.0) - gammaln(m + 1.0) - gammaln(draws - m + 1.0)
    total[few] = 2.0 * m / draws * np.exp(ways + m * np.log(s) + (draws - m + 1.0) * np.log1p(-s))
    return float(total.sum())


def _pairs(nodes: int) -> Flags:
    return ~np.eye(nodes, dtype=np.bool_)
