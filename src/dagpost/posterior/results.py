"""What a fit finds: the evidence and the edges, exact where that is due, otherwise from the model's own sample.

Exact sums are due wherever they are affordable. A chain is asked for by name to see what it finds, and is chosen for a
model only where the sums are out of reach: its edges are its own.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dagpost._tools.arrays import Floats
from dagpost._tools.spelling import setting
from dagpost.errors import warn
from dagpost.exact.order import RELATIVE_ERROR, edge_probabilities
from dagpost.methods.base import Method
from dagpost.methods.choice import AS_ASKED
from dagpost.posterior.weights import evidence_ratio
from dagpost.posterior.workspace import ExactWorkspace, Workspace

if TYPE_CHECKING:
    from dagpost.posterior.fitted import Fitted


@dataclass(frozen=True, eq=False)
class ExactResults:
    """What was computed exactly: the evidence, the probability of every family and, perhaps, of every path.

    `error_bound` is how far rounding may have moved a probability: any of them where the sums alternate ("structure"),
    in proportion to itself where they do not ("order").
    """

    modularity: str
    log_evidence: float
    families: Floats
    paths: Floats | None
    error_bound: float


@dataclass(frozen=True, eq=False)
class Results:
    """Log evidence (nan where unknown), edges (parent, child), whether these are exact, and what else is.

    `engine` is what the edges were computed on; `verdict` says of edges from chains whether to trust them.
    """

    log_evidence: float
    edges: Floats
    exact: bool
    sums: ExactResults | None = None
    engine: str = "not recorded"
    verdict: str | None = None


def compute(fitted: Fitted) -> Results:
    """The evidence and the edges of a model."""
    method, workspace = fitted.method, fitted.workspace
    if method.modularity is None:
        found = method.summed(workspace, fitted.names)
        if found is not None:
            return Results(found.log_evidence, found.edges, True, engine=method.ran_on(workspace))
    elif isinstance(workspace, ExactWorkspace) and workspace.checkpoint.decided(
        "whether to sum exactly", lambda: should_sum_exactly(method, fitted.modularity, workspace)
    ):
        return _summed(fitted.modularity, workspace)
    return _estimated(fitted)


def should_sum_exactly(method: Method, modularity: str, workspace: Workspace) -> bool:
    """Whether the sums over all graphs, or orders, are worth their time."""
    if method.modularity is None or method.draws == "chains" or not isinstance(workspace, ExactWorkspace):
        return False
    return modularity == "order" or method.needs_graphs or workspace.structure_is_affordable()


def _summed(modularity: str, workspace: ExactWorkspace) -> Results:
    if modularity == "order":
        forward = workspace.forward()
        families, engine = workspace.order_families(forward), workspace.backend.name
        sums = ExactResults(modularity, forward.log_evidence, families, None, RELATIVE_ERROR)
    else:
        posterior = workspace.structure()
        families, engine = posterior.families, workspace.structure_engine
        tables = posterior.tables
        sums = ExactResults(modularity, tables.log_evidence, families, posterior.paths, tables.error_bound)
    return Results(sums.log_evidence, edge_probabilities(families, workspace.max_parents), True, sums, engine)


def _estimated(fitted: Fitted) -> Results:
    """Edges from a sample; the evidence, where weighted draws tell it."""
    method, workspace, sample = fitted.method, fitted.workspace, fitted.own_sample()
    asked = fitted.reason.startswith(AS_ASKED)
    if method.modularity is not None and not (asked and method.draws == "chains"):
        other = f"{setting('modularity', 'order')}, which counts a graph once for every order it fits,"
        hint = "" if method.draws == "chains" else f" With {other} they would be exact."
        warn(
            f"Edge probabilities are estimated from {len(sample):,} graphs ({method.name}), since exact sums would "
            f"take too long or too much memory.{hint}"
        )
    verdict = sample.diagnostics().verdict if method.draws == "chains" else None
    log_evidence, engine = math.nan, method.ran_on(workspace)
    if sample.chains is not None and sample.chains.edges is not None:
        # Better than frequencies: the exact probabilities given each state, averaged over the states.
        shares = np.array(sample.chains.lengths) / len(sample)
        edges = np.tensordot(shares, sample.chains.edges, axes=1)
    else:
        edges = sample.edge_frequencies().to_numpy()
    if isinstance(workspace, ExactWorkspace) and np.isfinite(sample.log_extensions).all():
        log_evidence = workspace.order_log_evidence + evidence_ratio(sample.log_extensions)[0]
    return Results(log_evidence, edges, False, None, engine, verdict)
