"""What was believed before the data: structure priors, required and forbidden edges, tiers."""

from __future__ import annotations

from dagpost.priors.base import SizePrior, StructurePrior
from dagpost.priors.constraints import Constraints
from dagpost.priors.custom import CustomPrior
from dagpost.priors.edge import EdgePrior
from dagpost.priors.indegree import InDegreePrior
from dagpost.priors.log_prior import log_prior, log_prior_of_sets
from dagpost.priors.registry import PRIORS
from dagpost.priors.resolve import resolve_prior
from dagpost.priors.uniform import UniformPrior

__all__ = [
    "PRIORS",
    "Constraints",
    "CustomPrior",
    "EdgePrior",
    "InDegreePrior",
    "SizePrior",
    "StructurePrior",
    "UniformPrior",
    "log_prior",
    "log_prior_of_sets",
    "resolve_prior",
]
