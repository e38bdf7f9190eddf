"""sumu: Gadget, 16 tempered chains over root partitions; `benchmarks/rival_sumu.py` says how to build and set it up.

Its front door has no limit of time and does not hand the prior on to its scores, so its parts are called one by one.
"As it comes" is what they give; "mended" has right sums and a right split in the places of two that are wrong. Graphs
are drawn from its partitions by our code either way, since its own way to do so may take hours.

It also holds aps (Pensar, Talvitie, Hyttinen & Koivisto 2020), which sums over all graphs, from the scores of the case.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from task import DISCRETE, Task, run

sys.path.append(str(Path(__file__).resolve().parents[1]))
import rival_sumu

CANDIDATES, MOST_GRAPHS = 15, 10_000
#: Of the time that is left after the scores: burn-in, and what drawing the graphs may take at the end.
BURN_IN, FOR_GRAPHS = 0.5, 0.1


def gadget(task: Task, mended: bool) -> None:
    """Graphs of the partitions that the cold chain visits in the second half of its time."""
    np.seterr(over="ignore", invalid="ignore")
    # BGe has a prior mean of 0 there, so that the columns are centred first.
    values = task.values.astype(np.int32) if task.kind == DISCRETE else task.values - task.values.mean(axis=0)
    settings = {"prior": "uniform", "mended": mended, "ess": 1.0, "max_parents": task.max_parents}
    sampler = rival_sumu.prepare(np.ascontiguousarray(values), settings | {"candidates": CANDIDATES})
    layers = partitions(task, sampler)
    kept = layers[np.linspace(0, len(layers) - 1, min(len(layers), MOST_GRAPHS)).round().astype(int)]
    parents, _ = rival_sumu.draw_graphs(sampler, kept, task.seed)
    places = np.arange(len(task.names), dtype=np.uint64)
    for masks in parents:
        task.keep_graph(masks[None, :] >> places[:, None] & np.uint64(1))


def exact(task: Task) -> None:
    """The probability of every set of parents, by aps, added up to edges."""
    from sumu.aps import aps

    nodes = len(task.names)
    # Bit k of a set's number stands for the k-th of the other nodes.
    places = [[other - (other > node) for other in range(nodes)] for node in range(nodes)]
    log_scores = np.full((nodes, 1 << (nodes - 1)), -np.inf)
    for node, own in enumerate(task.scores()):
        numbers = [sum(1 << places[node][parent] for parent in parents) for parents in own]
        log_scores[node, numbers] = list(own.values())
    chances = np.exp(aps(log_scores, as_dict=False, normalize=True))
    sets = np.arange(chances.shape[1])
    edges = np.zeros((nodes, nodes))
    for node in range(nodes):
        for other in set(range(nodes)) - {node}:
            edges[other, node] = chances[node, sets >> places[node][other] & 1 == 1].sum()
    task.keep_edges(edges)


def partitions(task: Task, sampler) -> np.ndarray:
    """The partitions that a cold chain visits, as the number of the part of each node, without its burn-in."""
    from sumu import MC3

    np.random.seed(task.seed)  # noqa: NPY002 (the generator that sumu draws from)
    steps = rival_sumu.TEMPERATURES - 1
    ladder = MC3([rival_sumu.start_of_chain(sampler, step / steps) for step in range(steps + 1)], stats={})
    began, left = task.used(), task.left()
    found = []
    while not found or task.used() < began + (1 - FOR_GRAPHS) * left:
        partition, _ = ladder.sample()
        if task.used() > began + BURN_IN * left:
            found.append(rival_sumu.layers_of(partition, sampler.n))
    return np.array(found)


if __name__ == "__main__":
    run(
        {
            "as it comes": lambda task: gadget(task, mended=False),
            "mended": lambda task: gadget(task, mended=True),
            "aps, exact": exact,
        }
    )
