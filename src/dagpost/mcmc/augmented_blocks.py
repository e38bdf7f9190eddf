"""Graphs of a table with gaps, moved by blocks: the lists of parent sets stay, their weights are those of the cells.

Beyond the exact range a graph cannot be drawn independently of the one before it. The chain of block_gibbs.py moves it
on, a few sweeps for each completed table. Its lists are the union of those of several completed tables
(families/grouped_lists.py), and only what a pass reads is weighed: for every node the sets that lead, and one group of
the others. Families without a column that has gaps are scored once.

Cost: one score for each set in play, some microseconds each at 1,000 rows, and the sweeps of blocks.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from dagpost._tools.arrays import Flags, Floats, Integers, Masks
from dagpost._tools.kernels import kernel
from dagpost.data.table import Table
from dagpost.families.considered_sets import ConsideredSets, Members
from dagpost.families.grouped_lists import Active, choose_active, grouped_lists
from dagpost.families.masks import shape_of_sets
from dagpost.families.set_tables import SetTables, heated
from dagpost.mcmc import block_gibbs
from dagpost.mcmc.annealed_blocks import POWERS
from dagpost.mcmc.block_choice import Partners, check_spans, edge_shares, partners_of
from dagpost.mcmc.block_gibbs import BlockState
from dagpost.mcmc.block_scratch import BlockContext
from dagpost.mcmc.chains import Round
from dagpost.priors import StructurePrior
from dagpost.priors.constraints import Constraints
from dagpost.scores import Score

#: The most variables of a block.
_BLOCK_SIZE = 8
#: Sweeps at each power while a first graph cools.
_COOLING_SWEEPS = 5


class Drawn(NamedTuple):
    """Graphs that a pass keeps, with their log weights, the edges given each of them, and the state it ends in."""

    parents: Masks
    log_joint: Floats
    #: The mean probability of each edge (parent, child) given the rest of the graph.
    edges: Floats
    numbers: Integers


class AugmentedBlocks:
    """What chains over graphs and cells read: fixed lists, and the function that scores them given the cells.

    `scores` are those of the values that a score averages over, or one.
    """

    def __init__(
        self,
        table: Table,
        scores: Sequence[Score],
        prior: StructurePrior,
        constraints: Constraints,
        max_parents: int,
        found: Sequence[ConsideredSets],
        workers: int,
    ) -> None:
        for own in found:
            check_spans(own)
        names = table.names
        self.lists = lists = grouped_lists(found)
        self.nodes = lists.nodes
        self._scorers = [score.list_scorer(table, max_parents, workers) for score in scores]
        self._modelled = np.array([name not in constraints.exogenous for name in names])
        own_rows = np.repeat(np.arange(self.nodes), np.diff(lists.start))
        self._log_prior = np.zeros(len(lists.members))
        for node in np.flatnonzero(self._modelled).tolist():
            places = slice(lists.start[node], lists.start[node + 1])
            self._log_prior[places] = prior.log_weights_of_members(names, node, lists.members[places])
        incomplete = np.zeros(self.nodes + 1, dtype=np.bool_)
        incomplete[:-1] = False if table.gaps is None else table.gaps.any(axis=1)
        changes = incomplete[lists.members].any(axis=1) | incomplete[own_rows]
        #: Scores of families that no cell changes, by value, nan until they are known; what is not modelled has none.
        self._kept = np.where(changes, np.nan, np.full((len(scores), len(changes)), np.nan))
        self._kept[:, ~self._modelled[own_rows]] = 0.0
        self._changes = changes & self._modelled[own_rows]
        shares = np.mean([edge_shares(own) for own in found], axis=0)
        self._partners: Partners = partners_of(shares, np.diff(lists.start))

    def start(
        self,
        cells: Floats,
        value: int,
        generator: np.random.Generator,
        cancel: Integers,
        wanted: Integers | None = None,
    ) -> Integers:
        """A graph that cooled, as numbers in the lists; it began with one that fits an order, if one is `wanted`."""
        numbers = np.zeros(self.nodes, dtype=np.int64)
        active, context, _ = self._weighed(cells, value, numbers, generator, cancel)
        state = block_gibbs.start(context, generator, wanted)
        for power in POWERS:
            hot = context._replace(tables=heated(context.tables, power))
            self._advance(hot, state, _COOLING_SWEEPS, 1, generator, cancel)
        return self._in_lists(active, state)

    def move(
        self,
        cells: Floats,
        value: int,
        numbers: Integers,
        graphs: int,
        generator: np.random.Generator,
        cancel: Integers,
        sweeps: int = 1,
    ) -> Drawn:
        """Move a graph, given as numbers in the lists, on: `graphs` are kept, each after some sweeps."""
        active, context, state = self._weighed(cells, value, numbers, generator, cancel)
        output = self._advance(context, state, sweeps, graphs, generator, cancel)
        return Drawn(output.parents, output.log_joint, output.edges / graphs, self._in_lists(active, state))

    def families_of(self, numbers: Integers) -> Members:
        """The parents of each node, a row each, padded with the number of columns."""
        return self.lists.members[self.lists.start[:-1] + numbers]

    def log_joint(self, cells: Floats, value: int, numbers: Integers, cancel: Integers) -> float:
        """Log p(graph) and the score of a graph given the cells."""
        places = self.lists.start[:-1] + numbers
        start = np.arange(self.nodes + 1)
        scores = self._scorers[value](cells, start, np.ascontiguousarray(self.lists.members[places]), cancel)
        return float(scores[self._modelled].sum() + self._log_prior[places].sum())

    def _advance(
        self,
        context: BlockContext,
        state: BlockState,
        sweeps: int,
        graphs: int,
        generator: np.random.Generator,
        cancel: Integers,
    ) -> Round:
        parents = np.zeros((graphs, *shape_of_sets(self.nodes)), dtype=np.uint64)
        moves = np.zeros(1, dtype=np.int64)
        edges = np.zeros((self.nodes, self.nodes))
        output = Round(sweeps, parents, np.zeros(graphs), np.zeros(graphs), edges, moves, moves.copy())
        block_gibbs.advance(context, state, _BLOCK_SIZE, generator, output, cancel)
        return output

    def _weighed(
        self, cells: Floats, value: int, numbers: Integers, generator: np.random.Generator, cancel: Integers
    ) -> tuple[Active, BlockContext, BlockState]:
        """The sets in play by falling weight, what chains read, and the state among these sets."""
        active = choose_active(self.lists, numbers, generator)
        log_weights = self._scored(active, cells, value, cancel) + self._log_prior[active.places] + active.log_factors
        order = np.empty(len(log_weights), dtype=np.int64)
        _sort_falling(active.start, log_weights, order)
        active = Active(active.start, active.places[order], active.log_factors[order])
        width = self.lists.members.shape[1]
        members = np.full((len(order), width + width % 2), self.nodes, dtype=np.uint16)
        members[:, :width] = self.lists.members[active.places]
        nothing, bits = np.empty(0, dtype=np.int64), np.zeros(self.nodes, dtype=np.int64)
        # All of them lead: there is nothing in groups any more.
        tables = SetTables(active.start, np.diff(active.start), bits, members, log_weights[order], nothing, nothing)
        candidates = _columns_of(active.start, members)
        context = BlockContext(heated(tables, 1.0), candidates, *self._partners)
        among = np.zeros(self.nodes, dtype=np.int64)
        _find_numbers(active, self.lists.start, numbers, among)
        return active, context, BlockState(among)

    def _scored(self, active: Active, cells: Floats, value: int, cancel: Integers) -> Floats:
        """The scores of the sets in play: those that cells change are scored anew, others if nobody did before."""
        scores = self._kept[value, active.places]
        stale: Flags = np.isnan(scores)
        if stale.any():
            count = np.concatenate([[0], np.cumsum(stale)])
            places = active.places[stale]
            found = self._scorers[value](cells, count[active.start], self.lists.members[places], cancel)
            scores[stale] = found
            lasting = ~self._changes[places]
            self._kept[value, places[lasting]] = found[lasting]
        return scores

    def _in_lists(self, active: Active, state: BlockState) -> Integers:
        """The numbers in the lists of the sets of a state."""
        numbers: Integers = active.places[active.start[:-1] + state.numbers] - self.lists.start[:-1]
        return numbers


@kernel
def _sort_falling(start: Integers, log_weights: Floats, order: Integers) -> None:
    """The order of the sets of each node by falling weight."""
    for node in range(len(start) - 1):
        own = np.argsort(-log_weights[start[node] : start[node + 1]])
        for rank in range(len(own)):
            order[start[node] + rank] = start[node] + own[rank]


@kernel
def _columns_of(start: Integers, members: Members) -> tuple[Integers, Integers]:
    """Where the columns that occur in the sets of each node begin, and these columns."""
    nodes = len(start) - 1
    begins = np.zeros(nodes + 1, dtype=np.int64)
    columns = np.empty(nodes * nodes, dtype=np.int64)
    seen = np.zeros(nodes + 1, dtype=np.bool_)
    found = 0
    for node in range(nodes):
        seen[:] = False
        for place in range(start[node], start[node + 1]):
            for slot in range(members.shape[1]):
                seen[members[place, slot]] = True
        for column in range(nodes):
            if seen[column]:
                columns[found] = column
                found += 1
        begins[node + 1] = found
    return begins, columns[:found].copy()


@kernel
def _find_numbers(active: Active, start: Integers, numbers: Integers, among: Integers) -> None:
    """The numbers that the sets of a state have among the active ones."""
    for node in range(len(numbers)):
        for place in range(active.start[node], active.start[node + 1]):
            if active.places[place] - start[node] == numbers[node]:
                among[node] = place - active.start[node]
