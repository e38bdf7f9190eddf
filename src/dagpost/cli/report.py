"""`dagpost report`: a model or a sample as one page to look at, show and keep."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dagpost.cli.files import default_name, load_source, may_write
from dagpost.cli.options import GivenOption, RunOptions, SourceArgument, option, output_option
from dagpost.cli.output import given_content_of, print_given, print_json


def report(
    *,
    source: SourceArgument,
    output: Annotated[
        Path | None,
        output_option("Where to write the page. Unless given: in this folder, named after the file."),
    ] = None,
    given: GivenOption = None,
    title: Annotated[str | None, option("TEXT", "What the page is called.")] = None,
    run: RunOptions,
) -> None:
    """Write a report: one HTML file for any browser.

    It holds everything it needs, so it can be sent to a colleague and opened without a network.

    \b
    Example: dagpost report coronary.dagpost -o coronary.html --title "Heart disease among car workers"
    """
    origin = load_source(source, given=given, threads=run.threads, quiet=run.quiet)
    target = may_write(output or Path(f"{default_name(source, given)}.html"), "report")
    written = origin.report(target, title=title)
    if run.as_json:
        print_json({"report": str(written), **given_content_of(origin)})
    else:
        print_given(origin)
        typer.echo(f"Report, to open in a browser: {written}")
