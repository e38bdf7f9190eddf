"""From latent numbers back to columns, one cell at a time."""

from __future__ import annotations

import math
from collections.abc import Sequence


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
