"""From a table to the parent sets that chains consider, where there are too many to score: up to 1,024 columns.

Every set of few parents is scored (up to 50 million of them: 3 parents at 109 columns, 2 at 441, 1 beyond 465);
for each node candidates are chosen from these scores (candidates.py), and all sets of at most `max_parents` among its
candidates are scored. Then the candidates grow (growth.py). Of all that was scored, the sets stay that matter
(families/pruning.py), with a bound on what the others hold and an estimate of what was not scored.

Nothing is scored that a rule does not allow. Sets are lists of members, not masks of bits, for any number of columns.
"""

from __future__ import annotations

from typing import NamedTuple, Unpack

import numpy as np

from dagpost._tools.arrays import Floats, Integers
from dagpost._tools.progress import NO_PROGRESS
from dagpost.checkpoints import NO_CHECKPOINT, CheckpointPart, Tracking
from dagpost.engines import Engine
from dagpost.errors import InputError
from dagpost.families.considered_sets import ConsideredSets
from dagpost.families.family_sums import (
    ALL_CANDIDATES,
    CANDIDATES,
    FamilyWeights,
    candidate_count,
    largest_small_size,
)
from dagpost.families.numbering import family_count
from dagpost.families.parent_lists import ParentLists, members_of_sets
from dagpost.families.pruning import Found, Weighed, that_stay
from dagpost.mcmc.candidates import chosen_places
from dagpost.mcmc.growth import (
    Extended,
    columns_to_take,
    extend_sets,
    extended_sets,
    missed_share,
    swapped_candidates,
    to_extend,
    weigh_extended,
)
from dagpost.priors.base import numbers_of_places
from dagpost.priors.log_prior import log_prior_of_lists
from dagpost.priors.study import Study
from dagpost.scores.allowed_scores import score_allowed

#: The prior is added for this many nodes at a time: it takes as much memory as their scores.
_NODES_AT_A_TIME = 32


class Sizes(NamedTuple):
    """How much is scored: small sets of all nodes, candidates of each at first and in the end, and how often they grow.

    Where there are no more than `all_candidates` possible parents, all of them are candidates.
    """

    families: int = 50_000_000
    candidates: int = CANDIDATES
    all_candidates: int = ALL_CANDIDATES
    rounds: int = 3
    #: Up to how many parents all sets are scored; None: as many as fit among `families`.
    small_size: int | None = None


#: What is usual.
USUAL = Sizes()


class _Growth(NamedTuple):
    """What is known of one node: the sets among its candidates, and those that were extended by another column."""

    among: Weighed
    extended: Extended
    #: Log weights and shares: a row a set that was extended, a column for each that was added.
    log_weights: Floats
    shares: Floats


def considered_among_candidates(
    study: Study, *, engine: Engine, sizes: Sizes = USUAL, **tracking: Unpack[Tracking]
) -> ConsideredSets:
    """Score the small sets of all nodes and those among candidates, let these grow, and keep what matters."""
    scorer = _Scorer(study, engine, sizes, tracking)
    small, candidates = scorer.begin()
    known: dict[int, _Growth] = {}
    growing = list(range(scorer.nodes))
    for attempt in range(sizes.rounds):
        if not growing:
            break
        known.update(scorer.grown(growing, candidates, small, attempt))
        more = attempt + 1 < sizes.rounds
        taken = {node: scorer.to_take(known[node]) for node in growing if more}
        growing = [node for node, columns in taken.items() if len(columns)]
        for node in growing:
            candidates[node] = np.union1d(candidates[node], taken[node])
    scorer.refuse_nothing(small, known)

    def found(node: int) -> Found:
        among, extended, log_weights, shares = known[node]
        singly = extended_sets(extended, among, scorer.nodes, log_weights, shares)
        return Found([among, scorer.small_part(node, small[node])], singly)

    missed = np.array([missed_share(known[node].extended, known[node].shares) for node in range(scorer.nodes)])
    return that_stay(found, scorer.nodes, scorer.in_words(candidates), missed=missed, engine=engine)


