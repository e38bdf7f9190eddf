"""All commands in one application, in the order in which the help lists them."""

from __future__ import annotations

import typer

from dagpost.cli.application import add_command, app
from dagpost.cli.best import best
from dagpost.cli.data import export, list_data
from dagpost.cli.demo import demo
from dagpost.cli.fit import fit
from dagpost.cli.info import info
from dagpost.cli.predict import predict
from dagpost.cli.query import edges, query
from dagpost.cli.report import report
from dagpost.cli.sample import sample

__all__ = ["app"]

for command in (fit, edges, query, sample, best, predict, report, info):
    add_command(app, command, no_args_is_help=True)
add_command(app, demo)

data = typer.Typer(
    help="The bundled data sets: list them, or write one to a file.", no_args_is_help=True, rich_markup_mode=None
)
add_command(data, list_data, name="list")
add_command(data, export, no_args_is_help=True)
app.add_typer(data, name="data")
