"""The effect under a model that averages over a setting of its score, or over completed tables: a mixture of effects.

Every value has its own prior of the parameters and its own weights of the graphs; every completed table has its own
counts and graphs. Draws are shared out in proportion to the probabilities; weights and means are mixed exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from dagpost._tools.arrays import Floats
from dagpost.causal.results import CausalEffect


def mixed_effect(
    weights: Sequence[float], effect_of: Callable[[int, int, int], CausalEffect], draws: int, seed: int | None
) -> CausalEffect:
    """The mixture of `effect_of(value, draws, seed)` over all values, by their weights."""
    *seeds, last = np.random.SeedSequence(seed).spawn(len(weights) + 1)
    generator = np.random.default_rng(last)
    shares = np.array(weights) / np.sum(weights)
    numbers = _shared_out(shares, draws, generator)
    # A value with too small a share for a draw still counts in the means.
    effects = [
        effect_of(value, max(number, 1), int(own.generate_state(1)[0]))
        for value, (number, own) in enumerate(zip(numbers, seeds, strict=True))
    ]
    sets = list(dict.fromkeys(names for effect in effects for names in effect.adjustment_sets))
    probabilities, totals = np.zeros(len(sets)), np.zeros(len(sets))
    samples, set_of_sample, standardised = [], [], []
    for effect, share, number in zip(effects, shares, numbers, strict=True):
        # One entry more, for draws without a path, which are in place -1.
        places = np.array([*(sets.index(names) for names in effect.adjustment_sets), -1])
        np.add.at(probabilities, places[:-1], share * effect.set_probabilities)
        np.add.at(totals, places[:-1], share * effect.set_probabilities * effect.set_means)
        samples.append(effect.samples[:number])
        standardised.append(None if effect.standardised is None else effect.standardised[:number])
        set_of_sample.append(places[effect.set_of_sample[:number]])
    # The product of two small shares may be 0.
    kept = probabilities > 0.0
    renumbered = np.append(np.where(kept, np.cumsum(kept) - 1, -1), -1)
    order = generator.permutation(draws)
    return replace(
        effects[0],
        samples=np.concatenate(samples)[order],
        zero_probability=float(shares @ [effect.zero_probability for effect in effects]),
        mean=float(totals.sum()),
        adjustment_sets=tuple(names for names, counts in zip(sets, kept, strict=True) if counts),
        set_probabilities=probabilities[kept],
        set_means=totals[kept] / probabilities[kept],
        set_of_sample=renumbered[np.concatenate(set_of_sample)[order]],
        standardised=None if standardised[0] is None else np.concatenate(standardised)[order],  # type: ignore[arg-type]
    )


def _shared_out(shares: Floats, draws: int, generator: np.random.Generator) -> list[int]:
    """How many draws each value gets: its share of them, rounded up or down at random without bias."""
    points = (np.arange(draws) + generator.random()) / draws
    # Rounding must not choose a value of share 0 at the end.
    values = np.minimum(np.searchsorted(np.cumsum(shares), points, side="right"), np.flatnonzero(shares)[-1])
    return [int(number) for number in np.bincount(values, minlength=len(shares))]
