"""Is there any graph at all whose families have weight? Answered without a sum, before anybody waits for one.

A node may be placed once one of its parent sets lies among those placed before it, and placing it never hurts the
others: all nodes can be placed, one after the other, if and only if there is such a graph.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

import numpy as np

from dagpost._tools.arrays import Floats
from dagpost.errors import NoGraphError
from dagpost.exact.components import weights_inside
from dagpost.families.numbering import parent_sets, unsqueeze_all
from dagpost.posterior.exact_workspace import ExactWorkspace

if TYPE_CHECKING:
    from dagpost.posterior.workspace import SummingWorkspace


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
