"""Which parents to consider where there are too many families to score them all.

Every set of few parents is scored (how many is what `MOST_FAMILIES` allows: 4 at 40 nodes, 3 at 64), and for each node
some candidates are chosen, among which all sets of at most `max_parents` are scored too. Candidates are added one by
one, as in the greedy choice of Gadget: next comes the node that, alone, with any other one, or with some of those
already chosen, makes the best parent set (of at most three, so that its score is known already). A parent that only
matters beside another one is found in this way; pairwise scores would miss it. Then the best sets are tried with every
other column added (growth.py), and one that shows takes the place of the candidate that matters least.

Cost: scoring all small sets, and as many sets as the candidates have subsets for every node; the choice itself takes
candidates^2 times nodes^2 look-ups.

Viinikka, Hyttinen, Pensar & Koivisto, "Towards scalable Bayesian learning of causal DAGs", NeurIPS 33 (2020).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, Unpack

import numpy as np

from dagpost._tools.arrays import Flags, Floats, Integers, Masks
from dagpost._tools.kernels import kernel
from dagpost.checkpoints import Tracking, tracked
from dagpost.engines import Engine, ThreadEngine
from dagpost.errors import InputError
from dagpost.exact.best_lattice import numbers_of_sets
from dagpost.families.family_sums import FamilyWeights, as_sets_of_nodes, candidate_count, largest_small_size
from dagpost.families.numbering import (
    MAX_NODES,
    binomials,
    family_count,
    parent_sets,
    size_offsets,
    unsqueeze_all,
)
from dagpost.families.pruning import found_among
from dagpost.mcmc.growth import extend_sets, missed_share, swapped_candidates, to_extend, weigh_extended
from dagpost.priors import StructurePrior, log_prior, log_prior_of_sets
from dagpost.priors.constraints import Constraints
from dagpost.scores import Score, local_scores
from dagpost.scores.base import Extender, Filling
from dagpost.scores.columns import part_of

if TYPE_CHECKING:
    from dagpost.data.table import Table

_LARGEST_LOOKED_UP = 3


def weights_of_all(log_weights: Floats, max_parents: int) -> FamilyWeights:
    """The weights of a model whose families have all been scored, for chains."""
    nodes = len(log_weights)
    width = candidate_count(nodes)
    if width == nodes - 1:
        others = np.array([[other for other in range(nodes) if other != node] for node in range(nodes)])
        candidates = others.reshape(nodes, width).astype(np.int64)
        return FamilyWeights(max_parents, max_parents, candidates, log_weights, log_weights)
    nothing = np.zeros(nodes, dtype=np.uint64)
    candidates = choose_candidates(log_weights, max_parents, width, _always_parents(log_weights, max_parents), nothing)
    inner = weights_inside(log_weights, candidates, max_parents)
    return FamilyWeights(max_parents, max_parents, candidates, inner, log_weights)


def weights_inside(log_weights: Floats, candidates: Integers, max_parents: int) -> Floats:
    """The weights of the parent sets of each node among its candidates, out of those of all sets."""
    nodes, width = candidates.shape
    sets, numbering = parent_sets(width, max_parents), (binomials(max_parents).copy(), size_offsets(max_parents).copy())
    masks = [as_sets_of_nodes(sets, candidates[node]) for node in range(nodes)]
    numbers = [numbers_of_sets(own, node, nodes - 1, *numbering) for node, own in enumerate(masks)]
    return np.take_along_axis(log_weights, np.array(numbers), axis=1)


def weights_among_candidates(
    table: Table,
    score: Score,
    prior: StructurePrior,
    constraints: Constraints,
    max_parents: int,
    *,
    engine: Engine,
    **tracking: Unpack[Tracking],
) -> FamilyWeights:
    """Score the small sets of all nodes and the sets of at most `max_parents` among the candidates of each."""
    names = table.names
    nodes = len(names)
    small_size = largest_small_size(nodes, min(max_parents, nodes - 1))
    scores = local_scores(table, score, small_size, engine=engine, **tracking)
    required, forbidden = constraints.masks(names, max_parents)
    candidates = choose_candidates(scores.values, small_size, candidate_count(nodes), required, forbidden)
    small = scores.values
    small += log_prior(names, small_size, prior, constraints, may_be_empty=True)
    width = candidates.shape[1]
    sets = parent_sets(width, max_parents)
    inner = np.empty((nodes, len(sets)))

    def score_node(node: int, cancel: Integers) -> int:  # noqa: ARG001
        columns = [*candidates[node].tolist(), node]
        part, limit, values = part_of(table, columns), min(max_parents, width), np.zeros((1, len(sets)))
        score.of_columns(columns, table).fill_nodes(Filling(part, (width,), limit, values, ThreadEngine(1)))
        masks = as_sets_of_nodes(sets, candidates[node])
        inner[node] = values[0] + log_prior_of_sets(prior, names, node, masks, required[node], forbidden[node])
        return node

    def score_all(chosen: Sequence[int], label: str) -> None:
        with tracked(label, chosen, lambda node: [inner[node]], **tracking) as (saved, stage):
            for _ in saved.run(engine, score_node, [*saved.finished, *saved.left]):
                stage.advance(1)

    score_all(range(nodes), "scores of candidates")
    missed = np.zeros(nodes)
    if small_size < max_parents and width < nodes - 1:
        look = _Look(score.extender(table, max_parents, engine.workers), prior, names, small_size, required, forbidden)
        modelled = [node for node, name in enumerate(names) if name not in constraints.exogenous]
        weights = FamilyWeights(max_parents, small_size, candidates, inner, small)
        swapped = look.further(weights, modelled, missed, "overlooked parents", engine, tracking)
        for node, columns in swapped.items():
            candidates[node] = columns
        score_all(list(swapped), "scores of new candidates")
        look.further(weights, list(swapped), missed, "parents overlooked still", engine, tracking)
    constraints.leave_unmodelled(names, inner, small)
    for node, name in enumerate(names):
        if max(inner[node].max(), small[node].max()) == -math.inf:
            raise InputError(f"The prior and the constraints leave no parent set to {name!r}: every one has weight 0.")
    return FamilyWeights(max_parents, small_size, candidates, inner, small, missed)


class _Look(NamedTuple):
    """Sets with one more parent that is not a candidate (growth.py)."""

    extend: Extender
    prior: StructurePrior
    names: tuple[str, ...]
    small_size: int
    required: Masks
    forbidden: Masks

    def further(
        self,
        weights: FamilyWeights,
        nodes: list[int],
        missed: Floats,
        label: str,
        engine: Engine,
        tracking: Tracking,
    ) -> dict[int, Integers]:
        """Write what is missed of some nodes; those with a better candidate, and all their candidates then."""
        columns = np.arange(weights.nodes)
        among, small, extended = {}, {}, {}
        for node in nodes:
            among[node], small[node] = found_among(weights, node).parts
            required, forbidden = (_columns_of(mask[node], columns) for mask in (self.required, self.forbidden))
            allowed = np.setdiff1d(columns, [*forbidden, node])
            extended[node] = to_extend(among[node], allowed, self.small_size, required)
        scores = extend_sets(self.extend, among, extended, weights.nodes, label, engine=engine, **tracking)
        swapped = {}
        for node in nodes:
            own = extended[node], among[node]
            _, shares = weigh_extended(*own, small[node], scores[node], self.prior, self.names, node)
            missed[node] = missed_share(extended[node], shares)
            better = swapped_candidates(*own, shares, self.small_size, _columns_of(self.required[node], columns))
            if better is not None:
                swapped[node] = better
        return swapped


def _columns_of(mask: np.uint64, columns: Integers) -> Integers:
    return columns[(mask >> columns.astype(np.uint64)) & np.uint64(1) != 0]


def choose_candidates(scores: Floats, size: int, width: int, required: Masks, forbidden: Masks) -> Integers:
    """For each node its `width` most promising parents, ascending; required ones always, forbidden ones last.

    `scores` numbers all sets of at most `size` parents as in families/numbering.py.

    >>> scores = np.log([[1.0, 2.0, 1.0, 9.0], [1.0, 1.0, 1.0, 1.0], [1.0, 1.0, 1.0, 1.0]])
    >>> nobody = np.zeros(3, dtype=np.uint64)
    >>> choose_candidates(scores, 2, 1, nobody, nobody)[0]  # node 1 alone is better than node 2 alone
    array([1])
    """
    nodes = len(scores)
    result = np.empty((nodes, width), dtype=np.int64)
    columns = np.arange(nodes, dtype=np.uint64)
    for node in range(nodes):
        must, never = (
            ((mask[node] >> np.delete(columns, node)) & np.uint64(1)).astype(np.bool_) for mask in (required, forbidden)
        )
        result[node] = np.delete(columns, node)[chosen_places(scores[node], nodes - 1, size, width, must, never)]
    return result


def chosen_places(scores: Floats, universe: int, size: int, width: int, required: Flags, forbidden: Flags) -> Integers:
    """The most promising of `universe` possible parents of one node, ascending, as places among these.

    `scores` numbers all sets of at most `size` of them.
    """
    looked_up = min(size, _LARGEST_LOOKED_UP, universe)
    values = np.ascontiguousarray(scores[: family_count(universe, looked_up)])
    # What is required comes first, then what is allowed, and only then what can never be a parent.
    rank = np.where(required, 2, np.where(forbidden, 0, 1))
    chosen = np.empty(min(width, universe), dtype=np.int64)
    elements = max(universe, MAX_NODES)
    _choose(
        values, looked_up, binomials(looked_up, elements), size_offsets(looked_up, elements)[universe], rank, chosen
    )
    return np.sort(chosen)


def _always_parents(log_weights: Floats, max_parents: int) -> Masks:
    """For each node those that are in all of its parent sets: without them no set would have any weight."""
    sets = parent_sets(len(log_weights) - 1, max_parents)
    common = [np.bitwise_and.reduce(sets[np.isfinite(row)], keepdims=True) for row in log_weights]
    return np.concatenate([unsqueeze_all(mask, node) for node, mask in enumerate(common)])


@kernel
def _choose(values: Floats, size: int, binomial: Integers, offset: Integers, rank: Integers, chosen: Integers) -> None:
    universe = len(rank)
    best = np.full(universe, -math.inf)
    taken = np.zeros(universe, dtype=np.bool_)
    for place in range(universe if size > 0 else 0):
        best[place] = max(best[place], values[offset[1] + place])
        # Two parents that only show together have nothing to show alone.
        for second in range(place + 1, universe if size > 1 else 0):
            pair = values[offset[2] + place + binomial[second, 2]]
            best[place] = max(best[place], pair)
            best[second] = max(best[second], pair)
    for count in range(len(chosen)):
        pick = -1
        for place in range(universe):
            if not taken[place] and (
                pick < 0 or rank[place] > rank[pick] or (rank[place] == rank[pick] and best[place] > best[pick])
            ):
                pick = place
        for place in range(universe if size > 1 else 0):
            if taken[place] or place == pick:
                continue
            low, high = min(place, pick), max(place, pick)
            best[place] = max(best[place], values[offset[2] + low + binomial[high, 2]])
            for earlier in range(count if size > 2 else 0):
                third = chosen[earlier]
                first, last = min(low, third), max(high, third)
                triple = offset[3] + first + binomial[low + high + third - first - last, 2] + binomial[last, 3]
                best[place] = max(best[place], values[triple])
        chosen[count] = pick
        taken[pick] = True
