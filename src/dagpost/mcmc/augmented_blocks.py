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
from dagpost.data.table import Table
from dagpost.families.considered_lookup import index_sets, numbers_of_parents
from dagpost.families.considered_sets import ConsideredSets, columns_of_sets
from dagpost.families.grouped_lists import IN_GROUP, choose_active, grouped_lists
from dagpost.families.masks import shape_of_sets
from dagpost.families.set_tables import SetTables, heated
from dagpost.mcmc import block_gibbs
from dagpost.mcmc.augmentation import MOST_PAIRED, Pass, log_joints_of
from dagpost.mcmc.block_choice import check_spans, edge_shares, partners_of
from dagpost.mcmc.block_gibbs import BlockState
from dagpost.mcmc.block_scratch import BlockContext
from dagpost.mcmc.cell_rules import CellRules
from dagpost.mcmc.records import Round
from dagpost.priors import StructurePrior
from dagpost.priors.constraints import Constraints
from dagpost.scores import Score
from dagpost.scores.completing import Completer, ListScorer

#: The most variables of a block.
_BLOCK_SIZE = 8
#: Sweeps of blocks for each graph that is kept.
_SWEEPS_A_GRAPH = 5


class Incomplete(NamedTuple):
    """A table with gaps, and what scores and completes it: an entry for each value that the score averages over."""

    table: Table
    scores: Sequence[Score]
    log_priors: Floats
    prior: StructurePrior
    constraints: Constraints
    max_parents: int
    completers: Sequence[Completer]
    scorers: Sequence[ListScorer]


class BlockPasses:
    """What chains over graphs and cells read (`Passes`): fixed lists, which are scored given the cells."""

    family_count = 0
    #: For each node, what the lists lacked at most of the posterior of completed tables that they were not made from.
    lost: Floats

    def __init__(self, incomplete: Incomplete, found: Sequence[ConsideredSets], in_group: int = IN_GROUP) -> None:
        for own in found:
            check_spans(own)
        self.incomplete, self.lists, self.looks = incomplete, grouped_lists(found, in_group), len(found)
        table, lists = incomplete.table, self.lists
        self.nodes, self.max_parents = lists.nodes, incomplete.max_parents
        self.lost = np.ones(self.nodes)
        self.cell_rules = CellRules(table)
        self.completers, self.log_priors = incomplete.completers, incomplete.log_priors
        self.keeps_pairs = self.nodes <= MOST_PAIRED
        node_of = np.repeat(np.arange(self.nodes), lists.counts)
        self._modelled = np.array([name not in incomplete.constraints.exogenous for name in table.names])
        self._log_prior = np.zeros(len(node_of))
        for node in np.flatnonzero(self._modelled).tolist():
            places = slice(lists.start[node], lists.start[node + 1])
            log_prior = incomplete.prior.log_weights_of_members(table.names, node, lists.members[places])
            self._log_prior[places] = log_prior
        self._scorers = [scorer.on(lists.start, lists.members) for scorer in incomplete.scorers]
        self._unscored: Flags = ~self._modelled[node_of]
        self._partners = partners_of(np.mean([edge_shares(own) for own in found], axis=0), lists.counts)
        self._index = index_sets(lists)

    @property
    def words(self) -> str:
        """Which parent sets are considered, and how much others may hold."""
        fewest, most = int(self.lists.counts.min()), int(self.lists.counts.max())
        sets = f"{most:,}" if fewest == most else f"{fewest:,} to {most:,}"
        return (
            f"those that matter in one of {self.looks} completed tables ({sets} for a variable); others held at most "
            f"{min(float(self.lost.sum()), 1.0):.2g} of the posterior of the last of these"
        )

    def over(
        self,
        cells: Floats,
        value: int,
        before: Masks,
        graphs: int,
        generator: np.random.Generator,
        cancel: Integers,
    ) -> Pass:
        """Move the graph on, given a completed table: a sweep of blocks for each graph that is kept."""
        numbers = numbers_of_parents(self._index, before[np.newaxis])[0] - self.lists.start[:-1]
        begins = bool((numbers < 0).any())
        context, state = self._weighed(cells, value, np.maximum(numbers, 0), generator, cancel)
        if begins:
            # A graph that is not in the lists is one that lacks required edges, where chains begin.
            state = block_gibbs.start(context, generator)
        parents = np.zeros((graphs, self.nodes, *shape_of_sets(self.nodes)), dtype=np.uint64)
        moves, edges = np.zeros(1, dtype=np.int64), np.zeros((self.nodes, self.nodes))
        output = Round(_SWEEPS_A_GRAPH, parents, np.zeros(graphs), np.zeros(graphs), edges, moves, moves.copy())
        block_gibbs.advance(context, state, _BLOCK_SIZE, generator, output, cancel)
        log_state = float(output.log_joint[-1] + self.log_priors[value])
        return Pass(parents, output.log_joint, log_state, edges / graphs)

    def log_joints(self, cells: Floats, parents: Masks) -> Floats:
        """Log p(value, graph, completed table) of any one graph, also of one that is not in the lists."""
        scorers = self.incomplete.scorers
        return log_joints_of(scorers, self.log_priors, cells, parents, self._modelled, self.max_parents)

    def _weighed(
        self, cells: Floats, value: int, numbers: Integers, generator: np.random.Generator, cancel: Integers
    ) -> tuple[BlockContext, BlockState]:
        """What chains of blocks read, the sets in play by falling weight, and the state among these sets."""
        active = choose_active(self.lists, numbers, generator)
        log_weights = self._log_weights(active.places, cells, value, cancel)
        in_play = log_weights + active.log_factors
        order = np.lexsort((-in_play, np.repeat(np.arange(self.nodes), np.diff(active.start))))
        places, columns = active.places[order], self.lists.members[active.places[order]]
        width = columns.shape[1]
        members = np.full((len(order), width + width % 2), self.nodes, dtype=np.uint16)
        members[:, :width] = columns
        nothing, bits = np.empty(0, dtype=np.int64), np.zeros(self.nodes, dtype=np.int64)
        # All of them lead: there is nothing in groups any more. Graphs are kept with weights that no group multiplied.
        tables = SetTables(active.start, np.diff(active.start), bits, members, in_play[order], nothing, nothing)
        tables = heated(tables, 1.0)._replace(log_weights=log_weights[order])
        context = BlockContext(tables, columns_of_sets(active.start, columns), *self._partners)
        among = np.flatnonzero(np.isin(places, self.lists.start[:-1] + numbers)) - active.start[:-1]
        return context, BlockState(among)

    def _log_weights(self, places: Integers, cells: Floats, value: int, cancel: Integers) -> Floats:
        """The log weights of some sets; columns that are not modelled have the weight 1 without parents."""
        scores = self._scorers[value](cells, places, cancel)
        scores[self._unscored[places]] = 0.0
        return scores + self._log_prior[places]
