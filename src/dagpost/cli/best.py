"""`dagpost best`: the most probable graphs of a model, or of a table that is only scored."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dagpost._tools.setting_text import conditional_on, given_columns, readable_edges
from dagpost.cli.application import say
from dagpost.cli.arguments import columns_like
from dagpost.cli.files import load_model
from dagpost.cli.named_options import ModelOptions
from dagpost.cli.options import GivenOption, RunOptions, argument, refuse_options_of_tables, setting
from dagpost.cli.output import print_json
from dagpost.cli.recipe import RecipeOption, TableOptions, read_table, show_recipe
from dagpost.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dagpost.data.table import Table
    from dagpost.posterior.sample import DagSample
    from dagpost.scores import Score


def best(
    *,
    ctx: typer.Context,
    source: Annotated[
        str,
        argument("TABLE|MODEL", "A model file, or a table as for `dagpost fit` (- reads a CSV from standard input)."),
    ],
    number: Annotated[int, setting("NUMBER", "How many graphs to list.", "-k", "--number")] = 10,
    given: GivenOption = None,
    how: ModelOptions,
    columns: TableOptions,
    recipe: RecipeOption = None,
    run: RunOptions,
) -> None:
    """List the most probable graphs.

    Each is counted once and shown with its share of the posterior. A table is only scored, and nothing is kept: where
    that takes long, fit first. The options on scores, priors, edges and columns are for tables, --given is for models.

    \b
    Example: dagpost best coronary.dagpost -k 3
    """
    from pathlib import Path

    from dagpost._tools.checks import whole_number
    from dagpost.files.archive import is_archive
    from dagpost.methods.kbest import KBest
    from dagpost.methods.targets import STRUCTURE
    from dagpost.model import DagPosterior
    from dagpost.scores import resolve_score

    whole_number(number, "count")
    if source != "-" and is_archive(source):
        of_tables = (*(field.name for own in (ModelOptions, TableOptions) for field in fields(own)), "recipe")
        refuse_options_of_tables(ctx, source, of_tables)
        fitted = load_model(Path(source), given=given, threads=run.threads, quiet=run.quiet)
        found = fitted.best(number)
        if fitted.target_ != STRUCTURE and not run.quiet:
            say(
                f"these are the best of all graphs, each counted once; the model itself speaks of something else "
                f"({fitted.target_.words})."
            )
    else:
        if given:
            raise InputError("--given is for models. Fit the table first, or say which edges are --required.")
        model = DagPosterior(
            **how.settings(),
            method=KBest.name,
            exogenous=columns.not_modelled,
            threads=run.threads,
            progress=run.progress,
        )
        table = read_table(source, columns.recipe(recipe), model.score, columns)
        model.exogenous = columns_like(columns.not_modelled, table.names, "--exogenous")
        if not run.quiet:
            show_recipe(source, table)
        _refuse_unknown(resolve_score(model.score), table, model.exogenous)
        # A fit by this method computes scores and nothing else.
        found = model.fit(table).best(number)
    _show(found, run)


def _refuse_unknown(score: Score, table: Table, exogenous: Sequence[str]) -> None:
    """Refuse a table in which something would have to be drawn first."""
    from dagpost.data.gaps import UnknownCells

    unknown = UnknownCells.of(score.modelled(table, exogenous))
    if unknown.words:
        way = unknown.ways_out
        raise InputError(
            f"What is not known are {unknown.words}, and given each of the {score.tables} other graphs are the best. "
            f"{way[0].upper()}{way[1:]}. dagpost fit {'draws' if unknown.latent else 'completes'} them, and dagpost "
            "report shows the most probable of the graphs that were drawn."
        )


def _show(found: DagSample, run: RunOptions) -> None:
    from dagpost.posterior.condition_words import given_content, given_line, given_words

    graphs: list[dict[str, Any]] = [
        {"log_joint": float(log), "probability": share, "edges": list(graph.edges)}
        for log, share, graph in zip(found.log_joint, found.posterior_probabilities(), found, strict=True)
    ]
    covered, tied = found.summary()["covered"], found.provenance["tied"]
    if run.as_json:
        under = given_content(found.provenance)
        print_json({"graphs": graphs, "covered": covered, "tied": tied, "exogenous": list(found.exogenous), **under})
        return
    if line := given_line(found.provenance):
        typer.echo(line)
    for rank, graph in enumerate(graphs, start=1):
        share = "" if graph["probability"] is None else f"probability {graph['probability']:.4f}, "
        arrows = readable_edges(graph["edges"]) if graph["edges"] else "no edges"
        typer.echo(f"{rank}. {share}log score {graph['log_joint']:.4f}: {arrows}")
    if tied:
        typer.echo("The next graph is as good as the last one listed.")
    given = "; ".join(filter(None, (given_columns(found.exogenous), given_words(found.provenance))))
    if covered is not None:
        words = f"each graph counted once{given and f'; {given}'}"
        typer.echo(f"Together they hold {covered:.1%} of the posterior ({words}).")
    elif found.exogenous:
        typer.echo(conditional_on(found.exogenous))
