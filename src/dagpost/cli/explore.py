"""`dagpost explore`: a page on this machine on which one argues with the posterior."""

from __future__ import annotations

from typing import Annotated

import typer

from dagpost._tools.text import printable
from dagpost.cli.files import load_model
from dagpost.cli.options import GivenOption, ModelArgument, QuietOption, ThreadsOption, option


def explore(
    model: ModelArgument,
    port: Annotated[int | None, option("NUMBER", "The port to listen on; one that is free unless given.")] = None,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open the page in a browser.", show_default=False)
    ] = True,
    given: GivenOption = None,
    title: Annotated[str | None, option("TEXT", "What the page is called.")] = None,
    threads: ThreadsOption = None,
    quiet: QuietOption = False,
) -> None:
    """Open a page: assume something, and see everything else change.

    It is served to this machine only, until you press Ctrl-C.

    \b
    Example: dagpost explore coronary.dagpost
    """
    import logging

    from dagpost.explorer.serving import explore as serve

    # What is wrong with a request is said to who sent it.
    logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)
    fitted = load_model(model, given=given, threads=threads, quiet=quiet).fitted_
    explorer = serve(fitted, port=port, title=title, path=model, open_browser=False)
    typer.echo(printable(f"Explore {model.stem} at {explorer.address} (Ctrl-C ends it)"))
    if browser:
        explorer.open()
    explorer.wait()
