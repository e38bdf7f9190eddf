"""How probable are new rows? Prediction averaged over graphs, with the parameters integrated out."""

from __future__ import annotations

from dagpost.prediction.averaging import log_predictive as log_predictive
from dagpost.prediction.averaging import predictive_of_target as predictive_of_target
from dagpost.prediction.cross_validation import CrossValidation as CrossValidation
from dagpost.prediction.cross_validation import cross_validate as cross_validate
from dagpost.prediction.discrete_statistics import DiscreteStatistics as DiscreteStatistics
from dagpost.prediction.gaussian_statistics import GaussianStatistics as GaussianStatistics
from dagpost.prediction.rows import NewRows as NewRows
from dagpost.prediction.rows import encode_rows as encode_rows
from dagpost.prediction.statistics import Statistics as Statistics
from dagpost.prediction.statistics import statistics_from as statistics_from
from dagpost.prediction.statistics import sufficient_statistics as sufficient_statistics
