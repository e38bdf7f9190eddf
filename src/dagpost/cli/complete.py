"""`dagpost complete`: completed tables of a model with gaps, or what is known of each missing cell."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from dagpost._tools.text import printable
from dagpost.cli.files import load_model, may_create
from dagpost.cli.options import ModelArgument, RunOptions, option, output_option, setting
from dagpost.cli.output import print_json
from dagpost.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

_CSV, _PARQUET = (".csv", ".txt"), (".parquet", ".pq")


def complete(
    *,
    model: ModelArgument,
    output: Annotated[
        Path | None, output_option("A new file that ends in .csv or .parquet; CSV on standard output unless given.")
    ] = None,
    number: Annotated[int, setting("NUMBER", "How many completed tables.", "-k", "--number")] = 20,
    cells: Annotated[
        bool, typer.Option("--cells", help="Instead of tables: what is known of each missing cell.")
    ] = False,
    original: Annotated[
        bool,
        typer.Option(
            "--original", help="Put the table with its gaps first, as number 0: what as.mids of R's mice takes."
        ),
    ] = False,
    seed: Annotated[
        int | None, option("NUMBER", "Picks which of the tables that the chains kept; the same ones unless given.")
    ] = None,
    run: RunOptions,
) -> None:
    """Write completed tables of a model with gaps.

    The tables stand one below the other: column .imp numbers them from 1 on, .id says which row of the data it is, the
    first being row 0. A row that counts several times stands there as many times; a number that was cut is its bin.

    \b
    Example: dagpost complete votes.dagpost -k 20 -o completed.csv
    """
    from dagpost.posterior.completed_tables import completions_of, in_long_form

    if run.as_json and not cells:
        raise InputError("--json is for --cells; completed tables are CSV or Parquet files. Leave it out.")
    if output is not None:
        _check_ending(may_create(output))
    fitted = load_model(model, threads=run.threads, quiet=run.quiet)
    if cells:
        found = fitted.missing_cells()
        if run.as_json and output is None:
            print_json(_content(found))
            return
        table = _with_texts(found)
    else:
        table = in_long_form(completions_of(fitted.fitted_), number, seed, original=original)
    if output is None:
        typer.echo(_csv(table), nl=False)
        return
    _write(table, output)
    what = (
        f"{len(table):,} missing cells"
        if cells
        else f"{number:,} completed tables of {len(table) // (number + original):,} rows"
    )
    typer.echo(printable(f"{what}: {output}"))


def _check_ending(output: Path) -> None:
    if output.suffix.lower() not in (*_CSV, *_PARQUET):
        raise InputError(f"{str(output)!r} ends neither in .csv nor in .parquet. Name the file so, with -o.")
    if output.suffix.lower() in _PARQUET:
        try:
            import pyarrow  # noqa: F401
        except ImportError:
            raise InputError(
                'Parquet files are written with pyarrow, which is not installed: pip install "dagpost[parquet]"'
            ) from None


def _write(table: pd.DataFrame, output: Path) -> None:
    from dagpost._tools.whole_files import replacing

    with replacing(output) as file:
        if output.suffix.lower() in _PARQUET:
            table.to_parquet(file, index=False)
        else:
            file.write(_csv(table).encode("utf-8"))


def _csv(table: pd.DataFrame) -> str:
    return str(table.to_csv(index=False, lineterminator="\n"))


def _with_texts(cells: pd.DataFrame) -> pd.DataFrame:
    """The probabilities of all levels as text, where a cell has any: a cell of a file holds no mapping."""
    if "probabilities" not in cells:
        return cells
    texts = [
        "; ".join(f"{level}: {share:.4f}" for level, share in own.items()) if isinstance(own, dict) else None
        for own in cells["probabilities"]
    ]
    return cells.assign(probabilities=np.array(texts, dtype=object))


def _content(cells: pd.DataFrame) -> list[dict[Any, Any]]:
    """The same as JSON can hold it; of a level there is no mean, and of a number no probability."""
    return [
        {
            key: [{"level": level, "probability": share} for level, share in value.items()]
            if isinstance(value, dict)
            else value
            for key, value in row.items()
            if value == value or isinstance(value, dict)  # noqa: PLR0124 (nan: not said of such a cell)
        }
        for row in cells.astype(object).to_dict("records")
    ]
