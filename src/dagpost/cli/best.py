"""`dagpost best`: the most probable graphs of a model, or of a table, for which scores are enough."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from dagpost._tools.text import printable
from dagpost.cli.application import add_command, say
from dagpost.cli.arguments import parse_edges, parse_score, parse_table
from dagpost.cli.files import load_model
from dagpost.cli.options import (
    BinsOption,
    CountsOption,
    DiscretiseOption,
    EssOption,
    ForbiddenOption,
    InterventionsOption,
    JsonOption,
    MaxParentsOption,
    PriorOption,
    QuietOption,
    RequiredOption,
    ScoreOption,
    ThreadsOption,
    refuse_options_of_tables,
)
from dagpost.cli.output import print_json

if TYPE_CHECKING:
    from dagpost.posterior.sample import DagSample


def register(app: typer.Typer) -> None:
    """Add the command."""
    add_command(app, best, no_args_is_help=True)


def best(
    ctx: typer.Context,
    source: Annotated[
        str,
        typer.Argument(
            metavar="TABLE|MODEL",
            help="A model file, or a table as for `dagpost fit` (- reads a CSV from standard input).",
            show_default=False,
        ),
    ],
    number: Annotated[int, typer.Option("-k", "--number", metavar="NUMBER", help="How many graphs to list.")] = 10,
    score: ScoreOption = "bdeu",
    ess: EssOption = None,
    prior: PriorOption = "uniform",
    max_parents: MaxParentsOption = 5,
    required: RequiredOption = None,
    forbidden: ForbiddenOption = None,
    counts: CountsOption = None,
    interventions: InterventionsOption = None,
    discretise: DiscretiseOption = None,
    bins: BinsOption = None,
    threads: ThreadsOption = None,
    quiet: QuietOption = False,
    as_json: JsonOption = False,
) -> None:
    """List the most probable graphs.

    Each is counted once and shown with its share of the posterior. Of a table, only the scores are computed, and
    nothing is kept: where that takes long, fit first. The options on scores, priors, edges and columns are for tables;
    a model has its own.

    \b
    Example: dagpost best coronary.dagpost -k 3
    """
    from pathlib import Path

    from dagpost._tools.checks import whole_number
    from dagpost.files.archive import is_archive
    from dagpost.methods.kbest import KBest
    from dagpost.methods.targets import STRUCTURE
    from dagpost.model import DagPosterior
    from dagpost.priors import resolve_prior

    whole_number(number, "count")
    if source != "-" and is_archive(source):
        refuse_options_of_tables(ctx, source)
        fitted = load_model(Path(source), threads=threads, quiet=quiet)
        found = fitted.best(number)
        if fitted.target_ != STRUCTURE and not quiet:
            say(
                f"these are the best of all graphs, each counted once; the model itself speaks of something else "
                f"({fitted.target_.words})."
            )
    else:
        model = DagPosterior(
            score=parse_score(score, ess),
            prior=resolve_prior(prior),
            max_parents=max_parents,
            method=KBest.name,
            required=parse_edges(required),
            forbidden=parse_edges(forbidden),
            threads=threads,
            progress=False if quiet else None,
        )
        table = parse_table(source, counts=counts, interventions=interventions, discretise=discretise, bins=bins)
        # A fit by this method computes scores and nothing else.
        found = model.fit(table).best(number)
    _show(found, as_json=as_json)


def _show(found: DagSample, *, as_json: bool) -> None:
    shares = found.posterior_probabilities()
    listed = [list(graph.edges) for graph in found]
    covered, tied = found.summary()["covered"], found.provenance["tied"]
    if as_json:
        graphs = [
            {"log_joint": float(log), "probability": share, "edges": edges}
            for log, share, edges in zip(found.log_joint, shares, listed, strict=True)
        ]
        print_json({"graphs": graphs, "covered": covered, "tied": tied})
        return
    for rank, (log, share, edges) in enumerate(zip(found.log_joint, shares, listed, strict=True), start=1):
        arrows = ", ".join(f"{printable(parent)} -> {printable(child)}" for parent, child in edges) or "no edges"
        probability = "" if share is None else f"probability {share:.4f}, "
        typer.echo(f"{rank}. {probability}log score {log:.4f}: {arrows}")
    if tied:
        typer.echo("The next graph is as good as the last one listed.")
    if covered is not None:
        typer.echo(f"Together they hold {covered:.1%} of the posterior (each graph counted once).")
