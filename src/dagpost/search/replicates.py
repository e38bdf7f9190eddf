"""Which edges does a greedy search find again and again, had the rows been a little different?

The bootstrap of Friedman, Goldszmidt & Wyner (1999): the rows of the table are drawn anew, with replacement, as many
as there are; the families are scored again, a graph is found by hill climbing, and so on. How often a statement holds
among these graphs is a measure of confidence in it. It is not a posterior probability: one graph is found for every
data set, however many others are as good. Where graphs are tied because the data cannot tell the direction of an edge,
the order of the columns decides, every time alike: ask whether two variables are adjacent instead.

A row keeps its interventions, and a row that stands for several observations is drawn by its count. Each replicate has
a seed of its own, so that the first N of 2N are the same as N.

Time: scoring the families anew for every replicate (all of them where there are at most `MOST_FAMILIES`, otherwise
those among the candidates, see mcmc/candidates.py); the climb itself takes no time beside. Memory: 8 bytes a family for
each replicate under way.

Friedman, Goldszmidt & Wyner, "Data analysis with Bayesian networks: a bootstrap approach", UAI 15 (1999).
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from dagpost._tools.arrays import Floats, Masks
from dagpost._tools.progress import NO_PROGRESS, Reporter
from dagpost._tools.schema import check_graphs
from dagpost.checkpoints import NO_CHECKPOINT, Checkpoint
from dagpost.data.table import Table
from dagpost.engines import Engine, ThreadEngine
from dagpost.engines.base import CancelFlag
from dagpost.engines.inline import InlineEngine
from dagpost.families.family_sums import (
    FamilyTables,
    FamilyWeights,
    family_tables,
    largest_small_size,
    tables_without_sums,
)
from dagpost.mcmc.considered import weights_among_candidates
from dagpost.priors import StructurePrior, log_prior
from dagpost.priors.constraints import Constraints
from dagpost.priors.study import Study
from dagpost.scores import Score, local_scores
from dagpost.search.hill_climbing import climb, log_weights_of_graphs, starting_graph


def bootstrap_dags(
    table: Table,
    score: Score,
    prior: StructurePrior,
    constraints: Constraints,
    max_parents: int,
    count: int,
    *,
    families: FamilyTables,
    seed: np.random.SeedSequence,
    engine: Engine,
    reporter: Reporter = NO_PROGRESS,
    checkpoint: Checkpoint = NO_CHECKPOINT,
) -> tuple[Masks, Floats]:
    """One graph for each of `count` replicates of the table: parent masks (replicates, nodes), and their log weights.

    The log weights are those under `families`, the weights of the table itself; minus infinity for a graph with a
    parent set that is not considered there, which can only be where there are too many to consider all.

    >>> from dagpost.data import datasets
    >>> from dagpost.mcmc.candidates import weights_of_all
    >>> from dagpost.priors import UniformPrior
    >>> from dagpost.scores import BDeu
    >>> table, engine = datasets.load("coronary"), ThreadEngine(1)
    >>> weights = weights_of_all(local_scores(table, BDeu(), 2).values, 2)
    >>> parents, log_weights = bootstrap_dags(
    ...     table, BDeu(), UniformPrior(), Constraints(), 2, 20,
    ...     families=family_tables(weights, engine=engine), seed=np.random.SeedSequence(1), engine=engine,
    ... )
    >>> parents.shape, log_weights.shape
    ((20, 6), (20,))
    """
    start = starting_graph(families)
    weigh = _weighing(table, score, prior, constraints, max_parents)

    def block(replicate: int, cancel: CancelFlag) -> Masks:
        rows = resampled(table, _generator(seed, replicate))
        weights = weigh(rows, InlineEngine(cancel))
        return start if cancel[0] else _climb_from(weights, start)

    parents = np.zeros((count, len(table.names)), dtype=np.uint64)
    saved = checkpoint.stage(
        "replicates",
        range(count),
        lambda replicate: [parents[replicate]],
        check=lambda: check_graphs(parents, most=families.max_parents),
    )
    with reporter.stage("replicates", count) as stage:
        for _ in saved.finished:
            stage.advance(1)
        for replicate, found in saved.run(engine.tasks, block, range(count)):
            parents[replicate] = found
            stage.advance(1)
    return parents, log_weights_of_graphs(families, parents)


def resampled(table: Table, generator: np.random.Generator) -> Table:
    """As many observations as `table` has, drawn from its rows with replacement."""
    return table.with_counts(generator.multinomial(table.observations, table.weights / table.observations))


def _weighing(
    table: Table, score: Score, prior: StructurePrior, constraints: Constraints, max_parents: int
) -> Callable[[Table, Engine], FamilyWeights]:
    """How the families of a replicate are weighed."""
    names = table.names
    nodes = len(names)
    limit = min(max_parents, nodes - 1)
    if largest_small_size(nodes, limit) < limit:
        study = Study(table, score, prior, constraints, limit)
        return lambda rows, engine: weights_among_candidates(study._replace(table=rows), engine=engine)
    log_priors = log_prior(names, limit, prior, constraints)
    nobody = np.empty((nodes, 0), dtype=np.int64)

    def weigh(rows: Table, engine: Engine) -> FamilyWeights:
        values = local_scores(rows, score, limit, engine=engine).values
        values += log_priors
        # A climb needs no candidates: it looks families up one by one.
        return FamilyWeights(limit, limit, nobody, values[:, :1], values)

    return weigh


def _climb_from(weights: FamilyWeights, start: Masks) -> Masks:
    tables = tables_without_sums(weights)
    if log_weights_of_graphs(tables, start[None])[0] > -math.inf:
        return climb(tables, start)[0]
    # Only among candidates, which differ from replicate to replicate: another start has to be found, which takes sums.
    return climb(family_tables(weights, engine=ThreadEngine(1)))[0]


def _generator(seed: np.random.SeedSequence, replicate: int) -> np.random.Generator:
    child = np.random.SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, replicate))
    return np.random.default_rng(child)
