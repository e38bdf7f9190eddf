"""Effect: the posterior of an effect as draws, with its parts, what would be seen, and what all of it assumes."""

from __future__ import annotations

import html
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dagpost._tools.arrays import Floats
from dagpost._tools.setting_text import given_columns
from dagpost._tools.text import printable, readable_level
from dagpost.errors import InputError
from dagpost.methods.choice import target_named
from dagpost.posterior.estimate import check_confidence

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from dagpost.causal.effect_curve import Asked, Curve


def interval_of(samples: Floats, confidence: float) -> tuple[float, float]:
    """The interval that leaves out as much of some draws on either side, ends included."""
    check_confidence(confidence)
    tail = (1.0 - confidence) / 2.0
    lower, upper = np.quantile(samples, [tail, 1.0 - tail], method="inverted_cdf")
    return float(lower), float(upper)


@dataclass(frozen=True, eq=False)
class EffectPart:
    """A part of an effect: along the edge from cause to outcome, or along the paths through another column.

    `probability` is how probably there is such an edge, or such a path; `samples` stand beside those of the effect.
    """

    #: The column that it passes through; None: none, the direct part.
    through: str | None
    mean: float
    probability: float
    samples: Floats
    confidence: float

    def interval(self, confidence: float | None = None) -> tuple[float, float]:
        """As `Effect.interval`."""
        return interval_of(self.samples, self.confidence if confidence is None else confidence)

    @property
    def positive_probability(self) -> float:
        """The share of draws above zero."""
        return float((self.samples > 0.0).mean())

    @property
    def negative_probability(self) -> float:
        """The share of draws below zero."""
        return float((self.samples < 0.0).mean())

    def summary(self) -> dict[str, Any]:
        """What matters, as JSON can hold it."""
        return {
            **({} if self.through is None else {"through": self.through}),
            "mean": self.mean,
            "interval": list(self.interval()),
            "probability": self.probability,
            "positive_probability": self.positive_probability,
            "negative_probability": self.negative_probability,
        }


class Outcome(NamedTuple):
    """What would be seen of the outcome if the causes were set: the probability of a level, or the mean of a number."""

    #: One value for each cause.
    do: tuple[Any, ...]
    #: None: the mean of a column of numbers.
    level: Any
    mean: float
    lower: float
    upper: float


class Condition(NamedTuple):
    """The statement about the graph that an effect is given, and how probable that is."""

    statement: str
    probability: float
    exact: bool


