"""The settings of a model: checked before any work, and written down with its results."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from dagpost._tools.checks import one_of, seed_number, whole_number
from dagpost._tools.json_settings import to_json
from dagpost._tools.progress import reporter_for
from dagpost._tools.spelling import bare, either, quoted
from dagpost._version import __version__
from dagpost.data.regimes import resolve_regimes
from dagpost.data.table import Table
from dagpost.errors import InputError
from dagpost.methods.base import Method
from dagpost.methods.targets import MODULARITIES
from dagpost.posterior.fitted import targets_of
from dagpost.priors.base import StructurePrior
from dagpost.priors.constraints import Constraints
from dagpost.scores import Score, resolve_score
from dagpost.scores.local_scores import parent_limit

_ADDRESS = re.compile(r" at 0x[0-9A-Fa-f]+")


def check_settings(model: Any) -> None:
    """Refuse settings of a `DagPosterior` that no table can make right."""
    from dagpost.data.recipe import resolve_recipe

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
    if resolve_score(score).columns == "continuous":
        raise AttributeError("predict_proba is for discrete columns; with this score they are continuous.")
    return True


def with_input_tags(model: Any, tags: Any) -> Any:
    """What scikit-learn's tags say of the tables that a model takes, added to them."""
    from dagpost.data.recipe import resolve_recipe

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
    from dagpost.data.recipe import resolve_recipe

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
