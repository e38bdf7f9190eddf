"""Which variables did each regime change? The edges from the indicators of regimes, as an answer of their own.

A regime changes a variable if the variable comes about otherwise under it than under the reference: other probabilities
of its levels given its parents, or, with a score for numbers, another mean. What a changed variable passes on to others
is not a change of these: their own mechanisms stay as they were. The probabilities are those of edges (Eaton & Murphy
2007), and exact where these are.

What was aimed at, and what was found: known targets of regimes beside the ones that a model finds by itself.

The model does not know the targets; the comparison says how probable it finds each, which place each has among the
variables that its regime may have changed, and by how much the data raise or lower the odds of all of them together.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from math import comb
from operator import and_
from typing import TYPE_CHECKING, Any

import numpy as np

from dagpost._tools.arrays import Flags, Floats
from dagpost._tools.checks import refusal
from dagpost._tools.spelling import either, quoted
from dagpost._tools.text import nearest, printable
from dagpost.data.encoding import number_text
from dagpost.data.regimes import resolve_regimes
from dagpost.errors import InputError
from dagpost.features import edge
from dagpost.posterior.answers import exact_sums
from dagpost.posterior.fitted import Fitted
from dagpost.posterior.pair_direction import FOUND
from dagpost.posterior.summaries.display import html_of
from dagpost.posterior.ways_left import log_evidence_left
from dagpost.scores import class_of, resolve_score

if TYPE_CHECKING:
    import pandas as pd

    from dagpost.posterior.fitted import Fitted


#: What a model of numbers can see of a regime.
ONLY_MEANS = (
    "Numbers are modelled as a straight line with noise, so a regime can only shift the mean of a variable here: a "
    "changed slope or variance is not seen as such."
)


#: From here on a double does not say how sure something is.
_NEARLY_SURE = 1.0 - 1e-6


@dataclass(frozen=True, eq=False)
class RegimeEffects:
    """The probability that each regime changed each variable.

    `column` names the regimes, `reference` is the one that the others are compared with.
    """

    column: str
    reference: str
    regimes: tuple[str, ...]
    variables: tuple[str, ...]
    #: Row: regime, column: variable.
    probabilities: Floats
    exact: bool
    note: str = ""
    #: What the probabilities are where they are not exact.
    estimated: str = "estimated from graphs"

    @cached_property
    def table(self) -> pd.DataFrame:
        """The probabilities: rows are regimes, columns variables."""
        import pandas as pd

        index = pd.Index(self.regimes, name=self.column)
        return pd.DataFrame(self.probabilities, index, pd.Index(self.variables, name="variable"), copy=True)

    @cached_property
    def pairs(self) -> pd.DataFrame:
        """The same as one row a pair, most probable first."""
        import pandas as pd

        long = pd.DataFrame(
            {
                self.column: np.repeat(self.regimes, len(self.variables)),
                "variable": np.tile(self.variables, len(self.regimes)),
                "probability": self.probabilities.ravel(),
            }
        )
        return long.sort_values("probability", ascending=False, kind="stable", ignore_index=True)

    @cached_property
    def expected(self) -> pd.Series[float]:
        """How many variables each regime is expected to have changed."""
        return self.table.sum(axis=1).rename("expected number of changed variables")

    def sentences(self) -> list[str]:
        """For each regime one sentence: what it changed, most probable first."""
        return [self._sentence(place) for place in range(len(self.regimes))]

    def _sentence(self, place: int) -> str:
        own = self.probabilities[place]
        order = np.argsort(-own, kind="stable")
        changed = [f"{self.variables[node]} ({own[node]:.2f})" for node in order if own[node] >= FOUND]
        rest = f"{own.sum():.1f} of {len(own)} variables expected"
        if not changed:
            most = order[0]
            return (
                f"{self.regimes[place]} probably changed none; {self.variables[most]} is the most probable "
                f"({own[most]:.2f}); {rest}."
            )
        return f"{self.regimes[place]} changed {', '.join(changed)}; {rest}."

    @property
    def question(self) -> str:
        """What the sentences answer."""
        how = "probability" if self.exact else f"probability, {self.estimated}"
        return f"Which variables did each regime change ({how}; the reference is {self.reference})?"

    def __repr__(self) -> str:
        lines = [self.question, *(f"  {line}" for line in self.sentences()), *([self.note] if self.note else [])]
        return "\n".join(map(printable, lines))

    def _repr_html_(self) -> str:
        return html_of(" ".join([self.question, self.note]).strip(), self.table.round(4).reset_index())

    def to_json(self) -> dict[str, Any]:
        """What was found, as JSON can hold it."""
        return {
            "column": self.column,
            "reference": self.reference,
            "exact": self.exact,
            "changed": self.pairs.rename(columns={self.column: "regime"}).to_dict("records"),
            "expected": {str(regime): float(number) for regime, number in self.expected.items()},
            "note": self.note or None,
        }


def has_regimes(fitted: Fitted) -> bool:
    """Whether a column of the table names regimes."""
    return fitted.data.recipe is not None and any(step.use == "regimes" for step in fitted.data.recipe.steps_)


def regime_effects_of(fitted: Fitted) -> RegimeEffects:
    """What the regimes of a model changed."""
    if not has_regimes(fitted):
        raise InputError(
            "This model has no regimes: fit it with the column that names the experiment of each row, "
            f"{either('DagPosterior(regimes=COLUMN)', '--regimes COLUMN')}."
        )
    assert fitted.data.recipe is not None
    step = next(step for step in fitted.data.recipe.steps_ if step.use == "regimes")
    reference, *others = (number_text(level) for level in step.levels or ())
    names = fitted.names
    parents = [names.index(own.name) for own in step.indicators]
    outside = set(fitted.settings.get("exogenous", ()))
    children = [place for place, name in enumerate(names) if name not in outside]
    edges = np.clip(fitted.results.edges[np.ix_(parents, children)], 0.0, 1.0)
    variables = tuple(names[child] for child in children)
    numbers = not isinstance(fitted.score, str) and resolve_score(fitted.score).columns in ("continuous", "ordered")
    note = ONLY_MEANS if numbers else ""
    tables = fitted.results.tables
    how = {"estimated": f"averaged over {tables:,} {class_of(fitted.score).tables}"} if tables else {}
    return RegimeEffects(step.name, reference, tuple(others), variables, edges, fitted.results.exact, note, **how)


def log_odds_of(fitted: Fitted, effects: RegimeEffects, regime: str, *, summed_from: float = _NEARLY_SURE) -> Floats:
    """Log of the odds that a regime changed each variable, in nats.

    Where the probability is above `summed_from`, the graphs without that edge are summed by themselves.
    """
    place = effects.regimes.index(regime)
    indicator = fitted.names.index(f"{effects.column}={regime}")
    with np.errstate(divide="ignore"):
        odds: Floats = np.log(effects.probabilities[place]) - np.log1p(-effects.probabilities[place])
    sums = exact_sums(fitted)
    if sums is None:
        return odds
    workspace, whole = sums
    for number in np.flatnonzero(effects.probabilities[place] > summed_from):
        child = fitted.names.index(effects.variables[number])
        without = [
            log_evidence_left(part, {child: _without(part, child, indicator)}, fitted.modularity)
            for part in workspace.parts
        ]
        log_without = np.logaddexp.reduce(np.array(without) + np.array(workspace.log_priors))
        odds[number] = math.log(effects.probabilities[place, number]) - (log_without - whole.log_evidence)
    return odds


def _without(part: Any, child: int, parent: int) -> Flags:
    """The parent sets of a node that lack a column."""
    bits = np.zeros(part.nodes, dtype=np.uint64)
    bits[parent] = np.uint64(1) << np.uint64(parent % 64)
    lacking: Flags = part.masks_of_sets(child, bits) & bits[parent] == 0
    return lacking


_NOT_COMPARABLE = (
    "The evidence of the model with known targets ({known:.1f}) cannot be compared with that of the model with regimes "
    "({found:.1f}): {why}."
)
#: Levels have probabilities, which are at most 1: the fewer there are to explain, the larger the evidence.
_FEWER_VALUES = (
    "The model with known targets does not score a variable in the rows in which it was set. That can only raise its "
    "evidence, and still it has {gain:.1f} nats less than the model with regimes."
)


@dataclass(frozen=True, eq=False)
class TargetComparison:
    """Known targets of regimes, and what a model that does not know them says of each.

    `table` has a row for each known target: its `regime`, the `target`, the `probability` that the regime changed it,
    the log of its odds (`log_odds`, in nats, which tells apart what is all but certain), its `rank` by these among all
    variables of that regime, and whether it was `found` (probability of at least one half).
    `log_odds_gained` is by how many nats the data raise the odds that all known targets were changed.
    """

    table: pd.DataFrame
    variables: int
    log_odds_gained: float
    evidence: str = ""

    @property
    def found(self) -> int:
        """How many of the known targets were found."""
        return int(self.table["found"].sum())

    def __repr__(self) -> str:
        ranks = self.table["rank"].to_numpy()
        lines = [
            f"{self.found} of {len(self.table)} known targets found; {int((ranks == 1).sum())} are the first of "
            f"{self.variables} variables in their regime."
        ]
        lines += [
            f"  {row.regime}: {row.target}, probability {row.probability:.2f}, rank {row.rank}"
            for row in self.table.itertuples()
        ]
        gained = self.log_odds_gained
        if math.isfinite(gained):
            way = "raise" if gained >= 0 else "lower"
            lines.append(f"The data {way} the odds of all together by {abs(gained):.1f} nats.")
        return "\n".join(map(printable, [*lines, *([self.evidence] if self.evidence else [])]))

    def _repr_html_(self) -> str:
        return html_of(repr(self), self.table.round(4))


def compare_targets(
    model: Any, targets: Mapping[str, str | Sequence[str]], known_model: Any = None
) -> TargetComparison:
    """What a model with regimes, which knows no targets, says of targets that are known.

    Parameters
    ----------
    model
        A fitted `DagPosterior` with ``regimes=...``.
    targets
        The variables that each regime aimed at: ``{"aktinhib": "Akt", "u0126": ["Mek"]}``. Regimes that are not named
        are not looked at.
    known_model
        A model of the same rows that was told the targets (``fit(..., interventions=...)``), to set the evidence of the
        two side by side.
    """
    import pandas as pd

    for own in (model, *([] if known_model is None else [known_model])):
        if not isinstance(getattr(own, "fitted_", None), Fitted):
            raise refusal(own, "model", "compare_targets", "a fitted DagPosterior")
    effects = regime_effects_of(model.fitted_)
    wanted = _checked(targets, effects)
    rows = []
    for regime in dict.fromkeys(regime for regime, _ in wanted):
        chances = effects.probabilities[effects.regimes.index(regime)]
        odds = log_odds_of(model.fitted_, effects, regime)
        for place in (effects.variables.index(target) for own, target in wanted if own == regime):
            rank = int((odds > odds[place]).sum()) + 1
            chance = float(chances[place])
            rows.append((regime, effects.variables[place], chance, float(odds[place]), rank, chance >= FOUND))
    table = pd.DataFrame(rows, columns=["regime", "target", "probability", "log_odds", "rank", "found"])
    gained = _gained(model, effects, wanted)
    return TargetComparison(table, len(effects.variables), gained, _evidence(model, known_model))


def _checked(targets: Any, effects: RegimeEffects) -> list[tuple[str, str]]:
    if not isinstance(targets, Mapping) or not targets:
        raise refusal(targets, "targets", "compare_targets", "a mapping from regimes to the variables they aimed at")
    pairs = []
    for regime, named in targets.items():
        if str(regime) not in effects.regimes:
            raise InputError(
                f"{quoted('targets')} names the regime {str(regime)!r}, which the model does not have."
                f"{nearest(str(regime), effects.regimes)}"
            )
        if not isinstance(named, str | Sequence):
            raise refusal(named, "targets", "compare_targets", "a mapping from regimes to the variables they aimed at")
        for target in [named] if isinstance(named, str) else list(named):
            if target not in effects.variables:
                raise InputError(
                    f"{quoted('targets')} names {str(target)!r}, which is not a variable of the model."
                    f"{nearest(str(target), effects.variables)}"
                )
            pairs.append((str(regime), str(target)))
    return list(dict.fromkeys(pairs))


def _gained(model: Any, effects: RegimeEffects, wanted: list[tuple[str, str]]) -> float:
    """Log of the odds of all known targets after the data, less that before."""
    edges: list[Any] = [edge(f"{effects.column}={regime}", target) for regime, target in wanted]
    statement = reduce(and_, edges)
    after, before = float(model.probability(statement)), _before(model, effects, wanted)
    if not 0.0 < after < 1.0 or not 0.0 < before < 1.0:
        return math.inf if after >= 1.0 else -math.inf if after <= 0.0 else math.nan
    return math.log(after) - math.log1p(-after) - math.log(before) + math.log1p(-before)


def _before(model: Any, effects: RegimeEffects, wanted: list[tuple[str, str]]) -> float:
    """The prior probability that all of them are targets; required and forbidden targets are not allowed for."""
    regimes = resolve_regimes(model.fitted_.settings["regimes"])
    assert regimes is not None
    count = len(effects.regimes)
    chance = regimes.expected_targets / len(effects.variables)
    total = 1.0
    for variable in {target for _, target in wanted}:
        known = sum(target == variable for _, target in wanted)
        sizes = range(model.fitted_.most_regimes + 1)
        of_size = [comb(count, size) * chance**size * (1 - chance) ** (count - size) for size in sizes]
        with_known = [
            comb(count - known, size - known) * chance**size * (1 - chance) ** (count - size)
            for size in sizes
            if size >= known
        ]
        total *= sum(with_known) / sum(of_size)
    return total


def _evidence(model: Any, known_model: Any) -> str:
    """Whether the evidence of the two models is about the same values, and what it says."""
    if known_model is None:
        return ""
    own, other = model.fitted_, known_model.fitted_
    if own.completes or other.completes:
        unknown = (own if own.completes else other).unknown
        return f"There is no evidence where {unknown.done}, so that the two cannot be compared by it."
    if not all(class_of(fitted.score).has_evidence for fitted in (own, other)):
        return "A committee of kinds of models has no evidence, so that the two cannot be compared by it."
    if own.data.observations != other.data.observations:
        why = f"they have {own.data.observations:,} and {other.data.observations:,} observations"
    elif own.score != other.score:
        why = f"their scores differ, {own.score!r} and {other.score!r}"
    elif other.data.interventions and not own.data.interventions:
        gain = own.results.log_evidence - other.results.log_evidence
        if gain > 0.0 and None not in own.data.levels:
            return _FEWER_VALUES.format(gain=gain)
        why = "a variable that was set is not scored in the rows in which it was set, so that it is about fewer values"
    elif other.data.interventions != own.data.interventions:
        why = "one of them leaves out what was set, and the other does not"
    else:
        gain = own.results.log_evidence - other.results.log_evidence
        more = "more" if gain >= 0 else "less"
        return f"The model with regimes has {abs(gain):.1f} nats {more} evidence than the other."
    return _NOT_COMPARABLE.format(known=other.results.log_evidence, found=own.results.log_evidence, why=why)
