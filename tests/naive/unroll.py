"""Slow twin of data/unroll.py: for every row, its subject's rows are looked through for those at earlier times."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

Row = dict[str, Any]


def unrolled(rows: list[Row], series: list[str], lags: int, step: int) -> list[Row]:
    """The rows that have all their earlier ones, by subject and time; rows have an "id" and a "time"."""
    found = []
    for row in sorted(rows, key=lambda row: (row["id"], row["time"])):
        values: Row = {}
        for lag in range(lags + 1):
            then = [r for r in rows if r["id"] == row["id"] and r["time"] == row["time"] - lag * step]
            if len(then) == 1:
                values |= {name if lag == 0 else f"{name}[t-{lag}]": then[0][name] for name in series}
        if len(values) == len(series) * (lags + 1):
            found.append(values)
    return found


def usual_step(rows: list[Row]) -> int | None:
    """The most frequent difference between a row of a subject and the next one, the smallest of several."""
    seen: list[int] = []
    for subject in {row["id"] for row in rows}:
        times = sorted({row["time"] for row in rows if row["id"] == subject})
        seen += [later - sooner for sooner, later in pairwise(times)]
    return max(sorted(set(seen)), key=seen.count) if seen else None


def lost(rows: list[Row], lags: int, step: int) -> tuple[int, int]:
    """How many rows are not used because their subject begins there, and because of a gap."""
    beginnings = gaps = 0
    for row in rows:
        own = {r["time"] for r in rows if r["id"] == row["id"]}
        if not all(row["time"] - lag * step in own for lag in range(1, lags + 1)):
            early = row["time"] - lags * step < min(own)
            beginnings, gaps = beginnings + early, gaps + (not early)
    return beginnings, gaps
