"""What was done with each column, as the file of a model says it, once it fits the columns of the model."""

from __future__ import annotations

from typing import Any

from dagpost.data.encoding import is_number
from dagpost.data.recipe import Recipe
from dagpost.data.recipe_steps import variable_steps
from dagpost.data.unrolled import Unrolling
from dagpost.errors import InputError


def recipe_in(about: dict[str, Any]) -> Recipe | None:
    """What was done with each column, as far as it is known. A recipe of other columns is a `ValueError`."""
    if about["observations"] is None:
        return None
    names, levels, described = tuple(map(str, about["names"])), levels_in(about), about.get("recipe")
    if described is None:
        return Recipe.of_levels(names, levels)
    try:
        recipe = Recipe.from_json(described)
    except InputError as error:
        # What to do about it is another matter in a file: the model has to be made again.
        raise ValueError(str(error).removesuffix(" Make the recipe again.")) from error
    used = variable_steps(recipe.steps_)
    if tuple(step.name for step in used) != names:
        raise ValueError("its recipe is of other variables")
    for step, own in zip(used, levels, strict=True):
        # A score that takes columns as they are may have been given bins; its recipe leaves numbers uncut. Levels that
        # are numbers may be anything in between, where gaps are completed by numbers.
        uncut = step.use == "number" and step.cuts is None
        if own is None and about.get("gaps") and all(map(is_number, step.levels or ())):
            continue
        bins = None if step.cuts is None else len(step.cuts) + 1 + (step.missing_code >= 0)
        if step.levels != (None if uncut else own) or bins not in (None, len(step.levels or ())):
            raise ValueError(f"its recipe has other levels of {step.name!r}")
    return recipe


def levels_in(about: dict[str, Any]) -> tuple[tuple[Any, ...] | None, ...]:
    """The levels of each column; None where it holds numbers, or they are not known."""
    return tuple(None if levels is None else tuple(levels) for levels in about["levels"])


def own_settings(settings: dict[str, Any], time: Unrolling | None) -> dict[str, Any]:
    """The settings that a person gave: what follows from time comes with the table."""
    brought = () if time is None else time.exogenous
    exogenous = [name for name in settings.get("exogenous", ()) if name not in brought]
    own = {name: value for name, value in settings.items() if name not in ("apart", "sinks", "beside")}
    return {**own, "exogenous": exogenous} if brought else own
