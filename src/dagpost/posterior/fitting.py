"""From a model's settings and a table, or scores, to the `Fitted` record; and from that to samples.

A fit computes what was asked for: a method that needs no sums over all graphs, such as DDS, gets none before somebody
looks at the edges. With a checkpoint everything is computed at once, so that a kill loses nothing.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from dagpost._tools.checks import refusal, seed_number, whole_number
from dagpost._tools.json_settings import from_json
from dagpost._tools.progress import reporter_for
from dagpost._tools.schema import described_method
from dagpost._tools.spelling import setting
from dagpost._tools.text import shown
from dagpost.checkpoints import NO_CHECKPOINT, Checkpoint
from dagpost.checkpoints.folder import digest_of
from dagpost.data.recipe_words import notice_of_gaps
from dagpost.data.table import Table
from dagpost.engines.host.backend import backend_of
from dagpost.errors import InputError, collected_warnings, warn
from dagpost.exact.order import check_weights
from dagpost.methods.augmentation import Augmentation
from dagpost.methods.base import Method
from dagpost.methods.block_gibbs import BlockGibbs
from dagpost.methods.choice import AS_ASKED, check_averaging, choose_method, resolve_method
from dagpost.methods.dds import DDS
from dagpost.methods.exact_layers import ExactLayers
from dagpost.methods.registry import METHODS
from dagpost.posterior.augmenting import augmented, reason_for, require_gaps
from dagpost.posterior.component_workspace import divided
from dagpost.posterior.estimate import hoeffding_draws
from dagpost.posterior.exact_workspace import ExactWorkspace
from dagpost.posterior.fitted import JOINED_BEFORE, DataFacts, Fitted
from dagpost.posterior.prior_weights import Before
from dagpost.posterior.sample import DagSample
from dagpost.posterior.study import (
    check_settings,
    checked_method,
    decide,
    described_settings,
    identity_of,
    rules_of,
    settled_engine,
    table_of,
)
from dagpost.posterior.weighing import goes_by_components, over_densities, weigh_families
from dagpost.posterior.workspace import Workspace
from dagpost.priors import UniformPrior, log_prior, resolve_prior
from dagpost.priors.resolve import is_automatic as is_automatic_prior
from dagpost.scores import LocalScores, resolve_score
from dagpost.scores.automatic import notice_of_choice
from dagpost.scores.resolve import is_automatic

if TYPE_CHECKING:
    from dagpost.posterior.plan import Plan

#: What stands in the place of a score where a model was made from scores.
_GIVEN_SCORES = "given scores"


def plan_of(model: Any, data: Any, counts: Any, interventions: Any) -> Plan:
    """What a fit would take."""
    from dagpost.posterior.plan import plan_fit

    check_settings(model)
    with collected_warnings():  # they come with the fit
        table = table_of(model, data, counts, interventions)
    return plan_fit(decide(model, table), model.samples)


def fit_table(model: Any, table: Table, checkpoint: Checkpoint | None) -> Fitted:
    """Compute the posterior of a table with the settings of a model."""
    decided = decide(model, table)
    method, _, study, engine = decided
    if is_automatic(model.score) and (said := notice_of_choice(study.score, table)):
        warn(said)
    chains = method if isinstance(method, Augmentation) else None
    if chains is not None:
        require_gaps(chains, study.table)
        if table.gap_count:
            notify_of_gaps(model, table)
    data = DataFacts.of_table(table)
    settings = described_settings(model, study.constraints, study.score, study.prior.chosen, table.beside)
    where = backend_of(engine) if chains is None else engine.tasks
    with checked_checkpoint(checkpoint).task("fit", identity_of(data.fingerprint, settings, engine=where.name)) as kept:
        reporter = reporter_for(model.progress)
        workspace: Workspace
        if chains is not None:
            workspace = augmented(chains, model.modularity, study, engine, reporter)
        else:
            workspace = weigh_families(decided, reporter, checkpoint=kept)
        with workspace.checkpointed(kept):
            if method is not None:
                method.at_fit(study, workspace, model.seed)
            reason = "" if chains is None else reason_for(chains, study)
            everything = checkpoint is not None
            before = Before.of_study(study)
            fitted = _settled(method, reason, settings, data, study.score, workspace, table, before, everything)
    fitted.remember("prior", study.prior.chosen)
    return fitted


def notify_of_gaps(model: Any, table: Table) -> None:
    """Say that gaps are completed; whoever asked for it knows."""
    if model.missing is None:
        warn(notice_of_gaps(table))


def fit_scores(model: Any, scores: LocalScores, checkpoint: Checkpoint | None) -> Fitted:
    """The same from local scores that come from elsewhere."""
    method, constraints = checked_method(model), rules_of(model)
    if not isinstance(scores, LocalScores):
        raise InputError(
            f"Scores are a LocalScores, as local_scores and read_jkl give it. Got {shown(scores)} instead."
        )
    scores = scores.up_to(model.max_parents)
    names = scores.names
    if method is not None:
        if method.needs_rows:
            raise InputError(f"The method {method.name!r} needs rows, and scores have none. Use fit(table).")
        method.check_names(names)
    # Of scores from elsewhere nobody knows on which scale they are: nothing is added to them unasked.
    prior = UniformPrior() if is_automatic_prior(model.prior) else resolve_prior(model.prior)
    chosen, prior = prior, prior.settled(names, constraints.matrices(names, scores.max_parents)[1])
    log_weights = scores.values + log_prior(names, scores.max_parents, prior, constraints)
    constraints.leave_unmodelled(names, log_weights)
    check_weights(log_weights, scores.max_parents, names)
    engine = settled_engine(model, method, constraints, names, scores.max_parents)
    reporter = reporter_for(model.progress)
    exact = ExactWorkspace(log_weights, scores.max_parents, engine, reporter)
    workspace: Workspace = divided(exact) if goes_by_components(method, model.modularity) else exact
    if method is None and workspace.by_components and not workspace.structure_is_affordable():
        # Chains walk over the whole table.
        workspace = exact
    before = Before(names, prior, constraints, scores.max_parents)
    if before.mixture is not None:
        check_averaging([before.mixture], method, len(names), scores.max_parents, engine)
        workspace = over_densities(method, model.modularity, before, None, workspace.parts, engine, reporter)
    fingerprint = hashlib.sha256(repr(names).encode() + scores.values.tobytes()).hexdigest()
    data = DataFacts(names, (None,) * len(names), None, fingerprint)
    settings = {**described_settings(model, constraints, resolve_score(model.score), chosen), "score": _GIVEN_SCORES}
    identity = identity_of(fingerprint, settings, engine=backend_of(engine).name)
    with checked_checkpoint(checkpoint).task("fit", identity) as kept, workspace.checkpointed(kept):
        everything = checkpoint is not None
        return _settled(method, "", settings, data, _GIVEN_SCORES, workspace, None, before, everything)


def _settled(
    method: Method | None,
    reason: str,
    settings: Mapping[str, Any],
    data: DataFacts,
    score: Any,
    workspace: Workspace,
    table: Table | None,
    before: Before,
    everything: bool,
) -> Fitted:
    """Settle the method; what was once chosen holds for a run that resumes after a kill."""

    def choose() -> list[Any]:
        chosen, reason = choose_method(None, settings["modularity"], workspace)
        return [chosen.to_json(), reason]

    chosen = method
    if chosen is None:
        described, reason = workspace.checkpoint.decided("method", choose, described_method)
        chosen = resolve_method(from_json(described, METHODS))
        assert chosen is not None
    reason = str(reason or AS_ASKED)
    if isinstance(chosen, BlockGibbs):
        reason += f"; {workspace.considered.describe()}"
    elif not workspace.parts and not (isinstance(chosen, Augmentation) and chosen.exact_given_table):
        reason += f"; parents considered: {workspace.considered_words}"
    fitted = Fitted(data, settings, score, chosen, reason, workspace, table)
    if method is None or chosen.edges_at_fit or everything:
        # Computed now, and remembered; chains that complete a table run now.
        _ = fitted.results
    if chosen.modularity is not None:
        fitted.remember(JOINED_BEFORE, before.joined(fitted.modularity, workspace.engine))
    return fitted


def draw_sample(
    fitted: Fitted,
    count: int | None,
    precision: float | None,
    confidence: float,
    seed: int | None,
    resume: DagSample | None,
    checkpoint: Checkpoint | None,
) -> DagSample:
    """Draw as many graphs as are asked for, or as a precision takes."""
    method, guarantee = fitted.method, None
    if precision is not None:
        _check_guarantee(method, count)
        count, guarantee = hoeffding_draws(precision, confidence), (precision, confidence)
    count = whole_number(fitted.usual_count if count is None else count, "count")
    seed = seed_number(seed)
    if resume is not None and (method.draws != "chains" or seed is not None):
        raise InputError("Only chains can be resumed, and with the seed that they began with: give no other.")
    if resume is not None and not isinstance(resume, DagSample):
        raise InputError(f"Chains resume from a whole sample of chains, not from {resume!r} or a part of one.")
    if checkpoint is not None and fitted.condition is not None and fitted.condition.drawn:
        raise InputError(
            f"A checkpoint keeps samples of models whose weights know the condition; graphs that have "
            f"{fitted.condition.words} are picked from those drawn. Draw them without a checkpoint."
        )
    identity = identity_of(
        fitted.data.fingerprint,
        {**fitted.settings, "method": method.to_json(), "seed": seed, **_given(fitted)},
        engine=fitted.workspace.backend.name,
        graphs=count,
        resumed_from=None if resume is None else digest_of([resume.parents, resume.log_joint]),
    )
    with checked_checkpoint(checkpoint).task("sample", identity) as kept, fitted.workspace.checkpointed(kept):
        sample = fitted.draw(count, seed, guarantee=guarantee, resume=resume)
        if checkpoint is not None:
            # Sums that the file will hold are made where a kill does not lose them.
            _ = sample.log_evidence
        return sample


def _given(fitted: Fitted) -> dict[str, Any]:
    """What a run is given, which is another one without it."""
    condition = fitted.condition
    return {} if condition is None else {"given": list(condition.statements), "given_setting": dict(condition.setting)}


def _check_guarantee(method: Method, count: int | None) -> None:
    if count is not None:
        raise InputError("Ask for a number of graphs or for a precision, not for both.")
    if not method.guarantees_precision:
        why = "resemble each other" if method.draws == "chains" else "are not independent draws of equal weight"
        raise InputError(
            f"The graphs of {method.name!r} {why}, so no number of them guarantees a precision. Ask for a number, or "
            f"use {setting('method', ExactLayers.name)}, for some 24 variables at most; {setting('method', DDS.name)} "
            f"with {setting('modularity', 'order')} goes further, but counts a graph once for every order it fits."
        )


def checked_checkpoint(checkpoint: Any) -> Checkpoint:
    """The checkpoint of a run, or that of a run without one."""
    if checkpoint is None:
        return NO_CHECKPOINT
    if isinstance(checkpoint, Checkpoint):
        return checkpoint
    hint = f"Make one: Checkpoint({shown(str(checkpoint))})." if isinstance(checkpoint, str | os.PathLike) else ""
    raise refusal(checkpoint, "checkpoint", None, "a Checkpoint, or None", hint)
