"""Files that commands read and write: which kind they are, and whether a result may go where it is sent.

A result never takes the place of something that is not a result of the same kind: `-o table.csv` must not cost anyone a
table. This is checked before the work, not after it.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from dagpost._tools.checks import file_path
from dagpost._tools.whole_files import check_place
from dagpost.errors import DagpostError, InputError

if TYPE_CHECKING:
    from dagpost.model import DagPosterior
    from dagpost.posterior.sample import DagSample

RESULT = ".dagpost"
#: What the folder with unfinished work adds to the name of the result.
PARTIAL = ".partial"
#: The longest name that file systems usually allow, in bytes.
_LONGEST_NAME = 255
_HTML = (b"<!doctype html", b"<html")


def load_model(
    path: Path, *, given: Sequence[str] | None = None, threads: int | None = None, quiet: bool = False
) -> DagPosterior:
    """A fitted model that works on `threads` threads, with progress bars unless the user wants quiet.

    What is `given` is taken for true.
    """
    from dagpost.model import DagPosterior

    model = DagPosterior.load(path, threads=threads, progress=False if quiet else None)
    return model.given(*given) if given else model


def load_source(
    path: Path, *, given: Sequence[str] | None = None, threads: int | None = None, quiet: bool = False
) -> DagPosterior | DagSample:
    """A model or a sample, whichever the file holds; of a sample those graphs in which holds what is given."""
    from dagpost.files.archive import kind_of
    from dagpost.posterior.sample import DagSample

    if kind_of(path) == "sample":
        return DagSample.load(path).given(*given or ())
    return load_model(path, given=given, threads=threads, quiet=quiet)


def default_name(path: Path, given: Sequence[str] | None) -> str:
    """What results of a file are called: what is given does not take the place of what was made without it."""
    return f"{path.stem}-given" if given else path.stem


def refuse_results(source: str) -> None:
    """Refuse a model or a sample, whole or not, in the place of a table, and say what it is for."""
    from dagpost.files.archive import kind_of

    if source == "-" or not (path := file_path(source, "table")).is_file():
        return
    try:
        kind = kind_of(path)
    except DagpostError:
        if path.suffix != RESULT:
            return
        raise InputError(
            f"{source!r} is a dagpost file that was cut short or damaged, or is not one at all. Make it again, or give "
            "a table, a CSV or Parquet file."
        ) from None
    raise InputError(
        f"{source!r} is a {kind} that dagpost has made, not a table. Ask it with `dagpost edges`, `query` or `report`, "
        "or give the table that it was made from."
    )


def may_write(output: Path, kind: str) -> Path:
    """Refuse a place where a result cannot or must not go: a "model", "sample", "report" or "recipe"."""
    check_output(output)
    if output.exists() and not _is_of_kind(output, kind):
        raise InputError(
            f"{str(output)!r} is there already and is not a dagpost {kind}; it is not written over. Name another file "
            f"with {'--recipe' if kind == 'recipe' else '-o'}, or move that one away."
        )
    return output


def may_create(output: Path) -> Path:
    """Refuse a place where a new file cannot go."""
    check_output(output)
    if output.exists():
        raise InputError(f"{str(output)!r} is there already; it is not written over. Name another file with -o.")
    return output


def check_output(output: Path) -> None:
    """Refuse a place where no file can go."""
    if not output.name:
        raise InputError("The name of the output is empty, or a folder. Name a file with -o.")
    longest = _LONGEST_NAME - len(PARTIAL)
    if len(os.fsencode(output.name)) > longest:
        raise InputError(
            f"The name {output.name[:20]!r}... is too long for a file: at most {longest} bytes are possible."
        )
    check_place(output)


def _is_of_kind(path: Path, kind: str) -> bool:
    from dagpost.files.archive import kind_of

    if kind == "report":
        with path.open("rb") as file:
            return file.read(64).lstrip().lower().startswith(_HTML)
    try:
        if kind == "recipe":
            from dagpost._tools.whole_files import read_text
            from dagpost.data.recipe_file import description_in

            return bool(description_in(read_text(path)))
        return kind_of(path) == kind
    except DagpostError:
        return False


def default_model(table: str) -> Path | None:
    """Where the model of a table goes unless the user says where; nowhere if the table comes from standard input."""
    return None if table == "-" else Path(Path(table).stem + RESULT)


def shell_command(*words: object) -> str:
    """A command that can be pasted into a shell as it stands."""
    return shlex.join(["dagpost", *(_argument(word) for word in words)])


def _argument(word: object) -> str:
    # A file whose name begins with a dash would be taken for an option.
    return f".{os.sep}{word}" if isinstance(word, Path) and str(word).startswith("-") else str(word)
