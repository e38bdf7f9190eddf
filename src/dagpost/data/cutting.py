"""Where is a column of numbers cut into levels, and what are these called?

Cuts are interior points: a value on a cut lies in the bin above, and the first and last bins are open, so that every
new value has a bin. Rows with counts weigh as many observations as they stand for. Three rules find cuts from the
values alone, whatever the order of the rows:

- quantile: about as many observations in each bin. The cut after a share k/b of the observations is the value at which
  that share is passed, or lies midway to the next value where it is met exactly. A cut at the smallest value, which
  would leave the first bin empty, moves up to the next one, and no bin is empty.
- uniform: bins of equal width between the smallest and the largest value; some may be empty.
- kmeans: midway between the centres of one-dimensional clusters (scikit-learn's KBinsDiscretizer).

Cuts are rounded, to whole numbers in a column of whole numbers and to three digits or more elsewhere, as far as no
value changes its bin. Time: a sort of the column; k-means takes some tens of passes over the distinct values.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from dagpost.data.encoding import number_text

Strategy = Literal["quantile", "uniform", "kmeans"]
STRATEGIES: tuple[Strategy, ...] = get_args(Strategy)

#: How numbers are cut where nobody has said it.
USUAL_BINS, USUAL_STRATEGY = 3, STRATEGIES[0]
#: No number of bins has more digits.
_LONGEST = 9
LARGEST_BINS = 256
_FEW_DIGITS = 3
#: Up to this many observations, clusters are those of the rows themselves, to the last bit.
_MOST_REPEATED = 10_000_000


def cut_points(
    values: NDArray[np.float64], counts: NDArray[np.int64] | None, bins: int, strategy: Strategy
) -> tuple[float, ...]:
    """At most `bins - 1` cuts, in order; fewer where equal values leave no room, none for a constant column.

    >>> cut_points(np.array([31.0, 43.0, 43.0, 58.0, 61.0, 70.0]), None, 3, "quantile")
    (43.0, 60.0)
    """
    seen = slice(None) if counts is None else counts > 0
    distinct, place = np.unique(values[seen], return_inverse=True)
    if len(distinct) < 2:
        return ()
    weights = np.bincount(place, weights=None if counts is None else counts[seen]).astype(np.int64)
    find = {"quantile": _quantiles, "uniform": _equal_widths, "kmeans": _between_clusters}[strategy]
    return _rounded(find(distinct, weights, bins), distinct)


def bins_and_strategy(text: str) -> tuple[int, str] | None:
    """A number of bins with a strategy, as people write it; None if the text is something else.

    >>> bins_and_strategy("4:quantile"), bins_and_strategy("4")
    ((4, 'quantile'), None)
    """
    bins, _, strategy = (part.strip() for part in text.partition(":"))
    whole = bins.isdecimal() and len(bins) <= _LONGEST
    return (int(bins), strategy) if whole and strategy in STRATEGIES else None


def bin_of(values: NDArray[np.float64], cuts: tuple[float, ...]) -> NDArray[np.intp]:
    """The number of the bin of every value: how many cuts are not above it.

    >>> bin_of(np.array([42.0, 43.0, 99.0]), (43.0, 60.0)).tolist()
    [0, 1, 2]
    """
    return np.searchsorted(np.array(cuts, dtype=np.float64), values, side="right")


def bin_names(cuts: tuple[float, ...]) -> tuple[str, ...]:
    """What the bins are called.

    >>> bin_names((43.0, 60.5)), bin_names((140.0,)), bin_names(())
    (('<43', '[43, 60.5)', '>=60.5'), ('<140', '>=140'), ('any',))
    """
    if not cuts:
        return ("any",)
    texts = [number_text(float(cut)) for cut in cuts]
    inner = [f"[{low}, {high})" for low, high in pairwise(texts)]
    return (f"<{texts[0]}", *inner, f">={texts[-1]}")


def _quantiles(distinct: NDArray[np.float64], weights: NDArray[np.int64], bins: int) -> list[float]:
    passed = weights.cumsum() * bins
    shares = np.arange(1, bins) * weights.sum()
    at = np.searchsorted(passed, shares)
    met = passed[at] == shares
    after = np.minimum(at + 1, len(distinct) - 1)
    cuts = np.where(met, distinct[at] + (distinct[after] - distinct[at]) / 2, distinct[at])
    # A cut is known by the first value above it: of those that part the same values, one is enough.
    first, place = np.unique(np.maximum(np.searchsorted(distinct, cuts), 1), return_index=True)
    return [float(cuts[i] if cuts[i] > distinct[k - 1] else distinct[k]) for k, i in zip(first, place, strict=True)]


def _equal_widths(distinct: NDArray[np.float64], _: NDArray[np.int64], bins: int) -> list[float]:
    return list(np.unique(np.linspace(distinct[0], distinct[-1], bins + 1)[1:-1]).tolist())


def _between_clusters(distinct: NDArray[np.float64], weights: NDArray[np.int64], bins: int) -> list[float]:
    from sklearn.preprocessing import KBinsDiscretizer

    # scikit-learn drops bins narrower than 1e-8; scaled to a range near 1, by a power of 2 and so without
    # rounding, that is a relative width.
    exponent = int(np.frexp(distinct[-1] - distinct[0])[1])
    binner = KBinsDiscretizer(min(bins, len(distinct)), encode="ordinal", strategy="kmeans", subsample=None)
    if weights.sum() <= _MOST_REPEATED:
        binner.fit(np.ldexp(np.repeat(distinct, weights), -exponent)[:, None])
    else:
        binner.fit(np.ldexp(distinct, -exponent)[:, None], sample_weight=weights)
    return list(np.unique(np.ldexp(binner.bin_edges_[0], exponent)[1:-1]).tolist())


def _rounded(cuts: list[float], distinct: NDArray[np.float64]) -> tuple[float, ...]:
    """The same bins with shorter numbers."""
    whole = bool((distinct == np.floor(distinct)).all())
    done: list[float] = []
    for place, cut in enumerate(cuts):
        above = int(np.searchsorted(distinct, cut))
        lowest = max(distinct[above - 1], done[-1] if done else -math.inf)
        highest = min(
            distinct[min(above, len(distinct) - 1)],
            math.nextafter(cuts[place + 1], -math.inf) if place + 1 < len(cuts) else math.inf,
        )
        start = float(math.ceil(cut)) if whole else cut
        trials = (float(f"{start:.{digits}g}") for digits in range(_FEW_DIGITS, 18))
        done.append(next((trial for trial in trials if lowest < trial <= highest), cut))
    return tuple(done)
