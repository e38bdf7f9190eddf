"""Arguments and options that several commands share, each with the same name, words and completion everywhere."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated, Any

import typer

from dagpost.cli import choices
from dagpost.errors import InputError

#: Options that a file of ours has settled already.
_OF_TABLES = (
    *("score", "ess", "prior", "max_parents", "required", "forbidden", "exogenous"),
    *("counts", "interventions", "columns", "drop", "keep", "cut", "missing", "recipe", "discretise", "bins"),
)


def option(metavar: str, words: str, *names: str, **more: Any) -> Any:
    """An option that takes a value; its default is described in `words`, if it has one."""
    return typer.Option(*names, metavar=metavar, help=words, show_default=False, **more)


def setting(metavar: str, words: str, *names: str, **more: Any) -> Any:
    """An option that takes a value; the help shows its default."""
    return typer.Option(*names, metavar=metavar, help=words, **more)


def argument(metavar: str, words: str, **more: Any) -> Any:
    """An argument that has to be given."""
    return typer.Argument(metavar=metavar, help=words, show_default=False, **more)


def output_option(words: str) -> Any:
    """Where a result is written."""
    return option("FILE", words, "-o", "--output")


def refuse_options_of_tables(ctx: typer.Context, source: str) -> None:
    """Refuse options that a model or a sample would ignore, where a command takes both these and tables."""
    for name in _OF_TABLES:
        given = ctx.get_parameter_source(name)
        if given is not None and given.name == "COMMANDLINE":
            written = name.replace("_", "-")
            raise InputError(f"--{written} is for tables; {source!r} is not a table, and has its own settings.")


def _probability(value: float) -> float:
    if math.isnan(value) or not 0.0 <= value <= 1.0:
        raise typer.BadParameter(f"{value} is not between 0 and 1.")
    return value


ModelArgument = Annotated[Path, argument("MODEL", "A model file written by `dagpost fit`.")]
SourceArgument = Annotated[Path, argument("FILE", "A model or a sample file.")]
TableArgument = Annotated[str, argument("TABLE", "A CSV, Parquet or Excel file; - reads a CSV from standard input.")]

JsonOption = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
QuietOption = Annotated[bool, typer.Option("--quiet", "-q", help="No plan, no bars, no remarks, no hints.")]
SeedOption = Annotated[int | None, option("NUMBER", "Seed of the sample; a new one each time unless given.")]
ThreadsOption = Annotated[int | None, option("NUMBER", "Threads to use; every core unless given.")]
ClusterOption = Annotated[
    str | None, option("ADDRESS", "The scheduler of a Dask cluster to work on, as tcp://host:8786 or tls://host:8786.")
]
TlsAuthorityOption = Annotated[
    Path | None, option("FILE", "For a cluster at tls://...: the certificate of its authority, as for `dask worker`.")
]
TlsCertificateOption = Annotated[Path | None, option("FILE", "The certificate to show to the cluster.")]
TlsKeyOption = Annotated[Path | None, option("FILE", "Its key, unless that is in the same file.")]
GivenOption = Annotated[
    list[str] | None,
    option(
        "STATEMENT",
        'Among the graphs in which this holds, as "A -> B"; how probable that is is said too. May be repeated.',
        "--given",
        autocompletion=choices.complete_given,
    ),
]
MinimumOption = Annotated[
    float, setting("P", "Leave out pairs that are joined less probably than this.", callback=_probability)
]

CountsOption = Annotated[str | None, option("COLUMN", "Column that says how many times each row was seen.")]
InterventionsOption = Annotated[
    str | None, option("COLUMN", "Column that names the variable set from outside in each row.")
]
RegimesOption = Annotated[
    str | None,
    option("COLUMN", "Column that names the experiment of each row, where it is not known which variables it changed."),
]
ReferenceOption = Annotated[
    str | None,
    option("VALUE", "With --regimes: the one without intervention; that of the first row unless given."),
]
ExpectedTargetsOption = Annotated[
    float | None, option("NUMBER", "With --regimes: how many variables one is expected to change; 1 unless given.")
]
MaxRegimesOption = Annotated[
    int | None, option("NUMBER", "With --regimes: by how many one variable may be changed; all of them unless given.")
]
DiscretiseOption = Annotated[
    choices.Strategy | None,
    typer.Option(help="How numbers are cut into levels where a score needs levels; quantile.", show_default=False),
]
BinsOption = Annotated[int | None, option("NUMBER", "Into how many levels numbers are cut; 3 unless given.")]

ColumnsOption = Annotated[
    list[str] | None, option("NAMES", 'Use these columns only, as A,B; a name with a comma in quotes, as A,"B,C".')
]
DropOption = Annotated[list[str] | None, option("NAMES", "Leave these columns out, as A,B.")]
KeepOption = Annotated[
    list[str] | None, option("NAMES", "Use these columns even if they look like identifiers, dates or constants.")
]
CutOption = Annotated[
    list[str] | None,
    option(
        "COLUMN=CUTS",
        "Cut a column of numbers: at numbers, as systolic=120,140, or into bins by a rule, as age=4:quantile. May be "
        "repeated.",
    ),
]
OrderOption = Annotated[
    list[str] | None,
    option(
        "COLUMN=LEVELS",
        "The levels of a column from the lowest to the highest, in quotes for the shell: 'dose=low<medium<high'; a "
        "level that holds < in double quotes. Well-known scales and numbers need none. May be repeated.",
    ),
]
UnorderedOption = Annotated[
    list[str] | None,
    option("NAMES", "Levels of these columns are in no order, although they are numbers or look like a scale."),
]
MissingOption = Annotated[
    choices.Missing | None,
    typer.Option(
        help="Cells without a value: augment completes them in chains, given the cells that are there; drop leaves "
        "out the rows with such cells; level gives them a level of their own; refuse is an error. Unless given: "
        "augment.",
        show_default=False,
    ),
]
RecipeOption = Annotated[
    Path | None, option("FILE", "Do with each column what this file says, which `dagpost info TABLE --recipe` wrote.")
]

EssOption = Annotated[
    str | None,
    option(
        "NUMBER",
        "Equivalent sample size of the bdeu score, 1 if that is named without one. average, or several as 1,5,10: "
        "averaged over them, weighted by their evidence.",
    ),
]
ModularityOption = Annotated[
    choices.Modularity, typer.Option(help="structure: every graph counts once; order: once for every order it fits.")
]
MaxParentsOption = Annotated[int, setting("NUMBER", "Most parents a variable may have.")]
RequiredOption = Annotated[
    list[str] | None, option("EDGE", 'An edge that every graph has, as "A -> B". May be repeated.')
]
ForbiddenOption = Annotated[
    list[str] | None, option("EDGE", 'An edge that no graph has, as "A -> B". May be repeated.')
]
TiersOption = Annotated[
    list[str] | None,
    option(
        "NAMES",
        "Columns of one tier, as A,B or *_30 (names that end in _30); may be repeated, earliest first: no edge leads "
        "back to an earlier tier.",
        "--tier",
    ),
]
ExogenousOption = Annotated[
    list[str] | None,
    option("NAMES", "Columns that are not modelled, as age,sex or gene*: they may be parents, and have none."),
]
