"""Writes reference cases as plain files, so that a program in any language can be checked against them.

A folder a case: the table, the score of every family, the exact posterior, and what all of it depends on. A folder is
written in a hidden one and moved to its place when all of its files are there, so that a run that was killed leaves no
folder that looks whole; the next one removes what it left.

Time and size: `scores.jkl` has a line a family, 2 microseconds and some 40 bytes each; the largest cases have 20,000 to
40,000 families and take a second.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
import textwrap
from collections.abc import Iterable
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dagpost._tools.checks import file_path, texts
from dagpost._tools.json_settings import to_json
from dagpost._tools.progress import reporter_of_terminal
from dagpost._tools.text import shown
from dagpost._tools.whole_files import is_half_written, replacing
from dagpost._version import __version__
from dagpost.errors import InputError
from dagpost.files.jkl import write_jkl
from dagpost.reference.case import Case
from dagpost.reference.cases import CASES, load
from dagpost.reference.truth_files import csv_bytes, fixed

if TYPE_CHECKING:
    import pandas as pd

#: By this word in case.json a folder is known as one that was exported.
FORMAT = "dagpost reference case 1"
_INDEX = "cases.csv"
#: How hidden folders begin that are being written, or that a kill has left behind.
_PART = ".dagpost-case-"

#: Lines of README.txt: how long, and where what is said of a file begins.
_WIDTH, _BESIDE = 110, 15


def export(folder: str | os.PathLike[str], cases: str | Iterable[str] | None = None) -> Path:
    """Write reference cases as plain files, a folder each; the folder that they are in comes back.

    Parameters
    ----------
    folder
        Where to: a new or an empty folder, or one of an earlier export, whose cases are replaced if they are written
        again. Nothing else is touched: a folder in which anything else lies is refused.
    cases
        Names of cases, as `reference.names` lists them; all by default.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as place:
    ...     sorted(file.name for file in (export(place, "coronary") / "coronary").glob("*.csv"))
    ['classes.csv', 'data.csv', 'edges.csv', 'families.csv', 'paths.csv']
    """
    target = file_path(folder, "folder")
    wanted = [cases] if isinstance(cases, str) else CASES if cases is None else texts(cases, "cases", "export")
    chosen = [load(name) for name in dict.fromkeys(wanted)]
    _check_folder(target)
    try:
        target.mkdir(parents=True, exist_ok=True)
        for left_behind in target.glob(f"{_PART}*"):
            shutil.rmtree(left_behind)
        with reporter_of_terminal().stage("cases", len(chosen)) as stage:
            for case in chosen:
                with tempfile.TemporaryDirectory(dir=target, prefix=_PART) as part:
                    written = Path(part) / case.name
                    written.mkdir()
                    _write_case(case, written)
                    if (target / case.name).exists():
                        shutil.rmtree(target / case.name)
                    written.replace(target / case.name)
                stage.advance(1)
            _write_index(target)
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(
            f"Cannot write to {str(target)!r}: {reason}. Name a folder that you may write to, on a disk with room."
        ) from error
    return target


def _check_folder(folder: Path) -> None:
    """Refuse a folder in which there is anything that no export has written."""
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{str(folder)!r} is a file. Name a folder.")
    others = [entry.name for entry in folder.iterdir() if not _is_exported(entry)] if folder.is_dir() else []
    if others:
        raise InputError(
            f"The folder {str(folder)!r} is not empty, and {shown(min(others))} in it is not from an earlier export "
            f"(a folder with a case.json whose format is {FORMAT!r}). Name a new or an empty folder."
        )


def _is_exported(entry: Path) -> bool:
    if entry.name == _INDEX or entry.name.startswith(_PART) or is_half_written(entry.name):
        return True
    try:
        about = json.loads((entry / "case.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(about, dict) and about.get("format") == FORMAT


def _write_case(case: Case, folder: Path) -> None:
    truth = case.truth
    data = case.csv_text().encode("utf-8")
    (folder / "data.csv").write_bytes(data)
    if find_spec("pyarrow") is not None:
        # To an open file: pyarrow does not take every name that a folder may have.
        with (folder / "data.parquet").open("wb") as out:
            case.table.to_pandas().to_parquet(out, engine="pyarrow", index=False)
    write_jkl(case.local_scores(), folder / "scores.jkl")
    for name, square in (("edges", truth.edges), ("paths", truth.paths)):
        rows = (
            [own, *(fixed(value, 12) for value in row)] for own, row in zip(truth.names, square.to_numpy(), strict=True)
        )
        (folder / f"{name}.csv").write_bytes(csv_bytes(["", *truth.names], rows))
    _write_frame(folder / "families.csv", truth.families)
    _write_frame(folder / "classes.csv", truth.classes)
    (folder / "README.txt").write_text(_readme(case), encoding="utf-8")
    about = {**_about(case), "sha256": hashlib.sha256(data).hexdigest()}
    (folder / "case.json").write_text(json.dumps(about, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def _write_frame(file: Path, frame: pd.DataFrame) -> None:
    file.write_bytes(csv_bytes(frame.columns, frame.itertuples(index=False)))


def _about(case: Case) -> dict[str, Any]:
    truth = case.truth
    return {
        "format": FORMAT,
        "dagpost": __version__,
        "case": case.name,
        "description": case.description,
        "kind": case.kind,
        "tags": list(case.tags),
        "columns": list(case.names),
        "rows": case.rows,
        "score": to_json(case.score),
        "prior": "uniform: every graph within max_parents that the score allows has weight 1",
        "max_parents": case.max_parents,
        "settings": case.settings,
        "origin": case.origin,
        "log_evidence": truth.log_evidence,
        "error_bound": truth.error_bound,
        "families_left_out": {name: float(value) for name, value in truth.families_left_out.items()},
        "classes_bound": truth.classes_bound,
        "classes_listed": truth.classes_listed,
    }


def _readme(case: Case) -> str:
    """What each file holds, as exported.txt has it, in lines that can be read."""
    truth, bound = case.truth, case.truth.classes_bound
    listed = f"All classes of a probability of at least {bound:.2g} are listed; together they have "
    words = (
        (files("dagpost.reference") / "exported.txt")
        .read_text(encoding="utf-8")
        .format(
            case=case,
            truth=truth,
            version=__version__,
            levels="Levels are words." if case.table.discrete else "Levels are words, numbers have four decimals.",
            parquet="The same table." if find_spec("pyarrow") is not None else "Not here: pyarrow was not installed.",
            left_out=float(truth.families_left_out.max()),
            classes=f"{listed}{truth.classes_listed:.4g}." if bound else "All classes are listed.",
        )
    )
    return "".join(f"{_wrapped(line)}\n" for line in words.splitlines())


def _wrapped(line: str) -> str:
    """A line that is no longer than a page; what explains a file stays beside its name."""
    beside = " " * _BESIDE if "  " in line[:_BESIDE] else ""
    return textwrap.fill(line, _WIDTH, subsequent_indent=beside, break_on_hyphens=False)


def _write_index(folder: Path) -> None:
    """A list of all cases that lie in the folder."""
    found = []
    for file in sorted(folder.glob("*/case.json")):
        about = json.loads(file.read_text(encoding="utf-8"))
        found.append([about[key] for key in ("case", "kind", "rows", "max_parents", "log_evidence", "description")])
        found[-1].insert(2, len(about["columns"]))
    header = ("case", "kind", "columns", "rows", "max_parents", "log_evidence", "description")
    with replacing(folder / _INDEX) as out:
        out.write(csv_bytes(header, found))
