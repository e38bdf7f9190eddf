"""What is done with one column: a step of a recipe, which brings new cells into the terms of the old ones.

A step never decides anew: levels are matched by value (56.0 is the level 56, and text is text), numbers fall between
the cuts that are there.

What users give as the settings of a recipe, checked and in one form.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import pairwise
from typing import Any, Literal, NamedTuple, NoReturn, cast, get_args

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.checks import is_finite, one_of, refusal, whole_number
from dagpost._tools.spelling import either, setting
from dagpost._tools.text import shown
from dagpost.data.column_kinds import Use
from dagpost.data.cutting import LARGEST_BINS, Strategy, bin_names, bin_of, cut_points
from dagpost.data.encoding import Cells, cells_of, is_number, number_text, with_limits
from dagpost.data.files import MISSING_LEVEL, MISSING_TEXT
from dagpost.data.number_words import limit_text, reads_as_number
from dagpost.errors import InputError

#: What is done about gaps, and about levels of new rows that are not known.
Missing = Literal["augment", "drop", "level", "refuse"]
Unseen = Literal["error", "missing", "prior"]

_TWO = 2
_BINS_IN_WORDS = {"quantile": "quantiles", "uniform": "bins of equal width", "kmeans": "clusters"}


class Rule(NamedTuple):
    """How a column of numbers is cut: at points, or into bins by a strategy."""

    points: tuple[float, ...] | None = None
    bins: int = 0
    strategy: Strategy = "quantile"


@dataclass(frozen=True)
class Step:
    """What is done with one column, and why.

    `use` is "levels", "number", "left out", or "regimes" for a column that names the regime of each row: the first of
    its levels is the reference, the others have an indicator each. `levels` are those of a column of levels, or the
    bins of a number that is cut; `cuts` are the points where it is cut (None: it stays a number), `rule` says where
    they come from. `gaps` is how many cells had no value, and `censored` of how many only a limit is known. `ordered`
    says whether levels are in an order, lowest first, or in none; None: as their nature is, for numbers and two levels
    are in one.
    """

    name: str
    use: Use
    why: str
    levels: tuple[object, ...] | None = None
    cuts: tuple[float, ...] | None = None
    rule: str = ""
    gaps: int = 0
    censored: int = 0
    ordered: bool | None = None

    @property
    def used(self) -> bool:
        """Whether it is a variable of the network."""
        return self.use in ("levels", "number")

    @property
    def in_order(self) -> bool | None:
        """Whether three or more levels are in an order, declared or by nature; None for columns of other kinds."""
        known = [level for level in self.levels or () if level != MISSING_LEVEL]
        if self.use != "levels" or len(known) <= _TWO:
            return None
        return self.ordered if self.ordered is not None else all(map(is_number, known))

    @property
    def indicators(self) -> tuple[Step, ...]:
        """The steps of the variables that a column of regimes stands for: one for each regime but the reference."""
        if self.use != "regimes":
            return ()
        names = [f"{self.name}={number_text(level)}" for level in (self.levels or ())[1:]]
        return tuple(Step(name, "levels", "indicator of a regime", levels=(0, 1)) for name in names)

    def indicator_columns(self, codes: NDArray[Any]) -> list[NDArray[np.uint8]]:
        """Their columns: 1 in the rows of the regime."""
        return [(codes == code).astype(np.uint8) for code in range(1, len(self.indicators) + 1)]

    @property
    def missing_code(self) -> int:
        """The code of a cell without a value; -1 where these have no level."""
        return -1 if not self.levels or self.levels[-1] != MISSING_LEVEL else len(self.levels) - 1

    @property
    def as_text(self) -> bool:
        """Whether cells are compared as text."""
        return self.use in ("levels", "regimes") and any(
            isinstance(level, str) and level != MISSING_LEVEL for level in self.levels or ()
        )

    def codes(self, cells: Cells) -> NDArray[np.intp]:
        """The codes of cells: -1 where there is no value, one past the last level where it is not a known level.

        A number that was cut may come as the name of its bin. A level of another type with the same text is the same.
        """
        levels, values = self.levels or (), cells.levels()
        if self.use == "number" and (cells.numeric or not values or any(value not in levels for value in values)):
            own = self.number_cells(cells)
            return self.bins(own.numbers(), own.bounds)
        # New rows may be those that a model has drawn, in which gaps are called by their level.
        known: dict[object, int] = {MISSING_TEXT: self.missing_code} if self.missing_code >= 0 else {}
        known |= {number_text(level): code for code, level in enumerate(levels)}
        known |= {level: code for code, level in enumerate(levels)}
        found = [known.get(value, known.get(number_text(value), len(levels))) for value in values]
        return np.asarray(np.array([*found, -1], dtype=np.intp)[cells.places])

    def code_of(self, level: object) -> int:
        """The code of one level; one past the last if it is not known.

        >>> step = Step("systolic", "number", "numbers", levels=("<140", ">=140"), cuts=(140.0,))
        >>> step.code_of(150), step.code_of("<140")
        (1, 0)
        """
        if not isinstance(level, str | bool | int | float | np.generic):
            return len(self.levels or ())
        if level == MISSING_LEVEL and self.missing_code >= 0:
            return self.missing_code
        cells = cells_of(self.name, np.array([level], dtype=object), as_text=self.as_text)
        known = self.use != "number" or cells.numeric or level in (self.levels or ())
        code = int(self.codes(cells)[0]) if known else -1
        return len(self.levels or ()) if code < 0 else code

    def numbers(self, cells: Cells) -> NDArray[np.float64]:
        """The numbers of cells, NaN where there is no value."""
        return self.number_cells(cells).numbers()

    def number_cells(self, cells: Cells) -> Cells:
        """Cells as numbers, some of which may be censored."""
        if cells.kind == "declared" and all(is_number(value) for value in cells.values):
            return Cells("decimal", cells.places, np.array(cells.values, dtype=np.float64))
        if not cells.numeric and (found := with_limits(cells)) is not None:
            return found
        if cells.kind != "empty" and not cells.numeric:
            wrong = next((value for value in cells.values if not reads_as_number(str(value))), cells.values[0])
            row = int((cells.places == cells.values.index(wrong)).argmax()) + 1
            raise InputError(
                f"Column {self.name!r} is a column of numbers, and holds {wrong!r} in row {row} (the first row is row "
                "1): correct that cell."
            )
        return cells

    def bins(self, numbers: NDArray[np.float64], bounds: NDArray[np.float64] | None = None) -> NDArray[np.intp]:
        """The bins of numbers; -1 for NaN, unless it lies between bounds, which must be in one bin then."""
        cuts = self.cuts or ()
        found = np.where(np.isnan(numbers), -1, bin_of(numbers, cuts))
        if bounds is None:
            return found
        censored = np.isnan(numbers) & np.isfinite(bounds).any(axis=1)
        # Bounds are open, and a value on a cut lies above it.
        first = np.searchsorted(cuts, bounds[:, 0], side="right")
        last = np.searchsorted(cuts, bounds[:, 1], side="left")
        torn = censored & (first != last)
        if torn.any():
            self._refuse_torn(float(bounds[torn][0, 0]), float(bounds[torn][0, 1]), int(torn.sum()))
        return np.where(censored, first, found)

    def _refuse_torn(self, lower: float, upper: float, count: int) -> NoReturn:
        limit = number_text(upper if math.isfinite(upper) else lower)
        at = either(f"Recipe(cut={{{self.name!r}: {limit}}})", f"--cut {self.name}={limit}")
        points = ", ".join(number_text(cut) for cut in self.cuts or ())
        raise InputError(
            f"Column {self.name!r} is cut at {points}, and nobody knows into which bin {limit_text(lower, upper)!r} "
            f"falls: there {'is 1 such cell' if count == 1 else f'are {count:,} such cells'}. Cut at the limit ({at}), "
            f"or cut nothing and use {setting('score', 'latent-gaussian')}."
        )

    def cut(
        self,
        numbers: NDArray[np.float64],
        counts: NDArray[np.int64] | None,
        rule: Rule,
        bounds: NDArray[np.float64] | None = None,
    ) -> Step:
        """The step with cuts that are found from numbers (NaN: no value, or one between bounds) by a rule."""
        if bounds is not None:
            # Where a cut should be depends on how many lie below and above it: censored ones lie just beyond the limit.
            limits = np.where(np.isfinite(bounds), np.nextafter(bounds, bounds[:, ::-1]), np.nan)
            limits = np.where(np.isnan(limits[:, 1]), limits[:, 0], limits[:, 1])
            numbers = np.where(np.isnan(numbers), limits, numbers)
        gap = np.isnan(numbers)
        if rule.points is not None:
            cuts, words = rule.points, "where asked"
            self._refuse_one_bin(numbers[~gap], cuts)
        else:
            there = ~gap
            cuts = cut_points(numbers[there], None if counts is None else counts[there], rule.bins, rule.strategy)
            words = f"{rule.bins} {_BINS_IN_WORDS[rule.strategy]}"
            if len(cuts) + 1 < rule.bins:
                words = f"{len(cuts) + 1} of {words}: frequent values leave no room for more"
        levels = (*bin_names(cuts), *((MISSING_LEVEL,) if gap.any() else ()))
        return replace(self, use="number", cuts=cuts, levels=levels, rule=words)

    def _refuse_one_bin(self, numbers: NDArray[np.float64], cuts: tuple[float, ...]) -> None:
        """Refuse points that leave all values in one bin: a column of one level is joined by the prior alone."""
        if len(numbers) and len(np.unique(bin_of(numbers, cuts))) < 2:
            points = ", ".join(f"{cut:g}" for cut in cuts)
            bins = either(f"Recipe(cut={{{self.name!r}: (4, 'quantile')}})", f"--cut {self.name}=4:quantile")
            raise InputError(
                f"Column {self.name!r} is to be cut at {points}, but its values, {numbers.min():g} to "
                f"{numbers.max():g}, all fall into one bin. Cut inside that range; 4 bins, for instance, are {bins}."
            )

    def uncut(self) -> Step:
        """The step of a number that stays a number."""
        return self if self.cuts is None else replace(self, cuts=None, levels=None, rule="")

    def with_gaps(self, *, are_level: bool) -> Step:
        """The step in which gaps have a level, where there were any, or have none."""
        if self.levels is None:
            return self
        values = tuple(level for level in self.levels if level != MISSING_LEVEL)
        return replace(self, levels=(*values, MISSING_LEVEL) if are_level and self.gaps else values)

    def to_json(self) -> dict[str, Any]:
        """The step as JSON can hold it."""
        described = {field.name: getattr(self, field.name) for field in fields(self)}
        return {key: list(value) if isinstance(value, tuple) else value for key, value in described.items()}

    @classmethod
    def from_json(cls, described: Mapping[str, Any]) -> Step:
        """The step that `to_json` described; what cannot be a step is an error, for codes are made by it."""
        fault = _fault(described)
        if fault:
            name = described.get("name") if isinstance(described, Mapping) else described
            raise InputError(f"The recipe's step for the column {shown(name)} has {fault}. Make the recipe again.")
        levels, cuts = described.get("levels"), described.get("cuts")
        return cls(
            **{
                **described,
                "levels": None if levels is None else tuple(levels),
                "cuts": None if cuts is None else tuple(float(cut) for cut in cuts),
            }
        )


def variable_steps(steps: Sequence[Step]) -> tuple[Step, ...]:
    """The steps of the variables, in the order of the table: columns that are used, then indicators of regimes."""
    used = tuple(step for step in steps if step.used)
    return used + tuple(own for step in steps for own in step.indicators)


def with_indicators(
    columns: Sequence[tuple[Step, NDArray[Any]]],
) -> tuple[list[tuple[Step, NDArray[Any]]], tuple[str, ...]]:
    """The columns with indicators, which come last, in the place of one that names regimes; and their names."""
    ordinary = [(step, column) for step, column in columns if step.used]
    indicators = [
        own for step, column in columns for own in zip(step.indicators, step.indicator_columns(column), strict=True)
    ]
    return ordinary + indicators, tuple(step.name for step, _ in indicators)


def _fault(described: Any) -> str:
    """What is wrong with the description of a step; empty if nothing is."""
    known = {field.name for field in fields(Step)}
    if not isinstance(described, Mapping) or not {"name", "use", "why"} <= described.keys() <= known:
        return f"other keys than {', '.join(sorted(known))}"
    given = {"rule": "", "gaps": 0, "levels": None, "cuts": None, "censored": 0, "ordered": None, **described}
    use, levels, cuts, gaps = given["use"], given["levels"], given["cuts"], given["gaps"]
    if not all(isinstance(given[key], str) for key in ("name", "why", "rule")):
        return f"words that are not text: {shown([given['why'], given['rule']])}"
    if use not in get_args(Use):
        return f"the use {shown(use)}, which is not one of {', '.join(get_args(Use))}"
    for what, count in (("gaps", gaps), ("censored cells", given["censored"])):
        if isinstance(count, bool) or not isinstance(count, int) or count < 0:
            return f"{shown(count)} {what}"
    ordered = given["ordered"]
    if ordered is not None and (not isinstance(ordered, bool) or use != "levels" or (ordered and levels is None)):
        return f"an order, {shown(ordered)}, of levels that it does not have"
    if levels is not None and not _can_be_levels(levels):
        return f"levels that are not a list of different texts, truth values or finite numbers: {shown(levels)}"
    if cuts is not None and (not isinstance(cuts, Sequence) or not _increase(cuts)):
        return f"cuts that are not numbers in increasing order: {shown(cuts)}"
    if use in ("levels", "regimes") and cuts is not None:
        return "cuts, and is not a number"
    if use == "regimes" and (levels is None or len(levels) < 2):
        return f"fewer than two regimes: {shown(levels)}"
    values = None if levels is None else len([level for level in levels if level != MISSING_LEVEL])
    if use == "number" and values != (None if cuts is None else len(cuts) + 1):
        return f"other levels than cuts: {shown(levels)} and {shown(cuts)}"
    return ""


def _can_be_levels(levels: Any) -> bool:
    if not isinstance(levels, Sequence) or isinstance(levels, str) or not levels or MISSING_LEVEL in levels[:-1]:
        return False
    # True is 1 to Python, but another level.
    different = {(isinstance(level, bool), level) for level in levels if isinstance(level, str | bool | int | float)}
    infinite = any(isinstance(level, float) and not math.isfinite(level) for level in levels)
    return len(different) == len(levels) and not infinite


def _increase(cuts: Sequence[Any]) -> bool:
    numbers = all(is_number(cut) and math.isfinite(cut) for cut in cuts)
    return numbers and all(low < high for low, high in pairwise(cuts))


def names_of(setting: str, names: Any) -> tuple[str, ...]:
    """The columns that a setting names, one or several."""
    if isinstance(names, str):
        return (names,)
    listed = isinstance(names, Sequence) or (isinstance(names, np.ndarray) and names.ndim == 1)
    if not listed or not all(isinstance(name, str) for name in names):
        raise refusal(names, setting, "Recipe", "a list of names of columns")
    return tuple(str(name) for name in names)


def rule_of(name: object, cut: Any) -> Rule:
    """How a column is cut, from what the user gave for it."""
    if isinstance(cut, Sequence) and not isinstance(cut, str) and len(cut) == 2 and isinstance(cut[1], str):
        bins = whole_number(cut[0], "bins", "Recipe", least=2, most=LARGEST_BINS)
        return Rule(None, bins, cast("Strategy", one_of(cut[1], "strategy", get_args(Strategy), "Recipe")))
    points = list(cut) if isinstance(cut, Sequence | np.ndarray) and not isinstance(cut, str) else [cut]
    if not points or not all(map(is_finite, points)) or any(a >= b for a, b in pairwise(points)):
        example = either("(4, 'quantile')", "4:quantile")
        allowed = f"numbers in increasing order, or bins with a strategy such as {example}, for column {name!r}"
        raise refusal(cut, "cut", "Recipe", allowed)
    return Rule(tuple(float(point) for point in points))


def orders_of(given: Any) -> dict[str, tuple[object, ...]]:
    """The levels of columns from the lowest to the highest, by name."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise refusal(given, "order", "Recipe", "a mapping from names of columns to their levels, the lowest first")
    return {str(name): _order_of(name, levels) for name, levels in given.items()}


def _order_of(name: object, levels: Any) -> tuple[object, ...]:
    listed = isinstance(levels, Sequence | np.ndarray) and not isinstance(levels, str)
    own = [level.item() if isinstance(level, np.generic) else level for level in (levels if listed else ())]
    if len(own) < 2 or not all(isinstance(level, str | bool | int | float) for level in own):
        allowed = f"a list of two or more levels of column {name!r}, the lowest first"
        raise refusal(levels, "order", "Recipe", allowed)
    texts = [number_text(level) for level in own]
    if twice := [level for level, text in zip(own, texts, strict=True) if texts.count(text) > 1]:
        raise InputError(f"The order of column {name!r} names the level {twice[0]!r} twice. Name each level once.")
    return tuple(own)


def plain(value: Any) -> Any:
    """A setting as JSON can hold it."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, Mapping):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, Sequence | np.ndarray) and not isinstance(value, str):
        return [plain(entry) for entry in value]
    return value
