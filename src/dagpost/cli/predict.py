"""`dagpost predict`: how probable new rows are, or one column of them given the others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dagpost._tools.setting_text import given_columns
from dagpost._tools.text import position_of, printable, shortened
from dagpost.cli.application import say
from dagpost.cli.choices import Unseen
from dagpost.cli.files import load_model, refuse_results
from dagpost.cli.options import GivenOption, InterventionsOption, ModelArgument, RunOptions, argument, option, setting
from dagpost.cli.output import given_content_of, print_given, print_json

if TYPE_CHECKING:
    from dagpost.model import DagPosterior

#: What a model is given, as JSON holds it, or nothing.
Under = dict[str, Any]


def predict(
    *,
    model: ModelArgument,
    rows: Annotated[
        str,
        argument("TABLE", "New rows: a table with the columns of the old one; - reads a CSV from standard input."),
    ],
    given: GivenOption = None,
    target: Annotated[
        str | None,
        option(
            "COLUMN",
            "Instead of whole rows: the probability of every level of this column, or mean and interval of a number.",
        ),
    ] = None,
    unseen: Annotated[
        Unseen | None,
        typer.Option(
            help="Levels that were not seen in training: an error, their probability under the prior, or a gap "
            "(missing); as the model's recipe says unless given.",
            show_default=False,
        ),
    ] = None,
    confidence: Annotated[float, setting("P", "Of the interval of a column of numbers.")] = 0.95,
    interventions: InterventionsOption = None,
    run: RunOptions,
) -> None:
    """Say how probable new rows are, or one column of them.

    Averaged over graphs, with all parameters integrated out, and given the exogenous columns. One line a row: the
    natural log of its probability, or with --target the probability of every level of a column, or of a column of
    numbers its mean, standard deviation, median and interval. Missing cells are summed over.
    Rows are taken as the table of `fit` was: numbers are cut where the model's recipe says, and columns that are not
    variables are left out.

    \b
    Example: dagpost predict coronary.dagpost coronary.csv --target Pressure
    """
    fitted = load_model(model, given=given, threads=run.threads, quiet=run.quiet)
    if target is not None:
        position_of(target, fitted.names_)
    new = _new_rows(fitted, rows, interventions, run)
    if not run.as_json and not run.quiet:
        # The lines on standard output are for other programs.
        print_given(fitted, err=True)
    under = given_content_of(fitted)
    how: dict[str, Any] = {"unseen": None if unseen is None else unseen.value, "interventions": interventions}
    if target is None:
        _show_rows(fitted.score_samples(new, **how), fitted.fitted_.exogenous, under, run)
    elif _is_number(fitted, target):
        found = fitted.predict_number(new, target=target, confidence=confidence, **how)
        about = {"target": target, "columns": list(found.columns), "predictions": found.to_numpy().tolist()}
        _show_table(found, "%.6g", {**about, **under}, run)
    else:
        chances = fitted.predict_proba(new, target=target, **how)
        levels = [str(level) for level in chances.columns]
        about = {"target": target, "levels": levels, "probabilities": chances.to_numpy().tolist()}
        names = [f"P({printable(target)} = {printable(level)})" for level in levels]
        _show_table(chances.set_axis(names, axis=1), "%.6f", {**about, **under}, run)


def _is_number(model: DagPosterior, target: str) -> bool:
    """Whether a column is one of numbers to the model, whatever it looks like."""
    levels = model.fitted_.data.levels[position_of(target, model.names_)]
    return levels is None or not hasattr(model, "predict_proba")


def _new_rows(model: DagPosterior, source: str, interventions: str | None, run: RunOptions) -> Any:
    """The rows of a file; a remark names columns that the model does not know."""
    import narwhals

    from dagpost.data.frames import frame_of

    refuse_results(source)
    frame = frame_of(source)
    time = model.fitted_.data.time
    known = {*model.feature_names_in_, interventions, *(() if time is None else (time.time, time.subject))}
    extra = [name for name in narwhals.from_native(frame, eager_only=True).columns if name and name not in known]
    if extra and not run.quiet:
        names = shortened([repr(name) for name in extra])
        hint = "" if interventions is not None else " (--interventions COLUMN names one that says what was set)"
        say(f"not in the model and left out: {names}{hint}.")
    return frame


def _show_rows(logs: Any, exogenous: Sequence[str], under: Under, run: RunOptions) -> None:
    import numpy as np

    there = logs[~np.isnan(logs)]
    mean = float(there.mean()) if len(there) else None
    if run.as_json:
        given = {"exogenous": list(exogenous)} if exogenous else {}
        print_json({"log_probability": logs.tolist(), "mean": mean, **given, **under})
        return
    typer.echo("\n".join(f"{log:.6f}" for log in logs))
    if not run.quiet and mean is not None:
        words = given_columns(exogenous)
        typer.echo(f"Mean log probability of {len(there):,} rows{words and f', {words}'}: {mean:.4f}", err=True)


def _show_table(table: Any, digits: str, about: dict[str, Any], run: RunOptions) -> None:
    """Lines for other programs, or what JSON has in their place."""
    if run.as_json:
        print_json(about)
    else:
        typer.echo(table.to_csv(index=False, float_format=digits, na_rep="nan", lineterminator="\n"), nl=False)
