"""Signs and sizes: what setting one variable does to another, for pairs that an edge or a path probably joins.

Effects are those of `model.effect` (causal/); where all comes of draws, intervals are of fewer. There is one for each
way along which a path is probable enough, and only as many as take seconds; what is left out is told.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from dagpost._tools.arrays import Floats
from dagpost.causal.effects import DRAWS, effect_of_fitted
from dagpost.causal.results import Effect, EffectPart, interval_of
from dagpost.errors import InputError, ResourceError, collected_warnings
from dagpost.families.numbering import MAX_NODES
from dagpost.plots.small_curve import SmallCurve, small_curve
from dagpost.posterior.directions import Directions
from dagpost.posterior.fitted import Fitted
from dagpost.posterior.pair_direction import FOUND
from dagpost.prediction.counted_parts import has_rows, refuse_structure_alone

#: Of many columns there are fewer effects.
_MOST, _MOST_OF_MANY, _MANY = 24, 12, 20
#: How many curves there are at most.
_CURVES = 3
#: The less probable way of a pair is looked at from this probability of a path on.
_LIKELY = 0.2
#: How probable a sign must be, given that there is an effect, to be called one.
CLEAR_SIGN = 0.95
_CONFIDENCE = 0.95
#: Which share of an effect passes through a column that is named, and how many are.
_MUCH, _NAMED = 0.2, 2


class PairEffect(NamedTuple):
    """The effect of one column on another: `size` and `interval` are over the draws in which there is any."""

    cause: int
    outcome: int
    effect: Effect

    @property
    def _moving(self) -> Floats:
        moving: Floats = self.effect.samples[self.effect.samples != 0.0]
        return moving

    @property
    def there(self) -> float:
        """How probably there is an effect."""
        return 1.0 - self.effect.zero_probability

    @property
    def size(self) -> float:
        """Its mean, where there is one."""
        return self.effect.mean / self.there

    @property
    def interval(self) -> tuple[float, float]:
        """Its interval, where there is one."""
        return interval_of(self._moving, _CONFIDENCE)

    @property
    def sign(self) -> str:
        """Plus or minus where it is clear, given that there is an effect; else a question mark."""
        share = float((self._moving > 0.0).mean())
        return "+" if share >= CLEAR_SIGN else "-" if share <= 1.0 - CLEAR_SIGN else "?"

    @property
    def direct(self) -> tuple[float, float, float] | None:
        """The mean of the direct part and its interval, where the edge is there; None where it hardly ever is."""
        part: EffectPart | None = self.effect.direct
        if part is None or part.probability < 1.0 / DRAWS:
            return None
        own = part.samples[part.samples != 0.0]
        return None if len(own) == 0 else (part.mean / part.probability, *interval_of(own, _CONFIDENCE))

    @property
    def through(self) -> list[tuple[str, float]]:
        """The columns that much of it passes through, with that part of it, where there is an effect."""
        parts = [(part.through, part.mean / self.there) for part in self.effect.through if part.through is not None]
        much = [own for own in parts if abs(own[1]) >= _MUCH * abs(self.size)]
        return sorted(much, key=lambda own: -abs(own[1]))[:_NAMED]

    @property
    def in_points(self) -> bool:
        """Whether it is a change of a probability."""
        return self.effect.outcome_level is not None


class Sizes(NamedTuple):
    """Effects between columns, the surest first; `omitted` says why some or all are not there.

    The surest ones of columns of numbers have curves.
    """

    pairs: tuple[PairEffect, ...] = ()
    omitted: str = ""
    curves: tuple[SmallCurve, ...] = ()

    def signs(self, ordered: Sequence[bool]) -> Mapping[tuple[int, int], str]:
        """The clear signs of pairs of which both columns have an order, by their columns either way."""
        found: dict[tuple[int, int], str] = {}
        for own in self.pairs:
            if own.sign != "?" and ordered[own.cause] and ordered[own.outcome]:
                for way in ((own.cause, own.outcome), (own.outcome, own.cause)):
                    found.setdefault(way, own.sign)
        return found


def sizes_of(fitted: Fitted, directions: Directions, paths: Floats | None) -> Sizes:
    """The effects of pairs that are found, by edges or paths, where they are quickly computed."""
    if not fitted.target.posterior:
        return Sizes(omitted="Shares of replicates are not a posterior, so that effects have none either")
    if len(fitted.names) > MAX_NODES:
        return Sizes(omitted=f"Effects are computed for at most {MAX_NODES} columns")
    if fitted.data.observations is None:
        return Sizes(omitted="Local scores do not say how large an effect is: fit the table itself")
    if fitted.quick_sample() is None or paths is None:
        return Sizes(omitted="Effects need a sample of graphs, which could take longer to draw than the fit")
    try:
        refuse_structure_alone(fitted, effects=True)
    except InputError as error:
        return Sizes(omitted=str(error).rstrip("."))
    if not has_rows(fitted):
        return Sizes(omitted="What effects need was not kept with this model: fit it again, or save it with its rows")
    ways = _ways(directions, paths)
    most = _MOST if len(fitted.names) <= _MANY else _MOST_OF_MANY
    return fitted.once("sizes", lambda: _computed(fitted, ways[:most], len(ways)))


def _computed(fitted: Fitted, ways: list[tuple[int, int]], wanted: int) -> Sizes:
    seed = fitted.settings["seed"] or 0
    found = []
    try:
        with collected_warnings():
            for cause, outcome in ways:
                names = fitted.names[cause], fitted.names[outcome]
                own = effect_of_fitted(fitted, *names, None, None, None, DRAWS, _CONFIDENCE, seed, one_of_many=True)
                if own.zero_probability < 1.0 and np.any(own.samples != 0.0):
                    found.append(PairEffect(cause, outcome, own))
            found.sort(key=_order)
            curves = [small_curve(own.effect) for own in [own for own in found if own.effect.has_curve][:_CURVES]]
    except (InputError, ResourceError) as error:
        return Sizes(omitted=str(error).rstrip("."))
    left = f"{wanted - len(ways):,} more effects are not listed: model.effects() has all" if wanted > len(ways) else ""
    return Sizes(tuple(found), left, tuple(curves))


def _order(own: PairEffect) -> tuple[float, float]:
    """The surest first: by how probably there is an effect, then by how far it is from zero beside its uncertainty."""
    samples = own.effect.samples
    return -round(own.there, 2), -abs(own.size) / (float(samples.std()) + 1e-300)


def _ways(directions: Directions, paths: Floats) -> list[tuple[int, int]]:
    """Cause and outcome of what is looked at, the most probable pairs first: the likelier way, and the other if likely.

    Then those that others probably lie between. Exogenous columns are never an outcome.
    """
    ways: list[tuple[int, int]] = []
    for pair in directions.pairs(FOUND):
        both = sorted([(pair.source, pair.target), (pair.target, pair.source)], key=lambda way: -paths[way])
        asked = [way for way in both if way[1] not in directions.exogenous]
        ways += [way for place, way in enumerate(asked) if paths[way] > 0.0 and (not place or paths[way] >= _LIKELY)]
    known = {*ways}
    others = [(int(cause), int(outcome)) for cause, outcome in np.argwhere(paths >= FOUND)]
    led = [way for way in others if way[0] != way[1] and way not in known and way[1] not in directions.exogenous]
    return ways + sorted(led, key=lambda way: -round(float(paths[way]), 9))
