"""Drawing graphs: which method suits a model, and the sample that a method gives.

Every method returns the same `DagSample`; they differ in which posterior the graphs are drawn from and in how each
graph is weighted afterwards (posterior.py):

    exact-layers        independent graphs from the structure-modular posterior itself
    dds                 independent graphs from the order-modular posterior (He, Tian & Wu 2016)
    iw-dds              those of dds, distinct ones weighted by their joint probability: structure-modular
    linear-extensions   those of dds, weighted with the number of orders that each fits: structure-modular
    kbest               no draws: the most probable graphs, weighted by their joint probability: structure-modular
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dagpost import memory
from dagpost.arrays import Floats, Masks
from dagpost.errors import InputError
from dagpost.exact.kbest import best_dags
from dagpost.posterior import DagSample, make_sample
from dagpost.sampling.dags import draw_dags
from dagpost.sampling.layers import sample_layers
from dagpost.sampling.linear_extensions import log_linear_extensions
from dagpost.sampling.orders import MOVED_TOGETHER, draw_orders, uniform_blocks
from dagpost.tables import PATIENCE_SECONDS, ExactTables

#: Which posterior each method speaks of.
METHODS = {
    "exact-layers": "structure",
    "dds": "order",
    "iw-dds": "structure",
    "linear-extensions": "structure",
    "kbest": "structure",
}

#: Beside the masks: four numbers a graph, and as much again while they are made.
_BYTES_A_GRAPH = 100


def choose_method(method: str, modularity: str, tables: ExactTables) -> tuple[str, str]:
    """The method that is meant, and in a few words why."""
    if method != "auto":
        if method not in METHODS:
            known = ", ".join(map(repr, ["auto", *METHODS]))
            raise InputError(f"The 'method' parameter of DagPosterior must be one of {known}. Got {method!r} instead.")
        if METHODS[method] != modularity:
            raise InputError(
                f"The method {method!r} samples the {METHODS[method]}-modular posterior. "
                f"Set modularity={METHODS[method]!r}, or choose another method."
            )
        return method, "as asked"
    if modularity == "order":
        return "dds", "independent graphs from the order-modular posterior"
    if tables.structure_is_affordable():
        return "exact-layers", "independent graphs from the posterior itself"
    return "linear-extensions", (
        f"the sums over all graphs of {tables.nodes} variables would take over {PATIENCE_SECONDS / 60:.0f} minutes "
        "or more memory than is free"
    )


def draw(
    method: str,
    tables: ExactTables,
    names: tuple[str, ...],
    count: int,
    seed: int | None,
    guarantee: tuple[float, float] | None,
    provenance: Mapping[str, Any],
) -> DagSample:
    """Draw `count` graphs by one of `METHODS`."""
    if method == "kbest":
        return best(tables, names, count, provenance)
    needed = int(count) * (_BYTES_A_GRAPH + 20 * tables.nodes)
    memory.require(needed, f"A sample of {count:,} graphs", "Draw fewer at a time, or ask for less precision.")
    sequence = np.random.SeedSequence(None if seed is None else int(seed))
    about = {**provenance, "seed": sequence.entropy, "method": method}
    nan = np.full(count, np.nan)
    if method == "exact-layers":
        exact = tables.structure().tables
        parents, log_joint = sample_layers(
            exact, tables.ranked, count, seed=sequence, engine=tables.engine, reporter=tables.reporter
        )
        log_proposal = log_joint - exact.log_evidence
        return make_sample(names, parents, log_joint, log_proposal, nan, exact.log_evidence, method, guarantee, about)
    parents, log_joint = _draw_dds(tables, count, sequence)
    if method == "dds":
        log_evidence = tables.order_log_evidence
        return make_sample(names, parents, log_joint, nan, nan, log_evidence, method, guarantee, about)
    log_extensions = log_linear_extensions(parents, engine=tables.engine, reporter=tables.reporter)
    log_proposal = log_extensions + log_joint - tables.order_log_evidence
    log_evidence = _structure_log_evidence(tables)
    return make_sample(names, parents, log_joint, log_proposal, log_extensions, log_evidence, method, guarantee, about)


def best(tables: ExactTables, names: tuple[str, ...], count: int, provenance: Mapping[str, Any]) -> DagSample:
    """The `count` most probable graphs, best first, when every graph counts once (fewer, if there are not so many)."""
    found = best_dags(tables.log_weights, tables.max_parents, count, engine=tables.engine, reporter=tables.reporter)
    about = {**provenance, "method": "kbest", "tied": found.tied}
    nan = np.full(len(found.log_joint), np.nan)
    log_evidence = _structure_log_evidence(tables)
    return make_sample(names, found.parents, found.log_joint, nan, nan, log_evidence, "kbest", None, about)


def _structure_log_evidence(tables: ExactTables) -> float:
    """Where the evidence is to be had, the mass that a sample covers is known."""
    if tables.structure_log_evidence is None and tables.structure_is_affordable():
        tables.structure_log_evidence = tables.log_evidence_of(tables.log_weights, "structure")
    return np.nan if tables.structure_log_evidence is None else tables.structure_log_evidence


def _draw_dds(tables: ExactTables, count: int, seed: np.random.SeedSequence) -> tuple[Masks, Floats]:
    """Independent pairs of an order and a graph; the orders are not kept."""
    forward, nodes = tables.forward(), tables.nodes
    parts = []
    with tables.reporter.stage("graphs", count * (forward.plan.top + 2)) as stage:
        for uniforms in uniform_blocks(seed, count, 2 * nodes, MOVED_TOGETHER):
            first, second = np.ascontiguousarray(uniforms[:, :nodes]), uniforms[:, nodes:]
            orders = draw_orders(forward, first, engine=tables.engine, stage=stage)
            parts.append(draw_dags(tables.ranked, orders.orders, orders.log_alpha, second, engine=tables.engine))
            stage.advance(len(first))
    return np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])
