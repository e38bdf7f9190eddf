"""The priors that are known by name: ours, in the order in which they are listed to people, and other packages'.

A new prior is one file and one line here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dagpost._tools.registry import Registry

if TYPE_CHECKING:
    from dagpost.priors.base import StructurePrior

PRIORS: Registry[StructurePrior] = Registry(
    "prior",
    "dagpost.priors",
    ["dagpost.priors.uniform:UniformPrior", "dagpost.priors.indegree:InDegreePrior", "dagpost.priors.edge:EdgePrior"],
)
