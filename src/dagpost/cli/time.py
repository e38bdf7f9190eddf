"""Tables with time on the command line: `--time`, `--subject`, `--lags` and others, and edges folded back to series."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dagpost._tools.text import printable
from dagpost.cli.options import option
from dagpost.cli.output import print_columns
from dagpost.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

    from dagpost.data.unrolled import Unrolled
    from dagpost.model import DagPosterior
    from dagpost.posterior.sample import DagSample


@dataclass(frozen=True)
class TimeOptions:
    """What options say about time."""

    time: Annotated[
        str | None, option("COLUMN", "Column that says when a row was observed: edges then lead on in time as well.")
    ] = None
    subject: Annotated[str | None, option("COLUMN", "With time: column that says whose row it is.")] = None
    lags: Annotated[int | None, option("NUMBER", "With time: how many steps back earlier values reach; 1.")] = None
    static: Annotated[
        list[str] | None,
        option(
            "NAMES", "With time: columns that do not change, as A,B; unless given, those that never do in a subject."
        ),
    ] = None
    step: Annotated[
        str | None,
        option("STEP", 'With time: what one step is, as 7 or "2 weeks"; the most frequent one unless given.'),
    ] = None
    wide: Annotated[
        str | None, option("PATTERN", 'One row a subject, and time in the names of columns, as "{series}_w{time}".')
    ] = None
    contemporaneous: Annotated[
        bool | None,
        typer.Option(
            "--contemporaneous/--no-contemporaneous",
            help="With time: whether edges among values of the same time are considered; they are.",
            show_default=False,
        ),
    ] = None

    @property
    def given(self) -> bool:
        """Whether the table has time."""
        return self.time is not None or self.wide is not None or self.lags is not None

    def check(self) -> None:
        """Refuse options that mean nothing without time."""
        names = ("subject", "static", "step", "contemporaneous")
        alone = [name for name in names if getattr(self, name) is not None]
        if alone and not self.given:
            raise InputError(f"--{alone[0]} is for tables with time. Say which column it is in: --time COLUMN.")

    def unrolled(self, frame: Any) -> Unrolled:
        """The table of present and earlier values."""
        from dagpost.cli.recipe import parse_names
        from dagpost.data.unroll import unroll

        return unroll(
            frame,
            time=self.time,
            subject=self.subject,
            lags=1 if self.lags is None else self.lags,
            contemporaneous=self.contemporaneous is not False,
            static=parse_names("--static", self.static),
            step=_number_or_words(self.step),
            wide=self.wide,
        )


def _number_or_words(step: str | None) -> Any:
    try:
        return None if step is None else int(step) if step.strip().isdecimal() else float(step)
    except ValueError:
        return step


def show_unrolling(sentences: Sequence[str]) -> None:
    """What was done with the rows of a table with time."""
    for line in sentences:
        typer.echo(printable(line), err=True)


def folded_edges(origin: DagPosterior | DagSample, least: float = 0.0) -> pd.DataFrame | None:
    """The edges of a model or sample with time by their series; None where there is none."""
    from dagpost.data.time_columns import time_columns
    from dagpost.posterior.sample import DagSample
    from dagpost.posterior.time_edges import lagged_edges

    if isinstance(origin, DagSample):
        if not origin.provenance.get("time"):
            return None
        apart = origin.provenance.get("apart")
        table = lagged_edges(origin.names, origin.edge_frequencies().to_numpy(), contemporaneous=not apart)
    elif origin.fitted_.data.time is not None and time_columns(origin.names_).lags:
        table = origin.lagged_edges()
    else:
        return None
    return table[table["probability"] >= least]


def print_folded(table: pd.DataFrame, most: int | None = None) -> None:
    """One edge a line, most probable first."""
    shown = table if most is None else table[:most]
    rows = [
        (printable(edge), f"{probability:.4f}")
        for edge, probability in zip(shown["edge"], shown["probability"], strict=True)
    ]
    print_columns([("edge", "probability"), *rows], right=(1,))
    if len(shown) < len(table):
        typer.echo(f"({len(table) - len(shown):,} less probable edges not shown)")


def folded_content(table: pd.DataFrame | None) -> dict[str, Any]:
    """The same as JSON can hold it."""
    if table is None:
        return {}
    return {"lagged_edges": table.astype(object).where(table.notna(), None).to_dict("records")}
