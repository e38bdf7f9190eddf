"""`dagpost predict`: how probable new rows are, or one column of them given the others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from dagpost._tools.text import position_of, printable, shortened
from dagpost.cli.application import say
from dagpost.cli.choices import Unseen, complete_variable
from dagpost.cli.files import load_model, refuse_results
from dagpost.cli.options import (
    InterventionsOption,
    JsonOption,
    ModelArgument,
    QuietOption,
    ThreadsOption,
    argument,
    option,
)
from dagpost.cli.output import print_json
from dagpost.errors import InputError

if TYPE_CHECKING:
    from dagpost.model import DagPosterior


def predict(
    model: ModelArgument,
    rows: Annotated[
        str,
        argument("TABLE", "New rows: a table with the columns of the old one; - reads a CSV from standard input."),
    ],
    target: Annotated[
        str | None,
        option(
            "COLUMN",
            "Instead of whole rows: the probability of every level of this column.",
            autocompletion=complete_variable,
        ),
    ] = None,
    unseen: Annotated[
        Unseen, typer.Option(help="Levels that were not seen in training: error, or their probability under the prior.")
    ] = Unseen.ERROR,
    interventions: InterventionsOption = None,
    threads: ThreadsOption = None,
    quiet: QuietOption = False,
    as_json: JsonOption = False,
) -> None:
    """Say how probable new rows are, or one column of them.

    Averaged over graphs, with all parameters integrated out. One line a row: the natural log of its probability, or
    with --target the probability of every level. Columns that the model does not know, such as one of counts, are left
    out.

    \b
    Example: dagpost predict coronary.dagpost coronary.csv --target Pressure
    """
    fitted = load_model(model, threads=threads, quiet=quiet)
    if target is not None:
        if not hasattr(fitted, "predict_proba"):
            raise InputError("--target is for discrete columns; those of this model are continuous. Leave it out.")
        position_of(target, fitted.names_)
    new = _new_rows(fitted, rows, interventions, quiet=quiet)
    if target is None:
        _show_rows(fitted.score_samples(new, unseen=unseen.value), as_json=as_json, quiet=quiet)
    else:
        _show_levels(target, fitted.predict_proba(new, target=target, unseen=unseen.value), as_json=as_json)


def _new_rows(model: DagPosterior, source: str, interventions: str | None, *, quiet: bool) -> Any:
    """The rows without columns that the model does not know; a remark says which these are."""
    import narwhals

    from dagpost.data.conversion import checked_table
    from dagpost.data.files import source_name
    from dagpost.data.frames import frame_of

    refuse_results(source)
    frame = narwhals.from_native(frame_of(source), eager_only=True)
    known = {*model.names_, interventions}
    extra = [name for name in frame.columns if name not in known]
    if extra and not quiet:
        names = shortened([repr(name) for name in extra])
        hint = "" if interventions is not None else " (--interventions COLUMN names one that says what was set)"
        say(f"not in the model and left out: {names}{hint}.")
    frame = frame.drop(extra)
    if interventions is None:
        return frame.to_native()
    try:
        return checked_table(frame.to_native(), None, interventions)
    except InputError as error:
        raise InputError(f"{source_name(source)}: {error.marked}") from None


def _show_rows(logs: Any, *, as_json: bool, quiet: bool) -> None:
    if as_json:
        print_json({"log_probability": logs.tolist(), "mean": float(logs.mean())})
        return
    typer.echo("\n".join(f"{log:.6f}" for log in logs))
    if not quiet:
        typer.echo(f"Mean log probability of {len(logs):,} rows: {logs.mean():.4f}", err=True)


def _show_levels(target: str, chances: Any, *, as_json: bool) -> None:
    levels = [str(level) for level in chances.columns]
    if as_json:
        print_json({"target": target, "levels": levels, "probabilities": chances.to_numpy().tolist()})
        return
    names = [f"P({printable(target)} = {printable(level)})" for level in levels]
    lines = [",".join(f"{chance:.6f}" for chance in row) for row in chances.to_numpy()]
    typer.echo("\n".join([_csv_line(names), *lines]))


def _csv_line(cells: list[str]) -> str:
    """A line of a CSV file; a name may hold the comma."""
    return ",".join('"' + cell.replace('"', '""') + '"' if "," in cell or '"' in cell else cell for cell in cells)
