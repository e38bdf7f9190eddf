"""What conditions on parents leave of a model, and its evidence, in each way in which they can be met.

Ratios of such evidences are taken in logs: they say what holds under a condition that is all but impossible, where a
difference of probabilities would have no digits left.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.arrays import Flags
from dagpost.errors import NoGraphError
from dagpost.posterior.component_workspace import divided
from dagpost.posterior.exact_workspace import ExactWorkspace
from dagpost.posterior.feasible import has_graph

if TYPE_CHECKING:
    from dagpost.features.projection import ProjectedWays
    from dagpost.posterior.workspace import SummingWorkspace, Workspace


def restricted(
    workspace: Workspace, allowed_sets: Mapping[int, NDArray[np.bool_]], modularity: str
) -> Iterator[SummingWorkspace]:
    """Each part with the weights that conditions on the parents of some nodes leave, one at a time."""
    return (restricted_part(part, allowed_sets, modularity) for part in workspace.parts)


def restricted_part(
    part: SummingWorkspace, allowed_sets: Mapping[int, NDArray[np.bool_]], modularity: str
) -> SummingWorkspace:
    """The weights that conditions on the parents of some nodes leave.

    Where every graph counts once, what the conditions take apart is summed apart.
    """
    left = part.restricted(allowed_sets)
    return divided(left) if isinstance(left, ExactWorkspace) and modularity == "structure" else left


def log_evidence_left(part: SummingWorkspace, kept: Mapping[int, Flags], modularity: str) -> float:
    """The log evidence of what conditions leave of one part; minus infinity if they leave it no graph.

    They may contradict each other, lead to a cycle, or contradict what a condition of the model left of this part.
    """
    try:
        return restricted_part(part, kept, modularity).log_evidence(modularity)
    except NoGraphError:
        return -math.inf


def log_evidence_of_ways(
    found: ProjectedWays, tables: Workspace, modularity: str, patience: float, most_ways: int
) -> float | None:
    """The log evidence of all ways together; None where that takes too long."""
    if len(found.ways) > most_ways or len(found.ways) * tables.seconds(modularity) / 2.0 > patience:
        return None
    if modularity == "structure" and not tables.structure_is_affordable():
        return None
    logs = [
        log_prior + log_evidence_left(part, allowed, modularity)
        for log_prior, part in zip(tables.log_priors, tables.parts, strict=True)
        for allowed in possible_ways(found, part)
    ]
    return float(np.logaddexp.reduce(logs)) if logs else -math.inf


def possible_ways(found: ProjectedWays, part: SummingWorkspace) -> list[dict[int, Flags]]:
    """For every way that leaves some graph of a part, which parent sets of the nodes with conditions meet these."""
    ways = [
        {node: condition(part.masks_of_sets(node, found.bits)) for node, condition in way.items()} for way in found.ways
    ]
    return [allowed for allowed in ways if has_graph(part.restricted(allowed), allowed)]
