"""Every method that the paper compares, as one run on one of its rows: how far off its edges are, and what it took.

SAD is the sum of absolute differences from the exact probabilities, over all edges; Delta is the posterior mass of all
graphs that a method found. Times are by phase, in seconds.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from benchmarks.sampled_orders import edges_of_orders, sample_orders

from dagpost._tools.progress import NO_PROGRESS
from dagpost._tools.uniforms import uniform_rows
from dagpost.engines import ThreadEngine
from dagpost.exact.kbest import best_dags
from dagpost.exact.order import edge_probabilities
from dagpost.features import weighted_matrix
from dagpost.mcmc.chains import run_chains
from dagpost.methods.hybrid_mcmc import HybridMCMC
from dagpost.methods.partial_order_mcmc import PartialOrderMCMC
from dagpost.posterior.exact_workspace import ExactWorkspace
from dagpost.posterior.weights import weigh
from dagpost.priors import InDegreePrior, UniformPrior, log_prior
from dagpost.sampling.dags import draw_dags
from dagpost.sampling.layers import sample_layers
from dagpost.scores import local_scores

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dagpost import Table

    Matrix = NDArray[np.float64]

MAX_PARENTS = 5


@dataclass(frozen=True)
class Effort:
    """How much of each method is done; the paper's figures unless told otherwise."""

    order_graphs: int = 20_000
    structure_graphs: int = 30_000
    order_runs: int = 15
    structure_runs: int = 20
    #: Partial order MCMC: steps, of which the first half is dropped, and the states that are kept of the rest.
    partial_order_steps: int = 20_000
    partial_order_states: int = 200
    #: The hybrid: steps that are dropped; then every third is kept until there are enough graphs.
    hybrid_burn_in: int = 100_000
    #: Runs behind each point of the curves.
    curve_runs: int = 5


@dataclass
class Clock:
    """Seconds by phase."""

    phases: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Time what is done inside."""
        started = time.perf_counter()
        yield
        self.phases[name] = self.phases.get(name, 0.0) + time.perf_counter() - started


class Row:
    """One of the paper's tables with the exact answers under both priors, made when first needed."""

    def __init__(self, name: str, table: Table, engine: ThreadEngine) -> None:
        self.name, self.table, self.engine = name, table, engine

    @cached_property
    def order(self) -> tuple[ExactWorkspace, Matrix, Clock]:
        """K2 with the in-degree prior, every graph counted once for every order it fits."""
        clock = Clock()
        with clock.phase("scores"):
            weights = local_scores(self.table, "k2", MAX_PARENTS, engine=self.engine).values
            weights += log_prior(self.table.names, MAX_PARENTS, InDegreePrior())
        tables = ExactWorkspace(weights, MAX_PARENTS, self.engine, NO_PROGRESS)
        with clock.phase("forward table"):
            forward = tables.forward()
        with clock.phase("all families"):
            edges = edge_probabilities(tables.order_families(forward), MAX_PARENTS)
        return tables, edges, clock

    @cached_property
    def structure(self) -> tuple[ExactWorkspace, Matrix, Clock]:
        """BDeu with the uniform prior, every graph counted once."""
        clock = Clock()
        with clock.phase("scores"):
            weights = local_scores(self.table, "bdeu", MAX_PARENTS, engine=self.engine).values
            weights += log_prior(self.table.names, MAX_PARENTS, UniformPrior())
        tables = ExactWorkspace(weights, MAX_PARENTS, self.engine, NO_PROGRESS)
        with clock.phase("sums over all graphs"):
            edges = edge_probabilities(tables.structure().families, MAX_PARENTS)
        with clock.phase("forward table"):
            tables.forward()
        return tables, edges, clock


Figures = dict[str, Any]


def sad(exact: Matrix, estimate: Matrix) -> float:
    """Sum of absolute differences over all edges."""
    return float(np.abs(exact - estimate).sum())


class SwapsOnly(PartialOrderMCMC):
    """The chain of the paper; ours has moves that are never refused, and needs far fewer steps."""

    @property
    def step_settings(self) -> tuple[Any, ...]:
        """No windows and no shifts."""
        return self.bucket_size, np.array([0.5, 0.5, 0.0, 0.0])


