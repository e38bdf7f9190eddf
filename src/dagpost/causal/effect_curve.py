"""What would be seen of the outcome along the numbers of a cause: the worlds of an effect, at more values.

The same graphs with the same drawn parameters are asked, so that two points of a curve differ by the effect of setting
the cause to the one rather than to the other, draw by draw. Time: that of the effect's outcomes, times points over two.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from dagpost._tools.arrays import Floats
from dagpost._tools.checks import whole_number
from dagpost._tools.spelling import either
from dagpost._tools.text import shortened
from dagpost.causal.averages import Expecting, drawn_effects, expected_outcomes
from dagpost.causal.columns import Cause
from dagpost.causal.graphs import Alike, Graphs
from dagpost.causal.question import Question
from dagpost.causal.results import Outcome, interval_of
from dagpost.errors import InputError
from dagpost.prediction.gaussian_statistics import GaussianStatistics

#: A curve goes so many standard deviations to either side of the mean where the smallest and largest value are unknown.
_DEVIATIONS = 2.0

#: Where all comes of draws, more points and draws than these are not seen in a small drawing.
_ROUGH_POINTS, _ROUGH_DRAWS = 13, 1_000


class Curve(NamedTuple):
    """Outcomes under each of some numbers, also as draws (numbers, draws, levels), and the numbers that rows have.

    `observed` is None where the rows are not kept.
    """

    outcomes: tuple[Outcome, ...]
    samples: Floats
    observed: Floats | None


@dataclass(frozen=True, eq=False)
class Asked:
    """What an effect was asked of: it can be asked again of other values."""

    graphs: Graphs
    groups: Sequence[Alike]
    question: Question
    draws: int
    entropy: int

    @property
    def of_numbers(self) -> bool:
        """Whether there is one cause, and that is a column of numbers."""
        return self.question.single and self.graphs.columns.levels[self.question.causes[0].column] is None

    def curve(self, points: int, confidence: float, *, rough: bool = False) -> Curve:
        """The outcome under numbers that lie evenly between the smallest and the largest one of the cause."""
        self._refuse_no_curve()
        (cause,), columns = self.question.causes, self.graphs.columns
        observed = columns.observed(cause.column)
        ends = self._usual(cause.column) if observed is None else (float(observed.min()), float(observed.max()))
        rough, points = rough and not self.graphs.kind.sums, whole_number(points, "points", "curve", least=2)
        values = tuple(np.unique(np.linspace(*ends, _ROUGH_POINTS if rough else points)).tolist())
        question = self.question._replace(causes=(Cause(cause.column, values, values, (len(values) - 1, 0)),))
        generator = np.random.default_rng(self.entropy)
        draws = min(self.draws, _ROUGH_DRAWS) if rough else self.draws
        drawn = drawn_effects(self.graphs, self.groups, question, [], draws, generator).outcomes
        means = expected_outcomes(Expecting(self.graphs, self.groups), question).outcomes
        return Curve(outcomes_of(question, means, drawn, confidence), drawn, observed)

    def _refuse_no_curve(self) -> None:
        columns, causes = self.graphs.columns, self.question.causes
        names = [repr(columns.names[own.column]) for own in causes]
        if not self.question.single:
            raise InputError(
                f"A curve is of one cause, and this effect sets {len(causes)}: {shortened(names)}. Ask for the effect "
                "of one of them."
            )
        if not self.of_numbers:
            table = either("outcome_table()", "the command without --curve")
            raise InputError(
                f"A curve is of a column of numbers, and {names[0]} has levels: {table} says what would be seen under "
                "each of them."
            )

    def _usual(self, column: int) -> tuple[float, float]:
        """Where most numbers lie, as far as the model tells."""
        quartiles, statistics = self.graphs.columns.quartiles, self.graphs.parts[0].statistics
        if quartiles is not None:
            return float(quartiles[column, 0]), float(quartiles[column, -1])
        assert isinstance(statistics, GaussianStatistics)
        mean, away = float(statistics.centre[column]), _DEVIATIONS * float(statistics.deviations[column])
        return mean - away, mean + away


def outcomes_of(question: Question, expected: Floats, drawn: Floats, confidence: float) -> tuple[Outcome, ...]:
    """What would be seen in every world, from means (worlds, levels) and draws (worlds, draws, levels)."""
    levels = question.outcome_levels or (None,)
    return tuple(
        Outcome(labels, level, float(expected[world, place]), *interval_of(drawn[world, :, place], confidence))
        for world, (labels, _) in enumerate(question.worlds)
        for place, level in enumerate(levels)
    )
