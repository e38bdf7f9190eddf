"""What fitting computes: the weights of the families, then the evidence and the edges, exact where that is due.

All families are scored where a method needs them or where they are few enough for chains; else those among candidate
parents. Exact sums are due wherever they are affordable; beside a chain, which is asked for because it is quick, only
where they are quick too.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dagpost._tools.arrays import Floats
from dagpost._tools.progress import Reporter
from dagpost.checkpoints import NO_CHECKPOINT, Checkpoint
from dagpost.engines import Engine
from dagpost.errors import warn
from dagpost.exact.order import RELATIVE_ERROR, edge_probabilities
from dagpost.mcmc.candidates import weights_among_candidates
from dagpost.methods.drawing import (
    CHAINS,
    OWN_TARGETS,
    choose_method,
    name_of,
    new_seed,
    resolve_method,
    scores_candidates_only,
)
from dagpost.methods.own_targets import GivenOrder, Trees
from dagpost.posterior.answers import ExactResults
from dagpost.posterior.sample import DagSample
from dagpost.posterior.settings import describe, restore
from dagpost.posterior.weights import evidence_ratio
from dagpost.posterior.workspace import ExactWorkspace, Workspace
from dagpost.priors.constraints import Constraints
from dagpost.priors.structure_priors import StructurePrior, log_prior
from dagpost.scores import Score, local_scores
from dagpost.search.replicates import bootstrap_dags

if TYPE_CHECKING:
    from dagpost.data.table import Table

#: Beside a chain, exact edges are computed only if that takes no longer than this.
QUICK_SECONDS = 30.0


class Computed(NamedTuple):
    """Log evidence (nan where unknown), edges, all else that is exact, and whether the edges are."""

    log_evidence: float
    edges: Floats
    results: ExactResults | None
    exact: bool


def weigh_families(
    method: Any,
    table: Table,
    score: Score,
    prior: StructurePrior,
    constraints: Constraints,
    max_parents: int,
    engine: Engine,
    reporter: Reporter,
    *,
    checkpoint: Checkpoint = NO_CHECKPOINT,
) -> Workspace:
    """Score the families that a method needs and add the prior."""
    few = checkpoint.decided(
        "whether to score candidates only",
        lambda: scores_candidates_only(method, len(table.names), max_parents, engine),
    )
    if isinstance(describe(score), str) or isinstance(describe(prior), str):
        # What the user's own code says may have changed since a kill: it is asked again.
        checkpoint = NO_CHECKPOINT
    if few:
        weights = weights_among_candidates(
            table, score, prior, constraints, max_parents, engine=engine, reporter=reporter, checkpoint=checkpoint
        )
        return Workspace(weights, engine, reporter)
    scores = local_scores(table, score, max_parents, engine=engine, reporter=reporter, checkpoint=checkpoint)
    log_weights = scores.values
    log_weights += log_prior(table.names, scores.max_parents, prior, constraints)
    return ExactWorkspace(log_weights, scores.max_parents, engine, reporter)


def settle_method(method: Any, modularity: str, tables: Workspace) -> tuple[Any, str]:
    """The method that is meant, and why; what "auto" once chose holds for a run that goes on after a kill."""
    if method != "auto":
        return choose_method(method, modularity, tables)

    def choose() -> list[Any]:
        chosen, reason = choose_method(method, modularity, tables)
        return [describe(chosen), reason]

    chosen, reason = tables.checkpoint.decided("method", choose)
    return resolve_method(restore(chosen)), str(reason)


def find_replicates(
    table: Table,
    score: Score,
    prior: StructurePrior,
    constraints: Constraints,
    max_parents: int,
    count: int,
    seed: int | None,
    tables: Workspace,
) -> None:
    """Add the graphs of `count` resampled tables to the tables of a model."""
    sequence = new_seed(seed, tables)
    tables.replicates_seed = int(sequence.entropy)  # type: ignore[arg-type]
    tables.replicates_engine = tables.engine.tasks.name
    tables.replicates = bootstrap_dags(
        table,
        score,
        prior,
        constraints,
        max_parents,
        count,
        families=tables.families,
        seed=sequence,
        engine=tables.engine,
        reporter=tables.reporter,
        checkpoint=tables.checkpoint,
    )


def compute(
    method: Any,
    reason: str,
    modularity: str,
    tables: Workspace,
    names: tuple[str, ...],
    samples: int,
    own_sample: Callable[[], DagSample],
) -> Computed:
    """The evidence and the edges: exact where that is due, else from the `samples` graphs that `own_sample` draws."""
    name = name_of(method)
    if name in OWN_TARGETS:
        return _of_own_target(method, tables, names, own_sample)
    if not isinstance(tables, ExactWorkspace) or not tables.checkpoint.decided(
        "whether to sum exactly", lambda: should_sum_exactly(name, modularity, tables)
    ):
        return _estimated(name, reason, samples, tables, own_sample)
    if modularity == "order":
        forward = tables.forward()
        families = tables.order_families(forward)
        results = ExactResults("order", forward.log_evidence, families, None, RELATIVE_ERROR)
    else:
        posterior = tables.structure()
        families = posterior.families
        exact = posterior.tables
        results = ExactResults("structure", exact.log_evidence, families, posterior.paths, exact.error_bound)
    return Computed(results.log_evidence, edge_probabilities(families, tables.max_parents), results, True)


def should_sum_exactly(name: str, modularity: str, tables: ExactWorkspace) -> bool:
    """Whether the sums over all graphs, or orders, are worth their time."""
    if name in CHAINS:
        seconds = tables.sums.structure_seconds if modularity == "structure" else tables.sums.order_seconds
        if seconds(tables.nodes) > QUICK_SECONDS:
            return False
    if modularity == "order":
        return name not in CHAINS or tables.order_fits()
    return name == "exact-layers" or tables.structure_is_affordable()


def _of_own_target(
    method: Any, tables: Workspace, names: tuple[str, ...], own_sample: Callable[[], DagSample]
) -> Computed:
    """Log evidence and edges of a method that speaks of something else than all graphs."""
    if isinstance(method, Trees):
        trees = tables.tree_posterior(method, names)
        edges = trees.families.T.copy()
        np.fill_diagonal(edges, 0.0)
        return Computed(trees.log_evidence, edges, None, True)
    if isinstance(method, GivenOrder):
        given = tables.given_order_posterior(method, names)
        return Computed(given.log_evidence, given.edges, None, True)
    return Computed(math.nan, own_sample().edge_frequencies().to_numpy(), None, False)


def _estimated(
    name: str, reason: str, samples: int, tables: Workspace, own_sample: Callable[[], DagSample]
) -> Computed:
    """Edges from a sample; the evidence, where weighted draws tell it."""
    sample = own_sample()
    if not reason.startswith("as asked") or name not in CHAINS:
        hint = "" if name in CHAINS else " With modularity='order' they would be exact."
        warn(
            f"Edge probabilities are estimated from {samples:,} graphs ({name}), since exact sums would take too long "
            f"or too much memory.{hint}"
        )
    if sample.chains is not None and sample.chains.edges is not None:
        # Better than frequencies: the exact probabilities given each state, averaged over the states.
        shares = np.array(sample.chains.lengths) / len(sample)
        return Computed(math.nan, np.tensordot(shares, sample.chains.edges, axes=1), None, False)
    log_evidence = math.nan
    if isinstance(tables, ExactWorkspace) and name in ("iw-dds", "linear-extensions"):
        log_evidence = tables.order_log_evidence + evidence_ratio(sample.log_extensions)[0]
    return Computed(log_evidence, sample.edge_frequencies().to_numpy(), None, False)
