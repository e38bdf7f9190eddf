"""What is asked of values: text or arguments, looked up among the levels and numbers of a model.

A column of levels may have some of its codes, one of numbers lies between two limits or at a point. What is said twice
of a column holds both times.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from dagpost._tools.checks import LARGEST
from dagpost._tools.spelling import bare, either, setting
from dagpost._tools.text import nearest, position_of, shortened, shown
from dagpost.data.encoding import is_number, number_text
from dagpost.data.files import MISSING_LEVEL
from dagpost.data.recipe import Recipe
from dagpost.data.recipe_steps import Step
from dagpost.data.time_columns import series_and_lag
from dagpost.errors import InputError
from dagpost.families.masks import refuse_wide
from dagpost.features.feature import Feature
from dagpost.features.language import resolve
from dagpost.features.names import quoted
from dagpost.features.value_queries import ValueQuery, ValueTerm, WrittenValue
from dagpost.posterior.augmented_workspace import modelled_levels
from dagpost.posterior.fitted import Fitted
from dagpost.prediction.averaging import refuse_exogenous
from dagpost.prediction.counted_parts import has_rows, refuse_structure_alone

_COMPARED: Mapping[str, Callable[[Any, Any], bool]] = {
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}


class Cell(NamedTuple):
    """What is said of one column: some of its codes, or, where these are None, the limits of a number."""

    codes: tuple[int, ...] | None
    lower: float = -math.inf
    upper: float = math.inf

    @property
    def is_point(self) -> bool:
        """Whether it is one number."""
        return self.codes is None and self.lower == self.upper

    @property
    def is_empty(self) -> bool:
        """Whether nothing satisfies it."""
        return not self.codes if self.codes is not None else self.lower > self.upper

    def meet(self, other: Cell) -> Cell:
        """Both at once."""
        if self.codes is not None and other.codes is not None:
            return Cell(tuple(code for code in self.codes if code in other.codes))
        return Cell(None, max(self.lower, other.lower), min(self.upper, other.upper))


@dataclass(frozen=True)
class Question:
    """The probability of `targets`, or the distribution of the column `of`, given evidence and settings."""

    targets: Mapping[int, Cell]
    of: int | None
    evidence: Mapping[int, Cell]
    #: Columns that are set: codes, or numbers.
    do: Mapping[int, float]
    where: Feature | None
    #: As people write it.
    words: str = ""

    @property
    def nodes(self) -> tuple[int, ...]:
        """The columns that are asked about."""
        return tuple(self.targets) if self.of is None else (self.of,)


@dataclass(frozen=True)
class Columns:
    """What is known of the columns of a model."""

    names: tuple[str, ...]
    levels: tuple[tuple[Any, ...] | None, ...]
    recipe: Recipe
    exogenous: tuple[str, ...] = ()
    #: Makes an error that may show a place in a text.
    error: Callable[[int, str], InputError] = field(default=lambda _, message: InputError(message))

    def step(self, node: int) -> Step:
        """What was done with a column."""
        return self.recipe.step(self.names[node])

    def cell(self, term: ValueTerm) -> Cell:
        """What a term says of its column."""
        node = position_of(term.name, self.names)
        values = term.values
        if self.levels[node] is None:
            return self._limits(node, term.relation, values, term.position)
        every = range(len(self.levels[node] or ()))
        if term.relation in _COMPARED:
            return Cell(self._compared(node, term.relation, values[0]))
        codes = {self.code(node, own) for own in values}
        return Cell(tuple(code for code in every if (code in codes) != (term.relation == "!=")))

    def code(self, node: int, value: WrittenValue) -> int:
        """The code of a level; of a number that was cut, that of its bin."""
        step, levels = self.step(node), self.levels[node] or ()
        candidates: list[object] = [value.text]
        if (number := _number(value.text)) is not None:
            candidates.insert(0 if step.cuts is not None and value.text not in levels else 1, number)
        candidates += [own for own in levels if isinstance(own, bool) and str(own).lower() == value.text.lower()]
        for candidate in candidates:
            code = step.code_of(candidate)
            if code < len(levels):
                return code
        known = [str(level) for level in levels]
        hint = nearest(value.text, known)
        there = "" if "There are" in hint else f" There are: {shortened([shown(level) for level in levels])}."
        cut = "" if step.cuts is None else " A number stands for its bin."
        raise self.error(
            value.position, f"The variable {self.names[node]!r} has no level {shown(value.text)}.{hint}{there}{cut}"
        )

    def number(self, node: int, value: WrittenValue) -> float:
        """A number of a column of numbers."""
        found = _number(value.text)
        if found is None:
            raise self.error(
                value.position,
                f"The variable {self.names[node]!r} is a column of numbers. Got {shown(value.text)}: write a number.",
            )
        if abs(found) > LARGEST:
            raise self.error(
                value.position,
                f"Nothing can be calculated with {shown(value.text)} for {self.names[node]!r}. Write a number between "
                f"{-LARGEST:g} and {LARGEST:g}.",
            )
        return found

    def _limits(self, node: int, relation: str, values: tuple[WrittenValue, ...], position: int) -> Cell:
        numbers = [self.number(node, own) for own in values]
        if relation in ("in", "!="):
            raise self.error(
                position,
                f"The variable {self.names[node]!r} is a column of numbers, of which single ones have no probability. "
                "Write limits, as in 1 < A < 2.",
            )
        if relation == "=":
            return Cell(None, numbers[0], numbers[0])
        # A limit that is itself left out matters beside a single number: x > 1 and x = 1 exclude each other.
        way = math.inf if relation[0] == ">" else -math.inf
        limit = numbers[0] if relation.endswith("=") else math.nextafter(numbers[0], way)
        return Cell(None, limit, math.inf) if way > 0.0 else Cell(None, -math.inf, limit)

    def _compared(self, node: int, relation: str, value: WrittenValue) -> tuple[int, ...]:
        """The levels on one side of a value, where they are in an order."""
        step, levels, name = self.step(node), self.levels[node] or (), self.names[node]
        known = [code for code, level in enumerate(levels) if level != MISSING_LEVEL]
        if step.cuts is not None:
            return self._bins(step, relation, value)
        if all(is_number(levels[code]) for code in known):
            limit = _number(value.text)
            if limit is None:
                raise self.error(
                    value.position, f"The levels of {name!r} are numbers. Got {shown(value.text)} instead."
                )
            return tuple(code for code in known if _COMPARED[relation](float(levels[code]), limit))
        if not step.ordered:
            raise self.error(
                value.position,
                f"The levels of {name!r} are in no order: {shortened([shown(levels[code]) for code in known])}. Name "
                "those that are meant, as in A in {x, y}, or say in which order they are when the model is fitted.",
            )
        limit_code = self.code(node, value)
        return tuple(code for code in known if _COMPARED[relation](code, limit_code))

    def _bins(self, step: Step, relation: str, value: WrittenValue) -> tuple[int, ...]:
        cuts, limit = step.cuts or (), _number(value.text)
        points = ", ".join(number_text(cut) for cut in cuts)
        if limit is None:
            raise self.error(
                value.position, f"Expected a number, but {step.name!r} is compared with {shown(value.text)}."
            )
        if limit not in cuts:
            at = number_text(limit)
            cut = either(f"Recipe(cut={{{step.name!r}: {at}}})", f"--cut {step.name}={at}")
            raise self.error(
                value.position,
                f"Column {step.name!r} was cut at {points}, and nothing is known within a bin. Compare with one of "
                f"these, or cut there when the model is fitted: {cut}.",
            )
        place = cuts.index(limit) + 1
        if relation in ("<", ">="):
            return tuple(range(place) if relation == "<" else range(place, len(cuts) + 1))
        raise self.error(
            value.position,
            f"Column {step.name!r} was cut at {points}, and a value on a cut lies in the bin above. Write "
            f"{'<' if relation == '<=' else '>='} {number_text(limit)}.",
        )


def _number(text: str) -> float | None:
    try:
        found = float(text)
    except ValueError:
        return None
    return found if math.isfinite(found) else None


def columns_of(fitted: Fitted) -> Columns:
    """What a fitted model knows of its columns."""
    refuse_wide(len(fitted.names), "Questions about values are answered")
    refuse_structure_alone(fitted)
    if not has_rows(fitted):
        raise InputError(
            "This model knows nothing of values: it was made from scores, or its file keeps neither rows nor what was "
            "counted in them. Fit it to a table; call own_sample() before it is saved."
        )
    recipe = fitted.data.recipe
    if recipe is None:
        recipe = Recipe.of_levels(fitted.names, fitted.data.levels)
    return Columns(fitted.names, modelled_levels(fitted), recipe, fitted.exogenous)


def question_of_text(columns: Columns, query: ValueQuery, given: ValueQuery | None = None) -> Question:
    """What a text asks; the values of another are conditions too."""
    own = replace(columns, error=query.error)
    evidence = _met(own, query.evidence)
    if given is not None:
        for node, cell in _met(replace(columns, error=given.error), given.target).items():
            evidence[node] = evidence[node].meet(cell) if node in evidence else cell
        query = replace(query, evidence=(*query.evidence, *given.target))
    do: dict[int, float] = {}
    for term in query.do:
        node = position_of(term.name, own.names)
        if node in do:
            raise query.error(term.position, f"The variable {term.name!r} is set twice.")
        cell = own.cell(term)
        do[node] = cell.lower if cell.codes is None else float(cell.codes[0])
    targets = _met(own, query.target)
    of = None if query.mean_of is None else position_of(query.mean_of, own.names)
    if of is not None and own.levels[of] is not None:
        raise query.error(
            query.text.index("(") + 1,
            f"The variable {query.mean_of!r} has levels, and these have no mean. Ask for the probability of one: "
            f"P({quoted(query.mean_of or '')} = {shown((own.levels[of] or ('x',))[0])}).",
        )
    for term in query.target:
        cell = targets[position_of(term.name, own.names)]
        if cell.is_point:
            raise query.error(
                term.position,
                f"The variable {term.name!r} is a column of numbers, and a single one has probability 0. Write limits, "
                f"as in {quoted(term.name)} > {number_text(cell.lower)}, or ask for the mean: E({quoted(term.name)}).",
            )
    for term in query.evidence:
        if evidence[position_of(term.name, own.names)].is_empty:
            raise query.error(term.position, f"The conditions on {term.name!r} exclude each other.")
    where = None if query.where is None else resolve(query.where, own.names, None, own.exogenous).feature
    return _checked(own, Question(targets, of, evidence, do, where, str(query)))


def _met(columns: Columns, terms: tuple[ValueTerm, ...]) -> dict[int, Cell]:
    found: dict[int, Cell] = {}
    for term in terms:
        node, cell = position_of(term.name, columns.names), columns.cell(term)
        found[node] = found[node].meet(cell) if node in found else cell
    return found


def question_of_arguments(columns: Columns, target: object, given: object, do: object, where: object) -> Question:
    """What arguments of Python ask."""
    if not isinstance(target, str):
        raise InputError(f"'target' must be the name of a column. Got {shown(target)} instead.")
    of = position_of(target, columns.names)
    evidence = {node: _cell_of(columns, node, value) for node, value in _mapping(columns, given, "given")}
    settings = {}
    for node, value in _mapping(columns, do, "do"):
        cell = columns.cell(ValueTerm(columns.names[node], "=", (_written(value),)))
        settings[node] = cell.lower if cell.codes is None else float(cell.codes[0])
    condition = None if where is None else resolve(where, columns.names, None, columns.exogenous)
    if condition is not None and condition.given is not None:
        raise InputError("'where' is one statement, without a condition of its own. Join both with &.")
    words = [f"{columns.names[node]} = {_shown_value(value)}" for node, value in _mapping(columns, given, "given")]
    words += [f"do({columns.names[node]} = {_shown_value(value)})" for node, value in _mapping(columns, do, "do")]
    words += [] if condition is None else [str(condition)]
    text = f"{target}{' | ' if words else ''}{', '.join(words)}"
    feature = None if condition is None else condition.feature
    return _checked(columns, Question({}, of, evidence, settings, feature, text))


def _shown_value(value: object) -> str:
    return str(value) if isinstance(value, str | bool | int | float | np.generic) else shown(value)


def _mapping(columns: Columns, given: object, name: str) -> list[tuple[int, object]]:
    if given is None:
        return []
    if not isinstance(given, Mapping):
        raise InputError(
            f"'{name}' must say the values of columns by name: {{'A': value}}. Got {shown(given)} instead."
        )
    return [(position_of(column, columns.names), value) for column, value in given.items()]


def _written(value: object) -> WrittenValue:
    if not isinstance(value, str | bool | int | float | np.generic):
        raise InputError(f"A value is a level or a number. Got {shown(value)} instead.")
    return WrittenValue(str(value) if isinstance(value, str | bool | np.bool_) else number_text(value))


def _cell_of(columns: Columns, node: int, value: object) -> Cell:
    name = columns.names[node]
    if isinstance(value, tuple) and columns.levels[node] is None:
        if len(value) != 2 or not all(limit is None or is_number(limit) for limit in value):
            raise InputError(f"The limits of {name!r} are two numbers, or None for none. Got {shown(value)} instead.")
        low, high = (
            end if limit is None else float(limit) for limit, end in zip(value, (-math.inf, math.inf), strict=True)
        )
        cell = Cell(None, low, high)
    elif isinstance(value, list | tuple | set | frozenset) and columns.levels[node] is not None:
        cell = columns.cell(ValueTerm(name, "in", tuple(_written(own) for own in value)))
    else:
        cell = columns.cell(ValueTerm(name, "=", (_written(value),)))
    if cell.is_empty:
        raise InputError(f"No value of {name!r} is left by {shown(value)}.")
    return cell


def _checked(columns: Columns, question: Question) -> Question:
    """Refuse what has no answer whatever the graphs are."""
    for node in question.nodes:
        refuse_exogenous(columns.names[node], columns.exogenous)
        if node in question.do:
            raise InputError(f"The variable {columns.names[node]!r} is set, so that there is nothing to ask of it.")
    for node in question.evidence:
        if node in question.do:
            raise InputError(
                f"The variable {columns.names[node]!r} is set and observed at the same time. Leave one of them out."
            )
    return question


def refuse_open_numbers(columns: Columns, nodes: list[int]) -> None:
    """Refuse exogenous numbers that matter and are not given: nothing says how they are distributed."""
    if nodes:
        names = shortened([repr(columns.names[node]) for node in nodes])
        # Earlier values are exogenous in every model with time.
        named = any(not series_and_lag(columns.names[node])[1] for node in nodes)
        instead = f", or take them out of {bare('exogenous')} and fit again" if named else ""
        raise InputError(
            f"The answer depends on {names}: exogenous, so that the model does not say how such numbers are "
            f"distributed. Give them a value as a condition, as in {quoted(columns.names[nodes[0]])} = 0{instead}."
        )


def refuse_many(count: float, most: int) -> None:
    """Refuse sums over more combinations of levels than can be afforded."""
    if count > most:
        raise InputError(
            f"The answer is a sum over {count:.2g} combinations of levels; at most {most:,} are summed over. Give one "
            f"level of more columns as a condition, or fit with a smaller {setting('max_parents', 3)}."
        )
