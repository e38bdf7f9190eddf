"""`dagpost edges` and `dagpost query`: what a model or a sample says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from dagpost._tools.checks import number
from dagpost._tools.text import printable
from dagpost.cli.files import load_source
from dagpost.cli.options import GivenOption, RunOptions, SourceArgument, argument, setting
from dagpost.cli.output import (
    about_sample,
    as_content,
    edge_list,
    given_content_of,
    print_given,
    print_json,
    sample_content,
    summary,
)

if TYPE_CHECKING:
    from pathlib import Path

    from dagpost.model import DagPosterior
    from dagpost.posterior.estimate import Estimate
    from dagpost.posterior.sample import DagSample

#: Of very many columns, pairs that are joined less probably than this are not listed unless asked for.
_LEAST_OF_MANY = 0.1


def edges(
    *,
    source: SourceArgument,
    given: GivenOption = None,
    minimum: Annotated[float, setting("P", "Leave out pairs that are joined less probably than this.")] = 0.0,
    run: RunOptions,
) -> None:
    """Show how probably each pair is joined, and which way.

    In a fitted model, or in a sample. Beside it stand the probabilities of the edges both ways, whatever decides them.
    Of a model with time: the edges between its series, by their lags.

    \b
    Example: dagpost edges coronary.dagpost --minimum 0.1
    """
    from dagpost.cli.pairs import (
        effects_content,
        pairs_content,
        print_about_pairs,
        print_about_signs,
        print_pairs,
        print_pairs_left_out,
    )
    from dagpost.cli.regimes import print_regimes, regimes_content
    from dagpost.cli.time import folded_content, folded_edges, print_folded
    from dagpost.families.numbering import MAX_NODES
    from dagpost.posterior.directions import directions_of_sample, quick_directions
    from dagpost.posterior.lists import joined_under
    from dagpost.posterior.sample import DagSample
    from dagpost.posterior.variations import known_sensitivity
    from dagpost.prediction.gaussian_answers import quick_effects

    number(minimum, "minimum", least=0.0, most=1.0, allowed="between 0 and 1")
    origin = load_source(source, given=given, threads=run.threads, quiet=run.quiet)
    folded = folded_edges(origin, minimum)
    if isinstance(origin, DagSample):
        table, found, about = origin.edge_frequencies(), directions_of_sample(origin), about_sample(origin)
        tried = recipe = errors = effects = None
    else:
        table, found, about = origin.edge_probabilities_, quick_directions(origin.fitted_), summary(origin)
        tried, recipe = known_sensitivity(origin.fitted_), origin.fitted_.data.recipe
        effects = quick_effects(origin.fitted_)
        errors = None if origin.fitted_.augmented is None else origin.fitted_.augmented.joined_errors
    if run.as_json:
        likely = [edge for edge in edge_list(table) if edge[2] >= minimum]
        content = (
            sample_content(origin, likely) if isinstance(origin, DagSample) else as_content(origin, likely, source)
        )
        regimes = {} if isinstance(origin, DagSample) else regimes_content(origin.fitted_)
        more = effects_content(found, effects)
        print_json({**content, **pairs_content(found, minimum), **more, **folded_content(folded), **regimes})
        return
    print_given(origin)
    if folded is not None:
        print_folded(folded)
        for line in about:
            typer.echo(printable(line))
        return
    # Of very many columns, improbable pairs would fill thousands of lines; a smaller --minimum, and --json, have them.
    least = minimum or (_LEAST_OF_MANY if len(found.names) > MAX_NODES else 0.0)
    shown = found.pairs(least)
    kinds = {} if isinstance(origin, DagSample) else joined_under(origin.fitted_)
    print_pairs(found, shown, table.to_numpy(), tried=tried, errors=errors, effects=effects, kinds=kinds)
    print_pairs_left_out(found, shown, least)
    if not isinstance(origin, DagSample):
        if effects:
            print_about_signs(origin.fitted_.data)
        print_regimes(origin.fitted_)
    for line in about:
        typer.echo(printable(line))
    print_about_pairs(found, source, recipe)


def query(
    *,
    source: SourceArgument,
    statements: Annotated[
        list[str],
        argument(
            "STATEMENT",
            """Such as "A ~> B", "P(A -> B | B ~> C)", 'P(A = "x" | B = "y")', "E(A | B = 3)".""",
        ),
    ],
    given: GivenOption = None,
    confidence: Annotated[float, setting("P", "Of the intervals, where an answer is not exact.")] = 0.95,
    run: RunOptions,
) -> None:
    """Answer statements about the graph, and about values.

    Exactly where that is possible, else from a sample; each answer says which. Several may be asked at once.

    \b
    A -> B        A is a direct parent of B
    A ~> B        a directed path leads from A to B
    A -- B        an arrow joins them, whichever way
    A in mb(B)    A is in the Markov blanket of B
    pa(B) = {A}   A is the only parent of B
    A _||_ B | C  C separates A from B
    A[t-1] -> B, A -> B at lag 1, A ~> B within 2 steps  with time
    f & g, f | g, !f, P(f | g)
    "M. Work"     names that are not plain words stand in quotes

    \b
    P(A = "x" | B = "y", C > 3)     values of a new row, given others
    P(A = "x" | do(B = "y"), B -> A)  B is set from outside; in graphs with B -> A
    P(1 < A < 2), A in {x, y}, A != x
    E(A | B = "y")                  the mean of a number

    \b
    Example: dagpost query coronary.dagpost "Smoking ~> Pressure" 'P(Pressure = ">140" | Smoking = "yes")'
    """
    origin, answers = _answers(source, statements, given, confidence, run)
    if run.as_json:
        # The text as it was asked comes first.
        pairs, under = zip(statements, answers, strict=True), given_content_of(origin)
        print_json([{"statement": text} | answer.as_dict() | {"statement": text} | under for text, answer in pairs])
        return
    print_given(origin)
    width = max(len(printable(statement)) for statement in statements)
    for statement, answer in zip(statements, answers, strict=True):
        typer.echo(f"{printable(statement):{width}}  {answer}")


def _answers(
    source: Path, statements: list[str], given: list[str] | None, confidence: float, run: RunOptions
) -> tuple[DagPosterior | DagSample, list[Estimate]]:
    """The model or sample under what is given, and its answers; a whole sample knows their intervals."""
    from dagpost.posterior.conditioned_sample import asked_under, condition_of
    from dagpost.posterior.sample import DagSample

    origin = load_source(source, threads=run.threads, quiet=run.quiet)
    if isinstance(origin, DagSample) and given:
        condition = condition_of(given, origin.names, origin.exogenous)
        return origin.given(*given), asked_under(origin, statements, condition, confidence)
    if given:
        origin = origin.given(*given)
    return origin, origin.probability(statements, confidence=confidence)
