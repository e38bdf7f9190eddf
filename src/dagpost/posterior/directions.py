"""Which way does an edge point, and who says so: the data, the user's rules, the model, or nobody?

Graphs of one equivalence class fit any data equally well, so a direction that differs within the class is not a
finding, however often it was drawn. For every pair of variables the posterior is therefore split into: not joined;
joined with a direction that the data compel (it is the same in all graphs of the class); joined with a direction that
follows only from the class and the user's rules together; joined with one that follows only because the model behind
the score does not have all edges; joined, and reversible. No hidden common cause is assumed.

All of it comes from the drawn graphs, each distinct one worked out once (families/essential.py; knowledge.py says what
the rules are). Where a model knows the probabilities of edges better than its sample does, the shares of these kinds
among the drawn graphs with `a -> b` are shares of that probability. Intervals are those of any other statement
about a sample (shares.py): given `a -> b` where its probability is exact, else of being there and compelled.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.arrays import Flags, Floats
from dagpost._tools.text import printable, shortened
from dagpost.features import weighted_matrix
from dagpost.posterior.distinct import (
    CompelledShares,
    compelled_probabilities,
    compelled_shares,
    one_way_at_most,
)
from dagpost.posterior.estimate import Estimate, check_confidence
from dagpost.posterior.knowledge import Knowledge, knowledge_from, knowledge_of, knowledge_of_sample
from dagpost.posterior.pair_direction import CLEAR, FOUND, LEANING, PairDirection
from dagpost.posterior.shares import estimate_share
from dagpost.priors.constraints import Constraints

if TYPE_CHECKING:
    import pandas as pd

    from dagpost.data.recipe import Recipe
    from dagpost.posterior.fitted import Fitted
    from dagpost.posterior.sample import DagSample

#: A pair that is joined less often than this is not shown, and has no interval of its own.
LEAST_SHOWN = 0.001
#: An interval takes a look at the whole sample; at most this many pairs have one, the most probable ones.
_MOST_INTERVALS = 400

#: What every list of directions rests on.
ASSUMPTION = "Directions are those compelled by the data, assuming no hidden common causes."
#: What is added where the user has rules: they may leave one graph of a class that the data alone cannot pick.
_UNDER_RULES = "They are compelled among the graphs that your rules allow; without your rules some may be open."
_ALL_SETTLED = "All directions are decided by your rules, not by the data."
#: What is added where something is assumed.
_UNDER_ASSUMPTION = (
    "They are compelled among the graphs in which what you assumed holds; what your rules or assumptions decide is not "
    "a finding."
)
_ALL_ASSUMED = "All directions are decided by your rules or assumptions, not by the data."
#: What is added where the model behind the score does not have all edges.
BY_MODEL = (
    "The model has no edges from numbers to levels: that an edge between the two leads to the number is not a finding."
)
#: What is said where columns were cut and some direction is clear or leaning; measured (docs/calibration.md).
_CUT = (
    "Directions around cut columns ({names}) are less reliable: cutting makes dependences that the uncut columns do "
    "not have. In simulated tables 29% of the clear directions were wrong where columns had been cut, and 8% where the "
    "columns were levels from the start."
)


@dataclass(frozen=True, eq=False)
class Directions:
    """The posterior of every pair, as matrices; `[a, b]` speaks of `a -> b`.

    `joined` and `reversible` are symmetric. `by_data` is the probability that the edge is there and compelled by the
    data, `by_rules` that its direction follows only with the rules, `by_model` only because the model behind the score
    does not have all edges; all of them, both ways, and `reversible` sum to `joined`. `settled[a, b]`: a rule of the
    user leaves `a -> b` as the only direction of that pair; `fixed[a, b]`: the model does. `lower` and `upper` bound
    `by_data` with the given confidence. `note` says what could not be taken into account. Where directions were not
    computed, all of these are nan but `joined`.
    """

    names: tuple[str, ...]
    joined: Floats
    by_data: Floats
    by_rules: Floats
    by_model: Floats
    reversible: Floats
    settled: NDArray[np.bool_]
    fixed: NDArray[np.bool_]
    lower: Floats
    upper: Floats
    confidence: float
    note: str = ""
    #: Columns that are not modelled: there are no pairs among these.
    exogenous: tuple[int, ...] = ()
    #: Whether the model is one under a condition: what that decides counts as decided by rules.
    assumed: bool = False

    @cached_property
    def computed(self) -> bool:
        """Whether anything but `joined` is known."""
        return not bool(np.isnan(self.by_data).any())

    @property
    def assumption(self) -> str:
        """What all directions rest on, in a sentence or two."""
        model = f" {BY_MODEL}" if self.fixed.any() else ""
        if self.assumed:
            return _ALL_ASSUMED if self.all_settled else f"{ASSUMPTION} {_UNDER_ASSUMPTION}{model}"
        if not self.settled.any():
            return f"{ASSUMPTION}{model}"
        return _ALL_SETTLED if self.all_settled else f"{ASSUMPTION} {_UNDER_RULES}{model}"

    @property
    def all_settled(self) -> bool:
        """Whether the user's rules leave one direction for every pair, as a given order does."""
        pairs = self.asked
        return bool((self.settled | self.settled.T)[pairs].all())

    @property
    def asked(self) -> Flags:
        """The pairs that there are: all but those of two exogenous columns; the first before the second."""
        modelled = np.ones(len(self.names), dtype=bool)
        modelled[list(self.exogenous)] = False
        asked: Flags = np.triu(modelled[:, None] | modelled[None, :], 1)
        return asked

    def pairs(self, least: float = 0.0) -> list[PairDirection]:
        """What is said of all pairs that are joined with at least this probability, most probable first."""
        found = [self.pair(*ends) for ends in np.argwhere(self.asked & (self.joined >= least)).tolist()]
        # Rounding errors of sums that are both 1 do not decide which comes first.
        return sorted(found, key=lambda pair: -round(pair.joined, 9))

    def table(self) -> pd.DataFrame:
        """One row a pair, most probably joined first."""
        import pandas as pd

        pairs = self.pairs()
        ways = [(pair.source, pair.target) for pair in pairs]
        onward = tuple(np.array(ways, dtype=np.int64).reshape(-1, 2).T)
        back = onward[::-1]
        return pd.DataFrame(
            {
                "from": [self.names[source] for source, _ in ways],
                "to": [self.names[target] for _, target in ways],
                "joined": self.joined[onward],
                "by_data": self.by_data[onward],
                "by_data_back": self.by_data[back],
                "lower": self.lower[onward],
                "upper": self.upper[onward],
                "by_rules": self.by_rules[onward],
                "by_rules_back": self.by_rules[back],
                "by_model": self.by_model[onward],
                "by_model_back": self.by_model[back],
                "reversible": self.reversible[onward],
                "direction": [pair.word for pair in pairs],
            }
        )

    def pair(self, first: int, second: int) -> PairDirection:
        """What is said of one pair."""
        return self._pair(first, second)._replace(assumed=self.assumed)

    def _pair(self, first: int, second: int) -> PairDirection:
        joined = float(self.joined[first, second])
        for source, target in ((first, second), (second, first)):
            if self.settled[source, target]:
                return PairDirection("rules", source, target, 1.0, joined)
        for source, target in ((first, second), (second, first)):
            if self.fixed[source, target]:
                return PairDirection("model", source, target, 1.0, joined)
        if not joined > 0.0 or not self.computed:
            return PairDirection("unknown", first, second, 0.0, joined)
        source, target = (
            (first, second) if self.by_data[first, second] >= self.by_data[second, first] else (second, first)
        )
        share = float(self.by_data[source, target]) / joined
        if joined < FOUND:
            return PairDirection("open", first, second, share, joined)
        if share >= LEANING:
            return PairDirection("clear" if share >= CLEAR else "leaning", source, target, share, joined)
        for source, target in ((first, second), (second, first)):
            decided = float(self.by_data[source, target] + self.by_rules[source, target])
            if decided / joined >= CLEAR:
                return PairDirection("rules", source, target, decided / joined, joined)
            decided += float(self.by_model[source, target])
            if decided / joined >= CLEAR:
                return PairDirection("model", source, target, decided / joined, joined)
        return PairDirection("open", first, second, share, joined)


