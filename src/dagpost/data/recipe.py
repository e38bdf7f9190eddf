"""A recipe: what is done with each column of a table, decided once and then kept.

Two phases. *Reading* decides for every column whether it is levels, a number, or left out (column_kinds.py has the
rules), and what becomes of gaps; it leaves a `Table` of levels and numbers. *Cutting* comes only where somebody asks
for it or a score needs levels (cut_tables.py), and cuts are kept. A fitted recipe is a set of decisions:
applied to new rows it decides nothing anew.
"""

from __future__ import annotations

import copy
import html
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Self, cast, get_args

import numpy as np

from dagpost._tools.checks import different_texts, kind, members, one_of, refusal, text, whole_number
from dagpost._tools.estimator import Transformer
from dagpost._tools.text import nearest, shown
from dagpost._tools.whole_files import read_text
from dagpost.data import recipe_words as words
from dagpost.data.cut_tables import apply_cuts, cut_where_asked
from dagpost.data.cutting import LARGEST_BINS, USUAL_BINS, USUAL_STRATEGY, Strategy
from dagpost.data.frames import source_of
from dagpost.data.recipe_file import description_in, write_description
from dagpost.data.recipe_reading import Choices, decide, describe, follow
from dagpost.data.recipe_steps import Missing, Rule, Step, Unseen, names_of, orders_of, plain, rule_of, variable_steps
from dagpost.data.table import Table
from dagpost.data.time_columns import series_and_lag
from dagpost.errors import InputError

#: What a column is cut by: one point, several, or a number of bins with a strategy.
Cut = float | Sequence[float] | tuple[int, str]

_SETTINGS = (
    *("columns", "drop", "keep", "cut", "bins", "strategy", "missing", "unseen", "exogenous", "order", "unordered"),
)


