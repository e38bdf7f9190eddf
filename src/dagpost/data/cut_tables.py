"""Tables whose numbers are cut into levels as their recipes say: where a score needs levels, or somebody asks for it.

Cuts are found from the numbers of a table (cutting.py) and kept in its recipe, which it must have (`with_recipe`);
numbers that were cut stay beside their bins. Of a censored number, such as "<0.05", a bin is known only if it holds all
that the number may be.

The same numbers in another number of bins: how many there are is a choice, and a result may hang on it.

Only columns that a rule cut are cut otherwise; points that a user gave are a decision, not a choice of ours.
"""

from __future__ import annotations

import copy
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dagpost.data import recipe_words as words
from dagpost.data.encoding import code_type
from dagpost.data.recipe_steps import Rule, Step
from dagpost.data.table import Table
from dagpost.data.time_columns import cut_alike, series_and_lag
from dagpost.errors import warn

if TYPE_CHECKING:
    from dagpost.data.recipe import Recipe


def cut_where_asked(table: Table) -> Table:
    """The table with the columns of numbers cut that its recipe says are to be; gaps that are a level need levels."""
    recipe = table.recipe
    assert recipe is not None
    asked = recipe.cut_rules()
    level = table.with_gap_levels()
    names = [name for name in table.names if recipe.cuts_all or name in level or series_and_lag(name)[0] in asked]
    return cut_numbers(table, [*names, *asked])


def cut_numbers(
    table: Table, names: Collection[str] | None = None, *, notify: bool = False, bins: int | None = None
) -> Table:
    """The table with columns of numbers, all or some, cut as its recipe says; the recipe keeps the cuts.

    `bins` is how many those get of which the recipe says nothing.
    With `notify`, a notice says how columns were cut that nobody had decided about.
    """
    if table.discrete:
        return table
    recipe = table.recipe
    assert recipe is not None
    own, decided, usual = recipe.cut_rules(), [], recipe.usual_rule
    if bins is not None and not recipe.cuts_all:
        usual = usual._replace(bins=bins)
    steps = {step.name: step for step in recipe.steps_}
    for place, (name, column, levels) in enumerate(zip(table.names, table.columns, table.levels, strict=True)):
        if levels is None and steps[name].cuts is None and (names is None or name in names):
            step, bounds = steps[name], _bounds(table, place)
            alike = None if table.time is None else cut_alike(step, column, bounds, steps)
            rule = own.get(name, usual)
            steps[name] = _with_level(alike or step.cut(column, table.counts, rule, bounds), table)
            decided += [] if name in own or alike else [steps[name]]
    if notify and (said := words.notice_of_cuts(decided)):
        warn(said)
    return apply_cuts(replace(table, recipe=_with_steps(recipe, steps)))


def cut_columns(table: Table, numbers: Mapping[str, Any], rules: Mapping[str, Rule]) -> Table:
    """The table with some columns of numbers, or of levels that are numbers, cut by rules; both by name."""
    recipe = copy.copy(table.recipe)
    assert recipe is not None
    known = {step.name: step for step in recipe.steps_}
    steps = {
        name: _with_level(
            known[name].uncut().cut(numbers[name], table.counts, rule, _bounds(table, table.names.index(name))), table
        )
        for name, rule in rules.items()
    }
    asked = {name: (own.bins, own.strategy) if own.points is None else own.points for name, own in rules.items()}
    recipe.cut = {**(recipe.cut or {}), **asked}
    uncut = replace(
        table,
        columns=tuple(numbers.get(name, own) for name, own in zip(table.names, table.columns, strict=True)),
        levels=tuple(None if name in rules else own for name, own in zip(table.names, table.levels, strict=True)),
        recipe=_with_steps(recipe, steps),
    )
    return apply_cuts(uncut)


def _with_steps(recipe: Recipe, steps: Mapping[str, Step]) -> Recipe:
    return recipe.with_steps(tuple(steps.get(step.name, step) for step in recipe.steps_))


def _bounds(table: Table, place: int) -> NDArray[np.float64] | None:
    return table.bounds[place] if table.bounds else None


def _with_level(step: Step, table: Table) -> Step:
    """The step of a column that is cut: gaps that are completed have no level."""
    gaps = table.gaps
    unknown = gaps is not None and bool((gaps & ~table.censored)[table.names.index(step.name)].any())
    return step.with_gaps(are_level=False) if unknown else step


def apply_cuts(table: Table) -> Table:
    """The table with numbers cut where its recipe has cuts; censored ones fall into the bin that holds their bounds."""
    recipe = table.recipe
    assert recipe is not None
    columns, levels = list(table.columns), list(table.levels)
    numbers = list(table.numbers or (None,) * len(columns))
    gaps = None if table.gaps is None else table.gaps.copy()
    steps = {step.name: step for step in recipe.steps_}
    for place, name in enumerate(table.names):
        step = steps.get(name)  # indicators of regimes have none of their own
        if step is not None and levels[place] is None and step.cuts is not None:
            assert step.levels is not None
            numbers[place], bins = columns[place], step.bins(columns[place], _bounds(table, place))
            columns[place] = np.where(bins < 0, max(step.missing_code, 0), bins).astype(code_type(len(step.levels)))
            levels[place] = step.levels
            if gaps is not None:
                gaps[place] &= bins < 0
    done = [name for name, before, now in zip(table.names, table.levels, levels, strict=True) if now is not before]
    return replace(
        table,
        columns=tuple(columns),
        levels=tuple(levels),
        numbers=tuple(numbers),
        gaps=gaps if gaps is not None and gaps.any() else None,
        in_order=tuple(dict.fromkeys((*table.in_order, *done))),
    )


def bins_of(table: Table) -> frozenset[int]:
    """Into how many bins rules cut the columns of a table; nothing where no column was cut by a rule."""
    return frozenset(len(table.recipe.step(name).cuts or ()) + 1 for name in _cut_by_rule(table) if table.recipe)


def cut_otherwise(table: Table, bins: int) -> Table:
    """The table with the columns that a rule cut in another number of bins.

    >>> import numpy as np
    >>> from dagpost.data import discretise
    >>> halves = discretise(np.random.default_rng(1).normal(size=(40, 2)), bins=2)
    >>> halves.arities, cut_otherwise(halves, 4).arities
    ((2, 2), (4, 4))
    """
    names = _cut_by_rule(table)
    if table.recipe is None or not names:
        return table
    known = dict(zip(table.names, table.numbers, strict=True))
    rules = {name: table.recipe.rule_of(name)._replace(bins=bins) for name in names}
    return cut_columns(table, {name: known[name] for name in names}, rules)


def cut_whole(table: Table, bins: int) -> Table:
    """The table with every column of numbers cut: about as many rows in each bin."""
    assert table.recipe is not None
    numbers = {
        name: own for name, own, known in zip(table.names, table.columns, table.levels, strict=True) if known is None
    }
    rules = {name: table.recipe.usual_rule._replace(bins=bins) for name in numbers}
    return cut_columns(table, numbers, rules)


def _cut_by_rule(table: Table) -> list[str]:
    if table.recipe is None or not table.numbers:
        return []
    known = zip(table.names, table.numbers, strict=True)
    return [name for name, numbers in known if numbers is not None and table.recipe.rule_of(name).points is None]
