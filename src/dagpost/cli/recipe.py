"""What is done with each column, as options say it: `--columns`, `--drop`, `--keep`, `--cut`, `--order` and others."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dagpost._tools.text import printable, shown
from dagpost.cli import choices
from dagpost.cli.files import refuse_results
from dagpost.cli.options import InterventionsOption, option
from dagpost.cli.output import print_columns
from dagpost.data.files import source_name
from dagpost.errors import InputError, collected_warnings, warn

if TYPE_CHECKING:
    from dagpost.cli.time import TimeOptions
    from dagpost.data.recipe import Recipe
    from dagpost.data.regimes import Regimes
    from dagpost.data.table import Table
    from dagpost.scores import Score

_CUT = "--cut is written COLUMN=NUMBER, COLUMN=NUMBER,NUMBER or COLUMN=BINS:RULE, as in --cut age=4:quantile."
_ORDER = re.compile(r'\s*(?:"(?P<quoted>[^"]+)"|(?P<bare>[^="]+))\s*=\s*(?P<levels>.+)', re.DOTALL)
_ORDER_FORM = "--order is written COLUMN=LOWEST<...<HIGHEST, in quotes for the shell, as in --order 'dose=low<high'."
#: Columns that are shown before a fit.
_TOLD = 12


RecipeOption = Annotated[
    Path | None, option("FILE", "Do with each column what this file says, which `dagpost info TABLE --recipe` wrote.")
]


@dataclass(frozen=True)
class TableOptions:
    """What the columns of a table are, and what is done with them."""

    exogenous: Annotated[
        list[str] | None,
        option("NAMES", "Columns that are not modelled, as age,sex or gene*: they may be parents, and have none."),
    ] = None
    counts: Annotated[str | None, option("COLUMN", "Column that says how many times each row was seen.")] = None
    interventions: InterventionsOption = None
    columns: Annotated[
        list[str] | None, option("NAMES", 'Use these columns only, as A,B; a name with a comma in quotes, as A,"B,C".')
    ] = None
    drop: Annotated[list[str] | None, option("NAMES", "Leave these columns out, as A,B.")] = None
    keep: Annotated[
        list[str] | None, option("NAMES", "Use these columns even if they look like identifiers, dates or constants.")
    ] = None
    cut: Annotated[
        list[str] | None,
        option(
            "COLUMN=CUTS",
            "Cut a column of numbers: at numbers, as systolic=120,140, or into bins by a rule, as age=4:quantile. "
            "May be repeated.",
        ),
    ] = None
    order: Annotated[
        list[str] | None,
        option(
            "COLUMN=LEVELS",
            "The levels of a column from the lowest to the highest, in quotes for the shell: 'dose=low<medium<high'; a "
            "level that holds < in double quotes. Well-known scales and numbers need none. May be repeated.",
        ),
    ] = None
    unordered: Annotated[
        list[str] | None,
        option("NAMES", "Levels of these columns are in no order, although they are numbers or look like a scale."),
    ] = None
    missing: Annotated[
        choices.Missing | None,
        typer.Option(
            help="Cells without a value: augment completes them in chains, given the cells that are there; drop leaves "
            "out the rows with such cells; level gives them a level of their own; refuse is an error. Unless given: "
            "augment.",
            show_default=False,
        ),
    ] = None
    discretise: Annotated[
        choices.Strategy | None,
        typer.Option(help="How numbers are cut into levels where a score needs levels; quantile.", show_default=False),
    ] = None
    bins: Annotated[int | None, option("NUMBER", "Into how many levels numbers are cut; 3 unless given.")] = None

    @property
    def not_modelled(self) -> list[str]:
        """The exogenous columns, as names and patterns."""
        return parse_names("--exogenous", self.exogenous) or []

    def recipe(self, file: Path | None = None) -> Recipe:
        """What is done with each column, or what a file says of that."""
        from dagpost.data.recipe import Recipe, resolve_recipe

        names = ("columns", "drop", "keep", "cut", "discretise", "bins", "order", "unordered")
        given = [f"--{name}" for name in names if getattr(self, name) is not None]
        if file is not None and given:
            raise InputError(
                f"With --recipe, the file says what is done with each column. Change it in {str(file)!r}, or leave out "
                f"{' and '.join(given)}."
            )
        missing = None if self.missing is None else self.missing.value
        if file is not None:
            return resolve_recipe(file, missing)
        settings: dict[str, Any] = {
            name: parse_names(f"--{name}", getattr(self, name)) for name in ("columns", "drop", "keep", "unordered")
        }
        settings |= {"cut": parse_cuts(self.cut), "order": parse_orders(self.order), "bins": self.bins}
        settings |= {"missing": missing, "strategy": None if self.discretise is None else self.discretise.value}
        return Recipe(**{name: value for name, value in settings.items() if value is not None})


def parse_names(option: str, texts: list[str] | None) -> list[str] | None:
    """Names of columns, separated by commas; a name with a comma stands in double quotes.

    >>> parse_names("--drop", ['a,"b, c"', "d"])
    ['a', 'b, c', 'd']
    """
    if not texts:
        return None
    names = [name.strip() for row in csv.reader(texts, skipinitialspace=True) for name in row]
    if not names or not all(names):
        raise InputError(f"{option} takes names of columns, as A,B. Got {shown(','.join(texts))} instead.")
    return names


def parse_cuts(texts: list[str] | None) -> dict[str, Any] | None:
    """Where columns are cut: at numbers, or into a number of bins by a rule.

    >>> parse_cuts(["systolic=120,140", "age=4:quantile"])
    {'systolic': [120.0, 140.0], 'age': (4, 'quantile')}
    """
    cuts: dict[str, Any] = {}
    for text in texts or ():
        # The name may hold "=" itself, the cuts cannot.
        name, equals, written = (part.strip() for part in text.rpartition("="))
        name = name[1:-1] if len(name) > 1 and name[0] == name[-1] == '"' else name
        if not (name and equals and written):
            raise InputError(f"{_CUT} Got {shown(text)} instead.")
        if name in cuts:
            raise InputError(f"--cut is given twice for the column {name!r}. Give it once, as {name}=120,140.")
        cuts[name] = _rule(text, written) if ":" in written else _numbers(text, written)
    return cuts or None


def parse_orders(texts: list[str] | None) -> dict[str, list[str]] | None:
    """The levels of columns from the lowest to the highest; a level that holds "<" stands in double quotes.

    >>> parse_orders(["smoking=never<former<current", 'age="<40"<40-60<">60"'])
    {'smoking': ['never', 'former', 'current'], 'age': ['<40', '40-60', '>60']}
    """
    orders: dict[str, list[str]] = {}
    for text in texts or ():
        found = _ORDER.fullmatch(text)
        levels = next(csv.reader([found["levels"]], delimiter="<", skipinitialspace=True), []) if found else []
        levels = [level.strip() for level in levels]
        if found is None or len(levels) < 2 or not all(levels):
            raise InputError(f"{_ORDER_FORM} Got {shown(text)} instead.")
        name = (found["quoted"] or found["bare"]).strip()
        if name in orders:
            raise InputError(f"--order is given twice for the column {name!r}. Give it once, with all levels.")
        orders[name] = levels
    return orders or None


def _rule(text: str, written: str) -> tuple[int, str]:
    from dagpost.data.cutting import STRATEGIES, bins_and_strategy

    found = bins_and_strategy(written)
    if found is None:
        raise InputError(f"{_CUT} Rules are {', '.join(STRATEGIES)}. Got {shown(text)} instead.")
    return found


def _numbers(text: str, written: str) -> list[float]:
    try:
        return [float(part) for part in written.split(",")]
    except ValueError:
        raise InputError(f"{_CUT} Got {shown(text)} instead.") from None


def read_table(
    source: str,
    recipe: Recipe,
    score: str | Score,
    options: TableOptions,
    time: TimeOptions | None = None,
    regimes: Regimes | None = None,
) -> Table:
    """The table of a file or of standard input, as a score wants it; its recipe says what was done."""
    frame = load_frame(source)
    if time is not None and time.given:
        with named_after(source):
            frame = time.unrolled(frame)
    return table_of(frame, source, recipe, score, options, regimes)


@contextmanager
def named_after(source: str) -> Iterator[None]:
    """Errors that name the file that a table came from."""
    try:
        yield
    except InputError as error:
        raise InputError(f"{source_name(source)}: {error.marked}") from None


def load_frame(source: str) -> Any:
    """The cells of a file or of standard input."""
    from dagpost.data.frames import frame_of

    refuse_results(source)
    return frame_of(source)


def table_of(
    frame: Any,
    source: str,
    recipe: Recipe,
    score: str | Score,
    options: TableOptions,
    regimes: Regimes | None = None,
) -> Table:
    """The table of cells; errors name the file that they came from."""
    from dagpost.data.conversion import checked_table, warn_of_columns
    from dagpost.data.regimes import reading_regimes, with_indicators
    from dagpost.scores import table_for

    with named_after(source):
        done = reading_regimes(recipe, regimes, options.counts, options.interventions)
        read = checked_table(frame, options.counts, options.interventions, done)
    if not recipe.fitted:
        warn_of_columns(read)
    read = read if regimes is None else with_indicators(read, regimes)
    with collected_warnings():  # of cuts, which the recipe shows
        return table_for(score, read, regimes=regimes)


def show_recipe(source: str, table: Table) -> None:
    """Say what is done with the columns, where that is more than taking each value as a level."""
    from dagpost.data.column_kinds import stray_levels
    from dagpost.data.recipe_words import cells, notice_of_reading
    from dagpost.data.time_columns import series_and_lag

    recipe = table.recipe
    assert recipe is not None
    # Earlier values are treated as present ones are.
    once = [step for step in recipe.steps_ if table.time is None or not series_and_lag(step.name)[1]]
    told = [s for s in once if s.use != "levels" or s.gaps or s.ordered or stray_levels(s.levels or ())]
    if not told:
        return
    typer.echo(f"What is done with the columns of {printable(source_name(source))}:", err=True)
    rows = [tuple(map(printable, cells(step, recipe.exogenous))) for step in told[:_TOLD]]
    print_columns(rows, indent="  ", err=True)
    if len(told) > _TOLD:
        typer.echo(f"  and {len(told) - _TOLD} more, which dagpost info shows", err=True)
    typer.echo(f"{recipe.summary()}. Other ways: --drop, --keep, --cut, --order, --missing, --recipe.", err=True)
    if 2 * recipe.dropped_rows_ > recipe.rows_:
        warn(notice_of_reading(recipe.steps_, recipe.dropped_rows_, recipe.rows_, decided=False))
