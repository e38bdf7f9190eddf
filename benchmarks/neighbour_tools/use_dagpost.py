"""dagpost itself, in four ways; one thread, as all the others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from task import Task, run

from dagpost import Bootstrap, StructureMCMC, reference

if TYPE_CHECKING:
    from dagpost import DagSample

#: More graphs than this say nothing that a reader of the table would see.
MOST_GRAPHS, GRAPHS_AT_ONCE = 10_000, 1_000
#: The chains keep one graph in so many steps.
THINNING = 1_000
TABLES_AT_ONCE = 20


def exact(task: Task) -> None:
    """The default: edges summed over all graphs."""
    model = fitted(task)
    task.keep_edges(model.probability_matrix("->").loc[task.names, task.names].to_numpy())


def exact_sample(task: Task) -> None:
    """Independent graphs from the posterior itself."""
    model = fitted(task)
    for number in range(MOST_GRAPHS // GRAPHS_AT_ONCE):
        if task.left() <= 0:
            break
        keep(task, model.sample(GRAPHS_AT_ONCE, seed=task.seed + number))


def structure_mcmc(task: Task) -> None:
    """The chain that everybody knows, as it is set by default, for as long as there is time."""
    model = fitted(task, method=StructureMCMC(thinning=THINNING))
    sample = None
    count, took = GRAPHS_AT_ONCE, 0.0
    while sample is None or task.left() > took:
        began = task.used()
        sample = model.sample(count) if sample is None else model.sample(count, resume=sample)
        took, count = task.used() - began, count + GRAPHS_AT_ONCE
    every = -(-len(sample) // MOST_GRAPHS)
    keep(task, sample[::every])


def bootstrap(task: Task) -> None:
    """Greedy search in resampled tables, by our own code."""
    number, took = 0, 0.0
    while not number or task.left() > took:
        began = task.used()
        method = Bootstrap(replicates=TABLES_AT_ONCE)
        keep(task, fitted(task, method=method, seed=task.seed + number).sample(TABLES_AT_ONCE))
        number, took = number + 1, task.used() - began


def fitted(task: Task, **settings: Any) -> Any:
    """A model of the case."""
    case = reference.load(task.case)
    return case.model(**({"seed": task.seed} | settings)).fit(case.table)


def keep(task: Task, sample: DagSample) -> None:
    """Add the graphs of a sample to the answer."""
    weights = np.ones(len(sample)) if sample.weights is None else sample.weights
    for graph, weight in zip(sample.adjacency(), weights, strict=True):
        task.keep_graph(graph, float(weight))


if __name__ == "__main__":
    run(
        {
            "exact": exact,
            "exact, drawn graphs": exact_sample,
            "structure MCMC": structure_mcmc,
            "bootstrap": bootstrap,
        }
    )
