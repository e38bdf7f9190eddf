"""Averaging over settings instead of choosing them: a posterior that mixes those under each of their values, exactly.

Under the value `a` (an equivalent sample size, a density of edges, or one of each) the graphs and the data have the
joint `p_a(G, D)`. With prior probabilities `p(a)` and evidences `Z_a`,

    p(G, D) = sum over a of p(a) p_a(G, D)        Z = sum over a of p(a) Z_a        P(f | D) = sum over a of w_a P_a(f)

where `w_a = p(a) Z_a / Z` is the posterior probability of the value. `P(f | g)` is `P(f and g) / P(g)`, each of them
mixed first: never a mixture of ratios. A drawn graph is one of the value that was drawn before it, and its `p(G, D)` is
that of the mixture; so is the chance `q(G)` that it is drawn, and all weights of samples (weights.py) hold unchanged.
The weights of graphs under different densities of edges are comparable once each is divided by its sum over all graphs
that rules and limits allow (prior_weights.py); `log_prior` of a part includes that constant, and so do the evidence and
`p(G, D)` of a mixture over densities: those are of a prior that sums to 1.
(Graphs drawn in orders have `q(G)` in proportion to `p(G, D)` times the number of orders they fit, under every value.)

The best graphs come from the lists of the best under each value (Fagin, Lotem & Naor 2003): a graph that is on none of
them weighs at most the mixture of the last weights of all lists, so every graph above that is surely among the best.
The lists are made longer until that many are.

Time: the evidence of every value, which is less than half of its sums, and the whole of those few that weigh anything.
Memory: the weights of the families of each, and the tables of one; those of all are kept only if together they take a
quarter of the free memory.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.arrays import Floats, Masks
from dagpost._tools.mixture import Grid
from dagpost._tools.progress import Reporter
from dagpost._tools.schema import truth
from dagpost.checkpoints import Checkpoint, CheckpointPart
from dagpost.engines import Engine
from dagpost.errors import ResourceError
from dagpost.families.masks import distinct_rows, edges_among
from dagpost.families.parent_lists import words_of
from dagpost.methods.base import Draws, Method, Wanted
from dagpost.methods.choice import PATIENCE_SECONDS
from dagpost.posterior.workspace import Workspace
from dagpost.priors.edge import DENSITY, log_odds

if TYPE_CHECKING:
    from dagpost.posterior.workspace import SummingWorkspace

#: Each time the lists of the best graphs do not settle which are best, they are made this many times as long.
_LONGER = 4
#: They have at most this many times the number of graphs that is asked for, or this many.
_MOST_TIMES, _MOST_LISTED = 256, 20_000

#: What parts may have together and still not be summed: no probability changes by more.
NEGLIGIBLE = 1e-10


class JoinedWorkspace(Workspace):
    """Workspaces whose weights are added up: of the values of a setting, or of the ways to meet a condition."""

    def __init__(
        self,
        parts: Sequence[SummingWorkspace],
        log_priors: Sequence[float],
        labels: Sequence[str],
        engine: Engine,
        reporter: Reporter,
    ) -> None:
        super().__init__(None, engine, reporter, parts[0].nodes, parts[0].max_parents)
        self._parts, self._log_priors, self._labels = tuple(parts), tuple(log_priors), tuple(labels)
        #: Which of several ways to meet a condition each part is: no graph is in two of them.
        self.way_of: tuple[int, ...] = (0,) * len(self._parts)
        #: The most that the log evidence of each part can be, where that is known before it is summed.
        self.most: tuple[float, ...] = (math.inf,) * len(self._parts)
        #: The parts that were found to weigh nothing beside the others: they are neither summed nor drawn from.
        self.negligible: frozenset[int] = frozenset()
        for part in parts:
            part.sharing = len(parts)
        self.run_on(engine, reporter)

    @property
    def parts(self) -> tuple[SummingWorkspace, ...]:
        """One for each value, or way."""
        return self._parts

    @property
    def log_priors(self) -> tuple[float, ...]:
        """Log of the prior probability of each part."""
        return self._log_priors

    def run_on(self, engine: Engine, reporter: Reporter) -> None:
        """Work elsewhere from now on."""
        super().run_on(engine, reporter)
        for label, part in zip(self._labels, self.parts, strict=True):
            part.run_on(engine, reporter.part(label))

    @contextmanager
    def checkpointed(self, checkpoint: Checkpoint) -> Iterator[None]:
        """Keep what is finished meanwhile in a checkpoint, part by part."""
        with ExitStack() as stack:
            for label, part in zip(self._labels, self.parts, strict=True):
                stack.enter_context(part.checkpointed(CheckpointPart(checkpoint, label)))
            stack.enter_context(super().checkpointed(checkpoint))
            yield

    @property
    def joined(self) -> str:
        """What is added up, in words."""
        return "the condition"

    @property
    def by_components(self) -> str:  # type: ignore[override]
        """Where the sums are taken over parts of the table, these in words."""
        return self.parts[0].by_components

    @property
    def largest(self) -> int:
        """The most variables that are summed over together."""
        return self._largest.largest

    @property
    def _largest(self) -> SummingWorkspace:
        """The part that takes most: conditions may leave others less."""
        return max(self.parts, key=lambda part: part.largest)

    @property
    def structure_engine(self) -> str:  # type: ignore[override]
        """What the sums over all graphs were made on."""
        return self.parts[0].structure_engine

    @property
    def has_forward(self) -> bool:
        """Whether the sums over all orders are in memory."""
        return all(part.has_forward for part in self.parts)

    @property
    def has_structure(self) -> bool:
        """Whether the sums over all graphs are in memory."""
        return all(part.has_structure for place, part in enumerate(self.parts) if place not in self.negligible)

    def order_fits(self) -> bool:
        """Whether a table over all sets of nodes fits into memory, one at a time."""
        return self._largest.order_fits()

    def structure_is_affordable(self) -> bool:
        """Whether the sums over all graphs fit, one at a time, and take no longer in all than a user waits unasked."""
        return self._largest.structure_is_affordable(PATIENCE_SECONDS / len(self.parts))

    def seconds(self, modularity: str) -> float:
        """Roughly how long the exact sums take: of those parts that weigh anything, where that is known."""
        return sum(part.seconds(modularity) for place, part in enumerate(self.parts) if place not in self.negligible)

    @property
    def order_log_evidence(self) -> float:
        """Log evidence when a graph counts once for every order it fits."""
        return self.log_sum([part.all_families("order").order_log_evidence for part in self.parts])

    def affordable_structure_log_evidence(self) -> float:
        """Log evidence when every graph counts once, where it is known or affordable; otherwise nan."""
        known = [part.structure_log_evidence for place, part in enumerate(self.parts) if place not in self.negligible]
        if None in known and not self.checkpoint.decided(
            "whether to sum over all graphs", self.structure_is_affordable, truth
        ):
            return np.nan
        return self.log_sum(self._of_parts(lambda part: part.affordable_structure_log_evidence()))

    def _of_parts(self, found: Callable[[SummingWorkspace], float]) -> list[float]:
        """The log evidence of each part: of those that weigh nothing, only if it is known."""
        return [
            -math.inf if place in self.negligible and part.structure_log_evidence is None else found(part)
            for place, part in enumerate(self.parts)
        ]

    def log_joint(self, parents: Masks) -> Floats:
        """Log p(graph, data) of graphs given as parent masks (graphs, nodes)."""
        total: Floats = np.logaddexp.reduce(self.log_joint_of_parts(parents), axis=0)
        return total

    def log_joint_of_parts(self, parents: NDArray[Any]) -> Floats:
        """Log p(part, graph, data) for each part and graph, as (parts, graphs)."""
        masks = np.ascontiguousarray(parents, dtype=np.uint64)
        pairs = zip(self.log_priors, self.parts, strict=True)
        return np.array([log_prior + part.log_joint(masks) for log_prior, part in pairs])

    def log_sum(self, log_values: Sequence[float] | Floats) -> float:
        """Log of the mixture of what each part has."""
        return float(np.logaddexp.reduce(np.add(self.log_priors, log_values)))

    def log_most(self, log_values: Sequence[float]) -> float:
        """Log of the most that a graph can weigh, given the most that it can under each part."""
        logs, ways = np.add(self.log_priors, log_values), np.array(self.way_of)
        return max(float(np.logaddexp.reduce(logs[ways == way])) for way in set(self.way_of))

    def shares(self, log_evidences: Sequence[float] | Floats) -> Floats:
        """The posterior probability of each part."""
        return _shares_of(np.add(self.log_priors, log_evidences))

    def _all_weights(self) -> Sequence[Floats]:
        # Each part speaks for its own.
        return ()


class MixedWorkspace(JoinedWorkspace):
    """The workspaces of a model that averages over settings, one for each cell of the grid of their values.

    Under a condition there may be several for one cell, and none for another: `cell_of` says whose each part is.
    `ordinary` is the number of columns whose edges the prior counts: the first ones, all but indicators of regimes.
    """

    def __init__(
        self,
        grid: Grid,
        parts: Sequence[SummingWorkspace],
        engine: Engine,
        reporter: Reporter,
        *,
        ordinary: int,
        cell_of: Sequence[int] | None = None,
        evenly: Sequence[SummingWorkspace] = (),
    ) -> None:
        self.grid, self.ordinary = grid, ordinary
        #: The weights at even odds of edges, where those of the parts were made from these: files keep them.
        self.evenly = tuple(evenly)
        self.cell_of = tuple(range(len(parts)) if cell_of is None else cell_of)
        ways = [self.cell_of[:place].count(own) for place, own in enumerate(self.cell_of)]
        labels = [grid.labels[own] + f", way {ways[k] + 1}" * (ways[k] > 0) for k, own in enumerate(self.cell_of)]
        super().__init__(parts, (), labels, engine, reporter)

    @property
    def joined(self) -> str:
        """What is averaged over, in words."""
        return f"the average over {self.grid.words}"

    @property
    def log_priors(self) -> tuple[float, ...]:
        """Log of the prior probability of each part: that of its cell."""
        return tuple(self.grid.log_priors[own] for own in self.cell_of)

    def by_cell(self, shares: NDArray[np.floating[Any]]) -> Floats:
        """What the parts have (parts, ...), summed for each cell of the grid."""
        total = np.zeros((len(self.grid.cells), *np.shape(shares)[1:]))
        np.add.at(total, list(self.cell_of), shares)
        return total

    def shares_given(self, parents: NDArray[Any]) -> Floats:
        """P(cell | graph, data), as (cells, graphs)."""
        return self.by_cell(_shares_of(self.log_joint_of_parts(parents)))

    def shares_of_scores(self, parents: NDArray[Any]) -> Floats:
        """P(value of the score's setting | graph, data), as (values, graphs); where it has none, all is one value."""
        shares = self.shares_given(parents)
        return shares.sum(axis=0)[None] if self.grid.axes[0].setting == DENSITY else self.grid.along(0, shares)

    def log_joint_of_parts(self, parents: NDArray[Any]) -> Floats:
        """Log p(part, graph, data) for each part and graph, as (parts, graphs).

        Parts that differ in the density of edges alone are looked up once: their weights differ by its odds.
        """
        densities = self.grid.axes[-1]
        if densities.setting != DENSITY:
            return super().log_joint_of_parts(parents)
        masks = np.ascontiguousarray(parents, dtype=np.uint64)
        edges = edges_among(masks, self.ordinary)
        known: dict[tuple[int, ...], Floats] = {}
        found = np.empty((len(self.parts), len(masks)))
        for place, (part, cell) in enumerate(zip(self.parts, self.cell_of, strict=True)):
            *others, density = self.grid.cells[cell]
            own, tilt = (self.way_of[place], *others), edges * log_odds(densities.numbers[density])
            if own not in known:
                known[own] = part.log_joint(masks) - tilt
            found[place] = self.log_priors[place] + known[own] + tilt
        return found


def weightiest(shares: Floats) -> list[int]:
    """The parts that leave out next to nothing together, the heaviest first.

    >>> weightiest(np.array([1e-12, 0.25, 0.75, 0.0]))
    [2, 1]
    """
    order = np.argsort(-shares, kind="stable")
    left = np.cumsum(shares[order][::-1])[::-1]
    kept: list[int] = order[: max(int((left > NEGLIGIBLE).sum()), 1)].tolist()
    return kept


def _shares_of(logs: Floats) -> Floats:
    """The share of each number among all, given their logs."""
    numbers = np.exp(logs - logs.max(axis=0))
    shares: Floats = numbers / numbers.sum(axis=0)
    return shares


def draw(method: Method, workspace: Workspace, wanted: Wanted) -> Draws:
    """The graphs that a method finds, under a mixture if there is one."""
    if not isinstance(workspace, JoinedWorkspace):
        return method.draw(workspace, wanted)
    if method.draws == "listed":
        return list_best(method, workspace, wanted, longest=max(_MOST_TIMES * wanted.number, _MOST_LISTED))
    # Draws that weights make right are not drawn in proportion to what the sums found negligible.
    skipped = workspace.negligible if method.draws == "independent" else ()
    masses = [
        -math.inf if place in skipped else method.log_mass(part, wanted.names)
        for place, part in enumerate(workspace.parts)
    ]
    choice, *seeds = wanted.seed.spawn(1 + len(masses))
    # Which value each graph is drawn under: the first N of 2N graphs are those that one gets by asking for N.
    borders = np.cumsum(workspace.shares(masses))
    uniforms = np.random.default_rng(choice).random(wanted.number)
    value_of = np.searchsorted(borders / borders[-1], uniforms, side="right")
    words = words_of(workspace.nodes)
    parents = np.empty((wanted.number, workspace.nodes, words)[: 2 + (words > 1)], dtype=np.uint64)
    log_extensions = np.full(wanted.number, np.nan)
    found = None
    for value, part in enumerate(workspace.parts):
        places = np.flatnonzero(value_of == value)
        if len(places):
            found = method.draw(part, wanted._replace(number=len(places), seed=seeds[value]))
            parents[places] = found.parents
            if found.log_extensions is not None:
                log_extensions[places] = found.log_extensions
    assert found is not None
    log_joint, log_proposal = workspace.log_joint(parents), None
    if found.log_proposal is not None:
        times = 0.0 if found.log_extensions is None else log_extensions
        log_proposal = log_joint + times - workspace.log_sum(masses)
    exact = found.log_extensions is None
    return replace(
        found,
        parents=parents,
        log_joint=log_joint,
        log_proposal=log_proposal,
        log_extensions=None if found.log_extensions is None else log_extensions,
        # Draws from the posterior itself know their evidence; that of weighted ones is summed only if somebody asks.
        log_evidence=workspace.log_sum(masses) if exact else workspace.affordable_structure_log_evidence,
    )


def list_best(method: Method, workspace: JoinedWorkspace, wanted: Wanted, *, longest: int) -> Draws:
    """The best graphs of the mixture, from lists of at most `longest` best ones under each value."""
    count, length = wanted.number, wanted.number + 1
    tolerance = max(part.tie_tolerance for part in workspace.parts)
    # No graph weighs more than its part: those that weigh next to nothing need a list only if that does not settle it.
    unlisted = {
        place: part.structure_log_evidence
        for place, part in enumerate(workspace.parts)
        if place in workspace.negligible and part.structure_log_evidence is not None
    }
    while True:
        lists = {
            place: method.draw(part, wanted._replace(number=length))
            for place, part in enumerate(workspace.parts)
            if place not in unlisted
        }
        parents = np.concatenate([found.parents for found in lists.values()])
        parents = parents[distinct_rows(parents)[0]]
        log_joint = workspace.log_joint(parents)
        # A list that is shorter than it could be has all graphs of its part.
        last_of = unlisted | {
            place: found.log_joint[-1] if len(found.parents) == length else -np.inf for place, found in lists.items()
        }
        most_left = workspace.log_most([last_of[place] for place in range(len(workspace.parts))])
        # Rounding does not order graphs that are as good as each other: their masks do.
        words = parents.reshape(len(parents), -1).T[::-1]
        falling = np.lexsort((*words, -np.round(log_joint / tolerance)))[: count + 1]
        parents, log_joint = parents[falling], log_joint[falling]
        last = log_joint[:count][-1]
        tied = len(log_joint) > count and bool(log_joint[count] >= last - tolerance)
        best = last >= most_left - tolerance
        if best and (tied or last - tolerance > most_left):
            break
        if length >= longest:
            if best:
                tied = True
                break
            raise ResourceError(
                f"Which are the {count:,} best graphs under {workspace.joined} is not settled by the {length:,} best "
                "under each: too many are nearly as good. Ask for fewer, or for those under one value."
            )
        unlisted, length = {}, min(_LONGER * length, longest)
    return Draws(
        parents[:count],
        log_joint[:count],
        log_evidence=workspace.affordable_structure_log_evidence,
        about={**next(iter(lists.values())).about, "tied": tied},
    )