def partial_order(row: Row, run: int, effort: Effort) -> Figures:
    """Partial order MCMC: buckets of 10 (9 for 10 variables), the exact edges of the kept states averaged."""
    tables, exact, before = row.order
    clock = Clock(dict(before.phases) | {"forward table": 0.0, "all families": 0.0})
    dropped = effort.partial_order_steps // 2
    method = SwapsOnly(
        bucket_size=10 if tables.nodes > 10 else 9,
        chains=1,
        thinning=(effort.partial_order_steps - dropped) // effort.partial_order_states,
        burn_in=dropped,
    )
    with clock.phase("family tables"):
        context = method.prepare(tables)
    with clock.phase("chain"):
        count, seed = effort.partial_order_states, np.random.SeedSequence(run)
        chain = run_chains(method, context, tables.nodes, count, seed=seed, engine=row.engine)
    assert chain.record.edges is not None
    return {"sad": sad(exact, chain.record.edges[0]), "phases": clock.phases}


def dos(row: Row, run: int, effort: Effort) -> Figures:
    """Orders drawn from their posterior, the exact edges of each averaged."""
    tables, exact, before = row.order
    clock = Clock(dict(before.phases) | {"all families": 0.0})
    with clock.phase("orders"):
        # Another seed than for DDS, so that the two columns are independent, as they are in the paper.
        seed = np.random.SeedSequence((run, 1))
        orders = sample_orders(tables.host_forward(), effort.order_graphs, seed=seed, engine=row.engine)
    with clock.phase("edges of orders"):
        estimate = edges_of_orders(tables.ranked, orders, engine=row.engine)
    return {"sad": sad(exact, estimate), "phases": clock.phases}


def dds(row: Row, run: int, effort: Effort) -> Figures:
    """Orders drawn from their posterior, one graph from each, counted."""
    tables, exact, before = row.order
    clock = Clock(dict(before.phases) | {"all families": 0.0})
    parents, _ = _draw_dds(tables, effort.order_graphs, run, clock)
    estimate = weighted_matrix("->", parents, np.full(len(parents), 1.0 / len(parents)))
    return {"sad": sad(exact, estimate), "phases": clock.phases}


def dp(row: Row, run: int, effort: Effort) -> Figures:  # noqa: ARG001
    """The exact order-modular edges, taken for the structure-modular ones: what that prior is off by."""
    tables, exact, before = row.structure
    clock = Clock(dict(before.phases) | {"sums over all graphs": 0.0})
    with clock.phase("all families"):
        estimate = edge_probabilities(tables.order_families(tables.forward()), MAX_PARENTS)
    return {"sad": sad(exact, estimate), "phases": clock.phases}


def hybrid(row: Row, run: int, effort: Effort) -> Figures:
    """DP + MCMC of Eaton & Murphy: one chain, every third graph kept after the burn-in."""
    tables, exact, before = row.structure
    clock = Clock(dict(before.phases) | {"sums over all graphs": 0.0})
    method = HybridMCMC(chains=1, thinning=3, burn_in=effort.hybrid_burn_in)
    with clock.phase("edges for proposals"):
        context = method.prepare(tables)
    with clock.phase("chain"):
        count, seed = effort.structure_graphs, np.random.SeedSequence(run)
        chain = run_chains(method, context, tables.nodes, count, seed=seed, engine=row.engine)
    estimate = weighted_matrix("->", chain.parents, np.full(len(chain.parents), 1.0 / len(chain.parents)))
    return {"sad": sad(exact, estimate), "phases": clock.phases}


def kbest(row: Row, run: int, effort: Effort) -> Figures:  # noqa: ARG001
    """The K best graphs, weighted by their joint probability."""
    tables, exact, before = row.structure
    clock = Clock({"scores": before.phases["scores"]})
    with clock.phase("best graphs"):
        found = best_dags(tables.log_weights, MAX_PARENTS, best_count(row.name), engine=row.engine)
    log_evidence = tables.structure().tables.log_evidence
    weighed = weigh("iw", found.parents, log_joint=found.log_joint, log_evidence=log_evidence)
    estimate = weighted_matrix("->", found.parents, weighed.weights)
    return {"sad": sad(exact, estimate), "delta": weighed.covered, "tied": found.tied, "phases": clock.phases}


