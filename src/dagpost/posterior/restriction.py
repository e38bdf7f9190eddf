"""The weights that a condition on parents leaves, in each way in which it can be true, under each value of a setting.

A statement that can be true in several ways, such as `A -- B`, adds up a posterior for each of them; they have no graph
in common (features/disjoint.py). Ways that no graph allows are left out, without a sum (feasible.py).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from dagpost.errors import InputError, NoGraphError
from dagpost.features import Feature, projected_ways
from dagpost.posterior.answers import exact_sums
from dagpost.posterior.condition import ImpossibleError
from dagpost.posterior.feasible import has_graph
from dagpost.posterior.mixture import JoinedWorkspace, MixedWorkspace
from dagpost.posterior.ways_left import restricted

if TYPE_CHECKING:
    from dagpost.posterior.fitted import Fitted
    from dagpost.posterior.workspace import SummingWorkspace, Workspace

#: In how many ways a statement may be true and still restrict weights: each is a posterior of its own.
_MOST_WAYS = 8
#: Models under conditions are looked at one after the other, and many may be kept: they share room for tables.
_SHARING = 16
#: Edges, families and paths of what a condition leaves take more than the sums alone that workspaces reckon: 1.5 s
#: were measured where these are 0.87 s (18 columns, an averaged score).
_WHOLE_PASS = 1.7
#: A part this improbable is reckoned not to need a sum.
_UNLIKELY = 1e-13
#: A share of a part that is smaller than this does not tell how much it weighs.
_SMALLEST_SHARE = 1e-290


def restrictable(base: Fitted) -> bool:
    """Whether a model with other weights is found as this one was: by sums, or by independent draws."""
    if not base.workspace.parts or base.completes:
        return False
    return exact_sums(base) is not None or (base.method.draws != "chains" and not base.method.needs_rows)


def restricted_workspace(base: Fitted, feature: Feature | None, cells: Sequence[int] | None) -> Workspace | None:
    """The weights that are left, in some cells of what is averaged over; None where they cannot say it."""
    if cells is not None and exact_sums(base) is None and base.method.modularity is not None:
        raise InputError(
            "Only a model with exact sums can be conditioned on a value of a setting that it averages over."
        )
    if not restrictable(base):
        return None
    workspace = base.workspace
    ways = [{}] if feature is None else allowed_ways(base, feature)
    if ways is None:
        return None
    chosen = range(len(workspace.parts)) if cells is None else cells
    # Where every graph counts once, what a condition takes apart is summed apart, if the method can draw from that.
    modularity = "structure" if base.modularity == "structure" and base.method.by_components else ""
    parts: list[SummingWorkspace] = []
    for allowed in ways:
        left = list(restricted(workspace, allowed, modularity))
        if _has_graph_of_method(base, left[0]):
            parts += [left[place] for place in chosen]
    if not parts:
        raise ImpossibleError
    times = len(parts) // len(chosen)
    sharing = _SHARING * len(parts)
    if isinstance(workspace, MixedWorkspace):
        cell_of = [workspace.cell_of[place] for place in chosen] * times
        joined: JoinedWorkspace = MixedWorkspace(
            workspace.grid, parts, workspace.engine, workspace.reporter, ordinary=workspace.ordinary, cell_of=cell_of
        )
    elif len(parts) == 1:
        parts[0].sharing = sharing
        return parts[0]
    else:
        labels = [f"way {way + 1} of {times}" for way in range(times)]
        joined = JoinedWorkspace(parts, [0.0] * len(parts), labels, workspace.engine, workspace.reporter)
    for part in parts:
        part.sharing = sharing
    joined.way_of = tuple(way for way in range(times) for _ in chosen)
    joined.most = tuple(_most(base, place) for place in chosen) * times
    return joined


def _has_graph_of_method(base: Fitted, part: SummingWorkspace) -> bool:
    """Whether some graph is left of those that a method considers, where these are not all."""
    if base.method.modularity is not None:
        return True
    try:
        return math.isfinite(base.method.log_mass(part, base.names))
    except NoGraphError:
        return False


def _most(base: Fitted, place: int) -> float:
    """The log evidence of a part of a model, which that of what is left cannot exceed; infinity where not known."""
    sums = base.results.sums
    if sums is None or sums.shares[place] < _SMALLEST_SHARE:
        return math.inf
    # A little more, for rounding.
    return math.log(sums.shares[place]) + sums.log_evidence - base.workspace.log_priors[place] + 1e-6


def allowed_ways(base: Fitted, feature: Feature) -> list[dict[int, Any]] | None:
    """For each way in which a statement can be true, which parent sets of which nodes it leaves; None: too many."""
    found = projected_ways(feature, base.names)
    if found is None:
        return None
    part = base.workspace.parts[0]
    ways: list[dict[int, Any]] = []
    for way in found.ways:
        allowed = {node: condition(part.masks_of_sets(node, found.bits)) for node, condition in way.items()}
        possible = all((own & np.isfinite(part.own_weights(node))).any() for node, own in allowed.items())
        if possible and has_graph(part.restricted(allowed), allowed):
            ways.append(allowed)
        if len(ways) > _MOST_WAYS:
            return None
    if not ways:
        raise ImpossibleError
    return ways


def seconds_left(left: Workspace, modularity: str) -> float:
    """Roughly how long the exact sums over what a condition leaves take."""
    parts = left.parts
    if isinstance(left, JoinedWorkspace):
        most = np.add(left.log_priors, left.most)
        # What the condition leaves is not known yet: take a part that is this improbable for one that will not matter.
        parts = tuple(part for part, own in zip(parts, most, strict=True) if own > most.max() + math.log(_UNLIKELY))
    return _WHOLE_PASS * sum(part.seconds(modularity) for part in parts)
