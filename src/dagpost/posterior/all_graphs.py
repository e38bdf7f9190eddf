"""All graphs of a few columns, each with its exact posterior probability: a list in the place of a sample.

Up to five columns have at most 29,281 graphs without cycles, so that what is averaged over graphs need not be sampled.
Where the prior counts orders, a graph weighs once for every order that it fits.

Time: under a second; every combination of parent sets is tried, at most 16^5.
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

import numpy as np

from dagpost._tools.arrays import Flags, Floats, Masks
from dagpost.families.masks import mask_type
from dagpost.methods.targets import MODULARITIES, ORDER
from dagpost.posterior.answers import exact_sums
from dagpost.posterior.conditioned_sample import graphs_under
from dagpost.posterior.sample import DagSample
from dagpost.posterior.shares import GIVEN
from dagpost.sampling.linear_extensions import log_linear_extensions

if TYPE_CHECKING:
    from dagpost.posterior.fitted import Fitted

#: So few columns have so few graphs that all of them are listed.
MOST_COLUMNS = 5


def all_graphs(fitted: Fitted) -> DagSample | None:
    """All graphs that a model allows, with their exact probabilities; None where there are too many, or none is known.

    Found once and remembered with the model.
    """
    if len(fitted.names) > MOST_COLUMNS or fitted.completes or fitted.target not in MODULARITIES:
        return None
    return fitted.once("all graphs", lambda: _found(fitted))


def _found(fitted: Fitted) -> DagSample | None:
    condition = fitted.condition
    if condition is not None and condition.drawn and condition.feature is not None:
        # The weights of graphs under any condition are those that they have without it, over their sum.
        every = all_graphs(condition.base)
        return None if every is None else graphs_under(every, condition.feature)
    return None if exact_sums(fitted) is None else _listed(fitted)


def _listed(fitted: Fitted) -> DagSample:
    workspace, names = fitted.workspace, fitted.names
    parents = graphs_without_cycles([_allowed_sets(fitted, node) for node in range(len(names))])
    log_joint = workspace.log_joint(parents)
    parents, log_joint = parents[np.isfinite(log_joint)], log_joint[np.isfinite(log_joint)]
    unknown = np.full(len(parents), np.nan)
    in_order = fitted.target == ORDER
    extensions = log_linear_extensions(parents, engine=workspace.engine) if in_order else unknown
    logs = log_joint + extensions if in_order else log_joint
    weights: Floats = np.exp(logs - logs.max())
    return DagSample(
        names=names,
        parents=parents.astype(mask_type(len(names))),
        log_joint=log_joint,
        log_proposal=unknown,
        log_extensions=extensions,
        weights=weights / weights.sum(),
        target=fitted.target,
        method="all-graphs",
        draws="listed",
        estimator=GIVEN,
        log_evidence=fitted.results.log_evidence,
        provenance=fitted.provenance,
    )


def _allowed_sets(fitted: Fitted, node: int) -> Masks:
    """The parent sets of a node that have any weight."""
    bits = np.uint64(1) << np.arange(len(fitted.names), dtype=np.uint64)
    parts = fitted.workspace.parts
    return np.unique(
        np.concatenate([part.masks_of_sets(node, bits)[np.isfinite(part.own_weights(node))] for part in parts])
    ).astype(np.uint64)


def graphs_without_cycles(sets: list[Masks]) -> Masks:
    """All graphs without cycles in which every node has one of its parent sets.

    >>> every = [np.array([0, 2], dtype=np.uint64), np.array([0, 1], dtype=np.uint64)]
    >>> graphs_without_cycles(every).tolist()
    [[0, 0], [0, 1], [2, 0]]
    """
    count = int(np.prod([len(own) for own in sets]))
    places = np.unravel_index(np.arange(count), [len(own) for own in sets])
    parents = np.stack([own[place] for own, place in zip(sets, places, strict=True)], axis=1)
    return parents[_without_cycle(parents)]


def _without_cycle(parents: Masks) -> Flags:
    """Whether all nodes of a graph can be taken away, each once its parents are gone."""
    nodes = parents.shape[1]
    left = np.full(len(parents), (1 << nodes) - 1, dtype=np.uint64)
    for _ in range(nodes):
        free = [(parents[:, node] & left == 0).astype(np.uint64) << np.uint64(node) for node in range(nodes)]
        left &= ~reduce(np.bitwise_or, free)
    gone: Flags = left == 0
    return gone
