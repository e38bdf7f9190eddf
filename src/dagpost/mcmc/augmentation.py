"""Chains over completed tables: a graph given the table, then the missing cells given the graph.

For a table with gaps the posterior is `p(G | observed)`. The chain (Tanner & Wong 1987) has the completed cells `Y`, a
graph `G` and, where a score averages over one of its settings, a value `a` of it, and leaves

    p(a) p(G) exp(score_a(G, Y))        for all completed tables that agree with what was observed

as it is. One sweep:

1. Graphs given the completed table and `a`: independent draws from the exact posterior, or moves that leave it. What is
   exact given the table (edges, paths, families) is kept and averaged: that has less noise than the graphs themselves
   (Rao & Blackwell). The last graph drawn is the graph of the state.
2. `a` given that graph and the table.
3. The cells given graph and `a`, a few rounds (`Score.completer`).

The table that is kept with a sweep is the one that its graphs were drawn from.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.arrays import Flags, Floats, Integers, Masks
from dagpost.families.considered_sets import Members
from dagpost.families.edge_counts import edge_counts
from dagpost.families.graph_lists import close_transitively
from dagpost.families.masks import matrices_of_masks, matrix_of_masks, shape_of_sets
from dagpost.mcmc.cell_rules import CellRules
from dagpost.mcmc.records import Beside, Round
from dagpost.scores.completing import Completer, ListScorer

#: Exact edges and paths of every sweep are kept for up to this many columns.
MOST_PAIRED = 64


class AugmentedState(NamedTuple):
    """The completed cells, the parents of each node as masks, and the place of the score's setting."""

    cells: Floats
    parents: Masks
    value: Integers


State = AugmentedState


class Pass(NamedTuple):
    """Graphs given one completed table, with their log weights, and what is known exactly given it.

    `log_state` is the log weight of the table, or of the state behind the graphs. `edges` and `paths` (source, target)
    are None, or nan in places, where they are left to the graphs; `families` has those of all nodes in a row.
    """

    parents: Masks
    log_joint: Floats
    log_state: float
    edges: Floats | None = None
    paths: Floats | None = None
    families: Floats | None = None


class Passes(Protocol):
    """What all chains of a run share: the table with its gaps, and the way from a completed one to graphs."""

    nodes: int
    max_parents: int
    #: How many cells have no value, and what can fill them.
    cell_rules: CellRules
    #: One for each value of a setting that the score averages over.
    completers: Sequence[Completer]
    log_priors: Floats
    #: How many families all nodes have together; 0 where their probabilities are not known.
    family_count: int
    #: Whether the exact edges and paths of every sweep are kept.
    keeps_pairs: bool

    def over(
        self,
        cells: Floats,
        value: int,
        before: Masks,
        graphs: int,
        generator: np.random.Generator,
        cancel: Integers,
    ) -> Pass:
        """Graphs given a completed table; `before` is the graph that the chain stands at."""
        ...

    def log_joints(self, cells: Floats, parents: Masks) -> Floats:
        """Log p(value, graph, completed table) of any one graph, for each value, up to what is the same for all."""
        ...


def start(context: Passes, generator: np.random.Generator) -> AugmentedState:
    """A random completion, cell by cell, without any edges: chains start far from each other."""
    shares = np.exp(context.log_priors - context.log_priors.max())
    value = int(generator.choice(len(shares), p=shares / shares.sum()))
    parents = np.zeros((context.nodes, *shape_of_sets(context.nodes)), dtype=np.uint64)
    return AugmentedState(context.completers[value].begin(generator), parents, np.array([value]))


def advance(
    context: Passes,
    state: AugmentedState,
    graphs: int,
    rounds: int,
    generator: np.random.Generator,
    output: Round,
    cancel: Integers,
    series: Beside,
    sums: Beside,
) -> None:
    """Sweep until the round has all its graphs; give up early once `cancel[0]` is not 0."""
    length = len(output.log_joint)
    sweeps = math.ceil(length / graphs)
    every = math.ceil(sweeps / max(len(series["cells"]), 1))
    for sweep in range(sweeps):
        if cancel[0]:
            return
        kept = slice(sweep * graphs, min((sweep + 1) * graphs, length))
        count, value = kept.stop - kept.start, int(state.value[0])
        found = context.over(state.cells, value, state.parents, count, generator, cancel)
        if cancel[0]:
            return
        output.parents[kept] = found.parents.reshape(output.parents[kept].shape)
        output.log_joint[kept], output.log_state[kept] = found.log_joint, found.log_state
        edges, paths = _pairs(found, context.nodes)
        output.edges[...] += count * edges
        if context.keeps_pairs:
            series["edges"][sweep], series["paths"][sweep] = edges, paths
        if sweep % every == 0:
            series["cells"][sweep // every] = state.cells
        series["values"][sweep] = value
        if found.families is not None:
            sums["families"] += found.families
        state.parents[...] = found.parents[-1].reshape(state.parents.shape)
        output.proposed[0] += 1
        output.accepted[0] += 1
        if len(context.completers) > 1:
            shares = _shares(context.log_joints(state.cells, state.parents))
            sums["shares"] += shares
            state.value[0] = generator.choice(len(shares), p=shares)
        else:
            sums["shares"] += 1.0
        families = members_of_masks(state.parents.reshape(context.nodes, -1), context.max_parents)
        for _ in range(rounds):
            context.completers[int(state.value[0])].redraw(state.cells, families, generator, cancel)


def log_joints_of(
    scorers: Sequence[ListScorer], log_priors: Floats, cells: Floats, parents: Masks, modelled: Flags, max_parents: int
) -> Floats:
    """Log p(value, graph, completed table) of any one graph, for each value, less its prior, which is the same."""
    families = members_of_masks(parents.reshape(len(modelled), -1), max_parents)
    start, go_on = np.arange(len(modelled) + 1), np.zeros(1, dtype=np.int64)
    own = [scorer(cells, start, families, go_on)[modelled].sum() for scorer in scorers]
    total: Floats = np.array(own) + log_priors
    return total


def is_possible(context: Passes, state: AugmentedState) -> bool:
    """Whether a state from a file has a value and cells that there are."""
    return bool(0 <= state.value[0] < len(context.completers)) and context.cell_rules.hold(state.cells)


def _shares(logs: Floats) -> Floats:
    shares: Floats = np.exp(logs - logs.max())
    return shares / shares.sum()


def _pairs(found: Pass, nodes: int) -> tuple[Floats, Floats]:
    """Edges and paths (source, target), exact where they are known and else the shares of the graphs at hand."""
    edges, paths = found.edges, found.paths
    if edges is None:
        edges = matrices_of_masks(found.parents).mean(axis=0)
    if paths is None or np.isnan(paths).any():
        ancestors = np.array(found.parents, dtype=np.uint64, order="C").reshape(len(found.parents), nodes, -1)
        close_transitively(ancestors)
        shares = edge_counts(ancestors) / len(ancestors)
        paths = shares if paths is None else np.where(np.isnan(paths), shares, paths)
    return edges, paths


def members_of_masks(masks: Masks, width: int) -> Members:
    """The parents of each node, a row each, rising and padded with the number of nodes, from masks (nodes, words).

    >>> members_of_masks(np.array([[0], [5], [1]], dtype=np.uint64), 2).tolist()
    [[3, 3], [0, 2], [0, 3]]
    """
    nodes = len(masks)
    members: NDArray[np.int16] = np.full((nodes, max(width, 1)), nodes, dtype=np.int16)
    node, parent = np.nonzero(matrix_of_masks(masks).T)
    members[node, np.arange(len(node)) - np.searchsorted(node, node)] = parent
    return members
