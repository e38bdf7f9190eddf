"""What a fit finds: the evidence and the edges, exact where that is due, otherwise from the model's own sample.

Exact sums are due wherever they are affordable. A chain is asked for by name to see what it finds, and is chosen for a
model only where the sums are out of reach: its edges are its own.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dagpost._tools.arrays import Floats
from dagpost._tools.schema import truth
from dagpost._tools.spelling import setting
from dagpost.checkpoints import NO_CHECKPOINT
from dagpost.engines import Engine, ThreadEngine
from dagpost.engines.host.backend import FEW_NODES
from dagpost.engines.inline import InlineEngine
from dagpost.errors import warn
from dagpost.methods.base import Method
from dagpost.methods.choice import AS_ASKED
from dagpost.posterior.distinct import one_way_at_most
from dagpost.posterior.exact_workspace import ExactWorkspace
from dagpost.posterior.mixture import NEGLIGIBLE, JoinedWorkspace, MixedWorkspace, weightiest
from dagpost.posterior.weights import evidence_ratio
from dagpost.posterior.workspace import Sums, Workspace

if TYPE_CHECKING:
    from dagpost.posterior.fitted import Fitted
    from dagpost.posterior.workspace import SummingWorkspace


#: Under a condition: a part that may have this share is summed at once, without a look at its evidence first.
_LIKELY = 1e-8


@dataclass(frozen=True, eq=False)
class Results:
    """Log evidence (nan where unknown), edges (parent, child), whether these are exact, and what else is.

    `engine` is what the edges were computed on; `verdict` says of edges from chains whether to trust them.
    """

    log_evidence: float
    edges: Floats
    exact: bool
    sums: Sums | None = None
    engine: str = "not recorded"
    verdict: str | None = None
    #: The posterior probability of each cell of what is averaged over; with edges from a sample, as estimated from it.
    shares: tuple[float, ...] = (1.0,)
    #: Of a table with gaps: over how many completed tables the edges are averaged, and the standard errors of these.
    tables: int = 0
    edge_errors: Floats | None = None
    #: The edges under each value of what has fixed weights (values, parents, children).
    edges_by_kind: Floats | None = None


def compute(fitted: Fitted) -> Results:
    """The evidence and the edges of a model."""
    method, workspace = fitted.method, fitted.workspace
    if fitted.completes:
        return _averaged(fitted)
    if method.modularity is None:
        own = workspace.parts if isinstance(workspace, JoinedWorkspace) else (workspace,)
        found = [method.summed(part, fitted.names) for part in own]
        engine = method.ran_on(own[0])
        sums = [Results(each.log_evidence, each.edges, True, engine=engine) for each in found if each is not None]
        if sums:
            return _mixed(sums, [each.log_evidence for each in sums], workspace)
    elif workspace.parts and workspace.checkpoint.decided(
        "whether to sum exactly", lambda: should_sum_exactly(method, fitted.modularity, workspace), truth
    ):
        return _mixed(*_each_summed(fitted.modularity, workspace), workspace)
    return _estimated(fitted)


def should_sum_exactly(method: Method, modularity: str, workspace: Workspace) -> bool:
    """Whether the sums over all graphs, or orders, are worth their time."""
    if method.modularity is None or method.draws == "chains" or not workspace.parts:
        return False
    return modularity == "order" or method.needs_graphs or workspace.structure_is_affordable()


def _summed(modularity: str, workspace: SummingWorkspace) -> Results:
    found = workspace.summed(modularity)
    return Results(found.log_evidence, found.edges, True, found, found.engine)


def _each_summed(modularity: str, workspace: Workspace) -> tuple[list[Results | None], list[float]]:
    """The results of each part and its log evidence; no results for those that cannot matter beside the others.

    The evidence comes first, which is less than half of the work. Under a condition, what is left of a part is at most
    the part itself: where that is too little, not even the evidence is computed, and where it is much, all is at once.
    """
    parts = workspace.parts
    if not isinstance(workspace, JoinedWorkspace) or len(parts) == 1:
        found = [_summed(modularity, part) for part in parts]
        return list(found), [own.log_evidence for own in found]
    engine, log_priors = engine_for_parts(modularity, workspace), np.array(workspace.log_priors)
    most, log_evidences, total = log_priors + workspace.most, np.full(len(parts), -np.inf), -math.inf
    likely = np.isfinite(most) & (most >= np.logaddexp.reduce(most) + math.log(_LIKELY))
    waiting = np.argsort(-most, kind="stable").tolist()
    summed: list[Results | None] = [None] * len(parts)

    def look(place: int, _: object) -> float:
        if not likely[place]:
            return parts[place].log_evidence(modularity)
        summed[place] = found = _summed(modularity, parts[place])
        return found.log_evidence

    def finish(place: int, _: object) -> None:
        summed[place] = _summed(modularity, parts[place])

    while waiting and np.logaddexp.reduce(most[waiting]) >= total + math.log(NEGLIGIBLE):
        places, waiting = waiting[: engine.workers], waiting[engine.workers :]
        log_evidences[places] = list(engine.run(look, places))
        total = workspace.log_sum(log_evidences)
    list(engine.run(finish, [own for own in weightiest(workspace.shares(log_evidences)) if summed[own] is None]))
    workspace.negligible = frozenset(place for place, found in enumerate(summed) if found is None)
    return summed, log_evidences.tolist()


def engine_for_parts(modularity: str, workspace: Workspace) -> Engine:
    """What runs whole parts: threads where each part is so small that it does not use them itself."""
    small = modularity == "structure" and workspace.largest <= FEW_NODES and workspace.checkpoint is NO_CHECKPOINT
    return workspace.engine if small and type(workspace.engine) is ThreadEngine else InlineEngine()


def _mixed(found: Sequence[Results | None], log_evidences: Sequence[float], workspace: Workspace) -> Results:
    """The results of a mixture from those of its parts that matter, and the evidence of all."""
    known = [part for part in found if part is not None]
    if not isinstance(workspace, JoinedWorkspace):
        return known[0]
    log_evidence, shares = workspace.log_sum(log_evidences), workspace.shares(log_evidences)
    weights = tuple(shares.tolist())
    summed = [share for part, share in zip(found, weights, strict=True) if part is not None]
    # What is certain under every part that was summed stays certain.
    left_out = max(1.0 - sum(summed), 0.0)
    weighed = [share / (1.0 - left_out) for share in summed]

    def mixed(arrays: Sequence[Floats]) -> Floats:
        total: Floats = sum((share * array for share, array in zip(weighed, arrays, strict=True)), np.zeros(()))
        return total

    edges = mixed([part.edges for part in known])
    sums, own = None, [part.sums for part in known if part.sums is not None]
    if own:
        paths = [part.paths for part in own if part.paths is not None]
        families = [mixed(rows) for rows in zip(*(part.families for part in own), strict=True)]
        sums = own[0]._replace(
            log_evidence=log_evidence,
            families=np.array(families) if isinstance(own[0].families, np.ndarray) else tuple(families),
            edges=edges,
            paths=mixed(paths) if paths else None,
            # Its own rounding, that of the two evidences in the share, and the parts that were left out.
            error_bound=3.0 * max(part.error_bound for part in own) + left_out,
            shares=weights,
        )
    by_kind = None
    if isinstance(workspace, MixedWorkspace):
        weights = tuple(workspace.by_cell(shares).tolist())
        by_kind = _edges_by_kind(workspace, found, shares) if workspace.grid.fixed else None
    return Results(log_evidence, edges, True, sums, known[0].engine, shares=weights, edges_by_kind=by_kind)


def _edges_by_kind(workspace: MixedWorkspace, found: Sequence[Results | None], shares: Floats) -> Floats:
    """The edges under each value of the first setting; nan under one that a condition leaves out."""
    grid, nodes = workspace.grid, workspace.nodes
    weighed, masses = np.zeros((len(grid.axes[0].values), nodes, nodes)), np.zeros(len(grid.axes[0].values))
    for part, share, cell in zip(found, shares, workspace.cell_of, strict=True):
        if part is not None:
            weighed[grid.cells[cell][0]] += share * part.edges
            masses[grid.cells[cell][0]] += share
    with np.errstate(invalid="ignore"):
        return weighed / masses[:, None, None]


def _averaged(fitted: Fitted) -> Results:
    """Edges of a table with gaps: the averages of what was found given each completed table."""
    found, workspace = fitted.augmented, fitted.workspace
    assert found is not None
    verdict, engine = fitted.own_sample().diagnostics().verdict, fitted.method.ran_on(workspace)
    edges = one_way_at_most(found.edges)
    return Results(math.nan, edges, False, None, engine, verdict, found.shares, found.tables, found.edge_errors)


def _estimated(fitted: Fitted) -> Results:
    """Edges from a sample; the evidence, where weighted draws tell it."""
    method, workspace, sample = fitted.method, fitted.workspace, fitted.own_sample()
    asked = fitted.reason.startswith(AS_ASKED)
    if method.modularity is not None and not (asked and method.draws == "chains"):
        other = f"{setting('modularity', 'order')}, which counts a graph once for every order it fits,"
        hint = "" if method.draws == "chains" else f" With {other} they would be exact."
        if workspace.splitting_hint:
            hint += f" {workspace.splitting_hint}"
        warn(
            f"Edge probabilities are estimated from {len(sample):,} graphs ({method.name}), since exact sums would "
            f"take too long or too much memory.{hint}"
        )
    verdict = sample.diagnostics().verdict if method.draws == "chains" else None
    log_evidence, engine = math.nan, method.ran_on(workspace)
    mixed: tuple[float, ...] = (1.0,)
    if sample.chains is not None and sample.chains.edges is not None:
        # Better than frequencies: the exact probabilities given each state, averaged over the states.
        shares = np.array(sample.chains.lengths) / len(sample)
        edges = one_way_at_most(np.tensordot(shares, sample.chains.edges, axes=1))
    else:
        edges = sample.edge_frequencies().to_numpy()
    if isinstance(workspace, ExactWorkspace | JoinedWorkspace) and np.isfinite(sample.log_extensions).all():
        log_evidence = workspace.order_log_evidence + evidence_ratio(sample.log_extensions)[0]
    if isinstance(workspace, MixedWorkspace):
        mixed = tuple((workspace.shares_given(sample.parents) @ sample.weights).tolist())
    return Results(log_evidence, edges, False, None, engine, verdict, mixed)
