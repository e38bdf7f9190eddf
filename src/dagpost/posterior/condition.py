"""What a model under a condition takes for true, and how probable that is. given.py makes such models.

A condition that weights cannot express, such as a path: the drawn graphs in which it holds are left.

What weights can express of it has restricted them before: `within` is the model whose graphs were drawn, `rest` what
these must meet. Independent draws of which some are kept are independent draws from what is left. Questions go back to
`within`, as conditional ones: some have exact answers there, and an interval knows of all graphs that were drawn.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from dagpost._tools.arrays import Flags
from dagpost._tools.mixture import Value
from dagpost._tools.spelling import setting
from dagpost.errors import InputError, NoGraphError, warn
from dagpost.features import And, Feature, Query, evaluate
from dagpost.methods.kbest import KBest
from dagpost.posterior.condition_words import GIVEN_SETTING, GIVEN_STATEMENTS, assumption_words, given_provenance
from dagpost.posterior.estimate import Estimate, exact_estimate
from dagpost.posterior.mixture import MixedWorkspace
from dagpost.posterior.probabilities import probabilities
from dagpost.posterior.results import Results, compute
from dagpost.posterior.sample import DagSample
from dagpost.posterior.weights import Kept

if TYPE_CHECKING:
    from dagpost.methods.base import Method
    from dagpost.posterior.completed_condition import UnderTables
    from dagpost.posterior.fitted import Fitted
    from dagpost.posterior.workspace import Workspace


@dataclass(eq=False, repr=False)
class Condition:
    """What a model under a condition takes for true: statements, perhaps values of what it averages over.

    `base` is the model without it, `feature` all statements as one. `exact` says whether the weights were restricted,
    so that answers are as exact as those of the model itself; otherwise its drawn graphs were, and `graphs_left` of
    `graphs_of` are left, worth `effective_left` independent ones.
    """

    base: Fitted
    statements: tuple[str, ...]
    feature: Feature | None
    #: The values of settings that the model averages over, where some are given.
    setting: Mapping[str, Value]
    exact: bool
    graphs_left: int | None = None
    graphs_of: int | None = None
    effective_left: float | None = None
    #: The weights that are left, and what the model that has this condition remembers: the model refers to its
    #: condition, and a reference back would keep both in memory.
    workspace: Workspace = field(init=False)
    remembered: dict[str, Any] = field(init=False, default_factory=dict)

    @property
    def left(self) -> Fitted:
        """The model that this is the condition of."""
        return replace(self.base, workspace=self.workspace, condition=self, _remembered=self.remembered)

    @cached_property
    def probability(self) -> Estimate:
        """How probable the condition is, given the data."""
        log_probability = self.log_probability
        if self.exact and math.isfinite(log_probability):
            own = exact_estimate(math.exp(log_probability), self.base.target)
            return own.given(self.base.exogenous)
        assert self.feature is not None
        return probabilities([Query(self.feature, None)], self.base, 0.95)[0]

    @cached_property
    def log_probability(self) -> float:
        """The natural log of it, which knows more of what is all but impossible; nan where no sums say it."""
        if not self.exact:
            return math.nan
        return min(self.left.results.log_evidence - self.base.results.log_evidence, 0.0)

    @property
    def drawn(self) -> DrawnCondition | None:
        """Itself, where graphs were left out and not weights: then it draws and answers."""
        return None

    @property
    def under_tables(self) -> UnderTables | None:
        """What completed tables say under the condition, where a table is completed."""
        return None

    def computed(self, fitted: Fitted) -> Results:
        """Evidence and edges of the model that this is the condition of."""
        return compute(fitted)

    @property
    def known_probability(self) -> Estimate | None:
        """The probability, where it is known already or known by what the model has computed."""
        known = "probability" in self.__dict__ or (self.exact and "results" in self.remembered)
        return self.probability if known else None

    @property
    def words(self) -> str:
        """The condition as text."""
        return assumption_words({GIVEN_STATEMENTS: self.statements, GIVEN_SETTING: self.setting})

    def __repr__(self) -> str:
        left = "" if self.graphs_left is None else f"; {self.graphs_left:,} of {self.graphs_of:,} drawn graphs are left"
        return f"given {self.words}, with probability {self.probability}{left}"


#: With fewer independent graphs than these, one is told.
FEWEST_EFFECTIVE = 100
#: Graphs that are drawn, at most, in search of some that meet a condition, and how many at a time, at least.
_MOST_DRAWN, _FEWEST_AT_A_TIME = 1_000_000, 1_000
#: The longest list of best graphs that is searched for those that meet a condition.
_LONGEST_LIST = 20_000
_ARRAYS = ("parents", "log_joint", "log_proposal", "log_extensions", "weights")


@dataclass(eq=False, repr=False)
class DrawnCondition(Condition):
    """A condition that leaves those drawn graphs in which it holds."""

    within: Fitted = field(kw_only=True)
    rest: Feature = field(kw_only=True)

    @property
    def drawn(self) -> DrawnCondition:
        """Itself."""
        return self

    def begin(self) -> None:
        """Restrict the drawn graphs, and say if few are left."""
        sample, held = self.within.own_sample(), self.held
        if not held.any() and not self.by_tables:
            raise self._none_left(len(sample))
        self.graphs_left, self.graphs_of = int(held.sum()), len(sample)
        self.effective_left = _effective(sample, held)
        if self.effective_left < FEWEST_EFFECTIVE and not self.by_tables:
            warn(
                f"Few graphs have {self.words}: {self.graphs_left:,} of the {len(sample):,} drawn, worth "
                f"{self.effective_left:.0f} independent ones. What is said under this condition is a rough guess; "
                f"{self._remedy}."
            )

    @property
    def by_tables(self) -> bool:
        """Whether completed tables answer, so that few drawn graphs do no harm."""
        return False

    def own_sample(self) -> DagSample:
        """The drawn graphs that are left."""
        return self._kept(self.within.own_sample(), self.held)

    @cached_property
    def held(self) -> Flags:
        """Which graphs of the sample meet the condition."""
        return self._held(self.within.own_sample())

    @cached_property
    def probability(self) -> Estimate:
        """How probable the condition is, given the data: what weights say of it times what draws do."""
        own = self._of_rest
        if self.within.condition is None:
            return own
        before = float(self.within.condition.probability)
        return replace(own, value=own * before, lower=own.lower * before, upper=own.upper * before)

    @cached_property
    def log_probability(self) -> float:
        """The natural log of it."""
        before = 0.0 if self.within.condition is None else self.within.condition.log_probability
        return before + math.log(self._of_rest) if self._of_rest > 0.0 else -math.inf

    @cached_property
    def _of_rest(self) -> Estimate:
        """The probability of what is left to draws, under what has restricted weights."""
        return probabilities([Query(self.rest, None)], self.within, 0.95)[0]

    @property
    def _log_evidence(self) -> float:
        """The log evidence of what is left, where that of the whole and the probability of the rest are exact."""
        known = self._of_rest.rule == "exact" and self._of_rest > 0.0 and self.within.results.exact
        return self.within.results.log_evidence + math.log(self._of_rest) if known else math.nan

    def asked(self, queries: Sequence[Query]) -> tuple[Fitted, list[Query]]:
        """Questions to the model whose graphs were drawn."""
        rest = self.rest
        asked = [Query(own.feature, rest if own.given is None else And((rest, own.given))) for own in queries]
        return self.within, asked

    def computed(self, fitted: Fitted) -> Results:
        """Edges as frequencies among the graphs that are left."""
        own, within, workspace = fitted.own_sample(), self.within, self.within.workspace
        shares: tuple[float, ...] = (1.0,)
        if isinstance(workspace, MixedWorkspace):
            shares = tuple((workspace.shares_given(own.parents) @ own.weights).tolist())
        verdict = within.own_sample().diagnosed.verdict if own.from_chains else None
        engine = within.method.ran_on(within.workspace)
        return Results(self._log_evidence, own.edge_frequencies().to_numpy(), False, None, engine, verdict, shares)

    def draw(
        self,
        count: int,
        seed: int | None,
        *,
        method: Method | None,
        guarantee: tuple[float, float] | None,
        resume: DagSample | None,
    ) -> DagSample:
        """Graphs of the model whose weights could be restricted, those kept that meet the rest of the condition."""
        if method is not None and method.draws == "listed":
            return self._best(count)
        if resume is not None:
            raise InputError(
                "Chains that were drawn under a condition cannot be resumed: only graphs that meet it were kept. "
                "Resume the sample of the model without the condition, and ask that with given=."
            )
        within = self.within
        if within.method.draws == "chains":
            found = within.draw(count, seed)
            kept = self._kept(found, self._held(found))
            warn(f"{len(kept):,} of the {len(found):,} graphs that chains drew have {self.words}.")
            return kept
        entropy = within.workspace.new_seed(seed).entropy
        parts = entropy if isinstance(entropy, Sequence) else [entropy or 0]
        share = max(float(self.held.mean()), 1.0 / _MOST_DRAWN)
        at_a_time = int(min(max(1.2 * count / share, _FEWEST_AT_A_TIME), within.usual_count))
        samples: list[DagSample] = []
        held: list[Flags] = []
        while sum(map(np.count_nonzero, held)) < count and at_a_time * len(held) < _MOST_DRAWN:
            own_seed = np.random.SeedSequence([*parts, len(held)]).generate_state(2)
            samples.append(within.draw(at_a_time, int(own_seed[0]) << 32 | int(own_seed[1]), guarantee=guarantee))
            held.append(self._held(samples[-1]))
        arrays: dict[str, Any] = {name: np.concatenate([getattr(own, name) for own in samples]) for name in _ARRAYS}
        whole = replace(samples[0], guarantee=None, log_evidence=math.nan, **arrays).reweighed()
        meets = np.concatenate(held)
        enough = np.flatnonzero(meets)[:count]
        if len(enough) < count:
            self._say_too_few(len(enough), len(meets), count, guarantee)
        # As if the draws had ended with the last one that is needed.
        end = len(meets) if len(enough) < count else int(enough[-1]) + 1
        kept = self._kept(whole[:end], meets[:end], seed=entropy)
        return kept if guarantee is None else replace(kept, guarantee=guarantee, log_evidence=kept.log_evidence)

    def _held(self, sample: DagSample) -> Flags:
        found: Flags = evaluate([self.rest], sample.parents, self.base.names)[0]
        return found

    def _say_too_few(self, found: int, drawn: int, count: int, guarantee: tuple[float, float] | None) -> None:
        if not found:
            raise self._none_left(drawn)
        if guarantee is not None:
            raise InputError(
                f"Only {found:,} of {drawn:,} drawn graphs have {self.words}, too few for the precision that was asked "
                "for. Ask for less precision, or for a number of graphs."
            )
        warn(f"Only {found:,} of the {count:,} graphs were found: {drawn:,} were drawn, and few have {self.words}.")

    def _best(self, count: int) -> DagSample:
        """The most probable graphs that meet the condition, out of ever longer lists of the best ones."""
        length = min(4 * count, _LONGEST_LIST)
        while True:
            found = self.within.draw(length, None, method=KBest())
            rows = np.flatnonzero(self._held(found))[:count]
            if len(rows) == count or (len(rows) and len(found) < length):
                chosen = np.zeros(len(found), dtype=np.bool_)
                chosen[rows] = True
                return self._kept(found, chosen)
            if length >= _LONGEST_LIST or len(found) < length:
                raise NoGraphError(
                    f"Only {len(rows):,} of the {len(found):,} most probable graphs have {self.words}, and {count:,} "
                    "are asked for. The most probable of the graphs that were drawn are in top_graphs(model)."
                )
            length = min(4 * length, _LONGEST_LIST)

    def _kept(self, sample: DagSample, held: Flags, seed: Any = None) -> DagSample:
        """The graphs of a sample that meet the condition, with the weights that they have there."""
        if not held.any():
            raise self._none_left(len(sample))
        weights = sample.weights[held]
        kept = Kept(int(held.sum()), len(sample), min(float(weights.sum()), 1.0))
        about: dict[str, Any] = {
            **sample.provenance,
            **given_provenance(self),
            **({} if seed is None else {"seed": seed}),
        }
        arrays: dict[str, Any] = {name: getattr(sample, name)[held] for name in _ARRAYS}
        arrays["weights"] = weights / weights.sum()
        about = {"log_evidence": self._log_evidence, "provenance": {**about, "kept": kept._asdict()}}
        return replace(sample, guarantee=None, chains=None, **about, **arrays)

    def _none_left(self, drawn: int) -> NoGraphError:
        return NoGraphError(f"None of the {drawn:,} graphs that were drawn has {self.words}; {self._remedy}.")

    @property
    def _remedy(self) -> str:
        """What to do where few graphs are left."""
        samples = int(self.base.settings["samples"])
        by_setting = self.base.method.usual_count(samples) == samples
        more = f"fit with {setting('samples', 10 * samples)}" if by_setting else "draw more graphs"
        return f"assume less, ask single questions of the model itself with given=, or {more}"


def _effective(sample: DagSample, held: Flags) -> float:
    """How many independent graphs those that meet a condition are worth."""
    if sample.from_chains:
        return min(sample.diagnosed.smallest_effective * float(held.mean()), float(held.sum()))
    weights = sample.weights[held]
    if not len(weights):
        return 0.0
    return float(weights.sum() ** 2 / (weights**2).sum())
