"""How probable are values of some columns, given others? Averaged over graphs and parameters, open where not given."""

from __future__ import annotations

from dagpost.values.results import ValueDistribution as ValueDistribution
from dagpost.values.results import ValueEstimate as ValueEstimate
