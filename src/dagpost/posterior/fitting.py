"""From a model's settings and a table, or scores, to the `Fitted` record; and from that to samples.

A fit computes what was asked for: a method that needs no sums over all graphs, such as DDS, gets none before somebody
looks at the edges. With a checkpoint everything is computed at once, so that a kill loses nothing.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from dagpost._tools.checks import refusal, seed_number, whole_number
from dagpost._tools.json_settings import from_json
from dagpost._tools.progress import reporter_for
from dagpost._tools.schema import described_method
from dagpost._tools.spelling import setting
from dagpost._tools.text import shown
from dagpost.checkpoints import NO_CHECKPOINT, Checkpoint
from dagpost.checkpoints.folder import digest_of
from dagpost.data.gaps import (
    refuse_empty_columns,
    refuse_set_gaps,
    without_gaps,
    without_idle_gaps,
    without_unmodelled_gaps,
)
from dagpost.data.recipe import resolve_recipe
from dagpost.data.recipe_settings import names_of
from dagpost.data.recipe_words import notice_of_gaps
from dagpost.data.regimes import resolve_regimes
from dagpost.data.table import Table
from dagpost.engines import Engine
from dagpost.engines.host.backend import backend_of
from dagpost.engines.registry import resolve_engine
from dagpost.errors import InputError, collected_warnings, warn
from dagpost.exact.order import check_weights
from dagpost.methods.augmentation import Augmentation
from dagpost.methods.base import Method, Study
from dagpost.methods.block_gibbs import BlockGibbs
from dagpost.methods.choice import check_averaging, check_modularity, choose_method, resolve_method
from dagpost.methods.dds import DDS
from dagpost.methods.exact_layers import ExactLayers
from dagpost.methods.registry import METHODS
from dagpost.posterior.augmented_workspace import refuse_gaps_that_stay
from dagpost.posterior.augmenting import (
    as_augmentation,
    augmented,
    reason_for,
    refuse_slow_orders,
    require_gaps,
    runs_chains,
    settled,
)
from dagpost.posterior.component_workspace import divided
from dagpost.posterior.estimate import hoeffding_draws
from dagpost.posterior.exact_workspace import ExactWorkspace
from dagpost.posterior.fitted import JOINED_BEFORE, DataFacts, Fitted
from dagpost.posterior.modelled import modelled
from dagpost.posterior.prior_weights import Before
from dagpost.posterior.regime_rules import with_regimes
from dagpost.posterior.sample import DagSample
from dagpost.posterior.settings import (
    check_settings,
    described_settings,
    identity_of,
    refuse_left_out,
    refuse_set_exogenous,
)
from dagpost.posterior.weighing import (
    goes_by_components,
    over_densities,
    prior_left_to_us,
    weigh_families,
    work_of,
)
from dagpost.posterior.workspace import Workspace
from dagpost.priors import UniformPrior, log_prior, resolve_prior
from dagpost.priors.constraints import Constraints
from dagpost.priors.resolve import is_automatic as is_automatic_prior
from dagpost.scores import LocalScores, resolve_score, scores_filled, table_for
from dagpost.scores.automatic import automatic_score, notice_of_choice, score_of_columns
from dagpost.scores.resolve import is_automatic

if TYPE_CHECKING:
    from dagpost.posterior.plan import Plan

#: What stands in the place of a score where a model was made from scores.
_GIVEN_SCORES = "given scores"


def checked_method(model: Any) -> Method | None:
    """The method of a model, once no setting is wrong."""
    check_settings(model)
    method = resolve_method(model.method)
    check_modularity(method, model.modularity)
    return method


def rules_of(model: Any, table: Table | None = None) -> Constraints:
    """The rules of a model for its edges, with the exogenous columns that its table's recipe names and time brings."""
    own = Constraints(model.required, model.forbidden, model.tiers, model.exogenous)
    if table is None:
        return own
    if table.recipe is not None and table.recipe.exogenous:
        own = replace(own, exogenous=[*own.exogenous, *names_of("exogenous", table.recipe.exogenous)])
    refuse_left_out(own, resolve_prior(model.prior).columns, table)
    refuse_set_gaps(table)
    refuse_set_exogenous(own, table)
    if table.time is not None:
        earlier = [name for name in table.time.exogenous if name in table.names]
        present = () if table.time.contemporaneous else [name for name in table.time.series if name in table.names]
        own = replace(own, exogenous=[*own.exogenous, *earlier], apart=present)
    refuse_empty_columns(table)
    return own


