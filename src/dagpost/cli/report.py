"""`dagpost report`: a model or a sample as one page to look at, show and keep."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dagpost.cli.application import add_command
from dagpost.cli.files import load_source, may_write
from dagpost.cli.options import JsonOption, QuietOption, SourceArgument, ThreadsOption
from dagpost.cli.output import print_json


def register(app: typer.Typer) -> None:
    """Add the command."""
    add_command(app, report, no_args_is_help=True)


def report(
    source: SourceArgument,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            metavar="FILE",
            help="Where to write the page. Unless given: in this folder, named after the file.",
            show_default=False,
        ),
    ] = None,
    title: Annotated[
        str | None, typer.Option(metavar="TEXT", help="What the page is called.", show_default=False)
    ] = None,
    threads: ThreadsOption = None,
    quiet: QuietOption = False,
    as_json: JsonOption = False,
) -> None:
    """Write a report: one HTML file for any browser.

    It holds everything it needs, so it can be sent to a colleague and opened without a network.

    \b
    Example: dagpost report coronary.dagpost -o coronary.html --title "Heart disease among car workers"
    """
    origin = load_source(source, threads=threads, quiet=quiet)
    target = may_write(output or Path(f"{source.stem}.html"), "report")
    written = origin.report(target, title=title)
    if as_json:
        print_json({"report": str(written)})
    else:
        typer.echo(f"Report, to open in a browser: {written}")
