"""From a model's settings and a table to what a fit knows: each choice that is left to us is made once, in this order.

The table is read for the score, the rules are checked with it; regimes become exogenous columns with a prior and a
limit of their own. Then come the score, what the model behind it makes of the table, the prior, the method where cells
are to be completed, and the engine.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

from dagpost._tools.checks import whole_number
from dagpost._tools.spelling import bare, either
from dagpost.data.gaps import (
    refuse_empty_columns,
    refuse_set_gaps,
    without_gaps,
    without_idle_gaps,
    without_unmodelled_gaps,
)
from dagpost.data.recipe import resolve_recipe
from dagpost.data.recipe_settings import names_of
from dagpost.data.regimes import Regimes, resolve_regimes
from dagpost.data.table import Table
from dagpost.engines import Engine
from dagpost.engines.registry import resolve_engine
from dagpost.errors import InputError
from dagpost.methods.augmentation import Augmentation
from dagpost.methods.base import Method, Study
from dagpost.methods.choice import check_modularity, resolve_method
from dagpost.posterior.augmented_workspace import refuse_gaps_that_stay
from dagpost.posterior.augmenting import as_augmentation, refuse_slow_orders, require_gaps, runs_chains, settled
from dagpost.posterior.prior_weights import Before
from dagpost.posterior.settings import check_settings, refuse_left_out, refuse_set_exogenous
from dagpost.posterior.weighing import prior_left_to_us, work_of
from dagpost.priors import resolve_prior
from dagpost.priors.constraints import Constraints
from dagpost.priors.regimes import RegimePrior, target_probability
from dagpost.priors.resolve import is_automatic as is_automatic_prior
from dagpost.scores import resolve_score, scores_filled, table_for
from dagpost.scores.automatic import automatic_score, score_of_columns
from dagpost.scores.local_scores import MOST_PARENTS
from dagpost.scores.resolve import is_automatic


class Decided(NamedTuple):
    """What a fit does: by which method (None: it depends on the weights), with what knowledge, and where."""

    method: Method | None
    study: Study
    engine: Engine


def decide(model: Any, table: Table) -> Decided:
    """All that is settled before any family is scored; the method is `Augmentation` where cells are to be completed."""
    method = checked_method(model)
    if method is not None:
        method.check_names(table.names)
    study = study_of_table(model, method, table)
    if isinstance(method, Augmentation):
        require_gaps(method, study.table)
    if study.table.gap_count:
        table.refuse_other_than(study.score.columns)
        asked = as_augmentation(method, study.table)
        method = settled(asked, model.modularity, study)
        refuse_slow_orders(asked, method, study)
        if not method.exact_given_table and is_automatic(model.score) and study.score.mixture() is not None:
            study = study._replace(score=automatic_score((len(table.names),), 0, mixes=False))
    return Decided(method, study, settled_engine(model, method, study.constraints, table.names, study.max_parents))


def checked_method(model: Any) -> Method | None:
    """The method of a model, once no setting is wrong."""
    check_settings(model)
    method = resolve_method(model.method)
    check_modularity(method, model.modularity)
    return method


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


def with_regimes(model: Any, study: Study) -> Study:
    """What a fit knows, once its table has indicators of regimes: as it is, where there are none."""
    table = study.table
    if not table.regimes:
        return study
    # A table with indicators of its own says so itself; what is believed of them is the usual.
    regimes = resolve_regimes(model.regimes) or Regimes(table.regimes[0].partition("=")[0])
    rules = replace(study.constraints, exogenous=tuple(dict.fromkeys((*study.constraints.exogenous, *table.regimes))))
    variables = len(table.names) - len(tuple(rules.exogenous))
    if variables < 1:
        raise InputError(f"No variable is left to be modelled. Take a column out of {bare('exogenous')}.")
    ordinary = min(int(model.max_parents), len(table.names) - len(table.regimes) - 1)
    most = _most_regimes(regimes, len(table.regimes), ordinary)
    probability = target_probability(regimes.expected_targets, variables)
    prior = RegimePrior(study.prior, len(table.regimes), probability, ordinary, most)
    table = replace(table, limits=(ordinary, most))
    return Study(table, study.score, prior, rules, ordinary + most)


def _most_regimes(regimes: Regimes, count: int, max_parents: int) -> int:
    """By how many regimes one variable may be changed."""
    room = MOST_PARENTS - max_parents
    if regimes.max_regimes is None:
        most = min(count, room)
    else:
        most = min(whole_number(regimes.max_regimes, "max_regimes", "Regimes"), count)
    if not 1 <= most <= room:
        wanted = f" and {most} regimes" if most else ""
        raise InputError(
            f"A variable has at most {MOST_PARENTS} parents of both kinds, and {max_parents} ordinary ones{wanted} are "
            f"asked for. Lower {bare('max_parents')} or {either('max_regimes', '--max-regimes')}."
        )
    return most


def modelled(study: Study) -> Study:
    """The study of the table that its score is about (`Score.modelled`), with the edges that its model does not have.

    For most scores that is the table itself, and all edges. Where columns are images of latent numbers it is the table
    of these, with gaps where they are not known. What the prior says of one direction may depend on whether the other
    is left.
    """
    rules = replace(study.constraints, sinks=study.score.sinks(study.table))
    table = study.score.modelled(study.table, tuple(rules.exogenous))
    _, barred = rules.matrices(table.names, study.max_parents)
    return study._replace(constraints=rules, table=table, prior=study.prior.settled(table.names, barred))


def settled_engine(
    model: Any, method: Method | None, constraints: Constraints, names: tuple[str, ...], max_parents: int
) -> Engine:
    """The engine of a model; where the choice is left to us, the one for the most columns that are summed together."""
    work = work_of(method, model.modularity, constraints, names, max_parents)
    return resolve_engine(model.engine, model.threads, max(work.groups))
