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

    `do` and `outcome_level` are the two levels of the treatment and the level of the outcome that are meant, None for
    columns of numbers. For each distinct set that is adjusted for there are its names in `adjustment_sets`, the
    weight of its graphs in `set_probabilities` and the mean of the effect given the set in `set_means`;
    `set_of_sample` says from which set each draw comes (-1: no path).
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

    def __post_init__(self) -> None:
        """Make the arrays read-only, as the rest is."""
        for array in (self.samples, self.set_probabilities, self.set_means, self.set_of_sample):
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
        chosen = self.confidence if confidence is None else confidence
        check_confidence(chosen)
        tail = (1.0 - chosen) / 2.0
        lower, upper = np.quantile(self.samples, [tail, 1.0 - tail], method="inverted_cdf")
        return float(lower), float(upper)

    @property
    def quantity(self) -> str:
        """What is measured, in words."""
        return f"change of {self._changed} {self._deed('with {} set to {} rather than {}', 'for one unit more of {}')}"

    @property
    def _changed(self) -> str:
        """What changes: a probability, or a mean."""
        outcome = printable(self.outcome)
        if self.outcome_level is not None:
            return f"P({outcome} = {printable(self.outcome_level)})"
        return outcome if self.do is None else f"the mean of {outcome}"

    def _deed(self, levels: str, unit: str) -> str:
        """What is done to the treatment."""
        treatment = printable(self.treatment)
        return unit.format(treatment) if self.do is None else levels.format(treatment, *map(printable, self.do))

    def __repr__(self) -> str:
        deed = self._deed("Setting {} to {} rather than {}", "One unit more of {}")
        lower, upper = self.interval()
        words = "; ".join(filter(None, (target_named(self.modularity).words, given_columns(self.exogenous))))
        return (
            f"{deed} changes {self._changed} by {_short(self.mean)} on average, {100 * self.confidence:.6g}% between "
            f"{_short(lower)} and {_short(upper)}, and not at all with probability {self.zero_probability:.3f} "
            f"({self.graphs:,} graphs; {words})."
        )

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
