"""What was believed before the data: structure priors, required and forbidden edges, tiers."""

from __future__ import annotations

from dagpost.priors.base import SizePrior as SizePrior
from dagpost.priors.base import StructurePrior as StructurePrior
from dagpost.priors.constraints import Constraints as Constraints
from dagpost.priors.custom import CustomPrior as CustomPrior
from dagpost.priors.edge import EdgePrior as EdgePrior
from dagpost.priors.indegree import InDegreePrior as InDegreePrior
from dagpost.priors.log_prior import log_prior as log_prior
from dagpost.priors.log_prior import log_prior_of_lists as log_prior_of_lists
from dagpost.priors.registry import PRIORS as PRIORS
from dagpost.priors.resolve import resolve_prior as resolve_prior
from dagpost.priors.uniform import UniformPrior as UniformPrior