def table_of(model: Any, data: Any, counts: Any, interventions: Any) -> Table:
    """The table that a model is fitted to: whatever `as_table` takes, read by the model's recipe, for its score."""
    if isinstance(data, Table) and model.missing is not None:
        data = without_gaps(data, resolve_recipe(None, model.missing).missing)
    recipe = None
    if model.recipe is not None or (model.missing is not None and not isinstance(data, Table)):
        recipe = resolve_recipe(model.recipe, model.missing)
    regimes = resolve_regimes(model.regimes)
    table = table_for(model.score, data, counts=counts, interventions=interventions, recipe=recipe, regimes=regimes)
    table = without_idle_gaps(table)
    return without_unmodelled_gaps(table, _exogenous_of(model, table)) if table.gap_count else table


def _exogenous_of(model: Any, table: Table) -> list[str]:
    """The columns that are not modelled: by the model's setting, by the table's recipe, or because of time."""
    by_recipe = () if table.recipe is None else names_of("exogenous", table.recipe.exogenous)
    by_time = () if table.time is None else table.time.exogenous
    return [*Constraints(exogenous=model.exogenous).exogenous, *by_recipe, *by_time]


def plan_of(model: Any, data: Any, counts: Any, interventions: Any) -> Plan:
    """What a fit would take."""
    from dagpost.posterior.plan import plan_fit

    method = checked_method(model)
    with collected_warnings():  # they come with the fit
        table = table_of(model, data, counts, interventions)
    study, engine = study_of(model, method, table)
    return plan_fit(method, model.modularity, study, model.samples, engine)


def settled_engine(
    model: Any, method: Method | None, constraints: Constraints, names: tuple[str, ...], max_parents: int
) -> Engine:
    """The engine of a model; where the choice is left to us, the one for the most columns that are summed together."""
    work = work_of(method, model.modularity, constraints, names, max_parents)
    return resolve_engine(model.engine, model.threads, max(work.groups))


def study_of(model: Any, method: Method | None, table: Table) -> tuple[Study, Engine]:
    """What a fit knows beside the weights of the families, and where it runs."""
    study = study_of_table(model, method, table)
    return study, settled_engine(model, method, study.constraints, table.names, study.max_parents)


def study_of_table(model: Any, method: Method | None, table: Table) -> Study:
    """What a fit knows beside the weights of the families.

    A score and a prior that are left to us are those for this method and the work that it has. The table is the one
    that the score is about (`Score.modelled`).
    """
    prior, rules = resolve_prior(model.prior), rules_of(model, table)
    study = with_regimes(model, Study(table, resolve_score(model.score), prior, rules, model.max_parents))
    if is_automatic(model.score):
        score = score_of_columns(table, completes=runs_chains(method, model.modularity, len(table.names)))
        if score is None:
            work = work_of(method, model.modularity, study.constraints, table.names, study.max_parents)
            score = automatic_score(work.groups, work.families, mixes=method is None or method.mixes)
        study = study._replace(score=score)
    study = modelled(study._replace(score=study.score.for_table(table)))
    refuse_gaps_that_stay(study)
    if is_automatic_prior(model.prior):
        sizes, may = len(scores_filled(study.score)), not study.table.gap_count
        before = Before.of_study(study)
        study = study._replace(prior=prior_left_to_us(before, method, model.modularity, sizes, may_average=may))
    return study