@dataclass(frozen=True, eq=False, repr=False)
class Effect:
    """The posterior of what setting one column, or several at once, does to another; `DagPosterior.effect` makes one.

    What changes is the probability of `outcome_level`, or the mean of an outcome of numbers (`outcome_level` is None),
    when every cause is set to the first of its two values in `values` rather than to the second; None in their place:
    one unit more. `samples` are draws from the posterior: their plain averages and quantiles are those of the effect.
    `mean` and `zero_probability`, how probably nothing changes at all because no directed path leads from a cause to
    the outcome, come from the weights of all graphs instead; `zero_exact` says whether the latter is exact, and `exact`
    whether all graphs there are were summed over, so that every mean and probability is exact (intervals and signs
    come from draws).

    `direct` is the part along the edge from cause to outcome, `through` has one for each other column that may lie on
    the way, most important first: these overlap where one path leads through several columns, so they need not add up.
    Of several causes at once there are no parts. `outcomes` says what would be seen of the outcome if the causes were
    set. `assumptions` are sentences that hold for every number here.
    """

    causes: tuple[str, ...]
    outcome: str
    values: tuple[tuple[Any, Any] | None, ...]
    outcome_level: Any
    samples: Floats
    mean: float
    zero_probability: float
    confidence: float
    direct: EffectPart | None
    through: tuple[EffectPart, ...]
    outcomes: tuple[Outcome, ...]
    assumptions: tuple[str, ...]
    graphs: int
    observations: int | None
    modularity: str
    exact: bool = False
    zero_exact: bool = False
    #: Why these values are compared, where nobody said which.
    note: str = ""
    condition: Condition | None = None
    #: Columns that are not modelled.
    exogenous: tuple[str, ...] = ()
    #: What other values can be asked of.
    asked: Asked | None = None

    def __post_init__(self) -> None:
        """Make the array read-only, as the rest is."""
        self.samples.setflags(write=False)

    def __getstate__(self) -> dict[str, Any]:
        """Everything but the graphs, which may be many and hold on to an engine."""
        return {**self.__dict__, "asked": None}

    @property
    def cause(self) -> str:
        """The column that is set, or all of them, as text."""
        return ", ".join(self.causes)

    @property
    def do(self) -> Any:
        """The two values of the cause, None: one unit more; of several causes, these by name."""
        return self.values[0] if len(self.causes) == 1 else dict(zip(self.causes, self.values, strict=True))

    @cached_property
    def median(self) -> float:
        """The median of the draws."""
        return float(np.median(self.samples))

    @property
    def positive_probability(self) -> float:
        """The share of draws above zero: how probably it raises."""
        return float((self.samples > 0.0).mean())

    @property
    def negative_probability(self) -> float:
        """The share of draws below zero: how probably it lowers."""
        return float((self.samples < 0.0).mean())

    def interval(self, confidence: float | None = None) -> tuple[float, float]:
        """The interval that leaves out as much of the posterior on either side, ends included.

        It holds at least `confidence` of the draws (more where it ends at zero, which may have much weight by itself).
        """
        return interval_of(self.samples, self.confidence if confidence is None else confidence)

    def under(self, condition: Condition) -> Effect:
        """The same, with the condition that its graphs meet."""
        return replace(self, condition=condition)

    @property
    def quantity(self) -> str:
        """What is measured, in words."""
        return f"change of {self.measured} with {self.deed}"

    @property
    def measured(self) -> str:
        """What changes: a probability, or a mean."""
        outcome = printable(self.outcome)
        if self.outcome_level is not None:
            return f"P({outcome} = {printable(self.outcome_level)})"
        return f"the mean of {outcome}"

    @property
    def deed(self) -> str:
        """What is done to the causes: "Smoking set to yes rather than no"."""
        return " and ".join(_deed(name, pair) for name, pair in zip(self.causes, self.values, strict=True))

    def __repr__(self) -> str:
        lower, upper = self.interval()
        words = "; ".join(filter(None, (target_named(self.modularity).words, given_columns(self.exogenous))))
        given = "" if self.condition is None else f"Given {self.condition.statement}: "
        return (
            f"{given}{'with' if given else 'With'} {self.deed}, {self.measured} changes by {_short(self.mean)} "
            f"on average, {100 * self.confidence:.6g}% between {_short(lower)} and {_short(upper)}, and not at all "
            f"with probability {self.zero_probability:.3f} "
            f"({'all ' if self.exact else ''}{self.graphs:,} graphs; {words})."
        )

    def _repr_html_(self) -> str:
        frame = self.parts_table().to_html(escape=True, index=False, float_format="{:.3g}".format)
        assumed = "".join(f"<li>{html.escape(sentence)}</li>" for sentence in self.assumptions)
        return f"<p>{html.escape(repr(self))}</p>{frame}<details><summary>assumed</summary><ul>{assumed}</ul></details>"

    def summary(self) -> dict[str, Any]:
        """What matters, as JSON can hold it."""
        return {
            "cause": list(self.causes) if len(self.causes) > 1 else self.causes[0],
            "outcome": self.outcome,
            "quantity": self.quantity,
            "do": _readable(self.do),
            "outcome_level": None if self.outcome_level is None else readable_level(self.outcome_level),
            "mean": self.mean,
            "median": self.median,
            "confidence": self.confidence,
            "interval": list(self.interval()),
            "zero_probability": self.zero_probability,
            "zero_exact": self.zero_exact,
            "positive_probability": self.positive_probability,
            "negative_probability": self.negative_probability,
            **({} if self.direct is None else {"direct": self.direct.summary()}),
            "through": [part.summary() for part in self.through],
            "outcomes": [
                {**own._asdict(), "do": [readable_level(value) for value in own.do], "level": _readable(own.level)}
                for own in self.outcomes
            ],
            **({} if self.condition is None else {"given": self.condition._asdict()}),
            "note": self.note,
            "assumptions": list(self.assumptions),
            "draws": len(self.samples),
            "graphs": self.graphs,
            "exact": self.exact,
            "observations": self.observations,
            "modularity": self.modularity,
            **({"exogenous": list(self.exogenous)} if self.exogenous else {}),
        }

    def to_frame(self) -> pd.DataFrame:
        """One row a draw: the effect, the direct part, and the part through each other column."""
        import pandas as pd

        frame = pd.DataFrame({"effect": self.samples})
        if self.direct is not None:
            frame["direct"] = self.direct.samples
        for part in self.through:
            frame[f"through {part.through}"] = part.samples
        return frame

    def parts_table(self) -> pd.DataFrame:
        """One row for the whole effect, for its direct part, and for the part through each other column."""
        import pandas as pd

        parts = [] if self.direct is None else [("direct", self.direct)]
        parts += [(f"through {part.through}", part) for part in self.through]
        rows: list[tuple[Any, ...]] = [
            ("total", self.mean, *self.interval(), 1.0 - self.zero_probability, self.positive_probability,
             self.negative_probability)
        ]  # fmt: skip
        rows += [
            (label, part.mean, *part.interval(), part.probability, part.positive_probability, part.negative_probability)
            for label, part in parts
        ]
        columns = ["part", "mean", "lower", "upper", "probability", "raises", "lowers"]
        return pd.DataFrame(rows, columns=columns)

    def outcome_table(self) -> pd.DataFrame:
        """What would be seen of the outcome if the causes were set: one row for each setting, and level."""
        import pandas as pd

        rows = [(*own.do, *own[1:]) for own in self.outcomes]
        return pd.DataFrame(rows, columns=[*(f"do {name}" for name in self.causes), "level", "mean", "lower", "upper"])

    @property
    def has_curve(self) -> bool:
        """Whether `curve` has an answer: of one cause of numbers."""
        return self.asked is not None and self.asked.of_numbers

    def along(self, points: int = 25) -> Curve:
        """What `curve` shows, with its draws and the numbers that rows have."""
        if self.asked is None:
            raise InputError("This effect was copied without its graphs, which a curve needs. Ask the model again.")
        return self.asked.curve(points, self.confidence)

    def curve(self, points: int = 25) -> pd.DataFrame:
        """What would be seen of the outcome if a cause of numbers were set to each of some of them, one row each.

        These lie evenly between the smallest and the largest number in the rows; where a model has no rows, between two
        standard deviations below and above the mean. Of an outcome of levels, each level has a row. The graphs and
        draws are those of the effect; `no_effect` is how probably the curve is flat.
        """
        import pandas as pd

        levels = self.outcome_level is not None
        frame = pd.DataFrame([(*own.do, *own[1:], self.zero_probability) for own in self.along(points).outcomes])
        frame.columns = pd.Index(["value", "level", "mean", "lower", "upper", "no_effect"])
        return frame if levels else frame.drop(columns="level")

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the posterior: a histogram of what is not zero, and a spike for the probability of exactly zero.

        The line below is the interval, the mark on it the mean. The outermost draws, one in two hundred on either
        side, are left out of the histogram.
        """
        from dagpost.plots.effect_plot import effect_density

        return effect_density(self, ax=ax)


def _deed(name: str, pair: tuple[Any, Any] | None) -> str:
    """What is done to one cause."""
    if pair is None:
        return f"one unit more of {printable(name)}"
    if pair[0] == pair[1]:
        return f"{printable(name)} held at {_value(pair[0])}"
    return f"{printable(name)} set to {_value(pair[0])} rather than {_value(pair[1])}"


def _value(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else printable(value)


def _readable(value: Any) -> Any:
    """Values as JSON can hold them."""
    if value is None:
        return None
    if isinstance(value, dict):
        return {name: _readable(own) for name, own in value.items()}
    if isinstance(value, tuple):
        return [readable_level(own) for own in value]
    return readable_level(value)


def _short(number: float) -> str:
    return f"{number:.3g}"
