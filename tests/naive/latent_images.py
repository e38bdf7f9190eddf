"""From latent numbers back to columns, one cell at a time."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np


def level_between(latent: float, latents: Sequence[float], ranks: Sequence[int]) -> set[int]:
    """The ranks that a latent number may have beside those of the cells that are there."""
    occurring = sorted({rank for rank in ranks if rank >= 0})
    possible = set()
    for rank in occurring:
        below = [own for own, its in zip(latents, ranks, strict=True) if 0 <= its < rank]
        above = [own for own, its in zip(latents, ranks, strict=True) if its > rank]
        if all(own < latent for own in below) and all(own > latent for own in above):
            possible.add(rank)
    return possible


def number_at(latent: float, values: Sequence[float], latents: Sequence[float], lower: float, upper: float) -> float:
    """The number between the values whose latent numbers enclose it; at the ends the smallest and the largest."""
    found = values[0] if latent <= latents[0] else values[-1]
    for place in range(len(values) - 1):
        if latents[place] < latent <= latents[place + 1]:
            share = (latent - latents[place]) / (latents[place + 1] - latents[place])
            found = values[place] + share * (values[place + 1] - values[place])
    return min(max(found, lower), upper) if math.isfinite(lower + upper) else found


def self_consistent(places: np.ndarray, values: np.ndarray, bounds: np.ndarray) -> tuple[float, list[float]]:
    """How many observations lie below all places, and at each: censored ones are spread one by one, 200 times."""
    every = [-np.inf, *places.tolist(), np.inf]
    fixed = [float((values == place).sum()) for place in every]
    shares = [own + len(bounds) / len(every) for own in fixed]
    for _ in range(200):
        after = fixed.copy()
        for low, high in bounds:
            inside = [
                number
                for number, place in enumerate(every)
                if low < place < high or (math.isinf(place) and place in (low, high))
            ]
            whole = sum(shares[number] for number in inside)
            for number in inside:
                after[number] += shares[number] / whole
        shares = after
    return shares[0], shares[1:-1]
