"""The sums over all graphs, `3^n` terms, with the leaves of exact/structure.py as tasks of a cluster.

The time goes into the leaves and not into the tables, which any machine holds that could wait for them; so the tables
stay here, a task gets the part that its leaf looks at, and what it returns is taken in the order of the host: all
results are the same to the last bit. The order-modular sums go to the workers once. All else passes through this
process, some 20 bytes for every 100 terms, which keeps a dozen or two cores busy and no more. So it is done only where
the cluster has many more threads than this process.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from dagpost.arrays import Exponents, Floats, Integers, Wide
from dagpost.checkpoints import Checkpoint, none
from dagpost.engines.dask.cluster import writeable
from dagpost.exact.alternating import leaf_cost
from dagpost.exact.completions import completions_of_leaf
from dagpost.exact.graph_sums import add_leaf, graphs_of_leaf
from dagpost.exact.order import ForwardTable, posterior_of_families
from dagpost.exact.order import forward_table as host_forward_table
from dagpost.exact.order_blocks import give_back_chunk
from dagpost.exact.structure import (
    StructurePosterior,
    StructureTables,
    error_bound,
    log_total_of,
    require_memory,
)
from dagpost.exact.walk import Plan, entries_of, in_waves, leaf_plan, waves
from dagpost.progress import Reporter, silent
from dagpost.widefloat import ZERO

if TYPE_CHECKING:
    from dagpost.engines.dask.engine import DaskEngine

#: With fewer nodes the threads of this process are done before the first tasks have come back.
_FEWEST_NODES = 18
#: The cluster must have so many times the threads of this process: half of its time goes into the way there and back.
_TIMES_AS_MANY = 2
#: More than this process can feed.
MOST_CORES = 16


def is_worth_it(engine: DaskEngine, nodes: int) -> bool:
    """Whether the cluster will be sooner done than the threads of this process."""
    return nodes >= _FEWEST_NODES and engine.cluster.threads() > _TIMES_AS_MANY * engine.workers


def structure_evidence(
    engine: DaskEngine,
    log_weights: Floats,
    max_parents: int,
    *,
    reporter: Reporter = silent,
    checkpoint: Checkpoint = none,
) -> float:
    """Natural log of the sum over all graphs, each counted once."""
    forward, plan, graphs = _graphs(engine, log_weights, max_parents, reporter, checkpoint)
    del plan
    return log_total_of(forward, graphs) + float(forward.log_scales.sum())


def structure_posterior(
    engine: DaskEngine,
    log_weights: Floats,
    max_parents: int,
    *,
    reporter: Reporter = silent,
    checkpoint: Checkpoint = none,
) -> StructurePosterior:
    """Evidence, families and paths under the prior in which every graph counts once."""
    nodes = len(log_weights)
    forward, plan, graphs = _graphs(engine, log_weights, max_parents, reporter, checkpoint)
    log_total = log_total_of(forward, graphs)
    completions = np.empty(1 << nodes)
    exponents = np.empty(1 << nodes, dtype=np.int32)
    gathered = np.full(forward.weights.shape, ZERO, dtype=np.int64)
    paths = np.zeros((nodes, nodes))
    error = np.zeros(1)

    def inputs(leaf: int) -> tuple[Any, ...]:
        above = _leaves_above(plan, leaf)[1:]
        rows = completions.reshape(-1, 1 << plan.low), exponents.reshape(-1, 1 << plan.low)
        return leaf, float(graphs[-1]), entries_of(plan, graphs, leaf), rows[0][above], rows[1][above]

    all_waves = list(reversed(list(waves(plan.top))))
    saved = checkpoint.stage(
        "families and paths",
        in_waves(all_waves),
        lambda leaf: [entries_of(plan, completions, leaf), entries_of(plan, exponents, leaf)],
        lambda: [gathered, paths, error],
    )
    leaves = _Leaves(engine, partial(_complete, nodes, max_parents, forward.weights, forward.sums), inputs)
    with reporter.stage("families and paths", 3**plan.top) as stage:
        for leaf in saved.finished:
            stage.advance(leaf_cost(plan, leaf))
        for wave in all_waves:
            for leaf, (own, own_exponents, contribution, leaf_paths, leaf_error) in saved.run(leaves, _ignored, wave):
                entries_of(plan, completions, leaf)[:] = own
                entries_of(plan, exponents, leaf)[:] = own_exponents
                stage.advance(leaf_cost(plan, leaf))
                give_back_chunk(plan, writeable(contribution), gathered, leaf)
                paths += leaf_paths
                error += leaf_error
    bound = error_bound(float(error[0]), nodes)
    log_evidence = log_total + float(forward.log_scales.sum())
    tables = StructureTables(forward, plan, graphs, completions, exponents, log_evidence, bound)
    families = posterior_of_families(gathered, log_weights, forward.log_scales, log_total)
    np.fill_diagonal(paths, 0.0)
    return StructurePosterior(tables, families, np.clip(paths, 0.0, 1.0))


def _graphs(
    engine: DaskEngine, log_weights: Floats, max_parents: int, reporter: Reporter, checkpoint: Checkpoint
) -> tuple[ForwardTable, Plan, Floats]:
    """The order-modular sums, the leaves, and the weight of all graphs on every set alone."""
    nodes = len(log_weights)
    require_memory(nodes, max_parents, engine.workers)
    forward = host_forward_table(log_weights, max_parents, engine=engine, reporter=reporter, checkpoint=checkpoint)
    plan = leaf_plan(nodes, max_parents)
    graphs = np.zeros(1 << nodes)
    all_waves = list(waves(plan.top))
    saved = checkpoint.stage("sums over graphs", in_waves(all_waves), running=lambda: [graphs])
    leaves = _Leaves(
        engine,
        partial(_push, nodes, max_parents, forward.weights, forward.sums),
        lambda leaf: (leaf, entries_of(plan, graphs, leaf).copy()),
    )
    with reporter.stage("sums over graphs", 3**plan.top) as stage:
        for leaf in saved.finished:
            stage.advance(leaf_cost(plan, leaf))
        for wave in all_waves:
            for leaf, contribution in saved.run(leaves, _ignored, wave):
                stage.advance(leaf_cost(plan, leaf))
                add_leaf(plan, writeable(contribution), graphs, leaf)
    return forward, plan, graphs


class _Leaves:
    """Runs one function on the inputs of leaves as tasks of a cluster; an engine for the stages of a checkpoint."""

    def __init__(self, engine: DaskEngine, task: Callable[..., Any], inputs: Callable[[int], tuple[Any, ...]]) -> None:
        self._spread, self._task, self._inputs = engine.spread, task, inputs
        self.workers = engine.spread.workers

    def run(self, block: object, items: Sequence[Any]) -> Iterator[Any]:
        del block
        return self._spread.run(self._task, _Inputs(items, self._inputs))


def _ignored(leaf: int, cancel: Integers) -> Any:
    """In the place of a block that would run here."""


class _Inputs(Sequence[Any]):
    """The inputs of leaves, made when their task is handed over: those of a wave are many times the table."""

    def __init__(self, leaves: Sequence[int], inputs: Callable[[int], tuple[Any, ...]]) -> None:
        self._leaves, self._inputs = leaves, inputs

    def __len__(self) -> int:
        return len(self._leaves)

    @overload
    def __getitem__(self, place: int) -> Any: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Any]: ...
    def __getitem__(self, place: int | slice) -> Any:
        if isinstance(place, slice):
            return _Inputs(self._leaves[place], self._inputs)
        return self._inputs(self._leaves[place])


def _leaves_above(plan: Plan, leaf: int) -> Integers:
    """The leaves that hold this one, itself first, in the order of their numbers."""
    leaves = np.arange(1 << plan.top)
    found: Integers = leaves[leaves & leaf == leaf]
    return found


def _push(
    nodes: int, max_parents: int, weights: Wide, sums: Wide, item: tuple[int, Floats], cancel: Integers
) -> Floats:
    """What a leaf gives to those above it. Of the table only its own part is there, and looked at."""
    leaf, own = item
    plan = leaf_plan(nodes, max_parents)
    graphs = np.empty(1 << nodes)
    entries_of(plan, graphs, leaf)[:] = own
    return graphs_of_leaf(plan, writeable(weights), writeable(sums), graphs, graphs, -1, leaf, cancel)


def _complete(
    nodes: int,
    max_parents: int,
    weights: Wide,
    sums: Wide,
    item: tuple[int, float, Floats, Floats, Exponents],
    cancel: Integers,
) -> tuple[Floats, Exponents, Wide, Floats, float]:
    """`B` of a leaf and what it gives. Of the tables only what lies above it is there, and looked at."""
    leaf, evidence, own, above, above_exponents = item
    plan = leaf_plan(nodes, max_parents)
    graphs, completions = np.empty(1 << nodes), np.empty(1 << nodes)
    exponents = np.empty(1 << nodes, dtype=np.int32)
    graphs[-1] = evidence
    entries_of(plan, graphs, leaf)[:] = own
    leaves = _leaves_above(plan, leaf)[1:]
    completions.reshape(-1, 1 << plan.low)[leaves] = above
    exponents.reshape(-1, 1 << plan.low)[leaves] = above_exponents
    arguments = (graphs, completions, exponents, leaf, -1, np.empty(0), cancel)
    contribution, paths, error = completions_of_leaf(plan, writeable(weights), writeable(sums), *arguments)
    return (
        entries_of(plan, completions, leaf).copy(),
        entries_of(plan, exponents, leaf).copy(),
        contribution,
        paths,
        float(error),
    )
