"""What conditions on parents leave of a model, in each way in which they can be met.

Whether there is any graph at all whose families have weight is answered without a sum, before anybody waits for one: a
node may be placed once one of its parent sets lies among those placed before it, and placing it never hurts the
others: all nodes can be placed, one after the other, if and only if there is such a graph.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.arrays import Flags, Floats
from dagpost.errors import NoGraphError
from dagpost.exact.components import weights_inside
from dagpost.families.numbering import parent_sets, unsqueeze_all
from dagpost.features import And, Feature, projected_ways
from dagpost.posterior.component_workspace import divided
from dagpost.posterior.exact_workspace import ExactWorkspace

if TYPE_CHECKING:
    from dagpost.features.projection import ProjectedWays
    from dagpost.posterior.workspace import SummingWorkspace


class ImpossibleError(NoGraphError):
    """No graph meets a condition, whatever the data."""


def has_graph(workspace: SummingWorkspace, changed: Collection[int]) -> bool:
    """Whether weights leave any graph, where those of the `changed` nodes alone were restricted."""
    if isinstance(workspace, ExactWorkspace):
        return _can_place_all(workspace.log_weights, workspace.max_parents)
    try:
        components = workspace.components
    except NoGraphError:
        return False
    touched = {int(components.part_of[node]) for node in changed}
    insides = (weights_inside(workspace.lists, workspace.log_weights, components.parts[part]) for part in touched)
    return all(_can_place_all(inside, min(workspace.max_parents, len(inside) - 1)) for inside in insides)


def _can_place_all(log_weights: Floats, max_parents: int) -> bool:
    nodes = len(log_weights)
    sets = parent_sets(nodes - 1, max_parents)
    waiting = {
        node: unsqueeze_all(sets[np.isfinite(log_weights[node])], node).astype(np.uint64) for node in range(nodes)
    }
    placed = np.uint64(0)
    while waiting:
        ready = [node for node, own in waiting.items() if ((own & ~placed) == 0).any()]
        if not ready:
            return False
        for node in ready:
            placed |= np.uint64(1) << np.uint64(node)
            del waiting[node]
    return True


def restricted_part(
    part: SummingWorkspace, allowed_sets: Mapping[int, NDArray[np.bool_]], modularity: str
) -> SummingWorkspace:
    """The weights that conditions on the parents of some nodes leave.

    Where every graph counts once, what the conditions take apart is summed apart.
    """
    left = part.restricted(allowed_sets)
    return divided(left) if isinstance(left, ExactWorkspace) and modularity == "structure" else left


def possible_ways(found: ProjectedWays, part: SummingWorkspace) -> Iterator[dict[int, Flags]]:
    """For every way that leaves some graph of a part, which parent sets of the nodes with conditions meet these."""
    for way in found.ways:
        allowed = {node: condition(part.masks_of_sets(node, found.bits)) for node, condition in way.items()}
        possible = all((own & np.isfinite(part.own_weights(node))).any() for node, own in allowed.items())
        if possible and has_graph(part.restricted(allowed), allowed):
            yield allowed


def ways_to_restrict(
    feature: Feature, names: Sequence[str], part: SummingWorkspace, most: int
) -> list[dict[int, Flags]] | None:
    """The same for a statement that some graph must meet; None where it is none on parents, or has too many ways."""
    found = projected_ways(feature, names)
    if found is None:
        return None
    ways = list(islice(possible_ways(found, part), most + 1))
    if not ways:
        raise ImpossibleError
    return ways if len(ways) <= most else None


def all_of(features: Sequence[Feature]) -> Feature:
    """All statements as one."""
    return features[0] if len(features) == 1 else And(tuple(features))
