"""`dagpost data`: the bundled data sets, to try things on."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dagpost.cli.application import add_command, new_group
from dagpost.cli.choices import complete_dataset
from dagpost.cli.files import may_create, shell_command
from dagpost.cli.options import JsonOption, QuietOption, argument, option, output_option
from dagpost.cli.output import print_columns, print_json


def list_data(quiet: QuietOption = False, as_json: JsonOption = False) -> None:
    """Say which data sets there are.

    \b
    Example: dagpost data list
    """
    from dagpost.data import datasets

    if as_json:
        print_json([{"name": name, "description": datasets.describe(name)} for name in datasets.names()])
        return
    print_columns([(name, datasets.describe(name)) for name in datasets.names()])
    if not quiet:
        name = datasets.names()[0]
        typer.echo(f"Next: {shell_command('data', 'export', name, '-o', f'{name}.csv')}", err=True)


def export(
    name: Annotated[str, argument("NAME", "As `dagpost data list` says.", autocompletion=complete_dataset)],
    output: Annotated[Path | None, output_option("A new file; standard output unless given.")] = None,
    rows: Annotated[int | None, option("NUMBER", "How many rows, of data that is drawn (asia, cohort).")] = None,
    seed: Annotated[int | None, option("NUMBER", "Seed of data that is drawn (asia, cohort); 0 unless given.")] = None,
    quiet: QuietOption = False,
) -> None:
    """Write a bundled data set as CSV.

    \b
    Example: dagpost data export coronary -o coronary.csv
    """
    from dagpost._tools.whole_files import write_text
    from dagpost.data import datasets

    if output is not None:
        may_create(output)
    table = datasets.load(name, rows=rows, seed=seed)
    frame = table.to_pandas()
    text = frame.to_csv(index=False, lineterminator="\n")
    if output is None:
        typer.echo(text, nl=False)
        return
    write_text(output, text)
    typer.echo(f"{len(frame):,} rows of {name}: {output}")
    if not quiet:
        counts = [] if table.counts is None else ["--counts", str(frame.columns[-1])]
        typer.echo(f"Next: {shell_command('fit', output, *counts)}", err=True)


data = new_group(help="The bundled data sets: list them, or write one to a file.", no_args_is_help=True)
add_command(data, list_data, name="list")
add_command(data, export, no_args_is_help=True)