class Recipe(Transformer):
    """What is done with each column of a table; a transformer of scikit-learn that makes a `Table`.

    Parameters
    ----------
    columns
        Use only these columns; all unless given.
    drop
        Leave these columns out.
    keep
        Use these columns although they look like identifiers, dates, constants or free text.
    cut
        Where columns of numbers are cut, by their names: a point, several points, or a number of bins with a strategy:
        ``{"systolic": 140, "age": [40, 60], "weight": (4, "uniform")}``.
    bins, strategy
        How all other columns of numbers are cut: "quantile" (about as many rows in each bin), "uniform" (equal
        widths) or "kmeans". Unless one of the two is given, they are cut only where a score needs levels, into three
        quantiles.
    missing
        What is done about gaps: "augment" leaves them to be completed by a model's chains, "drop" drops rows in which
        a used column has no value, "level" makes the gap a level of its own, "refuse" is an error.
    unseen
        What is done about a level in new rows that the recipe does not know: "error"; "missing", which takes the cell
        as a gap; "prior", with which predictions go by the prior, and which is a gap where a table is made.
    exogenous
        Columns that models do not model: they may be parents, and have none. So are those that a model names itself.
    order
        The levels of columns from the lowest to the highest: ``{"smoking": ["never", "former", "current"]}``. Ordered
        categories, well-known scales (docs/tables.md), two levels and numbers need not be named.
    unordered
        Columns of levels that are in no order, although they are numbers or look like a scale.

    Attributes
    ----------
    steps_
        One `Step` a column: its name, use ("levels", "number", "regimes", "left out"), why, levels, cuts, rule, gaps,
        and whether levels are in an order.
    dropped_rows_, rows_
        How many rows were dropped for gaps, and how many there were.

    Examples
    --------
    >>> import pandas
    >>> frame = pandas.DataFrame({"age": range(31, 55), "sex": ["f", "m"] * 12, "country": ["CZ"] * 24})
    >>> recipe = Recipe(cut={"age": [40, 50]}).fit(frame)
    >>> recipe
    Recipe for 3 columns: 2 used, 1 left out
    column   what it is                       what is done      levels
    age      whole numbers, 24 values         cut: where asked  <40, [40, 50), >=50
    sex      text, 2 values                   levels            f, m
    country  constant: one value in all rows  left out
    >>> recipe.transform(frame[:3]).columns[0].tolist()
    [0, 0, 0]
    """

    steps_: tuple[Step, ...]
    dropped_rows_: int
    rows_: int
    regimes_column: str | None = None

    def __init__(
        self,
        columns: Sequence[str] | None = None,
        drop: Sequence[str] = (),
        keep: Sequence[str] = (),
        cut: Mapping[str, Cut] | None = None,
        bins: int | None = None,
        strategy: Strategy | None = None,
        missing: Missing = "augment",
        unseen: Unseen = "error",
        exogenous: Sequence[str] = (),
        order: Mapping[str, Sequence[object]] | None = None,
        unordered: Sequence[str] = (),
    ) -> None:
        self.order, self.unordered = order, unordered
        self.columns, self.drop, self.keep, self.cut, self.exogenous = columns, drop, keep, cut, exogenous
        self.bins, self.strategy, self.missing, self.unseen = bins, strategy, missing, unseen

    @property
    def fitted(self) -> bool:
        """Whether it has decided."""
        return hasattr(self, "steps_")

    @property
    def feature_names_in_(self) -> Any:
        """The columns that it was made for, as scikit-learn calls them; as it expects, not there before."""
        return np.array([step.name for step in self.steps_], dtype=object)

    @property
    def n_features_in_(self) -> int:
        """How many these are."""
        return len(self.steps_)

    def get_feature_names_out(self, input_features: Any = None) -> Any:  # noqa: ARG002
        """The columns of the tables that it makes."""
        return np.array([step.name for step in variable_steps(self._decided())], dtype=object)

    def fit(self, X: Any, y: None = None, *, counts: Any = None, interventions: Any = None) -> Self:  # noqa: ARG002
        """Decide what is done with each column of whatever `as_table` takes, and where numbers are cut, if asked."""
        self._choices()
        fresh = type(self)(**self.get_params(deep=False)).read(X, counts=counts, interventions=interventions)
        decided = cut_where_asked(fresh).recipe
        assert decided is not None
        return self._adopt(decided.steps_, decided.dropped_rows_, decided.rows_)

    def read(self, X: Any, *, counts: Any = None, interventions: Any = None) -> Table:
        """The table of some rows with its numbers as they are; a recipe that was not fitted decides, and keeps nothing.

        The recipe of the table says what was done.
        """
        choices = self._choices()
        source = source_of(X, counts, interventions)
        if isinstance(X, Table) and X.recipe is not None and self._has_made(X.recipe):
            return X
        reading = follow(source, self.steps_, choices) if self.fitted else decide(source, choices)
        done = copy.copy(self)._adopt(reading.steps, reading.dropped, source.rows)
        return replace(reading.table, recipe=done)

    def describe(self, X: Any, *, counts: Any = None, interventions: Any = None) -> Recipe:
        """What would be done with each column, also of a table that nothing can be fitted to as it is."""
        source = source_of(X, counts, interventions)
        return copy.copy(self)._adopt(*describe(source, self._choices()), source.rows)

    def transform(self, X: Any, *, counts: Any = None, interventions: Any = None) -> Table:
        """The table of some rows, with numbers cut where the recipe has cuts."""
        self._decided()
        return apply_cuts(self.read(X, counts=counts, interventions=interventions))

    def uncut(self) -> Recipe:
        """The recipe without cuts: numbers stay numbers."""
        return self.with_steps(tuple(step.uncut() for step in self._decided()))

    @classmethod
    def of_table(cls, table: Table) -> Recipe:
        """The recipe of a table that was made without one: columns are what they are."""
        kind(table, "table", Table, "a Table, as as_table gives it")
        recipe = cls.of_levels(table.names, table.levels, table.rows)
        said = {**dict.fromkeys(table.in_order, True), **dict.fromkeys(table.unordered, False)}
        steps = [replace(step, ordered=said.get(step.name)) if step.levels else step for step in recipe.steps_]
        return recipe.with_steps(tuple(steps))

    @classmethod
    def of_levels(cls, names: Sequence[str], levels: Sequence[Sequence[object] | None], rows: int = 0) -> Recipe:
        """The recipe of columns of which only the levels are known (None: numbers)."""
        names, levels = different_texts(names, "names", "of_levels"), members(levels, "levels", "of_levels")
        if len(names) != len(levels):
            raise InputError(f"There are {len(names)} names and the levels of {len(levels)} columns. Give as many.")
        levels = [own if own is None else members(own, "levels", "of_levels") for own in levels]
        rows = whole_number(rows, "rows", "of_levels", least=0)
        steps = tuple(
            Step(name, "number", "numbers as given")
            if own is None
            else Step(name, "levels", "levels as given", levels=tuple(own))
            for name, own in zip(names, levels, strict=True)
        )
        return cls()._adopt(steps, 0, rows)

    def to_json(self) -> dict[str, Any]:
        """The settings and, of a fitted recipe, all decisions, as JSON can hold them."""
        described = self._settings()
        if self.fitted:
            described["rows"], described["dropped_rows"] = self.rows_, self.dropped_rows_
            described["steps"] = [step.to_json() for step in self.steps_]
        return described

    @classmethod
    def from_json(cls, described: Mapping[str, Any]) -> Recipe:
        """The recipe that `to_json` described.

        >>> Recipe.from_json(Recipe(bins=4, cut={"age": [40, 60]}).to_json())
        Recipe(bins=4, cut={'age': [40, 60]})
        """
        kind(described, "described", Mapping, "a mapping, as to_json gives it", "from_json")
        unknown = set(map(str, described)) - {*_SETTINGS, "rows", "dropped_rows", "steps"}
        if unknown:
            raise InputError(f"A recipe has no {min(unknown)!r}.{nearest(min(unknown), [*_SETTINGS, 'steps'])}")
        # JSON has no tuples: nothing is the empty one, as it is unless told otherwise.
        given = {name: described[name] for name in _SETTINGS if name in described}
        recipe = cls(**{name: cast("Any", () if value == [] else value) for name, value in given.items()})
        recipe._choices()
        if described.get("steps") is None:
            return recipe
        steps = tuple(Step.from_json(step) for step in described["steps"])
        if len({step.name for step in steps}) < len(steps):
            raise InputError("The recipe has two steps for one column. Make the recipe again.")
        return recipe._adopt(steps, int(described.get("dropped_rows", 0)), int(described.get("rows", 0)))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a fitted recipe as a TOML file to read and edit; an older file is replaced whole."""
        self._decided()
        write_description(path, self.to_json())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Recipe:
        """Read a recipe that `save` or ``dagpost info TABLE --recipe FILE`` wrote, and that may have been edited."""
        content = read_text(path)
        try:
            return cls.from_json(description_in(content))
        except InputError as error:
            raise InputError(f"{os.fspath(path)}: {error.marked}") from None

    def lines(self) -> list[str]:
        """The steps as an aligned table: column, what it is, what is done, levels."""
        return words.lines(self._decided(), self.exogenous)

    def summary(self) -> str:
        """How many columns are used, how many rows were dropped, and what becomes of gaps, in one line."""
        return words.summary(self._decided(), self.dropped_rows_, self.rows_, self.missing)

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        if not self.fitted:
            return self.settings_text(N_CHAR_MAX)
        return "\n".join([self.summary(), *self.lines()])

    def _repr_html_(self) -> str:
        return (
            words.to_html(self.steps_, self.summary(), self.exogenous)
            if self.fitted
            else f"<pre>{html.escape(repr(self))}</pre>"
        )

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self._repr_html_()}

    def rule_of(self, name: str) -> Rule:
        """How a column of numbers is cut."""
        given, cut = text(name, "name", "rule_of"), self.cut_rules()
        own = cut.get(given, cut.get(series_and_lag(given)[0]))
        return self.usual_rule if own is None else own

    @property
    def usual_rule(self) -> Rule:
        """How columns of numbers are cut that have no rule of their own, where they are cut."""
        return Rule(bins=USUAL_BINS if self.bins is None else self.bins, strategy=self.strategy or USUAL_STRATEGY)

    @property
    def cuts_all(self) -> bool:
        """Whether all columns of numbers are to be cut, whatever the score."""
        return self.bins is not None or self.strategy is not None

    def cut_rules(self) -> Mapping[str, Rule]:
        """How columns are cut that have a rule of their own, by name."""
        return self._choices().cut

    def step(self, name: str) -> Step:
        """What is done with a column."""
        found = {step.name: step for step in (*variable_steps(self._decided()), *self.steps_)}
        if text(name, "name", "step") not in found:
            raise InputError(f"The recipe has no column {shown(name)}.{nearest(name, list(found))}")
        return found[name]

    def with_steps(self, steps: tuple[Step, ...]) -> Recipe:
        """The fitted recipe with other steps."""
        return copy.copy(self)._adopt(steps, self.dropped_rows_, self.rows_)

    def _decided(self) -> tuple[Step, ...]:
        if not self.fitted:
            raise InputError("This Recipe has not seen a table yet. Call fit(table) first.")
        return self.steps_

    def _adopt(self, steps: tuple[Step, ...], dropped: int, rows: int) -> Self:
        self.steps_, self.dropped_rows_, self.rows_ = steps, dropped, rows
        return self

    def _has_made(self, done: Recipe) -> bool:
        """Whether a table with the recipe `done` is one that this recipe makes; another that is cut is an error."""
        steps = {step.name: step for step in done.steps_ if step.used}
        own = {step.name: step for step in self.steps_ if step.used} if self.fitted else steps
        if (
            self._settings() == done._settings()
            and own.keys() == steps.keys()
            and all(step.levels in (None, steps[name].levels) for name, step in own.items())
        ):
            return True
        if any(step.cuts is not None for step in steps.values()):
            raise InputError(
                "The data is a Table whose numbers are cut already, by a recipe of its own, and another recipe would "
                "lose these cuts: give the recipe to as_table or read_table with the data that the table was made of, "
                "or leave it out."
            )
        return False

    def _settings(self) -> dict[str, Any]:
        return {name: plain(getattr(self, name)) for name in _SETTINGS}

    def _choices(self) -> Choices:
        """The settings, once none is wrong."""
        if self.bins is not None:
            whole_number(self.bins, "bins", "Recipe", least=2, most=LARGEST_BINS)
        if self.strategy is not None:
            one_of(self.strategy, "strategy", get_args(Strategy), "Recipe")
        one_of(self.missing, "missing", get_args(Missing), "Recipe")
        one_of(self.unseen, "unseen", get_args(Unseen), "Recipe")
        given = {} if self.cut is None else self.cut
        if not isinstance(given, Mapping):
            raise refusal(given, "cut", "Recipe", "a mapping from names of columns to cuts")
        return Choices(
            None if self.columns is None else names_of("columns", self.columns),
            names_of("drop", self.drop),
            names_of("keep", self.keep),
            {str(name): rule_of(name, cut) for name, cut in given.items()},
            self.missing,
            self.unseen,
            names_of("exogenous", self.exogenous),
            () if self.regimes_column is None else (self.regimes_column,),
            orders_of(self.order),
            names_of("unordered", self.unordered),
        )


def resolve_recipe(recipe: Recipe | str | os.PathLike[str] | None, missing: str | None = None) -> Recipe:
    """The recipe that is meant: an object, the path of a file, or None for the usual one.

    `missing` overrides its own.
    """
    if isinstance(recipe, str | os.PathLike):
        recipe = Recipe.load(recipe)
    found = Recipe() if recipe is None else recipe
    if not isinstance(found, Recipe):
        raise refusal(recipe, "recipe", None, "a Recipe, or the path of a recipe file")
    if missing is None:
        return found
    asked = cast("Missing", one_of(missing, "missing", get_args(Missing)))
    if asked == found.missing:
        return found
    found = copy.copy(found)
    found.missing = asked
    if found.fitted:
        steps = tuple(step.with_gaps(are_level=missing == "level") for step in found.steps_)
        found._adopt(steps, found.dropped_rows_, found.rows_)
    return found


def with_recipe(table: Table) -> Table:
    """The table with a recipe: its own, or one that says that columns are what they are."""
    return table if table.recipe is not None else replace(table, recipe=Recipe.of_table(table))
