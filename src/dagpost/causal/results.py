"""CausalEffect: the posterior of an effect as draws, with what people ask of it."""

from __future__ import annotations

import html
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from dagpost._tools.arrays import Floats, Integers
from dagpost._tools.setting_text import given_columns
from dagpost._tools.text import printable, readable_level
from dagpost.methods.choice import target_named
from dagpost.posterior.estimate import check_confidence

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


@dataclass(frozen=True, eq=False, repr=False)
class CausalEffect:
    """The posterior of a total causal effect; `causal_effect` makes one, and says what is assumed.

    `samples` are draws with the weights of the graphs applied: their plain averages and quantiles are those of the
    posterior. `zero_probability` is the weight of the graphs without a directed path from treatment to outcome, where
    the effect is exactly zero, and `mean` the mean of the effect; both come from the weights, not from the draws.

    `do` and `outcome_level` are the two values of the treatment and the level of the outcome that are meant; None: one
    unit more, and the mean of a column of numbers. For each distinct set that is adjusted for there are its names in
    `adjustment_sets`, the weight of its graphs in `set_probabilities` and the mean of the effect given the set in
    `set_means`; `set_of_sample` says from which set each draw comes (-1: no path).

    Under a model of latent numbers, `standardised` are the same draws in standard deviations of the outcome's latent
    numbers, and `in_deviations` says that `samples` are so too.
    """

    treatment: str
    outcome: str
    do: tuple[object, object] | None
    outcome_level: object
    samples: Floats
    zero_probability: float
    mean: float
    confidence: float
    adjustment_sets: tuple[tuple[str, ...], ...]
    set_probabilities: Floats
    set_means: Floats
    set_of_sample: Integers
    graphs: int
    observations: int
    modularity: str
    #: Columns that are not modelled.
    exogenous: tuple[str, ...] = ()
    standardised: Floats | None = None
    in_deviations: bool = False

    def __post_init__(self) -> None:
        """Make the arrays read-only, as the rest is."""
        for array in (self.samples, self.set_probabilities, self.set_means, self.set_of_sample, self.standardised):
            if array is not None:
                array.setflags(write=False)

    @cached_property
    def median(self) -> float:
        """The median of the draws."""
        return float(np.median(self.samples))

    @property
    def positive_probability(self) -> float:
        """The share of draws above zero."""
        return float((self.samples > 0.0).mean())

    @property
    def negative_probability(self) -> float:
        """The share of draws below zero."""
        return float((self.samples < 0.0).mean())

    def interval(self, confidence: float | None = None) -> tuple[float, float]:
        """The interval that leaves out as much of the posterior on either side, ends included.

        It holds at least `confidence` of the draws (more where it ends at zero, which may have much weight by itself).
        """
        return self._interval_of(self.samples, confidence)

    def standardised_interval(self, confidence: float | None = None) -> tuple[float, float] | None:
        """The same in standard deviations of the outcome's latent numbers; None where the model has no such numbers."""
        return None if self.standardised is None else self._interval_of(self.standardised, confidence)

    def _interval_of(self, samples: Floats, confidence: float | None) -> tuple[float, float]:
        chosen = self.confidence if confidence is None else confidence
        check_confidence(chosen)
        tail = (1.0 - chosen) / 2.0
        lower, upper = np.quantile(samples, [tail, 1.0 - tail], method="inverted_cdf")
        return float(lower), float(upper)

    @property
    def quantity(self) -> str:
        """What is measured, in words."""
        unit = ", in latent standard deviations," if self.in_deviations else ""
        deed = self._deed("with {} set to {} rather than {}", "for one {} more of {}")
        return f"change of {self._measured}{unit} {deed}"

    @property
    def _measured(self) -> str:
        """What changes: a probability, or a mean."""
        outcome = printable(self.outcome)
        if self.outcome_level is not None:
            return f"P({outcome} = {printable(self.outcome_level)})"
        return outcome if self.do is None or self.in_deviations else f"the mean of {outcome}"

    def _deed(self, levels: str, unit: str) -> str:
        """What is done to the treatment."""
        treatment = printable(self.treatment)
        if self.do is None:
            return unit.format("latent standard deviation" if self.in_deviations else "unit", treatment)
        return levels.format(treatment, *map(printable, self.do))

    def __repr__(self) -> str:
        deed = self._deed("Setting {} to {} rather than {}", "One {} more of {}")
        lower, upper = self.interval()
        words = "; ".join(filter(None, (target_named(self.modularity).words, given_columns(self.exogenous))))
        unit = " latent standard deviations" if self.in_deviations else ""
        return (
            f"{deed} changes {self._measured} by {_short(self.mean)}{unit} on average, {100 * self.confidence:.6g}% "
            f"between {_short(lower)} and {_short(upper)}, and not at all with probability "
            f"{self.zero_probability:.3f}{self._standardised_words} ({self.graphs:,} graphs; {words})."
        )

    @property
    def _standardised_words(self) -> str:
        """The same in latent standard deviations, where it is not said so already."""
        if self.standardised is None or self.in_deviations:
            return ""
        lower, upper = self._interval_of(self.standardised, None)
        mean = _short(float(self.standardised.mean()))
        return f"; in latent standard deviations {mean}, between {_short(lower)} and {_short(upper)}"

    def _repr_html_(self) -> str:
        frame = (
            self.adjustment_table().head(_SHOWN_SETS).to_html(escape=True, index=False, float_format="{:.4g}".format)
        )
        return f"<p>{html.escape(repr(self))}</p>{frame}"

    def summary(self) -> dict[str, Any]:
        """What matters, as JSON can hold it."""
        return {
            "treatment": self.treatment,
            "outcome": self.outcome,
            "quantity": self.quantity,
            "do": None if self.do is None else [readable_level(level) for level in self.do],
            "outcome_level": None if self.outcome_level is None else readable_level(self.outcome_level),
            "mean": self.mean,
            "median": self.median,
            "confidence": self.confidence,
            "interval": list(self.interval()),
            **self._standardised_summary(),
            "zero_probability": self.zero_probability,
            "positive_probability": self.positive_probability,
            "negative_probability": self.negative_probability,
            "adjustment_sets": len(self.adjustment_sets),
            "draws": len(self.samples),
            "graphs": self.graphs,
            "observations": self.observations,
            "modularity": self.modularity,
            **({"exogenous": list(self.exogenous)} if self.exogenous else {}),
        }

    def _standardised_summary(self) -> dict[str, Any]:
        if self.standardised is None:
            return {}
        interval = self._interval_of(self.standardised, None)
        return {"standardised": {"mean": float(self.standardised.mean()), "interval": list(interval)}}

    def to_frame(self) -> pd.DataFrame:
        """One row a draw: the effect, whether there was a directed path, and what was adjusted for."""
        import pandas as pd

        labels = [*(_label(names) for names in self.adjustment_sets), _NO_PATH]
        sets = np.where(self.set_of_sample < 0, len(self.adjustment_sets), self.set_of_sample)
        adjusted = np.array(labels, dtype=object)[sets]
        return pd.DataFrame({"effect": self.samples, "path": self.set_of_sample >= 0, "adjusted for": adjusted})

    def adjustment_table(self) -> pd.DataFrame:
        """One row for each adjustment set, those of most weight first, and one for the graphs without a path."""
        import pandas as pd

        labels = [*(_label(names) for names in self.adjustment_sets), _NO_PATH]
        frame = pd.DataFrame(
            {
                "adjusted for": labels,
                "probability": np.append(self.set_probabilities, self.zero_probability),
                "mean effect": np.append(self.set_means, 0.0),
            }
        )
        frame = frame[frame["probability"] > 0.0]
        return frame.sort_values("probability", ascending=False, kind="stable", ignore_index=True)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the posterior: a histogram of what is not zero, and a spike for the probability of exactly zero.

        The line below is the interval, the mark on it the mean. The outermost draws, one in two hundred on either
        side, are left out of the histogram.
        """
        from dagpost.plots.effect_plot import effect_density

        return effect_density(self, ax=ax)


_SHOWN_SETS = 10
_NO_PATH = "(no path)"


def _label(names: tuple[str, ...]) -> str:
    return ", ".join(names) or "nothing"


def _short(number: float) -> str:
    return f"{number:.3g}"