def about_cuts(found: Directions, recipe: Recipe | None) -> str:
    """What cutting columns means for the directions that are shown; nothing where none was cut, or none is shown."""
    cut = [] if recipe is None else [step.name for step in recipe.steps_ if step.used and step.cuts is not None]
    if not cut or all(pair.word not in ("clear", "leaning") for pair in found.pairs(LEAST_SHOWN)):
        return ""
    return _CUT.format(names=shortened(list(map(printable, cut))))


def directions_of(fitted: Fitted, confidence: float = 0.95) -> Directions:
    """The directions of a model, by its own sample, which is drawn if it is not there; remembered with the model."""

    def find() -> Directions:
        edges = np.clip(fitted.results.edges, 0.0, 1.0)
        found = _Found(fitted.own_sample(), knowledge_of(fitted), edges, exact=fitted.results.exact)
        return found.directions(confidence)

    return fitted.once(f"directions {confidence!r}", find)


def by_data_of(fitted: Fitted, sample: DagSample) -> Floats:
    """`by_data` of a model by a sample of it, without the intervals, which take most of the time."""
    edges = np.clip(fitted.results.edges, 0.0, 1.0)
    return _Found(sample, knowledge_of(fitted), edges, exact=fitted.results.exact).by_data()


def quick_directions(fitted: Fitted) -> Directions:
    """The same where the model's own sample is there or quickly drawn; else only what is known without it."""
    if fitted.quick_sample() is not None:
        return directions_of(fitted)
    return not_computed(fitted.names, np.clip(fitted.results.edges, 0.0, 1.0), knowledge_of(fitted))


