"""The graphs of DDS, weighted with the number of orders that each fits, its linear extensions."""

from __future__ import annotations

from dataclasses import dataclass

from dagpost.methods.dds import WeightedDDS


@dataclass(frozen=True)
class LinearExtensions(WeightedDDS):
    """Draws of DDS made structure-modular; each distinct graph counts by what is known of it (posterior/weights.py)."""

    name = "linear-extensions"
    summary = "those of dds, weighted by the orders they fit"
    estimator = "distinct"
