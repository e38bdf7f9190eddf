"""Experiments whose targets are unknown: a column that names the regime of each row becomes indicators.

One regime is the reference, in which nothing was done. Every other one has an indicator, a column that is 1 in the rows
of that regime. In a model it is exogenous, and an edge from it to a variable says that this regime changed how the
variable comes about (Eaton & Murphy, Exact Bayesian structure learning from uncertain interventions, AISTATS 2007). At
most one indicator is 1 in a row, so that `t` of them have `t + 1` configurations: the scores know that.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.checks import number, refusal, text, whole_number
from dagpost._tools.spelling import bare, either, quoted
from dagpost._tools.text import nearest, shortened, shown
from dagpost.data.encoding import Cells, number_text
from dagpost.data.frames import Source
from dagpost.data.gaps import refuse_gaps_in_regimes
from dagpost.data.recipe import Recipe
from dagpost.data.recipe_steps import Step
from dagpost.data.table import Table
from dagpost.errors import InputError, warn


@dataclass(frozen=True)
class Regimes:
    """A column that names the experiment of each row, and what is believed of experiments before the data.

    Parameters
    ----------
    column
        The column that names the regime of each row. It is not a variable of the model.
    reference
        The regime in which nothing was done, such as the observational one; that of the first row unless given.
    expected_targets
        How many variables a regime is expected to change: each of `n` variables is one of them with probability
        `expected_targets / n`, independently of the others.
    max_regimes
        By how many regimes one variable may be changed; ordinary parents are counted by `max_parents` alone. All of
        them unless given, as far as there are at most 12 parents of both kinds.

    >>> Regimes("condition", reference="control")
    Regimes(column='condition', reference='control', expected_targets=1.0, max_regimes=None)

    References
    ----------
    Eaton & Murphy (2007), Exact Bayesian structure learning from uncertain interventions. AISTATS 11.
    """

    column: str
    reference: str | float | bool | None = None
    expected_targets: float = 1.0
    max_regimes: int | None = None

    def __post_init__(self) -> None:
        """Check the settings."""
        text(self.column, "column", "Regimes")
        reference: Any = self.reference
        if isinstance(reference, np.generic):
            reference = reference.item()
        if reference is not None and not isinstance(reference, str | int | float):
            raise refusal(reference, "reference", "Regimes", "one of the values of the column, or None")
        object.__setattr__(self, "reference", reference)
        expected = number(self.expected_targets, "expected_targets", "Regimes", above=0.0, allowed="a number above 0")
        object.__setattr__(self, "expected_targets", expected)
        if self.max_regimes is not None:
            limit = whole_number(self.max_regimes, "max_regimes", "Regimes", least=1, optional=True)
            object.__setattr__(self, "max_regimes", limit)

    def to_json(self) -> dict[str, Any]:
        """The settings, as JSON can hold them."""
        return dict(vars(self))


def resolve_regimes(regimes: Any) -> Regimes | None:
    """What is meant by the name of a column, an object, what a file holds of it, or None.

    >>> resolve_regimes("condition").column
    'condition'
    """
    if regimes is None or isinstance(regimes, Regimes):
        return regimes
    if isinstance(regimes, str):
        return Regimes(regimes)
    if isinstance(regimes, Mapping) and regimes.keys() <= Regimes.__dataclass_fields__.keys() and "column" in regimes:
        return Regimes(**regimes)
    raise refusal(regimes, "regimes", None, "the name of a column, a Regimes(...), or None")


def reading_regimes(recipe: Recipe, regimes: Regimes | None, counts: Any = None, interventions: Any = None) -> Recipe:
    """The recipe that also reads the column that names the regimes, whatever it looks like."""
    if regimes is None:
        return recipe
    for what, other in (("counts", counts), ("interventions", interventions)):
        if isinstance(other, str) and other == regimes.column:
            raise InputError(
                f"{quoted('regimes')} and {quoted(what)} both name the column {other!r}. Leave one of the two out."
            )
    recipe = copy.copy(recipe)
    recipe.regimes_column = regimes.column
    return recipe


def with_indicators(table: Table, regimes: Regimes) -> Table:
    """The table with indicators in the place of the column that names the regimes; as it is if it has them already."""
    recipe = Recipe.of_table(table) if table.recipe is None else table.recipe
    known = [step.name for step in recipe.steps_ if step.use == "regimes"]
    if regimes.column in known:
        return table
    place = _place_of(table, recipe, regimes.column)
    gaps = table.gaps
    if gaps is not None:
        refuse_gaps_in_regimes(regimes.column, gaps[place])
    values, codes = _values_of(table, place)
    reference = _reference(values, codes, regimes)
    order = [reference, *(code for code in range(len(values)) if code != reference)]
    own = Step(
        regimes.column,
        "regimes",
        f"names the regime of each row; {number_text(values[reference])} is the reference",
        levels=tuple(values[code] for code in order),
        gaps=recipe.step(regimes.column).gaps,
    )
    _refuse_taken(own, table.names)
    others = [position for position in range(len(table.names)) if position != place]
    steps = tuple(own if step.name == own.name else step for step in recipe.steps_)
    indicators = own.indicators
    none = (None,) * len(indicators)
    return replace(
        table,
        names=(*(table.names[other] for other in others), *(step.name for step in indicators)),
        columns=(*(table.columns[other] for other in others), *own.indicator_columns(np.argsort(order)[codes])),
        levels=(*(table.levels[other] for other in others), *(step.levels for step in indicators)),
        interventions=_without_bit(table, place),
        recipe=recipe.with_steps(steps),
        numbers=(*(table.numbers[other] for other in others), *none) if table.numbers else (),
        regimes=tuple(step.name for step in indicators),
        bounds=(*(table.bounds[other] for other in others), *none) if table.bounds else (),
        gaps=None if gaps is None else np.pad(np.delete(gaps, place, axis=0), ((0, len(indicators)), (0, 0))),
    )


def with_indicator_cells(source: Source, recipe: Recipe) -> Source:
    """New rows with the indicators that a fitted recipe makes of the column that names their regimes."""
    columns = dict(source.columns)
    for step in recipe.steps_:
        if step.use == "regimes" and step.name in columns:
            cells = source.cells(step.name, as_text=step.as_text)
            codes = step.codes(cells)
            if (codes == len(step.levels or ())).any():
                row = int((codes == len(step.levels or ())).argmax())
                raise InputError(
                    f"Row {row + 1} (the first row is row 1) is of the regime {cells.levels()[cells.places[row]]!r}, "
                    f"which the model does not know: there are "
                    f"{shortened([repr(level) for level in step.levels or ()])}. Drop such rows."
                )
            for own, column in zip(step.indicators, step.indicator_columns(codes), strict=True):
                columns[own.name] = Cells("declared", np.where(codes < 0, -1, column), [0, 1])
    return replace(source, columns=columns)


def _place_of(table: Table, recipe: Recipe, column: str) -> int:
    if column in table.names:
        return table.names.index(column)
    left_out = {step.name: step.why for step in recipe.steps_ if not step.used}
    if column in left_out:
        raise InputError(
            f"{quoted('regimes')} names the column {column!r}, which was left out ({left_out[column]}). Do not "
            f"leave it out, or fit without {bare('regimes')}."
        )
    raise InputError(
        f"{quoted('regimes')} names the column {shown(column)}, which is not there.{nearest(column, table.names)}"
    )


def _values_of(table: Table, place: int) -> tuple[list[Any], NDArray[np.intp]]:
    """The regimes that occur, and which of them each row is of."""
    column, levels = table.columns[place], table.levels[place]
    seen = np.flatnonzero(table.weights > 0)
    present, codes = np.unique(column, return_inverse=True)
    present_seen = np.isin(present, column[seen])
    if not present_seen.all():
        raise InputError(f"Some regimes of {table.names[place]!r} have no observation (counts of 0). Drop such rows.")
    found: list[Any] = [float(value) for value in present] if levels is None else [levels[code] for code in present]
    if levels is None and all(value.is_integer() for value in found):
        found = [int(value) for value in found]
    if len(found) < 2:
        raise InputError(
            f"The column {table.names[place]!r} names one regime only, {shown(found[0])}: there is nothing to compare "
            f"it with. Leave {either('regimes', '--regimes')} out."
        )
    return found, codes


def _reference(values: list[Any], codes: NDArray[np.intp], regimes: Regimes) -> int:
    if regimes.reference is None:
        first = int(codes[0])
        another = either(f"Regimes({regimes.column!r}, reference=...)", "--reference")
        warn(
            f"The regime of the first row, {number_text(values[first])!r}, is the reference that the others are "
            f"compared with; {another} names another."
        )
        return first
    texts = [number_text(value) for value in values]
    wanted = number_text(regimes.reference)
    if wanted not in texts:
        raise InputError(
            f"The reference {shown(regimes.reference)} is not a regime of the column {regimes.column!r}: there are "
            f"{shortened([repr(value) for value in texts])}."
        )
    return texts.index(wanted)


def _refuse_taken(step: Step, names: tuple[str, ...]) -> None:
    for own in step.indicators:
        if own.name in names:
            raise InputError(
                f"The regime {own.name!r} would have the name of a column of the table. Rename that column."
            )


def _without_bit(table: Table, place: int) -> NDArray[np.uint64] | None:
    """The masks of what was set once a column is gone: those above it move down by one."""
    masks = table.interventions
    if masks is None:
        return None
    bit = np.uint64(1) << np.uint64(place)
    if (masks & bit).any():
        raise InputError(
            f"'interventions' names {table.names[place]!r}, the column that names the regimes. Name what was set."
        )
    low = bit - np.uint64(1)
    return (masks & low) | ((masks >> np.uint64(1)) & ~low)
