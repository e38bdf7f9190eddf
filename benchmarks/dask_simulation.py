"""What would 33, 34 and 36 variables need on a cluster? A simulation, from blocks that are measured here.

    python -m benchmarks.dask_simulation [--sizes 33 34 36]

Measured on one core of this machine: one forward and one backward block, what one block gives to the families, and the
adding up of it, each with all its inputs and at its real size, in the middle wave; and how long the scheduler takes for
a task that does nothing. Assumed: workers of 16 such cores, each with a network of 10 Gbit/s. From these, wave after
wave: the work
of the tasks in rounds of as many as there are cores; the bytes that a worker fetches, which is every block that its
tasks pull, once, but for those it has itself; the time of the scheduler. The largest of the three is the time of the
wave: they overlap, and no wave begins before the one before it is done, which is worse than what Dask does.
Nothing here was run on more than this machine.
"""

from __future__ import annotations

import argparse
import math
import os
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from dagpost._tools.memory import readable
from dagpost.engines.dask import order
from dagpost.engines.dask.blocks import gathering_top, nodes_in, nodes_not_in, task_bytes
from dagpost.families.numbering import family_count

PARENTS = 5
WORKERS = (16, 64, 256)
CORES = 16
NETWORK_BYTES = 10e9 / 8
TRIAL_TASKS = 3000


class Block(NamedTuple):
    """Seconds on one core for a block: forward, backward, given to the families of all nodes, added up."""

    forward: float
    backward: float
    gather: float
    add: float


class Needs(NamedTuple):
    """What a run needs: tasks, bytes moved, seconds."""

    tasks: int
    moved: float
    seconds: float


def main() -> None:
    """Print what was measured and what follows from it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[33, 34, 36], help="numbers of variables")
    sizes = parser.parse_args().sizes
    scheduler = measured_scheduler()
    print(f"A simulation. Blocks measured on one core (load {os.getloadavg()[0]:.1f}); {CORES} cores a worker and")
    print(f"{NETWORK_BYTES / 1e9:.2f} GB/s of network for each, {1e3 * scheduler:.1f} ms of the scheduler a task.")
    for nodes in sizes:
        block, top = measured(nodes), gathering_top(nodes, PARENTS)
        print(f"\n{nodes} variables: table {readable(8 << nodes)}, 2^{top} blocks of {readable(8 << (nodes - top))};")
        print(
            f"a block takes {block.forward:.2f} s forward, {block.backward:.2f} s backward, {block.gather:.2f} s for "
            f"the families, {block.add:.3f} s to add up"
        )
        print("| workers | memory each | forward: tasks, moved, time | with all families: tasks, moved, time |")
        print("| --- | --- | --- | --- |")
        for workers in WORKERS:
            forward, families = simulated(nodes, top, block, workers, scheduler)
            print(
                f"| {workers} | {readable(memory_each(nodes, top, workers))} | {shown(forward)} | "
                f"{shown(added(forward, families))} |"
            )


def measured(nodes: int) -> Block:
    """The times of one block in the middle wave, best of two."""
    top = gathering_top(nodes, PARENTS)
    size = 1 << (nodes - top)
    generator = np.random.default_rng(1)
    weights = -generator.integers(0, 1 << 42, (nodes, family_count(nodes - 1, PARENTS)))
    number = (1 << (top // 2)) - 1
    piece = -generator.integers(0, 1 << 42, size)
    head = (nodes, PARENTS, top, number)
    below = [piece] * len(nodes_in(number, top))
    above = [piece] * len(nodes_not_in(number, top))
    forward = best_of_two(lambda: order._fill_block(False, *head, weights, *below))
    backward = best_of_two(lambda: order._fill_block(True, *head, weights, *above))
    across = nodes_not_in(number, top)
    given: list[Any] = []
    gather = best_of_two(lambda: given.append(order._gather_block(*head, (0, nodes), across, piece, piece, *above)))
    sums = order._nothing(nodes, weights.shape[1])
    link = (nodes, PARENTS, top, 0, [number] * 4, [number], 0)
    add = best_of_two(lambda: order._add_wave(*link, sums, given[0])) / 4
    return Block(forward, backward, gather, add)


def measured_scheduler() -> float:
    """Seconds from one task to the next when tasks do nothing, on two workers of this machine."""
    from distributed import Client

    from dagpost.engines.dask.cluster import local_cluster

    with local_cluster(2) as local, Client(local) as client:
        client.gather(client.map(abs, range(100), pure=False))
        started = time.perf_counter()
        client.gather(client.map(abs, range(TRIAL_TASKS), pure=False))
        return (time.perf_counter() - started) / TRIAL_TASKS


def best_of_two(step: Callable[[], Any]) -> float:
    """Seconds of a step, the shorter of two times: the first may compile."""
    times = []
    for _ in range(2):
        started = time.process_time()
        step()
        times.append(time.process_time() - started)
    return min(times)


def simulated(nodes: int, top: int, block: Block, workers: int, scheduler: float) -> tuple[Needs, Needs]:
    """The forward table, and what all families need after it."""
    cores = workers * CORES
    groups = min(nodes, order.MOST_GROUPS)
    block_bytes = 8 << (nodes - top)
    rows_bytes = 8 * nodes * family_count(nodes - top, PARENTS)
    forward, families = [], []
    for size in range(top + 1):
        tasks = math.comb(top, size)
        below, above = math.comb(top, size - 1) if size else 0, math.comb(top, size + 1)
        own = (block_bytes, workers, scheduler)
        forward.append(wave(tasks, size, block.forward, below, *own))
        backward = wave(tasks, top - size, block.backward, above, *own)
        work = math.ceil(tasks * groups / cores) * block.gather / groups
        gathered = Needs(tasks * groups, 0.0, max(work, tasks * groups * scheduler))
        # Each group of nodes takes its rows from all blocks of the wave, on one core.
        moved = tasks * rows_bytes
        received = moved * math.ceil(groups / workers) / groups
        adding = Needs(groups, moved, max(tasks * block.add / groups, received / NETWORK_BYTES))
        families += [backward, gathered, adding]
    return added(*forward), added(*families)


def wave(
    tasks: int, pulled: int, seconds: float, there: int, block_bytes: int, workers: int, scheduler: float
) -> Needs:
    """One wave of blocks, each of which pulls some of those that are there."""
    each = math.ceil(tasks / workers)
    fetched = min(each * pulled, there) * (1.0 - 1.0 / workers) * block_bytes
    compute = math.ceil(tasks / (workers * CORES)) * seconds
    moved = fetched * min(workers, tasks)
    return Needs(tasks, moved, max(compute, fetched / NETWORK_BYTES, tasks * scheduler))


def added(*needs: Needs) -> Needs:
    """One after the other."""
    return Needs(sum(n.tasks for n in needs), sum(n.moved for n in needs), sum(n.seconds for n in needs))


def memory_each(nodes: int, top: int, workers: int) -> float:
    """Its share of two tables (one, and the copies of blocks it has fetched or the other), its tasks, the weights."""
    weights = 8 * nodes * family_count(nodes - 1, PARENTS)
    return 2 * (8 << nodes) / workers + CORES * task_bytes(nodes, top) + 2 * weights


def shown(needs: Needs) -> str:
    """The figures in one cell of a table."""
    seconds = f"{needs.seconds:.0f} s" if needs.seconds < 600 else f"{needs.seconds / 60:.0f} min"
    return f"{needs.tasks:,}, {readable(needs.moved)}, {seconds}"


if __name__ == "__main__":
    main()
