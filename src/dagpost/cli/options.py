"""Arguments and options that several commands share, each with the same name, words and completion everywhere."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated

import typer

from dagpost.cli.choices import Modularity as ModularityName
from dagpost.cli.choices import (
    Strategy,
    complete_engine,
    complete_method,
    complete_prior,
    complete_score,
    engines,
    methods,
    priors,
)
from dagpost.errors import InputError
from dagpost.scores.registry import SCORES


def _probability(value: float) -> float:
    if math.isnan(value) or not 0.0 <= value <= 1.0:
        raise typer.BadParameter(f"{value} is not between 0 and 1.")
    return value


#: What a file of ours has settled already.
_OF_TABLES = (
    *("score", "ess", "prior", "max_parents", "required", "forbidden"),
    *("counts", "interventions", "discretise", "bins"),
)


def refuse_options_of_tables(ctx: typer.Context, source: str) -> None:
    """Options that a model or a sample would ignore are an error, where a command takes these and tables."""
    for name in _OF_TABLES:
        given = ctx.get_parameter_source(name)
        if given is not None and given.name == "COMMANDLINE":
            option = name.replace("_", "-")
            raise InputError(f"--{option} is for tables; {source!r} is not a table, and has its own settings.")


JsonOption = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
QuietOption = Annotated[bool, typer.Option("--quiet", "-q", help="No plan, no bars, no remarks, no hints.")]
SeedOption = Annotated[
    int | None,
    typer.Option(metavar="NUMBER", help="Seed of the sample; a new one each time unless given.", show_default=False),
]
ThreadsOption = Annotated[
    int | None,
    typer.Option(metavar="NUMBER", help="Threads to use; every core unless given.", show_default=False),
]
EngineOption = Annotated[
    str,
    typer.Option(
        metavar="ENGINE",
        autocompletion=complete_engine,
        help=f"Where exact tables are made: {', '.join(engines())}.",
    ),
]
ClusterOption = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS", help="The scheduler of a Dask cluster to work on, as tcp://host:8786.", show_default=False
    ),
]
TiersOption = Annotated[
    list[str] | None,
    typer.Option(
        "--tier",
        metavar="NAMES",
        help="Columns of one tier, as A,B; may be repeated, earliest first: no edge leads back to an earlier tier.",
        show_default=False,
    ),
]
ModelArgument = Annotated[
    Path, typer.Argument(metavar="MODEL", help="A model file written by `dagpost fit`.", show_default=False)
]
SourceArgument = Annotated[Path, typer.Argument(metavar="FILE", help="A model or a sample file.", show_default=False)]
MinimumOption = Annotated[
    float, typer.Option(metavar="P", callback=_probability, help="Leave out edges that are less probable than this.")
]

TableArgument = Annotated[
    str,
    typer.Argument(
        metavar="TABLE", help="A CSV or Parquet file; - reads a CSV from standard input.", show_default=False
    ),
]
CountsOption = Annotated[
    str | None,
    typer.Option(metavar="COLUMN", help="Column that says how many times each row was seen.", show_default=False),
]
InterventionsOption = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN", help="Column that names the variable set from outside in each row.", show_default=False
    ),
]
DiscretiseOption = Annotated[
    Strategy | None, typer.Option(help="Cut continuous columns into levels first.", show_default=False)
]
BinsOption = Annotated[
    int | None,
    typer.Option(
        metavar="NUMBER", help="Number of levels that --discretise makes; 3 unless given.", show_default=False
    ),
]

ScoreOption = Annotated[
    str,
    typer.Option(
        metavar="SCORE",
        autocompletion=complete_score,
        help=f"How well a parent set explains a column: {', '.join(SCORES.names())}.",
    ),
]
EssOption = Annotated[
    float | None,
    typer.Option(
        metavar="NUMBER", help="Equivalent sample size of the bdeu score; 1 unless given.", show_default=False
    ),
]
PriorOption = Annotated[
    str,
    typer.Option(
        metavar="PRIOR",
        autocompletion=complete_prior,
        help=f"What was believed before: {', '.join(priors())}.",
    ),
]
ModularityOption = Annotated[
    ModularityName, typer.Option(help="structure: every graph counts once; order: once for every order it fits.")
]
MaxParentsOption = Annotated[int, typer.Option(metavar="NUMBER", help="Most parents a variable may have.")]
MethodOption = Annotated[
    str,
    typer.Option(
        metavar="METHOD",
        autocompletion=complete_method,
        help=f"How graphs are found: {', '.join(methods())}. Settings follow a colon, as in partition-mcmc:chains=8,"
        "thinning=50; an order is written given-order:order=A>B>C, causes first.",
    ),
]
RequiredOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="EDGE", help='An edge that every graph has, as "A -> B". May be repeated.', show_default=False
    ),
]
ForbiddenOption = Annotated[
    list[str] | None,
    typer.Option(metavar="EDGE", help='An edge that no graph has, as "A -> B". May be repeated.', show_default=False),
]
