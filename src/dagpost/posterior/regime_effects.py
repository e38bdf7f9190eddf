"""Which variables did each regime change? The edges from the indicators of regimes, as an answer of their own.

A regime changes a variable if the variable comes about otherwise under it than under the reference: other probabilities
of its levels given its parents, or, with a score for numbers, another mean. What a changed variable passes on to others
is not a change of these: their own mechanisms stay as they were. The probabilities are those of edges (Eaton & Murphy
2007), and exact where these are.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from dagpost._tools.arrays import Floats
from dagpost._tools.spelling import either
from dagpost._tools.text import printable
from dagpost.data.encoding import number_text
from dagpost.errors import InputError
from dagpost.posterior.pair_direction import FOUND
from dagpost.posterior.summaries.display import html_of
from dagpost.scores import class_of, resolve_score

if TYPE_CHECKING:
    import pandas as pd

    from dagpost.posterior.fitted import Fitted


#: What a model of numbers can see of a regime.
ONLY_MEANS = (
    "Numbers are modelled as a straight line with noise, so a regime can only shift the mean of a variable here: a "
    "changed slope or variance is not seen as such."
)


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