def not_computed(names: tuple[str, ...], edges: Floats, known: Knowledge | None = None) -> Directions:
    """Directions of which nothing is known but how probably each pair is joined, and what was known beforehand."""
    own = knowledge_from(names, Constraints()) if known is None else known
    joined, nan = np.minimum(edges + edges.T, 1.0), np.full_like(edges, np.nan)
    found = Directions(names, joined, nan, nan, nan, nan, own.settled, own.fixed, nan, nan, math.nan)
    return replace(found, note=own.note, exogenous=own.exogenous, assumed=own.assumed)


def directions_of_sample(sample: DagSample, confidence: float = 0.95) -> Directions:
    """The directions of a sample, under the rules of the model that drew it; remembered with the sample."""
    check_confidence(confidence)
    name = f"directions {confidence!r}"
    if name not in sample.remembered:
        sample.remembered[name] = _Found(sample, knowledge_of_sample(sample)).directions(confidence)
    found: Directions = sample.remembered[name]
    return found


class _Found:
    """The probabilities of edges, and how often each is compelled among the graphs of a sample.

    The probabilities are the frequencies in the sample unless better ones are given.
    """

    def __init__(
        self, sample: DagSample, known: Knowledge, edges: Floats | None = None, *, exact: bool = False
    ) -> None:
        self.sample, self.known, self.exact = sample, known, exact
        self.frequencies = weighted_matrix("->", sample.parents, sample.weights)
        own = np.minimum(self.frequencies, 1.0) if edges is None else edges
        self.joined = np.minimum(own + own.T, 1.0)
        self.edges = one_way_at_most(own)
        # What a sample says of an edge that is nowhere compelled, the same for all of these.
        self._never: Estimate | None = None

    def by_data(self) -> Floats:
        """The probabilities that an edge is there and compelled by the data."""
        return self._probabilities(compelled_shares(self.sample, self.known))[0]

    def _probabilities(self, found: CompelledShares) -> tuple[Floats, Floats, Floats]:
        """The probabilities that an edge is there and compelled: by the data, with the rules, and with the model."""
        return compelled_probabilities(self.edges, self.frequencies, found, self.known)

    def directions(self, confidence: float) -> Directions:
        """The posterior of every pair."""
        pairs = _most_probable(self.joined)
        found = compelled_shares(self.sample, self.known, pairs, present=self.exact)
        by_data, ruled, decided = self._probabilities(found)
        open_edges = self.edges - decided
        lower, upper, confidence = self._intervals(pairs, found, by_data, confidence)
        return Directions(
            names=self.sample.names,
            joined=self.joined,
            by_data=by_data,
            by_rules=ruled - by_data,
            by_model=decided - ruled,
            reversible=open_edges + open_edges.T,
            settled=self.known.settled,
            fixed=self.known.fixed,
            lower=lower,
            upper=upper,
            confidence=confidence,
            note=self.known.note,
            exogenous=self.known.exogenous,
            assumed=self.known.assumed,
        )

    def _intervals(
        self, pairs: list[tuple[int, int]], found: CompelledShares, by_data: Floats, confidence: float
    ) -> tuple[Floats, Floats, float]:
        """Bounds of `by_data`, and how sure they are: a sample may have a confidence of its own."""
        lower = np.zeros_like(by_data)
        upper = np.array(self.edges) if self.exact else np.ones_like(by_data)
        np.fill_diagonal(upper, 0.0)
        confidences = []
        for place, (parent, child) in enumerate(pairs):
            most = float(self.edges[parent, child]) if self.exact else 1.0
            if most == 0.0:
                continue
            estimate = self._estimate(place, found, confidence)
            value = float(by_data[parent, child])
            lower[parent, child] = min(most * estimate.lower, value)
            upper[parent, child] = max(most * estimate.upper, value)
            confidences.append(estimate.confidence)
        return lower, upper, min(confidences, default=confidence)

    def _estimate(self, place: int, found: CompelledShares, confidence: float) -> Estimate:
        """How often an edge is compelled: given that it is there if its probability is exact, else in all."""
        member = self.sample.distinct.member
        hit = found.by_data_in[place][member]
        if self.exact:
            return estimate_share(self.sample, hit, found.present_in[place][member], "auto", confidence)
        if hit.any():
            return estimate_share(self.sample, hit, None, "auto", confidence)
        if self._never is None:
            self._never = estimate_share(self.sample, hit, None, "auto", confidence)
        return self._never


def _most_probable(joined: Floats) -> list[tuple[int, int]]:
    """The pairs that have intervals, both ways."""
    first, second = np.nonzero(np.triu(joined >= LEAST_SHOWN, 1))
    falling = np.argsort(-joined[first, second], kind="stable")[:_MOST_INTERVALS]
    pairs = list(zip(first[falling].tolist(), second[falling].tolist(), strict=True))
    return [*pairs, *((two, one) for one, two in pairs)]
