"""The effects of all columns on all others, one row a pair."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dagpost.causal.effects import effect_in
from dagpost.causal.question import question_of
from dagpost.causal.sources import graphs_of_fitted
from dagpost.posterior.fitted import Fitted

if TYPE_CHECKING:
    import pandas as pd


def effects_of_fitted(fitted: Fitted, draws: int, confidence: float, seed: int | None) -> pd.DataFrame:
    """The total effect of every column on every other that is modelled."""
    import pandas as pd

    graphs = graphs_of_fitted(fitted)
    rows = []
    for cause in fitted.names:
        for outcome in fitted.names:
            if cause != outcome and outcome not in fitted.exogenous:
                question = question_of(graphs.columns, cause, outcome, None, None)
                found = effect_in(graphs, question, draws, confidence, seed, None, lambda: None)
                assert found.direct is not None
                lower, upper = found.interval()
                rows.append(
                    (cause, outcome, found.do, found.outcome_level, found.mean, lower, upper, found.zero_probability,
                     found.positive_probability, found.negative_probability, found.direct.mean)
                )  # fmt: skip
    columns = ["cause", "outcome", "do", "outcome_level", "mean", "lower", "upper", "no_effect", "raises", "lowers"]
    return pd.DataFrame(rows, columns=[*columns, "direct"])
