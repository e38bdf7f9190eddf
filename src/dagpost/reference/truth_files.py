"""In which form exact posteriors are kept, and tables that were drawn: text files that any program reads.

    cases.csv                  one row a case: the table and the model it belongs to, log evidence, bounds
    NAME.data.csv.gz           the table, if it was drawn: levels as text, numbers with four decimals
    NAME.csv                   from, to, edge, path: two probabilities a pair, 12 decimals
    NAME.families.csv.gz       node, parents, probability: 9 decimals
    NAME.classes.csv.gz        class, graphs, probability: 12 decimals, or 3 digits where it is below 1e-9

Compressed files hold no time, so that the same numbers give the same bytes.
"""

from __future__ import annotations

import csv
import gzip
import io
from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.text import shortened, shown
from dagpost.data.table import Table
from dagpost.errors import InputError
from dagpost.reference.truth import Truth

if TYPE_CHECKING:
    import pandas as pd

    from dagpost.reference.case import Case

#: Decimals of every number of a table.
DECIMALS = 4
#: What cases.csv says of a case, beside its name.
ABOUT = ("columns", "rows", "fingerprint", "score", "max_parents", "log_evidence", "error_bound", "classes_bound")


def kept_truths() -> Traversable:
    """The folder of the exact posteriors that come with the package."""
    return files("dagpost.reference").joinpath("truths")


def kept_cases(folder: Traversable | None = None) -> dict[str, dict[str, str]]:
    """What cases.csv says of every case that has a posterior there, as text."""
    source = (kept_truths() if folder is None else folder).joinpath("cases.csv")
    if not source.is_file():
        return {}
    rows = csv.DictReader(io.StringIO(source.read_text(encoding="utf-8")))
    return {row["case"]: {key: row[key] for key in ABOUT} for row in rows}


def kept_table(name: str) -> Table:
    """The table of a case that was drawn."""
    content = gzip.decompress(_compressed(kept_truths(), name, "data").read_bytes())
    header, *rows = csv.reader(io.StringIO(content.decode("utf-8")))
    columns, levels = zip(*map(_read_column, zip(*rows, strict=True)), strict=True)
    return Table(tuple(header), columns, levels)


def _read_column(cells: Sequence[str]) -> tuple[NDArray[Any], tuple[str, ...] | None]:
    """Numbers, or the codes of levels, which are letters, and these."""
    if not cells[0].isalpha():
        return np.array(cells, dtype=np.float64), None
    levels, codes = np.unique(cells, return_inverse=True)
    return codes.astype(np.uint8), tuple(levels.tolist())


def text_of_table(table: Table) -> str:
    """A table as CSV: a header, commas, levels as text and numbers with four decimals."""
    cells = (
        [f"{value:.{DECIMALS}f}" for value in column.tolist()]
        if levels is None
        else [str(levels[code]) for code in column.tolist()]
        for column, levels in zip(table.columns, table.levels, strict=True)
    )
    return csv_bytes(table.names, zip(*cells, strict=True)).decode("utf-8")


def read_truth(case: Case, folder: Traversable | None = None) -> Truth:
    """The exact posterior of a case; one of another table, score or number of parents is refused."""
    source = kept_truths() if folder is None else folder
    name, names = case.name, case.names
    about = kept_cases(source).get(name)
    if about is None:
        raise InputError(
            f"The exact posterior of the case {shown(name)} is not kept with dagpost. Cases that have one: "
            f"{shortened(list(kept_cases(source))) or 'none'}. tools/reference_truth.py computes and writes it."
        )
    case.check_fingerprint(about["fingerprint"])
    if (about["score"], about["max_parents"]) != (repr(case.score), str(case.max_parents)):
        raise InputError(
            f"The exact posterior of the case {shown(name)} was computed with {about['score']} and at most "
            f"{about['max_parents']} parents, and the case now has {case.score!r} and {case.max_parents}. Write it "
            "anew with tools/reference_truth.py."
        )
    pairs = _frame(source.joinpath(f"{name}.csv"), {"from": str, "to": str, "edge": float, "path": float})
    families = _frame(_compressed(source, name, "families"), {"node": str, "parents": str, "probability": float})
    classes = _frame(_compressed(source, name, "classes"), {"class": str, "graphs": int, "probability": float})
    return Truth(
        names=names,
        log_evidence=float(about["log_evidence"]),
        error_bound=float(about["error_bound"]),
        edges=_square(pairs, "edge", names),
        paths=_square(pairs, "path", names),
        families=families,
        classes=classes,
        classes_bound=float(about["classes_bound"]),
    )


def _compressed(folder: Traversable, name: str, what: str) -> Traversable:
    return folder.joinpath(f"{name}.{what}.csv.gz")


def _frame(source: Traversable, types: Mapping[str, type]) -> pd.DataFrame:
    import pandas as pd

    content = source.read_bytes()
    text = gzip.decompress(content) if source.name.endswith(".gz") else content
    header, *rows = csv.reader(io.StringIO(text.decode("utf-8")))
    columns = zip(*rows, strict=True) if rows else ((),) * len(header)
    read = {
        name: pd.Series(map(types[name], own), dtype=types[name]) for name, own in zip(header, columns, strict=True)
    }
    return pd.DataFrame(read)


def _square(pairs: pd.DataFrame, what: str, names: Sequence[str]) -> pd.DataFrame:
    square = pairs.pivot(index="from", columns="to", values=what)
    return square.reindex(index=list(names), columns=list(names)).fillna(0.0)


def fixed(value: Any, decimals: int) -> str:
    """A number with so many decimals, as short as it can be written."""
    return f"{round(float(value), decimals):.{decimals}g}"


def csv_bytes(header: Iterable[object], rows: Iterable[Iterable[object]]) -> bytes:
    """A CSV file, the same bytes on every platform."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return text.getvalue().encode("utf-8")
