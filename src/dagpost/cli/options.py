"""Arguments and options that several commands share, each with the same name, words and completion everywhere."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from dagpost.errors import InputError


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


def refuse_options_of_tables(ctx: typer.Context, source: str, names: Iterable[str]) -> None:
    """Refuse options that a model or a sample would ignore, where a command takes both these and tables."""
    for name in names:
        given = ctx.get_parameter_source(name)
        if given is not None and given.name == "COMMANDLINE":
            written = name.replace("_", "-")
            raise InputError(f"--{written} is for tables; {source!r} is not a table, and has its own settings.")


ModelArgument = Annotated[Path, argument("MODEL", "A model file written by `dagpost fit`.")]
SourceArgument = Annotated[Path, argument("FILE", "A model or a sample file.")]

JsonOption = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
QuietOption = Annotated[bool, typer.Option("--quiet", "-q", help="No plan, no bars, no remarks, no hints.")]
SeedOption = Annotated[int | None, option("NUMBER", "Seed of the sample; a new one each time unless given.")]
ThreadsOption = Annotated[int | None, option("NUMBER", "Threads to use; every core unless given.")]
GivenOption = Annotated[
    list[str] | None,
    option(
        "STATEMENT",
        'Among the graphs in which this holds, as "A -> B"; how probable that is is said too. May be repeated.',
        "--given",
    ),
]

InterventionsOption = Annotated[
    str | None, option("COLUMN", "Column that names the variable set from outside in each row.")
]


MaxParentsOption = Annotated[int, setting("NUMBER", "Most parents a variable may have.")]


@dataclass(frozen=True)
class RunOptions:
    """How a command works, and how it answers."""

    threads: ThreadsOption = None
    quiet: QuietOption = False
    as_json: JsonOption = False

    @property
    def progress(self) -> bool | None:
        """Bars where they help, or none: what `DagPosterior(progress=...)` takes."""
        return False if self.quiet else None