def weights_among_candidates(study: Study, *, engine: Engine, **tracking: Unpack[Tracking]) -> FamilyWeights:
    """The same for chains over up to 64 columns that look sets up by their numbers: as many candidates for each node.

    A candidate that was overlooked takes the place of one that matters less.
    """
    table, _, prior, _, max_parents = study
    nodes, names = len(table.names), table.names
    # A prior that only weighs all families at once refuses, before any of them is scored.
    prior.log_weights_of_members(names, 0, np.full((1, min(max_parents, nodes - 1)), nodes, dtype=np.int16))
    width, small_size = candidate_count(nodes), largest_small_size(nodes, min(max_parents, nodes - 1))
    sizes = Sizes(candidates=width, all_candidates=width, small_size=small_size)
    scorer = _Scorer(study, engine, sizes, tracking)
    small, candidates = scorer.begin()
    known = scorer.grown(list(range(nodes)), candidates, small, 0)
    swapped = {node: scorer.swapped(node, growth) for node, growth in known.items()}
    better = {node: columns for node, columns in swapped.items() if columns is not None}
    known.update(scorer.grown(list(better), [better.get(node, own) for node, own in enumerate(candidates)], small, 1))
    scorer.refuse_nothing(small, known)
    rows = np.array([_filled(known[node].among.columns, node, nodes, width) for node in range(nodes)])
    inner = [_numbered(known[node].among, own, max_parents) for node, own in enumerate(rows)]
    others = [np.delete(np.arange(nodes), node) for node in range(nodes)]
    outer = [_numbered(scorer.small_part(node, own), others[node], small_size) for node, own in enumerate(small)]
    missed = np.array([missed_share(known[node].extended, known[node].shares) for node in range(nodes)])
    return FamilyWeights(max_parents, small_size, rows, np.array(inner), np.array(outer), missed)


def _filled(columns: Integers, node: int, nodes: int, width: int) -> Integers:
    """The candidates of a node with others to make up their number, where rules leave fewer."""
    others = np.setdiff1d(np.arange(nodes), [*columns, node])
    return np.sort(np.append(columns, others[: width - len(columns)]))


def _numbered(part: Weighed, among: Integers, most: int) -> Floats:
    """Log weights by the numbers that sets have among more columns; those of all other sets are minus infinity."""
    result = np.full(family_count(len(among), most), -np.inf)
    # Position -1, the last one, stands for nobody.
    places = np.append(np.searchsorted(among, part.columns), -1)
    result[numbers_of_places(places[members_of_sets(len(part.columns), part.limit)], len(among))] = part.log_weights
    return result


