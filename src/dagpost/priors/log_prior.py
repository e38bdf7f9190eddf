"""The log weight of every family under a prior and the constraints: one array beside that of the local scores.

The constraints of constraints.py set the weight of the families that break them to zero. Memory: 8 bytes a family.
"""

from __future__ import annotations

import numpy as np

from dagpost._tools.arrays import Floats
from dagpost._tools.checks import different_texts, kind, truth, whole_number
from dagpost._tools.text import shown
from dagpost.errors import InputError
from dagpost.families.numbering import MAX_NODES
from dagpost.families.parent_lists import ParentLists, all_others
from dagpost.priors.base import StructurePrior
from dagpost.priors.constraints import Constraints
from dagpost.priors.resolve import resolve_prior


def log_prior(
    names: tuple[str, ...],
    max_parents: int,
    prior: str | StructurePrior = "uniform",
    constraints: Constraints | None = None,
    *,
    may_be_empty: bool = False,
) -> Floats:
    """The log weight of each node with each parent set; minus infinity where a constraint does not allow it.

    A node without any parent set is an error, unless it `may_be_empty` because larger sets are weighed elsewhere.

    >>> log_prior(("a", "b"), 1, "uniform", Constraints(forbidden=[("a", "b")]))
    array([[  0.,   0.],
           [  0., -inf]])
    """
    names = different_texts(names, "names", "log_prior")
    if len(names) > MAX_NODES:
        raise InputError(f"There are at most {MAX_NODES} variables. Got {len(names):,} names.")
    whole_number(max_parents, "max_parents", "log_prior", least=0)
    truth(may_be_empty, "may_be_empty", "log_prior")
    lists = all_others(len(names), min(max_parents, len(names) - 1))
    return np.array(log_prior_of_lists(names, lists, prior, constraints, may_be_empty=may_be_empty))


def log_prior_of_lists(
    names: tuple[str, ...],
    lists: ParentLists,
    prior: str | StructurePrior = "uniform",
    constraints: Constraints | None = None,
    *,
    may_be_empty: bool = False,
) -> tuple[Floats, ...]:
    """The same for the parent sets that rules allow each node, in the numbering of `lists`; for up to 1,024 columns.

    Exogenous columns are not modelled: their only parent set has the log weight 0, whatever the prior. A node without
    any parent set is an error, unless it `may_be_empty` because larger sets are weighed elsewhere.

    >>> rules = Constraints(required="a -> b", exogenous="a")
    >>> log_prior_of_lists(("a", "b", "c"), rules.parent_lists(("a", "b", "c"), 2), "uniform", rules)
    (array([0.]), array([-inf,   0., -inf,   0.]), array([0., 0., 0., 0.]))
    """
    rules = Constraints() if constraints is None else kind(constraints, "constraints", Constraints, "Constraints(...)")
    required, forbidden = rules.matrices(names, len(names) if may_be_empty else lists.max_parents)
    settled = resolve_prior(prior).settled(names, forbidden)
    weights, counts = list(settled.log_weights_of_lists(names, lists)), lists.counts
    for node, (name, own) in enumerate(zip(names, lists.candidates, strict=True)):
        if weights[node].shape != (counts[node],):
            raise InputError(
                f"The prior {shown(prior)} must give {counts[node]:,} weights for {name!r}. "
                f"Got an array of shape {weights[node].shape} instead."
            )
        if name in rules.exogenous:
            weights[node] = np.where(np.arange(counts[node]) > 0, -np.inf, 0.0)
            continue
        # Position -1, the last one, stands for nobody.
        needed, barred = np.append(required[node][own], False), np.append(forbidden[node][own], False)
        if required[node].any() or barred.any():
            members = lists.members(node)
            lacking = needed[members].sum(axis=1) < required[node].sum()
            weights[node][lacking | barred[members].any(axis=1)] = -np.inf
        if not may_be_empty:
            _refuse_nothing(weights[node], name)
    return tuple(weights)


def _refuse_nothing(weights: Floats, name: str) -> None:
    if weights.max() == -np.inf:
        raise InputError(
            f"The prior and the constraints leave no parent set to {name!r}: every one has weight 0. "
            "Require or forbid fewer parents, or let the prior give some of them a positive weight."
        )
