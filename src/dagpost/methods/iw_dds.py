"""IW-DDS: the graphs of DDS, distinct ones weighted by their joint probability (He, Tian & Wu 2016)."""

from __future__ import annotations

from dataclasses import dataclass

from dagpost.methods.dds import WeightedDDS


@dataclass(frozen=True)
class IWDDS(WeightedDDS):
    """Draws of DDS made structure-modular: each distinct graph counts by its joint probability."""

    name = "iw-dds"
    summary = "those of dds, weighted"
    estimator = "iw"
