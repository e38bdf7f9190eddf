"""`dagpost reference`: tables whose posterior is known exactly, and how far an answer is from it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dagpost._tools.text import shown
from dagpost.cli.application import add_command, new_group
from dagpost.cli.choices import Cyclic, complete_case
from dagpost.cli.files import shell_command
from dagpost.cli.options import JsonOption, QuietOption, argument, option, setting
from dagpost.cli.output import print_columns, print_json
from dagpost.errors import InputError

if TYPE_CHECKING:
    from dagpost.reference.case import Case

_NAME = "As `dagpost reference list` says."
_HEADER = ("case", "columns", "rows", "kind", "parents", "tags")


def list_cases(
    kind: Annotated[str | None, option("KIND", "Only these: discrete, gaussian or mixed.")] = None,
    tag: Annotated[str | None, option("TAG", "Only cases with this tag, as the last column has them.")] = None,
    quiet: QuietOption = False,
    as_json: JsonOption = False,
) -> None:
    """Say which cases there are.

    \b
    Example: dagpost reference list --kind gaussian
    """
    from dagpost import reference
    from dagpost.reference.truth_files import kept_cases

    cases = [reference.load(name) for name in reference.names(kind=kind, tag=tag)]
    if not cases:
        raise InputError(f"No case is {kind} and has the tag {shown(tag)}. Leave --kind or --tag out.")
    kept = kept_cases()
    about = [_about(case, kept[case.name]) for case in cases]
    if as_json:
        print_json(about)
        return
    keys = ("name", "columns", "rows", "kind", "max_parents")
    rows = [
        (*(f"{one[key]:,}" if key == "rows" else str(one[key]) for key in keys), ", ".join(one["tags"]))
        for one in about
    ]
    print_columns([_HEADER, *rows], right=(1, 2, 4))
    if not quiet:
        typer.echo(f"Next: {shell_command('reference', 'export', 'cases', '--case', cases[0].name)}", err=True)


def export(
    folder: Annotated[
        Path, argument("FOLDER", "A new folder, or that of an earlier export; every case gets one in it.")
    ],
    cases: Annotated[
        list[str] | None,
        option(
            "NAME", "Only this case; may be repeated. All of them unless given.", "--case", autocompletion=complete_case
        ),
    ] = None,
    quiet: QuietOption = False,
) -> None:
    """Write tables, scores and exact posteriors as plain files.

    Of each case: its table as CSV (and Parquet, where pyarrow is installed), the log score of every family in the jkl
    format of other programs, and the exact posterior as CSV. A README.txt says what each file holds.

    \b
    Example: dagpost reference export cases --case coronary
    """
    from dagpost import reference

    reference.export(folder, cases)
    chosen = reference.names() if cases is None else tuple(dict.fromkeys(cases))
    typer.echo(f"{len(chosen)} case{'s' * (len(chosen) != 1)}: {folder}")
    if not quiet:
        answer = folder / chosen[0] / "edges.csv"
        typer.echo(f"Next: {shell_command('reference', 'score', answer, '--case', chosen[0])}", err=True)


def score(
    file: Annotated[Path, argument("FILE", "Edge probabilities or graphs: CSV, Parquet, or a sample of dagpost.")],
    case: Annotated[str, option("NAME", _NAME, autocompletion=complete_case)],
    cyclic: Annotated[
        Cyclic, typer.Option(help="Graphs with a directed cycle: refuse the file, or leave these out.")
    ] = Cyclic.refuse,
    burn_in: Annotated[float, setting("SHARE", "Of a trajectory: leave out this share at its beginning.")] = 0.0,
    as_json: JsonOption = False,
) -> None:
    """Say how far an answer is from the exact posterior.

    \b
    FILE is one of
    - a CSV matrix of edge probabilities: the first row and the first column are names, rows are parents;
    - a CSV or Parquet table with the columns from, to, probability;
    - a CSV or Parquet table of graphs: edges as "A->B;C->D" and, if you have them, weights;
    - a trajectory of Benchpress, CSV: index, score, added, removed;
    - a sample that `dagpost sample` has written.

    \b
    Example: dagpost reference score cases/coronary/edges.csv --case coronary
    """
    from dagpost import reference

    known = reference.load(case)
    answer = reference.read_answer(file, known, cyclic=cyclic.value, burn_in=burn_in)
    found = reference.score(answer, known)
    if as_json:
        print_json(found.to_json())
        return
    typer.echo(found.summary())


def _about(case: Case, kept: Mapping[str, str]) -> dict[str, Any]:
    """What a case is, as JSON can hold it; its size as kept with its posterior, so that no table is drawn."""
    return {
        "name": case.name,
        "description": case.description,
        "kind": case.kind,
        "columns": int(kept["columns"]),
        "rows": int(kept["rows"]),
        "origin": case.origin,
        "score": case.score.in_words(),
        "max_parents": case.max_parents,
        "tags": list(case.tags),
    }


reference = new_group(
    help="How far off is a sampler? Exact posteriors to check it against.", invoke_without_command=True
)


@reference.callback()
def _list_unless_told(context: typer.Context) -> None:
    """How far off is a sampler? Exact posteriors to check it against."""
    if context.invoked_subcommand is None:
        list_cases()


add_command(reference, list_cases, name="list")
add_command(reference, export, no_args_is_help=True)
add_command(reference, score, no_args_is_help=True)
