"""How probable are new rows? Prediction averaged over graphs, with the parameters integrated out."""

from __future__ import annotations

from dagpost.prediction.averaging import log_predictive, predictive_of_target
from dagpost.prediction.columns import family_log_predictive
from dagpost.prediction.cross_validation import CrossValidation, cross_validate
from dagpost.prediction.rows import NewRows, encode_rows
from dagpost.prediction.statistics import (
    DiscreteStatistics,
    GaussianStatistics,
    Statistics,
    predicting_prior,
    statistics_from,
    sufficient_statistics,
)

__all__ = [
    "CrossValidation",
    "DiscreteStatistics",
    "GaussianStatistics",
    "NewRows",
    "Statistics",
    "cross_validate",
    "encode_rows",
    "family_log_predictive",
    "log_predictive",
    "predicting_prior",
    "predictive_of_target",
    "statistics_from",
    "sufficient_statistics",
]