def fit_table(model: Any, table: Table, checkpoint: Checkpoint | None) -> Fitted:
    """Compute the posterior of a table with the settings of a model."""
    method = checked_method(model)
    if method is not None:
        method.check_names(table.names)
    # A score that is left to us depends on the method; one that is given says what it makes of the table.
    method = as_augmentation(method, table) if table.gap_count and is_automatic(model.score) else method
    study, engine = study_of(model, method, table)
    if is_automatic(model.score) and (said := notice_of_choice(study.score, table)):
        warn(said)
    if isinstance(method, Augmentation):
        require_gaps(method, study.table)
    if study.table.gap_count:
        chains = as_augmentation(method, study.table)
        return _fit_with_gaps(model, chains, table, study, engine, checkpoint)
    data = DataFacts.of_table(table)
    settings = described_settings(model, study.constraints, study.score, study.prior.chosen, table.beside)
    identity = identity_of(data.fingerprint, settings, engine=backend_of(engine).name)
    with checked_checkpoint(checkpoint).task("fit", identity) as kept:
        reporter = reporter_for(model.progress)
        workspace = weigh_families(method, model.modularity, study, engine, reporter, checkpoint=kept)
        with workspace.checkpointed(kept):
            if method is not None:
                method.at_fit(study, workspace, model.seed)
            fitted = _settled(method, settings, data, study.score, workspace, table, everything=checkpoint is not None)
    return _with_prior(fitted, study, engine)


def _with_prior(fitted: Fitted, study: Study, engine: Engine) -> Fitted:
    """What was believed before the data; an object of the user's own cannot be made again from the settings."""
    fitted.remember("prior", study.prior.chosen)
    if fitted.method.modularity is not None:
        fitted.remember(JOINED_BEFORE, Before.of_study(study).joined(fitted.modularity, engine))
    return fitted


def _fit_with_gaps(
    model: Any, method: Augmentation, table: Table, study: Study, engine: Engine, checkpoint: Checkpoint | None
) -> Fitted:
    """Complete a table with gaps in chains, and average the posteriors of the completed ones."""
    table.refuse_other_than(study.score.columns)
    asked, method = method, settled(method, model.modularity, study)
    refuse_slow_orders(asked, method, study)
    if table.gap_count:
        notify_of_gaps(model, table)
    if not method.exact_given_table and is_automatic(model.score) and study.score.mixture() is not None:
        study = study._replace(score=automatic_score((len(table.names),), 0, mixes=False))
    data = DataFacts.of_table(table)
    settings = described_settings(model, study.constraints, study.score, study.prior.chosen, table.beside)
    identity = identity_of(data.fingerprint, settings, engine=engine.tasks.name)
    with checked_checkpoint(checkpoint).task("fit", identity) as kept:
        workspace = augmented(method, model.modularity, study, engine, reporter_for(model.progress))
        with workspace.checkpointed(kept):
            reason = reason_for(method, study)
            if not method.exact_given_table:
                reason += f"; parents considered: {workspace.considered_words}"
            fitted = Fitted(data, settings, study.score, method, reason, workspace, table)
            # The chains run now.
            _ = fitted.results
    return _with_prior(fitted, study, engine)


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
        fitted = _settled(method, settings, data, _GIVEN_SCORES, workspace, None, everything=everything)
    if fitted.method.modularity is not None:
        fitted.remember(JOINED_BEFORE, before.joined(fitted.modularity, engine))
    return fitted


def _settled(
    method: Method | None,
    settings: Mapping[str, Any],
    data: DataFacts,
    score: Any,
    workspace: Workspace,
    table: Table | None,
    *,
    everything: bool,
) -> Fitted:
    """Settle the method; what was once chosen holds for a run that resumes after a kill."""

    def choose() -> list[Any]:
        chosen, reason = choose_method(method, settings["modularity"], workspace)
        return [chosen.to_json(), reason]

    if method is None:
        described, reason = workspace.checkpoint.decided("method", choose, described_method)
        chosen = resolve_method(from_json(described, METHODS))
        assert chosen is not None
    else:
        chosen, reason = choose_method(method, settings["modularity"], workspace)
    if isinstance(chosen, BlockGibbs):
        reason += f"; {workspace.considered.describe()}"
    elif not workspace.parts:
        reason += f"; parents considered: {workspace.considered_words}"
    fitted = Fitted(data, settings, score, chosen, str(reason), workspace, table)
    if method is None or chosen.edges_at_fit or everything:
        # Computed now, and remembered.
        _ = fitted.results
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
