"""`dagpost fit`: from a table to a model file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dagpost._tools.text import printable
from dagpost.cli.application import BrokenOffError
from dagpost.cli.arguments import columns_like, columns_of_tiers, parse_method, parse_tiers
from dagpost.cli.choices import Modularity
from dagpost.cli.engine import EngineOptions, chosen_engine
from dagpost.cli.files import default_model, may_write, refuse_results, shell_command
from dagpost.cli.named_options import MethodOption, ModelOptions
from dagpost.cli.options import RunOptions, SeedOption, argument, option, output_option, setting
from dagpost.cli.output import as_content, assumptions, edge_list, print_json, summary
from dagpost.cli.recipe import RecipeOption, TableOptions, read_table, show_recipe
from dagpost.cli.regimes import RegimeOptions
from dagpost.cli.sensitivity import Tried, print_tried, try_other_choices
from dagpost.cli.time import TimeOptions, folded_content, folded_edges, print_folded, show_unrolling
from dagpost.cli.unfinished import checkpoint_for, how_to_resume, keeping, saving
from dagpost.errors import InputError
from dagpost.methods.choice import AUTO

if TYPE_CHECKING:
    from dagpost.checkpoints import Checkpoint
    from dagpost.features import Feature
    from dagpost.model import DagPosterior

_SHOWN = 10


def fit(
    *,
    table: Annotated[str, argument("TABLE", "A CSV, Parquet or Excel file; - reads a CSV from standard input.")],
    output: Annotated[
        Path | None,
        output_option(
            "Where to keep the model. Unless given: in this folder, named after the table; nowhere, if the table comes "
            "from standard input."
        ),
    ] = None,
    how: ModelOptions,
    modularity: Annotated[
        Modularity, typer.Option(help="structure: every graph counts once; order: once for every order it fits.")
    ] = Modularity.structure,
    method: MethodOption = AUTO,
    samples: Annotated[int, setting("NUMBER", "Graphs drawn when an answer needs a sample.")] = 30_000,
    tiers: Annotated[
        list[str] | None,
        option(
            "NAMES",
            "Columns of one tier, as A,B or *_30 (names that end in _30); may be repeated, earliest first: no edge "
            "leads back to an earlier tier.",
            "--tier",
        ),
    ] = None,
    columns: TableOptions,
    recipe: RecipeOption = None,
    regimes: RegimeOptions,
    time: TimeOptions,
    sensitivity: Annotated[
        bool | None,
        typer.Option(
            help="Fit under other choices too, and mark what does not survive. Unless given: if that takes seconds.",
            show_default=False,
        ),
    ] = None,
    rows: Annotated[
        bool,
        typer.Option("--rows", help="Keep the rows in the model file, for questions about any graph."),
    ] = False,
    seed: SeedOption = None,
    where: EngineOptions,
    run: RunOptions,
) -> None:
    """Compute the posterior: which columns are joined, and which way?

    A run that was interrupted, by Ctrl-C or otherwise, resumes where it stopped when the same command is given again.

    \b
    Example: dagpost fit coronary.csv --counts counts
    """
    from dagpost.cli.plan import announce
    from dagpost.model import DagPosterior

    # First, since the model may go to the same file, and a complaint about that place would mislead.
    refuse_results(table)
    model_file = output or default_model(table)
    if model_file is not None:
        may_write(model_file, "model")
    done, experiments, tiered = columns.recipe(recipe), regimes.parsed(), parse_tiers(tiers)
    time.check()
    with chosen_engine(where, run.threads, quiet=run.quiet) as engine:
        model = DagPosterior(
            **how.settings(),
            modularity=modularity.value,  # type: ignore[arg-type]
            method=parse_method(method),
            samples=samples,
            tiers=tiered,
            exogenous=columns.not_modelled,
            regimes=experiments,
            missing=None if columns.missing is None else columns.missing.value,  # type: ignore[arg-type]
            engine=engine,
            threads=run.threads,
            seed=seed,
            progress=run.progress,
        )
        data = read_table(table, done, model.score, columns, time=time, regimes=experiments)
        model.tiers = columns_of_tiers(tiered, data.names)
        model.exogenous = columns_like(columns.not_modelled, data.names, "--exogenous")
        if not run.quiet:
            show_unrolling([] if data.time is None else data.time.sentences())
            show_recipe(table, data)
        checkpoint = checkpoint_for(model_file, quiet=run.quiet)
        with keeping(checkpoint):
            plan = model.plan(data)
            if not run.quiet:
                announce(plan, f"{len(data.names)} variables, {data.observations:,} observations")
            if sensitivity and not plan.exact:
                raise InputError("--sensitivity needs exact sums, and this fit has none. Leave it out.")
            model.fit(data, checkpoint=checkpoint)
            tried = try_other_choices(model, sensitivity)
            if model_file is not None:
                with saving(checkpoint):
                    model.save(model_file, rows=rows)
        broken_off = _broken_off(model)
        if checkpoint is not None and not broken_off:
            checkpoint.remove()
        _show(model, tried, model_file, run, rows=rows)
        if tried.interrupted:
            raise BrokenOffError(f"The model is complete. {tried.reason}")
        if broken_off:
            raise BrokenOffError(_what_is_kept(model, model_file, checkpoint))


def _show(model: DagPosterior, tried: Tried, model_file: Path | None, run: RunOptions, *, rows: bool) -> None:
    from dagpost.cli.pairs import pairs_content, print_about_pairs, print_pairs
    from dagpost.cli.regimes import print_regimes, regimes_content
    from dagpost.posterior.directions import quick_directions

    found, folded = quick_directions(model.fitted_), folded_edges(model)
    if run.as_json:
        content = as_content(model, edge_list(model.edge_probabilities_), model_file)
        sensitivity = None if tried.found is None else tried.found.to_json()
        more = {**folded_content(folded), **regimes_content(model.fitted_)}
        print_json({**content, **pairs_content(found), **more, "sensitivity": sensitivity})
        return
    pairs = found.pairs()
    if folded is not None:
        print_folded(folded, _SHOWN)
    else:
        print_pairs(found, pairs[:_SHOWN], tried=tried.found)
        if len(pairs) > _SHOWN:
            typer.echo(f"({len(pairs) - _SHOWN:,} less probable pairs not shown)")
    print_regimes(model.fitted_)
    for line in summary(model):
        typer.echo(printable(line))
    if folded is None:
        print_about_pairs(found, model_file, model.fitted_.data.recipe)
    print_tried(tried, quiet=run.quiet)
    typer.echo(assumptions(model))
    if model_file is not None:
        typer.echo(f"Model: {model_file}")
        if rows or model.fitted_.completes:
            completed = "it draws their latent numbers" if model.fitted_.unknown.latent else "it completes their gaps"
            why = "you asked for them" if rows else completed
            typer.echo(f"The model file holds the rows of the table: {why}. Share it like the data.")
    if not run.quiet:
        _hint(_question(model, pairs[0].source, pairs[0].target, folded), model_file)


def _question(model: DagPosterior, source: int, target: int, folded: Any) -> Feature:
    """A statement that is worth asking: about the most probable pair."""
    from dagpost.features import path
    from dagpost.features.statements.path_in_time import path_in_time

    if folded is None or model.fitted_.data.time is None:
        return path(model.names_[source], model.names_[target])
    likely = folded[folded["from"] != folded["to"]].iloc[0]
    return path_in_time(likely["from"], likely["to"], model.fitted_.data.time.lags)


def _hint(statement: Feature, model_file: Path | None) -> None:
    """Suggest the next command, ready to be pasted into a shell."""
    if model_file is None:
        typer.echo("Next: add -o FILE to keep the model and ask it more", err=True)
        return
    question = shell_command("query", model_file, printable(statement))
    picture = shell_command("report", model_file, "-o", Path(model_file.with_suffix(".html").name))
    typer.echo(f"Next: {printable(question)}\n  or: {printable(picture)}", err=True)


def _broken_off(model: DagPosterior) -> bool:
    """Whether Ctrl-C ended the chains early, so that the edges come from the graphs that they had by then."""
    if model.exact_ or model.fitted_.method.draws != "chains":
        return False
    record = model.own_sample().chains
    # Others may stop early by a rule of their own.
    return record is not None and record.checks is not None and record.checks.interrupted


def _what_is_kept(model: DagPosterior, model_file: Path | None, checkpoint: Checkpoint | None) -> str:
    had = f"the {len(model.own_sample()):,} of {model.fitted_.usual_count:,} graphs that the chains had by then"
    if model_file is None:
        return f"The results shown rest on {had}."
    return f"{model_file} rests on {had}; {how_to_resume(checkpoint)}."
