"""`dagpost edges` and `dagpost query`: what a model or a sample says."""

from __future__ import annotations

from typing import Annotated

import typer

from dagpost._tools.text import printable
from dagpost.cli.choices import complete_statement
from dagpost.cli.files import load_model, load_source
from dagpost.cli.options import (
    JsonOption,
    MinimumOption,
    ModelArgument,
    QuietOption,
    SourceArgument,
    ThreadsOption,
    argument,
    setting,
)
from dagpost.cli.output import as_content, edge_list, print_edges, print_json, summary


def edges(
    model: ModelArgument,
    minimum: MinimumOption = 0.0,
    quiet: QuietOption = False,
    as_json: JsonOption = False,
) -> None:
    """Show the probability of every edge of a fitted model.

    \b
    Example: dagpost edges coronary.dagpost --minimum 0.1
    """
    fitted = load_model(model, quiet=quiet)
    listed = edge_list(fitted.edge_probabilities_)
    shown = [edge for edge in listed if edge[2] >= minimum]
    if as_json:
        print_json(as_content(fitted, shown, model))
        return
    print_edges(shown)
    if len(shown) < len(listed):
        typer.echo(f"({len(listed) - len(shown)} edges below {minimum} not shown)")
    for line in summary(fitted):
        typer.echo(printable(line))


def _complete(ctx: typer.Context, args: list[str], incomplete: str) -> list[str]:
    return complete_statement([str(ctx.params.get("source") or ""), *args], incomplete)


def query(
    source: SourceArgument,
    statements: Annotated[
        list[str],
        argument("STATEMENT", 'Such as "A ~> B", "A -> C <- B", "P(A -> B | B ~> C)".', autocompletion=_complete),
    ],
    confidence: Annotated[float, setting("P", "Of the intervals, where an answer is not exact.")] = 0.95,
    threads: ThreadsOption = None,
    quiet: QuietOption = False,
    as_json: JsonOption = False,
) -> None:
    """Answer statements about the graph.

    Exactly where that is possible, else from a sample; each answer says which.

    \b
    A -> B        A is a direct parent of B
    A ~> B        a directed path leads from A to B
    A -- B        an arrow joins them, whichever way
    A in mb(B)    A is in the Markov blanket of B
    pa(B) = {A}   A is the only parent of B
    A _||_ B | C  C separates A from B
    f & g, f | g, !f, P(f | g)
    "M. Work"     names that are not plain words stand in quotes

    \b
    Example: dagpost query coronary.dagpost "Smoking ~> Pressure" "P(Smoking -> Family | Smoking ~> Pressure)"
    """
    origin = load_source(source, threads=threads, quiet=quiet)
    answers = origin.probability(statements, confidence=confidence)
    if as_json:
        print_json([{"statement": s, **answer.as_dict()} for s, answer in zip(statements, answers, strict=True)])
        return
    width = max(len(printable(statement)) for statement in statements)
    for statement, answer in zip(statements, answers, strict=True):
        typer.echo(f"{printable(statement):{width}}  {answer}")