def iw_dds(row: Row, run: int, effort: Effort) -> Figures:
    """The distinct graphs of DDS, weighted by their joint probability."""
    tables, exact, before = row.structure
    clock = Clock(dict(before.phases) | {"sums over all graphs": 0.0})
    parents, log_joint = _draw_dds(tables, effort.structure_graphs, run, clock)
    with clock.phase("weights"):
        log_evidence = tables.structure().tables.log_evidence
        weighed = weigh("iw", parents, log_joint=log_joint, log_evidence=log_evidence)
        estimate = weighted_matrix("->", parents, weighed.weights)
    return {"sad": sad(exact, estimate), "delta": weighed.covered, "phases": clock.phases}


def layers(row: Row, run: int, effort: Effort) -> Figures:
    """Ours: independent graphs from the posterior itself, distinct ones weighted by what is known of them."""
    tables, exact, before = row.structure
    clock = Clock(dict(before.phases) | {"forward table": 0.0})
    parents, log_joint = _draw_layers(row, effort.structure_graphs, run, clock)
    with clock.phase("weights"):
        log_evidence = tables.structure().tables.log_evidence
        log_chance = log_joint - log_evidence
        weighed = weigh("distinct", parents, log_joint=log_joint, log_proposal=log_chance, log_evidence=log_evidence)
        estimate = weighted_matrix("->", parents, weighed.weights)
    return {"sad": sad(exact, estimate), "delta": weighed.covered, "phases": clock.phases}


def curves(row: Row, run: int, effort: Effort) -> Figures:
    """SAD and Delta of IW-DDS and of ours against the number of graphs."""
    tables, exact, _ = row.structure
    log_evidence = tables.structure().tables.log_evidence
    most = effort.structure_graphs
    sizes = sorted({max(10, round(most * share)) for share in (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)})
    drawn = {
        "IW-DDS": ("iw", _draw_dds(tables, most, run, Clock())),
        "exact layers, distinct weights": ("distinct", _draw_layers(row, most, run, Clock())),
    }
    points = []
    for way, (estimator, (parents, log_joint)) in drawn.items():
        for size in sizes:
            part, log_part = np.ascontiguousarray(parents[:size]), log_joint[:size]
            log_chance = log_part - log_evidence
            weighed = weigh(estimator, part, log_joint=log_part, log_proposal=log_chance, log_evidence=log_evidence)
            estimate = weighted_matrix("->", part, weighed.weights)
            points.append({"way": way, "graphs": size, "sad": sad(exact, estimate), "delta": weighed.covered})
    return {"points": points}


def best_count(name: str) -> int:
    """K as in the paper."""
    fewer = {"tumor": 80, "vehicle": 40, "insur19": 40, "child": 20, "german": 9}
    return fewer.get(name.split("_", maxsplit=1)[0], 100)


def _draw_dds(tables: ExactWorkspace, count: int, run: int, clock: Clock) -> tuple[Any, Any]:
    seed = np.random.SeedSequence(run)
    with clock.phase("orders"):
        orders = sample_orders(tables.host_forward(), count, seed=seed, engine=tables.engine)
    with clock.phase("graphs"):
        uniforms = uniform_rows(np.random.SeedSequence((run, 2)), slice(0, count), tables.nodes)
        return draw_dags(tables.ranked, orders.orders, orders.log_alpha, uniforms, engine=tables.engine)


def _draw_layers(row: Row, count: int, run: int, clock: Clock) -> tuple[Any, Any]:
    tables, _, _ = row.structure
    with clock.phase("graphs"):
        exact = tables.structure().tables
        return sample_layers(exact, tables.ranked, count, seed=np.random.SeedSequence(run), engine=row.engine)


Method = Callable[[Row, int, Effort], Figures]
#: Column, method, which table of the paper it belongs to, whether more than one run makes sense.
ORDER_COLUMNS: dict[str, Method] = {"PO-MCMC": partial_order, "DOS": dos, "DDS": dds}
STRUCTURE_COLUMNS: dict[str, Method] = {
    "DP": dp,
    "DP+MCMC": hybrid,
    "K-best": kbest,
    "IW-DDS": iw_dds,
    "exact layers": layers,
}
CERTAIN = ("DP", "K-best")