class _Scorer:
    """The log weights of parent sets, from the table, the score, the prior and the rules."""

    def __init__(self, study: Study, engine: Engine, sizes: Sizes, tracking: Tracking) -> None:
        self.sizes, self.engine = sizes, engine
        table, score, _, constraints, max_parents = study
        self.table, self.score, self.prior, self.constraints = study[:4]
        self.names = table.names
        self.nodes = len(self.names)
        self.limit = min(max_parents, self.nodes - 1)
        self.modelled = np.array([name not in constraints.exogenous for name in self.names])
        self.required, _ = constraints.matrices(self.names, max_parents)
        self.allowed = constraints.parent_lists(self.names, self.limit)
        small_size = _small_size(self.allowed, sizes.families) if sizes.small_size is None else sizes.small_size
        self.small_lists = ParentLists(self.allowed.candidates, small_size)
        self.reporter = tracking.get("reporter", NO_PROGRESS)
        self.checkpoint = tracking.get("checkpoint", NO_CHECKPOINT)
        self.extend = score.extender(table, self.limit, engine.workers)

    def begin(self) -> tuple[list[Floats], list[Integers]]:
        """The log weights of the small sets, and the candidates of each node from their scores."""
        small = self.scores(self.small_lists, "small sets")
        candidates = [self.choose(node, own) for node, own in enumerate(small)]
        self.add_prior(self.small_lists, small)
        return small, candidates

    def scores(self, lists: ParentLists, label: str, wanted: list[int] | None = None) -> list[Floats]:
        """The log score of every set of the lists; of the nodes that are not wanted, nothing."""
        modelled = self.modelled.copy()
        if wanted is not None:
            modelled[np.setdiff1d(np.arange(self.nodes), wanted)] = False
        kept = CheckpointPart(self.checkpoint, label)
        reporter = self.reporter.part(label)
        return list(
            score_allowed(
                self.table, self.score, lists, engine=self.engine, reporter=reporter, checkpoint=kept, modelled=modelled
            )
        )

    def add_prior(self, lists: ParentLists, scores: list[Floats]) -> None:
        """Add the log prior to log scores, in place; sets that break a rule get no weight."""
        nobody = np.empty(0, dtype=np.int64)
        for first in range(0, self.nodes, _NODES_AT_A_TIME):
            chosen = range(first, min(first + _NODES_AT_A_TIME, self.nodes))
            own = tuple(lists.candidates[node] if node in chosen else nobody for node in range(self.nodes))
            part = ParentLists(own, lists.max_parents)
            before = log_prior_of_lists(self.names, part, self.prior, self.constraints, may_be_empty=True)
            for node in chosen:
                scores[node] += before[node]

    def choose(self, node: int, small: Floats) -> Integers:
        """The candidates of a node, from the scores of its small sets."""
        own = self.allowed.candidates[node]
        if len(own) <= self.sizes.all_candidates:
            return own
        required = self.required[node][own]
        width = max(self.sizes.candidates, int(required.sum()))
        size = self.small_lists.max_parents
        return own[chosen_places(small, len(own), size, width, required, np.zeros_like(required))]

    def to_take(self, growth: _Growth) -> Integers:
        """The columns that become candidates of a node."""
        return columns_to_take(growth.extended, growth.shares, self.sizes.all_candidates - len(growth.among.columns))

    def swapped(self, node: int, growth: _Growth) -> Integers | None:
        """The candidates of a node with some in the places of others; None if none shows."""
        required = np.flatnonzero(self.required[node])
        return swapped_candidates(growth.extended, growth.among, growth.shares, self.small_lists.max_parents, required)

    def small_part(self, node: int, log_weights: Floats) -> Weighed:
        """The small sets of a node."""
        return Weighed(self.small_lists.candidates[node], self.small_lists.limit(node), log_weights)

    def grown(
        self, growing: list[int], candidates: list[Integers], small: list[Floats], attempt: int
    ) -> dict[int, _Growth]:
        """Score the sets among the candidates of some nodes, and extend the best of them."""
        nobody = np.empty(0, dtype=np.int64)
        chosen = set(growing)
        own = tuple(candidates[node] if node in chosen else nobody for node in range(self.nodes))
        lists = ParentLists(own, self.limit)
        label = "candidates" if attempt == 0 else f"more candidates {attempt}"
        log_weights = self.scores(lists, label, growing)
        self.add_prior(lists, log_weights)
        smallest = self.small_lists.max_parents
        among = {node: Weighed(own[node], lists.limit(node), log_weights[node]) for node in growing}
        extended = {
            node: to_extend(among[node], self.allowed.candidates[node], smallest, np.flatnonzero(self.required[node]))
            for node in growing
        }
        scores = extend_sets(
            self.extend,
            among,
            extended,
            self.nodes,
            label,
            engine=self.engine,
            reporter=self.reporter,
            checkpoint=self.checkpoint,
        )
        return {node: self._weighed(node, among[node], extended[node], small[node], scores[node]) for node in growing}

    def _weighed(self, node: int, among: Weighed, extended: Extended, small: Floats, scores: Floats) -> _Growth:
        part = self.small_part(node, small)
        weighed = weigh_extended(extended, among, part, scores, self.prior, self.names, node)
        return _Growth(among, extended, *weighed)

    def refuse_nothing(self, small: list[Floats], known: dict[int, _Growth]) -> None:
        """Refuse a prior and constraints that leave a node without any set."""
        for node, name in enumerate(self.names):
            if max(known[node].among.log_weights.max(), small[node].max()) == -np.inf:
                raise InputError(
                    f"The prior and the constraints leave no parent set to {name!r}: every one has weight 0."
                )

    def in_words(self, candidates: list[Integers]) -> str:
        """Which sets were scored."""
        size = self.small_lists.max_parents
        few = f"{size} parent" if size == 1 else f"{size} parents"
        if size >= self.limit or all(
            len(own) == len(allowed) for own, allowed in zip(candidates, self.allowed.candidates, strict=True)
        ):
            rules = any(len(own) < self.nodes - 1 for own in self.allowed.candidates)
            most = f"{self.limit} parent" if self.limit == 1 else f"{self.limit} parents"
            return f"every {'allowed ' if rules else ''}set of at most {most}"
        widths = [len(own) for own in candidates]
        promising = f"{min(widths)} to {max(widths)}" if min(widths) < max(widths) else f"{max(widths)}"
        return (
            f"every set of at most {few}, those of at most {self.limit} among the {promising} most promising "
            "ones of each variable, and the likeliest of these with one more parent"
        )


def _small_size(allowed: ParentLists, families: int) -> int:
    """Up to how many parents all sets that rules allow are scored: always those of one."""
    sizes = range(1, allowed.max_parents + 1)
    fitting = [size for size in sizes if sum(family_count(len(own), size) for own in allowed.candidates) <= families]
    return max(fitting, default=min(1, allowed.max_parents))
