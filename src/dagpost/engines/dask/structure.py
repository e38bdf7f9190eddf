"""The sums over all graphs, `3^n` terms, with their tables in pieces that stay on the workers of a cluster.

The order-modular sums come first (order.py), then `A` in groups (structure_graphs.py), then `B` in blocks with the
families and paths (structure_completions.py). The pieces depend on the number of nodes only, and the threads of
exact/structure.py add up in the same order: all results are the same to the last bit.

In the end `L`, `A` and `B` come to this process, 28 bytes a set, since layers are drawn and descendants listed from
them here; the evidence alone does not need them.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Unpack

import numpy as np

from dagpost._tools.arrays import Floats
from dagpost._tools.memory import readable
from dagpost._tools.spelling import setting
from dagpost.checkpoints import Tracking
from dagpost.engines.dask import order
from dagpost.engines.dask.structure_completions import Completions, GraphSums, block_top, bytes_on_worker, completions
from dagpost.engines.dask.structure_graphs import bytes_of_task, exponents_of_groups, sum_over_graphs
from dagpost.errors import ResourceError
from dagpost.exact.alternating import group_top
from dagpost.exact.order import posterior_of_families
from dagpost.exact.structure import StructurePosterior, StructureTables, error_bound, log_total, require_memory
from dagpost.exact.walk import leaf_layout

if TYPE_CHECKING:
    from dagpost.engines.dask.cluster import Cluster, Room
    from dagpost.engines.dask.engine import DaskEngine
    from dagpost.engines.dask.order import ClusterForward

#: With fewer nodes the threads of this process are done before the first tasks have come back.
_FEWEST_NODES = 18
#: A cluster takes this many times as long as threads on as many cores (benchmarks/dask_overhead.py).
_TIMES_AS_LONG = 1.5


def is_worth_it(engine: DaskEngine, nodes: int, max_parents: int = 5, *, evidence_only: bool = False) -> bool:
    """Whether the cluster has room for the sums, and finishes before the threads of this process."""
    cores = min(engine.cluster.threads(), most_cores(nodes))
    if nodes < _FEWEST_NODES or cores <= _TIMES_AS_LONG * engine.workers:
        return False
    try:
        require_room(nodes, min(max_parents, nodes - 1), engine.cluster.room(), evidence_only=evidence_only)
    except ResourceError:
        return False
    return True


def require_room(nodes: int, max_parents: int, room: Room, *, evidence_only: bool = False) -> None:
    """Refuse, with the figures, what does not fit onto the cluster or into the memory of single tasks.

    Results that are too large for the memory of the workers go to their disks; what a task works with cannot.
    """
    order.require_room(nodes, max_parents, room, tables=_tables(nodes))
    needed = room.threads_per_worker * bytes_of_task(nodes)
    if not evidence_only:
        needed = max(needed, bytes_on_worker(nodes, max_parents, room))
    if needed > room.smallest:
        raise ResourceError(
            f"The sums over all graphs of {nodes} variables need {readable(needed)} of memory on a single worker; the "
            f"one with the least has {readable(room.smallest)} for it. Start fewer workers with more memory each, "
            f"leave columns out, use {setting('engine', 'threads')} on a machine with enough memory, or "
            f"{setting('modularity', 'order')}, which needs far less."
        )


def most_cores(nodes: int) -> int:
    """How many cores can be busy: all work over the longest chain of tasks that wait for each other.

    >>> [most_cores(nodes) for nodes in (18, 20, 22, 24, 26, 28)]
    [4, 6, 20, 39, 63, 143]
    """
    groups, blocks = group_top(nodes), block_top(nodes)
    # `A` is finished and given in turns; in `B`, each task of the chain is twice the one before. `B` is twice the work.
    return int(3 / ((2 * groups + 1) / 3**groups + 2 * 2 ** (blocks + 1) / 3**blocks))


def structure_evidence(
    engine: DaskEngine, log_weights: Floats, max_parents: int, **tracking: Unpack[Tracking]
) -> float:
    """Natural log of the sum over all graphs, each counted once."""
    forward, graphs = _graphs(engine, log_weights, max_parents, **tracking)
    return log_total(graphs.evidence, graphs.evidence_exponent) + float(forward.log_scales.sum())


def structure_posterior(
    engine: DaskEngine,
    log_weights: Floats,
    max_parents: int,
    *,
    node_groups: int | None = None,
    **tracking: Unpack[Tracking],
) -> StructurePosterior:
    """Evidence, families and paths under the prior in which every graph counts once.

    The families are added up for `node_groups` groups of nodes apart; None: as many as are worth it.
    """
    nodes = len(log_weights)
    require_memory(nodes, max_parents, 1)
    require_room(nodes, max_parents, engine.cluster.room())
    forward, graphs = _graphs(engine, log_weights, max_parents, **tracking)
    total = log_total(graphs.evidence, graphs.evidence_exponent)
    found = completions(engine.cluster, graphs, log_weights.shape, node_groups, **tracking)
    bound = error_bound(found.error, nodes)
    log_evidence = total + float(forward.log_scales.sum())
    tables = _on_host(engine.cluster, forward, graphs, found, log_evidence, bound)
    families = posterior_of_families(found.gathered, log_weights, forward.log_scales, total)
    paths = found.paths
    np.fill_diagonal(paths, 0.0)
    return StructurePosterior(tables, families, np.clip(paths, 0.0, 1.0))


def _graphs(
    engine: DaskEngine, log_weights: Floats, max_parents: int, **tracking: Unpack[Tracking]
) -> tuple[ClusterForward, GraphSums]:
    """The order-modular sums, and the weight of all graphs on every set alone."""
    nodes, cluster = len(log_weights), engine.cluster
    require_room(nodes, max_parents, cluster.room(), evidence_only=True)
    forward = order.forward_table(cluster, log_weights, max_parents, **tracking)
    exponents = exponents_of_groups(cluster, forward)
    groups = sum_over_graphs(cluster, forward, exponents, **tracking)
    evidence, exponent = (
        cluster.result(cluster.submit("evidence", order.entries, last, np.array([-1])))[0]
        for last in (groups[-1], exponents[-1])
    )
    return forward, GraphSums(nodes, max_parents, forward.weights, exponents, groups, float(evidence), int(exponent))


def _tables(nodes: int) -> int:
    """Memory on the cluster, in tables of 8 bytes a set.

    `L`, `A` with its exponents, what groups have received, and the alphas of a wave; what a wave of groups gives, which
    is a third of all that is given. `B`, which comes later, takes less.

    >>> [_tables(nodes) for nodes in (18, 20, 24, 28)]
    [9, 9, 13, 27]
    """
    return 7 + math.ceil(1.5 ** group_top(nodes) / 3)


def _on_host(
    cluster: Cluster,
    forward: ClusterForward,
    graphs: GraphSums,
    found: Completions,
    log_evidence: float,
    bound: float,
) -> StructureTables:
    """All tables in the memory of this process, fetched piece by piece."""
    nodes = graphs.nodes
    sums, values = np.empty(1 << nodes), np.empty(1 << nodes)
    exponents = np.empty(1 << nodes, dtype=np.int32)
    for piece, future in zip(sums.reshape(len(graphs.groups), -1), graphs.groups, strict=True):
        piece[:] = cluster.result(future)
    pieces = values.reshape(len(found.blocks), -1), exponents.reshape(len(found.blocks), -1)
    for its_values, its_exponents, future in zip(*pieces, found.blocks, strict=True):
        its_values[:], its_exponents[:] = cluster.result(future)
    layout = leaf_layout(nodes, graphs.max_parents)
    return StructureTables(order.on_host(cluster, forward), layout, sums, values, exponents, log_evidence, bound)
