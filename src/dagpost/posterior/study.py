"""From a model's settings and a table to what a fit knows: each choice that is left to us is made once, in this order.

The table is read for the score, the rules are checked with it; regimes become exogenous columns with a prior and a
limit of their own. Then come the score, what the model behind it makes of the table, the prior, the method where cells
are to be completed, and the engine.

The settings of a model: checked before any work, and written down with its results.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from dagpost._tools.checks import one_of, seed_number, whole_number
from dagpost._tools.json_settings import to_json
from dagpost._tools.progress import reporter_for
from dagpost._tools.spelling import bare, either, quoted
from dagpost._version import __version__
from dagpost.data.gaps import (
    refuse_empty_columns,
    refuse_set_gaps,
    without_gaps,
    without_idle_gaps,
    without_unmodelled_gaps,
)
from dagpost.data.recipe import resolve_recipe
from dagpost.data.recipe_steps import names_of
from dagpost.data.regimes import Regimes, resolve_regimes
from dagpost.data.table import Table
from dagpost.engines import Engine
from dagpost.engines.registry import resolve_engine
from dagpost.errors import InputError
from dagpost.methods.augmentation import Augmentation
from dagpost.methods.base import Decided, Method
from dagpost.methods.choice import check_modularity, resolve_method
from dagpost.methods.targets import MODULARITIES
from dagpost.posterior.augmented_workspace import refuse_gaps_that_stay
from dagpost.posterior.augmenting import as_augmentation, refuse_slow_orders, runs_chains, settled
from dagpost.posterior.fitted import targets_of
from dagpost.posterior.prior_weights import Before
from dagpost.posterior.weighing import prior_left_to_us, work_of
from dagpost.priors import resolve_prior
from dagpost.priors.base import StructurePrior
from dagpost.priors.constraints import Constraints
from dagpost.priors.regimes import RegimePrior, target_probability
from dagpost.priors.resolve import is_automatic as is_automatic_prior
from dagpost.priors.study import Study
from dagpost.scores import Score, resolve_score, scores_filled, table_for
from dagpost.scores.automatic import BEST_SINGLE, automatic_score
from dagpost.scores.local_scores import MOST_PARENTS, parent_limit
from dagpost.scores.resolve import is_automatic

_ADDRESS = re.compile(r" at 0x[0-9A-Fa-f]+")


def check_settings(model: Any) -> None:
    """Refuse settings of a `DagPosterior` that no table can make right."""
    one_of(model.modularity, "modularity", MODULARITIES, "DagPosterior")
    parent_limit(model.max_parents, "DagPosterior")
    whole_number(model.samples, "samples", "DagPosterior")
    seed_number(model.seed)
    resolve_recipe(model.recipe, model.missing)
    resolve_regimes(model.regimes)
    reporter_for(model.progress)


def predicts_levels(model: Any) -> bool:
    """Scikit-learn asks whether a method is there at all: that of levels is not where there are none."""
    fitted = getattr(model, "fitted_", None)
    score = model.score if fitted is None or isinstance(fitted.score, str) else fitted.score
    numbers = fitted is not None and not isinstance(fitted.score, str) and not any(fitted.data.levels)
    if numbers or resolve_score(score).columns == "continuous":
        raise AttributeError("predict_proba is for discrete columns; with this score they are continuous.")
    return True


def with_input_tags(model: Any, tags: Any) -> Any:
    """What scikit-learn's tags say of the tables that a model takes, added to them."""
    try:
        discrete = resolve_score(model.score).columns == "discrete"
    except InputError:
        # Refused when the model is fitted.
        discrete = True
    tags.input_tags.categorical = tags.input_tags.string = discrete
    tags.input_tags.allow_nan = "refuse" not in (model.missing, model.recipe and resolve_recipe(model.recipe).missing)
    return tags


