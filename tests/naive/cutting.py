"""Slow twins of data/cutting.py: each value is compared with each cut, and rows are counted one by one."""

from __future__ import annotations

from fractions import Fraction


def quantile_bins(values: list[float], bins: int) -> list[int]:
    """The bin of every value, from the first value of each bin, which is found by counting rows."""
    distinct = sorted(set(values))
    if len(distinct) < 2:
        return [0] * len(values)
    begins: set[float] = set()
    for number in range(1, bins):
        share = Fraction(number * len(values), bins)
        place = 0
        while sum(other <= distinct[place] for other in values) < share:
            place += 1
        met = sum(other <= distinct[place] for other in values) == share
        begins.add(distinct[max(place + 1 if met else place, 1)])
    return [sum(value >= begin for begin in begins) for value in values]


def uniform_bins(values: list[float], bins: int) -> list[int]:
    """The bin of every value between the smallest and the largest, in widths of exact fractions."""
    low, high = Fraction(min(values)), Fraction(max(values))
    cuts = [low + (high - low) * number / bins for number in range(1, bins)] if low < high else []
    return [sum(Fraction(value) >= cut for cut in cuts) for value in values]
