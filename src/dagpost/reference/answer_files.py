"""An answer from a file: `read_answer` knows what it holds by its ending and its first line.

- *A square matrix* as CSV: the first line names the columns (children), and each further line has the probabilities of
  one parent, which its first cell may name; without names the rows are in the order of the columns.
- *One row a pair* as CSV or Parquet: `from`, `to`, `probability` (or `strength` and `direction`, as bnlearn writes
  them); pairs without a row have probability 0.
- *Graphs* as CSV or Parquet, one a row: `edges` ("A->B;C->D", empty for none), and if known `weight`.
- *A trajectory of Benchpress* as CSV: `index`, `score`, `added`, `removed`, perhaps `time`. A graph weighs as many
  steps as it stays. How long the last one stayed is known only if one more row, which changes nothing, says where the
  chain ends; without it the last graph counts once (files/trajectory.py).
- *A sample* that `DagSample.save` or `dagpost sample` wrote.

Cells are separated by commas, tabs or semicolons (files/delimited.py). Nothing that stands in a file is ever
evaluated. Time: 1.5 s for 100,000 graphs with 40 edges each; memory: a few times the file.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from dagpost._tools.arrays import Floats
from dagpost._tools.checks import file_path, number, one_of
from dagpost._tools.spelling import bare
from dagpost._tools.text import shortened, shown
from dagpost.data.parquet import read_parquet
from dagpost.errors import InputError
from dagpost.files.archive import is_archive
from dagpost.files.delimited import CellTable, header_of, table_of, text_of
from dagpost.files.sample_file import load_sample
from dagpost.files.trajectory import read_trajectory
from dagpost.reference.answer import DROP, REFUSE, Answer, answer_of, answer_of_masks, answer_of_texts
from dagpost.reference.edge_forms import check_names, edges_of_long, edges_of_square, is_long, is_number
from dagpost.reference.graph_forms import reordered
from dagpost.reference.scorer import columns_of

if TYPE_CHECKING:
    from dagpost.reference.case import Case
    from dagpost.reference.truth import Truth

_PARQUET = (".parquet", ".pq")
_FORMS = (
    "a square matrix of edge probabilities whose first line names the columns of the case; one row a pair with 'from', "
    "'to' and 'probability'; one row a graph with 'edges' (\"A->B;C->D\") and perhaps 'weight'; or a "
    "trajectory of Benchpress with 'index', 'score', 'added' and 'removed'"
)


def read_answer(
    path: str | os.PathLike[str], case: Case | Truth | str, *, cyclic: str = REFUSE, burn_in: float = 0.0
) -> Answer:
    """Edge probabilities or weighted graphs from a file, in the form that `score` takes.

    Parameters
    ----------
    path
        A CSV file with a square matrix of edge probabilities, with one row a pair (`from`, `to`, `probability`), with
        one row a graph (`edges`, and perhaps `weight`), as `write_graphs` writes them, or with a trajectory of
        Benchpress (`index`, `score`, `added`, `removed`); a Parquet file with one row a pair or a graph; or a file of a
        `DagSample`.
    case
        The case that the answer is about, its name, or its `Truth`.
    cyclic
        "refuse" makes graphs with directed cycles an error; "drop" leaves them out and counts them. A trajectory with
        such graphs is always refused: no chain over DAGs can pass through one.
    burn_in
        The share of a trajectory that is left out at its beginning.
    """
    names = columns_of(case)
    share = number(burn_in, "burn_in", "read_answer", least=0.0, below=1.0, allowed="a number from 0 to below 1")
    one_of(cyclic, "cyclic", (REFUSE, DROP), "read_answer")
    source = file_path(path)
    try:
        return _answer_in(source, names, cyclic, share)
    except InputError as error:
        if str(source) in str(error):
            raise
        raise InputError(f"{source}: {error.marked}") from None


def _answer_in(source: Path, names: tuple[str, ...], cyclic: str, burn_in: float) -> Answer:
    ending = source.suffix.lower()
    tabled = ending not in _PARQUET and not is_archive(source)
    text = text_of(source) if tabled else ""
    if tabled and {"added", "removed"} & set(header_of(text)):
        return _of_trajectory(source, names, burn_in)
    if burn_in > 0.0:
        raise InputError(
            f"This is not a trajectory, so it has no beginning to leave out. Do without {bare('burn_in')}."
        )
    if tabled:
        return _of_csv(table_of(text, source), names, cyclic)
    if ending in _PARQUET:
        return _of_parquet(source, names, cyclic)
    return answer_of(load_sample(source), names, cyclic=cyclic)


def _of_parquet(source: Path, names: tuple[str, ...], cyclic: str) -> Answer:
    table = read_parquet(source)
    columns = {str(name): table[name].to_pylist() for name in table.column_names}

    def place(at: int) -> str:
        return f"{source}, row {at}"

    if "edges" in columns:
        return answer_of_texts(columns, names, place, cyclic=cyclic)
    if is_long(list(columns)):
        return Answer(names, edges_of_long(table.to_pandas(), names))
    raise InputError(
        f"{source}: a Parquet file has one row a pair ('from', 'to', 'probability') or a graph ('edges'). Its columns "
        f"are {shortened([shown(name) for name in columns])}."
    )


def _of_csv(table: CellTable, names: tuple[str, ...], cyclic: str) -> Answer:
    import pandas as pd

    if not table.rows:
        raise InputError(f"{table.source}: has a first line and nothing below it. An answer is {_FORMS}.")
    if "edges" in table.header:
        return answer_of_texts(table.columns(), names, table.place, cyclic=cyclic)
    if is_long(table.header):
        return Answer(names, edges_of_long(pd.DataFrame(table.columns()), names))
    return Answer(names, _square(table, names))


def _of_trajectory(source: Path, names: tuple[str, ...], burn_in: float) -> Answer:
    """The graphs of a chain without the first `burn_in` of its steps."""
    found = read_trajectory(source)
    check_names(found.names, names)
    ends = np.cumsum(found.weights)
    weights = ends - np.maximum(np.append(0.0, ends[:-1]), burn_in * ends[-1])
    left = weights > 0.0
    return answer_of_masks(reordered(found.parents[left], found.names, names), weights[left], names)


def _square(table: CellTable, names: tuple[str, ...]) -> Floats:
    """A matrix whose rows may be named in their first cell; R leaves out what these names are called."""
    header, rows, place = table.header, table.rows, table.place
    named = not is_number(rows[0][0])
    columns = header[len(header) - len(rows[0]) + 1 :] if named and len(header) >= len(rows[0]) else header
    if not set(columns) & set(names):
        raise InputError(
            f"The first line does not say what this file holds: {shortened([shown(cell) for cell in header])}. An "
            f"answer is {_FORMS}. The columns of the case are {shortened([shown(name) for name in names])}."
        )
    cells = [row[1:] if named else row for row in rows]
    for at, row in enumerate(cells):
        if len(row) != len(columns):
            raise InputError(f"{place(at)}: has {len(row)} probabilities, and there are {len(columns)} columns.")
    if len(cells) != len(columns):
        raise InputError(f"There are {len(cells)} rows of probabilities, and {len(columns)} columns. Give one each.")
    found = [row[0].strip() for row in rows] if named else columns
    return edges_of_square(found, columns, cells, names, place)