def described_settings(
    model: Any,
    constraints: Constraints,
    score: Score,
    prior: StructurePrior,
    beside: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """The settings of a `DagPosterior` as they are now, with the score and prior that were settled on, for JSON.

    `beside` names the columns of the data that hold counts and interventions.
    """
    tiers: Any = constraints.tiers
    regimes = resolve_regimes(model.regimes)
    return {
        "score": to_json(score),
        "prior": to_json(prior),
        "modularity": model.modularity,
        "max_parents": int(model.max_parents),
        "method": model.method.to_json() if isinstance(model.method, Method) else str(model.method),
        "samples": int(model.samples),
        "required": [list(edge) for edge in constraints.required],
        "forbidden": [list(edge) for edge in constraints.forbidden],
        "tiers": tiers and [list(tier) for tier in tiers],
        "exogenous": list(constraints.exogenous),
        **{name: list(own) for name in ("apart", "sinks") if (own := getattr(constraints, name))},
        **({} if regimes is None else {"regimes": regimes.to_json()}),
        "seed": None if model.seed is None else int(model.seed),
        "recipe": None if model.recipe is None else resolve_recipe(model.recipe).to_json(),
        "missing": model.missing,
        **({"beside": dict(beside)} if beside else {}),
    }


def identity_of(fingerprint: str, settings: dict[str, Any], **asked: Any) -> dict[str, Any]:
    """What a checkpoint belongs to: a call with all that its result depends on."""
    # The repr of a user's object may hold its address in memory, which says nothing.
    lasting = {name: _ADDRESS.sub("", value) if isinstance(value, str) else value for name, value in settings.items()}
    return {"dagpost": __version__, "data": fingerprint, **lasting, **asked}


def refuse_left_out(constraints: Constraints, in_prior: tuple[str, ...], table: Table) -> None:
    """Refuse rules and priors about columns that are in the data and not in the table, and say why they are not."""
    left_out = {} if table.recipe is None else {s.name: s.why for s in table.recipe.steps_ if not s.used}
    named = {
        "required": [name for edge in constraints.required for name in edge],
        "forbidden": [name for edge in constraints.forbidden for name in edge],
        "tiers": [name for tier in constraints.tiers or () for name in tier],
        "exogenous": list(constraints.exogenous),
        "prior": list(in_prior),
    }
    regimes = [] if table.recipe is None else [step.name for step in table.recipe.steps_ if step.use == "regimes"]
    for where, names in named.items():
        for name in names:
            if name in regimes:
                raise InputError(
                    f"{quoted(where)} names the column {name!r}, which names the regimes: each has an indicator, "
                    f"such as {table.regimes[0]!r}, and these are exogenous already. Take it out of {bare(where)}."
                )
            if name in left_out:
                raise InputError(
                    f"{quoted(where)} names the column {name!r}, which was left out ({left_out[name]}). Keep it, "
                    f"{either(f'recipe=Recipe(keep=[{name!r}])', f'--keep {name}')}, or take it out of {bare(where)}."
                )


def refuse_set_exogenous(constraints: Constraints, table: Table) -> None:
    """Refuse interventions on columns that are not modelled: they leave rows out of scores that are not there."""
    for name in dict.fromkeys(name for own in targets_of(table) for name in own):
        if name in list(constraints.exogenous):
            raise InputError(
                f"{quoted('interventions')} says that {name!r} was set from outside in some rows, and {name!r} is "
                "exogenous: it is not modelled, so that setting it changes nothing. Leave these entries of "
                f"{bare('interventions')} empty, or take the column out of {bare('exogenous')}."
            )


def decide(model: Any, table: Table) -> Decided:
    """All that is settled before any family is scored; the method is `Augmentation` where cells are to be completed."""
    method = checked_method(model)
    if method is not None:
        method.check_names(table.names)
    study = study_of_table(model, method, table)
    if study.table.gap_count:
        table.refuse_other_than(study.score.columns)
        asked = as_augmentation(method, study.table)
        method = settled(asked, model.modularity, study)
        refuse_slow_orders(asked, method, study)
        if not method.exact_given_table and is_automatic(model.score) and study.score.mixture() is not None:
            study = study._replace(score=BEST_SINGLE)
    engine = settled_engine(model, method, study.constraints, table.names, study.max_parents)
    return Decided(method, model.modularity, study, engine)


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
        study = study._replace(score=score_left_to_us(study, method, model.modularity))
    study = modelled(study._replace(score=study.score.for_table(table)))
    refuse_gaps_that_stay(study)
    if is_automatic_prior(model.prior):
        sizes, may = len(scores_filled(study.score)), not study.table.gap_count
        before = Before.of_study(study)
        study = study._replace(prior=prior_left_to_us(before, method, model.modularity, sizes, may_average=may))
    return study


def score_left_to_us(study: Study, method: Method | None, modularity: str) -> Score:
    """The score that suits the table, for this method and the work that it has."""
    table = study.table
    return automatic_score(
        table,
        work_of(method, modularity, study.constraints, table.names, study.max_parents),
        mixes=method is None or method.mixes,
        draws=runs_chains(method, modularity, len(table.names)),
        needs_gaps=isinstance(method, Augmentation),
    )


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
